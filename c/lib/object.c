#include "object.h"

#include <ctype.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memory.h"

struct section {
    GElf_Shdr header;
    const Elf_Data *data;
    size_t relocations; /* section index of those that apply to it, or 0 */
};

struct object {
    Elf *elf;
    struct section *section; /* by section index */
    size_t sections;
    size_t symbols;   /* section index of the symbol table */
    bool initialises; /* code that runs when it is loaded: belongs to no one mutant */
};

/* ---- reading --------------------------------------------------------------------------------- */

static bool read_section(struct object *o, size_t i)
{
    struct section *s = &o->section[i];
    Elf_Scn *handle = elf_getscn(o->elf, i);
    if (!handle || !gelf_getshdr(handle, &s->header) || !(s->data = elf_getdata(handle, NULL)))
        return false;
    if (s->header.sh_type == SHT_SYMTAB)
        o->symbols = i;
    if (s->header.sh_type == SHT_INIT_ARRAY)
        o->initialises = true;
    return true;
}

static bool read_sections(struct object *o)
{
    if (elf_getshdrnum(o->elf, &o->sections))
        return false;
    o->section = memory_zeroed((int)o->sections, sizeof *o->section);
    for (size_t i = 1; i < o->sections; i++)
        if (!read_section(o, i))
            return false;
    for (size_t i = 1; i < o->sections; i++) {
        const GElf_Shdr *h = &o->section[i].header;
        if (h->sh_type == SHT_RELA && h->sh_info < o->sections)
            o->section[h->sh_info].relocations = i;
    }
    return o->symbols != 0;
}

static const char *symbol_name(const struct object *o, const GElf_Sym *symbol)
{
    const char *name = elf_strptr(o->elf, o->section[o->symbols].header.sh_link, symbol->st_name);
    return name ? name : "";
}

/* The sections of entries 0 … count − 1; false if one is missing. */
static bool find_entries(const struct object *o, int count, size_t entry[])
{
    const struct section *s = &o->section[o->symbols];
    int found = 0;
    memset(entry, 0, (size_t)count * sizeof *entry);
    for (size_t i = 0; i < s->header.sh_size / s->header.sh_entsize; i++) {
        GElf_Sym symbol;
        int k, end = 0;
        if (!gelf_getsym((Elf_Data *)s->data, (int)i, &symbol))
            return false;
        const char *name = symbol_name(o, &symbol);
        if (sscanf(name, OBJECT_ENTRY "%n", &k, &end) == 1 && name[end] == '\0' && k >= 0 &&
            k < count && symbol.st_shndx < o->sections) {
            found += !entry[k];
            entry[k] = symbol.st_shndx;
        }
    }
    return found == count;
}

/* ---- hashing --------------------------------------------------------------------------------- */

/* The sections that one mutant reaches, in the order in which they are met. */
struct reach {
    const struct object *o;
    struct hash *h;
    size_t *section; /* `met` of them */
    size_t met;
    size_t *number; /* by section index: 1 + its place in `section`, 0 if not met yet */
    bool sure;
    char *missing;
};

static void add_number(struct reach *r, uint64_t number)
{
    hash_add(r->h, &number, sizeof number);
}

/* Of a mangled name `_ZN8mutant1012_GLOBAL__N_17scratchE` the last part, here `scratch`. */
static char *last_name(const char *mangled)
{
    const char *last = mangled;
    int length = (int)strlen(mangled);
    for (const char *c = mangled + strcspn(mangled, "0123456789"); isdigit((unsigned char)*c);) {
        char *begin;
        long size = strtol(c, &begin, 10);
        if (size > (long)strlen(begin))
            break;
        last = begin;
        length = (int)size;
        c = begin + size + (begin[size] == 'L'); /* internal linkage */
    }
    return strndup(last, (size_t)length);
}

/* The mergeable constant at `value`: its bytes alone, since equal ones become one. */
static void add_constant(struct reach *r, const struct section *s, const GElf_Sym *symbol)
{
    const char *bytes = s->data->d_buf;
    uint64_t at = symbol->st_value, size = s->header.sh_entsize;
    bool strings = s->header.sh_flags & SHF_STRINGS;
    /* The symbol of the section says nothing about where the constant is: not what gas writes. */
    if (GELF_ST_TYPE(symbol->st_info) == STT_SECTION || at >= s->data->d_size ||
        (strings && size != 1)) {
        r->sure = false;
        return;
    }
    if (strings)
        size = strnlen(bytes + at, s->data->d_size - at) + 1;
    if (size > s->data->d_size - at) {
        r->sure = false;
        return;
    }
    add_number(r, size);
    hash_add(r->h, bytes + at, size);
}

/* A symbol that the file does not define. The executor's are all C: a mangled name is the mutant's
 * own. */
static void add_outside(struct reach *r, const char *name)
{
    hash_add_text(r->h, name);
    if (strncmp(name, "_Z", 2) == 0 && !r->missing)
        r->missing = last_name(name);
}

/* What a relocation points to. */
static void add_target(struct reach *r, const GElf_Sym *symbol)
{
    if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= r->o->sections) {
        add_outside(r, symbol_name(r->o, symbol));
        return;
    }
    const struct section *s = &r->o->section[symbol->st_shndx];
    if (s->header.sh_flags & SHF_MERGE) {
        add_constant(r, s, symbol);
        return;
    }
    size_t *number = &r->number[symbol->st_shndx];
    if (!*number) {
        r->section[r->met] = symbol->st_shndx;
        *number = ++r->met;
    }
    add_number(r, *number);
    add_number(r, symbol->st_value);
}

static void add_relocations(struct reach *r, const struct section *s)
{
    const struct section *all = &r->o->section[s->relocations],
                         *symbols = &r->o->section[r->o->symbols];
    size_t count = s->relocations ? all->header.sh_size / all->header.sh_entsize : 0;
    add_number(r, count);
    for (size_t i = 0; i < count; i++) {
        GElf_Rela rela;
        GElf_Sym symbol;
        if (!gelf_getrela((Elf_Data *)all->data, (int)i, &rela) ||
            !gelf_getsym((Elf_Data *)symbols->data, (int)GELF_R_SYM(rela.r_info), &symbol)) {
            r->sure = false;
            return;
        }
        add_number(r, rela.r_offset);
        add_number(r, GELF_R_TYPE(rela.r_info));
        add_number(r, (uint64_t)rela.r_addend);
        add_target(r, &symbol);
    }
}

static void add_section(struct reach *r, const struct section *s)
{
    add_number(r, s->header.sh_type);
    add_number(r, s->header.sh_flags & (SHF_WRITE | SHF_EXECINSTR));
    add_number(r, s->header.sh_addralign);
    add_number(r, s->header.sh_size);
    if (s->header.sh_type != SHT_NOBITS)
        hash_add(r->h, s->data->d_buf, s->data->d_size);
    add_relocations(r, s);
}

static void read_from(const struct object *o, size_t entry, const char *salt,
                      struct object_code *code)
{
    size_t *both = memory_zeroed(2 * (int)o->sections, sizeof *both);
    struct reach r = {.o = o,
                      .h = hash_new(),
                      .section = both,
                      .number = both + o->sections,
                      .sure = !o->initialises};
    r.section[r.met++] = entry;
    r.number[entry] = 1;
    for (size_t k = 0; k < r.met; k++)
        add_section(&r, &o->section[r.section[k]]);
    if (!r.sure)
        hash_add_text(r.h, salt);
    hash_finish(r.h, code->hash);
    code->missing = r.missing;
    free(both);
}

int object_read(const char *path, int count, const char *const salt[], struct object_code code[],
                struct error *e)
{
    struct object o = {0};
    size_t entry[OBJECT_MUTANTS];
    memset(code, 0, (size_t)count * sizeof *code);
    elf_version(EV_CURRENT);
    int fd = open(path, O_RDONLY | O_CLOEXEC), status = 0;
    if (fd < 0)
        return fail_errno(e, "%s: cannot be opened", path);
    o.elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    if (!o.elf || elf_kind(o.elf) != ELF_K_ELF || !read_sections(&o) ||
        !find_entries(&o, count, entry))
        status = fail(e, EXIT_BUG, "%s: is no object file whose mutants can be compared", path);
    for (int k = 0; k < count && !status; k++)
        read_from(&o, entry[k], salt[k], &code[k]);
    free(o.section);
    elf_end(o.elf);
    close(fd);
    return status;
}
