#include "gating.h"

#include <string.h>

#include "../lib/validity.h"

/* Does the recipe change any size? */
static bool resized(const struct setup *s, const struct recipe *r)
{
    return memcmp(r->size, s->size, (size_t)s->plugin.problem->sizes * sizeof *s->size) != 0;
}

json_t *gating_header(const struct setup *s)
{
    json_t *header = setup_header(s, "gate");
    json_object_set_new(header, "reduction", json_integer(s->plugin.problem->reduction(s->size)));
    return header;
}

json_t *gating_record(const struct setup *s, const struct trial *t, const char **why)
{
    *why = validity_why_not(&t->original_run, &t->float32, t->finite);
    struct gated gated = {.input = t->recipe->id, .suite = t->recipe->suite, .valid = !*why, .why = *why,
                          .resized = resized(s, t->recipe), .original = t->original_run,
                          .float32 = t->float32};
    return gated_to_json(&gated);
}
