/* test_gpu - what only a GPU can show: the same inputs as on the CPU, and the same grades. */
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

enum { COUNT = 100003, ROW = 1009 };

static int open_all(void **state)
{
    (void)state;
    struct error e;
    int code = judge_open("build/ref/cuda", &e);
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

/* References of many magnitudes, and outputs that are off by many more; `odd` adds NaN and infinity. */
static void make_outputs(float *out, double *ref, long count, double noise, int odd)
{
    for (long i = 0; i < count; i++) {
        generator_word h = generator_hash(7, 0, i);
        ref[i] = ldexp(generator_unit(h) - 0.5, (int)(h % 20) - 10);
        out[i] = (float)(ref[i] * (1 + noise * generator_unit(generator_mix(h))));
    }
    const float ODD[] = {NAN, INFINITY, -INFINITY, 1};
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

static void check_grades(long count, double noise, int odd)
{
    static float out[COUNT];
    static double ref[COUNT], work[COUNT];
    device_address block = new_memory(sizeof out), answers = new_memory(sizeof ref);
    size_t zero = 0, elements = (size_t)count;
    struct tensors x = {.outs = 1, .reference = &zero, .out_count = &elements, .count = elements};
    struct graded cpu, got;
    bool finite;
    make_outputs(out, ref, count, noise, odd);
    to_device(block, out, sizeof out);
    to_device(answers, ref, sizeof ref);
    graded_compare(&cpu, out, ref, elements, work);
    assert_int_equal(judge_grade(&x, &block, answers, &got, &finite), 0);
    assert_close(got.t, cpu.t, 0, "t");
    assert_close(got.t_p85, cpu.t_p85, FLT_EPSILON, "t_p85");
    assert_close(got.t_p90, cpu.t_p90, FLT_EPSILON, "t_p90");
    assert_close(got.t_p95, cpu.t_p95, FLT_EPSILON, "t_p95");
    assert_close(got.max_abs, cpu.max_abs, 0, "max_abs");
    assert_close(got.max_rel, cpu.max_rel, 0, "max_rel");
    assert_close(got.max_ulp, cpu.max_ulp, 0, "max_ulp");
    assert_close(got.ref_max, cpu.ref_max, 0, "ref_max");
    assert_close(got.nmse, cpu.nmse, 1e-12, "nmse");
    assert_int_equal(got.nonfinite, cpu.nonfinite);
    assert_int_equal(got.elements, cpu.elements);
    assert_int_equal(finite, !odd);
    driver.cuMemFree_v2(block);
    driver.cuMemFree_v2(answers);
}

static void grades_are_the_same(void **state)
{
    (void)state;
    check_grades(COUNT, 1e-4, 0);
    check_grades(COUNT, 0, 0);
    check_grades(COUNT, 1e-4, 1);
    check_grades(1, 1e-2, 0);
    check_grades(257, 1, 0);
}

static void one_bit_differs(void **state)
{
    (void)state;
    static float out[1024];
    size_t zero = 0, count = 1023;
    struct tensors x = {.outs = 1, .out = &zero, .original = &zero, .out_count = &count,
                        .outputs = 1024 * sizeof(float)};
    struct difference found;
    device_address a = new_memory(sizeof out), b = new_memory(sizeof out);
    memset(&out[1023], 0xFF, sizeof(float));
    to_device(a, out, sizeof out);
    to_device(b, out, sizeof out);
    assert_int_equal(judge_difference(&x, a, b, &found), 0);
    assert_int_equal(gpu_wait(0), 0);
    assert_false(found.differs || found.stray);
    out[1022] = -0.0f;
    to_device(b, out, sizeof out);
    assert_int_equal(judge_difference(&x, a, b, &found), 0);
    assert_int_equal(gpu_wait(0), 0);
    assert_true(found.differs && !found.stray);
    out[1023] = 0;
    to_device(a, out, sizeof out);
    assert_int_equal(judge_difference(&x, a, b, &found), 0);
    assert_int_equal(gpu_wait(0), 0);
    assert_true(!found.differs && found.stray);
}

int main(void)
{
    struct error e;
    if (gpu_open(0, &e)) {
        printf("1..0 # SKIP %s\n", e.text); /* cmocka's own skip counts as a failure in TAP */
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inputs_have_the_same_bits),
        cmocka_unit_test(grades_are_the_same),
        cmocka_unit_test(one_bit_differs),
    };
    return cmocka_run_group_tests(tests, open_all, NULL);
}
