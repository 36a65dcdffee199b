/*
 * fault - runs a command and makes one of its system calls fail:  fault CALL N ERRNO COMMAND…
 *
 * The N-th call named CALL (openat, read, write, fsync, rename, close) of the command itself, not
 * of its children, is not carried out and returns the error (EIO, ENOSPC, …); a file is closed
 * though. Calls that concern the system's own files, such as the libraries that the loader opens,
 * and standard error do not count. Exits as the command does (128 + signal), with 125 when there
 * was no N-th call, 126 where the kernel does not let processes be traced.
 */
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NEVER_CALLED = 125, CANNOT_TRACE = 126 };

/* ---- the two registers that differ between machines ------------------------------------------ */

#if defined __x86_64__
static void skip_call(pid_t child)
{
    ptrace(PTRACE_POKEUSER, child, offsetof(struct user_regs_struct, orig_rax), -1L);
}

static void set_result(pid_t child, long result)
{
    ptrace(PTRACE_POKEUSER, child, offsetof(struct user_regs_struct, rax), result);
}
#elif defined __aarch64__
static void skip_call(pid_t child)
{
    int none = -1;
    struct iovec v = {&none, sizeof none};
    ptrace(PTRACE_SETREGSET, child, NT_ARM_SYSTEM_CALL, &v);
}

static void set_result(pid_t child, long result)
{
    struct user_regs_struct regs;
    struct iovec v = {&regs, sizeof regs};
    ptrace(PTRACE_GETREGSET, child, NT_PRSTATUS, &v);
    regs.regs[0] = (unsigned long)result;
    ptrace(PTRACE_SETREGSET, child, NT_PRSTATUS, &v);
}
#else
#error "fault.c knows the registers of x86-64 and aarch64 only"
#endif

/* ---- which calls count ----------------------------------------------------------------------- */

struct call {
    const char *name;
    long number[2]; /* the calls that it may be, or -1 */
    int path, file; /* which argument is a path or a file descriptor, or -1 */
    bool done;      /* is it carried out all the same? */
};

#ifdef SYS_rename
#define RENAME SYS_rename
#else
#define RENAME -1
#endif

static const struct call CALL[] = {
    {"openat", {SYS_openat, -1}, 1, -1, false},        {"read", {SYS_read, -1}, -1, 0, false},
    {"write", {SYS_write, SYS_writev}, -1, 0, false},  {"fsync", {SYS_fsync, -1}, -1, 0, false},
    {"rename", {RENAME, SYS_renameat}, -1, -1, false}, {"close", {SYS_close, -1}, -1, 0, true},
};

static const struct {
    const char *name;
    int value;
} ERROR[] = {{"EIO", EIO}, {"ENOSPC", ENOSPC}, {"EMFILE", EMFILE}, {"EACCES", EACCES}};

static bool of_the_system(const char *path)
{
    static const char *const PLACE[] = {"/lib", "/usr/", "/etc/", "/proc/", "/sys/", "/dev/"};
    for (size_t k = 0; k < sizeof PLACE / sizeof *PLACE; k++)
        if (strncmp(path, PLACE[k], strlen(PLACE[k])) == 0)
            return true;
    return false;
}

/* A text in the child's memory, up to the end of a page. */
static void read_text(pid_t child, unsigned long at, char *text, size_t size)
{
    size_t left = 4096 - at % 4096;
    struct iovec to = {text, left < size ? left : size - 1}, from = {(void *)at, to.iov_len};
    ssize_t got = process_vm_readv(child, &to, 1, &from, 1, 0);
    text[got > 0 ? got : 0] = '\0';
}

static bool counts(pid_t child, const struct call *c, const struct __ptrace_syscall_info *info)
{
    long number = (long)info->entry.nr;
    char path[PATH_MAX] = "", link[64];
    if (number != c->number[0] && number != c->number[1])
        return false;
    if (c->path >= 0)
        read_text(child, info->entry.args[c->path], path, sizeof path);
    if (c->file >= 0) {
        if (info->entry.args[c->file] == STDERR_FILENO)
            return false;
        snprintf(link, sizeof link, "/proc/%d/fd/%d", (int)child, (int)info->entry.args[c->file]);
        if (readlink(link, path, sizeof path - 1) < 0)
            return false;
    }
    return !of_the_system(path);
}

/* ---- tracing --------------------------------------------------------------------------------- */

/* Follows the child to its end. */
static int trace(pid_t child, const struct call *c, long n, int error)
{
    long seen = 0;
    int status, signal = 0;
    bool failing = false;
    ptrace(PTRACE_SETOPTIONS, child, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
    for (;;) {
        struct __ptrace_syscall_info info;
        ptrace(PTRACE_SYSCALL, child, 0, signal);
        signal = 0;
        if (waitpid(child, &status, 0) < 0 || WIFEXITED(status) || WIFSIGNALED(status))
            break;
        if (WSTOPSIG(status) != (SIGTRAP | 0x80)) {
            signal =
                WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status); /* exec stops with a trap */
            continue;
        }
        ptrace(PTRACE_GET_SYSCALL_INFO, child, sizeof info, &info);
        if (info.op == PTRACE_SYSCALL_INFO_ENTRY && counts(child, c, &info) && ++seen == n) {
            failing = true;
            if (!c->done)
                skip_call(child);
        } else if (info.op == PTRACE_SYSCALL_INFO_EXIT && failing) {
            failing = false;
            set_result(child, -error);
        }
    }
    if (seen < n)
        return NEVER_CALLED;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
    const struct call *call = NULL;
    int error = 0, status;
    for (size_t k = 0; argc > 4 && k < sizeof CALL / sizeof *CALL; k++)
        if (strcmp(argv[1], CALL[k].name) == 0)
            call = &CALL[k];
    for (size_t k = 0; argc > 4 && k < sizeof ERROR / sizeof *ERROR; k++)
        if (strcmp(argv[3], ERROR[k].name) == 0)
            error = ERROR[k].value;
    if (!call || !error) {
        fprintf(stderr, "usage: fault CALL N ERRNO COMMAND...\n");
        return 64;
    }
    pid_t child = fork();
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, 0, 0))
            _exit(CANNOT_TRACE);
        execvp(argv[4], argv + 4);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &status, 0) < 0 || !WIFSTOPPED(status))
        return CANNOT_TRACE;
    return trace(child, call, strtol(argv[2], NULL, 10), error);
}
