/* SPDX-License-Identifier: Apache-2.0 */
#include "server/gather/tree_list.h"

#include "server/base/clock.h"
#include "server/base/memory.h"
#include "server/gather/tree_archive.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct tree_folder *tree_list_folder_new(const char *path, unsigned depth)
{
    struct tree_folder *folder = memory_new(sizeof(*folder));
    folder->path = memory_text(path);
    folder->depth = depth;
    return folder;
}

static void file_free(struct tree_file *file)
{
    free(file->name);
    free(file->target);
    tree_archive_free(file->archive);
}

void tree_list_clear(struct tree_folder *folder)
{
    for (size_t at = 0; at < folder->folder_count; at++)
        tree_list_folder_free(folder->folders[at]);
    for (size_t at = 0; at < folder->file_count; at++)
        file_free(&folder->files[at]);
    free(folder->folders);
    free(folder->files);
    folder->folders = NULL;
    folder->files = NULL;
    folder->folder_count = folder->file_count = 0;
    folder->listed_at_ns = 0;
}

void tree_list_folder_free(struct tree_folder *folder)
{
    tree_list_clear(folder);
    watch_let_go(folder->watched);
    free(folder->path);
    free(folder->target);
    free(folder);
}

/* What a listing has found so far. */
struct found {
    struct tree_folder **folders;
    struct tree_file *files;
    size_t folder_count, folder_capacity, file_count, file_capacity;
};

static char *path_of(const struct tree_folder *folder, const char *name)
{
    return folder->path[0] ? memory_format("%s/%s", folder->path, name) : memory_text(name);
}

static void add_folder(struct found *found, const struct tree_folder *parent, const char *name, char *target)
{
    char *path = path_of(parent, name);
    found->folders =
        memory_grow(found->folders, &found->folder_capacity, found->folder_count + 1, sizeof(*found->folders));
    struct tree_folder *folder = tree_list_folder_new(path, parent->depth + 1);
    folder->target = target;
    found->folders[found->folder_count++] = folder;
    free(path);
}

static void add_file(struct found *found, const char *name, char *target, int reason)
{
    found->files = memory_grow(found->files, &found->file_capacity, found->file_count + 1, sizeof(*found->files));
    found->files[found->file_count++] =
        (struct tree_file){.name = memory_text(name), .target = target, .kind = names_kind_of(name), .reason = reason};
}

/* The place below the root that a link leads to, or NULL and errno. */
static char *link_target(const struct tree *tree, const char *path)
{
    char *whole = memory_format("%s/%s", tree->real, path);
    char *real = realpath(whole, NULL);
    int reason = errno;
    free(whole);
    if (!real) {
        errno = reason;
        return NULL;
    }
    size_t length = strlen(tree->real);
    bool is_inside = strncmp(real, tree->real, length) == 0 && (real[length] == '/' || length == 1);
    char *target = is_inside ? memory_text(real + (length == 1 ? 1 : length + 1)) : NULL;
    free(real);
    errno = EXDEV;
    return target;
}

static void add_link(struct found *found, const struct tree_folder *parent, int descriptor, const char *name,
                     const struct tree_list_limits *limits)
{
    struct stat status;
    char *path = path_of(parent, name);
    char *target = link_target(limits->tree, path);
    int reason = target ? 0 : errno;
    free(path);
    bool is_folder = fstatat(descriptor, name, &status, 0) == 0 && S_ISDIR(status.st_mode);
    if (is_folder && target && limits->takes_folder_links)
        add_folder(found, parent, name, target);
    else if (is_folder ? reason == EXDEV : names_kind_of(name) != NAMES_OTHER)
        add_file(found, name, target, reason);
    else
        free(target);
}

static void add_entry(struct found *found, const struct tree_folder *parent, int descriptor, const struct dirent *entry,
                      const struct tree_list_limits *limits)
{
    unsigned char type = entry->d_type;
    struct stat status;
    if (type == DT_UNKNOWN && fstatat(descriptor, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0)
        type = S_ISDIR(status.st_mode) ? DT_DIR : S_ISLNK(status.st_mode) ? DT_LNK : DT_REG;
    if (type == DT_DIR && limits->takes_folders)
        add_folder(found, parent, entry->d_name, NULL);
    else if (type == DT_LNK)
        add_link(found, parent, descriptor, entry->d_name, limits);
    else if (type != DT_DIR && names_kind_of(entry->d_name) != NAMES_OTHER) /* a pipe with such a name is reported */
        add_file(found, entry->d_name, NULL, 0);
}

static int order_folders(const void *a, const void *b)
{
    return strcmp((*(struct tree_folder *const *)a)->path, (*(struct tree_folder *const *)b)->path);
}

static int order_files(const void *a, const void *b)
{
    return strcmp(((const struct tree_file *)a)->name, ((const struct tree_file *)b)->name);
}

static bool equal_targets(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

/* Moves what was known of equal names into `found`. True when nothing else was known or found. */
static bool keep_folders(struct tree_folder *folder, struct found *found)
{
    size_t kept = 0;
    for (size_t at = 0, old = 0; at < found->folder_count; at++) {
        while (old < folder->folder_count && strcmp(folder->folders[old]->path, found->folders[at]->path) < 0)
            old++;
        struct tree_folder *known = old < folder->folder_count ? folder->folders[old] : NULL;
        if (!known || strcmp(known->path, found->folders[at]->path) != 0 ||
            !equal_targets(known->target, found->folders[at]->target))
            continue;
        folder->folders[old] = found->folders[at]; /* freed with the old list */
        found->folders[at] = known;
        kept++;
        old++;
    }
    return kept == folder->folder_count && kept == found->folder_count;
}

static bool keep_files(struct tree_folder *folder, struct found *found)
{
    size_t kept = 0;
    for (size_t at = 0, old = 0; at < found->file_count; at++) {
        while (old < folder->file_count && strcmp(folder->files[old].name, found->files[at].name) < 0)
            old++;
        struct tree_file *known = old < folder->file_count ? &folder->files[old] : NULL;
        if (!known || strcmp(known->name, found->files[at].name) != 0 ||
            !equal_targets(known->target, found->files[at].target))
            continue;
        found->files[at].identity = known->identity;
        found->files[at].is_as_named = known->is_as_named;
        found->files[at].looked_into = known->looked_into;
        found->files[at].is_unread = known->is_unread;
        found->files[at].archive = known->archive;
        known->archive = NULL;
        if (found->files[at].reason == 0)
            found->files[at].reason = known->reason == EXDEV ? 0 : known->reason;
        kept++;
        old++;
    }
    return kept == folder->file_count && kept == found->file_count;
}

/* 0, or the errno that says why it did not come to the end. */
static int read_names(struct found *found, const struct tree_folder *folder, int descriptor,
                      const struct tree_list_limits *limits)
{
    int own = fcntl(descriptor, F_DUPFD_CLOEXEC, 0); /* not opened again, which may be refused: opener.h */
    DIR *directory = own < 0 ? NULL : fdopendir(own);
    if (!directory) {
        int fault = errno;
        if (own >= 0)
            close(own);
        return fault;
    }
    rewinddir(directory);
    const struct dirent *entry;
    while ((errno = 0, entry = readdir(directory))) {
        if (entry->d_name[0] != '.')
            add_entry(found, folder, descriptor, entry, limits);
    }
    int fault = errno;
    closedir(directory);
    return fault;
}

static void found_free(struct found *found)
{
    for (size_t at = 0; at < found->folder_count; at++)
        tree_list_folder_free(found->folders[at]);
    for (size_t at = 0; at < found->file_count; at++)
        file_free(&found->files[at]);
    free(found->folders);
    free(found->files);
}

bool tree_list(struct tree_folder *folder, int descriptor, const struct tree_list_limits *limits, int *fault)
{
    struct found found = {0};
    *fault = read_names(&found, folder, descriptor, limits);
    if (*fault) {
        found_free(&found);
        return false;
    }
    if (found.folder_count)
        qsort(found.folders, found.folder_count, sizeof(*found.folders), order_folders);
    if (found.file_count)
        qsort(found.files, found.file_count, sizeof(*found.files), order_files);
    bool folders_same = keep_folders(folder, &found), files_same = keep_files(folder, &found);
    tree_list_clear(folder);
    folder->folders = found.folders;
    folder->folder_count = found.folder_count;
    folder->files = found.files;
    folder->file_count = found.file_count;
    return !folders_same || !files_same;
}

static struct tree_folder *folder_in(struct tree_folder *parent, const char *name)
{
    char *path = path_of(parent, name);
    struct tree_folder *found = NULL;
    for (size_t at = 0; at < parent->folder_count && !found; at++) {
        if (strcmp(parent->folders[at]->path, path) == 0)
            found = parent->folders[at];
    }
    if (!found) {
        size_t capacity = parent->folder_count;
        parent->folders = memory_grow(parent->folders, &capacity, parent->folder_count + 1, sizeof(*parent->folders));
        found = tree_list_folder_new(path, parent->depth + 1);
        parent->folders[parent->folder_count++] = found;
    }
    free(path);
    return found;
}

struct tree_file *tree_list_add_memory(struct tree_folder *top, const char *path, const unsigned char *bytes,
                                       size_t byte_count)
{
    struct tree_folder *folder = top;
    for (const char *slash; (slash = strchr(path, '/')); path = slash + 1) {
        char *name = memory_format("%.*s", (int)(slash - path), path);
        folder = folder_in(folder, name);
        free(name);
    }
    size_t capacity = folder->file_count;
    folder->files = memory_grow(folder->files, &capacity, folder->file_count + 1, sizeof(*folder->files));
    struct tree_file *file = &folder->files[folder->file_count++];
    *file = (struct tree_file){.name = memory_text(path), .kind = names_kind_of(path), .bytes = bytes};
    file->identity.inode = (uint64_t)(uintptr_t)bytes; /* bytes that stay tell themselves apart */
    file->identity.size_bytes = byte_count;
    if (top->modified_at_ns == 0)
        top->modified_at_ns = clock_unix_ns(); /* all of one time: their order is that of their names */
    file->identity.modified_at_ns = top->modified_at_ns;
    return file;
}
