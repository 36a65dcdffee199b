/*
 * Cumulative sum along the last axis: a block a row, which it scans in chunks. Each thread sums
 * four consecutive elements, shuffles scan the threads of a warp, the first warp scans the warps'
 * totals, and a carry joins the chunks.
 */

constexpr int THREADS = 128;
constexpr int ITEMS = 4;
constexpr int WARPS = THREADS / 32;
constexpr unsigned ALL_LANES = 0xffffffff;

/* Inclusive scan over the lanes of a warp. */
__device__ float warp_scan(float v)
{
    int lane = threadIdx.x % 32;
    for (int step = 1; step < 32; step *= 2) {
        float below = __shfl_up_sync(ALL_LANES, v, step);
        if (lane >= step)
            v += below;
    }
    return v;
}

__global__ void cumsum_rows(const float *__restrict__ x, float *__restrict__ y, long columns)
{
    __shared__ float warp_total[WARPS];

    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const float *row = x + blockIdx.x * columns;
    float *out = y + blockIdx.x * columns;
    float carry = 0.0f;

    for (long first = 0; first < columns; first += THREADS * ITEMS) {
        long base = first + threadIdx.x * ITEMS;
        float prefix[ITEMS];
        float sum = 0.0f;
        for (int k = 0; k < ITEMS; k++) {
            sum += base + k < columns ? row[base + k] : 0.0f;
            prefix[k] = sum;
        }

        float scanned = warp_scan(sum);
        float before = __shfl_up_sync(ALL_LANES, scanned, 1);
        if (lane == 0)
            before = 0.0f;
        if (lane == 31)
            warp_total[warp] = scanned;
        __syncthreads();

        if (warp == 0) {
            float total = warp_scan(lane < WARPS ? warp_total[lane] : 0.0f);
            if (lane < WARPS)
                warp_total[lane] = total;
        }
        __syncthreads();

        if (warp > 0)
            before += warp_total[warp - 1];
        for (int k = 0; k < ITEMS; k++) {
            if (base + k < columns)
                out[base + k] = carry + before + prefix[k];
        }
        carry += warp_total[WARPS - 1];
        __syncthreads(); /* the next chunk reuses the totals */
    }
}

extern "C" void launch(float *const in[], float *const out[], const long dim[])
{
    unsigned rows = dim[0];
    cumsum_rows<<<rows, THREADS>>>(in[0], out[0], dim[1]);
}
