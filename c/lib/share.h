/*
 * share - which kernels of a mutant are the original's, so that they need no second compilation.
 *
 * Most mutants change one function of a file. A kernel that is the same in the original, with all
 * that it calls, and that has no state of its own, is compiled once for all the mutants beside it.
 */
#ifndef ASSAY_SHARE_H
#define ASSAY_SHARE_H

#include <stdbool.h>

#include "lex.h"

/*
 * share_kernels - sets shared[f] for each function f of the mutant
 *
 * True for a kernel that can be taken from the original. All are false where the code outside
 * functions differs or declares anything but constants and aliases: a variable or a type of the
 * mutant's is not the original's.
 */
void share_kernels(const struct source *original, const struct source *mutant, bool shared[]);

#endif
