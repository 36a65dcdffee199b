#include "holder.h"

#include <glob.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../lib/memory.h"
#include "../cpu/reference.h"
#include "judge.h"

/* An original kernel that takes longer has no business among the problems. */
static const double LIMIT_S = 60;

enum what { MAKE, FREE };
struct request {
    enum what what;
    int recipe;
};
struct hello {
    int code;
    char error[512];
    struct holder_device device;
};
struct reply {
    int code;
    char error[512];
    struct holding holding;
};

/* ---- in the holder ---------------------------------------------------------------------------- */

struct code_set {
    struct code *code;
    int count;
};

static struct {
    const struct setup *setup;
    struct code_set float64, float32;
    struct code original;
    struct held {
        struct block inputs, answers;
    } *held; /* one a recipe */
} holder;

static int load_references(struct code_set *set, const char *name, struct error *e)
{
    char pattern[4096];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s/%s/*.gpu", holder.setup->folder, name);
    if (glob(pattern, 0, NULL, &found))
        return fail(e, EXIT_UNAVAILABLE, "%s: no such files", pattern);
    int code = 0;
    set->code = memory_zeroed((int)found.gl_pathc, sizeof *set->code);
    for (size_t k = 0; k < found.gl_pathc && !code; k++)
        code = code_load(&set->code[set->count++], found.gl_pathv[k], NULL, e);
    globfree(&found);
    return code;
}

static int open_holder(const struct setup *s, struct error *e)
{
    char path[4096];
    const struct image *original = images_with_id(&s->loader.images, "original");
    holder.setup = s;
    holder.held = memory_zeroed(s->pool.recipes, sizeof *holder.held);
    if (!original->device)
        return fail(e, EXIT_DATA, "the images are not compiled for the cuda backend");
    snprintf(path, sizeof path, "%s/%s", s->loader.folder, original->device);
    int code = gpu_open(0, e);
    if (!code)
        code = judge_open(s->folder, e);
    if (!code)
        code = load_references(&holder.float64, "f64", e);
    if (!code)
        code = load_references(&holder.float32, "f32", e);
    return code ? code : code_load(&holder.original, path, original->member, e);
}

/* The inputs, the answers, and at the worst moment the inputs and the outputs as doubles or floats. */
static int check_memory(const struct tensors *x, struct error *e)
{
    size_t available, total, doubles = 2 * x->inputs, floats = x->outputs;
    int code = driver_check(driver.cuMemGetInfo_v2(&available, &total), "device memory", e);
    if (code)
        return code;
    size_t wanted = x->inputs + x->answers + (doubles > floats ? doubles : floats);
    if (wanted > available)
        return fail(e, EXIT_UNAVAILABLE, "needs %.1f GiB of device memory, of which %.1f GiB are free",
                    (double)wanted / (1 << 30), (double)available / (1 << 30));
    return 0;
}

static int fill_inputs(const struct recipe *r, const struct tensors *x, const struct block *b,
                       struct error *e)
{
    int in = 0, error = judge_poison(b->address, b->bytes);
    for (int t = 0; t < r->tensors && !error; t++)
        if (r->tensor[t].role != OUTPUT)
            error = judge_fill(r, t, b->address + x->in[in++]);
    return driver_check(error, "filling the inputs", e);
}

static int run_reference(const struct code_set *set, const struct reference *reference,
                         const struct recipe *r, void *const in[], void *const out[], struct error *e)
{
    double hyper[PROBLEM_SIZES];
    struct simt_verdict verdict = {0};
    plugin_hyperparameters(&holder.setup->plugin, hyper);
    launch_from(set->code, set->count);
    int code = reference_run(&holder.setup->plugin, reference, in, out, r->size, hyper, e);
    if (!code && launch_wait(0, &verdict))
        code = fail(e, EXIT_BUG, "its reference does not run: %s", verdict.detail);
    return code;
}

static int run_float64(const struct recipe *r, const struct tensors *x, const struct held *h,
                       struct error *e)
{
    void **in = memory_zeroed(x->ins, sizeof *in), **out = memory_zeroed(x->outs, sizeof *out);
    int error = 0, code;
    for (int k = 0; k < x->ins && !error; k++) {
        device_address wide = 0;
        error = driver.cuMemAlloc_v2(&wide, x->in_count[k] * sizeof(double));
        in[k] = (void *)wide;
        if (!error)
            error = judge_widen(wide, h->inputs.address + x->in[k], x->in_count[k]);
    }
    for (int k = 0; k < x->outs; k++)
        out[k] = (void *)(h->answers.address + x->reference[k]);
    if (!error)
        error = judge_poison(h->answers.address, h->answers.bytes);
    code = driver_check(error, "the double reference's inputs", e);
    if (!code)
        code = run_reference(&holder.float64, &holder.setup->float64, r, in, out, e);
    for (int k = 0; k < x->ins; k++)
        if (in[k])
            driver.cuMemFree_v2((device_address)in[k]);
    free(in);
    free(out);
    return code;
}

/* The arrays of addresses that host functions take. */
struct arguments {
    void **in, **out;
    device_address *address; /* the outs' */
};

static void make_arguments(struct arguments *a, const struct tensors *x, device_address inputs,
                           device_address outputs)
{
    a->in = memory_zeroed(x->ins, sizeof *a->in);
    a->out = memory_zeroed(x->outs, sizeof *a->out);
    a->address = memory_zeroed(x->outs, sizeof *a->address);
    for (int k = 0; k < x->ins; k++)
        a->in[k] = (void *)(inputs + x->in[k]);
    for (int k = 0; k < x->outs; k++)
        a->out[k] = (void *)(a->address[k] = outputs + x->out[k]);
}

static void free_arguments(struct arguments *a)
{
    free(a->in);
    free(a->out);
    free(a->address);
}

static int keep_original(const struct tensors *x, const struct arguments *a, const struct held *h)
{
    int error = 0;
    for (int k = 0; k < x->outs && !error; k++)
        error = driver.cuMemcpyAsync(h->answers.address + x->original[k], a->address[k],
                                     x->out_count[k] * sizeof(float), gpu.stream);
    return error;
}

static int judge(const struct task *t, struct judgement *found)
{
    int error = judge_start(t, 0);
    return error ? error : judge_wait(t, 0, 0, found);
}

static int run_original(const struct recipe *r, const struct tensors *x, const struct arguments *a,
                        const struct held *h, device_address outputs, struct holding *holding,
                        struct error *e)
{
    double hyper[PROBLEM_SIZES];
    struct simt_verdict verdict;
    struct judgement found = {0};
    struct task task;
    plugin_hyperparameters(&holder.setup->plugin, hyper);
    launch_from(&holder.original, 1);
    int error = judge_poison(outputs, x->outputs);
    if (!error)
        error = gpu_wait(0);
    double start = gpu_clock();
    bool broken = launch_run(holder.setup->original, (float *const *)a->in, (float *const *)a->out,
                             r->size, hyper, LIMIT_S, &verdict);
    holding->seconds = gpu_clock() - start;
    holding->original_run = (struct run){.outcome = verdict.outcome};
    memcpy(holding->detail, verdict.detail, sizeof holding->detail);
    if (broken)
        _exit(1); /* the program counts it as crashed */
    if (!error)
        error = keep_original(x, a, h);
    judge_task(&task, x, outputs, h->answers.address, true);
    if (!error)
        error = judge(&task, &found);
    if (verdict.outcome == OUTCOME_FINISHED)
        holding->original_run.graded = found.graded;
    holding->original_run.stray_write = found.stray;
    return driver_check(error, "the original kernel", e);
}

/* Both float32 runs, which write to a block of outputs that nobody keeps. */
static int run_float32(const struct recipe *r, const struct tensors *x, const struct held *h,
                       struct holding *holding, struct error *e)
{
    struct block outputs;
    struct arguments a;
    struct task task;
    struct judgement found = {0};
    int code = block_new(&outputs, x->outputs, e);
    if (code) {
        block_free(&outputs);
        return code;
    }
    make_arguments(&a, x, h->inputs.address, outputs.address);
    code = driver_check(judge_poison(outputs.address, x->outputs), "poison", e);
    if (!code)
        code = run_reference(&holder.float32, &holder.setup->float32, r, a.in, a.out, e);
    judge_task(&task, x, outputs.address, h->answers.address, true);
    if (!code)
        code = driver_check(judge(&task, &found), "grading the float32 reference", e);
    holding->float32 = found.graded;
    holding->finite = found.finite;
    if (!code)
        code = run_original(r, x, &a, h, outputs.address, holding, e);
    free_arguments(&a);
    block_free(&outputs);
    return code;
}

static int make(int recipe, struct holding *holding, struct error *e)
{
    const struct recipe *r = &holder.setup->pool.recipe[recipe];
    struct held *h = &holder.held[recipe];
    struct tensors x;
    tensors_place(&x, r);
    int code = x.outs > FINDINGS_OUTPUTS ? fail(e, EXIT_DATA, "has %d outputs; the cuda backend judges %d at most",
                                                x.outs, FINDINGS_OUTPUTS)
                                         : check_memory(&x, e);
    if (!code)
        code = block_new(&h->inputs, x.inputs, e);
    if (!code)
        code = block_new(&h->answers, x.answers, e);
    if (!code)
        code = fill_inputs(r, &x, &h->inputs, e);
    if (!code)
        code = run_float64(r, &x, h, e);
    if (!code)
        code = run_float32(r, &x, h, holding, e);
    if (!code)
        code = block_share(&h->inputs, &holding->inputs_descriptor, e);
    if (!code)
        code = block_share(&h->answers, &holding->answers_descriptor, e);
    tensors_free(&x);
    return code;
}

/* ---- messages --------------------------------------------------------------------------------- */

/* A reply, with both descriptors when it is one of success. */
static bool send_reply(int socket, struct reply *r)
{
    struct iovec data = {r, sizeof *r};
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(2 * sizeof(int))];
    } control = {0};
    struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};
    if (!r->code) {
        int both[] = {r->holding.inputs_descriptor, r->holding.answers_descriptor};
        message.msg_control = &control;
        message.msg_controllen = sizeof control;
        control.header = (struct cmsghdr){
            .cmsg_len = CMSG_LEN(sizeof both), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(&control.header), both, sizeof both);
    }
    bool sent = sendmsg(socket, &message, MSG_NOSIGNAL) == (ssize_t)sizeof *r;
    if (!r->code) {
        close(r->holding.inputs_descriptor);
        close(r->holding.answers_descriptor);
    }
    return sent;
}

static bool receive_reply(int socket, struct reply *r)
{
    struct iovec data = {r, sizeof *r};
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(2 * sizeof(int))];
    } control;
    struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = &control,
                             .msg_controllen = sizeof control};
    if (recvmsg(socket, &message, MSG_WAITALL | MSG_CMSG_CLOEXEC) != (ssize_t)sizeof *r)
        return false;
    if (!r->code) {
        int both[2];
        memcpy(both, CMSG_DATA(&control.header), sizeof both);
        r->holding.inputs_descriptor = both[0];
        r->holding.answers_descriptor = both[1];
    }
    return true;
}

static _Noreturn void serve(const struct setup *s, int socket)
{
    struct error e = {0};
    struct hello hello = {0};
    struct request request;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    hello.code = open_holder(s, &e);
    snprintf(hello.error, sizeof hello.error, "%.500s", e.text);
    memcpy(hello.device.name, gpu.name, sizeof hello.device.name);
    memcpy(hello.device.version, gpu.version, sizeof hello.device.version);
    hello.device.total = gpu.total;
    bool connected = send(socket, &hello, sizeof hello, MSG_NOSIGNAL) == (ssize_t)sizeof hello;
    while (connected && recv(socket, &request, sizeof request, MSG_WAITALL) == (ssize_t)sizeof request) {
        struct held *h = &holder.held[request.recipe];
        if (request.what == FREE) {
            block_free(&h->inputs);
            block_free(&h->answers);
            continue;
        }
        struct reply reply = {0};
        reply.code = make(request.recipe, &reply.holding, &e);
        snprintf(reply.error, sizeof reply.error, "%.500s", reply.code ? e.text : "");
        connected = send_reply(socket, &reply);
    }
    _exit(0);
}

/* ---- in the program --------------------------------------------------------------------------- */

static struct {
    const struct setup *setup;
    pid_t process; /* 0: none */
    int socket;
} remote;

int holder_start(const struct setup *s, struct holder_device *device, struct error *e)
{
    struct hello hello;
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
        return fail_errno(e, "no socket to a holder");
    pid_t process = fork();
    if (process == 0) {
        close(ends[0]);
        serve(s, ends[1]);
    }
    close(ends[1]);
    remote.setup = s;
    remote.process = process;
    remote.socket = ends[0];
    if (process < 0 ||
        recv(remote.socket, &hello, sizeof hello, MSG_WAITALL) != (ssize_t)sizeof hello)
        return fail(e, EXIT_UNAVAILABLE, "the process that is to hold the inputs does not start");
    if (hello.code)
        return fail(e, hello.code, "%s", hello.error);
    *device = hello.device;
    return 0;
}

void holder_stop(void)
{
    if (remote.process <= 0)
        return;
    close(remote.socket);
    kill(remote.process, SIGKILL);
    waitpid(remote.process, NULL, 0);
    remote.process = 0;
}

int holder_make(int recipe, struct holding *h, struct error *e)
{
    struct request request = {MAKE, recipe};
    struct reply reply;
    struct holder_device ignored;
    if (send(remote.socket, &request, sizeof request, MSG_NOSIGNAL) != (ssize_t)sizeof request ||
        !receive_reply(remote.socket, &reply)) {
        *h = (struct holding){.original_run.outcome = OUTCOME_CRASHED, .inputs_descriptor = -1,
                              .answers_descriptor = -1};
        strcpy(h->detail, "the original kernel ended the process that ran it");
        holder_stop();
        return holder_start(remote.setup, &ignored, e);
    }
    if (reply.code)
        return fail(e, reply.code, "input %s: %s", remote.setup->pool.recipe[recipe].id, reply.error);
    *h = reply.holding;
    return 0;
}

void holder_free(int recipe)
{
    struct request request = {FREE, recipe};
    /* One that has died has freed it. */
    if (send(remote.socket, &request, sizeof request, MSG_NOSIGNAL) < 0)
        return;
}
