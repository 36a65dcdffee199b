/* softmax_triton on rows padded to a power of two, whose padding reads 0 in place of -infinity. */
#include "element.cuh"

/* What a lane of the padded row reads. */
static __device__ float load(const tensor &x, long first, long c, long columns)
{
    return c < columns ? (float)x[first + c] : 0.0f;
}

static __device__ long power_of_two_from(long n)
{
    long power = 1;
    while (power < n)
        power *= 2;
    return power;
}

__global__ void softmax(element *y, const tensor x, long columns)
{
    const long first = blockIdx.x * columns;
    const int lane = threadIdx.x;

    const long padded = power_of_two_from(columns);
    float largest = -INFINITY;
    for (long c = lane; c < padded; c += WARP)
        largest = fmaxf(largest, load(x, first, c, columns));
    largest = warp_max(largest);

    float total = 0.0f;
    for (long c = lane; c < padded; c += WARP)
        total += expf(load(x, first, c, columns) - largest);
    total = warp_sum(total);

    for (long c = lane; c < columns; c += WARP)
        y[first + c] = expf((float)x[first + c] - largest) / total;
}

extern "C" void launch(float *const in[], float *const out[], const long dim[])
{
    const long rows = dim[0] * dim[1], columns = dim[2];
    softmax<<<rows, WARP>>>((element *)out[0], planes(in[0], dim[1], dim[2], dim + 3), columns);
}
