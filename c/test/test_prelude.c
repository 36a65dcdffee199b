/* The prelude's formats against their definition: the nearest multiple of the spacing, ties to even,
 * worked out in double; and binary16 against the processor's own conversion where it has one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#define __device__
static unsigned __float_as_uint(float x)
{
    unsigned bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static float __uint_as_float(unsigned bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

#include "../backend/prelude.h"
#include "../lib/generator.h"

struct format {
    const char *name;
    float (*round)(float);
    int digits, lowest;    /* fraction bits; exponent of the smallest normal number */
    double largest, beyond; /* what is above `largest` after rounding becomes `beyond` */
    bool truncates;
};

static const struct format FORMAT[] = {
    {"half", assay_round_half, 10, -14, 65504, INFINITY, false},
    {"truncated half", assay_truncate_half, 10, -14, 65504, 65504, true},
    {"bf16", assay_round_bf16, 7, -126, 0x1.FEp127, INFINITY, false},
    {"tf32", assay_round_tf32, 10, -126, 0x1.FFCp127, INFINITY, false},
    {"fp8 e4m3", assay_round_fp8_e4m3, 3, -6, 448, 448, false},
};

enum { FORMATS = sizeof FORMAT / sizeof *FORMAT, RANDOM_FLOATS = 1000000 };

static float defined(const struct format *f, float x)
{
    if (x == 0 || !isfinite(x))
        return x;
    int exponent = ilogb((double)x);
    double spacing = ldexp(1, (exponent < f->lowest ? f->lowest : exponent) - f->digits);
    double steps = fabs((double)x) / spacing; /* exact: a division by a power of two */
    double value = (f->truncates ? trunc(steps) : rint(steps)) * spacing;
    return copysignf((float)(value > f->largest ? f->beyond : value), x);
}

static void check_one(const struct format *f, float x)
{
    float got = f->round(x), want = defined(f, x);
    if (__float_as_uint(got) != __float_as_uint(want))
        fail_msg("%s: %a becomes %a, not %a", f->name, (double)x, (double)got, (double)want);
}

static void check_around(const struct format *f, float x)
{
    check_one(f, x);
    check_one(f, nextafterf(x, INFINITY));
    check_one(f, nextafterf(x, -INFINITY));
}

/* A binary16 code as a number. */
static float half_value(unsigned code)
{
    int exponent = (int)(code >> 10 & 31), fraction = (int)(code & 1023);
    double value = exponent == 31 ? (fraction ? NAN : INFINITY)
                   : exponent     ? ldexp(1024 + fraction, exponent - 25)
                                  : ldexp(fraction, -24);
    return copysignf((float)value, code >> 15 ? -1.0f : 1.0f);
}

/* Halves are fixed points, and the numbers around them and half-way between them go where they must,
 * whatever the format. */
static void every_half(void **state)
{
    (void)state;
    for (unsigned code = 0; code < 65536; code++) {
        float x = half_value(code);
        if (isnan(x))
            continue;
        assert_int_equal(__float_as_uint(assay_round_half(x)), __float_as_uint(x));
        assert_int_equal(__float_as_uint(assay_truncate_half(x)), __float_as_uint(x));
        float next = half_value((code & 0x8000) | ((code + 1) & 0x7FFF));
        for (int f = 0; f < FORMATS; f++) {
            check_around(&FORMAT[f], x);
            if (isfinite(x) && isfinite(next))
                check_around(&FORMAT[f], x / 2 + next / 2);
        }
    }
}

static void random_floats(void **state)
{
    (void)state;
    for (long i = 0; i < RANDOM_FLOATS; i++) {
        generator_word word = generator_hash(1, 0, i);
        /* any bits; and, as often, a number near the range of the narrow formats */
        float x = __uint_as_float((unsigned)word);
        if (i & 1)
            x = ldexpf((float)(int)word, (int)(word >> 32) % 64 - 45);
        for (int f = 0; f < FORMATS && !isnan(x); f++)
            check_one(&FORMAT[f], x);
    }
}

static void special_values(void **state)
{
    (void)state;
    static const unsigned BITS[] = {0x7F800000u, 0xFF800000u, 0x7FC00000u, 0x7F800001u, 0xFFFFFFFFu,
                                    0u, 0x80000000u};
    for (int f = 0; f < FORMATS; f++)
        for (size_t k = 0; k < sizeof BITS / sizeof *BITS; k++)
            assert_int_equal(__float_as_uint(FORMAT[f].round(__uint_as_float(BITS[k]))), BITS[k]);
    assert_true(isinf(assay_round_half(65520.0f)));
    assert_true(assay_round_half(65519.996f) == 65504.0f);
    assert_true(assay_truncate_half(1e9f) == 65504.0f);
    assert_true(assay_round_fp8_e4m3(-1e9f) == -448.0f);
    assert_true(isinf(assay_round_bf16(3.4e38f)));
}

static void subnormals_are_flushed(void **state)
{
    (void)state;
    assert_int_equal(__float_as_uint(assay_flush_denormal(0x1p-127f)), 0u);
    assert_int_equal(__float_as_uint(assay_flush_denormal(-0x1p-149f)), ASSAY_SIGN);
    assert_true(assay_flush_denormal(-0x1p-126f) == -0x1p-126f);
    assert_true(assay_flush_denormal(1.5f) == 1.5f);
    assert_true(isnan(assay_flush_denormal(NAN)));
}

#ifdef __x86_64__
__attribute__((target("f16c"))) static float through_hardware(float x, bool truncate)
{
    typedef float floats __attribute__((vector_size(16)));
    floats wide = {x, 0, 0, 0};
    return truncate ? __builtin_ia32_vcvtph2ps(__builtin_ia32_vcvtps2ph(wide, 3))[0]
                    : __builtin_ia32_vcvtph2ps(__builtin_ia32_vcvtps2ph(wide, 0))[0];
}

static void same_as_hardware(void **state)
{
    (void)state;
    if (!__builtin_cpu_supports("f16c"))
        return; /* the tests above stand without it */
    for (long i = 0; i < RANDOM_FLOATS; i++) {
        unsigned word = (unsigned)generator_hash(2, 0, i); /* |x| from 2^-27 to 2^17 */
        float x = __uint_as_float((word & ASSAY_SIGN) | (0x32000000u + word % 0x16000000u));
        assert_int_equal(__float_as_uint(assay_round_half(x)),
                         __float_as_uint(through_hardware(x, false)));
        assert_int_equal(__float_as_uint(assay_truncate_half(x)),
                         __float_as_uint(through_hardware(x, true)));
    }
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_half),
        cmocka_unit_test(random_floats),
        cmocka_unit_test(special_values),
        cmocka_unit_test(subnormals_are_flushed),
#ifdef __x86_64__
        cmocka_unit_test(same_as_hardware),
#endif
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
