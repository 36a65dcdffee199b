#include "syntax.h"

#include <stdlib.h>

#include "declaration.h"
#include "expression.h"
#include "memory.h"
#include "word.h"

/* ---- roles ----------------------------------------------------------------------------------- */

bool bracket_opens(const struct syntax *x, int i)
{
    return x->s->token[i].partner > i;
}

bool ends_operand(const struct syntax *x, int i)
{
    if (i < 0)
        return false;
    switch (x->role[i]) {
    case ROLE_OPERAND:
    case ROLE_POSTFIX: return true;
    case ROLE_GROUP:
    case ROLE_CALL:
    case ROLE_INDEX:
    case ROLE_LIST: return !bracket_opens(x, i);
    default: return false;
    }
}

void mark_pair(struct syntax *x, int open, int close, enum role role)
{
    x->role[open] = x->role[close] = role;
    x->other[open] = close;
    x->other[close] = open;
}

static enum role role_before(const struct syntax *x, int i)
{
    return i > 0 ? x->role[i - 1] : ROLE_NONE;
}

static enum role name_role(const struct syntax *x, int i)
{
    const struct source *s = x->s;
    if (role_before(x, i) == ROLE_MEMBER)
        return ROLE_OPERAND;
    if (is_statement_word(s, i))
        return ROLE_NONE;
    if (is_specifier(s, i) || is_attribute(s, i))
        return ROLE_SPECIFIER;
    return is_type_word(s, i) || known_type(x, i) ? ROLE_TYPE : ROLE_OPERAND;
}

static bool starts_operand(const struct source *s, int i)
{
    static const char *const STARTS[] = {"(", "-", "+", "*", "&", "!", "~", "++", "--", "{", NULL};
    if (i >= s->tokens || is_statement_word(s, i))
        return false;
    for (int k = 0; STARTS[k]; k++)
        if (token_is(s, i, STARTS[k]))
            return true;
    return s->token[i].kind != TOKEN_PUNCTUATION;
}

/* Do the brackets at the beginning of a pattern hold arguments, and not an expression? */
static bool holds_arguments(const struct source *s, int open)
{
    int close = s->token[open].partner;
    for (int i = open + 1; i < close; i++)
        if (s->token[i].parent == open && (token_is(s, i, ",") || is_meta(s, i, META_ARGS)))
            return true;
    return close == open + 1;
}

static enum role parenthesis_role(struct syntax *x, int i)
{
    const struct source *s = x->s;
    if (is_head_word(s, i - 1) || token_is(s, i - 1, "constexpr"))
        return ROLE_HEAD;
    if (ends_operand(x, i - 1))
        return ROLE_CALL;
    switch (role_before(x, i)) {
    case ROLE_SPECIFIER: return ROLE_SPECIFIER;
    case ROLE_LAMBDA: return ROLE_PARAMETERS;
    case ROLE_TYPE:
    case ROLE_TEMPLATE:
    case ROLE_LAUNCH: return ROLE_CALL;
    default: break;
    }
    int close = s->token[i].partner;
    if (type_end(x, i + 1) != close || !starts_operand(s, close + 1))
        return i == 0 && holds_arguments(s, i) ? ROLE_CALL : ROLE_GROUP;
    mark_type(x, i + 1, close);
    return ROLE_CAST;
}

static enum role brace_role(const struct syntax *x, int i)
{
    static const char *const SCOPES[] = {"struct", "class", "union", "namespace", NULL};
    const struct source *s = x->s;
    for (int k = i - 1; k >= 0 && k > i - 5; k--)
        if (token_is(s, k, "enum"))
            return ROLE_ENUMERATORS;
    if (word_among(s, i - 1, SCOPES) || word_among(s, i - 2, SCOPES))
        return ROLE_BLOCK;
    if (token_is(s, i - 1, ",") || token_is(s, i - 1, "(") || token_is(s, i - 1, "return"))
        return ROLE_LIST;
    switch (role_before(x, i)) {
    case ROLE_TYPE:
    case ROLE_TEMPLATE:
    case ROLE_BINARY:
    case ROLE_CONDITIONAL:
    case ROLE_LIST: return ROLE_LIST;
    case ROLE_OPERAND: return s->token[i - 1].kind == TOKEN_STRING ? ROLE_BLOCK : ROLE_LIST;
    case ROLE_DECLARATOR: return token_is(s, i - 1, ")") ? ROLE_BLOCK : ROLE_LIST;
    default: return ROLE_BLOCK;
    }
}

/* The : that belongs to the ? at token i, or NONE. */
static int conditional_colon(const struct syntax *x, int i)
{
    const struct source *s = x->s;
    int depth = 1;
    for (int k = i + 1; k < s->tokens && s->token[k].parent == s->token[i].parent; k++) {
        if (token_is(s, k, "?"))
            depth++;
        else if (token_is(s, k, ":") && --depth == 0)
            return k;
        else if (bracket_opens(x, k))
            k = s->token[k].partner;
    }
    return NONE;
}

/* + - * & are prefix or binary, and * & may belong to a type. */
static enum role sign_role(const struct syntax *x, int i)
{
    if (ends_operand(x, i - 1) || (i == 0 && token_is(x->s, i, "+"))) /* a pattern's first + */
        return ROLE_BINARY;
    bool type = role_before(x, i) == ROLE_TYPE || role_before(x, i) == ROLE_DECLARATOR;
    return type && !token_is(x->s, i, "+") && !token_is(x->s, i, "-") ? ROLE_DECLARATOR
                                                                      : ROLE_PREFIX;
}

static enum role punctuation_role(struct syntax *x, int i)
{
    const struct source *s = x->s;
    const char *t = s->text + s->token[i].begin;
    int length = token_length(s, i);
    if (s->token[i].partner != NONE && !bracket_opens(x, i))
        return x->role[s->token[i].partner];
    if (token_is(s, i, "<<<"))
        return ROLE_LAUNCH;
    if (token_is(s, i, "++") || token_is(s, i, "--"))
        return ends_operand(x, i - 1) ? ROLE_POSTFIX : ROLE_PREFIX;
    if (token_is(s, i, "->") || token_is(s, i, "::"))
        return ROLE_MEMBER;
    if (length > 1)
        return token_is(s, i, "...") ? ROLE_NONE : ROLE_BINARY;
    switch (*t) {
    case '(': return parenthesis_role(x, i);
    case '[': return i == 0 || ends_operand(x, i - 1) ? ROLE_INDEX : ROLE_LAMBDA;
    case '{': return brace_role(x, i);
    case '.': return ROLE_MEMBER;
    case '!':
    case '~': return ROLE_PREFIX;
    case '+':
    case '-':
    case '*':
    case '&': return sign_role(x, i);
    case ';':
    case ',':
    case ':': return ROLE_NONE;
    default: return ROLE_BINARY;
    }
}

static void assign_role(struct syntax *x, int i)
{
    const struct source *s = x->s;
    switch (s->token[i].kind) {
    case TOKEN_NAME: x->role[i] = name_role(x, i); return;
    case TOKEN_METAVARIABLE:
        if (!is_meta(s, i, META_STMT) && !is_meta(s, i, META_ARGS))
            x->role[i] = is_meta(s, i, META_TYPE) ? ROLE_TYPE : ROLE_OPERAND;
        return;
    case TOKEN_PUNCTUATION: break;
    default: x->role[i] = ROLE_OPERAND; return;
    }
    int close = template_close(x, i), colon = token_is(s, i, "?") ? conditional_colon(x, i) : NONE;
    if (close != NONE)
        mark_pair(x, i, close, ROLE_TEMPLATE);
    else if (colon != NONE)
        mark_pair(x, i, colon, ROLE_CONDITIONAL);
    else
        x->role[i] = punctuation_role(x, i);
}

/* Declares the names in brackets that have just got their role. */
static void declare_inside(struct syntax *x, int i)
{
    const struct source *s = x->s;
    if (x->role[i] == ROLE_PARAMETERS && bracket_opens(x, i)) {
        declare_parameters(x, i, s->token[i].partner);
    } else if (x->role[i] == ROLE_ENUMERATORS && bracket_opens(x, i)) {
        declare_enumerators(x, i);
    } else if (x->role[i] == ROLE_TEMPLATE && token_is(s, i - 1, "template")) {
        declare_template(x, i);
    }
}

static bool may_declare(const struct syntax *x, int i)
{
    return starts_statement(x, i) || (token_is(x->s, i - 1, "(") && x->role[i - 1] == ROLE_HEAD);
}

static void assign_roles(struct syntax *x)
{
    const struct source *s = x->s;
    for (int k = 0; k < s->functions; k++) {
        int open = s->function[k].parameters, body = s->function[k].body;
        x->role[open] = x->role[s->token[open].partner] = ROLE_PARAMETERS;
        x->role[body] = x->role[s->token[body].partner] = ROLE_BLOCK;
    }
    for (int i = 0; i < s->tokens; i++) {
        if (x->role[i] == ROLE_NONE && may_declare(x, i))
            declare(x, i, false);
        if (x->role[i] == ROLE_NONE)
            assign_role(x, i);
        declare_inside(x, i);
    }
}

/* ---- statements ------------------------------------------------------------------------------ */

/* Is token i the `while` behind a do { }? */
static bool ends_do(const struct source *s, int i)
{
    return token_is(s, i, "while") && token_is(s, i - 1, "}") &&
           token_is(s, s->token[i - 1].partner - 1, "do");
}

bool starts_statement(const struct syntax *x, int i)
{
    const struct source *s = x->s;
    int parent = s->token[i].parent;
    if ((parent != NONE && x->role[parent] != ROLE_BLOCK) || token_is(s, i, "}") ||
        token_is(s, i, "else") || ends_do(s, i))
        return false;
    if (i == 0 || i - 1 == parent)
        return true;
    if (token_is(s, i - 1, ")"))
        return x->role[i - 1] == ROLE_HEAD;
    return token_is(s, i - 1, ";") || token_is(s, i - 1, "else") || token_is(s, i - 1, "do") ||
           token_is(s, i - 1, "...") || is_meta(s, i - 1, META_STMT) ||
           (token_is(s, i - 1, "}") && x->role[i - 1] == ROLE_BLOCK) ||
           (token_is(s, i - 1, ":") && x->role[i - 1] == ROLE_NONE) ||
           (token_is(s, i - 1, ">") && x->role[i - 1] == ROLE_TEMPLATE);
}

bool stands_in_block(const struct syntax *x, int i)
{
    const struct source *s = x->s;
    return starts_statement(x, i) && !token_is(s, i - 1, ")") && !token_is(s, i - 1, "else") &&
           !token_is(s, i - 1, "do");
}

/* Past a `( … )` at token i. */
static int skip_head(const struct source *s, int i)
{
    if (token_is(s, i, "constexpr"))
        i++;
    return token_is(s, i, "(") ? s->token[i].partner + 1 : NONE;
}

/* Past the first `mark` at the level of token i. */
static int skip_to(const struct source *s, int i, const char *mark)
{
    if (i >= s->tokens)
        return NONE;
    for (int parent = s->token[i].parent; i < s->tokens && s->token[i].parent == parent; i++) {
        if (token_is(s, i, mark))
            return i + 1;
        if (s->token[i].partner > i)
            i = s->token[i].partner;
        else if (s->token[i].partner != NONE)
            return NONE;
    }
    return NONE;
}

int statement_end(const struct syntax *x, int i)
{
    const struct source *s = x->s;
    if (i == NONE || i >= s->tokens)
        return NONE;
    if (token_is(s, i, "{"))
        return s->token[i].partner + 1;
    if (token_is(s, i, "do"))
        return skip_to(s, statement_end(x, i + 1), ";");
    if (token_is(s, i, "case") || token_is(s, i, "default"))
        return statement_end(x, skip_to(s, i, ":"));
    if (!is_head_word(s, i))
        return skip_to(s, i, ";");
    int end = statement_end(x, skip_head(s, i + 1));
    bool otherwise = end != NONE && token_is(s, i, "if") && token_is(s, end, "else");
    return otherwise ? statement_end(x, end + 1) : end;
}

/* ---- whole sources --------------------------------------------------------------------------- */

void syntax_read(struct syntax *x, const struct source *s)
{
    *x = (struct syntax){.s = s, .template_scope = NONE};
    x->role = memory_zeroed(s->tokens, sizeof *x->role);
    x->other = memory_zeroed(s->tokens, sizeof *x->other);
    x->first = memory_zeroed(s->tokens, sizeof *x->first);
    x->count = memory_zeroed(s->tokens, sizeof *x->count);
    for (int i = 0; i < s->tokens; i++)
        x->other[i] = NONE;
    find_type_names(x);
    assign_roles(x);
    find_operands(x);
}

void syntax_free(struct syntax *x)
{
    free(x->role);
    free(x->other);
    free(x->first);
    free(x->count);
    free(x->operand);
    free(x->declaration);
    free(x->type_name);
    *x = (struct syntax){0};
}
