#include "compiler.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
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

/* What NVRTC is given, once for all candidates whose device code is this text. */
struct unit {
    char *text, *kernels; /* owned */
};

struct work {
    struct candidate *const *candidate;
    int count;
    int *unit_of; /* of each candidate, or NONE when its launches cannot be understood */
    struct unit *unit;
    int units, first, step; /* a share starts at unit `first` and takes every step-th */
    const char *folder;
    struct result *result; /* of each unit, in memory that all processes share */
    int finished;          /* where the share says which unit it has the result of */
    const struct device_client *client;
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

static int compile_unit(const struct unit *u, const char *folder, struct result *r, struct error *e)
{
    struct device_code code;
    char *message, path[4096];
    int status = nvrtc_compile(u->text, NO_OPTIONS, u->kernels, &code, &message, e);
    if (status)
        return status;
    if (message) {
        snprintf(r->message, sizeof r->message, "%s", message);
        free(message);
        return 0;
    }
    hash_bytes(code.bytes, code.size, r->device);
    snprintf(path, sizeof path, "%s/%s.gpu", folder, r->device);
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
    r->code = compile_unit(&w->unit[w->first + item * w->step], w->folder, r, &e);
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
    int unit = w->first + item * w->step;
    w->result[unit] = *(const struct result *)result;
    if (write(w->finished, &unit, sizeof unit) != sizeof unit)
        return fail_errno(e, "nobody waits for device code");
    return 0;
}

/* One process's share of the work, which a worker of its own does. */
static _Noreturn void compile_share(struct work *w, int first)
{
    struct isolation isolation = {0, sizeof(struct result), LIMIT_S, evaluate, died, receive, w, NULL};
    struct error e;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    w->first = first;
    isolation.items = (w->units - first + w->step - 1) / w->step;
    _exit(isolate(&isolation, &e));
}

static void reject(struct candidate *c, const char *message)
{
    c->compiled = false;
    c->message = memory_copy(message);
}

/* Tells the client what became of a unit. */
static int take_result(struct work *w, int unit, const struct result *r, struct error *e)
{
    int code = r->code ? fail(e, r->code, "%s", r->error) : 0;
    for (int k = 0; k < w->count && !code; k++) {
        struct candidate *c = w->candidate[k];
        if (w->unit_of[k] != unit || !c->compiled)
            continue;
        memcpy(c->device, r->device, sizeof c->device);
        if (*r->message)
            reject(c, r->message);
        code = w->client->known(w->client->context, c, e);
    }
    return code;
}

static int take_results(struct work *w, int finished, struct error *e)
{
    static const struct result NO_LAUNCHES = {.message = "1: a launch cannot be understood"};
    int unit, code = take_result(w, NONE, &NO_LAUNCHES, e);
    while (!code && read(finished, &unit, sizeof unit) == sizeof unit)
        code = take_result(w, unit, &w->result[unit], e);
    return code;
}

/* NVRTC does one thing at a time in a process, so there are `step` of them. */
static int compile_units(struct work *w, struct error *e)
{
    pid_t child[JOBS_MAX];
    int ends[2], started = 0, lost = 0;
    if (pipe2(ends, O_CLOEXEC))
        return fail_errno(e, "no pipe for processes that compile");
    w->finished = ends[1];
    w->step = w->units < jobs ? w->units : jobs;
    while (started < w->step && (child[started] = fork()) > 0)
        started++;
    if (started < w->step && child[started] == 0) {
        close(ends[0]);
        compile_share(w, started);
    }
    close(ends[1]);
    int code = w->client->compile_host(w->client->context, e);
    if (!code)
        code = take_results(w, ends[0], e);
    close(ends[0]);
    for (int k = 0; k < started; k++) {
        int status = 0;
        if (code)
            kill(child[k], SIGKILL);
        waitpid(child[k], &status, 0);
        lost |= status;
    }
    if (!code && (lost || started < w->step))
        code = fail(e, EXIT_UNAVAILABLE, "a process that compiles device code was lost");
    return code;
}

/* The unit with this text, an earlier candidate's if there is one; it owns both texts. */
static int add_unit(struct work *w, char *text, char *kernels)
{
    for (int u = 0; u < w->units; u++) {
        if (strcmp(w->unit[u].text, text) == 0 && strcmp(w->unit[u].kernels, kernels) == 0) {
            free(text);
            free(kernels);
            return u;
        }
    }
    w->unit[w->units] = (struct unit){text, kernels};
    return w->units++;
}

/* The unit of this text, or NONE: then its host code tells what is wrong. */
static int choose_unit(struct work *w, struct kernel_text kernel)
{
    struct source s;
    struct error ignored;
    char *kernels;
    int unit = NONE;
    if (source_scan(&s, "", kernel.text, kernel.size, &ignored))
        return NONE;
    if (!lower_kernels(&s, &kernels, &ignored))
        unit = add_unit(w, device_text(&s, head), kernels);
    source_free(&s);
    return unit;
}

static int compile(struct candidate *const candidate[], int count, const char *folder,
                   const struct device_client *client, struct error *e)
{
    struct work w = {.candidate = candidate, .count = count, .folder = folder, .client = client,
                     .unit_of = memory_zeroed(count, sizeof *w.unit_of),
                     .unit = memory_zeroed(count, sizeof *w.unit)};
    for (int k = 0; k < count; k++)
        w.unit_of[k] = choose_unit(&w, candidate[k]->source);
    size_t bytes = (size_t)(w.units + 1) * sizeof *w.result;
    w.result = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (w.result == MAP_FAILED)
        abort();
    int code = compile_units(&w, e);
    munmap(w.result, bytes);
    for (int u = 0; u < w.units; u++) {
        free(w.unit[u].text);
        free(w.unit[u].kernels);
    }
    free(w.unit);
    free(w.unit_of);
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
