/* pointwise - operators whose every output element needs one element of each input. */
#include "ref.cuh"

static __global__ void scale(real *y, const real *x, real s, long n)
{
    long i = element();
    if (i < n)
        y[i] = s * x[i];
}

void ref_scale(real *y, const real *x, double s, long n)
{
    scale<<<blocks(n), BLOCK>>>(y, x, (real)s, n);
}

static __global__ void add(real *y, const real *x, const real *z, long n)
{
    long i = element();
    if (i < n)
        y[i] = x[i] + z[i];
}

void ref_add(real *y, const real *x, const real *z, long n)
{
    add<<<blocks(n), BLOCK>>>(y, x, z, n);
}

static __global__ void add_channel(real *y, const real *x, const real *b, long n, long channels,
                                   long inner)
{
    long i = element();
    if (i < n)
        y[i] = x[i] + b[i / inner % channels];
}

void ref_add_channel(real *y, const real *x, const real *b, long outer, long channels, long inner)
{
    long n = outer * channels * inner;
    add_channel<<<blocks(n), BLOCK>>>(y, x, b, n, channels, inner);
}

/* A NaN passes through, as in PyTorch. */
static __global__ void relu(real *y, const real *x, long n)
{
    long i = element();
    if (i < n)
        y[i] = x[i] < 0 ? 0 : x[i];
}

void ref_relu(real *y, const real *x, long n)
{
    relu<<<blocks(n), BLOCK>>>(y, x, n);
}

static __global__ void leaky_relu(real *y, const real *x, real slope, long n)
{
    long i = element();
    if (i < n)
        y[i] = x[i] < 0 ? slope * x[i] : x[i];
}

void ref_leaky_relu(real *y, const real *x, double slope, long n)
{
    leaky_relu<<<blocks(n), BLOCK>>>(y, x, (real)slope, n);
}

static __global__ void gelu(real *y, const real *x, long n)
{
    const real inverse_sqrt2 = (real)0.70710678118654752440;
    long i = element();
    if (i < n)
        y[i] = x[i] / 2 * (1 + erf(x[i] * inverse_sqrt2));
}

void ref_gelu(real *y, const real *x, long n)
{
    gelu<<<blocks(n), BLOCK>>>(y, x, n);
}

static __global__ void gelu_tanh(real *y, const real *x, long n)
{
    const real sqrt_2_over_pi = (real)0.79788456080286535588;
    long i = element();
    if (i < n)
        y[i] = x[i] / 2 * (1 + tanh(sqrt_2_over_pi * (x[i] + (real)0.044715 * x[i] * x[i] * x[i])));
}

void ref_gelu_tanh(real *y, const real *x, long n)
{
    gelu_tanh<<<blocks(n), BLOCK>>>(y, x, n);
}

static __global__ void elu(real *y, const real *x, real alpha, long n)
{
    long i = element();
    if (i < n)
        y[i] = x[i] < 0 ? alpha * expm1(x[i]) : x[i];
}

void ref_elu(real *y, const real *x, double alpha, long n)
{
    elu<<<blocks(n), BLOCK>>>(y, x, (real)alpha, n);
}

static __global__ void sigmoid(real *y, const real *x, long n)
{
    long i = element();
    if (i < n)
        y[i] = 1 / (1 + exp(-x[i]));
}

void ref_sigmoid(real *y, const real *x, long n)
{
    sigmoid<<<blocks(n), BLOCK>>>(y, x, n);
}

static __global__ void silu(real *y, const real *x, long n)
{
    long i = element();
    if (i < n)
        y[i] = x[i] / (1 + exp(-x[i]));
}

void ref_silu(real *y, const real *x, long n)
{
    silu<<<blocks(n), BLOCK>>>(y, x, n);
}

static __global__ void hyperbolic_tangent(real *y, const real *x, long n)
{
    long i = element();
    if (i < n)
        y[i] = tanh(x[i]);
}

void ref_tanh(real *y, const real *x, long n)
{
    hyperbolic_tangent<<<blocks(n), BLOCK>>>(y, x, n);
}
