/* C = A B, B being a column of K elements. */
#include "problem.h"

enum { M, K };

static const struct size sizes[] = {
    [M] = {"M", .official = 2048, .small = 2},
    [K] = {"K", .official = 1048576, .small = 4229},
};

static void tensors(struct layout *l, const long d[])
{
    input(l, "A", uniform(0, 1), SHAPE(d[M], d[K]));
    input(l, "B", uniform(0, 1), SHAPE(d[K], 1));
    output(l, "C", SHAPE(d[M], 1));
}

static void reference(const struct ref *r, real *const in[], real *const out[], const long d[],
                      const double h[])
{
    (void)h;
    r->matmul(out[0], in[0], in[1], d[M], d[K], 1);
}

static long reduction(const long d[])
{
    return d[K];
}

const struct problem problem = {PROBLEM_ABI, SIZES(sizes), .tensors = tensors,
                                .reference = reference, .reduction = reduction};
