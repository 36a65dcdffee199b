#include "memory.h"

#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void *checked(void *memory)
{
    if (!memory)
        abort();
    return memory;
}

void *memory_new(size_t size)
{
    return checked(malloc(size));
}

void *memory_zeroed(int count, size_t each)
{
    return checked(calloc((size_t)count + 1, each));
}

void *memory_common(int count, size_t each)
{
    void *memory = mmap(NULL, ((size_t)count + 1) * each, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                        -1, 0);
    return checked(memory == MAP_FAILED ? NULL : memory);
}

void *memory_grow(void *array, int used, int *room, size_t each)
{
    if (used < *room)
        return array;
    *room = *room ? *room * 2 : 16;
    return checked(realloc(array, (size_t)*room * each));
}

void memory_close(FILE *stream, char *const *text)
{
    bool cut = ferror(stream);
    if (fclose(stream) || cut || !*text)
        abort();
}

char *memory_copy(const char *text)
{
    return checked(strdup(text));
}

void memory_in_huge_pages(void)
{
    enum { HEAP = 64 << 20, APART = 4 << 20 };
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t begin = ((uintptr_t)sbrk(0) + page - 1) / page * page;
    mallopt(M_ARENA_MAX, 1); /* for all threads */
    mallopt(M_MMAP_THRESHOLD, APART);
    mallopt(M_TOP_PAD, HEAP);
    void *volatile first = malloc(1); /* the heap is there from now on */
    free(first);
    const uintptr_t end = (uintptr_t)sbrk(0) / page * page;
    if (end > begin)
        madvise((void *)begin, end - begin, MADV_HUGEPAGE);
}
