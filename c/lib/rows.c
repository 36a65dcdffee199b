#include "rows.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "json.h"
#include "scan.h"

enum kind { TEXT, FLAG, NUMBER, COUNT, OUTCOME, RACE };

/* When a row has the member. OWN: always, but a run inside a gate record never has it. */
enum presence { OWN, ALWAYS, GRADED, UNFINISHED, LOOKED, ORDERED };

struct field {
    const char *name;
    enum kind kind;
    size_t offset; /* in struct row */
    enum presence presence;
};

/* Sorted by name, as files are. To add a key: a line here, and one in ARCHITECTURE.md. */
static const struct field FIELD[] = {
    {"detail", TEXT, offsetof(struct row, run.detail), UNFINISHED},
    {"differs", FLAG, offsetof(struct row, differs), OWN},
    {"divergence", FLAG, offsetof(struct row, run.divergence), ALWAYS},
    {"input", TEXT, offsetof(struct row, input), OWN},
    {"input_written", FLAG, offsetof(struct row, run.input_written), ALWAYS},
    {"key", TEXT, offsetof(struct row, key), OWN},
    {"max_abs", NUMBER, offsetof(struct row, run.graded.max_abs), GRADED},
    {"max_rel", NUMBER, offsetof(struct row, run.graded.max_rel), GRADED},
    {"max_ulp", NUMBER, offsetof(struct row, run.graded.max_ulp), GRADED},
    {"mutant", TEXT, offsetof(struct row, mutant), OWN},
    {"nmse", NUMBER, offsetof(struct row, run.graded.nmse), GRADED},
    {"nonfinite", COUNT, offsetof(struct row, run.graded.nonfinite), GRADED},
    {"order", TEXT, offsetof(struct row, order), ORDERED},
    {"outcome", OUTCOME, offsetof(struct row, run.outcome), ALWAYS},
    {"race", RACE, offsetof(struct row, run.race), LOOKED},
    {"stray_read", FLAG, offsetof(struct row, run.stray_read), ALWAYS},
    {"stray_write", FLAG, offsetof(struct row, run.stray_write), ALWAYS},
    {"t", NUMBER, offsetof(struct row, run.graded.t), GRADED},
    {"t_p85", NUMBER, offsetof(struct row, run.graded.t_p85), GRADED},
    {"t_p90", NUMBER, offsetof(struct row, run.graded.t_p90), GRADED},
    {"t_p95", NUMBER, offsetof(struct row, run.graded.t_p95), GRADED},
};

enum { FIELDS = (int)(sizeof FIELD / sizeof *FIELD) };

static bool present(const struct row *row, enum presence presence)
{
    bool finished = row->run.outcome == OUTCOME_FINISHED;
    switch (presence) {
    case GRADED: return finished && row->differs;
    case UNFINISHED: return !finished;
    case LOOKED: return row->run.race != RACE_UNKNOWN;
    case ORDERED: return row->order != NULL;
    case OWN:
    case ALWAYS: break;
    }
    return true;
}

/* ---- scanning rows --------------------------------------------------------------------------- */

/* A row is one flat object, and a file has up to 10^6 of them: they are scanned where they lie. */
struct scanner {
    const char *path;
    int line;
    char *at; /* in a line that a NUL ends */
    struct error *e;
};

static int bad(const struct scanner *s, const char *what)
{
    return fail(s->e, EXIT_DATA, "%s:%d: not a row: %s", s->path, s->line, what);
}

static int bad_value(const struct scanner *s, const char *name, const char *expected)
{
    return fail(s->e, EXIT_DATA, "%s:%d: '%s' is not %s", s->path, s->line, name, expected);
}

static bool take_number(struct scanner *s, double *number)
{
    if (scan_number(&s->at, number))
        return true;
    const char *word = scan_text(&s->at);
    if (!word)
        return false;
    *number = strcmp(word, "nan") == 0 ? NAN : strcmp(word, "-inf") == 0 ? -INFINITY : INFINITY;
    return !isinf(*number) || *number < 0 || strcmp(word, "inf") == 0;
}

static int scan_value(struct scanner *s, const struct field *f, struct row *row)
{
    char *member = (char *)row + f->offset;
    switch (f->kind) {
    case TEXT: {
        const char *text = scan_text(&s->at);
        *(const char **)(void *)member = text;
        return text ? 0 : bad_value(s, f->name, "a text");
    }
    case FLAG: return scan_flag(&s->at, (bool *)member) ? 0 : bad_value(s, f->name, "true or false");
    case NUMBER:
        return take_number(s, (double *)(void *)member) ? 0 : bad_value(s, f->name, "a number");
    case COUNT: {
        double number;
        if (!take_number(s, &number) || !(number >= 0 && number < 1e15) || number != floor(number))
            return bad_value(s, f->name, "a count");
        *(long *)(void *)member = (long)number;
        return 0;
    }
    case OUTCOME: {
        const char *text = scan_text(&s->at);
        if (!text || !outcome_find(text, (enum outcome *)(void *)member))
            return bad_value(s, f->name, "an outcome");
        return 0;
    }
    case RACE: {
        bool seen;
        if (!scan_flag(&s->at, &seen))
            return bad_value(s, f->name, "true or false");
        *(enum race *)(void *)member = seen ? RACE_SEEN : RACE_NONE;
        return 0;
    }
    }
    return 0;
}

/* The field of that name, looked for from `expected` on because keys come sorted; or FIELDS. */
static int find_field(const char *name, int expected)
{
    for (int k = 0; k < FIELDS; k++) {
        int i = (expected + k) % FIELDS;
        if (strcmp(FIELD[i].name, name) == 0)
            return i;
    }
    return FIELDS;
}

static int check_row(const struct scanner *s, const struct row *row, uint32_t seen)
{
    if (row->run.outcome != OUTCOME_FINISHED && !row->differs)
        return bad(s, "a run that did not finish differs");
    for (int i = 0; i < FIELDS; i++) {
        bool have = seen >> i & 1;
        if (have != present(row, FIELD[i].presence))
            return fail(s->e, EXIT_DATA, "%s:%d: '%s' %s", s->path, s->line, FIELD[i].name,
                        have ? "does not belong in such a row" : "is missing");
    }
    return 0;
}

static int scan_row(struct scanner *s, struct row *row)
{
    uint32_t seen = 0;
    int next = 0;
    *row = (struct row){0};
    if (!scan_take(&s->at, '{'))
        return bad(s, "expected a JSON object");
    do {
        const char *name = scan_text(&s->at);
        if (!name || !scan_take(&s->at, ':'))
            return bad(s, "expected a key and its value");
        int i = find_field(name, next);
        if (i == FIELDS)
            return fail(s->e, EXIT_DATA, "%s:%d: unknown key '%s'", s->path, s->line, name);
        if (seen >> i & 1)
            return fail(s->e, EXIT_DATA, "%s:%d: '%s' stands twice", s->path, s->line, name);
        int code = scan_value(s, &FIELD[i], row);
        if (code)
            return code;
        seen |= UINT32_C(1) << i;
        next = i + 1;
    } while (scan_take(&s->at, ','));
    if (!scan_take(&s->at, '}'))
        return bad(s, "expected , or }");
    scan_space(&s->at);
    if (*s->at)
        return bad(s, "something follows the object");
    return check_row(s, row, seen);
}

_Static_assert((int)FILE_MARGIN >= (int)SCAN_MARGIN, "lines are scanned where file_read() put them");

static int scan_rows(struct rows *rows, const char *path, struct error *e)
{
    struct scanner s = {.path = path, .line = 1, .e = e};
    int room = 0;
    char *line = strchr(rows->text, '\n') + 1; /* after the header, which was read before */
    for (char *end; (end = strchr(line, '\n')); line = end + 1) {
        if (rows->count == room) {
            room = room ? room * 2 : 1024;
            rows->row = realloc(rows->row, (size_t)room * sizeof *rows->row);
            if (!rows->row)
                abort();
        }
        *end = '\0';
        s.at = line;
        s.line++;
        int code = scan_row(&s, &rows->row[rows->count]);
        if (code)
            return code;
        rows->count++;
    }
    return 0;
}

static int read_header(json_t **header, const char *path, struct error *e)
{
    struct json_reader r;
    int code = json_reader_open(&r, path, "rows", e);
    if (code)
        return code;
    *header = json_incref(r.header);
    json_reader_close(&r);
    return 0;
}

int rows_read(struct rows *rows, const char *path, struct error *e)
{
    size_t size;
    *rows = (struct rows){0};
    int code = read_header(&rows->header, path, e);
    if (!code)
        code = file_read(path, &rows->text, &size, e);
    if (!code && strlen(rows->text) != size)
        code = fail(e, EXIT_DATA, "%s: the file holds a NUL byte", path);
    if (!code)
        code = scan_rows(rows, path, e);
    if (code)
        rows_free(rows);
    return code;
}

void rows_free(struct rows *rows)
{
    json_decref(rows->header);
    free(rows->row);
    free(rows->text);
    *rows = (struct rows){0};
}

/* ---- writing --------------------------------------------------------------------------------- */

static json_t *field_to_json(const struct field *f, const struct row *row)
{
    const char *member = (const char *)row + f->offset;
    switch (f->kind) {
    case TEXT: return json_string(*(const char *const *)(const void *)member);
    case FLAG: return json_boolean(*(const bool *)member);
    case NUMBER: return json_number_or_word(*(const double *)(const void *)member);
    case COUNT: return json_integer(*(const long *)(const void *)member);
    case OUTCOME: return json_string(outcome_name(*(const enum outcome *)(const void *)member));
    case RACE: return json_boolean(*(const enum race *)(const void *)member == RACE_SEEN);
    }
    return NULL;
}

/* All members of these presences, one bit each. */
static json_t *fields_to_json(const struct row *row, unsigned presences)
{
    json_t *record = json_object();
    for (int i = 0; i < FIELDS; i++)
        if (presences >> FIELD[i].presence & 1 && present(row, FIELD[i].presence))
            json_object_set_new(record, FIELD[i].name, field_to_json(&FIELD[i], row));
    return record;
}

enum {
    PRESENCES_OF_GRADED = 1u << GRADED,
    PRESENCES_OF_RUN = 1u << ALWAYS | 1u << GRADED | 1u << UNFINISHED | 1u << LOOKED,
    PRESENCES_OF_ROW = PRESENCES_OF_RUN | 1u << OWN | 1u << ORDERED
};

json_t *row_to_json(const struct row *row)
{
    return fields_to_json(row, PRESENCES_OF_ROW);
}

json_t *gated_to_json(const struct gated *gated)
{
    const struct row original = {.differs = true, .run = gated->original};
    const struct row float32 = {.differs = true, .run = {.graded = gated->float32}};
    json_t *record = json_pack("{ss ss sb sb sI so so so}", "input", gated->input, "suite",
                               gated->suite, "valid", gated->valid, "resized", gated->resized,
                               "elements", (json_int_t)gated->original.graded.elements, "ref_max",
                               json_number_or_word(gated->original.graded.ref_max), "original",
                               fields_to_json(&original, PRESENCES_OF_RUN), "float32",
                               fields_to_json(&float32, PRESENCES_OF_GRADED));
    if (!gated->valid)
        json_object_set_new(record, "why", json_string(gated->why));
    return record;
}

/* ---- reading the gate ------------------------------------------------------------------------ */

static int get_field(const struct json_at *at, const struct field *f, struct row *row,
                     struct error *e)
{
    char *member = (char *)row + f->offset;
    const char *text;
    bool seen;
    int code = 0;
    switch (f->kind) {
    case TEXT: return json_get_text(at, f->name, (const char **)(void *)member, e);
    case FLAG: return json_get_bool(at, f->name, (bool *)member, e);
    case NUMBER: return json_get_number(at, f->name, (double *)(void *)member, e);
    case COUNT: return json_get_integer(at, f->name, (long *)(void *)member, e);
    case OUTCOME:
        code = json_get_text(at, f->name, &text, e);
        if (!code && !outcome_find(text, (enum outcome *)(void *)member))
            code = fail(e, EXIT_DATA, "%s:%d: '%s' is no outcome", at->path, at->line, text);
        return code;
    case RACE:
        code = json_get_bool(at, f->name, &seen, e);
        if (!code)
            *(enum race *)(void *)member = seen ? RACE_SEEN : RACE_NONE;
        return code;
    }
    return code;
}

/* The members of these presences; `outcome`, which decides about others, comes first. */
static int get_fields(const struct json_at *at, unsigned presences, struct row *row,
                      struct error *e)
{
    int code = 0;
    *row = (struct row){.differs = true};
    if (presences >> ALWAYS & 1)
        code = get_field(at, &FIELD[find_field("outcome", 0)], row, e);
    if (!code && json_has(at, "race"))
        row->run.race = RACE_NONE;
    for (int i = 0; !code && i < FIELDS; i++)
        if (presences >> FIELD[i].presence & 1 && present(row, FIELD[i].presence))
            code = get_field(at, &FIELD[i], row, e);
    return code;
}

static int read_gated(const struct json_at *at, struct gated *g, struct error *e)
{
    static const char *const KEYS[] = {"elements", "float32", "input", "original", "ref_max",
                                       "resized",  "suite",   "valid", "why",      NULL};
    struct json_at original, float32;
    struct row row;
    *g = (struct gated){0};
    int code = json_only(at, KEYS, e);
    if (!code)
        code = json_get_text(at, "input", &g->input, e);
    if (!code)
        code = json_get_text(at, "suite", &g->suite, e);
    if (!code)
        code = json_get_bool(at, "valid", &g->valid, e);
    if (!code && !g->valid)
        code = json_get_text(at, "why", &g->why, e);
    if (!code)
        code = json_get_bool(at, "resized", &g->resized, e);
    if (!code)
        code = json_get_object(at, "original", &original, e);
    if (!code)
        code = get_fields(&original, PRESENCES_OF_RUN, &row, e);
    if (!code) {
        g->original = row.run;
        code = json_get_object(at, "float32", &float32, e);
    }
    if (!code)
        code = get_fields(&float32, PRESENCES_OF_GRADED, &row, e);
    if (!code) {
        g->float32 = row.run.graded;
        code = json_get_number(at, "ref_max", &g->original.graded.ref_max, e);
    }
    return code ? code : json_get_integer(at, "elements", &g->original.graded.elements, e);
}

static int add_gated(struct gate *gate, const struct json_at *at, struct error *e)
{
    gate->input = realloc(gate->input, (size_t)(gate->count + 1) * sizeof *gate->input);
    if (!gate->input)
        abort();
    struct gated *g = &gate->input[gate->count];
    int code = read_gated(at, g, e);
    for (int i = 0; !code && i < gate->count; i++)
        if (strcmp(gate->input[i].input, g->input) == 0)
            code = fail(e, EXIT_DATA, "%s:%d: the input '%s' stands twice", at->path, at->line,
                        g->input);
    gate->count += !code;
    return code;
}

int gate_read(struct gate *gate, const char *path, struct error *e)
{
    struct json_reader r;
    struct json_at at;
    *gate = (struct gate){0};
    int code = json_reader_open(&r, path, "gate", e);
    if (code)
        return code;
    gate->header = json_incref(r.header);
    gate->records = json_array();
    struct json_at header = {path, 1, gate->header};
    code = json_get_text(&header, "problem", &gate->problem, e);
    while (!code && !(code = json_reader_next(&r, &at, e)) && at.value) {
        json_array_append_new(gate->records, at.value);
        code = add_gated(gate, &at, e);
    }
    json_reader_close(&r);
    if (code)
        gate_free(gate);
    return code;
}

void gate_free(struct gate *gate)
{
    json_decref(gate->header);
    json_decref(gate->records);
    free(gate->input);
    *gate = (struct gate){0};
}
