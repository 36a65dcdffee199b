#include "manifest.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "memory.h"

char *problem_of(const char *kernel_path)
{
    const char *begin = kernel_path + strlen(kernel_path);
    for (int slashes = 0; begin > kernel_path; begin--)
        if (begin[-1] == '/' && ++slashes == 2)
            break;
    char *problem = memory_copy(begin);
    char *slash = strrchr(problem, '/'), *dot = strrchr(problem, '.');
    if (dot && dot > problem && (!slash || dot > slash + 1))
        *dot = '\0';
    return problem;
}

/* ---- writing --------------------------------------------------------------------------------- */

static json_t *header_json(const struct manifest *m)
{
    json_t *header = json_new("manifest");
    json_object_set_new(header, "problem", json_string(m->problem));
    json_object_set_new(header, "provenance",
                        json_pack("{s:s, s:s, s:s}", "kernel_sha256", m->kernel_sha256,
                                  "rules_sha256", m->rules_sha256, "version", m->version));
    return header;
}

static json_t *mutant_json(const struct mutant *m)
{
    json_t *edits = json_array();
    for (int k = 0; k < m->edits; k++)
        json_array_append_new(edits, json_pack("{s:i, s:i, s:s}", "begin", m->edit[k].begin, "end",
                                               m->edit[k].end, "text", m->edit[k].text));
    return json_pack("{s:o, s:s, s:s, s:s, s:i, s:s, s:s, s:s}", "edits", edits, "family",
                     m->family, "function", m->function, "id", m->id, "line", m->line, "original",
                     m->original, "rule", m->rule, "sha256", m->sha256);
}

static int write_and_free(struct output *out, json_t *value, struct error *e)
{
    if (!value) /* the kernel or a rule is not UTF-8 */
        return fail(e, EXIT_DATA, "%s: a text is not UTF-8", out->path);
    int code = json_write_line(out, value, e);
    json_decref(value);
    return code;
}

int manifest_write(const struct manifest *m, const char *path, struct error *e)
{
    struct output out;
    int code = output_open(&out, path, e);
    if (!code)
        code = write_and_free(&out, header_json(m), e);
    for (int k = 0; !code && k < m->mutants.count; k++)
        code = write_and_free(&out, mutant_json(&m->mutants.mutant[k]), e);
    if (!code)
        return output_commit_if_changed(&out, e);
    output_abandon(&out);
    return code;
}

/* ---- reading --------------------------------------------------------------------------------- */

static int get_copy(const struct json_at *at, const char *key, char **copy, struct error *e)
{
    const char *text;
    int code = json_get_text(at, key, &text, e);
    if (!code)
        *copy = memory_copy(text);
    return code;
}

static int get_sha256(const struct json_at *at, const char *key, char sha256[HASH_HEX],
                      struct error *e)
{
    const char *text;
    int code = json_get_text(at, key, &text, e);
    if (code)
        return code;
    if (strlen(text) != HASH_HEX - 1 || strspn(text, "0123456789abcdef") != HASH_HEX - 1)
        return fail(e, EXIT_DATA, "%s:%d: `%s` is no sha256: 64 hexadecimal digits expected",
                    at->path, at->line, key);
    memcpy(sha256, text, HASH_HEX);
    return 0;
}

static int get_int(const struct json_at *at, const char *key, int *value, struct error *e)
{
    long integer;
    int code = json_get_integer(at, key, &integer, e);
    if (!code && (integer < 0 || integer > INT_MAX))
        code = fail(e, EXIT_DATA, "%s:%d: `%s` is out of range", at->path, at->line, key);
    if (!code)
        *value = (int)integer;
    return code;
}

static int read_edit(const struct json_at *at, struct edit *edit, int after, struct error *e)
{
    static const char *const KEYS[] = {"begin", "end", "text", NULL};
    int code = json_only(at, KEYS, e);
    if (!code)
        code = get_int(at, "begin", &edit->begin, e);
    if (!code)
        code = get_int(at, "end", &edit->end, e);
    if (!code && (edit->begin < after || edit->end < edit->begin))
        code =
            fail(e, EXIT_DATA, "%s:%d: `edits` must be ascending and disjoint", at->path, at->line);
    return code ? code : get_copy(at, "text", &edit->text, e);
}

static int read_edits(const struct json_at *at, struct mutant *m, struct error *e)
{
    struct json_at array;
    int code = json_get_array(at, "edits", &array, e);
    if (code)
        return code;
    size_t count = json_array_size(array.value);
    if (count == 0)
        return fail(e, EXIT_DATA, "%s:%d: `edits` is empty", at->path, at->line);
    m->edit = memory_zeroed((int)count, sizeof *m->edit);
    for (size_t k = 0; !code && k < count; k++) {
        struct json_at one = {at->path, at->line, json_array_get(array.value, k)};
        code = read_edit(&one, &m->edit[k], k > 0 ? m->edit[k - 1].end : 0, e);
        m->edits++;
    }
    return code;
}

static int read_mutant(const struct json_at *at, struct mutant *m, struct error *e)
{
    static const char *const KEYS[] = {"edits",    "family", "function", "id", "line",
                                       "original", "rule",   "sha256",   NULL};
    const struct {
        const char *key;
        char **text;
    } texts[] = {{"family", &m->family},
                 {"function", &m->function},
                 {"id", &m->id},
                 {"original", &m->original},
                 {"rule", &m->rule}};
    int code = json_only(at, KEYS, e);
    for (size_t k = 0; !code && k < sizeof texts / sizeof *texts; k++)
        code = get_copy(at, texts[k].key, texts[k].text, e);
    if (!code)
        code = get_int(at, "line", &m->line, e);
    if (!code)
        code = get_sha256(at, "sha256", m->sha256, e);
    return code ? code : read_edits(at, m, e);
}

static int read_header(const struct json_reader *r, struct manifest *m, struct error *e)
{
    struct json_at header = {r->path, r->line, r->header}, provenance;
    int code = get_copy(&header, "problem", &m->problem, e);
    if (!code)
        code = json_get_object(&header, "provenance", &provenance, e);
    if (!code)
        code = get_sha256(&provenance, "kernel_sha256", m->kernel_sha256, e);
    return code ? code : get_sha256(&provenance, "rules_sha256", m->rules_sha256, e);
}

static int read_records(struct json_reader *r, struct mutants *m, struct error *e)
{
    int room = 0, code;
    struct json_at at;
    while (!(code = json_reader_next(r, &at, e)) && at.value) {
        m->mutant = memory_grow(m->mutant, m->count, &room, sizeof *m->mutant);
        struct mutant *one = &m->mutant[m->count++];
        *one = (struct mutant){0};
        code = read_mutant(&at, one, e);
        json_decref(at.value);
        if (!code && mutants_find(m, one->id) != one)
            code = fail(e, EXIT_DATA, "%s:%d: a second mutant %s", at.path, at.line, one->id);
        if (code)
            return code;
    }
    return code;
}

int manifest_read(struct manifest *m, const char *path, struct error *e)
{
    struct json_reader r;
    *m = (struct manifest){0};
    int code = json_reader_open(&r, path, "manifest", e);
    if (code)
        return code;
    code = read_header(&r, m, e);
    if (!code)
        code = read_records(&r, &m->mutants, e);
    json_reader_close(&r);
    if (code)
        manifest_free(m);
    return code;
}

void manifest_free(struct manifest *m)
{
    mutants_free(&m->mutants);
    free(m->problem);
    *m = (struct manifest){0};
}
