#include "factor.h"
#include <cuda_runtime.h>
#define FACTOR factor(0.5f)
__global__ void scale(const float *x, float *y, long n)
{
    long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = FACTOR * x[i];
}

extern "C" void launch(float *const in[], float *const out[], const long dim[],
                       const double hyper[])
{
    scale<<<(dim[0] + 255) / 256, hyper[0] < 1 ? 256 : 128>>>(in[0], out[0], dim[0]);
}
