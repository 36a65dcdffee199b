/* norm - normalisations: the statistics of each group, then the elements. */
#include "ref.cuh"

/* root[o,i] = sqrt(mean over c of x[o,c,i]² + eps) */
static __global__ void channel_rms(real *root, const real *x, real eps, long n, long channels,
                                   long inner)
{
    long i = element();
    if (i >= n)
        return;
    const real *first = x + i / inner * channels * inner + i % inner;
    summation squares;
    for (long c = 0; c < channels; c++)
        squares.add(first[c * inner] * first[c * inner]);
    root[i] = sqrt(squares.total() / channels + eps);
}

static __global__ void rmsnorm(real *y, const real *x, const real *root, long n, long channels,
                               long inner)
{
    long i = element();
    if (i < n)
        y[i] = x[i] / root[i / (channels * inner) * inner + i % inner];
}

void ref_rmsnorm(real *y, const real *x, double eps, long outer, long channels, long inner)
{
    long groups = outer * inner, n = outer * channels * inner;
    real *root = ref_scratch(groups);
    channel_rms<<<blocks(groups), BLOCK>>>(root, x, (real)eps, groups, channels, inner);
    rmsnorm<<<blocks(n), BLOCK>>>(y, x, root, n, channels, inner);
}

/* inverse[row] = 1 / sqrt(Σ x² + eps) */
static __global__ void row_norm(real *inverse, const real *x, real eps, long rows, long columns)
{
    long row = element();
    if (row >= rows)
        return;
    summation squares;
    for (long j = 0; j < columns; j++)
        squares.add(x[row * columns + j] * x[row * columns + j]);
    inverse[row] = 1 / sqrt(squares.total() + eps);
}

static __global__ void l2norm(real *y, const real *x, const real *inverse, long n, long columns)
{
    long i = element();
    if (i < n)
        y[i] = x[i] * inverse[i / columns];
}

void ref_l2norm(real *y, const real *x, double eps, long rows, long columns)
{
    real *inverse = ref_scratch(rows);
    row_norm<<<blocks(rows), BLOCK>>>(inverse, x, (real)eps, rows, columns);
    l2norm<<<blocks(rows * columns), BLOCK>>>(y, x, inverse, rows * columns, columns);
}

/* The mean of each row, and 1 / sqrt(variance + eps) with the biased variance. */
static __global__ void row_moments(real *mean, real *inverse, const real *x, real eps, long rows,
                                   long columns)
{
    long row = element();
    if (row >= rows)
        return;
    summation sum, squares;
    for (long j = 0; j < columns; j++)
        sum.add(x[row * columns + j]);
    const real centre = sum.total() / columns;
    for (long j = 0; j < columns; j++) {
        real deviation = x[row * columns + j] - centre;
        squares.add(deviation * deviation);
    }
    mean[row] = centre;
    inverse[row] = 1 / sqrt(squares.total() / columns + eps);
}

static __global__ void layernorm(real *y, const real *x, const real *mean, const real *inverse,
                                 const real *w, const real *b, long n, long columns)
{
    long i = element();
    if (i >= n)
        return;
    long row = i / columns, column = i % columns;
    real value = (x[i] - mean[row]) * inverse[row];
    if (w)
        value *= w[column];
    if (b)
        value += b[column];
    y[i] = value;
}

void ref_layernorm(real *y, const real *x, const real *w, const real *b, double eps, long rows,
                   long columns)
{
    real *mean = ref_scratch(rows), *inverse = ref_scratch(rows);
    row_moments<<<blocks(rows), BLOCK>>>(mean, inverse, x, (real)eps, rows, columns);
    layernorm<<<blocks(rows * columns), BLOCK>>>(y, x, mean, inverse, w, b, rows * columns,
                                                 columns);
}
