/* SPDX-License-Identifier: Apache-2.0 */
#include "server/disk/tree_profiles.h"

#include "analysis/analysis.h"
#include "server/base/memory.h"

#include <stdlib.h>

static bool is_as_named(const struct tree *tree, const struct tree_folder *folder, const struct tree_file *file)
{
    const char *inside = folder->target ? folder->target : folder->path;
    char *path = file->target ? memory_text(file->target)
                 : inside[0]  ? memory_format("%s/%s", inside, file->name)
                              : memory_text(file->name);
    struct files_place place = {.root = tree->root,
                                .path = path,
                                .bytes = file->bytes,
                                .byte_count = file->identity.size_bytes,
                                .identity = &file->identity};
    struct err err = ERR_INIT;
    enum analysis_kind kind = ANALYSIS_KIND_UNKNOWN;
    struct file *opened = files_open(&place, &err);
    bool is_read = opened && analysis_identify(files_source(opened), &kind, NULL, &err);
    files_close(opened);
    free(path);
    return is_read && kind == (file->kind == NAMES_SNAPSHOT ? ANALYSIS_KIND_TORCH_SNAPSHOT : ANALYSIS_KIND_PPROF);
}

static bool look_in(const struct tree *tree, struct tree_folder *folder)
{
    bool is_news = false;
    for (size_t at = 0; at < folder->file_count; at++) {
        struct tree_file *file = &folder->files[at];
        if ((file->kind != NAMES_PROFILE && file->kind != NAMES_SNAPSHOT) || file->reason != 0 ||
            file->identity.size_bytes == 0 || files_identity_equal(&file->looked_into, &file->identity))
            continue;
        file->is_as_named = is_as_named(tree, folder, file);
        file->looked_into = file->identity;
        is_news = true;
    }
    for (size_t at = 0; at < folder->folder_count; at++)
        is_news |= look_in(tree, folder->folders[at]);
    return is_news;
}

bool tree_profiles_look(struct tree *tree) { return !tree->is_file && look_in(tree, tree->top); }
