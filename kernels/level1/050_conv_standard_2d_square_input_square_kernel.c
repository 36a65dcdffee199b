#include "problem.h"

/* All but batch_size are literals of the module: the first layer of AlexNet. */
enum { batch_size, channels, image, filters, kernel_size, stride, padding };

static const struct size sizes[] = {
    [batch_size] = {"batch_size", .official = 256, .small = 2},
    [channels] = {"channels", .official = 3, .small = 3},
    [image] = {"image", .official = 224, .small = 40},
    [filters] = {"filters", .official = 96, .small = 7},
    [kernel_size] = {"kernel_size", .official = 11, .small = 5},
    [stride] = {"stride", .official = 4, .small = 4},
    [padding] = {"padding", .official = 2, .small = 1},
};

static const char *invalid(const long d[])
{
    if (d[kernel_size] < 1 || d[stride] < 1)
        return "only the padding may be 0";
    if (d[kernel_size] > d[image] + 2 * d[padding])
        return "the window is larger than the padded image";
    return NULL;
}

static long terms(const long d[])
{
    return d[channels] * d[kernel_size] * d[kernel_size];
}

static void tensors(struct layout *l, const long d[])
{
    long k = d[kernel_size], out = (d[image] + 2 * d[padding] - k) / d[stride] + 1;
    parameter(l, "conv1.weight", initial(terms(d)), SHAPE(d[filters], d[channels], k, k));
    parameter(l, "conv1.bias", initial(terms(d)), SHAPE(d[filters]));
    input(l, "x", uniform(0, 1), SHAPE(d[batch_size], d[channels], d[image], d[image]));
    output(l, "y", SHAPE(d[batch_size], d[filters], out, out));
}

static void reference(const struct ref *r, real *const in[], real *const out[], const long d[],
                      const double h[])
{
    (void)h;
    r->conv2d(out[0], in[2], in[0], in[1], d[batch_size], d[channels], d[image], d[image],
              d[filters], d[kernel_size], d[kernel_size], d[stride], d[padding], 1);
}

const struct problem problem = {PROBLEM_ABI, SIZES(sizes), .invalid = invalid, .tensors = tensors,
                                .reference = reference, .reduction = terms};
