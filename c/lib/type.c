#include "type.h"

#include <stdio.h>
#include <string.h>

#include "declaration.h"
#include "expression.h"
static const struct type UNKNOWN = {BASE_UNKNOWN, false, 0, false};
static const struct type INTEGER = {BASE_INTEGER, false, 0, false};
static const struct type FLOAT = {BASE_FLOAT, false, 0, false};

static bool is_one_of(const char *text, const char *const words[])
{
    for (int k = 0; words[k]; k++)
        if (strcmp(text, words[k]) == 0)
            return true;
    return false;
}

/* The token's text as a string; longer names than the room are no names that anything here knows.
 */
struct word {
    char text[64];
};

static struct word word_at(const struct source *s, int i)
{
    struct word w;
    snprintf(w.text, sizeof w.text, "%.*s", token_length(s, i), s->text + s->token[i].begin);
    return w;
}

/* ---- types as they are written --------------------------------------------------------------- */

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

static struct type named_type(const char *name)
{
    static const struct {
        const char *prefix;
        enum base base;
    } VECTORS[] = {{"float", BASE_FLOAT},  {"double", BASE_FLOAT},  {"int", BASE_INTEGER},
                   {"uint", BASE_INTEGER}, {"short", BASE_INTEGER}, {"uchar", BASE_INTEGER}};
    static const char *const INTEGERS[] = {"unsigned", "signed", "long",   "short",     "int",
                                           "char",     "bool",   "size_t", "ptrdiff_t", NULL};
    static const char *const HALVES[] = {"half", "__half", "nv_bfloat16", "__nv_bfloat16", NULL};
    static const char *const HALF_VECTORS[] = {"half2", "__half2", "nv_bfloat162", "__nv_bfloat162",
                                               NULL};
    if (strcmp(name, "float") == 0 || strcmp(name, "double") == 0)
        return FLOAT;
    if (is_one_of(name, INTEGERS) ||
        (ends_with(name, "_t") && (strncmp(name, "int", 3) == 0 || strncmp(name, "uint", 4) == 0)))
        return INTEGER;
    if (is_one_of(name, HALVES))
        return (struct type){BASE_HALF, false, 0, false};
    if (is_one_of(name, HALF_VECTORS))
        return (struct type){BASE_HALF, true, 0, false};
    if (strcmp(name, "dim3") == 0)
        return (struct type){BASE_INTEGER, true, 0, false};
    for (size_t k = 0; k < sizeof VECTORS / sizeof *VECTORS; k++) {
        size_t length = strlen(VECTORS[k].prefix);
        if (strncmp(name, VECTORS[k].prefix, length) == 0 && strlen(name) == length + 1 &&
            strchr("1234", name[length]))
            return (struct type){VECTORS[k].base, true, 0, false};
    }
    return (struct type){BASE_OTHER, false, 0, false};
}

/* Of the written type [begin, end), its `*` included. */
static struct type written_type(const struct syntax *x, int begin, int end)
{
    struct type t = UNKNOWN;
    int pointers = 0;
    for (int i = begin; i < end; i++) {
        struct word w = word_at(x->s, i);
        pointers += strcmp(w.text, "*") == 0;
        bool qualifier = strcmp(w.text, "const") == 0 || strcmp(w.text, "volatile") == 0;
        if (x->role[i] == ROLE_TYPE && !qualifier &&
            (t.base == BASE_UNKNOWN || t.base == BASE_INTEGER))
            t = named_type(w.text);
    }
    t.pointers = pointers;
    return t;
}

static bool template_type(const struct syntax *x, int i)
{
    for (int k = 0; k < x->type_names; k++)
        if (token_same(x->s, i, x->s, x->type_name[k]) &&
            (token_is(x->s, x->type_name[k] - 1, "typename") ||
             token_is(x->s, x->type_name[k] - 1, "using") ||
             token_is(x->s, x->type_name[k] + 1, ";")))
            return true;
    return false;
}

/* The value of a #define without parameters whose body is arithmetic on numbers. */
static struct type macro_type(const struct source *s, int i)
{
    struct word name = word_at(s, i);
    for (int k = 0; k < s->directives; k++) {
        char defined[64], body[256];
        if (sscanf(s->text + s->directive[k].begin, "#define %63[A-Za-z0-9_] %255[^\n]", defined,
                   body) != 2 ||
            strcmp(defined, name.text) != 0)
            continue;
        struct source b;
        struct error ignored;
        struct type t = UNKNOWN;
        if (source_scan(&b, s->path, body, strlen(body), &ignored))
            return UNKNOWN;
        struct syntax bx;
        syntax_read(&bx, &b);
        if (b.tokens > 0 && is_constant(&bx, 0, b.tokens))
            t = type_of(&bx, 0, b.tokens);
        syntax_free(&bx);
        source_free(&b);
        return t;
    }
    return UNKNOWN;
}

/* The longest expression that begins at token i; an empty one if none does. */
static struct range whole_expression(const struct syntax *x, int i)
{
    int count = i == NONE ? 0 : x->count[i];
    return (struct range){i, count > 0 ? x->operand[x->first[i] + count - 1].end : i};
}

/* The initializer of a declaration; empty if there is none, or if it asks for what it initializes.
 */
static struct range initializer(const struct syntax *x, const struct declaration *d)
{
    struct range r = whole_expression(x, d->initializer);
    for (int i = r.begin; i < r.end; i++)
        if (token_same(x->s, i, x->s, d->name))
            r.end = r.begin;
    return r;
}

static struct type declared_type(const struct syntax *x, const struct declaration *d)
{
    struct range value = initializer(x, d);
    if (d->type == d->type_end) /* an enumerator */
        return INTEGER;
    if (token_is(x->s, d->type_end - 1, "auto"))
        return type_of(x, value.begin, value.end);
    for (int i = d->type; i < d->type_end; i++)
        if (template_type(x, i))
            return UNKNOWN;
    struct type t = written_type(x, d->type, d->type_end);
    t.pointers += d->pointers;
    t.shared = d->shared || (t.pointers > 0 && type_of(x, value.begin, value.end).shared);
    return t;
}

/* ---- names and calls ------------------------------------------------------------------------- */

static struct type name_type(const struct syntax *x, int i)
{
    static const char *const VECTORS[] = {"threadIdx", "blockIdx", "blockDim", "gridDim", NULL};
    static const char *const FLOATS[] = {"INFINITY", "NAN",         "HUGE_VALF",    "FLT_MAX",
                                         "FLT_MIN",  "FLT_EPSILON", "CUDART_INF_F", "CUDART_NAN_F",
                                         "M_PI",     "M_SQRT1_2",   "M_SQRT2",      "M_2_SQRTPI",
                                         "DBL_MAX",  "M_LOG2E",     "CUDART_PI_F",  NULL};
    static const char *const INTEGERS[] = {"warpSize", "INT_MAX", "INT_MIN", "UINT_MAX",
                                           "true",     "false",   NULL};
    const struct declaration *d = find_declaration(x, i);
    if (d)
        return declared_type(x, d);
    struct word w = word_at(x->s, i);
    if (is_one_of(w.text, VECTORS))
        return (struct type){BASE_INTEGER, true, 0, false};
    if (is_one_of(w.text, FLOATS))
        return FLOAT;
    return is_one_of(w.text, INTEGERS) ? INTEGER : macro_type(x->s, i);
}

static struct type number_type(const struct source *s, int i)
{
    struct word w = word_at(s, i);
    bool hexadecimal = w.text[0] == '0' && (w.text[1] | 32) == 'x';
    return strpbrk(w.text, hexadecimal ? ".pP" : ".eEfF") ? FLOAT : INTEGER;
}

/* Names of functions on floats, as C's double version spells them; an f at the end, or `__` before
 * and a rounding mode behind, make the others. */
static bool float_function(const char *name)
{
    static const char *const NAMES[] = {
        "exp",     "exp2",  "exp10", "expm1",     "log",      "log2",  "log10",  "log1p",
        "sqrt",    "rsqrt", "cbrt",  "sin",       "cos",      "tan",   "sinh",   "cosh",
        "tanh",    "asin",  "acos",  "atan",      "atan2",    "erf",   "erfc",   "erfinv",
        "pow",     "fabs",  "fmax",  "fmin",      "fma",      "fmod",  "floor",  "ceil",
        "round",   "trunc", "rint",  "nearbyint", "copysign", "hypot", "tgamma", "lgamma",
        "normcdf", "ldexp", "fdim",  "saturate",  NULL};
    static const char *const PREFIXES[] = {"__f",
                                           "__d",
                                           "__half2float",
                                           "__int2float",
                                           "__uint2float",
                                           "__int_as_float",
                                           "__uint_as_float",
                                           "__bfloat162float",
                                           "assay_",
                                           NULL};
    for (int k = 0; PREFIXES[k]; k++)
        if (strncmp(name, PREFIXES[k], strlen(PREFIXES[k])) == 0 &&
            strncmp(name, "__float", 7) != 0 && strncmp(name, "__ff", 4) != 0)
            return true;
    char base[64];
    snprintf(base, sizeof base, "%s", name + (strncmp(name, "__", 2) == 0 ? 2 : 0));
    if (is_one_of(base, NAMES))
        return true;
    size_t length = strlen(base);
    if (length == 0 || base[length - 1] != 'f')
        return false;
    base[length - 1] = '\0';
    return is_one_of(base, NAMES);
}

static bool integer_function(const char *name)
{
    static const char *const PREFIXES[] = {"__float_as_", "__float2int", "__float2uint", "__popc",
                                           "__clz",       "__ffs",       "__brev",       "__ballot",
                                           "__any",       "__all",       "__activemask", "__mul24",
                                           "__umul",      "__mulhi",     "lrint",        "lround",
                                           NULL};
    static const char *const NAMES[] = {"sizeof",   "alignof", "isnan", "isinf",
                                        "isfinite", "signbit", NULL};
    for (int k = 0; PREFIXES[k]; k++)
        if (strncmp(name, PREFIXES[k], strlen(PREFIXES[k])) == 0)
            return true;
    return is_one_of(name, NAMES);
}

/* Functions whose result has the widest type of their arguments. */
static bool widening_function(const char *name)
{
    static const char *const NAMES[] = {"min", "max", "abs", "umin", "umax", NULL};
    return is_one_of(name, NAMES);
}

static struct type wider(struct type a, struct type b)
{
    if (a.base == BASE_UNKNOWN || b.base == BASE_UNKNOWN)
        return UNKNOWN;
    struct type t = a.pointers > 0 || (b.pointers == 0 && a.base >= b.base) ? a : b;
    t.shared = t.pointers > 0 && t.shared;
    return t;
}

/* The arguments of the call whose ( is token `open`: the type of number k, or the widest when k <
 * 0. */
static struct type argument_type(const struct syntax *x, int open, int k)
{
    int close = x->s->token[open].partner;
    struct type widest = UNKNOWN;
    for (int i = open + 1, number = 0; i < close; number++) {
        int end = whole_expression(x, i).end;
        if (end == i)
            return UNKNOWN;
        struct type t = type_of(x, i, end);
        if (k == number)
            return t;
        widest = number == 0 ? t : wider(widest, t);
        i = end + 1;
    }
    return k < 0 ? widest : UNKNOWN;
}

static struct type element(struct type t)
{
    if (t.pointers == 0)
        return UNKNOWN;
    t.pointers--;
    return t;
}

/* Of a call of the function whose name is token i. */
static struct type call_type(const struct syntax *x, int i, int open)
{
    const struct declaration *d = find_declaration(x, i);
    if (d && d->function)
        return declared_type(x, d);
    struct word w = word_at(x->s, i);
    if (float_function(w.text))
        return FLOAT;
    if (integer_function(w.text))
        return INTEGER;
    if (widening_function(w.text))
        return argument_type(x, open, -1);
    if (strncmp(w.text, "__shfl", 6) == 0)
        return argument_type(x, open, 1);
    if (strncmp(w.text, "atomic", 6) == 0 || strcmp(w.text, "__ldg") == 0) {
        struct type t = element(argument_type(x, open, 0));
        t.shared = false;
        return t;
    }
    if (strncmp(w.text, "__float2half", 12) == 0 || strncmp(w.text, "__float2bfloat16", 16) == 0)
        return (struct type){BASE_HALF, false, 0, false};
    if (strncmp(w.text, "make_", 5) == 0)
        return named_type(w.text + 5);
    return UNKNOWN;
}

/* Of a member: a CUDA vector's, or one that a struct of the file declares. */
static struct type member_type(const struct syntax *x, struct type object, int name)
{
    const struct source *s = x->s;
    if (object.vector && token_length(s, name) == 1)
        return (struct type){object.base, false, 0, object.shared};
    for (int k = 0; k < x->declarations; k++)
        if (x->declaration[k].field && token_same(s, name, s, x->declaration[k].name))
            return declared_type(x, &x->declaration[k]);
    return UNKNOWN;
}

/* ---- expressions ----------------------------------------------------------------------------- */

static struct type prefix_type(const struct syntax *x, int i, int end)
{
    const struct source *s = x->s;
    if (x->role[i] == ROLE_CAST)
        return written_type(x, i + 1, s->token[i].partner);
    struct type t = type_of(x, i + 1, end);
    if (t.base == BASE_UNKNOWN)
        return UNKNOWN;
    if (token_is(s, i, "*"))
        return element(t);
    if (token_is(s, i, "&"))
        t.pointers++;
    return token_is(s, i, "!") ? INTEGER : t;
}

/* Of the shortest expression that begins at token i. */
static struct type first_type(const struct syntax *x, int i, int end)
{
    const struct source *s = x->s;
    switch (x->role[i]) {
    case ROLE_PREFIX:
    case ROLE_CAST: return prefix_type(x, i, end);
    case ROLE_GROUP: return type_of(x, i + 1, end - 1);
    case ROLE_TYPE: return written_type(x, i, i + 1);
    case ROLE_OPERAND: break;
    default: return UNKNOWN;
    }
    switch (s->token[i].kind) {
    case TOKEN_NUMBER: return number_type(s, i);
    case TOKEN_CHARACTER: return INTEGER;
    case TOKEN_NAME: break;
    default: return UNKNOWN;
    }
    if (end > i + 1 && ends_with(word_at(s, i).text, "_cast")) /* static_cast<…> */
        return written_type(x, i + 2, end - 1);
    return name_type(x, i);
}

static struct type binary_type(const struct syntax *x, struct type left, int i, int end)
{
    enum rank rank = operator_rank(x, i);
    if (rank == RANK_ASSIGN)
        return left;
    if (rank == RANK_LESS || rank == RANK_EQUAL || rank == RANK_AND || rank == RANK_OR)
        return INTEGER;
    struct type right = type_of(x, i + 1, end);
    if (rank == RANK_ADD && left.pointers > 0 && right.pointers > 0)
        return INTEGER;
    struct type t = wider(left, right);
    if (rank != RANK_ADD && t.pointers > 0)
        return UNKNOWN;
    t.shared = t.pointers > 0 && (left.shared || right.shared);
    return t;
}

/* Of the expression that the operator at token i makes of one of type `left`. */
static struct type extended_type(const struct syntax *x, struct type left, int begin, int i,
                                 int end)
{
    const struct source *s = x->s;
    switch (x->role[i]) {
    case ROLE_INDEX: return element(left);
    case ROLE_CALL: {
        bool cast = ends_with(word_at(s, begin).text, "_cast");
        bool name = x->role[i - 1] == ROLE_OPERAND;
        return cast ? left : call_type(x, name ? i - 1 : begin, i);
    }
    case ROLE_MEMBER:
        return token_is(s, i, "::") ? name_type(x, end - 1) : member_type(x, left, end - 1);
    case ROLE_POSTFIX: return left;
    case ROLE_BINARY: return binary_type(x, left, i, end);
    case ROLE_CONDITIONAL:
        return wider(type_of(x, i + 1, x->other[i]), type_of(x, x->other[i] + 1, end));
    default: return UNKNOWN;
    }
}

struct type type_of(const struct syntax *x, int begin, int end)
{
    if (begin >= end || expression_rank(x, begin, end) == RANK_NONE)
        return UNKNOWN;
    const struct operand *o = &x->operand[x->first[begin]];
    struct type t = first_type(x, begin, o->end);
    for (; o->end != end; o++)
        t = extended_type(x, t, begin, o->end, o[1].end);
    return t;
}

bool is_literal(const struct syntax *x, int begin, int end)
{
    if (token_is(x->s, begin, "-") && end - begin == 2)
        begin++;
    return end - begin == 1 && x->s->token[begin].kind == TOKEN_NUMBER;
}

static bool constant_name(const struct syntax *x, int i)
{
    const struct declaration *d = find_declaration(x, i);
    if (!d)
        return macro_type(x->s, i).base != BASE_UNKNOWN;
    if (d->constant)
        return true;
    bool fixed = false;
    for (int k = d->type; k < d->type_end; k++)
        fixed |= token_is(x->s, k, "const");
    struct range value = initializer(x, d);
    return fixed && d->pointers == 0 && is_constant(x, value.begin, value.end);
}

bool is_constant(const struct syntax *x, int begin, int end)
{
    const struct source *s = x->s;
    if (begin >= end)
        return false;
    for (int i = begin; i < end; i++) {
        if (token_is(s, i, "sizeof") && token_is(s, i + 1, "("))
            i = s->token[i + 1].partner;
        else if (x->role[i] == ROLE_BINARY
                     ? operator_rank(x, i) == RANK_ASSIGN
                     : x->role[i] == ROLE_INDEX || x->role[i] == ROLE_CALL ||
                           x->role[i] == ROLE_POSTFIX || x->role[i] == ROLE_MEMBER)
            return false;
        else if (s->token[i].kind == TOKEN_NAME && x->role[i] == ROLE_OPERAND &&
                 !constant_name(x, i))
            return false;
    }
    return true;
}

static bool pure_call(const struct syntax *x, int open)
{
    struct word w = word_at(x->s, open - 1);
    return x->role[open - 1] == ROLE_TYPE || x->role[open - 1] == ROLE_TEMPLATE ||
           float_function(w.text) || widening_function(w.text) ||
           strncmp(w.text, "make_", 5) == 0 || strcmp(w.text, "__ldg") == 0 ||
           (integer_function(w.text) && !ends_with(w.text, "_sync")) ||
           strncmp(w.text, "__float2", 8) == 0;
}

bool is_simple(const struct syntax *x, int begin, int end)
{
    const struct source *s = x->s;
    for (int i = begin; i < end; i++) {
        bool step = token_is(s, i, "++") || token_is(s, i, "--");
        bool assignment = x->role[i] == ROLE_BINARY && operator_rank(x, i) == RANK_ASSIGN;
        bool call = x->role[i] == ROLE_CALL && s->token[i].partner > i && !pure_call(x, i);
        if (step || assignment || call)
            return false;
    }
    return true;
}
