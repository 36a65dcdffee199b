#include "gather.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memory.h"

enum { SHARE = 8 << 20 };

/* What one thread reads. */
struct part {
    struct cells *cells, own; /* the first part has no cells of its own */
    char *const *path;
    int files;
    const struct listener *listener;
    char **skipped; /* messages that wait for the parts before */
    int skips, room;
    pthread_t thread;
    bool started;
    int code;
    struct error e;
};

/* 0 for a file that is not there: whoever reads it says so. */
static long bytes_of(const char *path)
{
    struct stat s;
    return stat(path, &s) ? 0 : (long)s.st_size;
}

static long bytes_of_all(char *const path[], int files)
{
    long bytes = 0;
    for (int i = 0; i < files; i++)
        bytes += bytes_of(path[i]);
    return bytes;
}

int gather_jobs(char *const path[], int files)
{
    const long shares = bytes_of_all(path, files) / SHARE;
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    long jobs = shares < processors ? shares : processors;
    jobs = jobs < files ? jobs : files;
    return jobs > 1 ? (int)jobs : 1;
}

static void keep(void *context, const struct error *why)
{
    struct part *part = context;
    part->skipped = memory_grow(part->skipped, part->skips, &part->room, sizeof *part->skipped);
    part->skipped[part->skips++] = memory_copy(why->text);
}

static void read_files(struct part *part, const struct listener *listener)
{
    for (int i = 0; i < part->files && !part->code; i++)
        part->code = cells_add(part->cells, part->path[i], listener, &part->e);
}

static void *read_part(void *argument)
{
    struct part *part = argument;
    const struct listener listener = {keep, part};
    read_files(part, part->listener ? &listener : NULL);
    return NULL;
}

/* Deals the files out, in order: a part ends where its share of the bytes is reached. */
static void deal(struct part part[], int jobs, char *const path[], int files)
{
    const long bytes = bytes_of_all(path, files);
    long dealt = 0;
    for (int k = 0, i = 0; k < jobs; k++) {
        part[k].path = path + i;
        while (i < files && (k == jobs - 1 || dealt * jobs < bytes * (k + 1))) {
            dealt += bytes_of(path[i++]);
            part[k].files++;
        }
    }
}

static void finish(struct part *part)
{
    if (part->started)
        pthread_join(part->thread, NULL);
    else
        read_part(part); /* no thread was to be had */
}

/* Hands on what a part found, the parts before it having been handed on. */
static void hand_on(struct part *part, struct cells *cells)
{
    for (int i = 0; i < part->skips; i++) {
        struct error why;
        fail(&why, EXIT_DATA, "%s", part->skipped[i]);
        part->listener->skipped(part->listener->context, &why);
    }
    cells_merge(cells, part->cells);
}

static void free_part(struct part *part)
{
    for (int i = 0; i < part->skips; i++)
        free(part->skipped[i]);
    free(part->skipped);
    cells_free(&part->own);
}

int gather_rows(struct cells *cells, char *const path[], int files, int jobs,
                const struct listener *listener, struct error *e)
{
    struct part *part = memory_zeroed(jobs, sizeof *part);
    deal(part, jobs, path, files);
    for (int k = 0; k < jobs; k++) {
        part[k].cells = k > 0 ? &part[k].own : cells;
        part[k].listener = listener;
        if (k == 0)
            continue;
        cells_init(part[k].cells, cells->corpus);
        part[k].started = pthread_create(&part[k].thread, NULL, read_part, &part[k]) == 0;
    }
    read_files(&part[0], listener);
    int code = part[0].code;
    *e = part[0].e;
    for (int k = 1; k < jobs; k++) {
        finish(&part[k]);
        if (!code) {
            hand_on(&part[k], cells);
            code = part[k].code;
            *e = part[k].e;
        }
        free_part(&part[k]);
    }
    free(part);
    return code;
}
