#include "study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bound.h"
#include "json.h"
#include "stats.h"

enum { FACTORS = 41, FIRST_PERCENTILE = 50, PERCENTILES = 51 };

/* Rows and flagged rows, of controls [0] and of buggy entries [1]. */
struct tally {
    json_int_t rows[2], flagged[2];
};

static void add(struct tally *t, bool buggy, long rows, long flagged)
{
    t->rows[buggy] += rows;
    t->flagged[buggy] += flagged;
}

static json_t *tally_to_json(const struct tally *t)
{
    return json_pack("{sI sI sI sI}", "buggy_rows", t->rows[1], "flagged", t->flagged[1],
                     "control_rows", t->rows[0], "false_positives", t->flagged[0]);
}

static const struct corpus_entry *control_entry(const struct calibration *c,
                                                const struct cell *cell)
{
    return &c->cells->corpus->entry[calibration_control(c, cell)->entry];
}

/* ---- sweep ------------------------------------------------------------------------------------ */

static double factor_of(int i)
{
    return (100 + 5 * i) / 100.0;
}

static json_t *factors_to_json(void)
{
    json_t *factors = json_array();
    for (int f = 0; f < FACTORS; f++)
        json_array_append_new(factors, json_real(factor_of(f)));
    return factors;
}

/* {flagged, false_positives: by factor, buggy_rows, control_rows} */
static json_t *curve_to_json(const struct tally tally[FACTORS])
{
    json_t *flagged = json_array(), *false_positives = json_array();
    for (int f = 0; f < FACTORS; f++) {
        json_array_append_new(flagged, json_integer(tally[f].flagged[1]));
        json_array_append_new(false_positives, json_integer(tally[f].flagged[0]));
    }
    return json_pack("{so so sI sI}", "flagged", flagged, "false_positives", false_positives,
                     "buggy_rows", tally[0].rows[1], "control_rows", tally[0].rows[0]);
}

static json_t *sweep_percentile(const struct calibration *c, int percentile)
{
    struct tally tally[FACTORS] = {0};
    for (int i = 0; i < c->cells->cells; i++) {
        const struct cell *cell = &c->cells->cell[i];
        struct tolerance t = calibration_tolerance(c, cell, percentile / 100.0, 1);
        for (int f = 0; t.known && f < FACTORS; f++)
            add(&tally[f], calibration_buggy(c, cell), cell->count,
                cell_rejected(cell, t.atol * factor_of(f)));
    }
    json_t *curve = curve_to_json(tally);
    json_object_set_new(curve, "percentile", json_integer(percentile));
    return curve;
}

json_t *study_sweep(const struct calibration *c)
{
    json_t *percentiles = json_array();
    for (int p = 0; p < PERCENTILES; p++)
        json_array_append_new(percentiles, sweep_percentile(c, FIRST_PERCENTILE + p));
    return json_pack("{so so}", "factors", factors_to_json(), "percentiles", percentiles);
}

/* ---- leave one run out ------------------------------------------------------------------------ */

/* The places of each run among the passing rows: place[begin[r]] … place[begin[r + 1] − 1]. */
struct places {
    int *begin, *place;
};

static struct places places_by_run(const struct cell *cell, int runs)
{
    struct places p = {calloc((size_t)runs + 2, sizeof *p.begin),
                       calloc((size_t)cell->passing + 1, sizeof *p.place)};
    if (!p.begin || !p.place)
        abort();
    for (int i = 0; i < cell->passing; i++)
        p.begin[cell->sample[i].run + 2]++;
    for (int r = 0; r < runs; r++)
        p.begin[r + 2] += p.begin[r + 1];
    for (int i = 0; i < cell->passing; i++)
        p.place[p.begin[cell->sample[i].run + 1]++] = i;
    return p;
}

/* The place of the order statistic `rank` when run r is left out. */
static int place_without(const struct places *p, int run, int rank)
{
    for (int i = p->begin[run]; i < p->begin[run + 1] && p->place[i] <= rank; i++)
        rank++;
    return rank;
}

/* By run: the error that calibration_tolerance() would scale by the factor, were the control's rows
 * those of all other runs; NaN where there are none. The caller frees it. */
static double *errors_without(const struct cell *control, int runs)
{
    struct places p = places_by_run(control, runs);
    double *error = malloc((size_t)runs * sizeof *error);
    if (!error)
        abort();
    int zeros = 0;
    while (zeros < control->passing && control->sample[zeros].max_abs == 0)
        zeros++;
    for (int run = 0; run < runs; run++) {
        int left = control->passing - (p.begin[run + 1] - p.begin[run]);
        int at = place_without(&p, run, (int)rint(CALIBRATION_PERCENTILE * (left - 1)));
        error[run] = left > 0 ? control->sample[at].max_abs : NAN;
        for (at = zeros; error[run] == 0 && at < control->passing; at++)
            if (control->sample[at].run != (uint32_t)run)
                error[run] = control->sample[at].max_abs;
    }
    free(p.begin);
    free(p.place);
    return error;
}

/* The rows judged by tolerances from the other runs: by run at the published factor, by factor. */
struct held_out {
    struct tally *run, factor[FACTORS];
};

static void judge_held_out(const struct cell *cell, const double error[], bool buggy,
                           struct held_out *h)
{
    for (int i = 0; i < cell->count; i++) {
        const struct sample *s = &cell->sample[i];
        double base = error[s->run];
        if (isnan(base))
            continue;
        add(&h->run[s->run], buggy, 1, !(s->max_abs <= base * CALIBRATION_FACTOR));
        for (int f = 0; f < FACTORS; f++)
            add(&h->factor[f], buggy, 1, !(s->max_abs <= base * factor_of(f)));
    }
}

static json_t *range_to_json(const struct calibration *c, const struct cell *cell,
                             const double error[], int runs)
{
    double low = INFINITY, high = -INFINITY;
    for (int run = 0; run < runs; run++) {
        low = fmin(low, error[run] * CALIBRATION_FACTOR);
        high = fmax(high, error[run] * CALIBRATION_FACTOR);
    }
    if (low > high)
        return NULL;
    json_t *record = calibration_name(c, cell);
    json_object_update_new(record, json_pack("{so so}", "smallest_atol", json_number_or_word(low),
                                             "largest_atol", json_number_or_word(high)));
    return record;
}

static json_t *runs_to_json(const struct cells *cells, const struct tally tally[],
                            struct tally *total)
{
    json_t *runs = json_array();
    for (int run = 0; run < cells->runs; run++) {
        json_t *record = tally_to_json(&tally[run]);
        json_object_set_new(record, "run", json_string(cells->run[run]));
        json_array_append_new(runs, record);
        for (int buggy = 0; buggy < 2; buggy++)
            add(total, buggy, tally[run].rows[buggy], tally[run].flagged[buggy]);
    }
    return runs;
}

json_t *study_leave_one_out(const struct calibration *c)
{
    int runs = c->cells->runs;
    if (runs < 2)
        return NULL;
    struct held_out held = {.run = calloc((size_t)runs, sizeof *held.run)};
    if (!held.run)
        abort();
    json_t *cells = json_array();
    for (int i = 0; i < c->cells->cells; i++) {
        const struct cell *cell = &c->cells->cell[i], *control = calibration_control(c, cell);
        if (cell->count == 0 || control->passing == 0)
            continue;
        double *error = errors_without(control, runs);
        judge_held_out(cell, error, calibration_buggy(c, cell), &held);
        json_t *range = cell == control ? range_to_json(c, cell, error, runs) : NULL;
        if (range)
            json_array_append_new(cells, range);
        free(error);
    }
    struct tally total = {0};
    json_t *by_run = runs_to_json(c->cells, held.run, &total);
    json_t *curve = curve_to_json(held.factor);
    json_object_set_new(curve, "factors", factors_to_json());
    free(held.run);
    return json_pack("{so so so so}", "total", tally_to_json(&total), "runs", by_run, "curve",
                     curve, "cells", cells);
}

/* ---- analytic bounds -------------------------------------------------------------------------- */

/* One bound over the rows of one cell. */
struct bounded {
    double smallest, largest; /* over the sizes that the rows have */
    long rows, above;         /* rows of known sizes; those above their bound */
};

static struct bounded judge_by_bound(const struct calibration *c, const struct cell *cell,
                                     enum bound bound)
{
    struct bounded b = {.smallest = INFINITY};
    const struct corpus_entry *control = control_entry(c, cell);
    double *limit = calloc((size_t)c->cells->shapes + 1, sizeof *limit);
    if (!limit)
        abort();
    for (int i = 1; i < c->cells->shapes; i++) {
        const struct shape *shape = &c->cells->shape[i];
        if (shape->entry == cell->entry)
            limit[i] = bound_error(bound, control, shape->extent, cell->dtype);
    }
    for (int i = 0; i < cell->count; i++) {
        const struct sample *s = &cell->sample[i];
        if (s->shape == 0)
            continue;
        b.rows++;
        b.above += !(s->max_abs <= limit[s->shape]);
        b.smallest = fmin(b.smallest, limit[s->shape]);
        b.largest = fmax(b.largest, limit[s->shape]);
    }
    free(limit);
    return b;
}

json_t *study_bounds(const struct calibration *c)
{
    struct tally total[BOUNDS] = {0};
    json_t *cells = json_array();
    for (int i = 0; i < c->cells->cells; i++) {
        const struct cell *cell = &c->cells->cell[i];
        bool buggy = calibration_buggy(c, cell);
        json_t *record = calibration_name(c, cell);
        long rows = 0;
        for (enum bound bound = 0; bound < BOUNDS; bound++) {
            struct bounded b = judge_by_bound(c, cell, bound);
            rows = b.rows;
            add(&total[bound], buggy, b.rows, b.above);
            if (rows > 0)
                json_object_set_new(
                    record, bound_name(bound),
                    json_pack("{so so sI}", "smallest", json_number_or_word(b.smallest), "largest",
                              json_number_or_word(b.largest), "above", (json_int_t)b.above));
        }
        json_object_set_new(record, "rows", json_integer(rows));
        if (cell->passing > 0)
            json_object_set_new(record, "largest_passing",
                                json_real(cell->sample[cell->passing - 1].max_abs));
        if (rows > 0 && !buggy)
            json_array_append(cells, record);
        json_decref(record);
    }
    json_t *totals = json_object();
    for (enum bound bound = 0; bound < BOUNDS; bound++)
        json_object_set_new(totals, bound_name(bound), tally_to_json(&total[bound]));
    return json_pack("{so so}", "totals", totals, "cells", cells);
}

/* ---- tolerances that grow with the reference -------------------------------------------------- */

/* A calibrated tolerance, NaN if nothing supports it, and the bootstrap's band around it. */
struct limit {
    double value, low, high;
};

static const struct limit UNSUPPORTED = {NAN, NAN, NAN};

static struct limit calibrated(double error[], int count)
{
    if (count == 0)
        return UNSUPPORTED;
    const int rank = (int)rint(CALIBRATION_PERCENTILE * (count - 1));
    const struct ranks band = stats_bootstrap_rank(count, rank, CALIBRATION_LEVEL);
    stats_sort(error, count);
    return (struct limit){error[rank] * CALIBRATION_FACTOR, error[band.low] * CALIBRATION_FACTOR,
                          error[band.high] * CALIBRATION_FACTOR};
}

/* Adds the tolerance as `name`, and its band as `name_interval`. */
static void set_limit(json_t *record, const char *name, const struct limit *limit)
{
    char interval[64];
    snprintf(interval, sizeof interval, "%s_interval", name);
    json_object_set_new(record, name, json_number_or_word(limit->value));
    json_object_set_new(record, interval,
                        json_pack("{so so}", "low", json_number_or_word(limit->low), "high",
                                  json_number_or_word(limit->high)));
}

/* The relative tolerance of a cell's kernel; unsupported if any passing row of its control lacks
 * max_rel. */
static struct limit relative_tolerance(const struct cell *control)
{
    double *error = malloc(((size_t)control->passing + 1) * sizeof *error);
    if (!error)
        abort();
    bool lacking = false;
    for (int i = 0; i < control->passing; i++) {
        error[i] = control->sample[i].max_rel;
        lacking = lacking || isnan(error[i]);
    }
    struct limit rtol = lacking ? UNSUPPORTED : calibrated(error, control->passing);
    free(error);
    return rtol;
}

enum { ABSOLUTE, RELATIVE, AT_LEAST, AT_MOST, RULES };

static void judge_scaled(const struct calibration *c, const struct cell *cell, double atol,
                         double rtol, struct tally tally[RULES])
{
    const struct corpus_entry *control = control_entry(c, cell);
    bool buggy = calibration_buggy(c, cell);
    for (int i = 0; i < cell->count; i++) {
        const struct sample *s = &cell->sample[i];
        const long *extent = c->cells->shape[s->shape].extent;
        double largest = s->shape == 0
                             ? INFINITY
                             : corpus_magnitude(&control->bound.largest, control->dims, extent);
        bool above = !(s->max_abs <= atol), far = !(s->max_rel <= rtol);
        add(&tally[ABSOLUTE], buggy, 1, above);
        add(&tally[RELATIVE], buggy, 1, far);
        add(&tally[AT_MOST], buggy, 1, above && far);
        add(&tally[AT_LEAST], buggy, 1, above && !(s->max_abs <= atol + rtol * largest));
    }
}

/* The calibrated t of one ratio; unsupported if no passing row of the control has it. */
static struct limit ratio_tolerance(const struct cell *control, int ratio)
{
    double *t = malloc(((size_t)control->t_count + 1) * sizeof *t);
    if (!t)
        abort();
    int count = 0;
    for (int i = 0; i < control->t_count; i++)
        if (control->t[i].passing)
            t[count++] = control->t[i].t[ratio];
    struct limit limit = calibrated(t, count);
    free(t);
    return limit;
}

/* Judges a cell, and adds its tolerance to `cells` if it is its kernel's own. */
static void judge_ratio(const struct calibration *c, const struct cell *cell, int ratio,
                        struct tally *tally, json_t *cells)
{
    const struct cell *control = calibration_control(c, cell);
    struct limit limit = ratio_tolerance(control, ratio);
    if (isnan(limit.value))
        return;
    for (int i = 0; i < cell->t_count; i++)
        add(tally, calibration_buggy(c, cell), 1, !(cell->t[i].t[ratio] <= limit.value));
    if (cell != control)
        return;
    json_t *record = calibration_name(c, cell);
    set_limit(record, "t", &limit);
    json_array_append_new(cells, record);
}

static json_t *ratios_to_json(const struct calibration *c)
{
    json_t *ratios = json_array();
    for (int ratio = 0; ratio < RESULTS_RATIOS; ratio++) {
        struct tally tally = {0};
        json_t *cells = json_array();
        for (int i = 0; i < c->cells->cells; i++)
            judge_ratio(c, &c->cells->cell[i], ratio, &tally, cells);
        json_t *record = tally_to_json(&tally);
        json_object_set_new(record, "ratio", json_real(RESULTS_RATIO[ratio]));
        json_object_set_new(record, "cells", cells);
        if (tally.rows[0] > 0)
            json_array_append(ratios, record);
        json_decref(record);
    }
    return ratios;
}

json_t *study_scaled(const struct calibration *c)
{
    struct tally tally[RULES] = {0};
    json_t *cells = json_array();
    for (int i = 0; i < c->cells->cells; i++) {
        const struct cell *cell = &c->cells->cell[i], *control = calibration_control(c, cell);
        struct tolerance t =
            calibration_tolerance(c, cell, CALIBRATION_PERCENTILE, CALIBRATION_FACTOR);
        struct limit rtol = relative_tolerance(control);
        if (cell->count == 0 || !t.known || isnan(rtol.value))
            continue;
        judge_scaled(c, cell, t.atol, rtol.value, tally);
        json_t *record = calibration_name(c, cell);
        json_object_set_new(record, "atol", json_number_or_word(t.atol));
        set_limit(record, "rtol", &rtol);
        if (cell == control)
            json_array_append(cells, record);
        json_decref(record);
    }
    return json_pack("{so so s{so so} so so}", "absolute", tally_to_json(&tally[ABSOLUTE]),
                     "relative", tally_to_json(&tally[RELATIVE]), "sum", "at_least",
                     tally_to_json(&tally[AT_LEAST]), "at_most", tally_to_json(&tally[AT_MOST]),
                     "ratios", ratios_to_json(c), "cells", cells);
}

/* ---- strategies and drift --------------------------------------------------------------------- */

json_t *study_strategies(const struct cells *cells)
{
    json_t *strategies = json_array();
    if (cells->strategies == 0) {
        json_decref(strategies);
        return NULL;
    }
    for (int i = 0; i < cells->strategies; i++) {
        const struct strategy_tally *s = &cells->strategy[i];
        struct tally strict = {{s->rows[0], s->rows[1]}, {s->failed[0], s->failed[1]}};
        struct tally matching = {{s->matching[0], s->matching[1]},
                                 {s->failed_matching[0], s->failed_matching[1]}};
        json_t *record = tally_to_json(&strict);
        json_object_set_new(record, "strategy", json_string(s->name));
        if (matching.rows[0] + matching.rows[1] > 0)
            json_object_set_new(record, "matching", tally_to_json(&matching));
        json_array_append_new(strategies, record);
    }
    return strategies;
}

static json_t *drift_to_json(const struct calibration *c, const struct cell *cell, double atol,
                             double other_atol, const struct cell *other)
{
    json_t *record = calibration_name(c, cell);
    json_object_update_new(
        record, json_pack("{so so si sI si sI}", "atol", json_number_or_word(atol), "other_atol",
                          json_number_or_word(other_atol), "rows", cell->count, "false_positives",
                          (json_int_t)cell_rejected(cell, other_atol), "other_rows", other->count,
                          "other_false_positives", (json_int_t)cell_rejected(other, atol)));
    if (atol > 0 && other_atol > 0)
        json_object_set_new(record, "ratio", json_number_or_word(atol / other_atol));
    return record;
}

json_t *study_drift(const struct calibration *c, const struct calibration *other)
{
    struct tally total = {0};
    json_t *cells = json_array();
    for (int i = 0; i < c->cells->cells; i++) {
        const struct cell *cell = &c->cells->cell[i], *theirs = &other->cells->cell[i];
        struct tolerance a =
            calibration_tolerance(c, cell, CALIBRATION_PERCENTILE, CALIBRATION_FACTOR);
        struct tolerance b =
            calibration_tolerance(other, theirs, CALIBRATION_PERCENTILE, CALIBRATION_FACTOR);
        if (cell->count == 0 || !b.known)
            continue;
        bool buggy = calibration_buggy(c, cell);
        add(&total, buggy, cell->count, cell_rejected(cell, b.atol));
        if (a.known && !buggy)
            json_array_append_new(cells, drift_to_json(c, cell, a.atol, b.atol, theirs));
    }
    return json_pack("{so so}", "judged_by_other", tally_to_json(&total), "cells", cells);
}
