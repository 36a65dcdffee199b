/*
 * rule - the mutation rules, read from mutants/rules/<family>.rules (LANGUAGE.md there).
 */
#ifndef ASSAY_RULE_H
#define ASSAY_RULE_H

#include <stdbool.h>

#include "error.h"
#include "guard.h"
#include "hash.h"
#include "lex.h"
#include "pattern.h"

/* One way in which a rule edits. */
struct alternative {
    struct pattern match, replacement;
};

struct example {
    int line;
    char *code;
    char *becomes; /* NULL for code in which the rule must not fire */
};

struct rule {
    const char *path; /* of its file; owned by the rules */
    int line;
    char *family, *name;
    char *id; /* family/name */
    char *means, *source;
    char **real;
    int reals;
    bool in[3];                       /* by enum function_kind */
    struct alternative **alternative; /* pointers, because a pattern must stay where it was read */
    int alternatives;
    struct guard *guard;
    int guards;
    struct example *example;
    int examples;
};

struct rules {
    struct rule *rule; /* by family, and within a family as in its file */
    int count;
    char **path;
    int paths;
    char sha256[HASH_HEX]; /* of all the files' names and texts */
};

/* Reads every *.rules file of a folder. EXIT_IO; EXIT_DATA with `path:line:`, or if there is none. */
int rules_read(struct rules *rules, const char *folder, struct error *e);
void rules_free(struct rules *rules);

#endif
