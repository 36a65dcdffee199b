/*
 * findings - what the host and the kernels of service.cu tell each other; judge.c is the host's side.
 *
 * A tolerance's bits, as those of any float or double that is not negative, have the numbers' order.
 */
#ifndef ASSAY_FINDINGS_H
#define ASSAY_FINDINGS_H

enum {
    FINDINGS_BLOCKS = 528,     /* of a launch, at most: four for each multiprocessor of an H100 or H200 */
    FINDINGS_SHARES = 3,
    FINDINGS_BINS = 2048,
    FINDINGS_OUTPUTS = 8,      /* of a problem, at most */
    FINDINGS_AT_ONCE = 8192,   /* elements that the block that ends last grades by itself */
    FINDINGS_SAMPLE = 1 << 18, /* elements that tell where to look for the shares' tolerances */
    FINDINGS_INFINITY = 0x7F800000
};

/* What a run wrote, and what that is judged by. Addresses are the device's. */
struct task {
    int outs;
    struct {
        float *out;             /* 16-byte aligned, and so are: */
        const float *original;  /* what it is compared with; NULL: nothing, and it counts as different */
        const double *reference;
        long count;
    } output[FINDINGS_OUTPUTS]; /* in the order of their addresses */
    unsigned *begin, *end;      /* around the outputs; between and beside them is poison */
    unsigned *sink, *sink_end;  /* more poison; both NULL where there is none */
    long count;                 /* elements of all outputs */
    long rank[FINDINGS_SHARES]; /* of the element, by its critical tolerance, that a share ends with */
};

/* What the host reads, in its own memory. */
struct judged {
    unsigned done;    /* not 0 once the rest is there */
    unsigned differs; /* some output element has other bits than the original's */
    unsigned stray;   /* something was written outside every output */
    unsigned graded;  /* the rest is there too */
    double t, max_abs, max_rel, max_ulp, ref_max, errors, squares;
    unsigned long long nonfinite;           /* elements, as in struct graded */
    unsigned long long reference_nonfinite; /* elements of the reference */
    unsigned low[FINDINGS_SHARES], high[FINDINGS_SHARES]; /* a share's tolerance is among these, as floats */
};

/* Where the kernels work; all 0 between runs, but for the last two. */
struct findings {
    unsigned differs, stray;
    unsigned ended;                                         /* blocks of this launch */
    unsigned long long t, max_abs, max_rel, max_ulp, ref_max; /* bits of doubles */
    unsigned long long nonfinite, reference_nonfinite;
    double errors[FINDINGS_BLOCKS], squares[FINDINGS_BLOCKS]; /* sums, each of one block */
    unsigned long long below[FINDINGS_SHARES];              /* elements, by their keys: less than low */
    unsigned long long bin[FINDINGS_SHARES][FINDINGS_BINS]; /* the same, from low to high */
    unsigned low[FINDINGS_SHARES], high[FINDINGS_SHARES];
    unsigned key[FINDINGS_SAMPLE]; /* critical tolerances, as floats */
};

#endif
