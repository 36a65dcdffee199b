/* scored - score documents, read back: the kill matrix of a problem and the fate of each mutant. */
#ifndef ASSAY_SCORED_H
#define ASSAY_SCORED_H

#include <jansson.h>
#include <stdbool.h>

#include "error.h"

/* As in score.h. Texts are borrowed; class, inputs and protocols are NULL when it was not run. */
struct fate {
    const char *id, *rule, *family, *status, *class;
    const char *inputs, *protocols;
};

struct scored {
    json_t *document; /* owned */
    const char *problem;
    struct fate *fate;
    int fates;
    const char **input; /* ids, in the order of fate.inputs */
    int inputs;
    const char **protocol; /* ids, in the order of fate.protocols */
    int protocols;
};

/* Reads a score document. EXIT_IO; EXIT_DATA. scored_free() after success only. */
int scored_read(struct scored *s, const char *path, struct error *e);
void scored_free(struct scored *s);

/* The place of that name, or -1. */
int scored_input(const struct scored *s, const char *input);
int scored_protocol(const struct scored *s, const char *protocol);

bool fate_is(const struct fate *f, const char *status);

/* Is the letter of an input or a protocol a kill (x or t)? */
bool letter_kills(char letter);

#endif
