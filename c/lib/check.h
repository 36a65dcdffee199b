/* check - does a rule do what its own examples say? */
#ifndef ASSAY_CHECK_H
#define ASSAY_CHECK_H

#include <stdio.h>

#include "rule.h"

/*
 * Makes the mutants of every `example` and `never`. Writes a line `path:line: …` to `complaints`
 * for each one that does not come out as the rule says, and returns how many there are.
 *
 * An example that defines no function stands in one of the rule's first place, with some parameters
 * and shared arrays that LANGUAGE.md lists.
 */
int rule_check(const struct rule *rule, FILE *complaints);

#endif
