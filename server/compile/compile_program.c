/* SPDX-License-Identifier: Apache-2.0 */
#include "server/compile/compile_program.h"

#include "server/base/memory.h"
#include "server/base/system.h"

#ifdef MEMVIEWD_STATIC
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *compile_program_path(void)
{
    char own[PATH_MAX], *path = NULL;
    ssize_t length = readlink("/proc/self/exe", own, sizeof(own));
    char *slash = length > 0 && (size_t)length < sizeof(own) ? memrchr(own, '/', (size_t)length) : NULL;
    if (slash)
        path = memory_format("%.*s/memviewd-compile", (int)(slash - own), own);
    if (path && access(path, X_OK) == 0)
        return path;
    free(path);
    return NULL;
}
#else
char *compile_program_path(void) { return system_own_program(); }
#endif
