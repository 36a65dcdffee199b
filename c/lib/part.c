#include "part.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"

/* Takes bytes [begin, end) out, but for their line breaks. */
static void cut(char *text, int begin, int end)
{
    for (int k = begin; k < end; k++)
        if (text[k] != '\n')
            text[k] = '\0'; /* no source holds one */
}

static char *close_gaps(char *text, int size)
{
    int kept = 0;
    for (int k = 0; k < size; k++)
        if (text[k])
            text[kept++] = text[k];
    text[kept] = '\0';
    return text;
}

static int end_of(const struct source *s, const struct function *f)
{
    return s->token[f->body].partner;
}

static void cut_function(char *text, const struct source *s, const struct function *f)
{
    cut(text, s->token[f->first].begin, s->token[end_of(s, f)].end);
}

/* Adds the functions that token i names to those that are wanted. Was there a new one? */
static bool want_named(const struct source *s, int i, bool wanted[])
{
    bool more = false;
    for (int f = 0; f < s->functions; f++) {
        if (!wanted[f] && s->function[f].kind == FUNCTION_DEVICE &&
            token_same(s, i, s, s->function[f].name))
            wanted[f] = more = true;
    }
    return more;
}

/* The first token that the host does not see of a function that it does not want. */
static int unseen_from(const struct function *f)
{
    return f->kind == FUNCTION_KERNEL ? f->body : f->first;
}

/* Sets wanted[f] for host functions, and for what they and the code outside functions mention. */
static void find_wanted(const struct source *s, bool wanted[])
{
    for (int f = 0; f < s->functions; f++)
        wanted[f] = s->function[f].kind == FUNCTION_HOST;
    for (bool more = true; more;) {
        more = false;
        for (int i = 0, f = 0; i < s->tokens; i++) {
            const struct function *next = f < s->functions ? &s->function[f] : NULL;
            if (next && !wanted[f] && i == unseen_from(next))
                i = end_of(s, next);
            else if (want_named(s, i, wanted))
                more = true;
            f += next && i == end_of(s, next);
        }
    }
}

char *part_host(const struct source *s)
{
    char *text = strndup(s->text, (size_t)s->size);
    bool *wanted = memory_zeroed(s->functions, sizeof *wanted);
    find_wanted(s, wanted);
    for (int k = 0; k < s->functions; k++) {
        const struct function *f = &s->function[k];
        if (f->kind == FUNCTION_KERNEL)
            cut(text, s->token[f->body].end, s->token[end_of(s, f)].begin);
        else if (!wanted[k])
            cut_function(text, s, f);
    }
    free(wanted);
    return close_gaps(text, s->size);
}

char *part_device(const struct source *s, bool (*left_out)(const char *line))
{
    char *text = strndup(s->text, (size_t)s->size);
    for (int k = 0; k < s->functions; k++)
        if (s->function[k].kind == FUNCTION_HOST)
            cut_function(text, s, &s->function[k]);
    for (int k = 0; k < s->directives; k++) {
        const struct directive *d = &s->directive[k];
        char *line = strndup(s->text + d->begin, (size_t)(d->end - d->begin));
        if (strstr(line, "include") && left_out(line))
            cut(text, d->begin, d->end);
        free(line);
    }
    return close_gaps(text, s->size);
}
