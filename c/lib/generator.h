/*
 * generator - the value of any element of any input tensor, from its number alone.
 *
 * The project's one source of input data. Counter-based: element i of tensor t needs no element
 * before it, and the same file compiled by gcc, g++, nvcc and NVRTC gives the same bits (a product
 * and a sum are rounded separately: -ffp-contract=off on the CPU, __dmul_rn and __dadd_rn on the
 * GPU).
 * With seed 0 and GENERATOR_UNIFORM it is the golden generator (golden/README.md).
 */
#ifndef ASSAY_GENERATOR_H
#define ASSAY_GENERATOR_H

#ifdef __CUDACC__
#define GENERATOR_FUNCTION static __host__ __device__ inline
#else
#define GENERATOR_FUNCTION static inline
#endif

#ifdef __CUDA_ARCH__
#define GENERATOR_MUL(a, b) __dmul_rn(a, b)
#define GENERATOR_ADD(a, b) __dadd_rn(a, b)
#else
#define GENERATOR_MUL(a, b) ((a) * (b))
#define GENERATOR_ADD(a, b) ((a) + (b))
#endif

typedef unsigned long long generator_word;

/* `row` below is the length of the last axis longer than 1 (its elements are consecutive), u is
 * uniform in [0, 1) and drawn anew for each element. To add one: a name here, a case in
 * generator_value, a word in recipe.c and recipe.h, a case in test_generator.c. */
enum generator_kind {
    GENERATOR_UNIFORM,   /* a + (b - a) u */
    GENERATOR_NORMAL,    /* mean a, standard deviation b, within 6 b: twelve uniforms summed */
    GENERATOR_CONSTANT,  /* a */
    GENERATOR_RAMP,      /* a to b, linear in the position in the tensor */
    GENERATOR_ROW_RAMP,  /* a to b, linear in the position in the row */
    GENERATOR_ONE_HOT,   /* a at one drawn place of each row, b elsewhere */
    GENERATOR_LEVELS,    /* one of c equally spaced values from a to b: many ties */
    GENERATOR_ALTERNATE, /* a at even positions in the tensor, b at odd ones */
    GENERATOR_LAST_ROW,  /* uniform in [a, b) in the last row, c elsewhere */
    GENERATOR_TAIL,      /* uniform in [a, b) in the last c elements of each row, 0 elsewhere */
    GENERATOR_SPIKE,     /* uniform in [a, b), but c at one drawn place of each row */
    GENERATOR_OCTAVES,   /* ± a (1 + u) 2^k, k drawn from 0 … b − 1: a wide range of magnitudes */
    GENERATOR_NONFINITE  /* a share c of the elements is NaN, ±Inf or 0, the rest in [a, b) */
};

struct fill {
    int kind; /* enum generator_kind */
    double a, b, c;
    double scale; /* the value is multiplied by this, before its one rounding to float32 */
};

GENERATOR_FUNCTION generator_word generator_mix(generator_word z)
{
    z += 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

/* The random word of element i < 2^40 of tensor number t; `seed` 0 gives the golden stream. All but i is the
 * same for a whole tensor. */
GENERATOR_FUNCTION generator_word generator_hash(generator_word seed, int t, long i)
{
    generator_word key = seed ? generator_mix(seed ^ 0xA55A5EEDull) : 0;
    return generator_mix(((generator_word)t << 40 ^ key) ^ (generator_word)i);
}

/* Uniform in [0, 1) with 24 bits, as exact as a float32 can be. */
GENERATOR_FUNCTION double generator_unit(generator_word h)
{
    return (double)(unsigned)(h >> 40) * (1.0 / 16777216.0);
}

/* a + (b − a) u, each step rounded once to double. */
GENERATOR_FUNCTION double generator_between(double a, double b, double u)
{
    return GENERATOR_ADD(a, GENERATOR_MUL(GENERATOR_ADD(b, -a), u));
}

/* The sum of twelve 21-bit uniforms less 6: mean 0, variance 1 (Irwin-Hall), and exact. */
GENERATOR_FUNCTION double generator_normal(generator_word h)
{
    generator_word sum = 0;
    for (int k = 0; k < 4; k++) {
        h = generator_mix(h);
        sum += (h & 0x1FFFFF) + ((h >> 21) & 0x1FFFFF) + ((h >> 42) & 0x1FFFFF);
    }
    return (double)((long long)sum - 6 * 2097152ll + 6) * (1.0 / 2097152.0);
}

/* ± a (1 + u) 2^k, k in 0 … octaves − 1; h also drew u. Exact but for the one product. */
GENERATOR_FUNCTION double generator_octave(double a, double octaves, double u, generator_word h)
{
    generator_word g = generator_mix(h);
    double value = GENERATOR_MUL(a, 1 + u);
    for (generator_word k = (g >> 1) % (generator_word)octaves; k > 0; k--)
        value *= 2;
    return g & 1 ? -value : value;
}

/* 0, +Inf, −Inf or NaN, each as often, written without a header. */
GENERATOR_FUNCTION double generator_special(generator_word g)
{
    double huge = 1e308, infinity = huge * huge;
    switch (g % 4) {
    case 0: return 0;
    case 1: return infinity;
    case 2: return -infinity;
    default: return infinity - infinity;
    }
}

/* Is element i at the place drawn for its row? From a stream that no element of the tensor uses. */
GENERATOR_FUNCTION int generator_chosen(generator_word seed, int t, long i, long row)
{
    generator_word h = generator_hash(seed ^ 0x5107ull, t, i / row);
    return i % row == (long)(h % (generator_word)row);
}

/* Element i of `count`, in rows of `row` elements (row ≥ 1). */
GENERATOR_FUNCTION float generator_value(const struct fill *f, generator_word seed, int t, long i,
                                         long count, long row)
{
    generator_word h = generator_hash(seed, t, i);
    double u = generator_unit(h), value = 0;
    long column = i % row;
    switch (f->kind) {
    case GENERATOR_UNIFORM: value = generator_between(f->a, f->b, u); break;
    case GENERATOR_NORMAL:
        value = GENERATOR_ADD(f->a, GENERATOR_MUL(f->b, generator_normal(h)));
        break;
    case GENERATOR_CONSTANT: value = f->a; break;
    case GENERATOR_RAMP:
        value = generator_between(f->a, f->b, count > 1 ? (double)i / (double)(count - 1) : 0);
        break;
    case GENERATOR_ROW_RAMP:
        value = generator_between(f->a, f->b, row > 1 ? (double)column / (double)(row - 1) : 0);
        break;
    case GENERATOR_ONE_HOT: value = generator_chosen(seed, t, i, row) ? f->a : f->b; break;
    case GENERATOR_LEVELS:
        value = generator_between(f->a, f->b, (double)(long)GENERATOR_MUL(u, f->c) / (f->c - 1));
        break;
    case GENERATOR_ALTERNATE: value = i % 2 ? f->b : f->a; break;
    case GENERATOR_LAST_ROW:
        value = i >= count - row ? generator_between(f->a, f->b, u) : f->c;
        break;
    case GENERATOR_TAIL:
        value = column >= row - (long)f->c ? generator_between(f->a, f->b, u) : 0;
        break;
    case GENERATOR_SPIKE:
        value = generator_chosen(seed, t, i, row) ? f->c : generator_between(f->a, f->b, u);
        break;
    case GENERATOR_OCTAVES: value = generator_octave(f->a, f->b, u, h); break;
    case GENERATOR_NONFINITE:
        value = generator_unit(generator_mix(~h)) < f->c ? generator_special(generator_mix(h))
                                                         : generator_between(f->a, f->b, u);
        break;
    }
    return (float)GENERATOR_MUL(value, f->scale);
}

#endif
