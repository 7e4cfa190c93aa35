/* SPDX-License-Identifier: Apache-2.0 */
#include "server/fleet/notify/notify_index.h"

#include "server/base/clock.h"
#include "server/base/log.h"
#include "server/base/memory.h"
#include "server/fleet/notify/sender.h"
#include "server/fleet/notify/ticker.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TRIES = 8, PAUSE_S = 4 };

struct notify_index {
    struct store *store;
    struct catalog_notices *notices; /* of the thread that indexes */
    struct sender sender;            /* of the ticker's */
    struct ticker *ticker;
};

static void notify_index_work(void *context) { sender_work(context); }

static void free_all(struct notify_index *notify)
{
    catalog_notices_close(notify->notices);
    catalog_notices_close(notify->sender.notices);
    free(notify);
}

struct notify_index *notify_index_start(const struct webhook *webhook, const char *catalog_url, struct store *store,
                                        struct err *err)
{
    struct notify_index *notify = memory_new(sizeof(*notify));
    notify->store = store;
    notify->sender.webhook = webhook;
    notify->notices = catalog_notices_open(catalog_url, err);
    notify->sender.notices = notify->notices ? catalog_notices_open(catalog_url, err) : NULL;
    notify->ticker = notify->sender.notices ? ticker_start(notify_index_work, &notify->sender) : NULL;
    if (notify->ticker)
        return notify;
    err_set(err, ERR_io, ERR_NO_OFFSET, "no thread can be made: %s", strerror(errno));
    free_all(notify);
    return NULL;
}

bool notify_index_failure(struct notify_index *notify, const struct notice_failure *failure, struct err *err)
{
    struct notice_made made;
    bool is_good = notice_of_failure(notify->store, failure, &made, err);
    const struct catalog_notices_message message = {.id = made.id,
                                                    .kind = "failure",
                                                    .body = &made.body,
                                                    .row_id = made.row_id,
                                                    .host = &made.host,
                                                    .is_for_new = true};
    for (int tried = 0; is_good && tried < TRIES; tried++) {
        *err = (struct err)ERR_INIT;
        if (catalog_notices_add(notify->notices, &message, err) || err->code != ERR_io)
            break;
        sleep(PAUSE_S);
    }
    notice_made_free(&made);
    return is_good && !err_is_set(err);
}

void notify_index_end(struct notify_index *notify)
{
    struct err err = ERR_INIT;
    uint64_t count = 0;
    if (!notify)
        return;
    ticker_stop(notify->ticker);
    for (int tried = 0; tried < TRIES; tried++) {
        err = (struct err)ERR_INIT;
        bool is_sent = sender_work(&notify->sender);
        if (catalog_notices_waiting(notify->notices, &count, &err) && is_sent && count == 0)
            break;
        sleep(PAUSE_S);
    }
    if (err_is_set(&err))
        log_line("notify: %s", err.text);
    else if (count > 0)
        log_line("notify: %" PRIu64 " messages wait in the catalog: the next run with --notify sends them", count);
    free_all(notify);
}
