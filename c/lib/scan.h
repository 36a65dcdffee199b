/*
 * scan - JSON values scanned where they lie, for files of millions of records.
 *
 * Several times faster than building jansson objects, and for records of a known form only. Every
 * function works on a text that a NUL ends, takes what is next from *at (white space before it
 * skipped) and moves *at behind it. When what is next is something else it returns false or NULL,
 * and *at is anywhere in the text. Texts are looked at in blocks: there must be SCAN_MARGIN bytes
 * from the NUL on, whatever they are.
 */
#ifndef ASSAY_SCAN_H
#define ASSAY_SCAN_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { SCAN_MARGIN = 16 };

static inline void scan_space(char **at)
{
    /* One comparison where, as nearly always, there is none. */
    while ((unsigned char)**at <= ' ' && (**at == ' ' || **at == '\t' || **at == '\r'))
        ++*at;
}

/* Takes the character if it is next; otherwise only the white space. */
static inline bool scan_take(char **at, char c)
{
    scan_space(at);
    if (**at != c)
        return false;
    ++*at;
    return true;
}

/* Takes the bare word if it is next. */
static inline bool scan_word(char **at, const char *word)
{
    scan_space(at);
    char *p = *at;
    for (; *word; word++)
        if (*p++ != *word)
            return false;
    *at = p;
    return true;
}

/* A string literal, unescaped and ended by a NUL in place. */
static inline char *scan_text(char **at);

/* A number, rounded to the nearest double. */
bool scan_number(char **at, double *number);

/* An integer that is 0 or more and less than 10^18, written without point and exponent. */
bool scan_count(char **at, long *count);

/* true or false. */
bool scan_flag(char **at, bool *flag);

/* Any value, its form checked only as far as finding its end needs; scan_skip_here() when there is
 * no white space before it. */
static inline bool scan_skip(char **at);
static inline bool scan_skip_here(char **at);

/* ---- inline: most of the time goes here -------------------------------------------------------- */

/* Sixteen bytes, compared at once; and the same as the outcome of a comparison, each 0 or 255. */
typedef unsigned char scan_block __attribute__((vector_size(16)));

static inline scan_block scan_load(const char *at)
{
    scan_block block;
    memcpy(&block, at, sizeof block);
    return block;
}

/* One bit for each byte of an outcome; the first byte's is the lowest. */
static inline uint32_t scan_bits(scan_block outcome)
{
#ifdef __SSE2__
    typedef char bytes __attribute__((vector_size(16)));
    return (uint32_t)__builtin_ia32_pmovmskb128((bytes)outcome);
#else
    const uint64_t own = UINT64_C(0x8040201008040201), sum = UINT64_C(0x0101010101010101);
    uint64_t half[2];
    memcpy(half, &outcome, sizeof half);
    return (uint32_t)((half[0] & own) * sum >> 56 | (half[1] & own) * sum >> 56 << 8);
#endif
}

/* The first of white space, `,`, `]`, `}`, the NUL, and a few that no value begins with or goes on
 * with, but for the `+` of an exponent. The brackets differ in one bit. */
static inline char *scan_atom_stop(char *at)
{
    for (;; at += 16) {
        const scan_block block = scan_load(at);
        const uint32_t stops =
            scan_bits((scan_block)(block < '-') | (scan_block)((block | 0x20) == '}'));
        if (stops)
            return at + __builtin_ctz(stops);
    }
}

/* A number or bare word. */
static inline bool scan_skip_atom(char **at)
{
    char *p = scan_atom_stop(*at);
    while (*p == '+')
        p = scan_atom_stop(p + 1);
    bool any = p > *at;
    *at = p;
    return any;
}

/* The first of `"`, `\` and control characters. */
static inline char *scan_text_stop(char *at)
{
    for (;; at += 16) {
        const scan_block block = scan_load(at);
        const uint32_t stops = scan_bits((scan_block)(block == '"') | (scan_block)(block == '\\') |
                                         (scan_block)(block < ' '));
        if (stops)
            return at + __builtin_ctz(stops);
    }
}

/* From behind the opening quote of a text to behind the closing one. */
static inline bool scan_skip_text(char **at)
{
    char *p = scan_text_stop(*at);
    for (; *p != '"'; p = scan_text_stop(p + 2))
        if (*p != '\\' || (unsigned char)p[1] < ' ')
            return false;
    *at = p + 1;
    return true;
}

/* From behind the opening quote of a text that holds an escape, or has no end. */
char *scan_escaped_text(char **at);

static inline char *scan_text(char **at)
{
    if (!scan_take(at, '"'))
        return NULL;
    char *begin = *at, *stop = scan_text_stop(begin);
    if (*stop != '"')
        return scan_escaped_text(at);
    *stop = '\0';
    *at = stop + 1;
    return begin;
}

/* An object or a list. */
bool scan_skip_brackets(char **at);

static inline bool scan_skip_here(char **at)
{
    if (**at == '"') {
        ++*at;
        return scan_skip_text(at);
    }
    return **at == '{' || **at == '[' ? scan_skip_brackets(at) : scan_skip_atom(at);
}

static inline bool scan_skip(char **at)
{
    scan_space(at);
    return scan_skip_here(at);
}

#endif
