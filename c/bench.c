/*
 * bench - what the pipeline costs, each cost beside its floor, all measured in one run.
 *
 * Costs are CPU time, children included, so that a busy machine disturbs them little; where a cost
 * is measured several times its median counts. The one exception is the whole `make all`.
 */
#include <argp.h>
#include <fcntl.h>
#include <glob.h>
#include <libgen.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "backend/cpu/fiber.h"
#include "backend/cpu/loader.h"
#include "backend/cpu/simt.h"
#include "error.h"
#include "file.h"
#include "isolate.h"
#include "memory.h"
#include "plugin.h"
#include "process.h"
#include "recipe.h"
#include "rows.h"
#include "version.h"

const char *argp_program_version = "bench (assay) " ASSAY_VERSION;

static const char DOC[] =
    "Measure what mutants cost on some problems, beside what they could cost at least. Run it in "
    "the "
    "project's folder after `make all`; problems are named as level1/023_softmax.\v"
    "Exit status: 0 measured, whether the targets were met or not; 64 usage; 65 bad data; 69 "
    "something "
    "is missing; 70 a program failed; 74 input or output failed.";

static const struct argp_option OPTIONS[] = {
    {"full", 'f', NULL, 0, "Also time the whole `make all` in a clean copy of the tree: minutes",
     0},
    {0},
};

struct options {
    bool full;
    char *const *problem;
    int problems;
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct options *o = state->input;
    (void)argument;
    switch (key) {
    case 'f': o->full = true; return 0;
    case ARGP_KEY_ARGS:
        o->problem = state->argv + state->next;
        o->problems = state->argc - state->next;
        return 0;
    case ARGP_KEY_NO_ARGS: argp_error(state, "a problem is needed");
    }
    return ARGP_ERR_UNKNOWN;
}

/* The targets, in seconds. */
static const double MUTANT_S = 0.050, MUTATE_ALL_S = 1, READ_ROWS_S = 1, MAKE_AGAIN_S = 1,
                    MAKE_ALL_S = 240;
enum { INPUTS = 16, ROWS = 100000, REPEATS = 9 };

static char scratch[] = "/tmp/assay-bench.XXXXXX";

/* ---- time ------------------------------------------------------------------------------------ */

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* CPU time of this process and of the children it has waited for. */
static double cpu_s(void)
{
    struct rusage children;
    getrusage(RUSAGE_CHILDREN, &children);
    return seconds(CLOCK_PROCESS_CPUTIME_ID) +
           (double)(children.ru_utime.tv_sec + children.ru_stime.tv_sec) +
           (double)(children.ru_utime.tv_usec + children.ru_stime.tv_usec) * 1e-6;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double s[], int count)
{
    qsort(s, (size_t)count, sizeof *s, ascending);
    return count % 2 ? s[count / 2] : (s[count / 2 - 1] + s[count / 2]) / 2;
}

/* The median CPU time of work(), a time. */
static double median_cpu_s(void (*work)(void *context), void *context)
{
    double s[REPEATS];
    for (int k = 0; k < REPEATS; k++) {
        double start = cpu_s();
        work(context);
        s[k] = cpu_s() - start;
    }
    return median(s, REPEATS);
}

/* ---- the table ------------------------------------------------------------------------------- */

static const char *quantity(double s, char text[16])
{
    if (!isfinite(s))
        strcpy(text, "-");
    else if (s >= 1)
        snprintf(text, 16, "%.2f s", s);
    else if (s >= 1e-3)
        snprintf(text, 16, "%.2f ms", s * 1e3);
    else if (s >= 1e-6)
        snprintf(text, 16, "%.2f us", s * 1e6);
    else
        snprintf(text, 16, "%.1f ns", s * 1e9);
    return text;
}

static void head(const char *title)
{
    printf("\n%-44s %10s %10s %7s  %-26s %s\n", title, "cost", "floor", "ratio", "the floor is",
           "target");
}

/* One line; NAN for no floor, no target, or a cost that could not be measured. */
static void line(const char *what, double cost, double floor, const char *floor_is, double target)
{
    char c[16], f[16], t[16], ratio[16] = "-";
    if (isfinite(cost / floor))
        snprintf(ratio, sizeof ratio, "%.2f", cost / floor);
    printf("%-44s %10s %10s %7s  %-26s", what, quantity(cost, c), quantity(floor, f), ratio,
           floor_is);
    if (isfinite(target))
        printf(" <= %s: %s", quantity(target, t),
               isnan(cost)      ? "not measured"
               : cost <= target ? "pass"
                                : "MISS");
    printf("\n");
    fflush(stdout);
}

static void print_machine(void)
{
    char model[256] = "unknown processor", text[512];
    double load[1] = {NAN};
    FILE *f = fopen("/proc/cpuinfo", "r");
    while (f && fgets(text, sizeof text, f) && sscanf(text, "model name : %255[^\n]", model) != 1)
        ;
    if (f)
        fclose(f);
    if (getloadavg(load, 1) < 1)
        load[0] = NAN;
    printf("%ld cores, %s, load %.1f. Costs are CPU time, but on a shared machine even that is "
           "noisy.\n",
           sysconf(_SC_NPROCESSORS_ONLN), model, load[0]);
}

/* ---- running the programs -------------------------------------------------------------------- */

/* Runs a command that has to succeed. *cpu gets its CPU time, if not NULL. */
static int run(const char *const argv[], double *cpu, struct error *e)
{
    struct process p;
    int code = process_run(argv, "", 0, 0, &p, e);
    if (code)
        return code;
    if (p.status != 0)
        code = fail(e, EXIT_BUG, "%s failed: %.400s", argv[0], p.err);
    if (cpu)
        *cpu = p.cpu_s;
    process_free(&p);
    return code;
}

#define COMMAND(...) ((const char *const[]){__VA_ARGS__, NULL})

/*
 * The option --clock: runs a command and appends its name and CPU time to a log. g++ -wrapper puts
 * it before cc1plus and as, which is how the compiler proper is told from all around it.
 */
static int clock_command(const char *log, char *const argv[])
{
    int status;
    char *name = strrchr(argv[0], '/');
    pid_t child = fork();
    if (child == 0) {
        execvp(argv[0], argv);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &status, 0) < 0)
        return EXIT_UNAVAILABLE;
    FILE *f = fopen(log, "a");
    if (f) {
        struct rusage usage;
        getrusage(RUSAGE_CHILDREN, &usage);
        fprintf(f, "%s %.6f\n", name ? name + 1 : argv[0],
                (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                    (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6);
        fclose(f);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* The CPU time that a log gives to cc1plus; the log then starts anew. */
static double take_compiler_s(const char *log)
{
    char name[64];
    double s, sum = 0;
    FILE *f = fopen(log, "r");
    while (f && fscanf(f, "%63s %lf", name, &s) == 2)
        if (strcmp(name, "cc1plus") == 0)
            sum += s;
    if (f)
        fclose(f);
    unlink(log);
    return f ? sum : NAN;
}

/* Puts a g++ that logs before the one in PATH. */
static int wrap_compiler(const char *log, struct error *e)
{
    char self[PATH_MAX - 64] = "", script[PATH_MAX], path[2 * PATH_MAX];
    struct process p;
    struct output out;
    int code = process_run(COMMAND("sh", "-c", "command -v g++"), "", 0, 0, &p, e);
    if (code)
        return code;
    snprintf(script, sizeof script, "%s/bin/g++", scratch);
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0)
        code = fail_errno(e, "/proc/self/exe: cannot be read");
    if (!code)
        code = output_open(&out, script, e);
    if (!code) {
        fprintf(out.stream, "#!/bin/sh\nexec %.*s -wrapper %s,--clock,%s \"$@\"\n",
                (int)strcspn(p.out, "\n"), p.out, self, log);
        code = output_commit(&out, e);
    }
    if (!code && chmod(script, 0755))
        code = fail_errno(e, "%s: cannot be made executable", script);
    process_free(&p);
    snprintf(path, sizeof path, "%s/bin:%s", scratch, getenv("PATH"));
    setenv("PATH", path, 1);
    return code;
}

/* ---- a mutant -------------------------------------------------------------------------------- */

/* Where a problem's files are, and what its mutants cost, in seconds. */
struct costs {
    const char *problem;
    char kernel[PATH_MAX], plugin[PATH_MAX], targeted[PATH_MAX]; /* in the project */
    char manifest[PATH_MAX], images[PATH_MAX], gate[PATH_MAX], rows[PATH_MAX], survivors[PATH_MAX],
        race_images[PATH_MAX], race_rows[PATH_MAX]; /* in the scratch folder */
    int mutants, survivor_count, evaluations;
    double compile, compiler;         /* a mutant */
    double evaluate, original, moved; /* an evaluation */
    double total;                     /* a mutant on INPUTS inputs */
    double race;                      /* a survivor, compiled and run on the official suite */
};

static const char OFFICIAL[] = "inputs/suites/official.json", KBV[] = "inputs/suites/kbv.json";

static int count_lines(const char *path)
{
    int count = 0;
    FILE *f = fopen(path, "r");
    for (int c; f && (c = getc(f)) != EOF;)
        count += c == '\n';
    if (f)
        fclose(f);
    return count;
}

static void name_files(struct costs *c, const char *id)
{
    *c = (struct costs){.problem = id};
    snprintf(c->kernel, PATH_MAX, "kernels/%s.cu", id);
    snprintf(c->plugin, PATH_MAX, "build/problems/%s.so", id);
    snprintf(c->targeted, PATH_MAX, "inputs/targeted/%s.json", id);
    snprintf(c->manifest, PATH_MAX, "%s/%s/mutants.jsonl", scratch, id);
    snprintf(c->images, PATH_MAX, "%s/%s/images.jsonl", scratch, id);
    snprintf(c->gate, PATH_MAX, "%s/%s/gate.jsonl", scratch, id);
    snprintf(c->rows, PATH_MAX, "%s/%s/rows.jsonl", scratch, id);
    snprintf(c->survivors, PATH_MAX, "%s/%s/survivors.txt", scratch, id);
    snprintf(c->race_images, PATH_MAX, "%s/%s/race-images.jsonl", scratch, id);
    snprintf(c->race_rows, PATH_MAX, "%s/%s/race.jsonl", scratch, id);
}

static int measure_compile(struct costs *c, const char *log, struct error *e)
{
    double s;
    int code =
        run(COMMAND("mutate", "--rules", "mutants/rules", "-o", c->manifest, c->kernel), NULL, e);
    if (!code)
        code = run(COMMAND("compile", "-o", c->images, c->kernel, c->manifest), &s, e);
    if (code)
        return code;
    c->mutants = count_lines(c->manifest) - 1;
    c->compile = s / c->mutants;
    c->compiler = take_compiler_s(log) / c->mutants;
    return 0;
}

static int measure_evaluate(struct costs *c, struct error *e)
{
    double s;
    int code = run(COMMAND("gate", "-o", c->gate, "--images", c->images, c->plugin, OFFICIAL, KBV,
                           c->targeted),
                   NULL, e);
    if (!code)
        code = run(COMMAND("witness", "--gate", c->gate, "--suite", "official", "--survivors",
                           c->survivors, "-o", c->rows, "--images", c->images, c->plugin, OFFICIAL,
                           KBV, c->targeted),
                   &s, e);
    if (code)
        return code;
    c->evaluations = count_lines(c->rows) - 1;
    c->survivor_count = count_lines(c->survivors);
    c->evaluate = s / c->evaluations;
    c->total = c->compile + INPUTS * c->evaluate;
    return 0;
}

static int measure_race(struct costs *c, const char *log, struct error *e)
{
    double compile = 0, witness = 0;
    c->race = NAN;
    if (c->survivor_count == 0)
        return 0;
    int code = run(COMMAND("compile", "--race", "--only", c->survivors, "-o", c->race_images,
                           c->kernel, c->manifest),
                   &compile, e);
    take_compiler_s(log);
    if (!code)
        code = run(COMMAND("witness", "--race", "--gate", c->gate, "-o", c->race_rows, "--images",
                           c->race_images, c->plugin, OFFICIAL),
                   &witness, e);
    c->race = (compile + witness) / c->survivor_count;
    return code;
}

/* ---- the original kernel's own time, and the bytes that it moves ----------------------------- */

struct original {
    launch_function *launch;
    const struct recipe *recipe;
    float *in[PROBLEM_TENSORS], *out[PROBLEM_TENSORS];
    double hyper[PROBLEM_SIZES];
    char *copy; /* room for the bytes of all tensors */
};

static void run_original(void *context)
{
    const struct original *o = context;
    struct simt_verdict verdict;
    simt_run(o->launch, o->in, o->out, o->recipe->size, o->hyper,
             &(struct simt_schedule){.order = SIMT_RANDOM, .seed = 1}, &verdict);
}

/* Reads each input once and writes each output once. */
static void move_bytes(void *context)
{
    const struct original *o = context;
    char *at = o->copy;
    int ins = 0, outs = 0;
    for (int k = 0; k < o->recipe->tensors; k++) {
        size_t bytes = (size_t)tensor_count(&o->recipe->tensor[k]) * sizeof(float);
        if (o->recipe->tensor[k].role == OUTPUT)
            memset(o->out[outs++], 0, bytes);
        else
            memcpy(at, o->in[ins++], bytes);
        at += bytes;
    }
}

/* Adds the times of one input. */
static void measure_input(struct costs *c, const struct plugin *p, launch_function *launch,
                          const struct recipe *r)
{
    struct original o = {.launch = launch, .recipe = r};
    int ins = 0, outs = 0;
    size_t all = 0;
    plugin_hyperparameters(p, o.hyper);
    for (int k = 0; k < r->tensors; k++) {
        size_t bytes = (size_t)tensor_count(&r->tensor[k]) * sizeof(float);
        float *buffer = simt_buffer_new(bytes);
        if (!buffer)
            abort();
        all += bytes;
        if (r->tensor[k].role == OUTPUT) {
            o.out[outs++] = buffer;
        } else {
            recipe_fill(r, k, buffer);
            o.in[ins++] = buffer;
        }
    }
    o.copy = memory_zeroed(1, all);
    c->original += median_cpu_s(run_original, &o);
    c->moved += median_cpu_s(move_bytes, &o);
    free(o.copy);
    while (ins > 0)
        simt_buffer_free(o.in[--ins]);
    while (outs > 0)
        simt_buffer_free(o.out[--outs]);
}

static int measure_original(struct costs *c, struct error *e)
{
    struct plugin p = {0};
    struct loader l = {0};
    struct pool pool = {0};
    long profile[PROBLEM_SIZES];
    const char *const suite[] = {OFFICIAL, KBV, c->targeted};
    int code = simt_start(e);
    if (!code)
        code = plugin_open(&p, c->plugin, e);
    if (!code)
        plugin_small(&p, profile);
    for (int k = 0; k < 3 && !code; k++)
        code = pool_read(&pool, &p, profile, suite[k], e);
    if (!code)
        code = loader_open(&l, c->images, e);
    for (int k = 0; k < pool.recipes && !code; k++)
        measure_input(c, &p, loader_find(&l, "original"), &pool.recipe[k]);
    c->original /= pool.recipes;
    c->moved /= pool.recipes;
    loader_close(&l);
    pool_free(&pool);
    if (p.handle)
        plugin_close(&p);
    return code;
}

static int measure_problem(struct costs *c, const char *log, struct error *e)
{
    int code = measure_compile(c, log, e);
    if (!code)
        code = measure_evaluate(c, e);
    if (!code)
        code = measure_race(c, log, e);
    if (!code)
        code = measure_original(c, e);
    if (code)
        return code;
    printf("\n%s: %d mutants, %d evaluations\n", c->problem, c->mutants, c->evaluations);
    line("  compile, a mutant", c->compile, c->compiler, "cc1plus alone", NAN);
    line("  evaluate, a mutant on an input", c->evaluate, c->original, "the original's own run",
         NAN);
    line("  the original's own run", c->original, c->moved, "moving its bytes once", NAN);
    line("  race pass, a survivor", c->race, NAN, "", NAN);
    line("  compile + 16 inputs + isolation, a mutant", c->total,
         c->compiler + INPUTS * c->original, "cc1plus + 16 own runs", MUTANT_S);
    return 0;
}

static int measure_mutants(const struct options *o, struct error *e)
{
    char log[PATH_MAX];
    double *total = memory_zeroed(o->problems, sizeof *total);
    snprintf(log, sizeof log, "%s/log", scratch);
    head("a mutant");
    int code = wrap_compiler(log, e);
    for (int k = 0; k < o->problems && !code; k++) {
        struct costs c;
        name_files(&c, o->problem[k]);
        code = measure_problem(&c, log, e);
        total[k] = c.total;
    }
    if (!code) {
        printf("\n");
        line("median of these problems", median(total, o->problems), NAN, "", MUTANT_S);
    }
    free(total);
    return code;
}

/* ---- isolation and the executor -------------------------------------------------------------- */

enum { FORKS = 20, RESULTS = 2000, SWITCHES = 200000 };

static void fork_and_exit(void *context)
{
    (void)context;
    for (int k = 0; k < FORKS; k++) {
        pid_t child = fork();
        if (child == 0)
            _exit(0);
        waitpid(child, NULL, 0);
    }
}

static bool evaluate_nothing(void *context, int item, void *result)
{
    (void)context;
    *(int *)result = item;
    return false;
}

static bool evaluate_crash(void *context, int item, void *result)
{
    (void)context;
    (void)item;
    (void)result;
    return kill(getpid(), SIGKILL) == 0;
}

static void died(void *context, int item, int signal, bool late, void *result)
{
    (void)context;
    (void)signal;
    (void)late;
    *(int *)result = item;
}

static int receive(void *context, int item, const void *result, struct error *e)
{
    (void)context;
    (void)item;
    (void)result;
    (void)e;
    return 0;
}

static void isolate_all(void *context)
{
    struct error e;
    if (isolate(context, &e))
        abort();
}

static void hand_over(void *context)
{
    int ends[2], result = 0;
    (void)context;
    if (pipe(ends))
        abort();
    for (int k = 0; k < RESULTS; k++)
        if (write(ends[1], &result, sizeof result) != sizeof result ||
            read(ends[0], &result, sizeof result) != sizeof result)
            abort();
    close(ends[0]);
    close(ends[1]);
}

static void *here, *there;

static void switch_back(void)
{
    for (;;)
        fiber_switch(&there, here);
}

static void switch_fibers(void *context)
{
    (void)context;
    for (int k = 0; k < SWITCHES / 2; k++)
        fiber_switch(&here, there);
}

static ucontext_t context_here, context_there;

static void swap_back(void)
{
    for (;;)
        swapcontext(&context_there, &context_here);
}

static void swap_contexts(void *context)
{
    (void)context;
    for (int k = 0; k < SWITCHES / 2; k++)
        swapcontext(&context_here, &context_there);
}

static void measure_switches(double *fiber, double *swap)
{
    enum { STACK = 64 << 10 };
    static _Alignas(16) char fiber_stack[STACK], swap_stack[STACK];
    there = fiber_new(fiber_stack + STACK, switch_back);
    *fiber = median_cpu_s(switch_fibers, NULL) / SWITCHES;
    getcontext(&context_there);
    context_there.uc_stack = (stack_t){.ss_sp = swap_stack, .ss_size = STACK};
    makecontext(&context_there, swap_back, 0);
    *swap = median_cpu_s(swap_contexts, NULL) / SWITCHES;
}

static void measure_isolation(void)
{
    struct isolation nothing = {RESULTS, sizeof(int), 60, evaluate_nothing, died, receive, NULL, NULL};
    struct isolation crash = {FORKS, sizeof(int), 60, evaluate_crash, died, receive, NULL, NULL};
    double fiber, swap;
    head("isolation and the executor");
    line("a result from a worker", median_cpu_s(isolate_all, &nothing) / RESULTS,
         median_cpu_s(hand_over, NULL) / RESULTS, "a write and a read", NAN);
    line("a crash, its second chance included", median_cpu_s(isolate_all, &crash) / FORKS,
         median_cpu_s(fork_and_exit, NULL) / FORKS, "one fork and exit", NAN);
    measure_switches(&fiber, &swap);
    line("a switch between threads of a block", fiber, swap, "swapcontext: a peer", NAN);
}

/* ---- all problems ---------------------------------------------------------------------------- */

static int measure_mutate(const glob_t *kernels, struct error *e)
{
    char manifest[PATH_MAX];
    double sum[3] = {0}, s;
    snprintf(manifest, sizeof manifest, "%s/mutate.jsonl", scratch);
    for (int n = 0; n < 3; n++) {
        for (size_t k = 0; k < kernels->gl_pathc; k++) {
            unlink(manifest);
            int code = run(
                COMMAND("mutate", "--rules", "mutants/rules", "-o", manifest, kernels->gl_pathv[k]),
                &s, e);
            if (code)
                return code;
            sum[n] += s;
        }
    }
    line("mutate, all kernels", median(sum, 3), NAN, "", MUTATE_ALL_S);
    return 0;
}

/* Repeats the measured rows of a problem until there are ROWS. */
static int write_rows(const char *from, const char *path, struct error *e)
{
    char *text;
    size_t size;
    struct output out;
    int code = file_read(from, &text, &size, e);
    if (code)
        return code;
    const char *rows = text + strcspn(text, "\n") + 1, *end = text + size, *at = rows;
    code = output_open(&out, path, e);
    if (!code) {
        fwrite(text, 1, (size_t)(rows - text), out.stream);
        for (int k = 0; k < ROWS && rows < end; k++) {
            size_t length = strcspn(at, "\n") + 1;
            fwrite(at, 1, length, out.stream);
            at = at + length < end ? at + length : rows;
        }
        code = output_commit(&out, e);
    }
    free(text);
    return code;
}

static int measure_reading(const char *id, struct error *e)
{
    char path[PATH_MAX];
    double s[REPEATS];
    struct costs c;
    name_files(&c, id);
    snprintf(path, sizeof path, "%s/rows.jsonl", scratch);
    int code = write_rows(c.rows, path, e);
    for (int k = 0; k < REPEATS && !code; k++) {
        struct rows rows;
        double start = cpu_s();
        code = rows_read(&rows, path, e);
        s[k] = cpu_s() - start;
        if (!code)
            rows_free(&rows);
    }
    if (!code)
        line("reading 100,000 rows", median(s, REPEATS), NAN, "", READ_ROWS_S);
    return code;
}

static int measure_setcover(struct error *e)
{
    char output[PATH_MAX];
    glob_t scores;
    double s = NAN;
    int code = 0;
    snprintf(output, sizeof output, "%s/setcover.json", scratch);
    if (glob("build/cpu/level[0-9]*/*/score.json", 0, NULL, &scores) == 0) {
        const char **argv = memory_zeroed((int)scores.gl_pathc + 4, sizeof *argv);
        memcpy(argv, COMMAND("setcover", "-o", output), 3 * sizeof *argv);
        memcpy(argv + 3, scores.gl_pathv, scores.gl_pathc * sizeof *argv);
        code = run(argv, &s, e);
        free(argv);
    }
    globfree(&scores);
    line("setcover, all problems", s, NAN, "", NAN);
    return code;
}

/* The second of two runs, if the first is over soon: else something is to be done, and it is
 * stopped. */
static int measure_make_again(struct error *e)
{
    enum { LIMIT_S = 2 };
    double s = NAN;
    for (int k = 0; k < 2; k++) {
        struct process p;
        int code = process_run(COMMAND("make", "all"), "", 0, LIMIT_S, &p, e);
        if (code)
            return code;
        s = p.status == 0 && strstr(p.out, "Nothing to be done") ? p.cpu_s : NAN;
        bool stopped = p.status != 0;
        process_free(&p);
        if (stopped)
            break;
    }
    line("the second `make all`", s, NAN, "", MAKE_AGAIN_S);
    return 0;
}

static int measure_make_all(struct error *e)
{
    char script[PATH_MAX];
    snprintf(
        script, sizeof script,
        "mkdir %s/tree && tar --exclude=./build --exclude=./.git -cf - . | tar -xf - -C %s/tree",
        scratch, scratch);
    int code = run(COMMAND("sh", "-c", script), NULL, e);
    snprintf(script, sizeof script, "make -C %s/tree all", scratch);
    double start = seconds(CLOCK_MONOTONIC);
    if (!code)
        code = run(COMMAND("sh", "-c", script), NULL, e);
    if (!code)
        line("the whole `make all`, by the clock", seconds(CLOCK_MONOTONIC) - start, NAN, "",
             MAKE_ALL_S);
    return code;
}

static int measure_whole(const struct options *o, struct error *e)
{
    glob_t kernels;
    head("all problems");
    if (glob("kernels/level[0-9]*/*.cu", 0, NULL, &kernels))
        return fail(e, EXIT_IO, "kernels/: no kernels; run bench in the project's folder");
    int code = measure_mutate(&kernels, e);
    globfree(&kernels);
    if (!code)
        code = measure_reading(o->problem[0], e);
    if (!code)
        code = measure_setcover(e);
    if (!code)
        code = measure_make_again(e);
    if (!code && o->full)
        code = measure_make_all(e);
    return code;
}

/* ---- putting it together --------------------------------------------------------------------- */

/* The programs beside this one come first in PATH; make, when asked, starts as from a shell. */
static void set_environment(void)
{
    char self[PATH_MAX] = "", path[3 * PATH_MAX];
    if (readlink("/proc/self/exe", self, sizeof self - 1) > 0) {
        snprintf(path, sizeof path, "%s:%s", dirname(self), getenv("PATH"));
        setenv("PATH", path, 1);
    }
    setenv("LC_ALL", "C", 1);
    unsetenv("MAKEFLAGS");
    unsetenv("MFLAGS");
    unsetenv("MAKELEVEL");
}

int main(int argc, char **argv)
{
    if (argc > 3 && strcmp(argv[1], "--clock") == 0)
        return clock_command(argv[2], argv + 3);
    struct options o = {0};
    const struct argp argp = {OPTIONS, parse, "PROBLEM…", DOC, NULL, NULL, NULL};
    if (argp_parse(&argp, argc, argv, 0, NULL, &o))
        abort(); /* no memory for it; it reports all else itself */

    struct error e, ignored;
    set_environment();
    int code = mkdtemp(scratch) ? 0 : fail_errno(&e, "%s: cannot be made", scratch);
    if (code)
        return error_print("bench", &e);
    print_machine();
    code = measure_mutants(&o, &e);
    if (!code)
        measure_isolation();
    if (!code)
        code = measure_whole(&o, &e);
    run(COMMAND("rm", "-rf", scratch), NULL, &ignored);
    return code ? error_print("bench", &e) : 0;
}
