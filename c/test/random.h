/* random - inputs for tests of operators on the executor. */
#ifndef ASSAY_TEST_RANDOM_H
#define ASSAY_TEST_RANDOM_H

#include <stdlib.h>

#include "generator.h"

/* Numbers from -10 to 10, the same each time; other ones for each t. The caller frees them. */
static inline double *random_tensor(int t, long count)
{
    double *x = calloc((size_t)count, sizeof *x);
    if (!x)
        abort();
    for (long i = 0; i < count; i++)
        x[i] = generator_between(-10, 10, generator_unit(generator_hash(3, t, i)));
    return x;
}

#endif
