/* outcome - how a run of a kernel ended, whichever backend ran it. */
#ifndef ASSAY_OUTCOME_H
#define ASSAY_OUTCOME_H

#include <stdbool.h>

enum outcome {
    OUTCOME_FINISHED,
    OUTCOME_CRASHED,  /* an access far outside every buffer, a trap, a stack overflow, a division by
                         0 */
    OUTCOME_TIMEOUT,  /* out of loop fuel, or of CPU time */
    OUTCOME_DEADLOCK, /* threads wait and none can run */
    OUTCOME_BAD_LAUNCH /* a launch configuration that CUDA refuses; the launch was skipped */
};

/* The outcome's word in a row: "finished", "crashed", "timeout", "deadlock", "bad_launch". */
const char *outcome_name(enum outcome outcome);

/* The outcome of that name; false for any other word. */
bool outcome_find(const char *name, enum outcome *outcome);

#endif
