/* fiber.h for AAPCS64: x19 to x30, d8 to d15 and the stack pointer are kept. */
    .text
    .globl fiber_switch
    .type fiber_switch, %function
fiber_switch:
    sub sp, sp, #160
    stp x19, x20, [sp, #0]
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mov x9, sp
    str x9, [x0]
    mov sp, x1
    ldp x19, x20, [sp, #0]
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    add sp, sp, #160
    ret
    .size fiber_switch, . - fiber_switch

    .globl fiber_new
    .type fiber_new, %function
fiber_new:
    sub x2, x0, #160
    stp xzr, x1, [x2, #80] /* the end of the chain of frames, and where fiber_switch returns to */
    mov x0, x2
    ret
    .size fiber_new, . - fiber_new
    .section .note.GNU-stack, "", %progbits
