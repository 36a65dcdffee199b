/*
 * Max pooling over square windows, dilated and padded with -infinity: one thread an output element,
 * which finds its image, channel, row and column by dividing a flat index.
 */

constexpr int THREADS = 256;

struct window {
    int kernel, stride, padding, dilation;
};

/* The largest element of the window whose first tap lies at (top, left); a NaN wins. */
__device__ float window_max(const float *__restrict__ plane, int h, int w, int top, int left,
                            int kernel, int dilation)
{
    float best = -INFINITY;
    for (int r = 0; r < kernel; r++) {
        int row = top + r * dilation;
        if (row < 0 || row >= h)
            continue;
        for (int s = 0; s < kernel; s++) {
            int column = left + s * dilation;
            if (column >= 0 && column < w) {
                float v = plane[(long)row * w + column];
                if (v > best || v != v)
                    best = v;
            }
        }
    }
    return best;
}

__global__ void max_pool(const float *__restrict__ x, float *__restrict__ y, long outputs,
                         int channels, int h, int w, int out_h, int out_w, window p)
{
    long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= outputs)
        return;

    long t = i;
    int out_column = t % out_w;
    t /= out_w;
    int out_row = t % out_h;
    t /= out_h;
    int channel = t % channels;
    long image = t / channels;

    const float *plane = x + (image * channels + channel) * h * w;
    int top = out_row * p.stride - p.padding;
    int left = out_column * p.stride - p.padding;
    y[i] = window_max(plane, h, w, top, left, p.kernel, p.dilation);
}

static int pooled(int extent, window p)
{
    return (extent + 2 * p.padding - p.dilation * (p.kernel - 1) - 1) / p.stride + 1;
}

extern "C" void launch(float *const in[], float *const out[], const long dim[])
{
    long batch = dim[0];
    int channels = dim[1], h = dim[2], w = dim[3];
    window p = {(int)dim[4], (int)dim[5], (int)dim[6], (int)dim[7]};

    int out_h = pooled(h, p), out_w = pooled(w, p);
    long outputs = batch * channels * out_h * out_w;
    unsigned blocks = (outputs + THREADS - 1) / THREADS;
    max_pool<<<blocks, THREADS>>>(in[0], out[0], outputs, channels, h, w, out_h, out_w, p);
}
