#include "calibration.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "stats.h"

bool calibration_buggy(const struct calibration *c, const struct cell *cell)
{
    const struct corpus_entry *entry = &c->cells->corpus->entry[cell->entry];
    return c->parity ? entry->published_buggy : entry->buggy;
}

const struct cell *calibration_control(const struct calibration *c, const struct cell *cell)
{
    if (!calibration_buggy(c, cell))
        return cell;
    int entry = c->cells->corpus->entry[cell->entry].against;
    return &c->cells->cell[entry * DTYPES + (int)cell->dtype];
}

double calibration_percentile(const struct cell *cell, double p)
{
    return cell->sample[(int)rint(p * (cell->passing - 1))].max_abs;
}

/* The smallest error above 0 of a passing row; 0 if there is none. */
static double smallest_error(const struct cell *cell)
{
    for (int i = 0; i < cell->passing; i++)
        if (cell->sample[i].max_abs > 0)
            return cell->sample[i].max_abs;
    return 0;
}

struct tolerance calibration_tolerance(const struct calibration *c, const struct cell *cell,
                                       double p, double factor)
{
    const struct cell *control = calibration_control(c, cell);
    if (control->passing == 0)
        return (struct tolerance){false, NAN};
    double error = calibration_percentile(control, p);
    if (error == 0 && !c->parity)
        error = smallest_error(control);
    return (struct tolerance){true, error * factor};
}

/* ---- the published tables --------------------------------------------------------------------- */

/* A cell under the tolerance in use and under the calibrated one. */
struct verdict {
    double current, calibrated;
    bool known; /* is there a calibrated one? Nothing is flagged without it */
    long flagged_current, flagged_calibrated;
};

static struct verdict judge(const struct calibration *c, const struct cell *cell)
{
    struct verdict v = {.current = c->cells->corpus->entry[cell->entry].tolerance[cell->dtype]};
    struct tolerance t = calibration_tolerance(c, cell, CALIBRATION_PERCENTILE, CALIBRATION_FACTOR);
    v.known = t.known;
    v.calibrated = t.atol;
    v.flagged_current = cell_rejected(cell, v.current);
    v.flagged_calibrated = t.known ? cell_rejected(cell, t.atol) : 0;
    return v;
}

json_t *calibration_name(const struct calibration *c, const struct cell *cell)
{
    return json_pack("{ss ss}", "kernel", c->cells->corpus->entry[cell->entry].name, "dtype",
                     dtype_name(cell->dtype));
}

/* The bootstrap's band of the calibrated tolerance. */
static json_t *interval_to_json(const struct cell *cell)
{
    int rank = (int)rint(CALIBRATION_PERCENTILE * (cell->passing - 1));
    struct ranks r = stats_bootstrap_rank(cell->passing, rank, CALIBRATION_LEVEL);
    double floor = smallest_error(cell);
    double low = fmax(cell->sample[r.low].max_abs, floor) * CALIBRATION_FACTOR;
    double high = fmax(cell->sample[r.high].max_abs, floor) * CALIBRATION_FACTOR;
    return json_pack("{so so}", "low", json_number_or_word(low), "high", json_number_or_word(high));
}

static json_t *cell_to_json(const struct calibration *c, const struct cell *cell)
{
    struct verdict v = judge(c, cell);
    json_t *record = calibration_name(c, cell);
    json_object_set_new(record, "n_passing", json_integer(cell->passing));
    json_object_set_new(record, "current_atol", json_number_or_word(v.current));
    if (!v.known)
        return record;
    json_object_set_new(record, "p50_abs", json_number_or_word(calibration_percentile(cell, 0.5)));
    json_object_set_new(record, "p95_abs",
                        json_number_or_word(calibration_percentile(cell, CALIBRATION_PERCENTILE)));
    json_object_set_new(record, "calibrated_atol", json_number_or_word(v.calibrated));
    if (v.calibrated > 0)
        json_object_set_new(record, "tightening", json_number_or_word(v.current / v.calibrated));
    if (!c->parity) {
        json_object_set_new(record, "exact", json_boolean(v.calibrated == 0));
        json_object_set_new(record, "calibrated_atol_interval", interval_to_json(cell));
    }
    return record;
}

static void set_tolerances(json_t *record, const struct verdict *v)
{
    json_object_set_new(record, "current_atol", json_number_or_word(v->current));
    if (v->known)
        json_object_set_new(record, "calibrated_atol", json_number_or_word(v->calibrated));
}

static json_t *recall_to_json(const struct calibration *c, const struct cell *cell,
                              const struct verdict *v)
{
    const struct cell *control = calibration_control(c, cell);
    json_t *record = calibration_name(c, cell);
    set_tolerances(record, v);
    json_object_update_new(record,
                           json_pack("{ss si sI sI}", "calibrate_against",
                                     c->cells->corpus->entry[control->entry].name, "rows",
                                     cell->count, "flagged_current", (json_int_t)v->flagged_current,
                                     "flagged_calibrated", (json_int_t)v->flagged_calibrated));
    return record;
}

static json_t *false_positives_to_json(const struct calibration *c, const struct cell *cell,
                                       const struct verdict *v)
{
    long recovered = v->flagged_current - v->flagged_calibrated;
    json_t *record = calibration_name(c, cell);
    set_tolerances(record, v);
    json_object_update_new(
        record, json_pack("{si sI sI sI}", "rows", cell->count, "false_positives_current",
                          (json_int_t)v->flagged_current, "false_positives_calibrated",
                          (json_int_t)v->flagged_calibrated, "recovered",
                          (json_int_t)(recovered > 0 ? recovered : 0)));
    return record;
}

json_t *calibration_to_json(const struct calibration *c)
{
    json_t *cells = json_array(), *recall = json_array(), *false_positives = json_array();
    json_int_t rows[2] = {0}, current[2] = {0}, calibrated[2] = {0};
    for (int i = 0; i < c->cells->cells; i++) {
        const struct cell *cell = &c->cells->cell[i];
        if (cell->count == 0)
            continue;
        bool buggy = calibration_buggy(c, cell);
        struct verdict v = judge(c, cell);
        rows[buggy] += cell->count;
        current[buggy] += v.flagged_current;
        calibrated[buggy] += v.flagged_calibrated;
        if (buggy) {
            json_array_append_new(recall, recall_to_json(c, cell, &v));
        } else {
            json_array_append_new(cells, cell_to_json(c, cell));
            json_array_append_new(false_positives, false_positives_to_json(c, cell, &v));
        }
    }
    return json_pack("{s{sI sI sI sI sI sI} so so so}", "headline", "buggy_rows", rows[1],
                     "flagged_current", current[1], "flagged_calibrated", calibrated[1],
                     "control_rows", rows[0], "false_positives_current", current[0],
                     "false_positives_calibrated", calibrated[0], "cells", cells, "recall", recall,
                     "false_positives", false_positives);
}
