#include <algorithm>
#include <cstdio>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__global__ void narrow(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = __half2float(__float2half(x[i])) + __bfloat162float(__float2bfloat16(x[i]));
}

extern "C" void launch(float *const in[], float *const out[], const long dim[])
{
    long blocks = (dim[0] + 31) / 32;
    narrow<<<std::max(blocks, 1l), 32>>>(in[0], out[0], (int)dim[0]);
}
