/* test_nvrtc - device code without a GPU: what NVRTC is given of a kernel file, and what comes back. */
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "backend/cuda/compiler.h"
#include "file.h"
#include "manifest.h"
#include "memory.h"

#include <cmocka.h> /* last: it has a macro named fail */

static const struct device_compiler *compiler;
static char folder[] = "/tmp/test_nvrtc.XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

static struct candidate candidate_of(const char *text)
{
    return (struct candidate){.id = "c", .source = {text, strlen(text)}, .compiled = true};
}

static int find_host(void *context, struct error *e)
{
    (void)context;
    (void)e;
    return 0;
}

static int count_known(void *context, struct candidate *c, struct error *e)
{
    (void)c;
    (void)e;
    ++*(int *)context;
    return 0;
}

static void compile_all(struct candidate c[], int count)
{
    struct error e;
    int known = 0;
    const struct device_client client = {&known, find_host, count_known};
    struct candidate **all = memory_zeroed(count, sizeof *all);
    for (int k = 0; k < count; k++)
        all[k] = &c[k];
    if (compiler->compile(all, count, folder, &client, &e))
        fail_msg("%s", e.text);
    assert_int_equal(known, count);
    free(all);
}

/* The lines before the cubin. */
static void read_kernels(const struct candidate *c, char kernels[256])
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s.gpu", folder, c->device);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    size_t size = fread(kernels, 1, 255, f);
    kernels[size] = '\0';
    char *end = *kernels == '\n' ? kernels : strstr(kernels, "\n\n");
    assert_non_null(end);
    *end = '\0';
    fclose(f);
}

#define DOUBLE_IT "__global__ void k(float *y, const float *x) { y[threadIdx.x] = 2 * x[threadIdx.x]; }\n"
#define LAUNCH "void launch(float *const in[], float *const out[]) { k<<<1, 32>>>(out[0], in[0]); }\n"

static void equal_code_is_told(void **state)
{
    (void)state;
    struct candidate c[] = {
        candidate_of(DOUBLE_IT LAUNCH),
        candidate_of("/* a comment */\n\n" DOUBLE_IT LAUNCH),
        candidate_of("__global__ void k(float *y, const float *x) { unsigned i = threadIdx.x; y[i] = x[i] * 2; }\n" LAUNCH),
        candidate_of("__global__ void k(float *y, const float *x) { y[threadIdx.x] = 3 * x[threadIdx.x]; }\n" LAUNCH),
        candidate_of(DOUBLE_IT "void launch(float *const in[], float *const out[]) { k<<<2, 64>>>(out[0], in[0]); }\n"),
    };
    compile_all(c, 5);
    assert_string_equal(c[0].device, c[1].device);
    assert_string_equal(c[0].device, c[2].device);
    assert_string_not_equal(c[0].device, c[3].device);
    assert_string_equal(c[0].device, c[4].device); /* the launch is host code */
}

static void kernels_are_found_by_expression(void **state)
{
    (void)state;
    char kernels[256];
    struct candidate c[] = {
        candidate_of(DOUBLE_IT LAUNCH),
        candidate_of("namespace { template <int N, bool B> __global__ void t(float *y) { y[0] = B ? N : 0; } }\n"
                     "void launch(float *y) { t<3, true><<<1, 1>>>(y); t<4, false><<<1, 1>>>(y); }\n"),
        candidate_of(DOUBLE_IT "void launch() {}\n"),
    };
    compile_all(c, 3);
    read_kernels(&c[0], kernels);
    assert_string_equal(kernels, "_Z1kPfPKf k");
    read_kernels(&c[1], kernels);
    assert_non_null(strstr(kernels, " t < 3 , true >\n"));
    assert_non_null(strstr(kernels, " t < 4 , false >"));
    read_kernels(&c[2], kernels);
    assert_string_equal(kernels, "");
}

static void what_does_not_compile_is_told(void **state)
{
    (void)state;
    struct candidate c[] = {
        candidate_of("\n__global__ void k(float *y, const float *x) { y[0] = undeclared; }\n" LAUNCH),
        candidate_of(DOUBLE_IT LAUNCH),
        candidate_of("__global__ void k(float *y, const float *x) { __shared__ float s[100000]; s[threadIdx.x] = x[0]; "
                     "__syncthreads(); y[0] = s[(int)x[1]]; }\n" LAUNCH),
    };
    compile_all(c, 3);
    assert_false(c[0].compiled);
    assert_string_equal(c[0].message, "2: identifier \"undeclared\" is undefined");
    assert_true(c[1].compiled);
    assert_false(c[2].compiled); /* more shared memory than there is */
    free(c[0].message);
    free(c[2].message);
}

static char *read_text(const char *path, size_t *size)
{
    struct error e;
    char *text;
    if (file_read(path, &text, size, &e))
        fail_msg("%s", e.text);
    return text;
}

static void every_kernel_compiles(void **state)
{
    (void)state;
    glob_t found;
    assert_int_equal(glob("kernels/level*/*.cu", 0, NULL, &found), 0);
    struct candidate *c = memory_zeroed((int)found.gl_pathc, sizeof *c);
    for (size_t k = 0; k < found.gl_pathc; k++) {
        c[k] = (struct candidate){.id = found.gl_pathv[k], .compiled = true};
        c[k].source.text = read_text(c[k].id, &c[k].source.size);
    }
    compile_all(c, (int)found.gl_pathc);
    for (size_t k = 0; k < found.gl_pathc; k++) {
        if (!c[k].compiled)
            fail_msg("%s:%s", c[k].id, c[k].message);
        free((char *)c[k].source.text);
    }
    free(c);
    globfree(&found);
}

/* Every twentieth mutant of one kernel: no trouble, whatever becomes of them. */
static void mutants_compile_or_are_told(void **state)
{
    (void)state;
    enum { MOST = 20 };
    struct error e;
    struct manifest manifest;
    struct candidate c[MOST];
    int count = 0, compiled = 0;
    size_t size;
    assert_int_equal(manifest_read(&manifest, "build/mutants/level1/019_relu.jsonl", &e), 0);
    char *kernel = read_text("kernels/level1/019_relu.cu", &size);
    for (int k = 0; k < manifest.mutants.count && count < MOST; k += 20, count++) {
        const struct mutant *m = &manifest.mutants.mutant[k];
        char *text;
        size_t length;
        if (mutant_apply(m, kernel, size, &text, &length, &e))
            fail_msg("%s", e.text);
        c[count] = (struct candidate){.id = m->id, .source = {text, length}, .compiled = true};
    }
    compile_all(c, count);
    for (int k = 0; k < count; k++) {
        compiled += c[k].compiled;
        assert_true(c[k].compiled ? strlen(c[k].device) == HASH_HEX - 1 : c[k].message != NULL);
        free(c[k].message);
        free((char *)c[k].source.text);
    }
    assert_true(2 * compiled > count);
    free(kernel);
    manifest_free(&manifest);
}

int main(void)
{
    struct error e;
    if (cuda_compiler("c/backend", 2, &compiler, &e)) {
        printf("1..0 # SKIP %s\n", e.text); /* cmocka's own skip counts as a failure in TAP */
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_code_is_told),
        cmocka_unit_test(kernels_are_found_by_expression),
        cmocka_unit_test(what_does_not_compile_is_told),
        cmocka_unit_test(every_kernel_compiles),
        cmocka_unit_test(mutants_compile_or_are_told),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
