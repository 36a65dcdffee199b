#include "problem.h"

enum { batch_size, num_heads, sequence_length, embedding_dimension };

static const struct size sizes[] = {
    [batch_size] = {"batch_size", .official = 32, .small = 2},
    [num_heads] = {"num_heads", .official = 32, .small = 2},
    [sequence_length] = {"sequence_length", .official = 512, .small = 19},
    [embedding_dimension] = {"embedding_dimension", .official = 1024, .small = 21},
};

static void tensors(struct layout *l, const long d[])
{
    long b = d[batch_size], heads = d[num_heads], n = d[sequence_length];
    input(l, "Q", uniform(0, 1), SHAPE(b, heads, n, d[embedding_dimension]));
    input(l, "K", uniform(0, 1), SHAPE(b, heads, n, d[embedding_dimension]));
    input(l, "V", uniform(0, 1), SHAPE(b, heads, n, d[embedding_dimension]));
    output(l, "y", SHAPE(b, heads, n, d[embedding_dimension]));
}

static void reference(const struct ref *r, real *const in[], real *const out[], const long d[],
                      const double h[])
{
    (void)h;
    r->attention(out[0], in[0], in[1], in[2], d[batch_size] * d[num_heads], d[sequence_length],
                 d[embedding_dimension]);
}

/* A dot product runs over the columns, a weighted sum over the sequence. */
static long reduction(const long d[])
{
    long n = d[sequence_length], columns = d[embedding_dimension];
    return n > columns ? n : columns;
}

const struct problem problem = {PROBLEM_ABI, SIZES(sizes), .tensors = tensors,
                                .reference = reference, .reduction = reduction};
