/* SPDX-License-Identifier: Apache-2.0 */
#include "server/cmd/notify_option.h"

#include "server/base/log.h"

bool notify_option_open(const struct options *options, struct webhook **webhook)
{
    struct err err = ERR_INIT;
    enum notice_form form;
    *webhook = NULL;
    if (!notice_form_read(options->notify_format, &form)) {
        log_error("--notify-format=%s: it is %s", options->notify_format, notice_form_names());
        return false;
    }
    if (options->notify_url)
        *webhook = webhook_open(options->notify_url, options->notify_secret, form, &err);
    else if (options->notify_secret || form != NOTICE_FORM_MEMVIEWD)
        err_set(&err, ERR_argument, ERR_NO_OFFSET,
                options->notify_secret ? "--notify-secret signs notifications of --notify=URL, which is missing"
                                       : "--notify-format is that of --notify=URL, which is missing");
    if (err_is_set(&err))
        log_error("%s%s", options->notify_url ? "--notify: " : "", err.text);
    return !err_is_set(&err);
}
