/*
 * 2-D convolution with bias: a thread computes one pixel in four filters. The block stages the four
 * filters' weights in shared memory, a chunk of taps at a time; a tap is (channel, row, column).
 */

constexpr int THREADS = 64;
constexpr int FILTERS = 4;
constexpr int TAPS = 64;

struct conv {
    int channels, image, filters, kernel, stride, padding, out;
};

/* weights[f][k] = tap first + k of filter `filter` + f; 0 where there is none. */
__device__ void stage(float (*weights)[TAPS], const float *__restrict__ w, int filter, int filters,
                      int first, int taps)
{
    for (int i = threadIdx.x; i < FILTERS * TAPS; i += blockDim.x) {
        int f = i / TAPS, k = i % TAPS;
        bool inside = filter + f < filters && first + k < taps;
        weights[f][k] = inside ? w[(long)(filter + f) * taps + first + k] : 0.0f;
    }
}

__global__ void convolve(const float *__restrict__ x, const float *__restrict__ w,
                         const float *__restrict__ bias, float *__restrict__ y, long batch, conv p)
{
    __shared__ float weights[FILTERS][TAPS];

    int pixels = p.out * p.out, area = p.kernel * p.kernel, taps = p.channels * area;
    int groups = (p.filters + FILTERS - 1) / FILTERS;
    int pixel = blockIdx.x * blockDim.x + threadIdx.x;
    int top = pixel / p.out * p.stride - p.padding;
    int left = pixel % p.out * p.stride - p.padding;

    for (long g = blockIdx.y; g < batch * groups; g += gridDim.y) {
        long n = g / groups;
        int filter = g % groups * FILTERS;
        float sum[FILTERS] = {0.0f, 0.0f, 0.0f, 0.0f};

        for (int first = 0; first < taps; first += TAPS) {
            stage(weights, w, filter, p.filters, first, taps);
            __syncthreads();

            int last = min(first + TAPS, taps);
            for (int tap = first; pixel < pixels && tap < last; tap++) {
                int channel = tap / area;
                int row = top + tap % area / p.kernel;
                int column = left + tap % p.kernel;
                if (row < 0 || row >= p.image || column < 0 || column >= p.image)
                    continue;
                float v = x[((n * p.channels + channel) * p.image + row) * p.image + column];
                for (int f = 0; f < FILTERS; f++)
                    sum[f] = fmaf(v, weights[f][tap - first], sum[f]);
            }
            __syncthreads(); /* the next chunk reuses the weights */
        }

        for (int f = 0; f < FILTERS; f++) {
            if (pixel < pixels && filter + f < p.filters)
                y[(n * p.filters + filter + f) * pixels + pixel] = sum[f] + bias[filter + f];
        }
    }
}

extern "C" void launch(float *const in[], float *const out[], const long dim[])
{
    long batch = dim[0];
    conv p = {(int)dim[1], (int)dim[2], (int)dim[3], (int)dim[4], (int)dim[5], (int)dim[6], 0};
    p.out = (p.image + 2 * p.padding - p.kernel) / p.stride + 1;

    int pixels = p.out * p.out;
    long groups = batch * ((p.filters + FILTERS - 1) / FILTERS);
    dim3 grid((pixels + THREADS - 1) / THREADS, min(groups, 65535L));
    convolve<<<grid, THREADS>>>(in[2], in[0], in[1], out[0], batch, p);
}
