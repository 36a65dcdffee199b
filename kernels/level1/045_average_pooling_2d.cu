/*
 * Average pooling over square windows that do not overlap: a block an output row. The block sums
 * whole columns of the windows into shared memory, a strip at a time, and then the columns of each
 * window. A window is at most 12,288 wide (48 KB of shared memory).
 */

constexpr int THREADS = 128;

__global__ void average_pool(const float *__restrict__ x, float *__restrict__ y, int h, int w,
                             int out_h, int out_w, int kernel, int windows)
{
    extern __shared__ float column_sum[];

    int out_row = blockIdx.x % out_h;
    long plane = blockIdx.x / out_h;
    const float *band = x + (plane * h + (long)out_row * kernel) * w;
    float *out = y + (plane * out_h + out_row) * out_w;
    float area = (float)kernel * kernel;

    for (int first = 0; first < out_w; first += windows) {
        int here = min(windows, out_w - first);
        for (int c = threadIdx.x; c < here * kernel; c += blockDim.x) {
            const float *top = band + first * kernel + c;
            float sum = 0.0f;
            for (int r = 0; r < kernel; r++)
                sum += __ldg(&top[(long)r * w]);
            column_sum[c] = sum;
        }
        __syncthreads();

        for (int i = threadIdx.x; i < here; i += blockDim.x) {
            float sum = 0.0f;
            for (int s = 0; s < kernel; s++)
                sum += column_sum[i * kernel + s];
            out[first + i] = sum / area;
        }
        __syncthreads(); /* the next strip reuses the sums */
    }
}

extern "C" void launch(float *const in[], float *const out[], const long dim[])
{
    long planes = dim[0] * dim[1];
    int h = dim[2], w = dim[3], kernel = dim[4];

    int out_h = h / kernel, out_w = w / kernel;
    int windows = kernel < THREADS ? THREADS / kernel : 1;
    unsigned blocks = planes * out_h;
    size_t shared = (size_t)windows * kernel * sizeof(float);
    average_pool<<<blocks, THREADS, shared>>>(in[0], out[0], h, w, out_h, out_w, kernel, windows);
}
