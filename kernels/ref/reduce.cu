/* reduce - sums along the middle axis of [outer, terms, inner], slices of it, and a loss. */
#include "ref.cuh"

static __global__ void sum(real *y, const real *x, long n, long terms, long inner)
{
    long i = element();
    if (i >= n)
        return;
    const real *first = x + i / inner * terms * inner + i % inner;
    summation sum;
    for (long k = 0; k < terms; k++)
        sum.add(first[k * inner]);
    y[i] = sum.total();
}

void ref_sum(real *y, const real *x, long outer, long terms, long inner)
{
    long n = outer * inner;
    sum<<<blocks(n), BLOCK>>>(y, x, n, terms, inner);
}

/* One thread a line along the middle axis, so that a line costs one pass. */
static __global__ void cumsum(real *y, const real *x, long lines, long terms, long inner)
{
    long i = element();
    if (i >= lines)
        return;
    long first = i / inner * terms * inner + i % inner;
    summation sum;
    for (long k = 0; k < terms; k++) {
        sum.add(x[first + k * inner]);
        y[first + k * inner] = sum.total();
    }
}

void ref_cumsum(real *y, const real *x, long outer, long terms, long inner)
{
    long lines = outer * inner;
    cumsum<<<blocks(lines), BLOCK>>>(y, x, lines, terms, inner);
}

static __global__ void take(real *y, const real *x, long n, long terms, long inner, long k)
{
    long i = element();
    if (i < n)
        y[i] = x[(i / inner * terms + k) * inner + i % inner];
}

void ref_take(real *y, const real *x, long outer, long terms, long inner, long k)
{
    long n = outer * inner;
    take<<<blocks(n), BLOCK>>>(y, x, n, terms, inner, k);
}

/* One thread for 2^30 terms would take minutes, hence two steps. */
constexpr long CHUNK = 4096;

/* total[c] = Σ (p − t)² over the c-th chunk */
static __global__ void squared_differences(real *total, const real *p, const real *t, long chunks,
                                           long n)
{
    long chunk = element();
    if (chunk >= chunks)
        return;
    summation sum;
    for (long i = chunk * CHUNK; i < n && i < (chunk + 1) * CHUNK; i++)
        sum.add((p[i] - t[i]) * (p[i] - t[i]));
    total[chunk] = sum.total();
}

static __global__ void mean(real *y, const real *total, long chunks, long n)
{
    if (element() > 0)
        return;
    summation sum;
    for (long chunk = 0; chunk < chunks; chunk++)
        sum.add(total[chunk]);
    *y = sum.total() / n;
}

void ref_mse(real *y, const real *p, const real *t, long n)
{
    long chunks = (n + CHUNK - 1) / CHUNK;
    real *total = ref_scratch(chunks);
    squared_differences<<<blocks(chunks), BLOCK>>>(total, p, t, chunks, n);
    mean<<<1, 1>>>(y, total, chunks, n);
}
