/* SPDX-License-Identifier: Apache-2.0 */
#include "server/cmd/input_path.h"

#include "server/base/log.h"
#include "server/base/memory.h"
#include "server/files/archive_path.h"
#include "server/files/names.h"
#include "server/files/remote/remote.h"
#include "server/store/account.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    CACHE_PART = 8,
    INTERVAL_MAX_S = 86400
}; /* blocks of addresses take an eighth of the memory that there is to use */

/* Beside the baseline of `check`. */
#define PATH_LISTS(options) {&(options)->logdirs, &(options)->paths, &(options)->bases, &(options)->diff_bases}

static void respell(struct options *options, const char **path)
{
    char *usual = remote_address_respell(*path);
    if (usual)
        *path = options_keep(options, usual);
}

void input_path_respell_folders(struct options *options)
{
    const char **const folders[] = {&options->run_logdir, &options->capture_logdir};
    for (size_t at = 0; at < sizeof(folders) / sizeof(folders[0]); at++)
        if (*folders[at])
            respell(options, folders[at]);
}

void input_path_respell(struct options *options)
{
    struct options_list *const lists[] = PATH_LISTS(options);
    for (size_t list = 0; list < sizeof(lists) / sizeof(lists[0]); list++)
        for (size_t at = 0; at < lists[list]->count; at++)
            respell(options, &lists[list]->items[at]);
    if (options->baseline)
        respell(options, &options->baseline);
    input_path_respell_folders(options);
}

const char *input_path_address(const struct options *options, size_t at)
{
    const struct options_list *const lists[] = PATH_LISTS(options);
    for (size_t list = 0; list < sizeof(lists) / sizeof(lists[0]); list++)
        for (size_t i = 0; i < lists[list]->count; i++)
            if (remote_address_is(lists[list]->items[i]) && at-- == 0)
                return lists[list]->items[i];
    return options->baseline && remote_address_is(options->baseline) && at == 0 ? options->baseline : NULL;
}

/* Messages show addresses, and the part before "@" is a secret. The environment's addresses matter only if they are
 * used. */
static bool has_user(const struct options *options)
{
    static const char *const VARIABLES[] = {"AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL_STS",
                                            "STORAGE_EMULATOR_HOST"};
    bool has = options->endpoint_url && remote_address_has_user(options->endpoint_url);
    for (size_t at = 0; input_path_address(options, 0) && at < sizeof(VARIABLES) / sizeof(VARIABLES[0]); at++) {
        const char *url = getenv(VARIABLES[at]);
        has |= url && remote_address_has_user(url);
    }
    return has;
}

static const char *fault_of(const struct options *options)
{
    const char *url = options->endpoint_url;
    if (url && strncmp(url, "https://", 8) != 0 && strncmp(url, "http://", 7) != 0)
        return "--endpoint-url must be an http:// or https:// address";
    if (has_user(options))
        return "a user name or password does not belong in --endpoint-url, AWS_ENDPOINT_URL or STORAGE_EMULATOR_HOST";
    if (options->list_every_s < 0 || options->list_every_s > INTERVAL_MAX_S)
        return "--list-every must be a number of seconds up to 86400";
    return NULL;
}

/* Why `path` cannot be read, where it is an address of a kind that is not; a folder may be named like one. NULL: it is
 * none. */
static const char *other_storage(const char *path)
{
    struct stat status;
    bool is_other = !remote_address_is(path) && stat(path, &status) != 0 && errno == ENOENT;
    return is_other ? remote_address_why_not(path) : NULL;
}

/* What the user named and is not read, said in the log. --logdir waits for folders, and names them itself. */
static bool has_other_storage(const struct options *options)
{
    const struct options_list *const lists[] = {&options->paths, &options->bases, &options->diff_bases};
    const char *path = NULL, *why = NULL;
    for (size_t list = 0; list < sizeof(lists) / sizeof(lists[0]) && !why; list++)
        for (size_t at = 0; at < lists[list]->count && !why; at++) {
            path = lists[list]->items[at];
            why = other_storage(path);
        }
    if (!why && options->baseline) {
        path = options->baseline;
        why = other_storage(path);
    }
    if (why)
        log_line("%s: %s", path, why);
    return why != NULL;
}

bool input_path_set_up(const struct options *options)
{
    if (has_other_storage(options))
        return false;
    struct err err = ERR_INIT;
    const char *first = input_path_address(options, 0), *fault = fault_of(options);
    uint64_t limit_bytes =
        options->memory_limit_mib > 0 ? (uint64_t)options->memory_limit_mib << 20 : account_default_limit();
    const struct remote_settings settings = {.endpoint_url = options->endpoint_url,
                                             .cache_bytes = limit_bytes / CACHE_PART,
                                             .interval_ms = options->list_every_s * 1000,
                                             .is_wanted = names_is_listed};
    for (size_t at = 0; !fault && input_path_address(options, at); at++) {
        struct remote_address address;
        if (!remote_address_read(input_path_address(options, at), &address, &err))
            first = input_path_address(options, at);
        remote_address_free(&address);
    }
    if (fault)
        log_line("%s", fault);
    else if (err_is_set(&err) || (first && !remote_set_up(&settings, &err)))
        log_line("%s: %s", first, err.text);
    return !fault && !err_is_set(&err);
}

bool input_path_check_folder(const char *path, const char *option, struct err *err)
{
    enum { SHOWN = 100 };
    const char *why =
        remote_address_is(path) ? "memviewd reads such addresses and does not write them" : other_storage(path);
    return !why || err_set(err, ERR_unsupported, ERR_NO_OFFSET, "%s%.*s: %s%s", option, SHOWN, path, why,
                           remote_address_is(path) ? ": name a folder of this machine" : "");
}
