#include "cover.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "process.h"

/* Far above what instances of this kind take (a few ms); a solver that hangs must not hang us. */
#define SOLVER_LIMIT_S 60

/* ---- the reduced matrix ---------------------------------------------------------------------- */

static bool has(const struct cover *c, int pattern, int input)
{
    return c->pattern[(size_t)pattern * (size_t)c->words + (size_t)input / 64] >> input % 64 & 1;
}

struct row {
    const uint64_t *bits;
    int words, weight;
};

static int by_bits(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    return memcmp(x->bits, y->bits, (size_t)x->words * sizeof *x->bits);
}

static bool empty(const struct row *r)
{
    for (int k = 0; k < r->words; k++)
        if (r->bits[k])
            return false;
    return true;
}

/* Makes equal patterns one, and drops the empty one. */
static void merge_patterns(struct cover *c)
{
    size_t words = (size_t)c->words;
    struct row *row = calloc((size_t)c->patterns + 1, sizeof *row);
    uint64_t *pattern = calloc((size_t)c->patterns * words + 1, sizeof *pattern);
    int *weight = calloc((size_t)c->patterns + 1, sizeof *weight), patterns = 0;
    if (!row || !pattern || !weight)
        abort();
    for (int p = 0; p < c->patterns; p++)
        row[p] = (struct row){c->pattern + (size_t)p * words, c->words, c->weight[p]};
    qsort(row, (size_t)c->patterns, sizeof *row, by_bits);
    for (int p = 0; p < c->patterns; p++) {
        if (empty(&row[p]))
            continue;
        if (patterns == 0 || p == 0 || by_bits(&row[p], &row[p - 1]) != 0)
            memcpy(pattern + (size_t)patterns++ * words, row[p].bits, words * sizeof *pattern);
        weight[patterns - 1] += row[p].weight;
    }
    free(row);
    free(c->pattern);
    free(c->weight);
    c->pattern = pattern;
    c->weight = weight;
    c->patterns = patterns;
}

/* Does input j kill all that input i kills? */
static bool covers(const struct cover *c, int j, int i)
{
    for (int p = 0; p < c->patterns; p++)
        if (has(c, p, i) && !has(c, p, j))
            return false;
    return true;
}

static void drop_input(struct cover *c, int input)
{
    for (int p = 0; p < c->patterns; p++)
        c->pattern[(size_t)p * (size_t)c->words + (size_t)input / 64] &=
            ~(UINT64_C(1) << input % 64);
}

/* An input that kills nothing is dropped as well: every other one dominates it. */
static void drop_dominated(struct cover *c)
{
    bool *gone = calloc((size_t)c->inputs + 1, sizeof *gone);
    if (!gone)
        abort();
    for (int i = 0; i < c->inputs; i++) {
        for (int j = 0; j < c->inputs && !gone[i]; j++)
            gone[i] = j != i && !gone[j] && covers(c, j, i) && (j < i || !covers(c, i, j));
        if (gone[i])
            drop_input(c, i);
    }
    free(gone);
}

void cover_make(struct cover *c, const unsigned char *kills, int faults, int inputs)
{
    *c = (struct cover){.inputs = inputs, .words = (inputs + 63) / 64, .patterns = faults};
    c->pattern = calloc((size_t)faults * (size_t)c->words + 1, sizeof *c->pattern);
    c->weight = calloc((size_t)faults + 1, sizeof *c->weight);
    if (!c->pattern || !c->weight)
        abort();
    for (int f = 0; f < faults; f++) {
        c->weight[f] = 1;
        for (int i = 0; i < inputs; i++)
            if (kills[(size_t)f * (size_t)inputs + (size_t)i])
                c->pattern[(size_t)f * (size_t)c->words + (size_t)i / 64] |= UINT64_C(1) << i % 64;
    }
    merge_patterns(c);
    drop_dominated(c);
    merge_patterns(c);
    for (int p = 0; p < c->patterns; p++)
        c->killable += c->weight[p];
}

void cover_free(struct cover *c)
{
    free(c->pattern);
    free(c->weight);
    *c = (struct cover){0};
}

/* ---- choosing -------------------------------------------------------------------------------- */

static bool kills_pattern(const struct cover *c, int pattern, const int chosen[], int count)
{
    for (int k = 0; k < count; k++)
        if (has(c, pattern, chosen[k]))
            return true;
    return false;
}

int cover_killed(const struct cover *c, const int chosen[], int count)
{
    int killed = 0;
    for (int p = 0; p < c->patterns; p++)
        if (kills_pattern(c, p, chosen, count))
            killed += c->weight[p];
    return killed;
}

int cover_greedy(const struct cover *c, int budget, int chosen[])
{
    int count = 0, killed = 0;
    while (count < budget) {
        int best = -1, most = killed;
        for (int i = 0; i < c->inputs; i++) {
            chosen[count] = i;
            int with = cover_killed(c, chosen, count + 1);
            if (with > most) {
                most = with;
                best = i;
            }
        }
        if (best < 0)
            break;
        chosen[count++] = best;
        killed = most;
    }
    return count;
}

/* Maximise Σ weight z where z ≤ Σ x over the pattern's inputs, z ≤ 1, x is 0 or 1, Σ x ≤ budget.
 * The objective names every x first, in order, so that column 1 + i of the answer is input i. */
static char *write_program(const struct cover *c, int budget, size_t *size)
{
    char *text;
    FILE *f = open_memstream(&text, size);
    if (!f)
        abort();
    fputs("Maximize\n killed:", f);
    for (int i = 0; i < c->inputs; i++)
        fprintf(f, " + 0 x%d\n", i);
    for (int p = 0; p < c->patterns; p++)
        fprintf(f, " + %d z%d\n", c->weight[p], p);
    fputs("Subject To\n", f);
    for (int p = 0; p < c->patterns; p++) {
        fprintf(f, " p%d:", p);
        for (int i = 0; i < c->inputs; i++)
            if (has(c, p, i))
                fprintf(f, " + x%d\n", i);
        fprintf(f, " - z%d >= 0\n", p);
    }
    fputs(" budget:", f);
    for (int i = 0; i < c->inputs; i++)
        fprintf(f, " + x%d\n", i);
    fprintf(f, " <= %d\nBounds\n", budget);
    for (int p = 0; p < c->patterns; p++)
        fprintf(f, " z%d <= 1\n", p);
    fputs("Binary\n", f);
    for (int i = 0; i < c->inputs; i++)
        fprintf(f, " x%d\n", i);
    fputs("End\n", f);
    memory_close(f, &text);
    return text;
}

/* Takes `s mip ROWS COLUMNS o OBJECTIVE` and the `j COLUMN VALUE` lines of a GLPK solution, and
 * checks that they keep the budget and kill what they say. */
static int read_solution(const struct cover *c, int budget, const char *text, int chosen[],
                         int *count, struct error *e)
{
    int objective = -1, column, value, used = 0;
    char state = '?';
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (sscanf(line, "s mip %*d %*d %c %d", &state, &objective) == 2)
            continue;
        if (sscanf(line, "j %d %d", &column, &value) != 2 || column > c->inputs || value == 0)
            continue;
        if (used == budget)
            return fail(e, EXIT_BUG, "glpsol chose more than %d inputs", budget);
        chosen[used++] = column - 1;
    }
    if (state != 'o')
        return fail(e, EXIT_BUG, "glpsol found no optimum of a set cover with %d inputs",
                    c->inputs);
    if (cover_killed(c, chosen, used) != objective)
        return fail(e, EXIT_BUG, "glpsol claims %d kills where its inputs have %d", objective,
                    cover_killed(c, chosen, used));
    *count = used;
    return 0;
}

static int solve(const struct cover *c, int budget, int chosen[], int *count, struct error *e)
{
    static const char *const ARGV[] = {"glpsol",  "--lp",        "/dev/stdin",
                                       "--write", "/dev/stderr", NULL};
    struct process child;
    size_t size;
    char *program = write_program(c, budget, &size);
    int code = process_run(ARGV, program, size, SOLVER_LIMIT_S, &child, e);
    free(program);
    if (code == EXIT_UNAVAILABLE)
        return fail(e, code,
                    "glpsol is missing, which finds the exact set cover: install glpk-utils");
    if (code)
        return code;
    if (child.status != 0)
        code = fail(e, EXIT_BUG, "glpsol ended with status %d: %s", child.status, child.out);
    else
        code = read_solution(c, budget, child.err, chosen, count, e);
    process_free(&child);
    return code;
}

static int ascending(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

int cover_exact(const struct cover *c, int budget, int chosen[], int *count, struct error *e)
{
    *count = cover_greedy(c, budget, chosen);
    bool optimal = budget <= 1 || *count < budget || cover_killed(c, chosen, *count) == c->killable;
    int code = optimal ? 0 : solve(c, budget, chosen, count, e);
    qsort(chosen, (size_t)*count, sizeof *chosen, ascending);
    return code;
}
