#include <cstdio>

// i < n is not mutated here
__global__ void sum_rows(const float *x, float *y, int n)
{
    __shared__ float scratch[32];
    float sum = 0.f;
    for (int i = threadIdx.x; i < n; i += 32)
        sum += x[blockIdx.x * n + i];
    scratch[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 1; i < 32; i++)
            sum += scratch[i];
        y[blockIdx.x] = sum;
    }
}

extern "C" void launch(float *const in[], float *const out[], const long dim[])
{
    if (0 < dim[0])
        sum_rows<<<dim[0], 32>>>(in[0], out[0], dim[1]);
}
