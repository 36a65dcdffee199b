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

/* Σ (i + 1) x[row, i]: the last row of cumulative sums, added up, is the sum weighted from the end. */
static void reference(const struct ref *r, real *const in[], real *const out[], const long d[],
                      const double h[])
{
    (void)h;
    real *running = r->scratch(d[rows] * d[columns]), *rest = r->scratch(d[rows]);
    real *total = r->scratch(d[rows]), *scaled = r->scratch(d[rows]);
    r->cumsum(running, in[0], d[rows], d[columns], 1);
    r->sum(rest, running, d[rows], d[columns], 1); /* Σ (columns − i) x */
    r->sum(total, in[0], d[rows], d[columns], 1);
    r->scale(scaled, total, (double)(d[columns] + 1), d[rows]);
    r->scale(total, rest, -1, d[rows]);
    r->add(out[0], scaled, total, d[rows]);
}

static long reduction(const long d[])
{
    return d[columns];
}

const struct problem problem = {PROBLEM_ABI, SIZES(sizes), .tensors = tensors,
                                .reference = reference, .reduction = reduction};
