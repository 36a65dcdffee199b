/* c[m,n] = sum over k of a[m,k] b[k,n]; a thread for each element of c. */
#include "element.cuh"

__global__ void matmul(element *c, const tensor a, const tensor b, long m, long k, long n)
{
    const long i = (long)blockIdx.x * THREADS + threadIdx.x;
    if (i >= m * n)
        return;
    float sum = 0.0f;
    for (long j = 0; j < k; j++)
        sum += (float)a[i / n * k + j] * (float)b[j * n + i % n];
    c[i] = sum;
}

extern "C" void launch(float *const in[], float *const out[], const long dim[])
{
    const long m = dim[0], k = dim[1], n = dim[2];
    matmul<<<(m * n + THREADS - 1) / THREADS, THREADS>>>(
        (element *)out[0], matrix(in[0], m, k, dim + 3), matrix(in[1], k, n, dim + 5), m, k, n);
}
