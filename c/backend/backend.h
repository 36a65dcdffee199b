/*
 * backend - what gate and witness ask of whatever runs kernels: the CPU executor or a GPU.
 *
 * The parent process makes trials; workers (isolate.h), which are its children, run mutants on
 * them. To add a backend: its struct here and in backend.c's list.
 */
#ifndef ASSAY_BACKEND_H
#define ASSAY_BACKEND_H

#include "../lib/images.h"
#include "../lib/recipe.h"
#include "../lib/rows.h"

struct setup;

enum { DETAIL = 160 };

/* One input of one problem, made ready to run mutants on. */
struct trial {
    const struct recipe *recipe; /* not owned */
    struct run original_run;     /* the unmutated kernel's worst run, against the double reference */
    char original_detail[DETAIL];
    struct graded float32;       /* the float32 reference's error */
    bool finite;                 /* is each element of the reference finite as a float32? */
    double seconds;              /* that the unmutated kernel took; 0: nobody looked at the clock */
    void *state;                 /* the backend's; NULL: not made */
};

/* What a worker sends back of one run: no pointers but run.detail, which is to `detail`. */
struct observation {
    struct run run;
    bool differs; /* false: finished, and bit for bit what the original wrote in the same order;
                     run.graded is then the original's */
    char detail[DETAIL];
    int order;   /* of threads: the one that was asked for */
    int trouble; /* not 0: an EXIT_…; the machine failed, nothing was observed, `detail` says why */
};

struct backend {
    const char *name;
    const char *code;   /* hash of the code that runs and judges, a part of every row's key */
    int orders;         /* of threads, that a run can be asked for: 0 is the one to try first */
    const char *const *order; /* their names in rows; NULL for the first */
    int faults;         /* after so many crashes and timeouts a mutant is not run any more, after one
                           if the official suite has killed it; 0: it always is */

    /* Adds to the hash what else rows depend on; may be NULL. EXIT_IO. */
    int (*hash)(const struct setup *s, struct hash *h, struct error *e);

    /* Once, before any trial. EXIT_UNAVAILABLE. */
    int (*start)(const struct setup *s, struct error *e);
    void (*stop)(void);

    /* What it runs on, in words; NULL: any machine gives the same rows. */
    const char *(*device)(void);

    /* How much memory the trial of this recipe takes, and all that can be had at once; NULL: no
     * matter. */
    size_t (*bytes)(const struct recipe *r);
    size_t (*room)(void);

    /* Fills the tensors, computes both references, runs the original kernel. An original that fails
     * is no error: original_run says. EXIT_UNAVAILABLE when memory is short; EXIT_BUG if a reference
     * does not run. */
    int (*make)(struct trial *t, const struct setup *s, const struct recipe *r, struct error *e);
    void (*free)(struct trial *t);

    /* In a worker, before its first run: makes ready for runs on these trials; NULL: there is nothing
     * that takes time. A worker that was prepared may be kept in reserve. */
    void (*prepare)(struct trial t[], int count, const struct setup *s);

    /* In a worker: the next runs are of this mutant on these trials, in this order, which the backend may
     * start together; NULL: it does not care. */
    void (*expect)(struct trial *const t[], int count, const struct image *mutant);

    /* In a worker: runs a mutant and grades what it wrote. True when the worker cannot be trusted
     * with another run. */
    bool (*run)(struct trial *t, const struct setup *s, const struct image *mutant, int order,
                struct observation *o);
};

extern const struct backend backend_cpu, backend_cuda;

/* The backend of that name; NULL if there is none. */
const struct backend *backend_find(const char *name);

#endif
