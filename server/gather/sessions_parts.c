/* SPDX-License-Identifier: Apache-2.0 */
#include "server/gather/sessions_folder.h"

#include <string.h>

static bool is_usable(const struct tree_folder *folder, size_t at)
{
    return folder->files[at].reason == 0 && folder->files[at].identity.size_bytes > 0;
}

/* One file in place of two; it has the name of the first. */
static const struct snapshot_file *sessions_parts_join(struct sessions_builder *builder,
                                                       const struct snapshot_file *first,
                                                       const struct snapshot_file *second)
{
    struct memory_pool *pool = &builder->snapshot->pool;
    struct snapshot_file *both = memory_pool_new(pool, sizeof(*both));
    struct files_place *parts = memory_pool_new(pool, 2 * sizeof(*parts));
    *both = *first;
    parts[0] = first->place;
    parts[1] = second->place;
    both->place =
        (struct files_place){.root = first->place.root, .path = first->place.path, .parts = parts, .part_count = 2};
    both->identity.size_bytes += second->identity.size_bytes;
    if (second->identity.modified_at_ns > both->identity.modified_at_ns)
        both->identity.modified_at_ns = second->identity.modified_at_ns;
    if (second->identity.status_at_ns > both->identity.status_at_ns)
        both->identity.status_at_ns = second->identity.status_at_ns;
    return both;
}

/* The place of the file whose name is the first `length` characters of `name` and `ending`; the count: there is
 * none. */
static size_t sessions_parts_find(const struct tree_folder *folder, const char *name, size_t length, const char *ending)
{
    size_t at = 0;
    while (at < folder->file_count && (!is_usable(folder, at) || strncmp(folder->files[at].name, name, length) != 0 ||
                                       strcmp(folder->files[at].name + length, ending) != 0))
        at++;
    return at;
}

const struct snapshot_file *sessions_parts_of_text(struct sessions_builder *builder, const struct tree_folder *folder,
                                                   const struct snapshot_file *files, size_t at)
{
    const char *name = folder->files[at].name;
    size_t stem = names_assignment_text_length(name);
    if (stem > 0)
        return sessions_parts_find(folder, name, stem, ".txt") < folder->file_count ? NULL : &files[at];
    if (!names_is_module_text(name))
        return NULL;
    size_t other = sessions_parts_find(folder, name, strlen(name) - strlen(".txt"), "-buffer-assignment.txt");
    return other < folder->file_count ? sessions_parts_join(builder, &files[at], &files[other]) : &files[at];
}

static size_t hlo_length(const char *name)
{
    return names_kind_of(name) == NAMES_HLO && !names_is_gzip(name) ? names_title_length(name) : 0;
}

/* The assignment that goes with the HLO file, by its name or as the only one without a name. */
static size_t assignment_for(const struct tree_folder *folder, const char *name)
{
    size_t length = hlo_length(name), nameless = folder->file_count, nameless_count = 0;
    for (size_t at = 0; length > 0 && at < folder->file_count; at++) {
        const char *other = folder->files[at].name;
        size_t own = names_assignment_length(other);
        if (folder->files[at].kind != NAMES_ASSIGNMENT || !is_usable(folder, at))
            continue;
        if (own == length && strncmp(other, name, length) == 0)
            return at;
        nameless_count += own == 0;
        nameless = own == 0 ? at : nameless;
    }
    return nameless_count == 1 ? nameless : folder->file_count;
}

const struct snapshot_file *sessions_parts_of_hlo(struct sessions_builder *builder, const struct tree_folder *folder,
                                                  const struct snapshot_file *files, size_t at)
{
    const char *name = folder->files[at].name;
    if (folder->files[at].kind != NAMES_ASSIGNMENT) {
        size_t other = assignment_for(folder, name);
        return other < folder->file_count ? sessions_parts_join(builder, &files[at], &files[other]) : &files[at];
    }
    for (size_t other = 0; other < folder->file_count; other++)
        if (is_usable(folder, other) && assignment_for(folder, folder->files[other].name) == at)
            return NULL;
    return &files[at];
}
