/* SPDX-License-Identifier: Apache-2.0
 * make_trace.c: large traces for measuring and for tests. A training loop on one or more devices:
 * each step allocates activations, frees them in reverse, and has scratch buffers in between; the
 * events name op, region, type and shape, addresses are used again after a free, an allocation
 * and its free are often on different lines, and lines have different bases of time.
 *
 * Lengths stand before the content, so the run is played twice: once to count the bytes of each
 * line, once to write each line at its own place. Memory used does not depend on the events. */
#include "tests/bench/trace/world.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BASE_STEP_NS = 868 };

static const char *const stat_names[S_END] = {
    NULL,
    "allocator_name",
    "bytes_reserved",
    "bytes_allocated",
    "bytes_available",
    "fragmentation",
    "peak_bytes_in_use",
    "requested_bytes",
    "allocation_bytes",
    "addr",
    "tf_op",
    "id",
    "region_type",
    "data_type",
    "shape",
    "index_on_host",
    "step_num",
    "_r",
    "_pt",
    "_p",
    "_ct",
    "_c",
    "iter_num",
};

static const char *const event_names[] = {NULL,          "MemoryAllocation",       "MemoryDeallocation",        "train",
                                          "FunctionRun", "ExecutorState::Process", "ThreadpoolListener::Record"};

_Noreturn void world_stop(const char *what)
{
    perror(what);
    exit(1);
}

/* ---- the file -------------------------------------------------------------------------------------- */

/* An appended list of small messages. */
struct text {
    uint8_t *data;
    size_t length, capacity;
};

static void append(struct text *text, const struct bytes *bytes)
{
    if (text->length + bytes->length > text->capacity) {
        text->capacity = 2 * (text->capacity + bytes->length);
        text->data = realloc(text->data, text->capacity);
        if (!text->data)
            world_stop("make-trace");
    }
    memcpy(text->data + text->length, bytes->data, bytes->length);
    text->length += bytes->length;
}

/* One entry of the map `field` of a plane: {1 key, 2 {1 id, 2 name}}. */
static void append_name(struct text *plane, unsigned field, int64_t id, const char *name)
{
    struct bytes metadata, entry, framed;
    metadata.length = 0;
    entry.length = 0;
    framed.length = 0;

    bytes_int(&metadata, 1, id);
    bytes_text(&metadata, 2, name);
    bytes_int(&entry, 1, id);
    bytes_message(&entry, 2, &metadata);
    bytes_message(&framed, field, &entry);
    append(plane, &framed);
}

static struct text host_metadata(const struct world *world)
{
    struct text plane = {.data = NULL};
    for (int64_t id = 1; id <= E_RECORD; id++)
        append_name(&plane, 4, id, event_names[id]);
    for (int64_t i = 0; i < LAYERS * KINDS; i++)
        append_name(&plane, 4, E_OPS + i, world->tensors[i].op);
    for (int64_t id = 1; id < S_END; id++)
        append_name(&plane, 5, id, stat_names[id]);
    for (int64_t i = 0; i < world->options.allocators; i++)
        append_name(&plane, 5, S_POOLS + i, world->pool_names[i]);
    for (int64_t i = 0; i < TENSORS; i++) {
        append_name(&plane, 5, S_TENSORS + 3 * i, world->tensors[i].op);
        append_name(&plane, 5, S_TENSORS + 3 * i + 1, world->tensors[i].region);
        append_name(&plane, 5, S_TENSORS + 3 * i + 2, world->tensors[i].shape);
    }
    return plane;
}

/* What stands in a line before its events, and its length with them. */
static struct bytes line_head(const struct line *line)
{
    struct bytes head, framed;
    head.length = framed.length = 0;

    bytes_int(&head, 1, line->id);
    bytes_text(&head, 2, line->name);
    bytes_int(&head, 3, line->timestamp_ns);
    bytes_varint(&framed, 3 << 3 | 2);
    bytes_varint(&framed, head.length + line->size_bytes);
    bytes_raw(&framed, head.data, head.length);
    return framed;
}

/* Out: where the next plane begins. */
static off_t write_host_heads(struct world *world)
{
    struct text metadata = host_metadata(world);
    struct bytes name, head;
    name.length = 0;
    head.length = 0;

    bytes_text(&name, 2, "/host:CPU");
    uint64_t size = name.length + metadata.length;
    for (int64_t i = 0; i < world->options.lines; i++)
        size += line_head(&world->lines[i]).length + world->lines[i].size_bytes;
    bytes_varint(&head, 1 << 3 | 2);
    bytes_varint(&head, size);
    bytes_raw(&head, name.data, name.length);
    events_write_at(world, head.data, head.length, 0);
    off_t at = (off_t)head.length;
    for (int64_t i = 0; i < world->options.lines; i++) {
        struct bytes own = line_head(&world->lines[i]);
        events_write_at(world, own.data, own.length, at);
        world->lines[i].at = at + (off_t)own.length;
        at = world->lines[i].at + (off_t)world->lines[i].size_bytes;
    }
    events_write_at(world, metadata.data, metadata.length, at);
    at += (off_t)metadata.length;
    free(metadata.data);
    return at;
}

/* A TPU core with its launches: one training program a step, and every tenth step an evaluation. */
static off_t write_device(struct world *world, int64_t number, off_t at)
{
    struct text events = {.data = NULL}, metadata = {.data = NULL};
    struct line line = {.name = "XLA Modules", .id = 2};
    char name[NAME_BYTES];
    for (int64_t step = 0; step < world->steps; step++) {
        struct bytes event, framed;
        framed.length = 0;
        int64_t id = step % 10 == 9 ? 2 : 1;
        events_begin(&event, &line, id, START_PS + step * steps_length_ps(world) + 2 * TICK_PS,
                     steps_length_ps(world) - (id == 2 ? 40 : 6) * TICK_PS);
        bytes_message(&framed, 4, &event);
        append(&events, &framed);
    }
    line.size_bytes = events.length;
    append_name(&metadata, 4, 1, "jit_train_step(1234567890)");
    append_name(&metadata, 4, 2, "jit_eval_step(987654321)");
    snprintf(name, sizeof(name), "/device:TPU:%" PRId64, number);
    struct bytes plane, own = line_head(&line), head;
    plane.length = head.length = 0;
    bytes_int(&plane, 1, number + 1);
    bytes_text(&plane, 2, name);
    bytes_varint(&head, 1 << 3 | 2);
    bytes_varint(&head, plane.length + own.length + events.length + metadata.length);
    bytes_raw(&head, plane.data, plane.length);
    bytes_raw(&head, own.data, own.length);
    events_write_at(world, head.data, head.length, at);
    at += (off_t)head.length;
    events_write_at(world, events.data, events.length, at);
    at += (off_t)events.length;
    events_write_at(world, metadata.data, metadata.length, at);
    at += (off_t)metadata.length;
    free(events.data);
    free(metadata.data);
    return at;
}

/* Unix time of the capture's start. */
#define CAPTURE_NS INT64_C(1771595650217823548)

/* When the capture began and ended: after the last step, or in the middle of one that is not whole. */
static off_t write_environment(const struct world *world, off_t at)
{
    static const char *const names[] = {NULL, "profile_start_time", "profile_stop_time"};
    int64_t a_step = world->chunks_per_step * SLOTS * world->options.allocators;
    bool is_whole = world->options.events % a_step == 0;
    int64_t length_ps = is_whole ? START_PS + world->steps * steps_length_ps(world) : world->now_ps + TICK_PS;
    const int64_t times_ns[] = {0, CAPTURE_NS, CAPTURE_NS + length_ps / 1000};
    struct text content = {.data = NULL};
    struct bytes plane, head;
    plane.length = head.length = 0;
    bytes_text(&plane, 2, "Task Environment");
    append(&content, &plane);
    for (int64_t id = 1; id <= 2; id++)
        append_name(&content, 5, id, names[id]);
    for (int64_t id = 1; id <= 2; id++) {
        struct bytes stat, framed;
        stat.length = framed.length = 0;
        bytes_int(&stat, 1, id);
        bytes_int(&stat, 3, times_ns[id]);
        bytes_message(&framed, 6, &stat);
        append(&content, &framed);
    }
    bytes_varint(&head, 1 << 3 | 2);
    bytes_varint(&head, content.length);
    events_write_at(world, head.data, head.length, at);
    at += (off_t)head.length;
    events_write_at(world, content.data, content.length, at);
    free(content.data);
    return at + (off_t)content.length;
}

static void name_lines(struct world *world)
{
    for (int64_t i = 0; i < world->options.lines; i++) {
        struct line *line = &world->lines[i];
        line->id = 1200 + i;
        line->timestamp_ns = 36840 + i * BASE_STEP_NS;
        snprintf(line->name, NAME_BYTES, i ? "tf_Compute/%" PRId64 : "python/%" PRId64, line->id);
    }
    for (int64_t i = 0; i < world->options.allocators; i++)
        snprintf(world->pool_names[i], NAME_BYTES, "GPU_%" PRId64 "_bfc", i);
}

int main(int argc, char **argv)
{
    struct world *world = calloc(1, sizeof(*world));
    if (!world)
        world_stop("make-trace");
    world->options = options_read(argc, argv);
    steps_plan(world);
    name_lines(world);
    world->file = open(world->options.out, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (world->file < 0)
        world_stop(world->options.out);
    steps_play(world);
    off_t end = write_host_heads(world);
    world->is_writing = true;
    steps_play(world);
    for (int64_t i = 0; i < world->options.lines; i++) {
        events_flush(world, &world->lines[i]);
        free(world->lines[i].buffer);
    }
    for (int64_t i = 0; world->options.is_tpu && i < world->options.allocators; i++)
        end = write_device(world, i, end);
    end = write_environment(world, end);
    if (close(world->file) != 0)
        world_stop(world->options.out);
    printf("%s: %" PRId64 " memory events in %" PRId64 " steps, %jd bytes\n", world->options.out, world->done_events,
           world->steps, (intmax_t)end);
    free(world);
    return 0;
}
