#include "fuzzer.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/memory.h"
#include "../../lib/outcome.h"
#include "version.h"

/* For kernels that never end: thousands of times what the largest case of the corpus takes. */
static const uint64_t FUEL = UINT64_C(1) << 32;

enum { LAUNCH_DIMS = CORPUS_DIMS + CORPUS_INPUTS * CORPUS_RANK };

int fuzzer_open(struct fuzzer *f, const struct fuzzer_backend *backend, const struct corpus *corpus,
                const char *kernels, const char *reference, struct error *e)
{
    *f = (struct fuzzer){.backend = backend, .corpus = corpus, .kernels = kernels};
    f->kernel = memory_zeroed(corpus->count * DTYPES, sizeof *f->kernel);
    int code = simt_start(e);
    return code ? code : formulas_open(&f->library, reference, e);
}

void fuzzer_close(struct fuzzer *f)
{
    if (f->backend->close)
        f->backend->close();
    for (int k = 0; f->kernel && k < f->corpus->count * DTYPES; k++)
        if (f->kernel[k].handle)
            dlclose(f->kernel[k].handle);
    free(f->kernel);
    for (int k = 0; k < CORPUS_INPUTS; k++) {
        simt_buffer_free(f->in[k].base);
        simt_buffer_free(f->dense[k].base);
    }
    simt_buffer_free(f->out.base);
    simt_buffer_free(f->reference.base);
    formulas_close(f->library);
    *f = (struct fuzzer){0};
}

/* The last `bytes` bytes of the buffer, which grows when it must; NULL when memory is short. */
static void *take(struct fuzzer_buffer *buffer, size_t bytes)
{
    if (bytes > buffer->bytes) {
        simt_buffer_free(buffer->base);
        buffer->base = simt_buffer_new(bytes);
        buffer->bytes = buffer->base ? bytes : 0;
    }
    return buffer->base ? buffer->base + buffer->bytes - bytes : NULL;
}

void fuzzer_kernel_path(const struct fuzzer *f, int entry, enum dtype dtype, const char *suffix,
                        char path[4096])
{
    snprintf(path, 4096, "%s/%s/%s%s", f->kernels, dtype_name(dtype), f->corpus->entry[entry].name,
             suffix);
}

static int load(struct fuzzer *f, const struct fuzz_case *c, launch_function **launch,
                struct error *e)
{
    struct fuzzer_kernel *kernel = &f->kernel[c->entry * DTYPES + (int)c->dtype];
    char path[4096];
    fuzzer_kernel_path(f, c->entry, c->dtype, ".so", path);
    if (!kernel->handle)
        kernel->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!kernel->handle)
        return fail(e, EXIT_UNAVAILABLE, "the kernel cannot be loaded: %s", dlerror());
    void *symbol = dlsym(kernel->handle, "launch");
    if (!symbol)
        return fail(e, EXIT_DATA, "%s: exports no launch()", path);
    memcpy(&kernel->launch, &symbol, sizeof symbol);
    *launch = kernel->launch;
    return 0;
}

static int find_parameter(const struct corpus_entry *entry, const struct formula *formula,
                          double *parameter, struct error *e)
{
    const char *name = formula_parameter(formula);
    const json_t *value = name ? json_object_get(entry->parameters, name) : NULL;
    *parameter = json_number_value(value);
    return !name || json_is_number(value)
               ? 0
               : fail(e, EXIT_DATA, "%s: has no parameter '%s'", entry->name, name);
}

static int execute(struct fuzzer *f, const struct fuzz_case *c, launch_function *launch,
                   float *const in[], void *out, const long dim[], struct simt_verdict *verdict,
                   struct error *e)
{
    const struct simt_schedule schedule = {.order = SIMT_FORWARD, .fuel = FUEL};
    float *const outs[] = {out};
    (void)f, (void)c, (void)e;
    simt_run(launch, in, outs, dim, NULL, &schedule, verdict);
    return 0;
}

const struct fuzzer_backend fuzzer_cpu = {.name = "cpu",
                                          .code = EXECUTOR_HASH,
                                          .kernels = "build/gpuemu",
                                          .suffix = (const char *const[]){".so", NULL},
                                          .run = fuzzer_evaluate,
                                          .execute = execute};

/* Fills the inputs, in both forms, and dim[] with the extents and the strides of every input. */
static int make_inputs(struct fuzzer *f, const struct fuzz_case *c, float *in[], double *dense[],
                       long dim[], struct error *e)
{
    const struct corpus_entry *entry = &f->corpus->entry[c->entry];
    long *next = dim + entry->dims;
    memcpy(dim, c->extent, (size_t)entry->dims * sizeof *dim);
    for (int k = 0; k < entry->inputs; k++) {
        size_t span = fuzz_strides(c, &entry->input[k], next);
        next += entry->input[k].rank;
        in[k] = take(&f->in[k], span * dtype_size(c->dtype));
        dense[k] = take(&f->dense[k], fuzz_elements(c, &entry->input[k]) * sizeof(double));
        if (!in[k] || !dense[k])
            return fail(e, EXIT_UNAVAILABLE, "%s: not enough memory for its inputs", entry->name);
        fuzz_fill(c, f->corpus, k, in[k], dense[k]);
    }
    return 0;
}

int fuzzer_run(struct fuzzer *f, const struct fuzz_case *c, struct fuzz_result *r, struct error *e)
{
    return f->backend->run(f, c, r, e);
}

int fuzzer_evaluate(struct fuzzer *f, const struct fuzz_case *c, struct fuzz_result *r,
                    struct error *e)
{
    const struct corpus_entry *entry = &f->corpus->entry[c->entry];
    const struct formula *formula = formula_find(entry->op);
    const size_t count = fuzz_elements(c, &entry->output), size = dtype_size(c->dtype);
    float *in[CORPUS_INPUTS];
    double *dense[CORPUS_INPUTS];
    long dim[LAUNCH_DIMS];
    double parameter;
    launch_function *launch = NULL;
    struct simt_verdict verdict;
    *r = (struct fuzz_result){0};
    int code = formula ? load(f, c, &launch, e)
                       : fail(e, EXIT_DATA, "%s: no operator '%s'", entry->name, entry->op);
    if (!code)
        code = find_parameter(entry, formula, &parameter, e);
    if (!code)
        code = make_inputs(f, c, in, dense, dim, e);
    if (code)
        return code;
    void *out = take(&f->out, count * size);
    double *reference = take(&f->reference, count * sizeof(double));
    if (!out || !reference)
        return fail(e, EXIT_UNAVAILABLE, "%s: not enough memory for its output", entry->name);
    memset(out, 0xFF, count * size); /* NaN, in case that it is not written */
    code = f->backend->execute(f, c, launch, in, out, dim, &verdict, e);
    if (!code && verdict.outcome != OUTCOME_FINISHED)
        snprintf(r->exception, sizeof r->exception, "%s: %.140s", outcome_name(verdict.outcome),
                 verdict.detail);
    if (code || r->exception[0])
        return code;
    code = formula_run(formula, f->library, dense, reference, c->extent, parameter, e);
    if (!code)
        error_stats(&r->stats, c->dtype, out, reference, count, entry->tolerance[c->dtype],
                    reference);
    return code;
}

static bool passes(const struct fuzz_result *r, bool matching)
{
    return matching ? fuzz_passed_matching(r) : fuzz_passed(r);
}

/* Lowers extent d to the first at which the case fails; *lowered tells whether there is one. */
static int lower_extent(struct fuzzer *f, struct fuzz_case *c, struct fuzz_result *r, int d,
                        bool matching, bool *lowered, struct error *e)
{
    struct fuzz_case smaller = *c;
    struct fuzz_result result;
    *lowered = false;
    for (long extent = 1; extent < c->extent[d]; extent++) {
        smaller.extent[d] = extent;
        int code = fuzzer_run(f, &smaller, &result, e);
        if (code)
            return code;
        if (passes(&result, matching))
            continue;
        *c = smaller;
        *r = result;
        *lowered = true;
        return 0;
    }
    return 0;
}

int fuzzer_shrink(struct fuzzer *f, struct fuzz_case *c, struct fuzz_result *r, struct error *e)
{
    int code = fuzzer_run(f, c, r, e);
    if (code)
        return code;
    const bool matching = !fuzz_passed_matching(r);
    const int dims = f->corpus->entry[c->entry].dims;
    if (passes(r, matching))
        return fail(e, EXIT_NO, "%s: the case does not fail", f->corpus->entry[c->entry].name);
    for (int since = 0, d = 0; since < dims; d = (d + 1) % dims) {
        bool lowered;
        code = lower_extent(f, c, r, d, matching, &lowered, e);
        if (code)
            return code;
        since = lowered ? 1 : since + 1;
    }
    return 0;
}
