#include "problem.h"

enum { batch_size, channels, height, width, kernel_size, stride, padding, dilation };

static const struct size sizes[] = {
    [batch_size] = {"batch_size", .official = 32, .small = 2},
    [channels] = {"channels", .official = 64, .small = 5},
    [height] = {"height", .official = 512, .small = 29},
    [width] = {"width", .official = 512, .small = 37},
    [kernel_size] = {"kernel_size", .official = 4, .small = 4},
    [stride] = {"stride", .official = 1, .small = 3},
    [padding] = {"padding", .official = 1, .small = 1},
    [dilation] = {"dilation", .official = 1, .small = 2},
};

static long pooled(long extent, const long d[])
{
    return (extent + 2 * d[padding] - d[dilation] * (d[kernel_size] - 1) - 1) / d[stride] + 1;
}

static const char *invalid(const long d[])
{
    long window = d[dilation] * (d[kernel_size] - 1) + 1;
    if (d[kernel_size] < 1 || d[stride] < 1 || d[dilation] < 1)
        return "only the padding may be 0";
    if (2 * d[padding] > d[kernel_size])
        return "the padding is more than half the window";
    if (window > d[height] + 2 * d[padding] || window > d[width] + 2 * d[padding])
        return "the window is larger than the padded image";
    return NULL;
}

static void tensors(struct layout *l, const long d[])
{
    input(l, "x", uniform(0, 1), SHAPE(d[batch_size], d[channels], d[height], d[width]));
    output(l, "y", SHAPE(d[batch_size], d[channels], pooled(d[height], d), pooled(d[width], d)));
}

static void reference(const struct ref *r, real *const in[], real *const out[], const long d[],
                      const double h[])
{
    (void)h;
    r->maxpool2d(out[0], in[0], d[batch_size] * d[channels], d[height], d[width], d[kernel_size],
                 d[stride], d[padding], d[dilation]);
}

/* A maximum adds nothing up. */
static long reduction(const long d[])
{
    (void)d;
    return 1;
}

const struct problem problem = {PROBLEM_ABI, SIZES(sizes), .invalid = invalid, .tensors = tensors,
                                .reference = reference, .reduction = reduction};
