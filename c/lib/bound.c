#include "bound.h"

#include <math.h>

static const double UNIT_ROUNDOFF[DTYPES] = {
    [BFLOAT16] = 0x1p-8, [FLOAT16] = 0x1p-11, [FLOAT32] = 0x1p-24};

const char *bound_name(enum bound bound)
{
    static const char *const NAME[BOUNDS] = {"length", "worst", "probable"};
    return NAME[bound];
}

double bound_error(enum bound bound, const struct corpus_entry *control, const long extent[],
                   enum dtype dtype)
{
    const struct corpus_bound *b = &control->bound;
    double length = 0, u = UNIT_ROUNDOFF[FLOAT32];
    for (int d = 0; d < control->dims; d++)
        length += b->summed[d] ? (double)extent[d] : 0;
    if (bound == BOUND_LENGTH)
        return fmax(length, 1) * 2 * UNIT_ROUNDOFF[dtype];
    double n = length + b->roundings, growth = n * u < 1 ? n * u / (1 - n * u) : INFINITY;
    if (bound == BOUND_PROBABLE && n > 0)
        growth = fmin(growth, expm1(sqrt(2 * log(2 * n / 0.05) * n) * u + n * u * u / (1 - u)));
    return growth * corpus_magnitude(&b->magnitude, control->dims, extent) +
           2 * UNIT_ROUNDOFF[dtype] * corpus_magnitude(&b->rounded, control->dims, extent);
}
