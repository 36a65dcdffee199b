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

enum kind { TEXT, FLAG, NUMBER, EXTENTS, STATS, RATIOS, SKIPPED };

/* Before the row, among its members, among those of error_stats, behind the row. */
enum place { NOWHERE, OUTSIDE, IN_ROW, IN_STATS, BEHIND };

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
    ERROR_STATS,
    MAX_ABS,
    MAX_REL,
    T_BY_RATIO,
    OTHER /* all that is skipped */
};

static const struct field {
    const char *name;
    enum kind kind;
    enum place place;
    size_t offset; /* in struct result */
} FIELD[] = {
    [SCHEMA] = {"schema", TEXT, IN_ROW, offsetof(struct result, schema)},
    [VERSION] = {"schema_version", TEXT, IN_ROW, offsetof(struct result, schema_version)},
    [RUN_ID] = {"run_id", TEXT, IN_ROW, offsetof(struct result, run_id)},
    [STRATEGY] = {"strategy", TEXT, IN_ROW, offsetof(struct result, strategy)},
    [KERNEL] = {"kernel", TEXT, IN_ROW, offsetof(struct result, kernel)},
    [DTYPE] = {"dtype", TEXT, IN_ROW, offsetof(struct result, dtype)},
    [SHAPES] = {"input_shapes", EXTENTS, IN_ROW, 0},
    [PASSED] = {"passed", FLAG, IN_ROW, offsetof(struct result, passed)},
    [MATCHING] = {"passed_matching", FLAG, IN_ROW, offsetof(struct result, passed_matching)},
    [FAILURE] = {"failure_kind", TEXT, IN_ROW, offsetof(struct result, failure_kind)},
    [ERROR_STATS] = {"error_stats", STATS, IN_ROW, 0},
    [MAX_ABS] = {"max_abs", NUMBER, IN_STATS, offsetof(struct result, max_abs)},
    [MAX_REL] = {"max_rel", NUMBER, IN_STATS, offsetof(struct result, max_rel)},
    [T_BY_RATIO] = {"t_by_ratio", RATIOS, IN_STATS, 0},
    [OTHER] = {"", SKIPPED, OUTSIDE, 0},
};

struct scanner {
    struct results_reader *reader;
    char *at;                /* in a line that a NUL ends */
    struct results_key *key; /* what is known of the next one */
    enum place place;
    uint32_t seen; /* a bit for each field that was there */
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
    scan_space(&s->at);
    if (*s->at == 'N') {
        *number = NAN;
        return scan_word(&s->at, "NaN");
    }
    if (*s->at == 'I') {
        *number = INFINITY;
        return scan_word(&s->at, "Infinity");
    }
    return scan_number(&s->at, number) && *number >= 0;
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

static int take_value(struct scanner *s, const struct field *f, struct result *row)
{
    char *member = (char *)row + f->offset;
    switch (f->kind) {
    case SKIPPED: return scan_skip(&s->at) ? 0 : bad(s, "expected a key and its value");
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
    case STATS: return scan_word(&s->at, "null") ? 0 : bad(s, "expected an object");
    }
    return 0;
}

static int find(enum place place, const char *name)
{
    int i = 0;
    while (i < OTHER && (FIELD[i].place != place || strcmp(FIELD[i].name, name) != 0))
        i++;
    return i;
}

/* Notes that a field is there. */
static int see(struct scanner *s, int field)
{
    if (field != OTHER && s->seen >> field & 1)
        return bad_value(s, FIELD[field].name, "stands twice");
    s->seen |= UINT32_C(1) << field;
    return 0;
}

/*
 * Takes what stands between two values, and before the first and behind the last one: closing
 * brackets, a comma or an opening bracket, a key, its colon; all of it twice where that opens
 * error_stats. *key is what has been learnt from it.
 */
static int read_key(struct scanner *s, struct results_key *key)
{
    bool first = s->place == OUTSIDE;
    if (first && !scan_take(&s->at, '{'))
        return bad(s, "expected an object");
    s->place = first ? IN_ROW : s->place;
    for (;;) {
        if (scan_take(&s->at, '}')) {
            s->place = s->place == IN_STATS ? IN_ROW : BEHIND;
            first = false;
            if (s->place == BEHIND)
                return 0;
            continue;
        }
        if (!first && !scan_take(&s->at, ','))
            return bad(s, "expected , or }");
        const char *name = scan_text(&s->at);
        if (!name || !scan_take(&s->at, ':'))
            return bad(s, "expected a key and its value");
        scan_space(&s->at);
        key->field = find(s->place, name);
        if (FIELD[key->field].kind != STATS || *s->at != '{')
            return 0;
        int code = see(s, ERROR_STATS);
        if (code)
            return code;
        s->at++;
        s->place = IN_STATS;
        key->opens = first = true;
    }
}

/* Does the text begin with what is known to have stood at this place in another row? */
static inline bool at_known_key(const char *at, enum place place, const struct results_key *known)
{
    const scan_block low = (scan_block)(scan_load(at) == scan_load(known->text));
    const scan_block high = (scan_block)(scan_load(at + 16) == scan_load(known->text + 16));
    const uint32_t equal = scan_bits(low) | scan_bits(high) << 16;
    return known->before == (int)place && !(~equal & known->mask);
}

/* Skips members as long as their keys are known and name no field. */
static inline void skip_members(struct scanner *s)
{
    const enum place place = s->place;
    struct results_key *key = s->key;
    char *at = s->at;
    for (; key->skipped && at_known_key(at, place, key); key++) {
        char *value = at + key->length;
        if (!scan_skip_here(&value))
            break;
        at = value;
    }
    s->at = at;
    s->key = key;
}

/* Reads a key that is not the known one, and learns it. */
static int learn_key(struct scanner *s, struct results_key *key)
{
    const char *begin = s->at;
    const int before = (int)s->place;
    *key = (struct results_key){.field = OTHER};
    memcpy(key->text, begin, sizeof key->text); /* before scan_text() changes it */
    int code = read_key(s, key);
    key->length = (int)(s->at - begin);
    key->after = (int)s->place;
    /* Not behind the last place, nor a long one; and an error_stats that is null here may be an
     * object in the next row. */
    if (code || key == s->reader->key + RESULTS_KEYS || key->length > (int)sizeof key->text ||
        key->field == ERROR_STATS)
        return code;
    key->mask = (uint32_t)((UINT64_C(1) << key->length) - 1);
    key->before = before;
    key->skipped = key->field == OTHER && key->after == before && !key->opens;
    return 0;
}

/* As read_key(); *field is what the key names, unless the row is at its end. */
static int take_key(struct scanner *s, struct result *row, int *field)
{
    struct results_key *key = s->key;
    int code = 0;
    s->key += key < s->reader->key + RESULTS_KEYS;
    if (at_known_key(s->at, s->place, key)) {
        s->at += key->length;
        s->place = (enum place)key->after;
        code = key->opens ? see(s, ERROR_STATS) : 0;
    } else {
        code = learn_key(s, key);
    }
    row->has_stats |= key->opens;
    *field = key->field;
    return code;
}

static int check(const struct scanner *s, const struct result *row)
{
    if (!row->has_stats)
        return row->failure_kind ? 0 : bad_value(s, "error_stats", "is missing");
    if (!(s->seen >> MAX_ABS & 1))
        return bad_value(s, "error_stats.max_abs", "is missing");
    if (!row->kernel)
        return bad_value(s, "kernel", "is missing");
    if (!row->dtype)
        return bad_value(s, "dtype", "is missing");
    return s->seen >> PASSED & 1 ? 0 : bad_value(s, "passed", "is missing");
}

static int take_row(struct scanner *s, const char *end, struct result *row)
{
    int field;
    memset(row, 0, offsetof(struct result, extent)); /* the arrays have their counts */
    row->max_rel = NAN;
    s->key = s->reader->key;
    s->place = OUTSIDE;
    s->seen = 0;
    for (;;) {
        skip_members(s);
        int code = take_key(s, row, &field);
        if (!code && s->place == BEHIND)
            break;
        if (!code)
            code = see(s, field);
        if (!code)
            code = take_value(s, &FIELD[field], row);
        if (code)
            return code;
    }
    row->has_matching = s->seen >> MATCHING & 1;
    if (row->schema)
        return 0;
    scan_take(&s->at, '\0');
    if (s->at != end + 1)
        return bad(s, "something follows the object");
    return check(s, row);
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
