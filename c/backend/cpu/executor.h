/*
 * executor - what the executor's own files share. Its users include simt.h; images see shim/.
 *
 *   simt.c     a run: signals, limits, the verdict
 *   memory.c   guarded buffers, the shared arena, scratch, stray accesses
 *   launch.c   a launch: blocks, fibers, the schedule, barriers, shared arrays
 *   warp.c     meetings of the lanes of a warp: shuffles, votes
 *   device.c   what CUDA provides besides: atomics, intrinsics, the runtime API
 *   race.c     the race oracle
 *
 * No function here is reentrant: there is one run at a time.
 */
#ifndef ASSAY_EXECUTOR_H
#define ASSAY_EXECUTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "simt.h"

enum { WARP = 32, THREADS_MAX = 1024, POISON = 0xFF };

/* -- simt.c -- */

/* The run in progress; verdict is NULL between runs. */
struct execution {
    struct simt_schedule schedule;
    struct simt_verdict *verdict;
    uint64_t random;               /* the state of draw() */
    int last_error;                /* what cudaGetLastError() says */
    volatile bool uninterruptible; /* bookkeeping is half done: the CPU limit waits */
};
extern struct execution execution;

/* Ends the run at once, from any stack. */
_Noreturn void run_end(enum outcome outcome, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Notes a refused launch; the run goes on. */
void run_bad_launch(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* 32 random bits of the schedule (xorshift64*). */
static inline uint32_t draw(void)
{
    execution.random ^= execution.random >> 12;
    execution.random ^= execution.random << 25;
    execution.random ^= execution.random >> 27;
    return (uint32_t)((execution.random * 0x2545F4914F6CDD1Dull) >> 32);
}

/* 0 ≤ draw_below(n) < n. */
static inline uint32_t draw_below(uint32_t n)
{
    return (uint32_t)((uint64_t)draw() * n >> 32);
}

/* -- memory.c -- */

/* A place for one array that ends at a guard, in a wide hole of its own. */
struct region {
    char *end;    /* one past its last byte; a page boundary */
    size_t bytes; /* its size: it starts at end - bytes */
    size_t open;  /* bytes before `end` that can be accessed: whole pages */
    enum { REGION_FREE, REGION_BUFFER, REGION_SCRATCH, REGION_SHARED } use;
    bool sealed;
    void *shadow; /* the race oracle's cells for its words, or NULL */
    size_t shadow_bytes;
};

int memory_start(struct error *e);

/* The region in whose hole the address lies, or NULL. */
struct region *memory_region(const void *address);

/* Notes a faulting access and makes it possible, if it is one to observe. False: it is a crash. */
bool memory_fault(void *address, bool write);

/* Notes an access outside every array but near one. */
void memory_stray(bool write);

/* Poisoned memory that lives until memory_run_end. NULL when the run has taken too much. */
void *memory_scratch(size_t bytes);

/* The run's own scratch is poisoned; anything else is left alone. */
void memory_scratch_free(void *p);

/* The shared arena: the last `bytes` bytes before its end are open. Returns the end. */
char *memory_shared(size_t bytes);

/* Undoes what the run did outside its outputs, and notes writes just before an array. */
void memory_run_end(void);

/* -- launch.c -- */

struct thread {
    void *fiber;       /* where it waits */
    int stack;         /* the number of its stack, once it has started */
    unsigned number;   /* in its block */
    unsigned index[3]; /* threadIdx */
    bool started, ended;
};
extern struct thread *current; /* NULL in host code */
extern struct thread threads[THREADS_MAX];

int launch_start(struct error *e);

/* Forgets a launch that the end of the run cut short. */
void launch_run_end(void);

/* Puts a waiting thread at the head of the queue of those that can run. */
void thread_ready(struct thread *t);

/* Runs others until the caller, which may be in the queue already, comes to the queue's head. */
void thread_wait(void);

/* Is the address in the guard below a fiber's stack? */
bool launch_stack_guard(const void *address);

/* -- warp.c -- */

void warp_block_begin(unsigned threads_in_block);
void warp_lane_ended(const struct thread *t);

/* Forgets the meetings of a block that was cut short. */
void warp_forget(void);

/* -- race.c -- */

/* Events that order accesses. Each is cheap in images that are not instrumented. */
void race_run_begin(void);
void race_launch_begin(void);
void race_block_begin(void);
void race_barrier(void);
void race_warp(unsigned warp, uint32_t came, bool all); /* lanes met; are they all that live? */
void race_fence(bool device);
void race_atomic(const void *p, size_t size, bool device); /* by the current thread */

#endif
