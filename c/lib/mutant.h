/*
 * mutant - from rules and a kernel to mutants, and what is done with them.
 */
#ifndef ASSAY_MUTANT_H
#define ASSAY_MUTANT_H

#include <stddef.h>

#include "error.h"
#include "hash.h"
#include "lex.h"
#include "rewrite.h"
#include "rule.h"

struct mutant {
    char *id; /* family/name-xxxxxxxx */
    char *family;
    char *rule;        /* family/name */
    char *function;    /* the name of the function it is in */
    char *original;    /* the text that its rule matched, on one line */
    int line;          /* of the first edit */
    struct edit *edit; /* ascending and disjoint */
    int edits;
    char sha256[HASH_HEX]; /* of the mutated source */
};

struct mutants {
    struct mutant *mutant; /* by position, then by rule id */
    int count;
};

/*
 * mutants_make - every mutant of a source by an array of rules
 *
 * Those whose tokens equal the original's, or those of a mutant of an earlier rule or match, are
 * left out. EXIT_BUG when a mutated source has no longer paired brackets, which no rule can bring
 * about.
 */
int mutants_make(struct mutants *made, const struct source *s, const struct rule *rule, int rules,
                 struct error *e);
void mutants_free(struct mutants *m);

/* What `$new` stands for: a name that the source does not have. */
void mutant_fresh_name(const struct source *s, char name[32]);

/* The mutant of that id, or NULL. */
const struct mutant *mutants_find(const struct mutants *m, const char *id);

/*
 * mutant_apply - the mutated text, malloc'd and NUL-terminated
 *
 * EXIT_DATA when an edit reaches outside the text, or the result is not the one that the mutant's
 * sha256 tells of: then the text is not that of the kernel which was mutated.
 */
int mutant_apply(const struct mutant *m, const char *text, size_t size, char **mutated,
                 size_t *mutated_size, struct error *e);

#endif
