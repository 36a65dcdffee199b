/* y = exp(x - max) / (sum of the same over the row); a thread for each row. */
#include "element.cuh"

constexpr int ROWS = 128; /* of a block */

__global__ void softmax(element *y, const tensor x, long rows, long columns)
{
    const long row = (long)blockIdx.x * ROWS + threadIdx.x;
    const long first = row * columns;
    if (row >= rows)
        return;

    float largest = -INFINITY;
    for (long c = 0; c < columns; c++)
        largest = fmaxf(largest, (float)x[first + c]);
    float total = 0.0f;
    for (long c = 0; c < columns; c++)
        total += expf((float)x[first + c] - largest);
    for (long c = 0; c < columns; c++)
        y[first + c] = expf((float)x[first + c] - largest) / total;
}

extern "C" void launch(float *const in[], float *const out[], const long dim[])
{
    const long rows = dim[0] * dim[1], columns = dim[2];
    softmax<<<(rows + ROWS - 1) / ROWS, ROWS>>>(
        (element *)out[0], planes(in[0], dim[1], dim[2], dim + 3), rows, columns);
}
