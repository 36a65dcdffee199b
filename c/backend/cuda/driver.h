/*
 * driver - the CUDA driver, opened when it is first needed, so that one build runs with and without.
 *
 * The declarations are the driver's own in the parts that are used (CUDA 12 and 13). All functions
 * return 0 for success.
 */
#ifndef ASSAY_DRIVER_H
#define ASSAY_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../lib/error.h"

typedef uint64_t device_address, memory_handle;
typedef struct CUctx_st *context;
typedef struct CUmod_st *module;
typedef struct CUfunc_st *function;
typedef struct CUstream_st *stream;
typedef struct CUmemPoolHandle_st *memory_pool;

/* CUmemLocation, CUmemAllocationProp and CUmemAccessDesc. */
struct memory_location {
    int type, id; /* type 1: a device */
};
struct memory_properties {
    int type, handle_types; /* 1 and 1: pinned, to be shared by file descriptor */
    struct memory_location location;
    void *unused;
    unsigned char flags[8];
};
struct memory_access {
    struct memory_location location;
    int flags; /* 1: read, 3: read and write */
};

enum {
    CUDA_INVALID_VALUE = 1,
    CUDA_OUT_OF_MEMORY = 2,
    CUDA_INVALID_CONFIGURATION = 9,
    CUDA_NOT_READY = 600,
    CUDA_LAUNCH_OUT_OF_RESOURCES = 701,
    CUDA_UNKNOWN = 999
};

#define DRIVER_FUNCTIONS(F)                                                                        \
    F(cuInit, (unsigned flags))                                                                    \
    F(cuDriverGetVersion, (int *version))                                                          \
    F(cuGetErrorName, (int error, const char **name))                                              \
    F(cuDeviceGetName, (char *name, int length, int device))                                       \
    F(cuDevicePrimaryCtxRetain, (context * c, int device))                                         \
    F(cuCtxSetCurrent, (context c))                                                                \
    F(cuMemGetInfo_v2, (size_t * free, size_t *total))                                             \
    F(cuStreamCreate, (stream * s, unsigned flags))                                                \
    F(cuStreamQuery, (stream s))                                                                   \
    F(cuStreamSynchronize, (stream s))                                                             \
    F(cuModuleLoadData, (module * m, const void *image))                                           \
    F(cuModuleUnload, (module m))                                                                  \
    F(cuModuleGetFunction, (function * f, module m, const char *name))                             \
    F(cuLaunchKernel, (function f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, \
                       unsigned bz, unsigned shared, stream s, void **arguments, void **extra))    \
    F(cuMemAlloc_v2, (device_address * p, size_t bytes))                                           \
    F(cuMemFree_v2, (device_address p))                                                            \
    F(cuMemHostAlloc, (void **p, size_t bytes, unsigned flags))                                    \
    F(cuDeviceGetDefaultMemPool, (memory_pool * pool, int device))                                 \
    F(cuMemPoolSetAttribute, (memory_pool pool, int attribute, void *value))                       \
    F(cuMemAllocAsync, (device_address * p, size_t bytes, stream s))                               \
    F(cuMemFreeAsync, (device_address p, stream s))                                                \
    F(cuMemsetD8Async, (device_address p, unsigned char value, size_t count, stream s))            \
    F(cuMemsetD32Async, (device_address p, unsigned value, size_t count, stream s))                \
    F(cuMemcpyAsync, (device_address to, device_address from, size_t bytes, stream s))             \
    F(cuMemcpyDtoHAsync_v2, (void *to, device_address from, size_t bytes, stream s))               \
    F(cuMemcpyHtoDAsync_v2, (device_address to, const void *from, size_t bytes, stream s))         \
    F(cuMemAddressReserve, (device_address * p, size_t bytes, size_t align, device_address where,  \
                            unsigned long long flags))                                             \
    F(cuMemAddressFree, (device_address p, size_t bytes))                                          \
    F(cuMemCreate, (memory_handle * h, size_t bytes, const struct memory_properties *p,            \
                    unsigned long long flags))                                                     \
    F(cuMemRelease, (memory_handle h))                                                             \
    F(cuMemMap, (device_address p, size_t bytes, size_t offset, memory_handle h,                   \
                 unsigned long long flags))                                                        \
    F(cuMemUnmap, (device_address p, size_t bytes))                                                \
    F(cuMemSetAccess, (device_address p, size_t bytes, const struct memory_access *a, size_t count)) \
    F(cuMemExportToShareableHandle, (void *handle, memory_handle h, int type,                      \
                                     unsigned long long flags))                                    \
    F(cuMemImportFromShareableHandle, (memory_handle * h, void *os_handle, int type))

struct driver {
    void *handle;
#define DRIVER_MEMBER(name, parameters) int(*name) parameters;
    DRIVER_FUNCTIONS(DRIVER_MEMBER)
#undef DRIVER_MEMBER
};
extern struct driver driver;

/* Opens the library named by ASSAY_CUDA_DRIVER, or else libcuda.so.1. EXIT_UNAVAILABLE. */
int driver_open(struct error *e);

/* The driver's name for an error, as CUDA_ERROR_ILLEGAL_ADDRESS. */
const char *driver_error(int error);

/* Is this what the driver says after a kernel has done what it must not? Else the machine has failed. */
bool driver_kernel_fault(int error);

/* 0, or EXIT_UNAVAILABLE with what was tried and the driver's name for the error. */
int driver_check(int error, const char *what, struct error *e);

#endif
