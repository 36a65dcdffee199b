#include "share.h"

/* The tokens of a definition, its body included. */
static int definition_end(const struct source *s, const struct function *f)
{
    return s->token[f->body].partner;
}

static bool same_tokens(const struct source *a, int a_from, int a_to, const struct source *b,
                        int b_from, int b_to)
{
    if (a_to - a_from != b_to - b_from)
        return false;
    for (int i = 0; i < a_to - a_from; i++)
        if (!token_same(a, a_from + i, b, b_from + i))
            return false;
    return true;
}

/* Is the text between functions the same? */
static bool same_outside(const struct source *a, const struct source *b)
{
    int i = 0, j = 0;
    if (a->functions != b->functions)
        return false;
    for (int f = 0; f <= a->functions; f++) {
        int i_end = f < a->functions ? a->function[f].first : a->tokens;
        int j_end = f < b->functions ? b->function[f].first : b->tokens;
        if (!same_tokens(a, i, i_end, b, j, j_end))
            return false;
        if (f < a->functions) {
            i = definition_end(a, &a->function[f]) + 1;
            j = definition_end(b, &b->function[f]) + 1;
        }
    }
    return true;
}

/* Does the declaration from `from` to its `;` make no type and no variable that can change? */
static bool harmless(const struct source *s, int from, int to)
{
    static const char *const TYPE[] = {"struct", "class", "union", "enum"};
    bool constant = token_is(s, from, "const") || token_is(s, from, "using") ||
                    token_is(s, from, "static_assert");
    for (int i = from; i < to; i++) {
        constant |= token_is(s, i, "constexpr");
        for (int k = 0; k < 4; k++)
            if (token_is(s, i, TYPE[k]))
                return false;
    }
    return constant;
}

static bool only_constants(const struct source *s)
{
    int i = 0;
    for (int f = 0; f <= s->functions; f++) {
        int end = f < s->functions ? s->function[f].first : s->tokens;
        while (i < end) {
            int stop = i;
            while (stop < end &&
                   !(token_is(s, stop, ";") && s->token[stop].parent == s->token[i].parent))
                stop++;
            if (!harmless(s, i, stop))
                return false;
            i = stop + 1;
        }
        if (f < s->functions)
            i = definition_end(s, &s->function[f]) + 1;
    }
    return true;
}

/* Does the kernel hold a preprocessor line that matters outside it, or state? */
static bool has_state(const struct source *s, const struct function *f)
{
    int end = definition_end(s, f);
    for (int i = f->body; i < end; i++)
        if (token_is(s, i, "static"))
            return true;
    for (int d = 0; d < s->directives; d++) {
        const struct directive *line = &s->directive[d];
        bool inside = line->begin > s->token[f->first].begin && line->begin < s->token[end].begin;
        if (inside && s->text[line->begin + 1] != 'p') /* #pragma */
            return true;
    }
    return false;
}

static bool mentions(const struct source *s, const struct function *f,
                     const struct function *called)
{
    for (int i = f->first; i <= definition_end(s, f); i++)
        if (token_same(s, i, s, called->name))
            return true;
    return false;
}

/* Spreads `changed` from each function to those that mention its name. */
static void spread(const struct source *s, bool changed[])
{
    bool more = true;
    while (more) {
        more = false;
        for (int f = 0; f < s->functions; f++) {
            for (int g = 0; g < s->functions && !changed[f]; g++)
                if (changed[g] && mentions(s, &s->function[f], &s->function[g]))
                    changed[f] = more = true;
        }
    }
}

void share_kernels(const struct source *original, const struct source *mutant, bool shared[])
{
    const struct source *s = mutant;
    bool possible = same_outside(original, s) && only_constants(s);
    for (int f = 0; f < s->functions; f++) /* for now: is it changed? */
        shared[f] =
            !possible || !same_tokens(original, original->function[f].first,
                                      definition_end(original, &original->function[f]), s,
                                      s->function[f].first, definition_end(s, &s->function[f]));
    spread(s, shared);
    for (int f = 0; f < s->functions; f++)
        shared[f] =
            !shared[f] && s->function[f].kind == FUNCTION_KERNEL && !has_state(s, &s->function[f]);
}
