/*
 * Mean squared error in one launch: blocks sum squared differences with float4 loads in a
 * grid-stride loop, each leaves a partial sum, and the block that finishes last adds those up. The
 * inputs start at a multiple of 16 bytes, as allocated memory does.
 */

constexpr int THREADS = 128;
constexpr int VECTORS = 4; /* a thread's share, as long as the grid is not at its limit */
constexpr int MAX_BLOCKS = 1024;

/* The sum of v over the block, in all its threads; `scratch` has an element for each of them, whose
 * number is a power of two. */
__device__ float block_sum(float v, float *scratch)
{
    int tid = threadIdx.x;
    scratch[tid] = v;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s)
            scratch[tid] += scratch[tid + s];
        __syncthreads();
    }
    return scratch[0];
}

__device__ float squared_differences(const float *__restrict__ p, const float *__restrict__ t,
                                     long n)
{
    long start = (long)blockIdx.x * blockDim.x + threadIdx.x;
    long step = (long)gridDim.x * blockDim.x;
    long vectors = n / 4;
    const float4 *p4 = (const float4 *)p;
    const float4 *t4 = (const float4 *)t;

    float sum = 0.0f;
    for (long i = start; i < vectors; i += step) {
        float4 a = p4[i], b = t4[i];
        float dx = a.x - b.x, dy = a.y - b.y, dz = a.z - b.z, dw = a.w - b.w;
        sum += dx * dx + dy * dy + dz * dz + dw * dw;
    }
#pragma unroll 1 /* three at most */
    for (long i = vectors * 4 + start; i < n; i += step) {
        float d = p[i] - t[i];
        sum += d * d;
    }
    return sum;
}

__global__ void mse(const float *__restrict__ p, const float *__restrict__ t, float *__restrict__ y,
                    volatile float *partial, unsigned *finished, long n)
{
    __shared__ float scratch[THREADS];
    __shared__ bool last;

    float sum = block_sum(squared_differences(p, t, n), scratch);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
        __threadfence();
        last = atomicAdd(finished, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last)
        return;

    float total = 0.0f;
    for (unsigned i = threadIdx.x; i < gridDim.x; i += blockDim.x)
        total += partial[i];
    total = block_sum(total, scratch);
    if (threadIdx.x == 0)
        y[0] = total / n;
}

extern "C" void launch(float *const in[], float *const out[], const long dim[])
{
    long n = dim[0] * dim[1];
    long share = THREADS * VECTORS * 4;
    unsigned blocks = min((n + share - 1) / share, (long)MAX_BLOCKS);

    float *partial;
    unsigned *finished;
    cudaMallocAsync(&partial, blocks * sizeof(float), 0);
    cudaMallocAsync(&finished, sizeof(unsigned), 0);
    cudaMemsetAsync(finished, 0, sizeof(unsigned), 0);
    mse<<<blocks, THREADS>>>(in[0], in[1], out[0], partial, finished, n);
    cudaFreeAsync(partial, 0);
    cudaFreeAsync(finished, 0);
}
