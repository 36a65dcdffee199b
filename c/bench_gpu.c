/* bench_gpu - how fast the CUDA backend's own work is, beside what the device can do. */
#include <stdio.h>
#include <string.h>

#include "backend/cuda/judge.h"

enum { SMALL = 4096, ROUNDS = 5, EVALUATIONS = 20000 };
static const size_t COUNT = (size_t)1 << 30; /* floats: 4 GiB, far more than any cache */

static device_address values, others, answers;
static generator_word seed = 1;

static int copy(void)
{
    return driver.cuMemcpyAsync(others, values, COUNT * sizeof(float), gpu.stream);
}

static int fill(void)
{
    struct tensor t = {.role = INPUT, .rank = 2, .shape = {(long)COUNT / 4096, 4096}};
    struct fill uniform = {GENERATOR_UNIFORM, -1, 1, 0, 1};
    struct recipe r = {.seed = seed, .tensors = 1, .tensor = &t, .fill = &uniform};
    return judge_fill(&r, 0, values);
}

static int poison(void)
{
    return judge_poison(others, COUNT * sizeof(float));
}

/* Of what `values` holds, with or without an original to compare it with. */
static int judge(bool alone)
{
    static size_t zero, all = (size_t)1 << 30;
    struct tensors x = {.outs = 1, .out = &zero, .original = &zero, .reference = &zero, .out_count = &all,
                        .count = all, .outputs = all * sizeof(float)};
    struct judgement j;
    struct task t;
    judge_task(&t, &x, values, answers, alone);
    t.output[0].original = alone ? NULL : (const float *)others;
    int error = judge_start(&t, 0);
    return error ? error : judge_wait(&t, 0, 0, &j);
}

static int difference(void)
{
    return judge(false);
}

static int grade(void)
{
    return judge(true);
}

static int widen(void)
{
    return judge_widen(answers, values, COUNT);
}

/* The best of some rounds, in seconds; negative when it fails. */
static double seconds(int (*work)(void))
{
    double best = 1e9;
    for (int k = 0; k <= ROUNDS; k++) {
        int error = gpu_wait(0);
        double start = gpu_clock();
        if (!error)
            error = work();
        if (!error)
            error = gpu_wait(0);
        double spent = gpu_clock() - start;
        if (error)
            return -1;
        if (k > 0 && spent < best) /* the first warms up */
            best = spent;
    }
    return best;
}

/* What every run of a mutant on a small input costs besides its own code, as trial.c does it: AHEAD runs are
 * started before the first is waited for. A copy of the original's outputs stands for the mutant. */
static double small_evaluation(void)
{
    enum { AHEAD = 16 };
    size_t zero = 0, count = SMALL, at = TENSORS_GAP;
    struct tensors x = {.outs = 1, .out = &at, .original = &zero, .reference = &zero, .out_count = &count,
                        .count = count, .outputs = 2 * TENSORS_GAP + SMALL * sizeof(float)};
    struct task t;
    struct judgement j;
    judge_task(&t, &x, values, others, false);
    double start = gpu_clock();
    int error = 0;
    for (int k = 0; k < EVALUATIONS && !error; k += AHEAD) {
        for (int slot = 0; slot < AHEAD && !error; slot++) {
            error = judge_poison(values, x.outputs);
            if (!error)
                error = driver.cuMemcpyAsync(values + at, others, SMALL * sizeof(float), gpu.stream);
            if (!error)
                error = judge_start(&t, slot);
        }
        for (int slot = 0; slot < AHEAD && !error; slot++)
            error = judge_wait(&t, slot, 10, &j);
    }
    return error || j.differs ? -1 : (gpu_clock() - start) / EVALUATIONS;
}

static void print_rate(const char *what, int (*work)(void), double bytes_each, double ceiling)
{
    double rate = bytes_each * (double)COUNT / seconds(work) / 1e9;
    printf("%-34s %8.0f GB/s", what, rate);
    if (ceiling > 0)
        printf("  %5.1f %% of copying", 100 * rate / ceiling);
    printf("\n");
}

int main(int argc, char **argv)
{
    struct error e;
    int code = gpu_open(0, &e);
    if (!code)
        code = gpu_open_sink(&e);
    if (!code)
        code = judge_open(argc > 1 ? argv[1] : "build/ref/cuda", &e);
    int error = code ? 0 : driver.cuMemAlloc_v2(&values, COUNT * sizeof(float));
    if (!code && !error)
        error = driver.cuMemAlloc_v2(&others, COUNT * sizeof(float));
    if (!code && !error)
        error = driver.cuMemAlloc_v2(&answers, COUNT * sizeof(double));
    if (!code)
        code = driver_check(error, "device memory", &e);
    if (code)
        return error_print("bench_gpu", &e);
    double ceiling = 2 * sizeof(float) * (double)COUNT / seconds(copy) / 1e9;
    printf("%s, driver for CUDA %s\n", gpu.name, gpu.version);
    print_rate("copy (read and written)", copy, 2 * sizeof(float), 0);
    print_rate("generate inputs", fill, sizeof(float), ceiling);
    print_rate("poison outputs", poison, sizeof(float), ceiling);
    copy();
    print_rate("widen to double", widen, sizeof(float) + sizeof(double), ceiling);
    print_rate("compare bit for bit", difference, 2 * sizeof(float), ceiling);
    print_rate("grade", grade, sizeof(float) + sizeof(double), ceiling);
    seed++;
    fill(); /* other values than the answers */
    print_rate("grade, all outputs wrong", grade, sizeof(float) + sizeof(double), ceiling);
    printf("%-34s %8.0f a second\n", "small evaluations, with compare", 1 / small_evaluation());
    return 0;
}
