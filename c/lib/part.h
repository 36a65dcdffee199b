/* part - the host code of a kernel file and its device code, each on the file's line numbers. */
#ifndef ASSAY_PART_H
#define ASSAY_PART_H

#include <stdbool.h>

#include "lex.h"

/*
 * part_host - the file with empty kernels, without the device functions that no host code mentions
 *
 * The same for all mutants of device code, but for those that have other lines. Owned.
 */
char *part_host(const struct source *s);

/* part_device - the file without host functions and without #includes that are left out. Owned. */
char *part_device(const struct source *s, bool (*left_out)(const char *line));

#endif
