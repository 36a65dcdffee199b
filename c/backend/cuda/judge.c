#include "judge.h"

#include <math.h>
#include <string.h>

/* What 85 %, 90 % and 95 % of the elements meet. */
static const double SHARE[FINDINGS_SHARES] = {0.85, 0.90, 0.95};

/* So many neighbouring floats are near enough: one part in 2^14. */
enum { NEAR = 1 << 9 };

static struct {
    struct code code;
    function fill, widen, judge, sample, bracket, grade;
    device_address findings;
    struct judged *slot; /* in memory that the device writes to */
} judge;

static int new_memory(struct error *e)
{
    int error = driver.cuMemAlloc_v2(&judge.findings, sizeof(struct findings));
    if (!error)
        error = driver.cuMemsetD8Async(judge.findings, 0, sizeof(struct findings), gpu.stream);
    if (!error)
        error = driver.cuMemHostAlloc((void **)&judge.slot, JUDGE_SLOTS * sizeof *judge.slot, 0);
    return driver_check(error, "memory for judgements", e);
}

int judge_open(const char *folder, struct error *e)
{
    const struct {
        const char *name;
        function *f;
    } kernels[] = {{"fill", &judge.fill},     {"widen", &judge.widen},     {"judge", &judge.judge},
                   {"sample", &judge.sample}, {"bracket", &judge.bracket}, {"grade", &judge.grade}};
    char path[4096];
    snprintf(path, sizeof path, "%s/service.gpu", folder);
    int code = code_load(&judge.code, path, NULL, e);
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels && !code; k++)
        if (!(*kernels[k].f = code_kernel(&judge.code, kernels[k].name)))
            code = fail(e, EXIT_DATA, "%s: has no kernel '%s'", path, kernels[k].name);
    return code ? code : new_memory(e);
}

int judge_fill(const struct recipe *r, int tensor, device_address x)
{
    const struct tensor *t = &r->tensor[tensor];
    generator_word seed = t->role == INPUT ? r->seed : r->weights_seed;
    long count = tensor_count(t), row = tensor_row(t);
    struct fill fill = r->fill[tensor];
    return launch_own(judge.fill, (count + 3) / 4, (void *[]){&x, &fill, &seed, &tensor, &count, &row});
}

int judge_widen(device_address y, device_address x, size_t count)
{
    return launch_own(judge.widen, (long)count, (void *[]){&y, &x, &count});
}

int judge_poison(device_address x, size_t bytes)
{
    return driver.cuMemsetD32Async(x, UINT32_MAX, bytes / 4, gpu.stream);
}

void judge_task(struct task *t, const struct tensors *x, device_address outputs, device_address answers,
                bool alone)
{
    *t = (struct task){.outs = x->outs, .count = (long)x->count,
                       .begin = (unsigned *)outputs, .end = (unsigned *)(outputs + x->outputs)};
    for (int k = 0; k < x->outs; k++) {
        t->output[k].out = (float *)(outputs + x->out[k]);
        t->output[k].original = alone ? NULL : (float *)(answers + x->original[k]);
        t->output[k].reference = (double *)(answers + x->reference[k]);
        t->output[k].count = (long)x->out_count[k];
    }
    if (gpu.sink) {
        t->sink = (unsigned *)gpu.sink_address;
        t->sink_end = (unsigned *)(gpu.sink_address + GPU_SINK_BYTES);
    }
    for (int s = 0; s < FINDINGS_SHARES; s++) {
        double rank = ceil(SHARE[s] * (double)t->count) - 1;
        t->rank[s] = rank > 0 ? (long)rank : 0;
    }
}

int judge_start(const struct task *t, int slot)
{
    struct judged *to = &judge.slot[slot];
    long words = t->end - t->begin + (t->sink_end - t->sink);
    to->done = 0;
    return launch_own(judge.judge, words / 4, (void *[]){(void *)t, &judge.findings, &to});
}

/* ---- grades ----------------------------------------------------------------------------------- */

static double number(unsigned bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static void read_grades(const struct judged *j, long count, struct judgement *to)
{
    struct graded *g = &to->graded;
    *g = (struct graded){.t = j->t,
                         .t_p85 = number(j->high[0]),
                         .t_p90 = number(j->high[1]),
                         .t_p95 = number(j->high[2]),
                         .max_abs = j->max_abs,
                         .max_rel = j->max_rel,
                         .max_ulp = j->max_ulp,
                         .nmse = j->errors > 0 ? j->errors / j->squares : 0,
                         .ref_max = j->ref_max,
                         .nonfinite = (long)j->nonfinite,
                         .elements = count};
    if (g->nonfinite)
        g->t = g->max_abs = g->max_rel = g->max_ulp = g->nmse = INFINITY;
    to->finite = j->reference_nonfinite == 0;
}

static bool near_enough(const struct judged *j)
{
    for (int s = 0; s < FINDINGS_SHARES; s++)
        if (j->high[s] - j->low[s] >= NEAR)
            return false;
    return true;
}

/* Many elements: a sample tells between which bounds to look for the shares' tolerances, and a pass over
 * all of them grades and finds them there. A pass that does not has made the bounds narrower. */
static int grade_in_passes(const struct task *t, struct judged *slot)
{
    long n = t->count < FINDINGS_SAMPLE ? t->count : FINDINGS_SAMPLE;
    int error = launch_own(judge.sample, n, (void *[]){(void *)t, &judge.findings, &n});
    if (!error)
        error = driver.cuLaunchKernel(judge.bracket, 2 * FINDINGS_SHARES, 1, 1, 1024, 1, 1, 0, gpu.stream,
                                      (void *[]){(void *)t, &judge.findings, &n}, NULL);
    do {
        slot->done = 0;
        if (!error)
            error = launch_own(judge.grade, t->count, (void *[]){(void *)t, &judge.findings, &slot});
        if (!error)
            error = gpu_wait_for(&slot->done, 0);
    } while (!error && !near_enough(slot));
    return error;
}

int judge_wait(const struct task *t, int slot, double limit_s, struct judgement *j)
{
    struct judged *from = &judge.slot[slot];
    int error = gpu_wait_for(&from->done, limit_s);
    if (error)
        return error;
    *j = (struct judgement){.differs = from->differs, .stray = from->stray};
    if (j->differs && !from->graded)
        error = grade_in_passes(t, from);
    if (j->differs && !error)
        read_grades(from, t->count, j);
    return error;
}
