// No mutant that its rules make may be witnessed: each edit leaves the meaning as it is. Nor may the race
// oracle object: warp meetings, barriers, and a fence with a counter order what the threads share.
__global__ void row_sum(const float *x, float *y, float *totals, unsigned *finished, int rows, int columns)
{
    __shared__ float partial[64];
    int row = blockIdx.x;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < columns; i += 64)
        sum += x[row * columns + i];
    partial[threadIdx.x] = sum;
    for (int step = 16; step > 0; step /= 2) {
        __syncwarp();
        if (threadIdx.x % 32 < step)
            partial[threadIdx.x] += partial[threadIdx.x + step];
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        totals[row] = partial[0] + partial[32];
        __threadfence();
        if (atomicAdd(finished, 1u) == rows - 1) {
            __threadfence();
            for (int k = 0; k < rows; k++)
                y[k] = totals[k];
        }
    }
}

extern "C" void launch(float *const in[], float *const out[], const long dim[])
{
    int rows = dim[0];
    int columns = dim[1];
    float *totals;
    unsigned *finished;
    cudaMalloc(&totals, rows * sizeof(float));
    cudaMalloc(&finished, sizeof(unsigned));
    cudaMemset(finished, 0, sizeof(unsigned));
    row_sum<<<rows, 64>>>(in[0], out[0], totals, finished, rows, columns);
    cudaFree(finished);
    cudaFree(totals);
}
