/* matmul - products of matrices. */
#include "ref.cuh"

static __global__ void matmul(real *y, const real *a, const real *b, long m, long k, long n)
{
    long i = element();
    if (i >= m * n)
        return;
    long row = i / n, column = i % n;
    summation sum;
    for (long j = 0; j < k; j++)
        sum.add(a[row * k + j] * b[j * n + column]);
    y[i] = sum.total();
}

void ref_matmul(real *y, const real *a, const real *b, long m, long k, long n)
{
    matmul<<<blocks(m * n), BLOCK>>>(y, a, b, m, k, n);
}

static __global__ void linear(real *y, const real *x, const real *w, const real *b, long m, long k,
                              long n)
{
    long i = element();
    if (i >= m * n)
        return;
    long row = i / n, feature = i % n;
    summation sum;
    for (long j = 0; j < k; j++)
        sum.add(x[row * k + j] * w[feature * k + j]);
    y[i] = b ? sum.total() + b[feature] : sum.total();
}

void ref_linear(real *y, const real *x, const real *w, const real *b, long m, long k, long n)
{
    linear<<<blocks(m * n), BLOCK>>>(y, x, w, b, m, k, n);
}
