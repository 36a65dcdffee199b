#include "scored.h"

#include <stdlib.h>
#include <string.h>

#include "json.h"

static void *room_for(size_t count, size_t each)
{
    void *room = calloc(count + 1, each);
    if (!room)
        abort();
    return room;
}

static int read_inputs(struct scored *s, const struct json_at *at, struct error *e)
{
    struct json_at list;
    size_t i;
    json_t *value;
    int code = json_get_array(at, "inputs", &list, e);
    if (code)
        return code;
    s->input = room_for(json_array_size(list.value), sizeof *s->input);
    json_array_foreach(list.value, i, value)
    {
        const struct json_at one = {at->path, at->line, value};
        code = json_get_text(&one, "input", &s->input[s->inputs++], e);
        if (code)
            return code;
    }
    return 0;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int read_protocols(struct scored *s, const struct json_at *at, struct error *e)
{
    struct json_at members;
    const char *id;
    json_t *value;
    int code = json_get_object(at, "protocols", &members, e);
    if (code)
        return code;
    s->protocol = room_for(json_object_size(members.value), sizeof *s->protocol);
    json_object_foreach(members.value, id, value)
    {
        s->protocol[s->protocols++] = id;
    }
    qsort(s->protocol, (size_t)s->protocols, sizeof *s->protocol, by_text);
    return 0;
}

static bool was_run(const struct fate *f)
{
    return !fate_is(f, "uncompilable") && !fate_is(f, "equivalent") && !fate_is(f, "duplicate");
}

static int read_fate(struct scored *s, const struct json_at *at, struct fate *f, struct error *e)
{
    int code = json_get_text(at, "id", &f->id, e);
    if (!code)
        code = json_get_text(at, "rule", &f->rule, e);
    if (!code)
        code = json_get_text(at, "family", &f->family, e);
    if (!code)
        code = json_get_text(at, "status", &f->status, e);
    if (code || !was_run(f))
        return code;
    code = json_get_text(at, "class", &f->class, e);
    if (!code)
        code = json_get_text(at, "inputs", &f->inputs, e);
    if (!code)
        code = json_get_text(at, "protocols", &f->protocols, e);
    if (!code &&
        (strlen(f->inputs) != (size_t)s->inputs || strlen(f->protocols) != (size_t)s->protocols))
        code = fail(e, EXIT_DATA, "%s: '%s' has not one letter for each input and protocol",
                    at->path, f->id);
    return code;
}

static int read_fates(struct scored *s, const struct json_at *at, struct error *e)
{
    struct json_at list;
    size_t i;
    json_t *value;
    int code = json_get_array(at, "fates", &list, e);
    if (code)
        return code;
    s->fate = room_for(json_array_size(list.value), sizeof *s->fate);
    json_array_foreach(list.value, i, value)
    {
        const struct json_at one = {at->path, at->line, value};
        code = read_fate(s, &one, &s->fate[s->fates++], e);
        if (code)
            return code;
    }
    return 0;
}

int scored_read(struct scored *s, const char *path, struct error *e)
{
    struct json_at at;
    *s = (struct scored){0};
    int code = json_document(&at, path, "score", e);
    if (code)
        return code;
    s->document = at.value;
    code = json_get_text(&at, "problem", &s->problem, e);
    if (!code)
        code = read_inputs(s, &at, e);
    if (!code)
        code = read_protocols(s, &at, e);
    if (!code)
        code = read_fates(s, &at, e);
    if (code)
        scored_free(s);
    return code;
}

void scored_free(struct scored *s)
{
    json_decref(s->document);
    free(s->fate);
    free(s->input);
    free(s->protocol);
    *s = (struct scored){0};
}

static int place_of(const char *const list[], int count, const char *name)
{
    for (int k = 0; k < count; k++)
        if (strcmp(list[k], name) == 0)
            return k;
    return -1;
}

int scored_input(const struct scored *s, const char *input)
{
    return place_of(s->input, s->inputs, input);
}

int scored_protocol(const struct scored *s, const char *protocol)
{
    return place_of(s->protocol, s->protocols, protocol);
}

bool fate_is(const struct fate *f, const char *status)
{
    return strcmp(f->status, status) == 0;
}

bool letter_kills(char letter)
{
    return letter == 'x' || letter == 't';
}
