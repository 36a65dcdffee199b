/* expression - operators and their operands: which runs of tokens are complete expressions. */
#ifndef ASSAY_EXPRESSION_H
#define ASSAY_EXPRESSION_H

#include "syntax.h"

/* Fills x->operand from the roles: the last step of syntax_read. */
void find_operands(struct syntax *x);

/* The rank of the operator at token i; RANK_NONE if it is none. */
enum rank operator_rank(const struct syntax *x, int i);

/* Do equal operators of this rank group from the right (assignments and ? :)? */
bool rank_groups_right(enum rank rank);

/* The rank of the complete expression [begin, end), RANK_NONE if it is none. */
enum rank expression_rank(const struct syntax *x, int begin, int end);

#endif
