#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "memory.h"

/* A pipe's read end and what came through it so far. */
struct capture {
    int fd, error; /* errno of a read that failed, or 0 */
    char *text;
    size_t size;
    FILE *stream;
};

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* In the child: never returns. The errno of a failed exec goes to the parent through `report`. */
static void become(const char *const argv[], int in, int out, int err, int report, double limit_s)
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(in, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    if (limit_s > 0) {
        rlim_t seconds = (rlim_t)ceil(limit_s);
        setrlimit(RLIMIT_CPU, &(struct rlimit){seconds, seconds + 1});
    }
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    execvp(argv[0], (char *const *)argv);
    int reason = errno;
    if (write(report, &reason, sizeof reason) < 0)
        _exit(126);
    _exit(127);
}

/* An unnamed file that holds the input, at its start. */
static int input_file(const char *input, size_t size)
{
    int fd = memfd_create("input", MFD_CLOEXEC);
    while (fd >= 0 && size > 0) {
        ssize_t n = write(fd, input, size);
        if (n < 0) {
            close(fd);
            return -1;
        }
        input += n;
        size -= (size_t)n;
    }
    if (fd >= 0)
        lseek(fd, 0, SEEK_SET);
    return fd;
}

/* Takes what is there; closes at the end. */
static void drain(struct capture *c)
{
    char bytes[16384];
    ssize_t n = read(c->fd, bytes, sizeof bytes);
    if (n > 0) {
        fwrite(bytes, 1, (size_t)n, c->stream);
    } else if (n == 0 || errno != EINTR) {
        c->error = n < 0 ? errno : 0;
        close(c->fd);
        c->fd = -1; /* poll() passes over it */
    }
}

static void collect(struct capture c[2], pid_t child, double limit_s, struct process *p)
{
    double end = now_s() + 10 * limit_s;
    while (c[0].fd >= 0 || c[1].fd >= 0) {
        struct pollfd ready[2] = {{c[0].fd, POLLIN, 0}, {c[1].fd, POLLIN, 0}};
        double left = end - now_s();
        if (limit_s > 0 && !(left > 0) && !p->timed_out) {
            kill(-child, SIGKILL);
            p->timed_out = true;
        }
        poll(ready, 2, limit_s > 0 && !p->timed_out ? (int)(left * 1000) + 1 : -1);
        for (int k = 0; k < 2; k++)
            if (ready[k].revents)
                drain(&c[k]);
    }
}

static void take_status(pid_t child, struct process *p)
{
    int status;
    struct rusage usage;
    while (wait4(child, &status, 0, &usage) < 0 && errno == EINTR)
        ;
    p->status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    p->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    p->timed_out |= p->signal == SIGXCPU;
    p->cpu_s = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
               (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

/* The ends that the child gets, and those that stay. */
struct ends {
    int in, out[2], err[2], report[2];
};

static void close_all(const int fd[], int count)
{
    for (int k = 0; k < count; k++)
        if (fd[k] >= 0)
            close(fd[k]);
}

static int open_ends(struct ends *s, const char *input, size_t size)
{
    *s = (struct ends){input_file(input, size), {-1, -1}, {-1, -1}, {-1, -1}};
    bool bad = s->in < 0 || pipe2(s->out, O_CLOEXEC) || pipe2(s->err, O_CLOEXEC) ||
               pipe2(s->report, O_CLOEXEC);
    return bad ? -1 : 0;
}

/* Reads the child to its end. Returns the errno of an exec that failed, else 0; *lost is that of a read
 * that failed, so that not all is known. */
static int attend(pid_t child, const struct ends *s, double limit_s, struct process *p, int *lost)
{
    struct capture c[2] = {{.fd = s->out[0]}, {.fd = s->err[0]}};
    int reason = 0;
    for (int k = 0; k < 2; k++)
        if (!(c[k].stream = open_memstream(&c[k].text, &c[k].size)))
            abort();
    collect(c, child, limit_s, p);
    take_status(child, p);
    ssize_t reported = read(s->report[0], &reason, sizeof reason);
    if (reported < (ssize_t)sizeof reason)
        reason = 0;
    *lost = reported < 0 ? errno : c[0].error ? c[0].error : c[1].error;
    close(s->report[0]);
    memory_close(c[0].stream, &c[0].text);
    memory_close(c[1].stream, &c[1].text);
    p->out = c[0].text, p->out_size = c[0].size;
    p->err = c[1].text, p->err_size = c[1].size;
    return reason;
}

int process_run(const char *const argv[], const char *input, size_t input_size, double limit_s,
                struct process *p, struct error *e)
{
    struct ends s;
    *p = (struct process){0};
    pid_t child = open_ends(&s, input, input_size) ? -1 : fork();
    if (child == 0)
        become(argv, s.in, s.out[1], s.err[1], s.report[1], limit_s);
    if (child < 0)
        fail_errno(e, "%s: cannot be started", argv[0]);
    close_all((const int[]){s.in, s.out[1], s.err[1], s.report[1]}, 4);
    if (child < 0) {
        close_all((const int[]){s.out[0], s.err[0], s.report[0]}, 3);
        return EXIT_IO;
    }
    int lost, reason = attend(child, &s, limit_s, p, &lost);
    if (!reason && !lost)
        return 0;
    process_free(p);
    errno = reason ? reason : lost;
    fail_errno(e, reason ? "%s: cannot be run" : "%s: what it wrote cannot be read", argv[0]);
    return e->code = reason ? EXIT_UNAVAILABLE : EXIT_IO;
}

void process_free(struct process *p)
{
    free(p->out);
    free(p->err);
    p->out = p->err = NULL;
}
