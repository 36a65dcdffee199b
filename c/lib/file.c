#include "file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int file_read(const char *path, char **text, size_t *size, struct error *e)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return fail_errno(e, "%s: cannot be opened", path);
    size_t room = 1 << 16, used = 0;
    char *bytes = malloc(room + FILE_MARGIN);
    while (bytes) {
        used += fread(bytes + used, 1, room - used, f);
        if (used < room)
            break;
        room *= 2;
        char *more = realloc(bytes, room + FILE_MARGIN);
        if (!more)
            free(bytes);
        bytes = more;
    }
    int bad = !bytes || ferror(f);
    if (bad)
        fail_errno(e, "%s: cannot be read", path);
    fclose(f);
    if (bad) {
        free(bytes);
        return EXIT_IO;
    }
    memset(bytes + used, 0, FILE_MARGIN);
    *text = bytes;
    *size = used;
    return 0;
}

int file_make_parent(const char *path, struct error *e)
{
    char folder[4096];
    snprintf(folder, sizeof folder, "%s", path);
    for (char *c = folder + 1; *c; c++) {
        if (*c != '/')
            continue;
        *c = '\0';
        if (mkdir(folder, 0777) && errno != EEXIST)
            return fail_errno(e, "%s: cannot be made", folder);
        *c = '/';
    }
    return 0;
}

int output_open(struct output *out, const char *path, struct error *e)
{
    out->stream = NULL;
    if (snprintf(out->path, sizeof out->path, "%s", path) >= (int)sizeof out->path)
        return fail(e, EXIT_IO, "%s: the path is too long", path);
    snprintf(out->temporary, sizeof out->temporary, "%s.tmp.%ld", path, (long)getpid());
    int code = file_make_parent(path, e);
    if (code)
        return code;
    out->stream = fopen(out->temporary, "wb");
    if (!out->stream)
        return fail_errno(e, "%s: cannot be written", path);
    return 0;
}

void output_abandon(struct output *out)
{
    if (!out->stream)
        return;
    fclose(out->stream);
    out->stream = NULL;
    unlink(out->temporary);
}

/* Flushes to disk and closes; on failure removes the temporary. */
static int finish(struct output *out, struct error *e)
{
    int bad = ferror(out->stream) || fflush(out->stream) || fsync(fileno(out->stream));
    if (bad)
        fail_errno(e, "%s: cannot be written", out->path);
    if (fclose(out->stream) && !bad) {
        fail_errno(e, "%s: cannot be written", out->path);
        bad = 1;
    }
    out->stream = NULL;
    if (bad)
        unlink(out->temporary);
    return bad ? EXIT_IO : 0;
}

static int move_into_place(struct output *out, struct error *e)
{
    if (rename(out->temporary, out->path) == 0)
        return 0;
    fail_errno(e, "%s: cannot be put in place", out->path);
    unlink(out->temporary);
    return EXIT_IO;
}

int output_commit(struct output *out, struct error *e)
{
    int code = finish(out, e);
    return code ? code : move_into_place(out, e);
}

static bool same_bytes(const char *a, const char *b)
{
    struct error ignored;
    char *x = NULL, *y = NULL;
    size_t nx = 0, ny = 0;
    bool same = !file_read(a, &x, &nx, &ignored) && !file_read(b, &y, &ny, &ignored) && nx == ny &&
                memcmp(x, y, nx) == 0;
    free(x);
    free(y);
    return same;
}

int output_commit_if_changed(struct output *out, struct error *e)
{
    int code = finish(out, e);
    if (code)
        return code;
    if (same_bytes(out->temporary, out->path)) {
        unlink(out->temporary);
        return 0;
    }
    return move_into_place(out, e);
}
