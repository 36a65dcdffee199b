/* table - the operators as a problem reaches them, and their scratch memory. */
#include "ref.cuh"

enum { SCRATCH_MAX = 4096 };

static real *scratch[SCRATCH_MAX];
static int scratches;

real *ref_scratch(long n)
{
    real *memory = nullptr;
    if (scratches == SCRATCH_MAX || cudaMallocAsync(&memory, n * sizeof *memory, 0) != cudaSuccess)
        return nullptr;
    cudaMemsetAsync(memory, 0, n * sizeof *memory, 0);
    return scratch[scratches++] = memory;
}

void ref_release(void)
{
    while (scratches > 0)
        cudaFreeAsync(scratch[--scratches], 0);
}

static const real *at(const real *x, long offset)
{
    return x + offset;
}

extern "C" {
extern const struct ref ref_table;
const struct ref ref_table = {
    ref_scratch,
    at,
#define REF_ENTRY(name, parameters) ref_##name,
    REF_OPERATORS(REF_ENTRY)
#undef REF_ENTRY
};
}
