/*
 * identity - tells which device code is the same, whether NVRTC compiled it alone or among others.
 *
 * A whole cubin says who else was compiled with it: in names, in the numbers of symbols, in the order of
 * sections. The hash of a member covers what the device reads of its kernels: instructions, constant banks,
 * shared memory, registers, stack, parameters; and the member's named constants (`constexpr int WARP = 32;`),
 * which NVRTC keeps. Where a module has more than that, no member can be told from the others.
 */
#ifndef ASSAY_CUDA_IDENTITY_H
#define ASSAY_CUDA_IDENTITY_H

#include <stdbool.h>

#include "../../lib/batch.h"
#include "nvrtc.h"

enum { MEMBERS_MAX = 16 };

/* The namespace of member k, `m0`, in which all of its text stands. */
void member_name(int k, char name[MEMBER_NAME]);

/*
 * identity_of - the hash of each member of a module; with members == 0, of one that was compiled alone
 *
 * Equal for members whose launches run the same code. False, and no hashes, where the module holds what members
 * could share or what is not understood: variables, tables (the math library's too), printf, functions that
 * kernels call from outside, sections of another toolkit's.
 */
bool identity_of(const struct device_code *code, int members, char hash[][HASH_HEX]);

#endif
