/* SPDX-License-Identifier: Apache-2.0 */
#include "server/gather/tree_archive.h"

#include "server/base/memory.h"
#include "server/gather/tree_list.h"

#include <stdlib.h>
#include <string.h>

/* What is passed along while an archive is read. */
struct archive_reading {
    struct tree_archive *archive;
    const struct analysis_members *members;
    const struct file *opened;
    const struct files_place *at;
    size_t member_capacity, refusal_capacity;
};

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* As in folders, names that begin with a dot are left out. */
static bool is_hidden(const char *path)
{
    bool is = false;
    for (const char *part = path; part && !is; part = strchr(part, '/') ? strchr(part, '/') + 1 : NULL)
        is = part[0] == '.' && part[1] != '.' && part[1] != '/';
    return is;
}

static bool is_wanted(const char *path)
{
    const char *name = last_part(path);
    return names_kind_of(name) == NAMES_SNAPSHOT && !is_hidden(path);
}

static bool is_archive_name(const char *name)
{
    size_t length = strlen(name);
    return length > 4 && strcmp(name + length - 4, ".zip") == 0;
}

static void member_refuse(struct archive_reading *reading, const char *path, const struct err *why)
{
    struct tree_archive *archive = reading->archive;
    archive->refusals = memory_grow(archive->refusals, &reading->refusal_capacity, archive->refusal_count + 1,
                                    sizeof(*archive->refusals));
    archive->refusals[archive->refusal_count++] =
        (struct tree_archive_refusal){memory_format("%s/%s", archive->top->path, path), *why};
}

/* Looks into one member: its bytes say whether it is a snapshot. */
static void member_look(struct archive_reading *reading, const char *path, const struct files_member *member,
                        struct tree_file *file)
{
    struct err err = ERR_INIT;
    enum analysis_kind kind = ANALYSIS_KIND_UNKNOWN;
    const struct files_place *at = reading->at;
    char *inner = at->path[0] ? memory_format("%s/%s", at->path, path) : memory_text(path);
    const struct files_place place = {
        .root = at->root, .path = inner, .bytes = at->bytes, .byte_count = at->byte_count, .member = member};
    struct file *opened = files_open(&place, &err);
    bool is_read = opened && analysis_identify(files_source(opened), &kind, NULL, &err);
    files_close(opened);
    free(inner);
    file->is_as_named = is_read && kind == ANALYSIS_KIND_TORCH_SNAPSHOT;
    reading->archive->snapshot_count += file->is_as_named;
    if (!is_read && names_claims_kind(file->name))
        member_refuse(reading, path, &err);
}

static void member_add(struct archive_reading *reading, size_t at)
{
    struct tree_archive *archive = reading->archive;
    const char *path = reading->members->items[at].path;
    struct err why = reading->members->items[at].why;
    struct member member = {0};
    if (!err_is_set(&why) && is_archive_name(path))
        err_set(&why, ERR_unsupported, ERR_NO_OFFSET, "an archive inside an archive is not looked into");
    if (err_is_set(&why) || !analysis_members_locate(reading->members, at, &member, &why)) {
        member_refuse(reading, path, &why);
        return;
    }
    const struct files_place *place = reading->at;
    struct files_member *own = &archive->members[archive->member_count++];
    *own = (struct files_member){
        .at = member, .archive_path_bytes = strlen(place->path), .archive_identity = *files_identity(reading->opened)};
    struct tree_file *file = tree_list_add_memory(archive->top, path, place->bytes, 0);
    file->identity = files_identity_member(files_identity(reading->opened), &member);
    file->looked_into = file->identity;
    file->member = own;
    member_look(reading, path, own, file);
}

static size_t wanted_count(const struct analysis_members *members)
{
    size_t count = 0;
    for (size_t at = 0; at < members->count; at++)
        count += is_wanted(members->items[at].path);
    return count;
}

/* By name, as lists of folders are. */
static int order_files(const void *a, const void *b)
{
    return strcmp(((const struct tree_file *)a)->name, ((const struct tree_file *)b)->name);
}

static void sort_files(struct tree_folder *folder)
{
    if (folder->file_count)
        qsort(folder->files, folder->file_count, sizeof(*folder->files), order_files);
    for (size_t at = 0; at < folder->folder_count; at++)
        sort_files(folder->folders[at]);
}

struct tree_archive *tree_archive_read(const struct file *opened, const struct files_place *at, const char *path,
                                       unsigned depth)
{
    struct err err = ERR_INIT;
    struct analysis_members *members = analysis_members_read(files_source(opened), &err);
    if (!members && (err.code == ERR_notfound || err_is_transient(err.code)))
        return NULL;
    struct tree_archive *archive = memory_new(sizeof(*archive));
    archive->top = tree_list_folder_new(path, depth);
    archive->why = err;
    size_t wanted = members ? wanted_count(members) : 0;
    if (wanted > TREE_ARCHIVE_MAX)
        err_set(&archive->why, ERR_limit, ERR_NO_OFFSET,
                "a zip archive with %zu files that may be snapshots, and at most %d are looked into", wanted,
                TREE_ARCHIVE_MAX);
    struct archive_reading reading = {.archive = archive, .members = members, .opened = opened, .at = at};
    archive->members = memory_new((wanted + 1) * sizeof(*archive->members));
    for (size_t i = 0; members && i < members->count && !err_is_set(&archive->why); i++) {
        if (is_wanted(members->items[i].path))
            member_add(&reading, i);
        else
            archive->other_count++;
    }
    sort_files(archive->top);
    if (members && archive->snapshot_count == 0 && !err_is_set(&archive->why))
        err_set(&archive->why, ERR_unsupported, ERR_NO_OFFSET,
                "a zip archive of %zu files, of which none is an allocator snapshot of PyTorch", members->count);
    analysis_members_free(members);
    return archive;
}

void tree_archive_free(struct tree_archive *archive)
{
    if (!archive)
        return;
    tree_list_folder_free(archive->top);
    for (size_t at = 0; at < archive->refusal_count; at++)
        free(archive->refusals[at].path);
    free(archive->refusals);
    free(archive->members);
    free(archive);
}
