/* The reference operators beyond what the problems' golden outputs reach: strides, padding, sizes
 * that fill no tile. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "../backend/cpu/reference.h"
#include "../backend/cpu/simt.h"
#include "random.h"

#include <cmocka.h> /* last: it defines a macro named fail */

static struct reference library;

static int open_library(void **state)
{
    struct error e;
    (void)state;
    return simt_start(&e) || reference_open(&library, "build/ref/f64.so", &e);
}

static int close_library(void **state)
{
    (void)state;
    reference_close(&library);
    return 0;
}

static double *zeros(long count)
{
    double *x = calloc((size_t)count, sizeof *x);
    assert_non_null(x);
    return x;
}

/* Runs one operator, as a problem's reference would: `what` is the operator with its arguments. */
static void run(void (*what)(const struct ref *r, real *const in[], real *const out[],
                             const long d[], const double h[]),
                double *const in[], double *out, const long sizes[])
{
    struct error e;
    const struct problem asked = {.reference = what};
    const struct plugin plugin = {.problem = &asked, .id = "test"};
    if (reference_run(&plugin, &library, (void *const *)in, (void *[]){out}, sizes, NULL, &e))
        fail_msg("%s", e.text);
}

enum { N, C, F, K, OUT_H, OUT_W, STRIDE, PADDING };

static long in_extent(const long d[], int out)
{
    return (d[out] - 1) * d[STRIDE] - 2 * d[PADDING] + d[K];
}

static void convolve(const struct ref *r, real *const in[], real *const out[], const long d[],
                     const double h[])
{
    (void)h;
    r->conv2d(out[0], in[0], in[1], NULL, d[N], d[C], in_extent(d, OUT_H), in_extent(d, OUT_W),
              d[F], d[K], d[K], d[STRIDE], d[PADDING], 1);
}

static void convolve_back(const struct ref *r, real *const in[], real *const out[], const long d[],
                          const double h[])
{
    (void)h;
    r->conv_transpose2d(out[0], in[0], in[1], NULL, d[N], d[F], d[OUT_H], d[OUT_W], d[C], d[K],
                        d[STRIDE], d[PADDING]);
}

static double dot(const double *x, const double *y, long count)
{
    double sum = 0;
    for (long i = 0; i < count; i++)
        sum += x[i] * y[i];
    return sum;
}

/* conv(x)·y = x·convᵀ(y), for every x and y, is what a transposed convolution is. */
static void transposed_convolution_is_the_adjoint(void **state)
{
    (void)state;
    static const long SIZES[][8] = {{2, 3, 4, 3, 5, 2, 1, 0},
                                    {1, 2, 3, 3, 4, 5, 2, 1},
                                    {2, 1, 2, 2, 3, 4, 3, 0},
                                    {1, 2, 1, 5, 3, 2, 2, 2},
                                    {1, 1, 1, 1, 4, 3, 1, 0}};
    for (size_t k = 0; k < sizeof SIZES / sizeof *SIZES; k++) {
        const long *d = SIZES[k];
        long small = d[N] * d[F] * d[OUT_H] * d[OUT_W];
        long large = d[N] * d[C] * in_extent(d, OUT_H) * in_extent(d, OUT_W);
        double *x = random_tensor(0, large), *y = random_tensor(1, small),
               *w = random_tensor(2, d[C] * d[F] * d[K] * d[K]);
        double *forward = zeros(small), *back = zeros(large);
        run(convolve, (double *[]){x, w}, forward, d);
        run(convolve_back, (double *[]){y, w}, back, d);
        double one = dot(forward, y, small), other = dot(x, back, large);
        assert_true(fabs(one) > 1e-3);
        assert_true(fabs(one - other) <= 1e-9); /* of thousands */
        free(x), free(y), free(w), free(forward), free(back);
    }
}

static void multiply(const struct ref *r, real *const in[], real *const out[], const long d[],
                     const double h[])
{
    (void)h;
    r->matmul(out[0], in[0], in[1], d[0], d[1], d[2]);
}

static void multiply_rows(const struct ref *r, real *const in[], real *const out[], const long d[],
                          const double h[])
{
    (void)h;
    r->linear(out[0], in[0], in[1], in[2], d[0], d[1], d[2]);
}

/* Tiles have 16 rows, columns and terms. Sums are in order, so that the bits are those of a plain
 * loop. */
static void products_are_sums_in_order(void **state)
{
    (void)state;
    static const long SIZES[][3] = {{1, 1, 1},   {16, 16, 16}, {17, 33, 15},
                                    {3, 40, 18}, {1, 100, 1},  {20, 2, 35}};
    for (size_t k = 0; k < sizeof SIZES / sizeof *SIZES; k++) {
        const long *d = SIZES[k], m = d[0], terms = d[1], n = d[2];
        double *a = random_tensor(3, m * terms), *b = random_tensor(4, terms * n),
               *bias = random_tensor(5, n);
        double *product = zeros(m * n), *rows = zeros(m * n);
        run(multiply, (double *[]){a, b}, product, d);
        run(multiply_rows, (double *[]){a, b, bias}, rows, d);
        for (long i = 0; i < m * n; i++) {
            double sum = 0, row_sum = 0;
            for (long j = 0; j < terms; j++) {
                sum += a[i / n * terms + j] * b[j * n + i % n];
                row_sum += a[i / n * terms + j] * b[i % n * terms + j];
            }
            assert_true(product[i] == sum);
            assert_true(rows[i] == row_sum + bias[i % n]);
        }
        free(a), free(b), free(bias), free(product), free(rows);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transposed_convolution_is_the_adjoint),
        cmocka_unit_test(products_are_sums_in_order),
    };
    return cmocka_run_group_tests(tests, open_library, close_library);
}
