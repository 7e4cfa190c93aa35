/* SPDX-License-Identifier: Apache-2.0 */
#include "server/cmd/serve_options.h"
#include "server/files/path_kind.h"

#include "server/base/log.h"
#include "server/files/remote/remote.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_PREFIX = 200, MAX_ORIGINS = 500, MAX_LIMIT_MIB = 1 << 30 };

/* A line in `reason` when a path is not there, unless that is awaited; with `option` it must be a folder. One that may
 * not be read may be so later: that is only said. */
static bool check_paths(const struct options_list *paths, const char *option, bool is_awaited, char *reason,
                        size_t reason_size)
{
    for (size_t at = 0; at < paths->count; at++) {
        struct stat status;
        const char *path = paths->items[at];
        if (remote_address_is(path))
            continue; /* whether it is there, its server says later; input_path.c has looked at how it is written */
        int fault = stat(path, &status) == 0 ? 0 : errno;
        if (!fault && option[0] && !S_ISDIR(status.st_mode))
            fault = ENOTDIR;
        if (fault == ENOENT && is_awaited && !remote_address_why_not(path)) {
            log_info("%s%s is not there yet: waiting for it", option, path);
        } else if (fault) {
            snprintf(reason, reason_size, "%s%s: %s", option, path, path_kind_why_not(path, fault));
            return false;
        } else if (faccessat(AT_FDCWD, path, S_ISDIR(status.st_mode) ? R_OK | X_OK : R_OK, AT_EACCESS) != 0) {
            log_line("%s%s cannot be read: %s", option, path, strerror(errno));
        }
    }
    return true;
}

/* Has the path "." or ".." among its names? Browsers remove them first, so no request would match. */
static bool has_dots(const char *path)
{
    bool has = false;
    for (const char *at = strchr(path, '/'); at && !has; at = strchr(at, '/')) {
        size_t length = strcspn(++at, "/");
        has = length > 0 && length <= 2 && strspn(at, ".") >= length;
    }
    return has;
}

static bool is_path_prefix(const char *text)
{
    static const char GOOD[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";
    size_t length = strlen(text);
    return text[0] == '/' && length < MAX_PREFIX && strspn(text, GOOD) == length && !strstr(text, "//") &&
           !has_dots(text);
}

/* The list goes into a header as it is. Each item is an origin: a lone * in a list would let every site in, despite the
 * other items. */
static bool is_origin_list(const char *text)
{
    static const char GOOD[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.:/*,[]";
    size_t length = strlen(text);
    bool is_good = length < MAX_ORIGINS && strspn(text, GOOD) == length;
    for (const char *at = text, *end = text; is_good && *end; at = end + 1) {
        const char *host = strstr(at, "://");
        end = at + strcspn(at, ",");
        is_good = host && host > at && host + 3 < end;
    }
    return is_good;
}

bool serve_options_check(const struct options *options, char *reason, size_t reason_size)
{
    struct stat status;
    const char *fault = NULL;
    if (options->logdirs.count + options->paths.count == 0 && !options->is_demo && !options->catalog &&
        !options->capture_logdir)
        fault = "nothing to show: give --logdir=DIR, files or folders, --catalog=URL or --demo (./memviewd-runs is not "
                "there)";
    else if (options->port < 0 || options->port > 65535)
        fault = "--port must be a number from 0 to 65535";
    else if (options->memory_limit_mib < 0 || options->memory_limit_mib > MAX_LIMIT_MIB)
        fault = "--memory-limit must be a number of MiB";
    else if (options->cache_limit_mib < 1 || options->cache_limit_mib > MAX_LIMIT_MIB)
        fault = "--cache-limit must be a number of MiB, from 1 on";
    else if (strcmp(options->log_format, "text") != 0 && strcmp(options->log_format, "json") != 0)
        fault = "--log-format must be text or json";
    else if (options->listen && options->bind)
        fault = "--listen and --bind exclude each other";
    else if (options->path_prefix && !is_path_prefix(options->path_prefix))
        fault =
            "--path-prefix must be a path such as /memviewd, of letters, digits and -._~, without . and .. as names";
    else if (options->frame_ancestors && !is_origin_list(options->frame_ancestors))
        fault = "--frame-ancestors must be origins, apart by commas: https://notebooks.example:8888 (* is none)";
    else if (options->is_without_token && options->token_file)
        fault = "--no-token and --token-file exclude each other";
    else if (options->web_folder && (stat(options->web_folder, &status) != 0 || !S_ISDIR(status.st_mode)))
        fault = "--web-dir must be a folder";
    if (fault)
        snprintf(reason, reason_size, "%s", fault);
    return !fault && check_paths(&options->logdirs, "--logdir=", options->is_waiting, reason, reason_size) &&
           check_paths(&options->source_roots, "--source-root=", false, reason, reason_size) &&
           check_paths(&options->paths, "", false, reason, reason_size);
}
