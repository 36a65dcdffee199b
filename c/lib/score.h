/*
 * score - from the raw rows of one problem to verdicts: what became of every mutant, which
 * protocols kill it, and why the official one does not. Nothing is run again.
 *
 * An input counts only where the gate calls it valid. On those,
 *
 *   a mutant fails        where it does not finish, or its critical tolerance is above
 *                         OFFICIAL_TOLERANCE: that input is a witness
 *   a protocol kills it   where its rule rejects the mutant and accepts the original
 *
 * A timeout is such a failure and such a kill, and is counted beside as well. A false rejection is
 * an input of a protocol, valid or not, on which its rule rejects the original.
 *
 * The score is a document of schema assay/score:
 *
 *   problem      <group>/<NNN_name>
 *   reduction    the longest sum behind an output element, if the gate's header says it
 *   ladder       and ceiling: as in ladder.h
 *   mutants      the funnel: generated = uncompilable + equivalent + duplicate +
 *                indistinguishable + distinguishable; distinguishable = witnessed + quarantined.
 *                Of the witnessed, timeout_only fail on no input but by timeout
 *   official     of the official inputs: ref_max, the largest reference value; unseen_rel, the
 *                relative error of that element which the tolerance just allows; zero_passes:
 *                would an output of zeros pass them all? blind_rel: the largest relative error
 *                that any mutant had there and was accepted with
 *   inputs       input, suite, valid, resized, why (not valid), in the gate's order
 *   protocols    by id: killed of the witnessed, timeout_only (kills by nothing else), inputs,
 *                false_rejections, and not_looked: mutants that pass unless a race is found where
 *                no oracle looked
 *   set_cover    inputs a problem, by id, of the protocols that choose from the kills below
 *   fates        one a mutant, by id: rule, family, status; of the compiled, `class` (below) and
 *                two texts with a letter each in the order of `inputs` and of the keys of
 *                `protocols`
 *
 * The letters of an input: - not valid, . same bits as the original, d differs, x fails, t timeout.
 * Of a protocol: . accepts, x kills, t kills by timeouts alone, ? accepts but not looked for races.
 *
 * The class of a witnessed mutant that the official protocol kills is `killed` where a wrong number
 * shows it, else `killed_by_fault` where a run does not finish, else `killed_by_poison` or, where the
 * NaN came from outside a buffer, `killed_by_stray`: a GPU has other values in such places. Of a survivor:
 *
 *   schedule         a race was seen on a valid input: its values are luck
 *   memory           on an official input it strayed, diverged or wrote an input, and no value
 *                    showed it
 *   blind_zone       its output differs on an official input, within the tolerance
 *   value            the same bits on all official inputs, but not on others of the same sizes
 *   size             only inputs of other sizes show it
 *
 * of a quarantined mutant:
 *
 *   race, memory     the same observations, on any valid input
 *   rounding         everywhere as near to the reference as the original (twice its ulp and 8 more)
 *   below_tolerance  further off, yet nowhere by more than the tolerance
 *
 * and of an indistinguishable one: race, memory, silent.
 */
#ifndef ASSAY_SCORE_H
#define ASSAY_SCORE_H

#include <jansson.h>

#include "error.h"

struct score_files {
    const char *gate, *images, *manifest, *rows;
    const char *race;      /* rows of the race oracle, or NULL */
    const char *ladder;    /* the gate's judgement of the ladder suites, or NULL */
    const char *protocols; /* a folder */
};

/* Scores one problem. *score is a new reference. EXIT_IO; EXIT_DATA for files that do not fit
 * together, such as rows that lack a compiled mutant on an input. */
int score_problem(const struct score_files *files, json_t **score, struct error *e);

#endif
