/* SPDX-License-Identifier: Apache-2.0 */
#include "server/gather/sessions_place.h"

#include "server/gather/tree_archive.h"

#include <string.h>

static char *pool_text(const struct sessions_builder *builder, const char *text)
{
    return memory_pool_text(&builder->snapshot->pool, text, strlen(text));
}

bool sessions_place_is_lone(const struct sessions_builder *builder)
{
    return builder->tree->is_file && !builder->archive;
}

static const char *path_shown(const struct sessions_builder *builder, const struct tree_folder *folder,
                              const struct tree_file *from)
{
    return folder->path[0] ? memory_pool_format(&builder->snapshot->pool, "%s/%s", folder->path, from->name)
                           : pool_text(builder, from->name);
}

/* Where links lead to; of a file in an archive the path goes on inside it. */
static const char *path_real(const struct sessions_builder *builder, const struct tree_folder *folder,
                             const struct tree_file *from, const char *shown)
{
    struct memory_pool *pool = &builder->snapshot->pool;
    if (from->member) {
        const char *inner = shown + strlen(builder->archive->archive->top->path) + 1, *archive = builder->archive_path;
        return archive[0] ? memory_pool_format(pool, "%s/%s", archive, inner) : inner;
    }
    if (sessions_place_is_lone(builder))
        return "";
    if (from->target)
        return pool_text(builder, from->target);
    return folder->target ? memory_pool_format(pool, "%s/%s", folder->target, from->name) : shown;
}

void sessions_place_file(struct sessions_builder *builder, const struct tree_folder *folder,
                         const struct tree_file *from, struct snapshot_file *file)
{
    file->name = pool_text(builder, from->name);
    file->path = path_shown(builder, folder, from);
    file->identity = from->identity;
    file->reason = from->reason;
    file->place = (struct files_place){.root = builder->root_path,
                                       .path = path_real(builder, folder, from, file->path),
                                       .bytes = from->bytes,
                                       .byte_count = from->identity.size_bytes,
                                       .identity = &file->identity};
    if (from->member) {
        struct files_member *member = memory_pool_new(&builder->snapshot->pool, sizeof(*member));
        *member = *from->member;
        file->place.member = member;
        file->place.byte_count = builder->archive->identity.size_bytes;
    }
}

/* A folder may have archives of other things: those are not reported. */
static void tell_problems(struct sessions_builder *builder, const struct tree_archive *archive, bool is_shown)
{
    bool is_ours = builder->tree->is_file || is_shown;
    for (size_t at = 0; is_ours && at < archive->refusal_count; at++)
        sessions_folder_problem(builder, pool_text(builder, archive->refusals[at].path), NULL,
                                &archive->refusals[at].why, NULL);
    if (err_is_set(&archive->why) && (is_ours || archive->why.code != ERR_unsupported))
        sessions_folder_problem(builder, pool_text(builder, archive->top->path), NULL, &archive->why, NULL);
}

void sessions_place_archive(struct sessions_builder *builder, const struct tree_folder *folder,
                            const struct tree_file *from,
                            void (*walk)(struct sessions_builder *builder, const struct tree_folder *folder))
{
    const struct tree_archive *archive = from->archive;
    if (!archive || from->reason != 0)
        return;
    const char *path = path_real(builder, folder, from, path_shown(builder, folder, from));
    builder->archive = from;
    builder->archive_path = path;
    size_t session_count = builder->snapshot->session_count;
    if (archive->shown_count + archive->text_count > 0)
        walk(builder, archive->top);
    builder->archive = NULL;
    tell_problems(builder, archive, builder->snapshot->session_count > session_count);
}
