#include "compare.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "select.h"

/* float32 as an integer whose order is the numbers' order, −0 just below +0's place shared with it. */
static int64_t ordered(float x)
{
    int32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits < 0 ? -(int64_t)(bits & INT32_MAX) : bits;
}

/* Both NaN, or both the same infinity. */
static bool same_class(float a, float b)
{
    return isnan(a) ? isnan(b) : a == b;
}

static double larger(double a, double b)
{
    return b <= a ? a : b; /* a NaN b wins: it must not vanish in a maximum */
}

/* The smallest value that `share` of the n values do not exceed: index ⌈share n⌉ − 1 once sorted. */
static double share_within(double *x, long n, double share, long *low)
{
    long k = (long)ceil(share * (double)n) - 1;
    double value = select_kth(x, *low, n - 1, k);
    *low = k;
    return value;
}

void graded_compare(struct graded *g, const float *out, const double *ref, size_t count, double *work)
{
    double squares = 0, errors = 0;
    *g = (struct graded){.elements = (long)count};
    for (size_t i = 0; i < count; i++) {
        double r = ref[i], size = fabs(r);
        float rounded = (float)r;
        if (!isfinite(out[i]) || !isfinite(rounded)) {
            bool same = same_class(out[i], rounded);
            g->nonfinite += !same;
            work[i] = same ? 0 : INFINITY;
            continue;
        }
        double d = fabs((double)out[i] - r);
        work[i] = d / (1 + size);
        g->t = larger(g->t, work[i]);
        g->max_abs = larger(g->max_abs, d);
        if (size > 0)
            g->max_rel = larger(g->max_rel, d / size);
        g->max_ulp = larger(g->max_ulp, fabs((double)(ordered(out[i]) - ordered(rounded))));
        g->ref_max = larger(g->ref_max, size);
        errors += d * d;
        squares += r * r;
    }
    g->nmse = errors > 0 ? errors / squares : 0;
    if (g->nonfinite)
        g->t = g->max_abs = g->max_rel = g->max_ulp = g->nmse = INFINITY;
    if (count == 0)
        return;
    long low = 0;
    g->t_p85 = share_within(work, (long)count, 0.85, &low);
    g->t_p90 = share_within(work, (long)count, 0.90, &low);
    g->t_p95 = share_within(work, (long)count, 0.95, &low);
}

bool graded_accepts(const struct graded *g, double tolerance)
{
    return g->nonfinite == 0 && g->t <= tolerance;
}
