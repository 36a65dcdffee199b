/* LayerNorm over all but the batch, with weights; biased variance, eps 1e-5. */
#include "problem.h"

enum { batch_size, features, dim1, dim2 };

static const struct size sizes[] = {
    [batch_size] = {"batch_size", .official = 16, .small = 2},
    [features] = {"features", .official = 64, .small = 5},
    [dim1] = {"dim1", .official = 256, .small = 3},
    [dim2] = {"dim2", .official = 256, .small = 1025},
};

static long columns(const long d[])
{
    return d[features] * d[dim1] * d[dim2];
}

static void tensors(struct layout *l, const long d[])
{
    parameter(l, "ln.weight", constant(1), SHAPE(d[features], d[dim1], d[dim2]));
    parameter(l, "ln.bias", constant(0), SHAPE(d[features], d[dim1], d[dim2]));
    input(l, "x", uniform(0, 1), SHAPE(d[batch_size], d[features], d[dim1], d[dim2]));
    output(l, "y", SHAPE(d[batch_size], d[features], d[dim1], d[dim2]));
}

static void reference(const struct ref *r, real *const in[], real *const out[], const long d[],
                      const double h[])
{
    (void)h;
    r->layernorm(out[0], in[2], in[0], in[1], 1e-5, d[batch_size], columns(d));
}

static long reduction(const long d[])
{
    return columns(d);
}

const struct problem problem = {PROBLEM_ABI, SIZES(sizes), .tensors = tensors,
                                .reference = reference, .reduction = reduction};
