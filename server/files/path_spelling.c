/* SPDX-License-Identifier: Apache-2.0 */
#include "server/files/path_spelling.h"

#include "server/base/memory.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A path that is spelled as it should be, "" for the root, with room for what is left of the one that was given. */
struct spelled {
    char *text;
    size_t length;
};

/* What ".." behind it leads to; `left_bytes`: of what may follow. */
static void parent_take(struct spelled *whole, size_t left_bytes)
{
    char *up = memory_format("%s/..", whole->text), *real = realpath(up, NULL);
    free(up);
    if (real) {
        free(whole->text);
        whole->length = strcmp(real, "/") == 0 ? 0 : strlen(real);
        whole->text = memory_new(whole->length + left_bytes + 2);
        memcpy(whole->text, real, whole->length);
        free(real);
    } else { /* it is not there: as it is written */
        while (whole->length > 0 && whole->text[--whole->length] != '/')
            continue;
        whole->text[whole->length] = '\0';
    }
}

static void part_add(struct spelled *whole, const char *part, size_t length)
{
    whole->text[whole->length++] = '/';
    memcpy(whole->text + whole->length, part, length);
    whole->length += length;
    whole->text[whole->length] = '\0';
}

char *path_spelling(const char *path)
{
    char working[PATH_MAX];
    char *given =
        path[0] != '/' && getcwd(working, sizeof(working)) ? memory_format("%s/%s", working, path) : memory_text(path);
    size_t left_bytes = strlen(given);
    struct spelled whole = {.text = memory_new(left_bytes + 2)};
    for (const char *part = given; *part;) {
        size_t length = strcspn(part, "/");
        bool is_up = length == 2 && strncmp(part, "..", 2) == 0;
        left_bytes -= length + (part[length] == '/');
        if (is_up)
            parent_take(&whole, left_bytes);
        else if (length > 0 && !(length == 1 && part[0] == '.'))
            part_add(&whole, part, length);
        part += length;
        part += *part == '/';
    }
    free(given);
    if (whole.length == 0)
        memcpy(whole.text, "/", 2);
    return whole.text;
}
