/* SPDX-License-Identifier: Apache-2.0 */
#include "read/hlo/hlo_parts.h"

#include "hlo.fields.h"
#include "read/hlo/assignment_text.h"
#include "read/hlo/hlo.h"
#include "read/hlo/hlo_text.h"
#include "wire/stream.h"
#include "wire/wire.h"
#include "wire/wire_write.h"

#define BEGIN "*** Begin "
#define CLOSE " ***\n"

enum { ROOM = 256 };

struct part {
    struct str name, bytes; /* bytes: data NULL: not there */
    enum kind kind;         /* KIND_HLO_PARTS: a text */
};

struct parts {
    struct part module, assignment;
    bool is_odd; /* a number of a text is none */
};

bool hlo_parts_is_text(struct str begin)
{
    return hlo_text_is(begin) || assignment_text_is(begin) || str_starts(begin, STR(BEGIN));
}

/* ---- bytes as a source ---- */

static int64_t bytes_read(void *context, uint64_t offset, void *into, size_t size)
{
    const struct str *bytes = context;
    size_t left = offset < bytes->length ? bytes->length - (size_t)offset : 0;
    size = size < left ? size : left;
    if (size > 0)
        memcpy(into, bytes->data + offset, size);
    return (int64_t)size;
}

static struct source source_of(struct str bytes, struct arena *arena)
{
    struct str *kept = arena_array(arena, struct str, 1);
    *kept = bytes;
    return (struct source){.context = kept, .read = bytes_read, .size_bytes = bytes.length, .read_apart = bytes_read};
}

/* ---- which parts there are ---- */

/* Does the module's file go with that of the assignment? "X.txt" and "X-buffer-assignment.txt" do. */
static bool goes_with(struct str module, struct str assignment)
{
    size_t length = module.length;
    while (length > 0 && module.data[length - 1] != '.')
        length--;
    struct str stem = {module.data, length > 0 ? length - 1 : 0};
    return str_starts(assignment, stem) && assignment.length > stem.length && assignment.data[stem.length] == '-';
}

static void part_take(struct parts *parts, struct part part, struct arena *arena, struct err *err)
{
    bool is_text = hlo_parts_is_text(part.bytes);
    struct source source = source_of(part.bytes, arena);
    part.kind = is_text ? KIND_HLO_PARTS : kind_of(&source, arena, err);
    bool is_assignment = is_text ? assignment_text_is(part.bytes) : part.kind == KIND_BUFFER_ASSIGNMENT;
    bool is_module = is_text ? hlo_text_is(part.bytes) : part.kind == KIND_HLO_MODULE || part.kind == KIND_HLO_PROTO;
    if (is_assignment && parts->assignment.bytes.data == NULL)
        parts->assignment = part;
    else if (is_module &&
             (parts->module.bytes.data == NULL ||
              (!goes_with(parts->module.name, parts->assignment.name) && goes_with(part.name, parts->assignment.name))))
        parts->module = part;
}

/* "*** Begin NAME ***\n" and the text up to its end. */
static bool framed_next(struct text_cursor *cursor, struct arena *arena, struct part *part)
{
    if (!text_cursor_take(cursor, BEGIN))
        return false;
    struct str line = text_cursor_line(cursor);
    if (!str_ends(line, STR(" ***")))
        return text_cursor_fail(cursor, "\"*** Begin NAME ***\" is cut");
    part->name = (struct str){line.data, line.length - 4};
    const char *end = arena_format(arena, "*** End %.*s ***", (int)part->name.length, part->name.data);
    struct str rest = text_cursor_rest(cursor);
    arena_work(arena, rest.length / 16);
    const char *found = rest.length > 0 ? memmem(rest.data, rest.length, end, strlen(end)) : NULL;
    if (found == NULL)
        return text_cursor_fail(cursor, "what begins here does not end: \"*** End NAME ***\" is missing");
    size_t length = (size_t)(found - rest.data);
    part->bytes = (struct str){rest.data, length > 0 && found[-1] == '\n' ? length - 1 : length};
    cursor->at = found + strlen(end);
    return true;
}

static void parts_find(struct str bytes, struct arena *arena, struct parts *parts, struct err *err)
{
    /* twice: a module may come before the assignment that says which module to take */
    for (int round = 0; round < 2; round++) {
        struct text_cursor cursor = text_cursor_open(bytes, (struct str){"", 0}, err);
        struct part part = {.name = {"", 0}, .bytes = bytes};
        if (!str_starts(bytes, STR(BEGIN))) {
            part_take(parts, part, arena, err);
            return;
        }
        while (cursor.at < cursor.end && !err_is_set(err)) {
            if (framed_next(&cursor, arena, &part))
                part_take(parts, part, arena, err);
            else
                text_cursor_line(&cursor);
        }
    }
}

/* ---- joining ---- */

/* The module of a HloProto, and its own assignment if it has one; of a module itself. */
static struct str module_of(const struct part *part, struct part *assignment, struct err *err)
{
    struct str module = part->bytes;
    struct wire wire = wire_open(part->bytes, 0, err);
    while (part->kind == KIND_HLO_PROTO && wire_next(&wire)) {
        if (wire.number == HLO_PROTO_HLO_MODULE)
            module = wire_text(&wire);
        else if (wire.number == HLO_PROTO_BUFFER_ASSIGNMENT)
            *assignment = (struct part){part->name, wire_text(&wire), KIND_BUFFER_ASSIGNMENT};
    }
    return module;
}

/* The id of the instruction that defines a LogicalBufferProto. */
static uint64_t defined_at(struct wire buffer)
{
    uint64_t id = 0;
    while (wire_next(&buffer)) {
        struct wire location = wire_message(&buffer);
        while (buffer.number == LOGICAL_BUFFER_PROTO_DEFINED_AT && wire_next(&location))
            if (location.number == LOGICAL_BUFFER_PROTO_LOCATION_INSTRUCTION_ID)
                id = wire_uint(&location);
    }
    return id;
}

/* Most of the instructions that the assignment names are in the module. */
static bool is_of(struct str assignment, const struct hlo *module, struct err *err)
{
    uint64_t count = 0, found = 0;
    struct wire wire = wire_open(assignment, 0, err);
    while (wire_next(&wire)) {
        if (wire.number != BUFFER_ASSIGNMENT_PROTO_LOGICAL_BUFFERS)
            continue;
        count++;
        found += map_get(&module->instruction_of_id, defined_at(wire_message(&wire))) != HLO_NONE;
    }
    return found > count / 2;
}

/* For each instruction that an assignment names by its id, one with that id: it has no names. */
static void module_make(struct str assignment, struct arena *arena, struct arena_out *out, struct err *err)
{
    struct map met;
    struct wire wire = wire_open(assignment, 0, err);
    map_init(&met, arena, 64);
    arena_out_room(out, ROOM);
    wire_write_number(&out->buf, HLO_MODULE_PROTO_ENTRY_COMPUTATION_ID, 1);
    size_t begin = wire_write_begin(&out->buf, HLO_MODULE_PROTO_COMPUTATIONS);
    wire_write_number(&out->buf, HLO_COMPUTATION_PROTO_ID, 1);
    while (wire_next(&wire)) {
        if (wire.number != BUFFER_ASSIGNMENT_PROTO_LOGICAL_BUFFERS)
            continue;
        uint64_t id = defined_at(wire_message(&wire));
        if (!map_put(&met, id, 0, false))
            continue;
        const char *name = arena_format(arena, "instruction %llu", (unsigned long long)id);
        arena_out_room(out, ROOM);
        size_t instruction = wire_write_begin(&out->buf, HLO_COMPUTATION_PROTO_INSTRUCTIONS);
        wire_write_bytes(&out->buf, HLO_INSTRUCTION_PROTO_NAME, str_of(name));
        wire_write_number(&out->buf, HLO_INSTRUCTION_PROTO_ID, id);
        wire_write_end(&out->buf, instruction);
    }
    arena_out_room(out, ROOM);
    wire_write_end(&out->buf, begin);
}

/* The module as a HloModuleProto; empty if there is none. */
static bool module_take(struct parts *parts, struct arena *arena, struct str *module, struct err *err)
{
    struct arena_out out;
    *module = (struct str){"", 0};
    if (parts->module.bytes.data == NULL)
        return true;
    if (parts->module.kind != KIND_HLO_PARTS) {
        *module = module_of(&parts->module, &parts->assignment, err);
        return !err_is_set(err);
    }
    arena_out_open(&out, arena);
    if (!hlo_text_read(parts->module.bytes, parts->module.name, arena, &out, &parts->is_odd, err))
        return false;
    *module = arena_out_bytes(&out);
    return true;
}

/* A proto as it is; a text for the module that is there, or for one that is made up. */
static bool assignment_take(struct parts *parts, bool has_module, struct str *module, struct arena *arena,
                            struct str *assignment, struct err *err)
{
    const struct part *part = &parts->assignment;
    struct arena_out out, made;
    struct hlo hlo;
    arena_out_open(&made, arena);
    arena_out_open(&out, arena);
    *assignment = part->bytes;
    if (part->kind == KIND_BUFFER_ASSIGNMENT && !has_module)
        module_make(part->bytes, arena, &made, err);
    if (part->kind != KIND_BUFFER_ASSIGNMENT) {
        if (has_module && !hlo_read(*module, 0, KIND_HLO_MODULE, (struct str){"", 0}, arena, &hlo, err))
            return false;
        if (!assignment_text_read(part->bytes, part->name, has_module ? &hlo : NULL, arena, &out, &made, &parts->is_odd,
                                  err))
            return false;
        *assignment = arena_out_bytes(&out);
    }
    if (!has_module)
        *module = arena_out_bytes(&made);
    return !err_is_set(err);
}

/* Can the assignment belong to the module beside it? A text does, because it names the module's instructions. */
static bool is_matching(const struct parts *parts, struct str module, struct arena *arena, struct err *err)
{
    struct hlo hlo;
    if (parts->assignment.kind != KIND_BUFFER_ASSIGNMENT || module.length == 0)
        return true;
    return parts->module.kind != KIND_HLO_PARTS &&
           hlo_read(module, 0, KIND_HLO_MODULE, (struct str){"", 0}, arena, &hlo, err) &&
           is_of(parts->assignment.bytes, &hlo, err);
}

static bool parts_write(struct parts *parts, struct arena *arena, struct hlo_parts *out, struct err *err)
{
    struct arena_out all;
    struct str module, assignment = {"", 0};
    if (!module_take(parts, arena, &module, err))
        return false;
    bool has_module = module.length > 0, is_text = parts->assignment.kind == KIND_HLO_PARTS;
    bool is_there = parts->assignment.bytes.data != NULL, matches = !is_there || is_matching(parts, module, arena, err);
    bool is_taken = is_there && matches;
    if (err_is_set(err) || (is_taken && !assignment_take(parts, has_module, &module, arena, &assignment, err)))
        return false;
    arena_out_open(&all, arena);
    arena_out_room(&all, module.length + assignment.length + ROOM);
    wire_write_bytes(&all.buf, HLO_PROTO_HLO_MODULE, module);
    if (is_taken)
        wire_write_bytes(&all.buf, HLO_PROTO_BUFFER_ASSIGNMENT, assignment);
    out->source = source_of(arena_out_bytes(&all), arena);
    out->lacks = (is_taken && is_text ? HLO_LACKS_HEAP_TRACE : 0u) | (has_module ? 0u : HLO_LACKS_MODULE) |
                 (has_module || is_text ? 0u : HLO_LACKS_NAMES) | (matches ? 0u : HLO_LACKS_MATCH) |
                 (parts->is_odd ? HLO_LACKS_NUMBERS : 0u);
    return true;
}

bool hlo_parts_join(const struct source *source, struct arena *arena, struct hlo_parts *out, struct err *err)
{
    struct stream stream;
    struct parts parts = {.module = {.bytes = {NULL, 0}}};
    stream_init(&stream, source, arena, err);
    struct str bytes = stream_copy(&stream, (struct stream_scope){0, stream_size(&stream)}, arena);
    if (err_is_set(err))
        return false;
    parts_find(bytes, arena, &parts, err);
    if (err_is_set(err))
        return false;
    if (parts.module.bytes.data == NULL && parts.assignment.bytes.data == NULL)
        return err_set(err, ERR_unsupported, 0, "holds neither a module nor a buffer assignment");
    return parts_write(&parts, arena, out, err);
}
