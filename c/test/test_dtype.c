/* Conversions against an exhaustive walk over all 16-bit numbers: each, its neighbours, what lies
 * between. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>

#include "dtype.h"

#include <cmocka.h> /* last: it defines a macro named fail */

static const enum dtype SMALL[] = {FLOAT16, BFLOAT16};

/* All positive finite numbers of a dtype have the bits 0 … infinity − 1, in their order. */
static void every_number_comes_back(void **state)
{
    (void)state;
    for (int d = 0; d < 2; d++) {
        const enum dtype dtype = SMALL[d];
        for (uint32_t bits = 0; bits < 1u << 16; bits++) {
            const double x = dtype_value(dtype, bits);
            if (isnan(x))
                assert_true(isnan(dtype_value(dtype, dtype_bits(dtype, x))));
            else
                assert_int_equal(dtype_bits(dtype, x), bits);
        }
    }
}

static void numbers_have_their_published_values(void **state)
{
    (void)state;
    assert_true(dtype_value(FLOAT16, 0x3C00) == 1);
    assert_true(dtype_value(FLOAT16, 0xC000) == -2);
    assert_true(dtype_value(FLOAT16, 0x0001) == 0x1p-24);
    assert_true(dtype_value(FLOAT16, 0x03FF) == 0x3FFp-24);
    assert_true(dtype_value(FLOAT16, 0x7BFF) == 65504);
    assert_true(isinf(dtype_value(FLOAT16, 0x7C00)));
    assert_true(dtype_value(BFLOAT16, 0x3F80) == 1);
    assert_true(dtype_value(BFLOAT16, 0x0001) == 0x1p-133);
    assert_true(dtype_value(BFLOAT16, 0xFF7F) == -0x1.fep127);
    for (int d = 0; d < DTYPES; d++) {
        const enum dtype dtype = (enum dtype)d;
        assert_true(dtype_value(dtype, 1) == DTYPE_FORMAT[d].smallest);
        assert_true(dtype_value(dtype, dtype_infinity(dtype) - 1) == DTYPE_FORMAT[d].largest);
    }
}

/* Between two neighbours: the middle goes to the even one, and the next double on either side of it
 * to the nearer one, which rounding through float would get wrong. */
static void between_neighbours_the_nearest_wins(void **state)
{
    (void)state;
    for (int d = 0; d < 2; d++) {
        const enum dtype dtype = SMALL[d];
        for (uint32_t low = 0; low + 1 < dtype_infinity(dtype); low++) {
            const double middle = (dtype_value(dtype, low) + dtype_value(dtype, low + 1)) / 2;
            assert_int_equal(dtype_bits(dtype, middle), low + (low & 1));
            assert_int_equal(dtype_bits(dtype, nextafter(middle, 0)), low);
            assert_int_equal(dtype_bits(dtype, nextafter(middle, INFINITY)), low + 1);
            assert_int_equal(dtype_bits(dtype, -middle), dtype_sign(dtype) | (low + (low & 1)));
        }
    }
}

static void too_large_is_infinite(void **state)
{
    (void)state;
    assert_int_equal(dtype_bits(FLOAT16, nextafter(65520, 0)), 0x7BFF);
    assert_int_equal(dtype_bits(FLOAT16, 65520), 0x7C00);
    assert_int_equal(dtype_bits(FLOAT16, -1e300), 0xFC00);
    assert_int_equal(dtype_bits(BFLOAT16, nextafter(0x1.ffp127, 0)), 0x7F7F);
    assert_int_equal(dtype_bits(BFLOAT16, 0x1.ffp127), 0x7F80);
    assert_int_equal(dtype_bits(FLOAT32, 1e300), 0x7F800000);
    assert_int_equal(dtype_bits(FLOAT16, INFINITY), 0x7C00);
    assert_int_equal(dtype_bits(FLOAT16, 1e-300), 0);
    assert_int_equal(dtype_bits(FLOAT16, -1e-300), 0x8000);
}

static void distance_counts_numbers(void **state)
{
    (void)state;
    for (int d = 0; d < 2; d++) {
        const enum dtype dtype = SMALL[d];
        uint32_t before = dtype_sign(dtype) | (dtype_infinity(dtype) - 1); /* the least number */
        for (uint32_t place = 1; place < 2 * dtype_infinity(dtype); place++) {
            const int negative = place < dtype_infinity(dtype);
            const uint32_t bits = negative ? dtype_sign(dtype) | (dtype_infinity(dtype) - 1 - place)
                                           : place - dtype_infinity(dtype);
            assert_int_equal(dtype_ulp(dtype, before, bits), 1);
            before = bits;
        }
    }
    assert_int_equal(dtype_ulp(FLOAT32, dtype_bits(FLOAT32, 1), dtype_bits(FLOAT32, -1)),
                     2 * 0x3F800000 + 1);
    assert_true(dtype_ulp(FLOAT32, 0x7F800000, 0x7F800000) == UINT64_MAX);
    assert_true(dtype_ulp(FLOAT16, 0x7E00, 0) == UINT64_MAX);
}

static void elements_lie_side_by_side(void **state)
{
    (void)state;
    uint32_t array[2] = {0};
    for (int d = 0; d < DTYPES; d++) {
        const enum dtype dtype = (enum dtype)d;
        dtype_store(dtype, array, 0, dtype_bits(dtype, 1.5));
        dtype_store(dtype, array, 1, dtype_bits(dtype, -3));
        assert_true(dtype_value(dtype, dtype_load(dtype, array, 0)) == 1.5);
        assert_true(dtype_value(dtype, dtype_load(dtype, array, 1)) == -3);
        assert_memory_equal((char *)array + dtype_size(dtype), (uint32_t[]){dtype_bits(dtype, -3)},
                            dtype_size(dtype));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_comes_back),
        cmocka_unit_test(numbers_have_their_published_values),
        cmocka_unit_test(between_neighbours_the_nearest_wins),
        cmocka_unit_test(too_large_is_infinite),
        cmocka_unit_test(distance_counts_numbers),
        cmocka_unit_test(elements_lie_side_by_side),
    };
    return cmocka_run_group_tests_name("dtype", tests, NULL, NULL);
}
