/*
 * rewrite - what a match of a rule does to the text: edits, as small as they can be.
 *
 * What pattern and replacement have in common at the ends of a part stays untouched, layout and
 * comments with it.
 */
#ifndef ASSAY_REWRITE_H
#define ASSAY_REWRITE_H

#include <stddef.h>

#include "pattern.h"
#include "syntax.h"

/* The bytes [begin, end) give way to `text`. */
struct edit {
    int begin, end;
    char *text;
};

struct rewrite {
    const struct syntax *x;      /* of the source that was matched */
    const struct pattern *p, *r; /* the pattern and its replacement */
    const struct match *m;
    const char *fresh; /* what $new stands for */
};

/* What the metavariable at token i of the replacement stands for; begin NONE for $new. */
struct range rewrite_captured(const struct rewrite *c, int i);

/* Fills edit[], ascending and disjoint, and returns how many there are; the caller frees the texts.
 */
int rewrite_edits(const struct rewrite *c, struct edit edit[PATTERN_PARTS]);

/* The bytes [begin, end) of a text with the edits made, which lie in it. malloc'd, NUL-terminated.
 */
char *edits_apply(const struct edit *edit, int edits, const char *text, int begin, int end,
                  size_t *size);

#endif
