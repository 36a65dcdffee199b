/*
 * witness - runs every mutant on every valid input and writes what happened, graded.
 *
 * Rows are kept: one whose key is unchanged is not run again. While it works, finished rows go to
 * `<output>.part`, so that a killed run loses at most the row it was writing.
 */
#include <argp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "backend/gating.h"
#include "error.h"
#include "isolate.h"
#include "file.h"
#include "json.h"
#include "memory.h"
#include "only.h"
#include "protocol.h"
#include "rows.h"
#include "version.h"

const char *argp_program_version = "witness (assay) " ASSAY_VERSION;

static const char DOC[] =
    "Run every compiled mutant on every valid input of the suites, and write one row for each: outcome, "
    "graded errors and what was observed. Rows of an earlier run are kept where nothing they depend on "
    "has changed.\v"
    "Exit status: 0 written; 64 usage; 65 bad data; 69 something is missing; 74 input or output failed.";

/* The clock's limit for one evaluation: it bounds only what neither fuel nor CPU time does. */
enum { LIMIT_S = 120 };

static const struct argp_option OPTIONS[] = {
    {"gate", 'g', "FILE", 0, "The gated inputs (gate.jsonl)", 0},
    {"write-gate", 'G', "FILE", 0, "Instead: gate the inputs in passing, and write FILE as gate does", 0},
    {"only", 'l', "FILE", 0, "Only the mutants whose ids FILE lists, one a line", 0},
    {"race", 'R', NULL, 0, "The images are instrumented: record whether the race oracle saw a race", 0},
    {"survivors", 's', "FILE", 0, "Also write the ids of the mutants that no input of --suite kills", 0},
    {"suite", 'S', "SUITE", 0, "The suite that survivors survive", 0},
    {"unwitnessed", 'u', "FILE", 0, "Also write the ids of the mutants whose outputs never differ", 0},
    {0},
};

struct options {
    struct setup_options setup;
    const char *gate, *write_gate, *only, *survivors, *suite, *unwitnessed;
    bool race;
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &o->setup; return 0;
    case 'g': o->gate = argument; return 0;
    case 'G': o->write_gate = argument; return 0;
    case 'l': o->only = argument; return 0;
    case 'R': o->race = true; return 0;
    case 's': o->survivors = argument; return 0;
    case 'S': o->suite = argument; return 0;
    case 'u': o->unwitnessed = argument; return 0;
    case ARGP_KEY_SUCCESS:
        if (!o->gate == !o->write_gate)
            argp_error(state, "one of --gate and --write-gate is needed");
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

enum { KEY = 17 }; /* 16 hexadecimal digits and a NUL */

/* One mutant on one input. */
struct item {
    const struct image *mutant;
    int trial;
    char key[KEY];
    const struct row *kept; /* from an earlier run; NULL: to be run */
    bool last;              /* of its mutant's items that are run */
};

struct campaign {
    const struct options *options;
    struct setup setup;
    struct trial *trial; /* of the inputs that are valid, or not gated yet */
    int trials;
    json_t **gated; /* with --write-gate, one a trial: its record once it is gated */
    bool *invalid;  /* likewise */
    struct item *item; /* mutant by mutant, in the manifest's order */
    int items;
    int *todo; /* the items to run, in this order */
    int todos;
    int first; /* of todo: where the isolation at hand starts */
    int from, to; /* the trials that are made */
    struct fate {
        int faults;  /* crashes and timeouts so far */
        bool killed; /* by --suite */
    } *fate;         /* one an image; workers see it */
    struct fate *known; /* in a worker: what they were when it began, so that chance has no say */
    const struct image *expecting; /* in a worker: whose runs the backend has been told of */
    struct rows old[2];   /* of the last run: its rows, and its part */
    bool have_old[2];
    struct observation *result; /* one an item, where it was run */
    FILE *part;
    char part_path[4096];
    bool crashed; /* in a worker: has the mutant at hand crashed? */
};

/* ---- what is to be run ------------------------------------------------------------------------ */

/* Finds out whether the gate lets the input in. */
static int look_up(const struct campaign *c, const struct gate *gate, const struct recipe *r, bool *valid,
                   struct error *e)
{
    int at = 0;
    while (at < gate->count && strcmp(gate->input[at].input, r->id) != 0)
        at++;
    if (at == gate->count)
        return fail(e, EXIT_DATA, "%s: has no input '%s'; run gate again", c->options->gate, r->id);
    *valid = gate->input[at].valid;
    return 0;
}

static int open_gate(const struct campaign *c, struct gate *gate, struct error *e)
{
    int code = gate_read(gate, c->options->gate, e);
    if (code || strcmp(gate->problem, c->setup.plugin.id) == 0)
        return code;
    code = fail(e, EXIT_DATA, "%s: is the gate of %s, not of %s", c->options->gate, gate->problem,
                c->setup.plugin.id);
    gate_free(gate);
    return code;
}

/* A trial, not made yet, for each input that the gate lets in, or that is to be gated, in the pool's order. */
static int choose_trials(struct campaign *c, struct error *e)
{
    const struct pool *pool = &c->setup.pool;
    bool gated = c->options->gate;
    struct gate gate;
    int code = gated ? open_gate(c, &gate, e) : 0;
    if (code)
        return code;
    c->trial = memory_zeroed(pool->recipes, sizeof *c->trial);
    c->gated = memory_zeroed(pool->recipes, sizeof *c->gated);
    c->invalid = memory_zeroed(pool->recipes, sizeof *c->invalid);
    for (int k = 0; k < pool->recipes && !code; k++) {
        bool valid = true;
        if (gated)
            code = look_up(c, &gate, &pool->recipe[k], &valid, e);
        if (valid)
            c->trial[c->trials++].recipe = &pool->recipe[k];
    }
    if (gated)
        gate_free(&gate);
    return code;
}

/* A row's key: all that it depends on. */
static void make_key(const struct campaign *c, const struct image *mutant, int trial, char key[KEY])
{
    char hex[HASH_HEX];
    struct hash *h = hash_new();
    hash_add_text(h, c->setup.hash);
    hash_add_text(h, mutant->key);
    hash_add_text(h, c->trial[trial].recipe->hash);
    hash_add_text(h, c->options->race ? "race" : "");
    hash_finish(h, hex);
    snprintf(key, KEY, "%.16s", hex);
}

static int make_items(struct campaign *c, struct error *e)
{
    const struct images *images = &c->setup.loader.images;
    json_t *only;
    int code = only_read(c->options->only, &only, e);
    if (code)
        return code;
    c->item = memory_zeroed(images->count * c->trials, sizeof *c->item);
    c->fate = memory_common(images->count, sizeof *c->fate);
    for (int m = 0; m < images->count; m++) {
        const struct image *mutant = &images->image[m];
        if (mutant->status != IMAGE_COMPILED || (!c->options->race && strcmp(mutant->id, "original") == 0) ||
            (only && !json_object_get(only, mutant->id)))
            continue;
        for (int k = 0; k < c->trials; k++) {
            struct item *item = &c->item[c->items++];
            *item = (struct item){.mutant = mutant, .trial = k};
            make_key(c, mutant, k, item->key);
        }
    }
    json_decref(only);
    return 0;
}

static int by_key(const void *a, const void *b)
{
    return strcmp((*(const struct row *const *)a)->key, (*(const struct row *const *)b)->key);
}

/* Finds the rows that an earlier run has already measured. A file that cannot be read holds none. */
static void keep_rows(struct campaign *c)
{
    struct error ignored;
    c->have_old[0] = rows_read(&c->old[0], c->options->setup.output, &ignored) == 0;
    c->have_old[1] = rows_read(&c->old[1], c->part_path, &ignored) == 0;
    const struct row **known = NULL;
    size_t count = 0;
    for (int f = 0; f < 2; f++) {
        if (!c->have_old[f])
            continue;
        known = realloc(known, (count + (size_t)c->old[f].count + 1) * sizeof *known);
        if (!known)
            abort();
        for (int k = 0; k < c->old[f].count; k++)
            known[count++] = &c->old[f].row[k];
    }
    if (count > 0)
        qsort(known, count, sizeof *known, by_key);
    c->todo = memory_zeroed(c->items, sizeof *c->todo);
    c->result = memory_zeroed(c->items, sizeof *c->result);
    for (int k = 0; k < c->items; k++) {
        struct row wanted = {.key = c->item[k].key};
        const struct row *pointer = &wanted, **found = NULL;
        if (count > 0)
            found = bsearch(&pointer, known, count, sizeof *known, by_key);
        c->item[k].kept = found ? *found : NULL;
        if (!found)
            c->todo[c->todos++] = k;
    }
    free(known);
}

/* ---- running ---------------------------------------------------------------------------------- */

static bool in_suite(const struct campaign *c, int trial)
{
    return c->options->suite && strcmp(c->trial[trial].recipe->suite, c->options->suite) == 0;
}

/* Does an official checker see nothing wrong with this run? */
static bool passes(const struct run *run)
{
    return run->outcome == OUTCOME_FINISHED && graded_accepts(&run->graded, OFFICIAL_TOLERANCE);
}

/* The result of one order, unless an earlier order's is at least as telling. True when the worker is
 * broken. */
static bool run_order(struct campaign *c, const struct item *item, int order,
                      struct observation *result)
{
    struct observation r = {0};
    bool broken = c->setup.backend->run(&c->trial[item->trial], &c->setup, item->mutant, order, &r);
    r.order = order;
    if (c->options->race)
        r.run.race = r.run.race == RACE_SEEN ? RACE_SEEN : RACE_NONE;
    c->crashed |= r.run.outcome == OUTCOME_CRASHED;
    bool telling = passes(&result->run) && (!passes(&r.run) || (r.differs && !result->differs));
    if (order == 0 || telling)
        *result = r;
    return broken;
}

/* The mutant has crashed or hung so often that each further time is not worth what it costs. */
static bool given_up(const struct campaign *c, const struct item *item)
{
    const struct fate *fate = &c->known[item->mutant - c->setup.loader.images.image];
    int enough = c->setup.backend->faults;
    return enough && fate->faults >= (fate->killed ? 1 : enough);
}

/* Is it the suite's first input? Orders of threads matter alike on all of them. */
static bool first_of_suite(const struct campaign *c, int trial)
{
    return in_suite(c, trial) && (trial == 0 || !in_suite(c, trial - 1));
}

/* In a worker: tells the backend of the mutant's runs from item c->todo[first] on. */
static void announce(struct campaign *c, int first)
{
    const struct image *mutant = c->item[c->todo[first]].mutant;
    struct trial **t = memory_zeroed(c->trials, sizeof *t);
    int count = 0;
    for (int k = first; k < c->todos && count < c->trials && c->item[c->todo[k]].mutant == mutant; k++)
        t[count++] = &c->trial[c->item[c->todo[k]].trial];
    c->setup.backend->expect(t, count, mutant);
    c->expecting = mutant;
    free(t);
}

static void look_at_fates(struct campaign *c)
{
    size_t bytes = (size_t)c->setup.loader.images.count * sizeof *c->known;
    c->known = memory_new(bytes);
    memcpy(c->known, c->fate, bytes);
}

/*
 * In a worker. No single order of threads shows every missing barrier; one drawn anew for each input
 * shows most. What passes the suite's first input in its order is tried there in the other orders too,
 * and the worst counts. A mutant that crashed may have written anywhere, so its worker ends with it.
 */
static bool evaluate(void *context, int number, void *result)
{
    struct campaign *c = context;
    const struct item *item = &c->item[c->todo[c->first + number]];
    struct observation *r = result;
    if (!c->known)
        look_at_fates(c);
    if (given_up(c, item)) {
        *r = (struct observation){.differs = true, .run.outcome = OUTCOME_CRASHED};
        strcpy(r->detail, "not run: crashed or hung on other inputs");
        return false;
    }
    if (c->setup.backend->expect && c->expecting != item->mutant)
        announce(c, c->first + number);
    bool broken = run_order(c, item, 0, r);
    if (first_of_suite(c, item->trial) && passes(&r->run))
        for (int order = 1; order < c->setup.backend->orders && !broken; order++)
            broken = run_order(c, item, order, r);
    r->run.detail = NULL; /* the parent has its own copy of the text */
    return broken || (item->last && c->crashed);
}

static void died(void *context, int number, int signal, bool late, void *result)
{
    (void)context;
    (void)number;
    struct observation *r = result;
    *r = (struct observation){.differs = true};
    r->run.outcome = late ? OUTCOME_TIMEOUT : OUTCOME_CRASHED;
    if (late)
        snprintf(r->detail, sizeof r->detail, "no answer within %d s", LIMIT_S);
    else
        snprintf(r->detail, sizeof r->detail, "the worker died: %s", strsignal(signal));
}

static json_t *row_of(const struct campaign *c, const struct item *item, const struct observation *result)
{
    struct row row = {0};
    if (item->kept) {
        row = *item->kept;
    } else {
        row.differs = result->differs;
        row.run = result->run;
        row.run.detail = row.run.outcome == OUTCOME_FINISHED ? NULL : result->detail;
        row.order = result->order == 0 ? NULL : c->setup.backend->order[result->order];
    }
    row.mutant = item->mutant->id;
    row.input = c->trial[item->trial].recipe->id;
    row.key = item->key;
    return row_to_json(&row);
}

static void note_fate(struct campaign *c, const struct item *item, const struct observation *o)
{
    struct fate *fate = &c->fate[item->mutant - c->setup.loader.images.image];
    fate->faults += o->run.outcome == OUTCOME_CRASHED || o->run.outcome == OUTCOME_TIMEOUT;
    fate->killed |= in_suite(c, item->trial) && !passes(&o->run);
}

static int receive(void *context, int number, const void *result, struct error *e)
{
    struct campaign *c = context;
    number += c->first;
    int k = c->todo[number];
    c->result[k] = *(const struct observation *)result;
    if (c->result[k].trouble)
        return fail(e, c->result[k].trouble, "%s: %s", c->setup.plugin.id, c->result[k].detail);
    note_fate(c, &c->item[k], &c->result[k]);
    json_t *record = row_of(c, &c->item[k], &c->result[k]);
    struct output part = {.stream = c->part};
    snprintf(part.path, sizeof part.path, "%s", c->part_path);
    int code = json_write_line(&part, record, e);
    json_decref(record);
    if (!code && fflush(c->part))
        code = fail_errno(e, "%s: cannot be written", c->part_path);
    if (isatty(STDERR_FILENO) && (number % 64 == 0 || number + 1 == c->todos))
        fprintf(stderr, "\r%s: %d of %d evaluations%s", c->setup.plugin.id, number + 1, c->todos,
                number + 1 == c->todos ? "\n" : "");
    return code;
}

/* The next trials that fit into memory together, at least one. */
static void next_trials(struct campaign *c)
{
    const struct backend *b = c->setup.backend;
    size_t bytes = 0, room = b->room ? b->room() : 0;
    for (c->from = c->to; c->to < c->trials; c->to++) {
        bytes += b->bytes ? b->bytes(c->trial[c->to].recipe) : 0;
        if (c->to > c->from && bytes > room)
            return;
    }
}

/* Mutant by mutant, and of a mutant the items of --suite first. */
static int by_turn(const void *a, const void *b, void *context)
{
    const struct campaign *c = context;
    const struct item *x = &c->item[*(const int *)a], *y = &c->item[*(const int *)b];
    if (x->mutant != y->mutant)
        return x->mutant < y->mutant ? -1 : 1;
    int late = !in_suite(c, x->trial) - !in_suite(c, y->trial);
    return late ? late : x->trial - y->trial;
}

/* Brings the items of trials [from, to) to the front of the rest of the list, less those of invalid inputs,
 * which leave it. Returns their number. */
static int take_items(struct campaign *c, int from, int to)
{
    int taken = 0, left = 0, rest = c->todos - c->first;
    int *todo = c->todo + c->first, *later = memory_zeroed(rest, sizeof *later);
    for (int k = 0; k < rest; k++) {
        int trial = c->item[todo[k]].trial;
        if (trial < from || trial >= to)
            later[left++] = todo[k];
        else if (!c->invalid[trial])
            todo[taken++] = todo[k];
    }
    memcpy(todo + taken, later, (size_t)left * sizeof *later);
    c->todos = c->first + taken + left;
    free(later);
    qsort_r(todo, (size_t)taken, sizeof *todo, by_turn, c);
    for (int k = 0; k < taken; k++)
        c->item[todo[k]].last =
            k + 1 == taken || c->item[todo[k]].mutant != c->item[todo[k + 1]].mutant;
    return taken;
}

static bool has_items(const struct campaign *c, int from, int to)
{
    for (int k = c->first; k < c->todos; k++)
        if (c->item[c->todo[k]].trial >= from && c->item[c->todo[k]].trial < to)
            return true;
    return false;
}

static int make_trial(struct campaign *c, int k, struct error *e)
{
    const char *why = NULL;
    int code = c->setup.backend->make(&c->trial[k], &c->setup, c->trial[k].recipe, e);
    if (!code && c->options->write_gate) {
        c->gated[k] = gating_record(&c->setup, &c->trial[k], &why);
        c->invalid[k] = why;
    }
    return code;
}

static void prepare(void *context)
{
    struct campaign *c = context;
    c->setup.backend->prepare(c->trial + c->from, c->to - c->from, &c->setup);
}

/* What is ahead, where somebody has looked at the clock. */
static bool show_plan(const struct campaign *c, int items)
{
    const struct backend *b = c->setup.backend;
    double bytes = 0, seconds = 0;
    for (int k = c->from; k < c->to; k++) {
        bytes += b->bytes ? (double)b->bytes(c->trial[k].recipe) : 0;
        seconds += c->trial[k].seconds / (c->to - c->from);
    }
    if (seconds > 0)
        fprintf(stderr, "%s: %d runs on %d inputs in %.2f GiB; the original takes %.3g s, all about %.0f s\n",
                c->setup.plugin.id, items, c->to - c->from, bytes / (1 << 30), seconds, items * seconds);
    return seconds > 0;
}

/* Makes the trials [c->from, c->to), runs all mutants on them, frees them. */
static int run_trials(struct campaign *c, struct error *e)
{
    const struct backend *b = c->setup.backend;
    int code = 0;
    for (int k = c->from; k < c->to && !code; k++)
        code = make_trial(c, k, e);
    int items = code ? 0 : take_items(c, c->from, c->to);
    time_t start = time(NULL);
    bool shown = items > 0 && show_plan(c, items);
    struct isolation work = {items, sizeof(struct observation), LIMIT_S, evaluate, died, receive, c,
                             b->prepare ? prepare : NULL};
    if (items > 0)
        code = isolate(&work, e);
    if (shown)
        fprintf(stderr, "%s: took %ld s\n", c->setup.plugin.id, (long)(time(NULL) - start));
    for (int k = c->from; k < c->to; k++)
        b->free(&c->trial[k]);
    c->first += items;
    return code;
}

/* The part file starts anew with what is kept from an earlier part. */
static int open_part(struct campaign *c, struct error *e)
{
    struct output start;
    int code = output_open(&start, c->part_path, e);
    json_t *header = setup_header(&c->setup, "rows");
    if (!code)
        code = json_write_line(&start, header, e);
    json_decref(header);
    for (int k = 0; k < c->items && !code; k++) {
        if (!c->item[k].kept)
            continue;
        json_t *record = row_of(c, &c->item[k], NULL);
        code = json_write_line(&start, record, e);
        json_decref(record);
    }
    if (!code)
        code = output_commit(&start, e);
    output_abandon(&start);
    if (code)
        return code;
    c->part = fopen(c->part_path, "ab");
    return c->part ? 0 : fail_errno(e, "%s: cannot be opened", c->part_path);
}

static int run_todo(struct campaign *c, struct error *e)
{
    int code = c->todos > 0 ? open_part(c, e) : 0;
    while (c->to < c->trials && !code) {
        next_trials(c);
        if (c->options->write_gate || has_items(c, c->from, c->to))
            code = run_trials(c, e);
    }
    if (c->part)
        fclose(c->part);
    return code;
}

/* ---- results ---------------------------------------------------------------------------------- */

static int write_rows(struct campaign *c, struct error *e)
{
    struct output out;
    int code = output_open(&out, c->options->setup.output, e);
    json_t *header = setup_header(&c->setup, "rows");
    if (!code)
        code = json_write_line(&out, header, e);
    json_decref(header);
    for (int k = 0; k < c->items && !code; k++) {
        if (c->invalid[c->item[k].trial])
            continue;
        json_t *record = row_of(c, &c->item[k], &c->result[k]);
        code = json_write_line(&out, record, e);
        json_decref(record);
    }
    if (!code)
        code = output_commit_if_changed(&out, e);
    output_abandon(&out);
    if (!code)
        unlink(c->part_path);
    return code;
}

/* Does the suite kill on this item? */
static bool kills(const struct campaign *c, const struct row *row, int trial)
{
    return in_suite(c, trial) && row->differs && !passes(&row->run);
}

static bool witnesses(const struct campaign *c, const struct row *row, int trial)
{
    (void)c, (void)trial;
    return row->differs;
}

/* The mutants on none of whose items that happened, one id a line. */
static int write_without(const struct campaign *c, const char *path,
                         bool (*happened)(const struct campaign *c, const struct row *row, int trial),
                         struct error *e)
{
    struct output out;
    int code = output_open(&out, path, e);
    if (code)
        return code;
    for (int k = 0; k < c->items;) {
        const struct image *mutant = c->item[k].mutant;
        bool found = false;
        for (; k < c->items && c->item[k].mutant == mutant; k++) {
            const struct item *item = &c->item[k];
            struct row row = {.differs = c->result[k].differs, .run = c->result[k].run};
            if (!c->invalid[item->trial])
                found |= happened(c, item->kept ? item->kept : &row, item->trial);
        }
        if (!found)
            fprintf(out.stream, "%s\n", mutant->id);
    }
    return output_commit_if_changed(&out, e);
}

static int write_gate(const struct campaign *c, struct error *e)
{
    struct output out;
    int code = output_open(&out, c->options->write_gate, e);
    json_t *header = gating_header(&c->setup);
    if (!code)
        code = json_write_line(&out, header, e);
    json_decref(header);
    for (int k = 0; k < c->trials && !code; k++)
        code = json_write_line(&out, c->gated[k], e);
    if (!code)
        code = output_commit_if_changed(&out, e);
    output_abandon(&out);
    return code;
}

static int write_results(struct campaign *c, struct error *e)
{
    const struct options *o = c->options;
    int code = o->write_gate ? write_gate(c, e) : 0;
    if (!code)
        code = write_rows(c, e);
    if (!code && o->survivors)
        code = write_without(c, o->survivors, kills, e);
    if (!code && o->unwitnessed)
        code = write_without(c, o->unwitnessed, witnesses, e);
    return code;
}

static void close_campaign(struct campaign *c)
{
    for (int f = 0; f < 2; f++)
        if (c->have_old[f])
            rows_free(&c->old[f]);
    for (int k = 0; k < c->trials; k++)
        json_decref(c->gated[k]);
    free(c->gated);
    free(c->invalid);
    free(c->trial);
    free(c->item);
    free(c->todo);
    free(c->result);
    setup_close(&c->setup);
}

int main(int argc, char **argv)
{
    struct options o = {0};
    const struct argp_child children[] = {{&setup_argp, 0, NULL, 0}, {0}};
    const struct argp argp = {OPTIONS, parse, "PROBLEM.so SUITE.json…", DOC, children, NULL, NULL};
    if (argp_parse(&argp, argc, argv, 0, NULL, &o))
        abort(); /* no memory for it; it reports all else itself */

    struct error e;
    struct campaign c = {.options = &o};
    snprintf(c.part_path, sizeof c.part_path, "%s.part", o.setup.output);
    int code = setup_open(&c.setup, &o.setup, &e);
    c.setup.race = o.race;
    if (!code)
        code = choose_trials(&c, &e);
    if (!code)
        code = make_items(&c, &e);
    if (!code) {
        keep_rows(&c);
        code = run_todo(&c, &e);
    }
    if (!code)
        code = write_results(&c, &e);
    close_campaign(&c);
    return code ? error_print("witness", &e) : 0;
}
