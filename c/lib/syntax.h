/*
 * syntax - what each token of a source is for: operators and their operands, types, declarations,
 * statements.
 *
 * It knows the part of C++ that kernels are written in, and it knows it from tokens alone: there is
 * no tree. Rules' patterns go through the same functions as kernels, so a pattern means what its
 * tokens would mean in a kernel.
 */
#ifndef ASSAY_SYNTAX_H
#define ASSAY_SYNTAX_H

#include <stdbool.h>

#include "lex.h"

/* Of a token. A closing bracket has the role of its opening one. */
enum role {
    ROLE_NONE,        /* separators, keywords, labels' colons */
    ROLE_OPERAND,     /* a name or a literal */
    ROLE_PREFIX,      /* - ! ~ * & ++ -- before their operand */
    ROLE_POSTFIX,     /* ++ -- behind it */
    ROLE_BINARY,      /* assignments among them */
    ROLE_MEMBER,      /* . -> :: */
    ROLE_CONDITIONAL, /* ? and its : */
    ROLE_GROUP,       /* ( ) around an expression */
    ROLE_CALL,        /* ( ) around arguments */
    ROLE_CAST,        /* ( ) around a type */
    ROLE_INDEX,       /* [ ] */
    ROLE_LAUNCH,      /* <<< >>> */
    ROLE_LIST,        /* { } of an initializer */
    ROLE_LAMBDA,      /* [ ] of a lambda's captures */
    ROLE_PARAMETERS,  /* ( ) of a function definition or a lambda */
    ROLE_HEAD,        /* ( ) after if, for, while, switch */
    ROLE_BLOCK,       /* { } around statements or declarations */
    ROLE_ENUMERATORS, /* { } of an enum */
    ROLE_TEMPLATE,    /* < > around template arguments or parameters */
    ROLE_SPECIFIER,   /* static, extern, __shared__, …, and ( ) of an attribute */
    ROLE_TYPE,        /* a word of a type, const and volatile included */
    ROLE_DECLARATOR   /* * & [ ] ( ) that belong to a declared name or end a type */
};

/* How tightly an operator binds, loosest first, as C++ says. */
enum rank {
    RANK_NONE,
    RANK_ASSIGN,
    RANK_CONDITIONAL,
    RANK_OR,
    RANK_AND,
    RANK_BIT_OR,
    RANK_BIT_XOR,
    RANK_BIT_AND,
    RANK_EQUAL,
    RANK_LESS,
    RANK_SHIFT,
    RANK_ADD,
    RANK_MULTIPLY,
    RANK_PREFIX,
    RANK_POSTFIX,
    RANK_PRIMARY
};

/* Token indices, end exclusive. */
struct range {
    int begin, end;
};

/* A complete expression that begins at a known token. */
struct operand {
    int end;        /* token index, exclusive */
    enum rank rank; /* of its loosest operator outside brackets */
};

struct declaration {
    int name;           /* token index */
    int type, type_end; /* the tokens of its type, `*` excluded */
    int pointers;       /* how many `*` and `[ ]` */
    bool shared, constant, field, function;
    int initializer; /* token index behind the `=`, or NONE */
    int scope_end;   /* the name is known up to this token index, exclusive */
};

struct syntax {
    const struct source *s;
    enum role *role; /* one a token */
    int *other;      /* of ? : and of < > around template arguments: the other one; else NONE */
    int *first; /* operand[first[i]] … operand[first[i] + count[i] − 1] begin at token i, shortest
                   first */
    int *count;
    struct operand *operand;
    int operands;
    struct declaration *declaration;
    int declarations;
    int *type_name; /* the names that the file declares as types, as token indices */
    int type_names;
    int template_scope; /* while the parameters of a template are read: where their scope ends */
    int operand_room, declaration_room;
};

/* Reads a source, which must stay as it is until syntax_free. Cannot fail. */
void syntax_read(struct syntax *x, const struct source *s);
void syntax_free(struct syntax *x);

/* Is the bracket at token i an opening one? False for what is no bracket. */
bool bracket_opens(const struct syntax *x, int i);

/* Gives two tokens a role and makes each the other's other. */
void mark_pair(struct syntax *x, int open, int close, enum role role);

/* Is token i the last of an operand? */
bool ends_operand(const struct syntax *x, int i);

/* Does a statement begin at token i? */
bool starts_statement(const struct syntax *x, int i);

/* The end (exclusive) of the statement that begins at token i, or NONE if it is cut off. */
int statement_end(const struct syntax *x, int i);

/* Does the statement at token i stand in a block, and not as the body of an if, for, …? */
bool stands_in_block(const struct syntax *x, int i);

#endif
