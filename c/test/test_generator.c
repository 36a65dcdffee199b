/* The golden stream against values computed from its definition, and what each fill promises. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>

#include <cmocka.h>

#include "generator.h"

enum { ROWS = 40, ROW = 25, COUNT = ROWS * ROW };

static float value(struct fill f, long i)
{
    f.scale = 1;
    return generator_value(&f, 7, 3, i, COUNT, ROW);
}

static void golden_stream(void **state)
{
    (void)state;
    static const struct {
        int t;
        long i;
        double lo, hi;
        float value;
    } CASE[] = {
        {0, 0L, -2, 2, 0x1.8882ap+0f},
        {0, 1L, -2, 2, 0x1.10a2dp-2f},
        {0, 370L, -2, 2, -0x1.c7bcp-1f},
        {1, 0L, -0.5, 0.5, -0x1.808a3cp-2f},
        {16, 98L, -1, 1, 0x1.11df28p-1f},
        {3, 8589934592L, 0, 0.7, 0x1.5f5eaap-1f},
    };
    for (size_t k = 0; k < sizeof CASE / sizeof *CASE; k++) {
        struct fill f = {GENERATOR_UNIFORM, CASE[k].lo, CASE[k].hi, 0, 1};
        assert_true(generator_value(&f, 0, CASE[k].t, CASE[k].i, 1L << 40, 1) == CASE[k].value);
    }
}

/* A fused multiply-add gives -0x1.235d88p-57 here. */
static void product_and_sum_round_separately(void **state)
{
    (void)state;
    struct fill f = {GENERATOR_UNIFORM, -0.1, 0.04654963345156499, 0, 1};
    assert_true(generator_value(&f, 0, 0, 9, 10, 10) == -0x1p-56f);
}

static void scale_comes_before_the_rounding(void **state)
{
    (void)state;
    struct fill f = {GENERATOR_CONSTANT, 0.3, 0, 0, 3};
    assert_true(generator_value(&f, 1, 0, 0, 1, 1) == (float)(0.3 * 3));
    assert_true((float)(0.3 * 3) != 0.3f * 3);
}

static void seeds_and_tensors_are_apart(void **state)
{
    (void)state;
    struct fill f = {GENERATOR_UNIFORM, 0, 1, 0, 1};
    int equal = 0;
    for (long i = 0; i < 1000; i++) {
        float x = generator_value(&f, 1, 0, i, 1000, 10);
        equal += x == generator_value(&f, 2, 0, i, 1000, 10);
        equal += x == generator_value(&f, 1, 1, i, 1000, 10);
        equal += x == generator_value(&f, 0, 0, i, 1000, 10);
    }
    assert_int_equal(equal, 0);
}

static void normal_has_its_moments(void **state)
{
    (void)state;
    const struct fill f = {GENERATOR_NORMAL, 3, 2, 0, 1};
    const long n = 100000;
    double sum = 0, square = 0, beyond = 0;
    for (long i = 0; i < n; i++) {
        double z = (generator_value(&f, 5, 0, i, n, 1) - 3) / 2;
        assert_true(fabs(z) <= 6);
        sum += z;
        square += z * z;
        beyond += fabs(z) > 2;
    }
    assert_true(fabs(sum / (double)n) < 0.02); /* 6 standard errors */
    assert_true(fabs(square / (double)n - 1) < 0.03);
    assert_true(fabs(beyond / (double)n - 0.0455) < 0.005);
}

static void ranges_hold(void **state)
{
    (void)state;
    int low = 0, high = 0;
    for (long i = 0; i < COUNT; i++) {
        float x = value((struct fill){GENERATOR_UNIFORM, -10, 10, 0, 0}, i);
        assert_true(x >= -10 && x < 10);
        low += x < -9;
        high += x > 9;
        float o = fabsf(value((struct fill){GENERATOR_OCTAVES, 0.25, 8, 0, 0}, i));
        assert_true(o >= 0.25f && o < 64);
    }
    assert_true(low > 20 && high > 20);
}

static void ramps_reach_both_ends(void **state)
{
    (void)state;
    struct fill ramp = {GENERATOR_RAMP, -1, 2, 0, 0}, row = {GENERATOR_ROW_RAMP, -1, 2, 0, 0};
    assert_true(value(ramp, 0) == -1 && value(ramp, COUNT - 1) == 2);
    for (long i = 1; i < COUNT; i++)
        assert_true(value(ramp, i) > value(ramp, i - 1));
    assert_true(value(row, 3 * ROW) == -1 && value(row, 4 * ROW - 1) == 2);
    assert_true(value(row, 5) == value(row, 5 + ROW));
    assert_true(generator_value(&(struct fill){GENERATOR_RAMP, 4, 5, 0, 1}, 1, 0, 0, 1, 1) == 4);
}

static void one_place_a_row(void **state)
{
    (void)state;
    int places = 0;
    for (long r = 0; r < ROWS; r++) {
        int hot = 0, peaks = 0;
        for (long c = 0; c < ROW; c++) {
            float x = value((struct fill){GENERATOR_ONE_HOT, 5, -1, 0, 0}, r * ROW + c);
            assert_true(x == 5 || x == -1);
            hot += x == 5;
            places |= (x == 5) << c;
            float y = value((struct fill){GENERATOR_SPIKE, 0, 1, 90, 0}, r * ROW + c);
            assert_true(y == 90 || (y >= 0 && y < 1));
            peaks += y == 90;
        }
        assert_int_equal(hot, 1);
        assert_int_equal(peaks, 1);
    }
    assert_true(__builtin_popcount((unsigned)places) > ROW / 2);
}

static void levels_tie(void **state)
{
    (void)state;
    int seen[3] = {0};
    for (long i = 0; i < COUNT; i++) {
        float x = value((struct fill){GENERATOR_LEVELS, -1, 1, 3, 0}, i);
        assert_true(x == -1 || x == 0 || x == 1);
        seen[(int)x + 1]++;
    }
    assert_true(seen[0] > COUNT / 5 && seen[1] > COUNT / 5 && seen[2] > COUNT / 5);
}

static void only_the_named_part(void **state)
{
    (void)state;
    for (long i = 0; i < COUNT; i++) {
        float alternate = value((struct fill){GENERATOR_ALTERNATE, 1, -1, 0, 0}, i);
        assert_true(alternate == (i % 2 ? -1 : 1));
        float last = value((struct fill){GENERATOR_LAST_ROW, 1, 2, -7, 0}, i);
        assert_true(i < COUNT - ROW ? last == -7 : last >= 1 && last < 2);
        float tail = value((struct fill){GENERATOR_TAIL, 1, 2, 3, 0}, i);
        assert_true(i % ROW < ROW - 3 ? tail == 0 : tail >= 1 && tail < 2);
    }
}

static void nonfinite_share(void **state)
{
    (void)state;
    int nan = 0, plus = 0, minus = 0, zero = 0;
    for (long i = 0; i < COUNT; i++) {
        float x = value((struct fill){GENERATOR_NONFINITE, 1, 2, 0.2, 0}, i);
        nan += isnan(x);
        plus += x == INFINITY;
        minus += x == -INFINITY;
        zero += x == 0;
        assert_true(!isfinite(x) || x == 0 || (x >= 1 && x < 2));
    }
    assert_in_range(nan + plus + minus + zero, COUNT / 7, COUNT / 4);
    assert_true(nan > 20 && plus > 20 && minus > 20 && zero > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_stream),
        cmocka_unit_test(product_and_sum_round_separately),
        cmocka_unit_test(scale_comes_before_the_rounding),
        cmocka_unit_test(seeds_and_tensors_are_apart),
        cmocka_unit_test(normal_has_its_moments),
        cmocka_unit_test(ranges_hold),
        cmocka_unit_test(ramps_reach_both_ends),
        cmocka_unit_test(one_place_a_row),
        cmocka_unit_test(levels_tie),
        cmocka_unit_test(only_the_named_part),
        cmocka_unit_test(nonfinite_share),
    };
    return cmocka_run_group_tests_name("generator", tests, NULL, NULL);
}
