#include "problem.h"

enum { batch_size, channels, height, width, kernel_size };

/* A small output row holds two strips of the kernel under mutation; both axes leave a remainder. */
static const struct size sizes[] = {
    [batch_size] = {"batch_size", .official = 16, .small = 2},
    [channels] = {"channels", .official = 64, .small = 3},
    [height] = {"height", .official = 2048, .small = 17},
    [width] = {"width", .official = 2048, .small = 138},
    [kernel_size] = {"kernel_size", .official = 11, .small = 5},
};

static const char *invalid(const long d[])
{
    if (d[kernel_size] < 1)
        return "the window is empty";
    if (d[kernel_size] > d[height] || d[kernel_size] > d[width])
        return "the window is larger than the image";
    return NULL;
}

static void tensors(struct layout *l, const long d[])
{
    long out_h = d[height] / d[kernel_size], out_w = d[width] / d[kernel_size];
    input(l, "x", uniform(0, 1), SHAPE(d[batch_size], d[channels], d[height], d[width]));
    output(l, "y", SHAPE(d[batch_size], d[channels], out_h, out_w));
}

static void reference(const struct ref *r, real *const in[], real *const out[], const long d[],
                      const double h[])
{
    (void)h;
    r->avgpool2d(out[0], in[0], d[batch_size] * d[channels], d[height], d[width], d[kernel_size],
                 d[kernel_size], 0);
}

static long reduction(const long d[])
{
    return d[kernel_size] * d[kernel_size];
}

const struct problem problem = {PROBLEM_ABI, SIZES(sizes), .invalid = invalid, .tensors = tensors,
                                .reference = reference, .reduction = reduction};
