/*
 * fiber - stacks and the switch between them: the executor's threads of control.
 *
 * fiber_x86_64.S and fiber_aarch64.S save only what a called function must keep; elsewhere
 * fiber_ucontext.c does the same through the C library, about a hundred times slower.
 */
#ifndef ASSAY_FIBER_H
#define ASSAY_FIBER_H

/* Saves where the caller stands, puts that into *from, and continues where `to` was saved. */
void fiber_switch(void **from, void *to);

/* A value to switch to that calls entry() on the empty stack below `top` (aligned to 16). entry
 * never returns. */
void *fiber_new(void *top, void (*entry)(void));

#endif
