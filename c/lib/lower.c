#include "lower.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

/* A byte range of the source and what stands there instead; begin == end inserts. */
struct edit {
    int begin, end, order;
    char *text; /* owned */
};

struct lowering {
    const struct source *s;
    struct edit *edit;
    int edits, room;
    int barriers, shared;
    struct error *e;
};

/* The shim declares what kernels use of these; to include them would triple the compile time. */
static const char *const SHIM_STANDS_FOR[] = {
    "cuda.h",
    "cuda_runtime.h",
    "cuda_runtime_api.h",
    "device_launch_parameters.h",
    "math_constants.h",
    "math.h",
    "cmath",
    "float.h",
    "cfloat",
    "limits.h",
    "climits",
    "stdint.h",
    "cstdint",
    "stddef.h",
    "cstddef",
    "prelude.h",
    NULL,
};

/* Headers of the shim's own, which build on it and so stand behind it. */
static const char *const SHIM_HAS[] = {"cuda_fp16.h", "cuda_bf16.h", NULL};

__attribute__((format(printf, 4, 5))) static void replace(struct lowering *w, int begin, int end,
                                                          const char *format, ...)
{
    char *text;
    va_list args;
    va_start(args, format);
    if (vasprintf(&text, format, args) < 0)
        abort();
    va_end(args);
    w->edit = memory_grow(w->edit, w->edits, &w->room, sizeof *w->edit);
    w->edit[w->edits] = (struct edit){begin, end, w->edits, text};
    w->edits++;
}

static int begin_of(const struct lowering *w, int token)
{
    return w->s->token[token].begin;
}

static int end_of(const struct lowering *w, int token)
{
    return w->s->token[token].end;
}

static int unsupported(struct lowering *w, int token, const char *what)
{
    return fail(w->e, EXIT_DATA, "%s:%d: %s", w->s->path, w->s->token[token].line, what);
}

static bool is_name(const struct source *s, int i)
{
    return i >= 0 && i < s->tokens && s->token[i].kind == TOKEN_NAME;
}

/* Tokens [from, to) as text with single spaces: a comment or a line break in them changes nothing.
 */
static char *tokens_text(const struct source *s, int from, int to)
{
    char *text;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    if (!f)
        abort();
    for (int i = from; i < to; i++)
        fprintf(f, "%s%.*s", i > from ? " " : "", token_length(s, i), s->text + s->token[i].begin);
    memory_close(f, &text);
    return text;
}

/* ---- barriers -------------------------------------------------------------------------------- */

static void lower_barrier(struct lowering *w, int i)
{
    static const char *const FORM[][2] = {{"__syncthreads", "simt_barrier"},
                                          {"__syncthreads_or", "simt_barrier_or"},
                                          {"__syncthreads_and", "simt_barrier_and"},
                                          {"__syncthreads_count", "simt_barrier_count"}};
    for (int k = 0; k < 4; k++) {
        if (!token_is(w->s, i, FORM[k][0]) || !token_is(w->s, i + 1, "("))
            continue;
        bool empty = w->s->token[i + 1].partner == i + 2;
        replace(w, begin_of(w, i), end_of(w, i + 1), "%s(%d%s", FORM[k][1], w->barriers++,
                empty ? "" : ", ");
    }
}

/* ---- launches -------------------------------------------------------------------------------- */

/* The `<` that the `>` or `>>` at `close` ends, or NONE. */
static int template_open(const struct source *s, int close)
{
    int depth = 0;
    for (int i = close; i >= 0; i--) {
        bool closer = token_is(s, i, ")") || token_is(s, i, "]") || token_is(s, i, "}");
        if (closer && s->token[i].partner != NONE)
            i = s->token[i].partner;
        else if (token_is(s, i, ">"))
            depth++;
        else if (token_is(s, i, ">>"))
            depth += 2;
        else if (token_is(s, i, "<") && --depth == 0)
            return i;
        else if (token_is(s, i, ";"))
            break;
    }
    return NONE;
}

/* The first token of the name before the `<<<` at `open`, and in *name its last identifier. */
static int launch_callee(const struct source *s, int open, int *name)
{
    int i = open - 1;
    if (token_is(s, i, ">") || token_is(s, i, ">>"))
        i = template_open(s, i) - 1;
    *name = i;
    if (!is_name(s, i))
        return NONE;
    while (token_is(s, i - 1, "::"))
        i -= is_name(s, i - 2) ? 2 : 1;
    return i;
}

static bool is_template(const struct source *s, int name)
{
    for (int f = 0; f < s->functions; f++)
        if (token_same(s, s->function[f].name, s, name))
            return token_is(s, s->function[f].first, "template");
    return false;
}

/* The n-th comma, from 1, between the arguments of a launch; the closing >>> if there are fewer. */
static int launch_comma(const struct source *s, int open, int n)
{
    int i = open + 1;
    for (; i < s->token[open].partner; i++)
        if (s->token[i].parent == open && token_is(s, i, ",") && --n == 0)
            break;
    return i;
}

/* The kernel that is launched by the `<<<` at `open`: *callee is its first token, *text (owned) its
 * expression. */
static int launch_kernel(struct lowering *w, int open, int *callee, char **text)
{
    int name;
    *callee = launch_callee(w->s, open, &name);
    if (*callee == NONE)
        return unsupported(w, open, "a launch needs the name of a kernel before <<<");
    if (!token_is(w->s, open - 1, ">") && is_template(w->s, name))
        return unsupported(w, open, "the launch of a template needs its arguments: k<…><<<…>>>");
    *text = tokens_text(w->s, *callee, open);
    return 0;
}

static int lower_launch(struct lowering *w, int open)
{
    const struct source *s = w->s;
    int close = s->token[open].partner, callee;
    int first = launch_comma(s, open, 1), second = launch_comma(s, open, 2);
    char *kernel;
    int code = launch_kernel(w, open, &callee, &kernel);
    if (code)
        return code;
    if (first == close) {
        free(kernel);
        return unsupported(w, open, "a launch needs a grid and a block");
    }
    replace(w, begin_of(w, callee), begin_of(w, callee), "simt_launcher((");
    replace(w, begin_of(w, open), end_of(w, open), "), \"%s\", dim3(", kernel);
    free(kernel);
    replace(w, begin_of(w, first), end_of(w, first), "), dim3(");
    if (second == close) {
        replace(w, begin_of(w, close), end_of(w, close), "), 0)");
        return 0;
    }
    replace(w, begin_of(w, second), end_of(w, second), "), (");
    /* The stream goes: all launches run in order. */
    replace(w, begin_of(w, launch_comma(s, open, 3)), end_of(w, close), "))");
    return 0;
}

/* ---- shared memory --------------------------------------------------------------------------- */

/* A declaration with __shared__, taken apart. Texts are owned. */
struct shared {
    int first, last; /* its tokens, the `;` included */
    bool dynamic;    /* extern */
    char *alignment; /* alignas(…) and its like, or "" */
    char *type;      /* what all declarators share */
};

struct declarator {
    char *pointer; /* `*` and qualifiers, or "" */
    char *name;
    char *extents; /* [N][M], or "" */
};

static void append(char **text, const char *more)
{
    char *longer;
    if (asprintf(&longer, "%s%s%s", *text, **text && *more ? " " : "", more) < 0)
        abort();
    free(*text);
    *text = longer;
}

static bool statement_edge(const struct source *s, int i)
{
    return token_is(s, i, ";") || token_is(s, i, "{") || token_is(s, i, "}") || token_is(s, i, ":");
}

/* One past an alignment specifier at i, or i if there is none. */
static int skip_alignment(const struct source *s, int i)
{
    bool alignment =
        token_is(s, i, "alignas") || token_is(s, i, "__align__") || token_is(s, i, "__attribute__");
    return alignment && token_is(s, i + 1, "(") ? s->token[i + 1].partner + 1 : i;
}

/* Where the declarator that starts at or after i ends: at its first `,`, `;` or `=` outside
 * brackets and template arguments. */
static int declarator_end(const struct source *s, int i, int last)
{
    int depth = 0;
    for (; i < last; i++) {
        if (token_is(s, i, "(") || token_is(s, i, "["))
            i = s->token[i].partner;
        else if (token_is(s, i, "<"))
            depth++;
        else if (token_is(s, i, ">") || token_is(s, i, ">>"))
            depth -= token_length(s, i);
        else if (depth <= 0 && (token_is(s, i, ",") || token_is(s, i, "=")))
            break;
    }
    return i;
}

/* The name in a declarator that ends before `end`: what stands before its extents. */
static int declarator_name(const struct source *s, int end)
{
    int i = end - 1;
    while (token_is(s, i, "]"))
        i = s->token[i].partner - 1;
    return i;
}

/* The first token of the pointer part before `name`. */
static int pointer_start(const struct source *s, int name, int from)
{
    int start = name;
    for (int i = name - 1; i >= from; i--) {
        if (token_is(s, i, "*"))
            start = i;
        else if (!token_is(s, i, "const") && !token_is(s, i, "volatile") &&
                 !token_is(s, i, "__restrict__"))
            break;
    }
    return start;
}

static void print_declarator(struct lowering *w, FILE *f, const struct shared *d, int from, int end)
{
    const struct source *s = w->s;
    int name = declarator_name(s, end), pointer = pointer_start(s, name, from), site = w->shared++;
    struct declarator r = {tokens_text(s, pointer, name), tokens_text(s, name, name + 1),
                           tokens_text(s, name + 1, end)};
    char *element = memory_copy(d->type), *alignment;
    append(&element, r.pointer);
    if (*d->alignment) {
        fprintf(f, "struct simt_aligned_%d { %s %s member %s; }; ", site, d->alignment, element,
                r.extents);
        if (asprintf(&alignment, "simt_aligned_%d", site) < 0)
            abort();
    } else {
        alignment = memory_copy(element);
    }
    if (*r.extents)
        fprintf(f, "%s (&%s)%s = *(%s (*)%s)", element, r.name, r.extents, element, r.extents);
    else
        fprintf(f, "%s &%s = *(%s *)", element, r.name, element);
    fprintf(f, "simt_shared(%d, sizeof(%s %s), alignof(%s)); ", site, element, r.extents,
            alignment);
    free(element);
    free(alignment);
    free(r.pointer);
    free(r.name);
    free(r.extents);
}

/* extern __shared__ T a[]…; the first extent is open, further ones make it a pointer to arrays. */
static void print_dynamic(struct lowering *w, FILE *f, const struct shared *d, int from, int end)
{
    const struct source *s = w->s;
    int name = declarator_name(s, end), pointer = pointer_start(s, name, from);
    int extents = s->token[name + 1].partner + 1;
    char *stars = tokens_text(s, pointer, name), *named = tokens_text(s, name, name + 1);
    char *rest = tokens_text(s, extents, end), *element = memory_copy(d->type);
    append(&element, stars);
    fprintf(f, "%s (*%s)%s = (%s (*)%s)simt_dynamic_shared(); ", element, named, rest, element,
            rest);
    free(stars);
    free(named);
    free(rest);
    free(element);
}

/* Takes storage class and alignment off the front; returns the token after the type. */
static int read_type(const struct source *s, struct shared *d)
{
    int name = declarator_name(s, declarator_end(s, d->first, d->last));
    int type_end = pointer_start(s, name, d->first);
    for (int i = d->first; i < type_end; i++) {
        int after = skip_alignment(s, i);
        if (after > i) {
            bool cuda = token_is(s, i, "__align__");
            char *text = tokens_text(s, cuda ? i + 1 : i, after);
            append(&d->alignment, cuda ? "alignas" : "");
            append(&d->alignment, text);
            free(text);
            i = after - 1;
        } else if (token_is(s, i, "extern")) {
            d->dynamic = true;
        } else if (!token_is(s, i, "__shared__") && !token_is(s, i, "static")) {
            char *text = tokens_text(s, i, i + 1);
            append(&d->type, text);
            free(text);
        }
    }
    return type_end;
}

static int print_shared(struct lowering *w, FILE *f, struct shared *d)
{
    const struct source *s = w->s;
    int from = read_type(s, d);
    while (from < d->last) {
        int end = declarator_end(s, from, d->last), name = declarator_name(s, end);
        if (!is_name(s, name) || name < from || !*d->type || token_is(s, end, "="))
            return unsupported(w, d->first,
                               "this shared declaration is not of the form `type name[…], …;`");
        if (d->dynamic && !token_is(s, name + 1, "["))
            return unsupported(w, d->first, "extern __shared__ needs an array without a size");
        (d->dynamic ? print_dynamic : print_declarator)(w, f, d, from, end);
        from = end + 1;
    }
    return 0;
}

static int lower_shared(struct lowering *w, int i)
{
    const struct source *s = w->s;
    struct shared d = {
        .first = i, .last = i, .alignment = memory_copy(""), .type = memory_copy("")};
    char *text = NULL;
    size_t size;
    int code;
    while (d.first > 0 && !statement_edge(s, d.first - 1))
        d.first = token_is(s, d.first - 1, ")") ? s->token[d.first - 1].partner : d.first - 1;
    while (d.last < s->tokens &&
           !(token_is(s, d.last, ";") && s->token[d.last].parent == s->token[i].parent))
        d.last++;
    if (s->token[i].function == NONE || d.last == s->tokens) {
        code = unsupported(w, i, "shared memory is to be declared inside a function");
    } else {
        FILE *f = open_memstream(&text, &size);
        if (!f)
            abort();
        code = print_shared(w, f, &d);
        memory_close(f, &text);
    }
    if (!code)
        replace(w, begin_of(w, d.first), end_of(w, d.last), "%s", text);
    free(text);
    free(d.alignment);
    free(d.type);
    return code;
}

/* ---- linkage and preprocessor lines ---------------------------------------------------------- */

static void strip_linkage(struct lowering *w, int i)
{
    const struct source *s = w->s;
    replace(w, begin_of(w, i), end_of(w, i + 1), "%s", "");
    if (!token_is(s, i + 2, "{"))
        return;
    int close = s->token[i + 2].partner;
    replace(w, begin_of(w, i + 2), end_of(w, i + 2), "%s", "");
    replace(w, begin_of(w, close), end_of(w, close), "%s", "");
}

/* The text after `#word`, or NULL if the line is another directive. */
static const char *directive_rest(const struct source *s, const struct directive *d,
                                  const char *word)
{
    const char *c = s->text + d->begin + 1;
    c += strspn(c, " \t");
    size_t length = strlen(word);
    if (strncmp(c, word, length) != 0)
        return NULL;
    return c + length + strspn(c + length, " \t");
}

static bool is_one_of(const char *const list[], const char *header, size_t length)
{
    for (int k = 0; list[k]; k++)
        if (strlen(list[k]) == length && strncmp(list[k], header, length) == 0)
            return true;
    return false;
}

static void lower_directives(struct lowering *w, FILE *system, FILE *quoted, FILE *undefs)
{
    const struct source *s = w->s;
    for (int i = 0; i < s->directives; i++) {
        const struct directive *d = &s->directive[i];
        const char *header = directive_rest(s, d, "include"),
                   *macro = directive_rest(s, d, "define");
        if (macro) {
            int length = 0;
            while (isalnum((unsigned char)macro[length]) || macro[length] == '_')
                length++;
            fprintf(undefs, "#undef %.*s\n", length, macro);
        }
        if (!header)
            continue;
        size_t length = strcspn(header + 1, ">\"\n");
        const char *base = header + 1;
        for (const char *c = base; c < header + 1 + length; c++)
            if (*c == '/' && *header == '"')
                base = c + 1;
        size_t base_length = (size_t)(header + 1 + length - base);
        bool early = *header == '<' && !is_one_of(SHIM_HAS, base, base_length);
        if (!is_one_of(SHIM_STANDS_FOR, base, base_length))
            fprintf(early ? system : quoted, "#include %.*s\n", (int)length + 2, header);
        replace(w, d->begin, d->end, "%s", "");
    }
}

/* ---- putting it together --------------------------------------------------------------------- */

static void write_unseen(const struct source *s, FILE *f)
{
    for (int i = 0; i < s->tokens; i++) {
        int from = i, to = i + 1;
        if (token_is(s, i, "__launch_bounds__") && token_is(s, i + 1, "("))
            to = s->token[i + 1].partner + 1;
        else if (token_is(s, i, "<<<"))
            from = launch_comma(s, i, 3), to = s->token[i].partner;
        else if (!token_is(s, i, "volatile"))
            continue;
        char *text = tokens_text(s, from, to);
        fprintf(f, "%s\n", text);
        free(text);
    }
}

static int compare_edits(const void *x, const void *y)
{
    const struct edit *a = x, *b = y;
    return a->begin != b->begin ? a->begin - b->begin : a->order - b->order;
}

/* Copies the source with its edits; line breaks inside a replaced range follow the new text. */
static void write_text(struct lowering *w, FILE *f)
{
    int at = 0;
    if (w->edits)
        qsort(w->edit, (size_t)w->edits, sizeof *w->edit, compare_edits);
    for (int k = 0; k < w->edits; k++) {
        const struct edit *d = &w->edit[k];
        if (d->begin < at)
            continue; /* inside a range that is gone: a shared kernel, a stream argument */
        fwrite(w->s->text + at, 1, (size_t)(d->begin - at), f);
        fputs(d->text, f);
        for (int c = d->begin; c < d->end; c++)
            if (w->s->text[c] == '\n')
                fputc('\n', f);
        at = d->end;
    }
    fwrite(w->s->text + at, 1, (size_t)(w->s->size - at), f);
    fputc('\n', f);
}

static int lower_tokens(struct lowering *w, enum linkage linkage)
{
    const struct source *s = w->s;
    int code = 0;
    for (int i = 0; i < s->tokens && !code; i++) {
        if (token_is(s, i, "<<<"))
            code = lower_launch(w, i);
        else if (token_is(s, i, "__shared__"))
            code = lower_shared(w, i);
        else if (linkage == LINKAGE_STRIPPED && token_is(s, i, "extern") &&
                 token_is(s, i + 1, "\"C\""))
            strip_linkage(w, i);
        else
            lower_barrier(w, i);
    }
    return code;
}

/* First of all edits, so that those inside find their range gone. */
static void use_original(struct lowering *w, const struct function *f)
{
    const struct source *s = w->s;
    replace(w, begin_of(w, f->first), end_of(w, s->token[f->body].partner),
            "using " LOWER_ORIGINAL "::%.*s;", token_length(s, f->name),
            s->text + begin_of(w, f->name));
}

int lower(const struct source *s, enum linkage linkage, const bool shared[], struct lowered *l,
          struct error *e)
{
    struct lowering w = {.s = s, .e = e};
    size_t size[5];
    *l = (struct lowered){0};
    for (int f = 0; shared && f < s->functions; f++)
        if (shared[f])
            use_original(&w, &s->function[f]);
    int code = lower_tokens(&w, linkage);
    if (!code) {
        FILE *system = open_memstream(&l->system, &size[0]);
        FILE *quoted = open_memstream(&l->quoted, &size[1]);
        FILE *text = open_memstream(&l->text, &size[2]);
        FILE *undefs = open_memstream(&l->undefs, &size[3]);
        FILE *unseen = open_memstream(&l->unseen, &size[4]);
        if (!system || !quoted || !text || !undefs || !unseen)
            abort();
        lower_directives(&w, system, quoted, undefs);
        write_text(&w, text);
        write_unseen(s, unseen);
        memory_close(system, &l->system);
        memory_close(quoted, &l->quoted);
        memory_close(text, &l->text);
        memory_close(undefs, &l->undefs);
        memory_close(unseen, &l->unseen);
    }
    for (int k = 0; k < w.edits; k++)
        free(w.edit[k].text);
    free(w.edit);
    return code;
}

int lower_kernels(const struct source *s, char **kernels, struct error *e)
{
    struct lowering w = {.s = s, .e = e};
    int code = 0, callee;
    char *kernel;
    size_t size;
    FILE *f = open_memstream(kernels, &size);
    if (!f)
        abort();
    for (int i = 0; i < s->tokens && !code; i++) {
        if (!token_is(s, i, "<<<"))
            continue;
        code = launch_kernel(&w, i, &callee, &kernel);
        if (!code) {
            fprintf(f, "%s\n", kernel);
            free(kernel);
        }
    }
    memory_close(f, kernels);
    if (code)
        free(*kernels);
    return code;
}

void lowered_free(struct lowered *l)
{
    free(l->system);
    free(l->quoted);
    free(l->text);
    free(l->undefs);
    free(l->unseen);
    *l = (struct lowered){0};
}

void lower_write_head(FILE *f, const char *system, const char *quoted)
{
    fprintf(f, "%s#include \"cuda_shim.h\"\n#include \"prelude.h\"\n%s", system, quoted);
}
