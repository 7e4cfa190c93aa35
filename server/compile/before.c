/* SPDX-License-Identifier: Apache-2.0 */
#include "server/compile/before.h"

#include "server/base/memory.h"
#include "server/files/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROGRAM_MAX_BYTES ((size_t)1 << 30)

static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

static bool is_before_of(const char *path, const char *of)
{
    size_t folder = folder_length(of);
    if (folder_length(path) != folder || strncmp(path, of, folder) != 0)
        return false;
    struct names_module module = names_module_of(of + folder), other = names_module_of(path + folder);
    return other.stage == NAMES_STAGE_BEFORE && other.stem_length == module.stem_length &&
           strncmp(path + folder, of + folder, module.stem_length) == 0;
}

/* A file given alone: beside it on disk. */
static bool read_beside_alone(const struct files_place *place, struct buf *out, struct err *err)
{
    static const char *const endings[] = {".hlo.pb", ".hlo.pb.gz"};
    size_t folder = folder_length(place->root);
    struct names_module module = names_module_of(place->root + folder);
    bool is_read = false;
    for (size_t at = 0; at < sizeof(endings) / sizeof(endings[0]) && !is_read; at++) {
        char *path =
            memory_format("%.*s.before_optimizations%s", (int)(folder + module.stem_length), place->root, endings[at]);
        const struct files_place beside = {.root = path, .path = ""};
        *err = (struct err)ERR_INIT;
        is_read = strcmp(path, place->root) != 0 && files_read_text(&beside, PROGRAM_MAX_BYTES, out, err);
        free(path);
    }
    return is_read;
}

bool before_read(const struct snapshot_session *session, const struct snapshot_file *module, struct buf *out,
                 char reason[BEFORE_REASON_SIZE])
{
    bool is_alone = !module->place.bytes && module->place.path[0] == '\0', is_found = false, is_read = false;
    struct err err = ERR_INIT;
    for (size_t at = 0; at < session->file_count && !is_found; at++)
        if (is_before_of(session->files[at]->path, module->path)) {
            is_found = true;
            is_read = files_read_text(&session->files[at]->place, PROGRAM_MAX_BYTES, out, &err);
        }
    if (!is_found && is_alone)
        is_found = is_read = read_beside_alone(&module->place, out, &err);
    if (!is_found)
        snprintf(reason, BEFORE_REASON_SIZE, "%s",
                 session->kind == SNAPSHOT_TRACE
                     ? "A trace holds no program as it was before optimizations, only dumps do"
                     : "The program as it was before optimizations (….before_optimizations.hlo.pb) is not beside it");
    else if (!is_read || out->failed || out->length >= PROGRAM_MAX_BYTES)
        snprintf(reason, BEFORE_REASON_SIZE, "The program before optimizations cannot be read: %s",
                 err_is_set(&err) ? err.text : "it is too large");
    else
        return true;
    return false;
}
