/* Set cover against a search of all choices, on small drawn matrices and one where greedy is wrong.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cover.h"
#include "generator.h"

#include <cmocka.h>

/* Greedy takes input 0 (four faults) and then has two left; inputs 1 and 2 kill all six. */
static const unsigned char TRAP[6][4] = {
    {1, 1, 0, 0}, {1, 1, 0, 0}, {1, 0, 1, 0}, {1, 0, 1, 0}, {0, 1, 0, 1}, {0, 0, 1, 0},
};

static void test_greedy_and_exact_differ(void **state)
{
    (void)state;
    struct cover c;
    struct error e;
    int chosen[3], count;
    cover_make(&c, TRAP[0], 6, 4);
    assert_int_equal(c.killable, 6);
    assert_int_equal(cover_greedy(&c, 2, chosen), 2);
    assert_int_equal(chosen[0], 0);
    assert_int_equal(chosen[1], 1);
    assert_int_equal(cover_killed(&c, chosen, 2), 5);
    assert_int_equal(cover_exact(&c, 2, chosen, &count, &e), 0);
    assert_int_equal(count, 2);
    assert_int_equal(chosen[0], 1);
    assert_int_equal(chosen[1], 2);
    assert_int_equal(cover_killed(&c, chosen, 2), 6);
    cover_free(&c);
}

static void test_reduction(void **state)
{
    (void)state;
    /* Input 1 equals input 0 and input 3 kills less than input 2; the last fault nothing kills. */
    static const unsigned char KILLS[5][4] = {
        {1, 1, 0, 0}, {1, 1, 0, 0}, {0, 0, 1, 1}, {0, 0, 1, 0}, {0, 0, 0, 0},
    };
    struct cover c;
    int chosen[4];
    cover_make(&c, KILLS[0], 5, 4);
    assert_int_equal(c.patterns, 2);
    assert_int_equal(c.weight[0], 2);
    assert_int_equal(c.weight[1], 2);
    assert_int_equal(c.killable, 4);
    assert_int_equal(cover_greedy(&c, 4, chosen), 2); /* and stops, as nothing is left */
    assert_int_equal(chosen[0], 0);
    assert_int_equal(chosen[1], 2);
    cover_free(&c);
}

static void test_nothing_to_kill(void **state)
{
    (void)state;
    static const unsigned char KILLS[1][2] = {{0, 0}};
    struct cover c;
    struct error e;
    int chosen[2], count;
    for (int faults = 0; faults <= 1; faults++) {
        cover_make(&c, KILLS[0], faults, 2);
        assert_int_equal(cover_exact(&c, 2, chosen, &count, &e), 0);
        assert_int_equal(count, 0);
        cover_free(&c);
    }
}

enum {
    INPUTS = 70,
    FAULTS = 40,
    LIVE = 9
}; /* more than one word a pattern, few inputs that kill */

static int search_all(const struct cover *c, const int live[], int budget)
{
    int best = 0;
    for (unsigned set = 0; set < 1u << LIVE; set++) {
        int chosen[LIVE], count = 0;
        for (int k = 0; k < LIVE; k++)
            if (set >> k & 1)
                chosen[count++] = live[k];
        if (count <= budget && cover_killed(c, chosen, count) > best)
            best = cover_killed(c, chosen, count);
    }
    return best;
}

static void test_exact_is_the_best_of_all(void **state)
{
    (void)state;
    static const int LIVE_INPUT[LIVE] = {0, 7, 13, 31, 32, 63, 64, 65, 69};
    for (int round = 0; round < 6; round++) {
        unsigned char kills[FAULTS][INPUTS] = {{0}};
        for (int f = 0; f < FAULTS; f++)
            for (int k = 0; k < LIVE; k++)
                kills[f][LIVE_INPUT[k]] = generator_hash(5, round, f * LIVE + k) % 5 == 0;
        struct cover c;
        struct error e;
        int chosen[4], count, greedy[4];
        cover_make(&c, kills[0], FAULTS, INPUTS);
        for (int budget = 1; budget <= 4; budget++) {
            assert_int_equal(cover_exact(&c, budget, chosen, &count, &e), 0);
            assert_true(count <= budget);
            int best = search_all(&c, LIVE_INPUT, budget);
            assert_int_equal(cover_killed(&c, chosen, count), best);
            assert_true(cover_killed(&c, greedy, cover_greedy(&c, budget, greedy)) <= best);
        }
        cover_free(&c);
    }
}

static void test_missing_solver(void **state)
{
    (void)state;
    char *path = strdup(getenv("PATH"));
    struct cover c;
    struct error e;
    int chosen[2], count;
    cover_make(&c, TRAP[0], 6, 4);
    setenv("PATH", "/nonexistent", 1);
    assert_int_equal(cover_exact(&c, 2, chosen, &count, &e), EXIT_UNAVAILABLE);
    setenv("PATH", path, 1);
    assert_non_null(strstr(e.text, "install glpk-utils"));
    cover_free(&c);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_greedy_and_exact_differ),
        cmocka_unit_test(test_reduction),
        cmocka_unit_test(test_nothing_to_kill),
        cmocka_unit_test(test_exact_is_the_best_of_all),
        cmocka_unit_test(test_missing_solver),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("cover", tests, NULL, NULL);
}
