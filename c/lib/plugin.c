#include "plugin.h"

#include <dlfcn.h>
#include <string.h>

/* Element numbers are 40 bits wide in the generator. */
static const long ELEMENT_LIMIT = 1L << 40;

/* The last two parts of the path, without the suffix. */
static void id_of(const char *path, char *id, size_t room)
{
    const char *name = strrchr(path, '/');
    const char *start = name ? name : path;
    while (start > path && start[-1] != '/')
        start--;
    snprintf(id, room, "%s", start);
    char *dot = strrchr(id, '.');
    if (dot)
        *dot = '\0';
}

static void *open_object(const char *path, struct error *e)
{
    char relative[4096]; /* dlopen takes a name without a slash for a library to search for */
    snprintf(relative, sizeof relative, "%s%s", strchr(path, '/') ? "" : "./", path);
    void *handle = dlopen(relative, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        fail(e, EXIT_UNAVAILABLE, "%s: cannot be opened: %s", path, dlerror());
    return handle;
}

static int check_problem(const char *path, const struct problem *p, struct error *e)
{
    if (!p)
        return fail(e, EXIT_DATA, "%s: exports no `problem`", path);
    if (p->abi != PROBLEM_ABI)
        return fail(e, EXIT_DATA, "%s: was built for problem ABI %d, expected %d; rebuild it", path,
                    p->abi, PROBLEM_ABI);
    if (p->sizes < 1 || p->sizes > PROBLEM_SIZES)
        return fail(e, EXIT_DATA, "%s: has %d sizes, expected 1 to %d", path, p->sizes,
                    PROBLEM_SIZES);
    if (p->hyperparameters < 0 || p->hyperparameters > PROBLEM_SIZES)
        return fail(e, EXIT_DATA, "%s: has %d hyperparameters, expected 0 to %d", path,
                    p->hyperparameters, PROBLEM_SIZES);
    const char *missing = !p->tensors ? "tensors" : !p->reference ? "reference"
                          : !p->reduction ? "reduction" : NULL;
    return missing ? fail(e, EXIT_DATA, "%s: its `problem` has no .%s", path, missing) : 0;
}

int plugin_open(struct plugin *p, const char *path, struct error *e)
{
    *p = (struct plugin){.handle = open_object(path, e)};
    if (!p->handle)
        return e->code;
    id_of(path, p->id, sizeof p->id);
    p->problem = dlsym(p->handle, "problem");
    int code = check_problem(path, p->problem, e);
    if (code)
        plugin_close(p);
    return code;
}

void plugin_close(struct plugin *p)
{
    if (p->handle)
        dlclose(p->handle);
    *p = (struct plugin){0};
}

int plugin_size(const struct plugin *p, const char *name)
{
    for (int k = 0; k < p->problem->sizes; k++)
        if (strcmp(p->problem->size[k].name, name) == 0)
            return k;
    return -1;
}

int plugin_hyperparameter(const struct plugin *p, const char *name)
{
    for (int k = 0; k < p->problem->hyperparameters; k++)
        if (strcmp(p->problem->hyperparameter[k].name, name) == 0)
            return k;
    return -1;
}

void plugin_small(const struct plugin *p, long sizes[PROBLEM_SIZES])
{
    for (int k = 0; k < p->problem->sizes; k++)
        sizes[k] = p->problem->size[k].small;
}

void plugin_official(const struct plugin *p, long sizes[PROBLEM_SIZES])
{
    for (int k = 0; k < p->problem->sizes; k++)
        sizes[k] = p->problem->size[k].official;
}

void plugin_hyperparameters(const struct plugin *p, double values[PROBLEM_SIZES])
{
    for (int k = 0; k < p->problem->hyperparameters; k++)
        values[k] = p->problem->hyperparameter[k].value;
}

static int check_tensor(const char *id, const struct layout *l, int t, struct error *e)
{
    const struct tensor *x = &l->tensor[t];
    if (x->rank < 0 || x->rank > TENSOR_RANK)
        return fail(e, EXIT_DATA, "%s: tensor '%s' has rank %d, expected at most %d", id, x->name,
                    x->rank, TENSOR_RANK);
    long count = 1;
    for (int k = 0; k < x->rank; k++) {
        if (x->shape[k] < 1)
            return fail(e, EXIT_DATA, "%s: extent %d of tensor '%s' is %ld, expected at least 1",
                        id, k, x->name, x->shape[k]);
        if (x->shape[k] >= ELEMENT_LIMIT / count)
            return fail(e, EXIT_DATA, "%s: tensor '%s' has 2^40 elements or more", id, x->name);
        count *= x->shape[k];
    }
    for (int other = 0; other < t; other++)
        if (strcmp(l->tensor[other].name, x->name) == 0)
            return fail(e, EXIT_DATA, "%s: two tensors are named '%s'", id, x->name);
    return 0;
}

int plugin_layout(const struct plugin *p, const long sizes[], struct layout *l, struct error *e)
{
    const struct problem *q = p->problem;
    for (int k = 0; k < q->sizes; k++)
        if (sizes[k] < (q->invalid ? 0 : 1)) /* a padding may be 0, and then invalid() judges */
            return fail(e, EXIT_DATA, "%s: size %s is %ld", p->id, q->size[k].name, sizes[k]);
    const char *why = q->invalid ? q->invalid(sizes) : NULL;
    if (why)
        return fail(e, EXIT_DATA, "%s: %s", p->id, why);
    l->tensors = 0;
    q->tensors(l, sizes);
    if (l->tensors >= PROBLEM_TENSORS)
        return fail(e, EXIT_DATA, "%s: declares %d tensors or more, expected fewer", p->id,
                    PROBLEM_TENSORS);
    int outputs = 0;
    for (int t = 0; t < l->tensors; t++) {
        int code = check_tensor(p->id, l, t, e);
        if (code)
            return code;
        outputs += l->tensor[t].role == OUTPUT;
    }
    return outputs ? 0 : fail(e, EXIT_DATA, "%s: declares no output", p->id);
}

long tensor_count(const struct tensor *t)
{
    long count = 1;
    for (int k = 0; k < t->rank; k++)
        count *= t->shape[k];
    return count;
}

long tensor_row(const struct tensor *t)
{
    for (int k = t->rank; k-- > 0;)
        if (t->shape[k] > 1)
            return t->shape[k];
    return 1;
}

int reference_open(struct reference *r, const char *path, struct error *e)
{
    *r = (struct reference){.handle = open_object(path, e)};
    if (!r->handle)
        return e->code;
    r->table = dlsym(r->handle, "ref_table");
    *(void **)&r->release = dlsym(r->handle, "ref_release");
    if (r->table && r->release)
        return 0;
    reference_close(r);
    return fail(e, EXIT_UNAVAILABLE, "%s: exports no `ref_table` and `ref_release`", path);
}

void reference_close(struct reference *r)
{
    if (r->handle)
        dlclose(r->handle);
    *r = (struct reference){0};
}
