/* findings - what the kernels of service.cu leave in device memory, for judge.c to read. */
#ifndef ASSAY_FINDINGS_H
#define ASSAY_FINDINGS_H

/* BLOCKS blocks at most grade an output: eight for each multiprocessor of an H100 or H200. */
enum { FINDINGS_BLOCKS = 1056, FINDINGS_SHARES = 3, FINDINGS_BINS = 2048 };

/* How a run's outputs differ from the original's: zeros if they do not. */
struct difference {
    unsigned differs; /* some output element has other bits */
    unsigned stray;   /* something was written outside every output */
};

/* Numbers are bits of doubles that are not negative, whose order is that of the numbers. */
struct findings {
    unsigned long long t, max_abs, max_rel, max_ulp, ref_max;
    unsigned long long nonfinite;           /* elements, as in struct graded */
    unsigned long long reference_nonfinite; /* elements of the reference */
    double errors[FINDINGS_BLOCKS], squares[FINDINGS_BLOCKS]; /* sums, each of one block */

    /* The search for the critical tolerance that a share of the elements meets, as a float. */
    unsigned long long rank[FINDINGS_SHARES]; /* among the elements that begin with the prefix */
    unsigned prefix[FINDINGS_SHARES];         /* the bits that are known, the others 0 */
    unsigned long long histogram[FINDINGS_SHARES][FINDINGS_BINS];
};

#endif
