/*
 * small_bits - binary16 and bfloat16 as bits, from and to float; rounded to nearest even.
 *
 * In line, since a kernel converts every element that it touches: called, they would cost more than
 * the rest of a softmax. In C too, for tests. A NaN becomes the hardware's one.
 */
#ifndef ASSAY_SMALL_BITS_H
#define ASSAY_SMALL_BITS_H

enum { SIMT_SMALL_NAN = 0x7FFF };

static inline float simt_half_to_float(unsigned short h)
{
    /* In float's place the exponent is 112 too small; the product that mends it mends subnormal
     * numbers too. */
    unsigned magnitude = h & 0x7FFF, bits = magnitude << 13;
    float x;
    bits |= (magnitude >= 0x7C00 ? 0x7F800000 : 0) | (unsigned)(h & 0x8000) << 16;
    __builtin_memcpy(&x, &bits, sizeof x);
    return x * 0x1p112f;
}

/* One sum rounds normal and subnormal numbers alike: the other term is so large that its last place
 * is a half's at x. */
static inline unsigned short simt_double_to_half(double x)
{
    double magnitude = __builtin_fabs(x), large;
    unsigned long long bits, aligned;
    __builtin_memcpy(&bits, &x, sizeof bits);
    unsigned sign = (unsigned)(bits >> 63) << 15, exponent = bits >> 52 & 0x7FF;
    if (exponent > 1023 + 15)
        return (unsigned short)(x != x ? SIMT_SMALL_NAN : sign | 0x7C00);
    exponent = exponent > 1023 - 14 ? exponent : 1023 - 14;
    aligned = (unsigned long long)(exponent + 52 - 10) << 52;
    __builtin_memcpy(&large, &aligned, sizeof large);
    large += magnitude;
    __builtin_memcpy(&aligned, &large, sizeof aligned);
    return (unsigned short)(sign | (((exponent - (1023 - 14)) << 10) + (aligned & 0xFFF)));
}

static inline unsigned short simt_float_to_half(float x)
{
    return simt_double_to_half((double)x);
}

static inline float simt_bfloat16_to_float(unsigned short b)
{
    unsigned bits = (unsigned)b << 16;
    float x;
    __builtin_memcpy(&x, &bits, sizeof x);
    return x;
}

static inline unsigned short simt_float_to_bfloat16(float x)
{
    unsigned bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    return x != x ? SIMT_SMALL_NAN : (unsigned short)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

#endif
