/* SPDX-License-Identifier: Apache-2.0 */
#include "server/cmd/capture_option.h"

#include "server/base/log.h"
#include "server/base/memory.h"
#include "server/capture/capture.h"
#include "server/cmd/input_path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SHOWN = 80 };

static bool has_address(const struct capture_addresses *addresses, const char *text)
{
    for (size_t at = 0; at < addresses->count; at++)
        if (strcasecmp(addresses->items[at]->text, text) == 0)
            return true;
    return false;
}

bool capture_option_read(const struct options_list *texts, struct capture_addresses *addresses, struct err *err)
{
    *addresses = (struct capture_addresses){memory_new((texts->count + 1) * sizeof(*addresses->items)), 0};
    for (size_t at = 0; at < texts->count && !err_is_set(err); at++) {
        struct capture_address *address = memory_new(sizeof(*address));
        if (addresses->count == CAPTURE_HOSTS_MAX)
            err_set(err, ERR_argument, ERR_NO_OFFSET, "more than %d hosts cannot be asked at once", CAPTURE_HOSTS_MAX);
        else if (has_address(addresses, texts->items[at]))
            err_set(err, ERR_argument, ERR_NO_OFFSET, "%.*s is named twice", SHOWN, texts->items[at]);
        else if (capture_address_read(texts->items[at], address, err))
            addresses->items[addresses->count++] = address;
        if (err_is_set(err))
            free(address);
    }
    if (err_is_set(err))
        capture_option_free(addresses);
    return !err_is_set(err);
}

void capture_option_free(struct capture_addresses *addresses)
{
    for (size_t at = 0; at < addresses->count; at++) {
        struct capture_address *address = (struct capture_address *)addresses->items[at];
        capture_address_free(address);
        free(address);
    }
    free(addresses->items);
    *addresses = (struct capture_addresses){0};
}

static bool check_folder(const char *path, struct err *err)
{
    struct stat status;
    int fault = stat(path, &status) != 0 ? errno : S_ISDIR(status.st_mode) ? 0 : ENOTDIR;
    if (!fault && access(path, W_OK | X_OK) != 0)
        fault = errno;
    return !fault || err_set(err, ERR_io, ERR_NO_OFFSET, "--capture-logdir=%.*s: %s", SHOWN, path, strerror(fault));
}

bool capture_option_open(const struct options *options, struct capture_addresses *addresses)
{
    const char *logdir = options->capture_logdir;
    struct err err = ERR_INIT;
    if (options->captures.count == 0 && !logdir)
        return true;
    if (options->captures.count == 0)
        err_set(&err, ERR_argument, ERR_NO_OFFSET, "--capture-logdir without --capture=HOST:PORT: no job may be asked");
    else if (!logdir)
        err_set(&err, ERR_argument, ERR_NO_OFFSET,
                "--capture needs --capture-logdir=DIR: the folder that gets the traces; nothing else is written");
    else if (input_path_check_folder(logdir, "--capture-logdir=", &err) && check_folder(logdir, &err) &&
             capture_set_up(&err))
        capture_option_read(&options->captures, addresses, &err);
    if (err_is_set(&err))
        log_error("%s", err.text);
    return !err_is_set(&err);
}

bool capture_option_is_watched(const struct options *options)
{
    bool is_watched = false;
    char *own = realpath(options->capture_logdir, NULL);
    for (size_t at = 0; own && at < options->logdirs.count; at++) {
        char *other = realpath(options->logdirs.items[at], NULL);
        is_watched |= other && strcmp(own, other) == 0;
        free(other);
    }
    free(own);
    return is_watched;
}
