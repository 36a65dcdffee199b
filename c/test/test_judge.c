/*
 * test_judge - inputs and judgements of the CUDA backend are those of the CPU.
 *
 * On a GPU, with `make check-gpu`; or the same kernels on the CPU executor, where ASSAY_CUDA_DRIVER names
 * fake_cuda.so.
 */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/judge.h"
#include "compare.h"

#include <cmocka.h> /* last: it has a macro named fail */

/* MANY: all threads that there are have a second four, and some a third. */
enum { COUNT = 300007, MANY = 2 * 4 * 256 * FINDINGS_BLOCKS + 100007, ROW = 1009 };

static int open_all(void **state)
{
    (void)state;
    struct error e;
    int code = judge_open(getenv("ASSAY_CUDA_DRIVER") ? "build/test/fake" : "build/ref/cuda", &e);
    if (code)
        print_message("# %s\n", e.text);
    return code;
}

static device_address new_memory(size_t bytes)
{
    device_address p;
    assert_int_equal(driver.cuMemAlloc_v2(&p, bytes), 0);
    return p;
}

static void to_device(device_address to, const void *from, size_t bytes)
{
    assert_int_equal(driver.cuMemcpyHtoDAsync_v2(to, from, bytes, gpu.stream), 0);
    assert_int_equal(gpu_wait(0), 0);
}

static const struct fill FILLS[] = {
    {GENERATOR_UNIFORM, -1, 1, 0, 1},     {GENERATOR_UNIFORM, 0, 1, 0, 3},
    {GENERATOR_NORMAL, 0.5, 2, 0, 1},     {GENERATOR_CONSTANT, 0.1, 0, 0, 1},
    {GENERATOR_RAMP, -3, 7, 0, 1},        {GENERATOR_ROW_RAMP, -3, 7, 0, 0.7},
    {GENERATOR_ONE_HOT, 50, -50, 0, 1},   {GENERATOR_LEVELS, -1, 1, 7, 1},
    {GENERATOR_ALTERNATE, 1e8, -1e8, 0, 1}, {GENERATOR_LAST_ROW, -1, 1, 5, 1},
    {GENERATOR_TAIL, -1, 1, 3, 1},        {GENERATOR_SPIKE, -1, 1, 100, 1},
    {GENERATOR_OCTAVES, 1e-3, 20, 0, 1},  {GENERATOR_NONFINITE, -1, 1, 0.1, 1},
};

static void inputs_have_the_same_bits(void **state)
{
    (void)state;
    static float values[COUNT];
    device_address x = new_memory(sizeof values);
    for (size_t k = 0; k < sizeof FILLS / sizeof *FILLS; k++) {
        struct fill fill = FILLS[k];
        struct tensor t = {.role = INPUT, .rank = 2, .shape = {COUNT / ROW, ROW}};
        struct recipe r = {.seed = 12345 + k, .tensors = 1, .tensor = &t, .fill = &fill};
        long count = tensor_count(&t);
        assert_int_equal(judge_fill(&r, 0, x), 0);
        assert_int_equal(driver.cuMemcpyDtoHAsync_v2(values, x, sizeof values, gpu.stream), 0);
        assert_int_equal(gpu_wait(0), 0);
        for (long i = 0; i < count; i++) {
            float expected = generator_value(&fill, r.seed, 0, i, count, ROW);
            if (memcmp(&expected, &values[i], sizeof expected) != 0 && !(isnan(expected) && isnan(values[i])))
                fail_msg("fill %zu, element %ld: %a on the CPU, %a on the GPU", k, i, expected, values[i]);
        }
    }
    driver.cuMemFree_v2(x);
}

/* References of many magnitudes, and outputs that are off by many more; `odd` adds NaN and infinity, and
 * numbers at both ends of what float32 and double can hold. */
static void make_outputs(float *out, double *ref, long count, double noise, int odd)
{
    for (long i = 0; i < count; i++) {
        generator_word h = generator_hash(7, 0, i);
        ref[i] = ldexp(generator_unit(h) - 0.5, (int)(h % 20) - 10);
        out[i] = (float)(ref[i] * (1 + noise * generator_unit(generator_mix(h))));
    }
    const float ODD[] = {NAN, INFINITY, -INFINITY, 1};
    const double EXTREME[] = {1e-300, -1e-45, 1e-40, 3e38, -3e38, 1e37, 0};
    for (int k = 0; k < 49 * odd; k++) {
        out[200 + 3 * k] = (float)EXTREME[k % 7];
        ref[200 + 3 * k] = EXTREME[k / 7];
    }
    for (int k = 0; k < 16 * odd; k++) {
        out[11 * k] = ODD[k % 4];
        ref[11 * k] = ODD[k / 4];
    }
}

static void assert_close(double gpu_value, double cpu_value, double relative, const char *what)
{
    if (!(fabs(gpu_value - cpu_value) <= relative * fabs(cpu_value)) &&
        !(isinf(cpu_value) && gpu_value == cpu_value))
        fail_msg("%s: %.17g on the GPU, %.17g on the CPU", what, gpu_value, cpu_value);
}

/* A task of one output, without gaps. */
static struct task task_of(size_t *count, device_address out, device_address original, device_address answers)
{
    static size_t zero;
    struct tensors x = {.outs = 1, .out = &zero, .reference = &zero, .original = &zero, .out_count = count,
                        .count = *count, .outputs = *count * sizeof(float)};
    struct task t;
    judge_task(&t, &x, out, answers, !original);
    if (original)
        t.output[0].original = (const float *)original;
    return t;
}

static void judge_now(const struct task *t, struct judgement *j)
{
    assert_int_equal(judge_start(t, 3), 0);
    assert_int_equal(judge_wait(t, 3, 10, j), 0);
}

/* A tolerance is rounded up, to a float at most as far as this. */
static void assert_rounded_up(double gpu_value, double cpu_value, const char *what)
{
    const double NEAR = 1 / 16000.0, LEAST = 0x1p-149;
    if (!(gpu_value >= cpu_value && gpu_value <= cpu_value * (1 + NEAR) + LEAST * (cpu_value > 0)))
        fail_msg("%s: %.17g on the GPU, %.17g on the CPU", what, gpu_value, cpu_value);
}

/* Are these outputs graded as on the CPU? */
static void check(const float *out, const double *ref, size_t count)
{
    double *work = malloc(count * sizeof *work);
    device_address block = new_memory(count * sizeof *out), answers = new_memory(count * sizeof *ref);
    struct task t = task_of(&count, block, 0, answers);
    struct graded cpu, *got;
    struct judgement j;
    bool finite = true;
    to_device(block, out, count * sizeof *out);
    to_device(answers, ref, count * sizeof *ref);
    graded_compare(&cpu, out, ref, count, work);
    for (size_t i = 0; i < count; i++)
        finite = finite && isfinite((float)ref[i]);
    judge_now(&t, &j);
    got = &j.graded;
    assert_true(j.differs && !j.stray);
    assert_close(got->t, cpu.t, 0, "t");
    assert_rounded_up(got->t_p85, cpu.t_p85, "t_p85");
    assert_rounded_up(got->t_p90, cpu.t_p90, "t_p90");
    assert_rounded_up(got->t_p95, cpu.t_p95, "t_p95");
    assert_close(got->max_abs, cpu.max_abs, 0, "max_abs");
    assert_close(got->max_rel, cpu.max_rel, 0, "max_rel");
    assert_close(got->max_ulp, cpu.max_ulp, 0, "max_ulp");
    assert_close(got->ref_max, cpu.ref_max, 0, "ref_max");
    assert_close(got->nmse, cpu.nmse, 1e-12, "nmse");
    assert_int_equal(got->nonfinite, cpu.nonfinite);
    assert_int_equal(got->elements, cpu.elements);
    assert_int_equal(j.finite, finite);
    driver.cuMemFree_v2(block);
    driver.cuMemFree_v2(answers);
    free(work);
}

static void check_grades(size_t count, double noise, int odd)
{
    static float out[MANY];
    static double ref[MANY];
    make_outputs(out, ref, (long)count, noise, odd);
    check(out, ref, count);
}

static void few_elements_are_graded_at_once(void **state)
{
    (void)state;
    check_grades(1, 1e-2, 0);
    check_grades(257, 1, 0);
    check_grades(FINDINGS_AT_ONCE, 1e-4, 1);
    check_grades(FINDINGS_AT_ONCE, 0, 0);
}

static void many_elements_are_graded_in_passes(void **state)
{
    (void)state;
    check_grades(FINDINGS_AT_ONCE + 1, 1e-4, 0);
    check_grades(FINDINGS_AT_ONCE + 1, 1e-4, 1);
    check_grades(COUNT, 1e-4, 0);
    check_grades(COUNT, 1e-4, 1);
    check_grades(COUNT, 0, 0);
    check_grades(MANY, 1e-4, 1);
    check_grades(MANY, -2, 0);
}

/* Every thread has eight fours, and from the second on there is nothing new in any but what OUT and REF have. Some
 * of that enlarges one grade alone: 999 and 900 the error, -1e-20 and 1 the tolerance, 0.01 and -0.001 the relative
 * error, 999 and 1005 the reference, -1e-20 and 1e-20 the distance. */
static void one_element_may_change_a_grade(void **state)
{
    (void)state;
    enum { N = FINDINGS_AT_ONCE, WARP = 4 * 32, FIRST = 8 * WARP };
    static const float OUT[] = {-0.0f, 1e-45f, -1e-40f, 2e-38f, -1e-20f, 0.01f, 999, 3e38f, -FLT_MAX,
                                INFINITY, -INFINITY, NAN};
    static const double REF[] = {0, 1e-300, -1e-46, 1e-45, -1e-40, 1e-37, 1e-20f, -1e-3, 1, 900, 1005, 3e38, -FLT_MAX,
                                 -3.5e38, 1e300, INFINITY, NAN};
    static float out[N];
    static double ref[N];
    for (size_t k = 0; k < sizeof OUT / sizeof *OUT; k++)
        for (size_t l = 0; l < sizeof REF / sizeof *REF; l++)
            for (int often = 0; often <= 1; often++) { /* and a share's tolerance, if it is often there */
                for (int i = 0; i < N; i++)
                    ref[i] = out[i] = 1;
                for (int i = 0; i < FIRST; i += WARP) {
                    ref[i] = 0.125;
                    out[i] = 0.375; /* off by twice the reference */
                    ref[i + 1] = 1001;
                    out[i + 1] = 1011;
                }
                for (int i = often ? FIRST : N - 300; i < N; i += often ? 5 : N) {
                    out[i] = OUT[k];
                    ref[i] = REF[l];
                }
                check(out, ref, N);
            }
}

/* Most elements agree, few are far off, and between the two is nothing: the bounds that the sample gives
 * for a share at the edge are as far apart as numbers can be. */
static void a_wide_bracket_is_narrowed(void **state)
{
    (void)state;
    static float out[COUNT];
    static double ref[COUNT];
    for (int off = 149; off <= 151; off++) /* tenths of a percent, and by more and more */
        for (int lost = 0; lost <= 1; lost++) {
            for (long i = 0; i < COUNT; i++) {
                ref[i] = 1;
                out[i] = i % 1000 >= off ? 1 : lost ? NAN : (float)(2 + i / (double)COUNT);
            }
            check(out, ref, COUNT);
        }
}

/* Where the sample has something else than all other places: a share's tolerance is above its bounds, or below. */
static void the_sample_may_mislead(void **state)
{
    (void)state;
    enum { MOST = 7 };
    static float out[MOST * FINDINGS_SAMPLE];
    static double ref[MOST * FINDINGS_SAMPLE];
    for (int each = 2; each <= MOST; each += MOST - 2) { /* elements, of which the sample has one */
        for (int i = 0; i < each * FINDINGS_SAMPLE; i++)
            out[i] = each == 2 ? (float)(i % 9) : 0;
        for (int i = 0; i < FINDINGS_SAMPLE; i++)
            out[(int)((i + generator_unit(generator_hash(1, 0, i))) * each)] = each == 2 ? 0 : 1;
        check(out, ref, (size_t)each * FINDINGS_SAMPLE);
    }
}

/* Where there are only two tolerances, one of them 0. */
static void equal_tolerances_are_found(void **state)
{
    (void)state;
    static float out[COUNT];
    static double ref[COUNT];
    for (int same = 0; same <= 100; same += 10) {
        for (long i = 0; i < COUNT; i++) {
            ref[i] = 1;
            out[i] = i % 100 < same ? 1.5f : 1;
        }
        check(out, ref, COUNT);
    }
}

static void one_bit_differs(void **state)
{
    (void)state;
    enum { WORDS = 40003, GAP = 45 };
    static float out[WORDS + 1];
    static double ref[WORDS];
    size_t count = WORDS - GAP; /* what is behind it is to be poison */
    struct judgement j;
    device_address a = new_memory(sizeof out), b = new_memory(sizeof out), answers = new_memory(sizeof ref);
    struct task t = task_of(&count, a, b, answers);
    t.end += GAP;
    memset(&out[count], 0xFF, GAP * sizeof(float));
    to_device(answers, ref, sizeof ref);
    to_device(a, out, sizeof out);
    to_device(b, out, sizeof out);
    judge_now(&t, &j);
    assert_false(j.differs || j.stray);
    for (size_t at = 0; at < count; at += at < 9 || at > count - 9 ? 1 : 9973) {
        float odd = -0.0f;
        to_device(a + at * sizeof odd, &odd, sizeof odd);
        judge_now(&t, &j);
        assert_true(j.differs && !j.stray);
        assert_true(j.graded.t == 0);
        to_device(a, out, sizeof out);
    }
    for (size_t at = count; at < count + GAP; at++) {
        float odd = 0;
        to_device(a + at * sizeof odd, &odd, sizeof odd);
        judge_now(&t, &j);
        assert_true(!j.differs && j.stray);
        judge_now(&t, &j); /* it has been mended */
        assert_true(!j.differs && !j.stray);
    }
    driver.cuMemFree_v2(a);
    driver.cuMemFree_v2(b);
    driver.cuMemFree_v2(answers);
}

/* A judgement that nobody has waited for yet stays when others follow. */
static void judgements_wait_in_their_slots(void **state)
{
    (void)state;
    enum { N = 1000 };
    static float out[N];
    static double ref[N];
    size_t count = N;
    struct judgement j;
    device_address block = new_memory(sizeof out), answers = new_memory(sizeof ref);
    struct task t = task_of(&count, block, 0, answers);
    to_device(answers, ref, sizeof ref);
    for (int k = 0; k < JUDGE_SLOTS; k++) {
        out[N - 1] = (float)(k + 1);
        to_device(block, out, sizeof out);
        assert_int_equal(judge_start(&t, k), 0);
    }
    for (int k = 0; k < JUDGE_SLOTS; k++) {
        assert_int_equal(judge_wait(&t, k, 10, &j), 0);
        assert_true(j.graded.t == k + 1);
    }
    driver.cuMemFree_v2(block);
    driver.cuMemFree_v2(answers);
}

int main(void)
{
    struct error e;
    if (simt_start(&e) || gpu_open(0, &e)) {
        printf("1..0 # SKIP %s\n", e.text); /* cmocka's own skip counts as a failure in TAP */
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inputs_have_the_same_bits),
        cmocka_unit_test(few_elements_are_graded_at_once),
        cmocka_unit_test(many_elements_are_graded_in_passes),
        cmocka_unit_test(one_element_may_change_a_grade),
        cmocka_unit_test(a_wide_bracket_is_narrowed),
        cmocka_unit_test(the_sample_may_mislead),
        cmocka_unit_test(equal_tolerances_are_found),
        cmocka_unit_test(one_bit_differs),
        cmocka_unit_test(judgements_wait_in_their_slots),
    };
    return cmocka_run_group_tests(tests, open_all, NULL);
}
