/* SPDX-License-Identifier: Apache-2.0 */
#include "server/fleet/notify/sender.h"

#include "server/base/clock.h"
#include "server/base/log.h"
#include "server/base/wanted.h"
#include "server/fleet/notify/notice_hosts.h"

static bool sender_fail(struct sender *sender, const struct err *err)
{
    if (!sender->is_failing && !wanted_is_over())
        log_line("notify: %s: it is tried again", err->text);
    sender->is_failing = true;
    return false;
}

/* The receiver never takes it: said once, and the others go on. */
static void refused_say(const char *id, const struct err *err)
{
    log_line("notify: %s: the message %s is given up", err->text, id);
}

/* With all hosts that it is about. */
static bool sender_post(const struct sender *sender, const char *id, const struct buf *body, const struct buf *hosts,
                        struct err *err)
{
    struct buf whole = BUF_INIT;
    bool is_good = notice_hosts_write(body, hosts, &whole, err) && webhook_post(sender->webhook, id, &whole, err);
    buf_free(&whole);
    return is_good;
}

static bool hand_on(struct sender *sender, const struct outbox_message *message, struct err *err)
{
    bool is_of_host = message->row_id[0] != '\0';
    if (sender->notices) {
        const struct catalog_notices_message kept = {.id = message->id,
                                                     .kind = message->kind,
                                                     .body = &message->body,
                                                     .row_id = is_of_host ? message->row_id : NULL,
                                                     .host = is_of_host ? &message->hosts : NULL};
        return catalog_notices_add(sender->notices, &kept, err);
    }
    struct buf hosts = BUF_INIT;
    buf_format(&hosts, "[%.*s]", (int)message->hosts.length, is_of_host ? message->hosts.data : "");
    bool is_good = sender_post(sender, message->id, &message->body, &hosts, err);
    buf_free(&hosts);
    return is_good;
}

/* Where one fails the others would fare no better. */
static bool empty_outbox(struct sender *sender)
{
    for (struct outbox_message *message; !wanted_is_over() && (message = outbox_due(&sender->outbox, clock_ms()));) {
        struct err err = ERR_INIT;
        bool is_taken = hand_on(sender, message, &err);
        if (!is_taken && err.code == ERR_argument && !sender->notices) {
            refused_say(message->id, &err);
            sender->outbox.given_up_count++;
        } else if (!is_taken) {
            outbox_failed(message, clock_ms());
            return sender_fail(sender, &err);
        }
        outbox_sent(&sender->outbox, message);
        sender->is_failing = false;
    }
    return true;
}

/* The next one of the catalog; *is_more: there was one. */
static bool send_claimed(struct sender *sender, bool *is_more)
{
    struct err err = ERR_INIT, fault = ERR_INIT;
    struct catalog_notice notice;
    bool is_good = catalog_notices_claim(sender->notices, &notice, &err);
    *is_more = is_good && notice.id.length > 0;
    if (*is_more && sender_post(sender, notice.id.data, &notice.body, &notice.hosts, &fault))
        is_good = catalog_notices_sent(sender->notices, notice.id.data, &err);
    else if (*is_more && fault.code == ERR_argument) {
        refused_say(notice.id.data, &fault);
        is_good = catalog_notices_refused(sender->notices, notice.id.data, fault.text, &err);
    } else if (*is_more && catalog_notices_failed(sender->notices, notice.id.data, fault.text, &err))
        is_good = false;
    buf_free(&notice.id);
    buf_free(&notice.body);
    buf_free(&notice.hosts);
    if (!is_good || err_is_set(&err))
        return sender_fail(sender, err_is_set(&fault) ? &fault : &err);
    sender->is_failing &= !*is_more;
    return true;
}

bool sender_work(struct sender *sender)
{
    bool is_good = empty_outbox(sender), is_more = sender->notices != NULL;
    while (is_good && is_more && !wanted_is_over())
        is_good = send_claimed(sender, &is_more);
    return is_good;
}
