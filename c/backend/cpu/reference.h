/* reference - runs the reference of a problem, which is kernels too, on the CPU executor. */
#ifndef ASSAY_REFERENCE_H
#define ASSAY_REFERENCE_H

#include "../../lib/error.h"
#include "../../lib/plugin.h"

/*
 * reference_run - out = the problem's reference of in, at some sizes
 *
 *   in, out  arrays of the table's element type (double for f64.so, float for f32.so), in the
 *            problem's order; from simt_buffer_new, or any other memory
 *
 * After simt_start. EXIT_BUG with the executor's words if the reference does not finish cleanly.
 */
int reference_run(const struct plugin *p, const struct reference *r, void *const in[],
                  void *const out[], const long sizes[], const double hyperparameters[],
                  struct error *e);

#endif
