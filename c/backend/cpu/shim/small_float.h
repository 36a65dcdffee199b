/*
 * small_float - what __half and __nv_bfloat16 have in common: 16 bits of storage, arithmetic through
 * float. A float has more than twice the digits of either, so that each operation is rounded as if
 * once (S. Figueroa, 1995); only a fused multiply-add, which goes through double, may rarely not be.
 */
#ifndef ASSAY_SMALL_FLOAT_H
#define ASSAY_SMALL_FLOAT_H

#include "cuda_shim.h"
#include "small_bits.h"

/* T: the type; T2: a pair; to_float, of_float: the conversions of its bits (small_bits.h). */
#define SIMT_SMALL_FLOAT(T, T2, to_float, of_float)                                                \
    struct T {                                                                                     \
        unsigned short bits;                                                                       \
        T() = default;                                                                             \
        T(float x) : bits(of_float(x)) {}                                                          \
        T(double x) : bits(of_float((float)x)) {}                                                  \
        T(int x) : bits(of_float((float)x)) {}                                                     \
        operator float() const { return to_float(bits); }                                          \
    };                                                                                             \
    struct T2 {                                                                                    \
        T x, y;                                                                                    \
    };                                                                                             \
    inline T simt_bits_as_##T(unsigned short bits)                                                 \
    {                                                                                              \
        T h;                                                                                       \
        h.bits = bits;                                                                             \
        return h;                                                                                  \
    }                                                                                              \
    inline T __hadd(T a, T b) { return (float)a + (float)b; }                                      \
    inline T __hsub(T a, T b) { return (float)a - (float)b; }                                      \
    inline T __hmul(T a, T b) { return (float)a * (float)b; }                                      \
    inline T __hdiv(T a, T b) { return (float)a / (float)b; }                                      \
    inline T __hneg(T a) { return simt_bits_as_##T(a.bits ^ 0x8000); }                             \
    inline T __habs(T a) { return simt_bits_as_##T(a.bits & 0x7fff); }                             \
    inline T __hmax(T a, T b) { return fmaxf(a, b); }                                              \
    inline T __hmin(T a, T b) { return fminf(a, b); }                                              \
    inline bool __hisnan(T a) { return isnan((float)a); }                                          \
    inline T hsqrt(T a) { return sqrtf(a); }                                                       \
    inline T hrsqrt(T a) { return rsqrtf(a); }                                                     \
    inline T hexp(T a) { return expf(a); }                                                         \
    inline T hlog(T a) { return logf(a); }                                                         \
    inline T operator+(T a, T b) { return __hadd(a, b); }                                          \
    inline T operator-(T a, T b) { return __hsub(a, b); }                                          \
    inline T operator*(T a, T b) { return __hmul(a, b); }                                          \
    inline T operator/(T a, T b) { return __hdiv(a, b); }                                          \
    inline T operator-(T a) { return __hneg(a); }                                                  \
    inline T &operator+=(T &a, T b) { return a = a + b; }                                          \
    inline T &operator-=(T &a, T b) { return a = a - b; }                                          \
    inline T &operator*=(T &a, T b) { return a = a * b; }                                          \
    inline T &operator/=(T &a, T b) { return a = a / b; }                                          \
    SIMT_SMALL_COMPARISON(T, __heq, ==)                                                            \
    SIMT_SMALL_COMPARISON(T, __hne, !=)                                                            \
    SIMT_SMALL_COMPARISON(T, __hlt, <)                                                             \
    SIMT_SMALL_COMPARISON(T, __hle, <=)                                                            \
    SIMT_SMALL_COMPARISON(T, __hgt, >)                                                             \
    SIMT_SMALL_COMPARISON(T, __hge, >=)                                                            \
    inline T2 __hadd2(T2 a, T2 b) { return {a.x + b.x, a.y + b.y}; }                               \
    inline T2 __hsub2(T2 a, T2 b) { return {a.x - b.x, a.y - b.y}; }                               \
    inline T2 __hmul2(T2 a, T2 b) { return {a.x * b.x, a.y * b.y}; }
#define SIMT_SMALL_COMPARISON(T, name, operation)                                                  \
    inline bool name(T a, T b) { return (float)a operation(float) b; }                             \
    inline bool operator operation(T a, T b) { return name(a, b); }

#endif
