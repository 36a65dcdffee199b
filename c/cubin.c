/* cubin - compiles all kernels of a file for a GPU: the reference operators, and the CUDA backend's own. */
#include <argp.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/cuda/compiler.h"
#include "version.h"

const char *argp_program_version = "cubin (assay) " ASSAY_VERSION;

static const char DOC[] =
    "Compile all kernels of KERNEL.cu with NVRTC for sm_90.\v"
    "Exit status: 0 done; 64 usage; 65 the file does not compile; 69 no NVRTC; 74 input or output "
    "failed.";

enum { OPTIONS_MAX = 24 };

struct options {
    const char *output, *path;
    const char *nvrtc[OPTIONS_MAX + 1];
    int count;
};

static const struct argp_option OPTIONS[] = {
    {"output", 'o', "FILE", 0, "Write the device code to FILE", 0},
    {"nvrtc", 'n', "OPTION", 0, "An option for NVRTC, as -n-DREAL=double", 0},
    {0},
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case 'o': o->output = argument; return 0;
    case 'n':
        if (o->count == OPTIONS_MAX)
            argp_error(state, "too many options");
        o->nvrtc[o->count++] = argument;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num > 0)
            argp_error(state, "one kernel file at a time");
        o->path = argument;
        return 0;
    case ARGP_KEY_END:
        if (!o->path || !o->output)
            argp_error(state, "needs KERNEL.cu and -o");
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

int main(int argc, char **argv)
{
    static const struct argp argp = {OPTIONS, parse, "KERNEL.cu", DOC, NULL, NULL, NULL};
    struct options o = {0};
    struct error e;
    const struct device_compiler *unused;
    char self[PATH_MAX - 32] = "", backend[PATH_MAX];
    argp_err_exit_status = EXIT_USAGE;
    if (argp_parse(&argp, argc, argv, 0, NULL, &o))
        abort(); /* no memory for it; it reports all else itself */
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0)
        strcpy(self, "build/bin/cubin");
    snprintf(backend, sizeof backend, "%s/c/backend", dirname(dirname(dirname(self))));
    int code = cuda_compiler(backend, 1, &unused, &e);
    if (!code)
        code = cuda_compile_file(o.path, o.nvrtc, o.output, &e);
    return code ? error_print("cubin", &e) : 0;
}
