#include "json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "memory.h"

/* Bounds on what a reader accepts: jansson copies, and a line is one record. */
enum { LINE_LIMIT = 64 << 20 };

/* Short of memory jansson leaves members out and says so in places where nobody looks: it aborts
 * instead. To be set before its first use. */
__attribute__((constructor)) static void abort_without_memory(void)
{
    json_set_alloc_funcs(memory_new, free);
}

/* Schema and major version; at->value is an object when this returns 0. */
static int check_schema(const struct json_at *at, const char *kind, struct error *e)
{
    if (!json_is_object(at->value))
        return fail(e, EXIT_DATA, "%s:%d: expected a JSON object", at->path, at->line);
    if (!kind)
        return 0;
    const char *schema, *version;
    int code = json_get_text(at, "schema", &schema, e);
    if (!code)
        code = json_get_text(at, "schema_version", &version, e);
    if (code)
        return code;
    if (strncmp(schema, "assay/", 6) != 0 || strcmp(schema + 6, kind) != 0)
        return fail(e, EXIT_DATA, "%s:%d: schema is '%s', expected 'assay/%s'", at->path, at->line,
                    schema, kind);
    if (strncmp(version, "1.", 2) != 0)
        return fail(e, EXIT_DATA, "%s:%d: schema_version is '%s', this program reads 1.x", at->path,
                    at->line, version);
    return 0;
}

int json_document(struct json_at *at, const char *path, const char *kind, struct error *e)
{
    char *text;
    size_t size;
    *at = (struct json_at){.path = path, .line = 1};
    int code = file_read(path, &text, &size, e);
    if (code)
        return code;
    json_error_t why;
    at->value = json_loadb(text, size, JSON_REJECT_DUPLICATES, &why);
    free(text);
    if (!at->value)
        return fail(e, EXIT_DATA, "%s:%d: not valid JSON: %s", path, why.line, why.text);
    code = check_schema(at, kind, e);
    if (code) {
        json_decref(at->value);
        at->value = NULL;
    }
    return code;
}

static int wrong(const struct json_at *at, const char *key, const char *expected, struct error *e)
{
    const char *state = json_object_get(at->value, key) ? "is not" : "is missing; expected";
    return fail(e, EXIT_DATA, "%s:%d: '%s' %s %s", at->path, at->line, key, state, expected);
}

int json_get_text(const struct json_at *at, const char *key, const char **text, struct error *e)
{
    const json_t *v = json_object_get(at->value, key);
    if (!json_is_string(v))
        return wrong(at, key, "a text", e);
    *text = json_string_value(v);
    return 0;
}

static bool word_number(const json_t *v, double *number)
{
    const char *word = json_is_string(v) ? json_string_value(v) : "";
    if (strcmp(word, "inf") == 0)
        *number = INFINITY;
    else if (strcmp(word, "-inf") == 0)
        *number = -INFINITY;
    else if (strcmp(word, "nan") == 0)
        *number = NAN;
    else
        return false;
    return true;
}

int json_get_number(const struct json_at *at, const char *key, double *number, struct error *e)
{
    const json_t *v = json_object_get(at->value, key);
    if (json_is_number(v))
        *number = json_number_value(v);
    else if (!word_number(v, number))
        return wrong(at, key, "a number", e);
    return 0;
}

int json_get_integer(const struct json_at *at, const char *key, long *integer, struct error *e)
{
    const json_t *v = json_object_get(at->value, key);
    if (!json_is_integer(v))
        return wrong(at, key, "an integer", e);
    *integer = (long)json_integer_value(v);
    return 0;
}

int json_get_bool(const struct json_at *at, const char *key, bool *flag, struct error *e)
{
    const json_t *v = json_object_get(at->value, key);
    if (!json_is_boolean(v))
        return wrong(at, key, "true or false", e);
    *flag = json_is_true(v);
    return 0;
}

int json_get_array(const struct json_at *at, const char *key, struct json_at *array, struct error *e)
{
    json_t *v = json_object_get(at->value, key);
    if (!json_is_array(v))
        return wrong(at, key, "an array", e);
    *array = (struct json_at){at->path, at->line, v};
    return 0;
}

int json_get_object(const struct json_at *at, const char *key, struct json_at *object, struct error *e)
{
    json_t *v = json_object_get(at->value, key);
    if (!json_is_object(v))
        return wrong(at, key, "an object", e);
    *object = (struct json_at){at->path, at->line, v};
    return 0;
}

bool json_has(const struct json_at *at, const char *key)
{
    return json_object_get(at->value, key) != NULL;
}

int json_only(const struct json_at *at, const char *const keys[], struct error *e)
{
    const char *key;
    json_t *value;
    json_object_foreach(at->value, key, value)
    {
        const char *const *known = keys;
        while (*known && strcmp(*known, key) != 0)
            known++;
        if (!*known)
            return fail(e, EXIT_DATA, "%s:%d: unknown key '%s'", at->path, at->line, key);
    }
    return 0;
}

int json_reader_open(struct json_reader *r, const char *path, const char *kind, struct error *e)
{
    *r = (struct json_reader){.path = path};
    r->stream = fopen(path, "rb");
    if (!r->stream)
        return fail_errno(e, "%s: cannot be opened", path);
    struct json_at header;
    int code = json_reader_next(r, &header, e);
    if (!code && !header.value)
        code = fail(e, EXIT_DATA, "%s:1: the file is empty; expected a header line", path);
    if (!code) {
        r->header = header.value;
        code = check_schema(&header, kind, e);
    }
    if (code)
        json_reader_close(r);
    return code;
}

int json_reader_next(struct json_reader *r, struct json_at *at, struct error *e)
{
    *at = (struct json_at){.path = r->path};
    ssize_t length = getline(&r->buffer, &r->room, r->stream);
    if (ferror(r->stream) || (length < 0 && !feof(r->stream)))
        return fail_errno(e, "%s: cannot be read", r->path);
    if (length <= 0 || r->buffer[length - 1] != '\n')
        return 0;
    at->line = ++r->line;
    if (length > LINE_LIMIT)
        return fail(e, EXIT_DATA, "%s:%d: the line is longer than 64 MiB", r->path, r->line);
    json_error_t why;
    at->value = json_loadb(r->buffer, (size_t)length, JSON_REJECT_DUPLICATES, &why);
    if (!at->value)
        return fail(e, EXIT_DATA, "%s:%d: not valid JSON: %s", r->path, r->line, why.text);
    if (json_is_object(at->value))
        return 0;
    json_decref(at->value);
    at->value = NULL;
    return fail(e, EXIT_DATA, "%s:%d: expected a JSON object", r->path, r->line);
}

void json_reader_close(struct json_reader *r)
{
    if (r->stream)
        fclose(r->stream);
    json_decref(r->header);
    free(r->buffer);
    *r = (struct json_reader){.path = r->path};
}

json_t *json_new(const char *kind)
{
    char schema[64];
    snprintf(schema, sizeof schema, "assay/%s", kind);
    return json_pack("{ssss}", "schema", schema, "schema_version", "1.0");
}

json_t *json_number_or_word(double x)
{
    if (isfinite(x))
        return json_real(x);
    return json_string(isnan(x) ? "nan" : x > 0 ? "inf" : "-inf");
}

/* An object's members sorted by key, but `schema` and `schema_version` before all others. */
static int dump(FILE *stream, json_t *value, size_t layout)
{
    const char *schema = json_string_value(json_object_get(value, "schema"));
    const char *version = json_string_value(json_object_get(value, "schema_version"));
    if (!schema || !version)
        return json_dumpf(value, stream, layout | JSON_SORT_KEYS);
    bool lines = layout & JSON_INDENT(31);
    fprintf(stream, lines ? "{\n  \"schema\": \"%s\",\n  \"schema_version\": \"%s\""
                          : "{\"schema\":\"%s\",\"schema_version\":\"%s\"", schema, version);
    json_t *rest = json_copy(value);
    json_object_del(rest, "schema");
    json_object_del(rest, "schema_version");
    int bad = 0;
    if (json_object_size(rest) > 0)
        bad = putc(',', stream) == EOF ||
              json_dumpf(rest, stream, layout | JSON_SORT_KEYS | JSON_EMBED);
    else if (lines)
        putc('\n', stream);
    json_decref(rest);
    return bad || putc('}', stream) == EOF;
}

int json_write_line(struct output *out, json_t *value, struct error *e)
{
    if (dump(out->stream, value, JSON_COMPACT) || putc('\n', out->stream) == EOF)
        return fail_errno(e, "%s: cannot be written", out->path);
    return 0;
}

int json_write_document(const char *path, json_t *document, struct error *e)
{
    struct output out;
    int code = output_open(&out, path, e);
    if (!code && (dump(out.stream, document, JSON_INDENT(2)) || putc('\n', out.stream) == EOF))
        code = fail_errno(e, "%s: cannot be written", path);
    json_decref(document);
    if (code) {
        output_abandon(&out);
        return code;
    }
    return output_commit_if_changed(&out, e);
}
