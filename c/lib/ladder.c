#include "ladder.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "rows.h"

static bool scale_of(const char *input, double *scale)
{
    const char *x = strrchr(input, 'x');
    char *end;
    if (!x)
        return false;
    *scale = strtod(x + 1, &end);
    return end > x + 1 && *end == '\0' && *scale > 0;
}

static void add_rung(json_t *rungs, const struct gated *g, double scale)
{
    json_t *suite = json_object_get(rungs, g->suite);
    if (!suite) {
        suite = json_array();
        json_object_set_new(rungs, g->suite, suite);
    }
    json_array_append_new(suite,
                          json_pack("{sf sb ss* so so}", "scale", scale, "valid", g->valid, "why",
                                    g->why, "t", json_number_or_word(g->original.graded.t),
                                    "t_float32", json_number_or_word(g->float32.t)));
}

int ladder_read(const char *path, json_t **rungs, double *ceiling, struct error *e)
{
    struct gate gate;
    int code = gate_read(&gate, path, e);
    if (code)
        return code;
    *rungs = json_object();
    *ceiling = INFINITY;
    for (int i = 0; i < gate.count; i++) {
        const struct gated *g = &gate.input[i];
        double scale;
        if (!scale_of(g->input, &scale)) {
            code = fail(e, EXIT_DATA, "%s: the input '%s' is not named <name>-x<scale>", path,
                        g->input);
            break;
        }
        add_rung(*rungs, g, scale);
        if (!g->valid && scale >= 1)
            *ceiling = fmin(*ceiling, scale);
    }
    gate_free(&gate);
    if (code)
        json_decref(*rungs);
    return code;
}
