/*
 * fuzz - one case of the fuzzer: drawn, filled, written as a row, read back.
 *
 * A row (results.h) says all that a case depends on besides the kernel, so that it can be run again
 * from its row alone. What a row has beside the public keys: strategy, passed_matching,
 * error_stats.t_by_ratio, and `error` after an exception.
 */
#ifndef ASSAY_FUZZ_H
#define ASSAY_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "corpus.h"
#include "error.h"
#include "errorstats.h"
#include "strategy.h"

/* How an input lies in memory. Outputs are dense. */
enum arrangement {
    ARRANGEMENT_CONTIGUOUS,
    ARRANGEMENT_STRIDED,    /* every stride is twice as long; NaN between the elements */
    ARRANGEMENT_TRANSPOSED, /* the last two dimensions change places */
    ARRANGEMENTS
};

/* The word for it in a row, and back. */
const char *arrangement_name(enum arrangement arrangement);
bool arrangement_find(const char *name, enum arrangement *arrangement);

struct fuzz_case {
    int entry; /* in the corpus */
    enum strategy strategy;
    enum arrangement arrangement;
    uint64_t seed; /* below 2^53, which a JSON number holds */
    long iteration;
    enum dtype dtype;
    long extent[CORPUS_DIMS];
};

/* Draws dtype and extents from the rest. */
void fuzz_draw(struct fuzz_case *c, const struct corpus *corpus);

/* The elements of a tensor of the case. */
size_t fuzz_elements(const struct fuzz_case *c, const struct corpus_tensor *tensor);

/* An input's strides in elements, outermost first, and how many elements of memory it spans. */
size_t fuzz_strides(const struct fuzz_case *c, const struct corpus_tensor *tensor, long stride[]);

/*
 * fuzz_fill - the values of input number `input`
 *
 *   memory  as its dtype and arrangement say, as many elements as fuzz_strides() does
 *   dense   the same values, row-major
 */
void fuzz_fill(const struct fuzz_case *c, const struct corpus *corpus, int input, void *memory,
               double dense[]);

struct fuzz_result {
    char exception[160]; /* why the kernel did not finish; empty when it did */
    struct error_stats stats;
};

/* Does the kernel pass, by the strict verdict, and by the one that accepts matching non-finite
 * numbers? */
bool fuzz_passed(const struct fuzz_result *r);
bool fuzz_passed_matching(const struct fuzz_result *r);

/* Writes the row, one line. Like the public ones it has NaN and Infinity as bare words. */
void fuzz_write_row(FILE *f, const struct corpus *corpus, const char *run_id,
                    const struct fuzz_case *c, const struct fuzz_result *r);

/*
 * fuzz_read_row - finds the case of a row that fuzz_write_row wrote
 *
 *   where   `path:line`, for messages
 *   line    with SCAN_MARGIN; is changed; *run_id points into it
 *
 * EXIT_DATA if the row is no such row.
 */
int fuzz_read_row(const char *where, char *line, const struct corpus *corpus, struct fuzz_case *c,
                  const char **run_id, struct error *e);

#endif
