/* What the host's and the device's compiler get of a file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "part.h"

#include <cmocka.h> /* last: it defines a macro named fail */

static bool is_system(const char *line)
{
    return strchr(line, '<') != NULL;
}

static void check(const char *text, const char *host, const char *device)
{
    struct source s;
    struct error e;
    if (source_scan(&s, "", text, strlen(text), &e))
        fail_msg("%s", e.text);
    char *part = part_host(&s);
    assert_string_equal(part, host);
    free(part);
    part = part_device(&s, is_system);
    assert_string_equal(part, device);
    free(part);
    source_free(&s);
}

static void lines_stay(void **state)
{
    (void)state;
#define HEAD "#include \"b\"\nint n;\n__global__ void k(int i)\n"
#define LAUNCH "void launch()\n{ k<<<1, 2>>>(n);\n}\n"
    check("#include <a>\n" HEAD "{\n  i;\n}\n" LAUNCH, "#include <a>\n" HEAD "{\n\n}\n" LAUNCH,
          "\n" HEAD "{\n  i;\n}\n\n\n\n");
}

static void kernels_stay_declared(void **state)
{
    (void)state;
    check("template <int N> __global__ void __launch_bounds__(64) k() { N; } void f() { k<2>(); }",
          "template <int N> __global__ void __launch_bounds__(64) k() {} void f() { k<2>(); }",
          "template <int N> __global__ void __launch_bounds__(64) k() { N; } ");
}

/* Directly, through another one, for a constant, in a kernel's declaration; but not in its body. */
static void device_functions_that_the_host_mentions_stay(void **state)
{
    (void)state;
#define A "__host__ __device__ int a() { return 1; }"
#define B "__device__ int b() { return a(); }"
#define C "__device__ int c() { return 3; }"
    check(A B C "void f() { b(); }", A B "void f() { b(); }", A B C);
    check(A B C "void f() {}", "void f() {}", A B C);
    check(A C "int n = c();", C "int n = c();", A C "int n = c();");
    check(A C "__global__ void k(int i = a()) { c(); }", A "__global__ void k(int i = a()) {}",
          A C "__global__ void k(int i = a()) { c(); }");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_stay),
        cmocka_unit_test(kernels_stay_declared),
        cmocka_unit_test(device_functions_that_the_host_mentions_stay),
    };
    return cmocka_run_group_tests_name("part", tests, NULL, NULL);
}
