/*
 * scarce - a preloaded library that lets one allocation fail: LD_PRELOAD=scarce.so SCARCE=N COMMAND
 *
 * The N-th malloc, calloc or realloc of the command and its forks returns NULL; what it executes is
 * left alone. With SCARCE=0 none fails, and how many there were is written to the file
 * $SCARCE_COUNT.
 */
#include <errno.h>
#include <openssl/evp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/* The C library's own, which it exports under these names too. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);

static long seen, failing = -1;

/* libcrypto crashes when memory is short while it starts: so it starts here. */
__attribute__((constructor)) static void start(void)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    EVP_Digest("", 0, digest, NULL, EVP_sha256(), NULL);
    const char *n = getenv("SCARCE");
    unsetenv("LD_PRELOAD");
    failing = n ? strtol(n, NULL, 10) : 0;
    seen = 0;
}

__attribute__((destructor)) static void finish(void)
{
    const char *path = getenv("SCARCE_COUNT");
    long count = seen;
    FILE *f = path && failing == 0 ? fopen(path, "w") : NULL;
    if (!f)
        return;
    fprintf(f, "%ld\n", count);
    fclose(f);
}

static bool fails(void)
{
    if (++seen != failing)
        return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    return fails() ? NULL : __libc_realloc(old, size);
}
