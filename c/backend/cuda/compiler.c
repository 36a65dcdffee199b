#include "compiler.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../lib/file.h"
#include "../../lib/isolate.h"
#include "../../lib/lower.h"
#include "../../lib/memory.h"
#include "../../lib/share.h"
#include "identity.h"
#include "nvrtc.h"
#include "text.h"

/* A mutated bound under #pragma unroll may take seconds; what takes longer is not worth it. */
static const double LIMIT_S = 20;

/* Processor time of a batch, which takes a second or two: a slow member may have the other limit, alone. */
static const int BATCH_LIMIT_S = 10;

/*
 * Of the time for one mutant, 40 to 110 ms, NVRTC spends 15 on what every program needs. With 8 members to a batch
 * softmax takes 76 % of the processor time, with 16 to 64 of them 74 %. There are always so many batches or a multiple,
 * which are work for as many processes; whatever the number of processes, so that the index does not depend on it.
 */
enum { BATCHES = 16 };

enum { JOBS_MAX = 64, ITEMS = 1 + MEMBERS_MAX };
static int jobs;
static struct head head;
/* What makes two device codes the same: an image is not taken over from a run that went by something else. */
static const char IDENTITY[] = "what the device reads of its kernels";
static char compiler_hash[HASH_HEX];
static const char *const NO_OPTIONS[] = {"--include-path=/usr/local/cuda/include", NULL};

struct result {
    enum { UNKNOWN, KNOWN, TOLD } state;
    int code; /* of the machine's trouble */
    char error[1024];
    char message[200]; /* of the mutant's */
    char device[HASH_HEX], file[HASH_HEX], member[MEMBER_NAME];
};

/* What NVRTC is given, once for all candidates whose device code is this text. */
struct unit {
    char *text, *kernels; /* owned */
    struct source part;   /* the text */
    bool alone;           /* cannot stand beside others */
    bool *shared;         /* of its functions, those that are the original's (share.h); owned */
};

/* Units that NVRTC is given at once, and if that fails one by one; or one unit. */
struct batch {
    int unit[MEMBERS_MAX], count;
    bool tried;
};

struct work {
    struct candidate *const *candidate;
    int count;
    int *unit_of; /* of each candidate, or NONE when its launches cannot be understood */
    struct unit *unit; /* the original first, wanted or not */
    int units, batches, first, step; /* a share starts at batch `first` and takes every step-th */
    const char *folder;
    int finished;                    /* where the share says which unit it has the result of */
    const struct device_client *client;
    /* in memory that all processes share: */
    struct batch *batch;
    struct result *result; /* of each unit */
    bool *batching;        /* is the original the same in a batch as alone? */
};

/* ---- in the process that compiles ------------------------------------------------------------- */

static int write_code(const struct device_code *code, const char *path, struct error *e)
{
    struct output out;
    int status = output_open(&out, path, e);
    if (status)
        return status;
    fwrite(code->bytes, 1, code->size, out.stream);
    return output_commit_if_changed(&out, e);
}

/* Puts the code into the folder, under its hash. */
static int keep_code(const struct device_code *code, const char *folder, char file[HASH_HEX], struct error *e)
{
    char path[4096];
    hash_bytes(code->bytes, code->size, file);
    snprintf(path, sizeof path, "%s/%s.gpu", folder, file);
    return access(path, R_OK) ? write_code(code, path, e) : 0;
}

static int compile_unit(const struct unit *u, const char *folder, struct result *r, struct error *e)
{
    struct device_code code;
    char *message, *text = device_text(&head, u->text);
    int status = nvrtc_compile(text, NO_OPTIONS, u->kernels, &code, &message, e);
    free(text);
    if (status)
        return status;
    if (message) {
        snprintf(r->message, sizeof r->message, "%s", message);
        free(message);
        return 0;
    }
    if (!identity_of(&code, 0, &r->device))
        hash_bytes(code.bytes, code.size, r->device); /* then it is not batched either */
    status = keep_code(&code, folder, r->file, e);
    free(code.bytes);
    return status;
}

static void compile_alone(const struct work *w, int unit)
{
    struct result *r = &w->result[unit];
    struct error e;
    *r = (struct result){0};
    r->code = compile_unit(&w->unit[unit], w->folder, r, &e);
    if (r->code)
        snprintf(r->error, sizeof r->error, "%s", e.text);
    r->state = KNOWN;
}

/* The kernels of all, each in its member's namespace. */
static char *kernels_of(const struct work *w, const struct batch *b)
{
    char *kernels, name[MEMBER_NAME];
    size_t size;
    FILE *f = open_memstream(&kernels, &size);
    if (!f)
        abort();
    for (int k = 0; k < b->count; k++) {
        member_name(k, name);
        for (const char *line = w->unit[b->unit[k]].kernels; *line; line += strcspn(line, "\n") + 1)
            fprintf(f, "%s::%.*s\n", name, (int)strcspn(line, "\n"), line);
    }
    memory_close(f, &kernels);
    return kernels;
}

/* The code of a batch whose members can be told apart; false if there is none, whyever. Owns the text. */
static bool compile_text(const struct work *w, const struct batch *b, char *text, struct device_code *code,
                         char device[][HASH_HEX])
{
    char *kernels = kernels_of(w, b), *message = NULL;
    struct error ignored;
    bool compiled = !nvrtc_compile(text, NO_OPTIONS, kernels, code, &message, &ignored) && !message;
    bool told = compiled && identity_of(code, b->count, device);
    if (compiled && !told)
        free(code->bytes);
    free(message);
    free(kernels);
    free(text);
    return told;
}

static void compile_together(const struct work *w, const struct batch *b)
{
    const struct itimerval limit = {.it_value.tv_sec = BATCH_LIMIT_S}, none = {0};
    struct member member[MEMBERS_MAX];
    char device[MEMBERS_MAX][HASH_HEX], file[HASH_HEX];
    struct device_code code;
    struct error ignored; /* a member alone will find it again */
    for (int k = 0; k < b->count; k++)
        member[k] = (struct member){&w->unit[b->unit[k]].part, w->unit[b->unit[k]].shared};
    setitimer(ITIMER_PROF, &limit, NULL); /* ends the process */
    bool compiled = compile_text(w, b, device_text_of_all(&head, member, b->count), &code, device);
    setitimer(ITIMER_PROF, &none, NULL);
    if (!compiled)
        return;
    bool kept = !keep_code(&code, w->folder, file, &ignored);
    free(code.bytes);
    for (int k = 0; k < b->count && kept; k++) {
        struct result *r = &w->result[b->unit[k]];
        memcpy(r->device, device[k], sizeof r->device);
        memcpy(r->file, file, sizeof r->file);
        member_name(k, r->member);
        r->state = KNOWN;
    }
}

/* A batch that ended the process is not tried again. */
static bool evaluate(void *context, int item, void *nothing)
{
    const struct work *w = context;
    struct batch *b = &w->batch[w->first + item / ITEMS * w->step];
    int k = item % ITEMS - 1;
    (void)nothing;
    if (k < 0 && b->count > 1 && !b->tried) {
        b->tried = true;
        compile_together(w, b);
    } else if (k >= 0 && k < b->count && w->result[b->unit[k]].state == UNKNOWN) {
        compile_alone(w, b->unit[k]);
    }
    return false;
}

/* ---- in the process that waits for it --------------------------------------------------------- */

static void fell(struct result *r, int signal, bool late)
{
    *r = (struct result){.state = KNOWN};
    if (late)
        snprintf(r->message, sizeof r->message, "1: NVRTC took longer than %g s", LIMIT_S);
    else
        snprintf(r->message, sizeof r->message, "1: NVRTC ended by signal %d", signal);
}

static void died(void *context, int item, int signal, bool late, void *nothing)
{
    const struct work *w = context;
    (void)nothing;
    if (item % ITEMS > 0)
        fell(&w->result[w->batch[w->first + item / ITEMS * w->step].unit[item % ITEMS - 1]], signal, late);
}

static int receive(void *context, int item, const void *nothing, struct error *e)
{
    const struct work *w = context;
    const struct batch *b = &w->batch[w->first + item / ITEMS * w->step];
    (void)nothing;
    for (int k = 0; k < b->count; k++) {
        if (w->result[b->unit[k]].state != KNOWN)
            continue;
        w->result[b->unit[k]].state = TOLD;
        if (write(w->finished, &b->unit[k], sizeof b->unit[k]) != sizeof b->unit[k])
            return fail_errno(e, "nobody waits for device code");
    }
    return 0;
}

/* One process's share of the work, which a worker of its own does. */
static _Noreturn void compile_share(struct work *w, int first)
{
    struct isolation isolation = {0, 0, LIMIT_S, evaluate, died, receive, w, NULL};
    struct error e;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    w->first = first;
    isolation.items = (w->batches - first + w->step - 1) / w->step * ITEMS;
    _exit(isolate(&isolation, &e));
}

/* ---- in the program --------------------------------------------------------------------------- */

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
        memcpy(c->device_file, r->file, sizeof c->device_file);
        memcpy(c->member, r->member, sizeof c->member);
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
    w->step = w->batches < jobs ? w->batches : jobs;
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

/* ---- what is compiled at once ----------------------------------------------------------------- */

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
    struct unit *u = &w->unit[w->units];
    struct error ignored;
    *u = (struct unit){.text = text, .kernels = kernels};
    u->alone = source_scan(&u->part, "", text, strlen(text), &ignored) || device_stands_alone(&u->part);
    u->shared = memory_zeroed(u->part.functions, sizeof *u->shared);
    if (!u->alone && !w->unit[0].alone)
        share_kernels(&w->unit[0].part, &u->part, u->shared);
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
        unit = add_unit(w, device_part(&s), kernels);
    source_free(&s);
    return unit;
}

/* The original, and for each of its kernels that can be shared a copy with that one of its own and the first member's
 * others, as most mutants will have it; a whole copy, if there is no such kernel. */
static int copies_of(const struct unit *original, struct member copy[MEMBERS_MAX])
{
    const struct source *s = &original->part;
    int copies = 0;
    copy[copies++] = (struct member){s, original->shared};
    for (int f = 0; f < s->functions && copies < MEMBERS_MAX; f++) {
        if (!original->shared[f])
            continue;
        bool *shared = memory_zeroed(s->functions, sizeof *shared);
        memcpy(shared, original->shared, (size_t)s->functions * sizeof *shared);
        shared[f] = false;
        copy[copies++] = (struct member){s, shared};
    }
    if (copies == 1)
        copy[copies++] = (struct member){s, NULL};
    return copies;
}

/* Is the original the same code beside copies of itself as alone? */
static bool is_same_in_batch(const struct work *w)
{
    char device[MEMBERS_MAX][HASH_HEX];
    struct member copy[MEMBERS_MAX];
    struct device_code code;
    struct batch b = {.count = copies_of(&w->unit[0], copy)}; /* all of unit 0 */
    bool same = compile_text(w, &b, device_text_of_copies(&head, copy, b.count), &code, device);
    if (same)
        free(code.bytes);
    for (int k = 0; k < b.count; k++) {
        same = same && strcmp(device[k], w->result[0].device) == 0;
        if (k > 0)
            free((bool *)copy[k].shared);
    }
    return same;
}

/* Item 0 compiles the original, item 1 tells whether its mutants can be in batches. */
static bool check(void *context, int item, void *nothing)
{
    const struct work *w = context;
    (void)nothing;
    if (item == 0)
        compile_alone(w, 0);
    else
        *w->batching = is_same_in_batch(w);
    return false;
}

static void check_died(void *context, int item, int signal, bool late, void *nothing)
{
    const struct work *w = context;
    (void)nothing;
    if (item == 0)
        fell(&w->result[0], signal, late);
}

static int check_received(void *context, int item, const void *nothing, struct error *e)
{
    (void)context, (void)item, (void)nothing, (void)e;
    return 0;
}

/* How many units are compiled at once. */
static int batch_size(struct work *w, int *size, struct error *e)
{
    const struct isolation isolation = {2, 0, LIMIT_S, check, check_died, check_received, w, NULL};
    int most = BATCHES * MEMBERS_MAX, batches = BATCHES * ((w->units + most - 1) / most);
    int wanted = (w->units + batches - 1) / batches;
    *size = 1;
    if (wanted <= 1 || w->unit[0].alone)
        return 0;
    int code = isolate(&isolation, e);
    if (*w->batching)
        *size = wanted;
    return code;
}

static bool is_wanted(const struct work *w, int unit)
{
    for (int k = 0; k < w->count; k++)
        if (w->unit_of[k] == unit)
            return true;
    return false;
}

static void make_batches(struct work *w, int size)
{
    struct batch *open = NULL;
    for (int u = 0; u < w->units; u++) {
        bool alone = u == 0 || w->unit[u].alone;
        if (!is_wanted(w, u))
            continue;
        struct batch *b = open && open->count < size && !alone ? open : &w->batch[w->batches++];
        b->unit[b->count++] = u;
        if (!alone)
            open = b;
    }
}

static int compile(struct kernel_text original, struct candidate *const candidate[], int count, const char *folder,
                   const struct device_client *client, struct error *e)
{
    struct work w = {.candidate = candidate, .count = count, .folder = folder, .client = client,
                     .unit_of = memory_zeroed(count, sizeof *w.unit_of),
                     .unit = memory_zeroed(count + 1, sizeof *w.unit),
                     .batch = memory_common(count + 1, sizeof *w.batch),
                     .result = memory_common(count + 1, sizeof *w.result),
                     .batching = memory_common(1, sizeof *w.batching)};
    int size;
    choose_unit(&w, original);
    for (int k = 0; k < count; k++)
        w.unit_of[k] = choose_unit(&w, candidate[k]->source);
    int code = batch_size(&w, &size, e);
    if (!code) {
        make_batches(&w, size);
        code = compile_units(&w, e);
    }
    for (int u = 0; u < w.units; u++) {
        free(w.unit[u].text);
        free(w.unit[u].kernels);
        free(w.unit[u].shared);
        source_free(&w.unit[u].part);
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
    hash_add_text(h, IDENTITY);
    hash_add_text(h, head.prologue);
    hash_add_text(h, head.prelude);
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
    char *part = device_part(&s), *text = device_text(&head, part), *kernels = device_kernels(&s);
    source_free(&s);
    free(part);
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
