/*
 * y = max(x, 0), element by element; a NaN stays one. The grid is two-dimensional: along y it walks
 * over the rows, along x over one row. What lies between the first and the last 16-byte boundary of
 * a row goes as float4, the few elements before and after go one by one. Where x and y are aligned
 * differently, all do.
 */
constexpr int THREADS = 256;
constexpr long PER_BLOCK = 2048;
constexpr long MAX_GRID_Y = 65535;

/* Elements from p to the next 16-byte boundary. */
__host__ __device__ long to_boundary(const float *p)
{
    return (4 - (unsigned long)p / sizeof(float) % 4) % 4;
}

__device__ __forceinline__ float rectify(float value)
{
    return value < 0.0f ? 0.0f : value;
}

__global__ void relu_rows(float *y, const float *x, long rows, long columns, bool vectors)
{
    const long thread = (long)blockIdx.x * blockDim.x + threadIdx.x;
    const long threads = (long)gridDim.x * blockDim.x;

    for (long row = blockIdx.y; row < rows; row += gridDim.y) {
        const float *source = x + row * columns;
        float *target = y + row * columns;

        long head = vectors ? to_boundary(source) : columns;
        if (head > columns)
            head = columns;
        const long quads = (columns - head) / 4;
        const long tail = head + 4 * quads;

        const float4 *source4 = reinterpret_cast<const float4 *>(source + head);
        float4 *target4 = reinterpret_cast<float4 *>(target + head);
        for (long q = thread; q < quads; q += threads) {
            float4 v = source4[q];
            v.x = rectify(v.x);
            v.y = rectify(v.y);
            v.z = rectify(v.z);
            v.w = rectify(v.w);
            target4[q] = v;
        }

#pragma unroll 1 /* few, where vectors can be used */
        for (long i = thread; i < head; i += threads)
            target[i] = rectify(source[i]);
#pragma unroll 1 /* three at most */
        for (long i = tail + thread; i < columns; i += threads)
            target[i] = rectify(source[i]);
    }
}

extern "C" void launch(float *const in[], float *const out[], const long dim[])
{
    const float *x = in[0];
    float *y = out[0];
    const long rows = dim[0];
    const long columns = dim[1];

    const long across = (columns + PER_BLOCK - 1) / PER_BLOCK;
    const long down = rows < MAX_GRID_Y ? rows : MAX_GRID_Y;
    const bool vectors = to_boundary(x) == to_boundary(y);
    const dim3 grid(across, down);
    relu_rows<<<grid, THREADS>>>(y, x, rows, columns, vectors);
}
