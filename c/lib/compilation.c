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

static void progress(const struct work *w, int done, int all)
{
    if (w->o->progress)
        w->o->progress(done, all);
}

/* A file of the folder, relative to the index. Owned. */
static char *in_folder(const struct work *w, const char *name, const char *ending)
{
    const char *folder = strrchr(w->folder, '/');
    char *path;
    if (asprintf(&path, "%s/%s%s", folder ? folder + 1 : w->folder, name, ending) < 0)
        abort();
    return path;
}

/* Takes over what was found about candidate k. */
static int take_result(struct work *w, int k)
{
    const struct candidate *c = &w->candidate[k];
    struct image *i = &w->image[k];
    i->status = c->compiled ? IMAGE_COMPILED : IMAGE_UNCOMPILABLE;
    i->message = c->message;
    if (c->compiled) {
        i->code = c->code;
        i->image = w->found[k] = in_folder(w, c->image, ".so");
        i->entry = i->id;
    }
    if (c->compiled && w->o->device)
        i->device = w->found_device[k] = in_folder(w, c->device, ".gpu");
    return note(w, i);
}

/* Equal code on a GPU is equal host code and equal device code. */
static void add_device_code(struct candidate *c)
{
    struct hash *h = hash_new();
    hash_add_text(h, c->code);
    hash_add_text(h, c->device);
    hash_finish(h, c->code);
}

static int compile_some(struct work *w, const int which[], int count)
{
    struct candidate *some = memory_zeroed(count, sizeof *some);
    for (int k = 0; k < count; k++)
        some[k] = w->candidate[which[k]];
    int code = batch_compile(&w->toolchain, w->original, some, count, w->folder, w->e);
    if (!code && w->o->device)
        code = w->o->device->compile(some, count, w->folder, w->e);
    for (int k = 0; k < count && !code; k++)
        if (some[k].compiled && w->o->device)
            add_device_code(&some[k]);
    for (int k = 0; k < count; k++)
        w->candidate[which[k]] = some[k];
    free(some);
    if (code == EXIT_DATA)
        return name_kernel(w);
    for (int k = 0; k < count && !code; k++)
        code = take_result(w, which[k]);
    return code;
}

/* Units of equal size, so that none is small. */
static int compile_all(struct work *w)
{
    int *which = memory_zeroed(w->count, sizeof *which), count = 0, code = 0;
    for (int k = 0; k < w->count; k++)
        if (needs_compiling(&w->image[k]))
            which[count++] = k;
    int units = (count + w->o->batch - 1) / w->o->batch;
    for (int u = 0; u < units && !code; u++) {
        int from = (int)((long)count * u / units), to = (int)((long)count * (u + 1) / units);
        progress(w, from, count);
        code = compile_some(w, which + from, to - from);
        if (!code && w->image[0].message) /* launch() has other parameters, say */
            code = fail(w->e, EXIT_DATA, "%s:%s", w->o->kernel, w->image[0].message);
    }
    if (!code && units > 0)
        progress(w, count, count);
    free(which);
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
    free(w->candidate);
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
