#include "launch.h"

#include <stdlib.h>
#include <string.h>

#include "../../lib/file.h"
#include "../cpu/device.h"
#include "../cpu/executor.h"
#include "findings.h"

/* Loop iterations of host code: more than any kernel file's needs, less than a second. */
static const uint64_t HOST_FUEL = 50000000;

static struct {
    const struct code *code;
    int codes;
    device_address *scratch; /* what the run has allocated */
    int scratches, room;
    double limit_s; /* that it may wait for the GPU */
} running;

/* ---- device code ------------------------------------------------------------------------------ */

/* The expression without the member's namespace, NULL if that is not in front of it. */
static const char *within(const char *member, const char *expression)
{
    size_t length = member ? strlen(member) : 0;
    if (!member)
        return expression;
    bool own = strncmp(expression, member, length) == 0 && strncmp(expression + length, "::", 2) == 0;
    return own ? expression + length + 2 : NULL;
}

static int find_kernels(struct code *c, char *lines, const char *member, struct error *e)
{
    char *next;
    for (char *line = strtok_r(lines, "\n", &next); line; line = strtok_r(NULL, "\n", &next)) {
        char *blank = strchr(line, ' ');
        const char *expression = blank ? within(member, blank + 1) : NULL;
        if (!expression)
            continue;
        struct kernel *k = realloc(c->kernel, (size_t)(c->kernels + 1) * sizeof *k);
        if (!k)
            abort();
        *blank = '\0';
        c->kernel = k;
        k += c->kernels++;
        *k = (struct kernel){.expression = strdup(expression)};
        int code = driver_check(driver.cuModuleGetFunction(&k->function, c->module, line), line, e);
        if (code)
            return code;
    }
    return 0;
}

/* What follows the empty line, which becomes the end of the lines before; NULL if there is none. A
 * file that launches nothing has no lines before. */
static char *find_cubin(char *bytes, size_t size)
{
    char *blank = size > 0 && *bytes == '\n' ? bytes : memmem(bytes, size, "\n\n", 2);
    if (!blank)
        return NULL;
    char *cubin = blank + (blank == bytes ? 1 : 2);
    *blank = '\0';
    return cubin;
}

int code_load(struct code *c, const char *path, const char *member, struct error *e)
{
    char *bytes;
    size_t size;
    *c = (struct code){0};
    int code = file_read(path, &bytes, &size, e);
    if (code)
        return code;
    char *cubin = find_cubin(bytes, size);
    if (!cubin) {
        free(bytes);
        return fail(e, EXIT_DATA, "%s: is no device code", path);
    }
    code = driver_check(driver.cuModuleLoadData(&c->module, cubin), path, e);
    if (!code)
        code = find_kernels(c, bytes, member, e);
    free(bytes);
    return code;
}

void code_unload(struct code *c)
{
    if (c->module)
        driver.cuModuleUnload(c->module);
    for (int k = 0; k < c->kernels; k++)
        free(c->kernel[k].expression);
    free(c->kernel);
    *c = (struct code){0};
}

function code_kernel(const struct code *c, const char *expression)
{
    for (int k = 0; k < c->kernels; k++)
        if (strcmp(c->kernel[k].expression, expression) == 0)
            return c->kernel[k].function;
    return NULL;
}

void launch_from(const struct code code[], int count)
{
    running.code = code;
    running.codes = count;
}

int launch_own(function f, long wanted, void *arguments[])
{
    long blocks = (wanted + 255) / 256;
    if (blocks > FINDINGS_BLOCKS)
        blocks = FINDINGS_BLOCKS;
    if (blocks < 1)
        blocks = 1;
    return driver.cuLaunchKernel(f, (unsigned)blocks, 1, 1, 256, 1, 1, 0, gpu.stream, arguments, NULL);
}

/* ---- what host code calls --------------------------------------------------------------------- */

void gpu_launch(const char *kernel, const struct simt_index *grid, const struct simt_index *block,
                size_t dynamic, void *arguments[]);
int gpu_malloc(void **p, size_t bytes);
int gpu_malloc_async(void **p, size_t bytes, void *s);
int gpu_free(void *p);
int gpu_free_async(void *p, void *s);
int gpu_memset(void *p, int value, size_t bytes);
int gpu_memset_async(void *p, int value, size_t bytes, void *s);
int gpu_memcpy(void *to, const void *from, size_t bytes, int kind);
int gpu_memcpy_async(void *to, const void *from, size_t bytes, int kind, void *s);

/* A refusal is the runtime's answer to bad arguments; anything else is a fault of the device. */
static int answer(int error, const char *what)
{
    if (error == 0 || error == CUDA_INVALID_VALUE || error == CUDA_OUT_OF_MEMORY)
        return execution.last_error = error;
    run_end(OUTCOME_CRASHED, "%s: %s", what, driver_error(error));
}

void gpu_launch(const char *kernel, const struct simt_index *grid, const struct simt_index *block,
                size_t dynamic, void *arguments[])
{
    function f = NULL;
    for (int k = 0; k < running.codes && !f; k++)
        f = code_kernel(&running.code[k], kernel);
    if (!f)
        run_end(OUTCOME_CRASHED, "%s: is not in the device code", kernel);
    if (dynamic > UINT32_MAX) {
        run_bad_launch("%s: %zu bytes of shared memory", kernel, dynamic);
        return;
    }
    int error = driver.cuLaunchKernel(f, grid->x, grid->y, grid->z, block->x, block->y, block->z,
                                      (unsigned)dynamic, gpu.stream, arguments, NULL);
    if (error == CUDA_INVALID_VALUE || error == CUDA_INVALID_CONFIGURATION ||
        error == CUDA_LAUNCH_OUT_OF_RESOURCES)
        run_bad_launch("%s: grid %u×%u×%u, block %u×%u×%u, %zu bytes of shared memory: %s", kernel,
                       grid->x, grid->y, grid->z, block->x, block->y, block->z, dynamic,
                       driver_error(error));
    else if (error)
        run_end(OUTCOME_CRASHED, "%s: %s", kernel, driver_error(error));
}

int gpu_malloc(void **p, size_t bytes)
{
    device_address address = 0;
    int error = driver.cuMemAllocAsync(&address, bytes, gpu.stream);
    *p = (void *)address;
    if (error)
        return answer(error, "cudaMalloc");
    if (running.scratches == running.room) {
        running.room = 2 * running.room + 16;
        running.scratch = realloc(running.scratch, (size_t)running.room * sizeof *running.scratch);
        if (!running.scratch)
            abort();
    }
    running.scratch[running.scratches++] = address;
    return answer(driver.cuMemsetD8Async(address, GPU_POISON, bytes, gpu.stream), "cudaMalloc");
}

int gpu_malloc_async(void **p, size_t bytes, void *s)
{
    (void)s;
    return gpu_malloc(p, bytes);
}

int gpu_free(void *p)
{
    for (int k = 0; k < running.scratches; k++) {
        if (running.scratch[k] != (device_address)p)
            continue;
        running.scratch[k] = running.scratch[--running.scratches];
        return answer(driver.cuMemFreeAsync((device_address)p, gpu.stream), "cudaFree");
    }
    return p ? CUDA_INVALID_VALUE : 0;
}

int gpu_free_async(void *p, void *s)
{
    (void)s;
    return gpu_free(p);
}

int gpu_memset(void *p, int value, size_t bytes)
{
    return answer(driver.cuMemsetD8Async((device_address)p, (unsigned char)value, bytes, gpu.stream),
                  "cudaMemset");
}

int gpu_memset_async(void *p, int value, size_t bytes, void *s)
{
    (void)s;
    return gpu_memset(p, value, bytes);
}

int gpu_memcpy_async(void *to, const void *from, size_t bytes, int kind, void *s)
{
    (void)kind;
    (void)s;
    return answer(
        driver.cuMemcpyAsync((device_address)to, (device_address)from, bytes, gpu.stream),
        "cudaMemcpy");
}

int gpu_memcpy(void *to, const void *from, size_t bytes, int kind)
{
    int error = gpu_memcpy_async(to, from, bytes, kind, NULL);
    if (!error && gpu_wait(running.limit_s) == CUDA_NOT_READY)
        run_end(OUTCOME_TIMEOUT, "still running after %.3g s", running.limit_s);
    return error ? error : answer(driver.cuStreamQuery(gpu.stream), "cudaMemcpy");
}

/* ---- a run ------------------------------------------------------------------------------------ */

/* What the run has allocated, once it is done with it. */
static void free_scratch(void)
{
    while (running.scratches > 0)
        driver.cuMemFreeAsync(running.scratch[--running.scratches], gpu.stream);
}

void launch_host(launch_function *launch, float *const in[], float *const out[], const long dim[],
                  const double hyper[], double limit_s, struct simt_verdict *verdict)
{
    const struct simt_schedule schedule = {.order = SIMT_FORWARD, .fuel = HOST_FUEL};
    running.scratches = 0;
    running.limit_s = limit_s;
    simt_run(launch, in, out, dim, hyper, &schedule, verdict);
    free_scratch();
}

void launch_failed(int error, double limit_s, struct simt_verdict *verdict)
{
    bool late = error == CUDA_NOT_READY;
    verdict->outcome = late ? OUTCOME_TIMEOUT : OUTCOME_CRASHED;
    if (late)
        snprintf(verdict->detail, sizeof verdict->detail, "still running after %.3g s", limit_s);
    else
        snprintf(verdict->detail, sizeof verdict->detail, "%s", driver_error(error));
}

bool launch_wait(double limit_s, struct simt_verdict *verdict)
{
    int error = gpu_wait(limit_s);
    if (error)
        launch_failed(error, limit_s, verdict);
    return error;
}

bool launch_run(launch_function *launch, float *const in[], float *const out[], const long dim[],
                const double hyper[], double limit_s, struct simt_verdict *verdict)
{
    launch_host(launch, in, out, dim, hyper, limit_s, verdict);
    return launch_wait(limit_s, verdict);
}
