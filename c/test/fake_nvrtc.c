/*
 * fake_nvrtc - NVRTC's interface, for `compile --backend cuda` where there is none. The code of a
 * kernel is its file's text (its member's, of several) without white space and `1 *`, in an ELF file;
 * a text that says `undeclared` does not compile, and one of several that says `deadly` ends the
 * process. $CALLS gets a line for each, with how many members it has if they are several. The
 * $DEADLY-th waits until $JOURNAL has as many lines, and then kills process $COMPILE.
 */
#include <ctype.h>
#include <elf.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KERNELS_MAX = 64 };

struct program {
    char *text, *kernel[KERNELS_MAX], *code;
    int kernels;
    size_t size;
};

int nvrtcVersion(int *major, int *minor)
{
    *major = 0;
    *minor = 1;
    return 0;
}

int nvrtcCreateProgram(struct program **p, const char *text, const char *name, int headers,
                       const char *const *header, const char *const *header_name)
{
    (void)name, (void)headers, (void)header, (void)header_name;
    *p = calloc(1, sizeof **p);
    (*p)->text = strdup(text);
    return 0;
}

int nvrtcDestroyProgram(struct program **p)
{
    for (int k = 0; k < (*p)->kernels; k++)
        free((*p)->kernel[k]);
    free((*p)->text);
    free((*p)->code);
    free(*p);
    return 0;
}

int nvrtcAddNameExpression(struct program *p, const char *expression)
{
    p->kernel[p->kernels++] = strdup(expression);
    return 0;
}

static int lines_of(const char *path)
{
    int lines = 0;
    FILE *f = fopen(path, "r");
    for (int c = f ? getc(f) : EOF; c != EOF; c = getc(f))
        lines += c == '\n';
    if (f)
        fclose(f);
    return lines;
}

static int members_of(const struct program *p)
{
    int members = 0;
    for (const char *c = p->text; (c = strstr(c, "\nnamespace m")); c++)
        members++;
    return members;
}

/* The line of `undeclared` in the file, or 0. */
static int bad_line(const struct program *p)
{
    const char *bad = strstr(p->text, "undeclared");
    int line = 0;
    for (const char *c = strstr(p->text, "#line 1"); bad && c < bad; c++)
        line += *c == '\n';
    return line;
}

/* Writes the text that the kernel is in, without what does not count. */
static void write_code(const struct program *p, const char *kernel, FILE *f)
{
    char start[32];
    const char *c = p->text, *end = NULL;
    if (members_of(p) > 0) {
        snprintf(start, sizeof start, "\nnamespace %.*s {", (int)strcspn(kernel, ":"), kernel);
        c = strstr(c, start);
        end = strstr(c + 1, "\n}\n\nnamespace m");
        if (!end)
            end = strstr(c + 1, "\n}\ntypedef int");
        if (!end)
            end = c + strlen(c) - strlen("\n}\n");
    }
    for (c = strstr(c, "#line 1"); *c && c != end; c++) {
        if (strncmp(c, "1 *", 3) == 0)
            c += 2;
        else if (!isspace((unsigned char)*c))
            fputc(*c, f);
    }
}

/* An ELF file with a section for each kernel, and one for their names. */
static void write_elf(struct program *p)
{
    Elf64_Shdr section[KERNELS_MAX + 2] = {{0}};
    Elf64_Ehdr header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                         .e_version = EV_CURRENT, .e_ehsize = sizeof header, .e_shentsize = sizeof *section,
                         .e_shnum = (Elf64_Half)(p->kernels + 2), .e_shstrndx = (Elf64_Half)(p->kernels + 1)};
    FILE *f = open_memstream(&p->code, &p->size);
    fwrite(&header, 1, sizeof header, f);
    for (int k = 0; k < p->kernels; k++) {
        Elf64_Shdr *s = &section[k + 1];
        s->sh_type = SHT_PROGBITS;
        s->sh_offset = (Elf64_Off)ftell(f);
        write_code(p, p->kernel[k], f);
        s->sh_size = (Elf64_Xword)ftell(f) - s->sh_offset;
    }
    Elf64_Shdr *names = &section[p->kernels + 1];
    names->sh_type = SHT_STRTAB;
    names->sh_offset = (Elf64_Off)ftell(f);
    fputc('\0', f);
    for (int k = 0; k <= p->kernels; k++) {
        section[k + 1].sh_name = (Elf64_Word)((size_t)ftell(f) - names->sh_offset);
        fprintf(f, "%s%s%c", k < p->kernels ? ".text." : ".shstrtab", k < p->kernels ? p->kernel[k] : "", 0);
    }
    names->sh_size = (Elf64_Xword)ftell(f) - names->sh_offset;
    while (ftell(f) % 8)
        fputc('\0', f);
    header.e_shoff = (Elf64_Off)ftell(f);
    fwrite(section, sizeof *section, (size_t)p->kernels + 2, f);
    fclose(f);
    memcpy(p->code, &header, sizeof header);
}

int nvrtcCompileProgram(struct program *p, int options, const char *const *option)
{
    (void)options, (void)option;
    const char *calls = getenv("CALLS"), *deadly = getenv("DEADLY");
    int members = members_of(p);
    FILE *f = fopen(calls, "a");
    fprintf(f, members ? "nvrtc %d\n" : "nvrtc\n", members);
    fclose(f);
    if (deadly && lines_of(calls) == atoi(deadly)) {
        while (lines_of(getenv("JOURNAL")) < atoi(deadly))
            usleep(1000);
        kill(atoi(getenv("COMPILE")), SIGKILL);
        pause();
    }
    if (members && strstr(p->text, "deadly"))
        abort();
    if (bad_line(p))
        return 6;
    write_elf(p);
    return 0;
}

int nvrtcGetProgramLogSize(struct program *p, size_t *size)
{
    (void)p;
    *size = 100;
    return 0;
}

int nvrtcGetProgramLog(struct program *p, char *log)
{
    sprintf(log, "kernel.cu(%d): error: identifier \"undeclared\" is undefined\n", bad_line(p));
    return 0;
}

int nvrtcGetCUBINSize(struct program *p, size_t *size)
{
    *size = p->size;
    return 0;
}

int nvrtcGetCUBIN(struct program *p, char *cubin)
{
    memcpy(cubin, p->code, p->size);
    return 0;
}

int nvrtcGetLoweredName(struct program *p, const char *expression, const char **symbol)
{
    (void)p;
    *symbol = expression;
    return 0;
}
