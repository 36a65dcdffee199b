/* conv - convolutions of images. */
#include "ref.cuh"

static __global__ void conv2d(real *y, const real *x, const real *w, const real *b, long elements,
                              long c, long h, long wd, long f, long kh, long kw, long out_h,
                              long out_w, long stride, long padding, long dilation)
{
    long i = element();
    if (i >= elements)
        return;
    long filter = i / (out_h * out_w) % f;
    const real *image = x + i / (out_h * out_w * f) * c * h * wd;
    const real *taps = w + filter * c * kh * kw;
    long top = i / out_w % out_h * stride - padding, left = i % out_w * stride - padding;
    summation sum;
    for (long k = 0; k < c; k++) {
        for (long r = 0; r < kh; r++) {
            for (long s = 0; s < kw; s++) {
                long row = top + r * dilation, column = left + s * dilation;
                if (row >= 0 && row < h && column >= 0 && column < wd)
                    sum.add(image[(k * h + row) * wd + column] * taps[(k * kh + r) * kw + s]);
            }
        }
    }
    y[i] = b ? sum.total() + b[filter] : sum.total();
}

void ref_conv2d(real *y, const real *x, const real *w, const real *b, long n, long c, long h,
                long wd, long f, long kh, long kw, long stride, long padding, long dilation)
{
    long out_h = (h + 2 * padding - dilation * (kh - 1) - 1) / stride + 1;
    long out_w = (wd + 2 * padding - dilation * (kw - 1) - 1) / stride + 1;
    long elements = n * f * out_h * out_w;
    conv2d<<<blocks(elements), BLOCK>>>(y, x, w, b, elements, c, h, wd, f, kh, kw, out_h, out_w,
                                        stride, padding, dilation);
}

/*
 * Tap r carries row i of the input to row i × stride + r − padding of the output: the taps that
 * reach a row of the output are `stride` apart, and come from one row of the input after another,
 * downwards.
 */
static __global__ void conv_transpose2d(real *y, const real *x, const real *w, const real *b,
                                        long elements, long c, long h, long wd, long f, long k,
                                        long out_h, long out_w, long stride, long padding)
{
    long i = element();
    if (i >= elements)
        return;
    long filter = i / (out_h * out_w) % f;
    const real *image = x + i / (out_h * out_w * f) * c * h * wd;
    long row = i / out_w % out_h + padding, column = i % out_w + padding;
    long bottom = row / stride, right = column / stride;
    summation sum;
    for (long channel = 0; channel < c; channel++) {
        const real *plane = image + channel * h * wd;
        const real *taps = w + (channel * f + filter) * k * k;
        for (long r = row % stride, in_row = bottom; r < k && in_row >= 0; r += stride, in_row--) {
            if (in_row >= h)
                continue;
            for (long s = column % stride, at = right; s < k && at >= 0; s += stride, at--)
                if (at < wd)
                    sum.add(plane[in_row * wd + at] * taps[r * k + s]);
        }
    }
    y[i] = b ? sum.total() + b[filter] : sum.total();
}

void ref_conv_transpose2d(real *y, const real *x, const real *w, const real *b, long n, long c,
                          long h, long wd, long f, long k, long stride, long padding)
{
    long out_h = (h - 1) * stride - 2 * padding + k;
    long out_w = (wd - 1) * stride - 2 * padding + k;
    long elements = n * f * out_h * out_w;
    conv_transpose2d<<<blocks(elements), BLOCK>>>(y, x, w, b, elements, c, h, wd, f, k, out_h,
                                                  out_w, stride, padding);
}
