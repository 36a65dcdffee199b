/* What strategies draw, where elements lie, and rows written and read back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dtype.h"
#include "fuzz.h"

#include <cmocka.h> /* last: it defines a macro named fail */

enum { VALUES = 100000 };

static struct corpus corpus;

static int open_corpus(void **state)
{
    struct error e;
    (void)state;
    return corpus_read(&corpus, "kernels/gpuemu/corpus.json", &e);
}

static int close_corpus(void **state)
{
    (void)state;
    corpus_free(&corpus);
    return 0;
}

static bool among(long x, const long *list, int count)
{
    for (int k = 0; k < count; k++)
        if (list[k] == x)
            return true;
    return false;
}

static struct fuzz_case drawn(const char *entry, enum strategy strategy, long iteration)
{
    struct fuzz_case c = {.entry = corpus_find(&corpus, entry),
                          .strategy = strategy,
                          .seed = 7,
                          .iteration = iteration};
    assert_true(c.entry >= 0);
    fuzz_draw(&c, &corpus);
    return c;
}

static void extents_come_from_the_candidates(void **state)
{
    (void)state;
    static const long BOUNDARY[] = {1, 3, 7}, REGULAR[] = {128, 256, 512};
    bool seen[4] = {false};
    for (long i = 0; i < 100; i++) {
        const struct fuzz_case c = drawn("softmax", STRATEGY_DEFAULT, i);
        const struct corpus_entry *entry = &corpus.entry[c.entry];
        for (int d = 0; d < entry->dims; d++)
            assert_true(among(c.extent[d], entry->dim[d].candidate, entry->dim[d].count));
        for (int k = 0; k < 4; k++)
            seen[k] |= c.extent[2] == entry->dim[2].candidate[k];
        assert_true(among(drawn("softmax", STRATEGY_BOUNDARY, i).extent[2], BOUNDARY, 3));
        assert_true(among(drawn("softmax", STRATEGY_REGULAR, i).extent[2], REGULAR, 3));
        assert_int_equal(drawn("softmax", STRATEGY_REGULAR, i).extent[1], c.extent[1]);
        assert_int_equal(drawn("softmax", STRATEGY_F16, i).dtype, FLOAT16);
        assert_int_equal(c.dtype, i % 3 == 0 ? FLOAT32 : i % 3 == 1 ? FLOAT16 : BFLOAT16);
    }
    assert_true(seen[0] && seen[1] && seen[2] && seen[3]);
}

static const double *values(enum strategy strategy, enum dtype dtype)
{
    static double x[VALUES];
    strategy_values(strategy, &corpus, dtype, 5, 0, VALUES, x);
    return x;
}

static void default_values_are_uniform(void **state)
{
    (void)state;
    const double *x = values(STRATEGY_DEFAULT, FLOAT32);
    double sum = 0, squares = 0;
    for (int i = 0; i < VALUES; i++) {
        assert_true(x[i] >= -10 && x[i] < 10);
        sum += x[i];
        squares += x[i] * x[i];
    }
    assert_true(fabs(sum / VALUES) < 0.1 && fabs(squares / VALUES - 100. / 3) < 0.5);
}

static void nan_injected_replaces_five_percent(void **state)
{
    (void)state;
    static double plain[VALUES];
    memcpy(plain, values(STRATEGY_DEFAULT, FLOAT32), sizeof plain);
    const double *x = values(STRATEGY_NAN_INJECTED, FLOAT32);
    int nan = 0, positive = 0, negative = 0, zero = 0;
    for (int i = 0; i < VALUES; i++) {
        nan += isnan(x[i]) != 0;
        positive += x[i] == INFINITY;
        negative += x[i] == -INFINITY;
        zero += x[i] == 0;
        assert_true(!isfinite(x[i]) || x[i] == 0 || x[i] == plain[i]);
    }
    const int kinds[] = {nan, positive, negative, zero};
    for (int k = 0; k < 4; k++)
        assert_true(kinds[k] > VALUES / 80 * 0.9 && kinds[k] < VALUES / 80 * 1.1);
}

static void adversarial_has_five_equal_parts(void **state)
{
    (void)state;
    for (int d = 0; d < DTYPES; d++) {
        const enum dtype dtype = (enum dtype)d;
        const double *x = values(STRATEGY_ADVERSARIAL, dtype);
        int part[5] = {0};
        for (int i = 0; i < VALUES; i++) {
            const double size = fabs(dtype_value(dtype, dtype_bits(dtype, x[i])));
            const bool large = fabs(x[i]) == DTYPE_FORMAT[d].largest / 10;
            const bool tiny = size > 0 && size <= 8 * DTYPE_FORMAT[d].smallest;
            part[x[i] == 0 ? 0 : tiny ? 1 : large ? 2 : isfinite(x[i]) ? 3 : 4]++;
            assert_true(tiny || large || !isfinite(x[i]) || size <= 1000);
        }
        for (int k = 0; k < 5; k++)
            assert_true(part[k] > VALUES / 5 * 0.95 && part[k] < VALUES / 5 * 1.05);
    }
}

/* Every arrangement holds the values of the dense form at its strides, and NaN everywhere else. */
static void elements_lie_at_their_strides(void **state)
{
    (void)state;
    struct fuzz_case c = drawn("softmax", STRATEGY_F16, 0);
    const struct corpus_tensor *tensor = &corpus.entry[c.entry].input[0];
    static const long SPAN[ARRANGEMENTS] = {60, 120, 60};
    memcpy(c.extent, (long[]){3, 4, 5}, 3 * sizeof *c.extent);
    for (int a = 0; a < ARRANGEMENTS; a++) {
        uint16_t memory[120];
        double dense[60];
        long stride[CORPUS_RANK];
        int numbers = 0;
        c.arrangement = (enum arrangement)a;
        assert_int_equal(fuzz_strides(&c, tensor, stride), SPAN[a]);
        fuzz_fill(&c, &corpus, 0, memory, dense);
        for (long i = 0; i < 60; i++) {
            const long at = i / 20 * stride[0] + i / 5 % 4 * stride[1] + i % 5 * stride[2];
            assert_true(dtype_value(FLOAT16, memory[at]) == dense[i]);
        }
        for (long i = 0; i < SPAN[a]; i++)
            numbers += !isnan(dtype_value(FLOAT16, memory[i]));
        assert_int_equal(numbers, 60);
    }
    assert_int_equal(c.arrangement, ARRANGEMENT_TRANSPOSED);
}

static void make_row(char row[2048], const struct fuzz_case *c, const struct fuzz_result *r)
{
    FILE *f = fmemopen(row, 2048, "w");
    assert_non_null(f);
    fuzz_write_row(f, &corpus, "run-7", c, r);
    fclose(f);
}

static void a_row_gives_its_case_back(void **state)
{
    (void)state;
    const struct fuzz_case c = drawn("matmul", STRATEGY_NAN_INJECTED, 11);
    const struct fuzz_result results[] = {
        {.stats = {.count = 3, .max_abs = 0.1, .t_by_ratio = {0.5}}},
        {.stats = {.max_abs = INFINITY,
                   .max_rel = NAN,
                   .failure = FAILURE_NAN,
                   .t_by_ratio = {INFINITY}}},
        {.exception = "crashed: a \"quoted\" reason"},
    };
    for (size_t k = 0; k < sizeof results / sizeof *results; k++) {
        struct fuzz_case back;
        struct error e;
        const char *run_id;
        char row[2048];
        make_row(row, &c, &results[k]);
        assert_int_equal(fuzz_read_row("x:1", row, &corpus, &back, &run_id, &e), 0);
        assert_string_equal(run_id, "run-7");
        assert_memory_equal(&back, &c, sizeof c);
    }
}

static void what_is_no_row_is_refused(void **state)
{
    (void)state;
    static const char *const CHANGES[][2] = {
        {"\"seed\": 7", "\"seed\": -7"},
        {"\"matmul\"", "\"matmuls\""},
        {"\"dtype\"", "\"type\""},
        {"float16", "float17"},
        {"\"input_shapes\": {\"a\"", "\"input_shapes\": {\"c\""},
        {"\"iteration\": 1", "\"iteration\": 1.5"},
        {"contiguous", "scattered"},
        {"{\"run_id\"", "[\"run_id\""},
        {"\"b\": [", "\"b\": [9"},
    };
    const struct fuzz_case c = drawn("matmul", STRATEGY_F16, 1);
    for (size_t k = 0; k < sizeof CHANGES / sizeof *CHANGES; k++) {
        struct fuzz_case back;
        struct error e;
        const char *run_id;
        char row[2048], changed[4096];
        make_row(row, &c, &(struct fuzz_result){0});
        const char *at = strstr(row, CHANGES[k][0]);
        assert_non_null(at);
        snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - row), row, CHANGES[k][1],
                 at + strlen(CHANGES[k][0]));
        assert_int_equal(fuzz_read_row("x:1", changed, &corpus, &back, &run_id, &e), EXIT_DATA);
        assert_int_equal(strncmp(e.text, "x:1: ", 5), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(extents_come_from_the_candidates),
        cmocka_unit_test(default_values_are_uniform),
        cmocka_unit_test(nan_injected_replaces_five_percent),
        cmocka_unit_test(adversarial_has_five_equal_parts),
        cmocka_unit_test(elements_lie_at_their_strides),
        cmocka_unit_test(a_row_gives_its_case_back),
        cmocka_unit_test(what_is_no_row_is_refused),
    };
    return cmocka_run_group_tests_name("fuzz", tests, open_corpus, close_corpus);
}
