/* SPDX-License-Identifier: Apache-2.0 */
#include "server/cmd/notify_option.h"

#include "server/base/log.h"

bool notify_option_open(const struct options *options, struct webhook **webhook)
{
    struct err err = ERR_INIT;
    *webhook = options->notify_url ? webhook_open(options->notify_url, options->notify_secret, &err) : NULL;
    if (options->notify_secret && !options->notify_url)
        err_set(&err, ERR_argument, ERR_NO_OFFSET,
                "--notify-secret signs notifications of --notify=URL, which is missing");
    if (err_is_set(&err))
        log_error("%s%s", options->notify_url ? "--notify: " : "", err.text);
    return !err_is_set(&err);
}
