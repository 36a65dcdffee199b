#include "problem.h"

enum { batch_size, dim1, dim2, reduce_dim };

static const struct size sizes[] = {
    [batch_size] = {"batch_size", .official = 128, .small = 2},
    [dim1] = {"dim1", .official = 4096, .small = 1027},
    [dim2] = {"dim2", .official = 4095, .small = 37},
    [reduce_dim] = {"reduce_dim", .official = 1, .small = 1},
};

static const char *invalid(const long d[])
{
    return d[reduce_dim] < 0 || d[reduce_dim] > 2 ? "the tensor has three axes" : NULL;
}

/* The product of the extents of axes first … last − 1. */
static long extents(const long d[], long first, long last)
{
    long n = 1;
    for (long axis = first; axis < last; axis++)
        n *= d[axis];
    return n;
}

static void tensors(struct layout *l, const long d[])
{
    long summed[] = {d[batch_size], d[dim1], d[dim2]};
    summed[d[reduce_dim]] = 1;
    input(l, "x", uniform(0, 1), SHAPE(d[batch_size], d[dim1], d[dim2]));
    output(l, "y", LENGTH(summed), summed);
}

static void reference(const struct ref *r, real *const in[], real *const out[], const long d[],
                      const double h[])
{
    (void)h;
    long axis = d[reduce_dim];
    r->sum(out[0], in[0], extents(d, 0, axis), d[axis], extents(d, axis + 1, 3));
}

static long reduction(const long d[])
{
    return d[d[reduce_dim]];
}

const struct problem problem = {PROBLEM_ABI, SIZES(sizes), .invalid = invalid, .tensors = tensors,
                                .reference = reference, .reduction = reduction};
