/*
 * damage - hurts good files in many ways, the same ones every time, and shows them to their
 * readers.
 *
 * Whatever is done to the bytes of a file, its reader takes it, or refuses it in one line with its
 * path. The sanitizers (make sanitize) see what an exit code does not show. Included last by the
 * test_damaged_* tests.
 */
#ifndef ASSAY_DAMAGE_H
#define ASSAY_DAMAGE_H

#include <stdarg.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "error.h"
#include "generator.h"

#include <cmocka.h> /* last: it defines a macro named fail */

/* ---- damage ---------------------------------------------------------------------------------- */

struct text {
    char *bytes; /* with room for `room`, and one more */
    size_t size, room;
};

/* Numbered draws from one seed. */
struct draws {
    generator_word seed;
    long next;
};

static size_t draw(struct draws *d, size_t below)
{
    return below ? (size_t)(generator_hash(d->seed, 0, d->next++) % below) : 0;
}

/* What readers are likely to stumble over. */
static const char *const DAMAGE_WORDS[] = {
    "0",
    "-1",
    "1e999",
    "-1e-999",
    "9223372036854775807",
    "99999999999999999999",
    "nan",
    "null",
    "true",
    "\"\"",
    "{}",
    "[]",
    "\"",
    "{",
    "}",
    "(",
    ")",
    "<<<",
    ">>>",
    "...",
    "$x",
    "$x:args",
    "$new",
    "\\",
    "\n",
    "/*",
    "//",
    "\xff\xfe",
    "\"inf\"",
    "__syncthreads();",
    "[",
    "]",
    ",",
    ":",
    ";",
    "#",
};

/* Puts a word in place of the bytes [begin, end). */
static void put(struct text *t, size_t begin, size_t end, const char *word, size_t length)
{
    size_t size = t->size - (end - begin) + length;
    if (size > t->room)
        return;
    memmove(t->bytes + begin + length, t->bytes + end, t->size - end);
    memcpy(t->bytes + begin, word, length);
    t->size = size;
}

static bool is_word_byte(char c)
{
    return c && strchr("0123456789_.+-$abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", c);
}

/* A word, a quoted text or a single byte, at a drawn place. */
static void draw_token(const struct text *t, struct draws *d, size_t *begin, size_t *end)
{
    *begin = draw(d, t->size);
    while (*begin > 0 && is_word_byte(t->bytes[*begin]) && is_word_byte(t->bytes[*begin - 1]))
        --*begin;
    *end = *begin + 1;
    const char *quote = t->bytes[*begin] == '"' && *end < t->size
                            ? memchr(t->bytes + *end, '"', t->size - *end)
                            : NULL;
    if (quote)
        *end = (size_t)(quote - t->bytes) + 1;
    else
        while (is_word_byte(t->bytes[*begin]) && *end < t->size && is_word_byte(t->bytes[*end]))
            ++*end;
}

static void damage_once(struct text *t, struct draws *d)
{
    enum { FLIP, CHANGE, CUT, REPEAT, TRUNCATE, INSERT, COPY_TOKEN, REPLACE_TOKEN };
    static const int KIND[] = {FLIP,       CHANGE,     CUT,           REPEAT,
                               TRUNCATE,   INSERT,     COPY_TOKEN,    COPY_TOKEN,
                               COPY_TOKEN, COPY_TOKEN, REPLACE_TOKEN, REPLACE_TOKEN};
    char copy[256];
    size_t begin, end, from, to;
    if (t->size == 0)
        return;
    size_t at = draw(d, t->size), span = draw(d, t->size - at < 64 ? t->size - at : 64);
    const char *word = DAMAGE_WORDS[draw(d, sizeof DAMAGE_WORDS / sizeof *DAMAGE_WORDS)];
    draw_token(t, d, &begin, &end);
    draw_token(t, d, &from, &to);
    size_t length = to - from < sizeof copy ? to - from : sizeof copy;
    switch (KIND[draw(d, sizeof KIND / sizeof *KIND)]) {
    case FLIP: t->bytes[at] = (char)(t->bytes[at] ^ (1 << draw(d, 8))); break;
    case CHANGE: t->bytes[at] = (char)draw(d, 256); break;
    case CUT: put(t, at, at + span, "", 0); break;
    case REPEAT:
        memcpy(copy, t->bytes + at, span);
        put(t, at, at, copy, span);
        break;
    case TRUNCATE: t->size = at; break;
    case INSERT: put(t, at, at, word, strlen(word)); break;
    case COPY_TOKEN:
        memcpy(copy, t->bytes + from, length);
        put(t, begin, end, copy, length);
        break;
    case REPLACE_TOKEN: put(t, begin, end, word, strlen(word)); break;
    }
}

/* ---- reading what was damaged ---------------------------------------------------------------- */

static char folder[] = "/tmp/test_damage.XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

enum { WHOLE = 1 << 20 };

/* The first `limit` bytes of a file, unpacked if it is packed. The caller frees the bytes. */
static struct text load(const char *path, unsigned limit)
{
    struct text t = {.bytes = malloc(WHOLE + 1), .room = WHOLE};
    gzFile f = gzopen(path, "rb");
    assert_non_null(f);
    assert_non_null(t.bytes);
    int size = gzread(f, t.bytes, limit);
    assert_true(size > 0);
    gzclose(f);
    t.size = (size_t)size;
    t.bytes[size] = '\0';
    return t;
}

typedef int read_function(const char *path, struct error *e);

/* Writes the text where the reader finds it, lets it read, and looks at how it refuses. */
static void read_damaged(read_function *read, const char *path, const struct text *t, int variant)
{
    struct error e = {0};
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(t->bytes, 1, t->size, f), t->size);
    assert_int_equal(fclose(f), 0);
    int code = read(path, &e);
    bool clear = code == EXIT_DATA && e.code == code && strstr(e.text, folder);
    if (code && !(clear && variant > 0))
        fail_msg("%s, variant %d: exit %d: %s", path, variant, code, e.text);
}

/* Damages a text in `variants` ways, the first of which is not at all; the reader finds it as
 * `name` in the folder. */
static void damage(read_function *read, const char *name, const struct text *good, int variants)
{
    char path[128];
    struct text t = {.bytes = malloc(good->size + 4097), .room = good->size + 4096};
    assert_non_null(t.bytes);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    for (int k = 0; k < variants; k++) {
        struct draws d = {.seed = (generator_word)k + 1};
        t.size = good->size;
        memcpy(t.bytes, good->bytes, good->size);
        for (size_t n = k == 0 ? 0 : 1 + draw(&d, 3); n > 0; n--)
            damage_once(&t, &d);
        read_damaged(read, path, &t, k);
    }
    unlink(path);
    free(t.bytes);
}

static void damage_file(read_function *read, const char *name, const char *good, int variants)
{
    struct text t = load(good, WHOLE);
    damage(read, name, &t, variants);
    free(t.bytes);
}

#endif
