#include "problem.h"

enum { batch_size, in_channels, out_channels, height, width, kernel_size };

static const struct size sizes[] = {
    [batch_size] = {"batch_size", .official = 128, .small = 2},
    [in_channels] = {"in_channels", .official = 64, .small = 3},
    [out_channels] = {"out_channels", .official = 128, .small = 4},
    [height] = {"height", .official = 128, .small = 10},
    [width] = {"width", .official = 128, .small = 12},
    [kernel_size] = {"kernel_size", .official = 3, .small = 2},
};

static const char *invalid(const long d[])
{
    if (d[kernel_size] > d[height] || d[kernel_size] > d[width])
        return "the window is larger than the image";
    return NULL;
}

static long terms(const long d[])
{
    return d[in_channels] * d[kernel_size] * d[kernel_size];
}

static void tensors(struct layout *l, const long d[])
{
    long k = d[kernel_size], out_h = d[height] - k + 1, out_w = d[width] - k + 1;
    parameter(l, "bias", normal(0, 1), SHAPE(d[out_channels], 1, 1));
    parameter(l, "conv.weight", initial(terms(d)), SHAPE(d[out_channels], d[in_channels], k, k));
    parameter(l, "conv.bias", initial(terms(d)), SHAPE(d[out_channels]));
    input(l, "x", uniform(0, 1), SHAPE(d[batch_size], d[in_channels], d[height], d[width]));
    output(l, "y", SHAPE(d[batch_size], d[out_channels], out_h, out_w));
}

static void reference(const struct ref *r, real *const in[], real *const out[], const long d[],
                      const double h[])
{
    (void)h;
    long k = d[kernel_size], inner = (d[height] - k + 1) * (d[width] - k + 1);
    long n = d[batch_size] * d[out_channels] * inner;
    real *convolved = r->scratch(n), *positive = r->scratch(n);
    r->conv2d(convolved, in[3], in[1], in[2], d[batch_size], d[in_channels], d[height], d[width],
              d[out_channels], k, k, 1, 0, 1);
    r->relu(positive, convolved, n);
    r->add_channel(out[0], positive, in[0], d[batch_size], d[out_channels], inner);
}

const struct problem problem = {PROBLEM_ABI, SIZES(sizes), .invalid = invalid, .tensors = tensors,
                                .reference = reference, .reduction = terms};
