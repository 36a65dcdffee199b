/* word - the words of C++ and CUDA that the rest of the grammar hangs on, and what metavariables
 * stand for. */
#ifndef ASSAY_WORD_H
#define ASSAY_WORD_H

#include <stdbool.h>

#include "lex.h"

/* Is token i a name, and one of the NULL-terminated words? */
bool word_among(const struct source *s, int i, const char *const words[]);

bool is_statement_word(const struct source *s,
                       int i);                    /* if, return, struct, …: no operand, no type */
bool is_head_word(const struct source *s, int i); /* if, for, while, switch */
bool is_specifier(const struct source *s, int i); /* static, __shared__, … */
bool is_attribute(const struct source *s, int i); /* a specifier with an argument in ( ) */
bool is_type_word(const struct source *s, int i); /* const, unsigned, float, … */
bool is_type_name(const struct source *s, int i); /* float4, size_t, …: types that are names */
bool is_cast_word(const struct source *s, int i); /* static_cast, … */
bool is_pointer_word(const struct source *s, int i); /* * & const __restrict__ …, behind a type */
bool is_plain_name(const struct source *s,
                   int i); /* a name that is none of these but a type name */

/* What a metavariable stands for. */
enum meta_class { META_EXPRESSION, META_NAME, META_NUMBER, META_TYPE, META_ARGS, META_STMT };

/* The class that the metavariable token i spells; NONE for a word that is no class. */
int meta_class(const struct source *s, int i);

/* Is token i a metavariable of that class? */
bool is_meta(const struct source *s, int i, enum meta_class class);

#endif
