/* hash - SHA-256 (OpenSSL's), as hexadecimal text that `sha256sum` reproduces. */
#ifndef ASSAY_HASH_H
#define ASSAY_HASH_H

#include <stddef.h>

#include "error.h"

enum { HASH_HEX = 65 }; /* 64 digits and a NUL */

struct hash; /* a digest being computed */

struct hash *hash_new(void);
void hash_add(struct hash *h, const void *bytes, size_t size);
void hash_add_text(struct hash *h, const char *text); /* the text and its NUL, so that parts stay apart */
void hash_finish(struct hash *h, char hex[HASH_HEX]); /* frees h */

void hash_bytes(const void *bytes, size_t size, char hex[HASH_HEX]);
int hash_file(const char *path, char hex[HASH_HEX], struct error *e);

#endif
