/*
 * Scaled dot-product attention without the matrix of scores: a block takes 16 queries of one head
 * and walks over the keys, 16 at a time. Whenever the running maximum of a query rises, what its
 * row of the output has so far is rescaled (online softmax). A row is too long for registers: it
 * stays in y between two tiles of keys.
 */

constexpr int SIDE = 8;           /* threads of a side of a block */
constexpr int EACH = 2;           /* rows and columns of a tile that a thread has: every SIDE-th */
constexpr int TILE = SIDE * EACH; /* queries, keys, columns */
constexpr int THREADS = SIDE * SIDE;
constexpr unsigned ALL_LANES = 0xffffffff;

/* A column more than a tile has, so that rows start in different banks. */
typedef float matrix[TILE][TILE + 1];

/* Over the SIDE threads of one query, in all of them. */
__device__ float query_max(float v)
{
    for (int k = SIDE / 2; k > 0; k >>= 1)
        v = fmaxf(v, __shfl_xor_sync(ALL_LANES, v, k));
    return v;
}

__device__ float query_sum(float v)
{
    for (int k = SIDE / 2; k > 0; k >>= 1)
        v += __shfl_xor_sync(ALL_LANES, v, k);
    return v;
}

/*
 * tile[r][c] = x[first_row + r, first_column + c], or tile[c][r] of the transposed one; 0 outside
 * the rows x columns of x. Neighbouring threads read neighbouring columns.
 */
template <bool TRANSPOSED>
__device__ void load(matrix tile, const float *__restrict__ x, int first_row, int rows,
                     int first_column, int columns)
{
    unsigned thread = threadIdx.y * SIDE + threadIdx.x;
    int c = thread % TILE, column = first_column + c;
    for (int first = 0; first < TILE; first += THREADS / TILE) {
        int r = first + thread / TILE, row = first_row + r;
        float v = row < rows && column < columns ? x[(long)row * columns + column] : 0.0f;
        if (TRANSPOSED)
            tile[c][r] = v;
        else
            tile[r][c] = v;
    }
}

/* sum += a b, this thread's elements of it. */
__device__ void add_product(float sum[EACH][EACH], const matrix a, const matrix b)
{
#pragma unroll 4
    for (int k = 0; k < TILE; k++) {
        for (int i = 0; i < EACH; i++) {
            float v = a[threadIdx.y + i * SIDE][k];
            for (int j = 0; j < EACH; j++)
                sum[i][j] = fmaf(v, b[k][threadIdx.x + j * SIDE], sum[i][j]);
        }
    }
}

/* The dot products of this thread's queries and keys. */
__device__ void dot_products(float dot[EACH][EACH], const float *__restrict__ q,
                             const float *__restrict__ k, int first_query, int first_key,
                             int length, int d)
{
    __shared__ matrix queries, keys;

    for (int first = 0; first < d; first += TILE) {
        load<false>(queries, q, first_query, length, first, d);
        load<true>(keys, k, first_key, length, first, d);
        __syncthreads();
        add_product(dot, queries, keys);
        __syncthreads();
    }
}

__global__ void attention(const float *__restrict__ q, const float *__restrict__ k,
                          const float *__restrict__ v, float *__restrict__ y, int length, int d)
{
    __shared__ matrix weights, values;

    int tiles = (length + TILE - 1) / TILE;
    long head = blockIdx.x / tiles * (long)length * d;
    int first_query = blockIdx.x % tiles * TILE;
    float scale = rsqrtf((float)d);
    float highest[EACH], denominator[EACH] = {0.0f}, rescale[EACH];
    for (int i = 0; i < EACH; i++)
        highest[i] = -INFINITY;

    for (int first_key = 0; first_key < length; first_key += TILE) {
        float score[EACH][EACH] = {{0.0f}};
        dot_products(score, q + head, k + head, first_query, first_key, length, d);

        for (int i = 0; i < EACH; i++) {
            float higher = highest[i];
            for (int j = 0; j < EACH; j++) {
                bool inside = first_key + threadIdx.x + j * SIDE < length;
                score[i][j] = inside ? score[i][j] * scale : -INFINITY;
                higher = fmaxf(higher, score[i][j]);
            }
            higher = query_max(higher);
            rescale[i] = expf(highest[i] - higher);
            highest[i] = higher;

            float total = 0.0f;
            for (int j = 0; j < EACH; j++) {
                float weight = expf(score[i][j] - higher);
                weights[threadIdx.y + i * SIDE][threadIdx.x + j * SIDE] = weight;
                total += weight;
            }
            denominator[i] = denominator[i] * rescale[i] + query_sum(total);
        }

        bool last = first_key + TILE >= length;
        for (int first = 0; first < d; first += TILE) {
            load<false>(values, v + head, first_key, length, first, d);
            __syncthreads();
            float sum[EACH][EACH] = {{0.0f}};
            add_product(sum, weights, values);
            for (int i = 0; i < EACH; i++) {
                for (int j = 0; j < EACH; j++) {
                    int query = first_query + threadIdx.y + i * SIDE;
                    int column = first + threadIdx.x + j * SIDE;
                    if (query >= length || column >= d)
                        continue;
                    float *out = &y[head + (long)query * d + column];
                    if (first_key > 0)
                        sum[i][j] = fmaf(*out, rescale[i], sum[i][j]);
                    *out = last ? sum[i][j] / denominator[i] : sum[i][j];
                }
            }
            __syncthreads(); /* the tiles of weights and values are written anew */
        }
    }
}

extern "C" void launch(float *const in[], float *const out[], const long dim[])
{
    long heads = dim[0] * dim[1];
    int length = dim[2], d = dim[3];

    dim3 block(SIDE, SIDE);
    unsigned blocks = heads * ((length + TILE - 1) / TILE);
    attention<<<blocks, block>>>(in[0], in[1], in[2], out[0], length, d);
}
