/* Lowering: what each construct becomes, what is refused, and that the result depends on tokens
 * only. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "lower.h"
#include "share.h"

#include <cmocka.h> /* last: it defines a macro named fail */

static int lower_text(const char *text, enum linkage linkage, struct lowered *l, struct error *e)
{
    struct source s;
    int code = source_scan(&s, "k.cu", text, strlen(text), e);
    if (!code)
        code = lower(&s, linkage, NULL, l, e);
    source_free(&s);
    return code;
}

/* The text of `in` with all white space made one space, so that the tables stay readable. */
static void squeeze(char *out, const char *in)
{
    char *start = out;
    for (; *in; in++) {
        bool space = *in == ' ' || *in == '\n';
        if (!space)
            *out++ = *in;
        else if (out > start && out[-1] != ' ')
            *out++ = ' ';
    }
    if (out > start && out[-1] == ' ')
        out--;
    *out = '\0';
}

static const char *const BECOMES[][2] = {
    /* launches */
    {"void f() { k<<<g, b>>>(x); }",
     "void f() { simt_launcher((k), \"k\", dim3(g), dim3( b), 0)(x); }"},
    {"void f() { k<4, (2 > 1)><<<dim3(n, 2), 64, s * 4>>>(x, y); }",
     "void f() { simt_launcher((k<4, (2 > 1)>), \"k < 4 , ( 2 > 1 ) >\", dim3(dim3(n, 2)), "
     "dim3( 64), ( s * 4))(x, y); }"},
    {"void f() { a::k<<<g, b, 0, stream>>>(x); }",
     "void f() { simt_launcher((a::k), \"a :: k\", dim3(g), dim3( b), ( 0))(x); }"},
    {"void f() { if (n < 4) k<<<g, b>>>(); }",
     "void f() { if (n < 4) simt_launcher((k), \"k\", dim3(g), dim3( b), 0)(); }"},
    /* barriers */
    {"void f() { __syncthreads(); __syncthreads ( ); n = __syncthreads_count(n < 2); }",
     "void f() { simt_barrier(0); simt_barrier(1 ); n = simt_barrier_count(2, n < 2); }"},
    {"void f() { if (__syncthreads_or(a) && __syncthreads_and(b)) ; }",
     "void f() { if (simt_barrier_or(0, a) && simt_barrier_and(1, b)) ; }"},
    /* shared memory */
    {"void f() { __shared__ float a[N][M + 1]; }",
     "void f() { float (&a)[ N ] [ M + 1 ] = *(float (*)[ N ] [ M + 1 ])simt_shared(0, "
     "sizeof(float [ N ] [ M + 1 ]), alignof(float)); }"},
    {"void f() { __shared__ unsigned int a, *b[2]; }",
     "void f() { unsigned int &a = *(unsigned int *)simt_shared(0, sizeof(unsigned int ), "
     "alignof(unsigned "
     "int)); unsigned int * (&b)[ 2 ] = *(unsigned int * (*)[ 2 ])simt_shared(1, sizeof(unsigned "
     "int * [ 2 "
     "]), alignof(unsigned int *)); }"},
    {"void f() { alignas(16) volatile __shared__ pair<int, long> a[2]; }",
     "void f() { struct simt_aligned_0 { alignas ( 16 ) volatile pair < int , long > member [ 2 ]; "
     "}; volatile "
     "pair < int , long > (&a)[ 2 ] = *(volatile pair < int , long > (*)[ 2 ])simt_shared(0, "
     "sizeof(volatile "
     "pair < int , long > [ 2 ]), alignof(simt_aligned_0)); }"},
    {"void f() { __shared__ __align__(8) float a; }",
     "void f() { struct simt_aligned_0 { alignas ( 8 ) float member ; }; float &a = *(float "
     "*)simt_shared(0, "
     "sizeof(float ), alignof(simt_aligned_0)); }"},
    {"void f() { extern __shared__ float4 a[]; }",
     "void f() { float4 (*a) = (float4 (*))simt_dynamic_shared(); }"},
    {"void f() { extern __shared__ float a[][W]; }",
     "void f() { float (*a)[ W ] = (float (*)[ W ])simt_dynamic_shared(); }"},
    /* what looks like one of them and is none */
    {"void f() { /* __syncthreads(); */ s = \"k<<<1, 2>>>()\"; a = b << 3 >> 2; }",
     "void f() { /* __syncthreads(); */ s = \"k<<<1, 2>>>()\"; a = b << 3 >> 2; }"},
    /* linkage */
    {"extern \"C\" void f() { } extern \"C\" { void g(); }", "void f() { } void g();"},
};

static void test_becomes(void **state)
{
    (void)state;
    char found[4096];
    for (size_t k = 0; k < sizeof BECOMES / sizeof *BECOMES; k++) {
        struct lowered l;
        struct error e;
        assert_int_equal(lower_text(BECOMES[k][0], LINKAGE_STRIPPED, &l, &e), 0);
        squeeze(found, l.text);
        assert_string_equal(found, BECOMES[k][1]);
        lowered_free(&l);
    }
}

static const char *const REFUSED[][2] = {
    {"\n__shared__ float a[4];\n", "k.cu:2: shared memory is to be declared inside a function"},
    {"void f()\n{\n__shared__ float a = 1;\n}", "k.cu:3: this shared declaration is not"},
    {"void f() { extern __shared__ float a; }", "k.cu:1: extern __shared__ needs an array"},
    {"void f() { __shared__ a[4]; }", "k.cu:1: this shared declaration is not"},
    {"void f() { (k)<<<1, 2>>>(); }", "k.cu:1: a launch needs the name of a kernel"},
    {"void f() { k<<<1>>>(); }", "k.cu:1: a launch needs a grid and a block"},
    {"template <class T> __global__ void k(T *y) {}\nvoid f() { k<<<1, 2>>>(y); }",
     "k.cu:2: the launch of a template needs its arguments"},
};

static void test_refused(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof REFUSED / sizeof *REFUSED; k++) {
        struct lowered l;
        struct error e;
        assert_int_equal(lower_text(REFUSED[k][0], LINKAGE_STRIPPED, &l, &e), EXIT_DATA);
        assert_non_null(strstr(e.text, REFUSED[k][1]));
    }
}

static const char LINES[] = "#include <cuda_runtime.h>\n"
                            "#include <algorithm>\n"
                            "#include <cuda_fp16.h>\n"
                            "#include \"mine.h\"\n"
                            "# define N 4\n"
                            "#define TWICE(x) \\\n"
                            "    (2 * (x))\n"
                            "__global__ void k()\n"
                            "{\n"
                            "    __shared__ float a[2]\n"
                            "        [3], b;\n"
                            "    here;\n"
                            "}\n"
                            "extern \"C\" void f()\n"
                            "{\n"
                            "    k<<<1, 2, 0,\n"
                            "        0>>>();\n"
                            "    there;\n"
                            "}\n";

/* The line on which `word` stands, from 1. */
static int line_of(const char *text, const char *word)
{
    const char *at = strstr(text, word);
    int line = 1;
    assert_non_null(at);
    for (const char *c = text; c < at; c++)
        line += *c == '\n';
    return line;
}

static void test_lines_stay(void **state)
{
    (void)state;
    struct lowered l;
    struct error e;
    assert_int_equal(lower_text(LINES, LINKAGE_KEPT, &l, &e), 0);
    assert_int_equal(line_of(l.text, "here;"), line_of(LINES, "here;"));
    assert_int_equal(line_of(l.text, "there;"), line_of(LINES, "there;"));
    assert_string_equal(l.system, "#include <algorithm>\n");
    assert_string_equal(l.quoted, "#include <cuda_fp16.h>\n#include \"mine.h\"\n");
    assert_string_equal(l.undefs, "#undef N\n#undef TWICE\n");
    assert_non_null(strstr(l.text, "extern \"C\" void f()"));
    assert_null(strstr(l.text, "#include"));
    lowered_free(&l);
}

/* ---- sharing --------------------------------------------------------------------------------- */

#define FILE_WITH(constant, device, one, two, host)                                                \
    constant " __device__ float d(float x) { return " device "; } "                                \
             "__global__ void one(float *y) { " one " } __global__ void two(float *y) { " two      \
             " } "                                                                                 \
             "void launch() { one<<<1, 2>>>(0); two<<<1, 2>>>(0); " host " }"
#define ORIGINAL FILE_WITH("constexpr int N = 4;", "x", "*y = d(N);", "*y = 1;", "")

/* The file, and which of d, one, two, launch can be taken from ORIGINAL. */
static const char *const SHARED[][2] = {
    {ORIGINAL, ".12."},
    {FILE_WITH("constexpr int N = 4;", "x", "*y = d(N);", "*y = 1;", "more();"), ".12."},
    {FILE_WITH("constexpr int N = 4;", "x", "*y = d(N);", "*y = 2;", ""), ".1.."},
    {FILE_WITH("constexpr int N = 4;", "-x", "*y = d(N);", "*y = 1;", ""), "..2."},
    {FILE_WITH("constexpr int N = 5;", "x", "*y = d(N);", "*y = 1;", ""), "...."},
};

static void expect_shared(const char *original, const char *mutant, const char *expected)
{
    struct source a, b;
    struct error e;
    bool shared[8];
    char found[9] = "";
    assert_int_equal(source_scan(&a, "a", original, strlen(original), &e), 0);
    assert_int_equal(source_scan(&b, "b", mutant, strlen(mutant), &e), 0);
    share_kernels(&a, &b, shared);
    for (int f = 0; f < b.functions; f++)
        found[f] = shared[f] ? (char)('0' + f) : '.';
    assert_string_equal(found, expected);
    source_free(&a);
    source_free(&b);
}

static void test_shared(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof SHARED / sizeof *SHARED; k++)
        expect_shared(ORIGINAL, SHARED[k][0], SHARED[k][1]);
}

/* Variables and types of the file are not the original's, nor is a variable in a kernel. */
static void test_state_is_not_shared(void **state)
{
    (void)state;
    static const char *const FILES[] = {
        FILE_WITH("__device__ int n;", "x", "*y = n;", "*y = 1;", ""),
        FILE_WITH("struct s { int n; };", "x", "s z;", "*y = 1;", ""),
        FILE_WITH("constexpr struct s { int n; } z = {1};", "x", "*y = 0;", "*y = 1;", ""),
    };
    for (size_t k = 0; k < sizeof FILES / sizeof *FILES; k++)
        expect_shared(FILES[k], FILES[k], "....");
    const char *counter = FILE_WITH("", "x", "static int n; n++;", "*y = 1;", "");
    expect_shared(counter, counter, "..2.");
    const char *defines = FILE_WITH("", "x", "*y = 1;\n#define N 4\n", "*y = N;", "");
    expect_shared(defines, defines, "..2.");
    const char *unrolls = FILE_WITH("", "x", "*y = 1;\n#pragma unroll\n", "*y = 2;", "");
    expect_shared(unrolls, unrolls, ".12.");
}

static void test_shared_kernel_is_used(void **state)
{
    (void)state;
    static const char TEXT[] =
        "template <int N>\n__global__ void k()\n{\n    __syncthreads();\n}\nvoid launch() {}\n";
    struct source s;
    struct lowered l;
    struct error e;
    assert_int_equal(source_scan(&s, "k.cu", TEXT, strlen(TEXT), &e), 0);
    assert_int_equal(lower(&s, LINKAGE_STRIPPED, (const bool[]){true, false}, &l, &e), 0);
    assert_string_equal(l.text, "using original::k;\n\n\n\n\nvoid launch() {}\n\n");
    lowered_free(&l);
    source_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_becomes),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_lines_stay),
        cmocka_unit_test(test_shared),
        cmocka_unit_test(test_state_is_not_shared),
        cmocka_unit_test(test_shared_kernel_is_used),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("lower", tests, NULL, NULL);
}
