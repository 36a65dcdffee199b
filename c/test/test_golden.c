/* Golden files: what is read, which sizes are inferred, and that no NaN passes. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "golden.h" /* before cmocka.h, whose macro fail() would hide error.h's */

#include <cmocka.h>

/* ---- a problem like level1/050: its image extent is no module constant ----------------------- */

enum { batch_size, image, kernel_size, tile };

static const struct size sizes[] = {
    [batch_size] = {"batch_size", .official = 64, .small = 2},
    [image] = {"image", .official = 224, .small = 9},
    [kernel_size] = {"kernel_size", .official = 3, .small = 2},
    [tile] = {"tile.1", .official = 5, .small = 5},
};

static void tensors(struct layout *l, const long d[])
{
    parameter(l, "w", constant(1), SHAPE(d[tile], d[kernel_size]));
    input(l, "x", uniform(0, 1), SHAPE(d[batch_size], d[image]));
    output(l, "y", SHAPE(d[batch_size], d[image] - d[kernel_size] + 1));
}

static const char *invalid(const long d[])
{
    return d[kernel_size] > d[image] ? "the window is wider than the image" : NULL;
}

static const struct hyperparameter hyperparameters[] = {{"slope", 0.1}, {"eps", 1e-5}};

const struct problem problem = {PROBLEM_ABI, SIZES(sizes), HYPERPARAMETERS(hyperparameters),
                                .invalid = invalid, .tensors = tensors};

static const struct plugin plugin = {.problem = &problem, .id = "test/050_conv"};

/* ---- helpers --------------------------------------------------------------------------------- */

#define GOLDEN(constants, shape_x, output)                                                         \
    "{\"problem\": \"test/050_conv\", \"constants\": {" constants "}, \"tensors\": ["              \
    "{\"t\": 0, \"name\": \"w\", \"shape\": [7, 3], \"lo\": -1, \"hi\": 1},"                       \
    "{\"t\": 1, \"name\": \"x\", \"shape\": " shape_x ", \"lo\": 0, \"hi\": 2}],"                   \
    "\"outputs\": [" output "]}"
#define OUTPUT_OF(shape, data)                                                                     \
    "{\"shape\": " shape ", \"fp32_maxabs_err\": 1e-7, \"data\": " data "}"
#define FOUR OUTPUT_OF("[1, 4]", "[1, 2, 3, 4]")
#define CONSTANTS "\"batch_size\": 1, \"tile\": [1, 7], \"slope\": 0.25, \"unused\": [true, null]"
#define GOOD GOLDEN(CONSTANTS, "[1, 6]", OUTPUT_OF("[1, 4]", "[1, -2, 0.5, 0]"))

static int read_text(struct golden *g, const char *text, struct error *e)
{
    static char path[32];
    strcpy(path, "/tmp/test_golden.XXXXXX");
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    close(file);
    int code = golden_read(g, path, e);
    unlink(path);
    return code;
}

static int bind_text(const char *text, long size[], double hyper[], struct error *e)
{
    struct golden g;
    struct layout *l = calloc(1, sizeof *l);
    assert_int_equal(read_text(&g, text, e), 0);
    int code = golden_bind(&g, &plugin, size, hyper, l, e);
    free(l);
    golden_free(&g);
    return code;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void sizes_bind_by_name_and_by_shape(void **state)
{
    (void)state;
    long size[PROBLEM_SIZES];
    double hyper[PROBLEM_SIZES];
    struct error e;
    assert_int_equal(bind_text(GOOD, size, hyper, &e), 0);
    assert_int_equal(size[batch_size], 1);
    assert_int_equal(size[tile], 7);
    assert_int_equal(size[kernel_size], 3); /* no constant: the official value fits */
    assert_int_equal(size[image], 6);       /* no constant: only this extent fits */
    assert_true(hyper[0] == 0.25 && hyper[1] == 1e-5);
}

static void what_cannot_be_bound_is_said(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } CASE[] = {
        {GOLDEN("\"batch_size\": 2, \"tile\": [1, 7]", "[1, 6]", FOUR),
         "'x' is declared [2, 224], the golden file has [1, 6]"},
        {GOLDEN("\"batch_size\": 1, \"tile\": [1, 8]", "[1, 6]", FOUR),
         "'w' is declared [8, 3], the golden file has [7, 3]"},
        {GOLDEN("\"batch_size\": 1.5", "[1, 6]", FOUR),
         "'batch_size' is not an integer"},
        {GOLDEN(CONSTANTS, "[1, 6]", FOUR "," OUTPUT_OF("[1]", "[1]")),
         "2 tensors and 1 outputs are declared, the golden file has 2 and 2"},
    };
    for (int k = 0; k < LENGTH(CASE); k++) {
        long size[PROBLEM_SIZES];
        double hyper[PROBLEM_SIZES];
        struct error e;
        assert_int_equal(bind_text(CASE[k].text, size, hyper, &e), EXIT_NO);
        if (!strstr(e.text, CASE[k].says))
            fail_msg("'%s' should say '%s'", e.text, CASE[k].says);
    }
}

static void malformed_files_are_refused(void **state)
{
    (void)state;
    static const char *const CASE[] = {
        "{",
        "[1]",
        "{\"problem\": \"a\"}",
        "{\"problem\": \"a\", \"constants\": {}, \"tensors\": [], \"outputs\": []}",
        "{\"problem\": \"a\", \"constants\": {}, \"tensors\": [3], \"outputs\": [3]}",
        GOLDEN(CONSTANTS, "6", OUTPUT_OF("[1]", "[1]")),
        GOLDEN(CONSTANTS, "[0]", OUTPUT_OF("[1]", "[1]")),
        GOLDEN(CONSTANTS, "[1048576, 1048577]", OUTPUT_OF("[1]", "[1]")),
        GOLDEN(CONSTANTS, "[1, 1, 1, 1, 1, 1, 1]", OUTPUT_OF("[1]", "[1]")),
        GOLDEN(CONSTANTS, "[6]", OUTPUT_OF("[2]", "[1]")),
        GOLDEN(CONSTANTS, "[6]", OUTPUT_OF("[1]", "[\"1\"]")),
        GOLDEN(CONSTANTS, "[6]", "{\"shape\": [1], \"data\": [1]}"),
        GOLDEN(CONSTANTS, "[6]", "{\"shape\": [3], \"data\": [1, 2], \"stride\": 2, \"sum\": 6}"),
    };
    for (int k = 0; k < LENGTH(CASE); k++) {
        struct golden g;
        struct error e;
        if (read_text(&g, CASE[k], &e) != EXIT_DATA)
            fail_msg("accepted: %s", CASE[k]);
    }
}

static void other_json_is_no_golden_file(void **state)
{
    (void)state;
    struct golden g;
    struct error e;
    assert_int_equal(read_text(&g, "{\"level1/023_softmax\": {\"problem\": 1}}", &e), 0);
    assert_null(g.root);
}

static void tensors_out_of_reach_are_named(void **state)
{
    (void)state;
    struct golden g;
    struct error e;
    static const char *const MASK =
        "{\"problem\": \"a\", \"constants\": {}, \"tensors\": [{\"t\": 0, \"name\": \"mask\", "
        "\"shape\": [2], \"rule\": \"u < 0.5\"}], \"outputs\": [" OUTPUT_OF("[1]", "[1]") "]}";
    assert_int_equal(read_text(&g, MASK, &e), 0);
    assert_string_equal(g.unsupported, "mask: rule");
    golden_free(&g);
}

static void differences_are_relative_to_the_largest(void **state)
{
    (void)state;
    struct golden g;
    struct error e;
    assert_int_equal(read_text(&g, GOOD, &e), 0);
    const struct golden_output *o = &g.output[0];
    assert_true(golden_difference(o, (double[]){1, -2, 0.5, 0}) == 0);
    assert_true(golden_difference(o, (double[]){1, -2, 0.5, 0.25}) == 0.125);
    for (int k = 0; k < 4; k++) {
        double out[] = {1, -2, 0.5, 0};
        out[k] = NAN;
        assert_false(golden_difference(o, out) <= INFINITY);
    }
    golden_free(&g);
}

static void sums_watch_what_samples_skip(void **state)
{
    (void)state;
    struct golden g;
    struct error e;
    static const char *const SAMPLED =
        GOLDEN(CONSTANTS, "[6]", "{\"shape\": [4], \"data\": [1, 3], \"stride\": 2, "
                                 "\"sum\": 10, \"sumsq\": 30, \"fp32_maxabs_err\": 0}");
    assert_int_equal(read_text(&g, SAMPLED, &e), 0);
    const struct golden_output *o = &g.output[0];
    assert_true(golden_difference(o, (double[]){1, 2, 3, 4}) == 0);
    assert_true(golden_difference(o, (double[]){1, 2, 3, 4.5}) > 0.04);
    assert_true(golden_difference(o, (double[]){1, 4, 3, 2}) == 0); /* what sums cannot see */
    assert_true(golden_difference(o, (double[]){1, 1, 3, 5}) > 0.04); /* equal sum, other squares */
    assert_false(golden_difference(o, (double[]){1, NAN, 3, 4}) <= INFINITY);
    golden_free(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_bind_by_name_and_by_shape),
        cmocka_unit_test(what_cannot_be_bound_is_said),
        cmocka_unit_test(malformed_files_are_refused),
        cmocka_unit_test(other_json_is_no_golden_file),
        cmocka_unit_test(tensors_out_of_reach_are_named),
        cmocka_unit_test(differences_are_relative_to_the_largest),
        cmocka_unit_test(sums_watch_what_samples_skip),
    };
    return cmocka_run_group_tests_name("golden", tests, NULL, NULL);
}
