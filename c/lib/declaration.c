#include "declaration.h"

#include <stdlib.h>

#include "memory.h"
#include "word.h"

/* ---- types ----------------------------------------------------------------------------------- */

static bool declares_type(const struct source *s, int i)
{
    static const char *const BEFORE[] = {"struct",   "class", "union", "enum",
                                         "typename", "using", NULL};
    if (word_among(s, i - 1, BEFORE))
        return true;
    if (!token_is(s, i + 1, ";"))
        return false;
    int k = i;
    while (k > 0 && s->token[k - 1].parent == s->token[i].parent && !token_is(s, k - 1, ";") &&
           !token_is(s, k - 1, "}"))
        k--;
    return token_is(s, k, "typedef");
}

bool known_type(const struct syntax *x, int i)
{
    const struct source *s = x->s;
    if (is_meta(s, i, META_TYPE))
        return true;
    if (!is_plain_name(s, i))
        return false;
    if (find_declaration(x, i)) /* `half` may be a variable's name */
        return false;
    if (is_type_name(s, i))
        return true;
    for (int k = 0; k < x->type_names; k++)
        if (token_same(s, i, s, x->type_name[k]))
            return true;
    return false;
}

void find_type_names(struct syntax *x)
{
    int room = 0;
    for (int i = 1; i < x->s->tokens; i++)
        if (is_plain_name(x->s, i) && declares_type(x->s, i)) {
            x->type_name = memory_grow(x->type_name, x->type_names, &room, sizeof *x->type_name);
            x->type_name[x->type_names++] = i;
        }
}

int template_close(const struct syntax *x, int i)
{
    static const char *const NEVER[] = {"&&", "||", "?", ";", NULL};
    const struct source *s = x->s;
    if (!token_is(s, i, "<") || i == 0)
        return NONE;
    bool parameters = token_is(s, i - 1, "template");
    bool sure = parameters || is_cast_word(s, i - 1) || known_type(x, i - 1);
    const struct declaration *d = find_declaration(x, i - 1);
    if (!sure && !is_meta(s, i - 1, META_NAME) && (!is_plain_name(s, i - 1) || (d && !d->function)))
        return NONE;
    int depth = 1;
    for (int k = i + 1; k < s->tokens && s->token[k].parent == s->token[i].parent; k++) {
        if (token_is(s, k, "<"))
            depth++;
        else if (token_is(s, k, ">") && --depth == 0)
            return sure || is_plain_name(s, k + 1) || token_is(s, k + 1, "(") ||
                           token_is(s, k + 1, "::") || token_is(s, k + 1, "<<<")
                       ? k
                       : NONE;
        for (int n = 0; NEVER[n]; n++)
            if (token_is(s, k, NEVER[n]))
                return NONE;
        if (bracket_opens(x, k))
            k = s->token[k].partner;
    }
    return NONE;
}

/* The end of a type without its `*`, or NONE; *known: is it a type wherever it stands, or only
 * where a declared name follows? */
static int base_end(const struct syntax *x, int i, bool *known)
{
    const struct source *s = x->s;
    bool based = false;
    *known = true;
    for (;;) {
        if (is_type_word(s, i)) {
            based |= !token_is(s, i, "const") && !token_is(s, i, "volatile");
            i++;
        } else if (!based && token_is(s, i, "struct")) {
            i++;
        } else if (!based && (is_plain_name(s, i) || is_meta(s, i, META_TYPE))) {
            *known = known_type(x, i);
            i++;
            int close = template_close(x, i);
            if (close != NONE)
                i = close + 1;
            based = !token_is(s, i, "::");
            if (!based)
                i++;
        } else {
            return based ? i : NONE;
        }
    }
}

int type_end(const struct syntax *x, int i)
{
    bool known;
    int end = base_end(x, i, &known);
    if (end == NONE || !known)
        return NONE;
    while (is_pointer_word(x->s, end))
        end++;
    return end;
}

void mark_type(struct syntax *x, int begin, int end)
{
    for (int i = begin; i < end; i++) {
        int close = template_close(x, i);
        if (close != NONE)
            mark_pair(x, i, close, ROLE_TEMPLATE);
        else if (x->role[i] == ROLE_NONE)
            x->role[i] =
                is_pointer_word(x->s, i) && !is_type_word(x->s, i) ? ROLE_DECLARATOR : ROLE_TYPE;
    }
}

/* ---- declarations ---------------------------------------------------------------------------- */

/* Past specifiers and attributes; notes what matters of them. */
static int skip_specifiers(struct syntax *x, int i, struct declaration *d)
{
    const struct source *s = x->s;
    for (;;) {
        bool attribute = is_attribute(s, i) && token_is(s, i + 1, "(");
        if (!attribute && !is_specifier(s, i) &&
            !(i < s->tokens && s->token[i].kind == TOKEN_STRING))
            return i;
        d->shared |= token_is(s, i, "__shared__");
        d->constant |= token_is(s, i, "constexpr");
        x->role[i] = ROLE_SPECIFIER;
        if (attribute)
            mark_pair(x, i + 1, s->token[i + 1].partner, ROLE_SPECIFIER);
        i = attribute ? s->token[i + 1].partner + 1 : i + 1;
    }
}

/* The innermost { } around token i with one of the two roles, or NONE. */
static int enclosing_block(const struct syntax *x, int i)
{
    while (i != NONE && x->role[i] != ROLE_BLOCK && x->role[i] != ROLE_ENUMERATORS)
        i = x->s->token[i].parent;
    return i;
}

/* The end of the { } behind a parameter list, or of the list itself when it has no body. */
static int parameters_scope(const struct source *s, int open)
{
    int i = s->token[open].partner + 1;
    while (i < s->tokens && s->token[i].kind == TOKEN_NAME)
        i++;
    return token_is(s, i, "{") ? s->token[i].partner : i;
}

static int scope_end(const struct syntax *x, int name)
{
    const struct source *s = x->s;
    int parent = s->token[name].parent;
    if (parent != NONE && x->role[parent] == ROLE_HEAD) {
        int end = statement_end(x, parent - 1);
        return end == NONE ? s->tokens : end;
    }
    if (parent != NONE && x->role[parent] == ROLE_PARAMETERS)
        return parameters_scope(s, parent);
    if (parent == NONE && x->template_scope != NONE)
        return x->template_scope;
    int block = enclosing_block(x, parent);
    return block == NONE ? s->tokens : s->token[block].partner;
}

/* Is { at token i the body of a struct? */
static bool record_body(const struct source *s, int i)
{
    static const char *const WORDS[] = {"struct", "class", "union", NULL};
    return i != NONE && (word_among(s, i - 1, WORDS) || word_among(s, i - 2, WORDS));
}

static void add_declaration(struct syntax *x, struct declaration d)
{
    d.field = record_body(x->s, x->s->token[d.name].parent);
    d.scope_end = scope_end(x, d.name);
    x->declaration =
        memory_grow(x->declaration, x->declarations, &x->declaration_room, sizeof *x->declaration);
    x->declaration[x->declarations++] = d;
}

/* Is what stands at token i fit to follow a declared name? */
static bool follows_declarator(const struct source *s, int i, bool sure)
{
    static const char *const SURE[] = {",", ")", "(", "{", ":", ">", NULL};
    if (token_is(s, i, "=") || token_is(s, i, ";") || token_is(s, i, "["))
        return true;
    for (int k = 0; sure && SURE[k]; k++)
        if (token_is(s, i, SURE[k]))
            return true;
    return sure && i >= s->tokens;
}

/*
 * Reads `* name [ ]` or `(*name)[ ]` at token i into *d and marks its roles. Returns the token
 * after it, or NONE if there is none. `sure`: only a declaration can stand here, or the type is
 * known.
 */
static int declarator(struct syntax *x, int i, struct declaration *d, bool sure)
{
    const struct source *s = x->s;
    int begin = i, close = NONE;
    d->pointers = 0;
    while (is_pointer_word(s, i) ||
           (close == NONE && token_is(s, i, "(") && token_is(s, i + 1, "*"))) {
        if (token_is(s, i, "("))
            close = s->token[i].partner;
        d->pointers += token_is(s, i, "*");
        i++;
    }
    bool named = is_plain_name(s, i) || is_meta(s, i, META_NAME) || is_meta(s, i, META_EXPRESSION);
    if (!named || (close != NONE && close != i + 1))
        return NONE;
    d->name = i++;
    if (close != NONE)
        i++;
    if (!follows_declarator(s, i, sure || i - begin == 1))
        return NONE;
    for (int k = begin; k < i; k++)
        if (k != d->name)
            x->role[k] = ROLE_DECLARATOR;
    x->role[d->name] = ROLE_OPERAND;
    for (; token_is(s, i, "["); i = s->token[i].partner + 1) {
        x->role[i] = x->role[s->token[i].partner] = ROLE_DECLARATOR;
        d->pointers++;
    }
    if (token_is(s, i, "(") && x->role[i] == ROLE_NONE)
        x->role[i] = x->role[s->token[i].partner] = ROLE_DECLARATOR;
    d->function = token_is(s, i, "(") && s->token[i].function == NONE;
    if (token_is(s, i, "(") && x->role[i] == ROLE_PARAMETERS)
        d->function = true;
    d->initializer = token_is(s, i, "=") ? i + 1 : NONE;
    return i;
}

/* The next comma of the same declaration, from token i on, or NONE. */
static int next_declarator(const struct syntax *x, int i)
{
    const struct source *s = x->s;
    for (; i < s->tokens; i++) {
        if (token_is(s, i, ","))
            return i;
        int close = template_close(x, i);
        if (close != NONE)
            i = close;
        else if (bracket_opens(x, i))
            i = s->token[i].partner;
        else if (token_is(s, i, ";") || s->token[i].partner != NONE)
            return NONE;
    }
    return NONE;
}

void declare(struct syntax *x, int i, bool parameter)
{
    bool known;
    struct declaration d = {0};
    d.type = skip_specifiers(x, i, &d);
    d.type_end = base_end(x, d.type, &known);
    if (d.type_end == NONE)
        return;
    int at = skip_specifiers(x, d.type_end, &d);
    int after = declarator(x, at, &d, parameter || known);
    if (after == NONE && !known)
        return;
    mark_type(x, d.type, d.type_end);
    if (after == NONE && parameter) /* a parameter without a name */
        mark_type(x, d.type, type_end(x, d.type) == NONE ? d.type_end : type_end(x, d.type));
    while (after != NONE) {
        add_declaration(x, d);
        int comma = parameter ? NONE : next_declarator(x, after);
        after = comma == NONE ? NONE : declarator(x, comma + 1, &d, true);
    }
}

/* The parameters between two brackets, of a function or of a template. */
void declare_parameters(struct syntax *x, int open, int close)
{
    const struct source *s = x->s;
    for (int i = open; i < close; i++) {
        if (i == open || (token_is(s, i, ",") && s->token[i].parent == s->token[open + 1].parent)) {
            int before = x->declarations;
            declare(x, i + 1, true);
            for (int k = before; k < x->declarations; k++)
                x->declaration[k].constant |= x->role[open] == ROLE_TEMPLATE;
        }
        if (i > open && bracket_opens(x, i))
            i = s->token[i].partner;
    }
}

/* The end of what follows `template <…>`: its } or ; */
static int template_scope(const struct source *s, int close)
{
    int i = close + 1;
    while (i < s->tokens && !token_is(s, i, ";") && !token_is(s, i, "{"))
        i++;
    return token_is(s, i, "{") ? s->token[i].partner : i;
}

void declare_template(struct syntax *x, int open)
{
    x->template_scope = template_scope(x->s, x->other[open]);
    declare_parameters(x, open, x->other[open]);
    x->template_scope = NONE;
}

void declare_enumerators(struct syntax *x, int open)
{
    const struct source *s = x->s;
    for (int i = open + 1; i < s->token[open].partner; i++)
        if (is_plain_name(s, i) && (i == open + 1 || token_is(s, i - 1, ",")))
            add_declaration(x, (struct declaration){.name = i,
                                                    .type = open,
                                                    .type_end = open,
                                                    .constant = true,
                                                    .initializer = NONE});
}

const struct declaration *find_declaration(const struct syntax *x, int i)
{
    if (i < 0 || i >= x->s->tokens)
        return NULL;
    for (int k = x->declarations - 1; k >= 0; k--) {
        const struct declaration *d = &x->declaration[k];
        if (d->name <= i && i < d->scope_end && !d->field && token_same(x->s, i, x->s, d->name))
            return d;
    }
    return NULL;
}
