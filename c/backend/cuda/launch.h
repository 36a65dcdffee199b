/*
 * launch - runs a kernel file's host function on the GPU.
 *
 * The host function is CPU code, compiled with SIMT_GPU (cuda_shim.h), and runs within simt_run() as
 * on the CPU backend, which contains its faults and endless loops; its launches and its calls of the
 * runtime API come here.
 */
#ifndef ASSAY_LAUNCH_H
#define ASSAY_LAUNCH_H

#include "../cpu/simt.h"
#include "gpu.h"

struct kernel {
    char *expression;
    function function;
};

/* Device code in the process: a file of nvrtc.h, or of one member of it. */
struct code {
    module module;
    struct kernel *kernel;
    int kernels;
};

/* With a member, only the kernels in that namespace, by their names within it. EXIT_IO; EXIT_DATA;
 * EXIT_UNAVAILABLE if the driver refuses it. code_unload in any case. */
int code_load(struct code *c, const char *path, const char *member, struct error *e);
void code_unload(struct code *c);

/* NULL if there is none. */
function code_kernel(const struct code *c, const char *expression);

/* Launches from now on find their kernels in these, the first that has it. */
void launch_from(const struct code code[], int count);

/*
 * launch_host - runs a host function, which starts work on the GPU
 *
 * The verdict is on the host's part only. A host function that waits for the GPU itself does so for up
 * to limit_s seconds.
 */
void launch_host(launch_function *launch, float *const in[], float *const out[], const long dim[],
                  const double hyper[], double limit_s, struct simt_verdict *verdict);

/* Puts into the verdict what a wait for the GPU, of up to limit_s seconds, has returned. */
void launch_failed(int error, double limit_s, struct simt_verdict *verdict);

/*
 * launch_wait - waits for the GPU, up to limit_s seconds (0: for ever), and puts what went wrong into
 * the verdict
 * launch_run - launch_host and launch_wait
 *
 * Return true when the process cannot be used any more: after a fault of the device, and when a kernel
 * is still running.
 */
bool launch_wait(double limit_s, struct simt_verdict *verdict);
bool launch_run(launch_function *launch, float *const in[], float *const out[], const long dim[],
                const double hyper[], double limit_s, struct simt_verdict *verdict);

/* Launches one of the backend's own kernels: `wanted` threads in all, in blocks of 256, of which there
 * are FINDINGS_BLOCKS at most. The driver's error, or 0. */
int launch_own(function f, long wanted, void *arguments[]);

#endif
