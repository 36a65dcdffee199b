/* loader - brings the code of compiled mutants into the process. */
#ifndef ASSAY_LOADER_H
#define ASSAY_LOADER_H

#include "../../lib/images.h"
#include "simt.h"

/* An image file: its writable memory is put back before each run, so that no run finds what another
 * left in a static or __device__ variable. */
struct loaded {
    char *file;
    void *handle;    /* dlopen's */
    char *writable;  /* its variables; NULL when it has none */
    char *pristine;  /* a copy of them as loaded */
    size_t size;
};

struct loader {
    struct images images; /* the index, in the manifest's order; `original` first */
    char *folder;         /* that the images' paths are relative to */
    struct loaded *loaded; /* the image files */
    int count;
};

/* Reads an index (images.jsonl) and opens all its shared objects. EXIT_IO; EXIT_DATA;
 * EXIT_UNAVAILABLE for one that cannot be loaded. loader_close() after success only. */
int loader_open(struct loader *l, const char *index, struct error *e);
void loader_close(struct loader *l);

/* The code of the mutant with this id (`original` among them); NULL if the index has none for it. */
launch_function *loader_find(const struct loader *l, const char *id);

/* Puts the variables of that mutant's image back to what they were when it was loaded. */
void loader_restore(const struct loader *l, const char *id);

#endif
