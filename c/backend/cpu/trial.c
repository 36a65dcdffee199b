/*
 * trial - one input of one problem on the CPU executor: backend_cpu.
 *
 * Making a trial costs a reference in double, one in float and a run of the original kernel for each
 * order of threads; each mutant then costs its own run and one comparison. All of it is made before the
 * workers are forked, which find it in their memory.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <unistd.h>

#include "../setup.h"
#include "reference.h"
#include "version.h"

enum { ORDERS = 3 }; /* enum simt_order's */

struct tensors {
    const struct recipe *recipe;
    double hyper[PROBLEM_SIZES];
    int ins, outs;
    float **in, **out;            /* guarded buffers; the ins are sealed */
    size_t *out_count;            /* elements of each output */
    size_t count;                 /* of all outputs together */
    double *reference;            /* all outputs, one after the other */
    float *original[ORDERS];      /* what the original kernel wrote under each order */
    uint64_t fuel;                /* that a mutant may burn */
    float *result;                /* where a run's outputs are collected */
    double *work;
};

/*
 * A mutant may burn FUEL_FACTOR times the original's loop iterations and FUEL_SPARE more. One that wants
 * more is tried once with FUEL_CONFIRM times as much, for a fault may make each thread of a block do the
 * work of all; if that is not enough either, it counts as endless, and on the inputs that follow it gets
 * FUEL_ENDLESS times the original's and no second try.
 * (Not where only races are looked for: they show at once or not at all, at ten times the cost.)
 * The clock stands behind it for loops made of goto and recursion.
 */
enum { FUEL_FACTOR = 20, FUEL_SPARE = 20000, FUEL_CONFIRM = 25, FUEL_ENDLESS = 4, CPU_LIMIT_S = 10 };

/* The order of threads is drawn from the input alone, so that runs repeat: the hash's first half. */
static uint64_t seed_of(const struct recipe *r)
{
    char digits[17] = {0};
    memcpy(digits, r->hash, 16);
    return strtoull(digits, NULL, 16);
}

static int no_memory(const struct tensors *t, struct error *e)
{
    return fail(e, EXIT_UNAVAILABLE, "input %s: not enough memory for its tensors", t->recipe->id);
}

/* The buffers of the kernel under test: inputs filled and sealed, outputs empty. */
static int make_buffers(struct tensors *t, struct error *e)
{
    const struct recipe *r = t->recipe;
    int outs = 0;
    for (int k = 0; k < r->tensors; k++)
        outs += r->tensor[k].role == OUTPUT;
    /* Guarded too: a mutant that asks for a tensor too many finds no memory of ours. */
    t->in = simt_buffer_new((size_t)(r->tensors - outs) * sizeof *t->in);
    t->out = simt_buffer_new((size_t)outs * sizeof *t->out);
    t->out_count = calloc((size_t)r->tensors, sizeof *t->out_count);
    if (!t->in || !t->out || !t->out_count)
        return no_memory(t, e);
    for (int k = 0; k < r->tensors; k++) {
        size_t count = (size_t)tensor_count(&r->tensor[k]);
        float *buffer = simt_buffer_new(count * sizeof(float));
        if (!buffer)
            return no_memory(t, e);
        if (r->tensor[k].role == OUTPUT) {
            t->out_count[t->outs] = count;
            t->out[t->outs++] = buffer;
            t->count += count;
        } else {
            t->in[t->ins++] = buffer;
            recipe_fill(r, k, buffer);
            simt_buffer_seal(buffer);
        }
    }
    t->reference = calloc(t->count, sizeof *t->reference);
    t->result = calloc(t->count, sizeof *t->result);
    t->work = calloc(t->count, sizeof *t->work);
    for (int k = 0; k < ORDERS; k++)
        t->original[k] = calloc(t->count, sizeof **t->original);
    bool all = t->reference && t->result && t->work;
    for (int k = 0; k < ORDERS; k++)
        all = all && t->original[k];
    return all ? 0 : no_memory(t, e);
}

/* Runs a reference, in elements of `size` bytes (double or float), and collects its outputs. */
static int run_reference(struct tensors *t, const struct plugin *p, const struct reference *ref,
                         size_t size, void *collected, struct error *e)
{
    void **in = calloc((size_t)t->ins + 1, sizeof *in), **out = calloc((size_t)t->outs + 1, sizeof *out);
    int code = in && out ? 0 : no_memory(t, e), filled = 0;
    for (int k = 0; k < t->recipe->tensors && !code; k++) {
        if (t->recipe->tensor[k].role == OUTPUT)
            continue;
        size_t count = (size_t)tensor_count(&t->recipe->tensor[k]);
        in[filled] = simt_buffer_new(count * size);
        if (!in[filled])
            code = no_memory(t, e);
        for (size_t i = 0; !code && i < count; i++) {
            if (size == sizeof(double))
                ((double *)in[filled])[i] = t->in[filled][i];
            else
                ((float *)in[filled])[i] = t->in[filled][i];
        }
        filled++;
    }
    for (int k = 0; k < t->outs && !code; k++) {
        out[k] = simt_buffer_new(t->out_count[k] * size);
        if (!out[k])
            code = no_memory(t, e);
        else
            simt_buffer_poison(out[k]);
    }
    if (!code)
        code = reference_run(p, ref, in, out, t->recipe->size, t->hyper, e);
    char *next = collected;
    for (int k = 0; k < t->outs && !code; k++) {
        memcpy(next, out[k], t->out_count[k] * size);
        next += t->out_count[k] * size;
    }
    for (int k = 0; in && k < t->ins; k++)
        simt_buffer_free(in[k]);
    for (int k = 0; out && k < t->outs; k++)
        simt_buffer_free(out[k]);
    free(in);
    free(out);
    return code;
}

/* One run on poisoned outputs; what was written is in t->result. Returns the fuel burnt. */
static uint64_t run_once(struct tensors *t, launch_function *launch, enum simt_order order, uint64_t fuel,
                         struct run *run, char detail[DETAIL])
{
    struct simt_schedule schedule = {order, seed_of(t->recipe), fuel, CPU_LIMIT_S};
    struct simt_verdict verdict;
    for (int k = 0; k < t->outs; k++)
        simt_buffer_poison(t->out[k]);
    simt_run(launch, t->in, t->out, t->recipe->size, t->hyper, &schedule, &verdict);
    size_t at = 0;
    for (int k = 0; k < t->outs; k++) {
        memcpy(t->result + at, t->out[k], t->out_count[k] * sizeof(float));
        at += t->out_count[k];
    }
    memcpy(detail, verdict.detail, sizeof verdict.detail);
    *run = (struct run){.outcome = verdict.outcome,
                        .detail = verdict.outcome == OUTCOME_FINISHED ? NULL : detail,
                        .stray_read = verdict.stray_read,
                        .stray_write = verdict.stray_write,
                        .divergence = verdict.divergence,
                        .input_written = verdict.input_written,
                        .race = verdict.race ? RACE_SEEN : RACE_UNKNOWN};
    return verdict.fuel_used;
}

/* Is run b worse than a: it did not finish, or its critical tolerance is larger? */
static bool worse(const struct run *b, const struct run *a)
{
    if (a->outcome != OUTCOME_FINISHED || b->outcome != OUTCOME_FINISHED)
        return a->outcome == OUTCOME_FINISHED;
    return b->graded.t > a->graded.t;
}

static void run_original(struct tensors *x, const struct setup *s, struct trial *t)
{
    uint64_t burnt = 0;
    for (int order = 0; order < ORDERS; order++) {
        struct run run;
        char detail[DETAIL];
        loader_restore(&s->loader, "original");
        uint64_t used = run_once(x, s->original, order, 0, &run, detail);
        burnt = used > burnt ? used : burnt;
        memcpy(x->original[order], x->result, x->count * sizeof(float));
        if (run.outcome == OUTCOME_FINISHED)
            graded_compare(&run.graded, x->result, x->reference, x->count, x->work);
        if (order > 0 && !worse(&run, &t->original_run))
            continue;
        memcpy(t->original_detail, detail, sizeof detail);
        t->original_run = run;
        t->original_run.detail = run.detail ? t->original_detail : NULL;
        if (run.outcome == OUTCOME_TIMEOUT)
            break;
    }
    x->fuel = FUEL_FACTOR * burnt + FUEL_SPARE;
}

static void free_tensors(struct tensors *x)
{
    for (int k = 0; k < x->ins; k++)
        simt_buffer_free(x->in[k]);
    for (int k = 0; k < x->outs; k++)
        simt_buffer_free(x->out[k]);
    for (int k = 0; k < ORDERS; k++)
        free(x->original[k]);
    simt_buffer_free(x->in);
    simt_buffer_free(x->out);
    free(x->out_count);
    free(x->reference);
    free(x->result);
    free(x->work);
    free(x);
}

static bool all_finite(const double *x, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!isfinite((float)x[i]))
            return false;
    return true;
}

static int make(struct trial *t, const struct setup *s, const struct recipe *r, struct error *e)
{
    *t = (struct trial){.recipe = r};
    struct tensors *x = calloc(1, sizeof *x);
    if (!x)
        return fail(e, EXIT_UNAVAILABLE, "input %s: not enough memory for its tensors", r->id);
    x->recipe = r;
    plugin_hyperparameters(&s->plugin, x->hyper);
    int code = make_buffers(x, e);
    if (!code)
        code = run_reference(x, &s->plugin, &s->float64, sizeof(double), x->reference, e);
    if (!code)
        code = run_reference(x, &s->plugin, &s->float32, sizeof(float), x->result, e);
    if (code) {
        free_tensors(x);
        return code;
    }
    graded_compare(&t->float32, x->result, x->reference, x->count, x->work);
    t->finite = all_finite(x->reference, x->count);
    run_original(x, s, t);
    t->state = x;
    return 0;
}

static void free_trial(struct trial *t)
{
    if (t->state)
        free_tensors(t->state);
    t->state = NULL;
}

static bool run(struct trial *t, const struct setup *s, const struct image *mutant, int order,
                struct observation *o)
{
    static const struct image *endless; /* the last mutant that never ended */
    struct tensors *x = t->state;
    launch_function *launch = loader_find(&s->loader, mutant->id);
    loader_restore(&s->loader, mutant->id);
    uint64_t fuel = mutant == endless ? x->fuel / FUEL_FACTOR * FUEL_ENDLESS : x->fuel;
    run_once(x, launch, order, fuel, &o->run, o->detail);
    if (o->run.outcome == OUTCOME_TIMEOUT && mutant != endless && !s->race) {
        loader_restore(&s->loader, mutant->id);
        run_once(x, launch, order, FUEL_CONFIRM * x->fuel, &o->run, o->detail);
        endless = o->run.outcome == OUTCOME_TIMEOUT ? mutant : endless;
    }
    o->differs = o->run.outcome != OUTCOME_FINISHED ||
                 memcmp(x->result, x->original[order], x->count * sizeof(float)) != 0;
    if (o->run.outcome == OUTCOME_FINISHED && o->differs)
        graded_compare(&o->run.graded, x->result, x->reference, x->count, x->work);
    else if (o->run.outcome == OUTCOME_FINISHED)
        o->run.graded = t->original_run.graded;
    return false;
}

/* What a faulty kernel reads past its own variables are often addresses: without randomisation they are
 * the same in every run. The program starts anew once, where the system lets it. */
static void fix_addresses(void)
{
    char *text, *argument[4096] = {NULL};
    size_t size;
    struct error ignored;
    int now = personality(0xffffffff);
    if (now < 0 || now & ADDR_NO_RANDOMIZE || personality((unsigned long)now | ADDR_NO_RANDOMIZE) < 0 ||
        file_read("/proc/self/cmdline", &text, &size, &ignored))
        return;
    int count = 0;
    char *next = text;
    for (; next < text + size && count < 4095; next += strlen(next) + 1)
        argument[count++] = next;
    if (next >= text + size)
        execv("/proc/self/exe", argument);
    free(text);
}

static int start(const struct setup *s, struct error *e)
{
    (void)s;
    fix_addresses();
    return simt_start(e);
}

static void stop(void)
{
}

static const char *const ORDER[ORDERS] = {[SIMT_FORWARD] = "forward", [SIMT_REVERSED] = "reversed"};

const struct backend backend_cpu = {.name = "cpu", .code = EXECUTOR_HASH, .orders = ORDERS, .order = ORDER,
                                    .start = start, .stop = stop, .make = make,
                                    .free = free_trial, .run = run};
