#include "memory.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

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
