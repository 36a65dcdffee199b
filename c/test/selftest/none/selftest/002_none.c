#include "problem.h"

enum { rows, columns };

static const struct size sizes[] = {
    [rows] = {"rows", .official = 3, .small = 3},
    [columns] = {"columns", .official = 133, .small = 133},
};

static void tensors(struct layout *l, const long d[])
{
    input(l, "x", uniform(1, 2), SHAPE(d[rows], d[columns]));
    output(l, "y", SHAPE(d[rows]));
}

static void reference(const struct ref *r, real *const in[], real *const out[], const long d[],
                      const double h[])
{
    (void)h;
    r->sum(out[0], in[0], d[rows], d[columns], 1);
}

static long reduction(const long d[])
{
    return d[columns];
}

const struct problem problem = {PROBLEM_ABI, SIZES(sizes), .tensors = tensors,
                                .reference = reference, .reduction = reduction};
