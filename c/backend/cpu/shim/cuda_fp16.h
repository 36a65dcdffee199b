/* cuda_fp16 - IEEE binary16, as far as kernels here use it. */
#ifndef ASSAY_CUDA_FP16_H
#define ASSAY_CUDA_FP16_H

#include "small_float.h"

SIMT_SMALL_FLOAT(__half, __half2, simt_half_to_float, simt_float_to_half)
typedef __half half;
typedef __half2 half2;

inline __half __float2half(float x) { return x; }
inline __half __float2half_rn(float x) { return x; }
inline __half __double2half(double x) { return simt_bits_as___half(simt_double_to_half(x)); }
inline __half __int2half_rn(int x) { return x; }
inline float __half2float(__half h) { return h; }
inline __half __ushort_as_half(unsigned short bits) { return simt_bits_as___half(bits); }
inline unsigned short __half_as_ushort(__half h) { return h.bits; }
inline __half __hfma(__half a, __half b, __half c)
{
    return __double2half((double)a * (double)b + (double)c);
}

inline __half2 __hfma2(__half2 a, __half2 b, __half2 c)
{
    return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}
inline __half2 __halves2half2(__half x, __half y) { return {x, y}; }
inline __half2 __half2half2(__half x) { return {x, x}; }
inline __half2 __floats2half2_rn(float x, float y) { return {x, y}; }
inline __half2 __float2half2_rn(float x) { return {x, x}; }
inline __half2 __float22half2_rn(float2 v) { return {v.x, v.y}; }
inline float2 __half22float2(__half2 h) { return {h.x, h.y}; }
inline __half __low2half(__half2 h) { return h.x; }
inline __half __high2half(__half2 h) { return h.y; }
inline float __low2float(__half2 h) { return h.x; }
inline float __high2float(__half2 h) { return h.y; }

#endif
