#include "word.h"

#include <string.h>

/* Words that begin or govern statements: no operand, no type. */
static const char *const STATEMENT_WORDS[] = {
    "if",    "else",     "for",      "while",     "do",     "switch",   "case",   "default",
    "break", "continue", "return",   "typedef",   "using",  "goto",     "struct", "class",
    "enum",  "union",    "template", "namespace", "public", "operator", "delete", "new",
    "throw", "try",      "catch",    "private",   NULL};

static const char *const SPECIFIERS[] = {
    "static",     "extern",       "register",        "constexpr",    "inline",     "mutable",
    "__inline__", "__restrict__", "__forceinline__", "__noinline__", "typename",   "__shared__",
    "__device__", "__host__",     "__global__",      "__constant__", "__restrict", "__managed__",
    NULL};

/* Specifiers that take an argument in ( ). */
static const char *const ATTRIBUTES[] = {"__launch_bounds__", "__align__", "alignas",
                                         "__attribute__", NULL};

static const char *const TYPE_WORDS[] = {"const", "volatile", "unsigned", "signed", "long",
                                         "short", "int",      "char",     "float",  "double",
                                         "bool",  "void",     "auto",     NULL};

/* Types of CUDA and the standard library; names that end in _t are types too. */
static const char *const TYPE_NAMES[] = {
    "half",           "half2",  "__half", "__half2", "nv_bfloat16", "__nv_bfloat16", "nv_bfloat162",
    "__nv_bfloat162", "dim3",   "float1", "float2",  "float3",      "float4",        "double2",
    "double4",        "int2",   "int3",   "int4",    "uint2",       "uint3",         "uint4",
    "uchar4",         "short2", "short4", NULL};

static const char *const HEAD_WORDS[] = {"if", "for", "while", "switch", NULL};
static const char *const CAST_WORDS[] = {"static_cast", "reinterpret_cast", "const_cast", NULL};
static const char *const POINTER_WORDS[] = {"const", "volatile", "__restrict__", "__restrict",
                                            NULL};

bool word_among(const struct source *s, int i, const char *const words[])
{
    if (i < 0 || i >= s->tokens || s->token[i].kind != TOKEN_NAME)
        return false;
    char first = s->text[s->token[i].begin];
    for (int k = 0; words[k]; k++)
        if (words[k][0] == first && token_is(s, i, words[k]))
            return true;
    return false;
}

bool is_statement_word(const struct source *s, int i)
{
    return word_among(s, i, STATEMENT_WORDS);
}

bool is_head_word(const struct source *s, int i)
{
    return word_among(s, i, HEAD_WORDS);
}

bool is_specifier(const struct source *s, int i)
{
    return word_among(s, i, SPECIFIERS);
}

bool is_attribute(const struct source *s, int i)
{
    return word_among(s, i, ATTRIBUTES);
}

bool is_type_word(const struct source *s, int i)
{
    return word_among(s, i, TYPE_WORDS);
}

bool is_cast_word(const struct source *s, int i)
{
    return word_among(s, i, CAST_WORDS);
}

bool is_type_name(const struct source *s, int i)
{
    if (!is_plain_name(s, i))
        return false;
    bool ends_in_t = token_length(s, i) > 2 && memcmp(s->text + s->token[i].end - 2, "_t", 2) == 0;
    return ends_in_t || word_among(s, i, TYPE_NAMES);
}

bool is_pointer_word(const struct source *s, int i)
{
    return token_is(s, i, "*") || token_is(s, i, "&") || token_is(s, i, "&&") ||
           word_among(s, i, POINTER_WORDS);
}

bool is_plain_name(const struct source *s, int i)
{
    return i >= 0 && i < s->tokens && s->token[i].kind == TOKEN_NAME && !is_statement_word(s, i) &&
           !is_specifier(s, i) && !is_type_word(s, i) && !is_attribute(s, i);
}

int meta_class(const struct source *s, int i)
{
    static const char *const NAMES[] = {[META_NAME] = "name",
                                        [META_NUMBER] = "number",
                                        [META_TYPE] = "type",
                                        [META_ARGS] = "args",
                                        [META_STMT] = "stmt"};
    const char *text = s->text + s->token[i].begin;
    const char *colon = memchr(text, ':', (size_t)token_length(s, i));
    if (!colon)
        return META_EXPRESSION;
    size_t length = (size_t)token_length(s, i) - (size_t)(colon + 1 - text);
    for (int k = META_NAME; k <= META_STMT; k++)
        if (strlen(NAMES[k]) == length && memcmp(colon + 1, NAMES[k], length) == 0)
            return k;
    return NONE;
}

bool is_meta(const struct source *s, int i, enum meta_class class)
{
    return i >= 0 && i < s->tokens && s->token[i].kind == TOKEN_METAVARIABLE &&
           meta_class(s, i) == (int)class;
}
