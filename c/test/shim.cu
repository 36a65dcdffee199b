/* What the shim must get as CUDA has it: each check writes 1 where it holds. For test_shim.c. */
#include <cfloat>
#include <cuda_runtime.h>
#include <math.h>

struct pair {
    float a, b;
};

template <class T, int N> __device__ T sum_of(const T (&x)[N])
{
    T sum = 0;
    for (int i = 0; i < N; i++)
        sum += x[i];
    return sum;
}

__device__ float overloads(float x)
{
    float wrong = 0;
    wrong += sizeof(max(1.0f, x)) != 4 || sizeof(max(1.0, x)) != 8 || sizeof(max(1L, 2L)) != 8;
    wrong += sizeof(exp(x)) != 4 || sizeof(pow(x, 2.0f)) != 4 || sizeof(sqrt(2.0)) != 8;
    wrong += max(-1, 2u) != 0xffffffffu || min(3, 2) != 2 || abs(-2.5f) != 2.5f || abs(-3) != 3;
    return wrong;
}

__device__ float extremes_and_nan(float nan)
{
    return fmaxf(nan, 1) != 1 || fmaxf(1, nan) != 1 || fminf(nan, 2) != 2 || fminf(2, nan) != 2 ||
           !isnan(fmaxf(nan, nan)) || fmax(2.0, 3.0) != 3 || max(nan, -INFINITY) != -INFINITY ||
           !isinf(-INFINITY) || isfinite(nan) || isnan(FLT_MAX);
}

__device__ float bits(float x)
{
    return __float_as_int(x) != 0x3f800000 || __int_as_float(0x40000000) != 2 || __popc(255) != 8 ||
           __clz(1) != 31 || __clz(0) != 32 || __ffs(8) != 4 || __umulhi(1u << 31, 4) != 2 ||
           __double_as_longlong(1.0) != 0x3ff0000000000000;
}

__device__ float vectors(const float *x)
{
    float4 v = *reinterpret_cast<const float4 *>(x), w = make_float4(0, 1, 2, 3);
    int2 i = make_int2(4, 5);
    return v.x != w.x || v.w != w.w || i.y != 5 || __ldg(&x[2]) != 2 ||
           __ldg(reinterpret_cast<const float2 *>(x)).y != 1;
}

__device__ float loops(int n)
{
    const int steps[] = {1, 2, 3};
    int count = 0, left = n;
    for (int i = 0; i < n; i++)
        if (i % 2)
            for (int k = 0; k < 2; k++)
                count++;
        else
            count += 10;
    while (left > 0)
        left--;
    do
        left++;
    while (left < n);
    for (int step : steps)
        count += 100 * step;
    for (;;) {
        if (left-- == 0)
            break;
    }
    return count != 10 * ((n + 1) / 2) + 2 * (n / 2) + 600 || left != -1;
}

__device__ float atomics(float *scratch)
{
    unsigned *u = (unsigned *)scratch;
    int *i = (int *)scratch + 1;
    unsigned long long *l = (unsigned long long *)(scratch + 2);
    float *f = scratch + 4;
    *u = 5, *i = -5, *l = 1, *f = 1.5f;
    float wrong = atomicAdd(u, 2u) != 5 || *u != 7 || atomicInc(u, 7) != 7 || *u != 0;
    wrong += atomicDec(u, 9) != 0 || *u != 9 || atomicSub(u, 4u) != 9 || *u != 5;
    wrong += atomicMin(i, -7) != -5 || *i != -7 || atomicMax(i, 3) != -7 || *i != 3;
    wrong += atomicCAS(i, 3, 8) != 3 || atomicCAS(i, 3, 9) != 8 || *i != 8;
    wrong += atomicAdd_block(i, 2) != 8 || *i != 10;
    wrong += atomicAdd(l, 1ull << 40) != 1 || *l != 1 + (1ull << 40) || atomicExch(l, 2ull) == 2;
    wrong += atomicAdd(f, 1.0f) != 1.5f || atomicExch(f, 4.0f) != 2.5f || *f != 4;
    wrong += atomicOr(u, 2u) != 5 || atomicAnd(u, 6u) != 7 || atomicXor(u, 1u) != 6 || *u != 7;
    return wrong;
}

__global__ void check(const float *x, float *y, float *scratch, pair p)
{
    const double d[] = {1, 2, 3};
    y[0] = overloads(x[1]) == 0;
    y[1] = extremes_and_nan(x[7]) == 0;
    y[2] = bits(x[1]) == 0;
    y[3] = vectors(x) == 0;
    y[4] = loops(x[4]) == 0;
    y[5] = atomics(scratch) == 0;
    y[6] = p.a == 1 && p.b == 2 && sum_of(d) == 6;
    y[7] = gridDim.x == 1 && blockDim.x == 1 && blockDim.y == 1 && warpSize == 32;
}

/* Shuffles of each type; a barrier in each form; both kinds of shared memory. */
template <class T> __device__ bool shuffles(T base)
{
    int lane = threadIdx.x % warpSize;
    bool right = __shfl_sync(0xffffffff, base + lane, 5) == base + 5;
    right &= __shfl_xor_sync(0xffffffff, base + lane, 1) == base + (lane ^ 1);
    right &= __shfl_down_sync(0xffffffff, base + lane, 3, 16) ==
             base + (lane % 16 < 13 ? lane + 3 : lane);
    return right & (__shfl_up_sync(0xffffffff, base + lane, 1) == base + (lane ? lane - 1 : 0));
}

__global__ void __launch_bounds__(64) together(float *y)
{
    extern __shared__ float dynamic[];
    __shared__ int fixed[2][32];
    __shared__ float one;
    int t = threadIdx.y * blockDim.x + threadIdx.x;
    dynamic[t] = t;
    fixed[t / 32][t % 32] = t;
    if (t == 63)
        one = 1;
    __syncthreads();
    bool right = one == 1 && dynamic[63 - t] == 63 - t && fixed[1][t % 32] == 32 + t % 32;
    right &= shuffles(1.0f) && shuffles(2.0) && shuffles(3) && shuffles(1ll << 40);
    right &= __ballot_sync(0xffffffff, t % 2) == 0xaaaaaaaa && __any_sync(0xffffffff, t % 32 == 3);
    right &= __reduce_add_sync(0xffffffff, t % 32) == 496 && __activemask() == 0xffffffff;
    __syncwarp();
    right &= __syncthreads_count(t < 10) == 10 && __syncthreads_and(t < 64) && !__syncthreads_or(t > 63);
    y[t] = right;
}

__global__ void add(float *y, float by)
{
    y[blockIdx.x * blockDim.x + threadIdx.x] += by;
}

extern "C" void launch(float *const in[], float *const out[], const long dim[], const double hyper[])
{
    float *scratch = nullptr;
    cudaStream_t stream = 0;
    if (cudaMallocAsync(&scratch, 64 * sizeof(float), stream) != cudaSuccess)
        return;
    check<<<1, 1>>>(in[0], out[0], scratch, {1, 2});
    cudaMemsetAsync(scratch, 0, 64 * sizeof(float), stream);
    together<<<dim3(1), dim3(32, 2), 64 * sizeof(float), stream>>>(scratch);
    add<<<(dim[0] + 15) / 16, 16>>>(scratch, hyper[0]); /* converts its arguments, as a call does */
    cudaMemcpyAsync(out[0] + 8, scratch, 64 * sizeof(float), cudaMemcpyDeviceToDevice, stream);
    cudaFreeAsync(scratch, stream);
}
