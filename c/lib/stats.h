/*
 * stats - quantiles and bands for shares. Deterministic: the bootstrap draws from the project's
 * counter-based generator with a fixed seed.
 */
#ifndef ASSAY_STATS_H
#define ASSAY_STATS_H

/* The 0.975 quantile of the normal distribution, for 95 % intervals. */
#define STATS_Z95 1.959963984540054

struct interval {
    double low, high;
};

/* Ascending, in place; NaN last. */
void stats_sort(double x[], int n);

/* The p-quantile (0 ≤ p ≤ 1) of n ≥ 1 sorted values: linear between order statistics, position
 * p (n − 1) counted from 0 (Hyndman and Fan's type 7). */
double stats_quantile(const double sorted[], int n, double p);

/* Wilson's score interval for a share of `hits` in `trials`; [0, 1] when trials is 0. */
struct interval stats_wilson(long hits, long trials, double z);

/*
 * stats_bootstrap_share - percentile band of Σ part / Σ whole when only `drawn` units are at hand
 *
 *   part, whole  in  by unit (a problem), n of them; every whole > 0
 *   drawn        in  units drawn with replacement in each round, ≥ 1
 *   level        in  0.9: the 5 % and the 95 % quantile over the rounds
 */
struct interval stats_bootstrap_share(const double part[], const double whole[], int n, int drawn,
                                      double level);

/*
 * stats_bootstrap_rank - percentile band of an order statistic, exactly: the limit of infinitely many
 * rounds, each drawing n of the n sorted values with replacement
 *
 *   rank   in  of the order statistic, 0 … n − 1
 *   level  in  0.95: the 2.5 % and the 97.5 % quantile over the rounds
 *
 * A resample's order statistic is at most the value number j when more than `rank` of the n draws fall
 * on the numbers 0 … j, which is a binomial tail. The band is two such numbers.
 */
struct ranks {
    int low, high;
};
struct ranks stats_bootstrap_rank(int n, int rank, double level);

/* P(X ≥ k) for X binomial with n trials of probability p, 0 ≤ p ≤ 1. */
double stats_binomial_tail(int n, double p, int k);

#endif
