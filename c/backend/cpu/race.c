/*
 * The race oracle: two accesses of one word by two threads of a launch, one of them a write, that
 * no synchronisation orders. It needs no luck: a race shows whatever order the threads ran in.
 *
 * Images built with -fsanitize=thread call the __tsan_ functions here at each access; nothing else
 * of that sanitizer is used. Time counts synchronisations. An access is ordered before a thread's
 * present when it is older than
 *
 *   - the launch, or the block if it is in shared memory;
 *   - the last barrier of the thread's own block, if it was made there;
 *   - the last meeting of both lanes in a warp operation, directly or through other lanes;
 *   - a fence in its thread (or before which one of the above orders it), followed by an atomic
 *     operation there, followed by one in the present thread (or ordered before it): a counter of
 *     finished blocks.
 *
 * Atomic operations do not race with each other, except those of block scope with other blocks'; a
 * fence of block scope orders nothing for other blocks. What is approximate errs towards no race:
 * any two atomic operations order, whatever their addresses; a fence may stand before the barrier
 * that it should follow; of a word's readers two are kept, of different warps where there are such;
 * of its writers, the last; threads that have ended count as having met all others; blocks after
 * the 65,535th count as one.
 */
#include <string.h>
#include <sys/mman.h>

#include "device.h"
#include "executor.h"

enum {
    RELEASES_MAX = 1 << 16,
    BLOCKS_MAX = 1 << 16,
    SHADOWED_MIN = 256 << 10 /* more than the shared arena, which grows as it is used */
};

enum kind { PLAIN, ATOMIC_IN_BLOCK, ATOMIC_IN_DEVICE };

/* Who touched a word, and when. Zero is never: launches begin at time 1 or later. A process makes
 * 2^32 synchronisations in an hour or more of running; after them the oracle sees nothing. */
struct access {
    uint64_t time : 32, block : 16, thread : 10, bytes : 4, kind : 2;
};

/* What is known of one 4-byte word. */
struct cell {
    struct access write, read[2];
};

/* A fence and then an atomic operation: accesses older than the fence are published. */
struct release {
    uint64_t at;                                    /* when the atomic operation was */
    uint64_t own_before, warp_before, block_before; /* by its thread, its warp, its block */
    unsigned block, thread;
    bool device; /* to all blocks */
};

static struct {
    bool active;          /* the image that runs is instrumented */
    uint64_t now, launch; /* launch: when it began */
    uint64_t begun;       /* when the block began */
    uint64_t barrier;     /* the block's last one, or its begin */
    uint64_t horizon;     /* launch or begun: since when the words at hand are in use */
    unsigned block;
    struct release release[RELEASES_MAX]; /* of the launch, in order of time and so of blocks */
    unsigned releases;
    uint64_t acquired;                 /* the last atomic operation before the last barrier */
    uint64_t acquired_since;           /* … and the last one of all, in the block */
    uint64_t warp[THREADS_MAX / WARP]; /* the last meeting of all live lanes */
    struct lane {
        uint64_t fence, released; /* the last fence, and the last one followed by an atomic */
        bool device_fence;        /* the last one's scope */
        uint64_t acquired;        /* the last atomic operation known */
        uint64_t met[WARP];       /* up to when each lane's accesses are known */
    } lane[THREADS_MAX];
} race;

void race_run_begin(void)
{
    race.active = false;
}

void race_launch_begin(void)
{
    race.launch = ++race.now;
    race.releases = 0;
    race.block = UINT32_MAX;
    race.acquired = race.acquired_since = 0;
}

void race_block_begin(void)
{
    race.begun = race.barrier = ++race.now;
    if (race.block != BLOCKS_MAX - 1)
        race.block++;
    race.acquired = race.acquired_since = 0;
}

void race_barrier(void)
{
    race.barrier = ++race.now;
    race.acquired = race.acquired_since;
}

void race_warp(unsigned warp, uint32_t came, bool all)
{
    if (!race.active)
        return;
    struct lane *lane = &race.lane[warp * WARP];
    uint64_t now = ++race.now, acquired = 0, met[WARP] = {0};
    if (all)
        race.warp[warp] = now;
    for (int i = 0; i < WARP; i++) {
        if (!(came & 1u << i))
            continue;
        acquired = lane[i].acquired > acquired ? lane[i].acquired : acquired;
        for (int k = 0; !all && k < WARP; k++)
            met[k] = lane[i].met[k] > met[k] ? lane[i].met[k] : met[k];
    }
    for (int i = 0; i < WARP; i++) {
        if (!(came & 1u << i))
            continue;
        lane[i].acquired = acquired;
        for (int k = 0; !all && k < WARP; k++)
            lane[i].met[k] = came & 1u << k ? now : met[k];
    }
}

/* The first release of the launch by this block or a later one. */
static unsigned first_release(unsigned block)
{
    unsigned low = 0, high = race.releases;
    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (race.release[middle].block < block)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Has the access been published to a thread that knows of atomic operations up to `acquired`? */
static bool published(struct access a, uint64_t acquired)
{
    if (race.releases == RELEASES_MAX)
        return true; /* too many to keep */
    for (unsigned i = first_release(a.block); i < race.releases; i++) {
        const struct release *r = &race.release[i];
        if (r->block != a.block || r->at >= acquired)
            break;
        if (!r->device && r->block != race.block)
            continue;
        if (a.time < r->block_before ||
            (r->thread / WARP == a.thread / WARP && a.time < r->warp_before) ||
            (r->thread == a.thread && a.time < r->own_before))
            return true;
    }
    return false;
}

/* Is the access ordered by a meeting of the warp, or by a fence and atomic operations? */
static bool ordered_otherwise(struct access a)
{
    const struct lane *self = &race.lane[current->number];
    unsigned warp = current->number / WARP;
    if (a.block == race.block && a.thread / WARP == warp &&
        (a.time < race.warp[warp] || a.time < self->met[a.thread % WARP]))
        return true;
    uint64_t acquired = self->acquired > race.acquired ? self->acquired : race.acquired;
    return acquired > race.begun && published(a, acquired); /* older ones are another block's */
}

static inline bool ordered(struct access a)
{
    return a.time < race.horizon ||
           (a.block == race.block && (a.time < race.barrier || a.thread == current->number)) ||
           ordered_otherwise(a);
}

static bool both_atomic(struct access a, struct access b)
{
    return a.kind != PLAIN && b.kind != PLAIN &&
           (a.block == b.block || (a.kind == ATOMIC_IN_DEVICE && b.kind == ATOMIC_IN_DEVICE));
}

static void conflict(struct access a, struct access b)
{
    if (a.bytes & b.bytes && !both_atomic(a, b) && !ordered(a))
        execution.verdict->race = true;
}

static bool same_thread(struct access a, struct access b)
{
    return a.thread == b.thread && a.block == b.block;
}

static bool same_warp(struct access a, struct access b)
{
    return a.thread / WARP == b.thread / WARP && a.block == b.block;
}

/* Two warps have read the word since the block's last barrier: no third reader tells more. */
static bool well_read(const struct cell *c)
{
    return c->read[0].time >= race.barrier && c->read[1].time >= race.barrier &&
           !same_warp(c->read[0], c->read[1]);
}

static void note_read(struct cell *c, struct access a)
{
    conflict(c->write, a);
    if (well_read(c))
        return;
    for (int k = 0; k < 2; k++) {
        if (same_thread(c->read[k], a) || ordered(c->read[k])) {
            c->read[k] = a;
            return;
        }
    }
    if (same_warp(c->read[0], c->read[1]))
        c->read[1] = a;
}

static void note_write(struct cell *c, struct access a)
{
    conflict(c->write, a);
    conflict(c->read[0], a);
    conflict(c->read[1], a);
    c->write = a;
}

/* The cells of a region's words, from its end backwards: the arena grows at its start. */
static struct cell *cells(struct region *r)
{
    size_t bytes = (r->open > SHADOWED_MIN ? r->open : SHADOWED_MIN) / 4 * sizeof(struct cell);
    if (r->shadow_bytes < bytes) {
        if (r->shadow_bytes)
            munmap(r->shadow, r->shadow_bytes);
        r->shadow = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        r->shadow_bytes = r->shadow == MAP_FAILED ? 0 : bytes;
    }
    return r->shadow_bytes ? r->shadow : NULL;
}

/* Which of the word's bytes are in [from, to)? A bit each. */
static unsigned bytes_within(const char *word, const char *from, const char *to)
{
    unsigned bytes = 15;
    if (word == from && to == word + 4)
        return bytes;
    if (word < from)
        bytes &= 15u << (from - word);
    if (to < word + 4)
        bytes &= 15u >> (word + 4 - to);
    return bytes;
}

static void note(const void *p, size_t size, bool write, enum kind kind)
{
    const char *from = p, *to = from + size;
    struct region *r = memory_region(p);
    if (!current || !r || from < r->end - r->open || to > r->end)
        return; /* host code, or a local variable, or a stray access, which faults */
    if (from < r->end - r->bytes) { /* before the array, on its own first page: no fault */
        memory_stray(write);
        return;
    }
    struct cell *cell = cells(r);
    if (!cell)
        return;
    race.horizon = r->use == REGION_SHARED ? race.begun : race.launch;
    struct access a = {
        .time = race.now, .block = race.block, .thread = current->number, .kind = kind};
    for (const char *word = from - (uintptr_t)from % 4; word < to; word += 4) {
        struct cell *c = &cell[(r->end - word) / 4 - 1];
        a.bytes = bytes_within(word, from, to);
        if (write)
            note_write(c, a);
        else
            note_read(c, a);
    }
}

void race_atomic(const void *p, size_t size, bool device)
{
    if (!race.active || !current)
        return;
    note(p, size, true, device ? ATOMIC_IN_DEVICE : ATOMIC_IN_BLOCK);
    struct lane *self = &race.lane[current->number];
    uint64_t now = ++race.now;
    self->acquired = race.acquired_since = now;
    if (self->fence <= self->released || race.releases == RELEASES_MAX)
        return;
    self->released = self->fence;
    struct release r = {.at = now,
                        .own_before = self->fence,
                        .block = race.block,
                        .thread = current->number,
                        .device = device && self->device_fence,
                        .block_before = race.barrier,
                        .warp_before = race.warp[current->number / WARP]};
    race.release[race.releases++] = r;
}

void race_fence(bool device)
{
    if (!race.active || !current)
        return;
    race.lane[current->number].fence = ++race.now;
    race.lane[current->number].device_fence = device;
}

/* ---- what gcc -fsanitize=thread calls ---- */

void __tsan_init(void);
void __tsan_func_entry(void *caller);
void __tsan_func_exit(void);

void __tsan_init(void)
{
}

void __tsan_func_entry(void *caller)
{
    (void)caller;
    race.active = true;
}

void __tsan_func_exit(void)
{
}

#define HOOK(name, size, write)                                                                    \
    void name(const void *p);                                                                      \
    void name(const void *p)                                                                       \
    {                                                                                              \
        note(p, size, write, PLAIN);                                                               \
    }
#define HOOKS(size)                                                                                \
    HOOK(__tsan_read##size, size, false)                                                           \
    HOOK(__tsan_write##size, size, true)                                                           \
    HOOK(__tsan_unaligned_read##size, size, false)                                                 \
    HOOK(__tsan_unaligned_write##size, size, true)                                                 \
    HOOK(__tsan_volatile_read##size, size, false)                                                  \
    HOOK(__tsan_volatile_write##size, size, true)
HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)

void __tsan_read_range(const void *p, size_t size);
void __tsan_write_range(const void *p, size_t size);

void __tsan_read_range(const void *p, size_t size)
{
    note(p, size, false, PLAIN);
}

void __tsan_write_range(const void *p, size_t size)
{
    note(p, size, true, PLAIN);
}
