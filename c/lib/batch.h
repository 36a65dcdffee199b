/*
 * batch - compiles many mutants of a kernel as one translation unit, into one shared object.
 *
 * Starting the compiler costs as much as compiling several mutants, so each unit holds some forty,
 * each in a namespace of its own, with the kernels that no mutation touches once beside them
 * (share.h). A mutant that does not compile fails its whole unit: the diagnostics name it, and the
 * unit is compiled again without it. The machine code that a mutant reaches is hashed (object.h),
 * so that equal ones can be told.
 */
#ifndef ASSAY_BATCH_H
#define ASSAY_BATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "error.h"
#include "hash.h"

/* A kernel file as text. */
struct kernel_text {
    const char *text;
    size_t size;
};

/* The compiler and what it needs. */
struct toolchain {
    const char *backend; /* the folder c/backend */
    const char *include; /* the kernel's own folder, for its #include "…" */
    bool race;           /* instrument memory accesses for the race oracle */
    const char *device;  /* hash of the GPU's compiler, when only host code is wanted; else NULL */
    char hash[HASH_HEX]; /* of the compiler, its flags, and all in a unit besides mutants */
};

enum { MEMBER_NAME = 16 }; /* the name of a namespace and a NUL */

/* One mutant to compile, or the original itself. */
struct candidate {
    const char *id; /* what the image calls it */
    struct kernel_text source;
    char key[HASH_HEX]; /* of all that its code depends on */
    /* filled by batch_compile, but for the last four: */
    bool compiled;
    char *message;        /* when not compiled: `line: what is wrong`; owned by the caller */
    char code[HASH_HEX];  /* when compiled: equal for equal machine code */
    char image[HASH_HEX]; /* when compiled: the shared object is <folder>/<image>.so */
    const char *entry;    /* when compiled: what the image calls it */
    /* when compiled for a GPU: */
    char device[HASH_HEX];      /* equal for equal device code */
    char device_file[HASH_HEX]; /* which is in <folder>/<device_file>.gpu */
    char member[MEMBER_NAME];   /* and there in this namespace, if it has others beside it; else "" */
};

/* Fills hash, for one kernel and its mutants. EXIT_UNAVAILABLE if there is no compiler; EXIT_DATA,
 * with
 * `:line: what is wrong`, if the kernel cannot be lowered or includes what is not there. */
int toolchain_start(struct toolchain *t, struct kernel_text original, struct error *e);

/* The key of the mutant with this text. */
void toolchain_key(const struct toolchain *t, struct kernel_text source, char key[HASH_HEX]);

/*
 * batch_compile - compiles up to OBJECT_MUTANTS candidates and links them in `folder`, which exists
 *
 * A candidate that cannot be compiled gets a message; that is no error. A shared object appears
 * under its name when it is complete. Returns 0; EXIT_DATA, with `:line: what is wrong`, if the
 * original does not compile; EXIT_IO (disk full, …); EXIT_UNAVAILABLE if the compiler cannot be run
 * or is killed.
 */
int batch_compile(const struct toolchain *t, struct kernel_text original,
                  struct candidate *candidate, int count, const char *folder, struct error *e);

#endif
