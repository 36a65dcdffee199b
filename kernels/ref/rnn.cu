/* rnn - recurrent layers: one launch a time step. */
#include "ref.cuh"

static __device__ real sigmoid(real x)
{
    return 1 / (1 + exp(-x));
}

/* Row u of w_ih and of w_hh against x and h, and both biases. */
static __device__ real gate(const real *x, const real *h, const real *w_ih, const real *w_hh,
                            const real *b_ih, const real *b_hh, long in, long hidden, long u)
{
    summation sum;
    for (long k = 0; k < in; k++)
        sum.add(w_ih[u * in + k] * x[k]);
    for (long k = 0; k < hidden; k++)
        sum.add(w_hh[u * hidden + k] * h[k]);
    return sum.total() + b_ih[u] + b_hh[u];
}

/* The next state of unit u of sequence i; rows of x, h and y are strides apart, c has no gaps. */
static __global__ void lstm_step(real *y, real *c, const real *x, const real *h, const real *w_ih,
                                 const real *w_hh, const real *b_ih, const real *b_hh, long n,
                                 long in, long hidden, long x_stride, long h_stride, long y_stride)
{
    long e = element();
    if (e >= n * hidden)
        return;
    long i = e / hidden, u = e % hidden;
    const real *xi = x + i * x_stride, *hi = h + i * h_stride;
    real input = sigmoid(gate(xi, hi, w_ih, w_hh, b_ih, b_hh, in, hidden, u));
    real forget = sigmoid(gate(xi, hi, w_ih, w_hh, b_ih, b_hh, in, hidden, hidden + u));
    real update = tanh(gate(xi, hi, w_ih, w_hh, b_ih, b_hh, in, hidden, 2 * hidden + u));
    real output = sigmoid(gate(xi, hi, w_ih, w_hh, b_ih, b_hh, in, hidden, 3 * hidden + u));
    c[e] = forget * c[e] + input * update;
    y[i * y_stride + u] = output * tanh(c[e]);
}

void ref_lstm(real *y, const real *x, const real *h0, const real *c0, const real *w_ih,
              const real *w_hh, const real *b_ih, const real *b_hh, long n, long t, long in, long h)
{
    real *c = ref_scratch(n * h);
    ref_scale(c, c0, 1, n * h);
    for (long step = 0; step < t; step++) {
        const real *before = step == 0 ? h0 : y + (step - 1) * h;
        lstm_step<<<blocks(n * h), BLOCK>>>(y + step * h, c, x + step * in, before, w_ih, w_hh,
                                            b_ih, b_hh, n, in, h, t * in,
                                            step == 0 ? h : t * h, t * h);
    }
}
