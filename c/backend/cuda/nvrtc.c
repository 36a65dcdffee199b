#include "nvrtc.h"

#include <dlfcn.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* None of these changes the code, but the architecture. */
static const char *const OPTIONS[] = {"--gpu-architecture=sm_90", "--std=c++17", "--minimal",
                                      "--no-cache"};
const char NVRTC_OPTIONS[] = "--gpu-architecture=sm_90 --std=c++17";
enum { OPTION_COUNT = sizeof OPTIONS / sizeof *OPTIONS, OPTIONS_MAX = 32 };

typedef struct _nvrtcProgram *program;

/* The functions that are used, by the library's own names. All return 0 for success. */
#define FUNCTIONS(F)                                                                               \
    F(nvrtcVersion, (int *major, int *minor))                                                      \
    F(nvrtcCreateProgram, (program *p, const char *text, const char *name, int headers,            \
                           const char *const *header, const char *const *header_name))             \
    F(nvrtcDestroyProgram, (program *p))                                                           \
    F(nvrtcAddNameExpression, (program p, const char *expression))                                 \
    F(nvrtcCompileProgram, (program p, int options, const char *const *option))                    \
    F(nvrtcGetProgramLogSize, (program p, size_t *size))                                           \
    F(nvrtcGetProgramLog, (program p, char *log))                                                  \
    F(nvrtcGetCUBINSize, (program p, size_t *size))                                                \
    F(nvrtcGetCUBIN, (program p, char *cubin))                                                     \
    F(nvrtcGetLoweredName, (program p, const char *expression, const char **symbol))

static struct {
    void *handle;
#define MEMBER(name, parameters) int(*name) parameters;
    FUNCTIONS(MEMBER)
#undef MEMBER
} nvrtc;

static void *open_library(void)
{
    static const char *const NAMES[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so",
                                        "/usr/local/cuda/lib64/libnvrtc.so"};
    void *handle = NULL;
    for (size_t k = 0; k < sizeof NAMES / sizeof *NAMES && !handle; k++)
        handle = dlopen(NAMES[k], RTLD_NOW | RTLD_LOCAL);
    return handle;
}

/* NVRTC takes tens of megabytes for a kernel and frees them. To give them back to the system and
 * fault them in again for the next kernel would take a quarter of the time. */
static void keep_memory(void)
{
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    mallopt(M_MMAP_THRESHOLD, 32 << 20); /* the most there is */
    mallopt(M_TOP_PAD, 16 << 20);
}

int nvrtc_open(char version[16], struct error *e)
{
    int major, minor;
    keep_memory();
    if (!nvrtc.handle && !(nvrtc.handle = open_library()))
        return fail(e, EXIT_UNAVAILABLE, "libnvrtc.so cannot be loaded; install the CUDA toolkit");
#define LOAD(name, parameters)                                                                     \
    *(void **)&nvrtc.name = dlsym(nvrtc.handle, #name);                                            \
    if (!nvrtc.name)                                                                               \
        return fail(e, EXIT_UNAVAILABLE, "libnvrtc.so has no " #name "; it is too old");
    FUNCTIONS(LOAD)
#undef LOAD
    nvrtc.nvrtcVersion(&major, &minor);
    snprintf(version, 16, "%d.%d", major, minor);
    return 0;
}

/* Calls back with each line of the list that no earlier line equals. */
static int each_kernel(const char *kernels, int (*use)(program p, const char *kernel, FILE *f),
                       program p, FILE *f)
{
    int failed = 0;
    for (const char *line = kernels; *line && !failed; line += strcspn(line, "\n") + 1) {
        size_t length = strcspn(line, "\n") + 1;
        bool seen = false;
        for (const char *c = kernels; c < line; c += strcspn(c, "\n") + 1)
            seen |= strncmp(c, line, length) == 0;
        char *kernel = strndup(line, length - 1);
        if (!seen)
            failed = use(p, kernel, f);
        free(kernel);
    }
    return failed;
}

static int add_kernel(program p, const char *kernel, FILE *f)
{
    (void)f;
    return nvrtc.nvrtcAddNameExpression(p, kernel);
}

static int write_symbol(program p, const char *kernel, FILE *f)
{
    const char *symbol;
    int failed = nvrtc.nvrtcGetLoweredName(p, kernel, &symbol);
    if (!failed)
        fprintf(f, "%s %s\n", symbol, kernel);
    return failed;
}

/* The first error of the log as `line: what is wrong`. */
static char *first_error(program p)
{
    size_t size = 0;
    char *log, *message;
    nvrtc.nvrtcGetProgramLogSize(p, &size);
    log = calloc(size + 1, 1);
    if (!log)
        abort();
    nvrtc.nvrtcGetProgramLog(p, log);
    const char *error = strstr(log, "error: "), *what = error ? error + 7 : log;
    const char *line = error;
    while (line && line > log && *line != '(')
        line--;
    if (asprintf(&message, "%d: %.*s", line && *line == '(' ? atoi(line + 1) : 1,
                 (int)strcspn(what, "\n"), what) < 0)
        abort();
    free(log);
    return message;
}

static int take_code(program p, const char *kernels, struct device_code *code)
{
    size_t size;
    FILE *f = open_memstream(&code->bytes, &code->size);
    if (!f)
        abort();
    int failed = each_kernel(kernels, write_symbol, p, f);
    if (!failed)
        failed = nvrtc.nvrtcGetCUBINSize(p, &size);
    char *cubin = failed ? NULL : malloc(size);
    if (cubin) {
        failed = nvrtc.nvrtcGetCUBIN(p, cubin);
        fputc('\n', f);
        fwrite(cubin, 1, size, f);
    }
    free(cubin);
    fclose(f);
    return failed;
}

int nvrtc_compile(const char *text, const char *const options[], const char *kernels,
                  struct device_code *code, char **message, struct error *e)
{
    const char *option[OPTIONS_MAX];
    int count = OPTION_COUNT;
    program p;
    *code = (struct device_code){0};
    *message = NULL;
    memcpy(option, OPTIONS, sizeof OPTIONS);
    while (*options && count < OPTIONS_MAX)
        option[count++] = *options++;
    int failed = nvrtc.nvrtcCreateProgram(&p, text, "kernel.cu", 0, NULL, NULL);
    if (failed)
        return fail(e, EXIT_UNAVAILABLE, "NVRTC makes no program: error %d", failed);
    failed = each_kernel(kernels, add_kernel, p, NULL);
    if (!failed)
        failed = nvrtc.nvrtcCompileProgram(p, count, option);
    if (failed)
        *message = first_error(p);
    else
        failed = take_code(p, kernels, code);
    nvrtc.nvrtcDestroyProgram(&p);
    if (failed && !*message)
        return fail(e, EXIT_BUG, "NVRTC gives no code for what it compiled: error %d", failed);
    return 0;
}
