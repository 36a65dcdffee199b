/* nvrtc - NVIDIA's run-time compiler, opened when it is first needed, so that nothing links with it. */
#ifndef ASSAY_NVRTC_H
#define ASSAY_NVRTC_H

#include <stddef.h>

#include "../../lib/error.h"

/* Device code: for each kernel that was asked for a line `symbol expression`, an empty line, a cubin. */
struct device_code {
    char *bytes; /* owned */
    size_t size;
};

/* Opens the library. EXIT_UNAVAILABLE where there is none. The version is `13.0`. */
int nvrtc_open(char version[16], struct error *e);

/*
 * nvrtc_compile - compiles a CUDA text for sm_90
 *
 *   options  in  up to NULL, besides NVRTC_OPTIONS
 *   kernels  in  the expressions of the kernels to be found in the code, a line each
 *   message  out when the text does not compile: `line: what is wrong`, owned; else NULL
 *
 * Returns 0 also when the text does not compile. EXIT_UNAVAILABLE; EXIT_BUG.
 */
int nvrtc_compile(const char *text, const char *const options[], const char *kernels,
                  struct device_code *code, char **message, struct error *e);

/* The options of every compilation, in one line. */
extern const char NVRTC_OPTIONS[];

#endif
