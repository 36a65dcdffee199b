/* Acceptance rules at their edges, each beside a twin just past it, and protocols that are refused.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "protocol.h"

#include <cmocka.h>

static char folder[] = "/tmp/test_protocol.XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

static void put(const char *file, const char *id, const char *members)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f,
            "{\"schema\": \"assay/protocol\", \"schema_version\": \"1.0\", \"id\": \"%s\","
            " \"name\": \"n\", \"means\": \"m\", \"source\": \"s\", %s}\n",
            id, members);
    assert_int_equal(fclose(f), 0);
}

static void drop(const char *file)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    assert_int_equal(unlink(path), 0);
}

/* The one protocol with this acceptance rule and these things to look at, for level1/a. */
static void read_one(struct protocols *all, const char *accept, const char *looks_at)
{
    char members[512];
    struct error e;
    snprintf(members, sizeof members,
             "\"suites\": [\"official\", \"kbv\"], \"accept\": %s, \"looks_at\": [%s]", accept,
             looks_at);
    put("p.json", "p", members);
    if (protocols_read(all, folder, "level1/a", &e))
        fail_msg("%s", e.text);
    drop("p.json");
    assert_int_equal(all->count, 1);
}

#define ALLCLOSE "{\"rule\": \"allclose\", \"tolerance\": 0.01}"

static void test_rules_at_their_edges(void **state)
{
    (void)state;
    static const struct {
        const char *accept;
        struct graded graded;
        bool accepted;
    } CASE[] = {
        {ALLCLOSE, {.t = 0.01}, true},
        {ALLCLOSE, {.t = 0.010000000000000002}, false},
        {ALLCLOSE, {.t = NAN}, false},
        {ALLCLOSE, {.t = INFINITY}, false},
        {ALLCLOSE, {.t = 0, .nonfinite = 1}, false},
        {"{\"rule\": \"matched\", \"share\": 0.95, \"tolerance\": 0.01}",
         {.t = 9, .t_p95 = 0.01, .t_p90 = 0.001, .t_p85 = 0.001},
         true},
        {"{\"rule\": \"matched\", \"share\": 0.95, \"tolerance\": 0.01}",
         {.t = 9, .t_p95 = 0.02, .t_p90 = 0.001, .t_p85 = 0.001},
         false},
        {"{\"rule\": \"matched\", \"share\": 0.9, \"tolerance\": 0.01}",
         {.t = 9, .t_p95 = 9, .t_p90 = 0.01, .t_p85 = 0.001},
         true},
        {"{\"rule\": \"matched\", \"share\": 0.9, \"tolerance\": 0.01}",
         {.t = 9, .t_p95 = 9, .t_p90 = 0.02, .t_p85 = 0.001},
         false},
        {"{\"rule\": \"matched\", \"share\": 0.85, \"tolerance\": 0.01}",
         {.t = 9, .t_p95 = 9, .t_p90 = 9, .t_p85 = 0.01},
         true},
        {"{\"rule\": \"matched\", \"share\": 0.85, \"tolerance\": 0.01}",
         {.t = 9, .t_p95 = 9, .t_p90 = 9, .t_p85 = NAN},
         false},
        {"{\"rule\": \"matched\", \"share\": 0.95, \"tolerance\": 0.01}", {.nonfinite = 1}, false},
        {"{\"rule\": \"max_abs\", \"limit\": 0.5}", {.max_abs = 0.5, .t = 9}, true},
        {"{\"rule\": \"max_abs\", \"limit\": 0.5}", {.max_abs = 0.75}, false},
        {"{\"rule\": \"max_abs\", \"limit\": 0.5}", {.max_abs = NAN}, false},
        {"{\"rule\": \"max_abs\", \"limit\": 0.5, \"limit_for\": {\"level1/a\": 2}}",
         {.max_abs = 2},
         true},
        {"{\"rule\": \"max_abs\", \"limit\": 0.5, \"limit_for\": {\"level1/b\": 2}}",
         {.max_abs = 2},
         false},
        /* The float32 reference is off by 0.25 below. */
        {"{\"rule\": \"times_float32\", \"factor\": 2, \"plus\": 0.125}",
         {.max_abs = 0.625, .t = 9},
         true},
        {"{\"rule\": \"times_float32\", \"factor\": 2, \"plus\": 0.125}",
         {.max_abs = 0.6875},
         false},
        {"{\"rule\": \"times_float32\", \"factor\": 2, \"plus\": 0.125}", {.max_abs = NAN}, false},
        {"{\"rule\": \"nmse\", \"limit\": 1e-7}", {.nmse = 1e-7, .t = 9}, true},
        {"{\"rule\": \"nmse\", \"limit\": 1e-7}", {.nmse = 1.1e-7}, false},
        {"{\"rule\": \"nmse\", \"limit\": 1e-7}", {.nmse = NAN}, false},
    };
    const struct graded float32 = {.max_abs = 0.25};
    for (size_t k = 0; k < sizeof CASE / sizeof *CASE; k++) {
        struct protocols all;
        const struct run run = {.graded = CASE[k].graded};
        read_one(&all, CASE[k].accept, "");
        const struct protocol *p = &all.protocol[0];
        if (protocol_accepts(p, &run, &float32, p->limit) != CASE[k].accepted)
            fail_msg("case %zu", k);
        protocols_free(&all);
    }
}

/* Valid inputs with errors 1 … 20 of suite a, one of 100 of suite b, one that is not valid. */
static void test_calibrated(void **state)
{
    (void)state;
    struct gated input[22] = {0};
    const struct gate gate = {.input = input, .count = 22};
    for (int i = 0; i < 22; i++)
        input[i] = (struct gated){.suite = i < 20 ? "a" : "b",
                                  .valid = i < 21,
                                  .original.graded = {.max_abs = i < 20 ? i + 1 : 100, .t = 0}};
#define CALIBRATED(more)                                                                           \
    "{\"rule\": \"calibrated\", \"percentile\": 0.95, \"factor\": 1.5, " more "}"
    static const struct {
        const char *accept;
        int input;
        double limit;
    } CASE[] = {
        {CALIBRATED("\"error\": \"max_abs\""), 21, 30},                          /* no. 19 of 21 */
        {CALIBRATED("\"error\": \"max_abs\""), 20, 28.5},                        /* no. 18 of 20 */
        {CALIBRATED("\"error\": \"max_abs\""), 0, 30},                           /* likewise */
        {CALIBRATED("\"error\": \"max_abs\", \"from\": [\"a\"]"), 20, 28.5},     /* 18 of 20 */
        {CALIBRATED("\"error\": \"max_abs\", \"from\": [\"a\"]"), 19, 27},       /* 17 of 19 */
        {CALIBRATED("\"error\": \"max_abs\", \"from\": [\"b\"]"), 0, 150},       /* the only one */
        {CALIBRATED("\"error\": \"max_abs\", \"from\": [\"b\"]"), 20, INFINITY}, /* no other */
        {CALIBRATED("\"error\": \"t\""), 0, 0},                                  /* exact */
    };
    for (size_t k = 0; k < sizeof CASE / sizeof *CASE; k++) {
        struct protocols all;
        read_one(&all, CASE[k].accept, "");
        double limit = protocol_limit(&all.protocol[0], &gate, CASE[k].input);
        if (limit != CASE[k].limit)
            fail_msg("case %zu: %g", k, limit);
        protocols_free(&all);
    }

    struct protocols all;
    input[7].original.graded.t = 0.25; /* the one error above 0 stands in for a percentile of 0 */
    read_one(&all, CALIBRATED("\"error\": \"t\""), "");
    assert_true(protocol_limit(&all.protocol[0], &gate, 0) == 0.375);
    assert_true(protocol_limit(&all.protocol[0], &gate, 7) == 0);
    const struct graded float32 = {0};
    const struct run within = {.graded = {.t = 0.375, .max_abs = 9}}, above = {.graded.t = 0.38};
    const struct run unknown = {.graded.t = NAN}, infinite = {.graded.nonfinite = 1};
    assert_true(protocol_accepts(&all.protocol[0], &within, &float32, 0.375));
    assert_false(protocol_accepts(&all.protocol[0], &above, &float32, 0.375));
    assert_false(protocol_accepts(&all.protocol[0], &unknown, &float32, INFINITY));
    assert_false(protocol_accepts(&all.protocol[0], &infinite, &float32, INFINITY));
    protocols_free(&all);
}

static void test_what_is_looked_at(void **state)
{
    (void)state;
    static const char *const LOOKS_AT[] = {"", "\"stray\"", "\"race\"", "\"divergence\""};
    static const struct {
        struct run run;
        bool accepted[4]; /* by protocols that look at nothing, stray, race, divergence */
    } CASE[] = {
        {{.outcome = OUTCOME_FINISHED}, {true, true, true, true}},
        {{.stray_read = true}, {true, false, true, true}},
        {{.stray_write = true}, {true, false, true, true}},
        {{.race = RACE_SEEN}, {true, true, false, true}},
        {{.race = RACE_NONE}, {true, true, true, true}},
        {{.race = RACE_UNKNOWN}, {true, true, true, true}},
        {{.divergence = true}, {true, true, true, false}},
        {{.input_written = true}, {true, true, true, true}},
        {{.outcome = OUTCOME_CRASHED}, {false, false, false, false}},
        {{.outcome = OUTCOME_TIMEOUT}, {false, false, false, false}},
        {{.outcome = OUTCOME_DEADLOCK}, {false, false, false, false}},
        {{.outcome = OUTCOME_BAD_LAUNCH}, {false, false, false, false}},
    };
    const struct graded float32 = {0};
    for (int p = 0; p < 4; p++) {
        struct protocols all;
        read_one(&all, ALLCLOSE, LOOKS_AT[p]);
        for (size_t k = 0; k < sizeof CASE / sizeof *CASE; k++)
            if (protocol_accepts(&all.protocol[0], &CASE[k].run, &float32, 1e-2) !=
                CASE[k].accepted[p])
                fail_msg("protocol %d, case %zu", p, k);
        protocols_free(&all);
    }
}

static void test_order_and_inputs(void **state)
{
    (void)state;
    struct protocols all;
    struct error e;
    put("kbv.json", "kbv",
        "\"suites\": [\"official\", \"kbv\"], \"accept\": " ALLCLOSE ", \"looks_at\": []");
    put("kbv-inputs.json", "kbv-inputs",
        "\"set_cover\": 2, \"accept\": " ALLCLOSE ", \"looks_at\": []");
    put("notes.txt", "none", "");
    assert_int_equal(protocols_read(&all, folder, "level1/a", &e), 0);
    assert_int_equal(all.count, 2);
    /* As the keys of an object are sorted, not as the files are. */
    assert_string_equal(all.protocol[0].id, "kbv");
    assert_string_equal(all.protocol[1].id, "kbv-inputs");
    assert_true(protocol_runs(&all.protocol[0], "official") &&
                protocol_runs(&all.protocol[0], "kbv"));
    assert_false(protocol_runs(&all.protocol[0], "kb") ||
                 protocol_runs(&all.protocol[1], "official"));
    assert_true(all.protocol[0].set_cover == 0 && all.protocol[1].set_cover == 2);
    protocols_free(&all);
    drop("kbv.json");
    drop("kbv-inputs.json");
    drop("notes.txt");
}

static void test_refused(void **state)
{
    (void)state;
#define REST ", \"looks_at\": []"
    static const struct {
        const char *members, *complaint;
    } CASE[] = {
        {"\"accept\": " ALLCLOSE REST, "either 'suites' or 'set_cover'"},
        {"\"suites\": [], \"set_cover\": 1, \"accept\": " ALLCLOSE REST,
         "either 'suites' or 'set_cover'"},
        {"\"set_cover\": 0, \"accept\": " ALLCLOSE REST, "not between 1 and 1000"},
        {"\"suites\": [1], \"accept\": " ALLCLOSE REST, "no text"},
        {"\"suites\": [], \"accept\": " ALLCLOSE, "'looks_at' is missing"},
        {"\"suites\": [], \"accept\": " ALLCLOSE ", \"looks_at\": [\"luck\"]", "other than stray"},
        {"\"suites\": [], \"accept\": {\"rule\": \"equal\"}" REST, "'equal' is no acceptance rule"},
        {"\"suites\": [], \"accept\": {\"rule\": \"nmse\"}" REST, "'limit' is missing"},
        {"\"suites\": [], \"accept\": {\"rule\": \"nmse\", \"limit\": 1, \"x\": 1}" REST,
         "unknown key 'x'"},
        {"\"suites\": [], \"accept\": {\"rule\": \"matched\", \"share\": 0.99, \"tolerance\": "
         "1}" REST,
         "'share' is none of"},
        {"\"suites\": [], \"accept\": {\"rule\": \"calibrated\", \"error\": \"max_ulp\"}" REST,
         "neither max_abs nor t"},
        {"\"suites\": [], \"accept\": " CALIBRATED("\"error\": \"t\", \"from\": [1]") REST,
         "no text"},
        {"\"suites\": [], \"accept\": {\"rule\": \"calibrated\", \"error\": \"t\", \"percentile\": "
         "95}" REST,
         "not between 0 and 1"},
        {"\"suites\": [], \"x\": 1, \"accept\": " ALLCLOSE REST, "unknown key 'x'"},
        {"\"set_cover\": 1, \"accept\": {\"rule\": \"allclose\", \"tolerance\": 0.001}" REST,
         "chosen by the official rule"},
        {"\"set_cover\": 1, \"accept\": " ALLCLOSE ", \"looks_at\": [\"race\"]",
         "chosen by the official rule"},
    };
    struct protocols all;
    struct error e;
    for (size_t k = 0; k < sizeof CASE / sizeof *CASE; k++) {
        put("p.json", "p", CASE[k].members);
        assert_int_equal(protocols_read(&all, folder, "level1/a", &e), EXIT_DATA);
        if (!strstr(e.text, CASE[k].complaint))
            fail_msg("case %zu: '%s' lacks '%s'", k, e.text, CASE[k].complaint);
    }
    put("p.json", "q", "\"suites\": [], \"accept\": " ALLCLOSE REST);
    assert_int_equal(protocols_read(&all, folder, "level1/a", &e), EXIT_DATA);
    assert_non_null(strstr(e.text, "not the file's name"));
    drop("p.json");
    assert_int_equal(protocols_read(&all, "/nonexistent", "level1/a", &e), EXIT_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules_at_their_edges),
        cmocka_unit_test(test_calibrated),
        cmocka_unit_test(test_what_is_looked_at),
        cmocka_unit_test(test_order_and_inputs),
        cmocka_unit_test(test_refused),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("protocol", tests, make_folder, remove_folder);
}
