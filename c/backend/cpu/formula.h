/* formula - what the operators of the corpus compute, in double, on the CPU executor. */
#ifndef ASSAY_FORMULA_H
#define ASSAY_FORMULA_H

#include "../../lib/error.h"

struct formula;

/* The formula of the operator of that name, or NULL. */
const struct formula *formula_find(const char *name);

/* The name of its parameter in corpus.json, or NULL if it has none. */
const char *formula_parameter(const struct formula *formula);

/* An opened library of reference operators (build/ref/f64.so). */
struct reference;

/* EXIT_UNAVAILABLE if it cannot be. *library is freed by formulas_close(). */
int formulas_open(struct reference **library, const char *path, struct error *e);
void formulas_close(struct reference *library);

/*
 * formula_run - out = formula(in), at an entry's extents in the order of its dimensions
 *
 * in and out are dense. After simt_start. EXIT_BUG if the reference does not finish cleanly.
 */
int formula_run(const struct formula *formula, const struct reference *library, double *const in[],
                double *out, const long extent[], double parameter, struct error *e);

#endif
