#include "expression.h"

#include <stdlib.h>

#include "memory.h"

bool rank_groups_right(enum rank rank)
{
    return rank == RANK_ASSIGN || rank == RANK_CONDITIONAL;
}

static enum rank binary_rank(const struct source *s, int i)
{
    static const struct {
        const char *text;
        enum rank rank;
    } RANKS[] = {{"||", RANK_OR},      {"&&", RANK_AND},     {"|", RANK_BIT_OR},
                 {"^", RANK_BIT_XOR},  {"&", RANK_BIT_AND},  {"==", RANK_EQUAL},
                 {"!=", RANK_EQUAL},   {"<", RANK_LESS},     {">", RANK_LESS},
                 {"<=", RANK_LESS},    {">=", RANK_LESS},    {"<<", RANK_SHIFT},
                 {">>", RANK_SHIFT},   {"+", RANK_ADD},      {"-", RANK_ADD},
                 {"*", RANK_MULTIPLY}, {"/", RANK_MULTIPLY}, {"%", RANK_MULTIPLY}};
    for (size_t k = 0; k < sizeof RANKS / sizeof *RANKS; k++)
        if (token_is(s, i, RANKS[k].text))
            return RANKS[k].rank;
    return RANK_ASSIGN;
}

enum rank operator_rank(const struct syntax *x, int i)
{
    switch (x->role[i]) {
    case ROLE_MEMBER:
    case ROLE_POSTFIX:
    case ROLE_CALL:
    case ROLE_INDEX:
    case ROLE_LAUNCH: return RANK_POSTFIX;
    case ROLE_PREFIX:
    case ROLE_CAST: return RANK_PREFIX;
    case ROLE_CONDITIONAL: return RANK_CONDITIONAL;
    case ROLE_BINARY: return binary_rank(x->s, i);
    default: return RANK_NONE;
    }
}

/* The longest expression from token i on that binds at least as tightly as `rank`, or NULL. */
static const struct operand *longest(const struct syntax *x, int i, enum rank rank)
{
    if (i >= x->s->tokens)
        return NULL;
    for (int k = x->count[i] - 1; k >= 0; k--)
        if (x->operand[x->first[i] + k].rank >= rank)
            return &x->operand[x->first[i] + k];
    return NULL;
}

/* Past template arguments, if they open at token i. */
static int skip_template(const struct syntax *x, int i)
{
    bool open = i < x->s->tokens && x->role[i] == ROLE_TEMPLATE && x->other[i] > i;
    return open ? x->other[i] + 1 : i;
}

static int lambda_end(const struct syntax *x, int i)
{
    const struct source *s = x->s;
    int end = s->token[i].partner + 1;
    if (token_is(s, end, "("))
        end = s->token[end].partner + 1;
    while (end < s->tokens && s->token[end].kind == TOKEN_NAME)
        end++;
    return token_is(s, end, "{") ? s->token[end].partner + 1 : NONE;
}

/* The shortest expression at token i: end NONE if none begins there. */
static struct operand first_operand(const struct syntax *x, int i)
{
    const struct source *s = x->s;
    struct operand none = {NONE, RANK_NONE};
    bool opening = bracket_opens(x, i);
    const struct operand *inner;
    switch (x->role[i]) {
    case ROLE_OPERAND: return (struct operand){skip_template(x, i + 1), RANK_PRIMARY};
    case ROLE_TYPE: {
        int end = skip_template(x, i + 1);
        bool value = end < s->tokens && bracket_opens(x, end) &&
                     (x->role[end] == ROLE_CALL || x->role[end] == ROLE_LIST);
        return value ? (struct operand){s->token[end].partner + 1, RANK_POSTFIX} : none;
    }
    case ROLE_GROUP:
    case ROLE_LIST: return opening ? (struct operand){s->token[i].partner + 1, RANK_PRIMARY} : none;
    case ROLE_LAMBDA: return opening ? (struct operand){lambda_end(x, i), RANK_PRIMARY} : none;
    case ROLE_PREFIX:
    case ROLE_CAST:
        if (x->role[i] == ROLE_CAST && !opening)
            return none;
        inner = longest(x, opening ? s->token[i].partner + 1 : i + 1, RANK_PREFIX);
        return inner ? (struct operand){inner->end, RANK_PREFIX} : none;
    default: return none;
    }
}

/* What the operator behind `o` makes of it: end NONE if nothing. */
static struct operand extend(const struct syntax *x, struct operand o)
{
    const struct source *s = x->s;
    struct operand none = {NONE, RANK_NONE};
    int i = o.end;
    if (i >= s->tokens)
        return none;
    enum rank rank = operator_rank(x, i);
    const struct operand *right;
    switch (x->role[i]) {
    case ROLE_POSTFIX: return (struct operand){i + 1, rank};
    case ROLE_MEMBER:
        return i + 1 < s->tokens ? (struct operand){skip_template(x, i + 2), rank} : none;
    case ROLE_CALL:
    case ROLE_INDEX:
    case ROLE_LAUNCH:
        return bracket_opens(x, i) ? (struct operand){s->token[i].partner + 1, rank} : none;
    case ROLE_BINARY:
        right = longest(x, i + 1, rank_groups_right(rank) ? rank : rank + 1);
        return right ? (struct operand){right->end, rank} : none;
    case ROLE_CONDITIONAL:
        if (x->other[i] < i)
            return none;
        right = longest(x, x->other[i] + 1, RANK_ASSIGN);
        return right ? (struct operand){right->end, rank} : none;
    default: return none;
    }
}

void find_operands(struct syntax *x)
{
    for (int i = x->s->tokens - 1; i >= 0; i--) {
        x->first[i] = x->operands;
        for (struct operand o = first_operand(x, i); o.end != NONE; o = extend(x, o)) {
            x->operand = memory_grow(x->operand, x->operands, &x->operand_room, sizeof *x->operand);
            x->operand[x->operands++] = o;
            x->count[i]++;
        }
    }
}

enum rank expression_rank(const struct syntax *x, int begin, int end)
{
    for (int k = 0; k < x->count[begin]; k++)
        if (x->operand[x->first[begin] + k].end == end)
            return x->operand[x->first[begin] + k].rank;
    return RANK_NONE;
}
