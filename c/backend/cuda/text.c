#include "text.h"

#include <stdlib.h>
#include <string.h>

#include "../../lib/file.h"
#include "../../lib/memory.h"
#include "../../lib/part.h"
#include "identity.h"

static int read_head(const char *backend, const char *name, char **text, struct error *e)
{
    char path[4096];
    size_t size;
    snprintf(path, sizeof path, "%s/%s", backend, name);
    return file_read(path, text, &size, e);
}

int device_head(const char *backend, struct head *head, struct error *e)
{
    *head = (struct head){0};
    int code = read_head(backend, "cuda/prologue.h", &head->prologue, e);
    return code ? code : read_head(backend, "prelude.h", &head->prelude, e);
}

/* NVRTC comes with no headers of the C library; those of CUDA's number formats it finds. */
static bool stood_for(const char *include)
{
    return !strstr(include, "cuda_fp16.h") && !strstr(include, "cuda_bf16.h") &&
           (strchr(include, '<') || strstr(include, "prelude.h"));
}

char *device_part(const struct source *s)
{
    return part_device(s, stood_for);
}

char *device_text(const struct head *head, const char *part)
{
    char *text;
    if (asprintf(&text, "%s%s\n#line 1 \"kernel.cu\"\n%s\n", head->prologue, head->prelude, part) < 0)
        abort();
    return text;
}

/* The first member that has function f as the original has it: in its namespace it stands for all. */
static int owner_of(const struct member members[], int member, int f)
{
    int k = 0;
    while (k < member && !(members[k].shared && members[k].shared[f]))
        k++;
    return k;
}

/* The member's text, with a `using` of each kernel that an earlier member owns. */
static void write_member(const struct member members[], int member, FILE *f)
{
    const struct member *m = &members[member];
    const struct source *s = m->part;
    char owner[MEMBER_NAME];
    int at = 0;
    for (int k = 0; m->shared && k < s->functions; k++) {
        const struct function *kernel = &s->function[k];
        if (!m->shared[k] || owner_of(members, member, k) == member)
            continue;
        member_name(owner_of(members, member, k), owner);
        fwrite(s->text + at, 1, (size_t)(s->token[kernel->first].begin - at), f);
        fprintf(f, "using %s::%.*s;", owner, token_length(s, kernel->name), s->text + s->token[kernel->name].begin);
        at = s->token[s->token[kernel->body].partner].end;
    }
    fputs(s->text + at, f);
}

char *device_text_of_all(const struct head *head, const struct member members[], int count)
{
    char *text, name[MEMBER_NAME];
    size_t size;
    FILE *f = open_memstream(&text, &size);
    if (!f)
        abort();
    fputs(head->prologue, f);
    for (int k = 0; k < count; k++) {
        member_name(k, name);
        fprintf(f, "\nnamespace %s {\n#undef ASSAY_PRELUDE_H\n%s\n#line 1 \"kernel.cu\"\n", name, head->prelude);
        write_member(members, k, f);
        fputs("\n}\n", f);
    }
    memory_close(f, &text);
    return text;
}

char *device_text_of_copies(const struct head *head, const struct member members[], int count)
{
    const struct source *part = members->part;
    char *all = device_text_of_all(head, members, count), *text;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    if (!f)
        abort();
    fputs(all, f);
    free(all);
    for (int k = 0; k < part->functions; k++)
        fprintf(f, "typedef int %.*s;\n", token_length(part, part->function[k].name),
                part->text + part->token[part->function[k].name].begin);
    memory_close(f, &text);
    return text;
}

static bool is_unroll(const char *line)
{
    const char *word = line + 1 + strspn(line + 1, " \t");
    const char *what = word + 6 + strspn(word + 6, " \t");
    return strncmp(word, "pragma", 6) == 0 && strncmp(what, "unroll", 6) == 0;
}

bool device_stands_alone(const struct source *s)
{
    for (int k = 0; k < s->directives; k++)
        if (!is_unroll(s->text + s->directive[k].begin))
            return true;
    for (int i = 0; i < s->tokens; i++)
        if ((token_is(s, i, "extern") && i + 1 < s->tokens && s->token[i + 1].kind == TOKEN_STRING) ||
            (token_is(s, i, "using") && token_is(s, i + 1, "namespace")) || token_is(s, i, "_Pragma"))
            return true;
    return false;
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
