/* SPDX-License-Identifier: Apache-2.0
 * snapshot_rows.c: all that was read of an allocator snapshot, for memory_viz.py: the file of the first argument as one
 * JSON object of stdout, with the keys that PyTorch writes. Stacks are numbers of `stacks`, frames of those numbers of
 * `frames`. */
#include "base/json.h"
#include "door/job.h"
#include "read/torch/torch_snapshot.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static int64_t read_file(void *context, uint64_t offset, void *into, size_t size)
{
    FILE *file = context;
    if (fseek(file, (long)offset, SEEK_SET) != 0)
        return -1;
    size_t got = fread(into, 1, size, file);
    return ferror(file) ? -1 : (int64_t)got;
}

static void write_stacks(struct json *json, const struct torch_snapshot *snapshot)
{
    json_key_array(json, "frames");
    for (size_t i = 0; i < snapshot->frame_count; i++) {
        json_object_begin(json);
        json_key_string(json, "name", snapshot->frames[i].function);
        json_key_string(json, "filename", snapshot->frames[i].file);
        json_key_int(json, "line", snapshot->frames[i].line);
        json_object_end(json);
    }
    json_array_end(json);
    json_key_array(json, "stacks");
    for (size_t i = 0; i < snapshot->stack_count; i++) {
        json_array_begin(json);
        for (uint32_t at = 0; at < snapshot->stacks[i].count; at++)
            json_int(json, snapshot->stack_frames[snapshot->stacks[i].first + at]);
        json_array_end(json);
    }
    json_array_end(json);
}

static void write_stack(struct json *json, uint32_t stack)
{
    json_key_known(json, "frames", stack == TORCH_NO_STACK ? -1 : (int64_t)stack);
}

static void write_block(struct json *json, const struct torch_block *block)
{
    static const char *const STATES[] = {"active_allocated", "active_pending_free", "inactive"};
    json_object_begin(json);
    json_key_uint(json, "address", block->address);
    json_key_int(json, "size", block->size_bytes);
    json_key_int(json, "requested_size", block->requested_bytes);
    json_key_text(json, "state", STATES[block->state]);
    write_stack(json, block->stack);
    json_object_end(json);
}

static void write_segments(struct json *json, const struct torch_snapshot *snapshot)
{
    json_key_array(json, "segments");
    for (size_t i = 0; i < snapshot->segment_count; i++) {
        const struct torch_segment *segment = &snapshot->segments[i];
        json_object_begin(json);
        json_key_uint(json, "address", segment->address);
        json_key_int(json, "total_size", segment->total_bytes);
        json_key_int(json, "allocated_size", segment->allocated_bytes);
        json_key_int(json, "active_size", segment->active_bytes);
        json_key_int(json, "device", segment->device);
        json_key_int(json, "stream", segment->stream);
        json_key_text(json, "segment_type", segment->is_large ? "large" : "small");
        json_key_bool(json, "is_expandable", segment->is_expandable);
        json_key_array(json, "blocks");
        for (uint32_t b = 0; b < segment->block_count; b++)
            write_block(json, &snapshot->blocks[segment->first_block + b]);
        json_array_end(json);
        json_object_end(json);
    }
    json_array_end(json);
}

/* ---- events ---- */

struct event {
    const char *action;
    bool is_failure;
    int64_t offset_ps, size_bytes, in_use_bytes, reserved_bytes;
    uint64_t address;
    uint32_t stack;
    uint16_t pool;
};

static void write_event(struct json *json, const struct memory_events *events, const struct event *event)
{
    json_object_begin(json);
    json_key_text(json, "action", event->action);
    json_key_string(json, "device", events->pools[event->pool].name);
    json_key_uint(json, event->is_failure ? "device_free" : "addr", event->address);
    json_key_int(json, "size", event->size_bytes);
    json_key_int(json, "time_us", events->origin_ns / 1000 + event->offset_ps / 1000000);
    json_key_int(json, "in_use_bytes", event->in_use_bytes);
    json_key_int(json, "reserved_bytes", event->reserved_bytes);
    write_stack(json, event->stack);
    json_object_end(json);
}

static void write_row(struct json *json, const struct memory_events *events, size_t i)
{
    const struct event event = {
        .action = COLUMN_AT(&events->flags, uint8_t, i) & MEMORY_FREED ? "free_completed" : "alloc",
        .offset_ps = COLUMN_AT(&events->offset_ps, int64_t, i),
        .size_bytes = COLUMN_AT(&events->size_bytes, int64_t, i),
        .in_use_bytes = COLUMN_AT(&events->in_use_bytes, int64_t, i),
        .reserved_bytes = events->figure_sets[COLUMN_AT(&events->figures, uint32_t, i)].limit_bytes,
        .address = COLUMN_AT(&events->address, uint64_t, i),
        .stack = events->whats[COLUMN_AT(&events->what, uint32_t, i)].stack,
        .pool = COLUMN_AT(&events->pool, uint16_t, i),
    };
    write_event(json, events, &event);
}

static void write_rare(struct json *json, const struct memory_events *events, const struct torch_event *rare)
{
    static const char *const ACTIONS[TORCH_ACTIONS] = {[TORCH_SEGMENT_ALLOC] = "segment_alloc",
                                                       [TORCH_SEGMENT_FREE] = "segment_free",
                                                       [TORCH_SEGMENT_MAP] = "segment_map",
                                                       [TORCH_SEGMENT_UNMAP] = "segment_unmap",
                                                       [TORCH_OOM] = "oom",
                                                       [TORCH_SNAPSHOT] = "snapshot"};
    const struct event event = {.action = ACTIONS[rare->action],
                                .is_failure = rare->action == TORCH_OOM,
                                .offset_ps = rare->offset_ps,
                                .size_bytes = rare->size_bytes,
                                .address =
                                    rare->action == TORCH_OOM ? (uint64_t)rare->device_free_bytes : rare->address,
                                .stack = rare->stack,
                                .pool = rare->pool};
    if (event.action != NULL) /* requests of frees are told where something stands between them and the free alone */
        write_event(json, events, &event);
}

static void write_pool(struct json *json, const struct memory_events *events, size_t pool)
{
    const struct torch_snapshot *snapshot = events->snapshot;
    uint32_t next = snapshot->pool_events[pool], end = snapshot->pool_events[pool + 1], row_count = 0;
    for (size_t i = 0; i < events->count; i++) {
        if (COLUMN_AT(&events->pool, uint16_t, i) != pool)
            continue;
        for (; next < end && snapshot->events[next].event_at <= row_count; next++)
            write_rare(json, events, &snapshot->events[next]);
        if (!snapshot->is_end_alone)
            write_row(json, events, i);
        row_count++;
    }
    for (; next < end; next++)
        write_rare(json, events, &snapshot->events[next]);
}

static void write_events(struct json *json, const struct memory_events *events)
{
    json_key_array(json, "events");
    for (size_t pool = 0; pool < events->pool_count; pool++)
        write_pool(json, events, pool);
    json_array_end(json);
}

static void print(struct job *job, const void *in, void *out, struct err *err)
{
    struct buf *text = out;
    struct json json = JSON_INIT(text);
    struct memory_events *events = arena_array(&job->arena, struct memory_events, 1);
    (void)in;
    arena_allot_work(&job->arena, UINT64_MAX / 2);
    if (!torch_snapshot_read(job->source, &job->arena, events, err))
        return;
    json_object_begin(&json);
    write_stacks(&json, events->snapshot);
    write_segments(&json, events->snapshot);
    write_events(&json, events);
    json_key_bool(&json, "has_times", events->snapshot->has_times);
    json_key_uint(&json, "free_requested_count", events->snapshot->free_requested_count);
    json_object_end(&json);
}

int main(int count, char **words)
{
    FILE *file = count == 2 ? fopen(words[1], "rb") : NULL;
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        fprintf(stderr, "snapshot_rows FILE\n");
        return 2;
    }
    struct source source = {.context = file, .read = read_file, .size_bytes = (uint64_t)ftell(file)};
    struct err err = ERR_INIT;
    struct buf text = BUF_INIT;
    struct job job;
    bool is_read = job_run(&job, &source, 0, print, NULL, &text, &err);
    if (is_read)
        arena_free(&job.arena);
    else
        fprintf(stderr, "byte %" PRIu64 ": %s\n", err.offset_bytes, err.text);
    fwrite(text.data, 1, text.length, stdout);
    buf_free(&text);
    fclose(file);
    return is_read ? 0 : 1;
}
