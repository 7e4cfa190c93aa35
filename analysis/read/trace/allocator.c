/* SPDX-License-Identifier: Apache-2.0 */
#include "read/trace/allocator.h"

#include "base/sum.h"
#include "read/trace/trace_line.h"

enum { LINE_MAX_BYTES = 1 << 20, LOOK_MAX_BYTES = 64 << 20, ALLOCATORS_MAX = 64 };

static bool has_word(struct str name, const char *word)
{
    size_t length = strlen(word);
    for (size_t i = 0; i + length <= name.length; i++)
        if (str_equal_any_case((struct str){name.data + i, length}, (struct str){word, length}))
            return true;
    return false;
}

enum allocator_kind allocator_kind_of(struct str name)
{
    if (has_word(name, "host") || has_word(name, "cpu"))
        return ALLOCATOR_HOST;
    return has_word(name, "gpu") ? ALLOCATOR_DEVICE : ALLOCATOR_OTHER;
}

/* An allocator that is named by reference: its name is read when the events are, for both need the stream's window. */
struct allocator {
    uint64_t reference, limit_bytes;
};

struct allocator_looking {
    struct allocator allocators[ALLOCATORS_MAX];
    size_t allocator_count;
    uint64_t limit_bytes; /* of those named by a text */
};

static uint64_t allocator_least(uint64_t a, uint64_t b) { return a == 0 || (b > 0 && b < a) ? b : a; }

static int64_t size_of(const struct trace_event *event, enum trace_stat stat)
{
    int64_t size = trace_line_number(event, stat, -1);
    return size > SUM_MAX_BYTES ? -1 : size;
}

/* 0: the event does not tell it. */
static uint64_t limit_of(const struct trace_event *event)
{
    int64_t in_use = size_of(event, TRACE_STAT_BYTES_ALLOCATED), free = size_of(event, TRACE_STAT_BYTES_AVAILABLE);
    int64_t reserved = trace_line_has(event, TRACE_STAT_BYTES_RESERVED) ? size_of(event, TRACE_STAT_BYTES_RESERVED) : 0;
    return in_use < 0 || free < 0 || reserved < 0 ? 0 : (uint64_t)(reserved + in_use + free);
}

static void allocator_take(void *context, const struct trace_event *event)
{
    struct allocator_looking *looking = context;
    if (!trace_class_is_memory(event->class) || event->is_aggregated ||
        !trace_line_has(event, TRACE_STAT_ALLOCATOR_NAME) || limit_of(event) == 0)
        return;
    uint64_t reference = event->value[TRACE_STAT_ALLOCATOR_NAME];
    if (event->type[TRACE_STAT_ALLOCATOR_NAME] == TRACE_TEXT) {
        if (allocator_kind_of(event->text[TRACE_STAT_ALLOCATOR_NAME]) == ALLOCATOR_DEVICE)
            looking->limit_bytes = allocator_least(looking->limit_bytes, limit_of(event));
    } else if (event->type[TRACE_STAT_ALLOCATOR_NAME] == TRACE_REF) {
        for (size_t i = 0; i < looking->allocator_count; i++)
            if (looking->allocators[i].reference == reference)
                return;
        if (looking->allocator_count < ALLOCATORS_MAX)
            looking->allocators[looking->allocator_count++] = (struct allocator){reference, limit_of(event)};
    }
}

/* Reads the names of the allocators that the lines so far have referred to. */
static void names_read(struct allocator_looking *looking, struct stream *stream, const struct trace_plane *plane,
                       struct arena *scratch)
{
    for (size_t i = 0; i < looking->allocator_count; i++) {
        const struct allocator *one = &looking->allocators[i];
        struct str name = trace_plane_stat_name(stream, plane, (int64_t)one->reference, scratch);
        if (allocator_kind_of(name) == ALLOCATOR_DEVICE)
            looking->limit_bytes = allocator_least(looking->limit_bytes, one->limit_bytes);
    }
}

uint64_t allocator_limit_find(struct stream *stream, const struct trace_plane *plane, struct arena *scratch)
{
    struct allocator_looking looking = {0};
    uint64_t left_bytes = LOOK_MAX_BYTES;
    for (size_t i = 0; i < plane->line_count && left_bytes > 0 && looking.limit_bytes == 0; i++) {
        struct stream_scope scope = plane->lines[i];
        struct trace_line line = {0};
        size_t known_count = looking.allocator_count;
        uint64_t most_bytes = left_bytes < LINE_MAX_BYTES ? left_bytes : LINE_MAX_BYTES;
        scope.end = scope.end - scope.at > most_bytes ? scope.at + most_bytes : scope.end;
        left_bytes -= scope.end - scope.at;
        trace_line_events(stream, scope, plane, scratch, allocator_take, &looking, &line);
        if (err_is_set(stream->err))
            break;
        if (looking.allocator_count > known_count)
            names_read(&looking, stream, plane, scratch);
    }
    return looking.limit_bytes;
}
