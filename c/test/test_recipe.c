/* Suites: what a recipe resolves to, which values it gives, and what is refused in which words. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recipe.h" /* before cmocka.h, whose macro fail() would hide error.h's */

#include <cmocka.h>

/* ---- a problem to read suites for ------------------------------------------------------------ */

enum { rows, columns, window };

static const struct size sizes[] = {
    [rows] = {"rows", .official = 100, .small = 6},
    [columns] = {"columns", .official = 1000, .small = 10},
    [window] = {"window", .official = 3, .small = 3},
};

static const char *invalid(const long d[])
{
    return d[window] > d[columns] ? "the window is wider than the row" : NULL;
}

static void tensors(struct layout *l, const long d[])
{
    parameter(l, "weight", constant(1), SHAPE(d[columns], 1));
    input(l, "x", uniform(0, 1), SHAPE(d[rows], d[columns]));
    input(l, "z", normal(0, 1), SHAPE(d[rows]));
    output(l, "y", SHAPE(d[rows], d[columns] - d[window] + 1));
}

const struct problem problem = {PROBLEM_ABI, SIZES(sizes), .invalid = invalid, .tensors = tensors};

static const struct plugin plugin = {.problem = &problem, .id = "test/001_window"};

/* ---- helpers --------------------------------------------------------------------------------- */

#define SUITE(inputs)                                                                              \
    "{\"schema\": \"assay/suite\", \"schema_version\": \"1.0\", \"suite\": \"s\", "                \
    "\"means\": \"m\", \"source\": \"t\", \"inputs\": [" inputs "]}"
#define INPUT(more) "{\"id\": \"a\", \"means\": \"m\", \"seed\": 5" more "}"

static int read_text(struct pool *pool, const char *text, struct error *e)
{
    char path[] = "/tmp/test_recipe.XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    close(file);
    long profile[PROBLEM_SIZES];
    plugin_small(&plugin, profile);
    int code = pool_read(pool, &plugin, profile, path, e);
    unlink(path);
    return code;
}

static struct pool read_good(const char *text)
{
    struct pool pool = {0};
    struct error e;
    if (read_text(&pool, text, &e))
        fail_msg("%s", e.text);
    return pool;
}

/* The hash of the only input of a suite. */
static const char *hash_of(const char *text, char hash[HASH_HEX])
{
    struct pool pool = read_good(text);
    memcpy(hash, pool.recipe[0].hash, HASH_HEX);
    pool_free(&pool);
    return hash;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void native_by_default(void **state)
{
    (void)state;
    struct pool pool = read_good(SUITE(INPUT("")));
    assert_int_equal(pool.recipes, 1);
    const struct recipe *r = &pool.recipe[0];
    assert_string_equal(r->id, "a");
    assert_string_equal(r->suite, "s");
    assert_int_equal(r->size[rows], 6);
    assert_int_equal(r->tensors, 4);
    assert_int_equal(r->seed, 5);
    assert_int_equal(r->weights_seed, 42);
    float x[60], weight[10];
    recipe_fill(r, 1, x);
    recipe_fill(r, 0, weight);
    const struct fill native = {GENERATOR_UNIFORM, 0, 1, 0, 1};
    for (int i = 0; i < 60; i++)
        assert_true(x[i] == generator_value(&native, 5, 1, i, 60, 10));
    assert_true(weight[0] == 1 && weight[9] == 1);
    pool_free(&pool);
}

static void a_name_counts_before_a_role(void **state)
{
    (void)state;
    struct pool pool = read_good(SUITE(INPUT(
        ", \"sizes\": {\"rows\": 2}, \"fills\": {\"inputs\": {\"constant\": 7}, \"z\": "
        "{\"native\": true, \"scale\": -2}, \"weight\": {\"tail\": [3, 3, 2]}}")));
    const struct recipe *r = &pool.recipe[0];
    float weight[10], x[20], z[2];
    assert_int_equal(tensor_count(&r->tensor[1]), 20);
    recipe_fill(r, 0, weight);
    recipe_fill(r, 1, x);
    recipe_fill(r, 2, z);
    assert_true(x[0] == 7 && x[19] == 7);
    assert_true(weight[7] == 0 && weight[8] == 3); /* its row is the axis longer than 1 */
    const struct fill native = {GENERATOR_NORMAL, 0, 1, 0, -2};
    assert_true(z[1] == generator_value(&native, 5, 2, 1, 2, 2));
    pool_free(&pool);
}

static void defaults_fill_what_is_missing(void **state)
{
    (void)state;
    struct pool pool = read_good(
        "{\"schema\": \"assay/suite\", \"schema_version\": \"1.0\", \"suite\": \"s\", "
        "\"means\": \"m\", \"source\": \"t\", \"defaults\": {\"weights_seed\": 9, "
        "\"sizes\": {\"rows\": 3}}, \"inputs\": ["
        "{\"id\": \"a\", \"means\": \"m\", \"seed\": 1},"
        "{\"id\": \"b\", \"means\": \"m\", \"seed\": 1, \"weights_seed\": 8}]}");
    assert_int_equal(pool.recipe[0].weights_seed, 9);
    assert_int_equal(pool.recipe[1].weights_seed, 8);
    assert_int_equal(pool.recipe[1].size[rows], 3);
    pool_free(&pool);
}

static void parameters_keep_their_own_seed(void **state)
{
    (void)state;
#define DRAWN "\"means\": \"m\", \"fills\": {\"weight\": {\"uniform\": [0, 1]}}}"
    struct pool pool = read_good(SUITE("{\"id\": \"a\", \"seed\": 1, " DRAWN ","
                                       "{\"id\": \"b\", \"seed\": 2, " DRAWN ","
                                       "{\"id\": \"c\", \"seed\": 1, \"weights_seed\": 2, " DRAWN));
    float weight[3][10], x[3][60];
    for (int k = 0; k < 3; k++) {
        recipe_fill(&pool.recipe[k], 0, weight[k]);
        recipe_fill(&pool.recipe[k], 1, x[k]);
    }
    assert_memory_equal(weight[0], weight[1], sizeof weight[0]);
    assert_memory_not_equal(weight[0], weight[2], sizeof weight[0]);
    assert_memory_not_equal(x[0], x[1], sizeof x[0]);
    assert_memory_equal(x[0], x[2], sizeof x[0]);
    pool_free(&pool);
}

static void drawn_sizes_are_valid_and_repeat(void **state)
{
    (void)state;
    struct error e;
    long low = 0, high = 0;
    for (int seed = 1; seed <= 40; seed++) {
        char text[512], again[HASH_HEX];
        snprintf(text, sizeof text,
                 SUITE("{\"id\": \"a\", \"means\": \"m\", \"seed\": %d, \"sizes_from\": "
                       "{\"columns\": [1, 2, 7, 30], \"rows\": [1, 4], \"absent\": [3]}}"), seed);
        struct pool pool = read_good(text);
        const struct recipe *r = &pool.recipe[0];
        assert_int_equal(r->size[window], 3);
        assert_true(r->size[columns] == 7 || (r->size[columns] == 30 && r->size[rows] == 1));
        low += r->size[rows] == 1;
        high += r->size[rows] == 4;
        assert_string_equal(r->hash, hash_of(text, again));
        pool_free(&pool);
    }
    assert_true(low > 5 && high > 5);
    struct pool none = {0};
    assert_int_equal(read_text(&none, SUITE(INPUT(", \"sizes_from\": {\"columns\": [1, 2]}")), &e),
                     EXIT_DATA);
    assert_non_null(strstr(e.text, "none of"));
    pool_free(&none);
}

static void the_hash_is_of_the_content(void **state)
{
    (void)state;
    char base[HASH_HEX], other[HASH_HEX];
    hash_of(SUITE(INPUT("")), base);
    static const char *const SAME[] = {
        SUITE("{\"id\": \"b\", \"means\": \"other\", \"seed\": 5}"),
        SUITE(INPUT(", \"sizes\": {\"rows\": 6}")),
        SUITE(INPUT(", \"fills\": {\"x\": {\"uniform\": [0, 1]}}")),
        SUITE(INPUT(", \"fills\": {\"inputs\": {\"native\": true, \"scale\": 1}}")),
    };
    static const char *const DIFFERENT[] = {
        SUITE("{\"id\": \"a\", \"means\": \"m\", \"seed\": 6}"),
        SUITE(INPUT(", \"weights_seed\": 6")),
        SUITE(INPUT(", \"sizes\": {\"rows\": 5}")),
        SUITE(INPUT(", \"fills\": {\"x\": {\"uniform\": [0, 1.5]}}")),
        SUITE(INPUT(", \"fills\": {\"x\": {\"native\": true, \"scale\": 0.5}}")),
    };
    for (int k = 0; k < LENGTH(SAME); k++)
        assert_string_equal(hash_of(SAME[k], other), base);
    for (int k = 0; k < LENGTH(DIFFERENT); k++)
        assert_string_not_equal(hash_of(DIFFERENT[k], other), base);
}

static void bad_suites_are_refused_by_name(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } CASE[] = {
        {"{", "not valid JSON"},
        {"{\"schema\": \"assay/suite\", \"schema_version\": \"2.0\"}", "reads 1.x"},
        {SUITE("7"), "not an object"},
        {SUITE("{\"means\": \"m\", \"seed\": 1}"), "'id' is missing"},
        {SUITE("{\"id\": \"a\", \"means\": \"m\"}"), "'seed' is missing"},
        {SUITE("{\"id\": \"a\", \"means\": \"m\", \"seed\": 0}"), "expected 1 to 2^53"},
        {SUITE("{\"id\": \"a\", \"means\": \"m\", \"seed\": 1.5}"), "'seed' is not an integer"},
        {SUITE(INPUT("")", " INPUT("")), "there is an input 'a' already"},
        {SUITE(INPUT(", \"size\": {}")), "unknown key 'size'"},
        {SUITE(INPUT(", \"sizes\": {\"width\": 3}")), "has no size 'width'"},
        {SUITE(INPUT(", \"sizes\": {\"rows\": \"3\"}")), "'rows' is not an integer"},
        {SUITE(INPUT(", \"sizes\": {\"columns\": 2}")), "wider than the row (input 'a')"},
        {SUITE(INPUT(", \"sizes\": {\"rows\": -1}")), "size rows is -1"},
        {SUITE(INPUT(", \"sizes\": {\"rows\": 0}")), "extent 0 of tensor 'x' is 0"},
        {SUITE(INPUT(", \"sizes\": {\"rows\": 1099511627776}")), "2^40 elements or more"},
        {SUITE(INPUT(", \"sizes\": {}, \"sizes_from\": {}")), "both 'sizes' and 'sizes_from'"},
        {SUITE(INPUT(", \"sizes_from\": {\"rows\": [1, \"2\"]}")), "candidates of 'rows'"},
        {SUITE(INPUT(", \"fills\": {\"y\": {\"constant\": 1}}")), "'y', which is no input"},
        {SUITE(INPUT(", \"fills\": {\"x\": {\"gauss\": [0, 1]}}")), "unknown word 'gauss'"},
        {SUITE(INPUT(", \"fills\": {\"x\": {\"uniform\": [0]}}")), "fill of 'x' has numbers"},
        {SUITE(INPUT(", \"fills\": {\"x\": {\"levels\": [0, 1, 1]}}")), "fill of 'x' has numbers"},
        {SUITE(INPUT(", \"fills\": {\"x\": {\"scale\": 2}}")), "needs one word"},
        {SUITE(INPUT(", \"fills\": {\"x\": {\"constant\": 2, \"ramp\": [0, 1]}}")), "needs one word"},
        {SUITE(INPUT(", \"fills\": {\"x\": {\"constant\": 2, \"scale\": null}}")), "not a number"},
        {SUITE(INPUT(", \"fills\": {\"x\": 3}")), "is not an object"},
    };
    for (int k = 0; k < LENGTH(CASE); k++) {
        struct pool pool = {0};
        struct error e = {0};
        assert_int_equal(read_text(&pool, CASE[k].text, &e), EXIT_DATA);
        if (!strstr(e.text, CASE[k].says))
            fail_msg("'%s' should say '%s'", e.text, CASE[k].says);
        pool_free(&pool);
    }
}

static void no_output(struct layout *l, const long d[])
{
    input(l, "x", uniform(0, 1), SHAPE(d[rows]));
}

static void twins(struct layout *l, const long d[])
{
    tensors(l, d);
    input(l, "x", uniform(0, 1), SHAPE(d[rows]));
}

static void crowd(struct layout *l, const long d[])
{
    for (int k = 0; k <= PROBLEM_TENSORS; k++)
        tensors(l, d);
}

static void impossible_layouts_are_refused(void **state)
{
    (void)state;
    static const struct {
        void (*tensors)(struct layout *l, const long d[]);
        const char *says;
    } CASE[] = {
        {no_output, "declares no output"},
        {twins, "two tensors are named 'x'"},
        {crowd, "1024 tensors or more"},
    };
    struct layout *l = calloc(1, sizeof *l);
    long small[PROBLEM_SIZES];
    plugin_small(&plugin, small);
    for (int k = 0; k < LENGTH(CASE); k++) {
        struct problem odd = problem;
        odd.tensors = CASE[k].tensors;
        const struct plugin p = {.problem = &odd, .id = "test/002_odd"};
        struct error e;
        assert_int_equal(plugin_layout(&p, small, l, &e), EXIT_DATA);
        assert_non_null(strstr(e.text, CASE[k].says));
    }
    free(l);
}

static void objects_that_are_no_problems(void **state)
{
    (void)state;
    struct plugin p;
    struct reference r;
    struct error e;
    assert_int_equal(plugin_open(&p, "build/none/such.so", &e), EXIT_UNAVAILABLE);
    assert_int_equal(reference_open(&r, "build/none/such.so", &e), EXIT_UNAVAILABLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(native_by_default),
        cmocka_unit_test(a_name_counts_before_a_role),
        cmocka_unit_test(defaults_fill_what_is_missing),
        cmocka_unit_test(parameters_keep_their_own_seed),
        cmocka_unit_test(drawn_sizes_are_valid_and_repeat),
        cmocka_unit_test(the_hash_is_of_the_content),
        cmocka_unit_test(bad_suites_are_refused_by_name),
        cmocka_unit_test(impossible_layouts_are_refused),
        cmocka_unit_test(objects_that_are_no_problems),
    };
    return cmocka_run_group_tests_name("recipe", tests, NULL, NULL);
}
