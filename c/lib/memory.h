/* memory - allocation for code that can do nothing without it: a machine out of memory aborts. */
#ifndef ASSAY_MEMORY_H
#define ASSAY_MEMORY_H

#include <stddef.h>
#include <stdio.h>

/* `count` zeroed elements, and one more so that none is no special case. */
void *memory_zeroed(int count, size_t each);

/* The same in memory that processes forked from now on share with this one. Never freed. */
void *memory_common(int count, size_t each);

/* Room for element number `used` of an array: the array, moved and doubled if it was full. *room is
 * how many elements fit; 0 and NULL at first. */
void *memory_grow(void *array, int used, int *room, size_t each);

/* `size` bytes, not set to anything. */
void *memory_new(size_t size);

char *memory_copy(const char *text);

/* To be called first: what is allocated from now on, blocks of many MiB apart, lies in huge pages
 * where the system has them, and costs a fault for each 2 MiB of it, not for each 4 KiB. */
void memory_in_huge_pages(void);

/* Closes a stream of open_memstream(text, …). */
void memory_close(FILE *stream, char *const *text);

#endif
