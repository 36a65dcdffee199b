#include "batch.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file.h"
#include "lower.h"
#include "memory.h"
#include "object.h"
#include "process.h"
#include "share.h"

/* A unit of 40 takes about a second; only a compiler that hangs takes this long. */
static const double LIMIT_S = 20;

/*
 * -Og compiles in 60 % of the time of -O1, and what it makes runs as fast here, where most of the
 * time goes into the executor. A variable that a mutant reads before it is set holds the same odd
 * pattern each time. What a function compiles to may not depend on the mutants beside it, so
 * nothing is inlined for being called once.
 */
static const char *const FLAGS[] = {
    "-std=c++17",
    "-Og",
    "-ftrivial-auto-var-init=pattern",
    "-ffp-contract=off",
    "-fno-strict-aliasing",
    "-fno-exceptions",
    "-fno-rtti",
    "-fno-asynchronous-unwind-tables",
    "-ffunction-sections",
    "-fdata-sections",
    "-fno-ipa-icf",
    "-fno-inline-functions-called-once",
    "-fno-math-errno",
    "-fPIC",
    "-fvisibility=hidden",
    "-pedantic-errors",
    "-pipe",
};
enum { FLAG_COUNT = sizeof FLAGS / sizeof *FLAGS };

/* Of the sanitizer only the hooks are wanted, at accesses and at a function's beginning, which tells
 * the race oracle to look; the executor defines them. */
static const char *const RACE_FLAGS[] = {"-fsanitize=thread"};
enum { RACE_FLAG_COUNT = sizeof RACE_FLAGS / sizeof *RACE_FLAGS };

static const char *const LINK[] = {"ld", "-shared", "-z", "relro",
                                   "-z", "now",     "-z", "noexecstack"};
enum { LINK_COUNT = sizeof LINK / sizeof *LINK };

/* A kernel file's launch() may leave the hyperparameters out; simt.h has both types. */
static const char PROLOGUE[] =
    "using image_function = void(float *const[], float *const[], const long[], const double[]);\n"
    "struct image_entry { const char *id; image_function *launch; };\n"
    "template <class F> static inline auto image_call(F f, float *const *in, float *const *out,\n"
    "    const long *dim, const double *hyper, int) -> decltype(f(in, out, dim, hyper))\n"
    "{ return f(in, out, dim, hyper); }\n"
    "template <class F> static inline auto image_call(F f, float *const *in, float *const *out,\n"
    "    const long *dim, const double *, long) -> decltype(f(in, out, dim))\n"
    "{ return f(in, out, dim); }\n";

/* A candidate as C++. */
struct lowered_candidate {
    struct candidate *c;
    struct lowered l;
};

struct batch {
    const struct toolchain *t;
    struct source original;
    struct lowered base; /* the original as C++ */
    const char *folder;
    struct error *e;
};

/* ---- toolchain ------------------------------------------------------------------------------- */

static int run_tool(const char *const argv[], const char *input, size_t size, struct process *p,
                    struct error *e)
{
    int code = process_run(argv, input, size, LIMIT_S, p, e);
    if (code == EXIT_UNAVAILABLE)
        return fail(e, code, "%s is missing; install it with: apt-get install g++ binutils",
                    argv[0]);
    return code;
}

/* Runs the compiler on a translation unit, with `rest` (up to NULL) behind the flags. */
static int run_compiler(const struct toolchain *t, const char *const rest[], const char *unit,
                        size_t size, struct process *p, struct error *e)
{
    char shim[4096], backend[4096];
    const char *argv[FLAG_COUNT + RACE_FLAG_COUNT + 16] = {"g++"};
    int n = 1;
    snprintf(shim, sizeof shim, "-I%s/cpu/shim", t->backend);
    snprintf(backend, sizeof backend, "-I%s", t->backend);
    for (int k = 0; k < FLAG_COUNT; k++)
        argv[n++] = FLAGS[k];
    for (int k = 0; t->race && k < RACE_FLAG_COUNT; k++)
        argv[n++] = RACE_FLAGS[k];
    if (t->device)
        argv[n++] = "-DSIMT_GPU";
    const char *const where[] = {shim, backend, "-iquote", t->include, "-x", "c++", "-"};
    for (size_t k = 0; k < sizeof where / sizeof *where; k++)
        argv[n++] = where[k];
    while (*rest)
        argv[n++] = *rest++;
    return run_tool(argv, unit, size, p, e);
}

/* All that the unit's head stands for: the shim, what the kernel includes, the compiler's own
 * macros. */
static int preprocess_head(const struct toolchain *t, const struct lowered *l, struct process *p,
                           struct error *e)
{
    static const char *const PREPROCESS[] = {"-E", "-P", "-dD", NULL};
    char *head;
    size_t size;
    FILE *f = open_memstream(&head, &size);
    if (!f)
        abort();
    lower_write_head(f, l->system, l->quoted);
    memory_close(f, &head);
    int code = run_compiler(t, PREPROCESS, head, size, p, e);
    free(head);
    if (!code && p->status != 0) {
        const char *error = strstr(p->err, "error: ");
        code = fail(e, EXIT_DATA, ":1: %.*s", error ? (int)strcspn(error + 7, "\n") : 100,
                    error ? error + 7 : p->err);
        process_free(p);
    }
    return code;
}

/* The head and the lowered original stand for all that this program puts into a unit. */
static void hash_toolchain(struct toolchain *t, const struct lowered *l, const struct process *head)
{
    struct hash *h = hash_new();
    for (int k = 0; k < FLAG_COUNT; k++)
        hash_add_text(h, FLAGS[k]);
    for (int k = 0; t->race && k < RACE_FLAG_COUNT; k++)
        hash_add_text(h, RACE_FLAGS[k]);
    for (int k = 0; k < LINK_COUNT; k++)
        hash_add_text(h, LINK[k]);
    if (t->device)
        hash_add_text(h, t->device);
    hash_add_text(h, head->out);
    hash_add_text(h, PROLOGUE);
    hash_add_text(h, l->text);
    hash_finish(h, t->hash);
}

int toolchain_start(struct toolchain *t, struct kernel_text original, struct error *e)
{
    struct source s;
    struct lowered l;
    struct process head;
    int code = source_scan(&s, "", original.text, original.size, e);
    if (code)
        return code;
    code = lower(&s, LINKAGE_STRIPPED, NULL, &l, e);
    if (!code && source_function(&s, "launch") == NONE)
        code = fail(e, EXIT_DATA, ":1: a kernel file needs a function launch()");
    if (!code)
        code = preprocess_head(t, &l, &head, e);
    if (!code) {
        hash_toolchain(t, &l, &head);
        process_free(&head);
    }
    lowered_free(&l);
    source_free(&s);
    return code;
}

void toolchain_key(const struct toolchain *t, struct kernel_text source, char key[HASH_HEX])
{
    struct hash *h = hash_new();
    hash_add_text(h, t->hash);
    hash_add(h, source.text, source.size);
    hash_finish(h, key);
}

/* ---- the translation unit -------------------------------------------------------------------- */

/* Writes the lines of `lines` that are not in *seen yet, and adds them there. */
static void add_new_lines(char **seen, const char *lines)
{
    while (*lines) {
        size_t length = strcspn(lines, "\n") + 1;
        char *line = strndup(lines, length), *longer;
        if (!strstr(*seen, line)) {
            if (asprintf(&longer, "%s%s", *seen, line) < 0)
                abort();
            free(*seen);
            *seen = longer;
        }
        free(line);
        lines += length;
    }
}

/* One file in its namespace; its diagnostics call it `name.cu`. */
static void write_namespace(FILE *f, const char *name, const struct lowered *l)
{
    fprintf(f, "namespace %s { namespace {\n#line 1 \"%s.cu\"\n%s}\n}\n%s", name, name, l->text,
            l->undefs);
}

static void write_entry(FILE *f, const char *name, int k)
{
    fprintf(f,
            "extern \"C\" {\n#line 1 \"%s.cu\"\nstatic void " OBJECT_ENTRY
            "(float *const in[], float *const out[], const long dim[], const double hyper[]) "
            "{ image_call(%s::launch, in, out, dim, hyper, 0); }\n}\n",
            name, k, name);
}

static void write_unit(struct batch *b, FILE *f, struct lowered_candidate *m, int count)
{
    char name[32], *system = memory_copy(b->base.system), *quoted = memory_copy(b->base.quoted);
    for (int k = 0; k < count; k++) {
        add_new_lines(&system, m[k].l.system);
        add_new_lines(&quoted, m[k].l.quoted);
    }
    lower_write_head(f, system, quoted);
    free(system);
    free(quoted);
    fputs(PROLOGUE, f);
    write_namespace(f, LOWER_ORIGINAL, &b->base);
    for (int k = 0; k < count; k++) {
        snprintf(name, sizeof name, "mutant%d", k);
        write_namespace(f, name, &m[k].l);
        write_entry(f, name, k);
    }
    fputs("extern \"C\" __attribute__((visibility(\"default\"))) const image_entry image[] = {\n",
          f);
    for (int k = 0; k < count; k++)
        fprintf(f, "{\"%s\", " OBJECT_ENTRY "},\n", m[k].c->id, k);
    fputs("{nullptr, nullptr}};\n", f);
}

/* ---- diagnostics ----------------------------------------------------------------------------- */

enum { NOBODY = -1, THE_ORIGINAL = -2 };

/* Who a line of diagnostics names: a candidate's number, or one of the above; *rest follows its
 * `name.cu:`. */
static int named_in(const char *line, size_t length, int count, const char **rest)
{
    const char *dot = memmem(line, length, ".cu:", 4), *name = dot;
    while (name && name > line && (isalnum((unsigned char)name[-1])))
        name--;
    if (!dot)
        return NOBODY;
    *rest = dot + 4;
    int k = 0, end = 0;
    if (sscanf(name, "mutant%d%n", &k, &end) == 1 && name + end == dot && k >= 0 && k < count)
        return k;
    return strncmp(name, LOWER_ORIGINAL ".", sizeof LOWER_ORIGINAL) == 0 ? THE_ORIGINAL : NOBODY;
}

/* An error's place (after `name.cu:`) and what it says, as `line: what`. */
static char *message_from(const char *place, const char *what, const char *end)
{
    char *message;
    int digits = (int)strspn(place, "0123456789");
    if (asprintf(&message, "%.*s: %.*s", digits, place, (int)(end - what), what) < 0)
        abort();
    return message;
}

/* Gives a message to each candidate that an error names, in its own line or, for an error in the
 * shim, in a line before that says where it was used; *original gets one for the original. Returns
 * how many. */
static int blame(const char *diagnostics, struct lowered_candidate *m, int count, char **original)
{
    int blamed = 0, who = NOBODY;
    const char *place = NULL, *next;
    for (const char *line = diagnostics; *line; line = next) {
        size_t length = strcspn(line, "\n");
        next = line + length + (line[length] == '\n');
        const char *rest, *error = memmem(line, length, "error: ", 7);
        int named = named_in(line, length, count, &rest);
        if (named != NOBODY) {
            who = named;
            place = rest;
        }
        if (!error || who == NOBODY)
            continue;
        char **message = who == THE_ORIGINAL ? original : &m[who].c->message;
        if (!*message) {
            *message = message_from(place, error + 7, line + length);
            blamed++;
        }
        who = NOBODY;
    }
    return blamed;
}

/* Is it the machine, not a mutant, that the compiler failed on? */
static int machine_trouble(const struct process *p, struct error *e)
{
    static const char *const DISK[] = {"No space left on device", "Disk quota exceeded",
                                       "error writing to", "cannot open output file"};
    for (size_t k = 0; k < sizeof DISK / sizeof *DISK; k++)
        if (strstr(p->err, DISK[k]))
            return fail(e, EXIT_IO, "the compiler cannot write: %s", p->err);
    if (strstr(p->err, "cannot execute") || strstr(p->err, "Killed signal terminated") ||
        strstr(p->err, "out of memory allocating"))
        return fail(e, EXIT_UNAVAILABLE, "the compiler does not run: %s", p->err);
    if (p->signal && !p->timed_out)
        return fail(e, EXIT_UNAVAILABLE, "the compiler was killed by signal %d", p->signal);
    return 0;
}

/* ---- compiling ------------------------------------------------------------------------------- */

static int compile_unit(struct batch *b, struct lowered_candidate *m, int count, const char *object,
                        struct process *p)
{
    char *unit;
    size_t size;
    FILE *f = open_memstream(&unit, &size);
    if (!f)
        abort();
    write_unit(b, f, m, count);
    memory_close(f, &unit);
    int code = run_compiler(b->t, (const char *[]){"-c", "-o", object, NULL}, unit, size, p, b->e);
    free(unit);
    return code;
}

/* The shared object's name covers all that it depends on. */
static void name_image(const struct lowered_candidate *m, int count, char image[HASH_HEX])
{
    struct hash *h = hash_new();
    for (int k = 0; k < count; k++) {
        hash_add_text(h, m[k].c->id);
        hash_add_text(h, m[k].c->key);
    }
    hash_finish(h, image);
}

static int link_unit(struct batch *b, const char *object, const char *image)
{
    char path[4096], temporary[4096 + 32];
    const char *argv[LINK_COUNT + 4];
    struct process p;
    snprintf(path, sizeof path, "%s/%s.so", b->folder, image);
    snprintf(temporary, sizeof temporary, "%s.tmp.%ld", path, (long)getpid());
    memcpy(argv, LINK, sizeof LINK);
    memcpy(argv + LINK_COUNT, (const char *[]){"-o", temporary, object, NULL}, 4 * sizeof *argv);
    int code = run_tool(argv, "", 0, &p, b->e);
    if (code)
        return code;
    code = machine_trouble(&p, b->e);
    if (!code && p.status != 0)
        code = fail(b->e, EXIT_BUG, "ld cannot link %s: %s", object, p.err);
    if (!code && rename(temporary, path))
        code = fail_errno(b->e, "%s: cannot be put in place", path);
    if (code)
        unlink(temporary);
    process_free(&p);
    return code;
}

/* Gives a message to each mutant that uses what nothing defines. Returns how many. */
static int blame_missing(struct lowered_candidate *m, int count, const struct object_code code[])
{
    int blamed = 0;
    for (int k = 0; k < count; k++) {
        if (!code[k].missing)
            continue;
        if (asprintf(&m[k].c->message, "1: '%s' is used and not defined", code[k].missing) < 0)
            abort();
        blamed++;
    }
    return blamed;
}

/* Equal for mutants that are equal on a GPU too. */
static void name_code(struct lowered_candidate *m, const char *machine_code)
{
    struct hash *h = hash_new();
    hash_add_text(h, machine_code);
    hash_add_text(h, m->l.unseen);
    hash_finish(h, m->c->code);
}

/* Hashes and links what compiled, unless *blamed mutants are found that cannot be linked. */
static int finish_unit(struct batch *b, struct lowered_candidate *m, int count, const char *object,
                       int *blamed)
{
    const char *salt[OBJECT_MUTANTS];
    char image[HASH_HEX];
    struct object_code *code = memory_zeroed(count, sizeof *code);
    for (int k = 0; k < count; k++)
        salt[k] = m[k].c->id;
    int status = object_read(object, count, salt, code, b->e);
    if (!status)
        *blamed = blame_missing(m, count, code);
    name_image(m, count, image);
    if (!status && !*blamed)
        status = link_unit(b, object, image);
    for (int k = 0; k < count; k++) {
        m[k].c->compiled = !status && !*blamed;
        name_code(&m[k], code[k].hash);
        memcpy(m[k].c->image, image, HASH_HEX);
        free(code[k].missing);
    }
    free(code);
    return status;
}

/* The message for a mutant that the compiler fails on without naming it. */
static char *unexplained(const struct process *p)
{
    const char *what = p->timed_out ? "the compiler took too long" : "the compiler failed";
    const char *error = strstr(p->err, "error: ");
    if (error)
        what = error + 7;
    return message_from("1", what, what + strcspn(what, "\n"));
}

/* Keeps those without a message, in order. */
static int drop_blamed(struct lowered_candidate *m, int count)
{
    int kept = 0;
    for (int k = 0; k < count; k++) {
        struct lowered_candidate moved = m[k];
        if (moved.c->message)
            continue;
        m[k] = m[kept];
        m[kept++] = moved;
    }
    return kept;
}

/* What to do about a unit that did not compile: gives messages, or fails. Returns 0 with *blamed =
 * 0 where nothing tells who it was. */
static int judge(struct batch *b, struct lowered_candidate *m, int count, const struct process *p,
                 int *blamed)
{
    char *original = NULL;
    int code = machine_trouble(p, b->e);
    if (code)
        return code;
    *blamed = blame(p->err, m, count, &original);
    if (original)
        code = fail(b->e, EXIT_DATA, ":%s", original);
    free(original);
    if (!code && !*blamed && count == 1) {
        m->c->message = unexplained(p);
        *blamed = 1;
    }
    return code;
}

/* The object's name is this process's own: when a run is killed, its compiler may write on. */
static int compile_group(struct batch *b, struct lowered_candidate *m, int count)
{
    char object[4096];
    snprintf(object, sizeof object, "%s/unit.%ld.o", b->folder, (long)getpid());
    while (count > 0) {
        struct process p;
        int blamed = 0, code = compile_unit(b, m, count, object, &p);
        if (code)
            return code;
        bool compiled = p.status == 0;
        code =
            compiled ? finish_unit(b, m, count, object, &blamed) : judge(b, m, count, &p, &blamed);
        process_free(&p);
        unlink(object);
        if (code || (compiled && !blamed))
            return code;
        if (!blamed) {
            code = compile_group(b, m, count / 2);
            return code ? code : compile_group(b, m + count / 2, count - count / 2);
        }
        count = drop_blamed(m, count);
    }
    return 0;
}

/* As C++; a mutant that cannot be lowered gets its message here. */
static int lower_candidate(const struct batch *b, struct candidate *c, struct lowered *l)
{
    struct source s;
    struct error e;
    int code = source_scan(&s, "", c->source.text, c->source.size, &e);
    if (!code) {
        bool *shared = memory_zeroed(s.functions, sizeof *shared);
        share_kernels(&b->original, &s, shared);
        code = lower(&s, LINKAGE_STRIPPED, shared, l, &e);
        free(shared);
        source_free(&s);
    }
    if (code)
        c->message = memory_copy(e.text[0] == ':' ? e.text + 1 : e.text);
    return code;
}

static int compile_candidates(struct batch *b, struct candidate *candidate, int count)
{
    struct lowered_candidate *m = memory_zeroed(count, sizeof *m);
    int ready = 0;
    for (int k = 0; k < count; k++) {
        m[ready].c = &candidate[k];
        if (!lower_candidate(b, &candidate[k], &m[ready].l))
            ready++;
    }
    int code = compile_group(b, m, ready);
    for (int k = 0; k < ready; k++)
        lowered_free(&m[k].l);
    free(m);
    return code;
}

int batch_compile(const struct toolchain *t, struct kernel_text original,
                  struct candidate *candidate, int count, const char *folder, struct error *e)
{
    struct batch b = {.t = t, .folder = folder, .e = e};
    int code = source_scan(&b.original, "", original.text, original.size, e);
    if (code)
        return code;
    code = lower(&b.original, LINKAGE_STRIPPED, NULL, &b.base, e);
    if (!code)
        code = compile_candidates(&b, candidate, count);
    lowered_free(&b.base);
    source_free(&b.original);
    return code;
}
