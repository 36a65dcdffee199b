/*
 * Transposed 2-D convolution, stride 1, no padding, in gather form: every output pixel collects the
 * products that a scattering implementation would add to it. A thread computes one pixel in eight
 * planes, so that a pixel of the image is loaded once for all of them. The block stages the planes'
 * weights in shared memory, a chunk of taps at a time; a tap is (channel, row, column). Rows and
 * groups of planes are grid-stride loops, since those axes of a grid end at 65,535.
 */

constexpr int TILE_W = 16;
constexpr int TILE_H = 8;
constexpr int TAPS = TILE_W; /* thread (x, y) stages tap x for plane y */
constexpr int PLANES = TILE_H;

struct shape {
    int in_channels, out_channels, h, w, kernel;
};

/* The weight of one tap for one output plane; 0 where there is none. */
__device__ float tap_weight(const float *__restrict__ weight, int tap, int plane, shape p)
{
    int area = p.kernel * p.kernel, channel = tap / area;
    if (channel >= p.in_channels || plane >= p.out_channels)
        return 0.0f;
    return __ldg(&weight[((long)channel * p.out_channels + plane) * area + tap % area]);
}

/*
 * Adds to sum[f] the pixel (row, column) of plane `first_plane` + f. All threads of the block come
 * here, those outside of the output too: they stage the weights together.
 */
__device__ void gather(float *sum, const float *__restrict__ image,
                       const float *__restrict__ weight, int first_plane, int row, int column,
                       shape p)
{
    __shared__ float weights[TAPS][PLANES];

    int taps = p.in_channels * p.kernel * p.kernel;
    const float *line = image + (long)row * p.w; /* row `row` - r of the tap's channel */
    int r = 0, s = 0;

    for (int first = 0; first < taps; first += TAPS) {
        weights[threadIdx.x][threadIdx.y] =
            tap_weight(weight, first + threadIdx.x, first_plane + threadIdx.y, p);
        __syncthreads();

        int here = min(TAPS, taps - first);
#pragma unroll 1 /* the body is long enough */
        for (int k = 0; k < here; k++) {
            int in_row = row - r, in_column = column - s;
            if (in_row >= 0 && in_row < p.h && in_column >= 0 && in_column < p.w) {
                float v = __ldg(&line[in_column]);
                for (int f = 0; f < PLANES; f++)
                    sum[f] = fmaf(v, weights[k][f], sum[f]);
            }

            if (++s == p.kernel) {
                s = 0;
                line -= p.w;
                if (++r == p.kernel) {
                    r = 0;
                    line += (long)(p.h + p.kernel) * p.w;
                }
            }
        }
        __syncthreads(); /* the next chunk reuses the weights */
    }
}

__global__ void conv_transpose(const float *__restrict__ x, const float *__restrict__ weight,
                               float *__restrict__ y, long batch, shape p)
{
    int out_h = p.h + p.kernel - 1, out_w = p.w + p.kernel - 1;
    int groups = (p.out_channels + PLANES - 1) / PLANES;
    int column = blockIdx.x * blockDim.x + threadIdx.x;

    for (long g = blockIdx.z; g < batch * groups; g += gridDim.z) {
        long n = g / groups;
        int plane = g % groups * PLANES;
        const float *image = x + n * p.in_channels * p.h * p.w;

        for (int top = blockIdx.y * blockDim.y; top < out_h; top += gridDim.y * blockDim.y) {
            int row = top + threadIdx.y;
            float sum[PLANES] = {0.0f};
            gather(sum, image, weight, plane, row, column, p);

            float *out = y + ((n * p.out_channels + plane) * out_h + row) * out_w + column;
            for (int f = 0; f < PLANES; f++, out += (long)out_h * out_w) {
                if (row < out_h && column < out_w && plane + f < p.out_channels)
                    *out = sum[f];
            }
        }
    }
}

extern "C" void launch(float *const in[], float *const out[], const long dim[])
{
    long batch = dim[0];
    shape p = {(int)dim[1], (int)dim[2], (int)dim[4], (int)dim[5], (int)dim[3]};

    int out_h = p.h + p.kernel - 1, out_w = p.w + p.kernel - 1;
    int groups = (p.out_channels + PLANES - 1) / PLANES;
    dim3 block(TILE_W, TILE_H);
    dim3 grid((out_w + TILE_W - 1) / TILE_W, min((out_h + TILE_H - 1) / TILE_H, 65535),
              min(batch * groups, 65535L));
    conv_transpose<<<grid, block>>>(in[1], in[0], out[0], batch, p);
}
