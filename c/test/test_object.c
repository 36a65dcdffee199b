/*
 * Equal machine code is found, and only that: pairs of kernel bodies that are known to be the same
 * on a GPU, and pairs that are not. Compiled in one unit, as mutants are.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "batch.h"
#include "process.h"

#include <cmocka.h> /* last: it defines a macro named fail */

/* A file with the statement in its kernel, its helper, or its host part. */
#define KERNEL(statement)                                                                          \
    "__device__ float twice(float v) { return 2 * v; }\n"                                          \
    "__global__ void other(float *y) { y[0] = 1; __syncthreads(); y[1] = 2; }\n"                   \
    "__global__ void k(const float *x, float *y, int n, int q)\n"                                  \
    "{ __shared__ float red[256]; int i = blockIdx.x * blockDim.x + threadIdx.x;\n"                \
    "  red[threadIdx.x] = 0; __syncthreads();\n"                                                   \
    "  " statement "\n"                                                                            \
    "  y[i] = red[threadIdx.x]; }\n"                                                               \
    "extern \"C\" void launch(float *const in[], float *const out[], const long dim[])\n"          \
    "{ k<<<dim[0] / 256, 256>>>(in[0], out[0], dim[0], 3); other<<<1, 2>>>(out[1]); }\n"

#define HOST(statement)                                                                            \
    "void launch(float *const in[], float *const out[], const long dim[]) { " statement " }"

struct pair {
    bool equal;
    const char *a, *b;
};

static const struct pair PAIRS[] = {
    {true, KERNEL("if (i < n) red[0] = x[i];"), KERNEL("if (n > i) red[0] = x[i];")},
    {true, KERNEL("if (i < n) red[0] = x[i];"), KERNEL("if (!(i >= n)) red[0] = x[i];")},
    {true, KERNEL("if (q > 0) red[0] = x[i];"), KERNEL("if (q >= 1) red[0] = x[i];")},
    {true, KERNEL("red[0] = x[i] * 0.5f;"), KERNEL("red[0] = x[i] / 2.0f;")},
    {true, KERNEL("red[0] = x[i];"), KERNEL("red[0] = 1.0f * x[i];")},
    {true, KERNEL("red[0] = twice(x[i]);"), KERNEL("red[0] = twice(x[i]); /* the same tokens */")},
    {true, KERNEL("red[0] = x[i + 0];"), KERNEL("int unused = i * 5; red[0] = x[i];")},

    {false, KERNEL("if (i < n) red[0] = x[i];"), KERNEL("if (i <= n) red[0] = x[i];")},
    {false, KERNEL("red[0] = x[i] * 0.5f;"), KERNEL("red[0] = x[i] * 0.25f;")},
    {false, KERNEL("red[0] = x[i] * 0.75f;"), KERNEL("red[0] = x[i] * 0.7500001f;")},
    {false, KERNEL("red[0] = x[i];"), KERNEL("red[0] = x[i] + 0.0f;")}, /* -0 */
    {false, KERNEL("atomicAdd(&red[q], 1.0f);"), KERNEL("red[q] += 1.0f;")},
    {false, KERNEL("red[0] = expf(x[i]);"), KERNEL("red[0] = __expf(x[i]);")},
    {false, KERNEL("red[0] = expf(x[i]);"), KERNEL("red[0] = exp2f(x[i]);")},
    {false, KERNEL("red[0] = __ldg(&x[i]);"), KERNEL("red[0] = x[i];")},
    {false, KERNEL("__syncthreads();"), KERNEL("")},
    {false, KERNEL("__syncwarp();"), KERNEL("")},
    {false, KERNEL("__shared__ float a[64]; a[q] = 1; red[0] = a[1];"),
     KERNEL("__shared__ float a[65]; a[q] = 1; red[0] = a[1];")},
    {false, KERNEL("const float w[5] = {1, 2, 3, 4, 5}; red[0] = w[q];"),
     KERNEL("const float w[5] = {1, 2, 3, 4, 6}; red[0] = w[q];")},
    {false,
     KERNEL("switch (q) { case 0: red[0] = 3; break; case 1: red[0] = 5; break; case 2: red[0] = "
            "7; break; case 3: red[0] = 1; break; case 4: red[0] = 2; }"),
     KERNEL("switch (q) { case 0: red[0] = 3; break; case 1: red[0] = 5; break; case 2: red[0] = "
            "8; break; case 3: red[0] = 1; break; case 4: red[0] = 2; }")},
    {false, KERNEL("red[0] = twice(x[i]);"), KERNEL("red[0] = twice(x[i + 1]);")},
    {false, KERNEL("volatile float *r = red; r[0] = x[i];"),
     KERNEL("float *r = red; r[0] = x[i];")},
    {false, "__global__ void __launch_bounds__(256) k() {} " HOST("k<<<1, 256>>>();"),
     "__global__ void __launch_bounds__(128) k() {} " HOST("k<<<1, 256>>>();")},
    {false, "__global__ void k() {} " HOST("cudaStream_t s = 0; k<<<1, 32, 0, s>>>();"),
     "__global__ void k() {} " HOST("cudaStream_t s = 0; k<<<1, 32, 0, 0>>>();")},
};
enum { COUNT = sizeof PAIRS / sizeof *PAIRS };

static char folder[] = "/tmp/test_object.XXXXXX";
static const struct toolchain toolchain = {.backend = "c/backend", .include = "."};

static int make_folder(void **state)
{
    (void)state;
    setenv("LC_ALL", "C", 1);
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

static struct kernel_text text_of(const char *text)
{
    return (struct kernel_text){text, strlen(text)};
}

static void test_pairs(void **state)
{
    (void)state;
    static struct candidate c[2 * COUNT];
    struct error e;
    char id[2 * COUNT][16];
    for (int k = 0; k < 2 * COUNT; k++) {
        const char *text = k % 2 ? PAIRS[k / 2].b : PAIRS[k / 2].a;
        snprintf(id[k], sizeof id[k], "%d", k);
        c[k] = (struct candidate){.id = id[k], .source = text_of(text)};
    }
    assert_int_equal(batch_compile(&toolchain, text_of(PAIRS[0].a), c, 2 * COUNT, folder, &e), 0);
    for (int k = 0; k < COUNT; k++) {
        if (c[2 * k].message || c[2 * k + 1].message)
            fail_msg("pair %d: %s", k, c[2 * k].message ? c[2 * k].message : c[2 * k + 1].message);
        bool equal = strcmp(c[2 * k].code, c[2 * k + 1].code) == 0;
        if (equal != PAIRS[k].equal)
            fail_msg("%s\nand\n%s\nare %s", PAIRS[k].a, PAIRS[k].b, equal ? "equal" : "not equal");
    }
}

static void compile_one(const char *original, const char *text, struct candidate *c)
{
    struct error e;
    *c = (struct candidate){.id = "one", .source = text_of(text)};
    assert_int_equal(batch_compile(&toolchain, text_of(original), c, 1, folder, &e), 0);
    assert_null(c->message);
}

/* The hash must not depend on what else is in the unit, nor on what was shared with the original.
 */
static void test_company_does_not_matter(void **state)
{
    (void)state;
    const char *a = PAIRS[0].a, *host = KERNEL("red[0] = x[i];");
    struct candidate alone, shared;
    compile_one(a, a, &alone);
    compile_one(host, a, &shared);
    assert_string_equal(alone.code, shared.code);
}

/* What a static initialiser does belongs to no one mutant: such a file's mutants are all different.
 */
static void test_initialisers_are_never_equal(void **state)
{
    (void)state;
    static const char TEXT[] = "static float s = __expf(1.0f); void launch(float *const in[], "
                               "float *const out[], const long dim[]) { out[0][0] = s; }";
    struct error e;
    struct candidate c[2] = {{.id = "a", .source = text_of(TEXT)},
                             {.id = "b", .source = text_of(TEXT)}};
    assert_int_equal(batch_compile(&toolchain, text_of(TEXT), c, 2, folder, &e), 0);
    assert_null(c[0].message);
    assert_null(c[1].message);
    assert_string_not_equal(c[0].code, c[1].code);
}

#define BROKEN(statement) KERNEL("\n\n" statement)

/* Each broken mutant gets its own first message, with its line; the others compile. */
static void test_broken_mutants(void **state)
{
    (void)state;
    static const char *const TEXT[] = {
        KERNEL("red[0] = 1;"),
        BROKEN("red[0] = missing; also();"),
        BROKEN("float4 v; __shfl_sync(1, v, 0);"),
        BROKEN("extern float nowhere[]; red[0] = nowhere[1];"),
        BROKEN("red[0] = 2; }"),
        BROKEN("float &r = 3;"),
        KERNEL("red[0] = 2;"),
    };
    static const char *const MESSAGE[] = {
        NULL,
        "8: 'missing' was not declared",
        "8: static assertion failed",
        "1: 'nowhere' is used and not defined",
        "9: this bracket closes nothing",
        "8: cannot bind non-const lvalue reference",
        NULL,
    };
    enum { BROKEN_COUNT = sizeof TEXT / sizeof *TEXT };
    struct candidate c[BROKEN_COUNT];
    struct error e;
    for (int k = 0; k < BROKEN_COUNT; k++)
        c[k] = (struct candidate){.id = "m", .source = text_of(TEXT[k])};
    assert_int_equal(batch_compile(&toolchain, text_of(TEXT[0]), c, BROKEN_COUNT, folder, &e), 0);
    for (int k = 0; k < BROKEN_COUNT; k++) {
        assert_int_equal(c[k].compiled, !MESSAGE[k]);
        if (MESSAGE[k] &&
            (!c[k].message || strncmp(c[k].message, MESSAGE[k], strlen(MESSAGE[k])) != 0))
            fail_msg("mutant %d: %s", k, c[k].message ? c[k].message : "no message");
        free(c[k].message);
    }
}

static void test_broken_original(void **state)
{
    (void)state;
    struct candidate c = {.id = "m", .source = text_of(PAIRS[0].a)};
    struct error e;
    assert_int_equal(batch_compile(&toolchain, text_of(BROKEN("missing();")), &c, 1, folder, &e),
                     EXIT_DATA);
    assert_int_equal(strncmp(e.text, ":8: 'missing' was not declared", 30), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_company_does_not_matter),
        cmocka_unit_test(test_initialisers_are_never_equal),
        cmocka_unit_test(test_broken_mutants),
        cmocka_unit_test(test_broken_original),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("object", tests, make_folder, remove_folder);
}
