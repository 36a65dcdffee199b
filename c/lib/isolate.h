/*
 * isolate - evaluates many items in a child process that any of them may kill.
 *
 * A fork for each item would cost more than the items; so one child works through them and is replaced
 * when it dies, hangs, or says that it can no longer be trusted. Results come back in order, so the
 * item that killed it is the first without one.
 */
#ifndef ASSAY_ISOLATE_H
#define ASSAY_ISOLATE_H

#include <stdbool.h>
#include <stddef.h>

#include "error.h"

struct isolation {
    int items;          /* numbered from 0, evaluated in this order */
    size_t result_size; /* bytes; a result must hold no pointers */
    double limit_s;     /* by the clock, for one item; generous: it only bounds what nothing else does */

    /* In the child. Returns true when the child must not evaluate another item. */
    bool (*evaluate)(void *context, int item, void *result);

    /* In the parent: the item ended two children, the second by this signal (0: it exited by itself;
     * `late`: it outlasted the limit and was killed). Fills the result that stands for it. */
    void (*died)(void *context, int item, int signal, bool late, void *result);

    /* In the parent, once an item, in order. A code other than 0 ends everything. */
    int (*receive)(void *context, int item, const void *result, struct error *e);

    void *context;

    /* In the child, before its first item; NULL: nothing takes time there. With it there is a child in
     * reserve, prepared, once the first result has come. What it knows of the parent is as old as it is. */
    void (*prepare)(void *context);
};

/* Returns 0 once every item was received, receive's code, or EXIT_UNAVAILABLE if no child can be had. */
int isolate(const struct isolation *work, struct error *e);

#endif
