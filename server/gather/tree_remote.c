/* SPDX-License-Identifier: Apache-2.0 */
#include "server/gather/tree.h"

#include "server/base/clock.h"
#include "server/base/memory.h"
#include "server/gather/tree_list.h"

#include <stdlib.h>
#include <string.h>

enum { FOLDERS_MAX = 4000000, DEPTH_MAX = 40 }; /* a folder for each object that a list takes; deep as on disk */

/* Objects [from, to) of a list; all lie below one folder. */
struct span {
    const struct remote_listing *listing;
    size_t from, to;
    size_t skip; /* bytes of their paths that are the folder's own, with its slash */
};

struct tree_remote_making {
    struct tree *tree;
    size_t folder_count;
    bool is_changed, is_cut;
};

static const char *rest_of(const struct span *span, size_t at)
{
    return remote_listing_at(span->listing, at)->path + span->skip;
}

/* The first of the objects from `at` on that is in another folder. */
static size_t end_of_folder(const struct span *span, size_t at)
{
    const char *first = rest_of(span, at);
    size_t length = strcspn(first, "/") + 1;
    while (at < span->to && strncmp(rest_of(span, at), first, length) == 0)
        at++;
    return at;
}

static void count_in(const struct span *span, size_t *files, size_t *folders)
{
    *files = *folders = 0;
    for (size_t at = span->from; at < span->to;) {
        bool is_folder = strchr(rest_of(span, at), '/') != NULL;
        *folders += is_folder;
        *files += !is_folder;
        at = is_folder ? end_of_folder(span, at) : at + 1;
    }
}

static int by_path(const void *a, const void *b)
{
    return strcmp((*(struct tree_folder *const *)a)->path, (*(struct tree_folder *const *)b)->path);
}

static const struct tree_folder *folder_before(const struct tree_folder *parent, const char *path)
{
    struct tree_folder wanted = {.path = (char *)(uintptr_t)path}, *key = &wanted;
    struct tree_folder *const *found =
        parent && parent->folder_count > 0
            ? bsearch(&key, parent->folders, parent->folder_count, sizeof(struct tree_folder *), by_path)
            : NULL;
    return found ? *found : NULL;
}

/* What was known of a file stays known while its identity is the same. `*old`: where the search in `before` goes on. */
static void file_make(struct tree_remote_making *making, struct tree_file *file, const struct remote_object *object,
                      const char *name, const struct tree_folder *before, size_t *old)
{
    const struct remote_identity identity = remote_identity_of(making->tree->root, object);
    *file = (struct tree_file){.name = memory_text(name), .kind = names_kind_of(name)};
    file->reason = object->is_archived ? TREE_ARCHIVED : 0;
    file->identity = files_identity_remote(&identity);
    while (before && *old < before->file_count && strcmp(before->files[*old].name, name) < 0)
        ++*old;
    const struct tree_file *known = before && *old < before->file_count ? &before->files[*old] : NULL;
    bool is_known = known && strcmp(known->name, name) == 0;
    if (is_known) {
        file->is_as_named = known->is_as_named;
        file->looked_into = known->looked_into;
    }
    making->is_changed |=
        !is_known || !files_identity_equal(&known->identity, &file->identity) || known->reason != file->reason;
}

static struct tree_folder *folder_make(struct tree_remote_making *making, const struct span *span, const char *path,
                                       unsigned depth, const struct tree_folder *before);

static void folder_add(struct tree_remote_making *making, struct tree_folder *folder, const struct span *inner,
                       const struct tree_folder *before)
{
    const struct remote_object *first = remote_listing_at(inner->listing, inner->from);
    if (first->path[folder->path[0] ? strlen(folder->path) + 1 : 0] == '.')
        return; /* as names that begin with a dot are everywhere */
    if (making->folder_count >= FOLDERS_MAX || folder->depth >= DEPTH_MAX) {
        making->is_cut = true;
        return;
    }
    char *path = memory_format("%.*s", (int)(inner->skip - 1), first->path);
    folder->folders[folder->folder_count++] =
        folder_make(making, inner, path, folder->depth + 1, folder_before(before, path));
    free(path);
}

static struct tree_folder *folder_make(struct tree_remote_making *making, const struct span *span, const char *path,
                                       unsigned depth, const struct tree_folder *before)
{
    struct tree_folder *folder = tree_list_folder_new(path, depth);
    size_t files, folders, old = 0;
    count_in(span, &files, &folders);
    folder->files = memory_new((files + 1) * sizeof(*folder->files));
    folder->folders = memory_new((folders + 1) * sizeof(struct tree_folder *));
    making->folder_count++;
    for (size_t at = span->from, next; at < span->to; at = next) {
        const char *name = rest_of(span, at), *slash = strchr(name, '/');
        next = slash ? end_of_folder(span, at) : at + 1;
        const struct span inner = {span->listing, at, next, slash ? span->skip + (size_t)(slash - name) + 1 : 0};
        if (slash)
            folder_add(making, folder, &inner, before);
        else if (name[0] != '.' && names_kind_of(name) != NAMES_OTHER)
            file_make(making, &folder->files[folder->file_count++], remote_listing_at(span->listing, at), name, before,
                      &old);
    }
    if (folder->folder_count)
        qsort(folder->folders, folder->folder_count, sizeof(struct tree_folder *), by_path);
    making->is_changed |=
        !before || before->file_count != folder->file_count || before->folder_count != folder->folder_count;
    return folder;
}

/* The address is one object, named as its last part is. */
static struct tree_folder *lone_make(struct tree_remote_making *making, const struct remote_listing *listing)
{
    const struct tree *tree = making->tree;
    struct tree_folder *top = tree_list_folder_new("", 0);
    const char *slash = strrchr(tree->root, '/');
    char *name = memory_text(slash ? slash + 1 : tree->root), *decoded = memory_text(name);
    size_t old = 0;
    if (strncmp(tree->root, "http", 4) == 0 && remote_address_decode(decoded)) { /* keys of buckets are as they are */
        free(name);
        name = decoded;
        decoded = NULL;
    }
    top->files = memory_new(sizeof(*top->files));
    top->file_count = 1;
    file_make(making, top->files, remote_listing_at(listing, 0), name, tree->top, &old);
    free(decoded);
    free(name);
    return top;
}

/* True when something differs. */
static bool take_listing(struct tree *tree, struct remote_listing *listing)
{
    struct tree_remote_making making = {.tree = tree};
    const bool is_file = remote_root_is_file(tree->remote) && remote_listing_count(listing) == 1;
    const struct span all = {listing, 0, remote_listing_count(listing), 0};
    making.is_changed = is_file != tree->is_file || !tree->listing;
    struct tree_folder *top = is_file ? lone_make(&making, listing) : folder_make(&making, &all, "", 0, tree->top);
    tree_list_folder_free(tree->top);
    remote_listing_release(tree->listing);
    tree->top = top;
    tree->listing = listing;
    tree->is_file = is_file;
    tree->folder_count = making.folder_count;
    tree->is_cut = making.is_cut || remote_listing_left_out(listing).beyond > 0;
    return making.is_changed;
}

static bool take_fault(struct tree *tree)
{
    struct err now = ERR_INIT;
    remote_root_fault(tree->remote, &now);
    bool is_same = now.code == tree->fault.code && strcmp(now.text, tree->fault.text) == 0;
    tree->fault = now;
    return !is_same;
}

bool tree_remote_refresh(struct tree *tree)
{
    struct err unsaid = ERR_INIT; /* the root keeps it */
    bool is_changed = false;
    struct remote_listing *listing = tree->remote ? remote_root_hold(tree->remote) : NULL;
    if (tree->remote && !listing && !tree->is_followed) {
        remote_root_list(tree->remote, &unsaid);
        listing = remote_root_hold(tree->remote);
    }
    if (tree->remote)
        is_changed |= take_fault(tree);
    if (listing && listing != tree->listing)
        is_changed |= take_listing(tree, listing);
    else
        remote_listing_release(listing);
    if (tree->listing || err_is_set(&tree->fault)) {
        is_changed |= tree->refreshed_at_ms == 0;
        tree->refreshed_at_ms = clock_unix_ms();
    }
    return is_changed;
}
