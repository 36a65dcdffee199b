/*
 * service - the CUDA backend's own kernels: inputs, and the judgement of outputs.
 *
 * Loops are grid-stride or block-stride, so that any number of blocks of 256 threads is right. What is
 * graded is what compare.c grades, element by element; see there.
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

/* ---- inputs ---- */

/* x is 16-byte aligned. */
__device__ inline void fill_with(struct fill f, float *x, generator_word seed, int tensor, long count,
                                 long row)
{
    for (long i = first_element(); i < count / 4; i += stride()) {
        float v[4];
#pragma unroll
        for (int k = 0; k < 4; k++)
            v[k] = generator_value(&f, seed, tensor, 4 * i + k, count, row);
        ((float4 *)x)[i] = make_float4(v[0], v[1], v[2], v[3]);
    }
    for (long i = count / 4 * 4 + first_element(); i < count; i += stride())
        x[i] = generator_value(&f, seed, tensor, i, count, row);
}

/* The kinds that most inputs are of have loops of their own, without the switch over kinds, and without
 * rows: finding an element's column is a division, as slow as all the rest. */
__global__ void __launch_bounds__(256, 4) fill(float *x, struct fill f, generator_word seed, int tensor,
                                               long count, long row)
{
    const int kind = f.kind;
    if (kind == GENERATOR_UNIFORM) {
        f.kind = GENERATOR_UNIFORM;
        fill_with(f, x, seed, tensor, count, 1);
    } else if (kind == GENERATOR_NORMAL) {
        f.kind = GENERATOR_NORMAL;
        fill_with(f, x, seed, tensor, count, 1);
    } else {
        fill_with(f, x, seed, tensor, count, row);
    }
}

__global__ void widen(double *__restrict__ y, const float *__restrict__ x, long count)
{
    for (long i = first_element(); i < count; i += stride())
        y[i] = x[i];
}

/* ---- bits ---- */

/* The bits in which two fours differ. */
__device__ inline unsigned difference(uint4 a, uint4 b)
{
    return (a.x ^ b.x) | (a.y ^ b.y) | (a.z ^ b.z) | (a.w ^ b.w);
}

/* Sets *differs if x has not the words of y. This thread looks at its share until any thread has found one
 * that is not. */
__device__ inline void compare(const float *x, const float *y, long count, volatile unsigned *differs)
{
    const int AHEAD = 8; /* fours between two looks at what the others have found */
    const uint4 *a = (const uint4 *)x, *b = (const uint4 *)y;
    unsigned found = 0;
    long i = first_element();
    for (; i + (AHEAD - 1) * stride() < count / 4 && !*differs; i += AHEAD * stride()) {
#pragma unroll
        for (int k = 0; k < AHEAD; k++)
            found |= difference(a[i + k * stride()], b[i + k * stride()]);
        if (found)
            *differs = 1;
    }
    for (; i < count / 4; i += stride())
        found |= difference(a[i], b[i]);
    const unsigned *p = (const unsigned *)x, *q = (const unsigned *)y;
    for (i = count / 4 * 4 + first_element(); i < count; i += stride())
        found |= p[i] ^ q[i];
    if (found)
        *differs = 1;
}

const unsigned POISON = 0xFFFFFFFF;

/* Is all poison in [from, to)? This thread looks at its share; what is not becomes so again. */
__device__ inline bool clean(unsigned *from, unsigned *to)
{
    bool all = true;
    unsigned *middle = (unsigned *)((word)from + 15 & ~15ull), *end = (unsigned *)((word)to & ~15ull);
    if (middle >= end)
        middle = end = to;
    for (long i = first_element(); i < (end - middle) / 4; i += stride()) {
        uint4 *four = (uint4 *)middle + i, v = *four;
        if ((v.x & v.y & v.z & v.w) != POISON) {
            all = false;
            *four = make_uint4(POISON, POISON, POISON, POISON);
        }
    }
    for (unsigned *p = from + first_element(); p < middle; p += stride())
        if (*p != POISON) {
            all = false;
            *p = POISON;
        }
    for (unsigned *p = end + first_element(); p < to; p += stride())
        if (*p != POISON) {
            all = false;
            *p = POISON;
        }
    return all;
}

/* ---- grades ---- */

/* Of some elements: the largest of each, and sums. Between two fours all but max_ulp and the sums are the same in
 * every lane of a warp. */
struct grade {
    double t, max_abs, max_rel, ref_max, errors, squares;
    float t_below; /* t, rounded down */
    unsigned max_ulp, nonfinite, reference_nonfinite;
};

/* What an element is graded by. */
struct element {
    float out, rounded; /* the output; the reference as a float */
    double d, size;     /* the error; the reference's size */
    float error, t;     /* the error, and the critical tolerance if has_tolerance(); both rounded up */
};

__device__ inline struct element element_of(float out, double r)
{
    const float UP = 1 + 6e-7f; /* roundings may take 7 times 2^-24 away from t */
    struct element e = {out, (float)r, fabs((double)out - r), fabs(r)};
    e.error = __double2float_ru(e.d);
    e.t = __fdividef(e.error, 1 + fabsf(e.rounded)) * UP;
    return e;
}

/* Is t, if finite, the critical tolerance rounded up by less than one part in 100,000? Not where the error is so
 * small that floats have fewer bits, and not where the divisor is above 2^126: __fdividef returns 0. */
__device__ inline bool has_tolerance(const struct element *e)
{
    return (e->error == 0) | (e->t >= 1e-37f);
}

__device__ inline bool is_finite(const struct element *e)
{
    return isfinite(e->out) && isfinite(e->rounded);
}

__device__ inline bool same_class(float a, float b)
{
    return isnan(a) ? isnan(b) : a == b;
}

/* An element's critical tolerance, rounded up like that, as bits: infinite where the output is not finite, or the
 * reference, and the other is not the same. */
__device__ inline unsigned key_of(const struct element *e)
{
    if (!is_finite(e))
        return same_class(e->out, e->rounded) ? 0 : (unsigned)FINDINGS_INFINITY;
    return __float_as_uint(has_tolerance(e) && isfinite(e->t) ? e->t : __double2float_ru(e->d / (1 + e->size)));
}

/* How many floats one is from the other. Of two with different signs, one has the sign bit. */
__device__ inline unsigned distance(float x, float y)
{
    int a = __float_as_int(x), b = __float_as_int(y);
    return (a ^ b) & 0x80000000 ? (unsigned)a + (unsigned)b - 0x80000000u : (unsigned)abs(a - b);
}

/*
 * Is it finite, with a tolerance, and nothing of it larger than the largest, but perhaps its distance? No comparison
 * with a NaN is true, and the largest are those of finite elements. The relative error needs no division: fma() has
 * the sign of d - max_rel size. It is exact, and so are other comparisons of doubles: outputs that are all 0, or have
 * all the wrong sign, are plain.
 */
__device__ inline bool is_plain(const struct grade *g, const struct element *e)
{
    bool enlarges_rel = (e->size > 0) & (fma(-g->max_rel, e->size, e->d) > 0);
    return (e->d <= g->max_abs) & (e->size <= g->ref_max) & (e->t <= g->t_below) & !enlarges_rel &
           has_tolerance(e);
}

__device__ inline void add_plain(struct grade *g, const struct element *e)
{
    g->errors += e->d * e->d;
    g->squares += e->size * e->size;
    g->max_ulp = max(g->max_ulp, distance(e->out, e->rounded));
}

/* Adds an element, plain or not, and returns its key. */
__device__ inline unsigned add(struct grade *g, float out, double r)
{
    struct element e = element_of(out, r);
    unsigned key = key_of(&e);
    if (!is_finite(&e)) {
        g->nonfinite += key > 0;
        g->reference_nonfinite += !isfinite(e.rounded);
        return key;
    }
    add_plain(g, &e);
    g->max_abs = fmax(g->max_abs, e.d);
    g->ref_max = fmax(g->ref_max, e.size);
    g->t = fmax(g->t, e.d / (1 + e.size));
    if (e.size > 0)
        g->max_rel = fmax(g->max_rel, e.d / e.size);
    return key;
}

__device__ inline double largest_of_warp(double value)
{
    for (int lanes = 16; lanes > 0; lanes /= 2)
        value = fmax(value, __shfl_xor_sync(0xFFFFFFFFu, value, lanes));
    return value;
}

/* The largest become those of the warp. */
__device__ inline void tell_warp(struct grade *g)
{
    g->t = largest_of_warp(g->t);
    g->max_abs = largest_of_warp(g->max_abs);
    g->max_rel = largest_of_warp(g->max_rel);
    g->ref_max = largest_of_warp(g->ref_max);
    g->t_below = __double2float_rd(g->t);
}

/* Grades this thread's elements: every `step`-th four from `first` on; a warp's lanes have fours side by side.
 * Calls use(key, index). Both arrays are 16-byte aligned. */
template <class user>
__device__ inline void grade_all(struct grade *g, const float *out, const double *reference, long count,
                                 long first, long step, user use)
{
    long whole = count / 128 * 32; /* fours, of whole warps */
    for (long i = first; i < whole; i += step) {
        float4 o = ((const float4 *)out)[i];
        double2 r = ((const double2 *)reference)[2 * i], q = ((const double2 *)reference)[2 * i + 1];
        struct element e[] = {element_of(o.x, r.x), element_of(o.y, r.y), element_of(o.z, q.x),
                              element_of(o.w, q.y)};
        bool plain = is_plain(g, &e[0]) & is_plain(g, &e[1]) & is_plain(g, &e[2]) & is_plain(g, &e[3]);
        if (__all_sync(0xFFFFFFFFu, plain)) {
#pragma unroll
            for (int k = 0; k < 4; k++) {
                add_plain(g, &e[k]);
                use(__float_as_uint(e[k].t), 4 * i + k);
            }
        } else { /* seldom: each of a warp's largest is enlarged once for every doubling of what it has seen */
            bool finite = is_finite(&e[0]) | is_finite(&e[1]) | is_finite(&e[2]) | is_finite(&e[3]);
#pragma unroll 1
            for (int k = 0; k < 4; k++)
                use(add(g, out[4 * i + k], reference[4 * i + k]), 4 * i + k);
            if (__any_sync(0xFFFFFFFFu, finite)) /* outputs that are all NaN enlarge nothing */
                tell_warp(g);
        }
    }
    for (long i = 4 * whole + first; i < count; i += step)
        use(add(g, out[i], reference[i]), i);
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

/* A warp's largest value goes into *to. None is NaN: only finite elements have one. */
__device__ inline void merge_largest(word *to, double value)
{
    value = largest_of_warp(value);
    if (threadIdx.x % 32 == 0 && value > 0)
        atomicMax(to, (word)__double_as_longlong(value));
}

__device__ inline void merge_count(word *to, word count)
{
    for (int lanes = 16; lanes > 0; lanes /= 2)
        count += __shfl_xor_sync(0xFFFFFFFFu, count, lanes);
    if (threadIdx.x % 32 == 0 && count > 0)
        atomicAdd(to, count);
}

/* A block's grade joins those of other blocks; its sums have their own place. */
__device__ inline void merge(struct findings *f, const struct grade *g, int place)
{
    merge_largest(&f->t, g->t);
    merge_largest(&f->max_abs, g->max_abs);
    merge_largest(&f->max_rel, g->max_rel);
    merge_largest(&f->max_ulp, (double)g->max_ulp);
    merge_largest(&f->ref_max, g->ref_max);
    merge_count(&f->nonfinite, g->nonfinite);
    merge_count(&f->reference_nonfinite, g->reference_nonfinite);
    double errors = block_sum(g->errors), squares = block_sum(g->squares);
    if (threadIdx.x == 0) {
        f->errors[place] = errors;
        f->squares[place] = squares;
    }
}

/* Is this the block that ends last? Then all that the others wrote is there. */
__device__ inline bool ends_last(struct findings *f)
{
    __shared__ bool last;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        last = atomicAdd(&f->ended, 1u) == gridDim.x - 1;
        if (last)
            f->ended = 0;
        __threadfence();
    }
    __syncthreads();
    return last;
}

__device__ inline double take(word *bits)
{
    double value = __longlong_as_double((long long)*(volatile word *)bits);
    *bits = 0;
    return value;
}

__device__ inline word take_count(word *count)
{
    word value = *(volatile word *)count;
    *count = 0;
    return value;
}

/* In one block: the merged grades of `blocks` blocks go to the host. */
__device__ inline void hand_over(struct judged *to, struct findings *f, int blocks)
{
    double errors = 0, squares = 0;
    for (int k = threadIdx.x; k < blocks; k += blockDim.x) {
        errors += *(volatile double *)&f->errors[k];
        squares += *(volatile double *)&f->squares[k];
    }
    errors = block_sum(errors);
    squares = block_sum(squares);
    if (threadIdx.x > 0)
        return;
    to->t = take(&f->t);
    to->max_abs = take(&f->max_abs);
    to->max_rel = take(&f->max_rel);
    to->max_ulp = take(&f->max_ulp);
    to->ref_max = take(&f->ref_max);
    to->nonfinite = take_count(&f->nonfinite);
    to->reference_nonfinite = take_count(&f->reference_nonfinite);
    to->errors = errors;
    to->squares = squares;
    to->graded = 1;
}

__device__ inline void say_done(struct judged *to)
{
    __threadfence_system();
    __syncthreads();
    if (threadIdx.x == 0)
        *(volatile unsigned *)&to->done = 1;
}

/* ---- shares ---- */

/* One warp: the bin that holds rank *rank, which becomes the rank within it. Without such a bin, BINS. */
template <class counter>
__device__ inline int find_bin(const volatile counter *bin, word *rank)
{
    const int PART = FINDINGS_BINS / 32, lane = threadIdx.x % 32;
    word sum = 0;
    for (int k = 0; k < PART; k++)
        sum += bin[lane * PART + k];
    word upto = sum;
    for (int lanes = 1; lanes < 32; lanes *= 2) {
        word other = __shfl_up_sync(0xFFFFFFFFu, upto, lanes);
        if (lane >= lanes)
            upto += other;
    }
    word before = upto - sum;
    bool mine = *rank >= before && *rank < upto;
    int k = 0;
    for (; mine && *rank - before >= bin[lane * PART + k]; k++)
        before += bin[lane * PART + k];
    unsigned who = __ballot_sync(0xFFFFFFFFu, mine);
    if (who == 0)
        return FINDINGS_BINS;
    int lane_found = __ffs((int)who) - 1;
    *rank = __shfl_sync(0xFFFFFFFFu, *rank - before, lane_found);
    return __shfl_sync(0xFFFFFFFFu, lane * PART + k, lane_found);
}

/* The first rank with this one's prefix: it counts for both. */
__device__ inline int counter_of(const unsigned prefix[], int which)
{
    int s = 0;
    while (prefix[s] != prefix[which])
        s++;
    return s;
}

/* In one block: found[s] becomes the key of rank[s] among the first n, for every thread. 31 bits, in three steps. */
template <int ranks>
__device__ void select(const struct findings *f, int n, const long rank[], unsigned found[])
{
    __shared__ unsigned bin[ranks][FINDINGS_BINS], prefix[ranks];
    const int SHIFT[] = {20, 10, 0}, BITS[] = {11, 10, 10}, AHEAD = 8; /* keys that are on their way at once */
    int warp = threadIdx.x / 32;
    word left = warp < ranks ? (word)rank[warp] : 0;
    if (threadIdx.x < ranks)
        prefix[threadIdx.x] = 0;
    for (int step = 0; step < 3; step++) {
        const int shift = SHIFT[step], bits = BITS[step];
        for (int k = threadIdx.x; k < ranks * FINDINGS_BINS; k += blockDim.x)
            bin[0][k] = 0;
        __syncthreads();
        unsigned base[ranks]; /* what the first bin is of; more than any key where another rank's bins do for both */
        for (int s = 0; s < ranks; s++)
            base[s] = counter_of(prefix, s) == s ? prefix[s] >> shift : 1u << 31;
        for (int i = threadIdx.x; i < n; i += AHEAD * blockDim.x) {
            unsigned its[AHEAD];
#pragma unroll
            for (int k = 0; k < AHEAD; k++)
                its[k] = f->key[i + k * blockDim.x]; /* past n too: there are more */
#pragma unroll
            for (int k = 0; k < AHEAD; k++)
                for (int s = 0; s < ranks; s++) {
                    unsigned at = (its[k] >> shift) - base[s];
                    if (at >> bits == 0 && i + k * blockDim.x < n)
                        atomicAdd(&bin[s][at], 1u);
                }
        }
        __syncthreads();
        int chosen = warp < ranks ? find_bin(bin[counter_of(prefix, warp)], &left) : 0;
        __syncthreads(); /* every rank has found its counter: prefixes may change */
        if (warp < ranks && threadIdx.x % 32 == 0)
            prefix[warp] |= (unsigned)chosen << shift;
        __syncthreads();
    }
    for (int s = 0; s < ranks; s++)
        found[s] = prefix[s];
}

/* ---- a run's judgement ---- */

/* In one block: all grades of a small task. */
__device__ void grade_at_once(const struct task *t, struct findings *f, struct judged *to)
{
    struct grade g = {};
    unsigned found[FINDINGS_SHARES], *key = f->key;
    for (int k = 0; k < t->outs; k++) {
        grade_all(&g, t->output[k].out, t->output[k].reference, t->output[k].count, threadIdx.x, blockDim.x,
                  [&](unsigned its, long i) {
                      key[i] = its;
                  });
        key += t->output[k].count;
    }
    merge(f, &g, 0);
    __syncthreads(); /* for the sums and the keys */
    hand_over(to, f, 1);
    select<FINDINGS_SHARES>(f, (int)t->count, t->rank, found);
    if (threadIdx.x < FINDINGS_SHARES)
        to->low[threadIdx.x] = to->high[threadIdx.x] = found[threadIdx.x];
}

/* The bits of all outputs, and strays; grades too if they are few, and one has other bits. */
__global__ void __launch_bounds__(256, 4) judge(struct task t, struct findings *f, struct judged *to)
{
    volatile unsigned *now_differs = &f->differs;
    bool poison = true;
    unsigned *gap = t.begin;
    for (int k = 0; k < t.outs; k++) {
        float *out = t.output[k].out;
        if (t.output[k].original)
            compare(out, t.output[k].original, t.output[k].count, now_differs);
        else
            *now_differs = 1;
        poison = clean(gap, (unsigned *)out) && poison;
        gap = (unsigned *)(out + t.output[k].count);
    }
    poison = clean(gap, t.end) && poison;
    poison = clean(t.sink, t.sink_end) && poison;
    if (!poison)
        *(volatile unsigned *)&f->stray = 1;
    if (!ends_last(f))
        return;
    bool differs = *now_differs;
    if (threadIdx.x == 0) {
        to->differs = differs;
        to->stray = *(volatile unsigned *)&f->stray;
        to->graded = 0;
    }
    __syncthreads();
    if (threadIdx.x == 0)
        f->differs = f->stray = 0;
    if (differs && t.count <= FINDINGS_AT_ONCE)
        grade_at_once(&t, f, to);
    say_done(to);
}

/* The keys of n of all elements, each drawn from its n-th part of them, or of all. */
__global__ void sample(struct task t, struct findings *f, long n)
{
    for (long i = first_element(); i < n; i += stride()) {
        double place = n < t.count ? ((double)i + generator_unit(generator_hash(1, 0, i))) *
                                         ((double)t.count / (double)n)
                                   : (double)i;
        long at = (long)place < t.count ? (long)place : t.count - 1;
        int k = 0;
        for (; at >= t.output[k].count; k++)
            at -= t.output[k].count;
        struct element e = element_of(t.output[k].out[at], t.output[k].reference[at]);
        f->key[i] = key_of(&e);
    }
}

/* Between which keys of the sample each share's must be, but for a chance of 1 in 5000: a block for each of them.
 * Zeros, of which there are often many, are below every bracket. */
__global__ void bracket(struct task t, struct findings *f, long n)
{
    int s = blockIdx.x / 2, upper = blockIdx.x % 2;
    double share = (double)t.rank[s] / (double)t.count, middle = share * (double)n;
    double margin = 2 + 4 * sqrt((double)n * share * (1 - share));
    long rank = n == t.count ? t.rank[s]
              : upper        ? (long)fmin(middle + margin, (double)(n - 1))
                             : (long)fmax(middle - margin, 0.0);
    unsigned found;
    select<1>(f, (int)n, &rank, &found);
    if (threadIdx.x == 0)
        (upper ? f->high : f->low)[s] = max(found, 1u);
}

/* A bin has 2 to the power of this keys, so that all span + 1 of a bracket have one. */
__device__ inline int bin_bits(unsigned span)
{
    int bits = 0;
    while (span >> bits >= FINDINGS_BINS)
        bits++;
    return bits;
}

/* One warp a share: a narrower bracket, from what was counted in this one. */
__device__ void narrow(struct findings *f, int share, word rank)
{
    unsigned low = f->low[share], high = f->high[share], width = 1u << bin_bits(high - low);
    word below = *(volatile word *)&f->below[share], left = rank - below;
    int chosen = rank >= below ? find_bin(f->bin[share], &left) : 0;
    __syncwarp();
    if (rank < below) { /* a zero, or the sample misled: it is outside */
        high = low - 1;
        low = min(high, 1u);
    } else if (chosen == FINDINGS_BINS) {
        low = high + 1;
        high = FINDINGS_INFINITY;
    } else {
        low += (unsigned)chosen * width;
        high = low + width - 1 < high ? low + width - 1 : high;
    }
    if (threadIdx.x % 32 == 0) {
        f->low[share] = low;
        f->high[share] = high;
        f->below[share] = 0;
    }
    for (int k = threadIdx.x % 32; k < FINDINGS_BINS; k += 32)
        f->bin[share][k] = 0;
}

/* Counts a key that lies in the bracket of some share. */
__device__ inline void count_key(unsigned bin[][FINDINGS_BINS], const unsigned low[], const unsigned span[],
                                 const int bits[], unsigned key)
{
#pragma unroll
    for (int s = 0; s < FINDINGS_SHARES; s++)
        if (key - low[s] <= span[s])
            atomicAdd(&bin[s][key - low[s] >> bits[s]], 1u);
}

/* Grades, and the counts that narrow the brackets of the shares. */
__global__ void __launch_bounds__(256, 4) grade(struct task t, struct findings *f, struct judged *to)
{
    __shared__ unsigned bin[FINDINGS_SHARES][FINDINGS_BINS];
    for (int k = threadIdx.x; k < FINDINGS_SHARES * FINDINGS_BINS; k += blockDim.x)
        bin[0][k] = 0;
    __syncthreads();
    unsigned low[FINDINGS_SHARES], span[FINDINGS_SHARES], below[FINDINGS_SHARES] = {};
    int bits[FINDINGS_SHARES];
    for (int s = 0; s < FINDINGS_SHARES; s++) {
        low[s] = f->low[s];
        span[s] = f->high[s] - low[s];
        bits[s] = bin_bits(span[s]);
    }
    struct grade g = {};
    for (int k = 0; k < t.outs; k++)
        grade_all(&g, t.output[k].out, t.output[k].reference, t.output[k].count, first_element(), stride(),
                  [&](unsigned key, long) {
                      bool counts = false;
#pragma unroll
                      for (int s = 0; s < FINDINGS_SHARES; s++) {
                          below[s] += key - low[s] >> 31; /* 1 for less, as keys have 31 bits */
                          counts |= key - low[s] <= span[s];
                      }
                      if (counts)
                          count_key(bin, low, span, bits, key);
                  });
    merge(f, &g, blockIdx.x);
    for (int s = 0; s < FINDINGS_SHARES; s++)
        merge_count(&f->below[s], below[s]);
    __syncthreads();
    for (int k = threadIdx.x; k < FINDINGS_SHARES * FINDINGS_BINS; k += blockDim.x)
        if (bin[0][k])
            atomicAdd(&f->bin[0][k], (word)bin[0][k]);
    if (!ends_last(f))
        return;
    if (threadIdx.x < 32 * FINDINGS_SHARES)
        narrow(f, threadIdx.x / 32, (word)t.rank[threadIdx.x / 32]);
    __syncthreads();
    hand_over(to, f, gridDim.x);
    if (threadIdx.x < FINDINGS_SHARES) {
        to->low[threadIdx.x] = f->low[threadIdx.x];
        to->high[threadIdx.x] = f->high[threadIdx.x];
    }
    say_done(to);
}
