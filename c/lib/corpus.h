/*
 * corpus - what the entries of the gpuemu corpus compute, for which sizes, within which tolerances.
 *
 * Read from kernels/gpuemu/corpus.json (schema assay/corpus). An entry:
 *
 *   name, operator     one operator may have several entries: a family
 *   kind               "control" or "buggy"
 *   calibrate_against  of a buggy entry: the control whose errors its tolerance comes from
 *   means, fault       what a control computes; what is wrong with a buggy entry
 *   dims               candidates by dimension, in the order in which a case draws them
 *   inputs, output     the dimensions of each tensor, outermost first
 *   parameters         constants of the formula (alpha, eps)
 *   tolerance          the tolerance in use by dtype: accepted when |out − ref| ≤ it everywhere
 *   published          the dtypes of the published study
 *   published_kind     the kind that the public script takes the entry for, where it differs
 *   bound              of a control: what the analytic bounds need (bound.h)
 *
 * Inputs are uniform in `range`.
 */
#ifndef ASSAY_CORPUS_H
#define ASSAY_CORPUS_H

#include <jansson.h>
#include <stdbool.h>

#include "dtype.h"
#include "error.h"

enum { CORPUS_DIMS = 4, CORPUS_INPUTS = 4, CORPUS_RANK = 4 };

struct corpus_dim {
    const char *name;
    const long *candidate; /* count of them */
    int count;
};

struct corpus_tensor {
    const char *name;     /* NULL for the output */
    int dim[CORPUS_RANK]; /* indices into the entry's dims, outermost first */
    int rank;
};

/* value × Π dim^power: a magnitude that grows with the sizes. */
struct corpus_magnitude {
    double value, power[CORPUS_DIMS];
};

/* What an entry's rounding errors are bounded by, for inputs in the corpus's range. */
struct corpus_bound {
    bool summed[CORPUS_DIMS]; /* the dimensions that are summed over, one after the other */
    int roundings;            /* besides those of the sums, on the way to one output */
    struct corpus_magnitude magnitude; /* what the roundings are relative to: Σ |terms| */
    struct corpus_magnitude rounded;   /* the largest output that the dtype cannot hold exactly */
    struct corpus_magnitude largest;   /* the largest |output| */
};

struct corpus_entry {
    const char *name, *op;
    bool buggy, published_buggy; /* published_buggy: in the public script's eyes */
    int against;                 /* of a buggy entry: the index of its control; else its own */
    struct corpus_dim dim[CORPUS_DIMS];
    int dims;
    struct corpus_tensor input[CORPUS_INPUTS], output;
    int inputs;
    double tolerance[DTYPES];
    bool published[DTYPES];
    struct corpus_bound bound; /* of a control */
    json_t *parameters;        /* borrowed; NULL if it has none */
};

struct corpus {
    struct corpus_entry *entry; /* in the file's order */
    int count;
    double low, high; /* the range of the inputs */
    long *candidates; /* all dims' */
    char *path;       /* of the file that was read */
    json_t *document; /* which the texts lie in */
};

/* Where it is, from the project's root. */
#define CORPUS_PATH "kernels/gpuemu"

/* path: a corpus.json, or its folder. EXIT_IO; EXIT_DATA with one line for an entry that is not as
 * above. corpus_free() after success only. */
int corpus_read(struct corpus *corpus, const char *path, struct error *e);
void corpus_free(struct corpus *corpus);

/* The index of the entry of that name, or -1. */
int corpus_find(const struct corpus *corpus, const char *name);

/* value × Π extent^power; extent by the entry's dims. */
double corpus_magnitude(const struct corpus_magnitude *m, int dims, const long extent[]);

#endif
