/*
 * fuzzer - runs the kernels of the corpus on a GPU: fuzzer_cuda.
 *
 * Whole cases are evaluated in a process of their own, which a fault of the device or a kernel that
 * never ends takes with it: the case gets an exception, and the next a fresh process.
 */
#ifndef ASSAY_CUDA_FUZZER_H
#define ASSAY_CUDA_FUZZER_H

#include "../cpu/fuzzer.h"

extern const struct fuzzer_backend fuzzer_cuda;

#endif
