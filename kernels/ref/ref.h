/*
 * ref.h - the library of reference operators, as a problem sees it.
 *
 * The operators are naive CUDA kernels (one thread an output element), so that one text runs on both
 * backends. It is built twice: with real = double it is the reference; with real = float, and sums in
 * another order, it stands for the benchmark's own float32 reference, with which decidability is
 * judged. A problem reaches them through the table and so serves both.
 *
 * All arrays are dense and row-major. Outputs never overlap inputs. To add an operator: a line here,
 * its definition in the file of kernels/ref/ where its kind lives, and a problem that uses it, whose golden
 * outputs check it.
 */
#ifndef ASSAY_REF_H
#define ASSAY_REF_H

#ifdef REAL
typedef REAL real; /* inside the library: double or float */
#else
typedef struct real real; /* a problem never looks at an element */
#endif

/* Shapes are in the comments; N, C, H, W: batch, channels, height, width. b may be NULL where said. */
#define REF_OPERATORS(OP)                                                                          \
    /* y[m,n] = Σk a[m,k] b[k,n] */                                                                \
    OP(matmul, (real * y, const real *a, const real *b, long m, long k, long n))                   \
    /* y[m,n] = Σk x[m,k] w[n,k] + b[n]; b may be NULL */                                          \
    OP(linear, (real * y, const real *x, const real *w, const real *b, long m, long k, long n))    \
    /* y[i] = s x[i] */                                                                            \
    OP(scale, (real * y, const real *x, double s, long n))                                         \
    /* y[i] = x[i] + z[i] */                                                                       \
    OP(add, (real * y, const real *x, const real *z, long n))                                      \
    /* y[n,c,i] = x[n,c,i] + b[c]; i < inner */                                                    \
    OP(add_channel, (real * y, const real *x, const real *b, long outer, long channels, long inner)) \
    OP(relu, (real * y, const real *x, long n))                                                    \
    OP(leaky_relu, (real * y, const real *x, double slope, long n))                                \
    /* x Φ(x), the erf form */                                                                     \
    OP(gelu, (real * y, const real *x, long n))                                                    \
    /* x (1 + tanh(√(2/π) (x + 0.044715 x³))) / 2 */                                               \
    OP(gelu_tanh, (real * y, const real *x, long n))                                               \
    /* x, or α (exp x − 1) below 0 */                                                              \
    OP(elu, (real * y, const real *x, double alpha, long n))                                       \
    OP(sigmoid, (real * y, const real *x, long n))                                                 \
    /* x sigmoid(x) */                                                                             \
    OP(silu, (real * y, const real *x, long n))                                                    \
    OP(tanh, (real * y, const real *x, long n))                                                    \
    /* along the last axis */                                                                      \
    OP(softmax, (real * y, const real *x, long rows, long columns))                                \
    OP(log_softmax, (real * y, const real *x, long rows, long columns))                            \
    /* y[o,c,i] = x[o,c,i] / sqrt(mean over c of x² + eps) */                                      \
    OP(rmsnorm, (real * y, const real *x, double eps, long outer, long channels, long inner))      \
    /* along the last axis: y = x / sqrt(Σ x² + eps) */                                            \
    OP(l2norm, (real * y, const real *x, double eps, long rows, long columns))                     \
    /* along the last axis, biased variance; w and b of length columns, may be NULL */             \
    OP(layernorm, (real * y, const real *x, const real *w, const real *b, double eps, long rows,   \
                   long columns))                                                                  \
    /* padding counts as −infinity; ph × pw outputs a plane, floor mode */                         \
    OP(maxpool2d, (real * y, const real *x, long planes, long h, long w, long kernel, long stride, \
                   long padding, long dilation))                                                   \
    /* padding counts in the denominator */                                                        \
    OP(avgpool2d, (real * y, const real *x, long planes, long h, long w, long kernel, long stride, \
                   long padding))                                                                  \
    /* y[o,i] = Σk x[o,k,i] */                                                                     \
    OP(sum, (real * y, const real *x, long outer, long terms, long inner))                         \
    /* x[N,C,H,W], w[F,C,kh,kw], b[F] or NULL; cross-correlation */                                \
    OP(conv2d, (real * y, const real *x, const real *w, const real *b, long n, long c, long h,     \
                long wd, long f, long kh, long kw, long stride, long padding, long dilation))      \
    /* x[N,C,H,W], w[C,F,k,k], b[F] or NULL; output (H−1) stride − 2 padding + k */                \
    OP(conv_transpose2d, (real * y, const real *x, const real *w, const real *b, long n, long c,   \
                          long h, long wd, long f, long k, long stride, long padding))             \
    /* y[o,k,i] = Σ over j ≤ k of x[o,j,i] */                                                      \
    OP(cumsum, (real * y, const real *x, long outer, long terms, long inner))                      \
    /* y[0] = mean of (p − t)² */                                                                  \
    OP(mse, (real * y, const real *p, const real *t, long n))                                      \
    /* y[b,i,:] = softmax over j of (q[b,i,:]·k[b,j,:] / √d) times v[b,j,:]; q, k, v: [b, length, d] */ \
    OP(attention, (real * y, const real *q, const real *k, const real *v, long batch, long length, \
                   long d))                                                                        \
    /* one layer over x[N,T,I] with h0, c0[N,H], PyTorch's gate order i, f, g, o; y[N,T,H] */      \
    OP(lstm, (real * y, const real *x, const real *h0, const real *c0, const real *w_ih,           \
              const real *w_hh, const real *b_ih, const real *b_hh, long n, long t, long in, long h)) \
    /* y[o,i] = x[o,k,i] for the one k: a slice of the middle axis */                              \
    OP(take, (real * y, const real *x, long outer, long terms, long inner, long k))

struct ref {
    /* n zeroed elements, freed after the reference has returned. */
    real *(*scratch)(long n);
    /* x + offset elements. */
    const real *(*at)(const real *x, long offset);
#define REF_MEMBER(name, parameters) void(*name) parameters;
    REF_OPERATORS(REF_MEMBER)
#undef REF_MEMBER
};

#endif
