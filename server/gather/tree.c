/* SPDX-License-Identifier: Apache-2.0 */
#include "server/gather/tree.h"

#include "server/base/clock.h"
#include "server/base/descriptors.h"
#include "server/base/memory.h"
#include "server/base/other_systems.h"
#include "server/files/archive_path.h"
#include "server/files/beneath.h"
#include "server/files/opener.h"
#include "server/files/path_spelling.h"
#include "server/gather/tree_list.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_FOLDERS = 200000, MAX_DEPTH = 40 };
static const int64_t RECENT_NS = 2000000000, RELIST_NS = 30000000000, LATELY_NS = 600000000000;

/* What a refresh carries from folder to folder. */
struct pass {
    struct tree *tree;
    int root; /* descriptor of the root folder */
    enum tree_extent extent;
    bool times_mean_little;
    int64_t now_ns;
    bool (*go_on)(void *context);
    void *context;
    bool is_changed, is_stopped;
};

struct tree *tree_new(const char *path)
{
    struct tree *tree = memory_new(sizeof(*tree));
    struct stat status;
    tree->is_remote = remote_address_is(path);
    tree->root = tree->is_remote ? memory_text(path) : path_spelling(path);
    size_t length = strlen(tree->root);
    while (length > 1 && tree->root[length - 1] == '/')
        tree->root[--length] = '\0';
    tree->top = tree_list_folder_new("", 0);
    if (tree->is_remote) {
        tree->remote = remote_root_of(path, &tree->fault);
        return tree;
    }
    const char *inside;
    char *archive = archive_path_split(tree->root, &inside);
    if (archive) {
        tree->inside = memory_text(inside);
        free(tree->root);
        tree->root = archive;
    }
    tree->is_file = stat(tree->root, &status) == 0 && !S_ISDIR(status.st_mode);
    return tree;
}

void tree_free(struct tree *tree)
{
    if (!tree)
        return;
    tree_list_folder_free(tree->top);
    remote_listing_release(tree->listing);
    free(tree->root);
    free(tree->inside);
    free(tree->real);
    free(tree);
}

struct tree *tree_new_of_memory(const char *name)
{
    struct tree *tree = memory_new(sizeof(*tree));
    tree->root = memory_text(name);
    tree->is_memory = true;
    tree->top = tree_list_folder_new("", 0);
    return tree;
}

struct tree_file *tree_add_memory(struct tree *tree, const char *path, const unsigned char *bytes, size_t byte_count)
{
    return tree_list_add_memory(tree->top, path, bytes, byte_count);
}

static void set_reason(struct pass *pass, int *reason, int now)
{
    pass->is_changed |= *reason != now;
    *reason = now;
}

static bool is_of_our_group(gid_t group)
{
    gid_t groups[256];
    int count = getgroups((int)(sizeof(groups) / sizeof(groups[0])), groups);
    bool is = group == getegid();
    for (int at = 0; at < count; at++)
        is |= groups[at] == group;
    return is;
}

/* 0, or the errno that says why it cannot be read. The bits that were read already say mostly that it can: only if they
 * do not, the system is asked, which on a network disk takes as long again. */
static int read_fault(int folder, const char *name, const struct stat *status)
{
    mode_t bit = status->st_uid == geteuid() ? S_IRUSR : is_of_our_group(status->st_gid) ? S_IRGRP : S_IROTH;
    return (status->st_mode & bit) || faccessat(folder, name, R_OK, AT_EACCESS) == 0 ? 0 : errno;
}

/* Sets `file`'s identity and reason anew. */
static void file_refresh(struct pass *pass, int folder, struct tree_file *file)
{
    struct stat status;
    pass->tree->asked_count++;
    int found = file->target ? -1 : fstatat(folder, file->name, &status, AT_SYMLINK_NOFOLLOW);
    if (file->target) {
        int target = beneath_open(pass->root, file->target, O_PATH | O_CLOEXEC);
        found = target < 0 ? -1 : fstat(target, &status);
        if (target >= 0)
            close(target);
    }
    if (found != 0) {
        set_reason(pass, &file->reason, errno);
        return;
    }
    if (S_ISLNK(status.st_mode))
        return; /* a link that leads nowhere or out of the root: its reason is known since it was listed */
    struct files_identity identity = files_identity_of(&status);
    bool differs = !files_identity_equal(&identity, &file->identity);
    file->identity = identity;
    pass->is_changed |= differs;
    if (!S_ISREG(status.st_mode))
        set_reason(pass, &file->reason, EINVAL);
    else if ((differs || file->reason) && !file->target)
        set_reason(pass, &file->reason, read_fault(folder, file->name, &status));
    else if (file->target)
        set_reason(pass, &file->reason, 0);
}

static bool must_list(const struct pass *pass, const struct tree_folder *folder, const struct files_identity *identity)
{
    bool is_same = folder->listed_at_ns && !folder->reason && folder->modified_at_ns == identity->modified_at_ns &&
                   folder->inode == identity->inode && folder->device == identity->device;
    if (!is_same || folder->listed_at_ns - folder->modified_at_ns < RECENT_NS)
        return true;
    return pass->times_mean_little && clock_is_apart(pass->now_ns, folder->listed_at_ns, RELIST_NS);
}

/* 0, or the errno that says why not: then it is tried again by the next refresh. */
static int folder_list(struct pass *pass, struct tree_folder *folder, int descriptor,
                       const struct files_identity *identity)
{
    int fault;
    /* Asked before listing, so that a change during it is seen the next time. */
    int64_t listed_at_ns = clock_unix_ns();
    bool is_run_place = strcmp(folder->path, "plugins/profile") == 0;
    size_t length = strlen(folder->path);
    if (length > 16 && strcmp(folder->path + length - 16, "/plugins/profile") == 0)
        is_run_place = true;
    struct tree_list_limits limits = {
        .tree = pass->tree,
        .takes_folders = !pass->tree->is_flat && !folder->target && folder->depth < MAX_DEPTH &&
                         pass->tree->folder_count < MAX_FOLDERS,
        .takes_folder_links = is_run_place,
    };
    pass->is_changed |= tree_list(folder, descriptor, &limits, &fault);
    if (fault)
        return fault;
    folder->modified_at_ns = identity->modified_at_ns;
    folder->device = identity->device;
    folder->inode = identity->inode;
    folder->listed_at_ns = listed_at_ns;
    return 0;
}

static void max_set(int64_t *max, int64_t value) { *max = value > *max ? value : *max; }

/* By the disk's times, and by ours for what is seen to change: the disk's clock may be wrong. */
static void change_note(const struct pass *pass, struct tree_folder *folder, bool is_seen)
{
    max_set(&folder->changed_at_ns, folder->modified_at_ns);
    for (size_t at = 0; at < folder->file_count; at++)
        max_set(&folder->changed_at_ns, folder->files[at].identity.modified_at_ns);
    if (is_seen)
        max_set(&folder->changed_at_ns, pass->now_ns);
}

static const char *path_in(const struct tree_folder *folder)
{
    const char *path = folder->target ? folder->target : folder->path;
    return path[0] ? path : ".";
}

/* Is it the folder of a session, to which no folders are added? */
static bool holds_session(const struct tree_folder *folder)
{
    for (size_t at = 0; at < folder->file_count && folder->folder_count == 0; at++) {
        enum names_kind kind = folder->files[at].kind;
        if (kind == NAMES_TRACE || kind == NAMES_HLO || kind == NAMES_DUMP_MODULE)
            return true;
    }
    return false;
}

/* Did the kernel tell of a change since it was looked at? */
static bool is_told(const struct tree_folder *folder) { return watch_told_at(folder->watched) != folder->told_at; }

static bool is_any_told(const struct tree_folder *folder)
{
    bool is = is_told(folder);
    for (size_t at = 0; at < folder->folder_count && !is; at++)
        is = is_any_told(folder->folders[at]);
    return is;
}

/* May it be left out of a refresh of what is new or told? A path that leads elsewhere meanwhile has another identity
 * there, and is then opened with care. */
static bool is_as_before(struct pass *pass, const struct tree_folder *folder)
{
    struct stat status;
    if (is_told(folder))
        return false;
    if (pass->extent == TREE_TOLD)
        return folder->listed_at_ns || folder->reason;
    if (pass->extent == TREE_ALL || pass->now_ns - folder->changed_at_ns < LATELY_NS || !folder->listed_at_ns)
        return false;
    if (holds_session(folder))
        return true;
    pass->tree->asked_count++;
    if (fstatat(pass->root, path_in(folder), &status, AT_SYMLINK_NOFOLLOW) != 0)
        return false;
    struct files_identity identity = files_identity_of(&status);
    return !must_list(pass, folder, &identity);
}

static void folder_unwatch(struct tree_folder *folder)
{
    watch_let_go(folder->watched);
    folder->watched = NULL;
    folder->told_at = 0;
}

static enum watch_rank rank_of(const struct pass *pass, const struct tree_folder *folder, int64_t modified_at_ns)
{
    if (folder->depth == 0)
        return WATCH_ROOT;
    max_set(&modified_at_ns, folder->changed_at_ns);
    if (pass->now_ns - modified_at_ns < LATELY_NS)
        return WATCH_LATELY;
    return holds_session(folder) ? WATCH_OLD : WATCH_PLACE;
}

/* Watches a folder before it is listed, so that later changes are reported. The content of an old folder must be known
 * first; a change at that very moment is found by a scan. */
static void folder_watch(const struct pass *pass, struct tree_folder *folder, int descriptor, const struct stat *status)
{
    enum watch_rank rank = rank_of(pass, folder, files_identity_of(status).modified_at_ns);
    if (folder->listed_at_ns || rank <= WATCH_LATELY)
        folder->watched = watch_keep(pass->tree->watch, folder->watched, descriptor, status, rank);
}

static void folder_bring_up(struct pass *pass, struct tree_folder *folder, int descriptor, const struct stat *status)
{
    struct files_identity identity = files_identity_of(status);
    folder_watch(pass, folder, descriptor, status);
    uint64_t told_at = watch_told_at(folder->watched);
    bool must = told_at != folder->told_at || must_list(pass, folder, &identity);
    set_reason(pass, &folder->reason, must ? folder_list(pass, folder, descriptor, &identity) : 0);
    if (!folder->watched) {
        folder_watch(pass, folder, descriptor, status);
        told_at = watch_told_at(folder->watched);
    }
    folder->told_at = told_at;
    for (size_t at = 0; at < folder->file_count; at++)
        file_refresh(pass, descriptor, &folder->files[at]);
}

static void folder_look(struct pass *pass, struct tree_folder *folder)
{
    struct stat status;
    const char *path = folder->target ? folder->target : folder->path;
    bool is_known = folder->listed_at_ns != 0, was_changed = pass->is_changed;
    pass->is_changed = false;
    pass->tree->asked_count++;
    int descriptor = beneath_open(pass->root, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0 || fstat(descriptor, &status) != 0) {
        set_reason(pass, &folder->reason, errno);
        tree_list_clear(folder);
        folder_unwatch(folder);
    } else {
        folder_bring_up(pass, folder, descriptor, &status);
    }
    if (descriptor >= 0)
        close(descriptor);
    change_note(pass, folder, is_known && pass->is_changed);
    pass->is_changed |= was_changed;
}

static void folder_refresh(struct pass *pass, struct tree_folder *folder)
{
    if (!is_as_before(pass, folder))
        folder_look(pass, folder);
    pass->tree->folder_count++;
    pass->tree->is_cut |= folder->depth >= MAX_DEPTH || pass->tree->folder_count >= MAX_FOLDERS;
    if (pass->go_on && !pass->go_on(pass->context))
        pass->is_stopped = true;
    for (size_t at = 0; at < folder->folder_count && !pass->is_stopped; at++)
        folder_refresh(pass, folder->folders[at]);
}

/* The root is one file. */
static void lone_refresh(struct pass *pass)
{
    struct tree_folder *top = pass->tree->top;
    struct stat status;
    if (top->file_count == 0) {
        const char *slash = strrchr(pass->tree->root, '/');
        top->files = memory_new(sizeof(*top->files));
        top->files->name = memory_text(slash ? slash + 1 : pass->tree->root);
        top->files->kind = names_kind_of(top->files->name);
        top->file_count = 1;
    }
    struct tree_file *file = top->files;
    if (stat(pass->tree->root, &status) != 0) {
        set_reason(pass, &file->reason, errno);
        return;
    }
    struct files_identity identity = files_identity_of(&status);
    pass->is_changed |= !files_identity_equal(&identity, &file->identity);
    file->identity = identity;
    if (S_ISREG(status.st_mode))
        set_reason(pass, &file->reason, access(pass->tree->root, R_OK) == 0 ? 0 : errno);
    else
        set_reason(pass, &file->reason, EINVAL);
}

static void root_refresh(struct pass *pass)
{
    struct tree *tree = pass->tree;
    free(tree->real);
    tree->real = realpath(tree->root, NULL);
    pass->root = opener_open_root(tree->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (pass->root < 0 || !tree->real) {
        set_reason(pass, &tree->top->reason, errno);
        tree_list_clear(tree->top);
        folder_unwatch(tree->top);
    } else {
        pass->times_mean_little = descriptors_is_fuse(pass->root);
        tree->folder_count = 0;
        tree->is_cut = false;
        folder_refresh(pass, tree->top);
    }
    if (pass->root >= 0)
        close(pass->root);
}

bool tree_refresh(struct tree *tree, enum tree_extent extent, bool (*go_on)(void *context), void *context)
{
    struct pass pass = {
        .tree = tree, .root = -1, .extent = extent, .now_ns = clock_unix_ns(), .go_on = go_on, .context = context};
    tree->asked_count = 0;
    if (tree->is_memory)
        pass.is_changed = false; /* it never does */
    else if (tree->is_remote)
        return tree_remote_refresh(tree);
    else if (extent == TREE_TOLD && !is_any_told(tree->top))
        return false; /* not even the root is asked for, which may lie on a slow disk */
    else if (tree->is_file)
        lone_refresh(&pass);
    else
        root_refresh(&pass);
    if (!pass.is_stopped) {
        pass.is_changed |= tree->refreshed_at_ms == 0;
        tree->refreshed_at_ms = clock_unix_ms();
    }
    return pass.is_changed;
}
