/* lower - prints a CUDA file as the C++ that the CPU backend compiles. */
#include <argp.h>
#include <stdio.h>

#include "error.h"
#include "lower.h"

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
           "file of the "
           "reference library, or one to look at.",
};

int main(int argc, char **argv)
{
    const char *path = NULL;
    struct source s;
    struct lowered l;
    struct error e;
    argp_err_exit_status = EXIT_USAGE;
    argp_parse(&ARGP, argc, argv, 0, NULL, &path);
    if (source_read(&s, path, &e) || lower(&s, LINKAGE_KEPT, NULL, &l, &e))
        return error_print("lower", &e);
    lower_write_head(stdout, l.system, l.quoted);
    printf("#line 1 \"%s\"\n%s", path, l.text);
    lowered_free(&l);
    source_free(&s);
    if (fflush(stdout) || ferror(stdout))
        return error_print("lower", (fail_errno(&e, "the output cannot be written"), &e));
    return 0;
}
