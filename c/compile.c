/* compile - turns the mutants of a kernel into code, and tells which are the same. */
#include <argp.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/cuda/compiler.h"
#include "compilation.h"
#include "object.h"
#include "version.h"

const char *argp_program_version = "compile (assay) " ASSAY_VERSION;

struct options {
    struct compilation compilation;
    bool cuda;
    int jobs;
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct options *options = state->input;
    struct compilation *o = &options->compilation;
    char *end;
    switch (key) {
    case 'r': o->race = true; break;
    case 'l': o->only = argument; break;
    case 'o': o->index = argument; break;
    case 's': o->backend = argument; break;
    case 'j':
        options->jobs = (int)strtol(argument, &end, 10);
        if (*end || options->jobs < 1)
            argp_error(state, "--jobs takes a number from 1 on");
        break;
    case 'B':
        options->cuda = strcmp(argument, "cuda") == 0;
        if (!options->cuda && strcmp(argument, "cpu") != 0)
            argp_error(state, "'%s' is no backend", argument);
        break;
    case 'b':
        o->batch = (int)strtol(argument, &end, 10);
        if (*end || o->batch < 1 || o->batch > OBJECT_MUTANTS)
            argp_error(state, "--batch takes a number from 1 to %d", OBJECT_MUTANTS);
        break;
    case ARGP_KEY_ARG:
        if (state->arg_num > 1)
            argp_error(state, "one kernel and one manifest at a time");
        *(state->arg_num ? &o->manifest : &o->kernel) = argument;
        break;
    case ARGP_KEY_END:
        if (!o->manifest || !o->index)
            argp_error(state, "needs KERNEL.cu, MANIFEST.jsonl and -o");
        break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp_option OPTIONS[] = {
    {"output", 'o', "IMAGES.jsonl", 0, "The index; the shared objects go into the folder IMAGES/",
     0},
    {"only", 'l', "FILE", 0, "Only the mutants whose ids FILE lists, one a line", 0},
    {"race", 'r', NULL, 0, "Instrument memory accesses for the race oracle", 0},
    {"batch", 'b', "N", 0, "Mutants a translation unit (default 40)", 0},
    {"backend", 'B', "NAME", 0, "What is to run it: cpu (default) or cuda", 0},
    {"jobs", 'j', "N", 0, "Processes that compile device code at once (default 1)", 0},
    {"sources", 's', "DIR", 0,
     "The folder c/backend (default: the one beside this program's build/)", 0},
    {0},
};

static const struct argp ARGP = {
    .options = OPTIONS,
    .parser = parse,
    .args_doc = "KERNEL.cu MANIFEST.jsonl",
    .doc =
        "Compiles the mutants of a kernel for a backend.\v"
        "Exit status: 0 done (mutants that do not compile are a result); 64 usage; 65 the "
        "manifest is not valid, or the kernel itself does not compile; 69 no compiler; 74 input or "
        "output failed.",
};

/* The folder c/backend of the tree whose build/bin/ holds this program. */
static void default_backend(char path[PATH_MAX])
{
    char self[PATH_MAX - 32] = "";
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0)
        strcpy(self, "build/bin/compile");
    snprintf(path, PATH_MAX, "%s/c/backend", dirname(dirname(dirname(self))));
}

static void show_progress(int done, int all)
{
    fprintf(stderr, "\rcompile: %d of %d%s", done, all, done < all ? "" : "\n");
}

int main(int argc, char **argv)
{
    char backend[PATH_MAX];
    struct error e;
    default_backend(backend);
    struct options o = {.compilation = {.batch = 40, .backend = backend}};
    struct compilation *c = &o.compilation;
    argp_err_exit_status = EXIT_USAGE;
    if (argp_parse(&ARGP, argc, argv, 0, NULL, &o))
        abort(); /* no memory for it; it reports all else itself */
    setenv("LC_ALL", "C", 1); /* the compiler's messages are parsed */
    if (isatty(STDERR_FILENO))
        c->progress = show_progress;
    int code = o.cuda ? cuda_compiler(c->backend, o.jobs, &c->device, &e) : 0;
    if (!code)
        code = compilation_run(c, &e);
    return code ? error_print("compile", &e) : 0;
}
