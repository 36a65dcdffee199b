#include "fuzzer.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../lib/memory.h"
#include "launch.h"
#include "version.h"

/* A kernel of the corpus takes milliseconds, also when a neighbour's fault stalls the GPU. */
static const double LIMIT_S = 2;

/* Until the worker answers, by the clock: bounds only what nothing else does. */
static const struct timeval PATIENCE = {.tv_sec = 300};

struct hello {
    int code;
    char error[512];
    char device[160];
};
struct reply {
    int code;
    char error[512];
    struct fuzz_result result;
};

/* ---- in the worker ---------------------------------------------------------------------------- */

static struct {
    struct code *code; /* [entry][dtype], loaded when first needed */
    struct block in[CORPUS_INPUTS], out;
} worker;

static int open_worker(const struct fuzzer *f, struct error *e)
{
    worker.code = memory_zeroed(f->corpus->count * DTYPES, sizeof *worker.code);
    int code = gpu_open(0, e);
    return code ? code : gpu_open_sink(e);
}

static int load(const struct fuzzer *f, const struct fuzz_case *c, struct error *e)
{
    struct code *code = &worker.code[c->entry * DTYPES + (int)c->dtype];
    char path[4096];
    launch_from(code, 1);
    fuzzer_kernel_path(f, c->entry, c->dtype, ".gpu", path);
    return code->module ? 0 : code_load(code, path, NULL, e);
}

/* The last `bytes` bytes of the block, which grows when it must; all of it is poisoned. */
static int take(struct block *b, size_t bytes, float **p, struct error *e)
{
    int code = 0;
    if (b->bytes < bytes) {
        block_free(b);
        code = block_new(b, bytes, e);
    }
    *p = (float *)(b->address + b->bytes - bytes);
    return code ? code
                : driver_check(driver.cuMemsetD8Async(b->address, GPU_POISON, b->bytes, gpu.stream),
                               "poison", e);
}

/* Poisons what stray writes of the last case have reached, and copies the inputs. */
static int copy_inputs(const struct fuzzer *f, const struct fuzz_case *c, float *const in[],
                       float *device_in[], struct error *e)
{
    const struct corpus_entry *entry = &f->corpus->entry[c->entry];
    long stride[CORPUS_RANK];
    int code = driver_check(
        driver.cuMemsetD8Async(gpu.sink_address, GPU_POISON, GPU_SINK_BYTES, gpu.stream), "poison",
        e);
    for (int k = 0; k < entry->inputs && !code; k++) {
        const size_t bytes = fuzz_strides(c, &entry->input[k], stride) * dtype_size(c->dtype);
        code = take(&worker.in[k], bytes, &device_in[k], e);
        if (!code)
            code = driver_check(
                driver.cuMemcpyHtoDAsync_v2((device_address)device_in[k], in[k], bytes, gpu.stream),
                "an input", e);
    }
    return code;
}

/* What faults after the kernel was waited for is the kernel's fault too. */
static void copy_output(void *out, const float *device_out, size_t bytes,
                        struct simt_verdict *verdict)
{
    if (driver.cuMemcpyDtoHAsync_v2(out, (device_address)device_out, bytes, gpu.stream)) {
        verdict->outcome = OUTCOME_CRASHED;
        snprintf(verdict->detail, sizeof verdict->detail, "its output cannot be read");
    } else {
        launch_wait(LIMIT_S, verdict);
    }
}

static int execute(struct fuzzer *f, const struct fuzz_case *c, launch_function *launch,
                   float *const in[], void *out, const long dim[], struct simt_verdict *verdict,
                   struct error *e)
{
    const size_t bytes =
        fuzz_elements(c, &f->corpus->entry[c->entry].output) * dtype_size(c->dtype);
    float *device_in[CORPUS_INPUTS], *device_out[1];
    int code = load(f, c, e);
    if (!code)
        code = copy_inputs(f, c, in, device_in, e);
    if (!code)
        code = take(&worker.out, bytes, &device_out[0], e);
    if (code)
        return code;
    launch_run(launch, device_in, device_out, dim, NULL, LIMIT_S, verdict);
    if (verdict->outcome == OUTCOME_FINISHED)
        copy_output(out, device_out[0], bytes, verdict);
    return 0;
}

static _Noreturn void serve(struct fuzzer *f, int socket)
{
    struct error e = {0};
    struct hello hello = {0};
    struct fuzz_case c;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    hello.code = open_worker(f, &e);
    snprintf(hello.error, sizeof hello.error, "%.500s", e.text);
    snprintf(hello.device, sizeof hello.device, "%s, CUDA %s", gpu.name, gpu.version);
    bool connected = send(socket, &hello, sizeof hello, MSG_NOSIGNAL) == (ssize_t)sizeof hello;
    while (connected && recv(socket, &c, sizeof c, MSG_WAITALL) == (ssize_t)sizeof c) {
        struct reply reply = {0};
        reply.code = fuzzer_evaluate(f, &c, &reply.result, &e);
        snprintf(reply.error, sizeof reply.error, "%.500s", reply.code ? e.text : "");
        connected = send(socket, &reply, sizeof reply, MSG_NOSIGNAL) == (ssize_t)sizeof reply;
    }
    _exit(0);
}

/* ---- in the program --------------------------------------------------------------------------- */

static struct {
    pid_t process; /* 0: none */
    int socket;
} remote;

/* Returns how the worker ended, as wait() does. */
static int stop(void)
{
    int status = 0;
    if (remote.process <= 0)
        return 0;
    close(remote.socket);
    kill(remote.process, SIGKILL);
    waitpid(remote.process, &status, 0);
    remote.process = 0;
    return status;
}

static bool receive(void *message, size_t size)
{
    return recv(remote.socket, message, size, MSG_WAITALL) == (ssize_t)size;
}

static int start(struct fuzzer *f, struct hello *hello, struct error *e)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
        return fail_errno(e, "no socket to a worker");
    pid_t process = fork();
    if (process == 0) {
        close(ends[0]);
        serve(f, ends[1]);
    }
    close(ends[1]);
    remote.process = process;
    remote.socket = ends[0];
    setsockopt(remote.socket, SOL_SOCKET, SO_RCVTIMEO, &PATIENCE, sizeof PATIENCE);
    if (process < 0 || !receive(hello, sizeof *hello))
        return fail(e, EXIT_UNAVAILABLE, "the process that is to use the GPU does not start");
    return hello->code ? fail(e, hello->code, "%s", hello->error) : 0;
}

/* The words must outlive the worker, which goes: a child of this process is to have its own. */
static int device(struct fuzzer *f, const char **words, struct error *e)
{
    static struct hello hello;
    int code = start(f, &hello, e);
    stop();
    *words = hello.device;
    return code;
}

/* When it is false, errno is EAGAIN if the worker was late. */
static bool ask(const struct fuzz_case *c, struct reply *reply)
{
    errno = 0;
    return send(remote.socket, c, sizeof *c, MSG_NOSIGNAL) == (ssize_t)sizeof *c &&
           receive(reply, sizeof *reply);
}

/* A worker with an exception behind it may be broken. */
static int take_reply(const struct reply *reply, struct fuzz_result *r, struct error *e)
{
    *r = reply->result;
    if (r->exception[0])
        stop();
    return reply->code ? fail(e, reply->code, "%s", reply->error) : 0;
}

static int run(struct fuzzer *f, const struct fuzz_case *c, struct fuzz_result *r, struct error *e)
{
    struct hello ignored;
    struct reply reply;
    *r = (struct fuzz_result){0};
    for (int attempt = 0; attempt < 2; attempt++) { /* one may have been killed from outside */
        int code = remote.process > 0 ? 0 : start(f, &ignored, e);
        if (code)
            return code;
        if (ask(c, &reply))
            return take_reply(&reply, r, e);
        bool late = errno == EAGAIN;
        int status = stop();
        snprintf(r->exception, sizeof r->exception, late ? "timeout: no answer in %ld s"
                                                         : "crashed: its process ended by signal %ld",
                 late ? (long)PATIENCE.tv_sec : (long)WTERMSIG(status));
    }
    return 0;
}

static void close_worker(void)
{
    stop();
}

const struct fuzzer_backend fuzzer_cuda = {.name = "cuda",
                                           .code = CUDA_HASH,
                                           .kernels = "build/gpuemu/cuda",
                                           .suffix = (const char *const[]){".so", ".gpu", NULL},
                                           .device = device,
                                           .run = run,
                                           .execute = execute,
                                           .close = close_worker};
