/*
 * gpu - a process's hold on one GPU: its context, and device memory of three kinds.
 *
 * Only in a child process: what a faulting kernel breaks cannot be mended within its process.
 */
#ifndef ASSAY_GPU_H
#define ASSAY_GPU_H

#include <stdbool.h>

#include "driver.h"

struct gpu {
    stream stream;
    char name[128], version[16]; /* the device; the driver's CUDA version */
    size_t total;                /* bytes of device memory */
    memory_handle sink;          /* what guards are made of; 0: there are none */
    device_address sink_address;
};
extern struct gpu gpu;

enum { GPU_SINK_BYTES = 16 << 20, GPU_POISON = 0xFF };

/* Starts CUDA on a device. EXIT_UNAVAILABLE. */
int gpu_open(int device, struct error *e);

/* Makes the sink: from now on new blocks have guards. A stray access up to 512 MiB from either end of a
 * block hits the sink: reads give what is there, poison, and writes show. */
int gpu_open_sink(struct error *e);

/* Device memory that can be shared between processes. */
struct block {
    device_address address;
    size_t bytes; /* a multiple of 2 MiB */
    memory_handle handle;
    device_address reserved; /* guards included */
    size_t reserved_bytes;
};

/*
 * block_new - memory of at least `bytes` bytes
 * block_share - a file descriptor for it, which keeps the memory alive and is the caller's to close
 * block_map - the memory behind a descriptor, `bytes` as in the block that was shared; read only
 * block_map_guarded - the same, between guards
 *
 * EXIT_UNAVAILABLE when memory is short.
 */
int block_new(struct block *b, size_t bytes, struct error *e);
int block_share(const struct block *b, int *descriptor, struct error *e);
int block_map(struct block *b, size_t bytes, int descriptor, struct error *e);
int block_map_guarded(struct block *b, size_t bytes, int descriptor, struct error *e);
void block_free(struct block *b);

/* Waits for all that was started: 0, CUDA_NOT_READY after limit_s seconds (0: never), or what went
 * wrong. */
int gpu_wait(double limit_s);

/* The same until the device has set a flag in the host's memory, which is sooner known. */
int gpu_wait_for(const volatile unsigned *flag, double limit_s);

/* Seconds on a clock. */
double gpu_clock(void);

#endif
