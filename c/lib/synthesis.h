/*
 * synthesis - the smallest input suites: for each problem and budget the inputs that kill most, on
 * all witnessed mutants (pool), and chosen on one half, measured on the other (heldout).
 *
 * The document, of schema assay/setcover:
 *
 *   witnessed, test   the denominators: all witnessed mutants, and the half not chosen on
 *   pool, heldout     the share killed, by budget, of the exact optimum on all, or on the dev half
 *   greedy            the same two of the greedy choice
 *   official          the same two of the official protocol, whatever its number of inputs
 *   problems          by name: witnessed, test, and by budget the inputs of the exact optimum on
 *                     the pool (`chosen`) and the mutants that they kill (`killed`)
 *
 * A mutant is in the dev half when the SHA-256 of `<problem> <mutant>` starts with an even digit.
 */
#ifndef ASSAY_SYNTHESIS_H
#define ASSAY_SYNTHESIS_H

#include <jansson.h>

#include "error.h"
#include "scored.h"

/* *document is a new reference. EXIT_DATA for a score without the official protocol; the codes of
 * cover_exact. */
int synthesis(const struct scored scored[], int problems, json_t **document, struct error *e);

#endif
