/* attention - scaled dot-product attention: all scores, their softmax, the weighted sums. */
#include "ref.cuh"

/* score[b,i,j] = q[b,i,:]·k[b,j,:] / √d */
static __global__ void scores(real *score, const real *q, const real *k, long n, long length,
                              long d)
{
    long i = element();
    if (i >= n)
        return;
    const real *query = q + i / length * d;
    const real *key = k + (i / (length * length) * length + i % length) * d;
    summation dot;
    for (long c = 0; c < d; c++)
        dot.add(query[c] * key[c]);
    score[i] = dot.total() / sqrt((real)d);
}

/* y[b,i,c] = Σj weight[b,i,j] v[b,j,c] */
static __global__ void weighted_sums(real *y, const real *weight, const real *v, long n,
                                     long length, long d)
{
    long i = element();
    if (i >= n)
        return;
    const real *row = weight + i / d * length;
    const real *column = v + i / (length * d) * length * d + i % d;
    summation sum;
    for (long j = 0; j < length; j++)
        sum.add(row[j] * column[j * d]);
    y[i] = sum.total();
}

void ref_attention(real *y, const real *q, const real *k, const real *v, long batch, long length,
                   long d)
{
    long pairs = batch * length * length, n = batch * length * d;
    real *score = ref_scratch(pairs), *weight = ref_scratch(pairs);
    scores<<<blocks(pairs), BLOCK>>>(score, q, k, pairs, length, d);
    ref_softmax(weight, score, batch * length, length);
    weighted_sums<<<blocks(n), BLOCK>>>(y, weight, v, n, length, d);
}
