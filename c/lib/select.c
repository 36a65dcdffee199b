#include "select.h"

#include <stdbool.h>

/* Among SAMPLED elements or more the pivot is drawn from SAMPLE of them, MARGIN places off k's own:
 * about two standard deviations, so that k is nearly always on the side meant. */
enum { SAMPLE = 256, SAMPLED = 2048, MARGIN = 16 };

/* Moves what is less than the pivot (or equal to it, if asked) to the front; returns where the rest
 * begins. No branch depends on an element: half of them would be mispredicted. */
static inline __attribute__((always_inline)) long part(double *x, long low, long high, double pivot,
                                                       bool equal_too)
{
    long end = low;
    for (long i = low; i <= high; i++) {
        const double value = x[i];
        x[i] = x[end];
        x[end] = value;
        end += equal_too ? value <= pivot : value < pivot;
    }
    return end;
}

static double choose_pivot(const double *x, long low, long high, long k, bool above)
{
    const long count = high - low + 1;
    double sample[SAMPLE];
    if (count < SAMPLED)
        return x[k];
    for (long i = 0; i < SAMPLE; i++)
        sample[i] = x[low + i * count / SAMPLE];
    long rank = (k - low) * SAMPLE / count + (above ? MARGIN : -MARGIN);
    rank = rank < 0 ? 0 : rank < SAMPLE ? rank : SAMPLE - 1;
    return select_kth(sample, 0, SAMPLE - 1, rank);
}

/* Hoare's select: every round leaves out the pivot at least. One that is likely just above k lets
 * go of most elements in one pass; so does one just below it, where k is in the upper half. */
double select_kth(double *x, long low, long high, long k)
{
    while (low < high) {
        const bool above = k - low <= high - k;
        const double pivot = choose_pivot(x, low, high, k, above);
        long first = low, last = high + 1; /* of those equal to the pivot */
        if (above)
            first = part(x, low, high, pivot, false);
        else
            last = part(x, low, high, pivot, true);
        if (above && k >= first)
            last = part(x, first, high, pivot, true);
        if (!above && k < last)
            first = part(x, low, last - 1, pivot, false);
        if (k < first)
            high = first - 1;
        else if (k >= last)
            low = last;
        else
            return pivot;
    }
    return x[k];
}
