/*
 * scan - JSON values scanned where they lie, for files of millions of records.
 *
 * Several times faster than building jansson objects, and for records of a known form only. Every
 * function works on a text that a NUL ends, takes what is next from *at (white space before it
 * skipped) and moves *at behind it. When what is next is something else it returns false or NULL, and
 * *at is anywhere in the text.
 */
#ifndef ASSAY_SCAN_H
#define ASSAY_SCAN_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

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
char *scan_text(char **at);

/* A number, rounded to the nearest double. */
bool scan_number(char **at, double *number);

/* An integer that is 0 or more and less than 10^18, written without point and exponent. */
bool scan_count(char **at, long *count);

/* true or false. */
bool scan_flag(char **at, bool *flag);

/* Any value, its form checked only as far as finding its end needs. Looks at up to 15 bytes behind
 * the NUL. */
static inline bool scan_skip(char **at);

/* ---- inline: most of the time goes here -------------------------------------------------------- */

/* A text, object or list. */
bool scan_skip_enclosed(char **at);

/* Sixteen bytes, compared at once. */
typedef unsigned char scan_block __attribute__((vector_size(16)));

/* The number of the first byte that is set, of bytes that are 0 or 255; 16 if none is. */
static inline int scan_first(scan_block bytes)
{
    uint64_t half[2]; /* the first byte is the lowest */
    memcpy(half, &bytes, sizeof half);
    return half[0] ? __builtin_ctzll(half[0]) / 8 : half[1] ? 8 + __builtin_ctzll(half[1]) / 8 : 16;
}

/* A number or bare word: up to white space, `,`, `]`, `}` or the NUL. The brackets differ in one bit. */
static inline bool scan_skip_atom(char **at)
{
    char *p = *at;
    for (int length = 16; length == 16; p += length) {
        scan_block block;
        memcpy(&block, p, sizeof block);
        length = scan_first((scan_block)((block < '-') & (block != '+')) |
                            (scan_block)((block | 0x20) == '}'));
    }
    bool any = p > *at;
    *at = p;
    return any;
}

static inline bool scan_skip(char **at)
{
    scan_space(at);
    bool enclosed = **at == '"' || **at == '{' || **at == '[';
    return enclosed ? scan_skip_enclosed(at) : scan_skip_atom(at);
}

#endif
