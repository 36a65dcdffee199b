/*
 * rows - raw rows and gated inputs: the measured facts that every score is computed from.
 *
 * rows.jsonl holds what each mutant did on each input, gate.jsonl what the original kernel and the
 * float32 reference did. Both keep graded errors and observations, never a verdict. The keys are in
 * ARCHITECTURE.md.
 */
#ifndef ASSAY_ROWS_H
#define ASSAY_ROWS_H

#include <jansson.h>
#include <stdbool.h>

#include "compare.h"
#include "error.h"
#include "outcome.h"

enum race { RACE_UNKNOWN, RACE_NONE, RACE_SEEN }; /* UNKNOWN: no oracle looked */

/* What was observed of one run. */
struct run {
    enum outcome outcome;
    const char *detail;   /* one line when not finished, else NULL */
    struct graded graded; /* of a finished run; rows do not keep ref_max and elements */
    bool stray_read, stray_write, divergence, input_written;
    enum race race;
};

/* One mutant on one input. Texts are borrowed from whoever filled the row. */
struct row {
    const char *mutant, *input, *key;
    /* Does the output differ bitwise from the original's? Always true when the run did not finish.
     * When false run.graded is not kept: it is the original's, in the gate. */
    bool differs;
    const char *order; /* of threads: NULL for the drawn one, else "forward" or "reversed" */
    struct run run;
};

struct rows {
    json_t *header;
    struct row *row; /* in the file's order */
    int count;
    char *text; /* the file, which the rows' texts lie in */
};

/*
 * rows_read - reads a whole rows.jsonl: 100,000 rows in less than a second
 *
 * A last line without its newline is no record (its writer was killed). EXIT_IO, or EXIT_DATA with
 * `path:line:` for anything that is not a row. rows_free() after success only.
 */
int rows_read(struct rows *rows, const char *path, struct error *e);
void rows_free(struct rows *rows);

/* The row as its record, for json_write_line(). A new reference. */
json_t *row_to_json(const struct row *row);

/* One input of the problem, as the gate judged it. */
struct gated {
    const char *input, *suite;
    bool valid;
    const char *why;       /* not valid: the reason in one line; else NULL */
    bool resized;          /* does the recipe change any size? */
    struct run original;   /* of the unmutated kernel, against the float64 reference */
    struct graded float32; /* of the float32 reference, against the same */
};

struct gate {
    json_t *header; /* its `problem` is the name <group>/<NNN_name> */
    const char *problem;
    struct gated *input; /* in the file's order */
    int count;
    json_t *records; /* which the texts lie in */
};

/* Reads a whole gate.jsonl. EXIT_IO; EXIT_DATA, also for an input named twice. gate_free() after
 * success only. */
int gate_read(struct gate *gate, const char *path, struct error *e);
void gate_free(struct gate *gate);

/* The input as its record. A new reference. */
json_t *gated_to_json(const struct gated *gated);

#endif
