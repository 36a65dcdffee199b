/*
 * declaration - types and the names that are declared with them.
 *
 * syntax_read goes through the tokens from left to right and calls declare… where a declaration may
 * stand; the roles of the tokens of types and declarators, and x->declaration, are made here.
 */
#ifndef ASSAY_DECLARATION_H
#define ASSAY_DECLARATION_H

#include "syntax.h"

/* Notes the names that the file makes types: struct, using, typedef, typename. */
void find_type_names(struct syntax *x);

/* If a declaration begins at token i, marks and notes it: all its names, or one parameter. */
void declare(struct syntax *x, int i, bool parameter);

/* The same for all parameters between two brackets. */
void declare_parameters(struct syntax *x, int open, int close);

/* The same for those of a template, whose < is token `open`. */
void declare_template(struct syntax *x, int open);

/* The same for the enumerators in the { } that opens at token i. */
void declare_enumerators(struct syntax *x, int open);

/* The > of the template arguments that open at token i, or NONE when it is no < or compares. */
int template_close(const struct syntax *x, int i);

/* Is the name at token i known to be a type: CUDA's, or one that the file declares? */
bool known_type(const struct syntax *x, int i);

/* The end (exclusive) of the type that begins at token i, its `*` included, or NONE. */
int type_end(const struct syntax *x, int i);

/* Gives the tokens of a type their roles. */
void mark_type(struct syntax *x, int begin, int end);

/* The declaration that the name at token i refers to or makes, or NULL. */
const struct declaration *find_declaration(const struct syntax *x, int i);

#endif
