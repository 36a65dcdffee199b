/*
 * cuda_shim - what nvcc supplies without being asked, for lowered CUDA under g++ -std=c++17.
 *
 * Stands first in every translation unit and includes nothing: it is parsed in a few milliseconds.
 * Everything that a GPU does in its own way is an external function, so that machine code with and
 * without it differs; the executor (device.h) defines them. `for` and `while` count iterations: no
 * header with loops of its own may follow.
 */
#ifndef ASSAY_CUDA_SHIM_H
#define ASSAY_CUDA_SHIM_H

/* clang-format off: a table, a line each */

#define __CUDACC__ 1
#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __grid_constant__

typedef decltype(sizeof 0) size_t;
typedef decltype((char *)0 - (char *)0) ptrdiff_t;
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

/* A kernel file may include system headers, which stand before this one. */
#undef NULL
#undef INFINITY
#undef NAN
#undef HUGE_VALF
#undef FLT_MAX
#undef FLT_MIN
#undef FLT_EPSILON
#undef DBL_MAX
#undef DBL_MIN
#undef DBL_EPSILON
#undef INT_MAX
#undef INT_MIN
#undef UINT_MAX
#undef LONG_MAX
#undef CUDART_INF_F
#undef CUDART_NAN_F
#undef CUDART_PI_F
#undef M_PI
#undef M_SQRT2
#undef M_SQRT1_2
#undef M_2_SQRTPI
#undef M_LOG2E
#define NULL 0
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define HUGE_VALF __builtin_huge_valf()
#define FLT_MAX __FLT_MAX__
#define FLT_MIN __FLT_MIN__
#define FLT_EPSILON __FLT_EPSILON__
#define DBL_MAX __DBL_MAX__
#define DBL_MIN __DBL_MIN__
#define DBL_EPSILON __DBL_EPSILON__
#define INT_MAX __INT_MAX__
#define INT_MIN (-__INT_MAX__ - 1)
#define UINT_MAX (__INT_MAX__ * 2u + 1)
#define LONG_MAX __LONG_MAX__
#define CUDART_INF_F INFINITY
#define CUDART_NAN_F NAN
#define CUDART_PI_F 3.141592654f
#define M_PI 3.14159265358979323846
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#define M_2_SQRTPI 1.12837916709551257390
#define M_LOG2E 1.44269504088896340736

/* ---- vectors ---- */

#define SIMT_VECTORS(type, name)                                                                   \
    struct name##1 { type x; };                                                                    \
    struct name##2 { type x, y; };                                                                 \
    struct name##3 { type x, y, z; };                                                              \
    struct name##4 { type x, y, z, w; };                                                           \
    inline name##1 make_##name##1(type x) { return {x}; }                                          \
    inline name##2 make_##name##2(type x, type y) { return {x, y}; }                               \
    inline name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; }                    \
    inline name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }
SIMT_VECTORS(float, float)
SIMT_VECTORS(double, double)
SIMT_VECTORS(int, int)
SIMT_VECTORS(unsigned, uint)
SIMT_VECTORS(short, short)
SIMT_VECTORS(unsigned short, ushort)
SIMT_VECTORS(signed char, char)
SIMT_VECTORS(unsigned char, uchar)
SIMT_VECTORS(long long, longlong)
SIMT_VECTORS(unsigned long long, ulonglong)
#undef SIMT_VECTORS

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    constexpr operator uint3() const { return {x, y, z}; }
};

/* ---- threads ---- */

extern "C" {
/* Constant as long as a thread runs, so the compiler may keep them across barriers. */
extern const uint3 threadIdx, blockIdx;
extern const dim3 blockDim, gridDim;
constexpr int warpSize = 32;

extern long simt_fuel;
[[noreturn]] void simt_fuel_spent();
void simt_launch(const char *kernel, const dim3 *grid, const dim3 *block, size_t dynamic,
                 void (*body)(void *), void *arguments);
void simt_barrier(int site);
int simt_barrier_count(int site, int predicate);
int simt_barrier_or(int site, int predicate);
int simt_barrier_and(int site, int predicate);
void *simt_shared(int site, size_t bytes, size_t align);
void *simt_dynamic_shared();
uint64_t simt_shuffle(unsigned mask, uint64_t value, int source, int width);
uint64_t simt_shuffle_up(unsigned mask, uint64_t value, unsigned delta, int width);
uint64_t simt_shuffle_down(unsigned mask, uint64_t value, unsigned delta, int width);
uint64_t simt_shuffle_xor(unsigned mask, uint64_t value, int lanes, int width);
unsigned simt_ballot(unsigned mask, int predicate);
int simt_any(unsigned mask, int predicate);
int simt_all(unsigned mask, int predicate);
unsigned simt_active_mask();
void simt_sync_warp(unsigned mask);
unsigned simt_reduce(unsigned mask, unsigned value, int how);
void __threadfence();
void __threadfence_block();
void __threadfence_system();
[[noreturn]] void __trap();
}

#ifdef __SANITIZE_THREAD__
extern "C" void simt_tick(); /* the race oracle is not to see the counter */
#else
inline __attribute__((always_inline)) void simt_tick()
{
    if (__builtin_expect(--simt_fuel < 0, 0))
        simt_fuel_spent();
}
#endif

/* kernel<<<grid, block, dynamic>>>(arguments) is simt_launcher(kernel, "kernel", grid, block, dynamic)
 * (arguments). */
#ifdef SIMT_GPU /* host code for the CUDA backend: a launch names its kernel and refers to no code of it */
extern "C" void gpu_launch(const char *kernel, const dim3 *grid, const dim3 *block, size_t dynamic,
                           void *arguments[]);
template <class... P> struct simt_launch_of {
    const char *name;
    dim3 grid, block;
    size_t dynamic;

    void operator()(P... arguments) const
    {
        void *pointers[] = {(void *)&arguments..., nullptr};
        gpu_launch(name, &grid, &block, dynamic, pointers);
    }
};
template <class... P>
__forceinline__ simt_launch_of<P...> simt_launcher(void (*)(P...), const char *name, dim3 grid, dim3 block,
                                                   size_t dynamic)
{
    return {name, grid, block, dynamic};
}
#define cudaMalloc gpu_malloc
#define cudaMallocAsync gpu_malloc_async
#define cudaFree gpu_free
#define cudaFreeAsync gpu_free_async
#define cudaMemset gpu_memset
#define cudaMemsetAsync gpu_memset_async
#define cudaMemcpy gpu_memcpy
#define cudaMemcpyAsync gpu_memcpy_async
#else
template <class... P> struct simt_launch_of {
    void (*kernel)(P...);
    const char *name;
    dim3 grid, block;
    size_t dynamic;

    void operator()(P... arguments) const
    {
        auto thread = [&] { kernel(arguments...); };
        simt_launch(name, &grid, &block, dynamic, [](void *t) { (*(decltype(thread) *)t)(); },
                    &thread);
    }
};
template <class... P>
inline simt_launch_of<P...> simt_launcher(void (*kernel)(P...), const char *name, dim3 grid, dim3 block,
                                          size_t dynamic)
{
    return {kernel, name, grid, block, dynamic};
}
#endif

/* ---- warps ---- */

template <class T> inline uint64_t simt_pack(T value)
{
    uint64_t bits = 0;
    __builtin_memcpy(&bits, &value, sizeof value);
    return bits;
}

template <class T> inline T simt_unpack(uint64_t bits)
{
    static_assert(sizeof(T) <= sizeof bits, "a shuffle moves up to 8 bytes");
    T value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}

template <class T> inline T __shfl_sync(unsigned mask, T value, int source, int width = 32)
{
    return simt_unpack<T>(simt_shuffle(mask, simt_pack(value), source, width));
}

template <class T> inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32)
{
    return simt_unpack<T>(simt_shuffle_up(mask, simt_pack(value), delta, width));
}

template <class T> inline T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32)
{
    return simt_unpack<T>(simt_shuffle_down(mask, simt_pack(value), delta, width));
}

template <class T> inline T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32)
{
    return simt_unpack<T>(simt_shuffle_xor(mask, simt_pack(value), lanes, width));
}

inline unsigned __ballot_sync(unsigned mask, int predicate) { return simt_ballot(mask, predicate); }
inline int __any_sync(unsigned mask, int predicate) { return simt_any(mask, predicate); }
inline int __all_sync(unsigned mask, int predicate) { return simt_all(mask, predicate); }
inline unsigned __activemask() { return simt_active_mask(); }
inline void __syncwarp(unsigned mask = 0xffffffffu) { simt_sync_warp(mask); }
/* The last argument numbers enum simt_reduction. */
inline unsigned __reduce_add_sync(unsigned mask, unsigned v) { return simt_reduce(mask, v, 0); }
inline int __reduce_add_sync(unsigned mask, int v) { return (int)simt_reduce(mask, (unsigned)v, 0); }
inline unsigned __reduce_and_sync(unsigned mask, unsigned v) { return simt_reduce(mask, v, 1); }
inline unsigned __reduce_or_sync(unsigned mask, unsigned v) { return simt_reduce(mask, v, 2); }
inline unsigned __reduce_xor_sync(unsigned mask, unsigned v) { return simt_reduce(mask, v, 3); }
inline unsigned __reduce_min_sync(unsigned mask, unsigned v) { return simt_reduce(mask, v, 4); }
inline unsigned __reduce_max_sync(unsigned mask, unsigned v) { return simt_reduce(mask, v, 5); }
inline int __reduce_min_sync(unsigned mask, int v) { return (int)simt_reduce(mask, (unsigned)v, 6); }
inline int __reduce_max_sync(unsigned mask, int v) { return (int)simt_reduce(mask, (unsigned)v, 7); }

/* ---- atomics ---- */

typedef unsigned long long simt_ull;

#define SIMT_ATOMIC(cuda, type, simt, bits)                                                        \
    extern "C" bits simt(bits *p, bits v);                                                         \
    inline type cuda(type *p, type v) { return (type)simt((bits *)p, (bits)v); }
#define SIMT_ATOMIC_ADD(cuda, simt)                                                                \
    SIMT_ATOMIC(cuda, int, simt##_i32, int32_t)                                                    \
    SIMT_ATOMIC(cuda, unsigned, simt##_u32, uint32_t)                                              \
    SIMT_ATOMIC(cuda, simt_ull, simt##_u64, uint64_t)                                              \
    SIMT_ATOMIC(cuda, float, simt##_f32, float)                                                    \
    SIMT_ATOMIC(cuda, double, simt##_f64, double)
#define SIMT_ATOMIC_ORDERED(cuda, simt)                                                            \
    SIMT_ATOMIC(cuda, int, simt##_i32, int32_t)                                                    \
    SIMT_ATOMIC(cuda, unsigned, simt##_u32, uint32_t)                                              \
    SIMT_ATOMIC(cuda, long long, simt##_i64, int64_t)                                              \
    SIMT_ATOMIC(cuda, simt_ull, simt##_u64, uint64_t)
#define SIMT_ATOMIC_BITS(cuda, simt)                                                               \
    SIMT_ATOMIC(cuda, unsigned, simt##_u32, uint32_t)                                              \
    SIMT_ATOMIC(cuda, simt_ull, simt##_u64, uint64_t)                                              \
    inline int cuda(int *p, int v) { return (int)simt##_u32((uint32_t *)p, (uint32_t)v); }
SIMT_ATOMIC_ADD(atomicAdd, simt_atomic_add)
SIMT_ATOMIC_ADD(atomicAdd_block, simt_atomic_add_block)
SIMT_ATOMIC_ORDERED(atomicMin, simt_atomic_min)
SIMT_ATOMIC_ORDERED(atomicMax, simt_atomic_max)
SIMT_ATOMIC_BITS(atomicAnd, simt_atomic_and)
SIMT_ATOMIC_BITS(atomicOr, simt_atomic_or)
SIMT_ATOMIC_BITS(atomicXor, simt_atomic_xor)
SIMT_ATOMIC_BITS(atomicExch, simt_atomic_exchange)
SIMT_ATOMIC(atomicInc, unsigned, simt_atomic_increment_u32, uint32_t)
SIMT_ATOMIC(atomicDec, unsigned, simt_atomic_decrement_u32, uint32_t)
#undef SIMT_ATOMIC_BITS
#undef SIMT_ATOMIC_ORDERED
#undef SIMT_ATOMIC_ADD
#undef SIMT_ATOMIC
inline int atomicSub(int *p, int v) { return atomicAdd(p, -v); }
inline unsigned atomicSub(unsigned *p, unsigned v) { return atomicAdd(p, 0u - v); }

extern "C" uint32_t simt_atomic_swap_if_u32(uint32_t *p, uint32_t expected, uint32_t v);
extern "C" uint64_t simt_atomic_swap_if_u64(uint64_t *p, uint64_t expected, uint64_t v);
inline unsigned atomicCAS(unsigned *p, unsigned expected, unsigned v)
{
    return simt_atomic_swap_if_u32(p, expected, v);
}
inline int atomicCAS(int *p, int expected, int v)
{
    return (int)simt_atomic_swap_if_u32((uint32_t *)p, (uint32_t)expected, (uint32_t)v);
}
inline simt_ull atomicCAS(simt_ull *p, simt_ull expected, simt_ull v)
{
    return simt_atomic_swap_if_u64((uint64_t *)p, expected, v);
}

inline float __uint_as_float(unsigned bits);
inline unsigned __float_as_uint(float x);
inline float atomicExch(float *p, float v)
{
    return __uint_as_float(simt_atomic_exchange_u32((uint32_t *)p, __float_as_uint(v)));
}

/* ---- bits and conversions ---- */

#define SIMT_BITS(name, to, from)                                                                  \
    inline to name(from x)                                                                         \
    {                                                                                              \
        to bits;                                                                                   \
        __builtin_memcpy(&bits, &x, sizeof bits);                                                  \
        return bits;                                                                               \
    }
SIMT_BITS(__float_as_int, int, float)
SIMT_BITS(__int_as_float, float, int)
SIMT_BITS(__float_as_uint, unsigned, float)
SIMT_BITS(__uint_as_float, float, unsigned)
SIMT_BITS(__double_as_longlong, long long, double)
SIMT_BITS(__longlong_as_double, double, long long)
#undef SIMT_BITS

inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(simt_ull x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
inline int __clzll(long long x) { return x ? __builtin_clzll((simt_ull)x) : 64; }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __mul24(int x, int y) { return (x << 8 >> 8) * (y << 8 >> 8); }
inline unsigned __umul24(unsigned x, unsigned y) { return (x & 0xffffff) * (y & 0xffffff); }
inline int __mulhi(int x, int y) { return (int)((long)x * y >> 32); }
inline unsigned __umulhi(unsigned x, unsigned y) { return (unsigned)((unsigned long)x * y >> 32); }

/* Loads through the read-only cache. */
extern "C" const void *simt_read_only(const void *p);
template <class T> inline T __ldg(const T *p) { return *(const T *)simt_read_only(p); }
template <class T> inline T __ldcs(const T *p) { return *(const T *)simt_read_only(p); }
template <class T> inline T __ldcg(const T *p) { return *(const T *)simt_read_only(p); }

extern "C" {
float rsqrtf(float);
double rsqrt(double);
float rcbrtf(float);
float __expf(float);
float __exp10f(float);
float __logf(float);
float __log2f(float);
float __log10f(float);
float __powf(float, float);
float __sinf(float);
float __cosf(float);
float __tanf(float);
float __fdividef(float, float);
float normcdff(float);
double normcdf(double);
float erfcxf(float);
float sinpif(float);
float cospif(float);
float __frsqrt_rn(float);
float __saturatef(float);
#define SIMT_ROUNDED(type, prefix, mode)                                                           \
    type prefix##add_##mode(type, type);                                                           \
    type prefix##sub_##mode(type, type);                                                           \
    type prefix##mul_##mode(type, type);                                                           \
    type prefix##div_##mode(type, type);                                                           \
    type prefix##sqrt_##mode(type);                                                                \
    type prefix##rcp_##mode(type);
#define SIMT_ROUNDINGS(mode)                                                                       \
    SIMT_ROUNDED(float, __f, mode)                                                                 \
    SIMT_ROUNDED(double, __d, mode)                                                                \
    float __fmaf_##mode(float, float, float);                                                      \
    double __fma_##mode(double, double, double);                                                   \
    float __double2float_##mode(double);                                                           \
    float __int2float_##mode(int);                                                                 \
    float __uint2float_##mode(unsigned);                                                           \
    int __float2int_##mode(float);                                                                 \
    unsigned __float2uint_##mode(float);
SIMT_ROUNDINGS(rn)
SIMT_ROUNDINGS(rz)
SIMT_ROUNDINGS(ru)
SIMT_ROUNDINGS(rd)
#undef SIMT_ROUNDINGS
#undef SIMT_ROUNDED
}

/* ---- mathematics: the C library's, and CUDA's overloads for float ---- */

#define SIMT_MATH_1(name)                                                                          \
    extern "C" double name(double) noexcept;                                                       \
    extern "C" float name##f(float) noexcept;                                                      \
    inline float name(float x) { return __builtin_##name##f(x); }
#define SIMT_MATH_2(name)                                                                          \
    extern "C" double name(double, double) noexcept;                                               \
    extern "C" float name##f(float, float) noexcept;                                               \
    inline float name(float x, float y) { return __builtin_##name##f(x, y); }
SIMT_MATH_1(exp)
SIMT_MATH_1(exp2)
SIMT_MATH_1(exp10)
SIMT_MATH_1(expm1)
SIMT_MATH_1(log)
SIMT_MATH_1(log2)
SIMT_MATH_1(log10)
SIMT_MATH_1(log1p)
SIMT_MATH_1(sqrt)
SIMT_MATH_1(cbrt)
SIMT_MATH_1(sin)
SIMT_MATH_1(cos)
SIMT_MATH_1(tan)
SIMT_MATH_1(asin)
SIMT_MATH_1(acos)
SIMT_MATH_1(atan)
SIMT_MATH_1(sinh)
SIMT_MATH_1(cosh)
SIMT_MATH_1(tanh)
SIMT_MATH_1(asinh)
SIMT_MATH_1(acosh)
SIMT_MATH_1(atanh)
SIMT_MATH_1(erf)
SIMT_MATH_1(erfc)
SIMT_MATH_1(lgamma)
SIMT_MATH_1(tgamma)
SIMT_MATH_1(fabs)
SIMT_MATH_1(floor)
SIMT_MATH_1(ceil)
SIMT_MATH_1(trunc)
SIMT_MATH_1(round)
SIMT_MATH_1(rint)
SIMT_MATH_1(nearbyint)
SIMT_MATH_2(pow)
SIMT_MATH_2(fmod)
SIMT_MATH_2(remainder)
SIMT_MATH_2(atan2)
SIMT_MATH_2(hypot)
SIMT_MATH_2(copysign)
SIMT_MATH_2(fdim)
SIMT_MATH_2(nextafter)
#undef SIMT_MATH_1
#undef SIMT_MATH_2
extern "C" {
float fmaf(float, float, float) noexcept;
double fma(double, double, double) noexcept;
float ldexpf(float, int) noexcept;
double ldexp(double, int) noexcept;
float frexpf(float, int *) noexcept;
double frexp(double, int *) noexcept;
float modff(float, float *) noexcept;
double modf(double, double *) noexcept;
long lrintf(float) noexcept;
long lrint(double) noexcept;
long lroundf(float) noexcept;
long lround(double) noexcept;
int abs(int) noexcept;
long labs(long) noexcept;
void *memset(void *, int, size_t) noexcept;
void *memcpy(void *, const void *, size_t) noexcept;
}
inline float fma(float x, float y, float z) { return fmaf(x, y, z); }
#ifndef _GLIBCXX_STDLIB_H /* libstdc++'s <stdlib.h> has these */
inline long abs(long x) { return x < 0 ? -x : x; }
inline long long abs(long long x) { return x < 0 ? -x : x; }
inline float abs(float x) { return __builtin_fabsf(x); }
inline double abs(double x) { return __builtin_fabs(x); }
#endif
inline float rsqrt(float x) { return rsqrtf(x); }
inline void sincosf(float x, float *s, float *c) { *s = sinf(x); *c = cosf(x); }
inline void __sincosf(float x, float *s, float *c) { *s = __sinf(x); *c = __cosf(x); }

/* Of a number and a NaN, the number. Written out: the C library's are calls, not instructions. */
inline float fmaxf(float x, float y) { return x > y || y != y ? x : y; }
inline float fminf(float x, float y) { return x < y || y != y ? x : y; }
inline double fmax(double x, double y) { return x > y || y != y ? x : y; }
inline double fmin(double x, double y) { return x < y || y != y ? x : y; }
inline float fmax(float x, float y) { return fmaxf(x, y); }
inline float fmin(float x, float y) { return fminf(x, y); }

#define SIMT_EXTREMES(type)                                                                        \
    inline type max(type x, type y) { return x > y ? x : y; }                                      \
    inline type min(type x, type y) { return x < y ? x : y; }                                      \
    inline unsigned type max(unsigned type x, unsigned type y) { return x > y ? x : y; }           \
    inline unsigned type min(unsigned type x, unsigned type y) { return x < y ? x : y; }           \
    inline unsigned type max(type x, unsigned type y) { return max((unsigned type)x, y); }         \
    inline unsigned type min(type x, unsigned type y) { return min((unsigned type)x, y); }         \
    inline unsigned type max(unsigned type x, type y) { return max(x, (unsigned type)y); }         \
    inline unsigned type min(unsigned type x, type y) { return min(x, (unsigned type)y); }
SIMT_EXTREMES(int)
SIMT_EXTREMES(long)
SIMT_EXTREMES(long long)
#undef SIMT_EXTREMES
inline float max(float x, float y) { return fmaxf(x, y); }
inline float min(float x, float y) { return fminf(x, y); }
inline double max(double x, double y) { return fmax(x, y); }
inline double min(double x, double y) { return fmin(x, y); }
inline double max(float x, double y) { return fmax((double)x, y); }
inline double max(double x, float y) { return fmax(x, (double)y); }
inline double min(float x, double y) { return fmin((double)x, y); }
inline double min(double x, float y) { return fmin(x, (double)y); }

template <class T> inline bool isnan(T x) { return __builtin_isnan(x); }
template <class T> inline bool isinf(T x) { return __builtin_isinf_sign(x) != 0; }
template <class T> inline bool isfinite(T x) { return __builtin_isfinite(x); }
template <class T> inline bool signbit(T x) { return __builtin_signbit(x); }

/* ---- the runtime API ---- */

typedef struct simt_stream *cudaStream_t;
enum cudaError_t {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInvalidConfiguration = 9
};
enum cudaMemcpyKind {
    cudaMemcpyHostToHost,
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault
};
enum cudaFuncAttribute {
    cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
    cudaFuncAttributePreferredSharedMemoryCarveout = 9
};
extern "C" {
cudaError_t cudaMalloc(void **p, size_t bytes);
cudaError_t cudaMallocAsync(void **p, size_t bytes, cudaStream_t stream);
cudaError_t cudaFree(void *p);
cudaError_t cudaFreeAsync(void *p, cudaStream_t stream);
cudaError_t cudaMemset(void *p, int value, size_t bytes);
cudaError_t cudaMemsetAsync(void *p, int value, size_t bytes, cudaStream_t stream = 0);
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream = 0);
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
const char *cudaGetErrorString(cudaError_t error);
}
template <class T> inline cudaError_t cudaMalloc(T **p, size_t bytes)
{
    return cudaMalloc((void **)p, bytes);
}
template <class T> inline cudaError_t cudaMallocAsync(T **p, size_t bytes, cudaStream_t stream)
{
    return cudaMallocAsync((void **)p, bytes, stream);
}
template <class F> inline cudaError_t cudaFuncSetAttribute(F *, cudaFuncAttribute, int)
{
    return cudaSuccess;
}

/* ---- loop fuel: last, since it changes the language ---- */

#define for(...) for (__VA_ARGS__) if (simt_tick(), false) ; else
#define while(...) while (simt_tick(), (__VA_ARGS__))

#endif
