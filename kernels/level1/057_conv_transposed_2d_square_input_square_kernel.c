#include "problem.h"

enum { batch_size, in_channels, out_channels, kernel_size, height, width };

static const struct size sizes[] = {
    [batch_size] = {"batch_size", .official = 8, .small = 2},
    [in_channels] = {"in_channels", .official = 64, .small = 4},
    [out_channels] = {"out_channels", .official = 64, .small = 10},
    [kernel_size] = {"kernel_size", .official = 3, .small = 3},
    [height] = {"height", .official = 1024, .small = 5},
    [width] = {"width", .official = 1024, .small = 17},
};

static void tensors(struct layout *l, const long d[])
{
    long k = d[kernel_size];
    parameter(l, "conv_transpose2d.weight", initial(d[out_channels] * k * k),
              SHAPE(d[in_channels], d[out_channels], k, k));
    input(l, "x", uniform(0, 1), SHAPE(d[batch_size], d[in_channels], d[height], d[width]));
    output(l, "y", SHAPE(d[batch_size], d[out_channels], d[height] + k - 1, d[width] + k - 1));
}

static void reference(const struct ref *r, real *const in[], real *const out[], const long d[],
                      const double h[])
{
    (void)h;
    r->conv_transpose2d(out[0], in[1], in[0], NULL, d[batch_size], d[in_channels], d[height],
                        d[width], d[out_channels], d[kernel_size], 1, 0);
}

static long reduction(const long d[])
{
    return d[in_channels] * d[kernel_size] * d[kernel_size];
}

const struct problem problem = {PROBLEM_ABI, SIZES(sizes), .tensors = tensors,
                                .reference = reference, .reduction = reduction};
