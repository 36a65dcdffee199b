/*
 * fuzzer - runs cases of the corpus and compares them with their reference.
 *
 * A case costs two runs and one comparison: kernels are loaded once, and all cases share the same
 * buffers, in which a tensor ends where its guard begins. The kernel runs on the executor or on a
 * GPU; the reference on the executor.
 */
#ifndef ASSAY_FUZZER_H
#define ASSAY_FUZZER_H

#include <stddef.h>

#include "../../lib/fuzz.h"
#include "formula.h"
#include "simt.h"

/* Memory that ends at a guard, for the tensors of one role. */
struct fuzzer_buffer {
    char *base;
    size_t bytes;
};

struct fuzzer;

/* What runs the kernels: the executor (fuzzer_cpu), or a GPU (cuda/fuzzer.h). */
struct fuzzer_backend {
    const char *name;
    const char *code;          /* hash of the code that runs kernels */
    const char *kernels;       /* where they are, compiled for it, unless somebody says */
    const char *const *suffix; /* of an entry's files, up to NULL; that of host code first */

    /* Sets *words to what it runs on; NULL: any machine gives the same rows. EXIT_UNAVAILABLE. */
    int (*device)(struct fuzzer *f, const char **words, struct error *e);

    /* fuzzer_run(): fuzzer_evaluate(), here or in another process. */
    int (*run)(struct fuzzer *f, const struct fuzz_case *c, struct fuzz_result *r, struct error *e);

    /* In the process that evaluates: runs the kernel, from in[] to out. */
    int (*execute)(struct fuzzer *f, const struct fuzz_case *c, launch_function *launch,
                   float *const in[], void *out, const long dim[], struct simt_verdict *verdict,
                   struct error *e);

    void (*close)(void); /* may be NULL */
};

extern const struct fuzzer_backend fuzzer_cpu;

struct fuzzer {
    const struct fuzzer_backend *backend;
    const struct corpus *corpus; /* not owned */
    const char *kernels;         /* <kernels>/<dtype>/<entry>.so exports launch() */
    struct reference *library;
    struct fuzzer_kernel {
        void *handle;
        launch_function *launch;
    } * kernel; /* [entry][dtype], opened when first needed */
    struct fuzzer_buffer in[CORPUS_INPUTS], dense[CORPUS_INPUTS], out, reference;
};

/* Starts the executor. EXIT_UNAVAILABLE. fuzzer_close() in any case. */
int fuzzer_open(struct fuzzer *f, const struct fuzzer_backend *backend, const struct corpus *corpus,
                const char *kernels, const char *reference, struct error *e);
void fuzzer_close(struct fuzzer *f);

/* A file of an entry's kernel. */
void fuzzer_kernel_path(const struct fuzzer *f, int entry, enum dtype dtype, const char *suffix,
                        char path[4096]);

/*
 * fuzzer_run - runs one case
 *
 * EXIT_UNAVAILABLE if the kernel cannot be loaded or memory is short, EXIT_DATA for an operator
 * that has no reference. A kernel that does not finish is a result.
 */
int fuzzer_run(struct fuzzer *f, const struct fuzz_case *c, struct fuzz_result *r, struct error *e);

/* The same, in this process: what backends have in common. */
int fuzzer_evaluate(struct fuzzer *f, const struct fuzz_case *c, struct fuzz_result *r,
                    struct error *e);

/*
 * fuzzer_shrink - the smallest shape at which the case still fails as it does
 *
 * No single extent of the result can be made smaller. *r is the result at its shape. EXIT_NO if the
 * case does not fail. What fails is the matching verdict if that does, or else the strict one.
 */
int fuzzer_shrink(struct fuzzer *f, struct fuzz_case *c, struct fuzz_result *r, struct error *e);

#endif
