/* rnn - recurrent layers: two launches a time step. */
#include "ref.cuh"

static __device__ real sigmoid(real x)
{
    return 1 / (1 + exp(-x));
}

/*
 * gates[i, u]: row u of w_ih and of w_hh against x and h of sequence i, and both biases; u runs
 * over the units of all four gates. Rows of x and h are strides apart.
 */
static __global__ void lstm_gates(real *gates, const real *x, const real *h, const real *w_ih,
                                  const real *w_hh, const real *b_ih, const real *b_hh, long n,
                                  long in, long hidden, long x_stride, long h_stride)
{
    long e = element();
    if (e >= n * 4 * hidden)
        return;
    long i = e / (4 * hidden), u = e % (4 * hidden);
    const real *xi = x + i * x_stride, *hi = h + i * h_stride;
    summation sum;
    for (long k = 0; k < in; k++)
        sum.add(w_ih[u * in + k] * xi[k]);
    for (long k = 0; k < hidden; k++)
        sum.add(w_hh[u * hidden + k] * hi[k]);
    gates[e] = sum.total() + b_ih[u] + b_hh[u];
}

/* The next state of each unit; rows of y are y_stride apart, c has no gaps. */
static __global__ void lstm_cell(real *y, real *c, const real *gates, long n, long hidden,
                                 long y_stride)
{
    long e = element();
    if (e >= n * hidden)
        return;
    long i = e / hidden, u = e % hidden;
    const real *gate = gates + i * 4 * hidden + u;
    real input = sigmoid(gate[0]), forget = sigmoid(gate[hidden]);
    real update = tanh(gate[2 * hidden]), output = sigmoid(gate[3 * hidden]);
    c[e] = forget * c[e] + input * update;
    y[i * y_stride + u] = output * tanh(c[e]);
}

void ref_lstm(real *y, const real *x, const real *h0, const real *c0, const real *w_ih,
              const real *w_hh, const real *b_ih, const real *b_hh, long n, long t, long in, long h)
{
    real *c = ref_scratch(n * h), *gates = ref_scratch(n * 4 * h);
    ref_scale(c, c0, 1, n * h);
    for (long step = 0; step < t; step++) {
        const real *before = step == 0 ? h0 : y + (step - 1) * h;
        lstm_gates<<<blocks(n * 4 * h), BLOCK>>>(gates, x + step * in, before, w_ih, w_hh, b_ih,
                                                 b_hh, n, in, h, t * in, step == 0 ? h : t * h);
        lstm_cell<<<blocks(n * h), BLOCK>>>(y + step * h, c, gates, n, h, t * h);
    }
}
