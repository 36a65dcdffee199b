#include "dtype.h"

static const char *const NAME[DTYPES] = {"bfloat16", "float16", "float32"};

const char *dtype_name(enum dtype dtype)
{
    return NAME[dtype];
}

bool dtype_find(const char *name, enum dtype *dtype)
{
    for (int d = DTYPES - 1; d >= 0; d--) { /* float32 is the most frequent */
        if (strcmp(NAME[d], name) == 0) {
            *dtype = (enum dtype)d;
            return true;
        }
    }
    return false;
}
