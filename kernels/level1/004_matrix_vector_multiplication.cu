/*
 * y = A x for a wide matrix, in two stages. A row is cut into chunks; one warp computes the dot
 * product of one chunk, and a second kernel adds up the partial results of each row. A is read
 * once, as float4 from the first to the last 16-byte boundary in a chunk; what is left at both
 * ends is read element by element.
 */
constexpr int LANES = 32;
constexpr int WARPS = 8;
constexpr long MIN_CHUNK = 128;
constexpr long MAX_CHUNKS = 64;

__device__ float warp_sum(float value)
{
    for (int offset = LANES / 2; offset > 0; offset /= 2)
        value += __shfl_down_sync(0xffffffffu, value, offset);
    return value;
}

/* partial[row, c] = the sum over chunk c of the products in the row; one warp for each (row, c). */
__global__ void dot_chunks(float *partial, const float *a, const float *x, long rows, long columns,
                           long chunk, long chunks)
{
    const long warp = ((long)blockIdx.x * blockDim.x + threadIdx.x) / LANES;
    const int lane = threadIdx.x % LANES;
    if (warp >= rows * chunks)
        return;

    const long row = warp / chunks;
    const long first = warp % chunks * chunk;
    const long length = columns - first < chunk ? columns - first : chunk;
    const float *ac = a + row * columns + first;
    const float *xc = x + first;

    const long misaligned = (unsigned long)ac % sizeof(float4) / sizeof(float);
    long head = (4 - misaligned) % 4;
    if (head > length)
        head = length;
    const long quads = (length - head) / 4;
    const float4 *a4 = reinterpret_cast<const float4 *>(ac + head);
    const float *x4 = xc + head;

    float sum = 0.0f;
    if (lane < head)
        sum = ac[lane] * xc[lane];
    for (long q = lane; q < quads; q += LANES) {
        const float4 v = a4[q];
        sum = fmaf(v.x, __ldg(&x4[4 * q]), sum);
        sum = fmaf(v.y, __ldg(&x4[4 * q + 1]), sum);
        sum = fmaf(v.z, __ldg(&x4[4 * q + 2]), sum);
        sum = fmaf(v.w, __ldg(&x4[4 * q + 3]), sum);
    }
#pragma unroll 1 /* three at most */
    for (long i = head + 4 * quads + lane; i < length; i += LANES)
        sum = fmaf(ac[i], xc[i], sum);

    sum = warp_sum(sum);
    if (lane == 0)
        partial[row * chunks + warp % chunks] = sum;
}

/* y[row] = the sum of the row's partial results; one warp a row. */
__global__ void add_chunks(float *y, const float *partial, long rows, long chunks)
{
    const long row = (long)blockIdx.x * WARPS + threadIdx.x / LANES;
    const int lane = threadIdx.x & (LANES - 1);
    if (row >= rows)
        return;

    float sum = 0.0f;
#pragma unroll 1 /* MAX_CHUNKS are two a lane */
    for (long c = lane; c < chunks; c += LANES)
        sum += partial[row * chunks + c];
    sum = warp_sum(sum);
    if (lane == 0)
        y[row] = sum;
}

extern "C" void launch(float *const in[], float *const out[], const long dim[])
{
    const long rows = dim[0];
    const long columns = dim[1];

    long chunk = (columns + MAX_CHUNKS - 1) / MAX_CHUNKS;
    if (chunk < MIN_CHUNK)
        chunk = MIN_CHUNK;
    const long chunks = (columns + chunk - 1) / chunk;

    float *partial = nullptr;
    cudaMallocAsync(&partial, rows * chunks * sizeof(float), 0);
    dot_chunks<<<(rows * chunks + WARPS - 1) / WARPS, WARPS * LANES>>>(partial, in[0], in[1], rows,
                                                                       columns, chunk, chunks);
    add_chunks<<<(rows + WARPS - 1) / WARPS, WARPS * LANES>>>(out[0], partial, rows, chunks);
    cudaFreeAsync(partial, 0);
}
