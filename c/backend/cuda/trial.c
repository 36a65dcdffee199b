/*
 * trial - one input of one problem on a GPU: backend_cuda.
 *
 * The holder makes it; a worker maps what the holder made, and keeps one block for outputs, which
 * every run poisons and fills, and which is judged in place. A fault of the device ends the worker.
 */
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../lib/memory.h"
#include "../setup.h"
#include "export.h"
#include "holder.h"
#include "judge.h"
#include "version.h"

/* A mutant may take LIMIT_FACTOR times the original's time and LIMIT_SPARE_S more. */
static const double LIMIT_FACTOR = 10, LIMIT_SPARE_S = 0.25;

/* In the program: descriptors. In a worker: mappings too, in its own copy. */
struct input {
    struct tensors x;
    double hyper[PROBLEM_SIZES];
    int inputs_descriptor, answers_descriptor;
    double limit_s;
    bool mapped;
    struct block inputs, answers;
    float **in, **out;
    device_address *out_address;
    struct task task;
};

static struct holder_device device;
static const struct setup *the_setup;

static struct {
    bool open;
    struct block outputs;
    const struct image *mutant; /* the one whose code is loaded; NULL: none */
    struct code code;
} worker;

/* The runs of one mutant that are expected next: started together where they can be, so that the device
 * need not wait for the host between two of them. Judgements lie in the slots of the runs' numbers. */
static struct {
    const struct image *mutant;
    struct trial *trial[JUDGE_SLOTS];
    int count, started, next; /* next: of run() */
    struct started {
        struct simt_verdict verdict; /* of the host's part */
        int error;                   /* the driver's, from starting the judgement */
    } run[JUDGE_SLOTS];
} ahead;

/* ---- in the program --------------------------------------------------------------------------- */

/* The device code of the references and of the backend's own kernels. */
static int add_hash(const struct setup *s, struct hash *h, struct error *e)
{
    static const char *const PATTERNS[] = {"f64/*.gpu", "f32/*.gpu", "service.gpu"};
    char pattern[4096], digest[HASH_HEX];
    int code = 0;
    for (int p = 0; p < 3 && !code; p++) {
        glob_t found;
        snprintf(pattern, sizeof pattern, "%s/%s", s->folder, PATTERNS[p]);
        if (glob(pattern, 0, NULL, &found))
            return fail(e, EXIT_UNAVAILABLE, "%s: no such files", pattern);
        for (size_t k = 0; k < found.gl_pathc && !code; k++) {
            code = hash_file(found.gl_pathv[k], digest, e);
            hash_add_text(h, digest);
        }
        globfree(&found);
    }
    return code;
}

static int start(const struct setup *s, struct error *e)
{
    the_setup = s;
    int code = simt_start(e);
    return code ? code : holder_start(s, &device, e);
}

static const char *device_words(void)
{
    static char words[sizeof device + 32];
    snprintf(words, sizeof words, "%s, CUDA %s", device.name, device.version);
    return words;
}

static size_t bytes(const struct recipe *r)
{
    struct tensors x;
    tensors_place(&x, r);
    size_t all = x.inputs + x.answers;
    tensors_free(&x);
    return all;
}

/* The rest is for what making an input takes besides, and for workers. */
static size_t room(void)
{
    return device.total / 3;
}

static void free_trial(struct trial *t)
{
    struct input *i = t->state;
    if (!i)
        return;
    close(i->inputs_descriptor);
    close(i->answers_descriptor);
    holder_free((int)(t->recipe - the_setup->pool.recipe));
    tensors_free(&i->x);
    free(i);
    t->state = NULL;
}

static int make(struct trial *t, const struct setup *s, const struct recipe *r, struct error *e)
{
    struct holding h;
    *t = (struct trial){.recipe = r};
    int code = holder_make((int)(r - s->pool.recipe), &h, e);
    if (code)
        return code;
    t->original_run = h.original_run;
    memcpy(t->original_detail, h.detail, sizeof t->original_detail);
    if (h.original_run.outcome != OUTCOME_FINISHED)
        t->original_run.detail = t->original_detail;
    t->float32 = h.float32;
    t->finite = h.finite;
    t->seconds = h.seconds;
    struct input *i = t->state = memory_zeroed(1, sizeof *i);
    i->inputs_descriptor = h.inputs_descriptor;
    i->answers_descriptor = h.answers_descriptor;
    i->limit_s = LIMIT_FACTOR * h.seconds + LIMIT_SPARE_S;
    tensors_place(&i->x, r);
    plugin_hyperparameters(&s->plugin, i->hyper);
    return 0;
}

/* ---- in a worker ------------------------------------------------------------------------------ */

static int open_worker(const struct setup *s, struct error *e)
{
    if (worker.open)
        return 0;
    int code = gpu_open(0, e);
    if (!code)
        code = gpu_open_sink(e);
    if (!code)
        code = judge_open(s->folder, e);
    worker.open = !code;
    return code;
}

static int map_input(const struct setup *s, const struct recipe *r, struct input *i, struct error *e)
{
    if (i->mapped)
        return 0;
    int code = block_map_guarded(&i->inputs, i->x.inputs, i->inputs_descriptor, e);
    if (!code)
        code = block_map(&i->answers, i->x.answers, i->answers_descriptor, e);
    i->in = memory_zeroed(i->x.ins, sizeof *i->in);
    i->out = memory_zeroed(i->x.outs, sizeof *i->out);
    i->out_address = memory_zeroed(i->x.outs, sizeof *i->out_address);
    for (int k = 0; k < i->x.ins; k++)
        i->in[k] = (float *)(i->inputs.address + i->x.in[k]);
    i->mapped = !code;
    return code || !s->export ? code : export_input(s, r, &i->x, i->inputs.address, e);
}

static void prepare(struct trial t[], int count, const struct setup *s)
{
    struct error e; /* what is wrong is found again, and said, when a mutant is to be run */
    int code = open_worker(s, &e);
    for (int k = 0; k < count && !code; k++)
        code = map_input(s, t[k].recipe, t[k].state, &e);
}

/* The mutant's code, which stays for its other inputs. */
static int load_mutant(const struct setup *s, const struct image *mutant, struct error *e)
{
    char path[8192];
    if (worker.mutant == mutant)
        return 0;
    code_unload(&worker.code);
    worker.mutant = mutant;
    snprintf(path, sizeof path, "%s/%s", s->loader.folder, mutant->device);
    int code = code_load(&worker.code, path, mutant->member, e);
    launch_from(&worker.code, 1);
    return code;
}

/* The outputs' place, at the end of the worker's block, which grows with the largest input. */
static int place_outputs(struct input *i, struct error *e)
{
    int code = 0;
    if (worker.outputs.bytes < i->x.outputs) {
        block_free(&worker.outputs);
        code = block_new(&worker.outputs, i->x.outputs, e);
    }
    device_address outputs = worker.outputs.address + worker.outputs.bytes - i->x.outputs;
    for (int k = 0; k < i->x.outs; k++)
        i->out[k] = (float *)(i->out_address[k] = outputs + i->x.out[k]);
    judge_task(&i->task, &i->x, outputs, i->answers.address, false);
    return code;
}

/* Starts a run and its judgement, in the slot of its number. */
static int start_run(const struct setup *s, const struct trial *t, const struct image *mutant, int number,
                     struct error *e)
{
    struct input *i = t->state;
    struct started *r = &ahead.run[number];
    int code = map_input(s, t->recipe, i, e);
    if (!code)
        code = place_outputs(i, e);
    if (!code)
        code = driver_check(judge_poison((device_address)i->task.begin, i->x.outputs), "poison", e);
    if (code)
        return code;
    loader_restore(&s->loader, mutant->id); /* mutants share host code */
    launch_host(loader_find(&s->loader, mutant->id), i->in, i->out, t->recipe->size, i->hyper,
                 i->limit_s, &r->verdict);
    r->error = r->verdict.outcome == OUTCOME_FINISHED ? judge_start(&i->task, number) : 0;
    return 0;
}

/*
 * Starts the run with this number, and those behind it as long as nothing stands against it: a large one
 * takes all memory and needs the host to be judged, and after one that has failed in its host code, who
 * knows what the device will say. A failure of the machine is said of the run that meets it.
 */
static int start_runs(const struct setup *s, int number, struct error *e)
{
    int code = 0;
    for (bool more = number == ahead.started; more && ahead.started < ahead.count;) {
        const struct trial *t = ahead.trial[ahead.started];
        const struct input *i = t->state;
        bool alone = i->x.count > FINDINGS_AT_ONCE || s->export;
        if (alone && ahead.started > number)
            break;
        struct error later;
        int failed = start_run(s, t, ahead.mutant, ahead.started, ahead.started == number ? e : &later);
        if (failed && ahead.started == number)
            code = failed;
        if (failed)
            break;
        const struct started *r = &ahead.run[ahead.started++];
        more = !alone && !r->error && r->verdict.outcome == OUTCOME_FINISHED;
    }
    return code;
}

/* Waits for a run that was started. True when the device has gone wrong: that is the mutant's doing, or
 * else trouble. */
static bool finish_run(const struct trial *t, int number, struct observation *o)
{
    struct input *i = t->state;
    struct started *r = &ahead.run[number];
    struct judgement j = {0};
    int error = r->error;
    if (r->verdict.outcome != OUTCOME_FINISHED)
        error = gpu_wait(i->limit_s); /* of what it had started */
    else if (!error)
        error = judge_wait(&i->task, number, i->limit_s, &j);
    if (!error && number + 1 == ahead.started)
        error = gpu_wait(0); /* nothing is left to wait for, but compute-sanitizer reports when the host does */
    if (error && error != CUDA_NOT_READY && !driver_kernel_fault(error)) {
        o->trouble = EXIT_UNAVAILABLE;
        snprintf(o->detail, sizeof o->detail, "the GPU has failed: %s", driver_error(error));
        return true;
    }
    if (error)
        launch_failed(error, i->limit_s, &r->verdict);
    o->run.outcome = r->verdict.outcome;
    o->differs = o->run.outcome != OUTCOME_FINISHED || j.differs;
    o->run.stray_write = j.stray;
    o->run.graded = j.differs ? j.graded : t->original_run.graded;
    memcpy(o->detail, r->verdict.detail, sizeof o->detail);
    if (o->run.outcome != OUTCOME_FINISHED)
        o->run.detail = o->detail;
    return error;
}

static void expect(struct trial *const t[], int count, const struct image *mutant)
{
    ahead.mutant = mutant;
    ahead.count = count < JUDGE_SLOTS ? count : JUDGE_SLOTS;
    ahead.started = ahead.next = 0;
    memcpy(ahead.trial, t, (size_t)ahead.count * sizeof *t);
}

static bool run(struct trial *t, const struct setup *s, const struct image *mutant, int order,
                struct observation *o)
{
    (void)order; /* the device has its own */
    struct error e;
    *o = (struct observation){0};
    if (ahead.mutant != mutant || ahead.next == ahead.count || ahead.trial[ahead.next] != t)
        expect(&t, 1, mutant);
    int number = ahead.next++;
    o->trouble = open_worker(s, &e);
    if (!o->trouble)
        o->trouble = load_mutant(s, mutant, &e);
    if (!o->trouble)
        o->trouble = start_runs(s, number, &e);
    if (!o->trouble && finish_run(t, number, o))
        return true;
    const struct input *i = t->state;
    if (!o->trouble && s->export && o->run.outcome == OUTCOME_FINISHED)
        o->trouble = export_outputs(s, t->recipe, &i->x, i->out_address, mutant->id, &e);
    if (o->trouble)
        snprintf(o->detail, sizeof o->detail, "%.150s", e.text);
    return o->trouble;
}

const struct backend backend_cuda = {
    .name = "cuda", .code = CUDA_HASH, .orders = 1, .faults = 4, .hash = add_hash, .start = start,
    .stop = holder_stop, .device = device_words, .bytes = bytes, .room = room, .make = make,
    .free = free_trial, .prepare = prepare, .expect = expect, .run = run};
