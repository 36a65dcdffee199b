#include "cells.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

static void grow_shapes(struct cells *cells);

void cells_init(struct cells *cells, const struct corpus *corpus)
{
    *cells = (struct cells){.corpus = corpus, .cells = corpus->count * DTYPES};
    cells->cell = calloc((size_t)cells->cells + 1, sizeof *cells->cell);
    if (!cells->cell)
        abort();
    for (int i = 0; i < cells->cells; i++) {
        cells->cell[i].entry = i / DTYPES;
        cells->cell[i].dtype = (enum dtype)(i % DTYPES);
    }
    grow_shapes(cells); /* the unknown one is always there */
}

void cells_free(struct cells *cells)
{
    for (int i = 0; i < cells->cells; i++) {
        free(cells->cell[i].sample);
        free(cells->cell[i].t);
    }
    for (int i = 0; i < cells->runs; i++)
        free(cells->run[i]);
    for (int i = 0; i < cells->strategies; i++)
        free(cells->strategy[i].name);
    free(cells->cell);
    free(cells->run);
    free(cells->strategy);
    free(cells->shape);
    free(cells->slot);
    *cells = (struct cells){0};
}

/* Room for one more of `count` elements. */
static void *grown(void *array, int count, int *room, size_t size)
{
    if (count < *room)
        return array;
    *room = *room ? *room * 2 : 64;
    array = realloc(array, (size_t)*room * size);
    if (!array)
        abort();
    return array;
}

static char *copied(const char *text)
{
    char *copy = strdup(text);
    if (!copy)
        abort();
    return copy;
}

/* Rows of a run come together: the last run is looked at first. */
static uint32_t find_run(struct cells *cells, const char *name)
{
    for (int i = cells->runs - 1; i >= 0; i--)
        if (strcmp(cells->run[i], name) == 0)
            return (uint32_t)i;
    cells->run = realloc(cells->run, (size_t)(cells->runs + 1) * sizeof *cells->run);
    if (!cells->run)
        abort();
    cells->run[cells->runs] = copied(name);
    return (uint32_t)cells->runs++;
}

static struct strategy_tally *find_strategy(struct cells *cells, const char *name)
{
    for (int i = 0; i < cells->strategies; i++)
        if (strcmp(cells->strategy[i].name, name) == 0)
            return &cells->strategy[i];
    cells->strategy =
        realloc(cells->strategy, (size_t)(cells->strategies + 1) * sizeof *cells->strategy);
    if (!cells->strategy)
        abort();
    cells->strategy[cells->strategies] = (struct strategy_tally){.name = copied(name)};
    return &cells->strategy[cells->strategies++];
}

/* ---- shapes ----------------------------------------------------------------------------------- */

/* Reads the entry's dims off the extents of its inputs; false if they do not fit together. */
static bool bind(const struct corpus_entry *entry, const struct result *row, long extent[])
{
    int next = 0;
    memset(extent, 0, CORPUS_DIMS * sizeof *extent);
    for (int i = 0; i < entry->inputs; i++) {
        for (int k = 0; k < entry->input[i].rank; k++) {
            int d = entry->input[i].dim[k];
            if (next == row->extents || row->extent[next] < 1 ||
                (extent[d] && extent[d] != row->extent[next]))
                return false;
            extent[d] = row->extent[next++];
        }
    }
    return next == row->extents;
}

static uint32_t shape_hash(const struct shape *shape)
{
    uint64_t h = (uint64_t)shape->entry;
    for (int d = 0; d < CORPUS_DIMS; d++)
        h = (h ^ (uint64_t)shape->extent[d]) * UINT64_C(0x9E3779B97F4A7C15);
    return (uint32_t)(h >> 32);
}

static bool same_shape(const struct shape *a, const struct shape *b)
{
    return a->entry == b->entry && memcmp(a->extent, b->extent, sizeof a->extent) == 0;
}

/* The slot where the shape is, or where it belongs. */
static uint32_t *shape_slot(const struct cells *cells, const struct shape *shape)
{
    uint32_t mask = (uint32_t)cells->slots - 1, at = shape_hash(shape) & mask;
    while (cells->slot[at] && !same_shape(&cells->shape[cells->slot[at]], shape))
        at = (at + 1) & mask;
    return &cells->slot[at];
}

/* Twice the slots, and as many shapes as fill half of them. */
static void grow_shapes(struct cells *cells)
{
    cells->slots = cells->slots ? cells->slots * 2 : 1024;
    free(cells->slot);
    cells->slot = calloc((size_t)cells->slots, sizeof *cells->slot);
    cells->shape = realloc(cells->shape, (size_t)cells->slots / 2 * sizeof *cells->shape);
    if (!cells->slot || !cells->shape)
        abort();
    if (cells->shapes == 0)
        cells->shape[cells->shapes++] = (struct shape){.entry = -1};
    for (int i = 1; i < cells->shapes; i++)
        *shape_slot(cells, &cells->shape[i]) = (uint32_t)i;
}

static uint32_t find_shape(struct cells *cells, const struct shape *shape)
{
    if (cells->shapes == cells->slots / 2)
        grow_shapes(cells);
    uint32_t *slot = shape_slot(cells, shape);
    if (!*slot) {
        *slot = (uint32_t)cells->shapes;
        cells->shape[cells->shapes++] = *shape;
    }
    return *slot;
}

static uint32_t shape_of(struct cells *cells, int entry, const struct result *row)
{
    struct shape shape = {.entry = entry};
    return bind(&cells->corpus->entry[entry], row, shape.extent) ? find_shape(cells, &shape) : 0;
}

/* ---- adding rows ------------------------------------------------------------------------------ */

static void tally(struct strategy_tally *s, bool buggy, const struct result *row)
{
    s->rows[buggy]++;
    s->failed[buggy] += !row->passed;
    s->matching[buggy] += row->has_matching;
    s->failed_matching[buggy] += row->has_matching && !row->passed_matching;
}

static void add_row(struct cells *cells, struct cell *cell, const struct result *row,
                    const char *path)
{
    bool passing = row->passed && isfinite(row->max_abs);
    uint32_t run = find_run(cells, row->run_id ? row->run_id : path);
    cell->sample = grown(cell->sample, cell->count, &cell->room, sizeof *cell->sample);
    cell->sample[cell->count++] =
        (struct sample){.max_abs = fabs(row->max_abs), /* no −0 */
                        .max_rel = row->max_rel,
                        .run = run,
                        .shape = shape_of(cells, cell->entry, row) & 0x7FFFFFFF,
                        .passing = passing};
    cell->passing += passing;
    if (row->has_t) {
        cell->t = grown(cell->t, cell->t_count, &cell->t_room, sizeof *cell->t);
        struct sample_t *t = &cell->t[cell->t_count++];
        *t = (struct sample_t){.passing = passing};
        memcpy(t->t, row->t, sizeof t->t);
    }
    if (row->strategy)
        tally(find_strategy(cells, row->strategy), cells->corpus->entry[cell->entry].buggy, row);
    cells->rows++;
}

/* The entry of that name; rows often come in the corpus's order, from that behind the last one on. */
static int find_entry(const struct corpus *corpus, const char *name, int last)
{
    int next = (last + 1) % corpus->count;
    return strcmp(corpus->entry[next].name, name) == 0 ? next : corpus_find(corpus, name);
}

static int place_row(struct cells *cells, const struct results_reader *r, const struct result *row,
                     int *last, struct error *e)
{
    enum dtype dtype;
    if (!row->has_stats) {
        cells->without_stats++;
        return 0;
    }
    int entry = find_entry(cells->corpus, row->kernel, *last);
    if (entry < 0)
        return fail(e, EXIT_DATA, "%s:%d: unknown kernel '%s'", r->path, r->line, row->kernel);
    if (!dtype_find(row->dtype, &dtype))
        return fail(e, EXIT_DATA, "%s:%d: unknown dtype '%s'", r->path, r->line, row->dtype);
    *last = entry;
    add_row(cells, &cells->cell[entry * DTYPES + (int)dtype], row, r->path);
    return 0;
}

int cells_add(struct cells *cells, const char *path, const struct listener *listener,
              struct error *e)
{
    struct results_reader r;
    struct result row;
    int last = -1;
    int code = results_open(&r, path, e);
    if (code)
        return code;
    for (bool more = true; more;) {
        code = results_next(&r, &row, &more, e);
        if (!code && more)
            code = place_row(cells, &r, &row, &last, e);
        if (code == EXIT_DATA && listener) {
            cells->skipped++;
            listener->skipped(listener->context, e);
            code = 0;
        }
        if (code)
            break;
    }
    results_close(&r);
    return code;
}

/* ---- merging ---------------------------------------------------------------------------------- */

/* Room for `more` elements behind `count`. */
static void *grown_by(void *array, int count, int more, int *room, size_t size)
{
    if (count + more <= *room)
        return array;
    *room = count + more;
    array = realloc(array, (size_t)*room * size);
    if (!array)
        abort();
    return array;
}

/* run and shape: the numbers here of those there. */
static void merge_cell(struct cell *cell, const struct cell *from, const uint32_t run[],
                       const uint32_t shape[])
{
    cell->sample =
        grown_by(cell->sample, cell->count, from->count, &cell->room, sizeof *cell->sample);
    for (int i = 0; i < from->count; i++) {
        struct sample *sample = &cell->sample[cell->count++];
        *sample = from->sample[i];
        sample->run = run[sample->run];
        sample->shape = shape[sample->shape] & 0x7FFFFFFF;
    }
    cell->passing += from->passing;
    cell->t = grown_by(cell->t, cell->t_count, from->t_count, &cell->t_room, sizeof *cell->t);
    if (from->t_count > 0)
        memcpy(cell->t + cell->t_count, from->t, (size_t)from->t_count * sizeof *cell->t);
    cell->t_count += from->t_count;
}

static void merge_strategies(struct cells *cells, const struct cells *from)
{
    for (int i = 0; i < from->strategies; i++) {
        const struct strategy_tally *other = &from->strategy[i];
        struct strategy_tally *s = find_strategy(cells, other->name);
        for (int buggy = 0; buggy < 2; buggy++) {
            s->rows[buggy] += other->rows[buggy];
            s->failed[buggy] += other->failed[buggy];
            s->matching[buggy] += other->matching[buggy];
            s->failed_matching[buggy] += other->failed_matching[buggy];
        }
    }
}

void cells_merge(struct cells *cells, struct cells *from)
{
    uint32_t *run = memory_zeroed(from->runs, sizeof *run);
    uint32_t *shape = memory_zeroed(from->shapes, sizeof *shape);
    for (int i = 0; i < from->runs; i++)
        run[i] = find_run(cells, from->run[i]);
    for (int i = 1; i < from->shapes; i++) /* 0 is the unknown one in both */
        shape[i] = find_shape(cells, &from->shape[i]);
    for (int i = 0; i < from->cells; i++)
        merge_cell(&cells->cell[i], &from->cell[i], run, shape);
    merge_strategies(cells, from);
    cells->rows += from->rows;
    cells->without_stats += from->without_stats;
    cells->skipped += from->skipped;
    free(run);
    free(shape);
    cells_free(from);
}

/* ---- sorted cells ----------------------------------------------------------------------------- */

/* Ascending as cell.sample is: errors are not negative, so their bits order them, NaN last, and the
 * sign bit is free. */
static uint64_t sort_key(const struct sample *s)
{
    uint64_t bits;
    memcpy(&bits, &s->max_abs, sizeof bits);
    return bits | (uint64_t)!s->passing << 63;
}

/* One pass of a radix sort, by the eight bits from `shift` on. */
static void radix_pass(const struct sample from[], struct sample to[], int count, int shift)
{
    int begin[257] = {0};
    for (int i = 0; i < count; i++)
        begin[(sort_key(&from[i]) >> shift & 0xFF) + 1]++;
    for (int k = 0; k < 256; k++)
        begin[k + 1] += begin[k];
    for (int i = 0; i < count; i++)
        to[begin[sort_key(&from[i]) >> shift & 0xFF]++] = from[i];
}

/* The bits in which not all keys are the same. */
static uint64_t varying_bits(const struct sample sample[], int count)
{
    uint64_t bits = 0;
    for (int i = 1; i < count; i++)
        bits |= sort_key(&sample[i]) ^ sort_key(&sample[0]);
    return bits;
}

void cells_sort(struct cells *cells)
{
    for (int i = 0; i < cells->cells; i++) {
        struct cell *cell = &cells->cell[i];
        struct sample *other = malloc(((size_t)cell->count + 1) * sizeof *other);
        if (!other)
            abort();
        const uint64_t varying = varying_bits(cell->sample, cell->count);
        for (int shift = 0; shift < 64; shift += 8) {
            if (!(varying >> shift & 0xFF))
                continue;
            radix_pass(cell->sample, other, cell->count, shift);
            struct sample *swap = cell->sample;
            cell->sample = other;
            other = swap;
        }
        free(other);
        cell->room = cell->count;
    }
}

/* How many of the ascending samples begin … end − 1 are not within atol. */
static long above(const struct sample sample[], int begin, int end, double atol)
{
    int low = begin, high = end;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (sample[middle].max_abs <= atol)
            low = middle + 1;
        else
            high = middle;
    }
    return end - low;
}

long cell_rejected(const struct cell *cell, double atol)
{
    return above(cell->sample, 0, cell->passing, atol) +
           above(cell->sample, cell->passing, cell->count, atol);
}
