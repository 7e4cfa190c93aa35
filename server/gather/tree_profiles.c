/* SPDX-License-Identifier: Apache-2.0 */
#include "server/gather/tree_profiles.h"

#include "analysis/analysis.h"
#include "server/base/memory.h"
#include "server/gather/tree_archive.h"

#include <stdlib.h>
#include <string.h>

/* Files of servers are asked for so many at a time, before the first is looked at. */
enum { ASKED_TOGETHER = 64 };

struct candidate {
    const struct tree_folder *folder;
    struct tree_file *file;
};

struct candidates {
    struct candidate *items;
    size_t count, capacity;
};

static void tree_profiles_gather(struct candidates *candidates, struct tree_folder *folder)
{
    for (size_t at = 0; at < folder->file_count; at++) {
        struct tree_file *file = &folder->files[at];
        if ((file->kind != NAMES_PROFILE && file->kind != NAMES_SNAPSHOT) || file->reason != 0 ||
            file->identity.size_bytes == 0 || files_identity_equal(&file->looked_into, &file->identity))
            continue;
        candidates->items =
            memory_grow(candidates->items, &candidates->capacity, candidates->count + 1, sizeof(*candidates->items));
        candidates->items[candidates->count++] = (struct candidate){folder, file};
    }
    for (size_t at = 0; at < folder->folder_count; at++)
        tree_profiles_gather(candidates, folder->folders[at]);
}

/* Only archives: no facts about them are kept. */
static bool may_be_archive(const struct tree_file *file)
{
    return file->kind != NAMES_PROFILE && names_is_archive(file->name);
}

/* Below the root; free(). */
static char *path_of(const struct candidate *candidate)
{
    const struct tree_file *file = candidate->file;
    const char *inside = candidate->folder->target ? candidate->folder->target : candidate->folder->path;
    return file->target ? memory_text(file->target)
           : inside[0]  ? memory_format("%s/%s", inside, file->name)
                        : memory_text(file->name);
}

/* Reads what is in an archive. The folder that it becomes has its path. */
static void archive_look(const struct file *opened, const struct files_place *place, const struct candidate *candidate,
                         const char *inside)
{
    const struct tree_folder *folder = candidate->folder;
    struct tree_file *file = candidate->file;
    char *path = folder->path[0] ? memory_format("%s/%s", folder->path, file->name) : memory_text(file->name);
    tree_archive_free(file->archive);
    const struct tree_archive_at at = {.path = path, .depth = folder->depth + 1, .inside = inside};
    file->archive = tree_archive_read(opened, place, &at);
    free(path);
}

static bool bytes_are_as_named(const struct files_place *place, const struct candidate *candidate, struct err *err)
{
    const struct tree_file *file = candidate->file;
    enum analysis_kind kind = ANALYSIS_KIND_UNKNOWN;
    struct file *opened = files_open(place, err);
    if (opened && may_be_archive(file))
        archive_look(opened, place, candidate, NULL);
    bool is_read = opened && analysis_identify(files_source(opened), &kind, NULL, err);
    files_close(opened);
    if (!is_read && err->code == ERR_truncated && names_claims_kind(file->name))
        return true; /* its reader reports its faults; it is not taken for another kind */
    return is_read && kind == (file->kind == NAMES_SNAPSHOT ? ANALYSIS_KIND_TORCH_SNAPSHOT : ANALYSIS_KIND_PPROF);
}

static struct files_place place_of(const struct tree *tree, const struct candidate *candidate, const char *path)
{
    const struct tree_file *file = candidate->file;
    return (struct files_place){.root = tree->root,
                                .path = path,
                                .bytes = file->bytes,
                                .byte_count = file->identity.size_bytes,
                                .identity = &file->identity};
}

static bool is_as_named(const struct tree *tree, const struct candidate *candidate, const struct facts *facts,
                        struct err *err)
{
    char *path = path_of(candidate);
    const struct files_place place = place_of(tree, candidate, path);
    bool is = bytes_are_as_named(&place, candidate, err);
    struct buf fact = BUF_INIT;
    buf_text(&fact, is ? "yes" : "no");
    if (!err_is_transient(err->code) && !candidate->file->archive)
        facts_keep(facts, FACTS_NAMED, &place, &candidate->file->identity, &fact);
    buf_free(&fact);
    free(path);
    return is;
}

/* Keeps the candidates that are not known yet; true: it learned something about others. */
static bool known_take(const struct tree *tree, const struct facts *facts, struct candidates *candidates)
{
    size_t kept = 0, count = candidates->count;
    for (size_t at = 0; at < count; at++) {
        struct tree_file *file = candidates->items[at].file;
        struct buf fact = BUF_INIT;
        char *path = path_of(&candidates->items[at]);
        const struct files_place place = place_of(tree, &candidates->items[at], path);
        if (facts_find(facts, FACTS_NAMED, &place, &file->identity, &fact)) {
            file->is_as_named = strcmp(fact.data, "yes") == 0;
            file->is_unread = false;
            file->looked_into = file->identity;
        } else {
            candidates->items[kept++] = candidates->items[at];
        }
        buf_free(&fact);
        free(path);
    }
    candidates->count = kept;
    return kept < count;
}

static void ask_for(const struct tree *tree, const struct candidate *candidates, size_t count)
{
    for (size_t at = 0; at < count && at < ASKED_TOGETHER; at++) {
        struct err unsaid = ERR_INIT;
        char *path = path_of(&candidates[at]);
        struct remote_file *file = remote_open(tree->root, path, &unsaid);
        if (file)
            remote_want_start(file);
        remote_close(file);
        free(path);
    }
}

/* The root is one file, whatever its name: index.c tells what it is, unless it is an archive. */
static void lone_look(struct tree *tree)
{
    struct err unsaid = ERR_INIT;
    const struct candidate candidate = {tree->top, tree->top->files};
    const struct files_place place = {.root = tree->root, .path = ""};
    struct file *opened = tree->top->file_count ? files_open(&place, &unsaid) : NULL;
    if (opened)
        archive_look(opened, &place, &candidate, tree->inside);
    files_close(opened);
}

bool tree_profiles_look(struct tree *tree, const struct facts *facts)
{
    struct candidates candidates = {.count = 0};
    bool is_changed = false;
    tree->has_unread = false;
    if (!tree->is_file)
        tree_profiles_gather(&candidates, tree->top);
    else
        lone_look(tree);
    is_changed = known_take(tree, facts, &candidates);
    for (size_t at = 0; at < candidates.count; at++) {
        struct tree_file *file = candidates.items[at].file;
        if (tree->is_remote && at % ASKED_TOGETHER == 0)
            ask_for(tree, &candidates.items[at], candidates.count - at);
        struct err err = ERR_INIT;
        file->is_as_named = is_as_named(tree, &candidates.items[at], facts, &err);
        bool was_unread = file->is_unread,
             is_again = tree->is_remote && err_is_set(&err); /* it may answer the next time */
        file->is_unread = !tree->is_remote && err_is_transient(err.code);
        if (!is_again && !file->is_unread)
            file->looked_into = file->identity;
        tree->has_unread |= file->is_unread;
        is_changed |= !(was_unread && file->is_unread);
    }
    free(candidates.items);
    return is_changed;
}
