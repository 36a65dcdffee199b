/*
 * simt - runs a CUDA kernel file on the CPU, deterministically, and observes it.
 *
 * A checking instrument: one fiber a thread, a block at a time, a new drawn order of threads at each
 * barrier. Barrier divergence, deadlock, accesses outside a buffer, writes to inputs, and (in images
 * built for it) data races are observed and reported; a mutant that crashes or never ends is
 * contained and becomes an outcome.
 *
 * One run at a time a process; not for use from several OS threads.
 */
#ifndef ASSAY_SIMT_H
#define ASSAY_SIMT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../lib/error.h"
#include "../../lib/outcome.h"

/* The host function of a kernel file. Parameters and inputs in in[], outputs in out[], sizes in
 * dim[], all in the problem's order; hyper[] holds its hyperparameters. A kernel file may leave hyper
 * out of its own signature. */
typedef void launch_function(float *const in[], float *const out[], const long dim[],
                             const double hyper[]);

/* What an image (a shared object of mutants) exports under the name `image`; the last id is NULL. */
struct image_entry {
    const char *id;
    launch_function *launch;
};

enum simt_order { SIMT_RANDOM, SIMT_FORWARD, SIMT_REVERSED };

struct simt_schedule {
    enum simt_order order;
    uint64_t seed;    /* of SIMT_RANDOM; a function of problem and input, so that runs repeat */
    uint64_t fuel;    /* threads started, and loop iterations of all together; 0 for no limit */
    double cpu_limit_s; /* behind the fuel, for loops that it cannot see; 0 for no limit */
};

struct simt_verdict {
    enum outcome outcome;
    char detail[160];    /* one line when not finished */
    bool divergence;     /* threads of a block met at different barriers, or a mask was wrong */
    bool stray_read;     /* read just outside a buffer: got NaN and went on */
    bool stray_write;    /* wrote just outside a buffer: the write was lost */
    bool input_written;  /* wrote to a parameter or input, which is then as before */
    bool race;           /* two threads, one word, no barrier between, one writes (race images only) */
    uint64_t fuel_used;
};

/* Once a process, before anything else. EXIT_UNAVAILABLE where memory cannot be mapped. Called again,
 * it only takes back the signal handlers that something else has set. */
int simt_start(struct error *e);

/*
 * simt_buffer_new - memory for one tensor, ending exactly at a guard
 *
 * A stray access up to 1 GiB from either end is observed, not suffered: reads give NaN bytes, writes are
 * dropped. `bytes` may be 0. Aligned to 16 bytes when `bytes` is a multiple of 16, else to 4 (2 or 1 for
 * odder sizes). Freed by simt_buffer_free. NULL when memory is short.
 */
void *simt_buffer_new(size_t bytes);
void simt_buffer_free(void *buffer);

/* Read-only from now on: a write sets input_written, and the run's end restores the contents. */
void simt_buffer_seal(void *buffer);

/* Fills an unsealed buffer with NaN bytes (0xFF), and its guards too. */
void simt_buffer_poison(void *buffer);

/* Calls `launch` under the schedule and says what happened. Whatever the mutant does short of writing
 * over the executor's own memory, this returns. All buffers ever made are watched. */
void simt_run(launch_function *launch, float *const in[], float *const out[], const long dim[],
              const double hyper[], const struct simt_schedule *schedule,
              struct simt_verdict *verdict);

#endif
