#include "export.h"

#include <stdlib.h>

#include "../../lib/file.h"

static int write_floats(FILE *f, device_address from, size_t count, struct error *e)
{
    float *values = malloc(count * sizeof *values + 1);
    if (!values)
        return fail(e, EXIT_UNAVAILABLE, "not enough memory for an export");
    int error = driver.cuMemcpyDtoHAsync_v2(values, from, count * sizeof *values, gpu.stream);
    if (!error)
        error = gpu_wait(0);
    fwrite(values, sizeof *values, count, f);
    free(values);
    return driver_check(error, "an export", e);
}

static const char *role_name(enum role role)
{
    return role == PARAMETER ? "parameter" : role == INPUT ? "input" : "output";
}

static int export_tensor(const struct setup *s, const struct recipe *r, int k, device_address from,
                         struct error *e)
{
    struct output out = {0};
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.%d.f32", s->export, r->id, k);
    int code = output_open(&out, path, e);
    if (!code)
        code = write_floats(out.stream, from, (size_t)tensor_count(&r->tensor[k]), e);
    if (!code)
        code = output_commit(&out, e);
    output_abandon(&out);
    return code;
}

int export_input(const struct setup *s, const struct recipe *r, const struct tensors *x,
                 device_address inputs, struct error *e)
{
    struct output out = {0};
    char path[4096];
    int in = 0;
    snprintf(path, sizeof path, "%s/%s.txt", s->export, r->id);
    int code = output_open(&out, path, e);
    for (int k = 0; k < s->plugin.problem->sizes && !code; k++)
        fprintf(out.stream, "size %s %ld\n", s->plugin.problem->size[k].name, r->size[k]);
    for (int k = 0; k < r->tensors && !code; k++) {
        const struct tensor *t = &r->tensor[k];
        fprintf(out.stream, "%s %s %s.%d.f32", role_name(t->role), t->name, r->id, k);
        for (int d = 0; d < t->rank; d++)
            fprintf(out.stream, " %ld", t->shape[d]);
        fputc('\n', out.stream);
        if (t->role != OUTPUT)
            code = export_tensor(s, r, k, inputs + x->in[in++], e);
    }
    if (!code)
        code = output_commit(&out, e);
    output_abandon(&out);
    return code;
}

int export_outputs(const struct setup *s, const struct recipe *r, const struct tensors *x,
                   const device_address out[], const char *mutant, struct error *e)
{
    struct output file = {0};
    char path[4096];
    int folder = snprintf(path, sizeof path, "%s/", s->export);
    snprintf(path + folder, sizeof path - (size_t)folder, "%s.%s.f32", mutant, r->id);
    for (char *c = path + folder; *c; c++)
        if (*c == '/')
            *c = '_'; /* an id names its rule's file too */
    int code = output_open(&file, path, e);
    for (int k = 0; k < x->outs && !code; k++)
        code = write_floats(file.stream, out[k], x->out_count[k], e);
    if (!code)
        code = output_commit(&file, e);
    output_abandon(&file);
    return code;
}
