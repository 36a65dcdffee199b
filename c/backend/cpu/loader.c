#include "loader.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* The handle of an image file, opened if it is not yet; NULL when it cannot be. */
static void *open_once(struct loader *l, const char *file)
{
    for (int k = 0; k < l->handles; k++)
        if (strcmp(l->file[k], file) == 0)
            return l->handle[k];
    char path[8192];
    snprintf(path, sizeof path, "%s/%s", l->folder, file);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return NULL;
    l->handle = realloc(l->handle, (size_t)(l->handles + 1) * sizeof *l->handle);
    l->file = realloc(l->file, (size_t)(l->handles + 1) * sizeof *l->file);
    if (!l->handle || !l->file)
        abort();
    l->handle[l->handles] = handle;
    l->file[l->handles] = strdup(file);
    return l->handle[l->handles++];
}

int loader_open(struct loader *l, const char *index, struct error *e)
{
    *l = (struct loader){0};
    int code = images_read(&l->images, index, e);
    if (code)
        return code;
    const char *slash = strrchr(index, '/');
    l->folder = slash ? strndup(index, (size_t)(slash - index)) : strdup(".");
    for (int k = 0; k < l->images.count && !code; k++) {
        const struct image *image = &l->images.image[k];
        if (image->status == IMAGE_COMPILED && !open_once(l, image->image))
            code = fail(e, EXIT_UNAVAILABLE, "%s: its image %s cannot be loaded: %s", index,
                        image->image, dlerror());
    }
    if (code)
        loader_close(l);
    return code;
}

void loader_close(struct loader *l)
{
    for (int k = 0; k < l->handles; k++) {
        dlclose(l->handle[k]);
        free(l->file[k]);
    }
    free(l->handle);
    free(l->file);
    free(l->folder);
    images_free(&l->images);
    *l = (struct loader){0};
}

launch_function *loader_find(const struct loader *l, const char *id)
{
    const struct image *image = images_with_id(&l->images, id);
    if (!image || image->status != IMAGE_COMPILED)
        return NULL;
    for (int k = 0; k < l->handles; k++) {
        if (strcmp(l->file[k], image->image) != 0)
            continue;
        const struct image_entry *entry = dlsym(l->handle[k], "image");
        while (entry && entry->id && strcmp(entry->id, image->entry) != 0)
            entry++;
        return entry ? entry->launch : NULL;
    }
    return NULL;
}
