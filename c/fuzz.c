/* fuzz - runs the kernels of the corpus on drawn cases and writes a row for each; runs rows again.
 */
#include <argp.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/fuzzer.h"
#include "error.h"
#include "file.h"
#include "fuzz.h"
#include "hash.h"
#include "json.h"
#include "memory.h"
#include "parallel.h"
#include "scan.h"
#include "version.h"

const char *argp_program_version = "fuzz (assay) " ASSAY_VERSION;

static const char DOC[] =
    "Draw cases for the entries of a corpus, run their kernels and references, and write one row a "
    "case in the schema of the public results.jsonl; or run the case of such a row again.\v"
    "Layouts: contiguous, strided, transposed. Strategies: default, boundary, regular, f32, f16, "
    "nan_injected, adversarial.\n"
    "FILE:LINE names a row that this program wrote.\n"
    "Exit status: 0 done; 1 a row did not come out the same again, or there is no failure to "
    "shrink; 64 usage; 65 bad data; 69 something is missing; 74 input or output failed.";

enum {
    OPTION_CORPUS = 256,
    OPTION_ENTRY,
    OPTION_KERNELS,
    OPTION_REF,
    OPTION_REPLAY,
    OPTION_RUNS,
    OPTION_SHRINK
};

static const struct argp_option OPTIONS[] = {
    {"output", 'o', "ROWS", 0, "Write the rows to this file", 0},
    {"corpus", OPTION_CORPUS, "FILE", 0, "A corpus.json, or its folder (" CORPUS_PATH ")", 0},
    {"entry", OPTION_ENTRY, "NAME", 0, "Only this entry; may be repeated", 0},
    {"strategy", 's', "NAME", 0, "How cases are drawn (default)", 0},
    {"layout", 'l', "NAME", 0, "How inputs lie in memory (contiguous)", 0},
    {"iterations", 'n', "N", 0, "Cases for each entry (60)", 0},
    {"seed", 'S', "N", 0, "What the cases are drawn from (1)", 0},
    {"jobs", 'j', "N", 0, "Cases run at once (1)", 0},
    {"runs", OPTION_RUNS, "N", 0, "Runs, with seeds from SEED on (1)", 0},
    {"run-id", 'r', "ID", 0, "What the rows call a single run (run-SEED)", 0},
    {"backend", 'b', "NAME", 0, "What runs the kernels: cpu (default) or cuda", 0},
    {"replay", OPTION_REPLAY, "FILE:LINE", 0, "Run this row's case again, and compare every number",
     1},
    {"shrink", OPTION_SHRINK, "FILE:LINE", 0,
     "Print the row of the smallest shape that fails alike", 1},
    {"kernels", OPTION_KERNELS, "DIR", 0,
     "The compiled kernels: DIR/DTYPE/ENTRY.so (build/gpuemu), and for a GPU .gpu beside it "
     "(build/gpuemu/cuda)",
     2},
    {"ref", OPTION_REF, "DIR", 0, "Reference operators: f64.so (build/ref)", 2},
    {0}};

struct options {
    const char *output, *corpus, *kernels, *ref, *row;
    int what; /* 'o', OPTION_REPLAY or OPTION_SHRINK */
    const char **entry;
    int entries;
    enum strategy strategy;
    enum arrangement layout;
    long iterations;
    long runs;
    int jobs;
    uint64_t seed;
    const struct fuzzer_backend *backend;
    char run_id[64];
};

static uint64_t number(struct argp_state *state, const char *text, uint64_t least, uint64_t limit)
{
    char *end;
    unsigned long long n = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)*text) || *end || n < least || n >= limit)
        argp_error(state, "'%s' is not a number from %llu on, and below %llu", text,
                   (unsigned long long)least, (unsigned long long)limit);
    return n;
}

static void choose(struct argp_state *state, int what, const char *argument)
{
    struct options *o = state->input;
    if (o->what)
        argp_error(state, "one of -o, --replay and --shrink at a time");
    o->what = what;
    if (what == 'o')
        o->output = argument;
    else
        o->row = argument;
}

static void set_run_id(struct argp_state *state, const char *id)
{
    struct options *o = state->input;
    const char *allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    if (!*id || strlen(id) >= sizeof o->run_id || id[strspn(id, allowed)])
        argp_error(state, "a run's id is up to 63 letters, digits, '.', '_' and '-'");
    snprintf(o->run_id, sizeof o->run_id, "%s", id);
}

static const struct fuzzer_backend *find_backend(struct argp_state *state, const char *name)
{
    static const struct fuzzer_backend *const all[] = {&fuzzer_cpu, &fuzzer_cuda};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (strcmp(all[k]->name, name) == 0)
            return all[k];
    argp_error(state, "'%s' is no backend", name);
    return NULL;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case 'o':
    case OPTION_REPLAY:
    case OPTION_SHRINK: choose(state, key, argument); return 0;
    case OPTION_CORPUS: o->corpus = argument; return 0;
    case OPTION_KERNELS: o->kernels = argument; return 0;
    case OPTION_REF: o->ref = argument; return 0;
    case OPTION_ENTRY: o->entry[o->entries++] = argument; return 0;
    case 'n': o->iterations = (long)number(state, argument, 1, UINT64_C(1) << 40); return 0;
    case 'j': o->jobs = (int)number(state, argument, 1, 1024); return 0;
    case 'S': o->seed = number(state, argument, 0, UINT64_C(1) << 53); return 0;
    case 'r': set_run_id(state, argument); return 0;
    case OPTION_RUNS: o->runs = (long)number(state, argument, 1, 1000000); return 0;
    case 'b': o->backend = find_backend(state, argument); return 0;
    case 's':
        if (!strategy_find(argument, &o->strategy))
            argp_error(state, "there is no strategy '%s'", argument);
        return 0;
    case 'l':
        if (!arrangement_find(argument, &o->layout))
            argp_error(state, "there is no layout '%s'", argument);
        return 0;
    case ARGP_KEY_ARG: return ARGP_ERR_UNKNOWN;
    case ARGP_KEY_SUCCESS:
        if (!o->what)
            argp_error(state, "-o, --replay or --shrink is needed");
        if (*o->run_id && o->runs > 1)
            argp_error(state, "--run-id names a single run");
        if (!o->kernels)
            o->kernels = o->backend->kernels;
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

/* ---- a run ---------------------------------------------------------------------------------- */

struct campaign {
    const struct options *options;
    struct fuzzer *fuzzer;
    int *entry; /* the numbers of those asked for, in the corpus's order */
    int entries;
};

static int choose_entries(struct campaign *c, struct error *e)
{
    const struct options *o = c->options;
    const struct corpus *corpus = c->fuzzer->corpus;
    bool *wanted = memory_zeroed(corpus->count, sizeof *wanted);
    c->entry = memory_zeroed(corpus->count, sizeof *c->entry);
    int code = 0;
    for (int k = 0; k < o->entries && !code; k++) {
        int found = corpus_find(corpus, o->entry[k]);
        if (found < 0)
            code = fail(e, EXIT_DATA, "%s: has no entry '%s'", corpus->path, o->entry[k]);
        else
            wanted[found] = true;
    }
    for (int k = 0; k < corpus->count; k++)
        if (wanted[k] || o->entries == 0)
            c->entry[c->entries++] = k;
    free(wanted);
    return code;
}

/* The hash of all that the rows depend on: the code that draws, runs and compares, corpus,
 * references, kernels. */
static int hash_sources(const struct campaign *c, char digest[HASH_HEX], struct error *e)
{
    const struct options *o = c->options;
    char path[4096];
    struct hash *h = hash_new();
    hash_add_text(h, FUZZER_HASH);
    hash_add_text(h, EXECUTOR_HASH); /* of the references at least */
    hash_add_text(h, o->backend->code);
    int code = hash_file(c->fuzzer->corpus->path, digest, e);
    hash_add_text(h, digest);
    snprintf(path, sizeof path, "%s/f64.so", o->ref);
    if (!code)
        code = hash_file(path, digest, e);
    hash_add_text(h, digest);
    for (int k = 0; k < c->entries * DTYPES; k++) {
        const enum dtype dtype = strategy_dtype(o->strategy, k % DTYPES);
        for (const char *const *suffix = o->backend->suffix; *suffix && !code; suffix++) {
            fuzzer_kernel_path(c->fuzzer, c->entry[k / DTYPES], dtype, *suffix, path);
            code = hash_file(path, digest, e);
            hash_add_text(h, digest);
        }
    }
    hash_finish(h, digest);
    return code;
}

static int write_header(const struct campaign *c, struct output *out, struct error *e)
{
    const struct fuzzer_backend *backend = c->options->backend;
    const char *device = NULL;
    char digest[HASH_HEX];
    int code = hash_sources(c, digest, e);
    if (!code && backend->device)
        code = backend->device(c->fuzzer, &device, e);
    if (code)
        return code;
    json_t *header = json_new("results");
    json_object_set_new(header, "backend", json_string(backend->name));
    json_object_set_new(
        header, "provenance",
        json_pack("{ss ss* ss}", "assay", ASSAY_VERSION, "device", device, "sha256", digest));
    code = json_write_line(out, header, e);
    json_decref(header);
    return code;
}

/* Row number `number`: run by run, entry by entry, the iterations of each in order. */
static int write_row(void *context, long number, FILE *out, struct error *e)
{
    const struct campaign *campaign = context;
    const struct options *o = campaign->options;
    const long cases = campaign->entries * o->iterations, in_run = number % cases;
    struct fuzz_case c = {.entry = campaign->entry[in_run / o->iterations],
                          .strategy = o->strategy,
                          .arrangement = o->layout,
                          .seed = o->seed + (uint64_t)(number / cases),
                          .iteration = in_run % o->iterations};
    struct fuzz_result r;
    char run_id[32];
    snprintf(run_id, sizeof run_id, "run-%llu", (unsigned long long)c.seed);
    fuzz_draw(&c, campaign->fuzzer->corpus);
    int code = fuzzer_run(campaign->fuzzer, &c, &r, e);
    if (!code)
        fuzz_write_row(out, campaign->fuzzer->corpus, *o->run_id ? o->run_id : run_id, &c, &r);
    return code;
}

static int run(const struct options *o, struct fuzzer *f, struct error *e)
{
    struct output out;
    struct campaign c = {.options = o, .fuzzer = f};
    int code = choose_entries(&c, e);
    if (!code)
        code = output_open(&out, o->output, e);
    if (!code) {
        const struct parallel work = {o->runs * c.entries * o->iterations, o->jobs, write_row, &c};
        code = write_header(&c, &out, e);
        if (!code)
            code = parallel_lines(&work, out.stream, e);
        if (!code)
            code = output_commit_if_changed(&out, e);
        output_abandon(&out);
    }
    free(c.entry);
    return code;
}

/* ---- a row again ---------------------------------------------------------------------------- */

/* The text of the row that o->row names, with its newline, malloc'd. */
static int read_line(const struct options *o, char **line, struct error *e)
{
    const char *colon = strrchr(o->row, ':');
    char *end, *path = colon ? strndup(o->row, (size_t)(colon - o->row)) : NULL, *text;
    long wanted_line = colon ? strtol(colon + 1, &end, 10) : 0;
    size_t size;
    if (wanted_line < 1 || *end) {
        free(path);
        return fail(e, EXIT_USAGE, "'%s' is not FILE:LINE", o->row);
    }
    int code = file_read(path, &text, &size, e);
    free(path);
    if (code)
        return code;
    const char *at = text;
    for (long k = 1; k < wanted_line && at; k++) {
        at = strchr(at, '\n');
        at = at ? at + 1 : NULL;
    }
    const char *newline = at ? strchr(at, '\n') : NULL;
    *line = newline ? strndup(at, (size_t)(newline - at) + 1) : NULL;
    free(text);
    return *line ? 0 : fail(e, EXIT_DATA, "%s: there is no such line", o->row);
}

static void print_row(const struct fuzzer *f, const char *run_id, const struct fuzz_case *c,
                      const struct fuzz_result *r, char **row)
{
    size_t size;
    FILE *stream = open_memstream(row, &size);
    if (!stream)
        abort();
    fuzz_write_row(stream, f->corpus, run_id, c, r);
    fclose(stream);
}

static int again(const struct options *o, struct fuzzer *f, struct error *e)
{
    char *line, *copy, *row = NULL;
    const char *run_id;
    struct fuzz_case c;
    struct fuzz_result r;
    int code = read_line(o, &line, e);
    if (code)
        return code;
    copy = memory_zeroed((int)strlen(line) + SCAN_MARGIN, 1);
    strcpy(copy, line);
    code = fuzz_read_row(o->row, copy, f->corpus, &c, &run_id, e);
    if (!code)
        code = o->what == OPTION_SHRINK ? fuzzer_shrink(f, &c, &r, e) : fuzzer_run(f, &c, &r, e);
    if (!code)
        print_row(f, run_id, &c, &r, &row);
    if (!code && o->what == OPTION_SHRINK)
        fputs(row, stdout);
    if (!code && o->what == OPTION_REPLAY && strcmp(row, line) != 0) {
        fputs(row, stdout);
        code = fail(e, EXIT_NO, "%s: came out otherwise, as printed", o->row);
    }
    free(row);
    free(copy);
    free(line);
    return code;
}

int main(int argc, char **argv)
{
    struct options o = {.corpus = CORPUS_PATH,
                        .ref = "build/ref",
                        .backend = &fuzzer_cpu,
                        .iterations = 60,
                        .runs = 1,
                        .jobs = 1,
                        .seed = 1};
    const struct argp argp = {OPTIONS, parse, NULL, DOC, NULL, NULL, NULL};
    o.entry = memory_zeroed(argc, sizeof *o.entry);
    if (argp_parse(&argp, argc, argv, 0, NULL, &o))
        abort(); /* no memory for it; it reports all else itself */

    struct error e;
    struct corpus corpus;
    struct fuzzer f = {0};
    char reference[4096];
    snprintf(reference, sizeof reference, "%s/f64.so", o.ref);
    int code = corpus_read(&corpus, o.corpus, &e);
    if (!code) {
        code = fuzzer_open(&f, o.backend, &corpus, o.kernels, reference, &e);
        if (!code)
            code = o.what == 'o' ? run(&o, &f, &e) : again(&o, &f, &e);
        fuzzer_close(&f);
        corpus_free(&corpus);
    }
    free(o.entry);
    return code ? error_print("fuzz", &e) : 0;
}
