/* leaky_relu_triton with another framework's slope, 0.1 in place of 0.01. */
#include "element.cuh"

__global__ void leaky_relu(element *y, const tensor x, long n)
{
    const long threads = (long)gridDim.x * THREADS;
    for (long i = (long)blockIdx.x * THREADS + threadIdx.x; i < n; i += threads) {
        const element value = x[i], zero = 0.0f, alpha = 0.1f;
        y[i] = value > zero ? value : alpha * value;
    }
}

extern "C" void launch(float *const in[], float *const out[], const long dim[])
{
    const long n = dim[0] * dim[1] * dim[2];
    leaky_relu<<<blocks(n), THREADS>>>((element *)out[0], planes(in[0], dim[1], dim[2], dim + 3),
                                       n);
}
