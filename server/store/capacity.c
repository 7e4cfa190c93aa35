/* SPDX-License-Identifier: Apache-2.0 */
#include "server/store/capacity.h"

#include "server/disk/dump_beside.h"

#include <stdio.h>

enum { TEXT_BYTES = 1 << 20, DEVICE_SPACE = 0 };

static bool of_text(const struct snapshot_file *file, struct capacity *capacity)
{
    struct buf text = BUF_INIT;
    struct err err = ERR_INIT;
    struct analysis_capacity said;
    bool is_told = files_read_text(&file->place, TEXT_BYTES, &text, &err) && text.length > 0 &&
                   analysis_capacity_from_text(text.data, text.length, &said) && said.space == DEVICE_SPACE;
    buf_free(&text);
    dump_beside_lost_note(&capacity->lost, file->name, &err);
    if (!is_told)
        return false;
    *capacity = (struct capacity){.bytes = said.available_bytes,
                                  .file = file->name,
                                  .begin = said.offset,
                                  .end = said.offset + said.length,
                                  .lost = capacity->lost};
    snprintf(capacity->source, sizeof(capacity->source), "%s", file->name);
    return true;
}

static bool take(struct capacity *capacity, uint64_t available_bytes, uint64_t physical_bytes)
{
    capacity->is_physical = available_bytes == 0;
    capacity->bytes = available_bytes > 0 ? available_bytes : physical_bytes;
    return capacity->bytes > 0;
}

static bool find_chip(const struct snapshot_session *session, const struct snapshot_group *group,
                      struct capacity *capacity)
{
    struct chip chip;
    const char *ending;
    if (!dump_beside_chip(session, group, &chip, &ending, &capacity->lost))
        return false;
    snprintf(capacity->source, sizeof(capacity->source), "%s, from %s", chip.device->title, ending + 1);
    capacity->is_named = true;
    capacity->device =
        chip.memory_bytes == 0 ? chip.device->name : NULL; /* what a file states is no figure of the table */
    return take(capacity, (uint64_t)chip.device->available_bytes,
                chip.memory_bytes > 0 ? chip.memory_bytes : (uint64_t)chip.device->physical_bytes);
}

bool capacity_of_chip(const struct snapshot_session *session, const struct snapshot_group *group,
                      struct capacity *capacity)
{
    *capacity = (struct capacity){0};
    return find_chip(session, group, capacity);
}

/* The smallest device counts. */
static bool of_trace(const struct analysis_contents *contents, struct capacity *capacity)
{
    bool is_told = false;
    for (size_t at = 0; at < contents->device_count; at++) {
        const struct analysis_trace_device *device = &contents->devices[at];
        struct capacity one = {0};
        if (!take(&one, device->available_bytes, device->memory_bytes) || (is_told && one.bytes >= capacity->bytes))
            continue;
        snprintf(one.source, sizeof(one.source), "%s, recorded in the trace",
                 device->kind[0] ? device->kind : device->plane);
        one.is_named = device->kind[0] != '\0';
        one.lost = capacity->lost;
        *capacity = one;
        is_told = true;
    }
    return is_told;
}

static bool find_device(const struct snapshot_session *session, const struct modules_file *file,
                        struct capacity *capacity)
{
    if (file->group)
        return find_chip(session, file->group, capacity);
    return file->opened.contents && of_trace(file->opened.contents, capacity);
}

bool capacity_of_device(const struct snapshot_session *session, const struct modules_file *file,
                        struct capacity *capacity)
{
    *capacity = (struct capacity){0};
    return find_device(session, file, capacity);
}

bool capacity_find(const struct snapshot_session *session, const struct modules_file *file, struct capacity *capacity)
{
    *capacity = (struct capacity){0};
    for (size_t at = 0; at < session->text_count; at++)
        if (of_text(session->texts[at].file, capacity))
            return true;
    return find_device(session, file, capacity);
}
