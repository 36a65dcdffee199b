#include "compilation.h"

#include <dirent.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "batch.h"
#include "file.h"
#include "images.h"
#include "json.h"
#include "manifest.h"
#include "memory.h"
#include "only.h"
#include "part.h"

/* What g++ compiles: a text for each mutant or, on a GPU, for all that have the same host code. */
struct hosts {
    struct candidate *candidate; /* own their sources and messages */
    int count;
    int *of; /* of each mutant at hand: its place here; NONE when nothing is to be compiled */
};

/* The mutants at hand, the original first, and what is known of each. */
struct work {
    const struct compilation *o;
    struct kernel_text original;
    struct manifest manifest;
    struct toolchain toolchain;
    struct candidate *candidate; /* count of them */
    struct image *image;         /* count of them, in the same order */
    char **found;                /* count of them: the path of what was compiled now, or NULL */
    char **found_device;         /* the same for the device code */
    int count;
    struct hosts host;
    int todo, done;             /* of those that are compiled now */
    struct images old, journal; /* what earlier runs found; own the texts of what is reused */
    struct output journal_out;  /* only its stream and path are used: the journal grows in place */
    char folder[PATH_MAX];      /* of the shared objects */
    struct error *e;
};

/* Puts the kernel's path before a `:line: what is wrong` about it. */
static int name_kernel(struct work *w)
{
    char what[sizeof w->e->text];
    strcpy(what, w->e->text);
    return fail(w->e, EXIT_DATA, "%s%s", w->o->kernel, what);
}

/* ---- what is to be compiled ------------------------------------------------------------------ */

static void add_candidate(struct work *w, const char *id, struct kernel_text source)
{
    struct candidate *c = &w->candidate[w->count];
    *c = (struct candidate){.id = id, .source = source};
    toolchain_key(&w->toolchain, source, c->key);
    w->image[w->count++] = (struct image){.id = id, .key = c->key};
}

static int add_mutant(struct work *w, const struct mutant *m)
{
    char *text;
    size_t size;
    int code = mutant_apply(m, w->original.text, w->original.size, &text, &size, w->e);
    if (!code)
        add_candidate(w, m->id, (struct kernel_text){text, size});
    return code;
}

static int choose_mutants(struct work *w)
{
    const struct mutants *all = &w->manifest.mutants;
    json_t *only;
    int code = only_read(w->o->only, &only, w->e);
    if (code)
        return code;
    w->candidate = memory_zeroed(all->count, sizeof *w->candidate);
    w->image = memory_zeroed(all->count, sizeof *w->image);
    w->found = memory_zeroed(all->count, sizeof *w->found);
    w->found_device = memory_zeroed(all->count, sizeof *w->found_device);
    w->host.candidate = memory_zeroed(all->count, sizeof *w->host.candidate);
    w->host.of = memory_zeroed(all->count, sizeof *w->host.of);
    add_candidate(w, "original", w->original);
    for (int k = 0; k < all->count && !code; k++)
        if (!only || json_object_del(only, all->mutant[k].id) == 0)
            code = add_mutant(w, &all->mutant[k]);
    if (!code && only && json_object_size(only) > 0)
        code = fail(w->e, EXIT_DATA, "%s: the manifest has no mutant '%s'", w->o->only,
                    json_object_iter_key(json_object_iter(only)));
    json_decref(only);
    return code;
}

/* ---- what earlier runs found ----------------------------------------------------------------- */

static void open_old(struct images *images, const char *path)
{
    struct error ignored; /* no index, or none that can be used: all is compiled anew */
    if (images_read(images, path, &ignored))
        *images = (struct images){0};
}

static bool exists(const struct work *w, const char *file)
{
    char path[2 * PATH_MAX];
    const char *base = strrchr(file, '/');
    snprintf(path, sizeof path, "%s/%s", w->folder, base ? base + 1 : file);
    return access(path, R_OK) == 0;
}

static void reuse(struct work *w)
{
    for (int k = 0; k < w->count; k++) {
        struct image *i = &w->image[k];
        const struct image *known = images_with_key(&w->journal, i->key);
        if (!known)
            known = images_with_key(&w->old, i->key);
        if (!known)
            continue;
        i->status = known->status;
        i->message = known->message;
        i->code = known->code;
        if (known->image && exists(w, known->image) &&
            (!known->device || exists(w, known->device))) {
            i->image = known->image;
            i->entry = known->entry;
            i->device = known->device;
            i->member = known->member;
        }
    }
    images_settle(w->image, w->count);
}

static bool needs_compiling(const struct image *i)
{
    return i->code ? i->status == IMAGE_COMPILED && !i->image : !i->message;
}

/* ---- the journal ----------------------------------------------------------------------------- */

/* Starts the journal again with what the old one held whole, open for more. */
static int open_journal(struct work *w, const char *path)
{
    struct output out;
    int code = output_open(&out, path, w->e);
    if (code)
        return code;
    json_t *header = json_new("images");
    code = json_write_line(&out, header, w->e);
    json_decref(header);
    for (int k = 0; k < w->journal.count && !code; k++)
        code = json_write_line(&out, json_array_get(w->journal.records, (size_t)k), w->e);
    if (code) {
        output_abandon(&out);
        return code;
    }
    code = output_commit(&out, w->e);
    if (code)
        return code;
    w->journal_out = out;
    w->journal_out.stream = fopen(path, "ab");
    return w->journal_out.stream ? 0 : fail_errno(w->e, "%s: cannot be written", path);
}

static int note(struct work *w, const struct image *i)
{
    json_t *record = image_to_json(i);
    int code = json_write_line(&w->journal_out, record, w->e);
    json_decref(record);
    if (!code && fflush(w->journal_out.stream))
        code = fail_errno(w->e, "%s: cannot be written", w->journal_out.path);
    return code;
}

/* ---- compiling ------------------------------------------------------------------------------- */

/* A file of the folder, relative to the index. Owned. */
static char *in_folder(const struct work *w, const char *name, const char *ending)
{
    const char *folder = strrchr(w->folder, '/');
    char *path;
    if (asprintf(&path, "%s/%s%s", folder ? folder + 1 : w->folder, name, ending) < 0)
        abort();
    return path;
}

/* Takes over all that was found about candidate k. */
static int take_result(struct work *w, int k)
{
    const struct candidate *c = &w->candidate[k];
    struct image *i = &w->image[k];
    i->status = c->compiled ? IMAGE_COMPILED : IMAGE_UNCOMPILABLE;
    i->message = c->message;
    if (c->compiled) {
        i->code = c->code;
        i->image = w->found[k] = in_folder(w, c->image, ".so");
        i->entry = c->entry;
    }
    if (c->compiled && w->o->device) {
        i->device = w->found_device[k] = in_folder(w, c->device_file, ".gpu");
        i->member = *c->member ? c->member : NULL;
    }
    w->done++;
    if (w->o->progress)
        w->o->progress(w->done, w->todo);
    if (i == w->image && i->message) /* launch() has other parameters, say */
        return fail(w->e, EXIT_DATA, "%s:%s", w->o->kernel, i->message);
    return note(w, i);
}

/* What g++ is to compile of a kernel file; its text is owned. */
static struct kernel_text host_text(const struct work *w, struct kernel_text kernel)
{
    struct source s;
    struct error ignored;
    if (!w->o->device || source_scan(&s, "", kernel.text, kernel.size, &ignored)) {
        char *copy = memory_new(kernel.size + 1); /* the batch will say what is wrong with it */
        memcpy(copy, kernel.text, kernel.size);
        copy[kernel.size] = '\0';
        return (struct kernel_text){copy, kernel.size};
    }
    char *text = part_host(&s);
    source_free(&s);
    return (struct kernel_text){text, strlen(text)};
}

/* Finds the host code of candidate k: on a GPU it may be an earlier one's. */
static void add_host(struct work *w, int k)
{
    struct kernel_text source = host_text(w, w->candidate[k].source);
    int h = w->o->device ? 0 : w->host.count;
    while (h < w->host.count && strcmp(w->host.candidate[h].source.text, source.text) != 0)
        h++;
    w->host.of[k] = h;
    if (h < w->host.count) {
        free((char *)source.text);
        return;
    }
    struct candidate *c = &w->host.candidate[w->host.count++];
    *c = (struct candidate){.id = w->candidate[k].id, .source = source};
    toolchain_key(&w->toolchain, c->source, c->key);
}

/* Takes over what was found about the code of hosts [from, to). */
static int take_hosts(struct work *w, int from, int to)
{
    int code = 0;
    for (int k = 0; k < w->count && !code; k++) {
        struct candidate *c = &w->candidate[k];
        if (w->host.of[k] < from || w->host.of[k] >= to)
            continue;
        const struct candidate *found = &w->host.candidate[w->host.of[k]];
        c->compiled = found->compiled;
        c->message = found->message ? memory_copy(found->message) : NULL;
        c->entry = found->id;
        memcpy(c->code, found->code, sizeof c->code);
        memcpy(c->image, found->image, sizeof c->image);
        if (!c->compiled || !w->o->device)
            code = take_result(w, k);
    }
    return code;
}

/* Units of equal size, so that none is small. */
static int compile_hosts(struct work *w)
{
    struct kernel_text original = host_text(w, w->original);
    int units = (w->host.count + w->o->batch - 1) / w->o->batch, code = 0;
    for (int u = 0; u < units && !code; u++) {
        int from = (int)((long)w->host.count * u / units);
        int to = (int)((long)w->host.count * (u + 1) / units);
        code = batch_compile(&w->toolchain, original, w->host.candidate + from, to - from,
                             w->folder, w->e);
        code = code == EXIT_DATA ? name_kernel(w) : code ? code : take_hosts(w, from, to);
    }
    free((char *)original.text);
    return code;
}

/* Equal code on a GPU is equal host code and equal device code. */
static int take_device(void *context, struct candidate *c, struct error *e)
{
    struct work *w = context;
    (void)e; /* w's own */
    if (c->compiled) {
        struct hash *h = hash_new();
        hash_add_text(h, c->code);
        hash_add_text(h, c->device);
        hash_finish(h, c->code);
    }
    return take_result(w, (int)(c - w->candidate));
}

static int compile_host(void *context, struct error *e)
{
    (void)e; /* its work's own */
    return compile_hosts(context);
}

static int compile_all(struct work *w)
{
    struct candidate **todo = memory_zeroed(w->count, sizeof *todo);
    for (int k = 0; k < w->count; k++) {
        w->host.of[k] = NONE;
        if (!needs_compiling(&w->image[k]))
            continue;
        add_host(w, k);
        todo[w->todo++] = &w->candidate[k];
    }
    const struct device_client client = {w, compile_host, take_device};
    int code = w->o->device ? w->o->device->compile(w->original, todo, w->todo, w->folder, &client, w->e)
                            : compile_hosts(w);
    free(todo);
    return code;
}

/* ---- the index ------------------------------------------------------------------------------- */

static json_t *header(const struct work *w)
{
    char kernel[HASH_HEX];
    hash_bytes(w->original.text, w->original.size, kernel);
    json_t *object = json_new("images");
    json_object_set_new(object, "race", json_boolean(w->o->race));
    json_object_set_new(
        object, "provenance",
        json_pack("{ssss}", "kernel_sha256", kernel, "toolchain_sha256", w->toolchain.hash));
    return object;
}

static int write_index(struct work *w)
{
    struct output out;
    int code = output_open(&out, w->o->index, w->e);
    if (code)
        return code;
    json_t *first = header(w);
    code = json_write_line(&out, first, w->e);
    json_decref(first);
    for (int k = 0; k < w->count && !code; k++) {
        json_t *record = image_to_json(&w->image[k]);
        code = json_write_line(&out, record, w->e);
        json_decref(record);
    }
    if (!code)
        return output_commit_if_changed(&out, w->e);
    output_abandon(&out);
    return code;
}

/* Removes what the index does not name. A file that stays is harmless. */
static void remove_stale(const struct work *w)
{
    json_t *named = json_object();
    for (int k = 0; k < w->count; k++) {
        const struct image *i = &w->image[k];
        if (i->image)
            json_object_set_new(named, strrchr(i->image, '/') + 1, json_true());
        if (i->device)
            json_object_set_new(named, strrchr(i->device, '/') + 1, json_true());
    }
    DIR *folder = opendir(w->folder);
    for (struct dirent *d; folder && (d = readdir(folder));)
        if (d->d_name[0] != '.' && !json_object_get(named, d->d_name))
            unlinkat(dirfd(folder), d->d_name, 0);
    if (folder)
        closedir(folder);
    json_decref(named);
}

/* ---- putting it together --------------------------------------------------------------------- */

/* The folder of the shared objects: the index's path without its ending. */
static int make_folder(struct work *w)
{
    snprintf(w->folder, sizeof w->folder, "%s", w->o->index);
    char *ending = strrchr(w->folder, '.');
    if (!ending || strcmp(ending, ".jsonl") != 0)
        return fail(w->e, EXIT_USAGE, "%s: the index's name has to end in .jsonl", w->o->index);
    *ending = '/';
    ending[1] = '\0';
    int code = file_make_parent(w->folder, w->e);
    *ending = '\0';
    return code;
}

static int read_inputs(struct work *w)
{
    char *text;
    int code = file_read(w->o->kernel, &text, &w->original.size, w->e);
    if (code)
        return code;
    w->original.text = text;
    code = toolchain_start(&w->toolchain, w->original, w->e);
    if (code == EXIT_DATA)
        name_kernel(w);
    if (!code)
        code = manifest_read(&w->manifest, w->o->manifest, w->e);
    return code ? code : choose_mutants(w);
}

/* Compiles what is not known yet, into the journal first and then the index. */
static int bring_up_to_date(struct work *w, const char *journal)
{
    open_old(&w->old, w->o->index);
    open_old(&w->journal, journal);
    reuse(w);
    int code = open_journal(w, journal);
    if (!code)
        code = compile_all(w);
    if (code == EXIT_DATA) /* no run can go on from a kernel that does not compile */
        unlink(journal);
    if (code)
        return code;
    images_settle(w->image, w->count);
    code = write_index(w);
    if (code)
        return code;
    remove_stale(w);
    unlink(journal);
    return 0;
}

static void work_free(struct work *w)
{
    for (int k = 0; k < w->count; k++) {
        if (w->candidate[k].source.text != w->original.text)
            free((char *)w->candidate[k].source.text);
        free(w->candidate[k].message);
        free(w->found[k]);
        free(w->found_device[k]);
    }
    for (int h = 0; h < w->host.count; h++) {
        free((char *)w->host.candidate[h].source.text);
        free(w->host.candidate[h].message);
    }
    free(w->candidate);
    free(w->host.candidate);
    free(w->host.of);
    free(w->image);
    free(w->found);
    free(w->found_device);
    free((char *)w->original.text);
    manifest_free(&w->manifest);
    images_free(&w->old);
    images_free(&w->journal);
    if (w->journal_out.stream)
        fclose(w->journal_out.stream);
}

int compilation_run(const struct compilation *c, struct error *e)
{
    char journal[PATH_MAX], folder[PATH_MAX];
    struct work w = {.o = c, .e = e};
    snprintf(journal, sizeof journal, "%s.part", c->index);
    snprintf(folder, sizeof folder, "%s", c->kernel);
    w.toolchain =
        (struct toolchain){.backend = c->backend, .include = dirname(folder), .race = c->race,
                           .device = c->device ? c->device->hash : NULL};
    int code = read_inputs(&w);
    if (!code)
        code = make_folder(&w);
    if (!code)
        code = bring_up_to_date(&w, journal);
    work_free(&w);
    return code;
}
