/*
 * lex - a CUDA source file as tokens, brackets and functions.
 *
 * Everything that reads a kernel works on this: the rules match on tokens, the lowering to C++
 * rewrites by byte range. Comments, strings' insides and preprocessor lines hold no tokens, so
 * nothing can match there.
 */
#ifndef ASSAY_LEX_H
#define ASSAY_LEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

enum token_kind {
    TOKEN_NAME,
    TOKEN_NUMBER,
    TOKEN_STRING,
    TOKEN_CHARACTER,
    TOKEN_PUNCTUATION,
    TOKEN_METAVARIABLE /* `$x` or `$x:class` of a rule's pattern, no C++ token */
};

enum { NONE = -1 };

struct token {
    enum token_kind kind;
    int begin, end; /* byte range in the text, end exclusive */
    int line;       /* counted from 1 */
    int partner;    /* of ( ) [ ] { } and <<< >>>: the token index of the other one; else NONE */
    int parent;     /* token index of the innermost ( [ { <<< that encloses this token, or NONE */
    int function;   /* index of the function whose parameters or body it stands in, or NONE */
    uint64_t hash;  /* of the text */
};

/* A __host__ __device__ function is a device function. */
enum function_kind { FUNCTION_KERNEL, FUNCTION_DEVICE, FUNCTION_HOST };

struct function {
    enum function_kind kind;
    int name;       /* token index */
    int first;      /* token index of the first token of the declaration (template included) */
    int parameters; /* token index of the ( before the parameters */
    int body;       /* token index of the { */
};

/* A preprocessor line, continuations included: #include, #define, #pragma, … */
struct directive {
    int begin, end; /* byte range, the final newline excluded */
    int line;
};

struct source {
    const char *path; /* for messages; not owned */
    char *text;       /* owned; NUL-terminated */
    int size;
    struct token *token;
    int tokens;
    struct function *function;
    int functions;
    struct directive *directive;
    int directives;
};

/*
 * source_read - reads and splits a .cu file
 * source_scan - the same for a text in memory, which it copies; `path` is for messages only
 * source_scan_from - the same for a text that begins on that line of the file
 *
 * Return 0; EXIT_IO; EXIT_DATA with `path:line:` for a bracket without its partner, an unclosed
 * comment or string, a byte that no C++ token starts with, or a file of 16 MiB or more.
 */
int source_read(struct source *s, const char *path, struct error *e);
int source_scan(struct source *s, const char *path, const char *text, size_t size, struct error *e);
int source_scan_from(struct source *s, const char *path, int line, const char *text, size_t size,
                     struct error *e);
void source_free(struct source *s);

/* Is token i exactly this text? False for an index outside the file. */
bool token_is(const struct source *s, int i, const char *text);

/* Are the two tokens the same text? */
bool token_same(const struct source *s, int i, const struct source *t, int j);

/* The hash of a token that has this text. */
uint64_t token_hash(const char *text, int length);

/* The length of the token's text. */
int token_length(const struct source *s, int i);

/* The function named `name` (the last one of that name), or NONE. */
int source_function(const struct source *s, const char *name);

#endif
