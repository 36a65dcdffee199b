/* manifest - the mutants of a kernel as a file (schema assay/manifest). */
#ifndef ASSAY_MANIFEST_H
#define ASSAY_MANIFEST_H

#include "error.h"
#include "mutant.h"

struct manifest {
    char *problem;       /* group/name */
    const char *version; /* of the program that writes it; NULL in one that was read */
    char kernel_sha256[HASH_HEX], rules_sha256[HASH_HEX];
    struct mutants mutants;
};

/* The problem that a kernel file belongs to: the last two parts of its path without the extension.
 * malloc'd. */
char *problem_of(const char *kernel_path);

/* Writes the file, unless it already holds the same bytes. */
int manifest_write(const struct manifest *m, const char *path, struct error *e);

/* Reads and checks one. EXIT_DATA with `path:line:`; EXIT_IO. */
int manifest_read(struct manifest *m, const char *path, struct error *e);
void manifest_free(struct manifest *m);

#endif
