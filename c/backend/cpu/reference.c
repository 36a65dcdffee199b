#include "reference.h"

#include "simt.h"

/* What run_reference needs and the executor does not hand on. */
static struct {
    const struct problem *problem;
    const struct reference *reference;
} running;

static void run_reference(float *const in[], float *const out[], const long dim[],
                          const double hyper[])
{
    running.problem->reference(running.reference->table, (real *const *)in, (real *const *)out, dim,
                               hyper);
    running.reference->release();
}

int reference_run(const struct plugin *p, const struct reference *r, void *const in[],
                  void *const out[], const long sizes[], const double hyperparameters[],
                  struct error *e)
{
    const struct simt_schedule schedule = {.order = SIMT_FORWARD};
    struct simt_verdict verdict;
    running.problem = p->problem;
    running.reference = r;
    simt_run(run_reference, (float *const *)in, (float *const *)out, sizes, hyperparameters,
             &schedule, &verdict);
    if (verdict.outcome != OUTCOME_FINISHED)
        return fail(e, EXIT_BUG, "%s: its reference did not finish: %s", p->id, verdict.detail);
    if (verdict.stray_read || verdict.stray_write || verdict.input_written || verdict.divergence)
        return fail(e, EXIT_BUG, "%s: its reference does not keep within its arrays", p->id);
    return 0;
}
