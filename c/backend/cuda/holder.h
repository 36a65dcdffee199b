/*
 * holder - a process that owns the inputs of a problem and the answers to them, and runs no mutant.
 *
 * A mutant's crash ends the process that ran it, with all its device memory. What costs most to
 * make, up to seconds for an input, therefore lies with a process of its own, and workers map it
 * read only. It is a child of the program, which never touches CUDA itself and hands the
 * descriptors of the memory on.
 */
#ifndef ASSAY_HOLDER_H
#define ASSAY_HOLDER_H

#include "../setup.h"

/* What the holder finds on its GPU when it starts. */
struct holder_device {
    char name[128], version[16];
    size_t total; /* bytes of device memory */
};

/* What it says of an input that it has made. */
struct holding {
    struct run original_run; /* detail is NULL; its text is in `detail` */
    char detail[DETAIL];
    struct graded float32;
    bool finite;
    double seconds;                           /* that the original kernel ran */
    int inputs_descriptor, answers_descriptor; /* of blocks placed by tensors_place(); the caller's */
};

/* Starts the process. The setup, which it works from, must not change. EXIT_UNAVAILABLE. */
int holder_start(const struct setup *s, struct holder_device *device, struct error *e);
void holder_stop(void);

/*
 * holder_make - fills the inputs of recipe number `recipe`, runs both references and the original
 *
 * EXIT_UNAVAILABLE when they do not fit into the device; EXIT_DATA for too many outputs; EXIT_BUG if a
 * reference fails. A holder that dies of the original kernel is replaced, and the run counts as crashed.
 */
int holder_make(int recipe, struct holding *h, struct error *e);

/* The holder forgets the input; its memory is freed when the last descriptor and mapping are gone. */
void holder_free(int recipe);

#endif
