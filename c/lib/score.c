#include "score.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "images.h"
#include "json.h"
#include "ladder.h"
#include "protocol.h"
#include "rows.h"

enum status {
    UNCOMPILABLE,
    EQUIVALENT,
    DUPLICATE,
    INDISTINGUISHABLE,
    QUARANTINED,
    WITNESSED,
    STATUSES
};

static const char *const STATUS[] = {"uncompilable",      "equivalent",  "duplicate",
                                     "indistinguishable", "quarantined", "witnessed"};

struct subject {
    const char *id, *rule, *family;
    enum status status;             /* INDISTINGUISHABLE until its rows are seen */
    struct row **row;               /* by input */
    const char *class;              /* NULL when it was not run */
    char *on_inputs, *by_protocols; /* owned; as `inputs` and `protocols` of a fate */
};

struct problem {
    const struct score_files *files;
    struct gate gate;
    struct images images;
    struct rows rows, race;
    struct protocols protocols;
    json_t *manifest;       /* array of records */
    struct subject *mutant; /* by id */
    int mutants;
    struct row **cell; /* [mutants][inputs]; what mutant.row points into */
    double *limit;     /* [protocols][inputs] */
    bool *eligible;    /* [protocols][inputs]: may a rejection there be a kill? */
    int official;      /* the index of the official protocol */
};

static void *room_for(size_t count, size_t each)
{
    void *room = calloc(count + 1, each);
    if (!room)
        abort();
    return room;
}

/* ---- mutants --------------------------------------------------------------------------------- */

static int by_id(const void *a, const void *b)
{
    return strcmp(((const struct subject *)a)->id, ((const struct subject *)b)->id);
}

static struct subject *find_mutant(const struct problem *p, const char *id)
{
    const struct subject key = {.id = id};
    return bsearch(&key, p->mutant, (size_t)p->mutants, sizeof key, by_id);
}

static enum status status_of(enum image_status status)
{
    switch (status) {
    case IMAGE_UNCOMPILABLE: return UNCOMPILABLE;
    case IMAGE_EQUIVALENT: return EQUIVALENT;
    case IMAGE_DUPLICATE: return DUPLICATE;
    case IMAGE_COMPILED: break;
    }
    return INDISTINGUISHABLE;
}

static bool is_original(const char *id)
{
    return strcmp(id, "original") == 0;
}

static int take_images(struct problem *p, struct error *e)
{
    p->mutant = room_for((size_t)p->images.count, sizeof *p->mutant);
    for (int k = 0; k < p->images.count; k++) {
        const struct image *image = &p->images.image[k];
        if (!is_original(image->id))
            p->mutant[p->mutants++] =
                (struct subject){.id = image->id, .status = status_of(image->status)};
    }
    qsort(p->mutant, (size_t)p->mutants, sizeof *p->mutant, by_id);
    for (int m = 1; m < p->mutants; m++)
        if (by_id(&p->mutant[m - 1], &p->mutant[m]) == 0)
            return fail(e, EXIT_DATA, "%s: '%s' stands twice", p->files->images, p->mutant[m].id);
    return 0;
}

static int take_manifest_record(struct problem *p, const struct json_at *at, struct error *e)
{
    const char *id;
    int code = json_get_text(at, "id", &id, e);
    if (code)
        return code;
    struct subject *m = find_mutant(p, id);
    if (!m)
        return fail(e, EXIT_DATA, "%s:%d: '%s' is not in %s; compile again", at->path, at->line, id,
                    p->files->images);
    code = json_get_text(at, "rule", &m->rule, e);
    return code ? code : json_get_text(at, "family", &m->family, e);
}

static int take_manifest(struct problem *p, struct error *e)
{
    struct json_reader r;
    struct json_at at;
    int code = json_reader_open(&r, p->files->manifest, "manifest", e);
    if (code)
        return code;
    p->manifest = json_array();
    while (!code && !(code = json_reader_next(&r, &at, e)) && at.value) {
        json_array_append_new(p->manifest, at.value);
        code = take_manifest_record(p, &at, e);
    }
    json_reader_close(&r);
    for (int m = 0; !code && m < p->mutants; m++)
        if (!p->mutant[m].rule)
            code = fail(e, EXIT_DATA, "%s: '%s' is not in %s; compile again", p->files->images,
                        p->mutant[m].id, p->files->manifest);
    return code;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* The input of that name, looked for from `expected` on because rows come in order; or -1. */
static int find_input(const struct problem *p, const char *name, int expected)
{
    for (int k = 0; k < p->gate.count; k++) {
        int i = (expected + k) % p->gate.count;
        if (strcmp(p->gate.input[i].input, name) == 0)
            return i;
    }
    return -1;
}

static int take_row(struct problem *p, struct row *row, int line, int *input, struct error *e)
{
    const struct subject *m = find_mutant(p, row->mutant);
    *input = find_input(p, row->input, *input + 1);
    if (!m || m->status != INDISTINGUISHABLE)
        return fail(e, EXIT_DATA, "%s:%d: '%s' is no compiled mutant", p->files->rows, line,
                    row->mutant);
    if (*input < 0)
        return fail(e, EXIT_DATA, "%s:%d: '%s' is not in %s", p->files->rows, line, row->input,
                    p->files->gate);
    if (m->row[*input])
        return fail(e, EXIT_DATA, "%s:%d: a second row for '%s' on '%s'", p->files->rows, line,
                    row->mutant, row->input);
    if (!row->differs)
        row->run.graded = p->gate.input[*input].original.graded;
    m->row[*input] = row;
    return 0;
}

static int take_rows(struct problem *p, struct error *e)
{
    int inputs = p->gate.count, input = -1, code = 0;
    p->cell = room_for((size_t)p->mutants * (size_t)inputs, sizeof(struct row *));
    for (int m = 0; m < p->mutants; m++)
        p->mutant[m].row = p->cell + (size_t)m * (size_t)inputs;
    for (int k = 0; !code && k < p->rows.count; k++)
        code = take_row(p, &p->rows.row[k], k + 2, &input, e);
    for (int m = 0; !code && m < p->mutants; m++)
        for (int i = 0; !code && i < inputs && p->mutant[m].status == INDISTINGUISHABLE; i++)
            if (p->gate.input[i].valid && !p->mutant[m].row[i])
                code = fail(e, EXIT_DATA, "%s: no row for '%s' on '%s'; run witness again",
                            p->files->rows, p->mutant[m].id, p->gate.input[i].input);
    return code;
}

/* The run that a row of the race oracle adds to: a mutant's, or the original's in the gate. */
static struct run *run_of(struct problem *p, const struct row *seen)
{
    const struct subject *m = find_mutant(p, seen->mutant);
    int i = find_input(p, seen->input, 0);
    if (i >= 0 && is_original(seen->mutant))
        return &p->gate.input[i].original;
    return i >= 0 && m && m->row[i] ? &m->row[i]->run : NULL;
}

static int take_races(struct problem *p, struct error *e)
{
    for (int k = 0; k < p->race.count; k++) {
        const struct row *seen = &p->race.row[k];
        struct run *run = run_of(p, seen);
        if (!run)
            return fail(e, EXIT_DATA, "%s:%d: '%s' has no row on '%s'", p->files->race, k + 2,
                        seen->mutant, seen->input);
        if (seen->run.race != RACE_UNKNOWN)
            run->race = seen->run.race;
    }
    return 0;
}

/* ---- protocols ------------------------------------------------------------------------------- */

static bool is_eligible(const struct problem *p, int protocol, int input)
{
    return p->eligible[protocol * p->gate.count + input];
}

static bool accepts(const struct problem *p, int protocol, int input, const struct run *run)
{
    return protocol_accepts(&p->protocols.protocol[protocol], run, &p->gate.input[input].float32,
                            p->limit[protocol * p->gate.count + input]);
}

static bool rejects_original(const struct problem *p, int protocol, int input)
{
    return !accepts(p, protocol, input, &p->gate.input[input].original);
}

static bool runs_input(const struct problem *p, int protocol, int input)
{
    return protocol_runs(&p->protocols.protocol[protocol], p->gate.input[input].suite);
}

static void prepare_protocol(struct problem *p, int protocol)
{
    for (int i = 0; i < p->gate.count; i++) {
        int at = protocol * p->gate.count + i;
        p->limit[at] = protocol_limit(&p->protocols.protocol[protocol], &p->gate, i);
        p->eligible[at] = p->gate.input[i].valid && runs_input(p, protocol, i) &&
                          !rejects_original(p, protocol, i);
    }
}

static int prepare_protocols(struct problem *p, struct error *e)
{
    size_t pairs = (size_t)p->protocols.count * (size_t)p->gate.count;
    p->limit = room_for(pairs, sizeof *p->limit);
    p->eligible = room_for(pairs, sizeof *p->eligible);
    p->official = -1;
    for (int k = 0; k < p->protocols.count; k++) {
        if (strcmp(p->protocols.protocol[k].id, OFFICIAL_PROTOCOL) == 0)
            p->official = k;
        prepare_protocol(p, k);
    }
    if (p->official < 0)
        return fail(e, EXIT_DATA, "%s: there is no " OFFICIAL_PROTOCOL ".json",
                    p->files->protocols);
    return 0;
}

/* Every valid input must be one on which the original passes, or the gate contradicts itself. */
static int check_gate(const struct problem *p, struct error *e)
{
    for (int i = 0; i < p->gate.count; i++) {
        const struct gated *g = &p->gate.input[i];
        if (g->valid && (g->original.outcome != OUTCOME_FINISHED ||
                         !graded_accepts(&g->original.graded, OFFICIAL_TOLERANCE)))
            return fail(e, EXIT_DATA, "%s: '%s' is valid, yet the original kernel fails there",
                        p->files->gate, g->input);
    }
    return 0;
}

static char verdict(const struct problem *p, int protocol, const struct subject *m)
{
    const struct protocol *rule = &p->protocols.protocol[protocol];
    bool timeout = false, unknown = false;
    for (int i = 0; i < p->gate.count; i++) {
        if (!is_eligible(p, protocol, i))
            continue;
        const struct run *run = &m->row[i]->run;
        bool rejected = !accepts(p, protocol, i, run);
        if (rejected && run->outcome != OUTCOME_TIMEOUT)
            return 'x';
        timeout |= rejected;
        unknown |= rule->looks_at_race && run->race == RACE_UNKNOWN;
    }
    return timeout ? 't' : unknown ? '?' : '.';
}

static void judge_by_protocols(const struct problem *p, struct subject *m)
{
    m->by_protocols = room_for((size_t)p->protocols.count, 1);
    char *next = m->by_protocols;
    for (int k = 0; k < p->protocols.count; k++)
        if (p->protocols.protocol[k].suites)
            *next++ = verdict(p, k, m);
}

/* ---- fates ----------------------------------------------------------------------------------- */

static char input_letter(const struct gated *g, const struct row *row)
{
    if (!g->valid)
        return '-';
    if (row->run.outcome == OUTCOME_TIMEOUT)
        return 't';
    if (row->run.outcome != OUTCOME_FINISHED ||
        !graded_accepts(&row->run.graded, OFFICIAL_TOLERANCE))
        return 'x';
    return row->differs ? 'd' : '.';
}

static void judge_on_inputs(const struct problem *p, struct subject *m)
{
    m->on_inputs = room_for((size_t)p->gate.count, 1);
    for (int i = 0; i < p->gate.count; i++)
        m->on_inputs[i] = input_letter(&p->gate.input[i], m->row[i]);
    m->status = strpbrk(m->on_inputs, "xt") ? WITNESSED
                : strchr(m->on_inputs, 'd') ? QUARANTINED
                                            : INDISTINGUISHABLE;
}

static bool is_official(const struct problem *p, int input)
{
    return is_eligible(p, p->official, input);
}

static bool races(const struct problem *p, const struct subject *m)
{
    for (int i = 0; i < p->gate.count; i++)
        if (p->gate.input[i].valid && m->row[i]->run.race == RACE_SEEN)
            return true;
    return false;
}

static bool strays(const struct problem *p, const struct subject *m, bool on_official_only)
{
    for (int i = 0; i < p->gate.count; i++) {
        if (!p->gate.input[i].valid || (on_official_only && !is_official(p, i)))
            continue;
        const struct run *run = &m->row[i]->run;
        if (run->stray_read || run->stray_write || run->divergence || run->input_written)
            return true;
    }
    return false;
}

static const char *class_of_survivor(const struct problem *p, const struct subject *m)
{
    bool differs = false, shown = false; /* on an official input; by another of the same sizes */
    for (int i = 0; i < p->gate.count; i++) {
        char letter = m->on_inputs[i];
        differs |= is_official(p, i) && letter == 'd';
        shown |= !p->gate.input[i].resized && (letter == 'x' || letter == 't');
    }
    return races(p, m)          ? "schedule"
           : strays(p, m, true) ? "memory"
           : differs            ? "blind_zone"
           : shown              ? "value"
                                : "size";
}

/*
 * What the official protocol's kill rests on, the strongest evidence first: a wrong number; a run that
 * did not finish; NaN alone, which is the executor's poison in what was never written or lies outside
 * a buffer, where a GPU has left-over values or a neighbour's.
 */
static const char *class_of_kill(const struct problem *p, const struct subject *m)
{
    bool fault = false, poison = false;
    for (int i = 0; i < p->gate.count; i++) {
        const struct run *run = &m->row[i]->run;
        if (!is_official(p, i) || accepts(p, p->official, i, run))
            continue;
        if (run->outcome == OUTCOME_FINISHED && run->graded.nonfinite == 0)
            return "killed";
        fault |= run->outcome != OUTCOME_FINISHED;
        poison |= run->outcome == OUTCOME_FINISHED && !run->stray_read;
    }
    return fault ? "killed_by_fault" : poison ? "killed_by_poison" : "killed_by_stray";
}

/* Is it everywhere as near to the reference as another order of rounding would be? */
static bool only_rounds(const struct problem *p, const struct subject *m)
{
    for (int i = 0; i < p->gate.count; i++)
        if (p->gate.input[i].valid &&
            !(m->row[i]->run.graded.max_ulp <= 2 * p->gate.input[i].original.graded.max_ulp + 8))
            return false;
    return true;
}

static const char *class_of(const struct problem *p, const struct subject *m)
{
    if (m->status == WITNESSED)
        return verdict(p, p->official, m) == '.' ? class_of_survivor(p, m) : class_of_kill(p, m);
    if (races(p, m))
        return "race";
    if (strays(p, m, false))
        return "memory";
    if (m->status == INDISTINGUISHABLE)
        return "silent";
    return only_rounds(p, m) ? "rounding" : "below_tolerance";
}

static void judge(const struct problem *p)
{
    for (int k = 0; k < p->mutants; k++) {
        struct subject *m = &p->mutant[k];
        if (m->status != INDISTINGUISHABLE)
            continue;
        judge_on_inputs(p, m);
        judge_by_protocols(p, m);
        m->class = class_of(p, m);
    }
}

/* ---- the document ---------------------------------------------------------------------------- */

static json_t *mutants_to_json(const struct problem *p)
{
    json_int_t count[STATUSES] = {0}, timeout_only = 0;
    json_t *counts = json_object();
    for (int m = 0; m < p->mutants; m++) {
        count[p->mutant[m].status]++;
        timeout_only += p->mutant[m].status == WITNESSED && !strchr(p->mutant[m].on_inputs, 'x');
    }
    for (int s = 0; s < STATUSES; s++)
        json_object_set_new(counts, STATUS[s], json_integer(count[s]));
    json_object_set_new(counts, "generated", json_integer(p->mutants));
    json_object_set_new(counts, "distinguishable",
                        json_integer(count[QUARANTINED] + count[WITNESSED]));
    json_object_set_new(counts, "timeout_only", json_integer(timeout_only));
    return counts;
}

static json_t *official_to_json(const struct problem *p)
{
    double largest = 0, blind_rel = 0;
    for (int i = 0; i < p->gate.count; i++) {
        if (!is_official(p, i))
            continue;
        largest = fmax(largest, p->gate.input[i].original.graded.ref_max);
        for (int m = 0; m < p->mutants; m++)
            if (p->mutant[m].on_inputs && p->mutant[m].on_inputs[i] == 'd')
                blind_rel = fmax(blind_rel, p->mutant[m].row[i]->run.graded.max_rel);
    }
    return json_pack("{sf sb so so}", "ref_max", largest, "zero_passes",
                     largest <= OFFICIAL_TOLERANCE * (1 + largest), "unseen_rel",
                     json_number_or_word(OFFICIAL_TOLERANCE * (1 + largest) / largest), "blind_rel",
                     json_number_or_word(blind_rel));
}

static json_t *inputs_to_json(const struct problem *p)
{
    json_t *inputs = json_array();
    for (int i = 0; i < p->gate.count; i++) {
        const struct gated *g = &p->gate.input[i];
        json_array_append_new(inputs,
                              json_pack("{ss ss sb sb ss*}", "input", g->input, "suite", g->suite,
                                        "valid", g->valid, "resized", g->resized, "why", g->why));
    }
    return inputs;
}

/* `letter` is the protocol's place in the mutants' texts. */
static json_t *protocol_to_json(const struct problem *p, int protocol, int letter)
{
    json_int_t inputs = 0, rejections = 0, killed = 0, timeouts = 0, unknown = 0;
    for (int i = 0; i < p->gate.count; i++) {
        if (!runs_input(p, protocol, i))
            continue;
        inputs++;
        rejections += rejects_original(p, protocol, i);
    }
    for (int m = 0; m < p->mutants; m++) {
        if (p->mutant[m].status != WITNESSED)
            continue;
        char verdict = p->mutant[m].by_protocols[letter];
        killed += verdict == 'x' || verdict == 't';
        timeouts += verdict == 't';
        unknown += verdict == '?';
    }
    return json_pack("{sI sI sI sI sI}", "inputs", inputs, "false_rejections", rejections, "killed",
                     killed, "timeout_only", timeouts, "not_looked", unknown);
}

static void add_protocols(json_t *score, const struct problem *p)
{
    json_t *protocols = json_object(), *set_cover = json_object();
    int letter = 0;
    for (int k = 0; k < p->protocols.count; k++) {
        const struct protocol *rule = &p->protocols.protocol[k];
        if (rule->suites)
            json_object_set_new(protocols, rule->id, protocol_to_json(p, k, letter++));
        else
            json_object_set_new(set_cover, rule->id, json_integer(rule->set_cover));
    }
    json_object_set_new(score, "protocols", protocols);
    json_object_set_new(score, "set_cover", set_cover);
}

static json_t *fates_to_json(const struct problem *p)
{
    json_t *fates = json_array();
    for (int k = 0; k < p->mutants; k++) {
        const struct subject *m = &p->mutant[k];
        json_array_append_new(fates, json_pack("{ss ss ss ss ss* ss* ss*}", "id", m->id, "rule",
                                               m->rule, "family", m->family, "status",
                                               STATUS[m->status], "class", m->class, "inputs",
                                               m->on_inputs, "protocols", m->by_protocols));
    }
    return fates;
}

static json_t *to_json(const struct problem *p)
{
    json_t *score = json_new("score");
    json_t *reduction = json_object_get(p->gate.header, "reduction");
    json_object_set_new(score, "problem", json_string(p->gate.problem));
    if (reduction)
        json_object_set(score, "reduction", reduction);
    json_object_set_new(score, "provenance",
                        json_pack("{sO* sO*}", "gate",
                                  json_object_get(p->gate.header, "provenance"), "rows",
                                  json_object_get(p->rows.header, "provenance")));
    json_object_set_new(score, "mutants", mutants_to_json(p));
    json_object_set_new(score, "official", official_to_json(p));
    json_object_set_new(score, "inputs", inputs_to_json(p));
    add_protocols(score, p);
    json_object_set_new(score, "fates", fates_to_json(p));
    return score;
}

/* ---- one problem ----------------------------------------------------------------------------- */

static int read_files(struct problem *p, struct error *e)
{
    const struct score_files *f = p->files;
    int code = gate_read(&p->gate, f->gate, e);
    if (!code)
        code = images_read(&p->images, f->images, e);
    if (!code)
        code = rows_read(&p->rows, f->rows, e);
    if (!code && f->race)
        code = rows_read(&p->race, f->race, e);
    return code ? code : protocols_read(&p->protocols, f->protocols, p->gate.problem, e);
}

static int join_files(struct problem *p, struct error *e)
{
    int code = check_gate(p, e);
    if (!code)
        code = take_images(p, e);
    if (!code)
        code = take_manifest(p, e);
    if (!code)
        code = take_rows(p, e);
    if (!code)
        code = take_races(p, e);
    return code ? code : prepare_protocols(p, e);
}

static void problem_free(struct problem *p)
{
    for (int m = 0; m < p->mutants; m++) {
        free(p->mutant[m].on_inputs);
        free(p->mutant[m].by_protocols);
    }
    free(p->mutant);
    free(p->cell);
    free(p->eligible);
    free(p->limit);
    json_decref(p->manifest);
    protocols_free(&p->protocols);
    rows_free(&p->race);
    rows_free(&p->rows);
    images_free(&p->images);
    gate_free(&p->gate);
}

static int add_ladder(json_t *score, const char *path, struct error *e)
{
    json_t *rungs;
    double ceiling;
    int code = ladder_read(path, &rungs, &ceiling, e);
    if (code)
        return code;
    json_object_set_new(score, "ladder", rungs);
    if (isfinite(ceiling))
        json_object_set_new(score, "ceiling", json_real(ceiling));
    return 0;
}

int score_problem(const struct score_files *files, json_t **score, struct error *e)
{
    struct problem p = {.files = files};
    int code = read_files(&p, e);
    if (!code)
        code = join_files(&p, e);
    if (!code) {
        judge(&p);
        *score = to_json(&p);
        if (files->ladder)
            code = add_ladder(*score, files->ladder, e);
        if (code)
            json_decref(*score);
    }
    problem_free(&p);
    return code;
}
