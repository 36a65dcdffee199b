/*
 * pattern - the two halves of a rule's edit: what it matches, and what takes its place.
 *
 * Patterns and replacements are sources like kernels are, with metavariables among their tokens
 * (mutants/rules/LANGUAGE.md). `...` cuts them into parts.
 */
#ifndef ASSAY_PATTERN_H
#define ASSAY_PATTERN_H

#include <stdbool.h>

#include "error.h"
#include "lex.h"
#include "syntax.h"
#include "word.h"

enum { PATTERN_METAS = 16, PATTERN_PARTS = 8, PATTERN_TOKENS = 256 };

struct metavariable {
    char name[32]; /* with its $ */
    enum meta_class class;
};

struct pattern {
    struct source s;
    struct syntax x;
    struct metavariable meta[PATTERN_METAS];
    int metas;
    int *meta_of;     /* for each token: the index of its metavariable, or NONE */
    enum rank *needs; /* for each token: what an operand in its place must at least bind like */
    struct range part[PATTERN_PARTS];
    int parts;
    bool has_statements,
        ends_statement; /* is there a whole one outside brackets; is the end one's? */
};

/*
 * pattern_read - a pattern
 * replacement_read - what replaces it: has the same number of parts and no metavariable of its own,
 *                    but $new
 *
 * `line` is where the text begins in the file `path`. EXIT_DATA with path and line when the text is
 * no sequence of C++ tokens and metavariables with paired brackets.
 */
int pattern_read(struct pattern *p, const char *path, int line, const char *text, struct error *e);
int replacement_read(struct pattern *r, const struct pattern *p, const char *path, int line,
                     const char *text, struct error *e);
void pattern_free(struct pattern *p);

/* The index of the metavariable of that name ("$x"), or NONE. */
int pattern_meta(const struct pattern *p, const char *name);

/* What an operand between the tokens left and right of [begin, end) must at least bind like. */
enum rank needed_rank(const struct syntax *x, int begin, int end);

struct match {
    struct range capture[PATTERN_METAS]; /* what each metavariable stands for */
    struct range part[PATTERN_PARTS];    /* what each part of the pattern matched */
    int at[PATTERN_TOKENS + 1];          /* where each token of the pattern begins to match */
};

typedef void match_found(void *context, const struct match *m);

/* Calls found() for every match that begins among the tokens of `within` and stays inside. */
void pattern_match(const struct pattern *p, const struct syntax *x, struct range within,
                   match_found *found, void *context);

#endif
