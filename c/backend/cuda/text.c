#include "text.h"

#include <stdlib.h>
#include <string.h>

#include "../../lib/file.h"
#include "../../lib/part.h"

int device_head(const char *backend, char **head, struct error *e)
{
    static const char *const FILES[] = {"cuda/prologue.h", "prelude.h"};
    size_t size;
    FILE *f = open_memstream(head, &size);
    if (!f)
        abort();
    int code = 0;
    for (int k = 0; k < 2 && !code; k++) {
        char path[4096], *text;
        size_t length;
        snprintf(path, sizeof path, "%s/%s", backend, FILES[k]);
        code = file_read(path, &text, &length, e);
        if (code)
            break;
        fputs(text, f);
        free(text);
    }
    fclose(f);
    if (code)
        free(*head);
    return code;
}

/* NVRTC comes with no headers of the C library; those of CUDA's number formats it finds. */
static bool stood_for(const char *include)
{
    return !strstr(include, "cuda_fp16.h") && !strstr(include, "cuda_bf16.h") &&
           (strchr(include, '<') || strstr(include, "prelude.h"));
}

char *device_text(const struct source *s, const char *head)
{
    char *part = part_device(s, stood_for), *text;
    if (asprintf(&text, "%s\n#line 1 \"kernel.cu\"\n%s\n", head, part) < 0)
        abort();
    free(part);
    return text;
}

char *device_kernels(const struct source *s)
{
    char *kernels;
    size_t size;
    FILE *f = open_memstream(&kernels, &size);
    if (!f)
        abort();
    for (int k = 0; k < s->functions; k++)
        if (s->function[k].kind == FUNCTION_KERNEL && !token_is(s, s->function[k].first, "template"))
            fprintf(f, "%.*s\n", token_length(s, s->function[k].name),
                    s->text + s->token[s->function[k].name].begin);
    fclose(f);
    return kernels;
}
