/*
 * Meetings of the lanes of a warp: each warp intrinsic is one.
 *
 * A meeting belongs to a mask, so that disjoint halves of a warp, or a half and then the whole,
 * meet independently. It is complete when every lane of the mask that has not ended has come.
 * Values are kept twice, in turn: a lane may come to the next meeting before the others have read
 * this one.
 */
#include "device.h"
#include "executor.h"

struct meeting {
    uint32_t mask;    /* whose; 0 for a place never used */
    uint32_t arrived; /* lanes that wait in it */
    uint32_t came;    /* lanes of the last complete meeting */
    int unread;       /* lanes that have yet to read the last complete one */
    int operation;    /* what the first lane came for */
    int turn;
    uint64_t value[2][WARP];
};

static struct warp {
    uint32_t live;
    int pending; /* meetings in which a lane waits */
    struct meeting meeting[WARP];
} warps[THREADS_MAX / WARP];

void warp_block_begin(unsigned threads_in_block)
{
    for (unsigned w = 0; w * WARP < threads_in_block; w++) {
        unsigned lanes = threads_in_block - w * WARP;
        warps[w].live = lanes >= WARP ? UINT32_MAX : (1u << lanes) - 1;
    }
}

void warp_forget(void)
{
    for (int w = 0; w < THREADS_MAX / WARP; w++) {
        warps[w].pending = 0;
        for (int i = 0; i < WARP; i++)
            warps[w].meeting[i].arrived = 0, warps[w].meeting[i].unread = 0;
    }
}

/* The place of the mask's meetings: usually the one numbered as its lowest lane. */
static struct meeting *find_meeting(struct warp *w, uint32_t mask)
{
    int first = __builtin_ctz(mask);
    if (w->meeting[first].mask == mask)
        return &w->meeting[first];
    struct meeting *unused = NULL;
    for (int i = 0; i < WARP; i++) {
        struct meeting *m = &w->meeting[(first + i) % WARP];
        if (m->mask == mask)
            return m;
        if (!unused && !m->arrived && !m->unread)
            unused = m;
    }
    if (!unused) /* more than 32 masks, none of them met */
        run_end(OUTCOME_DEADLOCK, "the masks of a warp's operations never match");
    unused->mask = mask;
    return unused;
}

/* The lanes become ready in the schedule's order; the last one here is the first to run. */
static void wake(unsigned warp, uint32_t lanes)
{
    unsigned flip = execution.schedule.order == SIMT_FORWARD ? WARP - 1 : 0, factor = 1;
    if (execution.schedule.order == SIMT_RANDOM) { /* i → (i · odd) xor any: a permutation */
        uint32_t drawn = draw();
        flip = drawn % WARP;
        factor = (drawn >> 8) | 1;
    }
    for (unsigned i = 0; i < WARP; i++) {
        unsigned lane = (i * factor ^ flip) % WARP;
        if (lanes & 1u << lane)
            thread_ready(&threads[warp * WARP + lane]);
    }
}

static void complete(struct warp *w, struct meeting *m)
{
    m->came = m->arrived;
    m->unread = __builtin_popcount(m->arrived);
    m->arrived = 0;
    m->turn ^= 1;
    w->pending--;
    unsigned number = (unsigned)(w - warps);
    race_warp(number, m->came, m->came == w->live);
    wake(number, m->came);
}

static void complete_if_all_came(struct warp *w, struct meeting *m)
{
    if (m->arrived && m->arrived == (m->mask & w->live))
        complete(w, m);
}

void warp_lane_ended(const struct thread *t)
{
    struct warp *w = &warps[t->number / WARP];
    w->live &= ~(1u << t->number % WARP);
    for (int i = 0; w->pending && i < WARP; i++)
        complete_if_all_came(w, &w->meeting[i]);
}

/* What a lane learns from a meeting. */
struct result {
    const uint64_t *value; /* by lane */
    uint32_t came;
};

static struct result meet(uint32_t mask, int operation, uint64_t value)
{
    if (!current)
        run_end(OUTCOME_CRASHED, "a warp operation in host code");
    struct warp *w = &warps[current->number / WARP];
    unsigned lane = current->number % WARP;
    if (!(mask & 1u << lane)) {
        execution.verdict->divergence = true;
        return (struct result){NULL, 0};
    }
    struct meeting *m = find_meeting(w, mask);
    if (!m->arrived) {
        m->operation = operation;
        w->pending++;
    } else if (m->operation != operation) {
        execution.verdict->divergence = true;
    }
    const uint64_t *values = m->value[m->turn];
    m->value[m->turn][lane] = value;
    m->arrived |= 1u << lane;
    complete_if_all_came(w, m);
    thread_wait();
    m->unread--;
    return (struct result){values, m->came};
}

/* The value of lane `source`, or poison where it did not come. */
static uint64_t value_of(struct result r, unsigned source)
{
    source %= WARP;
    return r.came & 1u << source ? r.value[source] : UINT64_MAX;
}

enum operation { SHUFFLE, SHUFFLE_UP, SHUFFLE_DOWN, SHUFFLE_XOR, VOTE, SYNC, REDUCE };

/* Lanes are counted within segments of `width`, a power of two; a source outside the caller's own
 * segment gives the caller's own value (CUDA C++ Programming Guide, warp shuffle functions). */
static unsigned segment_start(unsigned lane, int width)
{
    return lane & ~((unsigned)width - 1);
}

uint64_t simt_shuffle(uint32_t mask, uint64_t value, int source, int width)
{
    struct result r = meet(mask, SHUFFLE, value);
    unsigned lane = current->number % WARP;
    return value_of(r, (segment_start(lane, width) + ((unsigned)source & ((unsigned)width - 1))));
}

uint64_t simt_shuffle_up(uint32_t mask, uint64_t value, unsigned delta, int width)
{
    struct result r = meet(mask, SHUFFLE_UP, value);
    unsigned lane = current->number % WARP;
    return delta <= lane - segment_start(lane, width) ? value_of(r, lane - delta) : value;
}

uint64_t simt_shuffle_down(uint32_t mask, uint64_t value, unsigned delta, int width)
{
    struct result r = meet(mask, SHUFFLE_DOWN, value);
    unsigned lane = current->number % WARP;
    return delta < segment_start(lane, width) + (unsigned)width - lane ? value_of(r, lane + delta)
                                                                       : value;
}

uint64_t simt_shuffle_xor(uint32_t mask, uint64_t value, int lanes, int width)
{
    struct result r = meet(mask, SHUFFLE_XOR, value);
    unsigned lane = current->number % WARP, source = lane ^ (unsigned)lanes;
    return source < segment_start(lane, width) + (unsigned)width ? value_of(r, source) : value;
}

unsigned simt_ballot(uint32_t mask, int predicate)
{
    struct result r = meet(mask, VOTE, predicate != 0);
    unsigned votes = 0;
    for (unsigned i = 0; i < WARP; i++)
        if (r.came & 1u << i)
            votes |= (unsigned)r.value[i] << i;
    return votes;
}

int simt_any(uint32_t mask, int predicate)
{
    return simt_ballot(mask, predicate) != 0;
}

int simt_all(uint32_t mask, int predicate)
{
    return simt_ballot(mask, !predicate) == 0;
}

unsigned simt_active_mask(void)
{
    return current ? warps[current->number / WARP].live : 1;
}

void simt_sync_warp(uint32_t mask)
{
    meet(mask, SYNC, 0);
}

unsigned simt_reduce(uint32_t mask, unsigned value, enum simt_reduction how)
{
    struct result r = meet(mask, REDUCE + (int)how, value);
    bool first = true;
    unsigned total = UINT32_MAX;
    for (unsigned i = 0; i < WARP; i++) {
        if (!(r.came & 1u << i))
            continue;
        unsigned v = (unsigned)r.value[i];
        if (first)
            total = v;
        else
            switch (how) {
            case REDUCE_ADD: total += v; break;
            case REDUCE_AND: total &= v; break;
            case REDUCE_OR: total |= v; break;
            case REDUCE_XOR: total ^= v; break;
            case REDUCE_MIN: total = v < total ? v : total; break;
            case REDUCE_MAX: total = v > total ? v : total; break;
            case REDUCE_MIN_SIGNED: total = (int)v < (int)total ? v : total; break;
            case REDUCE_MAX_SIGNED: total = (int)v > (int)total ? v : total; break;
            }
        first = false;
    }
    return total;
}
