/*
 * trial - one input of one problem on a GPU: backend_cuda.
 *
 * The holder makes it; a worker maps what the holder made, and keeps one block for outputs, which
 * every run poisons, fills and compares in place. A fault of the device ends the worker.
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
static const double LIMIT_FACTOR = 10, LIMIT_SPARE_S = 0.5;

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
};

static struct holder_device device;
static const struct setup *the_setup;

static struct {
    bool open;
    struct block outputs;
    const struct image *mutant; /* the one whose code is loaded; NULL: none */
    struct code code;
} worker;

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
    int code = block_map(&i->inputs, i->x.inputs, i->inputs_descriptor, e);
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

/* The outputs' place, at the end of the worker's block, which grows with the largest input. */
static int place_outputs(struct input *i, device_address *outputs, struct error *e)
{
    int code = 0;
    if (worker.outputs.bytes < i->x.outputs) {
        block_free(&worker.outputs);
        code = block_new(&worker.outputs, i->x.outputs, e);
    }
    *outputs = worker.outputs.address + worker.outputs.bytes - i->x.outputs;
    for (int k = 0; k < i->x.outs; k++)
        i->out[k] = (float *)(i->out_address[k] = *outputs + i->x.out[k]);
    return code;
}

/* After a run that finished: what it wrote. */
static int judge(const struct trial *t, struct input *i, device_address outputs,
                 struct observation *o)
{
    struct difference found;
    int error = judge_difference(&i->x, outputs, i->answers.address, &found);
    if (!error)
        error = gpu_wait(0);
    if (error)
        return error;
    o->differs = found.differs;
    o->run.stray_write = found.stray;
    o->run.graded = t->original_run.graded;
    if (found.stray)
        error = judge_poison(gpu.sink_address, GPU_SINK_BYTES);
    if (!error && found.differs)
        error = judge_grade(&i->x, i->out_address, i->answers.address, &o->run.graded, NULL);
    return error;
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
    return code_load(&worker.code, path, e);
}

static bool run_code(const struct trial *t, const struct setup *s, struct input *i,
                     const struct image *mutant, struct observation *o)
{
    struct simt_verdict verdict = {0};
    struct error e;
    device_address outputs;
    o->trouble = place_outputs(i, &outputs, &e);
    if (!o->trouble)
        o->trouble = driver_check(judge_poison(outputs, i->x.outputs), "poison", &e);
    if (o->trouble) {
        snprintf(o->detail, sizeof o->detail, "%.150s", e.text);
        return true;
    }
    launch_from(&worker.code, 1);
    bool broken = launch_run(loader_find(&s->loader, mutant->id), i->in, i->out, t->recipe->size,
                             i->hyper, i->limit_s, &verdict);
    o->differs = true;
    o->run.outcome = verdict.outcome;
    memcpy(o->detail, verdict.detail, sizeof o->detail);
    int error = broken || verdict.outcome != OUTCOME_FINISHED ? 0 : judge(t, i, outputs, o);
    if (error) {
        o->run.outcome = OUTCOME_CRASHED;
        snprintf(o->detail, sizeof o->detail, "%s", driver_error(error));
    }
    if (o->run.outcome != OUTCOME_FINISHED)
        o->run.detail = o->detail;
    return broken || error;
}

static bool run(struct trial *t, const struct setup *s, const struct image *mutant, int order,
                struct observation *o)
{
    (void)order; /* the device has its own */
    struct input *i = t->state;
    struct error e;
    *o = (struct observation){0};
    o->trouble = open_worker(s, &e);
    if (!o->trouble)
        o->trouble = map_input(s, t->recipe, i, &e);
    if (!o->trouble)
        o->trouble = load_mutant(s, mutant, &e);
    if (o->trouble) {
        snprintf(o->detail, sizeof o->detail, "%.150s", e.text);
        return true;
    }
    bool broken = run_code(t, s, i, mutant, o);
    if (!broken && s->export && o->run.outcome == OUTCOME_FINISHED &&
        (o->trouble = export_outputs(s, t->recipe, &i->x, i->out_address, mutant->id, &e)))
        snprintf(o->detail, sizeof o->detail, "%.150s", e.text);
    return broken;
}

const struct backend backend_cuda = {
    .name = "cuda", .code = CUDA_HASH, .orders = 1, .faults = 4, .hash = add_hash, .start = start,
    .stop = holder_stop, .device = device_words, .bytes = bytes, .room = room, .make = make,
    .free = free_trial, .run = run};
