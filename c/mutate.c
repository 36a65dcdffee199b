/* mutate - writes the manifest of a kernel's mutants, shows single ones, lists and checks the
 * rules. */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "error.h"
#include "json.h"
#include "manifest.h"
#include "mutant.h"
#include "process.h"
#include "rule.h"
#include "version.h"

const char *argp_program_version = "mutate (assay) " ASSAY_VERSION;

enum { OPTION_LIST = 256, OPTION_JSON, OPTION_CHECK, OPTION_DIFF, OPTION_APPLY, OPTION_RULES };

struct options {
    const char *rules, *kernel, *manifest, *id;
    int what; /* the option that says what to do; 'o' for the manifest */
    bool json;
};

static const struct argp_option OPTIONS[] = {
    {"rules", OPTION_RULES, "DIR", 0, "Where the *.rules files are (mutants/rules)", 0},
    {NULL, 'o', "MANIFEST", 0, "Write the mutants of KERNEL.cu to this file", 0},
    {"diff", OPTION_DIFF, "ID", 0, "Print this mutant as a unified diff", 0},
    {"apply", OPTION_APPLY, "ID", 0, "Print the source of this mutant", 0},
    {"list-rules", OPTION_LIST, NULL, 0, "Print every rule's id and meaning", 0},
    {"json", OPTION_JSON, NULL, 0, "With --list-rules: all that is known of each, an object a line",
     0},
    {"check", OPTION_CHECK, NULL, 0, "Run the examples of every rule", 0},
    {0}};

static void choose(struct argp_state *state, int what)
{
    struct options *o = state->input;
    if (o->what)
        argp_error(state, "one of -o, --diff, --apply, --list-rules and --check at a time");
    o->what = what;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct options *o = state->input;
    bool wants_kernel = o->what == 'o' || o->what == OPTION_DIFF || o->what == OPTION_APPLY;
    switch (key) {
    case OPTION_RULES: o->rules = argument; return 0;
    case OPTION_JSON: o->json = true; return 0;
    case 'o':
        choose(state, key);
        o->manifest = argument;
        return 0;
    case OPTION_DIFF:
    case OPTION_APPLY:
        choose(state, key);
        o->id = argument;
        return 0;
    case OPTION_LIST:
    case OPTION_CHECK: choose(state, key); return 0;
    case ARGP_KEY_ARG:
        if (o->kernel)
            argp_error(state, "one KERNEL.cu at a time");
        o->kernel = argument;
        return 0;
    case ARGP_KEY_END:
        if (!o->what)
            argp_error(state, "say what to do: -o, --diff, --apply, --list-rules or --check");
        if (wants_kernel != (o->kernel != NULL))
            argp_error(state,
                       wants_kernel ? "KERNEL.cu is missing" : "no KERNEL.cu is needed here");
        if (o->json && o->what != OPTION_LIST)
            argp_error(state, "--json goes with --list-rules");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp ARGP = {
    .options = OPTIONS,
    .parser = parse,
    .args_doc = "[KERNEL.cu]",
    .doc = "Makes mutants of a CUDA kernel file: small known faults, put there by rules."
           "\vA mutant's ID is as in the manifest: family/rule-xxxxxxxx.\n\n"
           "Exit status: 0 done; 1 the rules make no mutant ID; 64 usage; 65 the kernel or a rule is "
           "malformed, or an example fails; 69 diff is missing; 74 input or output failed."};

static json_t *text_array(char *const text[], int count)
{
    json_t *array = json_array();
    for (int k = 0; k < count; k++)
        json_array_append_new(array, json_string(text[k]));
    return array;
}

static json_t *rule_json(const struct rule *rule)
{
    static const char *const PLACE[] = {
        [FUNCTION_KERNEL] = "kernel", [FUNCTION_DEVICE] = "device", [FUNCTION_HOST] = "host"};
    json_t *places = json_array();
    for (int k = 0; k < 3; k++)
        if (rule->in[k])
            json_array_append_new(places, json_string(PLACE[k]));
    return json_pack("{s:s, s:s, s:o, s:s, s:o, s:s}", "family", rule->family, "id", rule->id, "in",
                     places, "means", rule->means, "real", text_array(rule->real, rule->reals),
                     "source", rule->source);
}

static int list_rules(const struct rules *rules, bool json)
{
    int width = 0;
    for (int k = 0; k < rules->count; k++)
        width = (int)strlen(rules->rule[k].id) > width ? (int)strlen(rules->rule[k].id) : width;
    for (int k = 0; k < rules->count; k++) {
        const struct rule *rule = &rules->rule[k];
        if (!json) {
            printf("%-*s  %s\n", width, rule->id, rule->means);
            continue;
        }
        json_t *object = rule_json(rule);
        json_dumpf(object, stdout, JSON_SORT_KEYS | JSON_COMPACT);
        putchar('\n');
        json_decref(object);
    }
    return 0;
}

static int check_rules(const struct rules *rules)
{
    int failures = 0;
    for (int k = 0; k < rules->count; k++)
        failures += rule_check(&rules->rule[k], stderr);
    printf("%d rules, %d failures\n", rules->count, failures);
    return failures ? EXIT_DATA : 0;
}

static int write_manifest(const struct options *o, const struct source *s,
                          const struct rules *rules, struct mutants mutants, struct error *e)
{
    struct manifest m = {
        .problem = problem_of(o->kernel), .version = ASSAY_VERSION, .mutants = mutants};
    hash_bytes(s->text, (size_t)s->size, m.kernel_sha256);
    memcpy(m.rules_sha256, rules->sha256, HASH_HEX);
    int code = manifest_write(&m, o->manifest, e);
    free(m.problem);
    return code;
}

static int print_diff(const struct options *o, const char *text, size_t size, struct error *e)
{
    const char *const argv[] = {"diff", "-u",      "--label", o->kernel, "--label",
                                o->id,  o->kernel, "-",       NULL};
    struct process p;
    int code = process_run(argv, text, size, 0, &p, e);
    if (code)
        return code;
    if (p.status == 1)
        fwrite(p.out, 1, p.out_size, stdout);
    else
        code = fail(e, EXIT_BUG, "diff: %s", p.err);
    process_free(&p);
    return code;
}

static int show_mutant(const struct options *o, const struct source *s,
                       const struct mutants *mutants, struct error *e)
{
    const struct mutant *m = mutants_find(mutants, o->id);
    if (!m)
        return fail(e, EXIT_NO, "%s: these rules make no mutant %s", o->kernel, o->id);
    char *text;
    size_t size;
    int code = mutant_apply(m, s->text, (size_t)s->size, &text, &size, e);
    if (code)
        return code;
    if (o->what == OPTION_DIFF)
        code = print_diff(o, text, size, e);
    else
        fwrite(text, 1, size, stdout);
    free(text);
    return code;
}

static int mutate(const struct options *o, const struct rules *rules, struct error *e)
{
    struct source s;
    struct mutants mutants;
    int code = source_read(&s, o->kernel, e);
    if (code)
        return code;
    code = mutants_make(&mutants, &s, rules->rule, rules->count, e);
    if (!code) {
        code = o->what == 'o' ? write_manifest(o, &s, rules, mutants, e)
                              : show_mutant(o, &s, &mutants, e);
        mutants_free(&mutants);
    }
    source_free(&s);
    return code;
}

int main(int argc, char **argv)
{
    struct options o = {.rules = "mutants/rules"};
    struct rules rules;
    struct error e;
    argp_err_exit_status = EXIT_USAGE;
    if (argp_parse(&ARGP, argc, argv, 0, NULL, &o))
        abort(); /* no memory for it; it reports all else itself */
    if (rules_read(&rules, o.rules, &e))
        return error_print("mutate", &e);
    int code = o.what == OPTION_LIST    ? list_rules(&rules, o.json)
               : o.what == OPTION_CHECK ? check_rules(&rules)
                                        : mutate(&o, &rules, &e);
    rules_free(&rules);
    if (code && o.what != OPTION_CHECK)
        return error_print("mutate", &e);
    if (fflush(stdout) || ferror(stdout))
        return error_print("mutate", (fail_errno(&e, "the output cannot be written"), &e));
    return code;
}
