#include "problem.h"

enum { batch_size, length };

static const struct size sizes[] = {
    [batch_size] = {"batch_size", .official = 32768, .small = 3},
    [length] = {"input_shape.0", .official = 32768, .small = 1027},
};

static void tensors(struct layout *l, const long d[])
{
    input(l, "x", uniform(0, 1), SHAPE(d[batch_size], d[length]));
    output(l, "y", SHAPE(d[batch_size], d[length]));
}

static void reference(const struct ref *r, real *const in[], real *const out[], const long d[],
                      const double h[])
{
    (void)h;
    r->cumsum(out[0], in[0], d[batch_size], d[length], 1);
}

static long reduction(const long d[])
{
    return d[length];
}

const struct problem problem = {PROBLEM_ABI, SIZES(sizes), .tensors = tensors,
                                .reference = reference, .reduction = reduction};
