/*
 * errorstats - the error statistics of the public results.jsonl, and two verdicts.
 *
 * Both output and reference are numbers of the dtype under test. For an element with output o and
 * reference r the absolute error is |o − r|, infinite when that is not finite; the relative error
 * is |o − r| / |r|, where r is not 0. Definitions are those of the public driver's local oracle.
 */
#ifndef ASSAY_ERRORSTATS_H
#define ASSAY_ERRORSTATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dtype.h"
#include "results.h"

enum failure { FAILURE_NONE, FAILURE_NAN, FAILURE_INF, FAILURE_TOLERANCE };

/* "nan", "inf", "tolerance"; NULL for none. */
const char *failure_name(enum failure failure);

struct error_stats {
    size_t count, num_exceeding; /* elements; those whose absolute error is above the tolerance */
    double max_abs, mean_abs;    /* infinite if any is */
    double p50_abs, p90_abs, p99_abs; /* of the finite ones, interpolated; 0 if there are none */
    double max_rel, mean_rel;         /* NaN if any is; 0 if every reference is 0 */
    uint64_t max_ulp;                 /* DTYPE_ULP_NONFINITE if an element is not finite */
    double mean_ulp;
    double t_by_ratio[RESULTS_RATIOS]; /* as results.h says */
    enum failure failure;              /* the strict verdict: the first of these that occurs */
    enum failure failure_matching; /* the same, where a NaN or infinity that the reference has too
                                      is right */
};

/*
 * error_stats - compares `count` elements
 *
 *   out        numbers of the dtype, as they are stored
 *   ref        the reference in double, which is rounded to the dtype first
 *   tolerance  absolute
 *   work       room for `count` doubles; may be ref, which is then overwritten
 */
void error_stats(struct error_stats *s, enum dtype dtype, const void *out, const double *ref,
                 size_t count, double tolerance, double *work);

#endif
