#include "identity.h"

#include <gelf.h>
#include <libelf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/memory.h"

/* A named constant is one number. What is larger is a table, which kernels may well read. */
enum { CONSTANT_BYTES_MAX = 8 };

/* What every block has of shared memory for the system. A kernel that has no more has it written down where another
 * one of the module has more. */
enum { RESERVED_SHARED_BYTES = 1024 };

/* Attributes of .nv.info, by NVIDIA's numbers. */
enum { ATTRIBUTE_PARAMETER_BANK = 0x0a, ATTRIBUTE_FRAME = 0x11, ATTRIBUTE_STACK = 0x12, ATTRIBUTE_REGISTERS = 0x2f };
enum { FORMAT_SIZED = 4 }; /* has its size in the third and fourth byte, and as many more behind it */

/* What a section is to the members. A name that ends in a dot has a kernel's symbol behind it. */
static const struct kind {
    const char *name;
    enum { OF_NONE, OF_KERNEL, OF_ALL, CONSTANTS, EMPTY } what;
} KINDS[] = {
    {".text.", OF_KERNEL},
    {".nv.info.", OF_KERNEL},
    {".nv.shared.", OF_KERNEL},
    {".nv.constant0.", OF_KERNEL}, /* parameters */
    {".nv.constant2.", OF_KERNEL}, /* where switches jump to */
    {".nv.compat", OF_ALL},
    {".nv.global.init", CONSTANTS},
    {".nv.constant4", OF_NONE}, /* their addresses, which the relocations say */
    {".rela.nv.constant4", OF_NONE},
    {".rela.text.", EMPTY},
    {".rela.nv.constant2.", EMPTY},
    {".nv.shared.reserved.0", EMPTY},
    {".nv.info", OF_NONE}, /* add_attribute() */
    {".nv.callgraph", OF_NONE},
    {".debug_frame", OF_NONE},
    {".rela.debug_frame", OF_NONE},
    {".note.nv.tkinfo", OF_NONE},
    {".note.nv.cuinfo", OF_NONE},
    {".symtab", OF_NONE},
    {".strtab", OF_NONE},
    {".shstrtab", OF_NONE},
};
enum { KIND_COUNT = sizeof KINDS / sizeof *KINDS };

struct section {
    GElf_Shdr header;
    const Elf_Data *data;
    const char *name;
    const struct kind *kind;
};

struct module {
    const struct device_code *code;
    int members;
    Elf *elf;
    struct section *section; /* by section index */
    size_t sections;
    const struct section *symbols, *info, *addresses; /* addresses: relocations of .nv.constant4; or NULL */
};

void member_name(int k, char name[MEMBER_NAME])
{
    snprintf(name, MEMBER_NAME, "m%d", k);
}

/* ---- reading ---------------------------------------------------------------------------------- */

static bool ends_in_dot(const char *name)
{
    return name[strlen(name) - 1] == '.';
}

static const struct kind *kind_of(const char *name)
{
    for (int k = 0; k < KIND_COUNT; k++) /* those without a kernel's name first */
        if (strcmp(KINDS[k].name, name) == 0)
            return &KINDS[k];
    for (int k = 0; k < KIND_COUNT; k++)
        if (ends_in_dot(KINDS[k].name) && strncmp(KINDS[k].name, name, strlen(KINDS[k].name)) == 0)
            return &KINDS[k];
    return NULL;
}

static bool read_section(struct module *m, size_t i, size_t names)
{
    struct section *s = &m->section[i];
    Elf_Scn *handle = elf_getscn(m->elf, i);
    if (!handle || !gelf_getshdr(handle, &s->header) || !(s->data = elf_getdata(handle, NULL)) ||
        !(s->name = elf_strptr(m->elf, names, s->header.sh_name)) || !(s->kind = kind_of(s->name)))
        return false;
    if (strcmp(s->name, ".symtab") == 0)
        m->symbols = s;
    if (strcmp(s->name, ".nv.info") == 0)
        m->info = s;
    if (strcmp(s->name, ".rela.nv.constant4") == 0)
        m->addresses = s;
    return s->kind->what != EMPTY || s->header.sh_size == 0;
}

static bool read_sections(struct module *m)
{
    size_t names;
    if (elf_getshdrnum(m->elf, &m->sections) || elf_getshdrstrndx(m->elf, &names))
        return false;
    m->section = memory_zeroed((int)m->sections, sizeof *m->section);
    for (size_t i = 1; i < m->sections; i++)
        if (!read_section(m, i, names))
            return false;
    return true;
}

static bool read_symbol(const struct module *m, size_t index, GElf_Sym *symbol, const char **name)
{
    return m->symbols && gelf_getsym((Elf_Data *)m->symbols->data, (int)index, symbol) &&
           (*name = elf_strptr(m->elf, m->symbols->header.sh_link, symbol->st_name));
}

/* Of a mangled name `_ZN39_INTERNAL_…2m04WARPE` the number of the member, or NONE. */
static int member_of(const struct module *m, const char *mangled)
{
    if (m->members == 0)
        return 0;
    const char *part = strncmp(mangled, "_ZN", 3) == 0 ? mangled + 3 : "";
    for (int k = 0; k < 2; k++) {
        char *name, own[MEMBER_NAME];
        long length = strtol(part, &name, 10);
        if (name == part || length <= 0 || length > (long)strlen(name))
            break;
        for (int member = 0; member < m->members; member++) {
            member_name(member, own);
            if ((size_t)length == strlen(own) && strncmp(name, own, strlen(own)) == 0)
                return member;
        }
        if (strncmp(name, "_INTERNAL_", 10) != 0)
            break;
        part = name + length;
    }
    return -1;
}

/* Is the symbol a part of one kernel's code, a member's constant, or nothing that takes any place? */
static bool symbol_is_known(const struct module *m, const GElf_Sym *symbol, const char *name)
{
    int type = GELF_ST_TYPE(symbol->st_info);
    if (symbol->st_shndx == SHN_UNDEF)
        return *name == '\0' || strcmp(name, ".nv.reservedSmem.offset0") == 0;
    if (type != STT_OBJECT)
        return type == STT_SECTION || type == STT_FUNC || type == STT_NOTYPE;
    return symbol->st_shndx < m->sections && m->section[symbol->st_shndx].kind->what == CONSTANTS &&
           symbol->st_size <= CONSTANT_BYTES_MAX && member_of(m, name) >= 0;
}

static bool symbols_are_known(const struct module *m)
{
    size_t count = m->symbols ? m->symbols->header.sh_size / sizeof(Elf64_Sym) : 0;
    for (size_t i = 0; i < count; i++) {
        GElf_Sym symbol;
        const char *name;
        if (!read_symbol(m, i, &symbol, &name) || !symbol_is_known(m, &symbol, name))
            return false;
    }
    return true;
}

/* ---- hashing ---------------------------------------------------------------------------------- */

static void add_number(struct hash *h, uint64_t number)
{
    hash_add(h, &number, sizeof number);
}

/* The attributes at `bytes`, one after another: `use` gets each with its size, head included. */
static bool each_attribute(const struct section *s, bool (*use)(void *context, const unsigned char *bytes, size_t size),
                           void *context)
{
    const unsigned char *bytes = s->data->d_buf;
    for (size_t at = 0, size; at < s->data->d_size; at += size) {
        if (s->data->d_size - at < 4)
            return false;
        size = bytes[at] == FORMAT_SIZED ? 4 + bytes[at + 2] + 256 * (size_t)bytes[at + 3] : 4;
        if (size > s->data->d_size - at || !use(context, bytes + at, size))
            return false;
    }
    return true;
}

struct context {
    const struct module *m;
    struct hash *h;
    const char *kernel;
};

/* One of a kernel's own: that of its parameters' bank begins with the number of a symbol. */
static bool add_own_attribute(void *context, const unsigned char *bytes, size_t size)
{
    struct context *c = context;
    size_t from = bytes[1] == ATTRIBUTE_PARAMETER_BANK && size >= 8 ? 8 : 4;
    hash_add(c->h, bytes, 4);
    hash_add(c->h, bytes + from, size - from);
    return true;
}

/* One of the module's, about a function within some kernel's code. */
static bool add_attribute(void *context, const unsigned char *bytes, size_t size)
{
    struct context *c = context;
    GElf_Sym symbol;
    const char *name;
    uint32_t index;
    bool known = bytes[1] == ATTRIBUTE_REGISTERS || bytes[1] == ATTRIBUTE_FRAME || bytes[1] == ATTRIBUTE_STACK;
    if (!known || bytes[0] != FORMAT_SIZED || size < 8)
        return false;
    memcpy(&index, bytes + 4, sizeof index);
    if (!read_symbol(c->m, index, &symbol, &name) || symbol.st_shndx >= c->m->sections)
        return false;
    const char *section = c->m->section[symbol.st_shndx].name;
    if (!section || strncmp(section, ".text.", 6) != 0)
        return false;
    if (strcmp(section + 6, c->kernel) != 0)
        return true; /* another kernel's */
    add_number(c->h, symbol.st_value);
    hash_add(c->h, bytes, 4);
    hash_add(c->h, bytes + 8, size - 8);
    return true;
}

static bool add_section(struct context *c, const struct section *s)
{
    add_number(c->h, s->header.sh_type);
    add_number(c->h, s->header.sh_flags); /* of code: its barriers, too */
    add_number(c->h, s->header.sh_addralign);
    add_number(c->h, s->header.sh_size);
    if (strncmp(s->name, ".nv.info.", 9) == 0)
        return each_attribute(s, add_own_attribute, c);
    if (s->header.sh_type != SHT_NOBITS)
        hash_add(c->h, s->data->d_buf, s->data->d_size);
    return true;
}

static bool is_nothing(const struct section *s)
{
    return strncmp(s->name, ".nv.shared.", 11) == 0 && s->header.sh_size == RESERVED_SHARED_BYTES;
}

/* All that the module has under the kernel's name. */
static bool add_kernel(struct context *c)
{
    const struct module *m = c->m;
    bool found = false;
    for (int k = 0; k < KIND_COUNT; k++) {
        if (KINDS[k].what != OF_KERNEL)
            continue;
        for (size_t i = 1; i < m->sections; i++) {
            const struct section *s = &m->section[i];
            if (s->kind != &KINDS[k] || strcmp(s->name + strlen(KINDS[k].name), c->kernel) != 0 || is_nothing(s))
                continue;
            found = true;
            hash_add_text(c->h, KINDS[k].name);
            if (!add_section(c, s))
                return false;
        }
    }
    return found && (!m->info || each_attribute(m->info, add_attribute, c));
}

/*
 * A member's constants, in the order of their addresses' places in bank 4. Code that reads one through its address
 * has that place in an instruction. Each member has as many and the first member's come first: so equal code of
 * members with equal constants reads equal ones.
 */
static bool add_constants(const struct module *m, int member, struct hash *h)
{
    size_t count = m->addresses ? m->addresses->header.sh_size / sizeof(Elf64_Rela) : 0;
    size_t each = m->members ? count / (size_t)m->members : count, own = 0;
    for (size_t i = count; i-- > 0;) {
        GElf_Rela rela;
        GElf_Sym symbol;
        const char *name;
        if (!gelf_getrela((Elf_Data *)m->addresses->data, (int)i, &rela) ||
            !read_symbol(m, GELF_R_SYM(rela.r_info), &symbol, &name) || symbol.st_shndx >= m->sections)
            return false;
        if (member_of(m, name) != member)
            continue;
        const struct section *s = &m->section[symbol.st_shndx];
        if (!s->kind || s->kind->what != CONSTANTS || !s->data->d_buf || symbol.st_value > s->data->d_size ||
            symbol.st_size > s->data->d_size - symbol.st_value ||
            rela.r_offset != sizeof(uint64_t) * ((size_t)member * each + own++))
            return false;
        add_number(h, symbol.st_size);
        hash_add(h, (const char *)s->data->d_buf + symbol.st_value, symbol.st_size);
    }
    return own == each;
}

/* A line `symbol expression` of the code, if it is the member's: the expression without its namespace. */
static const char *own_expression(const struct module *m, int member, const char *expression)
{
    char prefix[MEMBER_NAME + 2];
    if (m->members == 0)
        return expression;
    member_name(member, prefix);
    strcat(prefix, "::");
    return strncmp(expression, prefix, strlen(prefix)) == 0 ? expression + strlen(prefix) : NULL;
}

static bool add_member(const struct module *m, int member, struct hash *h)
{
    for (size_t i = 1; i < m->sections; i++) {
        struct context c = {m, h, ""};
        if (m->section[i].kind->what == OF_ALL && !add_section(&c, &m->section[i]))
            return false;
    }
    bool known = add_constants(m, member, h);
    for (const char *line = m->code->bytes; *line != '\n' && known; line += strcspn(line, "\n") + 1) {
        char *symbol = strndup(line, strcspn(line, " \n")), *rest = strndup(line, strcspn(line, "\n"));
        const char *expression = own_expression(m, member, rest + strlen(symbol) + 1);
        struct context c = {m, h, symbol};
        if (expression) {
            hash_add_text(h, expression);
            known = add_kernel(&c);
        }
        free(symbol);
        free(rest);
    }
    return known;
}

/* ---- putting it together ---------------------------------------------------------------------- */

bool identity_of(const struct device_code *code, int members, char hash[][HASH_HEX])
{
    struct module m = {.code = code, .members = members};
    const char *end = code->bytes[0] == '\n' ? code->bytes : memmem(code->bytes, code->size, "\n\n", 2);
    size_t cubin = end ? (size_t)(end - code->bytes) + (end == code->bytes ? 1 : 2) : code->size;
    elf_version(EV_CURRENT);
    m.elf = elf_memory(code->bytes + cubin, code->size - cubin);
    bool known = m.elf && elf_kind(m.elf) == ELF_K_ELF && gelf_getclass(m.elf) == ELFCLASS64 && read_sections(&m) &&
                 symbols_are_known(&m);
    for (int k = 0; known && (k == 0 || k < members); k++) {
        struct hash *h = hash_new();
        known = add_member(&m, k, h);
        hash_finish(h, hash[k]);
    }
    free(m.section);
    elf_end(m.elf);
    return known;
}
