#include "golden.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"

enum { CANDIDATES = 64 };

static void *allocate(long count, size_t size)
{
    void *memory = calloc(count > 0 ? (size_t)count : 1, size);
    if (!memory)
        abort();
    return memory;
}

/* ---- reading --------------------------------------------------------------------------------- */

static int malformed(const struct golden *g, const char *what, struct error *e)
{
    return fail(e, EXIT_DATA, "%s: not a valid golden file: %s", g->path, what);
}

static void unsupported(struct golden *g, const char *tensor, const char *what)
{
    if (!*g->unsupported)
        snprintf(g->unsupported, sizeof g->unsupported, "%s: %.60s", tensor, what);
}

static int read_shape(const struct json_at *at, int *rank, long shape[TENSOR_RANK], long *elements,
                      struct error *e)
{
    struct json_at list;
    int code = json_get_array(at, "shape", &list, e);
    if (code)
        return code;
    if (json_array_size(list.value) > TENSOR_RANK)
        return fail(e, EXIT_DATA, "%s: a shape has more than %d extents", at->path, TENSOR_RANK);
    *rank = (int)json_array_size(list.value);
    *elements = 1;
    for (int k = 0; k < *rank; k++) {
        const json_t *extent = json_array_get(list.value, (size_t)k);
        shape[k] = (long)json_integer_value(extent);
        if (shape[k] < 1 || shape[k] > (1L << 40) / *elements)
            return fail(e, EXIT_DATA, "%s: a shape has an extent that is not a size", at->path);
        *elements *= shape[k];
    }
    return 0;
}

static int read_tensor(struct golden *g, const struct json_at *at, struct golden_tensor *x,
                       struct error *e)
{
    long number;
    int code = json_get_text(at, "name", &x->name, e);
    if (!code && json_has(at, "value")) {
        unsupported(g, x->name, "a plain number as argument");
        return 0;
    }
    if (!code)
        code = read_shape(at, &x->rank, x->shape, &x->elements, e);
    if (code)
        return code;
    const char *const KINDS[] = {"fixed", "rule", "structure", "n"};
    for (int k = 0; k < LENGTH(KINDS); k++)
        if (json_has(at, KINDS[k])) {
            unsupported(g, x->name, KINDS[k]);
            return 0;
        }
    code = json_get_integer(at, "t", &number, e);
    if (!code && (number < 0 || number >= 1 << 24))
        code = malformed(g, "a tensor number is out of range", e);
    x->number = (int)number;
    if (!code)
        code = json_get_number(at, "lo", &x->lo, e);
    return code ? code : json_get_number(at, "hi", &x->hi, e);
}

static int read_data(struct golden *g, const struct json_at *at, struct golden_output *o,
                     struct error *e)
{
    struct json_at data;
    int code = json_get_array(at, "data", &data, e);
    if (code)
        return code;
    o->samples = (long)json_array_size(data.value);
    if (o->samples != (o->elements + o->stride - 1) / o->stride)
        return malformed(g, "the length of data does not fit the shape", e);
    o->data = allocate(o->samples, sizeof *o->data);
    for (long k = 0; k < o->samples; k++) {
        const json_t *value = json_array_get(data.value, (size_t)k);
        if (!json_is_number(value))
            return malformed(g, "data holds something that is not a number", e);
        o->data[k] = json_number_value(value);
        o->largest = fmax(o->largest, fabs(o->data[k]));
    }
    return 0;
}

static int read_output(struct golden *g, const struct json_at *at, struct golden_output *o,
                       struct error *e)
{
    int code = read_shape(at, &o->rank, o->shape, &o->elements, e);
    o->stride = 1;
    if (!code && json_has(at, "stride"))
        code = json_get_integer(at, "stride", &o->stride, e);
    if (!code && o->stride < 1)
        code = malformed(g, "a stride is not positive", e);
    o->summed = json_has(at, "sum") || json_has(at, "sumsq") || o->stride > 1;
    if (!code && o->summed)
        code = json_get_number(at, "sum", &o->sum, e);
    if (!code && o->summed)
        code = json_get_number(at, "sumsq", &o->sumsq, e);
    if (!code)
        code = read_data(g, at, o, e);
    if (code)
        return code;
    const char *dtype = json_string_value(json_object_get(at->value, "dtype"));
    if (dtype && strncmp(dtype, "float", 5) != 0) {
        unsupported(g, "an output", dtype);
        return 0;
    }
    return json_get_number(at, "fp32_maxabs_err", &o->float32_error, e);
}

static int read_lists(struct golden *g, const struct json_at *root, struct error *e)
{
    struct json_at constants, tensors, outputs;
    int code = json_get_text(root, "problem", &g->problem, e);
    if (!code)
        code = json_get_object(root, "constants", &constants, e);
    if (!code)
        code = json_get_array(root, "tensors", &tensors, e);
    if (!code)
        code = json_get_array(root, "outputs", &outputs, e);
    if (code)
        return code;
    g->constants = constants.value;
    g->tensors = (int)json_array_size(tensors.value);
    g->tensor = allocate(g->tensors, sizeof *g->tensor);
    for (int k = 0; k < g->tensors && !code; k++) {
        struct json_at at = {g->path, 1, json_array_get(tensors.value, (size_t)k)};
        code = read_tensor(g, &at, &g->tensor[k], e);
    }
    g->outputs = (int)json_array_size(outputs.value);
    g->output = allocate(g->outputs, sizeof *g->output);
    for (int k = 0; k < g->outputs && !code; k++) {
        struct json_at at = {g->path, 1, json_array_get(outputs.value, (size_t)k)};
        code = read_output(g, &at, &g->output[k], e);
    }
    if (!code && g->outputs == 0)
        code = malformed(g, "it has no output", e);
    return code;
}

int golden_read(struct golden *g, const char *path, struct error *e)
{
    struct json_at root;
    *g = (struct golden){.path = path};
    int code = json_document(&root, path, NULL, e);
    if (code)
        return code;
    if (!json_has(&root, "problem") && !json_has(&root, "tensors") && !json_has(&root, "outputs")) {
        json_decref(root.value);
        return 0;
    }
    g->root = root.value;
    code = read_lists(g, &root, e);
    if (code)
        golden_free(g);
    return code;
}

void golden_free(struct golden *g)
{
    for (int k = 0; g->output && k < g->outputs; k++)
        free(g->output[k].data);
    free(g->output);
    free(g->tensor);
    json_decref(g->root);
    *g = (struct golden){.path = g->path};
}

/* ---- binding --------------------------------------------------------------------------------- */

/* The module constant `name`, or element k of the array constant `tuple` for `tuple.k`; or NULL. */
static const json_t *constant_of(const struct golden *g, const char *name)
{
    const json_t *whole = json_object_get(g->constants, name);
    const char *dot = strrchr(name, '.');
    if (whole || !dot)
        return whole;
    char tuple[TENSOR_NAME];
    snprintf(tuple, sizeof tuple, "%.*s", (int)(dot - name), name);
    return json_array_get(json_object_get(g->constants, tuple), (size_t)strtoul(dot + 1, NULL, 10));
}

static bool same_shape(const struct tensor *x, int rank, const long shape[])
{
    for (int k = 0; k < rank && rank == x->rank; k++)
        if (shape[k] != x->shape[k])
            return false;
    return rank == x->rank;
}

static void shape_text(int rank, const long shape[], char *text, size_t room)
{
    size_t used = (size_t)snprintf(text, room, "[");
    for (int k = 0; k < rank && used < room; k++)
        used += (size_t)snprintf(text + used, room - used, "%s%ld", k ? ", " : "", shape[k]);
    if (used < room)
        snprintf(text + used, room - used, "]");
}

static int differ(const struct tensor *declared, int rank, const long shape[], struct error *e)
{
    char ours[128], theirs[128];
    shape_text(declared->rank, declared->shape, ours, sizeof ours);
    shape_text(rank, shape, theirs, sizeof theirs);
    return fail(e, EXIT_NO, "'%s' is declared %s, the golden file has %s", declared->name, ours,
                theirs);
}

/* Are the declared shapes the file's, in order? 0, or EXIT_NO with the first that is not. */
static int match(const struct golden *g, const struct layout *l, struct error *e)
{
    int inputs = 0, outputs = 0;
    for (int t = 0; t < l->tensors; t++)
        *(l->tensor[t].role == OUTPUT ? &outputs : &inputs) += 1;
    if (inputs != g->tensors || outputs != g->outputs)
        return fail(e, EXIT_NO,
                    "%d tensors and %d outputs are declared, the golden file has %d and %d", inputs,
                    outputs, g->tensors, g->outputs);
    const struct golden_tensor *y = g->tensor;
    const struct golden_output *o = g->output;
    for (int t = 0; t < l->tensors; t++) {
        const struct tensor *x = &l->tensor[t];
        int rank = x->role == OUTPUT ? o->rank : y->rank;
        const long *shape = x->role == OUTPUT ? o++->shape : y++->shape;
        if (!same_shape(x, rank, shape))
            return differ(x, rank, shape, e);
    }
    return 0;
}

static void add_candidates(int rank, const long shape[], long candidate[], int *candidates)
{
    for (int k = 0; k < rank; k++) {
        int known = 0;
        while (known < *candidates && candidate[known] != shape[k])
            known++;
        if (known == *candidates && known < CANDIDATES)
            candidate[(*candidates)++] = shape[k];
    }
}

/* The sizes that no constant gives, and the extents they may have. */
struct search {
    const struct golden *g;
    const struct plugin *p;
    struct layout *l;
    int unknown[PROBLEM_SIZES], unknowns;
    long candidate[CANDIDATES];
    int candidates;
};

/* Moves exactly `moves` of the unknown sizes, from `first` on, until all shapes agree. */
static int search(const struct search *s, int first, int moves, long sizes[], struct error *e)
{
    if (moves == 0) {
        int code = plugin_layout(s->p, sizes, s->l, e);
        return code ? code : match(s->g, s->l, e);
    }
    for (int u = first; u + moves <= s->unknowns; u++) {
        long *size = &sizes[s->unknown[u]], official = *size;
        for (int c = 0; c < s->candidates; c++) {
            *size = s->candidate[c];
            if (search(s, u + 1, moves - 1, sizes, e) == 0)
                return 0;
        }
        *size = official;
    }
    return EXIT_NO;
}

static int infer(const struct search *s, long sizes[], struct error *e)
{
    if (search(s, 0, 0, sizes, e) == 0)
        return 0;
    char why[sizeof e->text]; /* of the official values: the clearest */
    strcpy(why, e->text);
    for (int moves = 1; moves <= s->unknowns && moves <= 3; moves++)
        if (search(s, 0, moves, sizes, e) == 0)
            return 0;
    return fail(e, EXIT_NO, "%s", why);
}

int golden_bind(const struct golden *g, const struct plugin *p, long sizes[PROBLEM_SIZES],
                double hyperparameters[PROBLEM_SIZES], struct layout *l, struct error *e)
{
    struct search s = {.g = g, .p = p, .l = l};
    plugin_official(p, sizes);
    plugin_hyperparameters(p, hyperparameters);
    for (int k = 0; k < p->problem->sizes; k++) {
        const json_t *value = constant_of(g, p->problem->size[k].name);
        if (value && !json_is_integer(value))
            return fail(e, EXIT_NO, "the constant '%s' is not an integer",
                        p->problem->size[k].name);
        if (value)
            sizes[k] = (long)json_integer_value(value);
        else
            s.unknown[s.unknowns++] = k;
    }
    for (int k = 0; k < p->problem->hyperparameters; k++) {
        const json_t *value = constant_of(g, p->problem->hyperparameter[k].name);
        if (value && !json_is_number(value))
            return fail(e, EXIT_NO, "the constant '%s' is not a number",
                        p->problem->hyperparameter[k].name);
        if (value)
            hyperparameters[k] = json_number_value(value);
    }
    for (int t = 0; t < g->tensors; t++)
        add_candidates(g->tensor[t].rank, g->tensor[t].shape, s.candidate, &s.candidates);
    for (int k = 0; k < g->outputs; k++)
        add_candidates(g->output[k].rank, g->output[k].shape, s.candidate, &s.candidates);
    return infer(&s, sizes, e);
}

/* ---- values ---------------------------------------------------------------------------------- */

float golden_value(const struct golden *g, int t, long i)
{
    const struct golden_tensor *x = &g->tensor[t];
    const struct fill f = {GENERATOR_UNIFORM, x->lo, x->hi, 0, 1};
    return generator_value(&f, 0, x->number, i, 1, 1); /* uniform: no extent matters */
}

/* The larger of the two; NaN if either is. */
static double worse(double a, double b)
{
    return b <= a ? a : isnan(a) ? a : b;
}

double golden_difference(const struct golden_output *o, const double out[])
{
    double largest = o->largest > 0 ? o->largest : 1, worst = 0;
    for (long k = 0; k < o->samples; k++)
        worst = worse(worst, fabs(out[k * o->stride] - o->data[k]) / largest);
    if (!o->summed)
        return worst;
    double sum = 0, sumsq = 0, n = (double)o->elements;
    for (long i = 0; i < o->elements; i++) {
        sum += out[i];
        sumsq += out[i] * out[i];
    }
    worst = worse(worst, fabs(sum - o->sum) / n / largest);
    return worse(worst, fabs(sumsq - o->sumsq) / n / (2 * largest * largest));
}
