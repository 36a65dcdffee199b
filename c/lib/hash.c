#include "hash.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"

struct hash *hash_new(void)
{
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    if (!context || !EVP_DigestInit_ex(context, EVP_sha256(), NULL))
        abort(); /* out of memory, or an OpenSSL without SHA-256 */
    return (struct hash *)context;
}

void hash_add(struct hash *h, const void *bytes, size_t size)
{
    EVP_DigestUpdate((EVP_MD_CTX *)h, bytes, size);
}

void hash_add_text(struct hash *h, const char *text)
{
    hash_add(h, text, strlen(text) + 1);
}

void hash_finish(struct hash *h, char hex[HASH_HEX])
{
    unsigned char digest[32];
    EVP_DigestFinal_ex((EVP_MD_CTX *)h, digest, NULL);
    EVP_MD_CTX_free((EVP_MD_CTX *)h);
    for (int i = 0; i < 32; i++)
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
}

void hash_bytes(const void *bytes, size_t size, char hex[HASH_HEX])
{
    struct hash *h = hash_new();
    hash_add(h, bytes, size);
    hash_finish(h, hex);
}

int hash_file(const char *path, char hex[HASH_HEX], struct error *e)
{
    char *text;
    size_t size;
    int code = file_read(path, &text, &size, e);
    if (code)
        return code;
    hash_bytes(text, size, hex);
    free(text);
    return 0;
}
