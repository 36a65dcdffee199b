/* process - runs a program and waits for it: input in, output and errors out, and how it ended. */
#ifndef ASSAY_PROCESS_H
#define ASSAY_PROCESS_H

#include <stdbool.h>
#include <stddef.h>

#include "error.h"

struct process {
    int status;      /* its exit status; -1 when it did not end by itself */
    int signal;      /* that ended it, or 0 */
    bool timed_out;  /* killed at the limit of time */
    char *out, *err; /* what it wrote; owned, NUL-terminated */
    size_t out_size, err_size;
    double cpu_s; /* user and system time, its children's included */
};

/*
 * process_run - runs argv[0] (found in PATH) with `input` as its standard input
 *
 * No process in it may use more than limit_s seconds of CPU time (0: no limit), nor all of it take
 * more than ten times that by the clock, so that a busy machine changes nothing. It dies with its
 * parent. Returns 0 whenever the program ran, however it ended; EXIT_UNAVAILABLE if there is no
 * such program; EXIT_IO. process_free only after 0.
 */
int process_run(const char *const argv[], const char *input, size_t input_size, double limit_s,
                struct process *p, struct error *e);
void process_free(struct process *p);

#endif
