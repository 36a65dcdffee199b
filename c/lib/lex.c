#include "lex.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "memory.h"

/* Longest first: the first that fits is the token. `<<<` and `>>>` are CUDA's launch brackets. */
static const char *const PUNCTUATION[] = {
    "<<<", ">>>", "<<=", ">>=", "...", "->*", "::", "->", "++", "--", "<<", ">>", "<=",
    ">=",  "==",  "!=",  "&&",  "||",  "+=",  "-=", "*=", "/=", "%=", "&=", "|=", "^=",
    "{",   "}",   "(",   ")",   "[",   "]",   ";",  ",",  "<",  ">",  "=",  "+",  "-",
    "*",   "/",   "%",   "&",   "|",   "^",   "!",  "~",  "?",  ":",  ".",
};

struct scanner {
    struct source *s;
    int at, line;
    int token_room, function_room, directive_room;
    struct error *e;
};

static void add_token(struct scanner *c, enum token_kind kind, int begin)
{
    struct source *s = c->s;
    s->token = memory_grow(s->token, s->tokens, &c->token_room, sizeof *s->token);
    s->token[s->tokens++] = (struct token){.kind = kind,
                                           .begin = begin,
                                           .end = c->at,
                                           .line = c->line,
                                           .partner = NONE,
                                           .parent = NONE,
                                           .function = NONE,
                                           .hash = token_hash(s->text + begin, c->at - begin)};
}

static int bad(struct scanner *c, int line, const char *what)
{
    return fail(c->e, EXIT_DATA, "%s:%d: %s", c->s->path, line, what);
}

static bool name_byte(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Skips one comment; the scanner stands on its first slash. */
static int skip_comment(struct scanner *c)
{
    const char *t = c->s->text;
    int line = c->line;
    bool block = t[c->at + 1] == '*';
    c->at += 2;
    for (; c->at < c->s->size; c->at++) {
        if (!block && t[c->at] == '\n')
            return 0;
        if (t[c->at] == '\n')
            c->line++;
        if (block && t[c->at] == '*' && t[c->at + 1] == '/') {
            c->at += 2;
            return 0;
        }
    }
    return block ? bad(c, line, "this comment is never closed") : 0;
}

/* A preprocessor line up to its newline, over `\` continuations and block comments. */
static int scan_directive(struct scanner *c)
{
    struct source *s = c->s;
    int begin = c->at, line = c->line;
    while (c->at < s->size && s->text[c->at] != '\n') {
        if (s->text[c->at] == '\\' && s->text[c->at + 1] == '\n') {
            c->line++;
            c->at += 2;
        } else if (s->text[c->at] == '/' &&
                   (s->text[c->at + 1] == '*' || s->text[c->at + 1] == '/')) {
            int code = skip_comment(c);
            if (code)
                return code;
        } else {
            c->at++;
        }
    }
    s->directive =
        memory_grow(s->directive, s->directives, &c->directive_room, sizeof *s->directive);
    s->directive[s->directives++] = (struct directive){begin, c->at, line};
    return 0;
}

static int scan_quoted(struct scanner *c, char quote)
{
    const char *t = c->s->text;
    int begin = c->at++;
    while (c->at < c->s->size && t[c->at] != quote && t[c->at] != '\n')
        c->at += t[c->at] == '\\' && c->at + 1 < c->s->size ? 2 : 1;
    if (c->at >= c->s->size || t[c->at] != quote)
        return bad(c, c->line, "this quote is never closed");
    c->at++;
    add_token(c, quote == '"' ? TOKEN_STRING : TOKEN_CHARACTER, begin);
    return 0;
}

/* A preprocessing number: digits, letters, dots, and a sign after e, E, p or P. */
static void scan_number(struct scanner *c)
{
    const char *t = c->s->text;
    int begin = c->at;
    bool hexadecimal = t[begin] == '0' && (t[begin + 1] | 32) == 'x';
    while (name_byte(t[c->at]) || t[c->at] == '.' || t[c->at] == '\'') {
        char low = t[c->at] | 32;
        bool exponent = hexadecimal ? low == 'p' : low == 'e';
        c->at++;
        if (exponent && (t[c->at] == '+' || t[c->at] == '-'))
            c->at++;
    }
    add_token(c, TOKEN_NUMBER, begin);
}

/* `$x`, or `$x:class` without a space around the colon. */
static void scan_metavariable(struct scanner *c)
{
    const char *t = c->s->text;
    int begin = c->at++;
    while (name_byte(t[c->at]))
        c->at++;
    if (t[c->at] == ':' && isalpha((unsigned char)t[c->at + 1])) {
        c->at++;
        while (name_byte(t[c->at]))
            c->at++;
    }
    add_token(c, TOKEN_METAVARIABLE, begin);
}

static int scan_punctuation(struct scanner *c)
{
    for (size_t k = 0; k < sizeof PUNCTUATION / sizeof *PUNCTUATION; k++) {
        if (c->s->text[c->at] != PUNCTUATION[k][0])
            continue;
        size_t length = strlen(PUNCTUATION[k]);
        if (strncmp(c->s->text + c->at, PUNCTUATION[k], length) == 0) {
            int begin = c->at;
            c->at += (int)length;
            add_token(c, TOKEN_PUNCTUATION, begin);
            return 0;
        }
    }
    return bad(c, c->line, "this byte starts no token");
}

static int scan_tokens(struct scanner *c)
{
    const char *t = c->s->text;
    bool line_start = true;
    int code = 0;
    while (!code && c->at < c->s->size) {
        char now = t[c->at], next = t[c->at + 1];
        if (now == '\n') {
            c->line++;
            c->at++;
            line_start = true;
            continue;
        }
        if (isspace((unsigned char)now)) {
            c->at++;
            continue;
        }
        if (now == '/' && (next == '/' || next == '*'))
            code = skip_comment(c);
        else if (now == '#' && line_start)
            code = scan_directive(c);
        else if (now == '"' || now == '\'')
            code = scan_quoted(c, now);
        else if (isdigit((unsigned char)now) || (now == '.' && isdigit((unsigned char)next)))
            scan_number(c);
        else if (name_byte(now)) {
            int begin = c->at;
            while (name_byte(t[c->at]))
                c->at++;
            add_token(c, TOKEN_NAME, begin);
        } else if (now == '$' && name_byte(next))
            scan_metavariable(c);
        else
            code = scan_punctuation(c);
        line_start = false;
    }
    return code;
}

/* 1 to 4 for an opening bracket, −1 to −4 for the closing one of that kind, 0 for any other token.
 */
static int bracket(const struct source *s, int i)
{
    static const char OPENING[] = "([{", CLOSING[] = ")]}";
    if (s->token[i].kind != TOKEN_PUNCTUATION)
        return 0;
    if (token_length(s, i) > 1)
        return token_is(s, i, "<<<") ? 4 : token_is(s, i, ">>>") ? -4 : 0;
    char c = s->text[s->token[i].begin];
    const char *open = strchr(OPENING, c), *close = strchr(CLOSING, c);
    return open ? (int)(open - OPENING) + 1 : close ? -(int)(close - CLOSING) - 1 : 0;
}

static int pair_brackets(struct scanner *c)
{
    struct source *s = c->s;
    int top = NONE; /* innermost open bracket; the ones around it follow through `parent` */
    for (int i = 0; i < s->tokens; i++) {
        struct token *t = &s->token[i];
        int kind = bracket(s, i);
        if (kind < 0) {
            if (top == NONE || bracket(s, top) != -kind)
                return bad(c, t->line, "this bracket closes nothing");
            t->partner = top;
            s->token[top].partner = i;
            top = s->token[top].parent;
        }
        t->parent = top;
        if (kind > 0)
            top = i;
    }
    return top == NONE ? 0 : bad(c, s->token[top].line, "this bracket is never closed");
}

/* A function definition at file level: name ( … ) [specifiers] { … }. Namespaces and extern "C"
 * blocks count as file level. */
static bool outside_functions(const struct source *s, int i)
{
    for (int p = s->token[i].parent; p != NONE; p = s->token[p].parent)
        if (s->token[p].function != NONE || !token_is(s, p, "{"))
            return false;
    return true;
}

static int declaration_start(const struct source *s, int name)
{
    int i = name;
    while (i > 0 && s->token[i - 1].parent == s->token[name].parent && !token_is(s, i - 1, ";") &&
           !token_is(s, i - 1, "}"))
        i = s->token[i - 1].partner != NONE ? s->token[i - 1].partner : i - 1;
    return i;
}

/* Words that may stand before a ( … ) and a { without a function being defined. */
static bool names_no_function(const struct source *s, int i)
{
    static const char *const WORDS[] = {"__launch_bounds__",
                                        "__attribute__",
                                        "alignas",
                                        "__align__",
                                        "decltype",
                                        "if",
                                        "for",
                                        "while",
                                        "switch"};
    for (size_t k = 0; k < sizeof WORDS / sizeof *WORDS; k++)
        if (token_is(s, i, WORDS[k]))
            return true;
    return false;
}

static void find_functions(struct scanner *c)
{
    struct source *s = c->s;
    for (int i = 0; i + 1 < s->tokens; i++) {
        if (s->token[i].kind != TOKEN_NAME || !token_is(s, i + 1, "(") ||
            !outside_functions(s, i) || names_no_function(s, i))
            continue;
        int body = s->token[i + 1].partner + 1;
        while (body < s->tokens && s->token[body].kind == TOKEN_NAME)
            body++; /* const, noexcept */
        if (!token_is(s, body, "{"))
            continue;
        struct function f = {.kind = FUNCTION_HOST, .name = i, .parameters = i + 1, .body = body};
        f.first = declaration_start(s, i);
        for (int k = f.first; k < i; k++) {
            if (token_is(s, k, "__global__"))
                f.kind = FUNCTION_KERNEL;
            else if (token_is(s, k, "__device__"))
                f.kind = FUNCTION_DEVICE;
        }
        s->function =
            memory_grow(s->function, s->functions, &c->function_room, sizeof *s->function);
        for (int k = i + 1; k <= s->token[body].partner; k++)
            s->token[k].function = s->functions;
        s->function[s->functions++] = f;
        i = s->token[body].partner;
    }
}

int source_scan(struct source *s, const char *path, const char *text, size_t size, struct error *e)
{
    return source_scan_from(s, path, 1, text, size, e);
}

int source_scan_from(struct source *s, const char *path, int line, const char *text, size_t size,
                     struct error *e)
{
    *s = (struct source){.path = path};
    if (size >= 16u << 20)
        return fail(e, EXIT_DATA, "%s: the file is larger than 16 MiB", path);
    if (memchr(text, '\0', size))
        return fail(e, EXIT_DATA, "%s: the file holds a NUL byte; it is not CUDA source", path);
    s->size = (int)size;
    s->text = calloc(1, size + 4); /* the scanner looks ahead by up to three bytes */
    if (!s->text)
        abort();
    memcpy(s->text, text, size);
    struct scanner c = {.s = s, .line = line, .e = e};
    int code = scan_tokens(&c);
    if (!code)
        code = pair_brackets(&c);
    if (code) {
        source_free(s);
        return code;
    }
    find_functions(&c);
    return 0;
}

int source_read(struct source *s, const char *path, struct error *e)
{
    char *text;
    size_t size;
    *s = (struct source){.path = path};
    int code = file_read(path, &text, &size, e);
    if (code)
        return code;
    code = source_scan(s, path, text, size, e);
    free(text);
    return code;
}

void source_free(struct source *s)
{
    free(s->text);
    free(s->token);
    free(s->function);
    free(s->directive);
    *s = (struct source){.path = s->path};
}

uint64_t token_hash(const char *text, int length)
{
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    for (int i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 1099511628211u;
    return hash;
}

int token_length(const struct source *s, int i)
{
    return s->token[i].end - s->token[i].begin;
}

bool token_is(const struct source *s, int i, const char *text)
{
    if (i < 0 || i >= s->tokens)
        return false;
    const char *token = s->text + s->token[i].begin;
    int length = token_length(s, i), k = 0;
    while (k < length && token[k] == text[k])
        k++;
    return k == length && text[k] == '\0';
}

bool token_same(const struct source *s, int i, const struct source *t, int j)
{
    return s->token[i].hash == t->token[j].hash && token_length(s, i) == token_length(t, j) &&
           memcmp(s->text + s->token[i].begin, t->text + t->token[j].begin,
                  (size_t)token_length(s, i)) == 0;
}

int source_function(const struct source *s, const char *name)
{
    for (int i = s->functions - 1; i >= 0; i--)
        if (token_is(s, s->function[i].name, name))
            return i;
    return NONE;
}
