/* SPDX-License-Identifier: Apache-2.0 */
#include "server/files/source_files.h"

#include <string.h>

bool source_files_is_name(const char *path)
{
    static const char *const ENDINGS[] = {".py",  ".pyi",   ".pyx",  ".pxd",   ".pyw", ".ipynb", ".c",   ".cc",
                                          ".cpp", ".cxx",   ".h",    ".hh",    ".hpp", ".hxx",   ".inl", ".inc",
                                          ".cu",  ".cuh",   ".hip",  ".jl",    ".rs",  ".go",    ".js",  ".mjs",
                                          ".ts",  ".swift", ".java", ".scala", ".kt",  ".mlir",  NULL};
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *ending = strrchr(name, '.');
    return ending && str_is_one_of(str_of(ending), ENDINGS);
}

static bool is_hidden(const char *path) { return path[0] == '.' || strstr(path, "/."); }

const char *source_files_find(const char *root, const char *file, source_files_visitor *take, void *context)
{
    for (const char *rest = file; rest; rest = strchr(rest, '/')) {
        rest += *rest == '/';
        char real[BENEATH_PATH_BYTES]; /* a link may have the name of a source, and lead to a key */
        const struct files_place named = {.root = root, .path = rest}, place = {.root = root, .path = real};
        if (*rest && !is_hidden(rest) && files_real_path(&named, real) && !is_hidden(real) &&
            source_files_is_name(real) && take(context, &place))
            return rest;
    }
    return NULL;
}
