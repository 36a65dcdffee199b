/* score - from raw rows to verdicts on one problem, or (--merge) from those to every number. */
#include "score.h"

#include <argp.h>
#include <stdlib.h>

#include "json.h"
#include "scored.h"
#include "summary.h"
#include "version.h"

const char *argp_program_version = "score (assay) " ASSAY_VERSION;

struct options {
    struct score_files files;
    const char *output, *setcover, *real_faults, *rules, *profile;
    bool merge;
    char **path; /* the other arguments */
    int paths;
};

enum {
    OPTION_GATE = 256,
    OPTION_IMAGES,
    OPTION_MANIFEST,
    OPTION_RACE,
    OPTION_LADDER,
    OPTION_PROTOCOLS,
    OPTION_MERGE,
    OPTION_SETCOVER,
    OPTION_REAL_FAULTS,
    OPTION_RULES,
    OPTION_PROFILE
};

static const struct argp_option OPTIONS[] = {
    {"output", 'o', "FILE", 0, "Write the result to FILE", 0},
    {NULL, 0, NULL, 0, "One problem:", 1},
    {"gate", OPTION_GATE, "FILE", 0, "The problem's gated inputs", 1},
    {"images", OPTION_IMAGES, "FILE", 0, "What became of its mutants in compilation", 1},
    {"manifest", OPTION_MANIFEST, "FILE", 0, "Their rules and families", 1},
    {"race", OPTION_RACE, "FILE", 0, "Rows of the race oracle, which adds to the others", 1},
    {"ladder", OPTION_LADDER, "FILE", 0, "Gated inputs of growing magnitude, for the ceiling", 1},
    {"protocols", OPTION_PROTOCOLS, "FOLDER", 0, "The protocols to score", 1},
    {NULL, 0, NULL, 0, "All problems:", 2},
    {"merge", OPTION_MERGE, NULL, 0, "The arguments are scores; write the summary", 2},
    {"setcover", OPTION_SETCOVER, "FILE", 0, "What setcover chose on the same scores", 2},
    {"real-faults", OPTION_REAL_FAULTS, "FILE", 0, "The mixes to weigh families by", 2},
    {"rules", OPTION_RULES, "FILE", 0, "All rules, as mutate --list-rules --json prints them", 2},
    {"profile", OPTION_PROFILE, "NAME", 0, "The profile's name (default cpu)", 2},
    {0},
};

static void check(const struct options *o, struct argp_state *state)
{
    const struct score_files *f = &o->files;
    if (!o->output)
        argp_error(state, "--output is missing");
    else if (o->merge && (!o->setcover || o->paths == 0))
        argp_error(state, "--merge needs --setcover and at least one SCORE");
    else if (!o->merge &&
             (!f->gate || !f->images || !f->manifest || !f->protocols || o->paths != 1))
        argp_error(state, "one ROWS, --gate, --images, --manifest and --protocols are needed");
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case 'o': o->output = argument; break;
    case OPTION_GATE: o->files.gate = argument; break;
    case OPTION_IMAGES: o->files.images = argument; break;
    case OPTION_MANIFEST: o->files.manifest = argument; break;
    case OPTION_RACE: o->files.race = argument; break;
    case OPTION_LADDER: o->files.ladder = argument; break;
    case OPTION_PROTOCOLS: o->files.protocols = argument; break;
    case OPTION_MERGE: o->merge = true; break;
    case OPTION_SETCOVER: o->setcover = argument; break;
    case OPTION_REAL_FAULTS: o->real_faults = argument; break;
    case OPTION_RULES: o->rules = argument; break;
    case OPTION_PROFILE: o->profile = argument; break;
    case ARGP_KEY_ARGS:
        o->path = state->argv + state->next;
        o->paths = state->argc - state->next;
        break;
    case ARGP_KEY_END: check(o, state); break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp ARGP = {
    .options = OPTIONS,
    .parser = parse,
    .args_doc = "ROWS\n--merge SCORE...",
    .doc = "Score every protocol by the mutants it kills. Nothing is run again.\v"
           "Exit status: 0 written; 64 usage; 65 bad data, or files that do not fit together; "
           "74 input or output failed.",
};

static int score_one(const struct options *o, struct error *e)
{
    struct score_files files = o->files;
    json_t *score;
    files.rows = o->path[0];
    int code = score_problem(&files, &score, e);
    return code ? code : json_write_document(o->output, score, e);
}

static int read_context(const struct options *o, struct summary_context *context, struct error *e)
{
    int code = json_document(&context->setcover, o->setcover, "setcover", e);
    if (!code && o->real_faults)
        code = json_document(&context->real_faults, o->real_faults, "real-faults", e);
    if (!code && o->rules)
        code = summary_read_rules(o->rules, &context->rules, e);
    return code;
}

static int write_summary(const struct options *o, const struct scored scored[],
                         const struct summary_context *context, struct error *e)
{
    json_t *profile;
    int code = summary(scored, o->paths, context, &profile, e);
    if (code)
        return code;
    json_t *document = json_new("summary");
    json_object_set_new(document, "profiles", json_pack("{so}", o->profile, profile));
    return json_write_document(o->output, document, e);
}

static int merge(const struct options *o, struct error *e)
{
    struct summary_context context = {0};
    struct scored *scored = calloc((size_t)o->paths, sizeof *scored);
    int count = 0;
    if (!scored)
        abort();
    int code = read_context(o, &context, e);
    while (!code && count < o->paths) {
        code = scored_read(&scored[count], o->path[count], e);
        count += !code;
    }
    if (!code)
        code = write_summary(o, scored, &context, e);
    while (count > 0)
        scored_free(&scored[--count]);
    free(scored);
    json_decref(context.setcover.value);
    json_decref(context.real_faults.value);
    json_decref(context.rules);
    return code;
}

int main(int argc, char **argv)
{
    struct options o = {.profile = "cpu"};
    struct error e;
    if (argp_parse(&ARGP, argc, argv, 0, NULL, &o))
        abort(); /* no memory for it; it reports all else itself */
    int code = o.merge ? merge(&o, &e) : score_one(&o, &e);
    return code ? error_print("score", &e) : 0;
}
