/*
 * lower - a CUDA source file as C++ that g++ compiles against the shim of the CPU backend.
 *
 * Three constructs have no C++ form and are rewritten by token: launches (`k<<<…>>>(…)`), shared
 * declarations, and barriers, which get the number of their site in the file. All else is left to
 * the shim's declarations and macros. Line numbers stay as they are, and the text depends on the
 * tokens only, so that files with equal tokens give equal machine code.
 */
#ifndef ASSAY_LOWER_H
#define ASSAY_LOWER_H

#include <stdbool.h>
#include <stdio.h>

#include "error.h"
#include "lex.h"

enum linkage {
    LINKAGE_KEPT,    /* for a file that is compiled alone */
    LINKAGE_STRIPPED /* extern "C" is taken off, so that several files can stand in namespaces */
};

/* The namespace of the original, beside which mutants stand. */
#define LOWER_ORIGINAL "original"

/* All owned; a line each, every line with its newline. */
struct lowered {
    char *system; /* #include <…> lines for the top of the translation unit, before the shim */
    char *quoted; /* #include "…" lines for after the shim */
    char *text;   /* the code, on its own line numbers */
    char *undefs; /* an #undef for each macro that the text defines */
    char *unseen; /* what a GPU's code depends on and this one may not: volatile, launch bounds,
                     streams, in order */
};

/*
 * lower - rewrites one file
 *
 * A function f with shared[f] is replaced by a `using` of the one in LOWER_ORIGINAL; shared may be
 * NULL. Headers that the shim stands for (cuda_runtime.h, math.h, …) are left out; the other
 * includes are hoisted, out of #if regions too.
 *
 * Returns 0, or EXIT_DATA with `path:line:` for what is not supported: a shared declaration outside
 * a function or not of the form `type name[…], …;`, a launch with fewer than two arguments, without
 * a name before it, or of a template without its template arguments.
 */
int lower(const struct source *s, enum linkage linkage, const bool shared[], struct lowered *l,
          struct error *e);
void lowered_free(struct lowered *l);

/*
 * lower_kernels - the kernels that the file launches, as expressions: `k`, `k < 2 >`
 *
 * In the words that simt_launcher() gets as the kernel's name. Owned, each with a newline, in the
 * order of the launches; one launched twice stands there twice. EXIT_DATA as lower().
 */
int lower_kernels(const struct source *s, char **kernels, struct error *e);

/* Writes a translation unit up to the code: system includes, shim, prelude, quoted includes. */
void lower_write_head(FILE *f, const char *system, const char *quoted);

#endif
