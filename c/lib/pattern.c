#include "pattern.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "declaration.h"
#include "expression.h"
#include "memory.h"
#include "word.h"

/* ---- reading --------------------------------------------------------------------------------- */

/* The length of a metavariable's name: its token without the class. */
static int name_length(const struct source *s, int i)
{
    const char *text = s->text + s->token[i].begin;
    const char *colon = memchr(text, ':', (size_t)token_length(s, i));
    return colon ? (int)(colon - text) : token_length(s, i);
}

int pattern_meta(const struct pattern *p, const char *name)
{
    for (int k = 0; k < p->metas; k++)
        if (strcmp(p->meta[k].name, name) == 0)
            return k;
    return NONE;
}

/* The index of the metavariable whose name token i of `s` has, or NONE. */
static int find_meta(const struct pattern *p, const struct source *s, int i)
{
    if (s->token[i].kind != TOKEN_METAVARIABLE)
        return NONE;
    const char *text = s->text + s->token[i].begin;
    size_t length = (size_t)name_length(s, i);
    for (int k = 0; k < p->metas; k++)
        if (strncmp(p->meta[k].name, text, length) == 0 && p->meta[k].name[length] == '\0')
            return k;
    return NONE;
}

/* Notes the metavariable at token i of `s`, or its class if it is an old one. */
static int note_meta(struct pattern *p, const struct source *s, int i, bool may_add,
                     struct error *e)
{
    const char *text = s->text + s->token[i].begin;
    int length = name_length(s, i), line = s->token[i].line;
    struct metavariable m;
    if (length >= (int)sizeof m.name)
        return fail(e, EXIT_DATA, "%s:%d: a metavariable's name is longer than %d", s->path, line,
                    (int)sizeof m.name - 2);
    int class = meta_class(s, i);
    if (class == NONE)
        return fail(e, EXIT_DATA,
                    "%s:%d: `%.*s`: a metavariable is a name, number, type, args or stmt", s->path,
                    line, token_length(s, i), text);
    snprintf(m.name, sizeof m.name, "%.*s", length, text);
    m.class = (enum meta_class) class;
    int known = find_meta(p, s, i);
    bool classed = length < token_length(s, i);
    if (known != NONE && classed && p->meta[known].class != m.class)
        return fail(e, EXIT_DATA, "%s:%d: %s has another class elsewhere", s->path, line, m.name);
    if (known != NONE)
        return 0;
    if (!may_add)
        return fail(e, EXIT_DATA, "%s:%d: `match` does not bind %s", s->path, line, m.name);
    if (p->metas == PATTERN_METAS)
        return fail(e, EXIT_DATA, "%s:%d: more than %d metavariables", s->path, line,
                    PATTERN_METAS);
    p->meta[p->metas++] = m;
    return 0;
}

static const char *class_suffix(enum meta_class class)
{
    static const char *const SUFFIX[] = {"", ":name", ":number", ":type", ":args", ":stmt"};
    return SUFFIX[class];
}

/* The text with every metavariable's class spelt out, so that each token tells its own. */
static char *spell_classes(const struct pattern *p, const struct source *s)
{
    enum { LONGEST = 8 }; /* of ":number" and its NUL */
    char *text = memory_zeroed(s->size + LONGEST * s->tokens, 1), *to = text;
    int from = 0;
    for (int i = 0; i < s->tokens; i++) {
        if (s->token[i].kind != TOKEN_METAVARIABLE)
            continue;
        int end = s->token[i].begin + name_length(s, i);
        memcpy(to, s->text + from, (size_t)(end - from));
        to = stpcpy(to + end - from, class_suffix(p->meta[find_meta(p, s, i)].class));
        from = s->token[i].end;
    }
    strcpy(to, s->text + from);
    return text;
}

static int scan(struct source *s, const char *path, int line, const char *text, struct error *e)
{
    int code = source_scan_from(s, path, line, text, strlen(text), e);
    if (!code && s->tokens > PATTERN_TOKENS) {
        source_free(s);
        code = fail(e, EXIT_DATA, "%s:%d: more than %d tokens", path, line, PATTERN_TOKENS);
    }
    return code;
}

static int cut_into_parts(struct pattern *p, int line, struct error *e)
{
    const struct source *s = &p->s;
    p->parts = 1;
    p->part[0].begin = 0;
    for (int i = 0; i < s->tokens; i++) {
        if (!token_is(s, i, "..."))
            continue;
        int parent = s->token[i].parent;
        if (parent != NONE && !token_is(s, parent, "{"))
            return fail(e, EXIT_DATA, "%s:%d: `...` stands for statements, which cannot be here",
                        s->path, s->token[i].line);
        if (p->parts == PATTERN_PARTS)
            return fail(e, EXIT_DATA, "%s:%d: `...` more than %d times", s->path, line,
                        PATTERN_PARTS - 1);
        p->part[p->parts - 1].end = i;
        p->part[p->parts++].begin = i + 1;
    }
    p->part[p->parts - 1].end = s->tokens;
    return 0;
}

/* Is the token the last of a statement outside brackets? */
static bool completes_statement(const struct pattern *p, int i)
{
    const struct source *s = &p->s;
    if (i < 0 || (s->token[i].parent != NONE && s->token[i].partner == NONE))
        return false;
    bool outside = s->token[i].partner == NONE || s->token[s->token[i].partner].parent == NONE;
    return outside && (token_is(s, i, ";") || token_is(s, i, "...") ||
                       (token_is(s, i, "}") && p->x.role[i] == ROLE_BLOCK) ||
                       (s->token[i].kind == TOKEN_METAVARIABLE && meta_class(s, i) == META_STMT));
}

/* Reads the text into p, whose metavariables may be known already. */
static int read_text(struct pattern *p, const char *path, int line, const char *text, bool may_add,
                     struct error *e)
{
    struct source raw;
    int code = scan(&raw, path, line, text, e);
    if (code)
        return code;
    for (int i = 0; !code && i < raw.tokens; i++)
        if (raw.token[i].kind == TOKEN_METAVARIABLE)
            code = note_meta(p, &raw, i, may_add, e);
    if (!code) {
        char *spelt = spell_classes(p, &raw);
        code = scan(&p->s, path, line, spelt, e);
        free(spelt);
    }
    source_free(&raw);
    if (code)
        return code;
    syntax_read(&p->x, &p->s);
    p->meta_of = memory_zeroed(p->s.tokens, sizeof *p->meta_of);
    p->needs = memory_zeroed(p->s.tokens, sizeof *p->needs);
    for (int i = 0; i < p->s.tokens; i++) {
        p->meta_of[i] = find_meta(p, &p->s, i);
        p->needs[i] = needed_rank(&p->x, i, i + 1);
    }
    code = cut_into_parts(p, line, e);
    p->ends_statement = completes_statement(p, p->s.tokens - 1);
    for (int i = 0; i < p->s.tokens; i++)
        p->has_statements |= completes_statement(p, i);
    if (code)
        pattern_free(p);
    return code;
}

int pattern_read(struct pattern *p, const char *path, int line, const char *text, struct error *e)
{
    *p = (struct pattern){0};
    int code = read_text(p, path, line, text, true, e);
    if (!code && p->s.tokens == 0) {
        pattern_free(p);
        code = fail(e, EXIT_DATA, "%s:%d: an empty pattern matches nothing", path, line);
    }
    return code;
}

int replacement_read(struct pattern *r, const struct pattern *p, const char *path, int line,
                     const char *text, struct error *e)
{
    *r = (struct pattern){.metas = p->metas};
    memcpy(r->meta, p->meta, sizeof r->meta);
    if (r->metas < PATTERN_METAS)
        r->meta[r->metas++] = (struct metavariable){"$new", META_NAME};
    int code = read_text(r, path, line, text, false, e);
    if (code || r->parts == p->parts)
        return code;
    fail(e, EXIT_DATA, "%s:%d: `match` has `...` %d times, `replace` %d times", path, line,
         p->parts - 1, r->parts - 1);
    pattern_free(r);
    return EXIT_DATA;
}

void pattern_free(struct pattern *p)
{
    syntax_free(&p->x);
    source_free(&p->s);
    free(p->meta_of);
    free(p->needs);
    *p = (struct pattern){0};
}

/* ---- precedence at a range's ends ------------------------------------------------------------ */

static enum rank tighter(enum rank a, enum rank b)
{
    return a > b ? a : b;
}

static enum rank needed_on_the_right_of(const struct syntax *x, int i)
{
    if (i < 0)
        return RANK_ASSIGN;
    enum rank rank = operator_rank(x, i);
    switch (x->role[i]) {
    case ROLE_BINARY: return rank_groups_right(rank) ? rank : rank + 1;
    case ROLE_PREFIX: return RANK_PREFIX;
    case ROLE_CAST: return bracket_opens(x, i) ? RANK_ASSIGN : RANK_PREFIX;
    case ROLE_MEMBER: return RANK_PRIMARY;
    default: return RANK_ASSIGN;
    }
}

static enum rank needed_on_the_left_of(const struct syntax *x, int i)
{
    if (i >= x->s->tokens)
        return RANK_ASSIGN;
    enum rank rank = operator_rank(x, i);
    switch (x->role[i]) {
    case ROLE_BINARY: return rank_groups_right(rank) ? rank + 1 : rank;
    case ROLE_CONDITIONAL: return x->other[i] > i ? rank + 1 : RANK_ASSIGN;
    case ROLE_MEMBER:
    case ROLE_POSTFIX: return RANK_POSTFIX;
    case ROLE_CALL:
    case ROLE_INDEX:
    case ROLE_LAUNCH: return bracket_opens(x, i) ? RANK_POSTFIX : RANK_ASSIGN;
    default: return RANK_ASSIGN;
    }
}

enum rank needed_rank(const struct syntax *x, int begin, int end)
{
    return tighter(needed_on_the_right_of(x, begin - 1), needed_on_the_left_of(x, end));
}

/* Can an operand begin with token i of the pattern? */
static bool begins_operand(const struct syntax *x, int i)
{
    return x->count[i] > 0;
}

/* The loosest operator of the expression that the pattern begins or ends with (step 1 or −1). */
static enum rank loosest(const struct pattern *p, int from, int step)
{
    const struct syntax *x = &p->x;
    enum rank rank = RANK_POSTFIX;
    for (int i = from; i >= 0 && i < p->s.tokens; i += step) {
        int partner = p->s.token[i].partner;
        if (x->role[i] == ROLE_NONE || x->role[i] == ROLE_HEAD || x->role[i] == ROLE_BLOCK)
            break;
        if (operator_rank(x, i) != RANK_NONE && operator_rank(x, i) < rank)
            rank = operator_rank(x, i);
        if (partner != NONE)
            i = partner;
    }
    return rank;
}

/* Would the operator left of the match take the pattern's first operand away from it? */
static bool torn_on_the_left(const struct pattern *p, const struct syntax *x, int begin)
{
    if (!begins_operand(&p->x, 0) || begin == 0)
        return false;
    enum rank rank = loosest(p, 0, 1);
    return rank < needed_on_the_right_of(x, begin - 1);
}

static bool torn_on_the_right(const struct pattern *p, const struct syntax *x, int end)
{
    int last = p->s.tokens - 1;
    if (!ends_operand(&p->x, last) || end >= x->s->tokens)
        return false;
    if (x->role[end] == ROLE_TEMPLATE && x->other[end] > end)
        return true;
    return loosest(p, last, -1) < needed_on_the_left_of(x, end);
}

/* ---- matching -------------------------------------------------------------------------------- */

struct matcher {
    const struct pattern *p;
    const struct syntax *x;
    int end; /* the match ends here at the latest */
    struct match m;
    match_found *found;
    void *context;
};

static void step(struct matcher *c, int i, int at);

static bool same_tokens(const struct source *s, struct range a, int begin)
{
    for (int k = a.begin; k < a.end; k++)
        if (begin + k - a.begin >= s->tokens || !token_same(s, k, s, begin + k - a.begin))
            return false;
    return true;
}

/* Where the declaration begins whose type stands at token i. */
static int declaration_begin(const struct syntax *x, int i)
{
    while (i > 0 && (x->role[i - 1] == ROLE_TYPE || x->role[i - 1] == ROLE_SPECIFIER))
        i--;
    return i;
}

/* Does the pattern begin in the middle of an expression? */
static bool begins_inside(const struct pattern *p)
{
    switch (p->x.role[0]) {
    case ROLE_BINARY:
    case ROLE_POSTFIX:
    case ROLE_MEMBER:
    case ROLE_CALL:
    case ROLE_INDEX:
    case ROLE_LAUNCH: return true;
    default: return token_is(&p->s, 0, ",");
    }
}

/* If the pattern has whole statements, are they whole in the match, and in one list if several? */
static bool whole_statements(const struct matcher *c, int begin, int end)
{
    const struct pattern *p = c->p;
    if (!p->has_statements || begins_inside(p))
        return true;
    int at = p->x.role[0] == ROLE_TYPE ? declaration_begin(c->x, begin) : begin, statements = 0;
    if (!starts_statement(c->x, at))
        return false;
    for (begin = at; at != NONE && at < end; statements++)
        at = statement_end(c->x, at);
    return (at == end || !p->ends_statement) && (statements == 1 || stands_in_block(c->x, begin));
}

static void finish(struct matcher *c, int at)
{
    const struct pattern *p = c->p;
    int begin = c->m.part[0].begin;
    c->m.at[p->s.tokens] = at;
    c->m.part[p->parts - 1].end = at;
    bool cut_type = p->meta_of[0] != NONE && p->x.role[0] == ROLE_TYPE && begin > 0 &&
                    c->x->role[begin - 1] == ROLE_TYPE;
    if (!cut_type && !torn_on_the_left(p, c->x, begin) && !torn_on_the_right(p, c->x, at) &&
        whole_statements(c, begin, at))
        c->found(c->context, &c->m);
}

/* Goes on with the metavariable bound to [at, end). */
static void bind(struct matcher *c, int i, int at, int end)
{
    if (end > c->end)
        return;
    c->m.capture[c->p->meta_of[i]] = (struct range){at, end};
    step(c, i + 1, end);
    c->m.capture[c->p->meta_of[i]] = (struct range){NONE, NONE};
}

static void bind_expression(struct matcher *c, int i, int at)
{
    const struct syntax *x = c->x;
    for (int k = x->first[at]; k < x->first[at] + x->count[at]; k++)
        if (x->operand[k].rank >= c->p->needs[i])
            bind(c, i, at, x->operand[k].end);
}

static void bind_type(struct matcher *c, int i, int at)
{
    if (c->x->role[at] != ROLE_TYPE)
        return;
    for (int end = type_end(c->x, at); end > at; end--) {
        bind(c, i, at, end);
        if (c->x->role[end - 1] != ROLE_DECLARATOR)
            break;
    }
}

/* Zero or more arguments that end before a comma or the closing bracket. */
static void bind_args(struct matcher *c, int i, int at)
{
    const struct source *s = c->x->s;
    int parent = s->token[at].partner != NONE && s->token[at].partner < at ? s->token[at].partner
                                                                           : s->token[at].parent;
    if (parent == NONE)
        return;
    int close = s->token[parent].partner;
    for (int end = at; end <= close; end++) {
        bool template = c->x->role[end] == ROLE_TEMPLATE && c->x->other[end] > end;
        if (end == close || (end > at && token_is(s, end, ",")))
            bind(c, i, at, end);
        else if (template)
            end = c->x->other[end];
        else if (bracket_opens(c->x, end))
            end = s->token[end].partner;
    }
}

static void bind_new(struct matcher *c, int i, int at)
{
    const struct token *t = &c->x->s->token[at];
    switch (c->p->meta[c->p->meta_of[i]].class) {
    case META_EXPRESSION: bind_expression(c, i, at); break;
    case META_NAME:
        if (t->kind == TOKEN_NAME && c->x->role[at] == ROLE_OPERAND)
            bind(c, i, at, at + 1);
        break;
    case META_NUMBER:
        if (t->kind == TOKEN_NUMBER)
            bind(c, i, at, at + 1);
        break;
    case META_TYPE: bind_type(c, i, at); break;
    case META_ARGS: bind_args(c, i, at); break;
    case META_STMT:
        if (starts_statement(c->x, at) && statement_end(c->x, at) != NONE)
            bind(c, i, at, statement_end(c->x, at));
        break;
    }
}

/* The same tokens once more, and in place of an operand again an operand. */
static void bind_again(struct matcher *c, int i, int at)
{
    struct range bound = c->m.capture[c->p->meta_of[i]];
    int end = at + bound.end - bound.begin;
    if (end > c->end || !same_tokens(c->x->s, bound, at))
        return;
    bool operand = c->p->meta[c->p->meta_of[i]].class == META_EXPRESSION;
    if (!operand || expression_rank(c->x, at, end) >= c->p->needs[i])
        step(c, i + 1, end);
}

/* `...`: goes on behind each number of statements. */
static void skip_statements(struct matcher *c, int i, int at)
{
    int part = 0;
    while (c->p->part[part].end != i)
        part++;
    c->m.part[part].end = at;
    while (at != NONE && at < c->end) {
        bool list_end = token_is(c->x->s, at, "}");
        if (!list_end && !stands_in_block(c->x, at))
            return;
        c->m.part[part + 1].begin = at;
        step(c, i + 1, at);
        at = list_end ? NONE : statement_end(c->x, at);
    }
}

/* Matches the pattern from its token i on against the source from token `at` on. */
static void step(struct matcher *c, int i, int at)
{
    const struct pattern *p = c->p;
    const struct syntax *x = c->x;
    for (; i < p->s.tokens; i++, at++) {
        if (at >= c->end)
            return;
        c->m.at[i] = at;
        if (p->meta_of[i] != NONE) {
            if (c->m.capture[p->meta_of[i]].begin == NONE)
                bind_new(c, i, at);
            else
                bind_again(c, i, at);
            return;
        }
        if (token_is(&p->s, i, "...")) {
            skip_statements(c, i, at);
            return;
        }
        if (!token_same(&p->s, i, x->s, at) ||
            (x->s->token[at].kind == TOKEN_PUNCTUATION && p->x.role[i] != x->role[at]))
            return;
    }
    finish(c, at);
}

void pattern_match(const struct pattern *p, const struct syntax *x, struct range within,
                   match_found *found, void *context)
{
    struct matcher c = {.p = p, .x = x, .end = within.end, .found = found, .context = context};
    for (int k = 0; k < PATTERN_METAS; k++)
        c.m.capture[k] = (struct range){NONE, NONE};
    for (int at = within.begin; at < within.end; at++) {
        c.m.part[0].begin = at;
        step(&c, 0, at);
    }
}
