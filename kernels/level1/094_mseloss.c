#include "problem.h"

enum { batch_size, length };

static const struct size sizes[] = {
    [batch_size] = {"batch_size", .official = 32768, .small = 5},
    [length] = {"input_shape.0", .official = 32768, .small = 1451},
};

/* The benchmark scales the predictions by one number drawn from [0, 1); here it is its mean. */
static void tensors(struct layout *l, const long d[])
{
    input(l, "predictions", uniform(0, 0.5), SHAPE(d[batch_size], d[length]));
    input(l, "targets", uniform(0, 1), SHAPE(d[batch_size], d[length]));
    output(l, "loss", SCALAR);
}

static void reference(const struct ref *r, real *const in[], real *const out[], const long d[],
                      const double h[])
{
    (void)h;
    r->mse(out[0], in[0], in[1], d[batch_size] * d[length]);
}

static long reduction(const long d[])
{
    return d[batch_size] * d[length];
}

const struct problem problem = {PROBLEM_ABI, SIZES(sizes), .tensors = tensors,
                                .reference = reference, .reduction = reduction};
