/* y = x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) / 2 */
#include "element.cuh"

/* By the exponential of the magnitude, which cannot overflow into NaN. */
static __device__ float tanh_of(float z)
{
    const float sign = z >= 0.0f ? 1.0f : -1.0f;
    return sign * (1.0f - 2.0f / (expf(2.0f * (sign * z)) + 1.0f));
}

constexpr float SQRT_2_OVER_PI = 0.7978845608f;
constexpr float CUBIC = 0.044715f;

__global__ void gelu(element *y, const tensor x, long n)
{
    const long threads = (long)gridDim.x * THREADS;
    for (long i = (long)blockIdx.x * THREADS + threadIdx.x; i < n; i += threads) {
        const float value = x[i];
        const float inner = SQRT_2_OVER_PI * (value + CUBIC * value * value * value);
        y[i] = 0.5f * value * (1.0f + tanh_of(inner));
    }
}

extern "C" void launch(float *const in[], float *const out[], const long dim[])
{
    const long n = dim[0] * dim[1] * dim[2];
    gelu<<<blocks(n), THREADS>>>((element *)out[0], planes(in[0], dim[1], dim[2], dim + 3), n);
}
