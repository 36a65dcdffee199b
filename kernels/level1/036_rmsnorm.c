/* RMSNorm over the features, without weights; eps 1e-5. */
#include "problem.h"

enum { batch_size, features, dim1, dim2 };

static const struct size sizes[] = {
    [batch_size] = {"batch_size", .official = 112, .small = 2},
    [features] = {"features", .official = 64, .small = 1025},
    [dim1] = {"dim1", .official = 512, .small = 3},
    [dim2] = {"dim2", .official = 512, .small = 6},
};

static void tensors(struct layout *l, const long d[])
{
    input(l, "x", uniform(0, 1), SHAPE(d[batch_size], d[features], d[dim1], d[dim2]));
    output(l, "y", SHAPE(d[batch_size], d[features], d[dim1], d[dim2]));
}

static void reference(const struct ref *r, real *const in[], real *const out[], const long d[],
                      const double h[])
{
    (void)h;
    r->rmsnorm(out[0], in[0], 1e-5, d[batch_size], d[features], d[dim1] * d[dim2]);
}

static long reduction(const long d[])
{
    return d[features];
}

const struct problem problem = {PROBLEM_ABI, SIZES(sizes), .tensors = tensors,
                                .reference = reference, .reduction = reduction};
