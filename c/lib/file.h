/*
 * file - whole files in, whole files out.
 *
 * Output goes to `<path>.tmp.<pid>` and is renamed when it is complete and on disk, so that a failed
 * or killed program never leaves half a file under the name that others read.
 */
#ifndef ASSAY_FILE_H
#define ASSAY_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "error.h"

enum { FILE_MARGIN = 16 };

/* Reads a whole file. *text is malloc'd, owned by the caller, *size bytes long with FILE_MARGIN NULs
 * after them. EXIT_IO if it cannot be read. */
int file_read(const char *path, char **text, size_t *size, struct error *e);

/* A file being written. Write to `stream`; then commit or abandon. */
struct output {
    FILE *stream;
    char path[4096];
    char temporary[4096 + 32];
};

/* Opens the temporary, and makes the folders above it. */
int output_open(struct output *out, const char *path, struct error *e);

/* Flushes, checks, renames. On failure the temporary is removed and the old file is as it was. */
int output_commit(struct output *out, struct error *e);

/* As output_commit, but leaves the old file (and its time) alone when the bytes are the same. */
int output_commit_if_changed(struct output *out, struct error *e);

/* Closes and removes the temporary; harmless after a commit. */
void output_abandon(struct output *out);

/* mkdir -p of the folder that `path` stands in. */
int file_make_parent(const char *path, struct error *e);

#endif
