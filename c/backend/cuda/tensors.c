#include "tensors.h"

#include <stdlib.h>

#include "../../lib/memory.h"

/* Tensors begin where cudaMalloc would have them begin. */
static size_t aligned(size_t offset)
{
    return (offset + 255) / 256 * 256;
}

/* A place after a gap; *end moves behind it. */
static size_t place(size_t *end, size_t bytes)
{
    size_t offset = aligned(*end + TENSORS_GAP);
    *end = offset + bytes;
    return offset;
}

void tensors_place(struct tensors *x, const struct recipe *r)
{
    *x = (struct tensors){0};
    size_t **all[] = {&x->in, &x->out, &x->reference, &x->original, &x->in_count, &x->out_count};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        *all[k] = memory_zeroed(r->tensors, sizeof **all[k]);
    for (int t = 0; t < r->tensors; t++) {
        size_t count = (size_t)tensor_count(&r->tensor[t]);
        if (r->tensor[t].role == OUTPUT) {
            x->out_count[x->outs] = count;
            x->out[x->outs] = place(&x->outputs, count * sizeof(float));
            x->reference[x->outs++] = x->answers;
            x->answers = aligned(x->answers + count * sizeof(double));
            x->count += count;
        } else {
            x->in_count[x->ins] = count;
            x->in[x->ins++] = place(&x->inputs, count * sizeof(float));
        }
    }
    for (int k = 0; k < x->outs; k++) {
        x->original[k] = x->answers;
        x->answers = aligned(x->answers + x->out_count[k] * sizeof(float));
    }
    x->inputs = aligned(x->inputs + TENSORS_GAP);
    x->outputs = aligned(x->outputs + TENSORS_GAP);
}

void tensors_free(struct tensors *x)
{
    size_t *all[] = {x->in, x->out, x->reference, x->original, x->in_count, x->out_count};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        free(all[k]);
    *x = (struct tensors){0};
}
