/*
 * prologue - what kernel files take from the C library's headers, which NVRTC does without.
 *
 * Constants only: the functions are NVRTC's own. cuda_shim.h has the same for the CPU backend.
 */
#ifndef ASSAY_PROLOGUE_H
#define ASSAY_PROLOGUE_H

typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long uint64_t;
typedef unsigned long uintptr_t;
typedef unsigned int uint;

#ifndef INFINITY
#define INFINITY __int_as_float(0x7F800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7FFFFFFF)
#endif
#define HUGE_VALF INFINITY
#define FLT_MAX 3.402823466e+38f
#define FLT_MIN 1.175494351e-38f
#define FLT_EPSILON 1.192092896e-07f
#define DBL_MAX 1.7976931348623158e+308
#define DBL_MIN 2.2250738585072014e-308
#define DBL_EPSILON 2.2204460492503131e-16
#define INT_MAX 2147483647
#define INT_MIN (-INT_MAX - 1)
#define UINT_MAX 4294967295u
#define LONG_MAX 9223372036854775807l
#define CUDART_INF_F INFINITY
#define CUDART_NAN_F NAN
#define CUDART_PI_F 3.141592654f
#define M_PI 3.14159265358979323846
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#define M_2_SQRTPI 1.12837916709551257390
#define M_LOG2E 1.44269504088896340736

#endif
