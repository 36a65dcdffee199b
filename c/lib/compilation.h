/*
 * compilation - from a kernel and its manifest to an index of compiled mutants (images.h).
 *
 * What an earlier run found is kept by key, in the index and, when that run was killed, in its
 * journal beside it (<index>.part): only what is new is compiled. The index appears when all is
 * done.
 */
#ifndef ASSAY_COMPILATION_H
#define ASSAY_COMPILATION_H

#include <stdbool.h>

#include "batch.h"
#include "error.h"

/* Whom device code is compiled for. A code other than 0 ends everything. */
struct device_client {
    void *context;
    int (*compile_host)(void *context, struct error *e); /* once: sets `compiled` of each */
    /* Each that is compiled then: its device code is known, or it has a message instead. */
    int (*known)(void *context, struct candidate *c, struct error *e);
};

/* Compiles what the GPU runs of a kernel. */
struct device_compiler {
    const char *hash; /* of the compiler, its options and what it is given besides the kernel */

    /*
     * Compiles the device code of candidates, the client's host code meanwhile, into `folder`, and
     * sets their `device`, `device_file` and `member`. EXIT_UNAVAILABLE; EXIT_IO; the client's code.
     */
    int (*compile)(struct kernel_text original, struct candidate *const candidate[], int count,
                   const char *folder, const struct device_client *client, struct error *e);
};

struct compilation {
    const char *kernel, *manifest;
    const char *index;   /* ends in .jsonl; the shared objects go into a folder of its name */
    const char *only;    /* a file of the mutants' ids, one a line; NULL for all */
    const char *backend; /* the folder c/backend */
    bool race;           /* instrument memory accesses for the race oracle */
    int batch;           /* mutants a translation unit, 1 … OBJECT_MUTANTS */
    const struct device_compiler *device; /* NULL: for the CPU */
    void (*progress)(int done, int all); /* called with each that is done; may be NULL */
};

/*
 * compilation_run - brings the index up to date
 *
 * The original is compiled too, under the id `original`. EXIT_DATA if the kernel itself does not
 * compile (`kernel:line: what is wrong`), the manifest is not valid or is another kernel's, or
 * `only` names an unknown mutant; EXIT_UNAVAILABLE without a compiler; EXIT_IO.
 */
int compilation_run(const struct compilation *c, struct error *e);

#endif
