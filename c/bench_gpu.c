/*
 * bench_gpu - how fast the CUDA backend's own work is, beside what the device can do.
 *
 *   bench_gpu                                      what it does to inputs and outputs
 *   bench_gpu PROBLEM.so IMAGES.jsonl SUITE.json   a whole evaluation, at the benchmark's own sizes
 *
 * From the project's root: the references are in build/ref/cuda.
 */
#include <stdio.h>
#include <string.h>

#include "backend/cuda/judge.h"
#include "backend/setup.h"

enum { SMALL = 4096, ROUNDS = 5, EVALUATIONS = 20000 };
static const char REFERENCES[] = "build/ref/cuda";
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

/* ---- the parts ------------------------------------------------------------------------------ */

static int time_parts(void)
{
    struct error e;
    int code = gpu_open(0, &e);
    if (!code)
        code = gpu_open_sink(&e);
    if (!code)
        code = judge_open(REFERENCES, &e);
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
    judge_poison(values, COUNT * sizeof(float));
    print_rate("grade, all outputs NaN", grade, sizeof(float) + sizeof(double), ceiling);
    printf("%-34s %8.0f a second\n", "small evaluations, with compare", 1 / small_evaluation());
    return 0;
}

/* ---- a whole evaluation --------------------------------------------------------------------- */

/* The best of some runs on a trial, in seconds; negative when it does not finish. */
static double evaluation(const struct setup *s, struct trial *t, const struct image *mutant,
                         bool *differs)
{
    struct observation o = {0};
    double best = 1e9;
    for (int k = 0; k <= ROUNDS; k++) {
        double start = gpu_clock();
        if (backend_cuda.run(t, s, mutant, 0, &o) || o.run.outcome != OUTCOME_FINISHED)
            return -1;
        double spent = gpu_clock() - start;
        if (k > 0 && spent < best) /* the first loads the code */
            best = spent;
    }
    *differs = o.differs;
    return best;
}

/* The original as if it were a mutant, and the first mutant that finishes with other outputs: what
 * is not the kernel's own time is poison, comparison and, for the latter, grades. */
static void time_evaluations(const struct setup *s, struct trial *t, double original)
{
    const struct images *images = &s->loader.images;
    bool wanted = false; /* whether outputs are to differ */
    printf("%s: the original's own time %.2f ms", s->plugin.id, 1e3 * original);
    for (int k = 0; k < images->count; k++) {
        bool differs;
        if (images->image[k].status != IMAGE_COMPILED)
            continue;
        double spent = evaluation(s, t, &images->image[k], &differs);
        if (spent < 0)
            break;
        if (differs != wanted)
            continue;
        printf(", %s %.2f ms (%.2f)", wanted ? images->image[k].id : "evaluated", 1e3 * spent,
               spent / original);
        if (wanted)
            break;
        wanted = true;
    }
    printf("\n");
}

static int time_whole(char **argument)
{
    struct setup_options o = {.backend = &backend_cuda, .official = true, .reference = REFERENCES,
                              .problem = argument[0], .images = argument[1], .suite = argument + 2, .suites = 1};
    struct setup s;
    struct trial t = {0};
    struct error e;
    double original = 1e9;
    int code = setup_open(&s, &o, &e);
    for (int k = 0; k < ROUNDS && !code; k++) {
        if (t.state)
            backend_cuda.free(&t);
        code = backend_cuda.make(&t, &s, &s.pool.recipe[0], &e);
        if (t.seconds < original)
            original = t.seconds;
    }
    if (!code)
        time_evaluations(&s, &t, original);
    setup_close(&s);
    return code ? error_print("bench_gpu", &e) : 0;
}

int main(int argc, char **argv)
{
    if (argc == 1)
        return time_parts();
    if (argc == 4)
        return time_whole(argv + 1);
    fprintf(stderr, "bench_gpu: takes nothing, or PROBLEM.so IMAGES.jsonl SUITE.json\n");
    return EXIT_USAGE;
}
