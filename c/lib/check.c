#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "mutant.h"

/* What a fragment sees. The shared arrays are parameters here, so that the fragment's statements
 * are the only ones. */
#define PARAMETERS                                                                                 \
    "const float *x, const float *w, float *y, float v, float m, float s, float acc, float eps, "  \
    "int n, int k, int i, int j, int t, int rows, int cols"
#define SHARED ", __shared__ float sh[256], __shared__ float tile[16][17]"
#define LAUNCH ", float *const in[], float *const out[], const long dim[], const double hyper[]"

static const char *const HEAD[] = {
    [FUNCTION_KERNEL] = "__global__ void example(" PARAMETERS SHARED ")\n{\n",
    [FUNCTION_DEVICE] = "__device__ void example(" PARAMETERS SHARED ")\n{\n",
    [FUNCTION_HOST] = "void example(" PARAMETERS LAUNCH ")\n{\n"};

static bool defines_function(const char *code)
{
    struct source s;
    struct error ignored;
    if (source_scan(&s, "", code, strlen(code), &ignored))
        return false;
    bool defines = s.functions > 0;
    source_free(&s);
    return defines;
}

/* Scans code of an example in its function; *begin is the byte where the code itself begins. */
static int scan_example(const struct rule *rule, int line, const char *code, struct source *s,
                        int *begin, struct error *e)
{
    enum { HEAD_LINES = 2 };
    int place = 0;
    while (!rule->in[place])
        place++;
    char *text, last = code[0] ? code[strlen(code) - 1] : ';';
    bool whole = defines_function(code);
    const char *end = last == ';' || last == '}' ? "\n}\n" : ";\n}\n";
    if (asprintf(&text, "%s%s%s", whole ? "" : HEAD[place], code, whole ? "" : end) < 0)
        abort();
    *begin = whole ? 0 : (int)strlen(HEAD[place]);
    int result =
        source_scan_from(s, rule->path, whole ? line : line - HEAD_LINES, text, strlen(text), e);
    free(text);
    return result;
}

/* Is the mutated source the one wanted, in which $new stands for the name `fresh`? */
static bool same_tokens(const struct source *mutated, const struct source *wanted,
                        const char *fresh)
{
    bool same = mutated->tokens == wanted->tokens;
    for (int i = 0; same && i < wanted->tokens; i++)
        same = token_is(wanted, i, "$new") ? token_is(mutated, i, fresh)
                                           : token_same(mutated, i, wanted, i);
    return same;
}

/* Is the mutated text the one wanted? */
static bool becomes(const struct source *s, const struct mutant *m, const struct source *wanted)
{
    char *text;
    size_t size;
    struct source mutated;
    struct error ignored;
    if (mutant_apply(m, s->text, (size_t)s->size, &text, &size, &ignored))
        return false;
    bool same = source_scan(&mutated, "", text, size, &ignored) == 0;
    if (same) {
        char fresh[32];
        mutant_fresh_name(s, fresh);
        same = same_tokens(&mutated, wanted, fresh);
        source_free(&mutated);
    }
    free(text);
    return same;
}

/* The example's text as a mutant has it, on one line. */
static void write_mutated(FILE *f, const struct source *s, const struct mutant *m, int begin)
{
    char *text;
    size_t size;
    struct error ignored;
    if (mutant_apply(m, s->text, (size_t)s->size, &text, &size, &ignored))
        return;
    size_t end = begin > 0 ? size - 3 : size; /* without the function's closing brace */
    for (size_t k = (size_t)begin; k < end; k++)
        fputc(text[k] == '\n' ? ' ' : text[k], f);
    free(text);
}

static const struct mutant *first_inside(const struct mutants *made, int begin)
{
    for (int k = 0; k < made->count; k++)
        if (made->mutant[k].edit[0].begin >= begin)
            return &made->mutant[k];
    return NULL;
}

static bool makes(const struct source *s, const struct mutants *made, const struct source *wanted)
{
    for (int k = 0; k < made->count; k++)
        if (becomes(s, &made->mutant[k], wanted))
            return true;
    return false;
}

/* Judges one example, given its mutants. Returns the number of complaints. */
static int judge(const struct rule *rule, const struct example *example, const struct source *s,
                 const struct mutants *made, int begin, FILE *complaints)
{
    struct source wanted;
    struct error e;
    int ignored;
    const struct mutant *first = first_inside(made, begin);
    if (!example->becomes && !first)
        return 0;
    if (example->becomes) {
        if (scan_example(rule, example->line, example->becomes, &wanted, &ignored, &e)) {
            fprintf(complaints, "%s (in an example of %s)\n", e.text, rule->id);
            return 1;
        }
        bool found = makes(s, made, &wanted);
        source_free(&wanted);
        if (found)
            return 0;
    }
    fprintf(complaints, "%s:%d: %s: %s", rule->path, example->line, rule->id,
            !example->becomes ? "fires where it must not: `"
            : first           ? "the example becomes, among others, `"
                              : "does not fire on its example");
    if (first) {
        write_mutated(complaints, s, first, begin);
        fputc('`', complaints);
    }
    fputc('\n', complaints);
    return 1;
}

int rule_check(const struct rule *rule, FILE *complaints)
{
    int count = 0;
    for (int k = 0; k < rule->examples; k++) {
        const struct example *example = &rule->example[k];
        struct source s;
        struct mutants made;
        struct error e;
        int begin, code = scan_example(rule, example->line, example->code, &s, &begin, &e);
        if (!code && (code = mutants_make(&made, &s, rule, 1, &e)))
            source_free(&s);
        if (code) {
            fprintf(complaints, "%s (in an example of %s)\n", e.text, rule->id);
            count++;
            continue;
        }
        count += judge(rule, example, &s, &made, begin, complaints);
        mutants_free(&made);
        source_free(&s);
    }
    return count;
}
