/* text - what NVRTC is given of a kernel file: everything but its host functions. */
#ifndef ASSAY_CUDA_TEXT_H
#define ASSAY_CUDA_TEXT_H

#include "../../lib/lex.h"

/* What stands before a kernel file's own text. */
struct head {
    char *prologue; /* prologue.h, once */
    char *prelude;  /* prelude.h, for each of several files: whether a function is inlined depends on who calls it */
};

/* Read once from the folder c/backend. EXIT_IO. */
int device_head(const char *backend, struct head *head, struct error *e);

/* The device code of a file on its own line numbers, without #includes of headers that head stands for. */
char *device_part(const struct source *s);

/* What NVRTC is given of one file. */
char *device_text(const struct head *head, const char *part);

struct member {
    const struct source *part; /* of device_part() */
    const bool *shared; /* of each of its functions: is it a kernel of the original's (share.h)? NULL: none is */
};

/*
 * device_text_of_all - what it is given of several at once, each in its namespace (identity.h); what members share
 *                      stands there once
 * device_text_of_copies - the same of copies of one file, which does not compile where one of its functions has the
 *                         name of one of NVRTC's: that is an overload outside the namespace, and hides the others
 *                         within it
 */
char *device_text_of_all(const struct head *head, const struct member members[], int count);
char *device_text_of_copies(const struct head *head, const struct member members[], int count);

/* Can the part not stand in a namespace beside others? So it is with directives but `#pragma unroll`, with
 * `extern "C"` and `using namespace`. */
bool device_stands_alone(const struct source *part);

/* The kernels of the file that are no templates, a line each: what lower_kernels() says of a file
 * that launches them all. */
char *device_kernels(const struct source *s);

#endif
