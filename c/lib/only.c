#include "only.h"

#include <stdlib.h>
#include <string.h>

#include "file.h"

int only_read(const char *path, json_t **ids, struct error *e)
{
    char *text, *next;
    size_t size;
    *ids = NULL;
    if (!path)
        return 0;
    int code = file_read(path, &text, &size, e);
    if (code)
        return code;
    *ids = json_object();
    for (char *line = strtok_r(text, "\n", &next); line; line = strtok_r(NULL, "\n", &next))
        json_object_set_new(*ids, line, json_true());
    free(text);
    return 0;
}
