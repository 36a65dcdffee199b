/* Reading result rows, and tolerances against values worked out by hand or by brute force. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bound.h"
#include "calibration.h"
#include "generator.h"
#include "scan.h"
#include "study.h"

#include <cmocka.h>

static struct corpus corpus;

static int read_corpus(void **state)
{
    (void)state;
    struct error e;
    return corpus_read(&corpus, "kernels/gpuemu/corpus.json", &e);
}

static int free_corpus(void **state)
{
    (void)state;
    corpus_free(&corpus);
    return 0;
}

/* ---- files of rows ---------------------------------------------------------------------------- */

static char path[64];

static FILE *new_file(void)
{
    strcpy(path, "/tmp/test_calibration.XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    return fdopen(fd, "w");
}

static void put(FILE *f, const char *run, const char *kernel, bool passed, const char *max_abs)
{
    fprintf(f,
            "{\"run_id\": \"%s\", \"kernel\": \"%s\", \"dtype\": \"float32\", \"passed\": %s, "
            "\"error_stats\": {\"count\": 3, \"max_abs\": %s, \"max_rel\": 0.0}}\n",
            run, kernel, passed ? "true" : "false", max_abs);
}

static void add_file(struct cells *cells, FILE *f)
{
    struct error e = {0};
    assert_int_equal(fclose(f), 0);
    if (cells_add(cells, path, NULL, &e))
        fail_msg("%s", e.text);
    unlink(path);
}

static const struct cell *cell_of(const struct cells *cells, const char *kernel)
{
    return &cells->cell[corpus_find(&corpus, kernel) * DTYPES + FLOAT32];
}

/* ---- reading ---------------------------------------------------------------------------------- */

static void check_number(const char *text)
{
    char copy[64 + SCAN_MARGIN];
    double number = 0;
    snprintf(copy, 64, "%s,", text);
    char *at = copy;
    assert_true(scan_number(&at, &number));
    if (number != strtod(text, NULL) || *at != ',')
        fail_msg("%s was read as %.17g", text, number);
}

static void test_numbers_are_rounded_as_strtod_does(void **state)
{
    (void)state;
    /* Halfway between two doubles and just beside; more digits than fit; under- and overflow. */
    static const char *const HARD[] = {"9007199254740993",
                                       "9007199254740992.9999999999999999",
                                       "1e23",
                                       "9007199254740993.00000000000000000000001",
                                       "18446744073709551616",
                                       "5e-324",
                                       "2.2250738585072011e-308",
                                       "1e-400",
                                       "1e400",
                                       "-0.0",
                                       "0e0",
                                       "0.1e-26",
                                       "1.00000000000000011102230246251565404"};
    char text[64];
    for (size_t i = 0; i < sizeof HARD / sizeof *HARD; i++)
        check_number(HARD[i]);
    for (long i = 0; i < 20000; i++) {
        uint64_t bits = generator_hash(7, 0, i);
        double number;
        memcpy(&number, &bits, sizeof number);
        number = isfinite(number) ? number : 0;
        snprintf(text, sizeof text, "%.*g", 1 + (int)(i % 19), number);
        check_number(text);
        snprintf(text, sizeof text, "%.17g", generator_unit(bits) * pow(2, (int)(i % 60) - 50));
        check_number(text);
    }
}

static void test_not_numbers(void **state)
{
    (void)state;
    static const char *const BAD[] = {"", "-", ".5", "1.", "1e", "1e+", "+1", "NaN", "abc"};
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        char copy[8 + SCAN_MARGIN];
        double number;
        strcpy(copy, BAD[i]);
        char *at = copy;
        assert_false(scan_number(&at, &number));
    }
}

/* More members than there is room to remember, twice, with other values; a key longer than most. */
static void test_rows_of_many_members(void **state)
{
    (void)state;
    struct cells cells;
    cells_init(&cells, &corpus);
    FILE *f = new_file();
    for (int row = 0; row < 3; row++) {
        fprintf(f, "{\"%050d\": 0", 0);
        for (int i = 0; i < 2 * RESULTS_KEYS; i++)
            fprintf(f, ", \"key_%d\": %d", i % 100, row * 1000 + i);
        fprintf(f,
                ", \"kernel\": \"relu_triton\", \"dtype\": \"float32\", \"passed\": true, "
                "\"error_stats\": {\"count\" :3 , \"max_abs\": %d}}\n",
                row);
    }
    add_file(&cells, f);
    cells_sort(&cells);
    const struct cell *cell = cell_of(&cells, "relu_triton");
    assert_int_equal(cell->count, 3);
    for (int row = 0; row < 3; row++)
        assert_true(cell->sample[row].max_abs == row);
    cells_free(&cells);
}

/* Keys in another order, other values at the same places, and a line longer than the buffer. */
static void test_rows_of_any_form(void **state)
{
    (void)state;
    FILE *f = new_file();
    fputs("{\"schema\": \"assay/results\", \"schema_version\": \"1.0\"}\n", f);
    put(f, "a", "relu_triton", true, "1.5");
    fputs("{\"error_stats\":{\"max_rel\":2,\"max_abs\":3,\"other\":{\"max_abs\":[9]}},\"passed\":"
          "true,"
          "\"dtype\":\"float16\",\"kernel\":\"gelu_\\u0074riton\",\"error\":\"} \\\" ,\"}\r\n\n",
          f);
    put(f, "b", "relu_triton", false, "Infinity");
    fprintf(f,
            "{\"error\": \"%0*d\", \"kernel\": \"elu_triton\", \"dtype\": \"float32\", "
            "\"passed\": false, \"error_stats\": {\"max_abs\": NaN}}",
            1 << 20, 0);
    assert_int_equal(fclose(f), 0);

    struct results_reader r;
    struct result row;
    struct error e;
    bool more;
    assert_int_equal(results_open(&r, path, &e), 0);
    unlink(path);
    assert_int_equal(results_next(&r, &row, &more, &e), 0);
    assert_true(more && row.passed && row.max_abs == 1.5 && r.line == 2);
    assert_string_equal(row.run_id, "a");
    assert_int_equal(results_next(&r, &row, &more, &e), 0);
    assert_true(more && row.max_abs == 3 && row.max_rel == 2 && !row.run_id);
    assert_string_equal(row.kernel, "gelu_triton");
    assert_string_equal(row.dtype, "float16");
    assert_int_equal(results_next(&r, &row, &more, &e), 0);
    assert_true(more && !row.passed && isinf(row.max_abs) && row.max_rel == 0);
    assert_int_equal(results_next(&r, &row, &more, &e), 0);
    assert_true(more && isnan(row.max_abs) && isnan(row.max_rel) && r.line == 6);
    assert_int_equal(results_next(&r, &row, &more, &e), 0);
    assert_false(more);
    results_close(&r);
}

/* ---- tolerances ------------------------------------------------------------------------------- */

static void test_corpus_pairs_every_buggy_entry(void **state)
{
    (void)state;
    int buggy = 0, unpaired = 0;
    assert_int_equal(corpus.count, 26);
    for (int i = 0; i < corpus.count; i++) {
        const struct corpus_entry *entry = &corpus.entry[i];
        const struct corpus_entry *control = &corpus.entry[entry->against];
        buggy += entry->buggy;
        unpaired += entry->buggy && !entry->published_buggy;
        assert_false(control->buggy);
        assert_string_equal(control->op, entry->op);
        assert_memory_equal(control->tolerance, entry->tolerance, sizeof entry->tolerance);
    }
    assert_int_equal(buggy, 10);
    assert_int_equal(unpaired, 3);
}

static void test_percentile_rounds_half_to_even(void **state)
{
    (void)state;
    struct sample sample[4] = {{.max_abs = 1}, {.max_abs = 2}, {.max_abs = 4}, {.max_abs = 8}};
    struct cell cell = {.sample = sample, .passing = 4};
    assert_true(calibration_percentile(&cell, 0.5) == 4); /* 1.5 → 2 */
    assert_true(calibration_percentile(&cell, 0.95) == 8);
    cell.passing = 2;
    assert_true(calibration_percentile(&cell, 0.5) == 1); /* 0.5 → 0 */
    cell.passing = 1;
    assert_true(calibration_percentile(&cell, 1) == 1);
}

static void test_not_a_number_is_always_flagged(void **state)
{
    (void)state;
    struct cells cells;
    cells_init(&cells, &corpus);
    FILE *f = new_file();
    put(f, "a", "relu_triton", false, "NaN");
    put(f, "a", "relu_triton", true, "1");
    put(f, "a", "relu_triton", true, "NaN"); /* passed, but it is not among the passing */
    put(f, "a", "relu_triton", false, "Infinity");
    put(f, "a", "relu_triton", true, "3");
    add_file(&cells, f);
    cells_sort(&cells);
    const struct cell *cell = cell_of(&cells, "relu_triton");
    assert_int_equal(cell->passing, 2);
    assert_int_equal(cell_rejected(cell, 1), 4);
    assert_int_equal(cell_rejected(cell, 3), 3);
    assert_int_equal(cell_rejected(cell, INFINITY), 2);
    cells_free(&cells);
}

/* Exact up to the percentile, with one error above: parity keeps 0, the default takes the error. */
static void test_percentile_of_zero(void **state)
{
    (void)state;
    struct cells cells;
    cells_init(&cells, &corpus);
    FILE *f = new_file();
    for (int i = 0; i < 40; i++)
        put(f, "a", "relu_triton", true, i == 7 ? "0.25" : "0");
    add_file(&cells, f);
    cells_sort(&cells);
    const struct cell *cell = cell_of(&cells, "relu_triton");
    struct calibration corrected = {&cells, false}, parity = {&cells, true};
    assert_true(calibration_tolerance(&corrected, cell, 0.95, 1.5).atol == 0.375);
    assert_true(calibration_tolerance(&parity, cell, 0.95, 1.5).atol == 0);
    assert_false(calibration_tolerance(&parity, cell_of(&cells, "elu_triton"), 0.95, 1.5).known);
    cells_free(&cells);
}

static void test_mapping_by_mode(void **state)
{
    (void)state;
    struct cells cells;
    cells_init(&cells, &corpus);
    struct calibration corrected = {&cells, false}, parity = {&cells, true};
    const struct cell *llm = cell_of(&cells, "softmax_llm_buggy");
    const struct cell *matmul = cell_of(&cells, "matmul_triton_buggy");
    assert_ptr_equal(calibration_control(&parity, llm), cell_of(&cells, "softmax_triton"));
    assert_ptr_equal(calibration_control(&corrected, matmul), cell_of(&cells, "matmul_triton"));
    assert_ptr_equal(calibration_control(&parity, matmul), matmul);
    assert_false(calibration_buggy(&parity, matmul));
    assert_true(calibration_buggy(&corrected, matmul));
    cells_free(&cells);
}

/* ---- beyond the published study --------------------------------------------------------------- */

enum { RUNS = 4, ROWS = 150 };

/* Row i of random rows: zeros, ties and failures are among them. */
static void put_random(FILE *f, int i)
{
    char run[8], number[32];
    uint64_t h = generator_hash(3, 1, i);
    snprintf(run, sizeof run, "r%d", (int)(h % RUNS));
    snprintf(number, sizeof number, "%d", (int)(h >> 8 & 15));
    put(f, run, h >> 16 & 1 ? "gelu_triton" : "gelu_triton_buggy", h >> 20 & 7, number);
}

static bool of_run(int i, int run)
{
    return (int)(generator_hash(3, 1, i) % RUNS) == run;
}

static long integer(const json_t *object, const char *key)
{
    return (long)json_integer_value(json_object_get(object, key));
}

/* The rows of one run, or of all others, as sorted cells. */
static void part(struct cells *cells, int run, bool others)
{
    FILE *f = new_file();
    for (int i = 0; i < ROWS; i++)
        if (of_run(i, run) != others)
            put_random(f, i);
    cells_init(cells, &corpus);
    add_file(cells, f);
    cells_sort(cells);
}

static void test_leaving_a_run_out_is_calibrating_without_it(void **state)
{
    (void)state;
    struct cells all;
    cells_init(&all, &corpus);
    FILE *f = new_file();
    for (int i = 0; i < ROWS; i++)
        put_random(f, i);
    add_file(&all, f);
    cells_sort(&all);
    json_t *study = study_leave_one_out(&(struct calibration){&all, false});
    json_t *runs = json_object_get(study, "runs"), *record;
    size_t k;
    assert_int_equal(json_array_size(runs), RUNS);
    json_array_foreach(runs, k, record)
    {
        struct cells mine, rest;
        int run = json_string_value(json_object_get(record, "run"))[1] - '0';
        part(&mine, run, false);
        part(&rest, run, true);
        struct calibration c = {&rest, false};
        double atol =
            calibration_tolerance(&c, cell_of(&rest, "gelu_triton"), 0.95, CALIBRATION_FACTOR).atol;
        const struct cell *control = cell_of(&mine, "gelu_triton");
        const struct cell *buggy = cell_of(&mine, "gelu_triton_buggy");
        assert_int_equal(integer(record, "control_rows"), control->count);
        assert_int_equal(integer(record, "false_positives"), cell_rejected(control, atol));
        assert_int_equal(integer(record, "buggy_rows"), buggy->count);
        assert_int_equal(integer(record, "flagged"), cell_rejected(buggy, atol));
        cells_free(&mine);
        cells_free(&rest);
    }
    json_t *curve = json_object_get(study, "curve"), *total = json_object_get(study, "total");
    assert_true(json_number_value(json_array_get(json_object_get(curve, "factors"), 10)) ==
                CALIBRATION_FACTOR);
    assert_int_equal(json_integer_value(json_array_get(json_object_get(curve, "flagged"), 10)),
                     integer(total, "flagged"));
    json_decref(study);
    cells_free(&all);
}

static void test_bounds_by_hand(void **state)
{
    (void)state;
    const struct corpus_entry *matmul = &corpus.entry[corpus_find(&corpus, "matmul")];
    const struct corpus_entry *relu = &corpus.entry[corpus_find(&corpus, "relu_triton")];
    const long sizes[CORPUS_DIMS] = {7, 256, 15}; /* M K N */
    double u = 0x1p-24, gamma = 256 * u / (1 - 256 * u);
    double worst = bound_error(BOUND_WORST, matmul, sizes, FLOAT32);
    assert_true(fabs(worst - (gamma + 2 * u) * 25600) < 1e-12);
    assert_true(bound_error(BOUND_LENGTH, matmul, sizes, FLOAT16) == 256 * 0x1p-10);
    double lambda = sqrt(2 * log(2 * 256 / 0.05));
    double probable = exp(lambda * 16 * u + 256 * u * u / (1 - u)) - 1;
    assert_true(fabs(bound_error(BOUND_PROBABLE, matmul, sizes, BFLOAT16) -
                     (probable + 2 * 0x1p-8) * 25600) < 1e-7);
    assert_true(bound_error(BOUND_PROBABLE, matmul, sizes, FLOAT32) < worst);
    assert_true(bound_error(BOUND_WORST, relu, sizes, FLOAT16) == 0);
}

/* Ten controls with t = 1 … 10 at the first ratio, 2 … 20 at the second: limits 15 and 30. */
static void test_ratios_are_calibrated_one_by_one(void **state)
{
    (void)state;
    static const char FORM[] =
        "{\"kernel\": \"%s\", \"dtype\": \"float32\", \"passed\": true, "
        "\"error_stats\": {\"max_abs\": 1, \"t_by_ratio\": [%d, %d, 0, 0, 0, "
        "Infinity]}}\n";
    struct cells cells;
    cells_init(&cells, &corpus);
    FILE *f = new_file();
    for (int i = 1; i <= 10; i++)
        fprintf(f, FORM, "gelu_triton", i, 2 * i);
    for (int i = 0; i < 3; i++)
        fprintf(f, FORM, "gelu_triton_buggy", 15 + i, 30 - i);
    add_file(&cells, f);
    cells_sort(&cells);
    json_t *study = study_scaled(&(struct calibration){&cells, false});
    json_t *ratios = json_object_get(study, "ratios");
    assert_int_equal(json_array_size(ratios), RESULTS_RATIOS);
    assert_int_equal(integer(json_array_get(ratios, 0), "flagged"), 2);
    assert_int_equal(integer(json_array_get(ratios, 1), "flagged"), 0);
    assert_int_equal(integer(json_array_get(ratios, 0), "false_positives"), 0);
    assert_int_equal(integer(json_array_get(ratios, 0), "control_rows"), 10);
    /* The order statistic is number round(0.95 · 9) = 9; of a resample it is 10, 9, 8 or 7 but for
     * 2.5 %. */
    json_t *cell = json_array_get(json_object_get(json_array_get(ratios, 1), "cells"), 0);
    json_t *band = json_object_get(cell, "t_interval");
    assert_true(json_number_value(json_object_get(cell, "t")) == 1.5 * 20);
    assert_true(json_number_value(json_object_get(band, "low")) == 1.5 * 14);
    assert_true(json_number_value(json_object_get(band, "high")) == 1.5 * 20);
    json_decref(study);
    cells_free(&cells);
}

static void test_verdicts_by_strategy(void **state)
{
    (void)state;
    static const char FORM[] = "{\"kernel\": \"%s\", \"dtype\": \"float32\", \"strategy\": \"%s\", "
                               "\"passed\": %s, %s\"error_stats\": {\"max_abs\": Infinity}}\n";
    struct cells cells;
    cells_init(&cells, &corpus);
    FILE *f = new_file();
    fprintf(f, FORM, "elu_triton", "nan_injected", "false", "\"passed_matching\": true, ");
    fprintf(f, FORM, "elu_triton", "nan_injected", "false", "\"passed_matching\": false, ");
    fprintf(f, FORM, "gelu_triton_buggy", "nan_injected", "false", "");
    fprintf(f, FORM, "gelu_triton_buggy", "default", "true", "");
    add_file(&cells, f);
    json_t *study = study_strategies(&cells), *first = json_array_get(study, 0);
    assert_int_equal(json_array_size(study), 2);
    assert_string_equal(json_string_value(json_object_get(first, "strategy")), "nan_injected");
    assert_int_equal(integer(first, "control_rows"), 2);
    assert_int_equal(integer(first, "false_positives"), 2);
    assert_int_equal(integer(first, "flagged"), 1);
    assert_int_equal(integer(json_object_get(first, "matching"), "false_positives"), 1);
    assert_int_equal(integer(json_object_get(first, "matching"), "buggy_rows"), 0);
    assert_int_equal(integer(json_array_get(study, 1), "flagged"), 0);
    assert_null(json_object_get(json_array_get(study, 1), "matching"));
    json_decref(study);
    cells_free(&cells);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_are_rounded_as_strtod_does),
        cmocka_unit_test(test_not_numbers),
        cmocka_unit_test(test_rows_of_many_members),
        cmocka_unit_test(test_rows_of_any_form),
        cmocka_unit_test(test_corpus_pairs_every_buggy_entry),
        cmocka_unit_test(test_percentile_rounds_half_to_even),
        cmocka_unit_test(test_not_a_number_is_always_flagged),
        cmocka_unit_test(test_percentile_of_zero),
        cmocka_unit_test(test_mapping_by_mode),
        cmocka_unit_test(test_leaving_a_run_out_is_calibrating_without_it),
        cmocka_unit_test(test_bounds_by_hand),
        cmocka_unit_test(test_verdicts_by_strategy),
        cmocka_unit_test(test_ratios_are_calibrated_one_by_one),
    };
    return cmocka_run_group_tests(tests, read_corpus, free_corpus);
}
