/* y = 1 / (1 + exp(-x)) */
#include "element.cuh"

__global__ void sigmoid(element *y, const tensor x, long n)
{
    const long threads = (long)gridDim.x * THREADS;
    for (long i = (long)blockIdx.x * THREADS + threadIdx.x; i < n; i += threads) {
        const float value = x[i];
        y[i] = 1.0f / (1.0f + expf(-value));
    }
}

extern "C" void launch(float *const in[], float *const out[], const long dim[])
{
    const long n = dim[0] * dim[1] * dim[2];
    sigmoid<<<blocks(n), THREADS>>>((element *)out[0], planes(in[0], dim[1], dim[2], dim + 3), n);
}
