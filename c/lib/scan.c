#include "scan.h"

#include <float.h>
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

char *scan_escaped_text(char **at)
{
    char *quote = *at - 1;
    if (!scan_skip_text(at))
        return NULL;
    json_t *decoded = json_loadb(quote, (size_t)(*at - quote), JSON_DECODE_ANY, NULL);
    if (!decoded)
        return NULL;
    strcpy(quote, json_string_value(decoded)); /* it never grows */
    json_decref(decoded);
    return quote;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* May a value not end before c? Then what was taken before it is none. The brackets differ in one
 * bit. */
static bool goes_on(char c)
{
    return (unsigned char)c > ',' ? (c | 0x20) != '}' : c == '+';
}

/* A decimal number: sign, value × 10^exponent. */
struct decimal {
    bool negative;
    uint64_t value;
    int digits; /* of the value without leading zeros; 20 or more: the value has wrapped around */
    long exponent;
};

/* The number that eight digits make, or UINT64_MAX if they are not all digits. */
static uint64_t eight_digits(const char *at)
{
    uint64_t text; /* the first digit is the lowest byte */
    memcpy(&text, at, sizeof text);
    text ^= UINT64_C(0x3030303030303030);
    if ((text | (text + UINT64_C(0x7676767676767676))) & UINT64_C(0x8080808080808080))
        return UINT64_MAX;
    text = text * 10 + (text >> 8); /* pairs, in every other byte */
    return ((text & UINT64_C(0xFF000000FF)) * (100 + (UINT64_C(1000000) << 32)) +
            (text >> 16 & UINT64_C(0xFF000000FF)) * (1 + (UINT64_C(10000) << 32))) >>
           32;
}

static inline __attribute__((always_inline)) void take_digits(char **at, struct decimal *d)
{
    char *p = *at;
    while (*p == '0' && d->digits == 0)
        p++;
    const char *first = p;
    uint64_t value = d->value;
    for (uint64_t next; (next = eight_digits(p)) != UINT64_MAX; p += 8)
        value = value * 100000000 + next;
    for (; is_digit(*p); p++)
        value = value * 10 + (uint64_t)(*p - '0');
    d->value = value;
    d->digits += (int)(p - first);
    *at = p;
}

static inline bool take_exponent(char **at, struct decimal *d)
{
    char *p = *at + 1;
    bool negative = *p == '-';
    p += negative || *p == '+';
    if (!is_digit(*p))
        return false;
    long exponent = 0;
    for (; is_digit(*p); p++)
        exponent = exponent < 10000 ? exponent * 10 + (*p - '0') : exponent;
    d->exponent += negative ? -exponent : exponent;
    *at = p;
    return true;
}

static inline bool take_decimal(char **at, struct decimal *d)
{
    *d = (struct decimal){0};
    d->negative = **at == '-';
    *at += d->negative;
    if (!is_digit(**at))
        return false;
    take_digits(at, d);
    if (**at == '.') {
        const char *point = ++*at;
        take_digits(at, d);
        d->exponent = point - *at;
        if (*at == point)
            return false;
    }
    return **at != 'e' && **at != 'E' ? true : take_exponent(at, d);
}

/*
 * The nearest double, if one operation on 64-bit significands proves it: value and 10^|exponent| are
 * exact up to 10^27 = 5^27 2^27, so only the product or quotient is rounded, and its rounding to 53
 * bits is the right one unless the eleven bits that go are within one of half.
 */
static inline bool exact_enough(const struct decimal *d, double *number)
{
#if LDBL_MANT_DIG == 64
    static const long double TEN[] = {1e0L,  1e1L,  1e2L,  1e3L,  1e4L,  1e5L,  1e6L,
                                      1e7L,  1e8L,  1e9L,  1e10L, 1e11L, 1e12L, 1e13L,
                                      1e14L, 1e15L, 1e16L, 1e17L, 1e18L, 1e19L, 1e20L,
                                      1e21L, 1e22L, 1e23L, 1e24L, 1e25L, 1e26L, 1e27L};
    if (d->digits > 19 || d->exponent < -27 || d->exponent > 27)
        return false;
    long double value = (long double)d->value;
    long double x = d->exponent < 0 ? value / TEN[-d->exponent] : value * TEN[d->exponent];
    uint64_t significand;
    memcpy(&significand, &x, sizeof significand);
    uint64_t rest = significand & 0x7FF;
    if (rest >= 0x3FF && rest <= 0x401)
        return false;
    *number = d->negative ? -(double)x : (double)x;
    return true;
#else
    (void)d;
    (void)number;
    return false;
#endif
}

bool scan_number(char **at, double *number)
{
    struct decimal d;
    scan_space(at);
    const char *begin = *at;
    if (!take_decimal(at, &d) || goes_on(**at))
        return false;
    if (!exact_enough(&d, number))
        *number = strtod(begin, NULL);
    return true;
}

bool scan_count(char **at, long *count)
{
    scan_space(at);
    char *p = *at;
    for (*count = 0; is_digit(*p) && p - *at < 18; p++)
        *count = *count * 10 + (*p - '0');
    bool any = p > *at;
    *at = p;
    return any && !goes_on(*p);
}

bool scan_flag(char **at, bool *flag)
{
    *flag = scan_word(at, "true");
    return *flag || scan_word(at, "false");
}

bool scan_skip_brackets(char **at)
{
    int depth = 0;
    for (char *p = *at;;) {
        const scan_block block = scan_load(p), folded = block | 0x20; /* of both kinds at once */
        const uint32_t stops = scan_bits((scan_block)(folded == '{') | (scan_block)(folded == '}') |
                                         (scan_block)(block == '"') | (scan_block)(block == 0));
        if (!stops) {
            p += 16;
            continue;
        }
        p += __builtin_ctz(stops);
        const char c = *p++;
        if (c == '\0' || (c == '"' && !scan_skip_text(&p)))
            return false;
        if (c != '"')
            depth += (c | 0x20) == '{' ? 1 : -1;
        if (c != '"' && depth == 0) {
            *at = p;
            return true;
        }
    }
}
