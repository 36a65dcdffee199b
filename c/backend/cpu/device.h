/*
 * device - the functions and variables that images find in the executor (the program is linked with
 * -rdynamic). shim/cuda_shim.h declares the same for C++.
 */
#ifndef ASSAY_DEVICE_H
#define ASSAY_DEVICE_H

#include <stddef.h>
#include <stdint.h>

/* As uint3 and dim3. CUDA's own names, since kernels use them. */
struct simt_index {
    unsigned x, y, z;
};
extern struct simt_index threadIdx, blockIdx, blockDim, gridDim;

/* Loop iterations left; below 0 simt_fuel_spent() ends the run. */
extern long simt_fuel;
_Noreturn void simt_fuel_spent(void);
void simt_tick(void); /* takes one; instrumented images call it, others do it in line */

void simt_launch(const char *kernel, const struct simt_index *grid, const struct simt_index *block,
                 size_t dynamic, void (*body)(void *arguments), void *arguments);

/* `site` numbers the barrier, or the array, in its file. */
void simt_barrier(int site);
int simt_barrier_count(int site, int predicate);
int simt_barrier_or(int site, int predicate);
int simt_barrier_and(int site, int predicate);
void *simt_shared(int site, size_t bytes, size_t align);
void *simt_dynamic_shared(void);

uint64_t simt_shuffle(uint32_t mask, uint64_t value, int source, int width);
uint64_t simt_shuffle_up(uint32_t mask, uint64_t value, unsigned delta, int width);
uint64_t simt_shuffle_down(uint32_t mask, uint64_t value, unsigned delta, int width);
uint64_t simt_shuffle_xor(uint32_t mask, uint64_t value, int lanes, int width);
unsigned simt_ballot(uint32_t mask, int predicate);
int simt_any(uint32_t mask, int predicate);
int simt_all(uint32_t mask, int predicate);
unsigned simt_active_mask(void);
void simt_sync_warp(uint32_t mask);

enum simt_reduction {
    REDUCE_ADD,
    REDUCE_AND,
    REDUCE_OR,
    REDUCE_XOR,
    REDUCE_MIN,
    REDUCE_MAX,
    REDUCE_MIN_SIGNED,
    REDUCE_MAX_SIGNED
};
unsigned simt_reduce(uint32_t mask, unsigned value, enum simt_reduction how);

/* Atomics return the old value; those with `block` are atomic within a block only. */
int32_t simt_atomic_add_i32(int32_t *p, int32_t v);
uint32_t simt_atomic_add_u32(uint32_t *p, uint32_t v);
uint64_t simt_atomic_add_u64(uint64_t *p, uint64_t v);
float simt_atomic_add_f32(float *p, float v);
double simt_atomic_add_f64(double *p, double v);
int32_t simt_atomic_add_block_i32(int32_t *p, int32_t v);
uint32_t simt_atomic_add_block_u32(uint32_t *p, uint32_t v);
uint64_t simt_atomic_add_block_u64(uint64_t *p, uint64_t v);
float simt_atomic_add_block_f32(float *p, float v);
double simt_atomic_add_block_f64(double *p, double v);
int32_t simt_atomic_min_i32(int32_t *p, int32_t v);
uint32_t simt_atomic_min_u32(uint32_t *p, uint32_t v);
uint64_t simt_atomic_min_u64(uint64_t *p, uint64_t v);
int64_t simt_atomic_min_i64(int64_t *p, int64_t v);
int32_t simt_atomic_max_i32(int32_t *p, int32_t v);
uint32_t simt_atomic_max_u32(uint32_t *p, uint32_t v);
uint64_t simt_atomic_max_u64(uint64_t *p, uint64_t v);
int64_t simt_atomic_max_i64(int64_t *p, int64_t v);
uint32_t simt_atomic_and_u32(uint32_t *p, uint32_t v);
uint64_t simt_atomic_and_u64(uint64_t *p, uint64_t v);
uint32_t simt_atomic_or_u32(uint32_t *p, uint32_t v);
uint64_t simt_atomic_or_u64(uint64_t *p, uint64_t v);
uint32_t simt_atomic_xor_u32(uint32_t *p, uint32_t v);
uint64_t simt_atomic_xor_u64(uint64_t *p, uint64_t v);
uint32_t simt_atomic_exchange_u32(uint32_t *p, uint32_t v);
uint64_t simt_atomic_exchange_u64(uint64_t *p, uint64_t v);
/* old >= limit ? 0 : old + 1 */
uint32_t simt_atomic_increment_u32(uint32_t *p, uint32_t limit);
/* old == 0 || old > limit ? limit : old - 1 */
uint32_t simt_atomic_decrement_u32(uint32_t *p, uint32_t limit);
uint32_t simt_atomic_swap_if_u32(uint32_t *p, uint32_t expected, uint32_t v);
uint64_t simt_atomic_swap_if_u64(uint64_t *p, uint64_t expected, uint64_t v);

/* __ldg loads through it: returns p. */
const void *simt_read_only(const void *p);

/* Fences order nothing here, where one thread runs at a time; they keep the code of a mutant
 * without one apart. */
void __threadfence(void);
void __threadfence_block(void);
void __threadfence_system(void);
_Noreturn void __trap(void);

/* The functions that a GPU approximates, as accurate as it is, not bit for bit. */
float rsqrtf(float x);
double rsqrt(double x);
float rcbrtf(float x);
float __expf(float x);
float __exp10f(float x);
float __logf(float x);
float __log2f(float x);
float __log10f(float x);
float __powf(float x, float y);
float __sinf(float x);
float __cosf(float x);
float __tanf(float x);
float __fdividef(float x, float y);
float normcdff(float x);
double normcdf(double x);
float erfcxf(float x);
float sinpif(float x);
float cospif(float x);

/* One operation rounded to nearest (rn), towards zero (rz), up (ru), down (rd). */
#define DEVICE_ROUNDED(type, prefix, mode)                                                         \
    type prefix##add_##mode(type x, type y);                                                       \
    type prefix##sub_##mode(type x, type y);                                                       \
    type prefix##mul_##mode(type x, type y);                                                       \
    type prefix##div_##mode(type x, type y);                                                       \
    type prefix##sqrt_##mode(type x);                                                              \
    type prefix##rcp_##mode(type x);
#define DEVICE_ROUNDINGS(ROUNDED, type, prefix)                                                    \
    ROUNDED(type, prefix, rn)                                                                      \
    ROUNDED(type, prefix, rz) ROUNDED(type, prefix, ru) ROUNDED(type, prefix, rd)
DEVICE_ROUNDINGS(DEVICE_ROUNDED, float, __f)
DEVICE_ROUNDINGS(DEVICE_ROUNDED, double, __d)
#define DEVICE_CONVERSIONS(mode)                                                                   \
    float __fmaf_##mode(float x, float y, float z);                                                \
    double __fma_##mode(double x, double y, double z);                                             \
    float __double2float_##mode(double x);                                                         \
    float __int2float_##mode(int x);                                                               \
    float __uint2float_##mode(unsigned x);                                                         \
    int __float2int_##mode(float x);                                                               \
    unsigned __float2uint_##mode(float x);
DEVICE_CONVERSIONS(rn)
DEVICE_CONVERSIONS(rz)
DEVICE_CONVERSIONS(ru)
DEVICE_CONVERSIONS(rd)
float __frsqrt_rn(float x);
float __saturatef(float x);

/* The runtime API, as far as kernel files use it. Results are cudaError_t's numbers. */
int cudaMalloc(void **p, size_t bytes);
int cudaMallocAsync(void **p, size_t bytes, void *stream);
int cudaFree(void *p);
int cudaFreeAsync(void *p, void *stream);
int cudaMemset(void *p, int value, size_t bytes);
int cudaMemsetAsync(void *p, int value, size_t bytes, void *stream);
int cudaMemcpy(void *to, const void *from, size_t bytes, int kind);
int cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, void *stream);
int cudaGetLastError(void);
int cudaPeekAtLastError(void);
int cudaDeviceSynchronize(void);
int cudaStreamSynchronize(void *stream);
const char *cudaGetErrorString(int error);

#endif
