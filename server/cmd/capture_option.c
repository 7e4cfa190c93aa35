/* SPDX-License-Identifier: Apache-2.0 */
#include "server/cmd/capture_option.h"

#include "server/base/memory.h"
#include "server/capture/capture.h"
#include "server/files/remote/remote_address.h"

#include <stdlib.h>
#include <strings.h>

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

bool capture_option_check_logdir(const char *logdir, const char *option, struct err *err)
{
    return !remote_address_is(logdir) ||
           err_set(err, ERR_unsupported, ERR_NO_OFFSET,
                   "%s%.*s: memviewd reads such addresses and does not write them: name a folder of this machine",
                   option, SHOWN, logdir);
}
