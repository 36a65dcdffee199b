#include "strategy.h"

#include <string.h>

#include "dtype.h"

static const char *const NAME[STRATEGIES] = {"default",          "boundary",         "regular",
                                             "single_dtype_f32", "single_dtype_f16", "nan_injected",
                                             "adversarial"};
static const char PREFIX[] = "single_dtype_"; /* need not be said */

/* The share of the elements that nan_injected replaces. */
static const double INJECTED = 0.05;

/* How many of the smallest numbers of the dtype are its tiniest. */
enum { TINIEST = 8 };

/* The random stream that extents are drawn from; tensors have the numbers below. */
enum { EXTENT_STREAM = CORPUS_INPUTS };

const char *strategy_name(enum strategy strategy)
{
    return NAME[strategy];
}

bool strategy_find(const char *name, enum strategy *strategy)
{
    for (int s = 0; s < STRATEGIES; s++) {
        bool prefixed = strncmp(NAME[s], PREFIX, sizeof PREFIX - 1) == 0;
        if (strcmp(NAME[s], name) == 0 ||
            (prefixed && strcmp(NAME[s] + sizeof PREFIX - 1, name) == 0)) {
            *strategy = (enum strategy)s;
            return true;
        }
    }
    return false;
}

enum dtype strategy_dtype(enum strategy strategy, long iteration)
{
    static const enum dtype TURN[DTYPES] = {FLOAT32, FLOAT16, BFLOAT16};
    switch (strategy) {
    case STRATEGY_F32: return FLOAT32;
    case STRATEGY_F16: return FLOAT16;
    default: return TURN[iteration % DTYPES];
    }
}

/* The entry's own candidates, or the strategy's in their place. */
static struct corpus_dim candidates(enum strategy strategy, const struct corpus_dim *dim)
{
    static const long BOUNDARY[] = {1, 3, 7}, REGULAR[] = {128, 256, 512};
    if (strcmp(dim->name, "H") == 0 && strategy == STRATEGY_BOUNDARY)
        return (struct corpus_dim){dim->name, BOUNDARY, 3};
    if (strcmp(dim->name, "H") == 0 && strategy == STRATEGY_REGULAR)
        return (struct corpus_dim){dim->name, REGULAR, 3};
    return *dim;
}

void strategy_extents(enum strategy strategy, const struct corpus_entry *entry, generator_word word,
                      long extent[])
{
    for (int d = 0; d < entry->dims; d++) {
        const struct corpus_dim dim = candidates(strategy, &entry->dim[d]);
        const double u = generator_unit(generator_hash(word, EXTENT_STREAM, d));
        extent[d] = dim.candidate[(int)(u * dim.count)];
    }
}

/* NaN, +Inf or −Inf. */
static double nonfinite(generator_word h)
{
    static const double VALUE[] = {__builtin_nan(""), __builtin_inf(), -__builtin_inf()};
    return VALUE[h % 3];
}

static double adversarial(enum dtype dtype, generator_word h)
{
    const generator_word g = generator_mix(h);
    const double sign = g >> 32 & 1 ? -1 : 1;
    switch (g % 5) {
    case 0: return 0;
    case 1: return sign * DTYPE_FORMAT[dtype].smallest * (double)(1 + (g >> 33) % TINIEST);
    case 2: return sign * DTYPE_FORMAT[dtype].largest / 10;
    case 3: return generator_between(-1000, 1000, generator_unit(h));
    default: return nonfinite(g >> 33);
    }
}

void strategy_values(enum strategy strategy, const struct corpus *corpus, enum dtype dtype,
                     generator_word word, int t, long count, double values[])
{
    const double low = corpus->low, high = corpus->high;
    for (long i = 0; i < count; i++)
        values[i] = generator_between(low, high, generator_unit(generator_hash(word, t, i)));
    if (strategy != STRATEGY_NAN_INJECTED && strategy != STRATEGY_ADVERSARIAL)
        return;
    for (long i = 0; i < count; i++) {
        const generator_word h = generator_hash(word, t, i);
        if (strategy == STRATEGY_ADVERSARIAL)
            values[i] = adversarial(dtype, h);
        else if (generator_unit(generator_mix(~h)) < INJECTED)
            values[i] = generator_special(generator_mix(h));
    }
}
