#include "isolate.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* The child: evaluates from `first` on and writes each result whole. */
static _Noreturn void work_through(const struct isolation *work, int first, int pipe)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    void *result = calloc(1, work->result_size);
    bool retired = false;
    for (int item = first; item < work->items && !retired && result; item++) {
        retired = work->evaluate(work->context, item, result);
        size_t sent = 0;
        while (sent < work->result_size) {
            ssize_t n = write(pipe, (char *)result + sent, work->result_size - sent);
            if (n <= 0)
                _exit(1); /* nobody reads any more */
            sent += (size_t)n;
        }
    }
    _exit(0);
}

enum got { GOT_RESULT, GOT_END, GOT_LATE };

/* Reads one result, or finds that the child has ended or is late. */
static enum got read_result(int pipe, void *result, size_t size, double limit_s)
{
    size_t have = 0;
    while (have < size) {
        struct pollfd ready = {.fd = pipe, .events = POLLIN};
        int n = poll(&ready, 1, (int)(limit_s * 1000));
        if (n == 0)
            return GOT_LATE;
        if (n < 0 && errno == EINTR)
            continue;
        ssize_t bytes = read(pipe, (char *)result + have, size - have);
        if (bytes <= 0)
            return GOT_END;
        have += (size_t)bytes;
    }
    return GOT_RESULT;
}

/* One child's life. *next is the first item not yet received, before and after; *suspect the item that the
 * last child died on, which gets a second chance: it may have been killed from outside. */
static int employ(const struct isolation *work, int *next, int *suspect, void *result, struct error *e)
{
    int ends[2], first = *next;
    if (pipe(ends))
        return fail_errno(e, "no pipe to a worker");
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        work_through(work, first, ends[1]);
    }
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        fail_errno(e, "no worker process");
        return e->code = EXIT_UNAVAILABLE;
    }
    int code = 0, status = 0;
    enum got got = GOT_RESULT;
    while (!code && *next < work->items) {
        got = read_result(ends[0], result, work->result_size, work->limit_s);
        if (got != GOT_RESULT)
            break;
        code = work->receive(work->context, (*next)++, result, e);
    }
    close(ends[0]);
    if (code || got == GOT_LATE)
        kill(child, SIGKILL);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    bool retired = WIFEXITED(status) && WEXITSTATUS(status) == 0 && *next > first;
    if (code || got == GOT_RESULT || (got == GOT_END && retired))
        return code;
    if (*suspect != *next) {
        *suspect = *next;
        return 0;
    }
    work->died(work->context, *next, WIFSIGNALED(status) ? WTERMSIG(status) : 0, got == GOT_LATE, result);
    return work->receive(work->context, (*next)++, result, e);
}

int isolate(const struct isolation *work, struct error *e)
{
    void *result = calloc(1, work->result_size);
    int code = result ? 0 : fail(e, EXIT_UNAVAILABLE, "not enough memory for a worker");
    int next = 0, suspect = -1;
    while (!code && next < work->items)
        code = employ(work, &next, &suspect, result, e);
    free(result);
    return code;
}
