#include "validity.h"

#include "protocol.h"

const char *validity_why_not(const struct run *original, const struct graded *float32, bool finite)
{
    if (!finite)
        return "the reference is not finite";
    if (!graded_accepts(float32, OFFICIAL_TOLERANCE))
        return "undecidable: float32 itself leaves the official tolerance";
    if (original->outcome != OUTCOME_FINISHED)
        return "the original kernel does not finish";
    if (original->stray_read || original->stray_write || original->divergence || original->input_written)
        return "the original kernel misbehaves";
    if (!graded_accepts(&original->graded, OFFICIAL_TOLERANCE))
        return "a correct kernel is rejected at the official tolerance";
    return NULL;
}
