/* Damaged kernels, rules and manifests (damage.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "lower.h"
#include "manifest.h"
#include "mutant.h"
#include "rule.h"
#include "share.h"

#include "damage.h" /* last: cmocka.h defines a macro named fail */

static struct rules rules;

static int read_kernel(const char *path, struct error *e)
{
    struct source s;
    struct lowered l;
    char *kernels;
    int code = source_read(&s, path, e);
    if (code)
        return code;
    bool *shared = calloc((size_t)s.functions + 1, sizeof *shared);
    assert_non_null(shared);
    share_kernels(&s, &s, shared);
    code = lower(&s, LINKAGE_STRIPPED, shared, &l, e);
    lowered_free(&l);
    if (!code && !(code = lower_kernels(&s, &kernels, e)))
        free(kernels);
    free(shared);
    source_free(&s);
    return code;
}

static int mutate_kernel(const char *path, struct error *e)
{
    struct source s;
    struct mutants made;
    int code = source_read(&s, path, e);
    if (code)
        return code;
    code = mutants_make(&made, &s, rules.rule, rules.count, e);
    mutants_free(&made);
    source_free(&s);
    return code;
}

static int read_rules(const char *path, struct error *e)
{
    struct rules read;
    (void)path;
    int code = rules_read(&read, folder, e);
    if (code)
        return code;
    FILE *complaints = fopen("/dev/null", "w");
    assert_non_null(complaints);
    for (int k = 0; k < read.count; k++)
        rule_check(&read.rule[k], complaints);
    fclose(complaints);
    rules_free(&read);
    return 0;
}

static int read_manifest(const char *path, struct error *e)
{
    static const char TEXT[] = "__global__ void f(float *y) { y[0] = 1; }\n";
    struct manifest m;
    int code = manifest_read(&m, path, e);
    if (code)
        return code;
    for (int k = 0; k < m.mutants.count; k++) {
        char *mutated;
        size_t size;
        struct error why;
        if (mutant_apply(&m.mutants.mutant[k], TEXT, sizeof TEXT - 1, &mutated, &size, &why) == 0)
            free(mutated);
    }
    manifest_free(&m);
    return 0;
}

static void damaged_kernels(void **state)
{
    (void)state;
    damage_file(read_kernel, "k.cu", "kernels/level1/023_softmax.cu", 400);
    damage_file(read_kernel, "k.cu", "c/test/shim.cu", 200);
    damage_file(read_kernel, "k.cu", "kernels/level3/035_lstm.cu", 100);
}

static void damaged_kernels_are_mutated(void **state)
{
    (void)state;
    struct error e;
    assert_int_equal(rules_read(&rules, "mutants/rules", &e), 0);
    damage_file(mutate_kernel, "k.cu", "kernels/level1/019_relu.cu", 40);
    damage_file(mutate_kernel, "k.cu", "kernels/level1/023_softmax.cu", 10);
    rules_free(&rules);
}

/* A rule at a time, so that most of what is damaged is read on; without a newline at its end. */
static void damaged_rules(void **state)
{
    static const char *const FAMILY[] = {"arithmetic", "boundary", "index",
                                         "precision",  "semantic", "sync"};
    (void)state;
    for (size_t f = 0; f < sizeof FAMILY / sizeof *FAMILY; f++) {
        char path[64];
        snprintf(path, sizeof path, "mutants/rules/%s.rules", FAMILY[f]);
        struct text all = load(path, WHOLE);
        char *next = strstr(all.bytes, "\nrule ");
        for (int k = 0; next && k < 15; k++) {
            struct text one = {.bytes = next + 1};
            next = strstr(one.bytes, "\nrule ");
            one.size = next ? (size_t)(next - one.bytes) : strlen(one.bytes);
            damage(read_rules, "sync.rules", &one, 8);
        }
        free(all.bytes);
    }
}

static void damaged_manifests(void **state)
{
    (void)state;
    damage_file(read_manifest, "m.jsonl", "c/test/cli/compile/outcomes/m.jsonl", 400);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_kernels),
        cmocka_unit_test(damaged_kernels_are_mutated),
        cmocka_unit_test(damaged_rules),
        cmocka_unit_test(damaged_manifests),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
