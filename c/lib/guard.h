/* guard - the `where` of a rule: a condition on a match. */
#ifndef ASSAY_GUARD_H
#define ASSAY_GUARD_H

#include <stdbool.h>

#include "error.h"
#include "pattern.h"

enum guard_test { GUARD_IS, GUARD_IN, GUARD_DIFFERS, GUARD_HAS, GUARD_INSIDE, GUARD_FUNCTION_HAS };

struct guard {
    int line;
    enum guard_test test;
    bool negated;
    char meta[32], other[32]; /* the metavariables it asks about; empty if none */
    int what;                 /* the kind or the place */
    struct source *text;      /* the texts of `in`, the token of `has` */
    int texts;
};

/* Reads what follows `where`. EXIT_DATA with path and line for what the language does not have. */
int guard_read(struct guard *g, const char *path, int line, const char *text, struct error *e);
void guard_free(struct guard *g);

/* Does it hold for a match of p in x? */
bool guard_holds(const struct guard *g, const struct pattern *p, const struct match *m,
                 const struct syntax *x);

#endif
