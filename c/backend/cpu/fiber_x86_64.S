/* fiber.h for the System V ABI of x86-64: rbx, rbp, r12 to r15 and the stack pointer are kept. */
    .text
    .globl fiber_switch
    .type fiber_switch, @function
fiber_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .size fiber_switch, . - fiber_switch

    .globl fiber_new
    .type fiber_new, @function
fiber_new:
    movq $0, -8(%rdi)     /* the return address of entry(), which never returns */
    movq %rsi, -16(%rdi)  /* where fiber_switch returns to */
    movq $0, -24(%rdi)    /* rbp: the end of the chain of frames, for debuggers */
    leaq -64(%rdi), %rax  /* room for the six registers */
    ret
    .size fiber_new, . - fiber_new
    .section .note.GNU-stack, "", @progbits
