/*
 * error - how every library function says what went wrong.
 *
 * A function that can fail takes a `struct error *` as its last argument and returns 0, or the exit
 * code that the program should end with. It never prints and never exits: only a main() does, with
 * error_print(), in the one form `tool: file:line: what is wrong, what to do`.
 */
#ifndef ASSAY_ERROR_H
#define ASSAY_ERROR_H

enum exit_code {
    EXIT_NO = 1,           /* the program ran, and the answer is no */
    EXIT_USAGE = 64,       /* bad command line (argp's own code) */
    EXIT_DATA = 65,        /* an input file is not valid */
    EXIT_UNAVAILABLE = 69, /* something needed is missing: a tool, a device, a library */
    EXIT_BUG = 70,         /* a fault in assay itself */
    EXIT_IO = 74           /* reading or writing failed: disk full, permission, … */
};

struct error {
    int code;        /* 0, or an enum exit_code */
    char text[1024]; /* one line, without the tool's name and without a final newline */
};

/* Fills *e (cut to the space there is, newlines folded to spaces) and returns `code`. */
int fail(struct error *e, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* As fail(), with `: strerror(errno)` at the end. The code is EXIT_IO. */
int fail_errno(struct error *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints `tool: text` on stderr and returns e->code, for `return error_print("mutate", &e);`. */
int error_print(const char *tool, const struct error *e);

#endif
