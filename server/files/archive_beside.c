/* SPDX-License-Identifier: Apache-2.0 */
#include "server/files/archive_beside.h"

#include "server/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* Where it is in the archive; false: there is none that can be read. */
static bool beside_find(const struct source *archive, const char *inner, struct member *member, struct err *err)
{
    struct analysis_members *members = analysis_members_read(archive, 1, err);
    bool is_found = false;
    for (size_t at = 0; members && at < members->count && !is_found; at++)
        is_found = strcmp(members->items[at].path, inner) == 0 && !err_is_set(&members->items[at].why) &&
                   analysis_members_locate(members, at, member, err);
    analysis_members_free(members);
    return is_found;
}

bool archive_beside_read(const struct files_place *place, const char *path, size_t max, struct buf *out,
                         struct err *err)
{
    const size_t archive_bytes = place->member->archive_path_bytes;
    struct files_member beside = *place->member;
    if (beside.at.is_in_gzip || strlen(path) <= archive_bytes)
        return false;
    char *archive_path = memory_format("%.*s", (int)archive_bytes, path);
    const struct files_place archive_place = {.root = place->root,
                                              .path = archive_path,
                                              .bytes = place->bytes,
                                              .byte_count = place->byte_count,
                                              .identity = &beside.archive_identity};
    struct file *archive = files_open(&archive_place, err);
    bool is_found =
        archive && beside_find(files_source(archive), path + archive_bytes + (archive_bytes > 0), &beside.at, err);
    files_close(archive);
    free(archive_path);
    struct files_place at = *place;
    at.path = path;
    at.member = &beside;
    return is_found && files_read_text(&at, max, out, err);
}
