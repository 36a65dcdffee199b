#include "isolate.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* A child process, which writes results and has to be told where to start. */
struct child {
    pid_t process; /* 0: none */
    int start, results;
};

struct crew {
    struct child at_work, reserve;
    pid_t leaving; /* 0: none; it has been told to, or has said that it will, and may take its time */
};

/* ---- in the child ----------------------------------------------------------------------------- */

static bool write_all(int to, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t n = write(to, bytes, size);
        if (n <= 0)
            return false; /* nobody reads any more */
        bytes += n;
        size -= (size_t)n;
    }
    return true;
}

/* Evaluates, and writes each result whole, with a byte behind it that says whether it was the last. */
static _Noreturn void work_through(const struct isolation *work, int start, int results)
{
    int item;
    char *result = calloc(1, work->result_size + 1), *last = result + work->result_size;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    if (!result)
        _exit(1);
    if (work->prepare)
        work->prepare(work->context);
    if (read(start, &item, sizeof item) != sizeof item)
        _exit(1);
    for (*last = 0; item < work->items && !*last; item++) {
        *last = work->evaluate(work->context, item, result);
        if (!write_all(results, result, work->result_size + 1))
            _exit(1);
    }
    _exit(0);
}

/* ---- in the parent ---------------------------------------------------------------------------- */

static int hire(const struct isolation *work, const struct crew *crew, struct child *c, struct error *e)
{
    int start[2], results[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, start))
        return fail_errno(e, "no socket to a worker");
    if (pipe(results)) {
        close(start[0]);
        close(start[1]);
        return fail_errno(e, "no pipe to a worker");
    }
    *c = (struct child){fork(), start[1], results[0]};
    if (c->process == 0) {
        close(start[1]);
        close(results[0]);
        if (crew->at_work.process) { /* so that its ends are the parent's alone */
            close(crew->at_work.start);
            close(crew->at_work.results);
        }
        work_through(work, start[0], results[1]);
    }
    close(start[0]);
    close(results[1]);
    if (c->process > 0)
        return 0;
    close(start[1]);
    close(results[0]);
    *c = (struct child){0};
    fail_errno(e, "no worker process");
    return e->code = EXIT_UNAVAILABLE;
}

static int wait_for(pid_t process)
{
    int status = 0;
    while (waitpid(process, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

/* Nothing is wanted of it any more. It is not waited for now: its end may take as long as a start. */
static void dismiss(struct crew *crew, struct child *c, bool kill_it)
{
    if (!c->process)
        return;
    close(c->start);
    close(c->results);
    if (kill_it)
        kill(c->process, SIGKILL);
    if (crew->leaving)
        wait_for(crew->leaving);
    crew->leaving = c->process;
    c->process = 0;
}

/* Sets a child to work, from an item on. */
static int employ(const struct isolation *work, struct crew *crew, int item, struct error *e)
{
    int code = 0;
    if (!crew->reserve.process)
        code = hire(work, crew, &crew->reserve, e);
    if (code)
        return code;
    crew->at_work = crew->reserve;
    crew->reserve.process = 0;
    /* One that has died meanwhile is found out when its result is read. */
    if (send(crew->at_work.start, &item, sizeof item, MSG_NOSIGNAL) < 0 && errno != EPIPE)
        code = fail_errno(e, "a worker cannot be told to start");
    return code;
}

enum got { GOT_RESULT, GOT_LAST, GOT_END, GOT_LATE };

/* Reads one result, or finds that the child has ended or is late. */
static enum got read_result(const struct isolation *work, int results, char *result)
{
    size_t have = 0, size = work->result_size + 1;
    while (have < size) {
        struct pollfd ready = {.fd = results, .events = POLLIN};
        int n = poll(&ready, 1, (int)(work->limit_s * 1000));
        if (n == 0)
            return GOT_LATE;
        if (n < 0 && errno == EINTR)
            continue;
        ssize_t bytes = read(results, result + have, size - have);
        if (bytes <= 0)
            return GOT_END;
        have += (size_t)bytes;
    }
    return result[size - 1] ? GOT_LAST : GOT_RESULT;
}

/* The child at work has ended or is late. Is that the second on this item? Then `died` says what the result
 * is. The first may have been killed from outside. */
static bool condemn(const struct isolation *work, struct crew *crew, bool late, int item, int *suspect,
                    void *result)
{
    struct child *c = &crew->at_work;
    int status = 0;
    if (late) {
        dismiss(crew, c, true);
    } else {
        close(c->start);
        close(c->results);
        status = wait_for(c->process);
        c->process = 0;
    }
    if (*suspect != item) {
        *suspect = item;
        return false;
    }
    work->died(work->context, item, late ? SIGKILL : WIFSIGNALED(status) ? WTERMSIG(status) : 0, late, result);
    return true;
}

static int get_results(const struct isolation *work, struct crew *crew, char *result, struct error *e)
{
    int code = 0, suspect = -1;
    for (int next = 0; next < work->items && !code;) {
        if (!crew->at_work.process && (code = employ(work, crew, next, e)))
            break;
        enum got got = read_result(work, crew->at_work.results, result);
        if (got == GOT_LAST)
            dismiss(crew, &crew->at_work, false);
        if (got == GOT_RESULT || got == GOT_LAST || condemn(work, crew, got == GOT_LATE, next, &suspect, result))
            code = work->receive(work->context, next++, result, e);
        if (!code && work->prepare && !crew->reserve.process && next < work->items)
            code = hire(work, crew, &crew->reserve, e);
    }
    return code;
}

int isolate(const struct isolation *work, struct error *e)
{
    struct crew crew = {0};
    char *result = calloc(1, work->result_size + 1);
    int code = result ? get_results(work, &crew, result, e)
                      : fail(e, EXIT_UNAVAILABLE, "not enough memory for a worker");
    dismiss(&crew, &crew.at_work, code);
    dismiss(&crew, &crew.reserve, true);
    if (crew.leaving)
        wait_for(crew.leaving);
    free(result);
    return code;
}
