/* calibrate - tolerances from the errors of correct kernels, and what they catch. */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>

#include "calibration.h"
#include "gather.h"
#include "json.h"
#include "memory.h"
#include "study.h"
#include "version.h"

const char *argp_program_version = "calibrate (assay) " ASSAY_VERSION;

struct options {
    bool parity, strict;
    const char *output, *corpus;
    char **rows, **against; /* files */
    int files, againsts, jobs;
};

enum { JOBS_MAX = 1024 };
enum { OPTION_PARITY = 256, OPTION_CORPUS, OPTION_STRICT, OPTION_AGAINST };

static const struct argp_option OPTIONS[] = {
    {"output", 'o', "FILE", 0, "Write the result to FILE", 0},
    {"corpus", OPTION_CORPUS, "FILE", 0, "A corpus.json, or its folder (" CORPUS_PATH ")", 0},
    {"parity", OPTION_PARITY, NULL, 0,
     "The published tables, number by number as the public script", 0},
    {"against", OPTION_AGAINST, "FILE", 0,
     "Rows of another machine, for the drift between the two; may be given several times", 0},
    {"strict", OPTION_STRICT, NULL, 0, "Stop at the first line that is not a row", 0},
    {"jobs", 'j', "N", 0, "Files read at once (as many as pay)", 0},
    {0},
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case 'o': o->output = argument; break;
    case OPTION_CORPUS: o->corpus = argument; break;
    case OPTION_PARITY: o->parity = true; break;
    case OPTION_STRICT: o->strict = true; break;
    case OPTION_AGAINST:
        o->against = realloc(o->against, (size_t)(o->againsts + 1) * sizeof *o->against);
        if (!o->against)
            abort();
        o->against[o->againsts++] = argument;
        break;
    case 'j':
        o->jobs = atoi(argument);
        if (o->jobs < 1 || o->jobs > JOBS_MAX)
            argp_error(state, "'%s' is not a number from 1 to %d", argument, JOBS_MAX);
        break;
    case ARGP_KEY_ARGS:
        o->rows = state->argv + state->next;
        o->files = state->argc - state->next;
        break;
    case ARGP_KEY_END:
        if (!o->output)
            argp_error(state, "--output is missing");
        else if (o->files == 0)
            argp_error(state, "at least one file of ROWS is needed");
        break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp ARGP = {
    .options = OPTIONS,
    .parser = parse,
    .args_doc = "ROWS...",
    .doc = "Calibrate tolerances on rows of fuzzed kernels: ours or the public tool's, plain or "
           "compressed with gzip.\v"
           "Exit status: 0 written; 64 usage; 65 bad data, or nothing in it that can be used; 74 "
           "input or output failed.",
};

static void print_skipped(void *context, const struct error *why)
{
    (void)context;
    error_print("calibrate", why);
}

static int read_rows(struct cells *cells, char *const path[], int files, const struct options *o,
                     struct error *e)
{
    const struct listener listener = {.skipped = print_skipped};
    int jobs = o->jobs ? o->jobs : gather_jobs(path, files);
    int code = gather_rows(cells, path, files, jobs, o->strict ? NULL : &listener, e);
    if (code)
        return code;
    if (cells->skipped > 0)
        fprintf(stderr, "calibrate: lines skipped: %ld, rows used: %ld\n", cells->skipped,
                cells->rows);
    if (cells->rows == 0)
        return fail(e, EXIT_DATA, "no row that can be used");
    cells_sort(cells);
    return 0;
}

static json_t *count_rows(const struct cells *cells)
{
    return json_pack("{sI sI sI si}", "used", (json_int_t)cells->rows, "without_stats",
                     (json_int_t)cells->without_stats, "skipped", (json_int_t)cells->skipped,
                     "runs", cells->runs);
}

/* Sets the key unless there is nothing to say under it. */
static void set(json_t *document, const char *key, json_t *value)
{
    if (value)
        json_object_set_new(document, key, value);
}

/* other: the rows of --against, or NULL. */
static int write_result(const struct options *o, const struct cells *cells,
                        const struct cells *other, struct error *e)
{
    struct calibration c = {cells, o->parity}, d = {other, o->parity};
    json_t *document = json_new("calibration");
    set(document, "mode", json_string(o->parity ? "parity" : "corrected"));
    set(document, "rows", count_rows(cells));
    json_object_update_new(document, calibration_to_json(&c));
    if (!o->parity) {
        set(document, "sweep", study_sweep(&c));
        set(document, "leave_one_run_out", study_leave_one_out(&c));
        set(document, "bounds", study_bounds(&c));
        set(document, "scaled", study_scaled(&c));
        set(document, "strategies", study_strategies(cells));
    }
    if (other)
        set(document, "drift", study_drift(&c, &d));
    return json_write_document(o->output, document, e);
}

static int calibrate(const struct options *o, struct error *e)
{
    struct corpus corpus;
    struct cells cells, other;
    int code = corpus_read(&corpus, o->corpus, e);
    if (code)
        return code;
    cells_init(&cells, &corpus);
    cells_init(&other, &corpus);
    code = read_rows(&cells, o->rows, o->files, o, e);
    if (!code && o->againsts > 0)
        code = read_rows(&other, o->against, o->againsts, o, e);
    if (!code)
        code = write_result(o, &cells, o->againsts > 0 ? &other : NULL, e);
    cells_free(&cells);
    cells_free(&other);
    corpus_free(&corpus);
    return code;
}

int main(int argc, char **argv)
{
    struct options o = {.corpus = CORPUS_PATH};
    struct error e;
    memory_in_huge_pages();
    if (argp_parse(&ARGP, argc, argv, 0, NULL, &o))
        abort(); /* no memory for it; it reports all else itself */
    int code = calibrate(&o, &e);
    free(o.against);
    return code ? error_print("calibrate", &e) : 0;
}
