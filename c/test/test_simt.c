/*
 * The executor, driven by small kernels lowered by hand: what the schedule, the guards and the
 * oracle are for, each seen to work and, where it reports a fault, seen to be silent without it.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../backend/cpu/device.h"
#include "../backend/cpu/shim/small_bits.h"
#include "../backend/cpu/simt.h"
#include "dtype.h"
#include "generator.h"

#include <cmocka.h> /* last: it defines a macro named fail */

void __tsan_func_entry(void *caller);
void __tsan_read4(const void *p);
void __tsan_write4(const void *p);

enum { THREADS = 256 };

static float *x, *y; /* the sealed input and the output at hand */
static long elements;
static struct simt_verdict verdict;

static void run_kernel(launch_function *launch, long n, struct simt_schedule schedule)
{
    struct error e;
    assert_int_equal(simt_start(&e), 0); /* in each test: cmocka takes the signals for itself */
    elements = n;
    x = simt_buffer_new((size_t)n * sizeof *x);
    y = simt_buffer_new((size_t)n * sizeof *y);
    for (long i = 0; i < n; i++)
        x[i] = (float)i;
    simt_buffer_seal(x);
    simt_run(launch, &x, &y, &n, NULL, &schedule, &verdict);
    for (long i = 0; i < n; i++)
        assert_true(x[i] == (float)i); /* whatever the kernel did */
}

static void free_buffers(void)
{
    simt_buffer_free(x);
    simt_buffer_free(y);
}

static struct simt_schedule seeded(uint64_t seed)
{
    return (struct simt_schedule){.order = SIMT_RANDOM, .seed = seed, .fuel = 1000000};
}

static void launch_blocks(unsigned blocks, unsigned threads, size_t dynamic, void (*body)(void *))
{
    simt_launch("kernel", &(struct simt_index){blocks, 1, 1}, &(struct simt_index){threads, 1, 1},
                dynamic, body, NULL);
}

/* Runs `body` as a kernel of one block and expects nothing but the outcome. */
static void (*body_to_run)(void *);
static unsigned blocks_to_run, threads_to_run;

static void launch_body(float *const in[], float *const out[], const long dim[],
                        const double hyper[])
{
    (void)in, (void)out, (void)dim, (void)hyper;
    launch_blocks(blocks_to_run, threads_to_run, 0, body_to_run);
}

static void run_body(void (*body)(void *), unsigned blocks, unsigned threads, long n,
                     struct simt_schedule schedule)
{
    body_to_run = body;
    blocks_to_run = blocks;
    threads_to_run = threads;
    run_kernel(launch_body, n, schedule);
}

static bool clean(void)
{
    return verdict.outcome == OUTCOME_FINISHED && !verdict.divergence && !verdict.stray_read &&
           !verdict.stray_write && !verdict.input_written && !verdict.race;
}

static unsigned global_thread(void)
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

/* ---- launches ---- */

static void copy(void *arguments)
{
    (void)arguments;
    if (global_thread() < elements)
        y[global_thread()] = x[global_thread()];
}

static void every_thread_runs_once(void **state)
{
    (void)state;
    for (int order = SIMT_RANDOM; order <= SIMT_REVERSED; order++) {
        run_body(copy, 5, THREADS, 1100, (struct simt_schedule){.order = order, .fuel = 10000});
        assert_true(clean());
        assert_int_equal(verdict.fuel_used, 5 * THREADS);
        for (long i = 0; i < elements; i++)
            assert_true(y[i] == (float)i);
        free_buffers();
    }
}

static void count_index(void *arguments)
{
    (void)arguments;
    unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    y[block * blockDim.x * blockDim.y * blockDim.z + thread] = (float)thread;
}

static void launch_three_dimensions(float *const in[], float *const out[], const long dim[],
                                    const double hyper[])
{
    (void)in, (void)out, (void)dim, (void)hyper;
    simt_launch("kernel", &(struct simt_index){3, 2, 5}, &(struct simt_index){4, 3, 2}, 0,
                count_index, NULL);
}

static void indices_have_three_dimensions(void **state)
{
    (void)state;
    run_kernel(launch_three_dimensions, 3 * 2 * 5 * 24, seeded(1));
    assert_true(clean());
    for (long i = 0; i < elements; i++)
        assert_true(y[i] == (float)(i % 24));
    free_buffers();
}

static struct simt_index odd_grid, odd_block;
static size_t odd_dynamic;

static void launch_odd(float *const in[], float *const out[], const long dim[],
                       const double hyper[])
{
    (void)in, (void)out, (void)dim, (void)hyper;
    simt_launch("odd", &odd_grid, &odd_block, odd_dynamic, copy, NULL);
    launch_blocks(1, 32, 0, copy); /* the run goes on */
}

static void what_cuda_refuses_is_a_bad_launch(void **state)
{
    (void)state;
    static const struct {
        struct simt_index grid, block;
        size_t dynamic;
        enum outcome outcome;
    } launches[] = {
        {{1, 1, 1}, {1024, 1, 1}, 0, OUTCOME_FINISHED},
        {{1, 1, 1}, {1025, 1, 1}, 0, OUTCOME_BAD_LAUNCH},
        {{1, 1, 1}, {32, 33, 1}, 0, OUTCOME_BAD_LAUNCH},
        {{1, 1, 1}, {0, 1, 1}, 0, OUTCOME_BAD_LAUNCH},
        {{1, 1, 1}, {1, 1, 64}, 0, OUTCOME_FINISHED},
        {{1, 1, 1}, {1, 1, 65}, 0, OUTCOME_BAD_LAUNCH},
        {{0, 1, 1}, {32, 1, 1}, 0, OUTCOME_BAD_LAUNCH},
        {{1, 65536, 1}, {32, 1, 1}, 0, OUTCOME_BAD_LAUNCH},
        {{1u << 31, 1, 1}, {32, 1, 1}, 0, OUTCOME_BAD_LAUNCH},
        {{1, 1, 1}, {32, 1, 1}, 227 << 10, OUTCOME_FINISHED},
        {{1, 1, 1}, {32, 1, 1}, (227 << 10) + 1, OUTCOME_BAD_LAUNCH},
        {{1u << 30, 1, 1}, {32, 1, 1}, 0, OUTCOME_TIMEOUT}, /* blocks cost fuel */
        {{65535, 65535, 1}, {32, 1, 1}, 0, OUTCOME_TIMEOUT},
    };
    for (size_t i = 0; i < sizeof launches / sizeof *launches; i++) {
        odd_grid = launches[i].grid;
        odd_block = launches[i].block;
        odd_dynamic = launches[i].dynamic;
        run_kernel(launch_odd, 32, seeded(i));
        assert_int_equal(verdict.outcome, launches[i].outcome);
        assert_true(verdict.outcome == OUTCOME_FINISHED || verdict.detail[0]);
        if (verdict.outcome == OUTCOME_BAD_LAUNCH) {
            assert_true(y[31] == 31);
            assert_int_equal(cudaGetLastError(), 9);
        }
        free_buffers();
    }
}

/* ---- barriers and schedules ---- */

static int missing; /* the number of the barrier that a mutant lacks */

static void barrier(int site)
{
    if (site != missing)
        simt_barrier(site);
}

/* y = the sum of x, as a tree in shared memory; thread 0 publishes it and all read it. */
static void tree_sum(void *arguments)
{
    (void)arguments;
    float *partial = simt_shared(0, THREADS * sizeof *partial, 4);
    float *total = simt_shared(1, sizeof *total, 4);
    unsigned t = threadIdx.x;
    __tsan_func_entry(NULL);
    __tsan_write4(&partial[t]);
    partial[t] = x[t];
    barrier(0);
    for (unsigned s = THREADS / 2; s > 0; s /= 2) {
        if (t < s) {
            __tsan_read4(&partial[t]);
            __tsan_read4(&partial[t + s]);
            __tsan_write4(&partial[t]);
            partial[t] += partial[t + s];
        }
        barrier(1);
    }
    if (t == 0) {
        __tsan_write4(total);
        *total = partial[0];
    }
    barrier(2);
    __tsan_read4(total);
    y[t] = *total;
}

static bool sum_is_wrong(struct simt_schedule schedule)
{
    bool wrong = false;
    run_body(tree_sum, 1, THREADS, THREADS, schedule);
    assert_int_equal(verdict.outcome, OUTCOME_FINISHED);
    for (int i = 0; i < THREADS; i++)
        wrong |= !(y[i] == THREADS * (THREADS - 1) / 2);
    free_buffers();
    return wrong;
}

static void schedules_expose_missing_barriers(void **state)
{
    (void)state;
    missing = -1;
    for (uint64_t seed = 0; seed < 8; seed++)
        assert_false(sum_is_wrong(seeded(seed)));
    for (missing = 0; missing < 3; missing++) {
        int wrong = 0;
        for (uint64_t seed = 0; seed < 8; seed++)
            wrong += sum_is_wrong(seeded(seed));
        assert_true(wrong > 0);
        wrong = sum_is_wrong((struct simt_schedule){.order = SIMT_FORWARD}) +
                sum_is_wrong((struct simt_schedule){.order = SIMT_REVERSED});
        assert_true(wrong > 0);
    }
}

static void the_oracle_sees_each_missing_barrier_in_any_order(void **state)
{
    (void)state;
    for (int order = SIMT_RANDOM; order <= SIMT_REVERSED; order++) {
        for (missing = -1; missing < 3; missing++) {
            sum_is_wrong((struct simt_schedule){.order = order, .seed = 7});
            assert_int_equal(verdict.race, missing >= 0);
        }
    }
}

static void runs_repeat(void **state)
{
    (void)state;
    missing = 1;
    float first[THREADS];
    for (int k = 0; k < 2; k++) {
        run_body(tree_sum, 1, THREADS, THREADS, seeded(99));
        if (k == 0)
            memcpy(first, y, sizeof first);
        assert_memory_equal(first, y, sizeof first);
        free_buffers();
    }
}

static void diverge(void *arguments)
{
    (void)arguments;
    if (threadIdx.x < 100)
        simt_barrier(0);
    else
        simt_barrier(1);
    y[threadIdx.x] = 1;
}

static void different_barriers_meet_as_divergence(void **state)
{
    (void)state;
    run_body(diverge, 1, THREADS, THREADS, seeded(3));
    assert_int_equal(verdict.outcome, OUTCOME_FINISHED);
    assert_true(verdict.divergence && y[0] == 1 && y[THREADS - 1] == 1);
    free_buffers();
}

static void leave_early(void *arguments)
{
    (void)arguments;
    if (threadIdx.x >= 100)
        return;
    int count = simt_barrier_count(0, threadIdx.x % 2 == 0);
    int any = simt_barrier_or(1, threadIdx.x == 99), all = simt_barrier_and(2, threadIdx.x != 99);
    y[threadIdx.x] = (float)(100 * count + 10 * any + all);
}

static void ended_threads_are_off_the_count(void **state)
{
    (void)state;
    run_body(leave_early, 1, THREADS, THREADS, seeded(4));
    assert_true(clean());
    for (int i = 0; i < 100; i++)
        assert_true(y[i] == 5010);
    free_buffers();
}

static void wait_apart(void *arguments)
{
    (void)arguments;
    if (threadIdx.x < 16)
        simt_barrier(0);
    else
        simt_sync_warp(UINT32_MAX);
}

static void a_deadlock_is_found(void **state)
{
    (void)state;
    run_body(wait_apart, 1, 32, 32, seeded(5));
    assert_int_equal(verdict.outcome, OUTCOME_DEADLOCK);
    free_buffers();
    missing = -1; /* and the next run is as if nothing had been */
    assert_false(sum_is_wrong(seeded(5)));
}

/* ---- warps ---- */

static void sum_halves_then_all(void *arguments)
{
    (void)arguments;
    unsigned lane = threadIdx.x % 32;
    uint64_t sum = threadIdx.x;
    uint32_t half = lane < 16 ? 0xFFFF : 0xFFFF0000;
    for (int s = 8; s > 0; s /= 2)
        sum += simt_shuffle_xor(half, sum, s, 16);
    y[threadIdx.x] = (float)sum;
    sum += simt_shuffle_xor(UINT32_MAX, sum, 16, 32);
    y[threadIdx.x] += 10000 * (float)(sum == 16 * 31 + 32 * 32 * (threadIdx.x / 32));
}

static void halves_of_a_warp_meet_apart(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 4; seed++) {
        run_body(sum_halves_then_all, 1, THREADS, THREADS, seeded(seed));
        assert_true(clean());
        for (int i = 0; i < THREADS; i++)
            assert_true(y[i] == (float)(10000 + 16 * (i / 16 * 16) + 120));
        free_buffers();
    }
}

/* One block of 40 threads: a whole warp and a quarter. */
static void shuffle_all_ways(void *arguments)
{
    (void)arguments;
    unsigned t = threadIdx.x, lane = t % 32, lanes = t < 32 ? 32 : 8;
    bool right = simt_shuffle(UINT32_MAX, t, 3, 32) == t - lane + 3;
    right &= simt_shuffle(UINT32_MAX, t, 9, 8) == t - t % 8 + 1;
    right &= simt_shuffle_up(UINT32_MAX, t, 2, 8) == (t % 8 < 2 ? t : t - 2);
    right &= simt_shuffle_down(UINT32_MAX, t, 1, 8) == (t % 8 == 7 ? t : t + 1);
    uint64_t below = simt_shuffle_down(UINT32_MAX, t, 4, 32);
    right &= below == (lane + 4 < lanes ? t + 4 : lane + 4 < 32 ? UINT64_MAX : t);
    right &= simt_ballot(UINT32_MAX, lane % 2) == (lanes == 32 ? 0xAAAAAAAA : 0xAA);
    right &= simt_any(UINT32_MAX, lane == 7) && !simt_all(UINT32_MAX, lane == 7);
    right &= simt_all(UINT32_MAX, lane < 32) && !simt_any(UINT32_MAX, lane > 31);
    right &= simt_reduce(UINT32_MAX, lane, REDUCE_ADD) == lanes * (lanes - 1) / 2;
    right &= simt_reduce(UINT32_MAX, lane - 5, REDUCE_MAX) == UINT32_MAX;
    right &= (int)simt_reduce(UINT32_MAX, lane - 5, REDUCE_MIN_SIGNED) == -5;
    y[t] = right;
}

static void shuffles_and_votes_are_cudas(void **state)
{
    (void)state;
    run_body(shuffle_all_ways, 1, 40, 40, seeded(6));
    assert_true(clean());
    for (int i = 0; i < 40; i++)
        assert_true(y[i] == 1);
    free_buffers();
}

static void shuffle_without_being_in_the_mask(void *arguments)
{
    (void)arguments;
    y[threadIdx.x] = (float)simt_shuffle(0xFFFF, threadIdx.x, 0, 32);
}

static void a_wrong_mask_is_divergence(void **state)
{
    (void)state;
    run_body(shuffle_without_being_in_the_mask, 1, 32, 32, seeded(6));
    assert_true(verdict.divergence && y[3] == 0 && y[20] != 0);
    free_buffers();
}

static void lanes_end_before_a_shuffle(void *arguments)
{
    (void)arguments;
    if (threadIdx.x % 32 < 20)
        y[threadIdx.x] = (float)(simt_shuffle(UINT32_MAX, 5, 25, 32) == UINT64_MAX);
}

static void ended_lanes_are_not_waited_for(void **state)
{
    (void)state;
    run_body(lanes_end_before_a_shuffle, 1, 64, 64, seeded(8));
    assert_true(clean() && y[0] == 1 && y[51] == 1);
    free_buffers();
}

/* ---- memory ---- */

static long stray_index;
static bool stray_is_write, stray_is_input;

static void stray(void *arguments)
{
    (void)arguments;
    float *array = stray_is_input ? x : y;
    y[0] = 1;
    if (stray_is_write)
        array[stray_index] = 3;
    else
        y[0] = array[stray_index];
}

static void run_stray(bool input, bool write, long index)
{
    stray_is_input = input;
    stray_is_write = write;
    stray_index = index;
    run_body(stray, 1, 1, 100, seeded(0));
}

static void accesses_near_a_buffer_are_observed(void **state)
{
    (void)state;
    static const long near[] = {100, 101, 5000, 1 << 26, -5000, -(1 << 26)};
    for (int input = 0; input < 2; input++) {
        for (size_t i = 0; i < sizeof near / sizeof *near; i++) {
            run_stray(input, false, near[i]);
            assert_int_equal(verdict.outcome, OUTCOME_FINISHED);
            assert_true(verdict.stray_read && !verdict.stray_write && !verdict.input_written);
            assert_true(isnan(y[0]));
            free_buffers();
            run_stray(input, true, near[i]);
            assert_int_equal(verdict.outcome, OUTCOME_FINISHED);
            assert_true(verdict.stray_write && !verdict.stray_read && !verdict.input_written);
            free_buffers();
        }
        run_stray(input, true, -1); /* on the array's own first page */
        assert_true(verdict.stray_write && !verdict.input_written && y[0] == 1);
        free_buffers();
        run_stray(input, false, 99);
        assert_true(clean());
        free_buffers();
    }
}

static void read_before_the_input(void *arguments)
{
    (void)arguments;
    __tsan_func_entry(NULL);
    __tsan_read4(&x[stray_index]);
    y[0] = x[stray_index];
}

/* There is no guard right before an array, but instrumented images announce each access. */
static void the_oracle_sees_reads_just_before_an_array(void **state)
{
    (void)state;
    for (stray_index = -1; stray_index <= 0; stray_index++) {
        run_body(read_before_the_input, 1, 1, 100, seeded(0));
        assert_int_equal(verdict.stray_read, stray_index < 0);
        assert_true(stray_index == 0 ? y[0] == 0 : isnan(y[0]));
        free_buffers();
    }
}

static void a_stray_write_is_lost_at_the_end_of_the_run(void **state)
{
    (void)state;
    run_stray(false, true, 100);
    simt_run(launch_body, &x, &y, NULL, NULL, &(struct simt_schedule){0}, &verdict);
    assert_true(verdict.stray_write); /* again: the page had been closed */
    stray_is_write = false;
    simt_run(launch_body, &x, &y, NULL, NULL, &(struct simt_schedule){0}, &verdict);
    assert_true(verdict.stray_read && isnan(y[0]));
    free_buffers();
}

static void writes_to_an_input_are_observed_and_undone(void **state)
{
    (void)state;
    run_stray(true, true, 50); /* run_kernel looks at x afterwards */
    assert_true(verdict.outcome == OUTCOME_FINISHED && verdict.input_written &&
                !verdict.stray_write);
    free_buffers();
}

static void accesses_far_away_crash(void **state)
{
    (void)state;
    static const long far[] = {INT32_MAX, INT32_MIN, UINT32_MAX, 1 << 30, -(1 << 30)};
    for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
        run_stray(i % 2, i / 2 % 2, far[i]);
        assert_int_equal(verdict.outcome, OUTCOME_CRASHED);
        free_buffers();
    }
}

static void sizes_end_at_the_guard(void **state)
{
    (void)state;
    for (size_t bytes = 0; bytes < 70; bytes += 2) {
        char *p = simt_buffer_new(bytes);
        size_t alignment = bytes % 16 == 0 ? 16 : bytes % 4 == 0 ? 4 : 2;
        assert_true((uintptr_t)p % alignment == 0);
        assert_true(((uintptr_t)p + bytes) % 4096 == 0);
        for (size_t i = 0; i < bytes; i++)
            assert_int_equal((unsigned char)p[i], 0xFF);
        memset(p, 0, bytes);
        simt_buffer_poison(p);
        assert_true(bytes == 0 || (unsigned char)p[bytes - 1] == 0xFF);
        simt_buffer_free(p);
    }
}

/* y[0] counts what is as it should be: each block finds poison, arrays are apart and aligned, an
 * element too far is NaN. */
static void use_shared(void *arguments)
{
    (void)arguments;
    float *a = simt_shared(0, 10 * sizeof *a, 4);
    double *b = simt_shared(1, 3 * sizeof *b, 8);
    float *c = simt_dynamic_shared();
    bool right = isnan(a[9]) && isnan(b[2]) && isnan(c[24]) && (uintptr_t)b % 8 == 0;
    right &= (char *)a + 40 <= (char *)c && (char *)b + 24 <= (char *)a;
    right &= simt_shared(0, 10 * sizeof *a, 4) == a;
    for (int i = 0; i < 10; i++)
        a[i] = 1;
    for (int i = 0; i < 3; i++)
        b[i] = 2;
    for (int i = 0; i < 25; i++)
        c[i] = 3;
    for (int i = 0; i < 10; i++)
        right &= a[i] == 1;
    y[blockIdx.x] = right;
    if (stray_index)
        y[0] = c[stray_index];
}

static void launch_use_shared(float *const in[], float *const out[], const long dim[],
                              const double hyper[])
{
    (void)in, (void)out, (void)dim, (void)hyper;
    launch_blocks(3, 1, 25 * sizeof(float), use_shared);
}

static void shared_memory_is_poisoned_and_guarded(void **state)
{
    (void)state;
    stray_index = 0;
    run_kernel(launch_use_shared, 3, seeded(1));
    assert_true(clean() && y[0] == 1 && y[1] == 1 && y[2] == 1);
    free_buffers();
    static const long near[] = {25, 1 << 20, UINT32_MAX, -5000}; /* addresses wrap at 32 bits */
    for (size_t i = 0; i < sizeof near / sizeof *near; i++) {
        stray_index = near[i];
        run_kernel(launch_use_shared, 3, seeded(1));
        assert_int_equal(verdict.outcome, OUTCOME_FINISHED);
        assert_true(verdict.stray_read && isnan(y[0]));
        free_buffers();
    }
}

static void stray_then_grow(void *arguments)
{
    (void)arguments;
    float *small = simt_shared(0, 40, 4);
    y[0] = small[-1500];
    float *large = simt_shared(1, 16000, 4); /* takes in the page that was strayed to */
    large[0] = 5;
    y[0] = large[0];
}

static void fill_dynamic(void *arguments)
{
    (void)arguments;
    float *dynamic = simt_dynamic_shared();
    for (int i = 0; i < 4010; i++)
        dynamic[i] = 1;
    y[0] = dynamic[0];
}

static void launch_fill_dynamic(float *const in[], float *const out[], const long dim[],
                                const double hyper[])
{
    (void)in, (void)out, (void)dim, (void)hyper;
    launch_blocks(1, 1, 4010 * sizeof(float), fill_dynamic);
}

static void the_arena_may_grow_over_a_stray_access(void **state)
{
    (void)state;
    run_body(stray_then_grow, 2, 3, 1, seeded(1));
    assert_int_equal(verdict.outcome, OUTCOME_FINISHED);
    assert_true(verdict.stray_read && y[0] == 5);
    free_buffers();
    run_kernel(launch_fill_dynamic, 1, seeded(1)); /* an arena of as many pages */
    assert_true(clean() && y[0] == 1);
    free_buffers();
}

static void use_too_much_shared(void *arguments)
{
    (void)arguments;
    simt_shared(0, 48 << 10, 4);
    y[0] = 1;
    simt_shared(1, 4, 4);
    y[0] = 2;
}

static void too_much_static_shared_memory_is_refused(void **state)
{
    (void)state;
    run_body(use_too_much_shared, 1, 1, 1, seeded(1));
    assert_true(verdict.outcome == OUTCOME_BAD_LAUNCH && y[0] == 1);
    free_buffers();
}

static void launch_with_scratch(float *const in[], float *const out[], const long dim[],
                                const double hyper[])
{
    (void)in, (void)dim, (void)hyper;
    float *scratch, *more;
    out[0][0] = (float)cudaMalloc((void **)&scratch, 12);
    out[0][1] = scratch[2];
    cudaMemsetAsync(scratch, 0, 12, NULL);
    out[0][2] = scratch[2];
    out[0][3] = scratch[3]; /* one too far */
    cudaFreeAsync(scratch, NULL);
    out[0][4] = (float)cudaMalloc((void **)&more, (size_t)1 << 40);
    out[0][5] = more == NULL;
}

static void scratch_is_poisoned_and_guarded(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        run_kernel(launch_with_scratch, 6, seeded(1));
        assert_int_equal(verdict.outcome, OUTCOME_FINISHED);
        assert_true(verdict.stray_read && !verdict.stray_write);
        assert_true(y[0] == 0 && isnan(y[1]) && y[2] == 0 && isnan(y[3]) && y[4] == 2 && y[5] == 1);
        free_buffers();
    }
}

/* ---- containment ---- */

static void spin(void *arguments)
{
    (void)arguments;
    for (;;)
        simt_tick();
}

static void spin_without_fuel(void *arguments)
{
    (void)arguments;
    for (volatile int forever = 1; forever;)
        ;
}

static void recurse(void *arguments)
{
    volatile char frame[1000];
    frame[0] = 1;
    if (elements) /* always, but the compiler does not know */
        recurse(arguments);
    y[0] = frame[0]; /* no tail call */
}

__attribute__((unused)) static void divide_by_zero(void *arguments)
{
    (void)arguments;
    volatile int zero = 0;
    y[0] = (float)(7 / zero);
}

static void follow_null(void *arguments)
{
    (void)arguments;
    *(volatile int *)0 = 1;
}

static void trap(void *arguments)
{
    (void)arguments;
    __trap();
}

static void whatever_a_mutant_does_is_contained(void **state)
{
    (void)state;
    static const struct {
        void (*body)(void *);
        enum outcome outcome;
        const char *detail;
    } mutants[] = {
        {spin, OUTCOME_TIMEOUT, "fuel"},
        {spin_without_fuel, OUTCOME_TIMEOUT, "CPU time"},
        {recurse, OUTCOME_CRASHED, "stack"},
#ifdef __x86_64__ /* elsewhere the quotient is 0 */
        {divide_by_zero, OUTCOME_CRASHED, "division"},
#endif
        {follow_null, OUTCOME_CRASHED, "null"},
        {trap, OUTCOME_CRASHED, "trap"},
    };
    for (size_t i = 0; i < sizeof mutants / sizeof *mutants; i++) {
        struct simt_schedule schedule = seeded(i);
        schedule.cpu_limit_s = 0.02;
        run_body(mutants[i].body, 2, 64, 1, schedule);
        assert_int_equal(verdict.outcome, mutants[i].outcome);
        assert_non_null(strstr(verdict.detail, mutants[i].detail));
        free_buffers();
        run_body(copy, 1, 64, 64, seeded(i));
        assert_true(clean() && y[63] == 63);
        free_buffers();
    }
}

/* ---- the race oracle ---- */

static enum { NO_FENCE, BLOCK_FENCE, DEVICE_FENCE, BLOCK_ATOMIC } fence;
static unsigned *finished; /* scratch: blocks that have left their part */

/* The last block to finish adds up what the others left in y[1 + block]. */
static void last_block_sums(void *arguments)
{
    (void)arguments;
    unsigned *last = simt_shared(0, sizeof *last, 4);
    __tsan_func_entry(NULL);
    if (threadIdx.x == 0) {
        __tsan_write4(&y[1 + blockIdx.x]);
        y[1 + blockIdx.x] = 1;
        if (fence == BLOCK_FENCE)
            __threadfence_block();
        else if (fence != NO_FENCE)
            __threadfence();
        __tsan_write4(last);
        *last = (fence == BLOCK_ATOMIC ? simt_atomic_add_block_u32
                                       : simt_atomic_add_u32)(finished, 1) == gridDim.x - 1;
    }
    simt_barrier(0);
    __tsan_read4(last);
    if (!*last || threadIdx.x != 1)
        return;
    float total = 0;
    for (unsigned i = 0; i < gridDim.x; i++) {
        __tsan_read4(&y[1 + i]);
        total += y[1 + i];
    }
    __tsan_write4(&y[0]);
    y[0] = total;
}

static void launch_last_block_sums(float *const in[], float *const out[], const long dim[],
                                   const double hyper[])
{
    (void)in, (void)out, (void)dim, (void)hyper;
    cudaMalloc((void **)&finished, sizeof *finished);
    cudaMemset(finished, 0, sizeof *finished);
    launch_blocks(7, 64, 0, last_block_sums);
}

static void a_fence_and_a_counter_order_blocks(void **state)
{
    (void)state;
    for (fence = NO_FENCE; fence <= BLOCK_ATOMIC; fence++) {
        run_kernel(launch_last_block_sums, 8, seeded(2));
        assert_true(verdict.outcome == OUTCOME_FINISHED && y[0] == 7);
        assert_int_equal(verdict.race, fence != DEVICE_FENCE);
        free_buffers();
    }
}

static enum { NOTHING, SYNC_WARP, SYNC_HALVES } between;

/* Each lane reads what its neighbour wrote. */
static void pass_to_neighbour(void *arguments)
{
    (void)arguments;
    float *shared = simt_shared(0, 64 * sizeof *shared, 4);
    unsigned t = threadIdx.x;
    __tsan_func_entry(NULL);
    __tsan_write4(&shared[t]);
    shared[t] = (float)t;
    if (between == SYNC_WARP)
        simt_sync_warp(UINT32_MAX);
    if (between == SYNC_HALVES)
        simt_sync_warp(t % 32 < 16 ? 0xFFFF : 0xFFFF0000);
    __tsan_read4(&shared[t ^ 16]);
    y[t] = shared[t ^ 16];
}

static void warp_operations_order_their_lanes(void **state)
{
    (void)state;
    for (between = NOTHING; between <= SYNC_HALVES; between++) {
        run_body(pass_to_neighbour, 2, 64, 64, seeded(2));
        assert_int_equal(verdict.outcome, OUTCOME_FINISHED);
        assert_int_equal(verdict.race, between != SYNC_WARP);
        free_buffers();
    }
}

static bool atomically;

static void count_in_one_word(void *arguments)
{
    (void)arguments;
    __tsan_func_entry(NULL);
    if (atomically) {
        simt_atomic_add_f32(&y[0], 1);
        return;
    }
    __tsan_read4(&y[0]);
    __tsan_write4(&y[0]);
    y[0] += 1;
}

static void a_lost_update_is_a_race(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) { /* within a block, and between blocks */
        atomically = k % 2;
        run_body(count_in_one_word, k < 2 ? 1 : 20, k < 2 ? 20 : 1, 1, seeded(2));
        assert_int_equal(verdict.race, !atomically);
        free_buffers();
    }
}

/* ---- intrinsics ---- */

static void halves_convert_exactly(void **state)
{
    (void)state;
    for (unsigned h = 0; h < 65536; h++) {
        float value = simt_half_to_float((uint16_t)h);
        if (isnan(value))
            assert_int_equal(simt_float_to_half(value), 0x7FFF);
        else
            assert_int_equal(simt_float_to_half(value), h);
        value = simt_bfloat16_to_float((uint16_t)h);
        if (!isnan(value))
            assert_int_equal(simt_float_to_bfloat16(value), h);
    }
    static const struct {
        float value;
        unsigned half;
    } cases[] = {{1 + 0x1p-11f, 0x3C00}, {1 + 0x3p-11f, 0x3C02}, {65519.99f, 0x7BFF},
                 {65520, 0x7C00},        {0x1p-25f, 0},          {0x1.8p-25f, 1},
                 {-0x1p-14f, 0x8400},    {-0.0f, 0x8000}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(simt_float_to_half(cases[i].value), cases[i].half);
    assert_int_equal(simt_float_to_bfloat16(1 + 0x1p-8f), 0x3F80);
    assert_int_equal(simt_float_to_bfloat16(1 + 0x3p-8f), 0x3F82);
    assert_int_equal(simt_float_to_bfloat16(3.4e38f), 0x7F80);
}

/* The fuzzer's inputs and references are rounded by dtype.h. */
static void conversions_agree_with_the_fuzzers(void **state)
{
    (void)state;
    for (long i = 0; i < 1000000; i++) {
        const uint32_t bits = (uint32_t)generator_hash(7, 0, i);
        float value;
        memcpy(&value, &bits, sizeof value);
        if (isnan(value))
            continue;
        assert_int_equal(simt_float_to_half(value), dtype_bits(FLOAT16, (double)value));
        assert_int_equal(simt_float_to_bfloat16(value), dtype_bits(BFLOAT16, (double)value));
        assert_true(simt_half_to_float((uint16_t)bits) == dtype_value(FLOAT16, bits & 0xFFFF) ||
                    isnan(simt_half_to_float((uint16_t)bits)));
    }
}

static void rounding_goes_where_it_says(void **state)
{
    (void)state;
    float tiny = 0x1p-30f;
    assert_true(__fadd_rn(1, tiny) == 1 && __fadd_rd(1, tiny) == 1 && __fadd_rz(-1, -tiny) == -1);
    assert_true(__fadd_ru(1, tiny) == 1 + 0x1p-23f && __fadd_rd(-1, -tiny) == -1 - 0x1p-23f);
    assert_true(__fdiv_rd(1, 3) < __fdiv_ru(1, 3) && __fsqrt_rd(2) < __fsqrt_ru(2));
    assert_true(__fmaf_rn(1 + 0x1p-12f, 1 + 0x1p-12f, -1) == 0x1p-11f + 0x1p-24f);
    assert_true(__float2int_rn(2.5f) == 2 && __float2int_ru(2.1f) == 3 &&
                __float2int_rz(-2.9f) == -2);
    assert_true(__float2int_rd(-2.1f) == -3 && __float2int_rn(1e20f) == INT32_MAX);
    assert_true(__fadd_rn(1, tiny) == 1); /* the mode is back to nearest */
}

static void fast_functions_are_near_the_exact_ones(void **state)
{
    (void)state;
    for (float v = 0.125f; v < 8; v += 0.125f) {
        assert_true(fabsf(__expf(v) / expf(v) - 1) < 1e-6f);
        assert_true(fabsf(__logf(v) - logf(v)) < 1e-6f);
        assert_true(fabsf(__sinf(v) - sinf(v)) < 0x1p-20f && fabsf(__cosf(v) - cosf(v)) < 0x1p-20f);
        assert_true(fabsf(__powf(v, 1.5f) / powf(v, 1.5f) - 1) < 1e-5f);
        assert_true(fabsf(rsqrtf(v) * sqrtf(v) - 1) < 1e-6f && __fdividef(v, 3) == v / 3);
    }
    assert_true(__fdividef(1, 0x1.8p126f) == 0 && __saturatef(NAN) == 0 && __saturatef(2) == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_thread_runs_once),
        cmocka_unit_test(indices_have_three_dimensions),
        cmocka_unit_test(what_cuda_refuses_is_a_bad_launch),
        cmocka_unit_test(schedules_expose_missing_barriers),
        cmocka_unit_test(the_oracle_sees_each_missing_barrier_in_any_order),
        cmocka_unit_test(runs_repeat),
        cmocka_unit_test(different_barriers_meet_as_divergence),
        cmocka_unit_test(ended_threads_are_off_the_count),
        cmocka_unit_test(a_deadlock_is_found),
        cmocka_unit_test(halves_of_a_warp_meet_apart),
        cmocka_unit_test(shuffles_and_votes_are_cudas),
        cmocka_unit_test(a_wrong_mask_is_divergence),
        cmocka_unit_test(ended_lanes_are_not_waited_for),
        cmocka_unit_test(accesses_near_a_buffer_are_observed),
        cmocka_unit_test(the_oracle_sees_reads_just_before_an_array),
        cmocka_unit_test(a_stray_write_is_lost_at_the_end_of_the_run),
        cmocka_unit_test(writes_to_an_input_are_observed_and_undone),
        cmocka_unit_test(accesses_far_away_crash),
        cmocka_unit_test(sizes_end_at_the_guard),
        cmocka_unit_test(shared_memory_is_poisoned_and_guarded),
        cmocka_unit_test(the_arena_may_grow_over_a_stray_access),
        cmocka_unit_test(too_much_static_shared_memory_is_refused),
        cmocka_unit_test(scratch_is_poisoned_and_guarded),
        cmocka_unit_test(whatever_a_mutant_does_is_contained),
        cmocka_unit_test(a_fence_and_a_counter_order_blocks),
        cmocka_unit_test(warp_operations_order_their_lanes),
        cmocka_unit_test(a_lost_update_is_a_race),
        cmocka_unit_test(halves_convert_exactly),
        cmocka_unit_test(conversions_agree_with_the_fuzzers),
        cmocka_unit_test(rounding_goes_where_it_says),
        cmocka_unit_test(fast_functions_are_near_the_exact_ones),
    };
    return cmocka_run_group_tests_name("simt", tests, NULL, NULL);
}
