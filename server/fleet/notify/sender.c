/* SPDX-License-Identifier: Apache-2.0 */
#include "server/fleet/notify/sender.h"

#include "server/base/clock.h"
#include "server/base/log.h"
#include "server/base/wanted.h"

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

static bool hand_on(struct sender *sender, const struct outbox_message *message, struct err *err)
{
    return sender->notices
               ? catalog_notices_add(sender->notices, message->id, message->kind, &message->body, false, err)
               : webhook_post(sender->webhook, message->id, &message->body, err);
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
    if (*is_more && webhook_post(sender->webhook, notice.id.data, &notice.body, &fault))
        is_good = catalog_notices_sent(sender->notices, notice.id.data, &err);
    else if (*is_more && fault.code == ERR_argument) {
        refused_say(notice.id.data, &fault);
        is_good = catalog_notices_refused(sender->notices, notice.id.data, fault.text, &err);
    } else if (*is_more && catalog_notices_failed(sender->notices, notice.id.data, fault.text, &err))
        is_good = false;
    buf_free(&notice.id);
    buf_free(&notice.body);
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
