/* Quantiles and intervals against values worked out by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "stats.h"

#include <cmocka.h>

static void assert_near(double x, double expected, double slack)
{
    if (!(fabs(x - expected) <= slack))
        fail_msg("%.17g is not %.17g within %g", x, expected, slack);
}

static void test_sort_puts_nan_last(void **state)
{
    (void)state;
    double x[] = {3, NAN, -INFINITY, 1, INFINITY};
    stats_sort(x, 5);
    assert_true(x[0] == -INFINITY && x[1] == 1 && x[2] == 3 && x[3] == INFINITY && isnan(x[4]));
}

static void test_quantile(void **state)
{
    (void)state;
    const double x[] = {1, 2, 4, 8};
    assert_near(stats_quantile(x, 4, 0), 1, 0);
    assert_near(stats_quantile(x, 4, 0.5), 3, 0);
    assert_near(stats_quantile(x, 4, 0.75), 5, 0);
    assert_near(stats_quantile(x, 4, 1), 8, 0);
    assert_near(stats_quantile(x, 1, 0.3), 1, 0);
}

static void test_wilson(void **state)
{
    (void)state;
    /* 8 of 10 at z = 2: centre (0.8 + 0.2) / 1.4, half (2 / 1.4) √(0.016 + 0.01) */
    struct interval i = stats_wilson(8, 10, 2);
    assert_near(i.low, 0.71428571428571 - 0.23035022, 1e-8);
    assert_near(i.high, 0.71428571428571 + 0.23035022, 1e-8);
    i = stats_wilson(0, 5, STATS_Z95);
    assert_true(i.low == 0 && i.high > 0.43 && i.high < 0.44);
    i = stats_wilson(5, 5, STATS_Z95);
    assert_true(i.high == 1);
    i = stats_wilson(0, 0, STATS_Z95);
    assert_true(i.low == 0 && i.high == 1);
}

static void test_bootstrap(void **state)
{
    (void)state;
    const double part[] = {0, 5, 10}, whole[] = {10, 10, 10};
    /* One unit a round: the shares 0, 1/2 and 1 a third of the rounds each. */
    struct interval one = stats_bootstrap_share(part, whole, 3, 1, 0.9);
    assert_true(one.low == 0 && one.high == 1);
    struct interval many = stats_bootstrap_share(part, whole, 3, 300, 0.9);
    assert_near((many.low + many.high) / 2, 0.5, 0.01);
    /* σ of one draw is √(1/6), of the mean of 300 is 0.02357; 1.645 σ either side. */
    assert_near(many.high - many.low, 2 * 1.645 * 0.02357, 0.006);
    struct interval again = stats_bootstrap_share(part, whole, 3, 300, 0.9);
    assert_true(again.low == many.low && again.high == many.high);
    /* Shares are pooled, not averaged: a unit of weight 0.001 hardly counts. */
    const double parts[] = {0, 1e-3}, wholes[] = {1, 1e-3};
    assert_true(stats_bootstrap_share(parts, wholes, 2, 50, 0.9).high < 0.01);
}

static void test_binomial_tail(void **state)
{
    (void)state;
    assert_near(stats_binomial_tail(4, 0.25, 2), 67.0 / 256, 1e-12);
    assert_near(stats_binomial_tail(4, 0.75, 2), 243.0 / 256, 1e-12);
    assert_true(stats_binomial_tail(4, 0, 0) == 1 && stats_binomial_tail(4, 0, 1) == 0);
    assert_true(stats_binomial_tail(4, 1, 4) == 1 && stats_binomial_tail(4, 1, 5) == 0);
    double sum = 0;
    for (int k = 1; k <= 1000; k++)
        sum += stats_binomial_tail(1000, 0.95, k); /* Σ P(X ≥ k) is the mean */
    assert_near(sum, 950, 1e-7);
}

/* All 4⁴ resamples of four values, their second-smallest one. */
static void test_bootstrap_rank_is_the_limit(void **state)
{
    (void)state;
    int below[4] = {0};
    for (int round = 0; round < 256; round++)
        for (int j = 0; j < 4; j++) {
            int within = 0;
            for (int k = 0; k < 4; k++)
                within += (round >> 2 * k & 3) <= j;
            below[j] += within >= 2;
        }
    for (int percent = 1; percent < 100; percent++) {
        struct ranks r = stats_bootstrap_rank(4, 1, percent / 100.0);
        int low = 0, high = 0;
        while (below[low] < 256 * (1 - percent / 100.0) / 2)
            low++;
        while (below[high] < 256 * (1 + percent / 100.0) / 2)
            high++;
        assert_int_equal(r.low, low);
        assert_int_equal(r.high, high);
    }
    struct ranks one = stats_bootstrap_rank(1, 0, 0.95);
    assert_true(one.low == 0 && one.high == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sort_puts_nan_last),
        cmocka_unit_test(test_quantile),
        cmocka_unit_test(test_wilson),
        cmocka_unit_test(test_bootstrap),
        cmocka_unit_test(test_binomial_tail),
        cmocka_unit_test(test_bootstrap_rank_is_the_limit),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("stats", tests, NULL, NULL);
}
