/* Lines from several children come as one process would write them; their failures come too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "parallel.h"

#include <cmocka.h> /* last: it defines a macro named fail */

static int count_line(void *context, long number, FILE *out, struct error *e)
{
    const long *bad = context;
    if (number == *bad)
        return (fail)(e, EXIT_DATA, "line %ld is bad", number);
    if (number == -*bad)
        abort();
    fprintf(out, "line %ld\n", number);
    return 0;
}

static int count_lines(int jobs, long bad, char **text, struct error *e)
{
    size_t size;
    FILE *f = open_memstream(text, &size);
    const struct parallel work = {50, jobs, count_line, &bad};
    int code = parallel_lines(&work, f, e);
    fclose(f);
    return code;
}

static void lines_come_in_order(void **state)
{
    (void)state;
    struct error e;
    char *alone, *together;
    assert_int_equal(count_lines(1, 1000, &alone, &e), 0);
    assert_int_equal(count_lines(3, 1000, &together, &e), 0);
    assert_string_equal(alone, together);
    free(alone);
    free(together);
    for (int jobs = 1; jobs <= 3; jobs++) {
        assert_int_equal(count_lines(jobs, 20, &together, &e), EXIT_DATA);
        assert_string_equal(e.text, "line 20 is bad");
        free(together);
    }
    assert_int_equal(count_lines(2, -20, &together, &e), EXIT_UNAVAILABLE);
    free(together);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lines_come_in_order)};
    return cmocka_run_group_tests_name("parallel", tests, NULL, NULL);
}
