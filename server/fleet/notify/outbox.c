/* SPDX-License-Identifier: Apache-2.0 */
#include "server/fleet/notify/outbox.h"

#include "server/base/log.h"
#include "server/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void outbox_free(struct outbox *outbox)
{
    for (size_t at = 0; at < outbox->count; at++) {
        buf_free(&outbox->items[at].body);
        buf_free(&outbox->items[at].hosts);
    }
    free(outbox->items);
    *outbox = (struct outbox){0};
}

void outbox_sent(struct outbox *outbox, struct outbox_message *message)
{
    size_t at = (size_t)(message - outbox->items);
    buf_free(&message->body);
    buf_free(&message->hosts);
    outbox->count--;
    memmove(message, message + 1, (outbox->count - at) * sizeof(*message));
}

struct outbox_message *outbox_add(struct outbox *outbox, const char *id, const char *kind, struct buf *body)
{
    if (outbox->count == OUTBOX_MAX) {
        log_line("notify: more than %d messages wait: that of %s is given up", OUTBOX_MAX, outbox->items[0].id);
        outbox_sent(outbox, &outbox->items[0]);
        outbox->given_up_count++;
    }
    outbox->items = memory_grow(outbox->items, &outbox->capacity, outbox->count + 1, sizeof(*outbox->items));
    struct outbox_message *message = &outbox->items[outbox->count++];
    *message = (struct outbox_message){.kind = kind, .body = *body};
    snprintf(message->id, sizeof(message->id), "%s", id);
    *body = (struct buf)BUF_INIT;
    return message;
}

void outbox_host(struct outbox_message *message, const char *row_id, const struct buf *host)
{
    snprintf(message->row_id, sizeof(message->row_id), "%s", row_id);
    buf_text(&message->hosts, message->hosts.length > 0 ? "," : "");
    buf_add(&message->hosts, host->data, host->length);
}

void outbox_settle(struct outbox_message *message, int64_t now_ms)
{
    if (message->made_at_ms == 0)
        message->made_at_ms = now_ms;
    int64_t until_ms = now_ms + OUTBOX_SETTLE_MS, last_ms = message->made_at_ms + OUTBOX_SETTLE_MAX_MS;
    int64_t due_at_ms = until_ms < last_ms ? until_ms : last_ms;
    if (message->tries == 0 && due_at_ms > message->due_at_ms)
        message->due_at_ms = due_at_ms;
}

struct outbox_message *outbox_find(struct outbox *outbox, const char *id)
{
    for (size_t at = 0; at < outbox->count; at++)
        if (strcmp(outbox->items[at].id, id) == 0)
            return &outbox->items[at];
    return NULL;
}

struct outbox_message *outbox_due(struct outbox *outbox, int64_t now_ms)
{
    for (size_t at = 0; at < outbox->count; at++)
        if (outbox->items[at].due_at_ms <= now_ms)
            return &outbox->items[at];
    return NULL;
}

void outbox_failed(struct outbox_message *message, int64_t now_ms)
{
    int64_t pause_ms = OUTBOX_PAUSE_MIN_MS;
    for (unsigned tries = 0; tries < message->tries && pause_ms < OUTBOX_PAUSE_MAX_MS; tries++)
        pause_ms *= 2;
    message->tries++;
    message->due_at_ms = now_ms + (pause_ms < OUTBOX_PAUSE_MAX_MS ? pause_ms : OUTBOX_PAUSE_MAX_MS);
}
