/*
 * problem.h - what a problem asks, in plain C. Every kernels/<group>/NNN_name.c includes this alone.
 *
 * A problem is a small shared object that exports one `const struct problem problem`. It names its
 * sizes as the benchmark's own module does, declares its tensors in the order of the golden files
 * (parameters and buffers in state_dict order, then the inputs, then the outputs), and states the
 * reference as a few calls into the library of operators (kernels/ref/ref.h).
 */
#ifndef ASSAY_PROBLEM_H
#define ASSAY_PROBLEM_H

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include "../c/lib/dtype.h"
#include "../c/lib/generator.h"
#include "ref/ref.h"

enum { PROBLEM_ABI = 1, PROBLEM_SIZES = 32, PROBLEM_TENSORS = 1024, TENSOR_RANK = 6, TENSOR_NAME = 96 };

/* A module constant that counts something. An element of a tuple constant is named `tuple.k`. */
struct size {
    const char *name;
    long official, small;
};

/* A module constant that is a real number: a slope, a factor, an eps. */
struct hyperparameter {
    const char *name;
    double value;
};

enum role { PARAMETER, INPUT, OUTPUT };

struct tensor {
    char name[TENSOR_NAME];
    enum role role;
    enum dtype dtype;
    int rank;                /* 0 for a single number */
    long shape[TENSOR_RANK]; /* outermost first; elements in row-major order */
    struct fill native;      /* the benchmark's own distribution; unused for outputs */
};

/* The tensors of a problem at some sizes. */
struct layout {
    int tensors;
    struct tensor tensor[PROBLEM_TENSORS];
};

struct problem {
    int abi; /* PROBLEM_ABI */
    const struct size *size;
    int sizes;
    const struct hyperparameter *hyperparameter; /* NULL when there are none */
    int hyperparameters;

    /* NULL, or why the problem has no meaning at these sizes ("the window is larger than the
     * padded image"); may itself be NULL when every positive size will do. */
    const char *(*invalid)(const long d[]);

    /* Declares every tensor, with parameter(), input() and output(). */
    void (*tensors)(struct layout *l, const long d[]);

    /* Computes out[] from in[], both in the order declared: in[] holds parameters and inputs. */
    void (*reference)(const struct ref *r, real *const in[], real *const out[], const long d[],
                      const double h[]);

    /* The number of terms in the longest sum behind one output element. */
    long (*reduction)(const long d[]);
};

#define LENGTH(array) (int)(sizeof(array) / sizeof *(array))
#define SIZES(array) .size = (array), .sizes = LENGTH(array)
#define HYPERPARAMETERS(array) .hyperparameter = (array), .hyperparameters = LENGTH(array)

/* Two arguments of parameter(), input() and output(): the rank and the extents. */
#define SHAPE(...) LENGTH(((long[]){__VA_ARGS__})), (const long[]){__VA_ARGS__}
#define SCALAR 0, NULL

static inline struct fill uniform(double lo, double hi)
{
    return (struct fill){GENERATOR_UNIFORM, lo, hi, 0, 1};
}

static inline struct fill normal(double mean, double deviation)
{
    return (struct fill){GENERATOR_NORMAL, mean, deviation, 0, 1};
}

static inline struct fill constant(double value)
{
    return (struct fill){GENERATOR_CONSTANT, value, 0, 0, 1};
}

/* PyTorch's default for a linear or convolution layer's weights and bias: fan_in is the number of
 * terms of one of its sums (of a transposed convolution: output channels times taps). */
static inline struct fill initial(double fan_in)
{
    return uniform(-1 / sqrt(fan_in), 1 / sqrt(fan_in));
}

static inline void problem_add(struct layout *l, enum role role, const char *name, struct fill native,
                               int rank, const long shape[])
{
    if (l->tensors == PROBLEM_TENSORS)
        return; /* plugin_layout() reports a full table */
    struct tensor *t = &l->tensor[l->tensors++];
    *t = (struct tensor){.role = role, .dtype = FLOAT32, .rank = rank, .native = native};
    snprintf(t->name, sizeof t->name, "%s", name);
    for (int k = 0; k < rank; k++)
        t->shape[k] = shape[k];
}

static inline void parameter(struct layout *l, const char *name, struct fill native, int rank,
                             const long shape[])
{
    problem_add(l, PARAMETER, name, native, rank, shape);
}

static inline void input(struct layout *l, const char *name, struct fill native, int rank,
                         const long shape[])
{
    problem_add(l, INPUT, name, native, rank, shape);
}

static inline void output(struct layout *l, const char *name, int rank, const long shape[])
{
    problem_add(l, OUTPUT, name, (struct fill){0}, rank, shape);
}

extern const struct problem problem;

#endif
