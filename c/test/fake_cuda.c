/*
 * fake_cuda - a CUDA driver without a GPU, for test_cuda.c and fuzz: ASSAY_CUDA_DRIVER names it.
 *
 * Device memory is files in memory, so that it can be shared and guarded as a GPU's is. Kernels run when
 * they are launched: the backend's own on the CPU executor of the program that opens this, from
 * service.so beside this file; that of a problem as the module's image says: right, wrong, stray, far, past,
 * crash, crash-2 (when it is launched the second time), hang, lost (the GPU is gone), die, die once.
 */
#include <dlfcn.h>
#include <libgen.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/cpu/simt.h"
#include "backend/cuda/driver.h"
#include "outcome.h"

#define FAKE_DECLARE(name, parameters) int name parameters;
DRIVER_FUNCTIONS(FAKE_DECLARE)
#undef FAKE_DECLARE

struct CUmod_st {
    char image[16];
    int launches;
};
struct CUfunc_st {
    char name[32];
    module module;
};

enum { ILLEGAL_ADDRESS = 700 };
static int sticky; /* what every wait says from now on */

/* ---- the process and its memory ---- */

/* FAKE_CUDA, in the environment, names what is wrong with the machine: none, memory. */
static bool trouble(const char *what)
{
    const char *fake = getenv("FAKE_CUDA");
    return fake && strcmp(fake, what) == 0;
}

int cuInit(unsigned flags) { (void)flags; return trouble("none") ? 100 : 0; }
int cuDriverGetVersion(int *version) { *version = 13000; return 0; }
int cuGetErrorName(int error, const char **name)
{
    *name = error == ILLEGAL_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "CUDA_ERROR_FAKE";
    return 0;
}
int cuDeviceGetName(char *name, int length, int device)
{
    (void)device;
    strncpy(name, "fake", (size_t)length);
    return 0;
}
int cuDevicePrimaryCtxRetain(context *c, int device) { (void)device; *c = NULL; return 0; }
int cuCtxSetCurrent(context c) { (void)c; return 0; }
int cuMemGetInfo_v2(size_t *available, size_t *total) { *available = *total = 1 << 30; return 0; }
int cuStreamCreate(stream *s, unsigned flags) { (void)flags; *s = NULL; return 0; }
int cuStreamQuery(stream s) { (void)s; return sticky; }
int cuStreamSynchronize(stream s) { (void)s; return sticky; }

int cuMemAlloc_v2(device_address *p, size_t bytes)
{
    *p = (device_address)aligned_alloc(256, (bytes + 255) / 256 * 256);
    return 0;
}
int cuMemFree_v2(device_address p) { free((void *)p); return 0; }
int cuMemHostAlloc(void **p, size_t bytes, unsigned flags)
{
    (void)flags;
    *p = calloc(1, bytes);
    return 0;
}
int cuDeviceGetDefaultMemPool(memory_pool *pool, int device) { (void)device; *pool = NULL; return 0; }
int cuMemPoolSetAttribute(memory_pool pool, int attribute, void *value)
{
    (void)pool, (void)attribute, (void)value;
    return 0;
}
int cuMemAllocAsync(device_address *p, size_t bytes, stream s) { (void)s; return cuMemAlloc_v2(p, bytes); }
int cuMemFreeAsync(device_address p, stream s) { (void)s; return cuMemFree_v2(p); }
int cuMemsetD8Async(device_address p, unsigned char value, size_t count, stream s)
{
    (void)s;
    memset((void *)p, value, count);
    return 0;
}
int cuMemsetD32Async(device_address p, unsigned value, size_t count, stream s)
{
    (void)s;
    for (size_t k = 0; k < count; k++)
        ((unsigned *)p)[k] = value;
    return 0;
}
static int copy(void *to, const void *from, size_t bytes) { memcpy(to, from, bytes); return 0; }
int cuMemcpyAsync(device_address to, device_address from, size_t bytes, stream s)
{
    (void)s;
    return copy((void *)to, (void *)from, bytes);
}
int cuMemcpyDtoHAsync_v2(void *to, device_address from, size_t bytes, stream s)
{
    (void)s;
    return copy(to, (void *)from, bytes);
}
int cuMemcpyHtoDAsync_v2(device_address to, const void *from, size_t bytes, stream s)
{
    (void)s;
    return copy((void *)to, from, bytes);
}

int cuMemAddressReserve(device_address *p, size_t bytes, size_t align, device_address where,
                        unsigned long long flags)
{
    (void)align, (void)where, (void)flags;
    *p = (device_address)mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return *p == (device_address)MAP_FAILED;
}
int cuMemAddressFree(device_address p, size_t bytes) { return munmap((void *)p, bytes); }
int cuMemCreate(memory_handle *h, size_t bytes, const struct memory_properties *p,
                unsigned long long flags)
{
    (void)p, (void)flags;
    if (trouble("memory"))
        return CUDA_OUT_OF_MEMORY;
    *h = (memory_handle)memfd_create("device", 0);
    return ftruncate((int)*h, (off_t)bytes);
}
int cuMemRelease(memory_handle h) { return close((int)h); }
int cuMemMap(device_address p, size_t bytes, size_t offset, memory_handle h, unsigned long long flags)
{
    (void)flags;
    return mmap((void *)p, bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, (int)h, (off_t)offset) == MAP_FAILED;
}
int cuMemUnmap(device_address p, size_t bytes) { return mprotect((void *)p, bytes, PROT_NONE); }
int cuMemSetAccess(device_address p, size_t bytes, const struct memory_access *a, size_t count)
{
    (void)count;
    return mprotect((void *)p, bytes, a->flags == 3 ? PROT_READ | PROT_WRITE : PROT_READ);
}
int cuMemExportToShareableHandle(void *handle, memory_handle h, int type, unsigned long long flags)
{
    (void)type, (void)flags;
    *(int *)handle = dup((int)h);
    return 0;
}
int cuMemImportFromShareableHandle(memory_handle *h, void *os_handle, int type)
{
    (void)type;
    *h = (memory_handle)dup((int)(intptr_t)os_handle);
    return 0;
}

/* ---- modules ---- */

int cuModuleLoadData(module *m, const void *image)
{
    if (memchr(image, '\n', 2)) /* not where an image begins */
        return CUDA_INVALID_VALUE;
    *m = calloc(1, sizeof **m);
    strncpy((*m)->image, image, sizeof (*m)->image - 1);
    return 0;
}
int cuModuleUnload(module m) { free(m); return 0; }
int cuModuleGetFunction(function *f, module m, const char *name)
{
    *f = calloc(1, sizeof **f);
    strncpy((*f)->name, name, sizeof (*f)->name - 1);
    (*f)->module = m;
    return 0;
}

/* ---- kernels ---- */

#define ARGUMENT(type, k) (*(type *)arguments[k])

/* Of the backend's own kernels, by their numbers in service_launch.cu. False if there is no such kernel. */
static bool run_service(const char *name, unsigned blocks, unsigned threads, void **arguments)
{
    static const char *const NAMES[] = {"fill", "widen", "judge", "sample", "bracket", "grade"};
    static const struct simt_schedule SCHEDULE = {.order = SIMT_FORWARD, .fuel = UINT64_MAX / 2};
    static launch_function *launch;
    struct simt_verdict verdict;
    long dim[] = {0, blocks, threads};
    while (dim[0] < 6 && strcmp(NAMES[dim[0]], name) != 0)
        dim[0]++;
    if (dim[0] == 6)
        return false;
    if (!launch) {
        char path[4096];
        snprintf(path, sizeof path, "%s", getenv("ASSAY_CUDA_DRIVER"));
        strcat(dirname(path), "/service.so");
        *(void **)&launch = dlsym(dlopen(path, RTLD_NOW), "launch");
    }
    simt_run(launch, (float *const *)arguments, NULL, dim, NULL, &SCHEDULE, &verdict);
    if (verdict.outcome != OUTCOME_FINISHED) {
        fprintf(stderr, "fake_cuda: %s: %s\n", name, verdict.detail);
        sticky = ILLEGAL_ADDRESS;
    }
    return true;
}

static void misbehave(const struct CUmod_st *m)
{
    const char *how = m->image;
    if (strcmp(how, "crash") == 0 || (strcmp(how, "crash-2") == 0 && m->launches == 2))
        sticky = ILLEGAL_ADDRESS;
    if (strcmp(how, "hang") == 0)
        sticky = CUDA_NOT_READY;
    if (strcmp(how, "lost") == 0)
        sticky = CUDA_UNKNOWN;
    if (strcmp(how, "die") == 0 || (strcmp(how, "die once") == 0 && mkdir("died", 0700) == 0))
        raise(SIGKILL);
}

/* y = 2 x, in floats or doubles. */
static void twice(void **arguments, const char *how)
{
    float *y = ARGUMENT(float *, 0), *x = ARGUMENT(float *, 1);
    long n = ARGUMENT(long, 2);
    for (long i = 0; i < n; i++)
        y[i] = 2 * x[i] + (strcmp(how, "wrong") == 0 && i == n - 1);
    if (strcmp(how, "stray") == 0)
        y[n] = 1;
    if (strcmp(how, "far") == 0)
        y[-100000000] = 1;
    if (strcmp(how, "past") == 0)
        y[0] = x[n];
}

static void twice_double(void **arguments)
{
    for (long i = 0; i < ARGUMENT(long, 2); i++)
        ARGUMENT(double *, 0)[i] = 2 * ARGUMENT(double *, 1)[i];
}

/* Of the corpus: float32, and a tensor (element.cuh) whose data come first. Where it is "past", the last
 * elements hold what lies just outside of the input. */
static void relu(void **arguments, const char *how)
{
    float *y = ARGUMENT(float *, 0), *x = ARGUMENT(float *, 1);
    long n = ARGUMENT(long, 2);
    for (long i = 0; i < n; i++)
        y[i] = x[i] > 0 ? x[i] : 0;
    if (strcmp(how, "stray") == 0)
        x[-1] = x[n] = 1;
    if (strcmp(how, "past") == 0)
        y[n - 1] = isnan(x[-1]) && isnan(x[n]) ? y[n - 1] : 1000;
}

int cuLaunchKernel(function f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, stream s, void **arguments, void **extra)
{
    (void)gy, (void)gz, (void)by, (void)bz, (void)shared, (void)s, (void)extra;
    if (gx == 0)
        return CUDA_INVALID_VALUE;
    if (sticky) /* after a fault nothing can be started, and what is behind an endless kernel does not run */
        return sticky == CUDA_NOT_READY ? 0 : sticky;
    f->module->launches++;
    if (strcmp(f->name, "twice") == 0)
        twice(arguments, f->module->image);
    else if (strcmp(f->name, "twice_double") == 0)
        twice_double(arguments);
    else if (strcmp(f->name, "relu") == 0)
        relu(arguments, f->module->image);
    else if (!run_service(f->name, gx, bx, arguments))
        return CUDA_INVALID_VALUE;
    misbehave(f->module);
    return 0;
}
