/* ladder - one draw at growing magnitudes: where a correct kernel starts to be rejected. */
#ifndef ASSAY_LADDER_H
#define ASSAY_LADDER_H

#include <jansson.h>

#include "error.h"

/*
 * ladder_read - the gate's judgement of ladder suites, whose inputs are named `<name>-x<scale>`
 *
 *   rungs    out  by suite, an array of: scale, valid, why (not valid), and the critical
 *                 tolerances of the original kernel (`t`) and the float32 reference (`t_float32`)
 *   ceiling  out  the smallest scale from 1 on that is not valid in one of them, or INFINITY
 *
 * *rungs is a new reference. EXIT_IO; EXIT_DATA, also for an input without a scale.
 */
int ladder_read(const char *path, json_t **rungs, double *ceiling, struct error *e);

#endif
