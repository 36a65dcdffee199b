/*
 * y = leaky_relu((x Wᵀ + b) multiplier). A block of 16 × 8 threads computes 16 rows and 32 columns
 * of y, two by two elements a thread. Tiles of x and W, stored with k outermost, are
 * double-buffered in shared memory: while one pair is multiplied the next one is loaded.
 */
constexpr int THREADS_X = 16;
constexpr int THREADS_Y = 8;
constexpr int TILE_M = 2 * THREADS_Y;
constexpr int TILE_N = 2 * THREADS_X;
constexpr int DEPTH = 16;

/* tile[k][r] = matrix[row0 + r, k0 + k], zero outside the matrix. */
template <int ROWS>
__device__ void load_tile(float (*tile)[ROWS + 1], const float *matrix, long rows, long columns,
                          long row0, long k0)
{
    const int thread = threadIdx.y * THREADS_X + threadIdx.x;
    for (int first = 0; first < ROWS * DEPTH; first += THREADS_X * THREADS_Y) {
        const int i = first + thread;
        const int r = i / DEPTH;
        const int k = i % DEPTH;
        const long row = row0 + r;
        const long column = k0 + k;
        tile[k][r] = row < rows && column < columns ? __ldg(&matrix[row * columns + column]) : 0.0f;
    }
}

__global__ void gemm_multiply_leakyrelu(float *y, const float *x, const float *w, const float *b,
                                        long m, long k, long n, float multiplier, float slope)
{
    __shared__ float x_tile[2][DEPTH][TILE_M + 1];
    __shared__ float w_tile[2][DEPTH][TILE_N + 1];

    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const long tiles_n = (n + TILE_N - 1) / TILE_N;
    const long row0 = blockIdx.x / tiles_n * TILE_M;
    const long col0 = blockIdx.x % tiles_n * TILE_N;

    float sum[2][2] = {{0.0f, 0.0f}, {0.0f, 0.0f}};
    int current = 0;
    load_tile<TILE_M>(x_tile[current], x, m, k, row0, 0);
    load_tile<TILE_N>(w_tile[current], w, n, k, col0, 0);
    __syncthreads();

    for (long k0 = 0; k0 < k; k0 += DEPTH) {
        if (k0 + DEPTH < k) {
            load_tile<TILE_M>(x_tile[current ^ 1], x, m, k, row0, k0 + DEPTH);
            load_tile<TILE_N>(w_tile[current ^ 1], w, n, k, col0, k0 + DEPTH);
        }
#pragma unroll
        for (int d = 0; d < DEPTH; d++) {
            const float x0 = x_tile[current][d][ty];
            const float x1 = x_tile[current][d][ty + THREADS_Y];
            const float w0 = w_tile[current][d][tx];
            const float w1 = w_tile[current][d][tx + THREADS_X];
            sum[0][0] = fmaf(x0, w0, sum[0][0]);
            sum[0][1] = fmaf(x0, w1, sum[0][1]);
            sum[1][0] = fmaf(x1, w0, sum[1][0]);
            sum[1][1] = fmaf(x1, w1, sum[1][1]);
        }
        __syncthreads();
        current ^= 1;
    }

    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 2; j++) {
            const long row = row0 + ty + i * THREADS_Y;
            const long col = col0 + tx + j * THREADS_X;
            if (row >= m || col >= n)
                continue;
            float v = sum[i][j];
            v = v + b[col];
            v = v * multiplier;
            v = v > 0.0f ? v : v * slope;
            y[row * n + col] = v;
        }
    }
}

extern "C" void launch(float *const in[], float *const out[], const long dim[],
                       const double hyper[])
{
    const long m = dim[0], k = dim[1], n = dim[2];
    const long tiles = ((m + TILE_M - 1) / TILE_M) * ((n + TILE_N - 1) / TILE_N);
    const dim3 block(THREADS_X, THREADS_Y);
    gemm_multiply_leakyrelu<<<tiles, block>>>(out[0], in[2], in[0], in[1], m, k, n, (float)hyper[0],
                                              (float)hyper[1]);
}
