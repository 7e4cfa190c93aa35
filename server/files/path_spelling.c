/* SPDX-License-Identifier: Apache-2.0 */
#include "server/files/path_spelling.h"

#include "server/base/memory.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Takes "/.." away from `whole`, which is spelled as it should be but for that. */
static char *parent_of(char *whole)
{
    char *up = memory_format("%s/..", whole), *real = realpath(up, NULL);
    free(up);
    if (real) {
        free(whole);
        return strcmp(real, "/") == 0 ? (real[0] = '\0', real) : real;
    }
    char *slash = strrchr(whole, '/');
    if (slash)
        *slash = '\0'; /* it is not there: as it is written */
    return whole;
}

char *path_spelling(const char *path)
{
    char working[PATH_MAX];
    char *given =
        path[0] != '/' && getcwd(working, sizeof(working)) ? memory_format("%s/%s", working, path) : memory_text(path);
    char *whole = memory_text("");
    for (const char *part = given; *part;) {
        size_t length = strcspn(part, "/");
        if (length == 2 && strncmp(part, "..", 2) == 0) {
            whole = parent_of(whole);
        } else if (length > 0 && !(length == 1 && part[0] == '.')) {
            char *longer = memory_format("%s/%.*s", whole, (int)length, part);
            free(whole);
            whole = longer;
        }
        part += length;
        part += *part == '/';
    }
    free(given);
    if (whole[0])
        return whole;
    free(whole);
    return memory_text("/");
}
