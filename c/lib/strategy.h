/*
 * strategy - what the fuzzer varies: candidate sizes, dtypes, the distribution of the values.
 *
 *   default             the entry's own sizes, values uniform in the corpus's range, dtypes in turn
 *   single_dtype_f32, single_dtype_f16 (f32 and f16 for short)
 *                       the same with one dtype alone
 *   boundary, regular   default with H in {1, 3, 7}, or in {128, 256, 512}
 *   nan_injected        default, but 5 % of the elements are NaN, ±Inf or 0
 *   adversarial         equal shares of 0, the dtype's tiniest numbers, a tenth of its largest,
 *                       uniform in ±1000, and NaN or ±Inf
 *
 * A case is drawn from one random word, and the strategy has no part in that word: strategies that
 * draw from the same candidates see the same cases.
 */
#ifndef ASSAY_STRATEGY_H
#define ASSAY_STRATEGY_H

#include <stdbool.h>

#include "corpus.h"
#include "generator.h"

enum strategy {
    STRATEGY_DEFAULT,
    STRATEGY_BOUNDARY,
    STRATEGY_REGULAR,
    STRATEGY_F32,
    STRATEGY_F16,
    STRATEGY_NAN_INJECTED,
    STRATEGY_ADVERSARIAL,
    STRATEGIES
};

/* The strategy's name in a row; the strategy of a name, or of a short one. */
const char *strategy_name(enum strategy strategy);
bool strategy_find(const char *name, enum strategy *strategy);

/* The dtype of a case with this number. */
enum dtype strategy_dtype(enum strategy strategy, long iteration);

/* The extent of each of the entry's dimensions. */
void strategy_extents(enum strategy strategy, const struct corpus_entry *entry, generator_word word,
                      long extent[]);

/* The `count` values of input number t, before they are rounded to the dtype. */
void strategy_values(enum strategy strategy, const struct corpus *corpus, enum dtype dtype,
                     generator_word word, int t, long count, double values[]);

#endif
