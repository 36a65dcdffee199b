/*
 * service - the CUDA backend's own kernels: inputs, poison, and graded comparison.
 *
 * All are grid-stride loops, so that any launch shape is right. What is compared is what compare.c
 * compares, element by element; see there.
 */
#include "findings.h"
#include "generator.h"

typedef unsigned long long word;

__device__ inline long first_element()
{
    return (long)blockIdx.x * blockDim.x + threadIdx.x;
}

__device__ inline long stride()
{
    return (long)gridDim.x * blockDim.x;
}

/* Does the fill look at rows at all? Finding an element's column is a division, as slow as all the rest. */
__device__ inline bool by_rows(int kind)
{
    return kind == GENERATOR_ROW_RAMP || kind == GENERATOR_ONE_HOT || kind == GENERATOR_LAST_ROW ||
           kind == GENERATOR_TAIL || kind == GENERATOR_SPIKE;
}

__global__ void fill(float *x, struct fill f, generator_word seed, int tensor, long count, long row)
{
    if (by_rows(f.kind))
        for (long i = first_element(); i < count; i += stride())
            x[i] = generator_value(&f, seed, tensor, i, count, row);
    else
        for (long i = first_element(); i < count; i += stride())
            x[i] = generator_value(&f, seed, tensor, i, count, 1);
}

__global__ void widen(double *y, const float *x, long count)
{
    for (long i = first_element(); i < count; i += stride())
        y[i] = x[i];
}

/* Sets *flag if some word of x is not that of y; of `count` words, in fours as far as they go. */
__global__ void differ(unsigned *flag, const uint4 *x, const uint4 *y, long count)
{
    bool same = true;
    for (long i = first_element(); i < count / 4; i += stride()) {
        uint4 a = x[i], b = y[i];
        same = same && a.x == b.x && a.y == b.y && a.z == b.z && a.w == b.w;
    }
    const unsigned *p = (const unsigned *)x, *q = (const unsigned *)y;
    for (long i = count / 4 * 4 + first_element(); i < count; i += stride())
        same = same && p[i] == q[i];
    if (!same)
        *flag = 1;
}

/* Sets *flag if some word of x is not poison. */
__global__ void stray(unsigned *flag, const unsigned *x, long count)
{
    bool clean = true;
    for (long i = first_element(); i < count; i += stride())
        clean = clean && x[i] == 0xFFFFFFFFu;
    if (!clean)
        *flag = 1;
}

/* ---- graded comparison ---- */

/* Of one element, or of several: the largest of each, and sums. */
struct grade {
    double t, max_abs, max_rel, max_ulp, ref_max, errors, squares;
    word nonfinite, reference_nonfinite;
};

/* float32 as an integer whose order is the numbers' order. */
__device__ inline long ordered(float x)
{
    int bits = __float_as_int(x);
    return bits < 0 ? -(long)(bits & 0x7FFFFFFF) : bits;
}

__device__ inline bool same_class(float a, float b)
{
    return isnan(a) ? isnan(b) : a == b;
}

/* The critical tolerance of an element; infinite where only one of the two is finite. */
__device__ inline double tolerance(float out, double reference)
{
    float rounded = (float)reference;
    if (!isfinite(out) || !isfinite(rounded))
        return same_class(out, rounded) ? 0 : INFINITY;
    return fabs((double)out - reference) / (1 + fabs(reference));
}

/*
 * A division is slow, and made only if its quotient might exceed the largest one so far. A product tells:
 * one that is a little too small, so that rounding never hides a larger quotient.
 */
__device__ inline void grade_element(struct grade *g, float out, double r)
{
    float rounded = (float)r;
    g->reference_nonfinite += !isfinite(rounded);
    if (!isfinite(out) || !isfinite(rounded)) {
        g->nonfinite += !same_class(out, rounded);
        return;
    }
    const double SLIGHTLY_LESS = 0.999;
    double d = fabs((double)out - r), size = fabs(r);
    if (d > SLIGHTLY_LESS * g->t * (1 + size))
        g->t = fmax(g->t, d / (1 + size));
    g->max_abs = fmax(g->max_abs, d);
    if (size > 0 && d > SLIGHTLY_LESS * g->max_rel * size)
        g->max_rel = fmax(g->max_rel, d / size);
    g->max_ulp = fmax(g->max_ulp, (double)labs(ordered(out) - ordered(rounded)));
    g->ref_max = fmax(g->ref_max, size);
    g->errors += d * d;
    g->squares += r * r;
}

/*
 * Calls use(output, reference) for this thread's elements. It has four on their way at once: with one,
 * a pass mostly waits for memory.
 */
template <class user>
__device__ inline void each_element(const float *out, const double *reference, long count, user use)
{
    long i = first_element();
    for (; i + 3 * stride() < count; i += 4 * stride()) {
        float o[4];
        double r[4];
#pragma unroll
        for (int k = 0; k < 4; k++) {
            o[k] = out[i + k * stride()];
            r[k] = reference[i + k * stride()];
        }
#pragma unroll
        for (int k = 0; k < 4; k++)
            use(o[k], r[k]);
    }
    for (; i < count; i += stride())
        use(out[i], reference[i]);
}

/* The sum over a block of 256 threads, in each of them; always in the same order. */
__device__ inline double block_sum(double value)
{
    __shared__ double sum[256];
    sum[threadIdx.x] = value;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half)
            sum[threadIdx.x] += sum[threadIdx.x + half];
        __syncthreads();
    }
    double total = sum[0];
    __syncthreads(); /* it may be called again */
    return total;
}

/* A block's largest value goes into *to. None is NaN: only finite elements have one. */
__device__ inline void merge_largest(word *to, double value)
{
    for (int lanes = 16; lanes > 0; lanes /= 2)
        value = fmax(value, __shfl_xor_sync(0xFFFFFFFFu, value, lanes));
    if (threadIdx.x % 32 == 0 && value > 0)
        atomicMax(to, (word)__double_as_longlong(value));
}

/* In blocks of 256 threads, FINDINGS_BLOCKS at most. Adds to what f holds of other outputs. */
__global__ void grade(struct findings *f, const float *out, const double *reference, long count)
{
    struct grade g = {};
    each_element(out, reference, count, [&](float o, double r) { grade_element(&g, o, r); });
    merge_largest(&f->t, g.t);
    merge_largest(&f->max_abs, g.max_abs);
    merge_largest(&f->max_rel, g.max_rel);
    merge_largest(&f->max_ulp, g.max_ulp);
    merge_largest(&f->ref_max, g.ref_max);
    if (g.nonfinite)
        atomicAdd(&f->nonfinite, g.nonfinite);
    if (g.reference_nonfinite)
        atomicAdd(&f->reference_nonfinite, g.reference_nonfinite);
    double errors = block_sum(g.errors), squares = block_sum(g.squares);
    if (threadIdx.x == 0) {
        f->errors[blockIdx.x] += errors;
        f->squares[blockIdx.x] += squares;
    }
}

/* The first share with this one's prefix: it counts for both. */
__device__ inline int counter_of(const struct findings *f, int share)
{
    int s = 0;
    while (f->prefix[s] != f->prefix[share])
        s++;
    return s;
}

/*
 * Counts the next bits of the tolerances, `bits` of them above `shift`, that begin with each share's
 * prefix. As floats rounded up: the order is kept, and no tolerance gets smaller.
 */
__global__ void count_bits(struct findings *f, const float *out, const double *reference, long count,
                           int shift, int bits)
{
    __shared__ unsigned bin[FINDINGS_SHARES][FINDINGS_BINS];
    for (int k = threadIdx.x; k < FINDINGS_SHARES * FINDINGS_BINS; k += blockDim.x)
        bin[0][k] = 0;
    __syncthreads();
    unsigned prefix[FINDINGS_SHARES];
    bool counts[FINDINGS_SHARES];
    for (int s = 0; s < FINDINGS_SHARES; s++) {
        prefix[s] = f->prefix[s] >> shift >> bits;
        counts[s] = counter_of(f, s) == s;
    }
    each_element(out, reference, count, [&](float o, double r) {
        unsigned key = __float_as_uint(__double2float_ru(tolerance(o, r)));
        unsigned known = key >> shift >> bits;
        for (int s = 0; s < FINDINGS_SHARES; s++)
            if (counts[s] && known == prefix[s])
                atomicAdd(&bin[s][key >> shift & ((1u << bits) - 1)], 1u);
    });
    __syncthreads();
    for (int k = threadIdx.x; k < FINDINGS_SHARES * FINDINGS_BINS; k += blockDim.x)
        if (bin[0][k])
            atomicAdd(&f->histogram[0][k], (word)bin[0][k]);
}

/* For each share the bin that holds its rank: one warp a share. Clears the histogram. */
__global__ void choose_bits(struct findings *f, int shift)
{
    const int PART = FINDINGS_BINS / 32, share = threadIdx.x / 32, lane = threadIdx.x % 32;
    word *bin = f->histogram[counter_of(f, share)] + lane * PART, sum = 0, rank = f->rank[share];
    for (int k = 0; k < PART; k++)
        sum += bin[k];
    word upto = sum;
    for (int lanes = 1; lanes < 32; lanes *= 2) {
        word other = __shfl_up_sync(0xFFFFFFFFu, upto, lanes);
        if (lane >= lanes)
            upto += other;
    }
    word before = upto - sum;
    __syncthreads(); /* every share has found its counter: prefixes may change */
    if (rank >= before && rank < upto) {
        int k = 0;
        for (; rank - before >= bin[k]; k++)
            before += bin[k];
        f->rank[share] = rank - before;
        f->prefix[share] |= (unsigned)(lane * PART + k) << shift;
    }
    __syncthreads();
    for (int k = 0; k < PART; k++)
        f->histogram[share][lane * PART + k] = 0;
}
