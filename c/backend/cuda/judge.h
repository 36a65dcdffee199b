/* judge - inputs, poison and graded comparison on the GPU: the host's side of service.cu. */
#ifndef ASSAY_JUDGE_H
#define ASSAY_JUDGE_H

#include "../../lib/compare.h"
#include "findings.h"
#include "launch.h"
#include "tensors.h"

/* Loads service.gpu from the folder. After gpu_open. */
int judge_open(const char *folder, struct error *e);

/* Each of these starts its work and returns 0 or the driver's error; gpu_wait() waits for it. */
int judge_fill(const struct recipe *r, int tensor, device_address x);
int judge_widen(device_address y, device_address x, size_t count);
int judge_poison(device_address x, size_t bytes);

/*
 * judge_difference - compares a run's outputs with the original's, and looks for stray writes
 *
 *   outputs  the block's used part, as placed by tensors_place
 *   found    out, once gpu_wait() has returned
 */
int judge_difference(const struct tensors *x, device_address outputs, device_address answers,
                     struct difference *found);

/*
 * judge_grade - grades outputs against the double reference; waits
 *
 *   out     the address of each output
 *   finite  out: is each element of the reference finite as a float32? May be NULL
 *
 * As graded_compare(), but the t_p are rounded up to floats. Returns the driver's error.
 */
int judge_grade(const struct tensors *x, const device_address out[], device_address answers,
                struct graded *g, bool *finite);

#endif
