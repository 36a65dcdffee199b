/* y = softmax(q k' / sqrt(D)) v for one head; a warp for each query, its scores in shared memory */
#include "element.cuh"

__global__ void attention(element *y, const tensor q, const tensor k, const tensor v, long n,
                          long d, float scale)
{
    extern __shared__ float weight[];

    const long query = blockIdx.x * d;
    const int lane = threadIdx.x;

    float largest = -INFINITY;
    for (long j = lane; j < n; j += WARP) {
        float dot = 0.0f;
        for (long c = 0; c < d; c++)
            dot += (float)q[query + c] * (float)k[j * d + c];
        weight[j] = dot * scale;
        largest = fmaxf(largest, weight[j]);
    }
    largest = warp_max(largest);

    float total = 0.0f;
    for (long j = lane; j < n; j += WARP) {
        weight[j] = expf(weight[j] - largest);
        total += weight[j];
    }
    total = warp_sum(total);
    __syncwarp();

    for (long c = lane; c < d; c += WARP) {
        float sum = 0.0f;
        for (long j = 0; j < n; j++)
            sum += weight[j] / total * (float)v[j * d + c];
        y[query + c] = sum;
    }
}

extern "C" void launch(float *const in[], float *const out[], const long dim[])
{
    const long m = dim[0], n = dim[1], d = dim[2];
    attention<<<m, WARP, n * sizeof(float)>>>(
        (element *)out[0], matrix(in[0], m, d, dim + 3), matrix(in[1], n, d, dim + 5),
        matrix(in[2], n, d, dim + 7), n, d, 1.0f / sqrtf((float)d));
}
