#include "rule.h"

#include <ctype.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "memory.h"

enum keyword {
    KEYWORD_MEANS,
    KEYWORD_SOURCE,
    KEYWORD_REAL,
    KEYWORD_IN,
    KEYWORD_MATCH,
    KEYWORD_REPLACE,
    KEYWORD_WHERE,
    KEYWORD_EXAMPLE,
    KEYWORD_BECOMES,
    KEYWORD_NEVER,
    KEYWORDS
};

static const char *const KEYWORD[] = {"means",   "source", "real",    "in",      "match",
                                      "replace", "where",  "example", "becomes", "never"};

/* A keyword with what stands behind it. */
struct entry {
    enum keyword keyword;
    int line;
    char *value; /* continuation lines included, without the indentation they share */
};

struct reader {
    struct rules *rules;
    const char *path;
    char *family;
    char *at;        /* the next line; the file's text is cut into lines as it is read */
    const char *end; /* of the text; `at` is behind it when the last line has no newline */
    int line;        /* the number of the line last taken */
    struct error *e;
};

static int bad(struct reader *r, int line, const char *what, const char *about)
{
    return fail(r->e, EXIT_DATA, "%s:%d: %s%s", r->path, line, what, about);
}

static void *grown(void *array, int count, size_t each)
{
    void *more = realloc(array, ((size_t)count + 1) * each);
    if (!more)
        abort();
    return more;
}

/* ---- lines and entries ----------------------------------------------------------------------- */

static bool is_blank(const char *line)
{
    return line[strspn(line, " \t\r")] == '\0';
}

static int indentation(const char *line)
{
    return (int)strspn(line, " ");
}

/* The next line that is neither blank nor a comment, or NULL; it is not taken yet. */
static char *peek(struct reader *r)
{
    while (r->at < r->end) {
        char *end = strchr(r->at, '\n');
        if (end)
            *end = '\0';
        if (*r->at != '#' && !is_blank(r->at))
            return r->at;
        r->at += strlen(r->at) + 1;
        r->line++;
    }
    return NULL;
}

static char *take(struct reader *r)
{
    char *line = peek(r);
    r->at += strlen(r->at) + 1;
    r->line++;
    for (char *end = line + strlen(line); end > line && isspace((unsigned char)end[-1]);)
        *--end = '\0';
    return line;
}

/* Adds to `value` the lines behind an entry that are indented deeper than its keyword. */
static char *with_continuation(struct reader *r, char *value, int keyword_column, int value_column)
{
    char *next;
    while ((next = peek(r)) && indentation(next) > keyword_column) {
        int strip = indentation(next) < value_column ? indentation(next) : value_column;
        char *line = take(r), *longer;
        if (asprintf(&longer, "%s\n%s", value, line + strip) < 0)
            abort();
        free(value);
        value = longer;
    }
    return value;
}

/* The next `keyword value` of the rule at hand. *more: was there one? */
static int next_entry(struct reader *r, struct entry *entry, bool *more)
{
    char *line = peek(r);
    *more = line && indentation(line) > 0;
    if (line && line[0] == '\t')
        return bad(r, r->line + 1, "indent with spaces, not with tabs", "");
    if (!*more)
        return 0;
    line = take(r);
    entry->line = r->line;
    int column = indentation(line);
    int length = (int)strcspn(line + column, " ");
    for (int k = 0; k < KEYWORDS; k++) {
        if ((int)strlen(KEYWORD[k]) != length ||
            strncmp(line + column, KEYWORD[k], (size_t)length) != 0)
            continue;
        char *value = line + column + length;
        value += strspn(value, " ");
        entry->keyword = (enum keyword)k;
        entry->value = with_continuation(r, memory_copy(value), column, (int)(value - line));
        return 0;
    }
    return bad(r, r->line, "unknown keyword: ", line + column);
}

/* ---- what the keywords say ------------------------------------------------------------------- */

static int set_once(struct reader *r, char **slot, struct entry *entry)
{
    if (*slot)
        return bad(r, entry->line, "a second ", KEYWORD[entry->keyword]);
    *slot = memory_copy(entry->value);
    return 0;
}

static int add_places(struct reader *r, struct rule *rule, struct entry *entry)
{
    static const char *const PLACE[] = {
        [FUNCTION_KERNEL] = "kernel", [FUNCTION_DEVICE] = "device", [FUNCTION_HOST] = "host"};
    if (rule->in[0] || rule->in[1] || rule->in[2])
        return bad(r, entry->line, "a second ", "in");
    char *save = NULL;
    for (char *word = strtok_r(entry->value, " \n", &save); word;
         word = strtok_r(NULL, " \n", &save)) {
        int k = 0;
        while (k < 3 && strcmp(word, PLACE[k]) != 0)
            k++;
        if (k == 3)
            return bad(r, entry->line, "kernel, device or host expected, not ", word);
        rule->in[k] = true;
    }
    return 0;
}

static int add_match(struct reader *r, struct rule *rule, struct entry *entry)
{
    rule->alternative = grown(rule->alternative, rule->alternatives, sizeof *rule->alternative);
    struct alternative *a = memory_zeroed(1, sizeof *a);
    rule->alternative[rule->alternatives++] = a;
    return pattern_read(&a->match, r->path, entry->line, entry->value, r->e);
}

static int add_guard(struct reader *r, struct rule *rule, struct entry *entry)
{
    rule->guard = grown(rule->guard, rule->guards, sizeof *rule->guard);
    int code = guard_read(&rule->guard[rule->guards], r->path, entry->line, entry->value, r->e);
    rule->guards += !code;
    return code;
}

static void add_example(struct rule *rule, struct entry *entry)
{
    rule->example = grown(rule->example, rule->examples, sizeof *rule->example);
    rule->example[rule->examples++] =
        (struct example){.line = entry->line, .code = memory_copy(entry->value)};
}

static void add_real(struct rule *rule, struct entry *entry)
{
    rule->real = grown(rule->real, rule->reals, sizeof *rule->real);
    rule->real[rule->reals++] = memory_copy(entry->value);
}

/* `previous` is the entry before this one: a replace follows its match, a becomes its example. */
static int add_entry(struct reader *r, struct rule *rule, struct entry *entry,
                     enum keyword previous)
{
    if (!*entry->value && entry->keyword != KEYWORD_REPLACE && entry->keyword != KEYWORD_BECOMES)
        return bad(r, entry->line, "nothing behind ", KEYWORD[entry->keyword]);
    if ((entry->keyword == KEYWORD_REPLACE) != (previous == KEYWORD_MATCH) ||
        (entry->keyword == KEYWORD_BECOMES) != (previous == KEYWORD_EXAMPLE))
        return bad(r, entry->line, "`match` and `replace`, `example` and `becomes` go in pairs",
                   "");
    switch (entry->keyword) {
    case KEYWORD_MEANS: return set_once(r, &rule->means, entry);
    case KEYWORD_SOURCE: return set_once(r, &rule->source, entry);
    case KEYWORD_REAL: add_real(rule, entry); return 0;
    case KEYWORD_IN: return add_places(r, rule, entry);
    case KEYWORD_MATCH: return add_match(r, rule, entry);
    case KEYWORD_REPLACE: {
        struct alternative *a = rule->alternative[rule->alternatives - 1];
        return replacement_read(&a->replacement, &a->match, r->path, entry->line, entry->value,
                                r->e);
    }
    case KEYWORD_WHERE: return add_guard(r, rule, entry);
    case KEYWORD_BECOMES:
        rule->example[rule->examples - 1].becomes = memory_copy(entry->value);
        return 0;
    default: add_example(rule, entry); return 0;
    }
}

/* ---- whole rules ----------------------------------------------------------------------------- */

static int check_guards(struct reader *r, const struct rule *rule)
{
    for (int k = 0; k < rule->guards; k++) {
        const struct guard *g = &rule->guard[k];
        for (int a = 0; a < rule->alternatives; a++) {
            const struct pattern *p = &rule->alternative[a]->match;
            const char *names[] = {g->meta, g->other};
            for (int n = 0; n < 2; n++)
                if (names[n][0] && pattern_meta(p, names[n]) == NONE)
                    return bad(r, g->line, "a `match` of this rule does not bind ", names[n]);
        }
    }
    return 0;
}

static int check_complete(struct reader *r, const struct rule *rule, enum keyword last)
{
    int examples = 0;
    for (int k = 0; k < rule->examples; k++)
        examples += rule->example[k].becomes != NULL;
    const struct {
        bool missing;
        const char *what;
    } needed[] = {{!rule->means, "means"},
                  {!rule->source, "source"},
                  {!rule->in[0] && !rule->in[1] && !rule->in[2], "in"},
                  {rule->alternatives == 0, "match"},
                  {last == KEYWORD_MATCH, "replace"},
                  {examples == 0, "example with its becomes"},
                  {examples == rule->examples, "never"},
                  {last == KEYWORD_EXAMPLE, "becomes"}};
    for (size_t k = 0; k < sizeof needed / sizeof *needed; k++)
        if (needed[k].missing)
            return bad(r, rule->line, "this rule lacks: ", needed[k].what);
    return check_guards(r, rule);
}

static int read_entries(struct reader *r, struct rule *rule)
{
    enum keyword previous = KEYWORDS;
    struct entry entry;
    bool more;
    int code = next_entry(r, &entry, &more);
    while (!code && more) {
        code = add_entry(r, rule, &entry, previous);
        previous = entry.keyword;
        free(entry.value);
        if (!code)
            code = next_entry(r, &entry, &more);
    }
    return code ? code : check_complete(r, rule, previous);
}

static bool is_rule_name(const char *name)
{
    return *name && name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_")] == '\0';
}

static int read_rule(struct reader *r)
{
    char *line = take(r);
    if (strncmp(line, "rule ", 5) != 0)
        return bad(r, r->line, "`rule NAME` expected, not ", line);
    const char *name = line + 5 + strspn(line + 5, " ");
    if (!is_rule_name(name))
        return bad(r, r->line, "a rule's name has small letters, digits and _ only, not ", name);
    struct rules *rules = r->rules;
    struct rule rule = {.path = r->path,
                        .line = r->line,
                        .family = memory_copy(r->family),
                        .name = memory_copy(name)};
    if (asprintf(&rule.id, "%s/%s", rule.family, rule.name) < 0)
        abort();
    int code = 0;
    for (int k = 0; !code && k < rules->count; k++)
        if (strcmp(rules->rule[k].id, rule.id) == 0)
            code = bad(r, r->line, "there is already a rule ", rule.id);
    if (!code)
        code = read_entries(r, &rule);
    rules->rule = grown(rules->rule, rules->count, sizeof rule);
    rules->rule[rules->count++] = rule;
    return code;
}

static char *family_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *family = memory_copy(slash ? slash + 1 : path);
    *strrchr(family, '.') = '\0';
    return family;
}

static int read_file(struct rules *rules, const char *path, struct hash *hash, struct error *e)
{
    char *text;
    size_t size;
    int code = file_read(path, &text, &size, e);
    if (code)
        return code;
    struct reader r = {.rules = rules,
                       .path = path,
                       .family = family_of(path),
                       .at = text,
                       .end = text + size,
                       .e = e};
    hash_add_text(hash, r.family);
    hash_add(hash, text, size + 1);
    if (memchr(text, '\0', size))
        code = bad(&r, 1, "the file holds a NUL byte", "");
    while (!code && peek(&r))
        code = read_rule(&r);
    free(r.family);
    free(text);
    return code;
}

int rules_read(struct rules *rules, const char *folder, struct error *e)
{
    char wanted[4096];
    glob_t found;
    *rules = (struct rules){0};
    snprintf(wanted, sizeof wanted, "%s/*.rules", folder);
    switch (glob(wanted, GLOB_ERR, NULL, &found)) {
    case 0: break;
    case GLOB_NOMATCH: return fail(e, EXIT_DATA, "%s: there is no *.rules file", folder);
    case GLOB_NOSPACE: abort();
    default: return fail_errno(e, "%s: cannot be read", folder);
    }
    struct hash *hash = hash_new();
    int code = 0;
    for (size_t k = 0; !code && k < found.gl_pathc; k++) {
        rules->path = grown(rules->path, rules->paths, sizeof *rules->path);
        rules->path[rules->paths++] = memory_copy(found.gl_pathv[k]);
        code = read_file(rules, rules->path[rules->paths - 1], hash, e);
    }
    globfree(&found);
    hash_finish(hash, rules->sha256);
    if (code)
        rules_free(rules);
    return code;
}

static void rule_free(struct rule *rule)
{
    for (int k = 0; k < rule->reals; k++)
        free(rule->real[k]);
    for (int k = 0; k < rule->alternatives; k++) {
        pattern_free(&rule->alternative[k]->match);
        pattern_free(&rule->alternative[k]->replacement);
        free(rule->alternative[k]);
    }
    for (int k = 0; k < rule->guards; k++)
        guard_free(&rule->guard[k]);
    for (int k = 0; k < rule->examples; k++) {
        free(rule->example[k].code);
        free(rule->example[k].becomes);
    }
    free(rule->family);
    free(rule->name);
    free(rule->id);
    free(rule->means);
    free(rule->source);
    free(rule->real);
    free(rule->alternative);
    free(rule->guard);
    free(rule->example);
}

void rules_free(struct rules *rules)
{
    for (int k = 0; k < rules->count; k++)
        rule_free(&rules->rule[k]);
    for (int k = 0; k < rules->paths; k++)
        free(rules->path[k]);
    free(rules->rule);
    free(rules->path);
    *rules = (struct rules){0};
}
