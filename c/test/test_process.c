/* Running a program: what goes in and comes out, and every way in which it can end. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "process.h"

#include <cmocka.h> /* last: it defines a macro named fail */

static void run_shell(const char *script, const char *input, double limit_s, struct process *p)
{
    struct error e;
    const char *argv[] = {"sh", "-c", script, NULL};
    assert_int_equal(process_run(argv, input, strlen(input), limit_s, p, &e), 0);
}

static void test_output_and_status(void **state)
{
    (void)state;
    struct process p;
    run_shell("cat; echo no >&2; exit 3", "in\n", 0, &p);
    assert_int_equal(p.status, 3);
    assert_int_equal(p.signal, 0);
    assert_false(p.timed_out);
    assert_string_equal(p.out, "in\n");
    assert_string_equal(p.err, "no\n");
    process_free(&p);
}

/* More than pipes hold, on both at once, and input that nobody reads. */
static void test_much(void **state)
{
    (void)state;
    enum { MUCH = 300000 };
    char *input = malloc(MUCH + 1);
    struct process p;
    memset(input, 'x', MUCH);
    input[MUCH] = '\0';
    run_shell("head -c 200000 /dev/zero >&2; head -c 200000 /dev/zero", input, 0, &p);
    assert_int_equal(p.status, 0);
    assert_int_equal(p.out_size, 200000);
    assert_int_equal(p.err_size, 200000);
    process_free(&p);
    run_shell("cat", input, 0, &p);
    assert_int_equal(p.out_size, MUCH);
    assert_string_equal(p.out, input);
    process_free(&p);
    free(input);
}

static void test_signal(void **state)
{
    (void)state;
    struct process p;
    run_shell("echo before; kill -SEGV $$", "", 0, &p);
    assert_int_equal(p.status, -1);
    assert_int_equal(p.signal, SIGSEGV);
    assert_string_equal(p.out, "before\n");
    process_free(&p);
}

/* An endless loop ends at its CPU time; a sleeper, which uses none, by the clock. */
static void test_limits(void **state)
{
    (void)state;
    struct process p;
    run_shell("while :; do :; done", "", 0.5, &p);
    assert_true(p.timed_out);
    assert_true(p.cpu_s > 0.2 && p.cpu_s < 5);
    process_free(&p);
    run_shell("sleep 60", "", 0.05, &p);
    assert_true(p.timed_out);
    assert_int_equal(p.signal, SIGKILL);
    process_free(&p);
}

static void test_no_such_program(void **state)
{
    (void)state;
    struct process p;
    struct error e;
    const char *argv[] = {"no-such-program", NULL};
    assert_int_equal(process_run(argv, "", 0, 0, &p, &e), EXIT_UNAVAILABLE);
    assert_string_equal(e.text, "no-such-program: cannot be run: No such file or directory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_output_and_status),
        cmocka_unit_test(test_much),
        cmocka_unit_test(test_signal),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_no_such_program),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("process", tests, NULL, NULL);
}
