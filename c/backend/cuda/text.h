/* text - what NVRTC is given of a kernel file: everything but its host functions. */
#ifndef ASSAY_CUDA_TEXT_H
#define ASSAY_CUDA_TEXT_H

#include "../../lib/lex.h"

/* What stands before a kernel file's own text: prologue.h and prelude.h. Read once from the folder
 * c/backend. EXIT_IO. */
int device_head(const char *backend, char **head, struct error *e);

/*
 * device_text - the device code of a file, on its own line numbers
 *
 * Without #includes of headers that head stands for.
 */
char *device_text(const struct source *s, const char *head);

/* The kernels of the file that are no templates, a line each: what lower_kernels() says of a file
 * that launches them all. */
char *device_kernels(const struct source *s);

#endif
