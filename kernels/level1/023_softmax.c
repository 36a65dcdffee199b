/* Softmax along rows. */
#include "problem.h"

enum { batch_size, dim };

static const struct size sizes[] = {
    [batch_size] = {"batch_size", .official = 4096, .small = 3},
    [dim] = {"dim", .official = 393216, .small = 1061},
};

static void tensors(struct layout *l, const long d[])
{
    input(l, "x", uniform(0, 1), SHAPE(d[batch_size], d[dim]));
    output(l, "y", SHAPE(d[batch_size], d[dim]));
}

static void reference(const struct ref *r, real *const in[], real *const out[], const long d[],
                      const double h[])
{
    (void)h;
    r->softmax(out[0], in[0], d[batch_size], d[dim]);
}

static long reduction(const long d[])
{
    return d[dim];
}

const struct problem problem = {PROBLEM_ABI, SIZES(sizes), .tensors = tensors,
                                .reference = reference, .reduction = reduction};
