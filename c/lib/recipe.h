/*
 * recipe - inputs as data: suites of recipes, each saying the sizes, fills and seeds of one input.
 *
 * A suite is a JSON document, for all problems (inputs/suites, inputs/ladder) or for one
 * (inputs/targeted):
 *
 *   {"schema": "assay/suite", "schema_version": "1.0",
 *    "suite": "targeted", "means": "…", "source": "…",
 *    "inputs": [
 *      {"id": "odd-columns", "means": "the last vector of four is not full", "seed": 11,
 *       "sizes": {"dim": 1023},
 *       "fills": {"inputs": {"normal": [0, 1], "scale": 3}, "ln.bias": {"uniform": [-1, 1]}}}]}
 *
 *   defaults      beside inputs, optional: keys for the inputs that lack them
 *   id            unique among all the inputs of a problem
 *   seed          of the inputs, 1 … 2^53
 *   weights_seed  of the parameters; absent: 42, so that inputs share their weights
 *   sizes         by name, over the profile's; absent: the profile's
 *   sizes_from    instead of sizes: {"name": [candidates], …}. Each named size that the problem has
 *                 is drawn by the seed from its candidates, all of them again until the problem
 *                 finds them valid and has no more elements than at the profile's sizes
 *   fills         by tensor name, or "inputs", or "parameters"; the name counts before the role.
 *                 Absent: the native fill. A name that the problem lacks is an error
 *
 * A fill is one of these words with its numbers, and optionally "scale", by which every value is
 * multiplied. A row is the last axis longer than 1; U[a,b) is drawn anew for each element.
 *
 *   "native": true        the benchmark's own    "one_hot": [hot, cold]    one drawn place a row
 *   "uniform": [a, b]     U[a,b)                 "spike": [a, b, peak]     U[a,b), one peak a row
 *   "normal": [mean, sd]                         "levels": [a, b, n]       n equally spaced values
 *   "constant": a                                "alternate": [a, b]       even and odd positions
 *   "ramp": [a, b]        over the tensor        "last_row": [a, b, rest]  U[a,b) in the last row
 *   "row_ramp": [a, b]    over each row          "tail": [a, b, n]         last n of a row, else 0
 *   "octaves": [a, n]     ± a (1+U) 2^(0 … n−1)  "nonfinite": [a, b, p]    share p NaN, ±Inf or 0
 */
#ifndef ASSAY_RECIPE_H
#define ASSAY_RECIPE_H

#include "error.h"
#include "hash.h"
#include "plugin.h"

/* One input of one problem, resolved: nothing in it depends on the suite file any more. */
struct recipe {
    char *id, *suite;                 /* owned */
    generator_word seed;              /* of the inputs */
    generator_word weights_seed;      /* of the parameters */
    long size[PROBLEM_SIZES];         /* in the problem's order */
    int tensors;                      /* outputs included */
    struct tensor *tensor;            /* owned; in the problem's order */
    struct fill *fill;                /* owned; one a tensor, without meaning for outputs */
    char hash[HASH_HEX];              /* of sizes, fills and seeds: equal data, equal hash */
};

/* The inputs of one problem. Starts as {0}. */
struct pool {
    struct recipe *recipe;
    int recipes, room;
};

/*
 * pool_read - adds the inputs of one suite file to the pool
 *
 *   profile  in  the sizes that a recipe starts from (plugin_small or plugin_official)
 *
 * EXIT_IO; EXIT_DATA with the file, the input's id and what is wrong: bad JSON, an unknown key,
 * word, size or tensor, an id used twice, sizes that the problem refuses. The pool then still needs
 * pool_free.
 */
int pool_read(struct pool *pool, const struct plugin *p, const long profile[], const char *path,
              struct error *e);
void pool_free(struct pool *pool);

/* Only the inputs whose ids are in the list (`a,b`) stay in the pool. */
void pool_keep(struct pool *pool, const char *list);

/* The values of parameter or input t, `tensor_count` of them. */
void recipe_fill(const struct recipe *r, int t, float values[]);

#endif
