#include "parallel.h"

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "memory.h"

/* Begins a line that reports a failure in place of being one: this byte, the code, a space, the
 * text. */
enum { FAILED = '\a' };

struct child {
    pid_t pid;
    FILE *lines;
};

/* Does not return. */
static void work_as(const struct parallel *work, int child, FILE *out)
{
    struct error e;
    int code = 0;
    for (long k = child; k < work->lines && !code; k += work->jobs)
        code = work->line(work->context, k, out, &e);
    if (code)
        fprintf(out, "%c%d %s\n", FAILED, code, e.text);
    fflush(out);
    _exit(0);
}

static int start(const struct parallel *work, struct child child[], int number, struct error *e)
{
    int ends[2];
    if (pipe(ends))
        return fail_errno(e, "no pipe for a child process");
    pid_t pid = fork();
    if (pid < 0) {
        close(ends[0]);
        close(ends[1]);
        return fail(e, EXIT_UNAVAILABLE, "no child process can be made");
    }
    if (pid == 0) {
        for (int k = 0; k < number; k++)
            fclose(child[k].lines); /* its end of a pipe that is not its own */
        close(ends[0]);
        FILE *out = fdopen(ends[1], "w");
        if (!out)
            _exit(1);
        work_as(work, number, out);
    }
    close(ends[1]);
    child[number] = (struct child){pid, fdopen(ends[0], "r")};
    if (!child[number].lines)
        abort();
    return 0;
}

/* What the child says in place of a line. */
static int reported(const char *line, struct error *e)
{
    char *text;
    long code = strtol(line + 1, &text, 10);
    return fail(e, (int)code, "%.*s", (int)strcspn(text + 1, "\n"), text + 1);
}

static int collect(const struct parallel *work, struct child child[], FILE *out, struct error *e)
{
    char *line = NULL;
    size_t room = 0;
    int code = 0;
    for (long k = 0; k < work->lines && !code; k++) {
        ssize_t length = getline(&line, &room, child[k % work->jobs].lines);
        if (length <= 0 || line[length - 1] != '\n')
            code = fail(e, EXIT_UNAVAILABLE, "a child process ended in the middle of its work");
        else if (line[0] == FAILED)
            code = reported(line, e);
        else if (fwrite(line, 1, (size_t)length, out) != (size_t)length)
            code = fail_errno(e, "the output cannot be written");
    }
    free(line);
    return code;
}

int parallel_lines(const struct parallel *work, FILE *out, struct error *e)
{
    int code = 0, started = 0;
    for (long k = 0; work->jobs == 1 && k < work->lines && !code; k++)
        code = work->line(work->context, k, out, e);
    if (work->jobs == 1)
        return code;
    struct child *child = memory_zeroed(work->jobs, sizeof *child);
    fflush(out); /* or the children would have it too */
    for (; started < work->jobs && !code; started += !code)
        code = start(work, child, started, e);
    if (!code)
        code = collect(work, child, out, e);
    for (int k = 0; k < started; k++) {
        if (code)
            kill(child[k].pid, SIGKILL);
        fclose(child[k].lines);
        waitpid(child[k].pid, NULL, 0);
    }
    free(child);
    return code;
}
