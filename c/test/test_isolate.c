/* A child that dies, hangs, leaves or is retired costs its own item and no other. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "isolate.h"

#include <cmocka.h> /* last: it defines a macro named fail */

enum { ITEMS = 40, STOP_AT = 7 };
enum fate { FINE, SEGFAULT, KILLED, HANGS, LEAVES, RETIRES };

struct result {
    int item, signal, late, child;
};

struct log {
    enum fate fate[ITEMS];
    struct result got[ITEMS];
    int received, stop;
    int *spared; /* shared with the children: kill the first time only */
    void (*prepare)(void *log);
    int *prepared; /* shared with the children: how many are */
};

static int *shared_number(void)
{
    return mmap(NULL, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

static void prepare(void *context)
{
    struct log *log = context;
    __atomic_add_fetch(log->prepared, 1, __ATOMIC_SEQ_CST);
}

static bool evaluate(void *context, int item, void *result)
{
    const struct log *log = context;
    switch (log->fate[item]) {
    case SEGFAULT:
        signal(SIGSEGV, SIG_DFL); /* cmocka has a handler of its own */
        raise(SIGSEGV);
        break;
    case KILLED:
        if (!log->spared || (*log->spared)++ == 0)
            kill(getpid(), SIGKILL);
        break;
    case HANGS: pause(); break;
    case LEAVES: _exit(3);
    case FINE:
    case RETIRES: break;
    }
    *(struct result *)result = (struct result){.item = item, .child = (int)getpid()};
    return log->fate[item] == RETIRES;
}

static void died(void *context, int item, int signal, bool late, void *result)
{
    (void)context;
    *(struct result *)result = (struct result){item, signal, late, 0};
}

static int receive(void *context, int item, const void *result, struct error *e)
{
    struct log *log = context;
    assert_int_equal(item, log->received);
    log->got[log->received++] = *(const struct result *)result;
    e->code = log->stop && log->received == STOP_AT ? EXIT_IO : 0;
    return e->code;
}

static int run(struct log *log)
{
    struct error e;
    struct isolation work = {ITEMS, sizeof(struct result), 0.2, evaluate, died, receive, log, log->prepare};
    return isolate(&work, &e);
}

static void every_item_once_in_order(void **state)
{
    (void)state;
    struct log log = {0};
    assert_int_equal(run(&log), 0);
    assert_int_equal(log.received, ITEMS);
    for (int k = 0; k < ITEMS; k++) {
        assert_int_equal(log.got[k].item, k);
        assert_int_equal(log.got[k].child, log.got[0].child);
    }
}

static void a_death_costs_one_item(void **state)
{
    (void)state;
    struct log log = {.fate = {[0] = SEGFAULT, [5] = KILLED, [6] = SEGFAULT, [20] = HANGS,
                               [21] = LEAVES, [ITEMS - 1] = KILLED}};
    assert_int_equal(run(&log), 0);
    assert_int_equal(log.received, ITEMS);
    for (int k = 0; k < ITEMS; k++) {
        enum fate fate = log.fate[k];
        assert_int_equal(log.got[k].item, k);
        assert_int_equal(log.got[k].signal, fate == SEGFAULT                  ? SIGSEGV
                                            : fate == KILLED || fate == HANGS ? SIGKILL
                                                                              : 0);
        assert_int_equal(log.got[k].late, fate == HANGS);
        assert_int_equal(log.got[k].child == 0, fate != FINE);
    }
}

/* Killed from outside, by a user or for want of memory: the item is not to blame. */
static void an_item_gets_a_second_chance(void **state)
{
    (void)state;
    struct log log = {.fate = {[9] = KILLED}, .spared = shared_number()};
    assert_int_equal(run(&log), 0);
    assert_int_equal(log.received, ITEMS);
    for (int k = 0; k < ITEMS; k++)
        assert_int_not_equal(log.got[k].child, 0);
    munmap(log.spared, sizeof(int));
}

static void a_retired_child_is_replaced(void **state)
{
    (void)state;
    struct log log = {.fate = {[3] = RETIRES, [ITEMS - 1] = RETIRES}};
    assert_int_equal(run(&log), 0);
    assert_int_equal(log.received, ITEMS);
    assert_int_equal(log.got[3].child, log.got[0].child);
    assert_int_not_equal(log.got[4].child, log.got[0].child);
    assert_int_not_equal(log.got[4].child, 0);
}

/* Each child once, before its items; and the one in reserve works when its turn has come. */
static void children_are_prepared(void **state)
{
    (void)state;
    struct log log = {.fate = {[3] = RETIRES, [4] = RETIRES, [20] = LEAVES}, .prepare = prepare,
                      .prepared = shared_number()};
    int children = 1;
    assert_int_equal(run(&log), 0);
    assert_int_equal(log.received, ITEMS);
    for (int k = 1; k < ITEMS; k++) {
        assert_int_equal(log.got[k].item, k);
        children += log.got[k].child != 0 && log.got[k].child != log.got[k - 1].child;
    }
    assert_int_equal(children, 4);
    /* One left at item 20 without a result, and the last was in reserve, perhaps killed unprepared. */
    assert_in_range(*log.prepared, children + 1, children + 2);
    munmap(log.prepared, sizeof(int));
}

static void a_receiver_that_fails_ends_it(void **state)
{
    (void)state;
    struct log log = {.stop = 1};
    assert_int_equal(run(&log), EXIT_IO);
    assert_int_equal(log.received, STOP_AT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_item_once_in_order),
        cmocka_unit_test(a_death_costs_one_item),
        cmocka_unit_test(an_item_gets_a_second_chance),
        cmocka_unit_test(a_retired_child_is_replaced),
        cmocka_unit_test(children_are_prepared),
        cmocka_unit_test(a_receiver_that_fails_ends_it),
    };
    return cmocka_run_group_tests_name("isolate", tests, NULL, NULL);
}
