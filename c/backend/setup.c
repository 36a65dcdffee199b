#include "setup.h"

#include <string.h>

#include "../lib/json.h"
#include "version.h"

static const struct argp_option OPTIONS[] = {
    {"output", 'o', "FILE", 0, "Write the result to FILE", 0},
    {"ref", 'r', "DIR", 0, "Reference operators: f64.so and f32.so (default build/ref)", 0},
    {"images", 'i', "FILE", 0, "The index of compiled mutants (images.jsonl)", 0},
    {"backend", 'b', "NAME", 0, "What runs kernels: cpu (default) or cuda", 0},
    {"profile", 'p', "NAME", 0, "What the header calls backend and sizes (default: the backend)", 0},
    {"export", 'x', "DIR", 0, "Write inputs and outputs there too (cuda only; cuda/export.h)", 0},
    {"inputs", 'I', "ID,…", 0, "Only these inputs of the suites", 0},
    {"official", 'O', NULL, 0, "The benchmark's own sizes instead of the small ones", 0},
    {0},
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct setup_options *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        o->reference = "build/ref";
        o->backend = &backend_cpu;
        return 0;
    case 'b':
        if (!(o->backend = backend_find(argument)))
            argp_error(state, "'%s' is no backend", argument);
        return 0;
    case 'p': o->profile = argument; return 0;
    case 'x': o->export = argument; return 0;
    case 'I': o->inputs = argument; return 0;
    case 'O': o->official = true; return 0;
    case 'o': o->output = argument; return 0;
    case 'r': o->reference = argument; return 0;
    case 'i': o->images = argument; return 0;
    case ARGP_KEY_ARGS:
        o->problem = state->argv[state->next];
        o->suite = state->argv + state->next + 1;
        o->suites = state->argc - state->next - 1;
        return 0;
    case ARGP_KEY_SUCCESS:
        if (!o->problem || o->suites == 0)
            argp_error(state, "a problem and at least one suite are needed");
        if (!o->output || !o->images)
            argp_error(state, "--output and --images are needed");
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

const struct argp setup_argp = {OPTIONS, parse, NULL, NULL, NULL, NULL, NULL};

/* f64.so or f32.so: opened, and added to the hash. */
static int open_reference(struct reference *r, const struct setup_options *o, const char *name,
                          struct hash *h, struct error *e)
{
    char path[4096], digest[HASH_HEX];
    snprintf(path, sizeof path, "%s/%s", o->reference, name);
    int code = reference_open(r, path, e);
    if (!code)
        code = hash_file(path, digest, e);
    if (!code)
        hash_add_text(h, digest);
    return code;
}

int setup_open(struct setup *s, const struct setup_options *o, struct error *e)
{
    char digest[HASH_HEX];
    *s = (struct setup){.backend = o->backend,
                        .profile = o->profile ? o->profile : o->backend->name,
                        .folder = o->reference,
                        .export = o->export};
    struct hash *h = hash_new();
    hash_add_text(h, o->backend->code);
    int code = plugin_open(&s->plugin, o->problem, e);
    if (!code)
        code = hash_file(o->problem, digest, e);
    if (!code) {
        hash_add_text(h, digest);
        code = open_reference(&s->float64, o, "f64.so", h, e);
    }
    if (!code)
        code = open_reference(&s->float32, o, "f32.so", h, e);
    if (!code && s->backend->hash)
        code = s->backend->hash(s, h, e);
    hash_finish(h, s->hash);
    if (!code)
        (o->official ? plugin_official : plugin_small)(&s->plugin, s->size);
    for (int k = 0; k < o->suites && !code; k++)
        code = pool_read(&s->pool, &s->plugin, s->size, o->suite[k], e);
    if (!code && o->inputs)
        pool_keep(&s->pool, o->inputs);
    if (!code)
        code = loader_open(&s->loader, o->images, e);
    if (!code && !(s->original = loader_find(&s->loader, "original")))
        code = fail(e, EXIT_DATA, "%s: holds no code of the original kernel", o->images);
    return code ? code : s->backend->start(s, e);
}

void setup_close(struct setup *s)
{
    s->backend->stop();
    loader_close(&s->loader);
    pool_free(&s->pool);
    if (s->float32.handle)
        reference_close(&s->float32);
    if (s->float64.handle)
        reference_close(&s->float64);
    if (s->plugin.handle)
        plugin_close(&s->plugin);
}

json_t *setup_header(const struct setup *s, const char *kind)
{
    json_t *header = json_new(kind);
    json_object_set_new(header, "problem", json_string(s->plugin.id));
    json_object_set_new(header, "backend", json_string(s->backend->name));
    json_object_set_new(header, "profile", json_string(s->profile));
    json_object_set_new(header, "provenance",
                        json_pack("{ss ss* ss}", "assay", ASSAY_VERSION, "device",
                                  s->backend->device ? s->backend->device() : NULL, "sha256",
                                  s->hash));
    return header;
}
