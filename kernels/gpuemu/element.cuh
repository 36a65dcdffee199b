/*
 * element - what the kernels of the corpus share: the element type and how inputs are read.
 *
 * ELEMENT says what is stored: float, __half or __nv_bfloat16. Arithmetic is in float, except where
 * an entry says otherwise. launch() finds in dim[] the entry's dimensions, in the order of
 * corpus.json, and behind them the strides of each input, in elements, outermost first. Outputs are
 * dense.
 */
#ifndef CORPUS_ELEMENT_CUH
#define CORPUS_ELEMENT_CUH

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#ifndef ELEMENT
#define ELEMENT float
#endif
typedef ELEMENT element;

constexpr int WARP = 32;

/* An input of planes × rows × columns; element i in row-major order is x[i]. */
struct tensor {
    const element *data;
    long rows, columns;
    long plane_stride, row_stride, column_stride;
    bool dense;

    __device__ __forceinline__ element operator[](long i) const
    {
        if (dense)
            return data[i];
        const long row = i / columns;
        return data[row / rows * plane_stride + row % rows * row_stride +
                    i % columns * column_stride];
    }
};

/* An input of two dimensions. */
static inline tensor matrix(const float *data, long rows, long columns, const long stride[2])
{
    const bool dense = stride[1] == 1 && stride[0] == columns;
    return {(const element *)data, rows, columns, 0, stride[0], stride[1], dense};
}

/* An input of three, of which only the last two need to be known. */
static inline tensor planes(const float *data, long rows, long columns, const long stride[3])
{
    const bool dense = stride[2] == 1 && stride[1] == columns && stride[0] == rows * columns;
    return {(const element *)data, rows, columns, stride[0], stride[1], stride[2], dense};
}

/* The sum, and the largest, of what the lanes of a warp hold; every lane gets it. */
static __device__ inline float warp_sum(float value)
{
    for (int lanes = WARP / 2; lanes > 0; lanes /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, lanes);
    return value;
}

static __device__ inline float warp_max(float value)
{
    for (int lanes = WARP / 2; lanes > 0; lanes /= 2)
        value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, lanes));
    return value;
}

/* Elementwise kernels: threads of a block, and elements that each of them works on. */
constexpr int THREADS = 256;
constexpr int PER_THREAD = 16;

static inline unsigned blocks(long n)
{
    return (unsigned)((n + THREADS * PER_THREAD - 1) / (THREADS * PER_THREAD));
}

#endif
