/*
 * parallel - lines that child processes write at once, in the order that one process would.
 *
 * Of `jobs` children each makes every jobs-th line and sends it through a pipe.
 */
#ifndef ASSAY_PARALLEL_H
#define ASSAY_PARALLEL_H

#include <stdio.h>

#include "error.h"

struct parallel {
    long lines; /* numbered from 0 */
    int jobs;   /* 1: no child is made */

    /* Writes one line, with its newline. A code other than 0 ends everything. In a child. */
    int (*line)(void *context, long number, FILE *out, struct error *e);
    void *context;
};

/* Returns 0 when all lines are in `out`, line's code, EXIT_UNAVAILABLE if a child cannot be made or
 * dies, or EXIT_IO. */
int parallel_lines(const struct parallel *work, FILE *out, struct error *e);

#endif
