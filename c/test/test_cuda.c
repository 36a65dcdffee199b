/* test_cuda - the CUDA backend's processes and their memory, on fake_cuda.so instead of a GPU. */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/cpu/device.h"
#include "backend/cuda/findings.h"
#include "backend/cuda/holder.h"
#include "isolate.h"

#include <cmocka.h> /* last: it has a macro named fail */

void gpu_launch(const char *kernel, const struct simt_index *grid, const struct simt_index *block,
                size_t dynamic, void *arguments[]);

enum { COUNT = 1000 };

/* ---- a problem, y = 2 x, whose kernel does what the mutant's device code says ---- */

static void launch_kernel(const char *kernel, void *y, const void *x, unsigned blocks)
{
    struct simt_index grid = {blocks, 1, 1}, block = {256, 1, 1};
    long n = COUNT;
    gpu_launch(kernel, &grid, &block, 0, (void *[]){&y, &x, &n});
}

static void launch_twice(float *const in[], float *const out[], const long dim[], const double hyper[])
{
    (void)dim, (void)hyper;
    launch_kernel("twice", out[0], in[0], 4);
}

static void launch_nothing(float *const in[], float *const out[], const long dim[], const double hyper[])
{
    (void)dim, (void)hyper;
    launch_kernel("twice", out[0], in[0], 0);
}

static void launch_none(float *const in[], float *const out[], const long dim[], const double hyper[])
{
    (void)in, (void)out, (void)dim, (void)hyper;
}

static void loop_forever(float *const in[], float *const out[], const long dim[], const double hyper[])
{
    (void)in, (void)out, (void)dim, (void)hyper;
    for (;;)
        simt_tick();
}

static void tensors(struct layout *l, const long d[])
{
    input(l, "x", uniform(-1, 1), SHAPE(d[0]));
    output(l, "y", SHAPE(d[0]));
}

static void reference(const struct ref *r, real *const in[], real *const out[], const long d[],
                      const double h[])
{
    (void)d, (void)h;
    launch_kernel((const void *)r == NULL ? "twice" : "twice_double", out[0], in[0], 4);
}

static long reduction(const long d[])
{
    (void)d;
    return 1;
}

static void release(void)
{
}

static const struct size SIZE[] = {{"n", COUNT, COUNT}};
static const struct problem TWICE = {PROBLEM_ABI, SIZES(SIZE), .tensors = tensors, .reference = reference,
                                     .reduction = reduction};

/* What a shared object of mutants exports; loader_find() finds it in this program. */
extern const struct image_entry image[];
const struct image_entry image[] = {{"twice", launch_twice},
                                    {"nothing", launch_nothing},
                                    {"none", launch_none},
                                    {"forever", loop_forever},
                                    {NULL, NULL}};

/* ---- the backend on it ---- */

static char folder[] = "/tmp/test_cuda.XXXXXX";

static void write_code(const char *name, const char *kernel, const char *behaviour)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s.gpu", folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "%s %s\n\n%s%c", kernel, kernel, behaviour, 0);
    fclose(f);
}

static void write_all_code(void)
{
    char path[256];
    FILE *f;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/f64", folder);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/f32", folder);
    mkdir(path, 0700);
    write_code("f64/all", "twice_double", "reference");
    write_code("f32/all", "twice", "reference");
    static const char *const BEHAVIOURS[] = {"right", "wrong", "stray", "far", "past", "crash", "crash-2",
                                           "hang",  "lost"};
    for (size_t k = 0; k < sizeof BEHAVIOURS / sizeof *BEHAVIOURS; k++)
        write_code(BEHAVIOURS[k], "twice", BEHAVIOURS[k]);
    snprintf(path, sizeof path, "%s/several.gpu", folder);
    f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "absent m0::twice\ntwice m1::twice\nabsent m10::twice\n\nright%c", 0);
    fclose(f);
    snprintf(path, sizeof path, "%s/none.gpu", folder); /* of a file that launches no kernel */
    f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "\nan image\n\nwith an empty line%c", 0);
    fclose(f);
    snprintf(path, sizeof path, "%s/service.gpu", folder);
    f = fopen(path, "w");
    assert_non_null(f);
    for (const char *const *k = (const char *const[]){"fill", "widen", "judge", "sample", "bracket",
                                                      "grade", NULL}; *k; k++)
        fprintf(f, "%s %s\n", *k, *k);
    fprintf(f, "\nservice%c", 0);
    fclose(f);
}

/* A mutant: an entry of `image`, and a behaviour. */
#define MUTANT(name, entry_, behaviour)                                                            \
    {.id = name, .key = name, .status = IMAGE_COMPILED, .code = name, .image = "self",            \
     .entry = entry_, .device = behaviour ".gpu"}

static struct image mutant[] = {
    MUTANT("original", "twice", "right"),
    MUTANT("right", "twice", "right"),
    MUTANT("wrong", "twice", "wrong"),
    MUTANT("stray", "twice", "stray"),
    MUTANT("right-after-stray", "twice", "right"),
    MUTANT("member", "twice", "several"),
    MUTANT("other-member", "twice", "several"),
    MUTANT("far", "twice", "far"),
    MUTANT("past", "twice", "past"),
    MUTANT("crash", "twice", "crash"),
    MUTANT("right-after-crash", "twice", "right"),
    MUTANT("hang", "twice", "hang"),
    MUTANT("bad-launch", "nothing", "right"),
    MUTANT("no-launch", "none", "none"),
    MUTANT("endless-host", "forever", "right"),
    MUTANT("right-at-last", "twice", "right"),
    MUTANT("crash-2", "twice", "crash-2"),
    MUTANT("lost", "twice", "lost"), /* the last has a test of its own */
};
enum { MUTANTS = sizeof mutant / sizeof *mutant - 1, INPUTS = 3 };

/* Inputs that no trial can be made of: one has too many outputs, the other is too large. */
enum { CROWDED = INPUTS, HUGE, RECIPES };

static struct setup setup;
static struct trial trial[INPUTS];
static struct observation seen[MUTANTS * INPUTS]; /* the inputs of a mutant, one after another */
static struct tensor tensor[2];

static void make_setup(void)
{
    for (int k = 0; k < MUTANTS; k++)
        if (strcmp(mutant[k].device, "several.gpu") == 0)
            mutant[k].member = strcmp(mutant[k].id, "member") == 0 ? "m1" : "m0";
    static char id[] = "one", suite[] = "official", file_name[] = "self";
    static struct recipe recipe[RECIPES];
    static struct fill fill[2];
    static struct tensor crowd[1 + FINDINGS_OUTPUTS + 1], huge[2];
    static struct loaded loaded = {.file = file_name};
    struct layout *l = calloc(1, sizeof *l);
    tensors(l, (const long[]){COUNT});
    memcpy(tensor, l->tensor, sizeof tensor);
    free(l);
    fill[0] = tensor[0].native;
    for (int k = 0; k < INPUTS; k++)
        recipe[k] = (struct recipe){.id = id, .suite = suite, .seed = 5 + (generator_word)k, .size = {COUNT},
                                    .tensors = 2, .tensor = tensor, .fill = fill};
    recipe[CROWDED] = recipe[HUGE] = recipe[0];
    crowd[0] = huge[0] = tensor[0];
    for (int k = 1; k <= FINDINGS_OUTPUTS + 1; k++)
        crowd[k] = tensor[1];
    recipe[CROWDED].tensor = crowd;
    recipe[CROWDED].tensors = 1 + FINDINGS_OUTPUTS + 1;
    huge[1] = tensor[1];
    huge[1].shape[0] = 1l << 40;
    recipe[HUGE].tensor = huge;
    loaded.handle = dlopen(NULL, RTLD_NOW);
    setup = (struct setup){.backend = &backend_cuda, .profile = "fake", .folder = folder};
    setup.plugin = (struct plugin){.problem = &TWICE};
    setup.float64 = (struct reference){.table = (const struct ref *)&setup, .release = release};
    setup.float32 = (struct reference){.table = NULL, .release = release};
    setup.pool = (struct pool){.recipe = recipe, .recipes = RECIPES};
    setup.loader = (struct loader){.images = {.image = mutant, .count = MUTANTS + 1}, .folder = folder,
                                   .loaded = &loaded, .count = 1};
    setup.original = launch_twice;
}

static bool evaluate(void *context, int item, void *result)
{
    (void)context;
    struct observation *o = result;
    const struct image *m = &mutant[item / INPUTS];
    static const struct image *expecting;
    struct trial *t[] = {&trial[0], &trial[1], &trial[2]};
    if (expecting != m)
        backend_cuda.expect(t + item % INPUTS, INPUTS - item % INPUTS, m);
    expecting = m;
    bool broken = backend_cuda.run(t[item % INPUTS], &setup, m, 0, o);
    o->run.detail = NULL;
    return broken;
}

static void died(void *context, int item, int signal, bool late, void *result)
{
    (void)context, (void)item, (void)signal, (void)late;
    *(struct observation *)result = (struct observation){.trouble = EXIT_BUG};
}

static void prepare(void *context)
{
    (void)context;
    backend_cuda.prepare(trial, INPUTS, &setup);
}

static int receive(void *context, int item, const void *result, struct error *e)
{
    (void)context, (void)e;
    seen[item] = *(const struct observation *)result;
    return 0;
}

static int run_all(void **state)
{
    struct error e = {0};
    (void)state;
    write_all_code();
    make_setup();
    setenv("ASSAY_CUDA_DRIVER", "build/test/fake_cuda.so", 1);
    struct isolation work = {MUTANTS * INPUTS, sizeof *seen, 30, evaluate, died, receive, NULL, prepare};
    int code = backend_cuda.start(&setup, &e);
    for (int k = 0; k < INPUTS && !code; k++)
        code = backend_cuda.make(&trial[k], &setup, &setup.pool.recipe[k], &e);
    if (!code)
        code = isolate(&work, &e);
    if (code)
        print_error("%s\n", e.text);
    return code;
}

static int clean_up(void **state)
{
    (void)state;
    char command[64];
    for (int k = 0; k < INPUTS; k++)
        backend_cuda.free(&trial[k]);
    backend_cuda.stop();
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

static const struct observation *of_all(const char *name)
{
    for (int k = 0; k < MUTANTS; k++)
        if (strcmp(mutant[k].id, name) == 0)
            return &seen[k * INPUTS];
    fail_msg("no mutant %s", name);
    return NULL;
}

static const struct observation *of(const char *name)
{
    const struct observation *all = of_all(name);
    for (int k = 1; k < INPUTS; k++) { /* unless a test is about just that, all inputs are alike */
        assert_int_equal(all[k].run.outcome, all[0].run.outcome);
        assert_int_equal(all[k].differs, all[0].differs);
    }
    return all;
}

static void assert_right(const char *name)
{
    const struct observation *o = of(name);
    assert_int_equal(o->trouble, 0);
    assert_int_equal(o->run.outcome, OUTCOME_FINISHED);
    assert_false(o->differs);
    assert_false(o->run.stray_write);
}

static void original_is_graded(void **state)
{
    (void)state;
    assert_int_equal(trial[0].original_run.outcome, OUTCOME_FINISHED);
    assert_true(trial[0].original_run.graded.t == 0);
    assert_true(trial[0].float32.t == 0);
    assert_int_equal(trial[0].original_run.graded.elements, COUNT);
    assert_true(trial[0].finite);
    assert_string_equal(backend_cuda.device(), "fake, CUDA 13.0");
}

static void right_does_not_differ(void **state)
{
    (void)state;
    assert_right("right");
}

static void wrong_is_graded(void **state)
{
    (void)state;
    const struct observation *o = of("wrong");
    assert_int_equal(o->run.outcome, OUTCOME_FINISHED);
    assert_true(o->differs);
    assert_true(o->run.graded.t > 0.1);
}

static void stray_writes_show_once(void **state)
{
    (void)state;
    assert_true(of("stray")->run.stray_write);
    assert_false(of("stray")->differs);
    assert_right("right-after-stray");
    assert_true(of("far")->run.stray_write);
    assert_int_equal(of("far")->run.outcome, OUTCOME_FINISHED);
}

static void stray_reads_get_poison(void **state)
{
    (void)state;
    assert_int_equal(of("past")->run.outcome, OUTCOME_FINISHED);
    assert_true(of("past")->differs);
}

static void members_of_one_file_are_told_apart(void **state)
{
    (void)state;
    assert_right("member");
    assert_int_equal(of("other-member")->run.outcome, OUTCOME_BAD_LAUNCH);
}

static void fault_ends_only_its_worker(void **state)
{
    (void)state;
    assert_int_equal(of("crash")->run.outcome, OUTCOME_CRASHED);
    assert_string_equal(of("crash")->detail, "CUDA_ERROR_ILLEGAL_ADDRESS");
    assert_right("right-after-crash");
}

/* Its three runs are started together; the second fails, when the first is done, and the third is too late. */
static void fault_ends_only_its_run(void **state)
{
    (void)state;
    const struct observation *o = of_all("crash-2");
    assert_int_equal(o[0].run.outcome, OUTCOME_FINISHED);
    assert_false(o[0].differs);
    assert_int_equal(o[1].run.outcome, OUTCOME_CRASHED);
    assert_string_equal(o[1].detail, "CUDA_ERROR_ILLEGAL_ADDRESS");
    assert_int_equal(o[2].run.outcome, OUTCOME_FINISHED);
    assert_false(o[2].differs);
}

static void hang_is_a_timeout(void **state)
{
    (void)state;
    assert_int_equal(of("hang")->run.outcome, OUTCOME_TIMEOUT);
    assert_right("right-at-last");
}

static void host_code_is_contained(void **state)
{
    (void)state;
    assert_int_equal(of("bad-launch")->run.outcome, OUTCOME_BAD_LAUNCH);
    assert_int_equal(of("endless-host")->run.outcome, OUTCOME_TIMEOUT);
    assert_int_equal(of("no-launch")->run.outcome, OUTCOME_FINISHED);
    assert_true(of("no-launch")->differs);
}

static bool evaluate_lost(void *context, int item, void *result)
{
    (void)context, (void)item;
    struct observation *o = result;
    return backend_cuda.run(&trial[0], &setup, &mutant[MUTANTS], 0, o);
}

/* When the GPU is gone, that is not the mutant's doing. */
static void a_lost_gpu_is_trouble(void **state)
{
    (void)state;
    struct error e;
    struct isolation work = {1, sizeof *seen, 30, evaluate_lost, died, receive, NULL, NULL};
    assert_int_equal(isolate(&work, &e), 0);
    assert_int_equal(seen[0].trouble, EXIT_UNAVAILABLE);
    assert_non_null(strstr(seen[0].detail, "the GPU has failed"));
}

static void what_does_not_fit_is_said(void **state)
{
    (void)state;
    struct trial t;
    struct error e;
    assert_int_equal(backend_cuda.make(&t, &setup, &setup.pool.recipe[CROWDED], &e), EXIT_DATA);
    assert_non_null(strstr(e.text, "has 9 outputs; the cuda backend judges 8 at most"));
    assert_int_equal(backend_cuda.make(&t, &setup, &setup.pool.recipe[HUGE], &e), EXIT_UNAVAILABLE);
    assert_non_null(strstr(e.text, "GiB of device memory, of which 1.0 GiB are free"));
}

static void assert_no_start(const char *path, const char *fake, const char *said)
{
    struct error e;
    struct holder_device ignored;
    setenv("ASSAY_CUDA_DRIVER", path, 1);
    setenv("FAKE_CUDA", fake, 1);
    assert_int_equal(holder_start(&setup, &ignored, &e), EXIT_UNAVAILABLE);
    if (!strstr(e.text, said))
        fail_msg("'%s' does not say '%s'", e.text, said);
    holder_stop();
}

static void a_missing_gpu_is_said(void **state)
{
    (void)state;
    struct error e;
    struct trial t;
    for (int k = 0; k < INPUTS; k++)
        backend_cuda.free(&trial[k]);
    backend_cuda.stop();
    assert_no_start("/nonexistent/libcuda.so", "", "no CUDA driver");
    assert_no_start("build/test/service.so", "", "has no cuInit"); /* too old, or something else */
    assert_no_start("build/test/fake_cuda.so", "none", "does not start");
    setenv("FAKE_CUDA", "", 1);
    assert_int_equal(backend_cuda.start(&setup, &e), 0);
    backend_cuda.stop();
    setenv("FAKE_CUDA", "memory", 1);
    assert_int_equal(backend_cuda.start(&setup, &e), 0);
    assert_int_equal(backend_cuda.make(&t, &setup, &setup.pool.recipe[0], &e), EXIT_UNAVAILABLE);
    assert_non_null(strstr(e.text, "not enough device memory"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(original_is_graded),       cmocka_unit_test(right_does_not_differ),
        cmocka_unit_test(wrong_is_graded),          cmocka_unit_test(stray_writes_show_once),
        cmocka_unit_test(stray_reads_get_poison),   cmocka_unit_test(members_of_one_file_are_told_apart),
        cmocka_unit_test(fault_ends_only_its_worker), cmocka_unit_test(fault_ends_only_its_run),
        cmocka_unit_test(hang_is_a_timeout),        cmocka_unit_test(host_code_is_contained),
        cmocka_unit_test(a_lost_gpu_is_trouble),
        cmocka_unit_test(what_does_not_fit_is_said),
        cmocka_unit_test(a_missing_gpu_is_said),
    };
    return cmocka_run_group_tests(tests, run_all, clean_up);
}
