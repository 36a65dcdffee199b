#include "corpus.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "json.h"

/* What is wrong with `key` of the entry at hand. */
static int wrong(const struct json_at *at, const char *key, const char *what, struct error *e)
{
    const char *name = json_string_value(json_object_get(at->value, "name"));
    return fail(e, EXIT_DATA, "%s: entry '%s': '%s' %s", at->path, name ? name : "?", key, what);
}

static int find_dim(const struct corpus_entry *entry, const char *name)
{
    for (int d = 0; name && d < entry->dims; d++)
        if (strcmp(entry->dim[d].name, name) == 0)
            return d;
    return -1;
}

static int read_dims(const struct json_at *at, struct corpus_entry *entry, long **candidate,
                     struct error *e)
{
    struct json_at dims;
    int code = json_get_object(at, "dims", &dims, e);
    const char *name;
    json_t *list, *value;
    size_t i;
    if (code)
        return code;
    json_object_foreach(dims.value, name, list)
    {
        if (entry->dims == CORPUS_DIMS || json_array_size(list) == 0)
            return wrong(at, "dims", "is not at most 4 names, each with candidates", e);
        struct corpus_dim *dim = &entry->dim[entry->dims++];
        *dim = (struct corpus_dim){name, *candidate, (int)json_array_size(list)};
        json_array_foreach(list, i, value)
        {
            if (json_integer_value(value) < 1)
                return wrong(at, "dims", "holds a candidate that is no size", e);
            *(*candidate)++ = (long)json_integer_value(value);
        }
    }
    return 0;
}

static int read_tensor(const struct json_at *at, const char *key, json_t *dims,
                       const struct corpus_entry *entry, struct corpus_tensor *tensor,
                       struct error *e)
{
    json_t *name;
    size_t i;
    if (json_array_size(dims) == 0 || json_array_size(dims) > CORPUS_RANK)
        return wrong(at, key, "is not 1 to 4 dimensions", e);
    json_array_foreach(dims, i, name)
    {
        int d = find_dim(entry, json_string_value(name));
        if (d < 0)
            return wrong(at, key, "names a dimension that is not in dims", e);
        tensor->dim[tensor->rank++] = d;
    }
    return 0;
}

static int read_tensors(const struct json_at *at, struct corpus_entry *entry, struct error *e)
{
    struct json_at inputs, output;
    int code = json_get_object(at, "inputs", &inputs, e);
    if (!code)
        code = json_get_array(at, "output", &output, e);
    if (!code)
        code = read_tensor(at, "output", output.value, entry, &entry->output, e);
    const char *name;
    json_t *dims;
    if (code)
        return code;
    json_object_foreach(inputs.value, name, dims)
    {
        if (entry->inputs == CORPUS_INPUTS)
            return wrong(at, "inputs", "holds more than 4 tensors", e);
        struct corpus_tensor *tensor = &entry->input[entry->inputs++];
        tensor->name = name;
        code = read_tensor(at, "inputs", dims, entry, tensor, e);
        if (code)
            return code;
    }
    return 0;
}

static int read_tolerances(const struct json_at *at, struct corpus_entry *entry, struct error *e)
{
    struct json_at tolerance, published;
    int code = json_get_object(at, "tolerance", &tolerance, e);
    for (int d = 0; !code && d < DTYPES; d++) {
        code = json_get_number(&tolerance, dtype_name(d), &entry->tolerance[d], e);
        if (!code && !(entry->tolerance[d] > 0))
            code = wrong(at, "tolerance", "is not above 0", e);
    }
    if (!code)
        code = json_get_array(at, "published", &published, e);
    json_t *name;
    size_t i;
    enum dtype dtype;
    if (code)
        return code;
    json_array_foreach(published.value, i, name)
    {
        if (!json_is_string(name) || !dtype_find(json_string_value(name), &dtype))
            return wrong(at, "published", "names an unknown dtype", e);
        entry->published[dtype] = true;
    }
    return 0;
}

static int read_magnitude(const struct json_at *bound, const char *key,
                          const struct corpus_entry *entry, struct corpus_magnitude *m,
                          struct error *e)
{
    struct json_at at;
    int code = json_get_object(bound, key, &at, e);
    if (!code)
        code = json_get_number(&at, "value", &m->value, e);
    const char *name;
    json_t *power;
    if (code)
        return code;
    json_object_foreach(json_object_get(at.value, "powers"), name, power)
    {
        int d = find_dim(entry, name);
        if (d < 0 || !json_is_number(power))
            return fail(e, EXIT_DATA, "%s: entry '%s': '%s' has a power of no dimension", at.path,
                        entry->name, key);
        m->power[d] = json_number_value(power);
    }
    return 0;
}

static int read_bound(const struct json_at *at, struct corpus_entry *entry, struct error *e)
{
    struct json_at bound, length;
    long roundings = 0;
    int code = json_get_object(at, "bound", &bound, e);
    if (!code)
        code = json_get_array(&bound, "length", &length, e);
    if (!code)
        code = json_get_integer(&bound, "roundings", &roundings, e);
    if (!code)
        code = read_magnitude(&bound, "magnitude", entry, &entry->bound.magnitude, e);
    if (!code)
        code = read_magnitude(&bound, "rounded", entry, &entry->bound.rounded, e);
    if (!code)
        code = read_magnitude(&bound, "largest", entry, &entry->bound.largest, e);
    json_t *name;
    size_t i;
    if (code)
        return code;
    entry->bound.roundings = (int)roundings;
    json_array_foreach(length.value, i, name)
    {
        int d = find_dim(entry, json_string_value(name));
        if (d < 0)
            return wrong(at, "bound", "sums over a dimension that is not in dims", e);
        entry->bound.summed[d] = true;
    }
    return 0;
}

static int read_kind(const struct json_at *at, struct corpus_entry *entry, struct error *e)
{
    const char *kind, *published;
    int code = json_get_text(at, "kind", &kind, e);
    if (code)
        return code;
    entry->buggy = strcmp(kind, "buggy") == 0;
    if (!entry->buggy && strcmp(kind, "control") != 0)
        return wrong(at, "kind", "is not \"control\" or \"buggy\"", e);
    published = json_string_value(json_object_get(at->value, "published_kind"));
    entry->published_buggy = published ? strcmp(published, "buggy") == 0 : entry->buggy;
    return 0;
}

static int read_entry(const struct json_at *at, struct corpus_entry *entry, long **candidate,
                      struct error *e)
{
    static const char *const KEYS[] = {"bound",
                                       "calibrate_against",
                                       "dims",
                                       "fault",
                                       "inputs",
                                       "kind",
                                       "means",
                                       "name",
                                       "output",
                                       "operator",
                                       "parameters",
                                       "published",
                                       "published_kind",
                                       "tolerance",
                                       NULL};
    int code = json_only(at, KEYS, e);
    if (!code)
        code = json_get_text(at, "name", &entry->name, e);
    if (!code)
        code = json_get_text(at, "operator", &entry->op, e);
    if (!code)
        code = read_kind(at, entry, e);
    if (!code)
        code = read_dims(at, entry, candidate, e);
    if (!code)
        code = read_tensors(at, entry, e);
    if (!code)
        code = read_tolerances(at, entry, e);
    if (!code && !entry->buggy)
        code = read_bound(at, entry, e);
    entry->parameters = json_object_get(at->value, "parameters");
    return code;
}

/* Points every entry to its control. */
static int resolve(struct corpus *corpus, const struct json_at *entries, struct error *e)
{
    for (int i = 0; i < corpus->count; i++) {
        struct corpus_entry *entry = &corpus->entry[i];
        struct json_at at = {entries->path, 1, json_array_get(entries->value, (size_t)i)};
        const char *against = entry->name;
        int code = entry->buggy ? json_get_text(&at, "calibrate_against", &against, e) : 0;
        if (code)
            return code;
        entry->against = corpus_find(corpus, against);
        if (entry->against < 0 || corpus->entry[entry->against].buggy)
            return wrong(&at, "calibrate_against", "names no control", e);
        if (corpus_find(corpus, entry->name) != i)
            return wrong(&at, "name", "stands twice", e);
    }
    return 0;
}

static size_t count_candidates(json_t *entries)
{
    size_t count = 0, i;
    const char *name;
    json_t *entry, *list;
    json_array_foreach(entries, i, entry)
    {
        json_object_foreach(json_object_get(entry, "dims"), name, list) count +=
            json_array_size(list);
    }
    return count;
}

static int read_entries(struct corpus *corpus, const struct json_at *document, struct error *e)
{
    struct json_at entries, range;
    int code = json_get_array(document, "entries", &entries, e);
    if (!code)
        code = json_get_array(document, "range", &range, e);
    if (code)
        return code;
    corpus->low = json_number_value(json_array_get(range.value, 0));
    corpus->high = json_number_value(json_array_get(range.value, 1));
    if (!(corpus->low < corpus->high))
        return fail(e, EXIT_DATA, "%s: 'range' is not two numbers, ascending", document->path);
    if (json_array_size(entries.value) == 0)
        return fail(e, EXIT_DATA, "%s: 'entries' is empty", document->path);
    corpus->entry = calloc(json_array_size(entries.value), sizeof *corpus->entry);
    corpus->candidates = calloc(count_candidates(entries.value) + 1, sizeof *corpus->candidates);
    if (!corpus->entry || !corpus->candidates)
        abort();
    long *candidate = corpus->candidates;
    json_t *value;
    size_t i;
    json_array_foreach(entries.value, i, value)
    {
        struct json_at at = {document->path, 1, value};
        code = read_entry(&at, &corpus->entry[i], &candidate, e);
        if (code)
            return code;
        corpus->count++;
    }
    return resolve(corpus, &entries, e);
}

/* The file that `path` means, malloc'd. */
static char *find_file(const char *path)
{
    struct stat status;
    char *file;
    bool folder = stat(path, &status) == 0 && S_ISDIR(status.st_mode);
    if (asprintf(&file, folder ? "%s/corpus.json" : "%s", path) < 0)
        abort();
    return file;
}

int corpus_read(struct corpus *corpus, const char *path, struct error *e)
{
    struct json_at document;
    *corpus = (struct corpus){.path = find_file(path)};
    int code = json_document(&document, corpus->path, "corpus", e);
    if (!code) {
        corpus->document = document.value;
        code = read_entries(corpus, &document, e);
    }
    if (code)
        corpus_free(corpus);
    return code;
}

void corpus_free(struct corpus *corpus)
{
    free(corpus->entry);
    free(corpus->candidates);
    free(corpus->path);
    json_decref(corpus->document);
    *corpus = (struct corpus){0};
}

int corpus_find(const struct corpus *corpus, const char *name)
{
    for (int i = 0; i < corpus->count; i++)
        if (strcmp(corpus->entry[i].name, name) == 0)
            return i;
    return -1;
}

double corpus_magnitude(const struct corpus_magnitude *m, int dims, const long extent[])
{
    double product = m->value;
    for (int d = 0; d < dims; d++)
        if (m->power[d] != 0)
            product *= pow((double)extent[d], m->power[d]);
    return product;
}
