/*
 * LayerNorm over the last three dimensions, which make one long row; one block a row. Mean and
 * variance come from one pass (Welford), read as float4 between the 16-byte boundaries of the row;
 * partial results are merged by warp shuffles (Chan), and then by thread 0, which publishes the
 * statistics of the row.
 */
constexpr int THREADS = 128;
constexpr int WARPS = THREADS / 32;

/* Takes one value into the count, the mean and the sum of squared deviations. */
__device__ void push(float value, float &count, float &mean, float &m2)
{
    count += 1.0f;
    const float delta = value - mean;
    mean += delta / count;
    m2 += delta * (value - mean);
}

__device__ void merge(float &count, float &mean, float &m2, float other_count, float other_mean,
                      float other_m2)
{
    if (other_count == 0.0f)
        return;
    const float total = count + other_count;
    const float delta = other_mean - mean;
    mean += delta * (other_count / total);
    m2 += other_m2 + delta * delta * (count * (other_count / total));
    count = total;
}

__global__ void layernorm_rows(float *y, const float *x, const float *weight, const float *bias,
                               long columns)
{
    __shared__ float counts[WARPS], means[WARPS], m2s[WARPS];
    __shared__ float row_mean, row_scale;

    const long base = blockIdx.x * columns;
    const float *row = x + base;

    long head = (4 - (unsigned long)row / sizeof(float) % 4) % 4;
    head = head < columns ? head : columns;
    const long quads = (columns - head) / 4;
    const float4 *row4 = reinterpret_cast<const float4 *>(row + head);

    float count = 0.0f, mean = 0.0f, m2 = 0.0f;
    for (long q = threadIdx.x; q < quads; q += THREADS) {
        const float4 v = row4[q];
        push(v.x, count, mean, m2);
        push(v.y, count, mean, m2);
        push(v.z, count, mean, m2);
        push(v.w, count, mean, m2);
    }
    if (threadIdx.x < head)
        push(row[threadIdx.x], count, mean, m2);
    if (threadIdx.x < columns - head - 4 * quads)
        push(row[head + 4 * quads + threadIdx.x], count, mean, m2);

    for (int offset = 16; offset > 0; offset /= 2) {
        const float other_count = __shfl_down_sync(0xffffffff, count, offset);
        const float other_mean = __shfl_down_sync(0xffffffff, mean, offset);
        const float other_m2 = __shfl_down_sync(0xffffffff, m2, offset);
        merge(count, mean, m2, other_count, other_mean, other_m2);
    }
    if (threadIdx.x % 32 == 0) {
        counts[threadIdx.x / 32] = count;
        means[threadIdx.x / 32] = mean;
        m2s[threadIdx.x / 32] = m2;
    }
    __syncthreads();

    if (threadIdx.x == 0) {
        for (int w = 1; w < WARPS; w++)
            merge(count, mean, m2, counts[w], means[w], m2s[w]);
        row_mean = mean;
        row_scale = rsqrtf(m2 / columns + 1e-5f);
    }
    __syncthreads();

    const float centre = row_mean;
    const float scale = row_scale;
    for (long i = threadIdx.x; i < columns; i += THREADS) {
        float v = row[i] - centre;
        v = v * scale;
        v = v * weight[i];
        v = v + bias[i];
        y[base + i] = v;
    }
}

extern "C" void launch(float *const in[], float *const out[], const long dim[])
{
    const long rows = dim[0];
    const long columns = dim[1] * dim[2] * dim[3];
    layernorm_rows<<<rows, THREADS>>>(out[0], in[2], in[0], in[1], columns);
}
