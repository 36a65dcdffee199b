/* Rows and gates: what is written reads back the same, and what is not a row is refused. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "json.h"
#include "rows.h"

#include <cmocka.h> /* last: it defines a macro named fail */

#define HEADER "{\"schema\":\"assay/rows\",\"schema_version\":\"1.0\"}\n"
#define FLAGS                                                                                      \
    "\"divergence\":false,\"input_written\":false,\"stray_read\":false,\"stray_write\":false"
#define IDS  "\"input\":\"official/0\",\"key\":\"00ff\",\"mutant\":\"index/x-01234567\""
#define SAME "{\"differs\":false,\"outcome\":\"finished\"," FLAGS "," IDS "}"
#define ERRORS                                                                                     \
    "\"max_abs\":1,\"max_rel\":2.5,\"max_ulp\":3,\"nmse\":1e-9,\"nonfinite\":0,\"t\":0.01,"        \
    "\"t_p85\":0.1,\"t_p90\":0.2,\"t_p95\":0.3"

static char path[] = "/tmp/test_rows.XXXXXX";

static int make_file(void **state)
{
    (void)state;
    int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

static void put(const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

/* Reads HEADER + text and returns the exit code; *rows must be freed when that is 0. */
static int read_text(const char *text, struct rows *rows, struct error *e)
{
    char file[4096];
    snprintf(file, sizeof file, "%s%s", HEADER, text);
    put(file);
    return rows_read(rows, path, e);
}

static void put_row(struct output *out, const struct row *row)
{
    struct error e;
    json_t *record = row_to_json(row);
    assert_int_equal(json_write_line(out, record, &e), 0);
    json_decref(record);
}

static void test_round_trip(void **state)
{
    (void)state;
    const struct row same = {.mutant = "a/b-00000000", .input = "i", .key = "k"};
    struct row off = same, hung = same;
    off.differs = true;
    off.run.graded = (struct graded){.t = 0.1,
                                     .t_p95 = NAN,
                                     .t_p90 = INFINITY,
                                     .t_p85 = 1e-300,
                                     .max_abs = 1.0 / 3,
                                     .max_rel = 2,
                                     .max_ulp = 4294967295.0,
                                     .nmse = 0,
                                     .nonfinite = 7};
    off.run.stray_write = off.run.divergence = true;
    off.run.race = RACE_NONE;
    off.order = "reversed";
    hung.differs = true;
    hung.run.outcome = OUTCOME_DEADLOCK;
    hung.run.detail = "2 threads wait at \"a\"\tand \\ 1 at b";
    hung.run.race = RACE_SEEN;
    hung.run.stray_read = hung.run.input_written = true;

    struct error e;
    struct output out;
    json_t *header = json_new("rows");
    assert_int_equal(output_open(&out, path, &e), 0);
    assert_int_equal(json_write_line(&out, header, &e), 0);
    json_decref(header);
    put_row(&out, &same);
    put_row(&out, &off);
    put_row(&out, &hung);
    assert_int_equal(output_commit(&out, &e), 0);

    struct rows rows;
    assert_int_equal(rows_read(&rows, path, &e), 0);
    assert_int_equal(rows.count, 3);
    assert_string_equal(rows.row[0].mutant, same.mutant);
    assert_string_equal(rows.row[0].input, same.input);
    assert_string_equal(rows.row[0].key, same.key);
    assert_false(rows.row[0].differs);
    assert_int_equal(rows.row[0].run.race, RACE_UNKNOWN);
    assert_null(rows.row[0].order);
    assert_string_equal(rows.row[1].order, "reversed");

    const struct run *run = &rows.row[1].run;
    assert_true(rows.row[1].differs);
    assert_true(run->graded.t == 0.1 && isnan(run->graded.t_p95) && run->graded.t_p90 == INFINITY);
    assert_true(run->graded.t_p85 == 1e-300 && run->graded.max_abs == 1.0 / 3);
    assert_true(run->graded.max_rel == 2 && run->graded.max_ulp == 4294967295.0);
    assert_true(run->graded.nmse == 0 && run->graded.nonfinite == 7);
    assert_true(run->stray_write && run->divergence && !run->stray_read && !run->input_written);
    assert_int_equal(run->race, RACE_NONE);

    run = &rows.row[2].run;
    assert_int_equal(run->outcome, OUTCOME_DEADLOCK);
    assert_string_equal(run->detail, hung.run.detail);
    assert_true(!run->stray_write && !run->divergence && run->stray_read && run->input_written);
    assert_int_equal(run->race, RACE_SEEN);
    rows_free(&rows);
}

static void test_half_line_is_no_row(void **state)
{
    (void)state;
    struct rows rows;
    struct error e;
    assert_int_equal(read_text(SAME "\n" SAME, &rows, &e), 0);
    assert_int_equal(rows.count, 1);
    rows_free(&rows);
    assert_int_equal(read_text("", &rows, &e), 0);
    assert_int_equal(rows.count, 0);
    rows_free(&rows);
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *line, *complaint;
    } CASE[] = {
        {"[]", "expected a JSON object"},
        {"", "expected a JSON object"},
        {"{}", "expected a key"},
        {SAME "x", "something follows"},
        {"{\"differs\":false,\"outcome\":\"finished\"," FLAGS "," IDS, "expected , or }"},
        {"{\"differs\":false,\"outcome\":\"finished\"," FLAGS "," IDS ",\"x\":1}",
         "unknown key 'x'"},
        {"{\"differs\":false,\"differs\":false}", "'differs' stands twice"},
        {"{\"differs\":0}", "'differs' is not true or false"},
        {"{\"outcome\":\"ended\"}", "'outcome' is not an outcome"},
        {"{\"t\":0x1}", "'t' is not a number"},
        {"{\"t\":}", "'t' is not a number"},
        {"{\"t\":nan}", "'t' is not a number"},
        {"{\"t\":\"infinite\"}", "'t' is not a number"},
        {"{\"nonfinite\":0.5}", "'nonfinite' is not a count"},
        {"{\"nonfinite\":-1}", "'nonfinite' is not a count"},
        {"{\"nonfinite\":\"nan\"}", "'nonfinite' is not a count"},
        {"{\"key\":\"ab", "'key' is not a text"},
        {"{\"key\":\"\\u12\"}", "'key' is not a text"},
        {"{\"differs\":false,\"outcome\":\"finished\"," FLAGS "}", "'input' is missing"},
        {"{\"differs\":true,\"outcome\":\"finished\"," FLAGS "," IDS "}", "'max_abs' is missing"},
        {"{\"differs\":false,\"outcome\":\"finished\"," FLAGS "," IDS "," ERRORS "}",
         "'max_abs' does not belong"},
        {"{\"differs\":true,\"outcome\":\"timeout\"," FLAGS "," IDS "}", "'detail' is missing"},
        {"{\"detail\":\"\",\"differs\":false,\"outcome\":\"timeout\"," FLAGS "," IDS "}",
         "a run that did not finish differs"},
    };
    for (size_t k = 0; k < sizeof CASE / sizeof *CASE; k++) {
        struct rows rows;
        struct error e;
        char text[2048];
        snprintf(text, sizeof text, "%s\n%s\n", SAME, CASE[k].line);
        assert_int_equal(read_text(text, &rows, &e), EXIT_DATA);
        if (!strstr(e.text, CASE[k].complaint) || !strstr(e.text, ":3: "))
            fail_msg("case %zu: '%s' lacks '%s'", k, e.text, CASE[k].complaint);
    }
}

static void test_complete_row_is_accepted(void **state)
{
    (void)state;
    struct rows rows;
    struct error e;
    assert_int_equal(read_text("{ \"differs\" : true , \"outcome\":\"finished\"," FLAGS "," IDS
                               "," ERRORS ", \"race\":true }\n",
                               &rows, &e),
                     0);
    assert_true(rows.row[0].run.graded.max_rel == 2.5);
    rows_free(&rows);
}

static void test_wrong_file(void **state)
{
    (void)state;
    struct rows rows;
    struct error e;
    assert_int_equal(rows_read(&rows, "/nonexistent/rows.jsonl", &e), EXIT_IO);
    put("{\"schema\":\"assay/gate\",\"schema_version\":\"1.0\"}\n");
    assert_int_equal(rows_read(&rows, path, &e), EXIT_DATA);
    put("{\"schema\":\"assay/rows\",\"schema_version\":\"2.0\"}\n");
    assert_int_equal(rows_read(&rows, path, &e), EXIT_DATA);

    FILE *f = fopen(path, "w");
    fwrite(HEADER SAME "\n\0\n" SAME "\n", 1, sizeof HEADER SAME "\n\0\n" SAME "\n" - 1, f);
    fclose(f);
    assert_int_equal(rows_read(&rows, path, &e), EXIT_DATA);
    assert_non_null(strstr(e.text, "NUL"));
}

static void put_gate(const struct gated *gated, int count)
{
    struct error e;
    struct output out;
    json_t *header = json_new("gate");
    json_object_set_new(header, "problem", json_string("level1/019_relu"));
    assert_int_equal(output_open(&out, path, &e), 0);
    assert_int_equal(json_write_line(&out, header, &e), 0);
    json_decref(header);
    for (int i = 0; i < count; i++) {
        json_t *record = gated_to_json(&gated[i]);
        assert_int_equal(json_write_line(&out, record, &e), 0);
        json_decref(record);
    }
    assert_int_equal(output_commit(&out, &e), 0);
}

static void test_gate_round_trip(void **state)
{
    (void)state;
    struct gated gated[2] = {
        {.input = "official/0",
         .suite = "official",
         .valid = true,
         .original.graded = {.t = 1e-7, .elements = 12, .ref_max = 3.5, .max_ulp = 2},
         .float32 = {.t = 2e-7, .max_abs = 0.5}},
        {.input = "fuzzer/3",
         .suite = "fuzzer",
         .resized = true,
         .why = "undecidable",
         .original = {.outcome = OUTCOME_TIMEOUT, .detail = "out of fuel", .race = RACE_SEEN},
         .float32 = {.t = INFINITY, .nonfinite = 3}},
    };
    put_gate(gated, 2);
    struct gate gate;
    struct error e;
    assert_int_equal(gate_read(&gate, path, &e), 0);
    assert_string_equal(gate.problem, "level1/019_relu");
    assert_int_equal(gate.count, 2);
    const struct gated *g = gate.input;
    assert_string_equal(g[0].input, "official/0");
    assert_true(g[0].valid && !g[0].resized && !g[0].why);
    assert_true(g[0].original.graded.t == 1e-7 && g[0].original.graded.max_ulp == 2);
    assert_true(g[0].original.graded.elements == 12 && g[0].original.graded.ref_max == 3.5);
    assert_true(g[0].float32.t == 2e-7 && g[0].float32.max_abs == 0.5);
    assert_int_equal(g[0].original.race, RACE_UNKNOWN);
    assert_string_equal(g[1].suite, "fuzzer");
    assert_string_equal(g[1].why, "undecidable");
    assert_true(!g[1].valid && g[1].resized);
    assert_int_equal(g[1].original.outcome, OUTCOME_TIMEOUT);
    assert_string_equal(g[1].original.detail, "out of fuel");
    assert_int_equal(g[1].original.race, RACE_SEEN);
    assert_true(g[1].float32.t == INFINITY && g[1].float32.nonfinite == 3);
    gate_free(&gate);

    gated[1].input = gated[0].input;
    put_gate(gated, 2);
    assert_int_equal(gate_read(&gate, path, &e), EXIT_DATA);
    assert_non_null(strstr(e.text, "stands twice"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_half_line_is_no_row),
        cmocka_unit_test(test_refused),    cmocka_unit_test(test_complete_row_is_accepted),
        cmocka_unit_test(test_wrong_file), cmocka_unit_test(test_gate_round_trip),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("rows", tests, make_file, remove_file);
}
