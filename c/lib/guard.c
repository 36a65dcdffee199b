#include "guard.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "type.h"

enum kind {
    KIND_FLOAT,
    KIND_INTEGER,
    KIND_POINTER,
    KIND_SHARED,
    KIND_HALF,
    KIND_CONSTANT,
    KIND_LITERAL,
    KIND_NAME,
    KIND_SIMPLE,
    KIND_FUNCTION
};

static const char *const KINDS[] = {[KIND_FLOAT] = "float",
                                    [KIND_INTEGER] = "integer",
                                    [KIND_POINTER] = "pointer",
                                    [KIND_SHARED] = "shared",
                                    [KIND_HALF] = "half",
                                    [KIND_CONSTANT] = "constant",
                                    [KIND_LITERAL] = "literal",
                                    [KIND_NAME] = "name",
                                    [KIND_SIMPLE] = "simple",
                                    [KIND_FUNCTION] = "function",
                                    NULL};

enum place {
    PLACE_INDEX,
    PLACE_CONDITION,
    PLACE_LAUNCH,
    PLACE_CALL,
    PLACE_FOR_HEAD,
    PLACE_LOOP,
    PLACE_STATEMENT_LIST
};

static const char *const PLACES[] = {[PLACE_INDEX] = "index",
                                     [PLACE_CONDITION] = "condition",
                                     [PLACE_LAUNCH] = "launch",
                                     [PLACE_CALL] = "call",
                                     [PLACE_FOR_HEAD] = "for_head",
                                     [PLACE_LOOP] = "loop",
                                     [PLACE_STATEMENT_LIST] = "statement_list",
                                     NULL};

/* ---- reading --------------------------------------------------------------------------------- */

/* A cursor over the guard's text. */
struct reader {
    struct guard *g;
    const char *path, *at;
    struct error *e;
};

/* If the next word is `word`, goes past it. */
static bool accept(struct reader *r, const char *word)
{
    size_t length = strlen(word);
    r->at += strspn(r->at, " \t\n");
    if (strncmp(r->at, word, length) != 0 ||
        (isalnum((unsigned char)word[length - 1]) &&
         (isalnum((unsigned char)r->at[length]) || r->at[length] == '_')))
        return false;
    r->at += length;
    return true;
}

static int expected(struct reader *r, const char *what)
{
    return fail(r->e, EXIT_DATA, "%s:%d: %s expected at `%s`", r->path, r->g->line, what, r->at);
}

static int read_meta(struct reader *r, char name[32])
{
    r->at += strspn(r->at, " \t\n");
    int length = r->at[0] == '$';
    while (length && (isalnum((unsigned char)r->at[length]) || r->at[length] == '_'))
        length++;
    if (length < 2 || length > 31)
        return expected(r, "a metavariable");
    snprintf(name, 32, "%.*s", length, r->at);
    r->at += length;
    return 0;
}

static int read_choice(struct reader *r, const char *const words[], const char *what)
{
    for (int k = 0; words[k]; k++)
        if (accept(r, words[k])) {
            r->g->what = k;
            return 0;
        }
    return expected(r, what);
}

static int add_text(struct reader *r, const char *text, size_t length)
{
    struct guard *g = r->g;
    g->text = realloc(g->text, ((size_t)g->texts + 1) * sizeof *g->text);
    if (!g->text)
        abort();
    struct source *s = &g->text[g->texts];
    int code = source_scan(s, r->path, text, length, r->e);
    if (code)
        return fail(r->e, EXIT_DATA, "%s:%d: `%.*s` is not made of tokens", r->path, g->line,
                    (int)length, text);
    g->texts++;
    return s->tokens > 0 ? 0 : expected(r, "a token");
}

/* { a, b, c } */
static int read_set(struct reader *r)
{
    if (!accept(r, "{"))
        return expected(r, "{");
    int code = 0;
    do {
        size_t length = strcspn(r->at, ",}");
        code = add_text(r, r->at, length);
        r->at += length;
    } while (!code && accept(r, ","));
    if (!code && !accept(r, "}"))
        return expected(r, "}");
    return code;
}

/* One token, or a metavariable for what it stands for. */
static int read_token(struct reader *r)
{
    r->at += strspn(r->at, " ");
    if (*r->at == '$')
        return read_meta(r, r->g->other);
    int code = add_text(r, r->at, strlen(r->at));
    r->at += strlen(r->at);
    if (!code && r->g->text[0].tokens != 1)
        return fail(r->e, EXIT_DATA, "%s:%d: has and lacks ask for one token", r->path, r->g->line);
    return code;
}

/* has TOKEN, lacks TOKEN */
static int read_has(struct reader *r, enum guard_test test)
{
    r->g->test = test;
    r->g->negated = accept(r, "lacks");
    if (!r->g->negated && !accept(r, "has"))
        return expected(r, test == GUARD_HAS ? "is, in, differs, has or lacks" : "has or lacks");
    return read_token(r);
}

static int read_condition(struct reader *r)
{
    struct guard *g = r->g;
    if (accept(r, "function"))
        return read_has(r, GUARD_FUNCTION_HAS);
    g->negated = accept(r, "not");
    if (accept(r, "inside")) {
        g->test = GUARD_INSIDE;
        return read_choice(r, PLACES,
                           "index, condition, launch, call, for_head, loop or statement_list");
    }
    int code = g->negated ? expected(r, "inside") : read_meta(r, g->meta);
    if (code)
        return code;
    if (accept(r, "is")) {
        g->test = GUARD_IS;
        g->negated = accept(r, "not");
        return read_choice(r, KINDS,
                           "a kind (float, integer, pointer, shared, half, constant, literal, "
                           "name, simple, function)");
    }
    if (accept(r, "differs")) {
        g->test = GUARD_DIFFERS;
        return read_meta(r, g->other);
    }
    g->negated = accept(r, "not");
    if (accept(r, "in")) {
        g->test = GUARD_IN;
        return read_set(r);
    }
    return g->negated ? expected(r, "in") : read_has(r, GUARD_HAS);
}

int guard_read(struct guard *g, const char *path, int line, const char *text, struct error *e)
{
    *g = (struct guard){.line = line};
    struct reader r = {.g = g, .path = path, .at = text, .e = e};
    int code = read_condition(&r);
    r.at += strspn(r.at, " \t\n");
    if (!code && *r.at)
        code = expected(&r, "the end of the guard");
    if (code)
        guard_free(g);
    return code;
}

void guard_free(struct guard *g)
{
    for (int k = 0; k < g->texts; k++)
        source_free(&g->text[k]);
    free(g->text);
    g->text = NULL;
    g->texts = 0;
}

/* ---- asking ---------------------------------------------------------------------------------- */

static bool same_text(const struct source *s, struct range r, const struct source *t,
                      struct range q)
{
    if (r.end - r.begin != q.end - q.begin)
        return false;
    for (int k = 0; k < r.end - r.begin; k++)
        if (!token_same(s, r.begin + k, t, q.begin + k))
            return false;
    return true;
}

/* Do the tokens q of t occur, in a row, among the tokens r of s? */
static bool contains(const struct source *s, struct range r, const struct source *t, struct range q)
{
    int length = q.end - q.begin;
    for (int i = r.begin; i + length <= r.end; i++)
        if (same_text(s, (struct range){i, i + length}, t, q))
            return true;
    return false;
}

/* Is it the name of a function that the file defines? */
static bool is_function(const struct source *s, struct range r)
{
    for (int k = 0; r.end - r.begin == 1 && k < s->functions; k++)
        if (token_same(s, r.begin, s, s->function[k].name))
            return true;
    return false;
}

static bool is_kind(const struct guard *g, const struct syntax *x, struct range r)
{
    enum kind kind = (enum kind)g->what;
    bool is;
    switch (kind) {
    case KIND_CONSTANT: is = is_constant(x, r.begin, r.end); break;
    case KIND_LITERAL: is = is_literal(x, r.begin, r.end); break;
    case KIND_FUNCTION: is = is_function(x->s, r); break;
    case KIND_NAME: is = r.end - r.begin == 1 && x->s->token[r.begin].kind == TOKEN_NAME; break;
    case KIND_SIMPLE: is = is_simple(x, r.begin, r.end); break;
    default: {
        struct type t = type_of(x, r.begin, r.end);
        if (t.base == BASE_UNKNOWN)
            return false;
        bool value = t.pointers == 0 && !t.vector;
        is = kind == KIND_FLOAT     ? value && t.base == BASE_FLOAT
             : kind == KIND_INTEGER ? value && t.base == BASE_INTEGER
             : kind == KIND_HALF    ? value && t.base == BASE_HALF
             : kind == KIND_POINTER ? t.pointers > 0
                                    : t.shared;
    }
    }
    return is != g->negated;
}

/* Does the bracket at token i make the place? */
static bool makes_place(const struct syntax *x, int i, enum place place)
{
    const struct source *s = x->s;
    switch (place) {
    case PLACE_INDEX: return x->role[i] == ROLE_INDEX;
    case PLACE_LAUNCH: return x->role[i] == ROLE_LAUNCH;
    case PLACE_CALL: return x->role[i] == ROLE_CALL;
    case PLACE_FOR_HEAD: return x->role[i] == ROLE_HEAD && token_is(s, i - 1, "for");
    default: return x->role[i] == ROLE_HEAD && !token_is(s, i - 1, "for");
    }
}

/* Is token i in the middle part of a for's head? */
static bool for_condition(const struct source *s, int i, int head)
{
    int semicolons = 0;
    for (int k = head + 1; k < i; k++)
        semicolons += s->token[k].parent == head && token_is(s, k, ";");
    return token_is(s, head - 1, "for") && semicolons == 1;
}

/* Is token `at` part of a for, while or do, head and body? */
static bool in_loop(const struct syntax *x, int at)
{
    const struct source *s = x->s;
    for (int i = s->function[s->token[at].function].body; i < at; i++) {
        bool loop = token_is(s, i, "for") || token_is(s, i, "while") || token_is(s, i, "do");
        if (loop && starts_statement(x, i) && statement_end(x, i) > at)
            return true;
    }
    return false;
}

static bool inside(const struct syntax *x, const struct pattern *p, const struct match *m,
                   enum place place)
{
    int at = m->part[0].begin;
    if (place == PLACE_LOOP)
        return in_loop(x, at);
    if (place == PLACE_STATEMENT_LIST)
        return p->ends_statement && stands_in_block(x, at);
    for (int i = x->s->token[at].parent; i != NONE && x->role[i] != ROLE_BLOCK;
         i = x->s->token[i].parent) {
        if (makes_place(x, i, place) ||
            (place == PLACE_CONDITION && x->role[i] == ROLE_HEAD && for_condition(x->s, at, i)))
            return true;
    }
    return false;
}

static struct range function_tokens(const struct source *s, int at)
{
    const struct function *f = &s->function[s->token[at].function];
    return (struct range){f->first, s->token[f->body].partner + 1};
}

bool guard_holds(const struct guard *g, const struct pattern *p, const struct match *m,
                 const struct syntax *x)
{
    static const struct range ONE = {0, 1};
    const struct source *s = x->s;
    struct range r = {0, 0};
    if (g->meta[0])
        r = m->capture[pattern_meta(p, g->meta)];
    switch (g->test) {
    case GUARD_IS: return is_kind(g, x, r);
    case GUARD_DIFFERS: return !same_text(s, r, s, m->capture[pattern_meta(p, g->other)]);
    case GUARD_HAS:
        if (g->other[0])
            return contains(s, r, s, m->capture[pattern_meta(p, g->other)]) != g->negated;
        return contains(s, r, &g->text[0], ONE) != g->negated;
    case GUARD_INSIDE: return inside(x, p, m, (enum place)g->what) != g->negated;
    case GUARD_FUNCTION_HAS:
        return contains(s, function_tokens(s, m->part[0].begin), &g->text[0], ONE) != g->negated;
    case GUARD_IN: break;
    }
    bool found = false;
    for (int k = 0; k < g->texts; k++)
        found |= same_text(s, r, &g->text[k], (struct range){0, g->text[k].tokens});
    return found != g->negated;
}
