/*
 * plugin - opens a problem, and a table of reference operators, as shared objects.
 *
 * A problem is built from kernels/<group>/NNN_name.c (kernels/problem.h says what it exports). The
 * operators of its reference come as two tables, double and float (kernels/ref/ref.h); their shared
 * objects call the CPU executor, so a program that opens them exports its own symbols (-rdynamic).
 */
#ifndef ASSAY_PLUGIN_H
#define ASSAY_PLUGIN_H

#include <problem.h>

#include "error.h"

struct plugin {
    void *handle; /* dlopen's */
    const struct problem *problem;
    char id[256]; /* `level1/023_softmax`, from the path */
};

/*
 * plugin_open - opens build/problems/<group>/<name>.so and checks what it exports
 *
 * Returns 0; EXIT_UNAVAILABLE if it cannot be loaded; EXIT_DATA if it exports no `problem`, one of
 * another ABI, or one that lacks a member that every problem has.
 */
int plugin_open(struct plugin *p, const char *path, struct error *e);
void plugin_close(struct plugin *p);

/* The index of a size, or of a hyperparameter, by name; -1 when the problem has none such. */
int plugin_size(const struct plugin *p, const char *name);
int plugin_hyperparameter(const struct plugin *p, const char *name);

/* The problem's small sizes, its official ones, and its hyperparameters, in its own order. */
void plugin_small(const struct plugin *p, long sizes[PROBLEM_SIZES]);
void plugin_official(const struct plugin *p, long sizes[PROBLEM_SIZES]);
void plugin_hyperparameters(const struct plugin *p, double values[PROBLEM_SIZES]);

/*
 * plugin_layout - the problem's tensors at some sizes
 *
 * EXIT_DATA, with the reason, if a size is negative (or 0, for a problem that accepts every positive
 * size), if the problem says the sizes have no meaning, or if what it declares cannot be: too many
 * tensors, two of one name, no output, an extent that is not positive, 2^40 elements or more.
 */
int plugin_layout(const struct plugin *p, const long sizes[], struct layout *l, struct error *e);

/* The number of elements; and the length of a row, the last extent longer than 1, or else 1. */
long tensor_count(const struct tensor *t);
long tensor_row(const struct tensor *t);

/* A table of reference operators. */
struct reference {
    void *handle;
    const struct ref *table;
    void (*release)(void); /* frees its scratch memory, once the outputs have been read */
};

/* Opens build/ref/f64.so or f32.so. EXIT_UNAVAILABLE if that cannot be. */
int reference_open(struct reference *r, const char *path, struct error *e);
void reference_close(struct reference *r);

#endif
