/*
 * study - what the published study leaves open, on the same rows.
 *
 * Every function returns a new reference, or NULL where the rows do not say enough. Counts of flagged
 * rows come as `{buggy_rows, flagged, control_rows, false_positives}`; a row without a tolerance to
 * judge it by is not among them.
 */
#ifndef ASSAY_STUDY_H
#define ASSAY_STUDY_H

#include <jansson.h>

#include "calibration.h"

/* Recall against false positives: percentiles 50 … 100 by factors 1.00 … 3.00, on the rows that the
 * tolerances come from. `percentiles[].flagged[i]` belongs to `factors[i]`. */
json_t *study_sweep(const struct calibration *c);

/* Each run judged by tolerances from all the others; `curve` as a percentile of the sweep, at the
 * published one. NULL with a single run. */
json_t *study_leave_one_out(const struct calibration *c);

/* Every row judged by the analytic bounds of its own sizes (bound.h). `cells` has the range of each
 * bound over the sizes there are, how many rows are above, and the largest error of a passing row. */
json_t *study_bounds(const struct calibration *c);

/*
 * Tolerances that grow with the reference, all calibrated as the absolute ones are.
 *
 *   absolute, relative  max_abs ≤ atol; max_rel ≤ rtol, which ignores elements with reference 0
 *   sum                 |d| ≤ atol + rtol |r| with the two above. A row says only so much about it:
 *                       `at_most` counts the rows that neither of the two accepts, `at_least` those with
 *                       max_abs above atol + rtol times the largest reference that their sizes allow
 *   ratios              |d| ≤ t (ratio + |r|), t calibrated: exact, for rows with t_by_ratio
 *
 * rtol and t come with the bootstrap's band, as calibrated_atol does (calibration.h): in `cells`, and
 * in `ratios[].cells`.
 */
json_t *study_scaled(const struct calibration *c);

/* The recorded verdicts by strategy of the fuzzer: failed rows, and `matching` for the validator that
 * accepts a NaN or infinity where the reference has the same. NULL if no row names a strategy. */
json_t *study_strategies(const struct cells *cells);

/* The rows of `c` judged by the tolerances of `other`, and how far the two sets of tolerances lie
 * apart: `ratio` is that of c's to other's. */
json_t *study_drift(const struct calibration *c, const struct calibration *other);

#endif
