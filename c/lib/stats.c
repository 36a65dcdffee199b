#include "stats.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "generator.h"

enum { ROUNDS = 4000, SEED = 20260930 };

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    if (isnan(x) || isnan(y))
        return !!isnan(x) - !!isnan(y);
    return (x > y) - (x < y);
}

void stats_sort(double x[], int n)
{
    qsort(x, (size_t)n, sizeof *x, ascending);
}

double stats_quantile(const double sorted[], int n, double p)
{
    double position = p * (n - 1);
    int k = (int)position;
    if (k + 1 >= n || position == k)
        return sorted[k];
    return sorted[k] + (position - k) * (sorted[k + 1] - sorted[k]);
}

struct interval stats_wilson(long hits, long trials, double z)
{
    if (trials == 0)
        return (struct interval){0, 1};
    double n = (double)trials, share = (double)hits / n, z2 = z * z;
    double centre = (share + z2 / (2 * n)) / (1 + z2 / n);
    double half = z / (1 + z2 / n) * sqrt(share * (1 - share) / n + z2 / (4 * n * n));
    return (struct interval){hits == 0 ? 0 : centre - half, hits == trials ? 1 : centre + half};
}

struct interval stats_bootstrap_share(const double part[], const double whole[], int n, int drawn,
                                      double level)
{
    double share[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        double parts = 0, wholes = 0;
        for (int k = 0; k < drawn; k++) {
            int unit = (int)(generator_hash(SEED, drawn, (long)round * drawn + k) % (unsigned)n);
            parts += part[unit];
            wholes += whole[unit];
        }
        share[round] = parts / wholes;
    }
    stats_sort(share, ROUNDS);
    return (struct interval){stats_quantile(share, ROUNDS, (1 - level) / 2),
                             stats_quantile(share, ROUNDS, (1 + level) / 2)};
}

/* P(X = k), 0 < p < 1. */
static double binomial(int n, double p, int k)
{
    return exp(lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0) + k * log(p) +
               (n - k) * log1p(-p));
}

/* The smaller of the two tails is summed from its largest term outwards. */
double stats_binomial_tail(int n, double p, int k)
{
    if (k <= 0 || p >= 1)
        return k <= n;
    if (k > n || p <= 0)
        return 0;
    bool upper = k > n * p;
    int first = upper ? k : k - 1;
    double odds = p / (1 - p), term = binomial(n, p, first), sum = 0;
    for (int i = first; i >= 0 && i <= n && term > sum * 1e-17; i += upper ? 1 : -1) {
        sum += term;
        term *= upper ? odds * (n - i) / (i + 1) : i / (odds * (n - i + 1));
    }
    return upper ? sum : 1 - sum;
}

/* The first j at which P(order statistic ≤ value number j) reaches q. */
static int rank_quantile(int n, int rank, double q)
{
    int low = 0, high = n - 1;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (stats_binomial_tail(n, (middle + 1.0) / n, rank + 1) >= q)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

struct ranks stats_bootstrap_rank(int n, int rank, double level)
{
    return (struct ranks){rank_quantile(n, rank, (1 - level) / 2),
                          rank_quantile(n, rank, (1 + level) / 2)};
}
