/* The statistics against what the public definition (in numpy) gives, and the two verdicts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "errorstats.h"
#include "generator.h"
#include "select.h"

#include <cmocka.h> /* last: it defines a macro named fail */

enum { MANY = 1000 };

static struct error_stats compare(enum dtype dtype, const double *out, const double *ref, size_t n,
                                  double tolerance)
{
    static uint32_t stored[MANY];
    static double work[MANY];
    struct error_stats s;
    for (size_t i = 0; i < n; i++)
        dtype_store(dtype, stored, i, dtype_bits(dtype, out[i]));
    error_stats(&s, dtype, stored, ref, n, tolerance, work);
    return s;
}

static void assert_near(double value, double expected)
{
    assert_true(fabs(value - expected) <= 4e-16 * fabs(expected));
}

static void float32_as_numpy_has_it(void **state)
{
    (void)state;
    const double out[] = {1.5, -2.25, 0, 3.0000002, 1e-30, 7, 100.25, -0.0, 2, -1};
    const double ref[] = {1.5, -2, 0.0625, 3, 0, 7.5, 100, 0, 2, 1};
    struct error_stats s = compare(FLOAT32, out, ref, 10, 0.25);
    assert_int_equal(s.count, 10);
    assert_int_equal(s.num_exceeding, 2);
    assert_near(s.max_abs, 2);
    assert_near(s.mean_abs, 0.3062500238418579);
    assert_near(s.p50_abs, 0.03125011920928955);
    assert_near(s.p90_abs, 0.6499999999999995);
    assert_near(s.p99_abs, 1.8650000000000002);
    assert_near(s.max_rel, 2);
    assert_near(s.mean_rel, 0.3992708432674408);
    assert_int_equal(s.max_ulp, 2130706433);
    assert_near(s.mean_ulp, 339337277.1);
    assert_int_equal(s.failure, FAILURE_TOLERANCE);
}

static void float16_as_numpy_has_it(void **state)
{
    (void)state;
    const double out[] = {1.001, -2, 1e-7, 65504, 0.1, 5}, ref[] = {1, -2, 0, 65000, 0.1001, 6};
    struct error_stats s = compare(FLOAT16, out, ref, 6, 0.01);
    assert_int_equal(s.num_exceeding, 2);
    assert_near(s.max_abs, 512);
    assert_near(s.mean_abs, 85.50018312533696);
    assert_near(s.p50_abs, 0.00054931640625);
    assert_near(s.p90_abs, 256.5);
    assert_near(s.p99_abs, 486.4500000000001);
    assert_near(s.max_rel, 0.16666666666666666);
    assert_near(s.mean_rel, 0.03534812680510021);
    assert_int_equal(s.max_ulp, 256);
    assert_near(s.mean_ulp, 46.166666666666664);
}

static void nonfinite_as_numpy_has_it(void **state)
{
    (void)state;
    const double out[] = {1, NAN, INFINITY, 2, -INFINITY, 3},
                 ref[] = {1, NAN, INFINITY, 2.5, INFINITY, 0};
    struct error_stats s = compare(FLOAT32, out, ref, 6, 0.1);
    assert_int_equal(s.num_exceeding, 5);
    assert_true(isinf(s.max_abs) && isinf(s.mean_abs));
    assert_near(s.p50_abs, 0.5);
    assert_near(s.p90_abs, 2.5);
    assert_near(s.p99_abs, 2.95);
    assert_true(isnan(s.max_rel) && isnan(s.mean_rel));
    assert_true(s.max_ulp == UINT64_MAX);
    assert_near(s.mean_ulp, 9.22337203703478e+18);
    for (int k = 0; k < RESULTS_RATIOS; k++)
        assert_true(isinf(s.t_by_ratio[k]));
}

static void equal_output_has_no_error(void **state)
{
    (void)state;
    const double x[] = {1, -0.0, 1e-40, 3e38};
    for (int d = 0; d < DTYPES; d++) {
        struct error_stats s = compare((enum dtype)d, x, x, 3, 0);
        assert_true(s.max_abs == 0 && s.max_rel == 0 && s.max_ulp == 0 && s.p99_abs == 0);
        assert_true(s.num_exceeding == 0 && s.failure == FAILURE_NONE && s.t_by_ratio[0] == 0);
    }
    assert_int_equal(compare(FLOAT32, x, x, 0, 0).failure, FAILURE_NONE);
}

static enum failure strict(double out, double ref)
{
    return compare(FLOAT32, &out, &ref, 1, 1).failure;
}

static enum failure matching(double out, double ref)
{
    return compare(FLOAT32, &out, &ref, 1, 1).failure_matching;
}

static void verdicts(void **state)
{
    (void)state;
    assert_int_equal(strict(1, 2), FAILURE_NONE); /* the tolerance itself is accepted */
    assert_int_equal(strict(1, 2.5), FAILURE_TOLERANCE);
    assert_int_equal(strict(NAN, NAN), FAILURE_NAN);
    assert_int_equal(strict(INFINITY, INFINITY), FAILURE_INF);
    assert_int_equal(strict(1, NAN), FAILURE_TOLERANCE);
    assert_int_equal(strict(1, INFINITY), FAILURE_TOLERANCE);
    assert_int_equal(matching(1, 2), FAILURE_NONE);
    assert_int_equal(matching(1, 2.5), FAILURE_TOLERANCE);
    assert_int_equal(matching(NAN, NAN), FAILURE_NONE);
    assert_int_equal(matching(-NAN, NAN), FAILURE_NONE);
    assert_int_equal(matching(INFINITY, INFINITY), FAILURE_NONE);
    assert_int_equal(matching(INFINITY, -INFINITY), FAILURE_INF);
    assert_int_equal(matching(INFINITY, NAN), FAILURE_INF);
    assert_int_equal(matching(NAN, INFINITY), FAILURE_NAN);
    assert_int_equal(matching(NAN, 1), FAILURE_NAN);
    assert_int_equal(matching(1, NAN), FAILURE_TOLERANCE);
    assert_int_equal(matching(INFINITY, 1e300), FAILURE_NONE); /* 1e300 is infinite in the dtype */
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Random errors with many ties, against sorting; t against its definition. */
static void percentiles_and_tolerances_by_definition(void **state)
{
    (void)state;
    static double out[MANY], ref[MANY], sorted[MANY];
    for (size_t n = 1; n < MANY; n += 37) {
        double t = 0;
        for (size_t i = 0; i < n; i++) {
            ref[i] = floor(8 * generator_unit(generator_hash(n, 0, (long)i)));
            out[i] = ref[i] + floor(5 * generator_unit(generator_hash(n, 1, (long)i))) / 4;
            sorted[i] = out[i] - ref[i];
            t = fmax(t, sorted[i] / (RESULTS_RATIO[4] + ref[i]));
        }
        qsort(sorted, n, sizeof *sorted, ascending);
        struct error_stats s = compare(BFLOAT16, out, ref, n, 0.5);
        assert_near(s.t_by_ratio[4], t);
        assert_true(s.max_abs == sorted[n - 1]);
        const double at = 0.9 * (double)(n - 1);
        const size_t k = (size_t)at;
        const double above = sorted[k + 1 < n ? k + 1 : k];
        assert_true(fabs(s.p90_abs - (sorted[k] + (above - sorted[k]) * (at - (double)k))) < 1e-12);
        for (size_t j = 0; j < n; j++)
            out[j] = out[j] - ref[j];
        assert_true(select_kth(out, 0, (long)n - 1, (long)n / 2) == sorted[n / 2]);
    }
}

/* Sums are taken in the elements' order, on which the mean of numbers as unlike as these depends.
 * And the work may be done in the reference's own memory. */
static void sums_keep_the_order(void **state)
{
    (void)state;
    static float out[MANY];
    static double ref[MANY], work[MANY];
    double ulp = 0;
    for (size_t i = 0; i < MANY; i++) {
        ref[i] = generator_unit(generator_hash(3, 0, (long)i));
        out[i] = i % 97 == 96 ? NAN : (float)(ref[i] * (1 + (double)(i % 3) / 1000));
        const uint32_t o = dtype_load(FLOAT32, out, i);
        ulp += (double)dtype_ulp(FLOAT32, o, dtype_bits(FLOAT32, ref[i]));
    }
    struct error_stats s, in_place;
    error_stats(&s, FLOAT32, out, ref, MANY, 1e-4, work);
    assert_true(s.mean_ulp == ulp / MANY);
    error_stats(&in_place, FLOAT32, out, ref, MANY, 1e-4, ref);
    assert_memory_equal(&s, &in_place, sizeof s);
}

enum { LONG = 20000 };

static void fill(double *x, long n, int kind)
{
    for (long i = 0; i < n; i++) {
        const double u = generator_unit(generator_hash(5, kind, i));
        const double values[] = {u, floor(6 * u), (double)i, (double)-i, 1, u < 0.5 ? INFINITY : 0};
        x[i] = values[kind];
    }
}

static void assert_selected(const double *x, long low, long n, long k, double expected)
{
    assert_true(x[k] == expected);
    for (long i = low; i < n; i++)
        assert_true(i < k ? x[i] <= expected : x[i] >= expected);
}

/* Drawn, with ties, ascending, descending, all equal, some infinite; long enough for samples. */
static void select_is_as_sorting(void **state)
{
    (void)state;
    static double x[LONG], sorted[LONG];
    const long lengths[] = {1, 2, 7, 300, 2047, 2048, LONG};
    for (int kind = 0; kind < 6; kind++) {
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
            const long n = lengths[l], ranks[] = {0, n / 100, n / 2, n / 10 * 9, n - 1};
            long low = 0;
            fill(x, n, kind);
            memcpy(sorted, x, (size_t)n * sizeof *x);
            qsort(sorted, (size_t)n, sizeof *sorted, ascending);
            for (int r = 0; r < 5; low = ranks[r++]) {
                assert_true(select_kth(x, low, n - 1, ranks[r]) == sorted[ranks[r]]);
                assert_selected(x, low, n, ranks[r], sorted[ranks[r]]);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(float32_as_numpy_has_it),
        cmocka_unit_test(float16_as_numpy_has_it),
        cmocka_unit_test(nonfinite_as_numpy_has_it),
        cmocka_unit_test(equal_output_has_no_error),
        cmocka_unit_test(verdicts),
        cmocka_unit_test(percentiles_and_tolerances_by_definition),
        cmocka_unit_test(sums_keep_the_order),
        cmocka_unit_test(select_is_as_sorting),
    };
    return cmocka_run_group_tests_name("errorstats", tests, NULL, NULL);
}
