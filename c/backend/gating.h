/* gating - the record of a gated input: what the original kernel and the references say of it. */
#ifndef ASSAY_GATING_H
#define ASSAY_GATING_H

#include <jansson.h>

#include "setup.h"

/* The first line of a gate.jsonl. A new reference. */
json_t *gating_header(const struct setup *s);

/* The record of an input whose trial is made. *why becomes NULL when the input is valid, or the reason why
 * it is not. A new reference. */
json_t *gating_record(const struct setup *s, const struct trial *t, const char **why);

#endif
