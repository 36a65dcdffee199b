/*
 * export - writes an input and what mutants made of it to files, for a judge outside this program.
 *
 * The folder gets `<input>.txt`, with a line `size NAME VALUE` for each size of the problem and a
 * line `ROLE NAME FILE EXTENT…` for each tensor, and files of float32: `<input>.<k>.f32` for tensor
 * k, and `<mutant>.<input>.f32` for the outputs of a mutant, one after the other. A `/` in an id
 * becomes a `_`. tools/crosscheck reads them.
 */
#ifndef ASSAY_EXPORT_H
#define ASSAY_EXPORT_H

#include "../setup.h"
#include "launch.h"
#include "tensors.h"

/* EXIT_IO; EXIT_UNAVAILABLE if the device does not give the values. */
int export_input(const struct setup *s, const struct recipe *r, const struct tensors *x,
                 device_address inputs, struct error *e);
int export_outputs(const struct setup *s, const struct recipe *r, const struct tensors *x,
                   const device_address out[], const char *mutant, struct error *e);

#endif
