/* SPDX-License-Identifier: Apache-2.0 */
#include "server/store/capacity.h"

#include "server/base/memory.h"
#include "server/gather/dump_beside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_BYTES = 1 << 20, DEVICE_SPACE = 0 };

/* Of device memory; with `any_space` of whichever the text states. */
static bool of_text(const struct snapshot_file *file, bool any_space, struct capacity *capacity)
{
    struct buf text = BUF_INIT;
    struct err err = ERR_INIT;
    struct analysis_capacity said;
    bool is_told = files_read_text(&file->place, TEXT_BYTES, &text, &err) && text.length > 0 &&
                   analysis_capacity_from_text(text.data, text.length, &said) && said.may_be_of_xla &&
                   (any_space || said.space == DEVICE_SPACE);
    buf_free(&text);
    dump_beside_lost_note(&capacity->lost, file->name, &err);
    if (!is_told)
        return false;
    *capacity = (struct capacity){.space = said.space,
                                  .bytes = said.available_bytes,
                                  .half_bytes = said.half_unit_bytes,
                                  .asked_bytes = said.has_needed ? said.needed_bytes : 0,
                                  .file = file->name,
                                  .begin = said.offset,
                                  .end = said.offset + said.length,
                                  .lost = capacity->lost};
    snprintf(capacity->source, sizeof(capacity->source), "%s", file->name);
    return true;
}

static bool capacity_take_one(struct capacity *capacity, uint64_t available_bytes, uint64_t physical_bytes)
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
    memcpy(capacity->chip, capacity->source, sizeof(capacity->chip));
    capacity->is_named = true;
    capacity->is_of_gpu = chip.device->platform == SPACE_PLATFORM_GPU;
    capacity->device =
        chip.memory_bytes == 0 ? chip.device->name : NULL; /* what a file states is no figure of the table */
    return capacity_take_one(capacity, (uint64_t)chip.device->available_bytes,
                             chip.memory_bytes > 0 ? chip.memory_bytes : (uint64_t)chip.device->physical_bytes);
}

/* The smallest device counts. */
static bool of_trace(const struct analysis_contents *contents, struct capacity *capacity)
{
    bool is_told = false;
    for (size_t at = 0; at < contents->device_count; at++) {
        const struct analysis_trace_device *device = &contents->devices[at];
        struct capacity one = {0};
        if (!capacity_take_one(&one, device->available_bytes, device->memory_bytes) ||
            (is_told && one.bytes >= capacity->bytes))
            continue;
        snprintf(one.chip, sizeof(one.chip), "%s, recorded in the trace",
                 device->kind[0] ? device->kind : device->plane);
        snprintf(one.source, sizeof(one.source), "%s",
                 device->is_of_allocator ? "the limit of the allocator, recorded in the trace" : one.chip);
        one.is_of_gpu = strncmp(device->plane, "/device:GPU:", strlen("/device:GPU:")) == 0;
        one.is_named = device->kind[0] != '\0';
        one.lost = capacity->lost;
        *capacity = one;
        is_told = true;
    }
    return is_told;
}

static bool find_device(const struct snapshot_session *session, const struct snapshot_group *group,
                        const struct analysis_contents *contents, struct capacity *capacity)
{
    return group ? find_chip(session, group, capacity) : contents && of_trace(contents, capacity);
}

bool capacity_of_device(const struct snapshot_session *session, const struct snapshot_group *group,
                        const struct analysis_contents *contents, struct capacity *capacity)
{
    *capacity = (struct capacity){0};
    return find_device(session, group, contents, capacity);
}

static bool may_state(const struct snapshot_text *text) { return !text->is_read || text->failure.failure_count > 0; }

bool capacity_of_texts(const struct snapshot_session *session, struct capacity *capacity)
{
    *capacity = (struct capacity){0};
    for (size_t at = 0; at < session->text_count; at++)
        if (may_state(&session->texts[at]) && of_text(session->texts[at].file, false, capacity))
            return true;
    return false;
}

/* The first that says something of a space counts. */
static void space_add(struct capacity_spaces *spaces, const struct capacity *capacity)
{
    for (size_t at = 0; at < spaces->count; at++)
        if (spaces->items[at].space == capacity->space)
            return;
    if (spaces->count < CAPACITY_SPACES)
        spaces->items[spaces->count++] = *capacity;
}

void capacity_spaces_of_texts(const struct snapshot_session *session, struct capacity_spaces *texts)
{
    *texts = (struct capacity_spaces){0};
    for (size_t at = 0; at < session->text_count; at++) {
        struct capacity capacity = {0};
        if (may_state(&session->texts[at]) && of_text(session->texts[at].file, true, &capacity))
            space_add(texts, &capacity);
    }
}

void capacity_spaces_find(const struct capacity_spaces *texts, const struct capacity *chosen,
                          const struct snapshot_session *session, const struct snapshot_group *group,
                          const struct analysis_contents *contents, struct capacity_spaces *spaces)
{
    struct capacity device;
    *spaces = (struct capacity_spaces){0};
    if (chosen)
        space_add(spaces, chosen);
    for (size_t at = 0; at < texts->count; at++)
        space_add(spaces, &texts->items[at]);
    bool is_known = false;
    for (size_t at = 0; at < spaces->count; at++)
        is_known |= spaces->items[at].space == DEVICE_SPACE;
    if (!is_known && capacity_of_device(session, group, contents, &device))
        space_add(spaces, &device);
}

struct analysis_space_capacity capacity_core(const struct capacity *capacity)
{
    return (struct analysis_space_capacity){.space = capacity->space,
                                            .bytes = capacity->bytes,
                                            .half_bytes = capacity->half_bytes,
                                            .asked_bytes = capacity->space == DEVICE_SPACE ? 0 : capacity->asked_bytes,
                                            .source = capacity->source,
                                            .device = capacity->device,
                                            .is_physical = capacity->is_physical,
                                            .is_of_gpu = capacity->is_of_gpu};
}

void capacity_spaces_core(const struct capacity_spaces *spaces, struct analysis_space_capacity core[CAPACITY_SPACES])
{
    for (size_t at = 0; at < spaces->count; at++)
        core[at] = capacity_core(&spaces->items[at]);
}

char *capacity_spaces_key(char *key, const struct analysis_space_capacity *core, size_t count)
{
    for (size_t at = 0; at < count; at++) {
        char *before = key;
        key = memory_format("%s&capacity=%lld %llu %llu %llu %d%d %s %zu:%s", before, (long long)core[at].space,
                            (unsigned long long)core[at].bytes, (unsigned long long)core[at].half_bytes,
                            (unsigned long long)core[at].asked_bytes, core[at].is_physical, core[at].is_of_gpu,
                            core[at].device ? core[at].device : "", strlen(core[at].source), core[at].source);
        free(before);
    }
    return key;
}

const struct analysis_space_capacity *capacity_spaces_at(const struct analysis_space_capacity *core, size_t count,
                                                         int64_t space)
{
    for (size_t at = 0; at < count; at++)
        if (core[at].space == space)
            return &core[at];
    return NULL;
}

bool capacity_find(const struct snapshot_session *session, const struct snapshot_group *group,
                   const struct analysis_contents *contents, struct capacity *capacity)
{
    return capacity_of_texts(session, capacity) || find_device(session, group, contents, capacity);
}

bool capacity_choose(const char *text, struct capacity *capacity)
{
    struct analysis_device device;
    *capacity = (struct capacity){.source = "as chosen"};
    bool is_read = analysis_capacity_read(text, &capacity->bytes, &device);
    capacity->device = device.name;
    capacity->is_physical = device.name && device.available_bytes == 0;
    capacity->is_of_gpu = device.name && strcmp(device.platform, "gpu") == 0;
    return is_read;
}
