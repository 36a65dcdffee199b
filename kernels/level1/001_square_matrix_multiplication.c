/* C = A B, both N × N. */
#include "problem.h"

enum { N };

/* The only extent is the side of a matrix: one of 1,025 would cost a second a run on the CPU. */
static const struct size sizes[] = {
    [N] = {"N", .official = 4096, .small = 29},
};

static void tensors(struct layout *l, const long d[])
{
    input(l, "A", uniform(0, 1), SHAPE(d[N], d[N]));
    input(l, "B", uniform(0, 1), SHAPE(d[N], d[N]));
    output(l, "C", SHAPE(d[N], d[N]));
}

static void reference(const struct ref *r, real *const in[], real *const out[], const long d[],
                      const double h[])
{
    (void)h;
    r->matmul(out[0], in[0], in[1], d[N], d[N], d[N]);
}

static long reduction(const long d[])
{
    return d[N];
}

const struct problem problem = {PROBLEM_ABI, SIZES(sizes), .tensors = tensors,
                                .reference = reference, .reduction = reduction};
