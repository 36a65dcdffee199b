/*
 * summary - all problems together: every number that the tables, figures and text quote.
 *
 * One profile's object, `.profiles.<profile>` of a document of schema assay/summary:
 *
 *   mutants           the funnel's sums, as in score.h
 *   families, rules   by name: how many mutants of each status, missed_official; families also:
 *                     rules, and how many of them have a real fault behind them (rules_real),
 *                     missed_share with its 95 % interval (Wilson), and the survivors by class;
 *                     rules also: family, means, real, source
 *   protocols         by id: killed, witnessed, share, timeout_only, not_looked, inputs and
 *                     false_rejections over all problems, and killed by family
 *   setcover          as in synthesis.h, without the problems
 *   problems          by name: the funnel, missed_official, missed_share, killed by protocol, the
 *                     survivors by class, and from the score: official, reduction, ladder, ceiling
 *   missed            of the official protocol: share, over the problems median and quartiles,
 *                     and `band`: its 90 % bootstrap interval when so many problems are drawn
 *   survivors         and quarantined, indistinguishable: mutants by class (score.h)
 *   real_mix          by mix and protocol: the share killed when families weigh as in real faults;
 *                     families without a witnessed mutant carry no weight
 *
 * A share without a denominator is left out.
 */
#ifndef ASSAY_SUMMARY_H
#define ASSAY_SUMMARY_H

#include "error.h"
#include "json.h"
#include "scored.h"

/* What the scores are set against. */
struct summary_context {
    struct json_at setcover;    /* a document of schema assay/setcover over the same problems */
    struct json_at real_faults; /* of schema assay/real-faults, for its `mixes`; value NULL: none */
    json_t *rules;              /* from summary_read_rules; NULL: only those that made a mutant */
};

/*
 * summary - the profile's object, a new reference
 *
 * EXIT_DATA for a problem given twice or unknown to the set cover, for budgets that it lacks, or
 * when the problems were not scored with the same protocols.
 */
int summary(const struct scored scored[], int problems, const struct summary_context *context,
            json_t **profile, struct error *e);

/* Reads all rules, one object a line as `mutate --list-rules --json` prints them, as an array: a
 * new reference. EXIT_IO; EXIT_DATA with `path:line:`. */
int summary_read_rules(const char *path, json_t **rules, struct error *e);

#endif
