/* Rules at work: what patterns match, what becomes of the text, what guards know, which rule files
 * are refused; and what must hold of every mutant of every kernel. */
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "manifest.h"
#include "mutant.h"
#include "rule.h"
#include "type.h"

#include <cmocka.h> /* last: it defines a macro named fail */

/* ---- helpers --------------------------------------------------------------------------------- */

/* What every fragment stands in. */
#define HEAD                                                                                       \
    "constexpr int TILE = 32;\n#define BLOCK 256\nstruct shape { int rows; float scale; };\n"      \
    "__device__ float f(float a) { return a; }\n"                                                  \
    "__global__ void k(const float *x, float *y, float a, float b, int i, int j, int n, int m,\n"  \
    "                  half h, float4 v, shape p, __shared__ float s[256]) {\n"
#define TAIL "\n}\n"

static char *make_text(const char *fragment)
{
    char *text;
    assert_true(asprintf(&text, "%s%s%s", HEAD, fragment, TAIL) > 0);
    return text;
}

static struct alternative *make_alternative(const char *match, const char *replace)
{
    struct alternative *a = calloc(1, sizeof *a);
    struct error e;
    assert_non_null(a);
    if (pattern_read(&a->match, "a.rules", 1, match, &e) ||
        replacement_read(&a->replacement, &a->match, "a.rules", 1, replace, &e))
        fail_msg("%s", e.text);
    return a;
}

static void free_alternative(struct alternative *a)
{
    pattern_free(&a->match);
    pattern_free(&a->replacement);
    free(a);
}

/* The mutants of a fragment by one rule, each as the fragment's text, joined by " | ". */
static char *mutate(const char *match, const char *replace, const char *where, const char *fragment)
{
    struct alternative *a = make_alternative(match, replace);
    struct guard guard;
    struct rule rule = {.id = (char[]){"t/r"},
                        .family = (char[]){"t"},
                        .in = {true, true, true},
                        .alternative = &a,
                        .alternatives = 1,
                        .guard = &guard,
                        .guards = where != NULL};
    char *text = make_text(fragment), *joined = calloc(1, 4096);
    struct source s;
    struct mutants made;
    struct error e;
    if (where && guard_read(&guard, "a.rules", 1, where, &e))
        fail_msg("%s", e.text);
    if (source_scan(&s, "k.cu", text, strlen(text), &e) || mutants_make(&made, &s, &rule, 1, &e))
        fail_msg("%s: %s", fragment, e.text);
    for (int k = 0; k < made.count; k++) {
        char *mutated;
        size_t size;
        if (made.mutant[k].edit[0].begin < (int)strlen(HEAD))
            continue; /* not in the fragment */
        assert_int_equal(mutant_apply(&made.mutant[k], text, strlen(text), &mutated, &size, &e), 0);
        snprintf(joined + strlen(joined), 4096 - strlen(joined), "%s%.*s", *joined ? " | " : "",
                 (int)(size - strlen(HEAD) - strlen(TAIL)), mutated + strlen(HEAD));
        free(mutated);
    }
    mutants_free(&made);
    source_free(&s);
    free(text);
    if (where)
        guard_free(&guard);
    free_alternative(a);
    return joined;
}

struct edit_case {
    const char *match, *replace, *fragment, *mutants; /* "" for none */
};

static void check_edits(const struct edit_case *cases, size_t count)
{
    int failures = 0;
    for (size_t k = 0; k < count; k++) {
        char *mutants = mutate(cases[k].match, cases[k].replace, NULL, cases[k].fragment);
        if (strcmp(mutants, cases[k].mutants) != 0) {
            print_error("`%s` -> `%s` makes of `%s`\n  %s\nand not\n  %s\n", cases[k].match,
                        cases[k].replace, cases[k].fragment, mutants, cases[k].mutants);
            failures++;
        }
        free(mutants);
    }
    assert_int_equal(failures, 0);
}

/* ---- patterns -------------------------------------------------------------------------------- */

static const struct edit_case OPERANDS[] = {
    /* operands reach as far as precedence says */
    {"$a < $b", "$a <= $b", "if (i + j < n && j < m) return;",
     "if (i + j <= n && j < m) return; | if (i + j < n && j <= m) return;"},
    {"$a < $b", "$b < $a", "a = i + j < n && j < m;",
     "a = n < i + j && j < m; | a = i + j < n && m < j;"},
    {"$a + $b", "$b", "a = i - j + n;", "a = n;"},
    {"$a - $b", "$a", "a = i - j + n - m;", "a = i + n - m; | a = i - j + n;"},
    {"$a * $b", "$b * $a", "a = i * j * n;", "a = j * i * n; | a = n * (i * j);"},
    {"$a * $b + $c", "$c", "a = i * j * n + m;", "a = m;"},
    {"$a = $b", "$a = 0", "i = j = n;", "i = 0; | i = j = 0;"},
    {"$a ? $b : $c", "$b", "a = i < n ? x[i] : j < m ? 1.0f : b;",
     "a = x[i]; | a = i < n ? x[i] : 1.0f;"},
    {"$a && $b", "$b", "a = i || j && n == m;", "a = i || n == m;"},
    {"$a == $b", "$a != $b", "a = i & j == n;", "a = i & j != n;"},
    /* a literal at the edge is not torn off */
    {"$a + 1", "$a", "i = j + 1 * n; i = j + 1;", "i = j + 1 * n; i = j;"},
    {"1 + $a", "$a", "i = n * 1 + j; i = n - 1 + j; i = 1 + j;",
     "i = n * 1 + j; i = n - 1 + j; i = j;"},
    {"$a * 2", "$a", "i = -j * 2;", "i = -j;"},
    /* prefix, binary, cast, declarator */
    {"-$a", "$a", "a = b - -a * 2; a = b - a;", "a = b - a * 2; a = b - a;"},
    {"-$a", "-2 * $a", "a = (float)-b; a = i < -1;",
     "a = (float)(-2 * b); a = i < -1; | a = (float)-b; a = i < -2 * 1;"},
    {"*$p", "$p[1]", "a = *x * b; float *q; a = (float)*x;",
     "a = x[1] * b; float *q; a = (float)*x; | a = *x * b; float *q; a = (float)x[1];"},
    {"$a * $b", "$a / $b", "float *q = y; const float *const r = x; a = b * *x;",
     "float *q = y; const float *const r = x; a = b / *x;"},
    {"&$a", "$a", "atomicAdd(&y[i], a & b);", "atomicAdd(y[i], a & b);"},
    {"($t:type)$a", "$a", "a = (float)i / n; a = (a) - b; i = (int)(a + b);",
     "a = i / n; a = (a) - b; i = (int)(a + b); | a = (float)i / n; a = (a) - b; i = (a + b);"},
    {"$a++", "$a--", "i++; ++i; y[i++] = a;", "i--; ++i; y[i++] = a; | i++; ++i; y[i--] = a;"},
    {"++$a", "--$a", "i++; ++i;", "i++; --i;"},
    /* template brackets compare nothing */
    {"$a < $b", "$a > $b",
     "a = static_cast<float>(i); float4 w = reinterpret_cast<const float4 *>(x)[i]; if (i < n) "
     "return;",
     "a = static_cast<float>(i); float4 w = reinterpret_cast<const float4 *>(x)[i]; if (i > n) "
     "return;"},
    {"$a > $b", "$a", "g<TILE, 2>(x); g<2><<<n, TILE>>>(x); if (i > (n)) return;",
     "g<TILE, 2>(x); g<2><<<n, TILE>>>(x); if (i) return;"},
    {"static_cast<$t:type>($a)", "$a", "a = static_cast<float>(i) / n;", "a = i / n;"},
    /* brackets, calls, members */
    {"$p[$i]", "$p[$i + 1]", "a = s[x[i]];", "a = s[x[i + 1]]; | a = s[x[i] + 1];"},
    {"[$a][$b]", "[$b][$a]", "a = t[i][j];", "a = t[j][i];"},
    {"threadIdx.x", "threadIdx.y", "i = threadIdx.x; i = q.threadIdx.x;",
     "i = threadIdx.y; i = q.threadIdx.x;"},
    {"fmaxf($a, $b)", "fminf($a, $b)", "a = fmaxf(fmaxf(a, b), x[i]);",
     "a = fminf(fmaxf(a, b), x[i]); | a = fmaxf(fminf(a, b), x[i]);"},
    {"$f:name($a:args)", "$f()", "g(); g(a, b[1]);", "g(); g();"},
    {"$f:name($a:args, $b)", "$f($a)", "g(1, h(2, 3), 4);", "g(1, h(2), 4); | g(1, h(2, 3));"},
    {"$k:name<<<$g, $b>>>($a:args)", "$k<<<$b, $g>>>($a)", "g<<<n, TILE>>>(x, y);",
     "g<<<TILE, n>>>(x, y);"},
    {"($a:args, $b, $c);", "($a, $c, $b);", "g(x, i, j);", "g(x, j, i);"},
    /* the same again */
    {"$a * $a", "$a", "a = b * b; a = a * b; a = x[i] * x[i]; a = b * b + 1;",
     "a = b; a = a * b; a = x[i] * x[i]; a = b * b + 1; | a = b * b; a = a * b; a = x[i]; a = b * "
     "b + 1; | "
     "a = b * b; a = a * b; a = x[i] * x[i]; a = b + 1;"},
    {"$a = $a + $b", "$a = $b", "a = a + b; a = b + a;", "a = b; a = b + a;"},
    /* never in comments, strings, directives */
    {"$a < $b", "$a > $b", "/* i < n */ g(\"i < n\");\n#if 1 < 2\n#endif\n// i < n", ""},
};

static void operands_follow_precedence(void **state)
{
    (void)state;
    check_edits(OPERANDS, sizeof OPERANDS / sizeof *OPERANDS);
}

static const struct edit_case STATEMENTS[] = {
    {"__syncthreads();", "", "a = b;\n    __syncthreads();\n    y[i] = a;",
     "a = b;\n    y[i] = a;"},
    {"__syncthreads();", "", "a = b; __syncthreads(); y[i] = a;", "a = b; y[i] = a;"},
    {"$a = $b;", "", "float c = b; c = a;", "float c = b;"},
    {"$a = $b;", "", "if (i < n) a = b; else b = a;",
     "if (i < n) {  } else b = a; | if (i < n) a = b; else {  }"},
    {"$a = $b;", "$a = $b; $a = $b;", "if (i < n) a = b;", "if (i < n) { a = b; a = b; }"},
    {"$a = $b;", "", "for (i = 0; i < n; i++) a = b;", "for (i = 0; i < n; i++) {  }"},
    {"$t:type $a:name = $b;", "", "const float c = 0.f, d = 1.f; int e = 1;",
     "const float c = 0.f, d = 1.f;"},
    {"$t:type $a:name = 0.f", "$t $a = 1.f", "const float c = 0.f, d = 1.f;",
     "const float c = 1.f, d = 1.f;"},
    {"$a:name = 0.f", "$a = 1.f", "float c = 1.f, d = 0.f;", "float c = 1.f, d = 1.f;"},
    {"if ($c) $s:stmt", "$s", "if (i < n) { a = b; }", "{ a = b; }"},
    {"if ($c) $s:stmt", "$s", "if (i < n) a = b; else b = a;", ""},
    {"if ($c) $s:stmt else $t:stmt", "$t", "if (i < n) a = b; else if (j) b = a; else b = 0;",
     "if (j) b = a; else b = 0; | if (i < n) a = b; else b = 0;"},
    {"if ($a < $b)", "if ($a <= $b)", "if (i < n) *y = a; else b = a;",
     "if (i <= n) *y = a; else b = a;"},
    {"$s:stmt $t:stmt", "$t $s", "a = b; if (i) b = a;", "if (i) b = a; a = b;"},
    {"$s:stmt __syncthreads();", "__syncthreads(); $s", "if (i) a = b;\n    __syncthreads();",
     "__syncthreads(); if (i) a = b;"},
    {"for ($t:type $i:name = 0; $i < $n; $u) $s:stmt", "for ($t $i = 1; $i < $n; $u) $s",
     "for (int c = 0; c < n; c++)\n#pragma unroll\n        for (int d = 0; d < m; d += 2) { a = b; "
     "}",
     "for (int c = 1; c < n; c++)\n#pragma unroll\n        for (int d = 0; d < m; d += 2) { a = b; "
     "} | "
     "for (int c = 0; c < n; c++)\n#pragma unroll\n        for (int d = 1; d < m; d += 2) { a = b; "
     "}"},
    {"$a = $b; $a = $c;", "$a = $c;", "if (i) a = b; a = 0;", ""},
    /* several sites */
    {"$a = $b; ... $c = $a;", "$c = $b; ... $c = $a;", "i = j; n = m; y[0] = i;",
     "y[0] = j; n = m; y[0] = i;"},
    {"$a = $b; ... $c = $a;", "... $c = $b;", "i = j;\n    /* kept */ n = m;\n    m = i;",
     "    /* kept */ n = m;\n    m = j;"},
    {"for ($h:args) { ... __syncthreads(); }", "for ($h) { ... }",
     "for (;;) { a = b; __syncthreads(); }", "for (;;) { a = b; }"},
    {"if ($c) { ... return; }", "{ ... }", "if (i) { return; } if (j) { a = b; return; }",
     "{ } if (j) { a = b; return; } | if (i) { return; } { a = b; }"},
    /* a new name, a moved statement on lines of its own */
    {"$a = $b;", "float $new = $b;\n$a = $new;", "  a = b;", "  float fresh = b;\n  a = fresh;"},
    {"__shared__ $t:type $a:name[$n];", "$t $a[$n];", "__shared__ float t[TILE];",
     "float t[TILE];"},
    {"dim3 $g:name($a, $b);", "dim3 $g($b, $a);", "dim3 g(n / 2, m);", "dim3 g(m, n / 2);"},
};

static void statements_stay_whole(void **state)
{
    (void)state;
    check_edits(STATEMENTS, sizeof STATEMENTS / sizeof *STATEMENTS);
}

/* Bodies that are not the plain one of a plain function. */
static const char *const BODIES[] = {
    "struct S { __device__ int f(int a) const { a = 1; return a; } };",
    "__global__ void __launch_bounds__(256, 2) k(int a) { a = 1; }",
    "template <int N, typename T> __device__ T f(T a) { a = 1; return a; }",
    "__device__ void f(float (*a)[4], int b) { { b = 1; } }",
    "__global__ void k(int a) { auto f = [&](int b) { b = 1; }; f(a); }",
    "__device__ void f(int a) { switch (a) { case 0: a = 1; break; default: break; } }",
    "__device__ void f(int a) { do { a = 1; } while (a < 2); }",
};

static void finds_statements_in_any_body(void **state)
{
    (void)state;
    struct alternative *a = make_alternative("$a = 1;", "$a = 2;");
    struct rule rule = {.id = (char[]){"t/r"},
                        .family = (char[]){"t"},
                        .in = {true, true, true},
                        .alternative = &a,
                        .alternatives = 1};
    for (size_t k = 0; k < sizeof BODIES / sizeof *BODIES; k++) {
        struct source s;
        struct mutants made;
        struct error e;
        if (source_scan(&s, "k.cu", BODIES[k], strlen(BODIES[k]), &e) ||
            mutants_make(&made, &s, &rule, 1, &e))
            fail_msg("%s", e.text);
        if (made.count != 1)
            fail_msg("%d mutants of %s", made.count, BODIES[k]);
        mutants_free(&made);
        source_free(&s);
    }
    free_alternative(a);
}

static const struct edit_case TEXTS[] = {
    /* parentheses inside and around */
    {"$a + $b", "$a * $b", "a = (i - j) + n * m; a = i + -j;",
     "a = (i - j) * (n * m); a = i + -j; | "
     "a = (i - j) + n * m; a = i * -j;"},
    {"$a * $b", "$a + $b", "a = c - i * j; a = i * j;",
     "a = c - (i + j); a = i * j; | a = c - i * j; a = i + j;"},
    {"$a / $b", "$b / $a", "a = i / j / n;", "a = n / (i / j); | a = j / i / n;"},
    {"f($a)", "$a", "a = f(i + j) * 2; a = f(i + j);",
     "a = (i + j) * 2; a = f(i + j); | a = f(i + j) * 2; a = i + j;"},
    {"$a = $b", "$a = -$b", "a = i < n ? b : 0; a = b * 2;",
     "a = -(i < n ? b : 0); a = b * 2; | a = i < n ? b : 0; a = -(b * 2);"},
    {"$a / $b", "$a / ($b - 1)", "a = b / n;", "a = b / (n - 1);"},
    /* tokens that must not run together */
    {"-$a", "- -$a", "a = -b;", "a = - -b;"},
    {"$a = $b", "$a = -$b", "a = -b;", "a = - -b;"},
    {"$a / $b", "$a / *$b", "a = n/x;", "a = n/ *x;"},
    {"+ $a", "$a", "a = i + j;", "a = i j;"},
    {"return $a;", "return -$a;", "return a;", "return -a;"},
    /* no more of the text changes than must */
    {"fmaf($a, $b, $c)", "fmaf($b, $a, $c)", "a = fmaf(x[i], /* by */ b,\n a);",
     "a = fmaf(b, x[i],\n a);"},
    {"$a = fmaf($b, $c, $a);", "$a = round(fmaf($b, $c, $a));", "a = fmaf(b, b, a);",
     "a = round(fmaf(b, b, a));"},
    {"for ($i; $c; $u) $s:stmt", "for ($i; $c; $u) { $s break; }", "for (;;)\n  a = b;", ""},
};

static void texts_come_out_right(void **state)
{
    (void)state;
    check_edits(TEXTS, sizeof TEXTS / sizeof *TEXTS);
}

/* ---- guards ---------------------------------------------------------------------------------- */

/* Rule `$a = $e;` or as given, with a guard: does it fire on the fragment? */
static const struct {
    const char *match, *where, *fragment;
    bool fires;
} GUARDS[] = {
    {"$a = $e;", "$e is float", "a = x[i] * 2;", true},
    {"$a = $e;", "$e is float", "a = i * 2;", false},
    {"$a = $e;", "$e is not float", "a = i * 2;", true},
    {"$a = $e;", "$e is not float", "a = unknown * 2;", false},
    {"$a = $e;", "$e is float", "a = unknown * 2;", false},
    {"$a = $e;", "$e is integer", "i = threadIdx.x + blockDim.y * TILE;", true},
    {"$a = $e;", "$e is integer", "i = p.rows;", true},
    {"$a = $e;", "$e is float", "a = p.scale + v.w;", true},
    {"$a = $e;", "$e is half", "h = h * i;", true},
    {"$a = $e;", "$e is float", "a = h * a;", true},
    {"$a = $e;", "$e is pointer", "y = x + i;", true},
    {"$a = $e;", "$e is pointer", "a = x[i];", false},
    {"$a = $e;", "$e is integer", "i = x - y;", true},
    {"$a = $e;", "$e is float", "a = expf(i) + f(a) + fmaxf(a, b);", true},
    {"$a = $e;", "$e is float", "a = __shfl_down_sync(0xffffffff, a, 1);", true},
    {"$a = $e;", "$e is integer", "i = __shfl_down_sync(0xffffffff, i, 1);", true},
    {"$a = $e;", "$e is integer", "i = min(n, (int)a) % 32;", true},
    {"$a = $e;", "$e is float", "a = (float)i; ", true},
    {"$a = $e;", "$e is float", "a = static_cast<float>(i) / n;", true},
    {"$a = $e;", "$e is float", "a = reinterpret_cast<const float4 *>(x)[i].x;", true},
    {"$a = $e;", "$e is integer", "i = sizeof(float);", true},
    {"$a = $e;", "$e is integer", "i = a < b;", true},
    {"$a = $e;", "$e is integer", "i = BLOCK;", true},
    {"$a = $e;", "$e is float", "const auto c = a * 2; b = c;", true},
    {"$a = $e;", "$e is float", "a = i < n ? x[i] : 0.f;", true},
    {"$a = $e;", "$e is integer", "{ float i = 0; } j = i;", true}, /* the inner i has ended */
    {"$a = $e;", "$e is float", "float i = 0; j = i;", true},
    {"$a = $e;", "$e is integer", "int q = q; j = q;", true},
    {"$a = $e;", "$e is float", "auto q = q; a = q;", false},
    {"$a = $e;", "$a is shared", "s[i] = a;", true},
    {"$a = $e;", "$a is shared", "float *q = s + 4; q[i] = a;", true},
    {"$a = $e;", "$a is shared", "__shared__ float q[2], r[2]; r[i] = a;", true},
    {"$a = $e;", "$a is not shared", "y[i] = a;", true},
    {"$a = $e;", "$e is constant", "i = TILE * 2 + BLOCK;", true},
    {"$a = $e;", "$e is constant", "i = TILE * n;", false},
    {"$a = $e;", "$e is constant", "const int c = TILE; i = c;", true},
    {"$a = $e;", "$e is constant", "const int c = n; i = c;", false},
    {"$a = $e;", "$e is literal", "i = -1;", true},
    {"$a = $e;", "$e is literal", "i = 1 + 1;", false},
    {"$a = $e;", "$e is name", "i = j;", true},
    {"$a = $e;", "$e is name", "i = p.rows;", false},
    {"$a = $e;", "$e is simple", "a = expf(x[i]) + b;", true},
    {"$a = $e;", "$e is simple", "a = x[i++];", false},
    {"$a = $e;", "$e is simple", "a = g(b);", false},
    {"$g:name($e)", "$g is function", "f(a);", true},
    {"$g:name($e)", "$g is function", "g(a);", false},
    {"$a = $e;", "$e in { 0, 1.0f, blockDim.x }", "a = blockDim.x;", true},
    {"$a = $e;", "$e in { 0, 1.0f, blockDim.x }", "a = 1;", false},
    {"$a = $e;", "$e not in { 0 }", "a = 1;", true},
    {"$a = $e;", "$a differs $e", "a = a;", false},
    {"$a = $e;", "$a differs $e", "a = b;", true},
    {"$a = $e;", "$e has b", "a = x[i] * (b + 1);", true},
    {"$a = $e;", "$e lacks b", "a = x[i] * (b + 1);", false},
    {"$a = $e;", "$e has $a", "x[i] = a * x[i];", true},
    {"$a = $e;", "$e lacks $a", "x[i] = a * x[j];", true},
    {"$a = $e;", "inside loop", "for (i = 0; i < n; i++) a = b;", true},
    {"$a = $e;", "inside loop", "for (;;) { } a = b;", false},
    {"$a < $b", "inside condition", "if (i < n) a = b;", true},
    {"$a < $b", "inside condition", "for (int c = i < n; ; ) a = b;", false},
    {"$a < $b", "inside condition", "for (int c = 0; c < n; ) a = b;", true},
    {"$a < $b", "inside condition", "a = i < n;", false},
    {"$a + $b", "inside index", "a = x[i + j];", true},
    {"$a + $b", "inside index", "a = x[i] + j;", false},
    {"$a + $b", "inside launch", "g<<<n + 1, 32>>>(x);", true},
    {"$a + $b", "inside launch", "g<<<n, 32>>>(x + 1);", false},
    {"$a + $b", "inside call", "g<<<n, 32>>>(x + 1);", true},
    {"$a + $b", "inside for_head", "for (i = j + 1; ; ) a = b;", true},
    {"$a + $b", "not inside for_head", "for (i = j + 1; ; ) a = b;", false},
    {"$a = $e;", "inside statement_list", "{ a = b; }", true},
    {"$a = $e;", "inside statement_list", "if (i) a = b;", false},
    {"$a = $e;", "function has __syncthreads", "a = b; __syncthreads();", true},
    {"$a = $e;", "function lacks __syncthreads", "a = b; __syncthreads();", false},
};

static void guards_hold(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof GUARDS / sizeof *GUARDS; k++) {
        char *made = mutate(GUARDS[k].match, "mutated", GUARDS[k].where, GUARDS[k].fragment);
        if ((*made != '\0') != GUARDS[k].fires)
            fail_msg("`%s` %s on `%s`", GUARDS[k].where, GUARDS[k].fires ? "fails" : "fires",
                     GUARDS[k].fragment);
        free(made);
    }
}

/* ---- rule files ------------------------------------------------------------------------------ */

static char folder[] = "/tmp/test_rule.XXXXXX";
static char rules_path[sizeof folder + 16];

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(rules_path, sizeof rules_path, "%s/a.rules", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(rules_path);
    return rmdir(folder);
}

static int read_rules(struct rules *rules, const char *text, struct error *e)
{
    FILE *f = fopen(rules_path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
    return rules_read(rules, folder, e);
}

#define GOOD                                                                                       \
    "# a comment\n\nrule r\n  means   m\n  source  s, t\n  real    one\n  real    two\n"           \
    "  in      kernel host\n"                                                                      \
    "  match   $a < $b\n  replace $a <= $b\n  where   $a is integer\n"                             \
    "  example i < n;\n  becomes i <= n;\n  never   v < 0.5f\n"

static void reads_a_rule(void **state)
{
    (void)state;
    struct rules rules;
    struct error e;
    assert_int_equal(read_rules(&rules, GOOD, &e), 0);
    assert_int_equal(rules.count, 1);
    const struct rule *r = &rules.rule[0];
    assert_string_equal(r->id, "a/r");
    assert_string_equal(r->source, "s, t");
    assert_int_equal(r->reals, 2);
    assert_int_equal(r->line, 3);
    assert_true(r->in[FUNCTION_KERNEL] && r->in[FUNCTION_HOST] && !r->in[FUNCTION_DEVICE]);
    assert_int_equal(rule_check(r, stderr), 0);
    rules_free(&rules);
}

static void continues_lines(void **state)
{
    (void)state;
    struct rules rules;
    struct error e;
    static const char text[] =
        "rule r\n means m\n source s\n in kernel\n"
        " match   $a = 0;\n         $b = 1;\n\n# between\n replace $b = 1;\n   $a = 0;\n"
        " example i = 0;\n         j = 1;\n becomes j = 1;\n  i = 0;\n never i = 0;\n";
    assert_int_equal(read_rules(&rules, text, &e), 0);
    assert_int_equal(rules.rule[0].alternative[0]->match.s.token[4].line, 6);
    assert_int_equal(rule_check(&rules.rule[0], stderr), 0);
    rules_free(&rules);
}

/* Each: what replaces what in GOOD, and the complaint. */
static const struct {
    const char *old, *new, *complaint;
} MALFORMED[] = {
    {"rule r\n", "ruler r\n", "a.rules:3: `rule NAME` expected, not ruler r"},
    {"  becomes i <= n;\n  never   v < 0.5f\n", "",
     "a.rules:3: this rule lacks: example with its becomes"},
    {"  replace $a <= $b\n  where   $a is integer\n  example i < n;\n  becomes i <= n;\n  never   "
     "v < 0.5f\n",
     "", "a.rules:3: this rule lacks: replace"},
    {"rule r\n", "rule R\n",
     "a.rules:3: a rule's name has small letters, digits and _ only, not R"},
    {"rule r\n", "rule r\n  wheer $a is float\n", "a.rules:4: unknown keyword: wheer $a is float"},
    {"rule r\n", "rule r\n\tmeans m\n", "a.rules:4: indent with spaces, not with tabs"},
    {"  means   m\n", "", "a.rules:3: this rule lacks: means"},
    {"  means   m\n", "  means\n", "a.rules:4: nothing behind means"},
    {"  means   m\n", "  means m\n  means m\n", "a.rules:5: a second means"},
    {"  source  s, t\n", "", "a.rules:3: this rule lacks: source"},
    {"  in      kernel host\n", "", "a.rules:3: this rule lacks: in"},
    {"kernel host", "kernel hots", "a.rules:8: kernel, device or host expected, not hots"},
    {"  in      kernel host\n", "  in kernel\n  in host\n", "a.rules:9: a second in"},
    {"  match   $a < $b\n  replace $a <= $b\n", "", "a.rules:3: this rule lacks: match"},
    {"  replace $a <= $b\n", "",
     "a.rules:10: `match` and `replace`, `example` and `becomes` go in pairs"},
    {"  match   $a < $b\n", "",
     "a.rules:9: `match` and `replace`, `example` and `becomes` go in pairs"},
    {"  becomes i <= n;\n", "",
     "a.rules:13: `match` and `replace`, `example` and `becomes` go in pairs"},
    {"  example i < n;\n  becomes i <= n;\n", "",
     "a.rules:3: this rule lacks: example with its becomes"},
    {"  never   v < 0.5f\n", "", "a.rules:3: this rule lacks: never"},
    {"match   $a < $b", "match   ($a < $b", "a.rules:9: this bracket is never closed"},
    {"match   $a < $b", "match   $a < @", "a.rules:9: this byte starts no token"},
    {"match   $a < $b", "match   $a:int < $b",
     "a.rules:9: `$a:int`: a metavariable is a name, number, type, args or stmt"},
    {"match   $a < $b", "match   $a < $b:name + $b:number",
     "a.rules:9: $b has another class elsewhere"},
    {"match   $a < $b", "match", "a.rules:9: nothing behind match"},
    {"match   $a < $b", "match   $a < f(...)",
     "a.rules:9: `...` stands for statements, which cannot be here"},
    {"replace $a <= $b", "replace $a <= $c", "a.rules:10: `match` does not bind $c"},
    {"replace $a <= $b", "replace $a <= $b)", "a.rules:10: this bracket closes nothing"},
    {"replace $a <= $b", "replace $a; ... $b",
     "a.rules:10: `match` has `...` 0 times, `replace` 1 times"},
    {"$a is integer", "$a is number", "a.rules:11: a kind (*) expected at `number`"},
    {"$a is integer", "$c is integer", "a.rules:11: a `match` of this rule does not bind $c"},
    {"$a is integer", "$a differs $c", "a.rules:11: a `match` of this rule does not bind $c"},
    {"$a is integer", "$a differs", "a.rules:11: a metavariable expected at ``"},
    {"$a is integer", "$a is", "a.rules:11: a kind (*) expected at ``"},
    {"$a is integer", "$a is integer now", "a.rules:11: the end of the guard expected at `now`"},
    {"$a is integer", "$a in 1, 2", "a.rules:11: { expected at `1, 2`"},
    {"$a is integer", "$a in { 1, 2", "a.rules:11: } expected at ``"},
    {"$a is integer", "$a in { 1, }", "a.rules:11: a token expected at *"},
    {"$a is integer", "$a has two tokens", "a.rules:11: has and lacks ask for one token"},
    {"$a is integer", "$a are integer",
     "a.rules:11: is, in, differs, has or lacks expected at `are integer`"},
    {"$a is integer", "inside house", "a.rules:11: index, * expected at `house`"},
    {"$a is integer", "a is integer", "a.rules:11: a metavariable expected at `a is integer`"},
};

/* Is the text the pattern, in which one * stands for anything? */
static bool matches(const char *pattern, const char *text)
{
    const char *star = strchr(pattern, '*');
    if (!star)
        return strcmp(pattern, text) == 0;
    size_t head = (size_t)(star - pattern), tail = strlen(star + 1), length = strlen(text);
    return length >= head + tail && strncmp(pattern, text, head) == 0 &&
           strcmp(star + 1, text + length - tail) == 0;
}

static void refuses_malformed_rules(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof MALFORMED / sizeof *MALFORMED; k++) {
        struct rules rules;
        struct error e = {0};
        char text[1024];
        const char *at = strstr(GOOD, MALFORMED[k].old);
        assert_non_null(at);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - GOOD), GOOD, MALFORMED[k].new,
                 at + strlen(MALFORMED[k].old));
        int code = read_rules(&rules, text, &e);
        if (code != EXIT_DATA || !matches(MALFORMED[k].complaint, e.text + strlen(folder) + 1))
            fail_msg("%s\ncode %d, %s\nand not %s", text, code, e.text, MALFORMED[k].complaint);
    }
    struct rules rules;
    struct error e;
    assert_int_equal(read_rules(&rules, GOOD GOOD, &e), EXIT_DATA);
    assert_string_equal(strstr(e.text, "a.rules:"), "a.rules:17: there is already a rule a/r");
    assert_int_equal(rules_read(&rules, "/nonexistent", &e), EXIT_IO);
}

static void reports_failing_examples(void **state)
{
    (void)state;
    struct rules rules;
    struct error e;
    char *text, *complaints;
    size_t size;
    static const char more[] =
        "  example n < i;\n  becomes n > i;\n  example i > n;\n  becomes i <= n;\n"
        "  never   i < n;\n";
    assert_true(asprintf(&text, "%s%s", GOOD, more) > 0);
    assert_int_equal(read_rules(&rules, text, &e), 0);
    FILE *f = open_memstream(&complaints, &size);
    assert_int_equal(rule_check(&rules.rule[0], f), 3);
    fclose(f);
    const char *const lines[] = {"a.rules:15: a/r: the example becomes, among others, `n <= i;`\n",
                                 "a.rules:17: a/r: does not fire on its example\n",
                                 "a.rules:19: a/r: fires where it must not: `i <= n;`\n"};
    for (int k = 0; k < 3; k++)
        if (!strstr(complaints, lines[k]))
            fail_msg("%s\nlacks %s", complaints, lines[k]);
    free(complaints);
    free(text);
    rules_free(&rules);
}

/* ---- mutants --------------------------------------------------------------------------------- */

static void equal_mutants_are_made_once(void **state)
{
    (void)state;
    char *made = mutate("$a + $b", "$b + $a", NULL, "i = j + j; i = j + n;");
    assert_string_equal(made, "i = j + j; i = n + j;"); /* the first would be the original */
    free(made);
    made = mutate("__syncthreads();", "", NULL, "__syncthreads(); __syncthreads();");
    assert_string_equal(made, "__syncthreads();");
    free(made);
}

static int make_mutants(struct source *s, struct mutants *made, const char *fragment)
{
    struct alternative *a = make_alternative("$a < $b", "$a <= $b");
    struct rule rule = {.id = (char[]){"t/r"},
                        .family = (char[]){"t"},
                        .in = {true, true, true},
                        .alternative = &a,
                        .alternatives = 1};
    char *text = make_text(fragment);
    struct error e;
    int code = source_scan(s, "k.cu", text, strlen(text), &e);
    if (!code)
        code = mutants_make(made, s, &rule, 1, &e);
    free(text);
    free_alternative(a);
    return code;
}

static void ids_do_not_depend_on_the_rest(void **state)
{
    (void)state;
    struct source s, t;
    struct mutants before, after;
    assert_int_equal(make_mutants(&s, &before, "a = i < n; b = i < n;"), 0);
    assert_int_equal(make_mutants(&t, &after, "j = m; /* new */\n a = i  <\n n; j < m; b = i < n;"),
                     0);
    assert_int_equal(before.count, 2);
    assert_int_equal(after.count, 3);
    assert_string_not_equal(before.mutant[0].id, before.mutant[1].id);
    assert_string_equal(before.mutant[0].id, after.mutant[0].id);
    assert_string_equal(before.mutant[1].id, after.mutant[2].id);
    assert_string_equal(before.mutant[0].original, "i < n");
    mutants_free(&before);
    mutants_free(&after);
    source_free(&s);
    source_free(&t);
}

static void edits_fit_their_kernel_only(void **state)
{
    (void)state;
    struct source s;
    struct mutants made;
    struct error e;
    char *text;
    size_t size;
    assert_int_equal(make_mutants(&s, &made, "a = i < n;"), 0);
    struct mutant *m = &made.mutant[0];
    assert_int_equal(mutant_apply(m, s.text, 10, &text, &size, &e), EXIT_DATA);
    s.text[0] = 'C';
    assert_int_equal(mutant_apply(m, s.text, (size_t)s.size, &text, &size, &e), EXIT_DATA);
    assert_non_null(strstr(e.text, "not the one that was mutated"));
    mutants_free(&made);
    source_free(&s);
}

static void manifests_come_back(void **state)
{
    (void)state;
    struct source s;
    struct manifest m = {0}, back;
    struct error e;
    char path[64], *problem = problem_of("../kernels/level1/023_softmax.cu");
    snprintf(path, sizeof path, "%s/a.jsonl", folder);
    assert_string_equal(problem, "level1/023_softmax");
    assert_int_equal(make_mutants(&s, &m.mutants, "a = i < n; b = j < m;"), 0);
    m.problem = problem;
    m.version = "1";
    hash_bytes(s.text, (size_t)s.size, m.kernel_sha256);
    hash_bytes("", 0, m.rules_sha256);
    assert_int_equal(manifest_write(&m, path, &e), 0);
    assert_int_equal(manifest_read(&back, path, &e), 0);
    assert_string_equal(back.problem, problem);
    assert_string_equal(back.kernel_sha256, m.kernel_sha256);
    assert_int_equal(back.mutants.count, 2);
    for (int k = 0; k < 2; k++) {
        const struct mutant *a = &m.mutants.mutant[k], *b = &back.mutants.mutant[k];
        assert_string_equal(a->id, b->id);
        assert_string_equal(a->rule, b->rule);
        assert_string_equal(a->function, b->function);
        assert_string_equal(a->original, b->original);
        assert_string_equal(a->sha256, b->sha256);
        assert_int_equal(a->line, b->line);
        assert_int_equal(a->edits, b->edits);
        assert_int_equal(a->edit[0].begin, b->edit[0].begin);
        assert_int_equal(a->edit[0].end, b->edit[0].end);
        assert_string_equal(a->edit[0].text, b->edit[0].text);
    }
    manifest_free(&back);
    manifest_free(&m);
    source_free(&s);
    unlink(path);
}

#define MANIFEST_HEADER                                                                            \
    "{\"schema\":\"assay/manifest\",\"schema_version\":\"1.0\",\"problem\":\"g/"                   \
    "p\",\"provenance\":{"                                                                         \
    "\"kernel_sha256\":\"" ZEROS "\",\"rules_sha256\":\"" ZEROS "\",\"version\":\"1.0\"}}\n"
#define ZEROS "0000000000000000000000000000000000000000000000000000000000000000"
#define RECORD(edits, line)                                                                        \
    "{\"edits\":[" edits                                                                           \
    "],\"family\":\"f\",\"function\":\"k\",\"id\":\"f/r-00000000\",\"line\":" line                 \
    ",\"original\":\"a\",\"rule\":\"f/r\",\"sha256\":\"" ZEROS "\"}\n"
#define EDIT(begin, end) "{\"begin\":" begin ",\"end\":" end ",\"text\":\"\"}"

static void refuses_malformed_manifests(void **state)
{
    (void)state;
    static const char *const cases[] = {
        MANIFEST_HEADER RECORD("", "1"),
        MANIFEST_HEADER RECORD(EDIT("3", "2"), "1"),
        MANIFEST_HEADER RECORD(EDIT("1", "4") "," EDIT("3", "5"), "1"),
        MANIFEST_HEADER RECORD(EDIT("-1", "4"), "1"),
        MANIFEST_HEADER RECORD(EDIT("1", "99999999999"), "1"),
        MANIFEST_HEADER RECORD(EDIT("1", "2"), "\"1\""),
        MANIFEST_HEADER RECORD(EDIT("1", "2"), "1") RECORD(EDIT("1", "2"), "1"),
        MANIFEST_HEADER "{}\n",
        "{\"schema\":\"assay/rows\",\"schema_version\":\"1.0\"}\n",
    };
    char path[64];
    snprintf(path, sizeof path, "%s/a.jsonl", folder);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct manifest m;
        struct error e = {0};
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        fputs(cases[k], f);
        fclose(f);
        if (manifest_read(&m, path, &e) != EXIT_DATA || strncmp(e.text, path, strlen(path)) != 0)
            fail_msg("%s\n%s", cases[k], e.text);
    }
    unlink(path);
}

/* ---- every mutant of every kernel
 * ---------------------------------------------------------------- */

static int compare_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool same_tokens(const struct source *a, const struct source *b)
{
    bool same = a->tokens == b->tokens;
    for (int i = 0; same && i < a->tokens; i++)
        same = token_same(a, i, b, i);
    return same;
}

static void check_mutants(const struct source *s, const struct mutants *made)
{
    char **seen = calloc((size_t)made->count + 1, sizeof *seen);
    assert_non_null(seen);
    for (int k = 0; k < made->count; k++) {
        const struct mutant *m = &made->mutant[k];
        struct source mutated;
        struct error e;
        char *text;
        size_t size;
        if (mutant_apply(m, s->text, (size_t)s->size, &text, &size, &e) ||
            source_scan(&mutated, m->id, text, size, &e))
            fail_msg("%s", e.text);
        assert_false(same_tokens(s, &mutated));
        assert_int_equal(mutated.functions, s->functions);
        assert_true(k == 0 || m[-1].edit[0].begin <= m->edit[0].begin);
        source_free(&mutated);
        free(text);
        seen[k] = m->id;
    }
    qsort(seen, (size_t)made->count, sizeof *seen, compare_text);
    for (int k = 1; k < made->count; k++)
        assert_string_not_equal(seen[k - 1], seen[k]);
    free(seen);
}

static void every_mutant_is_sound(void **state)
{
    (void)state;
    struct rules rules;
    struct error e;
    glob_t kernels;
    assert_int_equal(glob("kernels/level*/*.cu", 0, NULL, &kernels), 0);
    if (rules_read(&rules, "mutants/rules", &e))
        fail_msg("%s", e.text);
    for (size_t k = 0; k < kernels.gl_pathc; k++) {
        struct source s;
        struct mutants made;
        if (source_read(&s, kernels.gl_pathv[k], &e) ||
            mutants_make(&made, &s, rules.rule, rules.count, &e))
            fail_msg("%s", e.text);
        assert_true(made.count > 0);
        check_mutants(&s, &made);
        mutants_free(&made);
        source_free(&s);
    }
    rules_free(&rules);
    globfree(&kernels);
}

static void every_rule_does_what_it_says(void **state)
{
    (void)state;
    struct rules rules;
    struct error e;
    int failures = 0;
    if (rules_read(&rules, "mutants/rules", &e))
        fail_msg("%s", e.text);
    for (int k = 0; k < rules.count; k++)
        failures += rule_check(&rules.rule[k], stderr);
    assert_int_equal(failures, 0);
    rules_free(&rules);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operands_follow_precedence),
        cmocka_unit_test(statements_stay_whole),
        cmocka_unit_test(finds_statements_in_any_body),
        cmocka_unit_test(texts_come_out_right),
        cmocka_unit_test(guards_hold),
        cmocka_unit_test(reads_a_rule),
        cmocka_unit_test(continues_lines),
        cmocka_unit_test(refuses_malformed_rules),
        cmocka_unit_test(reports_failing_examples),
        cmocka_unit_test(equal_mutants_are_made_once),
        cmocka_unit_test(ids_do_not_depend_on_the_rest),
        cmocka_unit_test(edits_fit_their_kernel_only),
        cmocka_unit_test(manifests_come_back),
        cmocka_unit_test(refuses_malformed_manifests),
        cmocka_unit_test(every_mutant_is_sound),
        cmocka_unit_test(every_rule_does_what_it_says),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
