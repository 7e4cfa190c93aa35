/* SPDX-License-Identifier: Apache-2.0 */
#include "server/fleet/notify/notify.h"

#include "base/map.h"
#include "server/base/clock.h"
#include "server/base/log.h"
#include "server/base/memory.h"
#include "server/base/wanted.h"
#include "server/fleet/notify/notice.h"
#include "server/fleet/notify/regressions_files.h"
#include "server/fleet/notify/sender.h"
#include "server/fleet/notify/ticker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_DIGITS = 16, HEX = 16 };

struct notify {
    struct notify_settings settings;
    int64_t started_at_ns; /* Unix time */
    struct ticker *ticker;

    /* Only for its thread. */
    struct map known; /* texts that failed, by the ids of their rows */
    struct map told;  /* notices of failures, by their ids: where there is a catalog, it knows them */
    struct sender sender;
    uint64_t generation; /* of the snapshot that was looked at last */
    bool has_looked;
    struct regressions_files *regressions; /* NULL: there is a catalog, whose processes look for them */
    uint64_t compared_generation;          /* of the snapshot whose commits were compared last; 0: none was */
    bool has_compared, cannot_compare;
};

/* ---- what is new ---- */

/* The id is a part of a SHA-256: its first half tells texts apart as well. */
static uint64_t key_of(const char *id)
{
    char digits[KEY_DIGITS + 1];
    memcpy(digits, id, KEY_DIGITS);
    digits[KEY_DIGITS] = '\0';
    return strtoull(digits, NULL, HEX);
}

/* A log may come to be read long after it was written, and a bucket or a copy keeps its time: then the file's last
 * change of any kind is newer. */
static bool is_older(const struct notify *notify, const struct snapshot_text *text)
{
    const struct files_identity *identity = &text->file->identity;
    return identity->modified_at_ns < notify->started_at_ns && identity->status_at_ns < notify->started_at_ns;
}

/* If a job fails on many hosts, one notice waits and gets them all. A host for which the notice was already sent is not
 * added. */
static void notice_add(struct notify *notify, struct notice_made *made)
{
    struct outbox *outbox = &notify->sender.outbox;
    bool has_catalog = notify->sender.notices != NULL;
    struct outbox_message *message = has_catalog ? NULL : outbox_find(outbox, made->id);
    bool is_new = has_catalog || map_put(&notify->told, key_of(made->id), 0, false);
    if (!message && is_new)
        message = outbox_add(outbox, made->id, "failure", &made->body);
    if (message)
        outbox_host(message, made->row_id, &made->host);
    if (message && !has_catalog)
        outbox_settle(message, clock_ms());
}

static void notify_tell(struct notify *notify, const struct snapshot *snapshot, const struct snapshot_session *session,
                        const struct snapshot_text *text)
{
    struct err err = ERR_INIT;
    struct notice_made made = {0};
    struct notice_failure failure = {snapshot, session, text, NULL};
    failure.labels =
        labels_new(NULL, 0, notify->settings.label_paths, notify->settings.label_path_count, notify->settings.labels);
    if (failure.labels && notice_of_failure(notify->settings.store, &failure, &made, &err))
        notice_add(notify, &made);
    else
        log_line("notify: %s: %s", text->file->path, err.text);
    labels_free(failure.labels);
    notice_made_free(&made);
}

static void look_at(struct notify *notify, const struct snapshot *snapshot, const struct snapshot_session *session)
{
    for (size_t at = 0; at < session->text_count; at++) {
        const struct snapshot_text *text = &session->texts[at];
        char id[ROWS_ID_SIZE];
        if (!text->is_read || text->failure.failure_count == 0)
            continue;
        notice_row_id(id, text);
        bool is_new = map_put(&notify->known, key_of(id), 0, false);
        if (is_new && notify->has_looked && !is_older(notify, text))
            notify_tell(notify, snapshot, session, text);
    }
}

static void notify_look(struct notify *notify)
{
    if (!index_is_ready(notify->settings.index))
        return;
    struct snapshot *snapshot = index_hold(notify->settings.index);
    if (!notify->has_looked || snapshot->generation != notify->generation) {
        for (size_t at = 0; at < snapshot->session_count; at++)
            look_at(notify, snapshot, snapshot->sessions[at]);
        if (!notify->has_looked)
            log_info("notify: %s gets failures from now on", webhook_name(notify->settings.webhook));
        notify->generation = snapshot->generation;
        notify->has_looked = true;
    }
    index_release(notify->settings.index, snapshot);
}

/* ---- regressions ---- */

static void notify_compare(struct notify *notify, const struct snapshot *snapshot)
{
    struct err err = ERR_INIT;
    bool is_over = false;
    bool is_good = regressions_files_look(notify->regressions, snapshot, &notify->sender.outbox, &is_over, &err);
    if (!is_good && !notify->cannot_compare && !wanted_is_over())
        log_line("notify: regressions: %s", err.text);
    notify->cannot_compare = !is_good;
    if (is_good && !is_over)
        return; /* it goes on with the next tick */
    if (is_good && !notify->has_compared)
        log_info("notify: %s gets regressions from now on", webhook_name(notify->settings.webhook));
    notify->has_compared |= is_good;
    notify->compared_generation = snapshot->generation;
}

static void look_for_regressions(struct notify *notify)
{
    if (!notify->regressions || !notify->has_looked)
        return;
    struct snapshot *snapshot = index_hold(notify->settings.index);
    if (snapshot->generation != notify->compared_generation)
        notify_compare(notify, snapshot);
    index_release(notify->settings.index, snapshot);
}

/* ---- the thread ---- */

static void notify_work(void *context)
{
    struct notify *notify = context;
    notify_look(notify);
    look_for_regressions(notify);
    sender_work(&notify->sender);
}

static void free_all(struct notify *notify)
{
    outbox_free(&notify->sender.outbox);
    catalog_notices_close(notify->sender.notices);
    regressions_files_free(notify->regressions);
    map_free(&notify->known);
    map_free(&notify->told);
    free(notify);
}

struct notify *notify_start(const struct notify_settings *settings, struct err *err)
{
    struct notify *notify = memory_new(sizeof(*notify));
    notify->settings = *settings;
    notify->started_at_ns = clock_unix_ns();
    notify->sender.webhook = settings->webhook;
    map_init_of(&notify->known, memory_new, 0);
    map_init_of(&notify->told, memory_new, 0);
    if (settings->catalog_url)
        notify->sender.notices = catalog_notices_open(settings->catalog_url, err);
    else
        notify->regressions = regressions_files_new(settings->fleet_files, settings->store);
    if (!err_is_set(err) && !(notify->ticker = ticker_start(notify_work, notify)))
        err_set(err, ERR_io, ERR_NO_OFFSET, "no thread can be made: %s", strerror(errno));
    if (!err_is_set(err))
        return notify;
    free_all(notify);
    return NULL;
}

void notify_stop(struct notify *notify)
{
    if (!notify)
        return;
    ticker_stop(notify->ticker);
    free_all(notify);
}
