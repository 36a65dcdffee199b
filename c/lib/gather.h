/*
 * gather - the rows of many files, read by several threads, as one after the other would give them.
 *
 * Each thread reads neighbouring files, about as many bytes as the others do, into cells of its
 * own; they are merged in the files' order.
 */
#ifndef ASSAY_GATHER_H
#define ASSAY_GATHER_H

#include "cells.h"
#include "error.h"

/* How many threads are worth their start: no more than processors, or files, or shares of 8 MiB. */
int gather_jobs(char *const path[], int files);

/*
 * gather_rows - adds the rows of files to cells that are not sorted yet
 *
 *   jobs      files read at once
 *   listener  as cells_add() has it; called by the caller's thread alone, in the files' order
 *
 * Returns what cells_add() did for the first file that failed.
 */
int gather_rows(struct cells *cells, char *const path[], int files, int jobs,
                const struct listener *listener, struct error *e);

#endif
