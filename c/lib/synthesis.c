#include "synthesis.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cover.h"
#include "hash.h"
#include "json.h"
#include "protocol.h"

static const int BUDGET[] = {1, 2, 3, 5, 8};

enum { BUDGETS = (int)(sizeof BUDGET / sizeof *BUDGET), LARGEST = 8 };

enum half { ALL, DEV, TEST, HALVES };

/* Kills in all problems together. */
struct totals {
    long witnessed[HALVES], official[HALVES];
    long exact[BUDGETS], greedy[BUDGETS];                 /* chosen and measured on all */
    long exact_heldout[BUDGETS], greedy_heldout[BUDGETS]; /* chosen on DEV, measured on TEST */
};

static bool in_dev(const char *problem, const char *mutant)
{
    char text[1024], hex[HASH_HEX];
    int length = snprintf(text, sizeof text, "%s %s", problem, mutant);
    hash_bytes(text, length < (int)sizeof text ? (size_t)length : sizeof text - 1, hex);
    return strchr("02468ace", hex[0]) != NULL;
}

static bool in_half(const struct scored *s, const struct fate *f, enum half half)
{
    return fate_is(f, "witnessed") && (half == ALL || in_dev(s->problem, f->id) == (half == DEV));
}

static void make_cover(struct cover *c, const struct scored *s, enum half half)
{
    unsigned char *kills = calloc((size_t)s->fates * (size_t)s->inputs + 1, 1);
    int faults = 0;
    if (!kills)
        abort();
    for (int k = 0; k < s->fates; k++) {
        if (!in_half(s, &s->fate[k], half))
            continue;
        for (int i = 0; i < s->inputs; i++)
            kills[(size_t)faults * (size_t)s->inputs + (size_t)i] =
                letter_kills(s->fate[k].inputs[i]);
        faults++;
    }
    cover_make(c, kills, faults, s->inputs);
    free(kills);
}

static void count_official(struct totals *t, const struct scored *s, int official)
{
    for (int k = 0; k < s->fates; k++) {
        for (enum half half = ALL; half < HALVES; half++) {
            if (!in_half(s, &s->fate[k], half))
                continue;
            t->witnessed[half]++;
            t->official[half] += letter_kills(s->fate[k].protocols[official]);
        }
    }
}

static json_t *chosen_to_json(const struct scored *s, const int chosen[], int count)
{
    json_t *list = json_array();
    for (int k = 0; k < count; k++)
        json_array_append_new(list, json_string(s->input[chosen[k]]));
    return list;
}

static void set_by_budget(json_t *object, int budget, json_t *value)
{
    char key[16];
    snprintf(key, sizeof key, "%d", budget);
    json_object_set_new(object, key, value);
}

/* Chooses on `from` for every budget, counts on `on`; `chosen` and `killed`, by budget, may be
 * NULL. */
static int choose(const struct scored *s, const struct cover *from, const struct cover *on,
                  long exact[], long greedy[], json_t *chosen, json_t *killed, struct error *e)
{
    int input[LARGEST], count;
    for (int b = 0; b < BUDGETS; b++) {
        count = cover_greedy(from, BUDGET[b], input);
        greedy[b] += cover_killed(on, input, count);
        int code = cover_exact(from, BUDGET[b], input, &count, e);
        if (code)
            return code;
        exact[b] += cover_killed(on, input, count);
        if (chosen) {
            set_by_budget(chosen, BUDGET[b], chosen_to_json(s, input, count));
            set_by_budget(killed, BUDGET[b], json_integer(cover_killed(on, input, count)));
        }
    }
    return 0;
}

static int add_problem(struct totals *t, json_t *problems, const struct scored *s, struct error *e)
{
    struct totals own = {0};
    struct cover cover[HALVES];
    int official = scored_protocol(s, OFFICIAL_PROTOCOL);
    if (official < 0)
        return fail(e, EXIT_DATA, "%s: it was scored without " OFFICIAL_PROTOCOL, s->problem);
    count_official(&own, s, official);
    for (enum half half = ALL; half < HALVES; half++) {
        make_cover(&cover[half], s, half);
        t->witnessed[half] += own.witnessed[half];
        t->official[half] += own.official[half];
    }
    json_t *chosen = json_object(), *killed = json_object();
    int code = choose(s, &cover[ALL], &cover[ALL], t->exact, t->greedy, chosen, killed, e);
    if (!code)
        code = choose(s, &cover[DEV], &cover[TEST], t->exact_heldout, t->greedy_heldout, NULL, NULL,
                      e);
    json_object_set_new(problems, s->problem,
                        json_pack("{sI sI so so}", "witnessed", (json_int_t)own.witnessed[ALL],
                                  "test", (json_int_t)own.witnessed[TEST], "chosen", chosen,
                                  "killed", killed));
    for (enum half half = ALL; half < HALVES; half++)
        cover_free(&cover[half]);
    return code;
}

static json_t *share(long part, long whole)
{
    return json_real(whole ? (double)part / (double)whole : 0);
}

static json_t *shares(const long killed[], long of)
{
    json_t *object = json_object();
    for (int b = 0; b < BUDGETS; b++)
        set_by_budget(object, BUDGET[b], share(killed[b], of));
    return object;
}

static void add_totals(json_t *d, const struct totals *t)
{
    long all = t->witnessed[ALL], test = t->witnessed[TEST];
    json_object_set_new(d, "witnessed", json_integer(all));
    json_object_set_new(d, "test", json_integer(test));
    json_object_set_new(d, "pool", shares(t->exact, all));
    json_object_set_new(d, "heldout", shares(t->exact_heldout, test));
    json_object_set_new(d, "greedy",
                        json_pack("{so so}", "pool", shares(t->greedy, all), "heldout",
                                  shares(t->greedy_heldout, test)));
    json_object_set_new(d, "official",
                        json_pack("{so so}", "pool", share(t->official[ALL], all), "heldout",
                                  share(t->official[TEST], test)));
}

int synthesis(const struct scored scored[], int problems, json_t **document, struct error *e)
{
    struct totals t = {0};
    json_t *by_problem = json_object();
    int code = 0;
    for (int k = 0; !code && k < problems; k++)
        code = add_problem(&t, by_problem, &scored[k], e);
    if (code) {
        json_decref(by_problem);
        return code;
    }
    *document = json_new("setcover");
    json_object_set_new(*document, "problems", by_problem);
    add_totals(*document, &t);
    return 0;
}
