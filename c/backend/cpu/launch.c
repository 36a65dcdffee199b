/*
 * A launch: its blocks one after the other, the threads of a block as fibers.
 *
 * A thread runs until it waits (at a barrier, in a warp meeting) or ends; the queue holds those
 * that can run. A barrier puts all threads into it in a new order; lanes that have met go on before
 * all others, so that a warp runs as far as it can. A thread that ends lets a fresh one start on
 * its stack, so a kernel without barriers uses one stack and makes no switches.
 */
#include <string.h>
#include <sys/mman.h>

#include "device.h"
#include "executor.h"
#include "fiber.h"

#define KIB 1024

enum {
    STACK_SIZE = 64 * KIB,
    STACK_SPACING = 2 * STACK_SIZE, /* the guard is as large, for large frames */
    SHARED_STATIC_MAX = 48 * KIB,
    SHARED_MAX = 227 * KIB,
    SHARED_ARRAYS = 64
};

struct simt_index threadIdx, blockIdx, blockDim, gridDim;

struct thread *current;
struct thread threads[THREADS_MAX];

static struct {
    char *base;              /* THREADS_MAX stacks of address space */
    int made;                /* those with memory */
    int unused[THREADS_MAX]; /* the numbers of those that no thread is on */
    int unused_count;
} stacks;

static struct {
    const char *kernel;
    void (*body)(void *arguments);
    void *arguments;
    unsigned threads; /* in a block */
    size_t dynamic;   /* bytes of dynamic shared memory */
    void *resume;     /* the host function's own stack */
} launch;

static struct {
    unsigned live; /* threads not ended */
    uint16_t queue[THREADS_MAX];
    unsigned head, tail; /* modulo THREADS_MAX; a thread is in the queue once at most */
} block;

static struct {
    unsigned arrived;
    int site;               /* where the first one waits */
    unsigned votes, result; /* true predicates, of this meeting and of the last one */
} barrier;

/* The launch's shared arrays, from the arena's end down: dynamic, then static as they are met. */
static struct {
    bool open;
    size_t used;
    struct shared_array {
        int site;
        size_t bytes, offset; /* the array starts `offset` bytes before the end */
    } array[SHARED_ARRAYS];
    int arrays;
    char *end;
} shared;

/* ---- stacks ---- */

int launch_start(struct error *e)
{
    void *base = mmap(NULL, (size_t)THREADS_MAX * STACK_SPACING, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return fail(e, EXIT_UNAVAILABLE, "no address space for the stacks of the CPU backend");
    stacks.base = base;
    return 0;
}

bool launch_stack_guard(const void *address)
{
    size_t offset = (size_t)((const char *)address - stacks.base);
    return offset < (size_t)THREADS_MAX * STACK_SPACING && offset % STACK_SPACING < STACK_SIZE;
}

static int take_stack(void)
{
    if (stacks.unused_count)
        return stacks.unused[--stacks.unused_count];
    char *low = stacks.base + (size_t)stacks.made * STACK_SPACING + STACK_SIZE;
    if (mprotect(low, STACK_SIZE, PROT_READ | PROT_WRITE))
        run_end(OUTCOME_CRASHED, "no memory for the stack of a thread");
    return stacks.made++;
}

/* Stacks begin at different places in their pages, so as not to share the same few cache sets. */
static void *stack_top(int stack)
{
    return stacks.base + (size_t)(stack + 1) * STACK_SPACING - stack % 21 * 192;
}

/* ---- the queue ---- */

void thread_ready(struct thread *t)
{
    block.queue[--block.head % THREADS_MAX] = (uint16_t)t->number;
}

/* Puts a thread at a drawn place among those from `first` on (inside-out shuffle). */
static void append_drawn(unsigned thread, unsigned first)
{
    unsigned at = first + draw_below(block.tail - first + 1);
    block.queue[block.tail++] = block.queue[at];
    block.queue[at] = (uint16_t)thread;
}

/* Threads are drawn from the whole block, or warp by warp: the one lets any thread overtake any
 * other by a step, the other lets a warp run far ahead. */
static void all_ready_drawn(void)
{
    bool by_warp = draw() & 1;
    unsigned warps = (launch.threads + WARP - 1) / WARP, order[THREADS_MAX / WARP];
    for (unsigned w = 0; w < warps; w++) {
        unsigned at = by_warp ? draw_below(w + 1) : w;
        order[w] = order[at];
        order[at] = w;
    }
    for (unsigned w = 0; w < warps; w++) {
        unsigned first = by_warp ? block.tail : 0, begin = order[w] * WARP;
        for (unsigned k = begin; k < begin + WARP && k < launch.threads; k++)
            if (!threads[k].ended)
                append_drawn(k, first);
    }
}

/* All live threads become ready, in the schedule's order. The queue is empty. */
static void all_ready(void)
{
    block.head = block.tail = 0;
    if (execution.schedule.order == SIMT_RANDOM) {
        all_ready_drawn();
        return;
    }
    for (unsigned i = 0; i < launch.threads; i++) {
        unsigned k = execution.schedule.order == SIMT_FORWARD ? i : launch.threads - 1 - i;
        if (!threads[k].ended)
            block.queue[block.tail++] = (uint16_t)k;
    }
}

static struct thread *next_thread(void)
{
    if (block.head == block.tail)
        run_end(OUTCOME_DEADLOCK, "%s: %u threads wait at a barrier, %u in a warp operation",
                launch.kernel, barrier.arrived, block.live - barrier.arrived);
    return &threads[block.queue[block.head++ % THREADS_MAX]];
}

static void make_current(struct thread *t)
{
    current = t;
    threadIdx = (struct simt_index){t->index[0], t->index[1], t->index[2]};
}

static void thread_main(void);

static void start_on(struct thread *t, int stack)
{
    simt_tick();
    t->started = true;
    t->stack = stack;
}

static void *fiber_of(struct thread *t)
{
    if (!t->started) {
        start_on(t, take_stack());
        t->fiber = fiber_new(stack_top(t->stack), thread_main);
    }
    return t->fiber;
}

void thread_wait(void)
{
    struct thread *self = current, *next = next_thread();
    if (next == self)
        return;
    make_current(next);
    fiber_switch(&self->fiber, fiber_of(next));
}

/* ---- barriers ---- */

static void release_barrier(void)
{
    barrier.arrived = 0;
    barrier.result = barrier.votes;
    barrier.votes = 0;
    race_barrier();
    all_ready();
}

/* Returns the number of threads whose predicate held. */
static unsigned meet(int site, bool predicate)
{
    if (!current)
        run_end(OUTCOME_CRASHED, "a barrier in host code");
    if (barrier.arrived == 0)
        barrier.site = site;
    else if (barrier.site != site)
        execution.verdict->divergence = true;
    barrier.votes += predicate;
    if (++barrier.arrived == block.live)
        release_barrier();
    thread_wait();
    return barrier.result;
}

void simt_barrier(int site)
{
    meet(site, false);
}

int simt_barrier_count(int site, int predicate)
{
    return (int)meet(site, predicate);
}

int simt_barrier_or(int site, int predicate)
{
    return meet(site, predicate) != 0;
}

int simt_barrier_and(int site, int predicate)
{
    return meet(site, !predicate) == 0;
}

/* ---- shared memory ---- */

/* Opens the arena for a launch that uses it, with the dynamic array at its end. */
static void open_shared(void)
{
    shared.open = true;
    shared.used = launch.dynamic;
    shared.end = memory_shared(shared.used);
    memset(shared.end - shared.used, POISON, shared.used);
}

void *simt_dynamic_shared(void)
{
    if (!shared.open)
        open_shared();
    return shared.end - launch.dynamic;
}

static struct shared_array *add_shared(int site, size_t bytes, size_t align)
{
    size_t before = shared.used;
    shared.used = (shared.used + bytes + align - 1) / align * align;
    if (shared.arrays == SHARED_ARRAYS || shared.used - launch.dynamic > SHARED_STATIC_MAX ||
        shared.used > SHARED_MAX)
        run_end(OUTCOME_BAD_LAUNCH, "%s: more shared memory than 48 KiB static, 227 KiB in all",
                launch.kernel);
    memory_shared(shared.used);
    memset(shared.end - shared.used, POISON, shared.used - before);
    shared.array[shared.arrays] = (struct shared_array){site, bytes, shared.used};
    return &shared.array[shared.arrays++];
}

void *simt_shared(int site, size_t bytes, size_t align)
{
    if (!shared.open)
        open_shared();
    for (int i = 0; i < shared.arrays; i++)
        if (shared.array[i].site == site && shared.array[i].bytes == bytes)
            return shared.end - shared.array[i].offset;
    return shared.end - add_shared(site, bytes, align)->offset;
}

/* ---- blocks ---- */

static void thread_ended(struct thread *t)
{
    t->ended = true;
    block.live--;
    if (block.live && barrier.arrived == block.live)
        release_barrier();
    warp_lane_ended(t);
}

static void leave_stack(int stack, void *to)
{
    void *forgotten;
    stacks.unused[stacks.unused_count++] = stack;
    fiber_switch(&forgotten, to);
}

/* Each fiber: runs threads that start, until the next to run is one that waits elsewhere. */
static void thread_main(void)
{
    for (;;) {
        launch.body(launch.arguments);
        struct thread *self = current;
        thread_ended(self);
        if (block.live == 0)
            leave_stack(self->stack, launch.resume);
        struct thread *next = next_thread();
        make_current(next);
        if (next->started)
            leave_stack(self->stack, next->fiber);
        start_on(next, self->stack);
    }
}

static void run_block(void)
{
    for (unsigned i = 0; i < launch.threads; i++) {
        threads[i].started = false;
        threads[i].ended = false;
    }
    if (shared.open)
        memset(shared.end - shared.used, POISON, shared.used);
    warp_block_begin(launch.threads);
    race_block_begin();
    barrier.arrived = barrier.votes = 0;
    block.live = launch.threads;
    all_ready();
    struct thread *first = next_thread();
    make_current(first);
    fiber_switch(&launch.resume, fiber_of(first));
    current = NULL;
}

static uint64_t greatest_common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The blocks in the schedule's order; a drawn order is first, first + step, first + 2 step … modulo
 * their number. */
static void run_blocks(const struct simt_index *grid)
{
    uint64_t plane = (uint64_t)grid->x * grid->y, count = plane * grid->z, at = 0, step = 1;
    if (execution.schedule.order == SIMT_REVERSED) {
        at = count - 1;
        step = count - 1;
    } else if (execution.schedule.order == SIMT_RANDOM) {
        at = ((uint64_t)draw() << 20 ^ draw()) % count;
        do
            step = count > 2 ? 1 + ((uint64_t)draw() << 20 ^ draw()) % (count - 1) : 1;
        while (greatest_common_divisor(step, count) != 1);
    }
    for (uint64_t i = 0; i < count; i++) {
        blockIdx = (struct simt_index){(unsigned)(at % grid->x), (unsigned)(at % plane / grid->x),
                                       (unsigned)(at / plane)};
        run_block();
        at = (at + step) % count;
    }
}

static bool launch_is_valid(const char *kernel, const struct simt_index *grid,
                            const struct simt_index *threads_in_block, size_t dynamic)
{
    unsigned x = threads_in_block->x, y = threads_in_block->y, z = threads_in_block->z;
    if (x > 1024 || y > 1024 || z > 64 || (uint64_t)x * y * z > THREADS_MAX || x * y * z == 0)
        run_bad_launch("%s: a block of %u x %u x %u threads", kernel, x, y, z);
    else if (grid->x > INT32_MAX || grid->y > 65535 || grid->z > 65535 || !grid->x || !grid->y ||
             !grid->z)
        run_bad_launch("%s: a grid of %u x %u x %u blocks", kernel, grid->x, grid->y, grid->z);
    else if (dynamic > SHARED_MAX)
        run_bad_launch("%s: %zu bytes of dynamic shared memory", kernel, dynamic);
    else
        return true;
    return false;
}

static void number_threads(const struct simt_index *size)
{
    launch.threads = size->x * size->y * size->z;
    for (unsigned i = 0; i < launch.threads; i++)
        threads[i] = (struct thread){
            .number = i, .index = {i % size->x, i / size->x % size->y, i / (size->x * size->y)}};
}

void simt_launch(const char *kernel, const struct simt_index *grid,
                 const struct simt_index *threads_in_block, size_t dynamic,
                 void (*body)(void *arguments), void *arguments)
{
    if (current)
        run_end(OUTCOME_CRASHED, "%s: launched by a kernel", kernel);
    if (!launch_is_valid(kernel, grid, threads_in_block, dynamic))
        return;
    launch.kernel = kernel;
    launch.body = body;
    launch.arguments = arguments;
    launch.dynamic = dynamic;
    shared.open = false;
    shared.arrays = 0;
    number_threads(threads_in_block);
    gridDim = *grid;
    blockDim = *threads_in_block;
    stacks.unused_count = 0;
    for (int i = stacks.made; i-- > 0;)
        stacks.unused[stacks.unused_count++] = i;
    race_launch_begin();
    run_blocks(grid);
}

void launch_run_end(void)
{
    if (current)
        warp_forget();
    current = NULL;
}
