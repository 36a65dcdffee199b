/*
 * fake_cuda - a CUDA driver without a GPU, for test_cuda.c: ASSAY_CUDA_DRIVER names it.
 *
 * Device memory is files in memory, so that it can be shared and guarded as a GPU's is. Kernels run when
 * they are launched: the backend's own as the C functions below, that of a problem as the module's image
 * says: right, wrong, stray, crash, hang, refuse.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "backend/cuda/driver.h"
#include "backend/cuda/findings.h"
#include "generator.h"

#define FAKE_DECLARE(name, parameters) int name parameters;
DRIVER_FUNCTIONS(FAKE_DECLARE)
#undef FAKE_DECLARE

struct CUmod_st {
    char image[16];
};
struct CUfunc_st {
    char name[32];
    module module;
};

enum { ILLEGAL_ADDRESS = 700 };
static int sticky; /* what every wait says from now on */

/* ---- the process and its memory ---- */

int cuInit(unsigned flags) { (void)flags; return 0; }
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

int cuMemAlloc_v2(device_address *p, size_t bytes) { *p = (device_address)malloc(bytes); return 0; }
int cuMemFree_v2(device_address p) { free((void *)p); return 0; }
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

static void fill(void **arguments)
{
    for (long i = 0; i < ARGUMENT(long, 4); i++)
        ARGUMENT(float *, 0)[i] = generator_value(arguments[1], ARGUMENT(generator_word, 2), ARGUMENT(int, 3),
                                                  i, ARGUMENT(long, 4), ARGUMENT(long, 5));
}

static void widen(void **arguments)
{
    for (long i = 0; i < ARGUMENT(long, 2); i++)
        ARGUMENT(double *, 0)[i] = ARGUMENT(float *, 1)[i];
}

static void differ(void **arguments)
{
    if (memcmp(ARGUMENT(void *, 1), ARGUMENT(void *, 2), 4 * ARGUMENT(size_t, 3)) != 0)
        *ARGUMENT(unsigned *, 0) = 1;
}

static void stray(void **arguments)
{
    for (long i = 0; i < ARGUMENT(long, 2); i++)
        if (ARGUMENT(unsigned *, 1)[i] != 0xFFFFFFFFu)
            *ARGUMENT(unsigned *, 0) = 1;
}

/* The largest tolerance only: the others are the GPU's own to get right. */
static void grade(void **arguments)
{
    struct findings *f = ARGUMENT(struct findings *, 0);
    for (long i = 0; i < ARGUMENT(long, 3); i++) {
        double r = ARGUMENT(double *, 2)[i], t = fabs(ARGUMENT(float *, 1)[i] - r) / (1 + fabs(r)), before;
        memcpy(&before, &f->t, sizeof before);
        if (!(t <= before))
            memcpy(&f->t, &t, sizeof t);
    }
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
    if (strcmp(how, "crash") == 0)
        sticky = ILLEGAL_ADDRESS;
    if (strcmp(how, "hang") == 0)
        sticky = CUDA_NOT_READY;
}

static void twice_double(void **arguments)
{
    for (long i = 0; i < ARGUMENT(long, 2); i++)
        ARGUMENT(double *, 0)[i] = 2 * ARGUMENT(double *, 1)[i];
}

int cuLaunchKernel(function f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, stream s, void **arguments, void **extra)
{
    static const struct {
        const char *name;
        void (*run)(void **arguments);
    } OWN[] = {{"fill", fill},   {"widen", widen}, {"differ", differ},
               {"stray", stray}, {"grade", grade}, {"twice_double", twice_double}};
    (void)gy, (void)gz, (void)bx, (void)by, (void)bz, (void)shared, (void)s, (void)extra;
    if (gx == 0)
        return CUDA_INVALID_VALUE;
    for (size_t k = 0; k < sizeof OWN / sizeof *OWN; k++)
        if (strcmp(OWN[k].name, f->name) == 0)
            OWN[k].run(arguments);
    if (strcmp(f->name, "twice") == 0)
        twice(arguments, f->module->image);
    return 0;
}
