/*
 * ref.cuh - what the reference operators share: the element type, how terms are summed, the launch
 * shape and scratch memory.
 *
 * Build with -DREAL=double for the reference, with -DREAL=float -DPAIRWISE for the stand-in of the
 * benchmark's own float32 reference. An operator `name` of ref.h is the host function `ref_name`;
 * its kernels are static.
 */
#ifndef ASSAY_REF_CUH
#define ASSAY_REF_CUH

#include "ref.h"

extern "C" {
#define REF_DECLARE(name, parameters) void ref_##name parameters;
REF_OPERATORS(REF_DECLARE)
#undef REF_DECLARE

/* n zeroed elements, or NULL; they live until ref_release(). */
real *ref_scratch(long n);

/* Frees all scratch memory. Called once the outputs of a reference have been read. */
void ref_release(void);
}

/* Kernels run one thread an element: kernel<<<blocks(n), BLOCK>>>(…) and `if (element() < n)`. */
constexpr int BLOCK = 256;

static inline unsigned blocks(long n)
{
    return (unsigned)((n + BLOCK - 1) / BLOCK);
}

static __device__ inline long element()
{
    return (long)blockIdx.x * BLOCK + threadIdx.x;
}

/* A sum, given term by term. */
#ifdef PAIRWISE
/*
 * Leaves of 64 consecutive terms, added up as a binary tree: the error grows with the logarithm of
 * the number of terms, as in PyTorch's own sums. partial[k] holds 2^k leaves where bit k of
 * `leaves` is set.
 */
struct summation {
    enum { LEAF = 64, LEVELS = 40 };
    real leaf = 0, partial[LEVELS];
    int terms = 0;
    long leaves = 0;

    __device__ void add(real term)
    {
        leaf += term;
        if (++terms < LEAF)
            return;
        int level = 0;
        for (; leaves >> level & 1; level++)
            leaf = partial[level] + leaf;
        partial[level] = leaf;
        leaves++;
        leaf = 0;
        terms = 0;
    }

    __device__ real total() const
    {
        real sum = leaf;
        for (int level = 0; leaves >> level; level++)
            if (leaves >> level & 1)
                sum = partial[level] + sum;
        return sum;
    }
};
#else
struct summation {
    real sum = 0;

    __device__ void add(real term)
    {
        sum += term;
    }

    __device__ real total() const
    {
        return sum;
    }
};
#endif

#endif
