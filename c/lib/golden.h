/*
 * golden - the expected outputs of a real PyTorch module, read from a file and compared with.
 *
 * The format is golden/README.md's. A file names its problem, its module constants, the tensors it
 * was made from (numbers and ranges for the generator), and the outputs in float64.
 */
#ifndef ASSAY_GOLDEN_H
#define ASSAY_GOLDEN_H

#include <jansson.h>
#include <stdbool.h>

#include "error.h"
#include "plugin.h"

struct golden_tensor {
    const char *name;
    int number; /* for the generator */
    double lo, hi;
    int rank;
    long shape[TENSOR_RANK];
    long elements;
};

struct golden_output {
    int rank;
    long shape[TENSOR_RANK];
    long elements;        /* of the whole output */
    long stride;          /* data[k] is element k × stride */
    long samples;
    double *data;         /* owned */
    bool summed;          /* are sum and sumsq known? */
    double sum, sumsq;    /* over all elements */
    double largest;       /* largest magnitude in data */
    double float32_error; /* largest absolute difference of PyTorch's own float32 run */
};

struct golden {
    const char *path, *problem; /* `level1/023_softmax`; texts are borrowed from root */
    json_t *root, *constants;
    struct golden_tensor *tensor; /* parameters and buffers, then inputs */
    int tensors;
    struct golden_output *output;
    int outputs;
    char unsupported[128]; /* empty, or what in the file this program cannot regenerate */
};

/*
 * golden_read - reads one file
 *
 * A JSON object with none of the keys `problem`, `tensors`, `outputs` is no golden file: g->root is
 * then NULL and 0 is returned. EXIT_IO; EXIT_DATA with the path for a malformed file.
 */
int golden_read(struct golden *g, const char *path, struct error *e);
void golden_free(struct golden *g);

/*
 * golden_bind - the problem's sizes and hyperparameters at which its tensors are the file's
 *
 * Constants bind by name (`tuple.k` for an element of an array). A size that is no constant of the
 * module takes its official value if the declared shapes then agree with the file's, else an extent
 * of the file that makes them agree, with as few sizes moved from the official value as possible.
 * EXIT_NO with the first disagreement when nothing does. *l gets the layout.
 */
int golden_bind(const struct golden *g, const struct plugin *p, long sizes[PROBLEM_SIZES],
                double hyperparameters[PROBLEM_SIZES], struct layout *l, struct error *e);

/* Element i of tensor t, from the generator. */
float golden_value(const struct golden *g, int t, long i);

/*
 * golden_difference - how far a whole output is from the expected one, relative to the largest
 * magnitude expected (1 when that is 0): the largest difference of a sample, of the mean, and half
 * that of the mean square (relative to the largest square). NaN when a NaN is involved.
 *
 * Relative to the largest and not to each element, because an element near 0 comes of cancellation
 * and carries the rounding of the terms, not its own.
 */
double golden_difference(const struct golden_output *o, const double out[]);

#endif
