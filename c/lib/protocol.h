/*
 * protocol - correctness checkers as data: which inputs a checker runs, and what it then accepts.
 *
 * A protocol is a JSON document in inputs/protocols:
 *
 *   {"schema": "assay/protocol", "schema_version": "1.0",
 *    "id": "kernelbench-v0.1", "name": "KernelBench v0.1", "means": "…", "source": "…",
 *    "suites": ["official"],
 *    "accept": {"rule": "allclose", "tolerance": 0.01},
 *    "looks_at": []}
 *
 *   suites       the suites whose inputs it runs
 *   set_cover    instead of suites: so many inputs a problem, chosen by setcover
 *   accept       the acceptance rule with its numbers, below
 *   looks_at     what it notices besides values: "stray" accesses, a "race", "divergence" at barriers
 *
 *   {"rule": "allclose", "tolerance": t}               |out − ref| ≤ t + t |ref| everywhere
 *   {"rule": "matched", "share": s, "tolerance": t}    the same for a share s of the elements,
 *                                                      s one of 0.95, 0.9, 0.85
 *   {"rule": "max_abs", "limit": a, "limit_for": {…}}  |out − ref| ≤ a everywhere; limit_for
 *                                                      gives other limits by problem
 *   {"rule": "times_float32", "factor": f, "plus": a}  max_abs ≤ f × float32 reference's + a
 *   {"rule": "nmse", "limit": a}                       Σ (out − ref)² / Σ ref² ≤ a
 *   {"rule": "calibrated", "error": "max_abs", "percentile": p, "factor": f, "from": ["official"]}
 *                                                      max_abs ≤ f × the p-percentile of the original
 *                                                      kernel's own; "error": "t" the same for the
 *                                                      critical tolerance
 *
 * A calibrated limit comes from the valid inputs of the suites `from`, of all suites without it, and
 * never from the input that it judges. As in calibration.h the percentile is the element
 * round(p (n − 1)) of the sorted errors, and where that is 0 the smallest error above 0 takes its
 * place.
 *
 * Every rule rejects a NaN or infinity that the reference does not have, and a run that did not
 * finish.
 */
#ifndef ASSAY_PROTOCOL_H
#define ASSAY_PROTOCOL_H

#include <jansson.h>
#include <stdbool.h>

#include "error.h"
#include "rows.h"

/* atol = rtol of the official check up to KernelBench v0.1: what a witness is judged by. */
#define OFFICIAL_TOLERANCE 1e-2

/* The protocol of that check; what it misses are the survivors. */
#define OFFICIAL_PROTOCOL "kernelbench-v0.1"

enum acceptance {
    ACCEPT_ALLCLOSE,
    ACCEPT_MATCHED,
    ACCEPT_MAX_ABS,
    ACCEPT_TIMES_FLOAT32,
    ACCEPT_NMSE,
    ACCEPT_CALIBRATED
};

struct protocol {
    const char *id;
    json_t *suites; /* array of texts; NULL with set_cover */
    int set_cover;  /* inputs a problem; 0 with suites */
    enum acceptance acceptance;
    double limit;      /* the rule's tolerance, limit or summand */
    double share;      /* of ACCEPT_MATCHED */
    double factor;     /* of ACCEPT_TIMES_FLOAT32 and ACCEPT_CALIBRATED */
    double percentile; /* of ACCEPT_CALIBRATED, as the next two */
    bool calibrates_t; /* t, not max_abs */
    json_t *from;      /* array of texts; NULL: all suites */
    bool looks_at_stray, looks_at_race, looks_at_divergence;
    json_t *document; /* owned; what the above borrows from */
};

struct protocols {
    struct protocol *protocol; /* by id */
    int count;
};

/* Reads every *.json of a folder, for one problem. EXIT_IO; EXIT_DATA for a file that is no
 * protocol or whose name is not its id. protocols_free() after success only. */
int protocols_read(struct protocols *all, const char *folder, const char *problem, struct error *e);
void protocols_free(struct protocols *all);

/* Does it run the inputs of this suite? */
bool protocol_runs(const struct protocol *p, const char *suite);

/* The rule's number for one input of the gate: `limit`, or what is calibrated on the other inputs;
 * infinite when there are none. */
double protocol_limit(const struct protocol *p, const struct gate *gate, int input);

/* Does it accept this run? `float32` is the float32 reference's error on the same input, `limit` as
 * protocol_limit() says. */
bool protocol_accepts(const struct protocol *p, const struct run *run, const struct graded *float32,
                      double limit);

#endif
