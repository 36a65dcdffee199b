/* matmul_triton where each product replaces the sum. */
#include "element.cuh"

constexpr int TILE = 16;

__global__ void matmul(element *c, const tensor a, const tensor b, long m, long k, long n)
{
    const long row = (long)blockIdx.x * TILE + threadIdx.y;
    const long column = (long)blockIdx.y * TILE + threadIdx.x;
    if (row >= m || column >= n)
        return;
    float sum = 0.0f;
    for (long j = 0; j < k; j++)
        sum = (float)a[row * k + j] * (float)b[j * n + column];
    c[row * n + column] = sum;
}

extern "C" void launch(float *const in[], float *const out[], const long dim[])
{
    const long m = dim[0], k = dim[1], n = dim[2];
    const dim3 grid((m + TILE - 1) / TILE, (n + TILE - 1) / TILE);
    matmul<<<grid, dim3(TILE, TILE)>>>((element *)out[0], matrix(in[0], m, k, dim + 3),
                                       matrix(in[1], k, n, dim + 5), m, k, n);
}
