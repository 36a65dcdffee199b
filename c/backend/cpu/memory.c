/*
 * Guarded memory: every array ends at an inaccessible page, alone in a hole so wide that a 32-bit
 * index of its floats cannot leave it.
 *
 * One reservation of address space is cut into slots of 32 GiB, one a region. A stray access within
 * 1 GiB of an array faults once a page: the page becomes a sink, readable NaN that takes and loses
 * writes, and is closed again at the end of the run. Before an array stands the rest of its first
 * page, which has to be accessible: NaN bytes, looked at after each run.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "executor.h"

#define GIB          ((size_t)1 << 30)
#define SLOT         (32 * GIB)
#define SLOT_END     (12 * GIB) /* where the array ends in its slot; the longest array is 10 GiB */
#define ARRAY_MAX    (10 * GIB)
#define STRAY_REACH  GIB
#define SCRATCH_MAX  GIB                /* of one run */
#define SCRATCH_KEPT ((size_t)16 << 20) /* a larger array is given back after the run */

enum {
    SLOTS_MAX = 2048,
    SINKS_MAX = 1024, /* of one run; a mutant that strays to more pages has crashed */
    SINKS_KEPT = 64,  /* the memory of more is given back after the run */
    JOURNAL_MAX = 65536
};

static struct {
    char *base;
    size_t slots, page;
    struct region region[SLOTS_MAX]; /* number 0 is the shared arena */
    size_t regions;                  /* those ever used */
    size_t scratch;                  /* bytes of this run */
} memory;

/* Pages of guards opened by this run. */
static struct {
    struct sink {
        char *page;
        bool written;
    } sink[SINKS_MAX];
    size_t count;
} sinks;

/* Pages of sealed buffers that this run wrote to, and what they held. */
static struct {
    char *copy; /* JOURNAL_MAX pages of address space */
    char *page[JOURNAL_MAX];
    size_t count;
} journal;

static void *reserve(size_t bytes, int protection)
{
    void *p = mmap(NULL, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

int memory_start(struct error *e)
{
    memory.page = (size_t)sysconf(_SC_PAGESIZE);
    for (memory.slots = SLOTS_MAX; memory.slots >= 64; memory.slots /= 2) {
        memory.base = reserve(memory.slots * SLOT, PROT_NONE);
        if (memory.base)
            break;
    }
    journal.copy = reserve(JOURNAL_MAX * memory.page, PROT_READ | PROT_WRITE);
    if (!memory.base || !journal.copy)
        return fail(e, EXIT_UNAVAILABLE,
                    "the CPU backend needs 2 TiB of address space, which costs no memory; "
                    "allow it with `ulimit -v unlimited`");
    /* Where the system can: a fault for each 2 MiB of a large array, not for each 4 KiB. */
    madvise(memory.base, memory.slots * SLOT, MADV_HUGEPAGE);
    memory.regions = 1;
    memory.region[0] = (struct region){.end = memory.base + SLOT_END, .use = REGION_SHARED};
    return 0;
}

static size_t whole_pages(size_t bytes)
{
    return (bytes + memory.page - 1) & ~(memory.page - 1);
}

static char *start(const struct region *r)
{
    return r->end - r->bytes;
}

/* The accessible bytes before the array. */
static size_t slack(const struct region *r)
{
    return r->open - r->bytes;
}

/* Opens what an array of `bytes` needs and closes the rest. */
static bool resize(struct region *r, size_t bytes)
{
    size_t open = whole_pages(bytes), change = open > r->open ? open : r->open;
    if (open > r->open && mprotect(r->end - open, open - r->open, PROT_READ | PROT_WRITE))
        return false;
    if (open < r->open && mprotect(r->end - change, r->open - open, PROT_NONE))
        return false;
    r->open = open;
    r->bytes = bytes;
    memset(r->end - open, POISON, slack(r));
    return true;
}

static struct region *take(size_t bytes, int use)
{
    if (bytes > ARRAY_MAX)
        return NULL;
    struct region *r = NULL;
    for (size_t i = 1; i < memory.regions; i++) {
        struct region *candidate = &memory.region[i];
        if (candidate->use != REGION_FREE)
            continue;
        if (!r || candidate->open == whole_pages(bytes))
            r = candidate;
        if (r->open == whole_pages(bytes))
            break;
    }
    if (!r) {
        if (memory.regions == memory.slots)
            return NULL;
        r = &memory.region[memory.regions];
        r->end = memory.base + memory.regions * SLOT + SLOT_END;
        memory.regions++;
    }
    if (!resize(r, bytes))
        return NULL;
    r->use = use;
    return r;
}

struct region *memory_region(const void *address)
{
    uintptr_t offset = (uintptr_t)address - (uintptr_t)memory.base;
    if (offset >= memory.regions * SLOT)
        return NULL;
    return &memory.region[offset / SLOT];
}

/* ---- buffers ---- */

void *simt_buffer_new(size_t bytes)
{
    struct region *r = take(bytes, REGION_BUFFER);
    if (!r)
        return NULL;
    memset(start(r), POISON, bytes);
    return start(r);
}

static void unseal(struct region *r)
{
    if (r->sealed)
        mprotect(r->end - r->open, r->open, PROT_READ | PROT_WRITE);
    r->sealed = false;
}

void simt_buffer_free(void *buffer)
{
    if (!buffer)
        return;
    struct region *r = memory_region(buffer);
    unseal(r);
    r->use = REGION_FREE;
}

void simt_buffer_seal(void *buffer)
{
    struct region *r = memory_region(buffer);
    r->sealed = true;
    mprotect(r->end - r->open, r->open, PROT_READ);
}

void simt_buffer_poison(void *buffer)
{
    struct region *r = memory_region(buffer);
    memset(r->end - r->open, POISON, r->open); /* guards are poisoned when they open */
}

void *memory_scratch(size_t bytes)
{
    if (bytes > SCRATCH_MAX - memory.scratch)
        return NULL;
    execution.uninterruptible = true;
    struct region *r = take(bytes, REGION_SCRATCH);
    execution.uninterruptible = false;
    if (!r)
        return NULL;
    memory.scratch += bytes;
    memset(start(r), POISON, bytes);
    return start(r);
}

void memory_scratch_free(void *p)
{
    struct region *r = memory_region(p);
    if (r && r->use == REGION_SCRATCH && p == start(r))
        memset(p, POISON, r->bytes);
}

void memory_stray(bool write)
{
    if (write)
        execution.verdict->stray_write = true;
    else
        execution.verdict->stray_read = true;
}

/* Notes and undoes writes just before an array. */
static void check_slack(const struct region *r)
{
    static unsigned char poison[64 << 10];
    size_t bytes = slack(r);
    char *at = r->end - r->open;
    if (!poison[0])
        memset(poison, POISON, sizeof poison);
    if (memcmp(at, poison, bytes) == 0)
        return;
    memory_stray(true);
    memset(at, POISON, bytes);
}

char *memory_shared(size_t bytes)
{
    execution.uninterruptible = true;
    check_slack(&memory.region[0]);
    resize(&memory.region[0], bytes);
    execution.uninterruptible = false;
    return memory.region[0].end;
}

/* ---- faults ---- */

static char *page_of(const void *address)
{
    return (char *)((uintptr_t)address & ~(uintptr_t)(memory.page - 1));
}

static bool open_sink(char *page, bool write)
{
    for (size_t i = sinks.count; i-- > 0;) {
        struct sink *s = &sinks.sink[i];
        if (s->page != page)
            continue;
        if (s->written || !write)
            return false;
        s->written = true;
        return !mprotect(page, memory.page, PROT_READ | PROT_WRITE);
    }
    if (sinks.count == SINKS_MAX || mprotect(page, memory.page, PROT_READ | PROT_WRITE))
        return false;
    memset(page, POISON, memory.page);
    sinks.sink[sinks.count++] = (struct sink){page, write};
    return write || !mprotect(page, memory.page, PROT_READ); /* so that a later write faults too */
}

static bool open_sealed(char *page)
{
    if (journal.count == JOURNAL_MAX || mprotect(page, memory.page, PROT_READ | PROT_WRITE))
        return false;
    memcpy(journal.copy + journal.count * memory.page, page, memory.page);
    journal.page[journal.count++] = page;
    return true;
}

/* How far from the array an address outside it is. A shared address has 32 bits on a GPU: element
 * 2^32 - 1 is the one before the array. */
static size_t distance(const struct region *r, const char *at)
{
    ptrdiff_t past_end = at - r->end;
    if (r->use == REGION_SHARED)
        past_end = (int32_t)past_end;
    ptrdiff_t before = -past_end - (ptrdiff_t)r->bytes;
    return past_end >= 0 ? (size_t)past_end : before > 0 ? (size_t)before : 0;
}

bool memory_fault(void *address, bool write)
{
    struct region *r = memory_region(address);
    if (!r || r->use == REGION_FREE)
        return false;
    char *at = address, *page = page_of(address), *open = r->end - r->open;
    if (at >= open && at < r->end) {
        if (!r->sealed || !write || !open_sealed(page))
            return false;
        if (at >= start(r))
            execution.verdict->input_written = true;
        return true; /* check_slack() sees a write before the array */
    }
    if (distance(r, at) > STRAY_REACH || !open_sink(page, write))
        return false;
    memory_stray(write);
    return true;
}

static void close_sinks(void)
{
    for (size_t i = 0; i < sinks.count; i++) {
        char *page = sinks.sink[i].page;
        struct region *r = memory_region(page);
        if (page >= r->end - r->open && page < r->end)
            continue; /* the shared arena has grown over it */
        mprotect(page, memory.page, PROT_NONE);
        if (i >= SINKS_KEPT)
            madvise(page, memory.page, MADV_DONTNEED);
    }
    sinks.count = 0;
}

static void restore_sealed(void)
{
    for (size_t i = 0; i < journal.count; i++) {
        char *page = journal.page[i], *copy = journal.copy + i * memory.page;
        struct region *r = memory_region(page);
        size_t before = page < start(r) ? (size_t)(start(r) - page) : 0;
        check_slack(r);
        /* A second write to a page makes no fault: this sees it. */
        if (memcmp(page + before, copy + before, memory.page - before) != 0)
            execution.verdict->input_written = true;
        memcpy(page, copy, memory.page);
        mprotect(page, memory.page, PROT_READ);
    }
    journal.count = 0;
}

static void give_back(struct region *r)
{
    if (r->open > SCRATCH_KEPT)
        madvise(r->end - r->open, r->open, MADV_DONTNEED);
    r->use = REGION_FREE;
}

void memory_run_end(void)
{
    close_sinks();
    restore_sealed();
    for (size_t i = 0; i < memory.regions; i++) {
        struct region *r = &memory.region[i];
        if (r->use != REGION_FREE && !r->sealed)
            check_slack(r);
        if (r->use == REGION_SCRATCH)
            give_back(r);
    }
    memory.scratch = 0;
}
