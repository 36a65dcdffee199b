/* The grades against a plain definition, and the cases that hide kills elsewhere: NaN above all. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <math.h>

#include "compare.h"
#include "generator.h"

#include <cmocka.h> /* last: it defines a macro named fail */

static struct graded grade(const float *out, const double *ref, size_t n)
{
    double work[4096];
    struct graded g;
    graded_compare(&g, out, ref, n, work);
    return g;
}

static void equal_output_has_no_error(void **state)
{
    (void)state;
    struct graded g = grade((float[]){1, 0, -2}, (double[]){1, 0, -2}, 3);
    assert_true(g.t == 0 && g.max_abs == 0 && g.max_rel == 0 && g.max_ulp == 0 && g.nmse == 0);
    assert_true(graded_accepts(&g, 0));
}

static void critical_tolerance_is_the_smallest_that_accepts(void **state)
{
    (void)state;
    struct graded g = grade((float[]){3.5f, 1}, (double[]){3, 1}, 2); /* 0.5 / (1 + 3) */
    assert_true(g.t == 0.125);
    assert_true(graded_accepts(&g, 0.125));
    assert_false(graded_accepts(&g, nextafter(0.125, 0)));
    assert_true(g.max_abs == 0.5 && g.max_rel == 0.5 / 3);
    assert_true(g.nmse == 0.25 / 10);
}

static void nan_never_passes(void **state)
{
    (void)state;
    const float nan = NAN, inf = INFINITY;
    const double one = 1, nan_ref = NAN, inf_ref = INFINITY, huge = 1e300;
    struct graded g = grade(&nan, &one, 1);
    assert_int_equal(g.nonfinite, 1);
    assert_true(isinf(g.t) && isinf(g.max_abs) && isinf(g.max_ulp) && isinf(g.nmse));
    assert_false(graded_accepts(&g, 1e300));
    g = grade(&inf, &one, 1);
    assert_false(graded_accepts(&g, 1e300));
    g = grade((float[]){1}, &nan_ref, 1);
    assert_false(graded_accepts(&g, 1e300));
    g = grade((float[]){-INFINITY}, &inf_ref, 1);
    assert_false(graded_accepts(&g, 1e300));
    /* the twins that must pass */
    g = grade(&nan, &nan_ref, 1);
    assert_true(graded_accepts(&g, 0));
    g = grade(&inf, &inf_ref, 1);
    assert_true(graded_accepts(&g, 0));
    g = grade(&inf, &huge, 1); /* 1e300 is infinite in float32 */
    assert_true(graded_accepts(&g, 0));
}

static void one_nan_among_many_is_enough(void **state)
{
    (void)state;
    float out[1000];
    double ref[1000];
    for (int i = 0; i < 1000; i++)
        ref[i] = out[i] = (float)i;
    out[500] = NAN;
    struct graded g = grade(out, ref, 1000);
    assert_false(graded_accepts(&g, 1));
    assert_true(g.t_p95 == 0);
}

static void ulp_counts_over_zero(void **state)
{
    (void)state;
    struct graded g = grade((float[]){-1e-45f}, (double[]){1.4012984643248171e-45}, 1);
    assert_true(g.max_ulp == 2); /* the smallest negative and the smallest positive subnormal */
    g = grade((float[]){-0.0f}, (double[]){0}, 1);
    assert_true(g.max_ulp == 0);
    g = grade((float[]){nextafterf(1, 2)}, (double[]){1}, 1);
    assert_true(g.max_ulp == 1);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Any length, with ties: the selected shares against a sorted copy. */
static void shares_agree_with_sorting(void **state)
{
    (void)state;
    for (size_t n = 1; n < 300; n++) {
        float out[300];
        double ref[300] = {0}, sorted[300];
        for (size_t i = 0; i < n; i++) {
            out[i] = (float)(generator_hash(n, 0, (long)i) % (n % 7 ? 1000 : 5));
            sorted[i] = out[i];
        }
        qsort(sorted, n, sizeof *sorted, by_value);
        struct graded g = grade(out, ref, n);
        assert_true(g.t == sorted[n - 1]);
        assert_true(g.t_p95 == sorted[(size_t)ceil(0.95 * (double)n) - 1]);
        assert_true(g.t_p90 == sorted[(size_t)ceil(0.90 * (double)n) - 1]);
        assert_true(g.t_p85 == sorted[(size_t)ceil(0.85 * (double)n) - 1]);
    }
}

static void zero_reference(void **state)
{
    (void)state;
    struct graded g = grade((float[]){0.5f}, (double[]){0}, 1);
    assert_true(isinf(g.nmse) && g.max_rel == 0 && g.t == 0.5 && g.ref_max == 0);
    g = grade(NULL, NULL, 0);
    assert_true(g.t == 0 && graded_accepts(&g, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_output_has_no_error),
        cmocka_unit_test(critical_tolerance_is_the_smallest_that_accepts),
        cmocka_unit_test(nan_never_passes),
        cmocka_unit_test(one_nan_among_many_is_enough),
        cmocka_unit_test(ulp_counts_over_zero),
        cmocka_unit_test(shares_agree_with_sorting),
        cmocka_unit_test(zero_reference),
    };
    return cmocka_run_group_tests_name("compare", tests, NULL, NULL);
}
