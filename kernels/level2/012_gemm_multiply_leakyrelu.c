/* leaky_relu((x Wᵀ + b) multiplier). */
#include <math.h>

#include "problem.h"

enum { batch_size, in_features, out_features };
enum { multiplier, negative_slope };

/* No extent of 1,025: in tiles, that many columns or inputs cost several ms a run on the CPU. */
static const struct size sizes[] = {
    [batch_size] = {"batch_size", .official = 1024, .small = 17},
    [in_features] = {"in_features", .official = 8192, .small = 35},
    [out_features] = {"out_features", .official = 8192, .small = 37},
};

static const struct hyperparameter hyperparameters[] = {
    [multiplier] = {"multiplier", 2.0},
    [negative_slope] = {"negative_slope", 0.1},
};

static void tensors(struct layout *l, const long d[])
{
    const double bound = 1 / sqrt((double)d[in_features]);
    parameter(l, "gemm.weight", uniform(-bound, bound), SHAPE(d[out_features], d[in_features]));
    parameter(l, "gemm.bias", uniform(-bound, bound), SHAPE(d[out_features]));
    input(l, "x", uniform(0, 1), SHAPE(d[batch_size], d[in_features]));
    output(l, "y", SHAPE(d[batch_size], d[out_features]));
}

static void reference(const struct ref *r, real *const in[], real *const out[], const long d[],
                      const double h[])
{
    const long n = d[batch_size] * d[out_features];
    real *product = r->scratch(n), *scaled = r->scratch(n);
    r->linear(product, in[2], in[0], in[1], d[batch_size], d[in_features], d[out_features]);
    r->scale(scaled, product, h[multiplier], n);
    r->leaky_relu(out[0], scaled, h[negative_slope], n);
}

static long reduction(const long d[])
{
    return d[in_features];
}

const struct problem problem = {
    PROBLEM_ABI,
    SIZES(sizes),
    HYPERPARAMETERS(hyperparameters),
    .tensors = tensors,
    .reference = reference,
    .reduction = reduction,
};
