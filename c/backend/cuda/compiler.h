/*
 * compiler - the device code of mutants: NVRTC in processes of their own, which a mutant may hang.
 *
 * It is given several at once, each in a namespace: an eighth to a half of its time for a mutant goes into what is
 * the same for all, and a kernel that they have unchanged is compiled once. What cannot be one of several is compiled
 * alone: files with directives, `extern "C"` or `using namespace` (text.h); all of a batch in which one does not
 * compile, or has variables, tables or printf, of which nobody could say whose they are (identity.h); and all mutants
 * of a kernel that is not the same code in a batch as alone. So is the original.
 */
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
