/*
 * json - the project's way of reading and writing JSON (jansson underneath).
 *
 * Two kinds of file: a document (one object) and JSON Lines (a header object, then one record a
 * line). Both start with `schema` and `schema_version`; the other keys are written sorted, so that equal
 * data are equal bytes. Every complaint says `path:line:`, the key, and what was expected.
 */
#ifndef ASSAY_JSON_H
#define ASSAY_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "error.h"
#include "file.h"

/* ---- reading ---------------------------------------------------------------------------------- */

/* A value together with where it came from, for messages. `value` is borrowed from its document. */
struct json_at {
    const char *path;
    int line;
    json_t *value;
};

/* Reads a whole document of schema `assay/<kind>`, major version 1. The caller json_decref()s
 * at->value. kind NULL: any JSON object, no schema asked for. Duplicate keys are an error. */
int json_document(struct json_at *at, const char *path, const char *kind, struct error *e);

/* The members of an object. Each returns 0, or EXIT_DATA with one line for the user. Texts are
 * borrowed. A number may be given as "inf", "-inf" or "nan". */
int json_get_text(const struct json_at *at, const char *key, const char **text, struct error *e);
int json_get_number(const struct json_at *at, const char *key, double *number, struct error *e);
int json_get_integer(const struct json_at *at, const char *key, long *integer, struct error *e);
int json_get_bool(const struct json_at *at, const char *key, bool *flag, struct error *e);
int json_get_array(const struct json_at *at, const char *key, struct json_at *array, struct error *e);
int json_get_object(const struct json_at *at, const char *key, struct json_at *object, struct error *e);
bool json_has(const struct json_at *at, const char *key);

/* EXIT_DATA if the object has a key that is not in the NULL-terminated list. */
int json_only(const struct json_at *at, const char *const keys[], struct error *e);

/* JSON Lines, a record at a time. */
struct json_reader {
    const char *path;
    int line; /* of the record last read */
    FILE *stream;
    json_t *header;
    char *buffer;
    size_t room;
};

/* Opens and checks the header. */
int json_reader_open(struct json_reader *r, const char *path, const char *kind, struct error *e);

/* The next record; at->value is owned by the caller, NULL at the end. A last line without its newline
 * (a writer was killed in the middle) is not a record. */
int json_reader_next(struct json_reader *r, struct json_at *at, struct error *e);
void json_reader_close(struct json_reader *r);

/* ---- writing ---------------------------------------------------------------------------------- */

/* A header or document object with schema and version; extend it, then pass it on. */
json_t *json_new(const char *kind);

/* Finite numbers as they are (17 digits at most), the others as "inf", "-inf", "nan". */
json_t *json_number_or_word(double x);

/* Writes one value as one line. */
int json_write_line(struct output *out, json_t *value, struct error *e);

/* Writes a document, indented by two, to `path` (only if it changed); takes the reference. */
int json_write_document(const char *path, json_t *document, struct error *e);

#endif
