/*
 * A perceptron with two hidden layers: linear, ReLU, linear, ReLU, linear. A warp computes the dot
 * products of one row of the weights with two samples. Long rows are split between two warps that
 * add to the zeroed output atomically, two terms in either order giving the same sum. The ReLU of a
 * layer is applied by the next one when it loads.
 */
constexpr int LANES = 32;
constexpr int WARPS = 4;
constexpr int SAMPLES = 2;
constexpr long LONG_ROW = 1024;

__host__ __device__ long ceil_div(long a, long b)
{
    return (a + b - 1) / b;
}

/* y += f(x) Wᵀ + bias, f being the ReLU or nothing. A warp serves one part of the inputs, two
 * samples and one output. */
template <bool relu_input>
__global__ void add_linear(float *y, const float *x, const float *w, const float *bias, long batch,
                           long inputs, long outputs, long parts)
{
    const int lane = threadIdx.x % LANES;
    long index = (long)blockIdx.x * WARPS + threadIdx.x / LANES;
    const long part = index % parts;
    index /= parts;
    const long pairs = ceil_div(batch, SAMPLES);
    const long first = index % pairs * SAMPLES;
    const long output = index / pairs;
    if (output >= outputs)
        return;

    const long length = ceil_div(inputs, parts);
    const long end = min((part + 1) * length, inputs);
    float sum[SAMPLES] = {0.0f, 0.0f};
    for (long k = part * length + lane; k < end; k += LANES) {
        const float weight = __ldg(&w[output * inputs + k]);
        for (int s = 0; s < SAMPLES; s++) {
            if (first + s >= batch)
                break;
            float v = x[(first + s) * inputs + k];
            if (relu_input)
                v = v < 0.0f ? 0.0f : v;
            sum[s] = fmaf(weight, v, sum[s]);
        }
    }

    for (int s = 0; s < SAMPLES && first + s < batch; s++) {
        float total = sum[s];
        for (int offset = LANES / 2; offset > 0; offset >>= 1)
            total += __shfl_xor_sync(0xffffffffu, total, offset);
        if (lane == 0) {
            if (part == 0)
                total += bias[output];
            atomicAdd(&y[(first + s) * outputs + output], total);
        }
    }
}

extern "C" void launch(float *const in[], float *const out[], const long dim[])
{
    const long batch = dim[0];
    const long width[] = {dim[1], dim[2], dim[3], dim[4]};

    float *hidden[2] = {nullptr, nullptr};
    cudaMallocAsync(&hidden[0], batch * width[1] * sizeof(float), 0);
    cudaMallocAsync(&hidden[1], batch * width[2] * sizeof(float), 0);

    const float *x = in[6];
    for (int layer = 0; layer < 3; layer++) {
        const float *weight = in[2 * layer];
        const float *bias = in[2 * layer + 1];
        float *y = layer < 2 ? hidden[layer] : out[0];
        const long inputs = width[layer];
        const long outputs = width[layer + 1];

        const long parts = inputs > LONG_ROW ? 2 : 1;
        const long warps = ceil_div(batch, SAMPLES) * outputs * parts;
        const long grid = ceil_div(warps, WARPS);
        const int block = WARPS * LANES;

        cudaMemsetAsync(y, 0, batch * outputs * sizeof(float), 0);
        if (layer == 0)
            add_linear<false><<<grid, block>>>(y, x, weight, bias, batch, inputs, outputs, parts);
        else
            add_linear<true><<<grid, block>>>(y, x, weight, bias, batch, inputs, outputs, parts);
        x = y;
    }

    cudaFreeAsync(hidden[0], 0);
    cudaFreeAsync(hidden[1], 0);
}
