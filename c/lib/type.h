/*
 * type - what kind of value an expression of a kernel has, as far as its declarations tell.
 *
 * Guards ask this. What cannot be told is BASE_UNKNOWN, and nothing is claimed of it.
 */
#ifndef ASSAY_TYPE_H
#define ASSAY_TYPE_H

#include <stdbool.h>

#include "syntax.h"

/* Ordered: arithmetic on two of the first three gives the later one. */
enum base {
    BASE_UNKNOWN,
    BASE_INTEGER, /* bool, char, enum too */
    BASE_HALF,    /* half and bfloat16 */
    BASE_FLOAT,   /* double too */
    BASE_OTHER    /* void, a struct, … */
};

struct type {
    enum base base; /* of the element, for pointers, arrays and CUDA's vectors */
    bool vector;    /* float4, int2, dim3, …: its members have the base */
    int pointers;   /* how many `*` or `[ ]` */
    bool shared;    /* lives in, or points to, shared memory */
};

/* Of the complete expression [begin, end). */
struct type type_of(const struct syntax *x, int begin, int end);

/* Is it one number, with or without a sign? */
bool is_literal(const struct syntax *x, int begin, int end);

/* Known when the kernel is compiled: numbers, constexpr, const with such a value, template
 * parameters, enumerators, macros that stand for numbers, sizeof, and arithmetic on these. */
bool is_constant(const struct syntax *x, int begin, int end);

/* Free of side effects: no assignment, no ++ or --, no call but of functions known to have none. */
bool is_simple(const struct syntax *x, int begin, int end);

#endif
