#include "judge.h"

#include <math.h>
#include <string.h>

/* What 85 %, 90 % and 95 % of the elements meet; the tolerance's 31 bits are found in three steps. */
static const double SHARE[FINDINGS_SHARES] = {0.85, 0.90, 0.95};
static const struct {
    int shift, bits;
} STEP[] = {{20, 11}, {10, 10}, {0, 10}};
enum { STEPS = sizeof STEP / sizeof *STEP };

static struct {
    struct code code;
    function fill, widen, differ, stray, grade, count_bits, choose_bits;
    device_address difference, findings;
} judge;

int judge_open(const char *folder, struct error *e)
{
    const struct {
        const char *name;
        function *f;
    } kernels[] = {{"fill", &judge.fill},     {"widen", &judge.widen}, {"differ", &judge.differ},
                   {"stray", &judge.stray},   {"grade", &judge.grade}, {"count_bits", &judge.count_bits},
                   {"choose_bits", &judge.choose_bits}};
    char path[4096];
    snprintf(path, sizeof path, "%s/service.gpu", folder);
    int code = code_load(&judge.code, path, e);
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels && !code; k++)
        if (!(*kernels[k].f = code_kernel(&judge.code, kernels[k].name)))
            code = fail(e, EXIT_DATA, "%s: has no kernel '%s'", path, kernels[k].name);
    if (!code)
        code = driver_check(driver.cuMemAlloc_v2(&judge.difference, sizeof(struct difference)),
                            "device memory", e);
    if (!code)
        code = driver_check(driver.cuMemAlloc_v2(&judge.findings, sizeof(struct findings)),
                            "device memory", e);
    return code;
}

int judge_fill(const struct recipe *r, int tensor, device_address x)
{
    const struct tensor *t = &r->tensor[tensor];
    generator_word seed = t->role == INPUT ? r->seed : r->weights_seed;
    long count = tensor_count(t), row = tensor_row(t);
    struct fill fill = r->fill[tensor];
    return launch_own(judge.fill, count, (void *[]){&x, &fill, &seed, &tensor, &count, &row});
}

int judge_widen(device_address y, device_address x, size_t count)
{
    return launch_own(judge.widen, (long)count, (void *[]){&y, &x, &count});
}

int judge_poison(device_address x, size_t bytes)
{
    return driver.cuMemsetD32Async(x, UINT32_MAX, bytes / 4, gpu.stream);
}

static int look_for_stray(device_address from, device_address to)
{
    device_address flag = judge.difference + offsetof(struct difference, stray);
    size_t words = (to - from) / 4;
    return launch_own(judge.stray, (long)words, (void *[]){&flag, &from, &words});
}

int judge_difference(const struct tensors *x, device_address outputs, device_address answers,
                     struct difference *found)
{
    device_address flag = judge.difference + offsetof(struct difference, differs), at = outputs;
    int error = driver.cuMemsetD8Async(judge.difference, 0, sizeof *found, gpu.stream);
    for (int k = 0; k < x->outs && !error; k++) {
        device_address out = outputs + x->out[k], original = answers + x->original[k];
        size_t count = x->out_count[k];
        error = launch_own(judge.differ, (long)(count + 3) / 4,
                           (void *[]){&flag, &out, &original, &count});
        if (!error)
            error = look_for_stray(at, out);
        at = out + count * sizeof(float);
    }
    if (!error)
        error = look_for_stray(at, outputs + x->outputs);
    if (!error && gpu.sink)
        error = look_for_stray(gpu.sink_address, gpu.sink_address + GPU_SINK_BYTES);
    if (!error)
        error = driver.cuMemcpyDtoHAsync_v2(found, judge.difference, sizeof *found, gpu.stream);
    return error;
}

/* ---- grades ----------------------------------------------------------------------------------- */

static int start_findings(size_t count)
{
    static struct findings zero;
    for (int s = 0; s < FINDINGS_SHARES; s++) {
        double rank = ceil(SHARE[s] * (double)count) - 1;
        zero.rank[s] = rank > 0 ? (unsigned long long)rank : 0;
    }
    return driver.cuMemcpyHtoDAsync_v2(judge.findings, &zero, sizeof zero, gpu.stream);
}

/* One of the two kernels that pass over all outputs. */
static int over_outputs(function f, const struct tensors *x, const device_address out[],
                        device_address answers, int step)
{
    int error = 0, shift = STEP[step].shift, bits = STEP[step].bits;
    for (int k = 0; k < x->outs && !error; k++) {
        device_address o = out[k], reference = answers + x->reference[k];
        size_t count = x->out_count[k];
        error = launch_own(f, (long)count,
                           (void *[]){&judge.findings, &o, &reference, &count, &shift, &bits});
    }
    return error;
}

static int choose(int step)
{
    int shift = STEP[step].shift;
    return driver.cuLaunchKernel(judge.choose_bits, 1, 1, 1, 32 * FINDINGS_SHARES, 1, 1, 0, gpu.stream,
                                 (void *[]){&judge.findings, &shift}, NULL);
}

static double number(unsigned long long bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static double tolerance(unsigned bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static void read_findings(const struct findings *f, size_t count, struct graded *g)
{
    double errors = 0, squares = 0;
    for (int k = 0; k < FINDINGS_BLOCKS; k++) {
        errors += f->errors[k];
        squares += f->squares[k];
    }
    *g = (struct graded){.t = number(f->t),
                         .t_p85 = tolerance(f->prefix[0]),
                         .t_p90 = tolerance(f->prefix[1]),
                         .t_p95 = tolerance(f->prefix[2]),
                         .max_abs = number(f->max_abs),
                         .max_rel = number(f->max_rel),
                         .max_ulp = number(f->max_ulp),
                         .nmse = errors > 0 ? errors / squares : 0,
                         .ref_max = number(f->ref_max),
                         .nonfinite = (long)f->nonfinite,
                         .elements = (long)count};
    if (g->nonfinite)
        g->t = g->max_abs = g->max_rel = g->max_ulp = g->nmse = INFINITY;
}

int judge_grade(const struct tensors *x, const device_address out[], device_address answers,
                struct graded *g, bool *finite)
{
    static struct findings found;
    int error = start_findings(x->count);
    if (!error)
        error = over_outputs(judge.grade, x, out, answers, 0);
    for (int step = 0; step < STEPS && !error; step++) {
        error = over_outputs(judge.count_bits, x, out, answers, step);
        if (!error)
            error = choose(step);
    }
    /* The histograms, at the end, are not of interest. */
    if (!error)
        error = driver.cuMemcpyDtoHAsync_v2(&found, judge.findings,
                                            offsetof(struct findings, histogram), gpu.stream);
    if (!error)
        error = gpu_wait(0);
    if (error)
        return error;
    read_findings(&found, x->count, g);
    if (finite)
        *finite = found.reference_nonfinite == 0;
    return 0;
}
