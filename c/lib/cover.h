/*
 * cover - the few inputs that together kill most: maximum coverage, greedy and exact.
 *
 * The exact optimum is an integer program that glpsol (GLPK) solves as a child process; its answer
 * is counted again here before it is believed.
 */
#ifndef ASSAY_COVER_H
#define ASSAY_COVER_H

#include <stdint.h>

#include "error.h"

/* The kill matrix of one problem, reduced: faults that the same inputs kill are one pattern, and an
 * input whose kills another one has too is left out. */
struct cover {
    int inputs;
    int killable; /* faults that any input kills */
    int words;    /* 64-bit words a pattern */
    int patterns;
    uint64_t *pattern; /* [patterns][words]: bit i is set when input i kills */
    int *weight;       /* faults of each pattern */
};

/* kills[fault][input] is 0 or 1. Of equal inputs the first stays. */
void cover_make(struct cover *c, const unsigned char *kills, int faults, int inputs);
void cover_free(struct cover *c);

/* The faults that the chosen inputs kill together. */
int cover_killed(const struct cover *c, const int chosen[], int count);

/*
 * cover_greedy - takes, up to budget times, the input that kills most of what is left (the first of
 * equals), as long as one kills anything
 *
 * chosen has room for `budget` inputs. Returns how many were chosen.
 */
int cover_greedy(const struct cover *c, int budget, int chosen[]);

/*
 * cover_exact - the inputs, at most `budget`, that kill as many as any choice can
 *
 * As cover_greedy, with *count inputs chosen, in ascending order.
 * EXIT_UNAVAILABLE without glpsol, EXIT_BUG if its answer does not hold.
 */
int cover_exact(const struct cover *c, int budget, int chosen[], int *count, struct error *e);

#endif
