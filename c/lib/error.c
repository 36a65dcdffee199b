#include "error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static int fill(struct error *e, int code, const char *format, va_list args)
{
    e->code = code;
    vsnprintf(e->text, sizeof e->text, format, args);
    for (char *c = e->text; *c; c++)
        if (*c == '\n')
            *c = ' ';
    return code;
}

int fail(struct error *e, int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fill(e, code, format, args);
    va_end(args);
    return code;
}

int fail_errno(struct error *e, const char *format, ...)
{
    int saved = errno;
    va_list args;
    va_start(args, format);
    fill(e, EXIT_IO, format, args);
    va_end(args);
    size_t used = strlen(e->text);
    snprintf(e->text + used, sizeof e->text - used, ": %s", strerror(saved));
    return EXIT_IO;
}

int error_print(const char *tool, const struct error *e)
{
    fprintf(stderr, "%s: %s\n", tool, e->text);
    return e->code;
}
