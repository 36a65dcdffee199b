/* Tokens, brackets, functions: what a source is split into, and what is no source. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lex.h"

#include <cmocka.h> /* last: it defines a macro named fail */

static void scan(struct source *s, const char *text)
{
    struct error e;
    if (source_scan(s, "k.cu", text, strlen(text), &e))
        fail_msg("%s: %s", text, e.text);
}

/* Each text and its tokens, joined by single spaces. */
static const char *const TOKENS[][2] = {
    {"a+++b", "a ++ + b"},
    {"a<<=b>>=c->d", "a <<= b >>= c -> d"},
    {"k<<<g,b>>>(x)", "k <<< g , b >>> ( x )"},
    {"x>=y&&!z||w", "x >= y && ! z || w"},
    {"1.5e-3f+0x1p-2*.5f-1'000u", "1.5e-3f + 0x1p-2 * .5f - 1'000u"},
    {"0xe+1", "0xe + 1"}, /* e is no exponent here */
    {"1e+1", "1e+1"},
    {"a.b.x", "a . b . x"},
    {"f(\"a \\\" // b\", 'c', '\\'')", "f ( \"a \\\" // b\" , 'c' , '\\'' )"},
    {"a /* b + c */ d // e\nf", "a d f"},
    {"a / b /**/ c", "a / b c"},
    {"#define A(x) \\\n  x + 1\nb", "b"},
    {"#pragma unroll\nfor (;;)", "for ( ; ; )"},
    {"#if X /* over\n two lines */\na\n#endif", "a"},
    {"a # b", NULL}, /* # is a directive at the start of a line only */
    {"$x:name $y", "$x:name $y"},
    {"$x : name", "$x : name"},
    {"a...", "a ..."},
};

static void splits_into_tokens(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof TOKENS / sizeof *TOKENS; k++) {
        struct source s;
        struct error e;
        char joined[256] = "";
        int code = source_scan(&s, "k.cu", TOKENS[k][0], strlen(TOKENS[k][0]), &e);
        assert_int_equal(code, TOKENS[k][1] ? 0 : EXIT_DATA);
        for (int i = 0; !code && i < s.tokens; i++)
            snprintf(joined + strlen(joined), sizeof joined - strlen(joined), "%s%.*s",
                     i ? " " : "", token_length(&s, i), s.text + s.token[i].begin);
        if (!code)
            assert_string_equal(joined, TOKENS[k][1]);
        source_free(&s);
    }
}

static void counts_lines(void **state)
{
    (void)state;
    struct source s;
    scan(&s, "a /* 1\n2 */ b\n#define X \\\n 3\nc \"s\"\nd");
    assert_int_equal(s.tokens, 5);
    static const int lines[] = {1, 2, 5, 5, 6};
    for (int i = 0; i < s.tokens; i++)
        assert_int_equal(s.token[i].line, lines[i]);
    assert_int_equal(s.directives, 1);
    assert_int_equal(s.directive[0].line, 3);
    source_free(&s);
}

static void scans_from_a_line(void **state)
{
    (void)state;
    struct source s;
    struct error e;
    assert_int_equal(source_scan_from(&s, "a.rules", 40, "x\ny", 3, &e), 0);
    assert_int_equal(s.token[1].line, 41);
    source_free(&s);
    assert_int_equal(source_scan_from(&s, "a.rules", 40, "x\n)", 3, &e), EXIT_DATA);
    assert_string_equal(e.text, "a.rules:41: this bracket closes nothing");
}

static void pairs_brackets(void **state)
{
    (void)state;
    struct source s;
    scan(&s, "f(a[1], { b }) <<< c >>>");
    /*        0 1 2345 6  7 8 9 10  11 12 13 */
    static const int partner[] = {NONE, 10, NONE, 5, NONE, 3, NONE, 9, NONE, 7, 1, 13, NONE, 11};
    static const int parent[] = {NONE, NONE, 1, 1, 3, 1, 1, 1, 7, 1, NONE, NONE, 11, NONE};
    assert_int_equal(s.tokens, 14);
    for (int i = 0; i < s.tokens; i++) {
        assert_int_equal(s.token[i].partner, partner[i]);
        assert_int_equal(s.token[i].parent, parent[i]);
    }
    source_free(&s);
}

static void finds_functions(void **state)
{
    (void)state;
    static const struct {
        const char *text, *name; /* name NULL: no function */
        enum function_kind kind;
    } cases[] = {
        {"__global__ void k(int n) { }", "k", FUNCTION_KERNEL},
        {"template <int N> __global__ void __launch_bounds__(N) k(int n) { }", "k",
         FUNCTION_KERNEL},
        {"__global__ __launch_bounds__(256, 2) void k() { }", "k", FUNCTION_KERNEL},
        {"static __device__ __forceinline__ float f(float x) { return x; }", "f", FUNCTION_DEVICE},
        {"__host__ __device__ int f() { return 0; }", "f", FUNCTION_DEVICE},
        {"extern \"C\" void launch(float *const in[]) { if (x) { } }", "launch", FUNCTION_HOST},
        {"extern \"C\" { void launch(int n) { } }", "launch", FUNCTION_HOST},
        {"namespace a { namespace { int f() { return 0; } } }", "f", FUNCTION_HOST},
        {"struct S { __device__ int f() const { return 1; } };", "f", FUNCTION_DEVICE},
        {"int f(int);", NULL, FUNCTION_HOST},
        {"constexpr int N = f(1);", NULL, FUNCTION_HOST},
        {"struct S { int a; };", NULL, FUNCTION_HOST},
        {"for (int i = 0; i < n; i++) { }", NULL, FUNCTION_HOST},
        {"if (a) { }", NULL, FUNCTION_HOST},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct source s;
        scan(&s, cases[k].text);
        assert_int_equal(s.functions, cases[k].name != NULL);
        if (cases[k].name) {
            assert_int_equal(s.function[0].kind, cases[k].kind);
            assert_true(token_is(&s, s.function[0].name, cases[k].name));
            assert_int_equal(source_function(&s, cases[k].name), 0);
        }
        source_free(&s);
    }
}

static void marks_the_tokens_of_functions(void **state)
{
    (void)state;
    struct source s;
    scan(&s, "int a; int f(int b) { c; } int d;");
    for (int i = 0; i < s.tokens; i++) {
        bool inside = i >= 5 && i <= 12; /* from ( to } */
        assert_int_equal(s.token[i].function, inside ? 0 : NONE);
    }
    source_free(&s);
}

static void refuses_what_is_no_source(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"a\n(b", "k.cu:2: this bracket is never closed"},
        {"a)", "k.cu:1: this bracket closes nothing"},
        {"(a]", "k.cu:1: this bracket closes nothing"},
        {"k<<<a)", "k.cu:1: this bracket closes nothing"},
        {"\n/* a", "k.cu:2: this comment is never closed"},
        {"\"a\nb\"", "k.cu:1: this quote is never closed"},
        {"'a", "k.cu:1: this quote is never closed"},
        {"a\n\n@", "k.cu:3: this byte starts no token"},
        {"\xc3\xa9", "k.cu:1: this byte starts no token"},
        {"#define X /* a", "k.cu:1: this comment is never closed"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct source s;
        struct error e;
        assert_int_equal(source_scan(&s, "k.cu", cases[k][0], strlen(cases[k][0]), &e), EXIT_DATA);
        assert_string_equal(e.text, cases[k][1]);
    }
    struct source s;
    struct error e;
    assert_int_equal(source_scan(&s, "k.cu", "a\0b", 3, &e), EXIT_DATA);
    assert_int_equal(source_read(&s, "/nonexistent/k.cu", &e), EXIT_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(splits_into_tokens),
        cmocka_unit_test(counts_lines),
        cmocka_unit_test(scans_from_a_line),
        cmocka_unit_test(pairs_brackets),
        cmocka_unit_test(finds_functions),
        cmocka_unit_test(marks_the_tokens_of_functions),
        cmocka_unit_test(refuses_what_is_no_source),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
