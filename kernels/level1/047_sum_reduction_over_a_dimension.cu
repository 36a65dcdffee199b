/*
 * Sum over one axis of a tensor seen as [outer, terms, inner]: a block owns a strip of 32 columns,
 * its eight rows of threads take every eighth term, and a tree in shared memory joins the rows.
 */

constexpr int COLUMNS = 32;
constexpr int ROWS = 8;
constexpr int SLICES = 4; /* of a block, as long as the grid is not at its limit */
constexpr long MAX_GRID_Y = 65535;

__global__ void sum_strip(const float *__restrict__ x, float *__restrict__ y, long outer,
                          long terms, long inner)
{
    __shared__ float partial[ROWS][COLUMNS];
    long column = (long)blockIdx.x * COLUMNS + threadIdx.x;

    for (long o = blockIdx.y; o < outer; o += gridDim.y) {
        float sum = 0.0f;
        if (column < inner) {
            const float *top = x + o * terms * inner + column;
            for (long k = threadIdx.y; k < terms; k += ROWS)
                sum += top[k * inner];
        }
        partial[threadIdx.y][threadIdx.x] = sum;
        __syncthreads();

        for (int s = ROWS / 2; s > 0; s >>= 1) {
            if (threadIdx.y < s)
                partial[threadIdx.y][threadIdx.x] += partial[threadIdx.y + s][threadIdx.x];
            __syncthreads();
        }

        /* The sum is this thread's own element, so the next slice needs no barrier before it. */
        if (threadIdx.y == 0 && column < inner)
            y[o * inner + column] = partial[0][threadIdx.x];
    }
}

extern "C" void launch(float *const in[], float *const out[], const long dim[])
{
    const long *extent = dim;
    int axis = dim[3];

    long outer = 1, inner = 1;
    for (int k = 0; k < axis; k++)
        outer *= extent[k];
    for (int k = axis + 1; k < 3; k++)
        inner *= extent[k];

    dim3 block(COLUMNS, ROWS);
    dim3 grid((inner + COLUMNS - 1) / COLUMNS, min((outer + SLICES - 1) / SLICES, MAX_GRID_Y));
    sum_strip<<<grid, block>>>(in[0], out[0], outer, extent[axis], inner);
}
