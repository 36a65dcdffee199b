#include "protocol.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "memory.h"
#include "stats.h"

/* ---- reading --------------------------------------------------------------------------------- */

static int read_allclose(struct protocol *p, const struct json_at *rule, struct error *e)
{
    static const char *const KEYS[] = {"rule", "tolerance", NULL};
    int code = json_only(rule, KEYS, e);
    return code ? code : json_get_number(rule, "tolerance", &p->limit, e);
}

static int read_matched(struct protocol *p, const struct json_at *rule, struct error *e)
{
    static const char *const KEYS[] = {"rule", "share", "tolerance", NULL};
    int code = json_only(rule, KEYS, e);
    if (!code)
        code = json_get_number(rule, "share", &p->share, e);
    if (!code && p->share != 0.95 && p->share != 0.9 && p->share != 0.85)
        code = fail(e, EXIT_DATA, "%s: 'share' is none of 0.95, 0.9, 0.85", rule->path);
    return code ? code : json_get_number(rule, "tolerance", &p->limit, e);
}

static int read_max_abs(struct protocol *p, const struct json_at *rule, const char *problem,
                        struct error *e)
{
    static const char *const KEYS[] = {"rule", "limit", "limit_for", NULL};
    struct json_at by_problem;
    int code = json_only(rule, KEYS, e);
    if (!code)
        code = json_get_number(rule, "limit", &p->limit, e);
    if (code || !json_has(rule, "limit_for"))
        return code;
    code = json_get_object(rule, "limit_for", &by_problem, e);
    if (!code && json_has(&by_problem, problem))
        code = json_get_number(&by_problem, problem, &p->limit, e);
    return code;
}

static int read_times_float32(struct protocol *p, const struct json_at *rule, struct error *e)
{
    static const char *const KEYS[] = {"rule", "factor", "plus", NULL};
    int code = json_only(rule, KEYS, e);
    if (!code)
        code = json_get_number(rule, "factor", &p->factor, e);
    return code ? code : json_get_number(rule, "plus", &p->limit, e);
}

static int read_nmse(struct protocol *p, const struct json_at *rule, struct error *e)
{
    static const char *const KEYS[] = {"rule", "limit", NULL};
    int code = json_only(rule, KEYS, e);
    return code ? code : json_get_number(rule, "limit", &p->limit, e);
}

static bool is_texts(const json_t *array)
{
    size_t i;
    json_t *value;
    json_array_foreach(array, i, value)
    {
        if (!json_is_string(value))
            return false;
    }
    return true;
}

static int read_from(struct protocol *p, const struct json_at *rule, struct error *e)
{
    struct json_at from;
    if (!json_has(rule, "from"))
        return 0;
    int code = json_get_array(rule, "from", &from, e);
    if (!code && !is_texts(from.value))
        code = fail(e, EXIT_DATA, "%s: 'from' holds something that is no text", rule->path);
    p->from = code ? NULL : from.value;
    return code;
}

static int read_calibrated(struct protocol *p, const struct json_at *rule, struct error *e)
{
    static const char *const KEYS[] = {"rule", "error", "percentile", "factor", "from", NULL};
    const char *error;
    int code = json_only(rule, KEYS, e);
    if (!code)
        code = json_get_text(rule, "error", &error, e);
    if (code)
        return code;
    p->calibrates_t = strcmp(error, "t") == 0;
    if (!p->calibrates_t && strcmp(error, "max_abs") != 0)
        return fail(e, EXIT_DATA, "%s: 'error' is neither max_abs nor t", rule->path);
    code = json_get_number(rule, "percentile", &p->percentile, e);
    if (!code && !(p->percentile >= 0 && p->percentile <= 1))
        code = fail(e, EXIT_DATA, "%s: 'percentile' is not between 0 and 1", rule->path);
    if (!code)
        code = json_get_number(rule, "factor", &p->factor, e);
    return code ? code : read_from(p, rule, e);
}

static int read_accept(struct protocol *p, const struct json_at *at, const char *problem,
                       struct error *e)
{
    static const char *const NAME[] = {"allclose",      "matched", "max_abs",
                                       "times_float32", "nmse",    "calibrated"};
    struct json_at rule;
    const char *name;
    int code = json_get_object(at, "accept", &rule, e);
    if (!code)
        code = json_get_text(&rule, "rule", &name, e);
    if (code)
        return code;
    int k = 0;
    while (k < (int)(sizeof NAME / sizeof *NAME) && strcmp(NAME[k], name) != 0)
        k++;
    p->acceptance = (enum acceptance)k;
    switch (p->acceptance) {
    case ACCEPT_ALLCLOSE: return read_allclose(p, &rule, e);
    case ACCEPT_MATCHED: return read_matched(p, &rule, e);
    case ACCEPT_MAX_ABS: return read_max_abs(p, &rule, problem, e);
    case ACCEPT_TIMES_FLOAT32: return read_times_float32(p, &rule, e);
    case ACCEPT_NMSE: return read_nmse(p, &rule, e);
    case ACCEPT_CALIBRATED: return read_calibrated(p, &rule, e);
    }
    return fail(e, EXIT_DATA, "%s: '%s' is no acceptance rule", at->path, name);
}

static int read_looks_at(struct protocol *p, const struct json_at *at, struct error *e)
{
    struct json_at list;
    size_t i;
    json_t *value;
    int code = json_get_array(at, "looks_at", &list, e);
    if (code)
        return code;
    json_array_foreach(list.value, i, value)
    {
        const char *word = json_is_string(value) ? json_string_value(value) : "";
        bool stray = strcmp(word, "stray") == 0, race = strcmp(word, "race") == 0;
        bool divergence = strcmp(word, "divergence") == 0;
        if (!stray && !race && !divergence)
            return fail(e, EXIT_DATA,
                        "%s: 'looks_at' holds something other than stray, race and "
                        "divergence",
                        at->path);
        p->looks_at_stray |= stray;
        p->looks_at_race |= race;
        p->looks_at_divergence |= divergence;
    }
    return 0;
}

static int read_inputs(struct protocol *p, const struct json_at *at, struct error *e)
{
    struct json_at suites;
    if (json_has(at, "set_cover") == json_has(at, "suites"))
        return fail(e, EXIT_DATA, "%s: expected either 'suites' or 'set_cover'", at->path);
    if (json_has(at, "set_cover")) {
        long budget;
        int code = json_get_integer(at, "set_cover", &budget, e);
        if (!code && (budget < 1 || budget > 1000))
            code = fail(e, EXIT_DATA, "%s: 'set_cover' is not between 1 and 1000", at->path);
        p->set_cover = code ? 0 : (int)budget;
        return code;
    }
    int code = json_get_array(at, "suites", &suites, e);
    if (code)
        return code;
    if (!is_texts(suites.value))
        return fail(e, EXIT_DATA, "%s: 'suites' holds something that is no text", at->path);
    p->suites = suites.value;
    return 0;
}

static bool official_rule(const struct protocol *p)
{
    return p->acceptance == ACCEPT_ALLCLOSE && p->limit == OFFICIAL_TOLERANCE &&
           !p->looks_at_stray && !p->looks_at_race && !p->looks_at_divergence;
}

/* `file` is `<id>.json`. */
static int read_protocol(struct protocol *p, const char *path, const char *file,
                         const char *problem, struct error *e)
{
    static const char *const KEYS[] = {"schema",   "schema_version", "id",     "name",
                                       "means",    "source",         "suites", "set_cover",
                                       "looks_at", "accept",         NULL};
    struct json_at at;
    const char *text;
    *p = (struct protocol){0};
    int code = json_document(&at, path, "protocol", e);
    if (code)
        return code;
    p->document = at.value;
    code = json_only(&at, KEYS, e);
    if (!code)
        code = json_get_text(&at, "id", &p->id, e);
    if (!code &&
        (strncmp(p->id, file, strlen(p->id)) != 0 || strcmp(file + strlen(p->id), ".json")))
        code = fail(e, EXIT_DATA, "%s: 'id' is not the file's name", path);
    if (!code)
        code = json_get_text(&at, "name", &text, e);
    if (!code)
        code = json_get_text(&at, "means", &text, e);
    if (!code)
        code = json_get_text(&at, "source", &text, e);
    if (!code)
        code = read_inputs(p, &at, e);
    if (!code)
        code = read_accept(p, &at, problem, e);
    if (!code)
        code = read_looks_at(p, &at, e);
    if (!code && p->set_cover && !official_rule(p))
        code = fail(e, EXIT_DATA, "%s: inputs are chosen by the official rule; 'accept' must be it",
                    path);
    if (code)
        json_decref(p->document);
    return code;
}

static int is_json(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return entry->d_name[0] != '.' && length > 5 && !strcmp(entry->d_name + length - 5, ".json");
}

/* By id and not by file name: `kbv` comes before `kbv-inputs`, as in sorted keys. */
static int by_id(const void *a, const void *b)
{
    return strcmp(((const struct protocol *)a)->id, ((const struct protocol *)b)->id);
}

int protocols_read(struct protocols *all, const char *folder, const char *problem, struct error *e)
{
    struct dirent **file;
    *all = (struct protocols){0};
    int files = scandir(folder, &file, is_json, NULL), code = 0;
    if (files < 0)
        return fail_errno(e, "%s: cannot be read", folder);
    all->protocol = calloc((size_t)files + 1, sizeof *all->protocol);
    if (!all->protocol)
        abort();
    for (int i = 0; i < files; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder, file[i]->d_name);
        if (!code)
            code = read_protocol(&all->protocol[all->count], path, file[i]->d_name, problem, e);
        all->count += !code;
        free(file[i]);
    }
    free(file);
    if (code)
        protocols_free(all);
    else
        qsort(all->protocol, (size_t)all->count, sizeof *all->protocol, by_id);
    return code;
}

void protocols_free(struct protocols *all)
{
    for (int i = 0; i < all->count; i++)
        json_decref(all->protocol[i].document);
    free(all->protocol);
    *all = (struct protocols){0};
}

/* ---- judging --------------------------------------------------------------------------------- */

static bool holds(const json_t *texts, const char *text)
{
    size_t i;
    json_t *value;
    json_array_foreach(texts, i, value)
    {
        if (strcmp(json_string_value(value), text) == 0)
            return true;
    }
    return false;
}

bool protocol_runs(const struct protocol *p, const char *suite)
{
    return holds(p->suites, suite);
}

/* The original's errors on all other inputs that the limit comes from; returns how many. */
static int collect_errors(const struct protocol *p, const struct gate *gate, int input,
                          double error[])
{
    int count = 0;
    for (int i = 0; i < gate->count; i++) {
        const struct gated *g = &gate->input[i];
        if (i != input && g->valid && (!p->from || holds(p->from, g->suite)))
            error[count++] = p->calibrates_t ? g->original.graded.t : g->original.graded.max_abs;
    }
    return count;
}

static double calibrate(const struct protocol *p, double error[], int count)
{
    if (count == 0)
        return INFINITY;
    stats_sort(error, count);
    int at = (int)rint(p->percentile * (count - 1));
    while (error[at] == 0 && at < count - 1)
        at++;
    return p->factor * error[at];
}

double protocol_limit(const struct protocol *p, const struct gate *gate, int input)
{
    if (p->acceptance != ACCEPT_CALIBRATED)
        return p->limit;
    double *error = memory_zeroed(gate->count, sizeof *error);
    double limit = calibrate(p, error, collect_errors(p, gate, input, error));
    free(error);
    return limit;
}

static double matched_tolerance(const struct graded *g, double share)
{
    return share == 0.95 ? g->t_p95 : share == 0.9 ? g->t_p90 : g->t_p85;
}

/* The comparisons are such that a NaN is rejected. */
static bool accepts_values(const struct protocol *p, const struct graded *g,
                           const struct graded *float32, double limit)
{
    if (g->nonfinite != 0)
        return false;
    switch (p->acceptance) {
    case ACCEPT_ALLCLOSE: return graded_accepts(g, limit);
    case ACCEPT_MATCHED: return matched_tolerance(g, p->share) <= limit;
    case ACCEPT_MAX_ABS: return g->max_abs <= limit;
    case ACCEPT_TIMES_FLOAT32: return g->max_abs <= p->factor * float32->max_abs + limit;
    case ACCEPT_NMSE: return g->nmse <= limit;
    case ACCEPT_CALIBRATED: return (p->calibrates_t ? g->t : g->max_abs) <= limit;
    }
    return false;
}

bool protocol_accepts(const struct protocol *p, const struct run *run, const struct graded *float32,
                      double limit)
{
    if (run->outcome != OUTCOME_FINISHED)
        return false;
    if (p->looks_at_stray && (run->stray_read || run->stray_write))
        return false;
    if (p->looks_at_race && run->race == RACE_SEEN)
        return false;
    if (p->looks_at_divergence && run->divergence)
        return false;
    return accepts_values(p, &run->graded, float32, limit);
}
