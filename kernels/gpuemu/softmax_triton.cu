/* y = exp(x - max) / (sum of the same over the row); a warp for each row. */
#include "element.cuh"

__global__ void softmax(element *y, const tensor x, long columns)
{
    const long first = blockIdx.x * columns;
    const int lane = threadIdx.x;

    float largest = -INFINITY;
    for (long c = lane; c < columns; c += WARP)
        largest = fmaxf(largest, (float)x[first + c]);
    largest = warp_max(largest);

    float total = 0.0f;
    for (long c = lane; c < columns; c += WARP)
        total += expf((float)x[first + c] - largest);
    total = warp_sum(total);

    for (long c = lane; c < columns; c += WARP)
        y[first + c] = expf((float)x[first + c] - largest) / total;
}

extern "C" void launch(float *const in[], float *const out[], const long dim[])
{
    const long rows = dim[0] * dim[1], columns = dim[2];
    softmax<<<rows, WARP>>>((element *)out[0], planes(in[0], dim[1], dim[2], dim + 3), columns);
}
