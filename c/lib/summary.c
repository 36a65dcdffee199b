#include "summary.h"

#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "protocol.h"
#include "stats.h"

/* ---- counting in JSON objects ---------------------------------------------------------------- */

/* The member object of that name, made empty if it is not there. Borrowed. */
static json_t *member(json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);
    if (!value) {
        value = json_object();
        json_object_set_new(object, key, value);
    }
    return value;
}

static long counted(const json_t *object, const char *key)
{
    return (long)json_integer_value(json_object_get(object, key));
}

static void count(json_t *object, const char *key, long n)
{
    json_object_set_new(object, key, json_integer(counted(object, key) + n));
}

/* Adds every integer member of `from`. */
static void count_all(json_t *object, json_t *from)
{
    const char *key;
    json_t *value;
    json_object_foreach(from, key, value)
    {
        if (json_is_integer(value))
            count(object, key, (long)json_integer_value(value));
    }
}

static void set_share(json_t *object, const char *key, long part, long whole)
{
    if (whole > 0)
        json_object_set_new(object, key, json_real((double)part / (double)whole));
}

/* ---- mutants, families, rules, classes ------------------------------------------------------- */

/* A rule that the list of rules lacks is known by its mutants alone. */
static json_t *rule_of(json_t *profile, const struct fate *f)
{
    json_t *rules = member(profile, "rules"), *rule = json_object_get(rules, f->rule);
    if (rule)
        return rule;
    rule = member(rules, f->rule);
    json_object_set_new(rule, "family", json_string(f->family));
    count(member(member(profile, "families"), f->family), "rules", 1);
    return rule;
}

static void add_rules(json_t *profile, json_t *rules)
{
    static const char *const COPIED[] = {"family", "means", "real", "source"};
    size_t i;
    json_t *listed;
    json_array_foreach(rules, i, listed)
    {
        json_t *rule =
            member(member(profile, "rules"), json_string_value(json_object_get(listed, "id")));
        const char *family = json_string_value(json_object_get(listed, "family"));
        for (int k = 0; k < 4; k++)
            json_object_set(rule, COPIED[k], json_object_get(listed, COPIED[k]));
        count(member(member(profile, "families"), family), "rules", 1);
        count(member(member(profile, "families"), family), "rules_real",
              json_array_size(json_object_get(listed, "real")) > 0);
    }
}

static void add_fate(json_t *profile, json_t *problem, const struct fate *f, int official)
{
    json_t *family = member(member(profile, "families"), f->family);
    json_t *rule = rule_of(profile, f);
    bool missed = fate_is(f, "witnessed") && !letter_kills(f->protocols[official]);
    json_t *const counts[] = {family, rule};
    for (int k = 0; k < 2; k++) {
        count(counts[k], "generated", 1);
        count(counts[k], f->status, 1);
        count(counts[k], "missed_official", missed);
    }
    count(problem, "missed_official", missed);
    if (missed) {
        count(member(profile, "survivors"), f->class, 1);
        count(member(family, "survivors"), f->class, 1);
        count(member(problem, "survivors"), f->class, 1);
    } else if (f->class) {
        count(member(profile, fate_is(f, "witnessed") ? "kills" : f->status), f->class, 1);
    }
}

/* Counts that are 0 are written too, for families and rules. */
static void complete_counts(json_t *objects)
{
    static const char *const COUNT[] = {"uncompilable",      "equivalent",     "duplicate",
                                        "indistinguishable", "quarantined",    "witnessed",
                                        "generated",         "missed_official"};
    const char *name;
    json_t *object;
    json_object_foreach(objects, name, object)
    {
        for (int k = 0; k < 8; k++)
            count(object, COUNT[k], 0);
    }
}

static void add_missed_shares(json_t *families)
{
    const char *name;
    json_t *family;
    json_object_foreach(families, name, family)
    {
        long missed = counted(family, "missed_official"), witnessed = counted(family, "witnessed");
        struct interval band = stats_wilson(missed, witnessed, STATS_Z95);
        set_share(family, "missed_share", missed, witnessed);
        if (witnessed > 0)
            json_object_set_new(family, "missed_interval", json_pack("[ff]", band.low, band.high));
    }
}

/* ---- protocols ------------------------------------------------------------------------------- */

static void add_kills(json_t *profile, json_t *problem, const struct scored *s,
                      const char *protocol, const bool killed[])
{
    json_t *all = member(member(profile, "protocols"), protocol);
    count(all, "killed", 0);
    count(member(problem, "killed"), protocol, 0);
    for (int k = 0; k < s->fates; k++) {
        if (!fate_is(&s->fate[k], "witnessed"))
            continue;
        count(all, "witnessed", 1);
        count(all, "killed", killed[k]);
        count(member(problem, "killed"), protocol, killed[k]);
        count(member(all, "families"), s->fate[k].family, killed[k]);
    }
}

/* The protocols that run suites: their letters are in the score. */
static void add_suite_protocols(json_t *profile, json_t *problem, const struct scored *s,
                                bool killed[])
{
    const json_t *scores = json_object_get(s->document, "protocols");
    for (int p = 0; p < s->protocols; p++) {
        json_t *all = member(member(profile, "protocols"), s->protocol[p]);
        const json_t *own = json_object_get(scores, s->protocol[p]);
        for (int k = 0; k < s->fates; k++)
            killed[k] = s->fate[k].protocols && letter_kills(s->fate[k].protocols[p]);
        add_kills(profile, problem, s, s->protocol[p], killed);
        static const char *const SUM[] = {"inputs", "false_rejections", "timeout_only",
                                          "not_looked"};
        for (int k = 0; k < 4; k++)
            count(all, SUM[k], counted(own, SUM[k]));
    }
}

/* killed[] by the inputs that the set cover chose for this problem. */
static int kills_of_chosen(const struct scored *s, const json_t *chosen, bool killed[],
                           struct error *e)
{
    size_t n;
    json_t *name;
    memset(killed, 0, (size_t)s->fates);
    json_array_foreach(chosen, n, name)
    {
        int input = json_is_string(name) ? scored_input(s, json_string_value(name)) : -1;
        if (input < 0)
            return fail(e, EXIT_DATA,
                        "%s: the set cover chose an input that the score lacks; run "
                        "setcover again",
                        s->problem);
        for (int k = 0; k < s->fates; k++)
            killed[k] |= s->fate[k].inputs && letter_kills(s->fate[k].inputs[input]);
    }
    return 0;
}

/* The protocols that run the chosen inputs. Those are valid, so the original is never rejected. */
static int add_cover_protocols(json_t *profile, json_t *problem, const struct scored *s,
                               const json_t *chosen_by_budget, bool killed[], struct error *e)
{
    const char *protocol;
    json_t *budget;
    json_object_foreach(json_object_get(s->document, "set_cover"), protocol, budget)
    {
        char key[16];
        snprintf(key, sizeof key, "%d", (int)json_integer_value(budget));
        const json_t *chosen = json_object_get(chosen_by_budget, key);
        if (!chosen)
            return fail(e, EXIT_DATA, "%s: the set cover has no budget of %s, which %s asks for",
                        s->problem, key, protocol);
        int code = kills_of_chosen(s, chosen, killed, e);
        if (code)
            return code;
        add_kills(profile, problem, s, protocol, killed);
        json_t *all = member(member(profile, "protocols"), protocol);
        count(all, "inputs", (long)json_array_size(chosen));
        count(all, "false_rejections", 0);
    }
    return 0;
}

static void add_protocol_shares(json_t *protocols)
{
    const char *id;
    json_t *protocol;
    json_object_foreach(protocols, id, protocol)
        set_share(protocol, "share", counted(protocol, "killed"), counted(protocol, "witnessed"));
}

/* ---- problems -------------------------------------------------------------------------------- */

static int add_problem(json_t *profile, const struct scored *s, const struct json_at *setcover,
                       struct error *e)
{
    static const char *const COPIED[] = {"mutants", "official", "reduction", "ladder", "ceiling"};
    json_t *problems = member(profile, "problems");
    json_t *cover = json_object_get(json_object_get(setcover->value, "problems"), s->problem);
    int official = scored_protocol(s, OFFICIAL_PROTOCOL);
    if (json_object_get(problems, s->problem))
        return fail(e, EXIT_DATA, "%s: two scores of one problem", s->problem);
    if (!cover)
        return fail(e, EXIT_DATA, "%s: '%s' is missing; run setcover again", setcover->path,
                    s->problem);
    if (official < 0)
        return fail(e, EXIT_DATA, "%s: it was scored without " OFFICIAL_PROTOCOL, s->problem);

    json_t *problem = member(problems, s->problem);
    for (int k = 0; k < 5; k++) {
        json_t *value = json_object_get(s->document, COPIED[k]);
        if (value)
            json_object_set(problem, COPIED[k], value);
    }
    count_all(member(profile, "mutants"), json_object_get(s->document, "mutants"));
    count(problem, "missed_official", 0);
    for (int k = 0; k < s->fates; k++)
        add_fate(profile, problem, &s->fate[k], official);
    set_share(problem, "missed_share", counted(problem, "missed_official"),
              counted(json_object_get(problem, "mutants"), "witnessed"));

    bool *killed = calloc((size_t)s->fates + 1, sizeof *killed);
    if (!killed)
        abort();
    add_suite_protocols(profile, problem, s, killed);
    int code =
        add_cover_protocols(profile, problem, s, json_object_get(cover, "chosen"), killed, e);
    free(killed);
    return code;
}

/* The numbers of problems for which the band is drawn: 1, 2, 3, 5, 10, 20, … up to all. */
static int next_drawn(int drawn, int problems)
{
    static const int FIRST[] = {1, 2, 3, 5, 10};
    int next = drawn >= 10 ? drawn * 2 : 0;
    for (int k = 0; next == 0; k++)
        next = FIRST[k] > drawn ? FIRST[k] : 0;
    return drawn < problems && next > problems ? problems : next;
}

static json_t *missed_to_json(const double missed[], const double witnessed[], int problems)
{
    static const double QUARTILE[] = {0, 0.25, 0.5, 0.75, 1};
    static const char *const NAME[] = {"least", "lower_quartile", "median", "upper_quartile",
                                       "most"};
    double *share = calloc((size_t)problems + 1, sizeof *share), parts = 0, wholes = 0;
    json_t *object = json_object(), *band = json_array();
    if (!share)
        abort();
    for (int k = 0; k < problems; k++) {
        share[k] = missed[k] / witnessed[k];
        parts += missed[k];
        wholes += witnessed[k];
    }
    stats_sort(share, problems);
    if (problems > 0)
        json_object_set_new(object, "share", json_real(parts / wholes));
    for (int q = 0; q < 5 && problems > 0; q++)
        json_object_set_new(object, NAME[q],
                            json_real(stats_quantile(share, problems, QUARTILE[q])));
    for (int n = next_drawn(0, problems); n <= problems; n = next_drawn(n, problems)) {
        struct interval i = stats_bootstrap_share(missed, witnessed, problems, n, 0.9);
        json_array_append_new(band,
                              json_pack("{si sf sf}", "problems", n, "low", i.low, "high", i.high));
    }
    json_object_set_new(object, "band", band);
    free(share);
    return object;
}

/* Over the problems that have a witnessed mutant. */
static void add_missed(json_t *profile, const struct scored scored[], int problems)
{
    double *missed = calloc((size_t)problems + 1, sizeof *missed);
    double *witnessed = calloc((size_t)problems + 1, sizeof *witnessed);
    int n = 0;
    if (!missed || !witnessed)
        abort();
    for (int k = 0; k < problems; k++) {
        const json_t *problem = json_object_get(member(profile, "problems"), scored[k].problem);
        missed[n] = (double)counted(problem, "missed_official");
        witnessed[n] = (double)counted(json_object_get(problem, "mutants"), "witnessed");
        n += witnessed[n] > 0;
    }
    json_object_set_new(profile, "missed", missed_to_json(missed, witnessed, n));
    free(missed);
    free(witnessed);
}

/* ---- the real mix ---------------------------------------------------------------------------- */

/* Σ weight × share of the family, over Σ weight; the weights are numbers of real faults. */
static void set_mixed_share(json_t *mix, const char *id, const json_t *killed,
                            const json_t *families, json_t *weights)
{
    double sum = 0, all = 0;
    const char *family;
    json_t *weight;
    json_object_foreach(weights, family, weight)
    {
        double witnessed = (double)counted(json_object_get(families, family), "witnessed");
        if (witnessed > 0) {
            sum += json_number_value(weight) * (double)counted(killed, family) / witnessed;
            all += json_number_value(weight);
        }
    }
    if (all > 0)
        json_object_set_new(mix, id, json_real(sum / all));
}

static int add_real_mix(json_t *profile, const struct json_at *real_faults, struct error *e)
{
    struct json_at mixes;
    const char *name, *id;
    json_t *weights, *protocol;
    int code = json_get_object(real_faults, "mixes", &mixes, e);
    if (code)
        return code;
    json_object_foreach(mixes.value, name, weights)
        json_object_foreach(member(profile, "protocols"), id, protocol)
            set_mixed_share(member(member(profile, "real_mix"), name), id,
                            json_object_get(protocol, "families"), member(profile, "families"),
                            weights);
    return 0;
}

/* ---- all ------------------------------------------------------------------------------------- */

static void add_setcover(json_t *profile, const json_t *document)
{
    static const char *const KEYS[] = {"witnessed", "test",   "pool",
                                       "heldout",   "greedy", "official"};
    for (int k = 0; k < 6; k++)
        json_object_set(member(profile, "setcover"), KEYS[k], json_object_get(document, KEYS[k]));
}

/* Denominators are shared: every problem must have been scored with the same protocols. */
static int check_protocols(const struct scored *s, const struct scored *first, struct error *e)
{
    bool same = s->protocols == first->protocols &&
                json_equal(json_object_get(s->document, "set_cover"),
                           json_object_get(first->document, "set_cover"));
    for (int p = 0; same && p < s->protocols; p++)
        same = strcmp(s->protocol[p], first->protocol[p]) == 0;
    return same ? 0
                : fail(e, EXIT_DATA, "%s and %s were scored with different protocols; score again",
                       first->problem, s->problem);
}

int summary(const struct scored scored[], int problems, const struct summary_context *context,
            json_t **profile, struct error *e)
{
    int code = 0;
    for (int k = 1; !code && k < problems; k++)
        code = check_protocols(&scored[k], &scored[0], e);
    if (code)
        return code;
    *profile = json_object();
    add_rules(*profile, context->rules);
    for (int k = 0; !code && k < problems; k++)
        code = add_problem(*profile, &scored[k], &context->setcover, e);
    complete_counts(member(*profile, "families"));
    complete_counts(member(*profile, "rules"));
    add_missed_shares(member(*profile, "families"));
    add_protocol_shares(member(*profile, "protocols"));
    add_missed(*profile, scored, problems);
    add_setcover(*profile, context->setcover.value);
    if (!code && context->real_faults.value)
        code = add_real_mix(*profile, &context->real_faults, e);
    if (code)
        json_decref(*profile);
    return code;
}

static int add_rule_line(json_t *rules, const char *path, int line, const char *text,
                         struct error *e)
{
    json_error_t why;
    const char *name;
    struct json_at at = {path, line, json_loads(text, JSON_REJECT_DUPLICATES, &why)};
    if (!at.value)
        return fail(e, EXIT_DATA, "%s:%d: not valid JSON: %s", path, line, why.text);
    json_array_append_new(rules, at.value);
    int code = json_get_text(&at, "id", &name, e);
    return code ? code : json_get_text(&at, "family", &name, e);
}

int summary_read_rules(const char *path, json_t **rules, struct error *e)
{
    char *text, *rest;
    size_t size;
    int line = 0, code = file_read(path, &text, &size, e);
    if (code)
        return code;
    json_t *list = json_array();
    for (char *one = strtok_r(text, "\n", &rest); one && !code; one = strtok_r(NULL, "\n", &rest))
        code = add_rule_line(list, path, ++line, one, e);
    free(text);
    if (code)
        json_decref(list);
    else
        *rules = list;
    return code;
}
