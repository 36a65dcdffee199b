#include "select.h"

/* Wirth's form of Hoare's select: it does not slow down when many are equal. */
double select_kth(double *x, long low, long high, long k)
{
    while (low < high) {
        const double pivot = x[k];
        long i = low, j = high;
        while (i <= j) {
            while (x[i] < pivot)
                i++;
            while (pivot < x[j])
                j--;
            if (i > j)
                break;
            const double swap = x[i];
            x[i++] = x[j];
            x[j--] = swap;
        }
        if (j < k)
            low = i;
        if (k < i)
            high = j;
    }
    return x[k];
}
