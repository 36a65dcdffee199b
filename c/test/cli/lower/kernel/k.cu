#include <cuda_runtime.h>
#include <algorithm>
#include "mine.h"

__global__ void twice(float *y)
{
    __shared__ float here[32];
    here[threadIdx.x] = y[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = 2 * here[threadIdx.x];
}

extern "C" void launch(float *const in[], float *const out[], const long dim[])
{
    twice<<<1, 32>>>(out[0]);
}
