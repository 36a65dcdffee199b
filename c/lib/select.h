/* select - order statistics without sorting. */
#ifndef ASSAY_SELECT_H
#define ASSAY_SELECT_H

/* The k-th smallest (from 0) of x[low … high], no NaN among them; moves it to x[k], smaller ones
 * below it and larger ones above. */
double select_kth(double *x, long low, long high, long k);

#endif
