/* y = (x - mean) / sqrt(variance + eps) over the row, biased variance; a thread for each row. */
#include "element.cuh"

constexpr int ROWS = 128; /* of a block */
constexpr float EPS = 1e-5f;

__global__ void layernorm(element *y, const tensor x, long rows, long columns)
{
    const long row = (long)blockIdx.x * ROWS + threadIdx.x;
    const long first = row * columns;
    if (row >= rows)
        return;

    float sum = 0.0f;
    for (long c = 0; c < columns; c++)
        sum += (float)x[first + c];
    const float mean = sum / columns;
    float squares = 0.0f;
    for (long c = 0; c < columns; c++) {
        const float deviation = (float)x[first + c] - mean;
        squares += deviation * deviation;
    }
    const float root = sqrtf(squares / columns + EPS);
    for (long c = 0; c < columns; c++)
        y[first + c] = ((float)x[first + c] - mean) / root;
}

extern "C" void launch(float *const in[], float *const out[], const long dim[])
{
    const long rows = dim[0] * dim[1], columns = dim[2];
    layernorm<<<(rows + ROWS - 1) / ROWS, ROWS>>>(
        (element *)out[0], planes(in[0], dim[1], dim[2], dim + 3), rows, columns);
}
