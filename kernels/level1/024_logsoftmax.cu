/*
 * Logarithm of softmax along rows in two passes (online softmax): the first keeps the maximum so
 * far and the sum of exp(x − maximum), and rescales the sum when the maximum grows; the second
 * writes x − maximum − log(sum). Pairs are merged by warp shuffles, then among the warps by the
 * first one, which publishes the result in slot 0. A block takes every gridDim.x-th row.
 */
constexpr int THREADS = 256;
constexpr int WARPS = THREADS / 32;
constexpr unsigned FULL_WARP = 0xffffffffu;

/* Adds `sum` exponentials relative to `maximum` to a running pair. Nothing yet: −∞ and 0. */
__device__ void merge(float &running_max, float &running_sum, float maximum, float sum)
{
    const float top = fmaxf(running_max, maximum);
    if (top == -INFINITY)
        running_sum += sum;
    else
        running_sum = running_sum * expf(running_max - top) + sum * expf(maximum - top);
    running_max = top;
}

__device__ void warp_merge(float &running_max, float &running_sum)
{
#pragma unroll
    for (int offset = 16; offset > 0; offset >>= 1) {
        const float other_max = __shfl_xor_sync(FULL_WARP, running_max, offset);
        const float other_sum = __shfl_xor_sync(FULL_WARP, running_sum, offset);
        merge(running_max, running_sum, other_max, other_sum);
    }
}

__global__ void log_softmax_rows(float *y, const float *x, long rows, long columns)
{
    extern __shared__ float scratch[];
    float *warp_max = scratch;
    float *warp_sum = scratch + WARPS;

    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;

    for (long row = blockIdx.x; row < rows; row += gridDim.x) {
        const float *values = x + row * columns;

        float running_max = -INFINITY;
        float running_sum = 0.0f;
        for (long i = threadIdx.x; i < columns; i += blockDim.x)
            merge(running_max, running_sum, __ldg(&values[i]), 1.0f);

        warp_merge(running_max, running_sum);
        if (lane == 0) {
            warp_max[warp] = running_max;
            warp_sum[warp] = running_sum;
        }
        __syncthreads();

        if (warp == 0) {
            running_max = lane < WARPS ? warp_max[lane] : -INFINITY;
            running_sum = lane < WARPS ? warp_sum[lane] : 0.0f;
            warp_merge(running_max, running_sum);
            if (lane == 0) {
                warp_max[0] = running_max;
                warp_sum[0] = logf(running_sum);
            }
        }
        __syncthreads();

        const float maximum = warp_max[0];
        const float log_sum = warp_sum[0];
        for (long i = threadIdx.x; i < columns; i += blockDim.x)
            y[row * columns + i] = values[i] - maximum - log_sum;
        __syncthreads();
    }
}

extern "C" void launch(float *const in[], float *const out[], const long dim[])
{
    const long rows = dim[0];
    const long columns = dim[1];
    const long blocks = (rows + 1) / 2;
    const size_t bytes = 2 * WARPS * sizeof(float);
    log_softmax_rows<<<blocks, THREADS, bytes>>>(out[0], in[0], rows, columns);
}
