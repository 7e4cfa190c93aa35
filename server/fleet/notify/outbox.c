/* SPDX-License-Identifier: Apache-2.0 */
#include "server/fleet/notify/outbox.h"

#include "server/base/log.h"
#include "server/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void outbox_free(struct outbox *outbox)
{
    for (size_t at = 0; at < outbox->count; at++)
        buf_free(&outbox->items[at].body);
    free(outbox->items);
    *outbox = (struct outbox){0};
}

void outbox_sent(struct outbox *outbox, struct outbox_message *message)
{
    size_t at = (size_t)(message - outbox->items);
    buf_free(&message->body);
    outbox->count--;
    memmove(message, message + 1, (outbox->count - at) * sizeof(*message));
}

void outbox_add(struct outbox *outbox, const char *id, const char *kind, struct buf *body)
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
