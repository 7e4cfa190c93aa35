/* SPDX-License-Identifier: Apache-2.0
 * tree.h: the folders below one root as the scanner last saw them.
 *
 * A refresh never walks the tree again: it asks each known folder for its time
 * of change and each known file for its size and time, and lists only folders
 * that changed. That costs one open, one fstat and one close a folder and one
 * fstatat a file. A refresh of what is new looks only where something new is likely: in folders that are not those of
 * sessions, with one fstatat each, and for files in those of which anything changed during the last ten minutes. Both
 * work alike on local and on network disks (the kernel is silent about changes that another machine makes), and miss
 * nothing: a folder changed within the last two seconds is listed again, since its time might not
 * show a further change, and folders of a FUSE file system, whose times mean
 * little, are listed every 30 s. A refresh of what was reported lists those folders of which the kernel told something
 * (watch.h), whatever their times say, and asks the disk about nothing else.
 *
 * Links: a link to a file, and a link to a folder right below plugins/profile,
 * is taken when its target lies below the root; other links to folders are not
 * entered (their targets are met where they are), and what leads out of the
 * root is only named. Names that begin with a dot are left out.
 *
 * What lies on servers (remote.h) is a tree of what was listed last: see tree_remote.c.
 *
 * Threads: one at a time. Nothing is ever opened for writing. */
#pragma once

#include "server/files/files.h"
#include "server/files/names.h"
#include "server/gather/watch.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The `reason` of an object in an archive of S3, which cannot be read before it is restored. */
#define TREE_ARCHIVED ENODATA

struct tree_file {
    char *name;
    char *target; /* of a link: the file's path below the root; else NULL */
    enum names_kind kind;
    struct files_identity identity;
    int reason;                 /* 0, or the errno that says why it cannot be read; EXDEV: it leads out of the root */
    const unsigned char *bytes; /* of a tree in memory, identity.size_bytes of them */
    bool is_as_named;           /* a profile or snapshot by its name, and by its bytes…  */
    struct files_identity looked_into; /* …in this state; set by tree_profiles.c */
    bool is_unread;                    /* it could not be looked into now, and is again with the next scan */
    const struct files_member *member; /* of a file in an archive, owned by that; else NULL */
    struct tree_archive *archive;      /* what is in it, of a zip of several files; else NULL: tree_archive.h */
};

struct tree_folder {
    char *path;                   /* below the root, "" for the root itself */
    char *target;                 /* of a link: the folder's path below the root; else NULL */
    struct tree_folder **folders; /* by name */
    struct tree_file *files;      /* by name; only those that may be shown */
    size_t folder_count, file_count;
    int64_t modified_at_ns, listed_at_ns;
    int64_t changed_at_ns; /* the last known change of the folder or of a file in it; Unix time */
    uint64_t device, inode;
    int reason; /* 0, or the errno that says why it cannot be listed */
    unsigned depth;
    struct watched *watched; /* NULL: it is not watched */
    uint64_t told_at;        /* watch_told_at before it was listed */
};

struct tree {
    char *root;       /* as given, made absolute */
    char *real;       /* the same without links; NULL while it does not exist */
    bool is_file;     /* the root is one file, top.files[0], whatever its name */
    char *inside;     /* for a root that is a zip archive: the file or folder in it; NULL: the whole archive */
    bool is_memory;   /* not on disk: filled by tree_add_memory */
    bool is_flat;     /* folders in it are no part of the tree */
    bool is_cut;      /* more folders than the limit, or deeper */
    bool has_unread;  /* a file that could not be looked into: tree_profiles.c */
    bool is_remote;   /* on a server: root is its address */
    bool is_followed; /* of such: a thread of remote.c lists it; else it is listed when it is refreshed, once */
    struct remote_root *remote;     /* of such; NULL: the address is none */
    struct remote_listing *listing; /* that the folders were made of; NULL: none yet */
    struct err fault;               /* why such a root could not be listed the last time */
    struct watch *watch;            /* borrowed; NULL: no folder is watched */
    struct tree_folder *top;
    size_t folder_count;
    int64_t refreshed_at_ms; /* Unix time, 0 before the first one was complete */
    uint64_t asked_count;    /* folders and files that the last refresh asked the disk about */
};

/* `path` must exist, or is an address of remote.h, or goes on inside a zip archive that exists: then only what it names
 * there is in the tree. Nothing is read yet. */
struct tree *tree_new(const char *path);
void tree_free(struct tree *tree);

/* A tree of files in memory; `name` represents its root. Add them by path, in the order
 * of their paths; what is returned is good until the next. The bytes are borrowed; their time is now. */
struct tree *tree_new_of_memory(const char *name);
struct tree_file *tree_add_memory(struct tree *tree, const char *path, const unsigned char *bytes, size_t byte_count);

enum tree_extent { TREE_ALL, TREE_NEW, TREE_TOLD };
/* Updates the tree, or only its new or changed parts (`extent`); true when anything differs from before. Calls `go_on`
 * after each folder and stops early when that returns false. */
bool tree_refresh(struct tree *tree, enum tree_extent extent, bool (*go_on)(void *context), void *context);

/* tree_remote.c: the folders below an address, made of what its server listed. */
/* Takes the newest list, if it is another one than before; true when anything differs. Never waits for a server when
 * the tree is followed. */
bool tree_remote_refresh(struct tree *tree);
