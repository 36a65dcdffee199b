#include "mutant.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "syntax.h"

/* ---- applying -------------------------------------------------------------------------------- */

int mutant_apply(const struct mutant *m, const char *text, size_t size, char **mutated,
                 size_t *mutated_size, struct error *e)
{
    int at = 0;
    for (int k = 0; k < m->edits; k++) {
        if (m->edit[k].begin < at || m->edit[k].end < m->edit[k].begin ||
            (size_t)m->edit[k].end > size)
            return fail(e, EXIT_DATA, "%s: an edit does not fit the kernel", m->id);
        at = m->edit[k].end;
    }
    char sha256[HASH_HEX];
    *mutated = edits_apply(m->edit, m->edits, text, 0, (int)size, mutated_size);
    hash_bytes(*mutated, *mutated_size, sha256);
    if (strcmp(sha256, m->sha256) == 0)
        return 0;
    free(*mutated);
    return fail(e, EXIT_DATA, "%s: the kernel is not the one that was mutated", m->id);
}

/* ---- making ---------------------------------------------------------------------------------- */

struct maker {
    const struct syntax *x;
    const struct source *s;
    const struct rule *rule;
    const struct alternative *alternative;
    const char *fresh; /* what $new stands for */
    struct mutants *made;
    int room;
    uint64_t *seen; /* hashes of the tokens of mutated functions, the originals' first */
    int seens, seen_room;
    struct error *e;
    int code;
};

static uint64_t tokens_hash(const struct source *s, int begin, int end)
{
    uint64_t hash = 14695981039346656037u;
    for (int i = begin; i < end; i++)
        hash = (hash ^ s->token[i].hash) * 0x9E3779B97F4A7C15u + (hash >> 29);
    return hash;
}

/* Has a mutant with these tokens been there? If not, it has from now on. */
static bool seen_before(struct maker *c, uint64_t hash)
{
    for (int k = 0; k < c->seens; k++)
        if (c->seen[k] == hash)
            return true;
    c->seen = memory_grow(c->seen, c->seens, &c->seen_room, sizeof *c->seen);
    c->seen[c->seens++] = hash;
    return false;
}

static struct range function_range(const struct source *s, int k)
{
    return (struct range){s->function[k].parameters, s->token[s->function[k].body].partner + 1};
}

/* The hash of the tokens of function k after the edits. */
static int mutated_hash(struct maker *c, const struct mutant *m, int k, uint64_t *hash)
{
    struct range r = function_range(c->s, k);
    size_t size;
    char *text = edits_apply(m->edit, m->edits, c->s->text, c->s->token[r.begin].begin,
                             c->s->token[r.end - 1].end, &size);
    struct source s;
    struct error why;
    int code = source_scan(&s, c->s->path, text, size, &why);
    if (code)
        code = fail(c->e, EXIT_BUG, "%s: line %d: the mutant is no source: %s", c->rule->id,
                    m->line, why.text);
    else
        *hash = tokens_hash(&s, 0, s.tokens) ^ ((uint64_t)k << 32);
    if (!code)
        source_free(&s);
    free(text);
    return code;
}

/* The tokens [begin, end) on one line, a space for what was between them if anything was. */
static void write_tokens(FILE *f, const struct source *s, struct range r)
{
    for (int i = r.begin; i < r.end; i++) {
        if (i > r.begin && s->token[i - 1].end < s->token[i].begin)
            fputc(' ', f);
        fprintf(f, "%.*s", token_length(s, i), s->text + s->token[i].begin);
    }
}

/* What the rule matched, as text on one line. */
static char *matched_text(const struct maker *c, const struct match *m)
{
    char *text;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    if (!f)
        abort();
    for (int k = 0; k < c->alternative->match.parts; k++) {
        fputs(k > 0 ? " ... " : "", f);
        write_tokens(f, c->s, m->part[k]);
    }
    memory_close(f, &text);
    return text;
}

static void hash_tokens(struct hash *h, const struct source *s, struct range r)
{
    for (int i = r.begin; i < r.end; i++) {
        hash_add(h, s->text + s->token[i].begin, (size_t)token_length(s, i));
        hash_add(h, " ", 1);
    }
}

/* Matched and new text, token by token, so that layout does not matter. */
static void hash_edit(struct hash *h, const struct maker *c, const struct match *m)
{
    const struct alternative *a = c->alternative;
    const struct rewrite rewrite = {c->x, &a->match, &a->replacement, m, c->fresh};
    for (int k = 0; k < a->match.parts; k++) {
        hash_tokens(h, c->s, m->part[k]);
        hash_add_text(h, "");
    }
    for (int i = 0; i < a->replacement.s.tokens; i++) {
        bool own = a->replacement.meta_of[i] == NONE || rewrite_captured(&rewrite, i).begin == NONE;
        if (own)
            hash_tokens(h, &a->replacement.s, (struct range){i, i + 1});
        else
            hash_tokens(h, c->s, rewrite_captured(&rewrite, i));
    }
}

/* An id that no mutant of the rule in this kernel has yet. */
static char *make_id(const struct maker *c, const struct match *m, const struct mutant *mutant)
{
    char *id = NULL;
    for (int number = 0;; number++) {
        char hex[HASH_HEX], digits[16];
        struct hash *h = hash_new();
        hash_add_text(h, mutant->function);
        hash_edit(h, c, m);
        snprintf(digits, sizeof digits, "%d", number);
        hash_add_text(h, digits);
        hash_finish(h, hex);
        free(id);
        if (asprintf(&id, "%s-%.8s", c->rule->id, hex) < 0)
            abort();
        if (!mutants_find(c->made, id))
            return id;
    }
}

static void mutant_free(struct mutant *m)
{
    for (int k = 0; k < m->edits; k++)
        free(m->edit[k].text);
    free(m->edit);
    free(m->id);
    free(m->family);
    free(m->rule);
    free(m->function);
    free(m->original);
}

static void keep(struct maker *c, const struct match *m, struct mutant *mutant, int function)
{
    const struct token *name = &c->s->token[c->s->function[function].name];
    mutant->function = strndup(c->s->text + name->begin, (size_t)(name->end - name->begin));
    mutant->original = matched_text(c, m);
    mutant->family = memory_copy(c->rule->family);
    mutant->rule = memory_copy(c->rule->id);
    mutant->id = make_id(c, m, mutant);
    size_t size;
    char *text = edits_apply(mutant->edit, mutant->edits, c->s->text, 0, c->s->size, &size);
    hash_bytes(text, size, mutant->sha256);
    free(text);
    c->made->mutant = memory_grow(c->made->mutant, c->made->count, &c->room, sizeof *mutant);
    c->made->mutant[c->made->count++] = *mutant;
}

static int line_of(const struct source *s, int byte)
{
    int line = 1;
    for (int k = 0; k < byte; k++)
        line += s->text[k] == '\n';
    return line;
}

static void on_match(void *context, const struct match *m)
{
    struct maker *c = context;
    const struct rule *rule = c->rule;
    for (int k = 0; k < rule->guards; k++)
        if (!guard_holds(&rule->guard[k], &c->alternative->match, m, c->x))
            return;
    const struct rewrite rewrite = {c->x, &c->alternative->match, &c->alternative->replacement, m,
                                    c->fresh};
    struct mutant mutant = {.edit = memory_zeroed(PATTERN_PARTS, sizeof *mutant.edit)};
    uint64_t hash = 0;
    int function = c->s->token[m->part[0].begin].function;
    mutant.edits = rewrite_edits(&rewrite, mutant.edit);
    mutant.line = mutant.edits > 0 ? line_of(c->s, mutant.edit[0].begin) : 0;
    if (c->code || (c->code = mutated_hash(c, &mutant, function, &hash)) || seen_before(c, hash))
        mutant_free(&mutant);
    else
        keep(c, m, &mutant, function);
}

void mutant_fresh_name(const struct source *s, char name[32])
{
    for (int number = 0;; number++) {
        bool used = false;
        snprintf(name, 32, number ? "fresh%d" : "fresh", number);
        for (int i = 0; i < s->tokens; i++)
            used |= token_is(s, i, name);
        if (!used)
            return;
    }
}

static int compare(const void *a, const void *b)
{
    const struct mutant *x = a, *y = b;
    if (x->edit[0].begin != y->edit[0].begin)
        return x->edit[0].begin < y->edit[0].begin ? -1 : 1;
    int order = strcmp(x->rule, y->rule);
    return order ? order : strcmp(x->id, y->id);
}

static void apply_rule(struct maker *c)
{
    for (int f = 0; f < c->s->functions; f++) {
        if (!c->rule->in[c->s->function[f].kind])
            continue;
        for (int k = 0; k < c->rule->alternatives; k++) {
            c->alternative = c->rule->alternative[k];
            pattern_match(&c->alternative->match, c->x, function_range(c->s, f), on_match, c);
        }
    }
}

int mutants_make(struct mutants *made, const struct source *s, const struct rule *rule, int rules,
                 struct error *e)
{
    struct syntax x;
    char fresh[32];
    *made = (struct mutants){0};
    syntax_read(&x, s);
    mutant_fresh_name(s, fresh);
    struct maker c = {.x = &x, .s = s, .fresh = fresh, .made = made, .e = e};
    for (int f = 0; f < s->functions; f++) {
        struct range r = function_range(s, f);
        seen_before(&c, tokens_hash(s, r.begin, r.end) ^ ((uint64_t)f << 32));
    }
    for (int k = 0; k < rules && !c.code; k++) {
        c.rule = &rule[k];
        apply_rule(&c);
    }
    free(c.seen);
    syntax_free(&x);
    if (c.code)
        mutants_free(made);
    else if (made->count > 0)
        qsort(made->mutant, (size_t)made->count, sizeof *made->mutant, compare);
    return c.code;
}

void mutants_free(struct mutants *m)
{
    for (int k = 0; k < m->count; k++)
        mutant_free(&m->mutant[k]);
    free(m->mutant);
    *m = (struct mutants){0};
}

const struct mutant *mutants_find(const struct mutants *m, const char *id)
{
    for (int k = 0; k < m->count; k++)
        if (strcmp(m->mutant[k].id, id) == 0)
            return &m->mutant[k];
    return NULL;
}
