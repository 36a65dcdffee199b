/* cuda_bf16 - bfloat16, as far as kernels here use it. */
#ifndef ASSAY_CUDA_BF16_H
#define ASSAY_CUDA_BF16_H

#include "small_float.h"

SIMT_SMALL_FLOAT(__nv_bfloat16, __nv_bfloat162, simt_bfloat16_to_float, simt_float_to_bfloat16)

inline __nv_bfloat16 __float2bfloat16(float x) { return x; }
inline __nv_bfloat16 __float2bfloat16_rn(float x) { return x; }
inline float __bfloat162float(__nv_bfloat16 b) { return b; }
inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits)
{
    return simt_bits_as___nv_bfloat16(bits);
}
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 b) { return b.bits; }
inline __nv_bfloat16 __hfma(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c)
{
    return (float)((double)a * (double)b + (double)c);
}
inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
inline __nv_bfloat162 __floats2bfloat162_rn(float x, float y) { return {x, y}; }
inline float2 __bfloat1622float2(__nv_bfloat162 b) { return {b.x, b.y}; }

#endif
