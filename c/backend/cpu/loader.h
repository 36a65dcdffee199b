/* loader - brings the code of compiled mutants into the process. */
#ifndef ASSAY_LOADER_H
#define ASSAY_LOADER_H

#include "../../lib/images.h"
#include "simt.h"

struct loader {
    struct images images; /* the index, in the manifest's order; `original` first */
    char *folder;         /* that the images' paths are relative to */
    void **handle;        /* dlopen's, one an image file */
    char **file;
    int handles;
};

/* Reads an index (images.jsonl) and opens all its shared objects. EXIT_IO; EXIT_DATA;
 * EXIT_UNAVAILABLE for one that cannot be loaded. loader_close() after success only. */
int loader_open(struct loader *l, const char *index, struct error *e);
void loader_close(struct loader *l);

/* The code of the mutant with this id (`original` among them); NULL if the index has none for it. */
launch_function *loader_find(const struct loader *l, const char *id);

#endif
