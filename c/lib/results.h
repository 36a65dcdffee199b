/*
 * results - rows of the public results.jsonl: one fuzzed case a line, with its error statistics.
 *
 * The public drivers of the gpuemu corpus write them, and so does `fuzz`. What is read of a row:
 *
 *   kernel, dtype     names of the corpus
 *   passed            by the tolerance in use at the time, any NaN or infinity failing
 *   failure_kind      null or absent; "tolerance", "nan", "inf", "shape", "exception", …
 *   run_id            of the run that it belongs to; absent: the file is the run
 *   strategy          of the fuzzer; may be absent
 *   input_shapes      {tensor: [extent, …]}; may be absent
 *   error_stats       null or absent after an exception; else an object with at least `max_abs`;
 *                     `max_rel` may be absent
 *
 * The other keys are skipped. NaN, Infinity and -Infinity are bare words, as Python writes them.
 * Rows of `fuzz` say more, which the public tools ignore:
 *
 *   passed_matching   as passed, but a NaN or infinity where the reference has the same is accepted
 *   error_stats.t_by_ratio
 *                     for each of RESULTS_RATIO the smallest t with d ≤ t (ratio + |r|) for every
 *                     element's error d and reference r: what the rule atol + rtol |r| with
 *                     rtol = t, atol = ratio t asks for. Infinity when an element is not finite.
 *
 * Header lines of schema assay/results, major version 1, may stand between them. Files may be
 * compressed with gzip.
 */
#ifndef ASSAY_RESULTS_H
#define ASSAY_RESULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

enum { RESULTS_RATIOS = 6, RESULTS_EXTENTS = 16, RESULTS_KEYS = 64 };
extern const double RESULTS_RATIO[RESULTS_RATIOS];

/* One row. Texts are borrowed until the next row is read; NULL when absent. */
struct result {
    const char *schema, *schema_version; /* of a header, which results_next() does not return */
    const char *kernel, *dtype, *run_id, *strategy, *failure_kind;
    bool passed, has_matching, passed_matching;
    bool has_stats;          /* else the numbers below are not set, and kernel … may be NULL */
    double max_abs, max_rel; /* NaN when max_rel is absent */
    bool has_t;
    int extents;
    long extent[RESULTS_EXTENTS]; /* of all inputs, one after the other */
    double t[RESULTS_RATIOS];
};

/*
 * What stood before the n-th value of a row, as `, "max_abs": ` or `, "error_stats": {"count": `,
 * and what it means. A writer's rows all read the same there: one comparison finds the field.
 */
struct results_key {
    char text[32];
    uint32_t mask; /* a bit for each of its bytes */
    int length, field;
    int before, after; /* the places that it leads from, 0 when nothing is known, and to */
    bool opens;        /* error_stats */
    bool skipped;      /* the key names no field, and leads from one place to the same */
};

struct results_reader {
    const char *path;
    int line; /* of the row last read, from 1 */
    void *stream;
    char *buffer; /* `size` bytes of the file, of which `used` have been used */
    size_t used, size, room;
    struct results_key key[RESULTS_KEYS + 1]; /* the last one is never known */
    bool finished;                            /* there is nothing behind the buffer */
};

int results_open(struct results_reader *r, const char *path, struct error *e);

/*
 * results_next - the next row; *more is false at the end of the file
 *
 * EXIT_DATA with `path:line:` for a line that is not a row: the next call goes on behind it. So it
 * does, with *more false, after the data ended in the middle of a gzip stream. EXIT_IO when reading
 * fails.
 */
int results_next(struct results_reader *r, struct result *row, bool *more, struct error *e);
void results_close(struct results_reader *r);

#endif
