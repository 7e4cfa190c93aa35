/* SPDX-License-Identifier: Apache-2.0 */
#include "read/hlo/hlo_totals.h"

#include "base/sum.h"
#include "hlo.fields.h"
#include "read/hlo/shape.h"

/* More spaces than any platform has; further ones are not summed. */
enum { SPACES_MAX = 64, PART_MAX = 8 * 1024, NAME_MAX = 16 * 1024 };

struct parts {
    struct stream_scope module;
    bool has_module;
    struct hlo_totals *out;
};

static struct hlo_space_total *total_of(struct hlo_totals *out, int64_t space)
{
    size_t at = 0;
    while (at < out->space_count && out->spaces[at].space < space)
        at++;
    if (at == out->space_count || out->spaces[at].space != space) {
        if (out->space_count == SPACES_MAX)
            return NULL;
        memmove(&out->spaces[at + 1], &out->spaces[at], (out->space_count - at) * sizeof(out->spaces[0]));
        out->spaces[at] = (struct hlo_space_total){space, 0, 0, 0};
        out->space_count++;
    }
    return &out->spaces[at];
}

/* What an allocation says it is for. */
struct use {
    bool is_argument, is_constant, is_output, is_thread_local;
};

static void total_add(struct hlo_space_total *total, const struct use *use, int64_t bytes)
{
    if (total == NULL || use->is_thread_local)
        return;
    total->total_bytes = sum_add(total->total_bytes, bytes);
    if (!use->is_argument && !use->is_constant && !use->is_output)
        total->temporary_bytes = sum_add(total->temporary_bytes, bytes);
    if (use->is_output && !use->is_argument && bytes > total->largest_output_bytes)
        total->largest_output_bytes = bytes;
}

static void allocation_read(struct stream *stream, struct stream_scope scope, struct hlo_totals *out)
{
    struct stream_field field;
    int64_t size = 0, color = 0;
    struct use use = {0};
    while (stream_next(stream, &scope, &field)) {
        if (field.type != WIRE_VARINT)
            continue;
        if (field.number == BUFFER_ALLOCATION_PROTO_SIZE)
            size = (int64_t)field.value;
        else if (field.number == BUFFER_ALLOCATION_PROTO_COLOR)
            color = (int64_t)field.value;
        else if (field.number == BUFFER_ALLOCATION_PROTO_IS_THREAD_LOCAL)
            use.is_thread_local = field.value != 0;
        else if (field.number == BUFFER_ALLOCATION_PROTO_IS_ENTRY_COMPUTATION_PARAMETER)
            use.is_argument = field.value != 0;
        else if (field.number == BUFFER_ALLOCATION_PROTO_IS_CONSTANT)
            use.is_constant = field.value != 0;
        else if (field.number == BUFFER_ALLOCATION_PROTO_MAYBE_LIVE_OUT)
            use.is_output = field.value != 0;
    }
    total_add(total_of(out, color), &use, size < 0 || size > SUM_MAX_BYTES ? 0 : size);
}

static void assignment_read(struct stream *stream, struct stream_scope scope, struct hlo_totals *out)
{
    struct stream_field field;
    out->has_assignment = true;
    while (stream_next(stream, &scope, &field))
        if (field.number == BUFFER_ASSIGNMENT_PROTO_BUFFER_ALLOCATIONS && field.type == WIRE_BYTES)
            allocation_read(stream, field.payload, out);
}

static enum space_platform instruction_platform(struct stream *stream, struct stream_scope scope)
{
    struct stream_field field;
    struct stream_scope config = {0, 0}, target = {0, 0}, shape = {0, 0};
    while (stream_next(stream, &scope, &field)) {
        if (field.type != WIRE_BYTES)
            continue;
        if (field.number == HLO_INSTRUCTION_PROTO_BACKEND_CONFIG)
            config = field.payload;
        else if (field.number == HLO_INSTRUCTION_PROTO_CUSTOM_CALL_TARGET)
            target = field.payload;
        else if (field.number == HLO_INSTRUCTION_PROTO_SHAPE)
            shape = field.payload;
    }
    if (shape_has_tiles(stream_peek(stream, shape, PART_MAX)))
        return SPACE_PLATFORM_TPU;
    enum space_platform platform = space_platform_of((struct str){"", 0}, stream_peek(stream, target, PART_MAX));
    if (platform != SPACE_PLATFORM_UNKNOWN)
        return platform;
    return space_platform_of(stream_peek(stream, config, PART_MAX), (struct str){"", 0});
}

/* Looks at `seen` instructions at most; the platform of the first that gives it away. */
static enum space_platform computation_platform(struct stream *stream, struct stream_scope computation, int *seen)
{
    struct stream_field field;
    while (*seen < SPACE_PLATFORM_SAMPLE && stream_next(stream, &computation, &field)) {
        if (field.number != HLO_COMPUTATION_PROTO_INSTRUCTIONS || field.type != WIRE_BYTES)
            continue;
        ++*seen;
        enum space_platform platform = instruction_platform(stream, field.payload);
        if (platform != SPACE_PLATFORM_UNKNOWN)
            return platform;
    }
    return SPACE_PLATFORM_UNKNOWN;
}

/* As hlo.c: the first instructions, then those of the last computation. */
static enum space_platform module_platform(struct stream *stream, struct stream_scope module)
{
    struct stream_field field;
    struct stream_scope last = {0, 0};
    int seen = 0, seen_last = 0;
    while (stream_next(stream, &module, &field)) {
        if (field.number != HLO_MODULE_PROTO_COMPUTATIONS || field.type != WIRE_BYTES)
            continue;
        last = field.payload;
        enum space_platform platform = computation_platform(stream, field.payload, &seen);
        if (platform != SPACE_PLATFORM_UNKNOWN)
            return platform;
    }
    return computation_platform(stream, last, &seen_last);
}

static void parts_find(struct stream *stream, struct stream_scope scope, enum kind kind, struct parts *parts)
{
    struct stream_field field;
    if (kind == KIND_HLO_MODULE) {
        parts->module = scope;
        parts->has_module = true;
        return;
    }
    while (stream_next(stream, &scope, &field)) {
        if (field.type != WIRE_BYTES)
            continue;
        if (kind == KIND_HLO_SNAPSHOT && field.number == HLO_SNAPSHOT_HLO) {
            parts_find(stream, field.payload, KIND_HLO_PROTO, parts);
        } else if (kind == KIND_HLO_PROTO && field.number == HLO_PROTO_HLO_MODULE) {
            parts->module = field.payload;
            parts->has_module = true;
        } else if (kind == KIND_HLO_PROTO && field.number == HLO_PROTO_BUFFER_ASSIGNMENT && parts->out != NULL) {
            assignment_read(stream, field.payload, parts->out);
        }
    }
}

bool hlo_totals_read(const struct source *source, struct stream_scope scope, enum kind kind, struct arena *arena,
                     struct hlo_totals *out, struct err *err)
{
    struct stream stream;
    *out = (struct hlo_totals){0};
    out->spaces = arena_array(arena, struct hlo_space_total, SPACES_MAX + 1);
    stream_open(&stream, source, arena, err);
    struct parts parts = {.out = out};
    parts_find(&stream, scope, kind, &parts);
    if (parts.has_module)
        out->platform = module_platform(&stream, parts.module);
    if (stream.is_cut)
        err_set(err, ERR_truncated, stream.cut_at, "the HLO proto ends early");
    stream_close(&stream);
    return !err_is_set(err);
}

struct str hlo_totals_name(const struct source *source, enum kind kind, struct arena *arena, struct err *err)
{
    struct stream stream;
    struct stream_field field;
    struct parts parts = {0};
    struct str name = {"", 0};
    stream_open(&stream, source, arena, err);
    parts_find(&stream, stream_whole(&stream), kind, &parts);
    while (parts.has_module && name.length == 0 && stream_next(&stream, &parts.module, &field))
        if (field.number == HLO_MODULE_PROTO_NAME && field.type == WIRE_BYTES)
            name = stream_text(&stream, field.payload, NAME_MAX, arena);
    stream_close(&stream);
    return name;
}
