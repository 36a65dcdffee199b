/* golden - checks problems and their kernels against outputs of the real PyTorch modules. */
#include <argp.h>
#include <fts.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/cpu/loader.h"
#include "backend/cpu/reference.h"
#include "backend/cpu/simt.h"
#include "error.h"
#include "golden.h"
#include "plugin.h"
#include "version.h"

const char *argp_program_version = "golden (assay) " ASSAY_VERSION;

/* Of the reference, in units of the output's largest magnitude. */
#define REFERENCE_LIMIT 1e-9

/*
 * Of the kernel: PyTorch's own float32 error is the scale. PyTorch adds in another order; a sum
 * taken term by term may be several times worse (2.7 times is the worst of the first twenty
 * kernels, the running sum). Where PyTorch's error is 0 or happens to be tiny, some units in the
 * last place of the largest value are granted.
 */
#define KERNEL_FACTOR 8
#define KERNEL_ULPS 8
#define FLOAT32_ULP 0x1p-23

struct options {
    const char *problems, *reference, *kernels, *folder;
};

struct counts {
    int checked, failed, malformed, without;
};

/* One golden file, bound to its problem. */
struct check {
    const struct options *options;
    const struct reference *reference;
    struct golden golden;
    struct plugin plugin;
    struct layout layout;
    long size[PROBLEM_SIZES];
    double hyper[PROBLEM_SIZES];
    void *in[PROBLEM_TENSORS], *out[PROBLEM_TENSORS];
};

/* ---- memory ---------------------------------------------------------------------------------- */

/* Arrays of `each`-byte elements for all tensors; poisoned, so that an unwritten output is NaN. */
static int arrays_new(struct check *c, size_t each, struct error *e)
{
    int ins = 0, outs = 0;
    for (int t = 0; t < c->layout.tensors; t++) {
        const struct tensor *x = &c->layout.tensor[t];
        void *buffer = simt_buffer_new((size_t)tensor_count(x) * each);
        if (!buffer)
            return fail(e, EXIT_IO, "there is not enough memory for '%s'", x->name);
        simt_buffer_poison(buffer);
        if (x->role == OUTPUT)
            c->out[outs++] = buffer;
        else
            c->in[ins++] = buffer;
    }
    return 0;
}

static void arrays_free(struct check *c)
{
    for (int k = 0; k < PROBLEM_TENSORS && c->in[k]; k++)
        simt_buffer_free(c->in[k]);
    for (int k = 0; k < PROBLEM_TENSORS && c->out[k]; k++)
        simt_buffer_free(c->out[k]);
    memset(c->in, 0, sizeof c->in);
    memset(c->out, 0, sizeof c->out);
}

/* ---- comparing ------------------------------------------------------------------------------- */

static int judge(const char *what, const struct golden_output *o, const double out[], double limit,
                 struct error *e)
{
    double difference = golden_difference(o, out);
    if (difference <= limit)
        return 0;
    return fail(e, EXIT_NO, "the %s differs by %.3g of the largest output, limit %.3g", what,
                difference, limit);
}

static int check_reference(struct check *c, struct error *e)
{
    int code = arrays_new(c, sizeof(double), e);
    for (int t = 0; t < c->golden.tensors && !code; t++) {
        double *values = c->in[t];
        for (long i = 0; i < c->golden.tensor[t].elements; i++)
            values[i] = golden_value(&c->golden, t, i);
        simt_buffer_seal(values);
    }
    if (!code)
        code = reference_run(&c->plugin, c->reference, c->in, c->out, c->size, c->hyper, e);
    for (int k = 0; k < c->golden.outputs && !code; k++)
        code = judge("reference", &c->golden.output[k], c->out[k], REFERENCE_LIMIT, e);
    arrays_free(c);
    return code;
}

static int judge_kernel(const struct check *c, struct error *e)
{
    int code = 0;
    for (int k = 0; k < c->golden.outputs && !code; k++) {
        const struct golden_output *o = &c->golden.output[k];
        double *wide = calloc((size_t)o->elements, sizeof *wide);
        if (!wide)
            abort();
        const float *out = c->out[k];
        for (long i = 0; i < o->elements; i++)
            wide[i] = out[i];
        double largest = o->largest > 0 ? o->largest : 1;
        code = judge("kernel", o, wide,
                     KERNEL_FACTOR * o->float32_error / largest + KERNEL_ULPS * FLOAT32_ULP, e);
        free(wide);
    }
    return code;
}

static int run_kernel(struct check *c, launch_function *original, struct error *e)
{
    const struct simt_schedule schedule = {.order = SIMT_RANDOM, .seed = 1};
    struct simt_verdict verdict;
    int code = arrays_new(c, sizeof(float), e);
    for (int t = 0; t < c->golden.tensors && !code; t++) {
        float *values = c->in[t];
        for (long i = 0; i < c->golden.tensor[t].elements; i++)
            values[i] = golden_value(&c->golden, t, i);
        simt_buffer_seal(values);
    }
    if (code)
        return code;
    simt_run(original, (float *const *)c->in, (float *const *)c->out, c->size, c->hyper, &schedule,
             &verdict);
    if (verdict.outcome != OUTCOME_FINISHED)
        return fail(e, EXIT_NO, "the kernel did not finish: %s", verdict.detail);
    if (verdict.stray_read || verdict.stray_write || verdict.divergence || verdict.input_written)
        return fail(e, EXIT_NO, "the kernel strays from its arrays or its barriers");
    return judge_kernel(c, e);
}

static int check_kernel(struct check *c, struct error *e)
{
    char index[4096];
    struct loader loader;
    snprintf(index, sizeof index, "%s/%s/images.jsonl", c->options->kernels, c->golden.problem);
    int code = loader_open(&loader, index, e);
    if (code)
        return code;
    launch_function *original = loader_find(&loader, "original");
    code = original ? run_kernel(c, original, e) : fail(e, EXIT_NO, "the kernel does not compile");
    arrays_free(c);
    loader_close(&loader);
    return code;
}

/* ---- files ----------------------------------------------------------------------------------- */

static int check_bound(struct check *c, struct error *e)
{
    if (*c->golden.unsupported)
        return fail(e, EXIT_NO, "unsupported: %s", c->golden.unsupported);
    int code = golden_bind(&c->golden, &c->plugin, c->size, c->hyper, &c->layout, e);
    if (!code)
        code = check_reference(c, e);
    return code ? code : check_kernel(c, e);
}

/* Checks one file; prints what is wrong with it. Returns 0, or an error that ends the program. */
static int check_file(struct check *c, const char *path, struct counts *n, struct error *e)
{
    char object[4096];
    int code = golden_read(&c->golden, path, e);
    n->malformed += code == EXIT_DATA;
    if (code == EXIT_DATA)
        return error_print("golden", e), 0;
    if (code || !c->golden.root)
        return code;
    snprintf(object, sizeof object, "%s/%s.so", c->options->problems, c->golden.problem);
    if (access(object, F_OK)) {
        n->without++;
        golden_free(&c->golden);
        return 0;
    }
    code = plugin_open(&c->plugin, object, e);
    if (!code)
        code = check_bound(c, e);
    n->checked++;
    n->failed += code != 0;
    if (code)
        printf("%s: %s (%s)\n", c->golden.problem, e->text, path);
    plugin_close(&c->plugin);
    golden_free(&c->golden);
    return 0;
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

static int check_folder(struct check *c, struct counts *n, struct error *e)
{
    char *const roots[] = {(char *)c->options->folder, NULL};
    FTS *walk = fts_open(roots, FTS_LOGICAL | FTS_NOCHDIR, by_name);
    const FTSENT *entry;
    int code = 0;
    if (!walk)
        return fail_errno(e, "%s", c->options->folder);
    while (!code && (entry = fts_read(walk))) {
        const char *dot = strrchr(entry->fts_name, '.');
        if (entry->fts_info == FTS_NS || entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR)
            code = fail(e, EXIT_IO, "%s: cannot be read: %s", entry->fts_path,
                        strerror(entry->fts_errno));
        else if (entry->fts_info == FTS_F && dot && strcmp(dot, ".json") == 0)
            code = check_file(c, entry->fts_path, n, e);
    }
    fts_close(walk);
    return code;
}

/* ---- the program ----------------------------------------------------------------------------- */

static const struct argp_option OPTIONS[] = {
    {"problems", 'p', "DIR", 0, "the problems, <group>/<name>.so (build/problems)", 0},
    {"ref", 'r', "DIR", 0, "the reference operators, f64.so (build/ref)", 0},
    {"kernels", 'k', "DIR", 0, "the kernels, <group>/<name>/images.jsonl (build/cpu)", 0},
    {0},
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case 'p': o->problems = argument; break;
    case 'r': o->reference = argument; break;
    case 'k': o->kernels = argument; break;
    case ARGP_KEY_ARG:
        if (o->folder)
            argp_error(state, "one GOLDENDIR at a time");
        o->folder = argument;
        break;
    case ARGP_KEY_NO_ARGS: argp_error(state, "GOLDENDIR is missing"); break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp ARGP = {
    .options = OPTIONS,
    .parser = parse,
    .args_doc = "GOLDENDIR",
    .doc = "Checks every golden file below GOLDENDIR: the problem's reference to 1e-9 of the "
           "largest output, and the kernel to what float32 allows. Prints a line for each that fails. "
           "Exit status: 0 all agree, 1 one does not, 65 a file is malformed, 74 "
           "reading or writing failed.",
};

int main(int argc, char **argv)
{
    struct options options = {"build/problems", "build/ref", "build/cpu", NULL};
    struct counts n = {0};
    struct reference reference;
    struct error e;
    char path[4096];
    argp_err_exit_status = EXIT_USAGE;
    if (argp_parse(&ARGP, argc, argv, 0, NULL, &options))
        abort(); /* no memory for it; it reports all else itself */
    snprintf(path, sizeof path, "%s/f64.so", options.reference);
    struct check *c = calloc(1, sizeof *c);
    if (!c)
        abort();
    c->options = &options;
    c->reference = &reference;
    if (simt_start(&e) || reference_open(&reference, path, &e) || check_folder(c, &n, &e))
        return error_print("golden", &e);
    printf("%d checked, %d failed, %d without a problem\n", n.checked, n.failed, n.without);
    free(c);
    if (fflush(stdout) || ferror(stdout))
        return error_print("golden", (fail_errno(&e, "the output cannot be written"), &e));
    if (n.malformed)
        return EXIT_DATA;
    return n.failed ? EXIT_NO : 0;
}
