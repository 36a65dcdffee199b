/*
 * Transposed 2-D convolution, stride 1, no padding, in gather form: every output pixel collects the
 * products that a scattering implementation would add to it. Rows and planes are grid-stride loops,
 * since those axes of a grid end at 65,535.
 */

constexpr int TILE_W = 16;
constexpr int TILE_H = 8;

struct shape {
    int in_channels, out_channels, h, w, kernel;
};

/* Sum over r, s of image[row - r, column - s] * taps[r, s], where that pixel exists. */
__device__ float gather(float sum, const float *__restrict__ image, const float *__restrict__ taps,
                        int row, int column, int h, int w, int kernel)
{
    for (int r = 0; r < kernel; r++) {
        int in_row = row - r;
        if (in_row < 0 || in_row >= h)
            continue;
        for (int s = 0; s < kernel; s++) {
            int in_column = column - s;
            if (in_column < 0 || in_column >= w)
                continue;
            float v = __ldg(&image[(long)in_row * w + in_column]);
            sum = fmaf(v, __ldg(&taps[r * kernel + s]), sum);
        }
    }
    return sum;
}

__global__ void conv_transpose(const float *__restrict__ x, const float *__restrict__ weight,
                               float *__restrict__ y, long batch, shape p)
{
    int out_h = p.h + p.kernel - 1, out_w = p.w + p.kernel - 1;
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= out_w)
        return;

    for (long plane = blockIdx.z; plane < batch * p.out_channels; plane += gridDim.z) {
        long n = plane / p.out_channels;
        int f = plane % p.out_channels;
        for (int row = blockIdx.y * blockDim.y + threadIdx.y; row < out_h;
             row += gridDim.y * blockDim.y) {
            float sum = 0.0f;
            for (int c = 0; c < p.in_channels; c++) {
                const float *image = x + (n * p.in_channels + c) * p.h * p.w;
                const float *taps = weight + ((long)c * p.out_channels + f) * p.kernel * p.kernel;
                sum = gather(sum, image, taps, row, column, p.h, p.w, p.kernel);
            }
            y[(plane * out_h + row) * out_w + column] = sum;
        }
    }
}

extern "C" void launch(float *const in[], float *const out[], const long dim[])
{
    long batch = dim[0];
    shape p = {(int)dim[1], (int)dim[2], (int)dim[4], (int)dim[5], (int)dim[3]};

    int out_h = p.h + p.kernel - 1, out_w = p.w + p.kernel - 1;
    dim3 block(TILE_W, TILE_H);
    dim3 grid((out_w + TILE_W - 1) / TILE_W, min((out_h + TILE_H - 1) / TILE_H, 65535),
              min(batch * p.out_channels, 65535L));
    conv_transpose<<<grid, block>>>(in[1], in[0], out[0], batch, p);
}
