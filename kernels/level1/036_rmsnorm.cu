/*
 * RMSNorm over dimension 1 of [batch, features, dim1, dim2]: each position of the two last
 * dimensions is divided by the root of the mean square over its features. A block serves 16
 * neighbouring positions, one a column of threads; the 4 threads of a column share the features.
 */
constexpr int POSITIONS = 16;
constexpr int SLICES = 4;

__global__ void rmsnorm_channels(float *y, const float *x, long features, long inner, long tiles)
{
    __shared__ float partial[SLICES][POSITIONS];
    __shared__ float inverse_rms[POSITIONS];

    const long sample = blockIdx.x / tiles;
    const long tile = blockIdx.x % tiles;
    const long position = tile * POSITIONS + threadIdx.x;
    const bool inside = position < inner;

    float squares = 0.0f;
    if (inside) {
        for (long c = threadIdx.y; c < features; c += SLICES) {
            const float v = x[(sample * features + c) * inner + position];
            squares += v * v;
        }
    }
    partial[threadIdx.y][threadIdx.x] = squares;
    __syncthreads();

    if (threadIdx.y == 0) {
        float total = partial[0][threadIdx.x];
        for (int s = 1; s < SLICES; s++)
            total += partial[s][threadIdx.x];
        const float mean = total / features;
        inverse_rms[threadIdx.x] = rsqrtf(mean + 1e-5f);
    }
    __syncthreads();

    if (!inside)
        return;
    const float scale = inverse_rms[threadIdx.x];
    for (long c = threadIdx.y; c < features; c += SLICES) {
        const long at = (sample * features + c) * inner + position;
        y[at] = x[at] * scale;
    }
}

extern "C" void launch(float *const in[], float *const out[], const long dim[])
{
    const long batch = dim[0];
    const long features = dim[1];
    const long inner = dim[2] * dim[3];
    const long tiles = (inner + POSITIONS - 1) / POSITIONS;
    const dim3 block(POSITIONS, SLICES);
    rmsnorm_channels<<<batch * tiles, block>>>(out[0], in[0], features, inner, tiles);
}
