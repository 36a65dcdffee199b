/* fiber.h for any machine with the C library's contexts. A saved fiber is its ucontext_t, kept on
 * its own stack. `make FIBER=c/backend/cpu/fiber_ucontext.c` takes it where a faster version
 * exists. */
#include <stddef.h>
#include <ucontext.h>

#include "fiber.h"

enum { STACK_SIZE = 32 << 10 }; /* no more than the executor gives */

void fiber_switch(void **from, void *to)
{
    ucontext_t here;
    *from = &here;
    swapcontext(&here, to);
}

void *fiber_new(void *top, void (*entry)(void))
{
    ucontext_t *context = (ucontext_t *)top - 1;
    getcontext(context);
    context->uc_link = NULL;
    context->uc_stack.ss_sp = (char *)top - STACK_SIZE;
    context->uc_stack.ss_size = STACK_SIZE - sizeof *context;
    makecontext(context, entry, 0);
    return context;
}
