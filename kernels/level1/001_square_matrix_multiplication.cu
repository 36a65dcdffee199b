/*
 * C = A B for n × n matrices. A block computes one 16 × 16 tile of C and walks over the tiles of A
 * and B that belong to it, staged in shared memory; elements outside the matrices count as zero.
 */
constexpr int TILE = 16;

__global__ void matmul_tiled(float *c, const float *a, const float *b, long n)
{
    __shared__ float a_tile[TILE][TILE];
    __shared__ float b_tile[TILE][TILE + 1];

    const long row = (long)blockIdx.y * TILE + threadIdx.y;
    const long col = (long)blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;

    for (long first = 0; first < n; first += TILE) {
        const long a_col = first + threadIdx.x;
        const long b_row = first + threadIdx.y;
        a_tile[threadIdx.y][threadIdx.x] = row < n && a_col < n ? a[row * n + a_col] : 0.0f;
        b_tile[threadIdx.y][threadIdx.x] = b_row < n && col < n ? b[b_row * n + col] : 0.0f;
        __syncthreads();

#pragma unroll
        for (int k = 0; k < TILE; k++)
            sum += a_tile[threadIdx.y][k] * b_tile[k][threadIdx.x];
        __syncthreads();
    }

    if (row < n && col < n)
        c[row * n + col] = sum;
}

extern "C" void launch(float *const in[], float *const out[], const long dim[])
{
    const long n = dim[0];
    const long tiles = (n + TILE - 1) / TILE;
    const dim3 grid(tiles, tiles);
    const dim3 block(TILE, TILE);
    matmul_tiled<<<grid, block>>>(out[0], in[0], in[1], n);
}
