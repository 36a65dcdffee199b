/*
 * compare - how wrong an output is, in grades that every acceptance rule can be read off later.
 */
#ifndef ASSAY_COMPARE_H
#define ASSAY_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The graded errors of one output, or of several taken together.
 *
 * For element i with output o, reference r (double) and error d = |o − r|, its critical tolerance is
 * d / (1 + |r|): the smallest t with d ≤ t + t |r|, the allclose rule with atol = rtol = t.
 * An element whose output is NaN or infinite where the reference, rounded to float32, is not the same
 * counts as `nonfinite` and has infinite errors; where both agree it has none.
 */
struct graded {
    double t;             /* largest critical tolerance of all elements */
    double t_p95;         /* the smallest t that 95 % of the elements meet; likewise 90 % and 85 % */
    double t_p90, t_p85;
    double max_abs;       /* largest d */
    double max_rel;       /* largest d / |r| over the elements with r ≠ 0 */
    double max_ulp;       /* largest distance from r rounded to float32, in its ordered integers */
    double nmse;          /* Σ d² / Σ r²; 0 for 0/0 */
    double ref_max;       /* largest finite |r|: 0 for an all-zero reference */
    long nonfinite;       /* elements */
    long elements;
};

/*
 * graded_compare - grades `count` elements of `out` against `ref`
 *
 * `work` has room for `count` doubles. count 0 gives no error at all.
 */
void graded_compare(struct graded *g, const float *out, const double *ref, size_t count, double *work);

/* allclose with atol = rtol = tolerance, for a graded output. NaN never passes. */
bool graded_accepts(const struct graded *g, double tolerance);

#endif
