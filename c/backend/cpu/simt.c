/* A run: calls a kernel file's host function, bounded and contained, and gathers the verdict. */
#include "simt.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <ucontext.h>

#include "device.h"
#include "executor.h"

struct execution execution;
long simt_fuel;

static sigjmp_buf run_exit;

static void set_outcome(enum outcome outcome, const char *format, va_list args)
{
    execution.verdict->outcome = outcome;
    vsnprintf(execution.verdict->detail, sizeof execution.verdict->detail, format, args);
}

void run_end(enum outcome outcome, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    set_outcome(outcome, format, args);
    va_end(args);
    siglongjmp(run_exit, 1);
}

void run_bad_launch(const char *format, ...)
{
    execution.last_error = 9; /* cudaErrorInvalidConfiguration */
    if (execution.verdict->outcome == OUTCOME_BAD_LAUNCH)
        return; /* the first one is told */
    va_list args;
    va_start(args, format);
    set_outcome(OUTCOME_BAD_LAUNCH, format, args);
    va_end(args);
}

void simt_fuel_spent(void)
{
    run_end(OUTCOME_TIMEOUT, "out of loop fuel after %llu iterations",
            (unsigned long long)execution.schedule.fuel);
}

void simt_tick(void)
{
    if (--simt_fuel < 0)
        simt_fuel_spent();
}

/* Did the faulting instruction write? */
static bool fault_wrote(const ucontext_t *context)
{
#if defined __x86_64__
    return context->uc_mcontext.gregs[REG_ERR] & 2; /* bit W/R of the page-fault error code */
#elif defined __aarch64__
    /* The record of the syndrome register: its magic, its size, ESR_EL1, of which bit 6 is WnR. */
    const unsigned char *record = context->uc_mcontext.__reserved;
    for (uint32_t head[2]; memcpy(head, record, sizeof head), head[0]; record += head[1]) {
        uint64_t syndrome;
        memcpy(&syndrome, record + 8, sizeof syndrome);
        if (head[0] == 0x45535201)
            return syndrome & 1 << 6;
    }
    return false;
#else
#error "say here how this machine's signal context tells a write from a read"
#endif
}

static const char *fault_text(int number, const siginfo_t *info)
{
    switch (number) {
    case SIGFPE:
        return info->si_code == FPE_INTDIV ? "integer division by zero" : "arithmetic trap";
    case SIGILL: return "illegal instruction";
    case SIGTRAP: return "trap";
    case SIGABRT: return "abort";
    case SIGBUS: return "access through an impossible pointer";
    default: break;
    }
    if (launch_stack_guard(info->si_addr))
        return "stack overflow";
    if ((uintptr_t)info->si_addr < 65536)
        return "access through a null or an impossible pointer";
    return "access far outside every buffer, or to many pages near them";
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    if (!execution.verdict) { /* not a mutant's: die of it */
        signal(number, SIG_DFL);
        return;
    }
    if (number == SIGSEGV && memory_fault(info->si_addr, fault_wrote(context)))
        return;
    run_end(OUTCOME_CRASHED, "%s", fault_text(number, info));
}

static void on_cpu_limit(int number)
{
    (void)number;
    if (execution.verdict && !execution.uninterruptible) /* or else at the timer's next tick */
        run_end(OUTCOME_TIMEOUT, "CPU time limit of %g s", execution.schedule.cpu_limit_s);
}

static int signals_start(struct error *e)
{
    static char stack[64 << 10];
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    if (sigaltstack(&alternate, NULL))
        return fail_errno(e, "sigaltstack");
    struct sigaction fault = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    struct sigaction limit = {.sa_handler = on_cpu_limit, .sa_flags = SA_ONSTACK | SA_RESTART};
    sigaddset(&fault.sa_mask, SIGPROF);
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigaction(faults[i], &fault, NULL);
    sigaction(SIGPROF, &limit, NULL);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    return 0;
}

int simt_start(struct error *e)
{
    static bool started;
    int code = started ? 0 : memory_start(e);
    if (!code && !started)
        code = launch_start(e);
    started = !code;
    return code ? code : signals_start(e);
}

/* The timer goes on ticking, in case that one tick comes while the executor must not be stopped. */
static void cpu_timer(double seconds)
{
    struct itimerval timer = {.it_value = {.tv_sec = (time_t)seconds}};
    timer.it_value.tv_usec = (suseconds_t)((seconds - (double)timer.it_value.tv_sec) * 1e6);
    timer.it_interval.tv_usec = seconds > 0 ? 10000 : 0;
    setitimer(ITIMER_PROF, &timer, NULL);
}

static void run_begin(const struct simt_schedule *schedule, struct simt_verdict *verdict)
{
    *verdict = (struct simt_verdict){.outcome = OUTCOME_FINISHED};
    execution = (struct execution){.schedule = *schedule, .verdict = verdict};
    execution.random = (schedule->seed ^ 0x9E3779B97F4A7C15ull) * 0xD1342543DE82EF95ull | 1;
    simt_fuel = schedule->fuel ? (long)schedule->fuel : INT64_MAX;
}

void simt_run(launch_function *launch, float *const in[], float *const out[], const long dim[],
              const double hyper[], const struct simt_schedule *schedule,
              struct simt_verdict *verdict)
{
    run_begin(schedule, verdict);
    race_run_begin();
    long fuel = simt_fuel;
    if (schedule->cpu_limit_s > 0)
        cpu_timer(schedule->cpu_limit_s);
    if (!sigsetjmp(run_exit, 1))
        launch(in, out, dim, hyper);
    execution.uninterruptible = true;
    if (schedule->cpu_limit_s > 0)
        cpu_timer(0);
    launch_run_end();
    memory_run_end();
    verdict->fuel_used = (uint64_t)(fuel - (simt_fuel > 0 ? simt_fuel : 0));
    execution.verdict = NULL;
}
