/* gate - decides which inputs may count: those on which correct kernels pass and the reference decides. */
#include <argp.h>
#include <string.h>

#include "backend/gating.h"
#include "error.h"
#include "json.h"
#include "protocol.h"
#include "version.h"

const char *argp_program_version = "gate (assay) " ASSAY_VERSION;

static const char DOC[] =
    "Run the unmutated kernel and both references on every input of the suites, and write which inputs "
    "are valid, why the others are not, and the graded errors.\v"
    "Exit status: 0 written; 1 written, but the kernel fails on an input of a suite named by "
    "--must-pass; 64 usage; 65 bad data; 69 something is missing; 74 input or output failed.";

static const struct argp_option OPTIONS[] = {
    {"must-pass", 'm', "SUITE", 0, "Fail if an input of this suite is not valid", 0},
    {0},
};

struct options {
    struct setup_options setup;
    const char *must_pass;
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &o->setup; return 0;
    case 'm': o->must_pass = argument; return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

/* Why the kernel fails where it must not, for its author. */
static int explain(const struct setup *s, const struct recipe *r, const struct trial *t, const char *why,
                   struct error *e)
{
    const struct run *run = &t->original_run;
    if (run->detail)
        return fail(e, EXIT_NO, "%s: input %s: %s: %s", s->plugin.id, r->id, why, run->detail);
    if (!graded_accepts(&run->graded, OFFICIAL_TOLERANCE))
        return fail(e, EXIT_NO,
                    "%s: input %s: the kernel is wrong here, or its reference is: critical tolerance "
                    "%.3g, allowed %.3g",
                    s->plugin.id, r->id, run->graded.t, OFFICIAL_TOLERANCE);
    return fail(e, EXIT_NO, "%s: input %s: %s", s->plugin.id, r->id, why);
}

/* One input: its record into the file; *bad when the kernel had to pass and does not. */
static int gate_input(const struct setup *s, const struct options *o, const struct recipe *r,
                      struct output *out, bool *bad, struct error *e)
{
    struct trial t;
    int code = s->backend->make(&t, s, r, e);
    if (code)
        return code;
    const char *why;
    json_t *record = gating_record(s, &t, &why);
    code = json_write_line(out, record, e);
    json_decref(record);
    bool must = o->must_pass && strcmp(o->must_pass, r->suite) == 0;
    if (why && must && !*bad) {
        *bad = true;
        explain(s, r, &t, why, e);
    }
    /* Where it hangs once it hangs again: each input would cost the whole limit. */
    if (!code && o->must_pass && t.original_run.outcome == OUTCOME_TIMEOUT)
        code = explain(s, r, &t, why, e);
    s->backend->free(&t);
    return code;
}

static bool has_suite(const struct pool *pool, const char *suite)
{
    for (int k = 0; k < pool->recipes; k++)
        if (strcmp(pool->recipe[k].suite, suite) == 0)
            return true;
    return false;
}

int main(int argc, char **argv)
{
    struct options o = {0};
    const struct argp_child children[] = {{&setup_argp, 0, NULL, 0}, {0}};
    const struct argp argp = {OPTIONS, parse, "PROBLEM.so SUITE.json…", DOC, children, NULL, NULL};
    if (argp_parse(&argp, argc, argv, 0, NULL, &o))
        abort(); /* no memory for it; it reports all else itself */

    struct error e;
    struct setup s;
    struct output out = {0};
    bool bad = false;
    int code = setup_open(&s, &o.setup, &e);
    if (!code)
        code = output_open(&out, o.setup.output, &e);
    if (!code) {
        json_t *header = gating_header(&s);
        code = json_write_line(&out, header, &e);
        json_decref(header);
    }
    if (!code && o.must_pass && !has_suite(&s.pool, o.must_pass))
        code = fail(&e, EXIT_DATA, "--must-pass: none of the inputs is of suite '%s'", o.must_pass);
    for (int k = 0; k < s.pool.recipes && !code; k++)
        code = gate_input(&s, &o, &s.pool.recipe[k], &out, &bad, &e);
    if (!code) {
        struct error io;
        code = output_commit(&out, &io);
        e = code ? io : e;
    }
    output_abandon(&out);
    setup_close(&s);
    if (!code && bad)
        code = EXIT_NO;
    return code ? error_print("gate", &e) : 0;
}
