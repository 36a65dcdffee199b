/*
 * Softmax along rows, one block a row, in three passes: the maximum, the sum of the exponentials,
 * the quotients. Both reductions are trees in one shared array, which the second one uses again;
 * its last steps concern one warp only.
 */
constexpr int THREADS = 256;
constexpr int WARP = 32;

__global__ void softmax_rows(float *y, const float *x, long columns)
{
    __shared__ float scratch[THREADS];

    const int t = threadIdx.x;
    const float *row = x + blockIdx.x * columns;
    float *result = y + blockIdx.x * columns;

    float largest = -INFINITY;
    for (long i = t; i < columns; i += THREADS)
        largest = fmaxf(largest, row[i]);
    scratch[t] = largest;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half >>= 1) {
        if (t < half)
            scratch[t] = fmaxf(scratch[t], scratch[t + half]);
        __syncthreads();
    }
    const float maximum = scratch[0];
    __syncthreads();

    float sum = 0.0f;
    for (long i = t; i < columns; i += THREADS)
        sum += expf(row[i] - maximum);
    scratch[t] = sum;
    __syncthreads();
    for (int half = THREADS / 2; half >= WARP; half >>= 1) {
        if (t < half)
            scratch[t] += scratch[t + half];
        __syncthreads();
    }
    if (t < WARP) {
        for (int half = WARP / 2; half > 0; half >>= 1) {
            if (t < half)
                scratch[t] += scratch[t + half];
            __syncwarp();
        }
    }
    __syncthreads();
    const float total = scratch[0];

    for (long i = t; i < columns; i += THREADS)
        result[i] = expf(row[i] - maximum) / total;
}

extern "C" void launch(float *const in[], float *const out[], const long dim[])
{
    const long rows = dim[0];
    const long columns = dim[1];
    softmax_rows<<<rows, THREADS>>>(out[0], in[0], columns);
}
