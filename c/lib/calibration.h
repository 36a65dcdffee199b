/*
 * calibration - the absolute tolerance that a correct kernel's own errors justify, by kernel and dtype.
 *
 * The rule of the published study: the 95th percentile of max_abs over the rows of the control that
 * pass the tolerance in use, times 1.5. The percentile is the element round(p (n − 1)), half to even,
 * of the sorted values. A row is flagged when its max_abs is not within the tolerance. The tolerance
 * of a buggy entry is that of its control.
 *
 * Where an exact result makes the percentile 0, no factor moves it; the smallest error above 0 among
 * the passing rows takes its place. If there is none the kernel is exact and so is its tolerance: 0.
 *
 * The public script takes the buggy entries that it has no control for to be controls, and leaves a
 * percentile of 0 as it is. `parity` does so too, and agrees with it in every number.
 */
#ifndef ASSAY_CALIBRATION_H
#define ASSAY_CALIBRATION_H

#include <jansson.h>
#include <stdbool.h>

#include "cells.h"

#define CALIBRATION_PERCENTILE 0.95
#define CALIBRATION_FACTOR     1.5
#define CALIBRATION_LEVEL      0.95 /* of the bootstrap band around a tolerance */

struct calibration {
    const struct cells *cells; /* sorted */
    bool parity;
};

struct tolerance {
    bool known; /* false without a passing row of the control */
    double atol;
};

/* The p-percentile of max_abs over the cell's passing rows, of which there is at least one. */
double calibration_percentile(const struct cell *cell, double p);

/* The calibrated tolerance of a cell's kernel, from the rows of its control. */
struct tolerance calibration_tolerance(const struct calibration *c, const struct cell *cell,
                                       double p, double factor);

/* Is the entry buggy, in the eyes of this calibration? And the cell whose errors it is held against? */
bool calibration_buggy(const struct calibration *c, const struct cell *cell);
const struct cell *calibration_control(const struct calibration *c, const struct cell *cell);

/* {kernel, dtype}: what every record about a cell starts from. A new reference. */
json_t *calibration_name(const struct calibration *c, const struct cell *cell);

/*
 * calibration_to_json - the published tables of these rows. A new reference.
 *
 *   headline         buggy_rows, flagged_current, flagged_calibrated, control_rows,
 *                    false_positives_current, false_positives_calibrated
 *   cells            by control and dtype: n_passing, current_atol, p50_abs, p95_abs,
 *                    calibrated_atol, and tightening = current_atol / calibrated_atol unless that is
 *                    0. Without parity also exact, and calibrated_atol_interval {low, high}: the
 *                    bootstrap's band (stats_bootstrap_rank)
 *   recall           by buggy entry and dtype: calibrate_against, current_atol, calibrated_atol,
 *                    rows, flagged_current, flagged_calibrated
 *   false_positives  by control and dtype: current_atol, calibrated_atol, rows,
 *                    false_positives_current, false_positives_calibrated, recovered
 *
 * A number that no passing row supports is left out. What these tables leave open is in study.h.
 */
json_t *calibration_to_json(const struct calibration *c);

#endif
