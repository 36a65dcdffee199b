/*
 * validity - may an input count? Only where correct kernels pass and the reference decides.
 */
#ifndef ASSAY_VALIDITY_H
#define ASSAY_VALIDITY_H

#include "rows.h"

/*
 * NULL when the input is valid; else why not, in one line. `original` is the worst run of the unmutated
 * kernel, `float32` the error of the float32 reference, `finite` whether the reference is.
 */
const char *validity_why_not(const struct run *original, const struct graded *float32, bool finite);

#endif
