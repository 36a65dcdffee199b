/* Damaged inputs, protocols, golden files, and files between programs (damage.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden.h"
#include "images.h"
#include "ladder.h"
#include "protocol.h"
#include "recipe.h"
#include "rows.h"
#include "score.h"
#include "scored.h"
#include "summary.h"

#include "damage.h" /* last: cmocka.h defines a macro named fail */

/* ---- inputs, protocols, golden files --------------------------------------------------------- */

static const struct size sizes[] = {{"batch_size", 16, 4}, {"dim", 100, 10}};

static void tensors(struct layout *l, const long d[])
{
    input(l, "x", uniform(0, 1), SHAPE(d[0], d[1]));
    output(l, "y", SHAPE(d[0], d[1]));
}

const struct problem problem = {PROBLEM_ABI, SIZES(sizes), .tensors = tensors};

static const struct plugin plugin = {.problem = &problem, .id = "level1/023_softmax"};

static int read_suite(const char *path, struct error *e)
{
    struct pool pool = {0};
    long profile[PROBLEM_SIZES];
    plugin_small(&plugin, profile);
    int code = pool_read(&pool, &plugin, profile, path, e);
    pool_free(&pool);
    return code;
}

static int read_protocols(const char *path, struct error *e)
{
    struct protocols all;
    (void)path;
    int code = protocols_read(&all, folder, plugin.id, e);
    if (!code)
        protocols_free(&all);
    return code;
}

static int read_golden(const char *path, struct error *e)
{
    struct golden g;
    int code = golden_read(&g, path, e);
    if (code)
        return code;
    if (g.root && !g.unsupported[0]) {
        long bound[PROBLEM_SIZES];
        double hyperparameters[PROBLEM_SIZES];
        struct error why;
        struct layout *l = calloc(1, sizeof *l);
        assert_non_null(l);
        code = golden_bind(&g, &plugin, bound, hyperparameters, l, &why);
        assert_true(code == 0 || code == EXIT_NO);
        free(l);
    }
    golden_free(&g);
    return 0;
}

static void damaged_suites(void **state)
{
    (void)state;
    damage_file(read_suite, "s.json", "inputs/suites/official.json", 300);
    damage_file(read_suite, "s.json", "inputs/suites/fuzzer.json", 200);
    damage_file(read_suite, "s.json", "inputs/targeted/level1/023_softmax.json", 300);
}

static void damaged_protocols(void **state)
{
    static const char *const ID[] = {"best-1", "ggml-nmse", "matched-ratio", "flash-attention",
                                     "kernelbench-v0.1-memcheck"};
    (void)state;
    for (size_t k = 0; k < sizeof ID / sizeof *ID; k++) {
        char name[64], path[128];
        snprintf(name, sizeof name, "%s.json", ID[k]);
        snprintf(path, sizeof path, "inputs/protocols/%s", name);
        damage_file(read_protocols, name, path, 120);
    }
}

static void damaged_golden_files(void **state)
{
    (void)state;
    damage_file(read_golden, "g.json", "golden/level1/023_softmax.json", 300);
    damage_file(read_golden, "g.json", "golden/level3/035_lstm.json", 150);
}

/* ---- what the programs write for each other -------------------------------------------------- */

static int read_images(const char *path, struct error *e)
{
    struct images images;
    int code = images_read(&images, path, e);
    if (!code)
        images_free(&images);
    return code;
}

static int read_rows(const char *path, struct error *e)
{
    struct rows rows;
    int code = rows_read(&rows, path, e);
    if (!code)
        rows_free(&rows);
    return code;
}

static int read_gate(const char *path, struct error *e)
{
    struct gate gate;
    int code = gate_read(&gate, path, e);
    if (!code)
        gate_free(&gate);
    return code;
}

static int read_ladder(const char *path, struct error *e)
{
    json_t *rungs;
    double ceiling;
    int code = ladder_read(path, &rungs, &ceiling, e);
    if (!code)
        json_decref(rungs);
    return code;
}

static int read_scored(const char *path, struct error *e)
{
    struct scored s;
    int code = scored_read(&s, path, e);
    if (!code)
        scored_free(&s);
    return code;
}

static int read_rule_list(const char *path, struct error *e)
{
    json_t *list;
    int code = summary_read_rules(path, &list, e);
    if (!code)
        json_decref(list);
    return code;
}

static void damaged_files_between_programs(void **state)
{
    (void)state;
    damage_file(read_images, "i.jsonl", "c/test/cli/score/by_hand/images.jsonl", 300);
    damage_file(read_rows, "r.jsonl", "c/test/cli/score/by_hand/rows.jsonl", 300);
    damage_file(read_gate, "g.jsonl", "c/test/cli/score/by_hand/gate.jsonl", 300);
    damage_file(read_ladder, "l.jsonl", "c/test/cli/score/by_hand/ladder.jsonl", 300);
    damage_file(read_scored, "s.json", "c/test/cli/score/merge/a.json", 300);
    damage_file(read_rule_list, "l.jsonl", "c/test/cli/score/merge/rules.jsonl", 300);
}

/* ---- one damaged file among good ones -------------------------------------------------------- */

/* What a reader lets pass must not upset what is computed from it. The refusal may name another of
 * the files, so only the exit code is looked at. */

#define BY_HAND "c/test/cli/score/by_hand/"
#define MERGE   "c/test/cli/score/merge/"

static const struct score_files good = {.gate = BY_HAND "gate.jsonl",
                                        .images = BY_HAND "images.jsonl",
                                        .manifest = BY_HAND "manifest.jsonl",
                                        .rows = BY_HAND "rows.jsonl",
                                        .race = BY_HAND "race.jsonl",
                                        .ladder = BY_HAND "ladder.jsonl",
                                        .protocols = BY_HAND "protocols"};

static int score_files(const struct score_files *files)
{
    struct error e;
    json_t *score;
    int code = score_problem(files, &score, &e);
    if (!code)
        json_decref(score);
    assert_true(code == 0 || code == EXIT_DATA);
    return 0;
}

#define SCORE_WITH(member)                                                                         \
    static int score_with_##member(const char *path, struct error *e)                              \
    {                                                                                              \
        struct score_files files = good;                                                           \
        (void)e;                                                                                   \
        files.member = path;                                                                       \
        return score_files(&files);                                                                \
    }
SCORE_WITH(gate)
SCORE_WITH(images)
SCORE_WITH(manifest)
SCORE_WITH(rows)
SCORE_WITH(race)
SCORE_WITH(ladder)

static void damaged_files_are_scored(void **state)
{
    (void)state;
    damage_file(score_with_gate, "g.jsonl", good.gate, 100);
    damage_file(score_with_images, "i.jsonl", good.images, 100);
    damage_file(score_with_manifest, "m.jsonl", good.manifest, 100);
    damage_file(score_with_rows, "r.jsonl", good.rows, 100);
    damage_file(score_with_race, "r.jsonl", good.race, 100);
    damage_file(score_with_ladder, "l.jsonl", good.ladder, 100);
}

static int merge(const char *score, const char *setcover, const char *real_faults)
{
    struct error e;
    struct summary_context context = {0};
    struct scored scored[2];
    int count = 0, code = json_document(&context.setcover, setcover, "setcover", &e);
    if (!code)
        code = json_document(&context.real_faults, real_faults, "real-faults", &e);
    if (!code && !(code = scored_read(&scored[0], score, &e)))
        count = 1;
    if (!code && !(code = scored_read(&scored[1], MERGE "b.json", &e)))
        count = 2;
    json_t *profile = NULL;
    if (!code)
        code = summary(scored, 2, &context, &profile, &e);
    if (!code)
        json_decref(profile);
    while (count > 0)
        scored_free(&scored[--count]);
    json_decref(context.setcover.value);
    json_decref(context.real_faults.value);
    assert_true(code == 0 || code == EXIT_DATA);
    return 0;
}

static int merge_score(const char *path, struct error *e)
{
    (void)e;
    return merge(path, MERGE "setcover.json", MERGE "real-faults.json");
}

static int merge_setcover(const char *path, struct error *e)
{
    (void)e;
    return merge(MERGE "a.json", path, MERGE "real-faults.json");
}

static int merge_real_faults(const char *path, struct error *e)
{
    (void)e;
    return merge(MERGE "a.json", MERGE "setcover.json", path);
}

static void damaged_scores_are_merged(void **state)
{
    (void)state;
    damage_file(merge_score, "a.json", MERGE "a.json", 300);
    damage_file(merge_setcover, "s.json", MERGE "setcover.json", 300);
    damage_file(merge_real_faults, "r.json", MERGE "real-faults.json", 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_suites),
        cmocka_unit_test(damaged_protocols),
        cmocka_unit_test(damaged_golden_files),
        cmocka_unit_test(damaged_files_between_programs),
        cmocka_unit_test(damaged_files_are_scored),
        cmocka_unit_test(damaged_scores_are_merged),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
