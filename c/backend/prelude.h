/*
 * prelude - the rounding helpers that a mutated kernel may call, on either backend.
 *
 * A precision fault is a value that went through a narrower format. Including cuda_fp16.h would triple
 * the compile time of every mutant, so the formats are spelt out here: on the bits of a float, without
 * float arithmetic, so that gcc and NVRTC give the same bits under any flags. NaN and infinities come
 * back as they are. Needs __float_as_uint and __uint_as_float.
 */
#ifndef ASSAY_PRELUDE_H
#define ASSAY_PRELUDE_H

#define ASSAY_SIGN 0x80000000u
#define ASSAY_INFINITY 0x7F800000u /* a magnitude from here on is no finite number */
#define ASSAY_HALF_MAX 0x477FE000u /* 65504 */
#define ASSAY_E4M3_MAX 0x43E00000u /* 448 */

/* How many low bits of a float's magnitude a format of `digits` fraction bits lacks. `lowest` is the
 * exponent, biased as a float's, of the format's smallest normal number: below it a bit more is
 * lacking for each power of two. */
__device__ static inline int assay_bits_lost(unsigned magnitude, int digits, int lowest)
{
    int exponent = (int)(magnitude >> 23);
    if (exponent == 0)
        exponent = 1; /* a float's own subnormals have the spacing of its smallest normals */
    return 23 - digits + (exponent < lowest ? lowest - exponent : 0);
}

/* The nearest number of the format, ties to even; magnitudes above `largest` become `beyond`. */
__device__ static inline float assay_round(float x, int digits, int lowest, unsigned largest,
                                           unsigned beyond)
{
    unsigned bits = __float_as_uint(x), sign = bits & ASSAY_SIGN, magnitude = bits ^ sign;
    if (magnitude >= ASSAY_INFINITY)
        return x;
    int lost = assay_bits_lost(magnitude, digits, lowest);
    if (lost > 23) { /* less than the smallest number of the format */
        unsigned smallest = (unsigned)(lowest - digits) << 23, half = smallest - (1u << 23);
        return __uint_as_float(sign | (magnitude > half ? smallest : 0));
    }
    unsigned odd = lost < 23 ? magnitude >> lost & 1 : 1; /* bit 23 is hidden, and set */
    magnitude = (magnitude + (1u << (lost - 1)) - 1 + odd) >> lost << lost;
    return __uint_as_float(sign | (magnitude > largest ? beyond : magnitude));
}

/* IEEE binary16: 10 fraction bits, 2^-14 its smallest normal. */
__device__ static inline float assay_round_half(float x)
{
    return assay_round(x, 10, 113, ASSAY_HALF_MAX, ASSAY_INFINITY);
}

/* The same, toward zero: what shifting the fraction into place without rounding does. */
__device__ static inline float assay_truncate_half(float x)
{
    unsigned bits = __float_as_uint(x), sign = bits & ASSAY_SIGN, magnitude = bits ^ sign;
    if (magnitude >= ASSAY_INFINITY)
        return x;
    int lost = assay_bits_lost(magnitude, 10, 113);
    magnitude = lost > 23 ? 0 : magnitude >> lost << lost;
    return __uint_as_float(sign | (magnitude > ASSAY_HALF_MAX ? ASSAY_HALF_MAX : magnitude));
}

/* bfloat16: 7 fraction bits, a float's exponents. */
__device__ static inline float assay_round_bf16(float x)
{
    return assay_round(x, 7, 1, ASSAY_INFINITY, ASSAY_INFINITY);
}

/* TensorFloat-32: 10 fraction bits, a float's exponents. */
__device__ static inline float assay_round_tf32(float x)
{
    return assay_round(x, 10, 1, ASSAY_INFINITY, ASSAY_INFINITY);
}

/* FP8 E4M3 (OCP 8-bit formats, 2023): 3 fraction bits, 2^-6 its smallest normal, no infinity; too
 * large numbers saturate at 448, as in CUDA's own conversion. */
__device__ static inline float assay_round_fp8_e4m3(float x)
{
    return assay_round(x, 3, 121, ASSAY_E4M3_MAX, ASSAY_E4M3_MAX);
}

/* A subnormal float becomes a zero of its sign. */
__device__ static inline float assay_flush_denormal(float x)
{
    unsigned bits = __float_as_uint(x), sign = bits & ASSAY_SIGN;
    return (bits ^ sign) < 1u << 23 ? __uint_as_float(sign) : x;
}

#endif
