#include "formula.h"

#include <stdlib.h>
#include <string.h>

#include "../../lib/memory.h"
#include "reference.h"

/* One formula for every element. The functions below have a problem's form (problem.h): d[] holds
 * B, S, H unless they say otherwise, h[0] the parameter. */
#define ELEMENTWISE(name)                                                                          \
    static void elementwise_##name(const struct ref *r, real *const in[], real *const out[],       \
                                   const long d[], const double h[])                               \
    {                                                                                              \
        (void)h;                                                                                   \
        r->name(out[0], in[0], d[0] * d[1] * d[2]);                                                \
    }
ELEMENTWISE(relu)
ELEMENTWISE(gelu_tanh)
ELEMENTWISE(sigmoid)
ELEMENTWISE(silu)
ELEMENTWISE(tanh)

static void leaky_relu(const struct ref *r, real *const in[], real *const out[], const long d[],
                       const double h[])
{
    r->leaky_relu(out[0], in[0], h[0], d[0] * d[1] * d[2]);
}

static void elu(const struct ref *r, real *const in[], real *const out[], const long d[],
                const double h[])
{
    r->elu(out[0], in[0], h[0], d[0] * d[1] * d[2]);
}

static void softmax(const struct ref *r, real *const in[], real *const out[], const long d[],
                    const double h[])
{
    (void)h;
    r->softmax(out[0], in[0], d[0] * d[1], d[2]);
}

static void layernorm(const struct ref *r, real *const in[], real *const out[], const long d[],
                      const double h[])
{
    r->layernorm(out[0], in[0], NULL, NULL, h[0], d[0] * d[1], d[2]);
}

static void rmsnorm(const struct ref *r, real *const in[], real *const out[], const long d[],
                    const double h[])
{
    r->rmsnorm(out[0], in[0], h[0], d[0] * d[1], d[2], 1);
}

static void l2norm(const struct ref *r, real *const in[], real *const out[], const long d[],
                   const double h[])
{
    r->l2norm(out[0], in[0], h[0], d[0] * d[1], d[2]);
}

/* d[]: M, K, N */
static void matmul(const struct ref *r, real *const in[], real *const out[], const long d[],
                   const double h[])
{
    (void)h;
    r->matmul(out[0], in[0], in[1], d[0], d[1], d[2]);
}

/* d[]: M queries, N keys, D. */
static void attention(const struct ref *r, real *const in[], real *const out[], const long d[],
                      const double h[])
{
    const long m = d[0], n = d[1];
    real *score = r->scratch(m * n), *scaled = r->scratch(m * n), *weight = r->scratch(m * n);
    (void)h;
    r->linear(score, in[0], in[1], NULL, m, d[2], n);
    r->scale(scaled, score, 1 / sqrt((double)d[2]), m * n);
    r->softmax(weight, scaled, m, n);
    r->matmul(out[0], weight, in[2], m, n, d[2]);
}

struct formula {
    const char *name, *parameter;
    struct problem problem;
};

/* To add one: its function above, a line here. */
static const struct formula FORMULA[] = {
    {"attention", NULL, {.reference = attention}},
    {"elu", "alpha", {.reference = elu}},
    {"gelu", NULL, {.reference = elementwise_gelu_tanh}},
    {"l2norm", "eps", {.reference = l2norm}},
    {"layernorm", "eps", {.reference = layernorm}},
    {"leaky_relu", "alpha", {.reference = leaky_relu}},
    {"matmul", NULL, {.reference = matmul}},
    {"relu", NULL, {.reference = elementwise_relu}},
    {"rmsnorm", "eps", {.reference = rmsnorm}},
    {"sigmoid", NULL, {.reference = elementwise_sigmoid}},
    {"silu", NULL, {.reference = elementwise_silu}},
    {"softmax", NULL, {.reference = softmax}},
    {"tanh", NULL, {.reference = elementwise_tanh}},
};

const struct formula *formula_find(const char *name)
{
    for (size_t k = 0; k < sizeof FORMULA / sizeof *FORMULA; k++)
        if (strcmp(FORMULA[k].name, name) == 0)
            return &FORMULA[k];
    return NULL;
}

const char *formula_parameter(const struct formula *formula)
{
    return formula->parameter;
}

int formulas_open(struct reference **library, const char *path, struct error *e)
{
    *library = memory_zeroed(1, sizeof **library);
    int code = reference_open(*library, path, e);
    if (code) {
        free(*library);
        *library = NULL;
    }
    return code;
}

void formulas_close(struct reference *library)
{
    if (library)
        reference_close(library);
    free(library);
}

int formula_run(const struct formula *formula, const struct reference *library, double *const in[],
                double *out, const long extent[], double parameter, struct error *e)
{
    struct plugin plugin = {.problem = &formula->problem};
    snprintf(plugin.id, sizeof plugin.id, "operator %s", formula->name);
    return reference_run(&plugin, library, (void *const *)in, (void *[]){out}, extent,
                         (double[]){parameter}, e);
}
