/*
 * cells - result rows by (kernel, dtype), ready for percentiles and counts.
 *
 * A row costs 24 bytes, and 56 more if it carries t_by_ratio; nothing else grows with the rows.
 */
#ifndef ASSAY_CELLS_H
#define ASSAY_CELLS_H

#include <stdbool.h>
#include <stdint.h>

#include "corpus.h"
#include "results.h"

struct sample {
    double max_abs, max_rel;
    uint32_t run;
    uint32_t shape : 31;  /* index into the cells' shapes; shape 0 is unknown */
    uint32_t passing : 1; /* passed with a finite error */
};

struct sample_t {
    double t[RESULTS_RATIOS];
    bool passing;
};

/* The rows of one kernel and dtype. */
struct cell {
    int entry; /* index into the corpus */
    enum dtype dtype;
    struct sample *sample; /* the `passing` first, then the others; both ascending in max_abs */
    int count, passing, room;
    struct sample_t *t; /* of the rows that carry them, in the files' order */
    int t_count, t_room;
};

/* The sizes of a case, by the dims of its entry. */
struct shape {
    int entry;
    long extent[CORPUS_DIMS];
};

/* The verdicts recorded in the rows of one strategy of the fuzzer. */
struct strategy_tally {
    char *name;
    long rows[2], failed[2];              /* of controls, of buggy entries */
    long matching[2], failed_matching[2]; /* of the rows that carry passed_matching */
};

struct cells {
    const struct corpus *corpus;
    struct cell *cell; /* entry × DTYPES + dtype; count 0 where there is no row */
    int cells;
    char **run;
    int runs;
    struct shape *shape;
    int shapes;
    struct strategy_tally *strategy;
    int strategies;
    long rows, without_stats, skipped; /* used; after an exception; not usable */
    uint32_t *slot;                    /* hash table of the shapes */
    int slots;
};

/* Told of every row that is skipped. */
struct listener {
    void (*skipped)(void *context, const struct error *why);
    void *context;
};

void cells_init(struct cells *cells, const struct corpus *corpus);

/*
 * cells_add - adds the rows of a file
 *
 *   listener  in  what cannot be used is skipped, counted and told to it; NULL: it is an error
 *
 * EXIT_IO; without a listener EXIT_DATA for a line that is no row or whose kernel or dtype is unknown.
 */
int cells_add(struct cells *cells, const char *path, const struct listener *listener,
              struct error *e);

/* Moves all that is in `from` into `cells`, as if its files had been added to them: the same run,
 * shape and strategy numbers, the same order. Frees it. */
void cells_merge(struct cells *cells, struct cells *from);

/* Sorts the cells: once, after the last cells_add(). */
void cells_sort(struct cells *cells);
void cells_free(struct cells *cells);

/* How many of the cell's rows a tolerance rejects: those with !(max_abs ≤ atol), so NaN too. */
long cell_rejected(const struct cell *cell, double atol);

#endif
