/* The corpus's operators, run as kernels on the executor, against their definitions in long double.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../backend/cpu/simt.h"
#include "backend/cpu/formula.h"
#include "random.h"

#include <cmocka.h> /* last: it defines a macro named fail */

typedef long double wide;

enum { B = 2, S = 3, H = 5, COUNT = B * S * H, M = 3, N = 4, D = 5 };

static struct reference *library;

static int open_library(void **state)
{
    struct error e;
    (void)state;
    return simt_start(&e) || formulas_open(&library, "build/ref/f64.so", &e);
}

static int close_library(void **state)
{
    (void)state;
    formulas_close(library);
    return 0;
}

/* The absolute part is for gelu, where 1 + tanh cancels. */
static void assert_near(double value, wide expected)
{
    assert_true(fabsl(value - expected) <= 1e-13L * (0.1L + fabsl(expected)));
}

/* Runs an operator of B, S, H on x. */
static void run(const char *name, double *x, double parameter, double y[COUNT])
{
    struct error e;
    const struct formula *formula = formula_find(name);
    assert_non_null(formula);
    assert_int_equal(
        formula_run(formula, library, (double *[]){x}, y, (long[]){B, S, H}, parameter, &e), 0);
}

static wide relu(wide x)
{
    return x < 0 ? 0 : x;
}

static wide leaky_relu(wide x)
{
    return x < 0 ? 0.01L * x : x;
}

static wide elu(wide x)
{
    return x < 0 ? 2 * (expl(x) - 1) : x;
}

static wide sigmoid(wide x)
{
    return 1 / (1 + expl(-x));
}

static wide silu(wide x)
{
    return x * sigmoid(x);
}

static wide gelu(wide x)
{
    return 0.5L * x * (1 + tanhl(sqrtl(2 / acosl(-1)) * (x + 0.044715L * x * x * x)));
}

static void elementwise(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        wide (*definition)(wide x);
        double parameter;
    } CASES[] = {{"relu", relu, 0}, {"leaky_relu", leaky_relu, 0.01},
                 {"elu", elu, 2},   {"sigmoid", sigmoid, 0},
                 {"silu", silu, 0}, {"gelu", gelu, 0},
                 {"tanh", tanhl, 0}};
    double *x = random_tensor(0, COUNT), y[COUNT];
    for (size_t k = 0; k < sizeof CASES / sizeof *CASES; k++) {
        run(CASES[k].name, x, CASES[k].parameter, y);
        for (int i = 0; i < COUNT; i++)
            assert_near(y[i], CASES[k].definition(x[i]));
    }
    free(x);
}

/* What each row is divided by, and what is taken off before. */
static wide norm_of(const char *name, const double *row, wide eps, wide *centre)
{
    wide sum = 0, squares = 0;
    for (int i = 0; i < H; i++)
        sum += row[i];
    *centre = strcmp(name, "layernorm") == 0 ? sum / H : 0;
    for (int i = 0; i < H; i++)
        squares += (row[i] - *centre) * (row[i] - *centre);
    return sqrtl(strcmp(name, "l2norm") == 0 ? squares + eps : squares / H + eps);
}

static void norms(void **state)
{
    (void)state;
    static const char *const NAMES[] = {"layernorm", "rmsnorm", "l2norm"};
    double *x = random_tensor(1, COUNT), y[COUNT];
    for (int k = 0; k < 3; k++) {
        run(NAMES[k], x, 0.5, y);
        for (int i = 0; i < COUNT; i++) {
            wide centre, norm = norm_of(NAMES[k], x + i / H * H, 0.5L, &centre);
            assert_near(y[i], (x[i] - centre) / norm);
        }
    }
    free(x);
}

static void softmax(void **state)
{
    (void)state;
    double *x = random_tensor(2, COUNT), y[COUNT];
    run("softmax", x, 0, y);
    for (int i = 0; i < COUNT; i++) {
        wide total = 0;
        for (int j = 0; j < H; j++)
            total += expl((wide)x[i / H * H + j] - x[i]);
        assert_near(y[i], 1 / total);
    }
    free(x);
}

static void matmul(void **state)
{
    (void)state;
    struct error e;
    double *a = random_tensor(3, M * D), *b = random_tensor(4, D * N), y[M * N];
    assert_int_equal(formula_run(formula_find("matmul"), library, (double *[]){a, b}, y,
                                 (long[]){M, D, N}, 0, &e),
                     0);
    for (int i = 0; i < M * N; i++) {
        wide sum = 0;
        for (int j = 0; j < D; j++)
            sum += (wide)a[i / N * D + j] * b[j * N + i % N];
        assert_near(y[i], sum);
    }
    free(a);
    free(b);
}

static void attention(void **state)
{
    (void)state;
    struct error e;
    double *q = random_tensor(5, M * D), *k = random_tensor(6, N * D), *v = random_tensor(7, N * D);
    double y[M * D];
    assert_int_equal(formula_run(formula_find("attention"), library, (double *[]){q, k, v}, y,
                                 (long[]){M, N, D}, 0, &e),
                     0);
    for (int i = 0; i < M * D; i++) {
        wide total = 0, sum = 0;
        for (int n = 0; n < N; n++) {
            wide dot = 0;
            for (int j = 0; j < D; j++)
                dot += (wide)q[i / D * D + j] * k[n * D + j];
            const wide weight = expl(dot / sqrtl(D));
            total += weight;
            sum += weight * v[n * D + i % D];
        }
        assert_near(y[i], sum / total);
    }
    free(q);
    free(k);
    free(v);
}

static void unknown_operator(void **state)
{
    (void)state;
    assert_null(formula_find("softmin"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elementwise), cmocka_unit_test(norms),
        cmocka_unit_test(softmax),     cmocka_unit_test(matmul),
        cmocka_unit_test(attention),   cmocka_unit_test(unknown_operator),
    };
    return cmocka_run_group_tests_name("formula", tests, open_library, close_library);
}
