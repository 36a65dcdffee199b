/* Damaged result rows and corpora (damage.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cells.h"
#include "corpus.h"
#include "file.h"
#include "fuzz.h"

#include "damage.h" /* last: cmocka.h defines a macro named fail */

static const char ROWS[] = "c/test/cli/calibrate/published/rows.jsonl.gz";

static struct corpus corpus;

static int read_corpus(const char *path, struct error *e)
{
    struct corpus read;
    int code = corpus_read(&read, path, e);
    if (!code)
        corpus_free(&read);
    return code;
}

static int add(const char *path, const struct listener *listener, struct error *e)
{
    struct cells cells;
    cells_init(&cells, &corpus);
    int code = cells_add(&cells, path, listener, e);
    if (!code)
        cells_sort(&cells);
    cells_free(&cells);
    return code;
}

static int read_results(const char *path, struct error *e)
{
    return add(path, NULL, e);
}

static void skipped(void *context, const struct error *why)
{
    (void)context;
    assert_non_null(strstr(why->text, folder));
}

/* As read_results(), but over all that is wrong. */
static int skim_results(const char *path, struct error *e)
{
    const struct listener listener = {skipped, NULL};
    return add(path, &listener, e);
}

static int read_fuzz_rows(const char *path, struct error *e)
{
    char *text, *next;
    size_t size;
    int code = file_read(path, &text, &size, e);
    if (code)
        return code;
    for (char *line = strtok_r(text, "\n", &next); line; line = strtok_r(NULL, "\n", &next)) {
        struct fuzz_case found;
        const char *run_id;
        struct error why;
        code = fuzz_read_row(path, line, &corpus, &found, &run_id, &why);
        assert_true(code == 0 || code == EXIT_DATA);
    }
    free(text);
    return 0;
}

static void damaged_results(void **state)
{
    struct error e;
    struct text packed;
    (void)state;
    assert_int_equal(corpus_read(&corpus, "kernels/gpuemu/corpus.json", &e), 0);
    struct text few = load(ROWS, 8000);
    few.size = (size_t)(strrchr(few.bytes, '\n') + 1 - few.bytes);
    damage(read_results, "r.jsonl", &few, 400);
    damage(skim_results, "r.jsonl", &few, 400);
    damage(read_fuzz_rows, "r.jsonl", &few, 200);
    free(few.bytes);
    assert_int_equal(file_read(ROWS, &packed.bytes, &packed.size, &e), 0);
    damage(skim_results, "r.jsonl.gz", &packed, 60);
    free(packed.bytes);
    corpus_free(&corpus);
}

static void damaged_corpora(void **state)
{
    (void)state;
    damage_file(read_corpus, "c.json", "kernels/gpuemu/corpus.json", 400);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_results),
        cmocka_unit_test(damaged_corpora),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
