/* only - a file of ids, a line each, that chooses among mutants. */
#ifndef ASSAY_ONLY_H
#define ASSAY_ONLY_H

#include <jansson.h>

#include "error.h"

/* The ids as the keys of an object, a new reference; NULL for all mutants when path is NULL. EXIT_IO. */
int only_read(const char *path, json_t **ids, struct error *e);

#endif
