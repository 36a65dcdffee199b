#include "driver.h"

#include <dlfcn.h>
#include <stdlib.h>

struct driver driver;

int driver_open(struct error *e)
{
    const char *name = getenv("ASSAY_CUDA_DRIVER");
    if (driver.handle)
        return 0;
    driver.handle = dlopen(name ? name : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!driver.handle)
        return fail(e, EXIT_UNAVAILABLE, "no CUDA driver: %s", dlerror());
#define LOAD(name, parameters)                                                                     \
    *(void **)&driver.name = dlsym(driver.handle, #name);                                          \
    if (!driver.name)                                                                              \
        return fail(e, EXIT_UNAVAILABLE, "the CUDA driver has no " #name "; it is too old");
    DRIVER_FUNCTIONS(LOAD)
#undef LOAD
    return 0;
}

const char *driver_error(int error)
{
    const char *name = NULL;
    driver.cuGetErrorName(error, &name);
    return name ? name : "an unknown CUDA error";
}

bool driver_kernel_fault(int error)
{
    enum { ILLEGAL_ADDRESS = 700, LAUNCH_FAILED = 719 }; /* and all that lies between */
    return error >= ILLEGAL_ADDRESS && error <= LAUNCH_FAILED;
}

int driver_check(int error, const char *what, struct error *e)
{
    return error ? fail(e, EXIT_UNAVAILABLE, "%s: %s", what, driver_error(error)) : 0;
}
