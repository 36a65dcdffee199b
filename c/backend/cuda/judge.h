/* judge - inputs, poison and the judgement of outputs on the GPU: the host's side of service.cu. */
#ifndef ASSAY_JUDGE_H
#define ASSAY_JUDGE_H

#include "../../lib/compare.h"
#include "findings.h"
#include "launch.h"
#include "tensors.h"

enum { JUDGE_SLOTS = 32 }; /* judgements that can be under way at once */

struct judgement {
    bool differs; /* from the original, in some bit of an output */
    bool stray;   /* something was written outside every output; it is mended */
    struct graded graded; /* if it differs */
    bool finite;  /* if it differs: is each element of the reference finite as a float32? */
};

/* Loads service.gpu from the folder. After gpu_open, and gpu_open_sink if there is to be a sink. */
int judge_open(const char *folder, struct error *e);

/* Each of these starts its work and returns 0 or the driver's error; gpu_wait() waits for it. */
int judge_fill(const struct recipe *r, int tensor, device_address x);
int judge_widen(device_address y, device_address x, size_t count);
int judge_poison(device_address x, size_t bytes);

/*
 * judge_task - what a run's outputs are judged by
 *
 *   outputs  the block's used part, answers the block of answers, both as placed by tensors_place
 *   alone    there is no original to compare with: all outputs count as different, and are graded
 *
 * At most FINDINGS_OUTPUTS outputs.
 */
void judge_task(struct task *t, const struct tensors *x, device_address outputs, device_address answers,
                bool alone);

/*
 * judge_start - starts the judgement of what was started before, into a slot below JUDGE_SLOTS
 * judge_wait - waits for it, up to limit_s seconds (0: for ever) for it and what was started before
 *
 * As graded_compare(), but the shares' tolerances t_p are rounded up, by less than one part in 16,000.
 * Return 0, the driver's error, or CUDA_NOT_READY. A slot whose judgement is there stays valid when
 * something that was started later goes wrong.
 */
int judge_start(const struct task *t, int slot);
int judge_wait(const struct task *t, int slot, double limit_s, struct judgement *j);

#endif
