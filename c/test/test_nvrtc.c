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
#include "backend/cuda/identity.h"
#include "backend/cuda/text.h"
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
    if (compiler->compile(c[0].source, all, count, folder, &client, &e))
        fail_msg("%s", e.text);
    assert_int_equal(known, count);
    free(all);
}

/* The lines before the cubin. */
static void read_kernels(const struct candidate *c, char kernels[1024])
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s.gpu", folder, c->device_file);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    size_t size = fread(kernels, 1, 1023, f);
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
    char kernels[1024];
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

/* ---- several at once ---- */

#define KERNEL(statement)                                                                          \
    "constexpr int WARP = 32;\n"                                                                   \
    "__device__ float twice(float v) { return 2 * v; }\n"                                          \
    "__global__ void k(float *y, const float *x, int n) { int i = threadIdx.x; " statement " }\n"
#define BOUNDS(bounds) "__global__ void " bounds " k(float *y, const float *x, int n) { y[threadIdx.x] = x[n]; }\n"

/* No two are the same, but the first two. */
static const char *const PARTS[] = {
    KERNEL("y[i] = twice(x[i]);"),
    KERNEL("y[i] = x[i] + x[i]; /* the same */"),
    KERNEL("y[i] = 3 * x[i];"),
    KERNEL("y[i] = 3 * x[i + WARP];"),
    KERNEL("y[i] = x[i] / x[n];"), /* calls within its section */
    KERNEL("y[i] = assay_round_half(x[i]) * x[n];"), /* inlined, if nothing else calls it */
    KERNEL("y[i] = assay_round_half(x[i] * x[n]) + x[n];"),
    KERNEL("__shared__ float s[64]; s[i] = x[i]; __syncthreads(); y[i] = s[n];"),
    KERNEL("__shared__ float s[65]; s[i] = x[i]; __syncthreads(); y[i] = s[n];"),
    KERNEL("float s[40]; for (int k = 0; k < 40; k++) s[k] = x[k * n]; y[i] = s[n];"), /* a stack */
    KERNEL("switch (n) { case 0: y[i] = expf(x[i]); break; case 1: y[n] = x[0]; break; case 2: y[0] = sqrtf(x[n]); "
           "break; case 3: y[1] = logf(x[i]); break; case 4: y[2] = tanhf(x[1]); break; case 5: y[n] = n; }"),
    KERNEL("extern __shared__ float4 s[]; s[i].x = x[i]; __syncthreads(); y[i] = s[n].x;"),
    BOUNDS(""),
    BOUNDS("__launch_bounds__(256)"),
    BOUNDS("__launch_bounds__(256, 8)"),
    "constexpr int WARP = 16;\n" BOUNDS(""),
};
enum { PART_COUNT = sizeof PARTS / sizeof *PARTS };

/* What may be another thing among others. */
static const char *const APART[] = {
    "__constant__ float w[4] = {1, 2, 3, 4};\n" KERNEL("y[i] = w[n];"),
    "__device__ float w[4] = {1, 2, 3, 4};\n" KERNEL("y[i] = w[n];"),
    "__device__ int count;\n" KERNEL("y[i] = atomicAdd(&count, 1);"),
    "constexpr float w[4] = {1, 2, 3, 4};\n" KERNEL("y[i] = w[n];"),
    KERNEL("static int count; y[i] = count++;"),
    KERNEL("y[i] = sinf(x[i]);"), /* has the library's table */
    KERNEL("printf(\"%d\", i);"),
};
enum { APART_COUNT = sizeof APART / sizeof *APART };

/* The hashes of parts that each have a kernel k; with count == 0, of one alone. */
static bool identify(const char *const part[], int count, char hash[][HASH_HEX])
{
    struct head head;
    char *text, *message, kernels[MEMBERS_MAX * 8] = "k\n";
    struct source source[MEMBERS_MAX];
    struct member member[MEMBERS_MAX];
    struct device_code code;
    struct error e;
    if (device_head("c/backend", &head, &e))
        fail_msg("%s", e.text);
    for (int k = 0, at = 0; k < count; k++) {
        at += sprintf(kernels + at, "m%d::k\n", k);
        member[k] = (struct member){.part = &source[k]};
        assert_int_equal(source_scan(&source[k], "", part[k], strlen(part[k]), &e), 0);
    }
    text = count ? device_text_of_all(&head, member, count) : device_text(&head, *part);
    if (nvrtc_compile(text, (const char *const[]){NULL}, kernels, &code, &message, &e))
        fail_msg("%s", e.text);
    if (message)
        fail_msg("%s", message);
    bool known = identity_of(&code, count, hash);
    for (int k = 0; k < count; k++)
        source_free(&source[k]);
    free(code.bytes);
    free(text);
    free(head.prologue);
    free(head.prelude);
    return known;
}

/* Parts from one to another, beside each other in either order, have the hashes that they have alone. */
static void check_together(int from, int to, char alone[][HASH_HEX])
{
    char together[PART_COUNT][HASH_HEX];
    const char *part[PART_COUNT] = {NULL};
    int count = to - from;
    assert_true(identify(PARTS + from, count, together));
    for (int k = 0; k < count; k++)
        assert_string_equal(together[k], alone[from + k]);
    for (int k = 0; k < count; k++)
        part[k] = PARTS[to - 1 - k];
    assert_true(identify(part, count, together));
    for (int k = 0; k < count; k++)
        assert_string_equal(together[k], alone[to - 1 - k]);
}

static void code_is_the_same_among_others(void **state)
{
    (void)state;
    char alone[PART_COUNT][HASH_HEX];
    for (int k = 0; k < PART_COUNT; k++)
        assert_true(identify(&PARTS[k], 0, &alone[k]));
    for (int j = 1; j < PART_COUNT; j++)
        for (int k = 0; k < j; k++)
            assert_int_equal(strcmp(alone[j], alone[k]) == 0, j == 1);
    check_together(0, 11, alone);
    check_together(9, 12, alone); /* dynamic shared memory aligns all that there is */
    check_together(12, 15, alone); /* no constants */
}

static void what_could_be_shared_is_found(void **state)
{
    (void)state;
    char hash[2][HASH_HEX];
    for (int k = 0; k < APART_COUNT; k++) {
        const char *both[] = {PARTS[0], APART[k]};
        if (identify(both, 2, hash))
            fail_msg("%s", APART[k]);
    }
    const char *uneven[] = {PARTS[0], PARTS[12]}; /* of constants */
    assert_false(identify(uneven, 2, hash));
}

static bool stands_alone(const char *text)
{
    struct source s;
    struct error e;
    if (source_scan(&s, "", text, strlen(text), &e))
        fail_msg("%s", e.text);
    bool alone = device_stands_alone(&s);
    source_free(&s);
    return alone;
}

static void what_reaches_out_stands_alone(void **state)
{
    (void)state;
    assert_false(stands_alone("#pragma unroll 4\n# pragma unroll\n__global__ void k() {}"));
    assert_false(stands_alone("extern __shared__ float s[]; using real = float;"));
    assert_true(stands_alone("#define N 4\n__global__ void k() {}"));
    assert_true(stands_alone("#include <cuda_fp16.h>\n__global__ void k() {}"));
    assert_true(stands_alone("#pragma pack(1)\n__global__ void k() {}"));
    assert_true(stands_alone("#\n__global__ void k() {}"));
    assert_true(stands_alone("extern \"C\" __global__ void k() {}"));
    assert_true(stands_alone("using namespace other;"));
    assert_true(stands_alone("__global__ void k() { _Pragma(\"unroll\") for (;;); }"));
}

enum { MANY = 40 };

/* An original and mutants, which have another number between the two texts. */
static void make_many(struct candidate c[], const char *before, const char *after)
{
    for (int k = 0; k < MANY; k++) {
        char *text;
        if (asprintf(&text, "%s%d%s", before, k + 2, after) < 0)
            abort();
        c[k] = candidate_of(text);
    }
}

/* Compiles them, and each by itself, which must be the same. How many are in a batch? */
static int compile_many(struct candidate c[])
{
    int batched = 0;
    compile_all(c, MANY);
    for (int k = 0; k < MANY; k++) {
        struct candidate alone = candidate_of(c[k].source.text);
        compile_all(&alone, 1);
        assert_string_equal(alone.member, "");
        assert_int_equal(alone.compiled, c[k].compiled);
        if (alone.compiled)
            assert_string_equal(alone.device, c[k].device);
        else
            assert_string_equal(alone.message, c[k].message);
        batched += *c[k].member != '\0';
        free(alone.message);
        free(c[k].message);
        free((char *)c[k].source.text);
    }
    return batched;
}

static void many_are_compiled_at_once(void **state)
{
    (void)state;
    char kernels[1024];
    struct candidate c[MANY];
    make_many(c, "__global__ void k(float *y, const float *x) { y[threadIdx.x] = ", " * x[threadIdx.x]; }\n" LAUNCH);
    free((char *)c[7].source.text);
    c[7] = candidate_of(strdup("\n__global__ void k(float *y, const float *x) { y[0] = undeclared; }\n" LAUNCH));
    free((char *)c[15].source.text);
    c[15] = candidate_of(strdup("__constant__ float w = 3;\n"
                                "__global__ void k(float *y, const float *x) { y[0] = w; }\n" LAUNCH));
    int batched = compile_many(c);
    assert_in_range(batched, MANY - 1 - 6, MANY - 1 - 4); /* the original, and the batches of those two */
    read_kernels(&c[1], kernels);
    assert_non_null(strstr(kernels, " m0::k\n"));
}

/* The mutants' max is the float one in a namespace, NVRTC's integer one without. */
static void overloads_are_not_hidden(void **state)
{
    (void)state;
    struct candidate c[MANY];
    make_many(c, "__device__ float max(float a, float b) { return a > b ? a : b; }\n"
                 "__global__ void k(float *y, const float *x) { y[0] = max(",
              ", (int)x[0]) + max(x[1], x[2]); }\n" LAUNCH);
    assert_int_equal(compile_many(c), 0);
}

/* The mutants change a kernel, and one of them a function of another kernel. */
static void kernels_of_the_original_are_shared(void **state)
{
    (void)state;
    char kernels[1024];
    struct candidate c[MANY];
    make_many(c, "constexpr int N = 4;\n"
                 "template <bool SUM> __global__ void t(float *y) { y[0] = SUM ? y[1] + N : y[2]; }\n"
                 "__device__ float three(float v) { return 3 * v; }\n"
                 "__global__ void k(float *y, const float *x) { y[threadIdx.x] = ",
              " * x[threadIdx.x]; }\n__global__ void same(float *y) { y[0] = three(y[N]); }\n"
              "void launch(float *const in[], float *const out[]) { k<<<1, 32>>>(out[0], in[0]); "
              "same<<<1, 1>>>(out[0]); t<true><<<1, 1>>>(out[0]); t<false><<<1, 1>>>(out[0]); }\n");
    char *other = strdup(c[2].source.text);
    *strstr(other, "3 * v") = '5';
    free((char *)c[2].source.text);
    c[2] = candidate_of(other);
    assert_int_equal(compile_many(c), MANY - 1);
    read_kernels(&c[1], kernels);
    assert_non_null(strstr(kernels, "_ZN2m04sameEPf m0::same\n"));
    assert_non_null(strstr(kernels, "_ZN2m14sameEPf m1::same\n"));
    assert_non_null(strstr(kernels, "_ZN2m04sameEPf m2::same\n"));
    assert_string_equal(c[1].device_file, c[2].device_file);
}

/* The original's own table: it is not the same in a batch. */
static void tables_are_compiled_alone(void **state)
{
    (void)state;
    struct candidate c[MANY];
    make_many(c, "constexpr float w[4] = {1, 2, 3, 4};\n"
                 "__global__ void k(float *y, const float *x) { y[0] = ", " * w[(int)x[0]]; }\n" LAUNCH);
    assert_int_equal(compile_many(c), 0);
}

/* ---- kernels and mutants of the project ---- */

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
        cmocka_unit_test(code_is_the_same_among_others),
        cmocka_unit_test(what_could_be_shared_is_found),
        cmocka_unit_test(what_reaches_out_stands_alone),
        cmocka_unit_test(many_are_compiled_at_once),
        cmocka_unit_test(overloads_are_not_hidden),
        cmocka_unit_test(tables_are_compiled_alone),
        cmocka_unit_test(kernels_of_the_original_are_shared),
        cmocka_unit_test(every_kernel_compiles),
        cmocka_unit_test(mutants_compile_or_are_told),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
