#include "compiler.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../lib/file.h"
#include "../../lib/isolate.h"
#include "../../lib/lower.h"
#include "../../lib/memory.h"
#include "nvrtc.h"
#include "text.h"

/* A mutated bound under #pragma unroll may take seconds; what takes longer is not worth it. */
static const double LIMIT_S = 20;

enum { JOBS_MAX = 64 };
static int jobs;
static char *head;                  /* what stands before every kernel file */
static char compiler_hash[HASH_HEX];
static const char *const NO_OPTIONS[] = {"--include-path=/usr/local/cuda/include", NULL};

struct result {
    int code; /* of the machine's trouble */
    char error[1024];
    char message[200]; /* of the mutant's */
    char device[HASH_HEX];
};

struct work {
    struct candidate *candidate;
    int *which; /* those whose host code is compiled */
    int count, first, step; /* of `which`; a share starts at `first` and takes every step-th */
    const char *folder;
    struct result *result; /* one for each of `which`, in memory that all processes share */
};

static int write_code(const struct device_code *code, const char *path, struct error *e)
{
    struct output out;
    int status = output_open(&out, path, e);
    if (status)
        return status;
    fwrite(code->bytes, 1, code->size, out.stream);
    return output_commit_if_changed(&out, e);
}

static int compile_candidate(const struct work *w, const struct candidate *c, struct result *r,
                             struct error *e)
{
    struct source s;
    struct device_code code;
    char *kernels, *message, path[4096];
    int status = source_scan(&s, "", c->source.text, c->source.size, e);
    if (status)
        return status;
    status = lower_kernels(&s, &kernels, e);
    if (!status) {
        char *text = device_text(&s, head);
        status = nvrtc_compile(text, NO_OPTIONS, kernels, &code, &message, e);
        free(text);
        free(kernels);
    }
    source_free(&s);
    if (status)
        return status;
    if (message) {
        snprintf(r->message, sizeof r->message, "%s", message);
        free(message);
        return 0;
    }
    hash_bytes(code.bytes, code.size, r->device);
    snprintf(path, sizeof path, "%s/%s.gpu", w->folder, r->device);
    if (access(path, R_OK))
        status = write_code(&code, path, e);
    free(code.bytes);
    return status;
}

static bool evaluate(void *context, int item, void *result)
{
    const struct work *w = context;
    struct result *r = result;
    struct error e;
    *r = (struct result){0};
    r->code = compile_candidate(w, &w->candidate[w->which[w->first + item * w->step]], r, &e);
    if (r->code)
        snprintf(r->error, sizeof r->error, "%s", e.text);
    return false;
}

static void died(void *context, int item, int signal, bool late, void *result)
{
    (void)context;
    (void)item;
    struct result *r = result;
    *r = (struct result){0};
    if (late)
        snprintf(r->message, sizeof r->message, "1: NVRTC took longer than %g s", LIMIT_S);
    else
        snprintf(r->message, sizeof r->message, "1: NVRTC ended by signal %d", signal);
}

static int receive(void *context, int item, const void *result, struct error *e)
{
    const struct work *w = context;
    (void)e;
    w->result[w->first + item * w->step] = *(const struct result *)result;
    return 0;
}

/* One process's share of the work, which a worker of its own does. */
static int compile_share(struct work *w, int first, struct error *e)
{
    struct isolation isolation = {0, sizeof(struct result), LIMIT_S, evaluate, died, receive, w, NULL};
    w->first = first;
    isolation.items = (w->count - first + w->step - 1) / w->step;
    return isolation.items > 0 ? isolate(&isolation, e) : 0;
}

/* NVRTC does one thing at a time in a process, so there are `step` of them. */
static int compile_shares(struct work *w, struct error *e)
{
    pid_t child[JOBS_MAX];
    int code = 0;
    for (int k = 1; k < w->step; k++) {
        child[k] = fork();
        if (child[k] == 0)
            _exit(compile_share(w, k, e));
    }
    code = compile_share(w, 0, e);
    for (int k = 1; k < w->step; k++) {
        int status = 0;
        if (child[k] > 0)
            waitpid(child[k], &status, 0);
        if (!code && (child[k] < 0 || status != 0))
            code = fail(e, EXIT_UNAVAILABLE, "a process that compiles device code was lost");
    }
    return code;
}

static int take_result(struct candidate *c, const struct result *r, struct error *e)
{
    if (r->code)
        return fail(e, r->code, "%s", r->error);
    memcpy(c->device, r->device, sizeof c->device);
    if (*r->message) {
        c->compiled = false;
        c->message = memory_copy(r->message);
    }
    return 0;
}

static int compile(struct candidate candidate[], int count, const char *folder, struct error *e)
{
    size_t bytes = (size_t)(count + 1) * sizeof(struct result);
    struct work w = {.candidate = candidate, .which = memory_zeroed(count, sizeof *w.which),
                     .step = jobs, .folder = folder};
    w.result = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (w.result == MAP_FAILED)
        abort();
    for (int k = 0; k < count; k++)
        if (candidate[k].compiled)
            w.which[w.count++] = k;
    int code = compile_shares(&w, e);
    for (int k = 0; k < w.count && !code; k++)
        code = take_result(&candidate[w.which[k]], &w.result[k], e);
    munmap(w.result, bytes);
    free(w.which);
    return code;
}

int cuda_compiler(const char *backend, int processes, const struct device_compiler **compiler,
                  struct error *e)
{
    static const struct device_compiler cuda = {compiler_hash, compile};
    jobs = processes < 1 ? 1 : processes > JOBS_MAX ? JOBS_MAX : processes;
    char version[16];
    int code = nvrtc_open(version, e);
    if (!code)
        code = device_head(backend, &head, e);
    if (code)
        return code;
    struct hash *h = hash_new();
    hash_add_text(h, version);
    hash_add_text(h, NVRTC_OPTIONS);
    hash_add_text(h, head);
    hash_finish(h, compiler_hash);
    *compiler = &cuda;
    return 0;
}

int cuda_compile_file(const char *path, const char *const options[], const char *output,
                      struct error *e)
{
    struct source s;
    struct device_code code;
    char *message;
    int status = source_read(&s, path, e);
    if (status)
        return status;
    char *text = device_text(&s, head), *kernels = device_kernels(&s);
    source_free(&s);
    status = nvrtc_compile(text, options, kernels, &code, &message, e);
    free(text);
    free(kernels);
    if (!status && message) {
        status = fail(e, EXIT_DATA, "%s:%s", path, message);
        free(message);
    } else if (!status) {
        status = write_code(&code, output, e);
        free(code.bytes);
    }
    return status;
}
