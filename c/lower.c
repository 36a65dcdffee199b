/* lower - prints a CUDA file as the C++ that the CPU backend compiles. */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>

#include "error.h"
#include "lower.h"
#include "version.h"

const char *argp_program_version = "lower (assay) " ASSAY_VERSION;

static error_t parse(int key, char *argument, struct argp_state *state)
{
    const char **path = state->input;
    if (key == ARGP_KEY_ARG && !*path)
        *path = argument;
    else if (key == ARGP_KEY_ARG)
        argp_error(state, "one KERNEL.cu at a time");
    else if (key == ARGP_KEY_NO_ARGS)
        argp_error(state, "KERNEL.cu is missing");
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

static const struct argp ARGP = {
    .parser = parse,
    .args_doc = "KERNEL.cu",
    .doc = "Prints KERNEL.cu as the C++ that the CPU backend compiles, for compiling it alone: a "
           "file of the reference library, or one to look at.\v"
           "Exit status: 0 printed; 64 usage; 65 the file cannot be lowered; 74 input or output "
           "failed.",
};

int main(int argc, char **argv)
{
    const char *path = NULL;
    struct source s;
    struct lowered l;
    struct error e;
    argp_err_exit_status = EXIT_USAGE;
    if (argp_parse(&ARGP, argc, argv, 0, NULL, &path))
        abort(); /* no memory for it; it reports all else itself */
    if (source_read(&s, path, &e))
        return error_print("lower", &e);
    int code = lower(&s, LINKAGE_KEPT, NULL, &l, &e);
    if (!code) {
        lower_write_head(stdout, l.system, l.quoted);
        printf("#line 1 \"%s\"\n%s", path, l.text);
        if (fflush(stdout) || ferror(stdout))
            code = fail_errno(&e, "the output cannot be written");
    }
    lowered_free(&l);
    source_free(&s);
    return code ? error_print("lower", &e) : 0;
}
