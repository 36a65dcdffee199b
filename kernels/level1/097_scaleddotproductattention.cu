/*
 * Scaled dot-product attention without the matrix of scores: a block takes eight queries of one
 * head and a chunk of the output's columns, walks over the keys eight at a time, and rescales what
 * it has whenever the running maximum of a query rises (online softmax).
 */

constexpr int TILE = 8;      /* queries and keys of a tile */
constexpr int DEPTH = 32;    /* columns of Q and K that a step of the dot product holds */
constexpr int COLUMNS = 128; /* output columns of a thread, in its registers */
constexpr int CHUNK = TILE * COLUMNS;
constexpr int LANES = 32;
constexpr int WARPS = TILE * TILE / LANES;
constexpr unsigned ALL_LANES = 0xffffffff;

/* Over the TILE threads of one query, in all of them. */
__device__ float query_max(float v)
{
    for (int k = TILE / 2; k > 0; k >>= 1)
        v = fmaxf(v, __shfl_xor_sync(ALL_LANES, v, k));
    return v;
}

__device__ float query_sum(float v)
{
    for (int k = TILE / 2; k > 0; k >>= 1)
        v += __shfl_xor_sync(ALL_LANES, v, k);
    return v;
}

/*
 * tile[r][c] = x[first_row + r, first + c] for c < n; 0 outside the rows x columns of x. A warp
 * reads neighbouring columns of one row.
 */
template <int WIDTH>
__device__ void load(float (*tile)[WIDTH], const float *__restrict__ x, int first_row, int rows,
                     int first, int columns, int n)
{
    unsigned thread = threadIdx.y * TILE + threadIdx.x;
    int warp = thread / LANES;
    for (int c = thread % LANES; c < n; c += LANES) {
        for (int r = 0; r < TILE; r += WARPS) {
            int row = first_row + r + warp;
            bool inside = row < rows && first + c < columns;
            tile[r + warp][c] = inside ? x[(long)row * columns + first + c] : 0.0f;
        }
    }
}

/* The dot product of this thread's query and key. */
__device__ float score(const float *__restrict__ q, const float *__restrict__ k, int first_query,
                       int first_key, int length, int d)
{
    __shared__ float queries[TILE][DEPTH + 1]; /* a column more: rows start in different banks */
    __shared__ float keys[TILE][DEPTH + 1];

    float dot = 0.0f;
    for (int first = 0; first < d; first += DEPTH) {
        load(queries, q, first_query, length, first, d, DEPTH);
        load(keys, k, first_key, length, first, d, DEPTH);
        __syncthreads();
        for (int c = 0; c < DEPTH; c++)
            dot = fmaf(queries[threadIdx.y][c], keys[threadIdx.x][c], dot);
        __syncthreads();
    }
    return dot;
}

__global__ void attention(const float *__restrict__ q, const float *__restrict__ k,
                          const float *__restrict__ v, float *__restrict__ y, int length, int d)
{
    __shared__ float weights[TILE][TILE];
    __shared__ float values[TILE][CHUNK];

    int tiles = (length + TILE - 1) / TILE;
    long head = blockIdx.x / tiles * (long)length * d;
    int first_query = blockIdx.x % tiles * TILE;
    int query = first_query + threadIdx.y;
    float scale = rsqrtf((float)d);

    for (int chunk = blockIdx.y * CHUNK; chunk < d; chunk += gridDim.y * CHUNK) {
        int columns = min(CHUNK, d - chunk);
        float sum[COLUMNS] = {0.0f};
        float highest = -INFINITY;
        float denominator = 0.0f;

        for (int first_key = 0; first_key < length; first_key += TILE) {
            /* Its barriers also stand between the last use of the tiles and their next. */
            float s = score(q + head, k + head, first_query, first_key, length, d) * scale;
            if (first_key + threadIdx.x >= length)
                s = -INFINITY;

            float higher = fmaxf(highest, query_max(s));
            float rescale = expf(highest - higher);
            float weight = expf(s - higher);
            highest = higher;
            denominator = denominator * rescale + query_sum(weight);

            weights[threadIdx.y][threadIdx.x] = weight;
            load(values, v + head, first_key, length, chunk, d, columns);
            __syncthreads();
#pragma unroll
            for (int j = 0; j < COLUMNS; j++)
                sum[j] *= rescale;
#pragma unroll 1 /* the loop within is long enough */
            for (int key = 0; key < TILE; key++) {
                float w = weights[threadIdx.y][key];
#pragma unroll
                for (int j = 0; j < COLUMNS; j++) {
                    int c = threadIdx.x + j * TILE;
                    if (c >= columns)
                        break;
                    sum[j] += w * values[key][c];
                }
            }
        }

#pragma unroll
        for (int j = 0; j < COLUMNS; j++) {
            int c = threadIdx.x + j * TILE;
            if (query >= length || c >= columns)
                break;
            y[head + (long)query * d + chunk + c] = sum[j] / denominator;
        }
    }
}

extern "C" void launch(float *const in[], float *const out[], const long dim[])
{
    long heads = dim[0] * dim[1];
    int length = dim[2], d = dim[3];

    dim3 block(TILE, TILE);
    dim3 grid(heads * ((length + TILE - 1) / TILE), min((d + CHUNK - 1) / CHUNK, 65535));
    attention<<<grid, block>>>(in[0], in[1], in[2], out[0], length, d);
}
