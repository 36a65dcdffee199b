/* y = tanh(x) */
#include "element.cuh"

/* By the exponential of the magnitude, which cannot overflow into NaN. */
static __device__ float tanh_of(float z)
{
    const float sign = z >= 0.0f ? 1.0f : -1.0f;
    return sign * (1.0f - 2.0f / (expf(2.0f * (sign * z)) + 1.0f));
}

__global__ void hyperbolic_tangent(element *y, const tensor x, long n)
{
    const long threads = (long)gridDim.x * THREADS;
    for (long i = (long)blockIdx.x * THREADS + threadIdx.x; i < n; i += threads) {
        const float value = x[i];
        y[i] = tanh_of(value);
    }
}

extern "C" void launch(float *const in[], float *const out[], const long dim[])
{
    const long n = dim[0] * dim[1] * dim[2];
    hyperbolic_tangent<<<blocks(n), THREADS>>>((element *)out[0],
                                               planes(in[0], dim[1], dim[2], dim + 3), n);
}
