#include "outcome.h"

#include <string.h>

static const char *const NAME[] = {"finished", "crashed", "timeout", "deadlock", "bad_launch"};

const char *outcome_name(enum outcome outcome)
{
    return NAME[outcome];
}

bool outcome_find(const char *name, enum outcome *outcome)
{
    for (int k = 0; k < (int)(sizeof NAME / sizeof *NAME); k++) {
        if (strcmp(name, NAME[k]) == 0) {
            *outcome = (enum outcome)k;
            return true;
        }
    }
    return false;
}
