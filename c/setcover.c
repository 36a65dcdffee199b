/* setcover - finds the inputs that together kill most, from the scores of all problems. */
#include <argp.h>
#include <stdlib.h>

#include "json.h"
#include "scored.h"
#include "synthesis.h"
#include "version.h"

const char *argp_program_version = "setcover (assay) " ASSAY_VERSION;

struct options {
    const char *output;
    char **path;
    int paths;
};

static const struct argp_option OPTIONS[] = {
    {"output", 'o', "FILE", 0, "Write the result to FILE", 0},
    {0},
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case 'o': o->output = argument; break;
    case ARGP_KEY_ARGS:
        o->path = state->argv + state->next;
        o->paths = state->argc - state->next;
        break;
    case ARGP_KEY_END:
        if (!o->output || o->paths == 0)
            argp_error(state, "--output and at least one SCORE are needed");
        break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp ARGP = {
    .options = OPTIONS,
    .parser = parse,
    .args_doc = "SCORE...",
    .doc = "Find, for each problem and budget, the inputs that together kill most mutants: "
           "greedily, and exactly with glpsol; on all mutants, and held out.\v"
           "Exit status: 0 written; 64 usage; 65 bad data; 69 glpsol is missing; "
           "70 its answer does not hold; 74 input or output failed.",
};

static int setcover(const struct options *o, struct error *e)
{
    struct scored *scored = calloc((size_t)o->paths, sizeof *scored);
    json_t *document;
    int count = 0, code = 0;
    if (!scored)
        abort();
    while (!code && count < o->paths) {
        code = scored_read(&scored[count], o->path[count], e);
        count += !code;
    }
    if (!code)
        code = synthesis(scored, count, &document, e);
    if (!code)
        code = json_write_document(o->output, document, e);
    while (count > 0)
        scored_free(&scored[--count]);
    free(scored);
    return code;
}

int main(int argc, char **argv)
{
    struct options o = {0};
    struct error e;
    if (argp_parse(&ARGP, argc, argv, 0, NULL, &o))
        abort(); /* no memory for it; it reports all else itself */
    int code = setcover(&o, &e);
    return code ? error_print("setcover", &e) : 0;
}
