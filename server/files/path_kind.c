/* SPDX-License-Identifier: Apache-2.0 */
#include "server/files/path_kind.h"

#include "base/err.h"
#include "server/base/log.h"
#include "server/base/memory.h"
#include "server/files/archive_path.h"
#include "server/files/remote/remote.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static enum path_kind kind_of_address(const char *address, struct err *err)
{
    struct remote_root *root = remote_root_of(address, err);
    struct remote_listing *listing = root ? remote_root_hold(root) : NULL;
    if (root && !listing && remote_root_list(root, err))
        listing = remote_root_hold(root);
    bool is_empty = listing && remote_listing_count(listing) == 0;
    if (is_empty)
        err_set(err, ERR_notfound, ERR_NO_OFFSET, "there is nothing that memviewd can show");
    remote_listing_release(listing);
    if (!listing || is_empty)
        return PATH_KIND_NONE;
    return remote_root_is_file(root) ? PATH_KIND_FILE : PATH_KIND_FOLDER;
}

bool path_kind_is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

bool path_kind_is_inside(const char *path)
{
    const char *inside;
    char *archive = remote_address_is(path) ? NULL : archive_path_split(path, &inside);
    free(archive);
    return archive != NULL;
}

bool path_kind_is_file(enum path_kind kind) { return kind == PATH_KIND_FILE || kind == PATH_KIND_MEMBER; }

enum path_kind path_kind_of(const char *path, bool says_why)
{
    struct stat status;
    struct err err = ERR_INIT;
    enum path_kind kind;
    if (remote_address_is(path))
        kind = kind_of_address(path, &err);
    else if (path_kind_is_inside(path))
        kind = PATH_KIND_MEMBER;
    else if (stat(path, &status) != 0)
        kind = PATH_KIND_NONE;
    else
        kind = S_ISDIR(status.st_mode) ? PATH_KIND_FOLDER : S_ISREG(status.st_mode) ? PATH_KIND_FILE : PATH_KIND_STREAM;
    if (kind == PATH_KIND_NONE && says_why)
        log_line("%s: %s", path, err_is_set(&err) ? err.text : path_kind_why_not(path, errno));
    return kind;
}

const char *path_kind_why_not(const char *path, int fault)
{
    const char *why_not = fault == ENOENT ? remote_address_why_not(path) : NULL;
    return why_not ? why_not : fault == ENOENT ? "no such file or folder" : strerror(fault);
}

const char *path_kind_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

char *path_kind_real(const char *path) { return remote_address_is(path) ? memory_text(path) : realpath(path, NULL); }

void path_kind_each_file(const char *address, void (*file)(void *context, const char *path), void *context)
{
    struct err unsaid = ERR_INIT;
    struct remote_root *root = remote_root_of(address, &unsaid);
    struct remote_listing *listing = root ? remote_root_hold(root) : NULL;
    for (size_t at = 0; listing && at < remote_listing_count(listing); at++) {
        char *path = memory_format("%s/%s", address, remote_listing_at(listing, at)->path);
        file(context, path);
        free(path);
    }
    remote_listing_release(listing);
}
