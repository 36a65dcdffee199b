#include "loader.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The image file of that name, NULL if it is not open. */
static const struct loaded *find_loaded(const struct loader *l, const char *file)
{
    for (int k = 0; k < l->count; k++)
        if (strcmp(l->loaded[k].file, file) == 0)
            return &l->loaded[k];
    return NULL;
}

/* Finds the writable segment of an object that dlopen returned, less what the linker has made read-only
 * after relocation. Called for each object of the process until one returns 1. */
static int find_writable(struct dl_phdr_info *info, size_t size, void *wanted)
{
    (void)size;
    struct loaded *image = wanted;
    const struct link_map *map = image->handle;
    if (info->dlpi_addr != map->l_addr)
        return 0;
    uintptr_t begin = 0, end = 0, relocated = 0, page = (uintptr_t)sysconf(_SC_PAGESIZE);
    for (int k = 0; k < info->dlpi_phnum; k++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[k];
        uintptr_t at = info->dlpi_addr + p->p_vaddr;
        if (p->p_type == PT_LOAD && p->p_flags & PF_W) {
            begin = at;
            end = at + p->p_memsz;
        } else if (p->p_type == PT_GNU_RELRO) {
            relocated = (at + p->p_memsz) & ~(page - 1);
        }
    }
    begin = begin < relocated ? relocated : begin;
    if (begin < end) {
        image->writable = (char *)begin;
        image->size = end - begin;
    }
    return 1;
}

/* Opens an image file unless it is open. False when it cannot be. */
static bool open_once(struct loader *l, const char *file)
{
    char path[8192];
    if (find_loaded(l, file))
        return true;
    snprintf(path, sizeof path, "%s/%s", l->folder, file);
    struct loaded image = {.handle = dlopen(path, RTLD_NOW | RTLD_LOCAL)};
    if (!image.handle)
        return false;
    dl_iterate_phdr(find_writable, &image);
    image.file = strdup(file);
    image.pristine = malloc(image.size + 1);
    l->loaded = realloc(l->loaded, (size_t)(l->count + 1) * sizeof *l->loaded);
    if (!image.file || !image.pristine || !l->loaded)
        abort();
    if (image.size)
        memcpy(image.pristine, image.writable, image.size);
    l->loaded[l->count++] = image;
    return true;
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
    for (int k = 0; k < l->count; k++) {
        dlclose(l->loaded[k].handle);
        free(l->loaded[k].file);
        free(l->loaded[k].pristine);
    }
    free(l->loaded);
    free(l->folder);
    images_free(&l->images);
    *l = (struct loader){0};
}

launch_function *loader_find(const struct loader *l, const char *id)
{
    const struct image *image = images_with_id(&l->images, id);
    const struct loaded *loaded =
        image && image->status == IMAGE_COMPILED ? find_loaded(l, image->image) : NULL;
    const struct image_entry *entry = loaded ? dlsym(loaded->handle, "image") : NULL;
    while (entry && entry->id && strcmp(entry->id, image->entry) != 0)
        entry++;
    return entry ? entry->launch : NULL;
}

void loader_restore(const struct loader *l, const char *id)
{
    const struct image *image = images_with_id(&l->images, id);
    const struct loaded *loaded =
        image && image->status == IMAGE_COMPILED ? find_loaded(l, image->image) : NULL;
    if (loaded && loaded->size)
        memcpy(loaded->writable, loaded->pristine, loaded->size);
}
