/* SPDX-License-Identifier: Apache-2.0 */
#include "server/files/archive_path.h"

#include "server/base/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

char *archive_path_split(const char *path, const char **inside)
{
    struct stat status;
    if (stat(path, &status) == 0 || errno != ENOTDIR)
        return NULL;
    for (const char *slash = strchr(path + (path[0] == '/'), '/'); slash; slash = strchr(slash + 1, '/')) {
        char *file = memory_format("%.*s", (int)(slash - path), path);
        if (stat(file, &status) == 0 && S_ISREG(status.st_mode)) {
            *inside = slash + strspn(slash, "/");
            if ((*inside)[0])
                return file;
        }
        free(file);
    }
    return NULL;
}
