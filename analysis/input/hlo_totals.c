/* SPDX-License-Identifier: Apache-2.0 */
#include "input/hlo_totals.h"

#include "base/sum.h"
#include "hlo.fields.h"
#include "input/shape.h"

/* More spaces than any platform has; further ones are not summed. */
enum { SPACES_MAX = 64, PART_MAX = 8 * 1024, NAME_MAX = 16 * 1024 };

struct parts {
    struct stream_scope module;
    bool has_module;
    struct hlo_totals *out;
};

static void total_add(struct hlo_totals *out, int64_t space, int64_t bytes)
{
    size_t at = 0;
    while (at < out->space_count && out->spaces[at].space < space)
        at++;
    if (at == out->space_count || out->spaces[at].space != space) {
        if (out->space_count == SPACES_MAX)
            return;
        memmove(&out->spaces[at + 1], &out->spaces[at], (out->space_count - at) * sizeof(out->spaces[0]));
        out->spaces[at] = (struct hlo_space_total){space, 0};
        out->space_count++;
    }
    out->spaces[at].total_bytes = sum_add(out->spaces[at].total_bytes, bytes);
}

static void allocation_read(struct stream *stream, struct stream_scope scope, struct hlo_totals *out)
{
    struct stream_field field;
    int64_t size = 0, color = 0;
    bool is_thread_local = false;
    while (stream_next(stream, &scope, &field)) {
        if (field.type != WIRE_VARINT)
            continue;
        if (field.number == BUFFER_ALLOCATION_PROTO_SIZE)
            size = (int64_t)field.value;
        else if (field.number == BUFFER_ALLOCATION_PROTO_COLOR)
            color = (int64_t)field.value;
        else if (field.number == BUFFER_ALLOCATION_PROTO_IS_THREAD_LOCAL)
            is_thread_local = field.value != 0;
    }
    total_add(out, color, is_thread_local || size < 0 || size > SUM_MAX_BYTES ? 0 : size);
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

static enum space_platform module_platform(struct stream *stream, struct stream_scope module)
{
    struct stream_field field;
    int seen = 0;
    while (seen < SPACE_PLATFORM_SAMPLE && stream_next(stream, &module, &field)) {
        if (field.number != HLO_MODULE_PROTO_COMPUTATIONS || field.type != WIRE_BYTES)
            continue;
        struct stream_scope computation = field.payload;
        while (seen < SPACE_PLATFORM_SAMPLE && stream_next(stream, &computation, &field)) {
            if (field.number != HLO_COMPUTATION_PROTO_INSTRUCTIONS || field.type != WIRE_BYTES)
                continue;
            seen++;
            enum space_platform platform = instruction_platform(stream, field.payload);
            if (platform != SPACE_PLATFORM_UNKNOWN)
                return platform;
        }
    }
    return SPACE_PLATFORM_UNKNOWN;
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
