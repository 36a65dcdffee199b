#include "errorstats.h"

#include <math.h>
#include <string.h>

#include "select.h"

const char *failure_name(enum failure failure)
{
    static const char *const NAME[] = {NULL, "nan", "inf", "tolerance"};
    return NAME[failure];
}

/* Two ratios, compared at once. */
typedef double pair __attribute__((vector_size(16)));
typedef long long pair_mask __attribute__((vector_size(16)));

enum { PAIRS = RESULTS_RATIOS / 2, QUEUED = 256 };

/* What is summed up, element by element. */
struct sums {
    double abs, rel, ulp;
    pair ratio[PAIRS], t[PAIRS]; /* RESULTS_RATIO, t_by_ratio */
    size_t relative;             /* elements whose reference is not 0 */
    size_t inexact;              /* those with a finite error above 0; they are in `work` */
    size_t finite;               /* those with a finite error */
    bool nan, inf;               /* in the output */
    bool nan_alone, inf_alone;   /* there, where the reference has not the same */
    bool off;                    /* a finite output that the tolerance rejects */
};

/* The larger one; a NaN stays. */
static double worse(double a, double b)
{
    return b <= a || isnan(a) ? a : b;
}

/* A pair of which one is not finite. */
static void add_nonfinite(struct error_stats *s, struct sums *sums, double o, double r)
{
    bool same = isnan(o) ? isnan(r) : o == r;
    sums->nan |= isnan(o);
    sums->inf |= isinf(o);
    sums->nan_alone |= isnan(o) && !same;
    sums->inf_alone |= isinf(o) && !same;
    sums->off |= isfinite(o);
    s->num_exceeding++;
    s->max_abs = sums->abs = INFINITY;
    s->max_ulp = DTYPE_ULP_NONFINITE;
    sums->ulp += (double)DTYPE_ULP_NONFINITE;
    if (r != 0) {
        double rel = fabs(o - r) / fabs(r);
        sums->relative++;
        s->max_rel = worse(s->max_rel, rel);
        sums->rel += rel;
    }
    for (int k = 0; k < PAIRS; k++)
        sums->t[k] = (pair){INFINITY, INFINITY};
}

/* Raises t_by_ratio where it must be, which is seldom. */
static inline __attribute__((always_inline)) void raise_t(struct sums *sums, double d,
                                                          double magnitude)
{
    pair_mask above = {0};
#pragma GCC unroll 8
    for (int k = 0; k < PAIRS; k++)
        above |= d > sums->t[k] * (sums->ratio[k] + magnitude);
    if (__builtin_expect(!(above[0] | above[1]), 1))
        return;
    for (int k = 0; k < RESULTS_RATIOS; k++) {
        const double scale = sums->ratio[k / 2][k % 2] + magnitude;
        if (d > sums->t[k / 2][k % 2] * scale)
            sums->t[k / 2][k % 2] = d / scale;
    }
}

/* A pair of finite numbers that differ, `ulp` places apart. */
static inline __attribute__((always_inline)) void add_inexact(struct error_stats *s,
                                                              struct sums *sums, double o, double r,
                                                              uint64_t ulp, double tolerance,
                                                              double *work)
{
    const double d = fabs(o - r), magnitude = fabs(r);
    const double rel = d / (r != 0 ? magnitude : INFINITY); /* 0 for a reference of 0 */
    work[sums->inexact++] = d;
    sums->abs += d;
    sums->rel += rel;
    sums->ulp += (double)(int64_t)ulp;
    s->max_ulp = ulp > s->max_ulp ? ulp : s->max_ulp;
    s->max_abs = d > s->max_abs ? d : s->max_abs;
    s->max_rel = worse(s->max_rel, rel);
    s->num_exceeding += !(d <= tolerance);
    sums->off |= !(d <= tolerance);
    raise_t(sums, d, magnitude);
}

/* Finite numbers that differ and wait to be added. They are put here without a branch, for whether
 * the next two differ cannot be predicted. */
struct queue {
    uint32_t o[QUEUED], r[QUEUED];
    int count;
};

static inline __attribute__((always_inline)) void drain(struct queue *q, struct error_stats *s,
                                                        struct sums *sums, enum dtype dtype,
                                                        double tolerance, double *work)
{
    for (int i = 0; i < q->count; i++)
        add_inexact(s, sums, dtype_value(dtype, q->o[i]), dtype_value(dtype, q->r[i]),
                    dtype_ulp(dtype, q->o[i], q->r[i]), tolerance, work);
    q->count = 0;
}

/* Inlined once for each dtype. */
static inline __attribute__((always_inline)) void add_all(struct error_stats *s, struct sums *sums,
                                                          enum dtype dtype, const void *out,
                                                          const double *ref, double tolerance,
                                                          double *work)
{
    struct queue q = {.count = 0};
    for (size_t i = 0; i < s->count; i++) {
        const uint32_t o = dtype_load(dtype, out, i), r = dtype_bits(dtype, ref[i]);
        const bool finite = dtype_finite(dtype, o) && dtype_finite(dtype, r);
        if (!finite || q.count == QUEUED)
            drain(&q, s, sums, dtype, tolerance, work);
        if (!finite) {
            add_nonfinite(s, sums, dtype_value(dtype, o), dtype_value(dtype, r));
            continue;
        }
        sums->finite++;
        sums->relative += (r & ~dtype_sign(dtype)) != 0;
        q.o[q.count] = o;
        q.r[q.count] = r;
        q.count += o != r;
    }
    drain(&q, s, sums, dtype, tolerance, work);
}

/* The errors in ascending order: `exact` zeros, then those in `work`, of which the ones before
 * `low` are in their places. */
struct order {
    double *work;
    size_t exact, inexact, low;
};

/* The k-th smallest; k must not be less than before. */
static double ranked(struct order *o, size_t k)
{
    if (k < o->exact)
        return 0;
    k -= o->exact;
    double value = select_kth(o->work, (long)o->low, (long)o->inexact - 1, (long)k);
    o->low = k;
    return value;
}

/* The one behind the k-th smallest, which has been ranked. */
static double ranked_next(const struct order *o, size_t k)
{
    if (k + 1 < o->exact)
        return 0;
    double smallest = INFINITY;
    for (size_t i = k + 1 - o->exact; i < o->inexact; i++)
        smallest = o->work[i] < smallest ? o->work[i] : smallest;
    return smallest;
}

/* The error below which this share of all lies, interpolated between neighbours as numpy does. */
static double percentile(struct order *o, double share)
{
    const size_t count = o->exact + o->inexact;
    if (count == 0)
        return 0;
    const double at = share * (double)(count - 1);
    const size_t k = (size_t)at;
    const double part = at - (double)k, below = ranked(o, k);
    if (part == 0)
        return below;
    const double above = ranked_next(o, k), step = above - below;
    return part < 0.5 ? below + step * part : above - step * (1 - part);
}

static enum failure verdict(bool nan, bool inf, bool off)
{
    return nan ? FAILURE_NAN : inf ? FAILURE_INF : off ? FAILURE_TOLERANCE : FAILURE_NONE;
}

void error_stats(struct error_stats *stats, enum dtype dtype, const void *out, const double *ref,
                 size_t count, double tolerance, double *work)
{
    struct sums sums = {0};
    struct error_stats s = {.count = count}; /* here, where `work` cannot overlap it */
    memcpy(sums.ratio, RESULTS_RATIO, sizeof sums.ratio);
    switch (dtype) {
    case FLOAT16: add_all(&s, &sums, FLOAT16, out, ref, tolerance, work); break;
    case BFLOAT16: add_all(&s, &sums, BFLOAT16, out, ref, tolerance, work); break;
    default: add_all(&s, &sums, FLOAT32, out, ref, tolerance, work); break;
    }
    struct order order = {work, sums.finite - sums.inexact, sums.inexact, 0};
    s.p50_abs = percentile(&order, 0.5);
    s.p90_abs = percentile(&order, 0.9);
    s.p99_abs = percentile(&order, 0.99);
    s.mean_abs = count > 0 ? sums.abs / (double)count : 0;
    s.mean_rel = sums.relative > 0 ? sums.rel / (double)sums.relative : 0;
    s.mean_ulp = count > 0 ? sums.ulp / (double)count : 0;
    s.failure = verdict(sums.nan, sums.inf, sums.off);
    s.failure_matching = verdict(sums.nan_alone, sums.inf_alone, sums.off);
    memcpy(s.t_by_ratio, sums.t, sizeof s.t_by_ratio);
    *stats = s;
}
