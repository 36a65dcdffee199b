/* compiler - the device code of mutants: NVRTC in a process of its own, which a mutant may hang. */
#ifndef ASSAY_CUDA_COMPILER_H
#define ASSAY_CUDA_COMPILER_H

#include "../../lib/compilation.h"

/* Opens NVRTC; `backend` is the folder c/backend, `processes` how many compile at once. The result
 * lives as long as the process. EXIT_UNAVAILABLE; EXIT_IO. */
int cuda_compiler(const char *backend, int processes, const struct device_compiler **compiler,
                  struct error *e);

/*
 * cuda_compile_file - all kernels of one file, into one file of device code
 *
 *   options  in  up to NULL: -D and -I for NVRTC
 *
 * After cuda_compiler(). EXIT_IO; EXIT_DATA, with `path:line:`, for a file that does not compile.
 */
int cuda_compile_file(const char *path, const char *const options[], const char *output,
                      struct error *e);

#endif
