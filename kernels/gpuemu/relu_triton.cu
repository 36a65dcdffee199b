/* y = max(x, 0), in the element type; a NaN becomes 0. */
#include "element.cuh"

__global__ void relu(element *y, const tensor x, long n)
{
    const long threads = (long)gridDim.x * THREADS;
    for (long i = (long)blockIdx.x * THREADS + threadIdx.x; i < n; i += threads) {
        const element value = x[i], zero = 0.0f;
        y[i] = value > zero ? value : zero;
    }
}

extern "C" void launch(float *const in[], float *const out[], const long dim[])
{
    const long n = dim[0] * dim[1] * dim[2];
    relu<<<blocks(n), THREADS>>>((element *)out[0], planes(in[0], dim[1], dim[2], dim + 3), n);
}
