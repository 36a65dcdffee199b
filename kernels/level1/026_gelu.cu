/*
 * GELU in its exact form, x (1 + erf(x / √2)) / 2. A block covers 256 consecutive elements, two to
 * a thread, a block's width apart; only the last block has to look where the tensor ends.
 */
#define THREADS    128
#define PER_THREAD 2

__device__ __forceinline__ float gelu(float v)
{
    const float cdf = 0.5f * (1.0f + erff(v * 0.70710678118654752f));
    return v * cdf;
}

__global__ void gelu_elements(float *y, const float *x, long n)
{
    const long base = (long)blockIdx.x * (THREADS * PER_THREAD);
    const long first = base + threadIdx.x;

    if (base + THREADS * PER_THREAD <= n) {
        float v[PER_THREAD];
#pragma unroll
        for (int k = 0; k < PER_THREAD; k++)
            v[k] = __ldg(&x[first + k * THREADS]);
#pragma unroll
        for (int k = 0; k < PER_THREAD; k++)
            y[first + k * THREADS] = gelu(v[k]);
    } else {
#pragma unroll 1 /* the last block only */
        for (long i = first; i < n; i += THREADS)
            y[i] = gelu(x[i]);
    }
}

extern "C" void launch(float *const in[], float *const out[], const long dim[])
{
    const long n = dim[0] * dim[1];
    const unsigned blocks = (n + THREADS * PER_THREAD - 1) / (THREADS * PER_THREAD);
    gelu_elements<<<blocks, THREADS>>>(out[0], in[0], n);
}
