/* softmax - softmax and its logarithm along rows: statistics of each row, then the elements. */
#include "ref.cuh"

static __global__ void row_maximum(real *maximum, const real *x, long rows, long columns)
{
    long row = element();
    if (row >= rows)
        return;
    real largest = x[row * columns];
    for (long j = 1; j < columns; j++)
        largest = x[row * columns + j] > largest ? x[row * columns + j] : largest;
    maximum[row] = largest;
}

/* Σ exp(x − maximum) */
static __global__ void row_total(real *total, const real *x, const real *maximum, long rows,
                                 long columns)
{
    long row = element();
    if (row >= rows)
        return;
    summation sum;
    for (long j = 0; j < columns; j++)
        sum.add(exp(x[row * columns + j] - maximum[row]));
    total[row] = sum.total();
}

static __global__ void softmax(real *y, const real *x, const real *maximum, long rows, long columns)
{
    long row = element();
    if (row >= rows)
        return;
    summation sum;
    for (long i = row * columns; i < (row + 1) * columns; i++) {
        y[i] = exp(x[i] - maximum[row]);
        sum.add(y[i]);
    }
    const real total = sum.total();
    for (long i = row * columns; i < (row + 1) * columns; i++)
        y[i] /= total;
}

void ref_softmax(real *y, const real *x, long rows, long columns)
{
    real *maximum = ref_scratch(rows);
    row_maximum<<<blocks(rows), BLOCK>>>(maximum, x, rows, columns);
    softmax<<<blocks(rows), BLOCK>>>(y, x, maximum, rows, columns);
}

static __global__ void log_softmax(real *y, const real *x, const real *maximum, const real *total,
                                   long n, long columns)
{
    long i = element();
    if (i < n)
        y[i] = x[i] - maximum[i / columns] - log(total[i / columns]);
}

void ref_log_softmax(real *y, const real *x, long rows, long columns)
{
    real *maximum = ref_scratch(rows), *total = ref_scratch(rows);
    row_maximum<<<blocks(rows), BLOCK>>>(maximum, x, rows, columns);
    row_total<<<blocks(rows), BLOCK>>>(total, x, maximum, rows, columns);
    log_softmax<<<blocks(rows * columns), BLOCK>>>(y, x, maximum, total, rows * columns, columns);
}
