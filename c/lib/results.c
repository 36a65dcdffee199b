#include "results.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "memory.h"
#include "scan.h"

const double RESULTS_RATIO[RESULTS_RATIOS] = {1e-4, 1e-3, 1e-2, 1e-1, 1, 10};

enum { FIRST_ROOM = 1 << 18, LINE_LIMIT = 64 << 20, GZIP_BUFFER = 1 << 16 };

/* Behind the buffer's bytes: a NUL, and what take_key() may look at past the end of a line. */
enum { MARGIN = SCAN_MARGIN + sizeof((struct results_key *)0)->text };

/* ---- members of a row ------------------------------------------------------------------------- */

enum kind { TEXT, FLAG, NUMBER, EXTENTS, STATS, RATIOS };

struct field {
    const char *name;
    enum kind kind;
    size_t offset; /* in struct result */
};

enum {
    SCHEMA,
    VERSION,
    RUN_ID,
    STRATEGY,
    KERNEL,
    DTYPE,
    SHAPES,
    PASSED,
    MATCHING,
    FAILURE,
    ERROR_STATS
};

static const struct field ROW[] = {
    [SCHEMA] = {"schema", TEXT, offsetof(struct result, schema)},
    [VERSION] = {"schema_version", TEXT, offsetof(struct result, schema_version)},
    [RUN_ID] = {"run_id", TEXT, offsetof(struct result, run_id)},
    [STRATEGY] = {"strategy", TEXT, offsetof(struct result, strategy)},
    [KERNEL] = {"kernel", TEXT, offsetof(struct result, kernel)},
    [DTYPE] = {"dtype", TEXT, offsetof(struct result, dtype)},
    [SHAPES] = {"input_shapes", EXTENTS, 0},
    [PASSED] = {"passed", FLAG, offsetof(struct result, passed)},
    [MATCHING] = {"passed_matching", FLAG, offsetof(struct result, passed_matching)},
    [FAILURE] = {"failure_kind", TEXT, offsetof(struct result, failure_kind)},
    [ERROR_STATS] = {"error_stats", STATS, 0},
    {NULL, TEXT, 0},
};

enum { MAX_ABS, MAX_REL, T_BY_RATIO };

static const struct field STAT[] = {
    [MAX_ABS] = {"max_abs", NUMBER, offsetof(struct result, max_abs)},
    [MAX_REL] = {"max_rel", NUMBER, offsetof(struct result, max_rel)},
    [T_BY_RATIO] = {"t_by_ratio", RATIOS, 0},
    {NULL, TEXT, 0},
};

enum { UNKNOWN = 31 }; /* the number of all other keys */

struct scanner {
    struct results_reader *reader;
    char *at;                /* in a line that a NUL ends */
    struct results_key *key; /* what is known of the next one */
    struct error *e;
};

static int bad(const struct scanner *s, const char *what)
{
    return fail(s->e, EXIT_DATA, "%s:%d: not a row: %s", s->reader->path, s->reader->line, what);
}

static int bad_value(const struct scanner *s, const char *name, const char *what)
{
    return fail(s->e, EXIT_DATA, "%s:%d: '%s' %s", s->reader->path, s->reader->line, name, what);
}

/* An error: not negative, and perhaps no number. */
static bool take_error(struct scanner *s, double *number)
{
    if (scan_number(&s->at, number))
        return *number >= 0;
    if (scan_word(&s->at, "NaN"))
        *number = NAN;
    else if (scan_word(&s->at, "Infinity"))
        *number = INFINITY;
    else
        return false;
    return true;
}

/* [t, …], one for each ratio. */
static bool take_ratios(struct scanner *s, struct result *row)
{
    for (int i = 0; i < RESULTS_RATIOS; i++)
        if (!scan_take(&s->at, i ? ',' : '[') || !take_error(s, &row->t[i]))
            return false;
    row->has_t = true;
    return scan_take(&s->at, ']');
}

/* The extents of one tensor, behind those that the row already has. */
static bool take_shape(struct scanner *s, struct result *row)
{
    if (!scan_take(&s->at, '['))
        return false;
    if (scan_take(&s->at, ']'))
        return true;
    do {
        if (row->extents == RESULTS_EXTENTS || !scan_count(&s->at, &row->extent[row->extents++]))
            return false;
    } while (scan_take(&s->at, ','));
    return scan_take(&s->at, ']');
}

/* {tensor: shape, …} */
static bool take_shapes(struct scanner *s, struct result *row)
{
    if (!scan_take(&s->at, '{'))
        return false;
    if (scan_take(&s->at, '}'))
        return true;
    do {
        if (!scan_text(&s->at) || !scan_take(&s->at, ':') || !take_shape(s, row))
            return false;
    } while (scan_take(&s->at, ','));
    return scan_take(&s->at, '}');
}

static int take_members(struct scanner *s, const struct field field[], struct result *row,
                        uint32_t *seen);

static int take_stats(struct scanner *s, struct result *row)
{
    uint32_t seen;
    if (scan_word(&s->at, "null"))
        return 0;
    row->has_stats = true;
    row->max_rel = NAN;
    int code = take_members(s, STAT, row, &seen);
    if (!code && !(seen >> MAX_ABS & 1))
        code = bad_value(s, "error_stats.max_abs", "is missing");
    return code;
}

static int take_value(struct scanner *s, const struct field *f, struct result *row)
{
    char *member = (char *)row + f->offset;
    switch (f->kind) {
    case TEXT: {
        const bool null = *s->at != '"' && scan_word(&s->at, "null");
        const char *text = null ? NULL : scan_text(&s->at);
        *(const char **)(void *)member = text;
        return text || null ? 0 : bad_value(s, f->name, "is not a text");
    }
    case FLAG:
        return scan_flag(&s->at, (bool *)member) ? 0
                                                 : bad_value(s, f->name, "is not true or false");
    case NUMBER:
        return take_error(s, (double *)(void *)member)
                   ? 0
                   : bad_value(s, f->name, "is not a number that is 0 or more");
    case EXTENTS:
        return take_shapes(s, row) ? 0
                                   : bad_value(s, f->name, "is not an object of lists of sizes");
    case RATIOS: return take_ratios(s, row) ? 0 : bad_value(s, f->name, "is not six numbers");
    case STATS: return take_stats(s, row);
    }
    return 0;
}

static int find(const struct field field[], const char *name)
{
    for (int i = 0; field[i].name; i++)
        if (strcmp(field[i].name, name) == 0)
            return i;
    return UNKNOWN;
}

/* Is what comes next what is known to have stood there before? */
static inline bool at_known_key(const char *at, const struct results_key *known,
                                const struct field field[])
{
    const scan_block low = (scan_block)(scan_load(at) == scan_load(known->text));
    const scan_block high = (scan_block)(scan_load(at + 16) == scan_load(known->text + 16));
    return known->field_list == field && !(~(scan_bits(low) | scan_bits(high) << 16) & known->mask);
}

/* Notes what stands between `begin` and `end`; not behind RESULTS_KEYS keys, nor if it is long. */
static void learn_key(struct scanner *s, struct results_key *key, const struct field field[], int i)
{
    const bool learns = key < s->reader->key + RESULTS_KEYS && key->length <= (int)sizeof key->text;
    key->mask = learns ? (uint32_t)((UINT64_C(1) << key->length) - 1) : 0;
    key->field_list = learns ? field : NULL;
    key->field = i;
}

/* Takes `first`, the brace or comma, a key and its colon; *i is the field it names, or UNKNOWN. */
static int take_key(struct scanner *s, const struct field field[], char first, int *i)
{
    struct results_key *key = s->key;
    s->key += key < s->reader->key + RESULTS_KEYS;
    if (at_known_key(s->at, key, field)) {
        s->at += key->length;
        *i = key->field;
        return 0;
    }
    const char *begin = s->at;
    key->field_list = NULL;
    memcpy(key->text, begin, sizeof key->text); /* before scan_text() changes it */
    if (!scan_take(&s->at, first))
        return bad(s, "expected an object");
    const char *name = scan_text(&s->at);
    if (!name || !scan_take(&s->at, ':'))
        return bad(s, "expected a key and its value");
    scan_space(&s->at);
    *i = find(field, name);
    key->length = (int)(s->at - begin);
    learn_key(s, key, field, *i);
    return 0;
}

/* Skips members as long as their keys are known and name no field. */
static bool skip_members(struct scanner *s, const struct field field[])
{
    char *at = s->at;
    struct results_key *key = s->key;
    for (; key->field == UNKNOWN && at_known_key(at, key, field); key++) {
        char *value = at + key->length;
        if (!scan_skip_here(&value))
            break;
        at = value;
    }
    bool any = at > s->at;
    s->at = at;
    s->key = key;
    scan_space(&s->at);
    return any;
}

static int take_member(struct scanner *s, const struct field field[], struct result *row,
                       uint32_t *seen)
{
    int i = UNKNOWN;
    int code = take_key(s, field, *seen ? ',' : '{', &i);
    if (code)
        return code;
    if (i == UNKNOWN)
        code = scan_skip(&s->at) ? 0 : bad(s, "expected a key and its value");
    else if (*seen >> i & 1)
        code = bad_value(s, field[i].name, "stands twice");
    else
        code = take_value(s, &field[i], row);
    *seen |= UINT32_C(1) << i;
    scan_space(&s->at);
    return code;
}

/* The members of one object. *seen: one bit for each field that was there. */
static int take_members(struct scanner *s, const struct field field[], struct result *row,
                        uint32_t *seen)
{
    *seen = 0;
    do {
        if (skip_members(s, field))
            *seen |= UINT32_C(1) << UNKNOWN;
        if (*s->at == '}')
            break;
        int code = take_member(s, field, row, seen);
        if (code)
            return code;
    } while (*s->at == ',');
    return scan_take(&s->at, '}') ? 0 : bad(s, "expected , or }");
}

static int check(const struct scanner *s, const struct result *row, uint32_t seen)
{
    if (!row->has_stats)
        return row->failure_kind ? 0 : bad_value(s, "error_stats", "is missing");
    if (!row->kernel)
        return bad_value(s, "kernel", "is missing");
    if (!row->dtype)
        return bad_value(s, "dtype", "is missing");
    return seen >> PASSED & 1 ? 0 : bad_value(s, "passed", "is missing");
}

static int take_row(struct scanner *s, const char *end, struct result *row)
{
    uint32_t seen;
    *row = (struct result){0};
    int code = take_members(s, ROW, row, &seen);
    if (code || row->schema)
        return code;
    row->has_matching = seen >> MATCHING & 1;
    scan_take(&s->at, '\0');
    if (s->at != end + 1)
        return bad(s, "something follows the object");
    return check(s, row, seen);
}

/* ---- lines ------------------------------------------------------------------------------------ */

/* Nothing more comes of this file. */
static void leave(struct results_reader *r)
{
    r->finished = true;
    r->used = r->size;
}

int results_open(struct results_reader *r, const char *path, struct error *e)
{
    *r = (struct results_reader){.path = path};
    r->stream = gzopen(path, "rb");
    if (!r->stream)
        return fail_errno(e, "%s: cannot be read", path);
    gzbuffer(r->stream, GZIP_BUFFER);
    r->room = FIRST_ROOM;
    r->buffer = memory_new(r->room + MARGIN);
    return 0;
}

void results_close(struct results_reader *r)
{
    if (r->stream)
        gzclose(r->stream);
    free(r->buffer);
    *r = (struct results_reader){.path = r->path};
}

/* Nothing more is read; what is in the buffer stays. Says, once, why the data ended, if not as they
 * should. */
static int finish(struct results_reader *r, struct error *e)
{
    int state = Z_OK;
    int code = 0;
    if (r->stream)
        gzerror(r->stream, &state);
    if (state == Z_ERRNO)
        code = fail_errno(e, "%s: cannot be read", r->path);
    else if (state != Z_OK && state != Z_STREAM_END)
        code = fail(e, EXIT_DATA, "%s:%d: the gzip data %s", r->path, r->line + 1,
                    state == Z_BUF_ERROR ? "end too early" : "are damaged");
    if (r->stream)
        gzclose(r->stream);
    r->stream = NULL;
    return code;
}

/* Reads on behind what has not been used yet, which moves to the front. */
static int fill(struct results_reader *r, struct error *e)
{
    r->size -= r->used;
    memmove(r->buffer, r->buffer + r->used, r->size);
    r->used = 0;
    if (r->size >= LINE_LIMIT) {
        leave(r);
        return fail(e, EXIT_DATA, "%s:%d: the line is longer than 64 MiB", r->path, r->line + 1);
    }
    if (r->size == r->room) {
        r->room *= 2;
        r->buffer = realloc(r->buffer, r->room + MARGIN);
        if (!r->buffer)
            abort();
    }
    size_t wanted = r->room - r->size;
    int count = gzread(r->stream, r->buffer + r->size, (unsigned)wanted);
    r->size += count > 0 ? (size_t)count : 0;
    r->finished = count < 0 || (size_t)count < wanted;
    return 0;
}

/* The next line, a NUL at *end in place of its newline; *line is NULL behind the last. */
static int next_line(struct results_reader *r, char **line, char **end, struct error *e)
{
    *line = NULL;
    for (;;) {
        *end = memchr(r->buffer + r->used, '\n', r->size - r->used);
        if (*end || r->finished)
            break;
        int code = fill(r, e);
        if (code)
            return code;
    }
    if (!*end) {
        int code = finish(r, e);
        if (code)
            r->used = r->size;
        if (r->used == r->size)
            return code;
        *end = r->buffer + r->size; /* a last line without its newline */
    }
    *line = r->buffer + r->used;
    r->used = (size_t)(*end - r->buffer) + (*end < r->buffer + r->size);
    **end = '\0';
    r->line++;
    return 0;
}

/* A header must be of our schema. It may stand anywhere: files are joined with cat. */
static int check_header(struct results_reader *r, const struct result *row, struct error *e)
{
    const char *version = row->schema_version ? row->schema_version : "";
    bool ours = strcmp(row->schema, "assay/results") == 0 && strncmp(version, "1.", 2) == 0;
    if (ours)
        return 0;
    leave(r);
    return fail(e, EXIT_DATA, "%s:%d: a header of schema '%s' %s; the rest of the file is left out",
                r->path, r->line, row->schema, version);
}

int results_next(struct results_reader *r, struct result *row, bool *more, struct error *e)
{
    struct scanner s = {.reader = r, .e = e};
    char *end;
    for (;;) {
        int code = next_line(r, &s.at, &end, e);
        s.key = r->key;
        *more = s.at;
        if (code || !s.at)
            return code;
        if (*s.at != '{' && s.at + strspn(s.at, " \t\r") == end)
            continue;
        code = take_row(&s, end, row);
        if (!row->schema)
            return code;
        code = check_header(r, row, e);
        if (code)
            return code;
    }
}
