/* pool - square windows that slide over planes. */
#include "ref.cuh"

static __global__ void maxpool2d(real *y, const real *x, long n, long h, long w, long out_h,
                                 long out_w, long kernel, long stride, long padding, long dilation)
{
    long i = element();
    if (i >= n)
        return;
    const real *plane = x + i / (out_h * out_w) * h * w;
    long top = i / out_w % out_h * stride - padding, left = i % out_w * stride - padding;
    real largest = -INFINITY;
    for (long r = 0; r < kernel; r++) {
        for (long s = 0; s < kernel; s++) {
            long row = top + r * dilation, column = left + s * dilation;
            if (row < 0 || row >= h || column < 0 || column >= w)
                continue;
            real value = plane[row * w + column];
            if (value > largest || value != value) /* a NaN stays */
                largest = value;
        }
    }
    y[i] = largest;
}

void ref_maxpool2d(real *y, const real *x, long planes, long h, long w, long kernel, long stride,
                   long padding, long dilation)
{
    long window = dilation * (kernel - 1) + 1;
    long out_h = (h + 2 * padding - window) / stride + 1;
    long out_w = (w + 2 * padding - window) / stride + 1;
    long n = planes * out_h * out_w;
    maxpool2d<<<blocks(n), BLOCK>>>(y, x, n, h, w, out_h, out_w, kernel, stride, padding, dilation);
}

static __global__ void avgpool2d(real *y, const real *x, long n, long h, long w, long out_h,
                                 long out_w, long kernel, long stride, long padding)
{
    long i = element();
    if (i >= n)
        return;
    const real *plane = x + i / (out_h * out_w) * h * w;
    long top = i / out_w % out_h * stride - padding, left = i % out_w * stride - padding;
    summation sum;
    for (long r = 0; r < kernel; r++) {
        for (long s = 0; s < kernel; s++) {
            long row = top + r, column = left + s;
            if (row >= 0 && row < h && column >= 0 && column < w)
                sum.add(plane[row * w + column]);
        }
    }
    y[i] = sum.total() / (kernel * kernel);
}

void ref_avgpool2d(real *y, const real *x, long planes, long h, long w, long kernel, long stride,
                   long padding)
{
    long out_h = (h + 2 * padding - kernel) / stride + 1;
    long out_w = (w + 2 * padding - kernel) / stride + 1;
    long n = planes * out_h * out_w;
    avgpool2d<<<blocks(n), BLOCK>>>(y, x, n, h, w, out_h, out_w, kernel, stride, padding);
}
