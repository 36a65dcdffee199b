/*
 * Convolution, ReLU and a second bias in one kernel: a block computes an 8 x 8 tile of one output
 * plane, and stages each input channel's tile, with its halo, in shared memory. A window is at most
 * 96 wide (48 KB of shared memory).
 */

constexpr int TILE = 8;

struct shape {
    int in_channels, out_channels, h, w, kernel;
};

/* tile[r][c] = plane[top + r, left + c] for a side x side tile; 0 outside the plane. */
__device__ void load_tile(float *tile, const float *__restrict__ plane, int top, int left, int side,
                          int h, int w)
{
    int tid = threadIdx.y * blockDim.x + threadIdx.x;
    for (int i = tid; i < side * side; i += blockDim.x * blockDim.y) {
        int row = top + i / side;
        int column = left + i % side;
        tile[i] = row < h && column < w ? plane[(long)row * w + column] : 0.0f;
    }
}

__global__ void conv_relu_bias(const float *__restrict__ x, const float *__restrict__ weight,
                               const float *__restrict__ conv_bias, const float *__restrict__ bias,
                               float *__restrict__ y, shape p, int tiles_h, int tiles_w)
{
    extern __shared__ float tile[];

    int out_h = p.h - p.kernel + 1, out_w = p.w - p.kernel + 1;
    int side = TILE + p.kernel - 1;
    int tx = threadIdx.x, ty = threadIdx.y;

    long b = blockIdx.x;
    int left = b % tiles_w * TILE;
    b /= tiles_w;
    int top = b % tiles_h * TILE;
    b /= tiles_h;
    int f = b % p.out_channels;
    long n = b / p.out_channels;

    float v = 0.0f;
    for (int c = 0; c < p.in_channels; c++) {
        load_tile(tile, x + (n * p.in_channels + c) * p.h * p.w, top, left, side, p.h, p.w);
        __syncthreads();

        const float *taps = weight + ((long)f * p.in_channels + c) * p.kernel * p.kernel;
        for (int r = 0; r < p.kernel; r++) {
#pragma unroll 1 /* windows are small */
            for (int s = 0; s < p.kernel; s++)
                v += tile[(ty + r) * side + tx + s] * __ldg(&taps[r * p.kernel + s]);
        }
        __syncthreads(); /* the next channel reuses the tile */
    }

    int row = top + ty, column = left + tx;
    if (row < out_h && column < out_w) {
        v = v + conv_bias[f];
        v = fmaxf(v, 0.0f);
        v = v + bias[f];
        y[((n * p.out_channels + f) * out_h + row) * out_w + column] = v;
    }
}

extern "C" void launch(float *const in[], float *const out[], const long dim[])
{
    const float *bias = in[0], *weight = in[1], *conv_bias = in[2], *x = in[3];
    long batch = dim[0];
    shape p = {(int)dim[1], (int)dim[2], (int)dim[3], (int)dim[4], (int)dim[5]};

    int tiles_h = (p.h - p.kernel + TILE) / TILE;
    int tiles_w = (p.w - p.kernel + TILE) / TILE;
    int side = TILE + p.kernel - 1;
    unsigned blocks = batch * p.out_channels * tiles_h * tiles_w;
    size_t shared = side * side * sizeof(float);
    conv_relu_bias<<<blocks, dim3(TILE, TILE), shared>>>(x, weight, conv_bias, bias, out[0], p,
                                                         tiles_h, tiles_w);
}
