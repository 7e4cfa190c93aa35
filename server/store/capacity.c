/* SPDX-License-Identifier: Apache-2.0 */
#include "server/store/capacity.h"

#include "server/base/memory.h"
#include "server/gather/dump_beside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_BYTES = 1 << 20, DEVICE_SPACE = 0 };

void capacity_take(struct capacity *found, const struct capacity *one)
{
    const struct capacity_stated of_found = capacity_core(found), of_one = capacity_core(one);
    if (one->bytes > 0 && (found->bytes == 0 || analysis_capacity_counts_before(&of_one, &of_found)))
        *found = *one;
}

static bool may_count(enum capacity_from from, const struct capacity *found)
{
    if (!found)
        return true;
    const struct capacity_stated of_found = capacity_core(found);
    return analysis_capacity_may_count(from, &of_found);
}

/* ---- what each source says ---- */

/* The capacity of the memory space that the text names. */
static bool of_text(const struct snapshot_file *file, struct capacity *capacity, struct dump_beside_lost *lost)
{
    struct buf text = BUF_INIT;
    struct err err = ERR_INIT;
    struct analysis_capacity said;
    bool is_told = files_read_text(&file->place, TEXT_BYTES, &text, &err) && text.length > 0 &&
                   analysis_capacity_from_text(text.data, text.length, &said) && said.may_be_of_xla;
    buf_free(&text);
    dump_beside_lost_note(lost, file->name, &err);
    if (!is_told)
        return false;
    *capacity = (struct capacity){.from = CAPACITY_TEXT,
                                  .space = said.space,
                                  .bytes = said.available_bytes,
                                  .half_bytes = said.half_unit_bytes,
                                  .asked_bytes = said.has_needed ? said.needed_bytes : 0,
                                  .file = file->name,
                                  .begin = said.offset,
                                  .end = said.offset + said.length};
    snprintf(capacity->source, sizeof(capacity->source), "%s", file->name);
    return true;
}

static bool find_chip(const struct snapshot_session *session, const struct snapshot_group *group,
                      struct capacity *capacity)
{
    struct analysis_chip chip;
    const char *ending;
    if (!dump_beside_chip(session, group, &chip, &ending, &capacity->lost))
        return false;
    snprintf(capacity->source, sizeof(capacity->source), "%s, from %s", chip.device.title, ending + 1);
    memcpy(capacity->chip, capacity->source, sizeof(capacity->chip));
    capacity->from = CAPACITY_CHIP;
    capacity->is_named = true;
    capacity->is_of_gpu = strcmp(chip.device.platform, "gpu") == 0;
    capacity->device =
        chip.memory_bytes == 0 ? chip.device.name : NULL; /* what a file states is no figure of the table */
    capacity->is_physical = analysis_capacity_usable(
        chip.device.available_bytes, chip.memory_bytes > 0 ? chip.memory_bytes : chip.device.physical_bytes,
        &capacity->bytes);
    return capacity->bytes > 0;
}

static void of_trace(const struct analysis_contents *contents, struct capacity *capacity)
{
    for (size_t at = 0; at < contents->device_count; at++) {
        const struct analysis_trace_device *device = &contents->devices[at];
        struct capacity one = {.from = CAPACITY_TRACE};
        one.is_physical = analysis_capacity_usable(device->available_bytes, device->memory_bytes, &one.bytes);
        snprintf(one.chip, sizeof(one.chip), "%s, recorded in the trace",
                 device->kind[0] ? device->kind : device->plane);
        snprintf(one.source, sizeof(one.source), "%s",
                 device->is_of_allocator ? "the limit of the allocator, recorded in the trace" : one.chip);
        one.is_of_gpu = strncmp(device->plane, "/device:GPU:", strlen("/device:GPU:")) == 0;
        one.is_named = device->kind[0] != '\0';
        capacity_take(capacity, &one);
    }
}

bool capacity_of_device(const struct snapshot_session *session, const struct snapshot_group *group,
                        const struct analysis_contents *contents, struct capacity *capacity)
{
    *capacity = (struct capacity){0};
    if (group)
        return find_chip(session, group, capacity);
    if (contents)
        of_trace(contents, capacity);
    return capacity->bytes > 0;
}

/* ---- all of them ---- */

static bool may_state(const struct snapshot_text *text) { return !text->is_read || text->failure.failure_count > 0; }

static struct capacity *space_at(struct capacity_spaces *spaces, int64_t space)
{
    for (size_t at = 0; at < spaces->count; at++)
        if (spaces->items[at].space == space)
            return &spaces->items[at];
    return NULL;
}

static void space_add(struct capacity_spaces *spaces, const struct capacity *capacity)
{
    struct capacity *found = space_at(spaces, capacity->space);
    if (found)
        capacity_take(found, capacity);
    else if (spaces->count < CAPACITY_SPACES)
        spaces->items[spaces->count++] = *capacity;
}

static void lost_add(struct capacity_spaces *spaces, const struct dump_beside_lost *lost)
{
    if (!spaces->lost.file[0])
        spaces->lost = *lost;
}

void capacity_spaces_of_texts(const struct snapshot_session *session, struct capacity_spaces *texts)
{
    *texts = (struct capacity_spaces){0};
    for (size_t at = 0; at < session->text_count; at++) {
        struct capacity capacity = {0};
        if (may_state(&session->texts[at]) && of_text(session->texts[at].file, &capacity, &texts->lost))
            space_add(texts, &capacity);
    }
}

void capacity_spaces_find(const struct capacity_spaces *texts, const struct capacity *chosen,
                          const struct snapshot_session *session, const struct snapshot_group *group,
                          const struct analysis_contents *contents, struct capacity_spaces *spaces)
{
    struct capacity device;
    *spaces = *texts;
    if (chosen && chosen->bytes > 0)
        space_add(spaces, chosen);
    if (!may_count(group ? CAPACITY_CHIP : CAPACITY_TRACE, space_at(spaces, DEVICE_SPACE)))
        return;
    if (capacity_of_device(session, group, contents, &device))
        space_add(spaces, &device);
    lost_add(spaces, &device.lost);
}

bool capacity_of_spaces(const struct capacity_spaces *spaces, struct capacity *capacity)
{
    *capacity = (struct capacity){0};
    for (size_t at = 0; at < spaces->count; at++)
        if (spaces->items[at].space == DEVICE_SPACE)
            *capacity = spaces->items[at];
    capacity->lost = spaces->lost;
    return capacity->bytes > 0;
}

struct capacity_stated capacity_core(const struct capacity *capacity)
{
    return (struct capacity_stated){.from = capacity->from,
                                    .space = capacity->space,
                                    .bytes = capacity->bytes,
                                    .half_bytes = capacity->half_bytes,
                                    .asked_bytes = capacity->space == DEVICE_SPACE ? 0 : capacity->asked_bytes,
                                    .source = capacity->source,
                                    .device = capacity->device,
                                    .is_physical = capacity->is_physical,
                                    .is_of_gpu = capacity->is_of_gpu,
                                    .file = capacity->file,
                                    .begin = capacity->begin,
                                    .end = capacity->end};
}

void capacity_spaces_core(const struct capacity_spaces *spaces, struct capacity_stated core[CAPACITY_SPACES])
{
    for (size_t at = 0; at < spaces->count; at++)
        core[at] = capacity_core(&spaces->items[at]);
}

char *capacity_spaces_key(char *key, const struct capacity_stated *core, size_t count)
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

const struct capacity_stated *capacity_spaces_at(const struct capacity_stated *core, size_t count, int64_t space)
{
    for (size_t at = 0; at < count; at++)
        if (core[at].space == space)
            return &core[at];
    return NULL;
}

bool capacity_find(const struct capacity *chosen, const struct snapshot_session *session,
                   const struct snapshot_group *group, const struct analysis_contents *contents,
                   struct capacity *capacity)
{
    struct capacity_spaces texts, spaces;
    capacity_spaces_of_texts(session, &texts);
    capacity_spaces_find(&texts, chosen, session, group, contents, &spaces);
    return capacity_of_spaces(&spaces, capacity);
}

bool capacity_choose(const char *text, struct capacity *capacity)
{
    struct analysis_device device;
    *capacity = (struct capacity){.from = CAPACITY_CHOSEN, .source = "as chosen"};
    bool is_read = analysis_capacity_read(text, &capacity->bytes, &device);
    capacity->device = device.name;
    if (device.name)
        capacity->is_physical =
            analysis_capacity_usable(device.available_bytes, device.physical_bytes, &capacity->bytes);
    capacity->is_of_gpu = device.name && strcmp(device.platform, "gpu") == 0;
    return is_read;
}
