/*
 * images - the index of compiled mutants: what became of each, and where its code is.
 *
 * images.jsonl stands beside a folder of its own name (images/) of shared objects that hold some
 * forty mutants each and export `image` (simt.h). What an earlier run found is reused by key.
 */
#ifndef ASSAY_IMAGES_H
#define ASSAY_IMAGES_H

#include <jansson.h>
#include <stdbool.h>

#include "error.h"
#include "file.h"

enum image_status { IMAGE_COMPILED, IMAGE_UNCOMPILABLE, IMAGE_EQUIVALENT, IMAGE_DUPLICATE };

/* One mutant. Texts are borrowed; NULL where they do not apply. */
struct image {
    const char *id, *key;
    enum image_status status;
    const char *code;    /* hash of its machine code; all but the uncompilable */
    const char *image;   /* compiled: the shared object, relative to the index's folder */
    const char *entry;   /* compiled: the id it has there */
    const char *device;  /* compiled for a GPU: its device code, relative as well */
    const char *member;  /* compiled for a GPU among others: the namespace of its kernels there */
    const char *message; /* uncompilable: `line: what is wrong` */
    const char *of;      /* duplicate: the earlier mutant that it equals */
};

struct images {
    json_t *header;  /* NULL in a list that was not read */
    json_t *records; /* owns the texts */
    struct image *image;
    int count, room;
};

/* The word for it in the index. */
const char *image_status_name(enum image_status status);

/* The whole index, in the manifest's order with `original` first. EXIT_IO; EXIT_DATA with
 * path:line:. */
int images_read(struct images *images, const char *path, struct error *e);
void images_free(struct images *images);

/* The first image with that key, or that id; NULL if there is none. */
const struct image *images_with_key(const struct images *images, const char *key);
const struct image *images_with_id(const struct images *images, const char *id);

/* The image as its record. A new reference. */
json_t *image_to_json(const struct image *image);

/*
 * images_settle - tells equivalents and duplicates
 *
 * image[0] is the original. One whose code is the original's becomes equivalent, one whose code an
 * earlier mutant has becomes that mutant's duplicate; all others that are not uncompilable are
 * compiled.
 */
void images_settle(struct image image[], int count);

#endif
