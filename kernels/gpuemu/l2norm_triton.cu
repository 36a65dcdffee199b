/* y = x / sqrt(sum of x^2 over the row + eps); a warp for each row. */
#include "element.cuh"

constexpr float EPS = 1e-12f;

__global__ void l2norm(element *y, const tensor x, long columns)
{
    const long first = blockIdx.x * columns;
    const int lane = threadIdx.x;

    float squares = 0.0f;
    for (long c = lane; c < columns; c += WARP) {
        const float value = x[first + c];
        squares += value * value;
    }
    const float total = warp_sum(squares);
    const float inverse = 1.0f / sqrtf(total + EPS);
    for (long c = lane; c < columns; c += WARP)
        y[first + c] = (float)x[first + c] * inverse;
}

extern "C" void launch(float *const in[], float *const out[], const long dim[])
{
    const long rows = dim[0] * dim[1], columns = dim[2];
    l2norm<<<rows, WARP>>>((element *)out[0], planes(in[0], dim[1], dim[2], dim + 3), columns);
}
