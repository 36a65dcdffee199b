/* device.h, but for launches and what threads do together: atomics, intrinsics, the runtime API. */
#include "device.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

#include "executor.h"

/* ---- atomics ---- */

#define SCOPED_ATOMIC(name, type, suffix, new_value, device)                                       \
    type simt_atomic_##name##_##suffix(type *p, type v)                                            \
    {                                                                                              \
        type old = *p;                                                                             \
        *p = new_value;                                                                            \
        race_atomic(p, sizeof *p, device);                                                         \
        return old;                                                                                \
    }
#define ATOMIC(name, type, suffix, new_value) SCOPED_ATOMIC(name, type, suffix, new_value, true)
#define ATOMIC_ADD(type, suffix, sum)                                                              \
    SCOPED_ATOMIC(add, type, suffix, sum, true)                                                    \
    SCOPED_ATOMIC(add_block, type, suffix, sum, false)
ATOMIC_ADD(int32_t, i32, (int32_t)((uint32_t)old + (uint32_t)v))
ATOMIC_ADD(uint32_t, u32, old + v)
ATOMIC_ADD(uint64_t, u64, old + v)
ATOMIC_ADD(float, f32, old + v)
ATOMIC_ADD(double, f64, old + v)
#define ATOMIC_ORDERED(type, suffix)                                                               \
    ATOMIC(min, type, suffix, v < old ? v : old)                                                   \
    ATOMIC(max, type, suffix, v > old ? v : old)
ATOMIC_ORDERED(int32_t, i32)
ATOMIC_ORDERED(uint32_t, u32)
ATOMIC_ORDERED(int64_t, i64)
ATOMIC_ORDERED(uint64_t, u64)
#define ATOMIC_BITS(type, suffix)                                                                  \
    ATOMIC(and, type, suffix, (old & v))                                                           \
    ATOMIC(or, type, suffix, old | v)                                                              \
    ATOMIC(xor, type, suffix, old ^ v)                                                             \
    ATOMIC(exchange, type, suffix, v)
ATOMIC_BITS(uint32_t, u32)
ATOMIC_BITS(uint64_t, u64)
ATOMIC(increment, uint32_t, u32, old >= v ? 0 : old + 1)
ATOMIC(decrement, uint32_t, u32, old == 0 || old > v ? v : old - 1)

#define ATOMIC_SWAP_IF(type, suffix)                                                               \
    type simt_atomic_swap_if_##suffix(type *p, type expected, type v)                              \
    {                                                                                              \
        type old = *p;                                                                             \
        if (old == expected)                                                                       \
            *p = v;                                                                                \
        race_atomic(p, sizeof *p, true);                                                           \
        return old;                                                                                \
    }
ATOMIC_SWAP_IF(uint32_t, u32)
ATOMIC_SWAP_IF(uint64_t, u64)

const void *simt_read_only(const void *p)
{
    return p;
}

void __threadfence(void)
{
    race_fence(true);
}

void __threadfence_block(void)
{
    race_fence(false);
}

void __threadfence_system(void)
{
    race_fence(true);
}

void __trap(void)
{
    run_end(OUTCOME_CRASHED, "__trap()");
}

/* ---- approximate functions ---- */

float rsqrtf(float x)
{
    return (float)(1 / sqrt((double)x));
}

double rsqrt(double x)
{
    return 1 / sqrt(x);
}

float rcbrtf(float x)
{
    return (float)(1 / cbrt((double)x));
}

/* As the hardware does it: 2^(x log2 e), so that the error grows with x. */
float __expf(float x)
{
    return exp2f(x * 1.442695041f);
}

float __exp10f(float x)
{
    return exp2f(x * 3.321928095f);
}

float __log2f(float x)
{
    return log2f(x);
}

float __logf(float x)
{
    return log2f(x) * 0.6931471806f;
}

float __log10f(float x)
{
    return log2f(x) * 0.3010299957f;
}

float __powf(float x, float y)
{
    return exp2f(y * log2f(x));
}

/* Absolute error about 2^-21, the documented bound of __sinf and __cosf on [-pi, pi]. */
static float round_to_2_to_minus_21(float x)
{
    return (float)(rint((double)x * 0x1p21) * 0x1p-21);
}

float __sinf(float x)
{
    return round_to_2_to_minus_21(sinf(x));
}

float __cosf(float x)
{
    return round_to_2_to_minus_21(cosf(x));
}

float __tanf(float x)
{
    return __sinf(x) / __cosf(x);
}

/* 0, or NaN for an infinite x, where 2^126 < |y| < 2^128 (CUDA C++ Programming Guide). */
float __fdividef(float x, float y)
{
    return fabsf(y) > 0x1p126f && isfinite(y) ? (isinf(x) ? NAN : 0 * x * y) : x / y;
}

float normcdff(float x)
{
    return (float)normcdf((double)x);
}

double normcdf(double x)
{
    return erfc(-x * 0.70710678118654752440) / 2;
}

float erfcxf(float x)
{
    return (float)(exp((double)x * (double)x) * erfc((double)x));
}

float sinpif(float x)
{
    return (float)sin(fmod((double)x, 2) * 3.14159265358979323846);
}

float cospif(float x)
{
    return (float)cos(fmod((double)x, 2) * 3.14159265358979323846);
}

float __saturatef(float x)
{
    return x > 0 ? (x < 1 ? x : 1) : 0; /* NaN gives 0 */
}

/* ---- directed rounding ---- */

enum {
    MODE_rn = FE_TONEAREST,
    MODE_rz = FE_TOWARDZERO,
    MODE_ru = FE_UPWARD,
    MODE_rd = FE_DOWNWARD
};

/* The operands pass through volatile: the compiler may not compute outside the changed mode. */
#define IN_MODE(mode, type, expression)                                                            \
    fesetround(MODE_##mode);                                                                       \
    volatile type result = expression;                                                             \
    fesetround(FE_TONEAREST);                                                                      \
    return result;
#define UNARY(to, from, name, mode, expression)                                                    \
    to name##_##mode(from a)                                                                       \
    {                                                                                              \
        volatile from x = a;                                                                       \
        IN_MODE(mode, to, expression)                                                              \
    }
#define BINARY(type, name, mode, expression)                                                       \
    type name##_##mode(type a, type b)                                                             \
    {                                                                                              \
        volatile type x = a, y = b;                                                                \
        IN_MODE(mode, type, expression)                                                            \
    }
#define TERNARY(type, name, mode, expression)                                                      \
    type name##_##mode(type a, type b, type c)                                                     \
    {                                                                                              \
        volatile type x = a, y = b, z = c;                                                         \
        IN_MODE(mode, type, expression)                                                            \
    }

#define ARITHMETIC(type, prefix, mode)                                                             \
    BINARY(type, prefix##add, mode, x + y)                                                         \
    BINARY(type, prefix##sub, mode, x - y)                                                         \
    BINARY(type, prefix##mul, mode, x *y)                                                          \
    BINARY(type, prefix##div, mode, x / y)                                                         \
    UNARY(type, type, prefix##sqrt, mode, _Generic(x, float : sqrtf, double : sqrt)(x))            \
    UNARY(type, type, prefix##rcp, mode, 1 / x)
DEVICE_ROUNDINGS(ARITHMETIC, float, __f)
DEVICE_ROUNDINGS(ARITHMETIC, double, __d)

/* The hardware's conversions to integers saturate, and turn NaN into 0. */
static int to_int(float x)
{
    return x >= 0x1p31f ? INT32_MAX : x < -0x1p31f ? INT32_MIN : x == x ? (int)x : 0;
}

static unsigned to_unsigned(float x)
{
    return x >= 0x1p32f ? UINT32_MAX : x > 0 ? (unsigned)x : 0;
}

#define CONVERSIONS(mode, rounded)                                                                 \
    TERNARY(float, __fmaf, mode, fmaf(x, y, z))                                                    \
    TERNARY(double, __fma, mode, fma(x, y, z))                                                     \
    UNARY(float, double, __double2float, mode, (float)x)                                           \
    UNARY(float, int, __int2float, mode, (float)x)                                                 \
    UNARY(float, unsigned, __uint2float, mode, (float)x)                                           \
    int __float2int_##mode(float x)                                                                \
    {                                                                                              \
        return to_int(rounded(x));                                                                 \
    }                                                                                              \
    unsigned __float2uint_##mode(float x)                                                          \
    {                                                                                              \
        return to_unsigned(rounded(x));                                                            \
    }
CONVERSIONS(rn, rintf)
CONVERSIONS(rz, truncf)
CONVERSIONS(ru, ceilf)
CONVERSIONS(rd, floorf)

float __frsqrt_rn(float x)
{
    return rsqrtf(x);
}

/* ---- the runtime API ---- */

enum { CUDA_SUCCESS = 0, CUDA_OUT_OF_MEMORY = 2 };

int cudaMalloc(void **p, size_t bytes)
{
    *p = memory_scratch(bytes);
    if (!*p)
        execution.last_error = CUDA_OUT_OF_MEMORY;
    return *p ? CUDA_SUCCESS : CUDA_OUT_OF_MEMORY;
}

int cudaMallocAsync(void **p, size_t bytes, void *stream)
{
    (void)stream;
    return cudaMalloc(p, bytes);
}

int cudaFree(void *p)
{
    memory_scratch_free(p);
    return CUDA_SUCCESS;
}

int cudaFreeAsync(void *p, void *stream)
{
    (void)stream;
    return cudaFree(p);
}

int cudaMemset(void *p, int value, size_t bytes)
{
    memset(p, value, bytes);
    return CUDA_SUCCESS;
}

int cudaMemsetAsync(void *p, int value, size_t bytes, void *stream)
{
    (void)stream;
    return cudaMemset(p, value, bytes);
}

int cudaMemcpy(void *to, const void *from, size_t bytes, int kind)
{
    (void)kind;
    memmove(to, from, bytes);
    return CUDA_SUCCESS;
}

int cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, void *stream)
{
    (void)stream;
    return cudaMemcpy(to, from, bytes, kind);
}

int cudaPeekAtLastError(void)
{
    return execution.last_error;
}

int cudaGetLastError(void)
{
    int error = execution.last_error;
    execution.last_error = CUDA_SUCCESS;
    return error;
}

int cudaDeviceSynchronize(void)
{
    return execution.last_error;
}

int cudaStreamSynchronize(void *stream)
{
    (void)stream;
    return execution.last_error;
}

const char *cudaGetErrorString(int error)
{
    return error ? "error" : "no error";
}
