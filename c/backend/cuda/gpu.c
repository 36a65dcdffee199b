#include "gpu.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

struct gpu gpu;

enum { GRANULARITY = 2 << 20 };
static const size_t GUARD_BYTES = 512u << 20; /* on each side, a multiple of the sink */

static int device_number;

int gpu_open(int device, struct error *e)
{
    context c;
    memory_pool pool;
    size_t free_bytes;
    unsigned long long keep = UINT64_MAX;
    int version = 0, code = driver_open(e);
    device_number = device;
    if (!code)
        code = driver_check(driver.cuInit(0), "the CUDA driver does not start", e);
    if (!code)
        code = driver_check(driver.cuDevicePrimaryCtxRetain(&c, device), "no context on the GPU", e);
    if (!code)
        code = driver_check(driver.cuCtxSetCurrent(c), "no context on the GPU", e);
    if (!code)
        code = driver_check(driver.cuStreamCreate(&gpu.stream, 1), "no stream", e);
    if (!code) /* scratch memory of kernels stays in the pool */
        code = driver_check(driver.cuDeviceGetDefaultMemPool(&pool, device), "no memory pool", e);
    if (!code)
        code = driver_check(driver.cuMemPoolSetAttribute(pool, 4, &keep), "the memory pool", e);
    if (!code)
        code = driver_check(driver.cuMemGetInfo_v2(&free_bytes, &gpu.total), "the memory's size", e);
    if (code)
        return code;
    driver.cuDeviceGetName(gpu.name, sizeof gpu.name, device);
    driver.cuDriverGetVersion(&version);
    snprintf(gpu.version, sizeof gpu.version, "%d.%d", version / 1000, version % 1000 / 10);
    return 0;
}

/* ---- blocks ----------------------------------------------------------------------------------- */

static struct memory_properties properties(void)
{
    return (struct memory_properties){.type = 1, .handle_types = 1, .location = {1, device_number}};
}

static int map_guards(const struct block *b)
{
    int error = 0;
    device_address end = b->address + b->bytes;
    for (size_t at = 0; at < GUARD_BYTES && !error; at += GPU_SINK_BYTES) {
        error = driver.cuMemMap(b->reserved + at, GPU_SINK_BYTES, 0, gpu.sink, 0);
        if (!error)
            error = driver.cuMemMap(end + at, GPU_SINK_BYTES, 0, gpu.sink, 0);
    }
    const struct memory_access access = {{1, device_number}, 3};
    if (!error)
        error = driver.cuMemSetAccess(b->reserved, GUARD_BYTES, &access, 1);
    if (!error)
        error = driver.cuMemSetAccess(end, GUARD_BYTES, &access, 1);
    return error;
}

/* Gives the block's handle an address. */
static int map(struct block *b, int access_flags, bool guarded, struct error *e)
{
    size_t guard = guarded && gpu.sink ? GUARD_BYTES : 0;
    const struct memory_access access = {{1, device_number}, access_flags};
    b->reserved_bytes = b->bytes + 2 * guard;
    int error = driver.cuMemAddressReserve(&b->reserved, b->reserved_bytes, 0, 0, 0);
    if (!error) {
        b->address = b->reserved + guard;
        error = driver.cuMemMap(b->address, b->bytes, 0, b->handle, 0);
    }
    if (!error)
        error = driver.cuMemSetAccess(b->address, b->bytes, &access, 1);
    if (!error && guard)
        error = map_guards(b);
    return driver_check(error, "device memory cannot be mapped", e);
}

static size_t rounded(size_t bytes)
{
    return (bytes + GRANULARITY - 1) / GRANULARITY * GRANULARITY + (bytes ? 0 : GRANULARITY);
}

int block_new(struct block *b, size_t bytes, struct error *e)
{
    const struct memory_properties p = properties();
    *b = (struct block){.bytes = rounded(bytes)};
    int error = driver.cuMemCreate(&b->handle, b->bytes, &p, 0);
    if (error == CUDA_OUT_OF_MEMORY)
        return fail(e, EXIT_UNAVAILABLE, "not enough device memory for %.1f GiB",
                    (double)b->bytes / (1 << 30));
    return error ? driver_check(error, "device memory", e) : map(b, 3, true, e);
}

int block_share(const struct block *b, int *descriptor, struct error *e)
{
    return driver_check(driver.cuMemExportToShareableHandle(descriptor, b->handle, 1, 0),
                        "device memory cannot be shared", e);
}

static int import(struct block *b, size_t bytes, int descriptor, bool guarded, struct error *e)
{
    *b = (struct block){.bytes = rounded(bytes)};
    int error = driver.cuMemImportFromShareableHandle(&b->handle, (void *)(intptr_t)descriptor, 1);
    return error ? driver_check(error, "shared device memory", e) : map(b, 1, guarded, e);
}

int block_map(struct block *b, size_t bytes, int descriptor, struct error *e)
{
    return import(b, bytes, descriptor, false, e);
}

int block_map_guarded(struct block *b, size_t bytes, int descriptor, struct error *e)
{
    return import(b, bytes, descriptor, true, e);
}

void block_free(struct block *b)
{
    size_t guard = (b->reserved_bytes - b->bytes) / 2;
    for (size_t at = 0; b->address && at < guard; at += GPU_SINK_BYTES) {
        driver.cuMemUnmap(b->reserved + at, GPU_SINK_BYTES);
        driver.cuMemUnmap(b->address + b->bytes + at, GPU_SINK_BYTES);
    }
    if (b->address)
        driver.cuMemUnmap(b->address, b->bytes);
    if (b->reserved)
        driver.cuMemAddressFree(b->reserved, b->reserved_bytes);
    if (b->handle)
        driver.cuMemRelease(b->handle);
    *b = (struct block){0};
}

int gpu_open_sink(struct error *e)
{
    struct block b;
    int code = block_new(&b, GPU_SINK_BYTES, e);
    if (code)
        return code;
    gpu.sink = b.handle;
    gpu.sink_address = b.address;
    return driver_check(
        driver.cuMemsetD8Async(gpu.sink_address, GPU_POISON, GPU_SINK_BYTES, gpu.stream), "poison",
        e);
}

/* ---- time ------------------------------------------------------------------------------------- */

double gpu_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Waits until the stream is done, or *flag is set; flag NULL: the stream only. */
static int wait(const volatile unsigned *flag, double limit_s)
{
    const double OFTEN_S = 20e-6; /* asking the driver costs as much as a small kernel */
    double start = gpu_clock(), asked = start;
    for (;;) {
        if (flag && *flag)
            return 0;
        double now = gpu_clock();
        if (!flag || now - asked > OFTEN_S) {
            int state = driver.cuStreamQuery(gpu.stream);
            if (state != CUDA_NOT_READY || (limit_s > 0 && now - start > limit_s))
                return flag && *flag ? 0 : state;
            asked = now;
        }
        if (now - start > 1e-3)
            usleep(50);
    }
}

int gpu_wait(double limit_s)
{
    return limit_s > 0 ? wait(NULL, limit_s) : driver.cuStreamSynchronize(gpu.stream);
}

int gpu_wait_for(const volatile unsigned *flag, double limit_s)
{
    int state = wait(flag, limit_s);
    return state || *flag ? state : CUDA_UNKNOWN;
}
