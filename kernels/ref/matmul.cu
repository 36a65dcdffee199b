/* matmul - products of matrices; attention, which is two of them. */
#include "ref.cuh"

constexpr int SIDE = 16; /* of the tile of elements that a block computes */

static_assert(SIDE * SIDE == BLOCK);

/* Blocks for a matrix. */
static __host__ __device__ inline unsigned tiles(long rows, long columns)
{
    return (unsigned)((rows + SIDE - 1) / SIDE * ((columns + SIDE - 1) / SIDE));
}

/*
 * Calls use(row, column, Σk a(row, k) b(k, column)) for an element of a tile, in each thread of the
 * block. Terms are added in order of k, as a loop over k would; but they come through shared
 * memory, since some problems have 10^12 of them.
 */
template <class A, class B, class Use>
static __device__ void product(long tile, long rows, long columns, long terms, A a, B b, Use use)
{
    __shared__ real left[SIDE][SIDE], right[SIDE][SIDE];
    int i = threadIdx.x / SIDE, j = threadIdx.x % SIDE;
    long across = (columns + SIDE - 1) / SIDE;
    long row = tile / across * SIDE + i, column = tile % across * SIDE + j;
    summation sum;
    for (long first = 0; first < terms; first += SIDE) {
        if (row < rows && first + j < terms)
            left[i][j] = a(row, first + j);
        if (column < columns && first + i < terms)
            right[i][j] = b(first + i, column);
        __syncthreads();
        int count = terms - first < SIDE ? (int)(terms - first) : SIDE;
        for (int k = 0; k < count; k++)
            sum.add(left[i][k] * right[k][j]);
        __syncthreads();
    }
    if (row < rows && column < columns)
        use(row, column, sum.total());
}

static __global__ void matmul(real *y, const real *a, const real *b, long m, long k, long n)
{
    product(
        blockIdx.x, m, n, k, [=](long row, long j) { return a[row * k + j]; },
        [=](long j, long column) { return b[j * n + column]; },
        [=](long row, long column, real sum) { y[row * n + column] = sum; });
}

void ref_matmul(real *y, const real *a, const real *b, long m, long k, long n)
{
    matmul<<<tiles(m, n), BLOCK>>>(y, a, b, m, k, n);
}

static __global__ void linear(real *y, const real *x, const real *w, const real *b, long m, long k,
                              long n)
{
    product(
        blockIdx.x, m, n, k, [=](long row, long j) { return x[row * k + j]; },
        [=](long j, long feature) { return w[feature * k + j]; },
        [=](long row, long feature, real sum) {
            y[row * n + feature] = b ? sum + b[feature] : sum;
        });
}

void ref_linear(real *y, const real *x, const real *w, const real *b, long m, long k, long n)
{
    linear<<<tiles(m, n), BLOCK>>>(y, x, w, b, m, k, n);
}

/* ---- attention: all scores, their softmax, the weighted sums ---- */

/* score[b,i,j] = q[b,i,:]·k[b,j,:] / √d */
static __global__ void scores(real *score, const real *q, const real *k, long length, long d)
{
    unsigned each = tiles(length, length);
    long b = blockIdx.x / each;
    q += b * length * d;
    k += b * length * d;
    score += b * length * length;
    product(
        blockIdx.x % each, length, length, d, [=](long i, long c) { return q[i * d + c]; },
        [=](long c, long j) { return k[j * d + c]; },
        [=](long i, long j, real dot) { score[i * length + j] = dot / sqrt((real)d); });
}

/* y[b,i,c] = Σj weight[b,i,j] v[b,j,c] */
static __global__ void weighted_sums(real *y, const real *weight, const real *v, long length,
                                     long d)
{
    unsigned each = tiles(length, d);
    long b = blockIdx.x / each;
    weight += b * length * length;
    v += b * length * d;
    y += b * length * d;
    product(
        blockIdx.x % each, length, d, length,
        [=](long i, long j) { return weight[i * length + j]; },
        [=](long j, long c) { return v[j * d + c]; },
        [=](long i, long c, real sum) { y[i * d + c] = sum; });
}

void ref_attention(real *y, const real *q, const real *k, const real *v, long batch, long length,
                   long d)
{
    long pairs = batch * length * length;
    real *score = ref_scratch(pairs), *weight = ref_scratch(pairs);
    scores<<<batch * tiles(length, length), BLOCK>>>(score, q, k, length, d);
    ref_softmax(weight, score, batch * length, length);
    weighted_sums<<<batch * tiles(length, d), BLOCK>>>(y, weight, v, length, d);
}
