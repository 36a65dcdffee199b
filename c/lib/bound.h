/*
 * bound - how far rounding alone can move an output of the corpus from its reference.
 *
 * First-order error analysis with the data of corpus.json, for a kernel that computes in float32 and
 * inputs in the corpus's range. With n the roundings on the way to one output (the lengths of its
 * sums, plus the fixed ones), u = 2^−24, M the magnitude that they are relative to, u_T the unit
 * roundoff of the dtype and R the largest output that it cannot hold exactly:
 *
 *   LENGTH    N ε_T: the length of the sums times the dtype's machine epsilon, as the published study
 *             proposes. It knows no magnitudes: a number to compare with, not a bound.
 *   WORST     γ_n M + 2 u_T R, γ_n = n u / (1 − n u)   (Higham, Accuracy and Stability, lemma 3.1)
 *   PROBABLE  γ̃_n M + 2 u_T R, γ̃_n = exp(λ √n u + n u² / (1 − u)) − 1, which holds with probability
 *             0.95 at least when the roundings are independent, λ = √(2 ln(2 n / 0.05))
 *             (Higham and Mary 2019, theorem 2.4); WORST where that is smaller, as it is for small n
 *
 * 2 u_T R: output and reference are both rounded to the dtype.
 */
#ifndef ASSAY_BOUND_H
#define ASSAY_BOUND_H

#include "corpus.h"

enum bound { BOUND_LENGTH, BOUND_WORST, BOUND_PROBABLE, BOUNDS };

const char *bound_name(enum bound bound); /* "length", … */

/* extent: the sizes of the case, by the dims of the control. */
double bound_error(enum bound bound, const struct corpus_entry *control, const long extent[],
                   enum dtype dtype);

#endif
