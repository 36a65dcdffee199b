/*
 * object - tells mutants with the same machine code apart from the rest (trivial compiler
 * equivalence).
 *
 * An object file holds the mutants of one translation unit, each function and variable in a section
 * of its own. The hash of a mutant covers all sections that its entry reaches: bytes, and for each
 * relocation its place, kind, addend and what it points to: by name if that is outside the file, by
 * contents if it is a constant. Where identity cannot be told from that, the hash is of no other
 * mutant.
 */
#ifndef ASSAY_OBJECT_H
#define ASSAY_OBJECT_H

#include "error.h"
#include "hash.h"

enum { OBJECT_MUTANTS = 1000 };

/* The symbol of mutant k's entry, k < OBJECT_MUTANTS. */
#define OBJECT_ENTRY "image_entry_%d"

/* What is known of one mutant. */
struct object_code {
    char hash[HASH_HEX];
    char *missing; /* a C++ name that it uses and nothing defines: it cannot be linked; owned, or
                      NULL */
};

/*
 * object_read - the code of mutants 0 … count − 1
 *
 * salt[k] (the mutant's id) enters where a hash must stay alone. EXIT_IO, or EXIT_BUG for a file
 * that is no object file or lacks an entry; the caller frees what is missing in either case.
 */
int object_read(const char *path, int count, const char *const salt[], struct object_code code[],
                struct error *e);

#endif
