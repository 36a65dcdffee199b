#include "images.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "memory.h"

static const char *const STATUS[] = {"compiled", "uncompilable", "equivalent", "duplicate"};

const char *image_status_name(enum image_status status)
{
    return STATUS[status];
}

/* ---- reading --------------------------------------------------------------------------------- */

static int read_status(const struct json_at *at, enum image_status *status, struct error *e)
{
    const char *word;
    int code = json_get_text(at, "status", &word, e);
    if (code)
        return code;
    for (int k = 0; k < 4; k++) {
        if (strcmp(word, STATUS[k]) == 0) {
            *status = (enum image_status)k;
            return 0;
        }
    }
    return fail(e, EXIT_DATA, "%s:%d: '%s' is no status", at->path, at->line, word);
}

static int read_image(const struct json_at *at, struct image *i, struct error *e)
{
    static const char *const KEYS[] = {"code_sha256", "device",  "entry", "id",     "image",
                                       "key",         "member", "message", "of", "status", NULL};
    *i = (struct image){0};
    int code = json_only(at, KEYS, e);
    if (!code)
        code = read_status(at, &i->status, e);
    if (!code)
        code = json_get_text(at, "id", &i->id, e);
    if (!code)
        code = json_get_text(at, "key", &i->key, e);
    if (!code && i->status == IMAGE_UNCOMPILABLE)
        code = json_get_text(at, "message", &i->message, e);
    if (!code && i->status != IMAGE_UNCOMPILABLE)
        code = json_get_text(at, "code_sha256", &i->code, e);
    if (!code && i->status == IMAGE_COMPILED)
        code = json_get_text(at, "image", &i->image, e);
    if (!code && i->status == IMAGE_COMPILED)
        code = json_get_text(at, "entry", &i->entry, e);
    if (!code && json_has(at, "device"))
        code = json_get_text(at, "device", &i->device, e);
    if (!code && json_has(at, "member"))
        code = json_get_text(at, "member", &i->member, e);
    if (!code && i->status == IMAGE_DUPLICATE)
        code = json_get_text(at, "of", &i->of, e);
    return code;
}

static void images_add(struct images *images, json_t *record, const struct image *i)
{
    json_array_append_new(images->records, record);
    images->image = memory_grow(images->image, images->count, &images->room, sizeof *i);
    images->image[images->count++] = *i;
}

int images_read(struct images *images, const char *path, struct error *e)
{
    struct json_reader r;
    *images = (struct images){.records = json_array()};
    int code = json_reader_open(&r, path, "images", e);
    while (!code) {
        struct json_at at;
        struct image i;
        code = json_reader_next(&r, &at, e);
        if (code || !at.value)
            break;
        code = read_image(&at, &i, e);
        if (code)
            json_decref(at.value);
        else
            images_add(images, at.value, &i);
    }
    images->header = json_incref(r.header);
    json_reader_close(&r);
    if (code)
        images_free(images);
    return code;
}

void images_free(struct images *images)
{
    json_decref(images->header);
    json_decref(images->records);
    free(images->image);
    *images = (struct images){0};
}

const struct image *images_with_key(const struct images *images, const char *key)
{
    for (int k = 0; k < images->count; k++)
        if (strcmp(images->image[k].key, key) == 0)
            return &images->image[k];
    return NULL;
}

const struct image *images_with_id(const struct images *images, const char *id)
{
    for (int k = 0; k < images->count; k++)
        if (strcmp(images->image[k].id, id) == 0)
            return &images->image[k];
    return NULL;
}

/* ---- writing --------------------------------------------------------------------------------- */

json_t *image_to_json(const struct image *i)
{
    return json_pack("{ss ss ss ss* ss* ss* ss* ss* ss* ss*}", "id", i->id, "key", i->key, "status",
                     STATUS[i->status], "code_sha256", i->code, "device", i->device, "entry",
                     i->entry, "image", i->image, "member", i->member, "message", i->message, "of", i->of);
}

static int by_code(const void *x, const void *y)
{
    return strcmp(((const struct image *)x)->code, ((const struct image *)y)->code);
}

void images_settle(struct image image[], int count)
{
    void *first = NULL; /* a tree of the first image of each code */
    for (int k = 0; k < count; k++) {
        struct image *i = &image[k];
        if (!i->code)
            continue;
        struct image *const *same = tsearch(i, &first, by_code);
        if (!same)
            abort();
        i->of = NULL;
        i->status = *same == i       ? IMAGE_COMPILED
                    : *same == image ? IMAGE_EQUIVALENT
                                     : IMAGE_DUPLICATE;
        if (i->status == IMAGE_DUPLICATE)
            i->of = (*same)->id;
        if (i->status != IMAGE_COMPILED)
            i->image = i->entry = i->device = i->member = NULL;
    }
    while (first)
        tdelete(*(void **)first, &first, by_code);
}
