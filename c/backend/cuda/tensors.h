/*
 * tensors - where the tensors of an input lie in device memory.
 *
 * Three blocks: the inputs; the answers, which are all outputs of the double reference and then all
 * of the original kernel; and the outputs of a run. In the first and the last, each tensor stands
 * between gaps of poison, so that a stray access near it is harmless and a stray write shows.
 */
#ifndef ASSAY_TENSORS_H
#define ASSAY_TENSORS_H

#include "../../lib/recipe.h"

enum { TENSORS_GAP = 1 << 20 };

struct tensors {
    int ins, outs;
    size_t *in;        /* offsets in the inputs, in the problem's order */
    size_t *out;       /* offsets in the outputs */
    size_t *reference; /* offsets in the answers, of doubles */
    size_t *original;  /* offsets in the answers, of floats */
    size_t *in_count, *out_count; /* elements */
    size_t count;      /* of all outputs */
    size_t inputs, answers, outputs; /* bytes of the blocks */
};

void tensors_place(struct tensors *x, const struct recipe *r);
void tensors_free(struct tensors *x);

#endif
