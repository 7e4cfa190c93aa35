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

/* Is it what `inside` names, or in the folder that it names? */
static bool is_inside(const char *path, const char *inside)
{
    size_t length = inside ? strlen(inside) : 0;
    return length == 0 || (strncmp(path, inside, length) == 0 && (path[length] == '/' || path[length] == '\0'));
}

static bool is_wanted(const char *path, const struct tree_archive_at *at)
{
    const char *name = last_part(path);
    return is_inside(path, at->inside) && !is_hidden(path) &&
           (names_kind_of(name) != NAMES_OTHER || names_is_archive(name));
}

/* Its name does not say enough. */
static bool is_looked_into(enum names_kind kind) { return kind == NAMES_SNAPSHOT || kind == NAMES_PROFILE; }

static void member_refuse(struct archive_reading *reading, const char *path, const struct err *why)
{
    struct tree_archive *archive = reading->archive;
    archive->refusals = memory_grow(archive->refusals, &reading->refusal_capacity, archive->refusal_count + 1,
                                    sizeof(*archive->refusals));
    archive->refusals[archive->refusal_count++] =
        (struct tree_archive_refusal){memory_format("%s/%s", archive->top->path, path), *why};
}

/* Looks into one member: its bytes say whether it is a snapshot or a profile. */
static void member_look(struct archive_reading *reading, const char *path, const struct member *member,
                        struct tree_file *file)
{
    struct err err = ERR_INIT;
    enum analysis_kind kind = ANALYSIS_KIND_UNKNOWN;
    struct analysis_member_view *view = analysis_members_view(reading->members, files_source(reading->opened), member);
    bool is_read = view && analysis_identify(analysis_member_view_source(view), &kind, NULL, &err);
    struct err damage = ERR_INIT;
    if (!view)
        err_exhausted(&err);
    else if (!is_read && !analysis_member_view_check(view, &damage))
        err = damage;
    analysis_member_view_free(view);
    file->is_as_named =
        is_read && kind == (file->kind == NAMES_SNAPSHOT ? ANALYSIS_KIND_TORCH_SNAPSHOT : ANALYSIS_KIND_PPROF);
    reading->archive->shown_count += file->is_as_named;
    if (!is_read && names_claims_kind(file->name))
        member_refuse(reading, path, &err);
}

static void member_add(struct archive_reading *reading, size_t at)
{
    struct tree_archive *archive = reading->archive;
    const char *path = reading->members->items[at].path;
    struct err why = reading->members->items[at].why;
    struct member member = {0};
    if (!err_is_set(&why) && names_is_archive(path))
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
    if (is_looked_into(file->kind))
        member_look(reading, path, &member, file);
    else if (file->kind == NAMES_LOG || file->kind == NAMES_ERROR_TEXT)
        archive->text_count++;
    else
        archive->shown_count++;
}

struct tree_archive_counts {
    size_t wanted, opened; /* and of those, what must be opened to know what it is */
};

static struct tree_archive_counts wanted_count(const struct analysis_members *members, const struct tree_archive_at *at)
{
    struct tree_archive_counts counts = {0};
    for (size_t i = 0; i < members->count; i++) {
        const char *path = members->items[i].path;
        bool is = is_wanted(path, at);
        counts.wanted += is;
        counts.opened += is && is_looked_into(names_kind_of(last_part(path)));
    }
    return counts;
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

/* Sets `err` to the reason why no part of the archive is shown. */
static void nothing_say(const struct analysis_members *members, const struct tree_archive_at *at, struct err *err)
{
    enum { SHOWN = 100 };
    size_t inside_count = 0;
    for (size_t i = 0; i < members->count; i++)
        inside_count += is_inside(members->items[i].path, at->inside);
    if (members->count == 0)
        err_set(err, ERR_unsupported, ERR_NO_OFFSET, "the %s holds no files", members->word);
    else if (inside_count == 0)
        err_set(err, ERR_notfound, ERR_NO_OFFSET, "the %s of %zu file%s has none named %.*s, and no such folder",
                members->word, members->count, members->count == 1 ? "" : "s", SHOWN, at->inside);
    else if (at->inside)
        err_set(err, ERR_unsupported, ERR_NO_OFFSET, "%.*s in the %s is no snapshot, trace, program, profile or log",
                SHOWN, at->inside, members->word);
    else
        err_set(err, ERR_unsupported, ERR_NO_OFFSET,
                "a %s of %zu file%s, of which none is a snapshot, a trace, a program, a profile or a log",
                members->word, members->count, members->count == 1 ? "" : "s");
}

struct tree_archive *tree_archive_read(const struct file *opened, const struct files_place *place,
                                       const struct tree_archive_at *at)
{
    struct err err = ERR_INIT;
    struct analysis_members *members = analysis_members_read(files_source(opened), at->inside ? 1 : 2, &err);
    bool is_none = !members && err.code == ERR_notfound;
    if ((is_none && !at->inside) || (!members && err_is_transient(err.code)))
        return NULL;
    if (is_none)
        err = (struct err)ERR_INIT;
    if (is_none)
        err_set(&err, ERR_unsupported, ERR_NO_OFFSET, "is no zip or tar archive, and a path goes on inside of it");
    struct tree_archive *archive = memory_new(sizeof(*archive));
    archive->top = tree_list_folder_new(at->path, at->depth);
    archive->why = err;
    struct tree_archive_counts counts = {0};
    if (members)
        counts = wanted_count(members, at);
    if (counts.opened > TREE_ARCHIVE_MAX)
        err_set(&archive->why, ERR_limit, ERR_NO_OFFSET,
                "a %s with %zu files that may be snapshots or profiles, and at most %d are looked into", members->word,
                counts.opened, TREE_ARCHIVE_MAX);
    if (counts.wanted > 0 && members->plain_bytes > TREE_ARCHIVE_REACH_BYTES / counts.wanted)
        err_set(&archive->why, ERR_limit, ERR_NO_OFFSET,
                "%zu files to show in a packed tar archive of %llu bytes: each is reached only through those before "
                "it; unpack it, or pack it as zip",
                counts.wanted, (unsigned long long)members->plain_bytes);
    struct archive_reading reading = {.archive = archive, .members = members, .opened = opened, .at = place};
    archive->members = memory_new((counts.wanted + 1) * sizeof(*archive->members));
    for (size_t i = 0; members && i < members->count && !err_is_set(&archive->why); i++)
        if (is_wanted(members->items[i].path, at))
            member_add(&reading, i);
    sort_files(archive->top);
    if (members && archive->shown_count + archive->text_count == 0 && !err_is_set(&archive->why))
        nothing_say(members, at, &archive->why);
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
