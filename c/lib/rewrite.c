#include "rewrite.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "expression.h"

/* ---- text that grows ------------------------------------------------------------------------- */

struct text {
    char *bytes;
    size_t size, room;
};

static void add_bytes(struct text *t, const char *bytes, size_t size)
{
    if (t->size + size + 1 > t->room) {
        t->room = 2 * (t->size + size + 1);
        t->bytes = realloc(t->bytes, t->room);
        if (!t->bytes)
            abort();
    }
    memcpy(t->bytes + t->size, bytes, size);
    t->size += size;
    t->bytes[t->size] = '\0';
}

static bool name_byte(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Could two tokens that end and begin with these bytes become one? */
static bool would_merge(char a, char b)
{
    static const char SIGNS[] = "+-*/%&|^<>=!:.";
    return (name_byte(a) && (name_byte(b) || b == '"' || b == '\'')) ||
           (a && b && strchr(SIGNS, a) && strchr(SIGNS, b));
}

/* Adds bytes that are tokens of their own. */
static void add_tokens(struct text *t, const char *bytes, size_t size)
{
    if (t->size > 0 && size > 0 && would_merge(t->bytes[t->size - 1], bytes[0]))
        add_bytes(t, " ", 1);
    add_bytes(t, bytes, size);
}

/* ---- the replacement as text ----------------------------------------------------------------- */

struct range rewrite_captured(const struct rewrite *c, int i)
{
    int k = c->r->meta_of[i];
    return k < c->p->metas ? c->m->capture[k] : (struct range){NONE, NONE};
}

/* Needs the metavariable at token i of the replacement parentheses? */
static bool needs_parentheses(const struct rewrite *c, int i)
{
    const struct pattern *r = c->r;
    struct range t = rewrite_captured(c, i);
    return t.begin != NONE && r->meta[r->meta_of[i]].class == META_EXPRESSION &&
           expression_rank(c->x, t.begin, t.end) < r->needs[i];
}

/* The indentation of the line that byte `at` is on. */
static void add_indentation(struct text *t, const struct source *s, int at)
{
    while (at > 0 && s->text[at - 1] != '\n')
        at--;
    int end = at;
    while (s->text[end] == ' ' || s->text[end] == '\t')
        end++;
    add_bytes(t, s->text + at, (size_t)(end - at));
}

/* White space of the replacement: its lines are indented as the line on which the match begins. */
static void add_space(struct text *t, const struct rewrite *c, int begin, int end)
{
    const char *space = c->r->s.text;
    for (int k = begin; k < end; k++) {
        add_bytes(t, space + k, 1);
        if (space[k] == '\n')
            add_indentation(t, c->x->s, c->x->s->token[c->m->part[0].begin].begin);
    }
}

static void add_token(struct text *t, const struct rewrite *c, int i)
{
    const struct pattern *r = c->r;
    const struct token *token = &r->s.token[i];
    if (r->meta_of[i] == NONE) {
        add_tokens(t, r->s.text + token->begin, (size_t)(token->end - token->begin));
        return;
    }
    struct range captured = rewrite_captured(c, i);
    if (captured.begin == NONE) {
        add_tokens(t, c->fresh, strlen(c->fresh));
        return;
    }
    if (captured.begin == captured.end) /* no arguments */
        return;
    int begin = c->x->s->token[captured.begin].begin, end = c->x->s->token[captured.end - 1].end;
    bool parentheses = needs_parentheses(c, i);
    if (parentheses)
        add_tokens(t, "(", 1);
    add_tokens(t, c->x->s->text + begin, (size_t)(end - begin));
    if (parentheses)
        add_tokens(t, ")", 1);
}

/* The tokens [begin, end) of the replacement, with the white space between them. */
static void add_replacement(struct text *t, const struct rewrite *c, struct range range)
{
    const struct source *r = &c->r->s;
    for (int i = range.begin; i < range.end; i++) {
        if (i > range.begin)
            add_space(t, c, r->token[i - 1].end, r->token[i].begin);
        add_token(t, c, i);
    }
}

/* ---- from a match to edits ------------------------------------------------------------------- */

static bool same_element(const struct rewrite *c, int i, int j)
{
    const struct pattern *p = c->p, *r = c->r;
    if (p->meta_of[i] != NONE || r->meta_of[j] != NONE)
        return p->meta_of[i] == r->meta_of[j] && !needs_parentheses(c, j);
    return token_same(&p->s, i, &r->s, j);
}

/* Has the token a partner in the range? */
static bool partner_in(const struct source *s, int i, struct range range)
{
    int partner = s->token[i].partner;
    return partner != NONE && partner >= range.begin && partner < range.end;
}

/* Takes off what the two ranges of pattern and replacement have in common at their ends, but no
 * bracket without its partner. */
static void trim(const struct rewrite *c, struct range *p, struct range *r)
{
    const struct range whole = *p;
    while (p->begin < p->end && r->begin < r->end && same_element(c, p->begin, r->begin)) {
        p->begin++;
        r->begin++;
    }
    while (p->begin < p->end && r->begin < r->end && same_element(c, p->end - 1, r->end - 1)) {
        p->end--;
        r->end--;
    }
    for (int i = p->end, j = r->end; i < whole.end; i++, j++)
        if (partner_in(&c->p->s, i, *p) || partner_in(&c->r->s, j, *r)) {
            p->end = i + 1;
            r->end = j + 1;
        }
    for (int i = p->begin - 1, j = r->begin - 1; i >= whole.begin; i--, j--)
        if (partner_in(&c->p->s, i, *p) || partner_in(&c->r->s, j, *r)) {
            p->begin = i;
            r->begin = j;
        }
}

/* Widens a deletion to the whole lines that it empties, or over white space that is then one too
 * many. Token `next` follows it. */
static void widen_deletion(const struct source *s, struct edit *edit, int next)
{
    int begin = edit->begin, end = edit->end;
    while (begin > 0 && (s->text[begin - 1] == ' ' || s->text[begin - 1] == '\t'))
        begin--;
    while (s->text[end] == ' ' || s->text[end] == '\t')
        end++;
    bool first = begin == 0 || s->text[begin - 1] == '\n';
    bool hugging = token_is(s, next, ";") || token_is(s, next, ",") || token_is(s, next, ")") ||
                   token_is(s, next, "]");
    if (first && s->text[end] == '\n') {
        edit->begin = begin;
        edit->end = end + 1;
    } else if (first || (begin == edit->begin && s->token[next].begin == end)) {
        edit->end = end;
    } else if (end > edit->end || hugging || s->text[end] == '\n') {
        edit->begin = begin;
    }
}

/* Must a statement's replacement have braces, because it stands where one statement is expected? */
static bool needs_braces(const struct rewrite *c)
{
    const struct pattern *p = c->p, *r = c->r;
    int begin = c->m->part[0].begin;
    if (!p->ends_statement || p->parts > 1 || !starts_statement(c->x, begin) ||
        stands_in_block(c->x, begin))
        return false;
    int at = 0, statements = 0;
    while (at != NONE && at < r->s.tokens) {
        bool statement = r->meta_of[at] != NONE && r->meta[r->meta_of[at]].class == META_STMT;
        at = statement ? at + 1 : statement_end(&r->x, at);
        statements++;
    }
    return statements != 1;
}

/* Must the new expression have parentheses, because its neighbours bind tighter? */
static bool needs_outer_parentheses(const struct rewrite *c)
{
    const struct pattern *r = c->r;
    struct range part = c->m->part[0];
    if (r->parts > 1 || r->s.tokens == 0 || part.begin == part.end ||
        expression_rank(c->x, part.begin, part.end) == RANK_NONE)
        return false;
    enum rank rank = expression_rank(&r->x, 0, r->s.tokens);
    if (r->s.tokens == 1 && r->meta_of[0] != NONE) {
        struct range t = rewrite_captured(c, 0);
        rank = t.begin == NONE ? RANK_PRIMARY : expression_rank(c->x, t.begin, t.end);
    }
    return rank != RANK_NONE && rank < needed_rank(c->x, part.begin, part.end);
}

/* The whole part between two brackets. */
static struct edit bracketed_edit(const struct rewrite *c, const char *open, const char *close)
{
    const struct source *s = c->x->s;
    struct text t = {0};
    add_bytes(&t, open, strlen(open));
    add_replacement(&t, c, c->r->part[0]);
    add_bytes(&t, close, strlen(close));
    return (struct edit){s->token[c->m->part[0].begin].begin, s->token[c->m->part[0].end - 1].end,
                         t.bytes};
}

/* Do the new tokens r belong to the token behind them, and not to the one before? */
static bool belongs_to_next(const struct rewrite *c, struct range r, struct range part)
{
    enum role last = c->r->x.role[r.end - 1];
    return r.begin == part.begin ||
           (r.end < part.end && (last == ROLE_PREFIX || last == ROLE_CAST));
}

/* Puts the tokens r of the replacement between the kernel's tokens at − 1 and at: behind the former
 * or before the latter. White space on either side is the kernel's, or else the replacement's. */
static struct edit insertion(const struct rewrite *c, struct range r, struct range part, int at)
{
    const struct source *s = c->x->s;
    const struct token *t = c->r->s.token;
    struct text new = {0};
    bool behind = !belongs_to_next(c, r, part);
    bool apart = s->token[at - 1].end < s->token[at].begin;
    if (r.begin > part.begin && (behind || !apart))
        add_space(&new, c, t[r.begin - 1].end, t[r.begin].begin);
    add_replacement(&new, c, r);
    if (r.end < part.end && (!behind || !apart))
        add_space(&new, c, t[r.end - 1].end, t[r.end].begin);
    int byte = behind ? s->token[at - 1].end : s->token[at].begin;
    return (struct edit){byte, byte, new.bytes};
}

/* The edit of part k: only of what differs. No edit: text NULL. */
static struct edit part_edit(const struct rewrite *c, int k)
{
    const struct source *s = c->x->s;
    struct range p = c->p->part[k], r = c->r->part[k];
    trim(c, &p, &r);
    int first = c->m->at[p.begin],
        last = c->m->at[p.end]; /* of the kernel's tokens, last exclusive */
    if (first == last && r.begin == r.end)
        return (struct edit){0};
    if (first == last)
        return insertion(c, r, c->r->part[k], first);
    struct text t = {0};
    add_bytes(&t, "", 0);
    add_replacement(&t, c, r);
    struct edit edit = {s->token[first].begin, s->token[last - 1].end, t.bytes};
    if (t.size == 0)
        widen_deletion(s, &edit, last);
    return edit;
}

/* Sees to it that an edit lets no token run into its neighbour. */
static void keep_apart(const struct source *s, struct edit *edit)
{
    char before = edit->begin > 0 ? s->text[edit->begin - 1] : ' ', after = s->text[edit->end];
    size_t size = strlen(edit->text);
    bool left = would_merge(before, size > 0 ? edit->text[0] : after);
    bool right = size > 0 && would_merge(edit->text[size - 1], after);
    if (!left && !right)
        return;
    struct text t = {0};
    add_bytes(&t, " ", left);
    add_bytes(&t, edit->text, size);
    add_bytes(&t, " ", right);
    free(edit->text);
    edit->text = t.bytes;
}

int rewrite_edits(const struct rewrite *c, struct edit edit[PATTERN_PARTS])
{
    int edits = 0;
    if (needs_braces(c)) {
        edit[edits++] = bracketed_edit(c, "{ ", " }");
    } else if (needs_outer_parentheses(c)) {
        edit[edits++] = bracketed_edit(c, "(", ")");
    } else {
        for (int k = 0; k < c->p->parts; k++) {
            edit[edits] = part_edit(c, k);
            edits += edit[edits].text != NULL;
        }
    }
    for (int k = 0; k < edits; k++)
        keep_apart(c->x->s, &edit[k]);
    return edits;
}

char *edits_apply(const struct edit *edit, int edits, const char *text, int begin, int end,
                  size_t *size)
{
    struct text t = {0};
    int at = begin;
    for (int k = 0; k < edits; k++) {
        add_bytes(&t, text + at, (size_t)(edit[k].begin - at));
        add_bytes(&t, edit[k].text, strlen(edit[k].text));
        at = edit[k].end;
    }
    add_bytes(&t, text + at, (size_t)(end - at));
    *size = t.size;
    return t.bytes;
}
