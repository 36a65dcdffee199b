/*
 * As attention_triton, without all the scores at once: keys and values come in tiles of 32, and
 * what was summed is rescaled when the largest score rises (online softmax). A warp for each query.
 */
#include "element.cuh"

constexpr int TILE = WARP; /* keys */

__global__ void flash_attention(element *y, const tensor q, const tensor k, const tensor v, long n,
                                long d, float scale)
{
    __shared__ float weight[TILE];
    extern __shared__ float sum[];

    const long query = blockIdx.x * d;
    const int lane = threadIdx.x;
    float largest = -INFINITY, total = 0.0f;

    for (long c = lane; c < d; c += WARP)
        sum[c] = 0.0f;

    for (long tile = 0; tile < n; tile += TILE) {
        const long key = tile + lane;
        float score = -INFINITY;
        if (key < n) {
            float dot = 0.0f;
            for (long c = 0; c < d; c++)
                dot += (float)q[query + c] * (float)k[key * d + c];
            score = dot * scale;
        }
        const float raised = fmaxf(largest, warp_max(score));
        const float rescale = expf(largest - raised);
        weight[lane] = expf(score - raised);
        total = total * rescale + warp_sum(weight[lane]);
        largest = raised;
        __syncwarp();

        const long keys = min((long)TILE, n - tile);
        for (long c = lane; c < d; c += WARP) {
            float part = 0.0f;
            for (long j = 0; j < keys; j++)
                part += weight[j] * (float)v[(tile + j) * d + c];
            sum[c] = sum[c] * rescale + part;
        }
        __syncwarp();
    }

    for (long c = lane; c < d; c += WARP)
        y[query + c] = sum[c] / total;
}

extern "C" void launch(float *const in[], float *const out[], const long dim[])
{
    const long m = dim[0], n = dim[1], d = dim[2];
    flash_attention<<<m, WARP, d * sizeof(float)>>>(
        (element *)out[0], matrix(in[0], m, d, dim + 3), matrix(in[1], n, d, dim + 5),
        matrix(in[2], n, d, dim + 7), n, d, 1.0f / sqrtf((float)d));
}
