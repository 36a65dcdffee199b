/*
 * dtype - float32, float16 and bfloat16 as they are stored: conversion, rounding, distance.
 *
 * A number of a dtype is handled as its bits, in the low end of a word. Conversion from double
 * rounds once, to the nearest number, ties to even; subnormal numbers are kept, what is too large
 * becomes infinite. Inline, for loops over whole tensors.
 */
#ifndef ASSAY_DTYPE_H
#define ASSAY_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum dtype { BFLOAT16, FLOAT16, FLOAT32, DTYPES }; /* in the order of their names */

/* "bfloat16", "float16", "float32". */
const char *dtype_name(enum dtype dtype);
bool dtype_find(const char *name, enum dtype *dtype);

/* The ULP distance from or to a number that is not finite. */
#define DTYPE_ULP_NONFINITE UINT64_MAX

struct dtype_format {
    double smallest, largest; /* above 0; finite */
    int digits, bias;         /* of the fraction and of the exponent, in a 16-bit format */
};

static const struct dtype_format DTYPE_FORMAT[DTYPES] = {
    [FLOAT32] = {.smallest = 0x1p-149, .largest = 0x1.fffffep127},
    [FLOAT16] = {0x1p-24, 65504, 10, 15},
    [BFLOAT16] = {0x1p-133, 0x1.fep127, 7, 127},
};

static inline size_t dtype_size(enum dtype dtype)
{
    return dtype == FLOAT32 ? 4 : 2;
}

static inline uint32_t dtype_sign(enum dtype dtype)
{
    return dtype == FLOAT32 ? UINT32_C(1) << 31 : UINT32_C(1) << 15;
}

/* The bits of infinity: from here on, without its sign, a number is not finite. */
static inline uint32_t dtype_infinity(enum dtype dtype)
{
    return dtype == FLOAT32 ? UINT32_C(0x7F800000) : dtype == FLOAT16 ? 0x7C00 : 0x7F80;
}

/* The magnitude of a double, given by its bits, in a 16-bit format. One sum rounds normal and
 * subnormal numbers alike: the other term is so large that its last place is the format's at x. */
static inline uint32_t dtype_narrow(enum dtype dtype, uint64_t magnitude)
{
    const struct dtype_format *f = &DTYPE_FORMAT[dtype];
    const uint64_t lowest = (uint64_t)(1024 - f->bias); /* of the smallest normal number */
    uint64_t exponent = magnitude >> 52, bits;
    double x, large;
    if (exponent > (uint64_t)(1023 + f->bias)) {
        const bool nan = magnitude > UINT64_C(0x7FF) << 52;
        return dtype_infinity(dtype) | (nan ? 1u << (f->digits - 1) : 0);
    }
    exponent = exponent > lowest ? exponent : lowest;
    bits = (exponent + 52 - (uint64_t)f->digits) << 52;
    memcpy(&x, &magnitude, sizeof x);
    memcpy(&large, &bits, sizeof large);
    x += large;
    memcpy(&bits, &x, sizeof bits);
    bits &= (UINT64_C(4) << f->digits) - 1; /* with the leading one, and a carry */
    return (uint32_t)(((exponent - lowest) << f->digits) + bits);
}

/* The bits of the number of the dtype that is nearest to x. */
static inline uint32_t dtype_bits(enum dtype dtype, double x)
{
    if (dtype == FLOAT32) {
        const float value = (float)x;
        uint32_t bits;
        memcpy(&bits, &value, sizeof bits);
        return bits;
    }
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    const uint32_t sign = (uint32_t)(bits >> 63) << 15;
    return sign | dtype_narrow(dtype, bits & UINT64_MAX >> 1);
}

/* The number that the bits stand for. */
static inline double dtype_value(enum dtype dtype, uint32_t bits)
{
    float value;
    if (dtype == BFLOAT16)
        bits <<= 16;
    if (dtype != FLOAT16) {
        memcpy(&value, &bits, sizeof value);
        return value;
    }
    uint32_t wide = (bits & 0x8000) << 16 | (bits & 0x7FFF) << 13;
    if ((bits & 0x7FFF) >= 0x7C00)
        wide |= UINT32_C(0x7F800000);
    memcpy(&value, &wide, sizeof value);
    return value * 0x1p112f; /* from float's exponents, by which subnormal numbers come right too */
}

static inline int dtype_finite(enum dtype dtype, uint32_t bits)
{
    return (bits & ~dtype_sign(dtype)) < dtype_infinity(dtype);
}

/* Element i of an array of the dtype. */
static inline uint32_t dtype_load(enum dtype dtype, const void *array, size_t i)
{
    return dtype == FLOAT32 ? ((const uint32_t *)array)[i] : ((const uint16_t *)array)[i];
}

static inline void dtype_store(enum dtype dtype, void *array, size_t i, uint32_t bits)
{
    if (dtype == FLOAT32)
        ((uint32_t *)array)[i] = bits;
    else
        ((uint16_t *)array)[i] = (uint16_t)bits;
}

/* The number's place in the order of all numbers of the dtype; −0 is one place below 0. */
static inline uint32_t dtype_place(enum dtype dtype, uint32_t bits)
{
    const uint32_t sign = dtype_sign(dtype), flipped = bits & sign ? 2 * sign - 1 : sign;
    return bits ^ flipped;
}

/* How many places lie between two numbers; DTYPE_ULP_NONFINITE if one is not finite. */
static inline uint64_t dtype_ulp(enum dtype dtype, uint32_t a, uint32_t b)
{
    if (!dtype_finite(dtype, a) || !dtype_finite(dtype, b))
        return DTYPE_ULP_NONFINITE;
    const uint32_t place_a = dtype_place(dtype, a), place_b = dtype_place(dtype, b);
    return place_a > place_b ? place_a - place_b : place_b - place_a;
}

#endif
