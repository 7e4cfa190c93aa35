/* SPDX-License-Identifier: Apache-2.0 */
#include "server/cmd/mcp_roots.h"

#include "base/buf.h"
#include "server/base/log.h"
#include "server/base/memory.h"
#include "server/files/remote/remote_address.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool mcp_roots_open(struct mcp_roots *roots, const char *const *paths, size_t count)
{
    static const char *const here[] = {"."};
    if (count == 0)
        return mcp_roots_open(roots, here, 1);
    *roots = (struct mcp_roots){.paths = memory_new(count * sizeof(*roots->paths))};
    for (size_t at = 0; at < count; at++) {
        bool is_address = remote_address_is(paths[at]);
        char *usual = remote_address_respell(paths[at]);
        char *real = is_address ? NULL : realpath(usual ? usual : paths[at], NULL);
        int reason = errno;
        const char *why_not = !real && reason == ENOENT ? remote_address_why_not(paths[at]) : NULL;
        free(usual);
        if (!real) {
            log_line("%s: %s", paths[at],
                     is_address ? "mcp reads local files and folders only"
                     : why_not  ? why_not
                                : strerror(reason));
            return false;
        }
        roots->paths[roots->count++] = real;
    }
    return true;
}

void mcp_roots_free(struct mcp_roots *roots)
{
    for (size_t at = 0; at < roots->count; at++)
        free(roots->paths[at]);
    free(roots->paths);
}

static bool is_below(const char *path, const char *root)
{
    size_t length = strlen(root);
    if (strcmp(root, "/") == 0)
        return true;
    return strncmp(path, root, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

static bool is_allowed(const struct mcp_roots *roots, const char *path)
{
    bool is = false;
    for (size_t at = 0; at < roots->count; at++)
        is |= is_below(path, roots->paths[at]);
    return is;
}

/* Does the existing part of `path` lead below a root? A link that leads nowhere does not. */
static bool begins_inside(const struct mcp_roots *roots, const char *path)
{
    char *part = memory_text(path), *slash, *real;
    struct stat status;
    while (!(real = realpath(part, NULL)) && lstat(part, &status) != 0 && (slash = strrchr(part, '/')))
        slash[slash == part] = '\0'; /* at last "/" */
    bool is = real && is_allowed(roots, real);
    free(real);
    free(part);
    return is;
}

/* For a path that does not exist. Answers for paths outside of the roots must not reveal whether they exist. */
static bool is_named_inside(const struct mcp_roots *roots, const char *path)
{
    bool is = path[0] != '/' || begins_inside(roots, path);
    for (size_t at = 0; at < roots->count && path[0] != '/'; at++) {
        char *joined = memory_format("%s/%s", roots->paths[at], path);
        is &= begins_inside(roots, joined);
        free(joined);
    }
    return is;
}

static char *fault_outside(const struct mcp_roots *roots, const char *path)
{
    struct buf list = BUF_INIT;
    for (size_t at = 0; at < roots->count; at++)
        buf_format(&list, "%s%s", at > 0 ? ", " : "", roots->paths[at]);
    buf_char(&list, '\0');
    char *fault = memory_format("%s: this server reads only files in %s", path, list.failed ? "its roots" : list.data);
    buf_free(&list);
    return fault;
}

/* NULL: *reason is an errno. */
static char *real_of(const struct mcp_roots *roots, const char *path, int *reason)
{
    char *real = path[0] == '/' ? realpath(path, NULL) : NULL;
    *reason = path[0] == '/' ? errno : ENOENT;
    for (size_t at = 0; at < roots->count && path[0] != '/' && !real; at++) {
        char *joined = memory_format("%s/%s", roots->paths[at], path);
        real = realpath(joined, NULL);
        if (!real && errno != ENOENT)
            *reason = errno;
        free(joined);
    }
    return real;
}

static char *find_usual(const struct mcp_roots *roots, const char *path, char **fault)
{
    const char *why_not = remote_address_why_not(path); /* "hf://…" */
    struct stat status;
    int reason;
    *fault = NULL;
    if (path[0] == '\0' || strlen(path) >= PATH_MAX || remote_address_is(path)) {
        *fault = memory_text(path[0] == '\0'           ? "an empty path"
                             : remote_address_is(path) ? "addresses are not read: name a local file or folder"
                                                       : "a path that is too long");
        return NULL;
    }
    char *real = real_of(roots, path, &reason);
    if (real ? !is_allowed(roots, real) : !is_named_inside(roots, path))
        *fault = fault_outside(roots, path);
    else if (!real || stat(real, &status) != 0)
        *fault = memory_format("%s: %s", path, real ? strerror(errno) : why_not ? why_not : strerror(reason));
    else if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))
        *fault = memory_format("%s: neither a file nor a folder", path);
    if (*fault) {
        free(real);
        return NULL;
    }
    return real;
}

char *mcp_roots_find(const struct mcp_roots *roots, const char *path, char **fault)
{
    char *usual = remote_address_respell(path); /* file:///PATH */
    char *real = find_usual(roots, usual ? usual : path, fault);
    free(usual);
    return real;
}
