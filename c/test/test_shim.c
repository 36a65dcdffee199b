/* The shim, through the whole chain: shim.cu lowered, compiled, loaded and run, also for races. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../backend/cpu/simt.h"
#include "batch.h"
#include "file.h"
#include "process.h"

#include <cmocka.h> /* last: it defines a macro named fail */

enum { CHECKS = 8, THREADS = 64 };

static char folder[] = "/tmp/test_shim.XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    struct process p;
    struct error e;
    if (process_run((const char *[]){"rm", "-r", folder, NULL}, "", 0, 0, &p, &e))
        return -1;
    process_free(&p);
    return 0;
}

static launch_function *compile(bool race)
{
    struct error e;
    struct kernel_text source;
    char *text, path[256];
    assert_int_equal(file_read("c/test/shim.cu", &text, &source.size, &e), 0);
    source.text = text;
    struct toolchain toolchain = {.backend = "c/backend", .include = "c/test", .race = race};
    struct candidate c = {.id = "shim", .source = source};
    if (batch_compile(&toolchain, source, &c, 1, folder, &e))
        fail_msg("%s", e.text);
    if (!c.compiled)
        fail_msg("%s", c.message);
    snprintf(path, sizeof path, "%s/%s.so", folder, c.image);
    free(text);
    void *image = dlopen(path, RTLD_NOW);
    if (!image)
        fail_msg("%s", dlerror());
    return ((struct image_entry *)dlsym(image, "image"))->launch;
}

static void run(bool race)
{
    struct error e;
    struct simt_verdict verdict;
    launch_function *launch = compile(race);
    assert_int_equal(simt_start(&e), 0);
    float *x = simt_buffer_new(CHECKS * sizeof *x), *y;
    size_t size = (CHECKS + THREADS) * sizeof *y;
    y = simt_buffer_new(size);
    for (int i = 0; i < CHECKS - 1; i++)
        x[i] = (float)i; /* and the last is NaN */
    simt_buffer_seal(x);
    for (int order = SIMT_RANDOM; order <= SIMT_REVERSED; order++) {
        struct simt_schedule schedule = {.order = order, .seed = 3, .fuel = 10000};
        simt_buffer_poison(y);
        simt_run(launch, &x, &y, (const long[]){THREADS}, (const double[]){1}, &schedule, &verdict);
        if (verdict.outcome != OUTCOME_FINISHED)
            fail_msg("%s: %s", outcome_name(verdict.outcome), verdict.detail);
        assert_false(verdict.divergence || verdict.stray_read || verdict.stray_write ||
                     verdict.race);
        for (int i = 0; i < CHECKS + THREADS; i++)
            if (!(y[i] == (i < CHECKS ? 1 : 2)))
                fail_msg("y[%d] = %g", i, (double)y[i]);
    }
    simt_buffer_free(x);
    simt_buffer_free(y);
}

static void kernels_find_cuda(void **state)
{
    (void)state;
    run(false);
}

static void instrumented_kernels_find_it_too(void **state)
{
    (void)state;
    run(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_find_cuda),
        cmocka_unit_test(instrumented_kernels_find_it_too),
    };
    return cmocka_run_group_tests_name("shim", tests, make_folder, remove_folder);
}
