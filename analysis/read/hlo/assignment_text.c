/* SPDX-License-Identifier: Apache-2.0
 * assignment_text.c: see assignment_text.h. Three walks over the lines, which are cheap: a made-up module, the values,
 * the allocations. */
#include "read/hlo/assignment_text.h"

#include "hlo.fields.h"
#include "read/hlo/hlo_text_attributes.h"
#include "read/hlo/shape_read.h"
#include "wire/wire_write.h"

#define HEAD "BufferAssignment:"

enum walk { WALK_MODULE, WALK_VALUES, WALK_ALLOCATIONS };

struct assignment_text_reading {
    struct text_cursor cursor;
    struct arena *arena;
    const struct hlo *module;
    struct map by_name; /* instructions of the module, by the hash of their names */
    struct arena_out *out, *made;
    enum walk walk;
    size_t allocation; /* the open message; 0: none */
    bool has_tuple;    /* in the open allocation */
    bool is_odd;       /* a number was met that is none */
};

struct value {
    int64_t id, color, size, offset;
    struct str name, index; /* index: "0,1", without its brackets */
    struct str whole_name;  /* as written, "copy-start{0}"; an empty index is left out */
    struct str shape;
};

bool assignment_text_is(struct str begin) { return str_starts(begin, STR(HEAD)); }

/* ---- names ---- */

struct assignment_text_wanted {
    const struct hlo *module;
    struct str name;
};

static bool is_name(const void *context, uint64_t at)
{
    const struct assignment_text_wanted *wanted = context;
    return str_equal(hlo_instruction_name(wanted->module, (uint32_t)at), wanted->name);
}

static uint64_t assignment_text_find(const struct assignment_text_reading *reading, struct str name)
{
    const struct assignment_text_wanted wanted = {reading->module, name};
    return map_find(&reading->by_name, hash_bytes(name.data, name.length, 0), is_name, &wanted);
}

static void names_learn(struct assignment_text_reading *reading)
{
    map_init(&reading->by_name, reading->arena, reading->module->instruction_count);
    for (uint32_t at = 0; at < reading->module->instruction_count; at++) {
        struct str name = hlo_instruction_name(reading->module, at);
        if (assignment_text_find(reading, name) == MAP_FREE)
            map_add(&reading->by_name, hash_bytes(name.data, name.length, 0), at);
    }
}

/* In a made-up module it is the value's own id plus one, because an id of 0 is not written. */
static uint64_t instruction_id(const struct assignment_text_reading *reading, const struct value *value)
{
    if (reading->module == NULL)
        return (uint64_t)value->id + 1;
    uint64_t at = assignment_text_find(reading, value->name);
    return at == MAP_FREE ? UINT64_MAX : (uint64_t)reading->module->instructions[at].id;
}

/* ---- a value ---- */

/* The number up to one of `stops`; `unknown` if it is no number, or too large. */
static int64_t number_before(struct assignment_text_reading *reading, const char *stops, int64_t unknown)
{
    struct text_cursor *cursor = &reading->cursor;
    const char *from = cursor->at;
    int64_t number;
    if (text_cursor_number(cursor, &number) && cursor->at < cursor->end && *cursor->at != '\0' &&
        strchr(stops, *cursor->at) != NULL)
        return number;
    cursor->at = from;
    text_cursor_until(cursor, stops);
    reading->is_odd = true;
    return unknown;
}

/* An impossible size or offset: code that adds sizes recognises it. */
enum { UNKNOWN_BYTES = -1 };

/* An id for a value without a number: no other value has it, and it is equal in all walks. */
static int64_t id_made(const struct assignment_text_reading *reading)
{
    return (INT64_C(1) << 62) + (reading->cursor.at - reading->cursor.begin);
}

/* "<322 tuple.5{0,1} (phi) @2> (size=512,offset=0): f32[8]{0}" */
static bool value_read(struct assignment_text_reading *reading, struct value *value)
{
    struct text_cursor *cursor = &reading->cursor;
    *value = (struct value){.index = {"", 0}};
    bool is_begun = text_cursor_take(cursor, "<");
    value->id = number_before(reading, " ", id_made(reading));
    if (!is_begun || !text_cursor_take(cursor, " "))
        return text_cursor_fail(cursor, "a value, \"<ID NAME @SPACE>\", is missing");
    value->name = value->whole_name = text_cursor_until(cursor, " {");
    if (text_cursor_take(cursor, "{")) {
        value->index = text_cursor_until(cursor, "} ");
        if (!text_cursor_want(cursor, "}"))
            return false;
        if (value->index.length > 0)
            value->whole_name.length = (size_t)(cursor->at - value->name.data);
    }
    text_cursor_take(cursor, " (phi)");
    return text_cursor_want(cursor, " @") && (value->color = number_before(reading, ">", 0), true) &&
           text_cursor_want(cursor, "> (size=") && (value->size = number_before(reading, ",", UNKNOWN_BYTES), true) &&
           text_cursor_want(cursor, ",offset=") && (value->offset = number_before(reading, ")", UNKNOWN_BYTES), true) &&
           text_cursor_want(cursor, "): ") && (value->shape = text_cursor_until(cursor, ""), true);
}

static void instruction_make(struct assignment_text_reading *reading, const struct value *value)
{
    struct buf *out = &reading->made->buf;
    struct err ignored = ERR_INIT;
    struct text_cursor shape = text_cursor_open(value->shape, reading->cursor.file, &ignored);
    arena_out_room(reading->made, value->whole_name.length + value->shape.length * SHAPE_READ_FACTOR + HLO_TEXT_ROOM);
    size_t begin = wire_write_begin(out, HLO_COMPUTATION_PROTO_INSTRUCTIONS);
    wire_write_bytes(out, HLO_INSTRUCTION_PROTO_NAME, value->whole_name);
    wire_write_number(out, HLO_INSTRUCTION_PROTO_ID, instruction_id(reading, value));
    size_t before = out->length;
    if (!shape_read(&shape, out, HLO_INSTRUCTION_PROTO_SHAPE, NULL)) {
        out->length = before; /* a shape that is not known */
        reading->is_odd = true;
    }
    wire_write_end(out, begin);
}

static void location_write(struct assignment_text_reading *reading, const struct value *value)
{
    struct buf *out = &reading->out->buf;
    struct err err = ERR_INIT;
    int64_t number;
    struct text_cursor index = text_cursor_open(value->index, reading->cursor.file, &err);
    size_t begin = wire_write_begin(out, LOGICAL_BUFFER_PROTO_DEFINED_AT);
    if (reading->module != NULL && value->index.length > 0) {
        size_t list = wire_write_begin(out, LOGICAL_BUFFER_PROTO_LOCATION_SHAPE_INDEX);
        while (text_cursor_number(&index, &number)) {
            wire_write_varint(out, (uint64_t)number);
            text_cursor_take(&index, ",");
        }
        reading->is_odd |= index.at < index.end;
        wire_write_end(out, list);
    }
    wire_write_number(out, LOGICAL_BUFFER_PROTO_LOCATION_INSTRUCTION_ID, instruction_id(reading, value));
    wire_write_end(out, begin);
}

static void buffer_write(struct assignment_text_reading *reading, const struct value *value)
{
    struct buf *out = &reading->out->buf;
    arena_out_room(reading->out, value->index.length * SHAPE_READ_FACTOR + HLO_TEXT_ROOM);
    size_t begin = wire_write_begin(out, BUFFER_ASSIGNMENT_PROTO_LOGICAL_BUFFERS);
    wire_write_number(out, LOGICAL_BUFFER_PROTO_ID, (uint64_t)value->id);
    wire_write_number(out, LOGICAL_BUFFER_PROTO_SIZE, (uint64_t)value->size);
    location_write(reading, value);
    wire_write_number(out, LOGICAL_BUFFER_PROTO_COLOR, (uint64_t)value->color);
    wire_write_end(out, begin);
}

static void assigned_write(struct assignment_text_reading *reading, const struct value *value)
{
    struct buf *out = &reading->out->buf;
    arena_out_room(reading->out, HLO_TEXT_ROOM);
    size_t begin = wire_write_begin(out, BUFFER_ALLOCATION_PROTO_ASSIGNED);
    wire_write_number(out, BUFFER_ALLOCATION_PROTO_ASSIGNED_LOGICAL_BUFFER_ID, (uint64_t)value->id);
    wire_write_number(out, BUFFER_ALLOCATION_PROTO_ASSIGNED_OFFSET, (uint64_t)value->offset);
    wire_write_number(out, BUFFER_ALLOCATION_PROTO_ASSIGNED_SIZE, (uint64_t)value->size);
    wire_write_end(out, begin);
    reading->has_tuple |= value->shape.length > 0 && value->shape.data[0] == '(';
}

static bool value_take(struct assignment_text_reading *reading)
{
    struct value value;
    if (!value_read(reading, &value))
        return false;
    if (reading->walk == WALK_MODULE)
        instruction_make(reading, &value);
    else if (reading->walk == WALK_VALUES)
        buffer_write(reading, &value);
    else if (reading->allocation > 0)
        assigned_write(reading, &value);
    else
        return text_cursor_fail(&reading->cursor, "a value comes before the first allocation");
    return true;
}

/* ---- an allocation ---- */

static void allocation_close(struct assignment_text_reading *reading)
{
    if (reading->allocation == 0)
        return;
    arena_out_room(reading->out, HLO_TEXT_ROOM);
    wire_write_number(&reading->out->buf, BUFFER_ALLOCATION_PROTO_IS_TUPLE, reading->has_tuple);
    wire_write_end(&reading->out->buf, reading->allocation);
    reading->allocation = 0;
}

/* Passes "|f32[8]| at ShapeIndex {0}" or "|(f32[8])|" and writes the index. */
static bool bars_pass(struct assignment_text_reading *reading, bool has_index)
{
    struct text_cursor *cursor = &reading->cursor;
    struct buf *out = &reading->out->buf;
    int64_t number;
    text_cursor_until(cursor, "|");
    if (!text_cursor_want(cursor, "|"))
        return false;
    if (!has_index)
        return true;
    if (!text_cursor_want(cursor, " at ShapeIndex {"))
        return false;
    size_t begin = wire_write_begin(out, BUFFER_ALLOCATION_PROTO_PARAMETER_SHAPE_INDEX);
    while (text_cursor_number(cursor, &number)) {
        wire_write_varint(out, (uint64_t)number);
        text_cursor_take(cursor, ",");
    }
    wire_write_end(out, begin);
    reading->is_odd |= text_cursor_peek(cursor) != '}';
    text_cursor_until(cursor, "}");
    return text_cursor_want(cursor, "}");
}

static void number_take(struct assignment_text_reading *reading, uint32_t field, int64_t unknown)
{
    wire_write_number(&reading->out->buf, field, (uint64_t)number_before(reading, ",:", unknown));
}

/* Reads the text between two commas: is the allocation a parameter, a constant, …? */
static bool fact_read(struct assignment_text_reading *reading)
{
    struct text_cursor *cursor = &reading->cursor;
    struct buf *out = &reading->out->buf;
    if (text_cursor_take(cursor, "shape |"))
        return bars_pass(reading, true);
    if (text_cursor_take(cursor, "output shape is |"))
        return bars_pass(reading, false);
    if (text_cursor_take(cursor, "color ")) {
        number_take(reading, BUFFER_ALLOCATION_PROTO_COLOR, 0);
    } else if (text_cursor_take(cursor, "parameter ")) {
        wire_write_number(out, BUFFER_ALLOCATION_PROTO_IS_ENTRY_COMPUTATION_PARAMETER, 1);
        number_take(reading, BUFFER_ALLOCATION_PROTO_PARAMETER_NUMBER, 0);
    } else if (text_cursor_take(cursor, "constant")) {
        wire_write_number(out, BUFFER_ALLOCATION_PROTO_IS_CONSTANT, 1);
    } else if (text_cursor_take(cursor, "thread-local")) {
        wire_write_number(out, BUFFER_ALLOCATION_PROTO_IS_THREAD_LOCAL, 1);
    } else if (text_cursor_take(cursor, "maybe-live-out")) {
        wire_write_number(out, BUFFER_ALLOCATION_PROTO_MAYBE_LIVE_OUT, 1);
    } else {
        text_cursor_until(cursor, ",:"); /* preallocated-temp, page 3, and what later releases add */
    }
    return true;
}

/* Behind "allocation ". */
static bool allocation_read(struct assignment_text_reading *reading)
{
    struct text_cursor *cursor = &reading->cursor;
    struct str line = text_cursor_rest(cursor);
    if (reading->walk != WALK_ALLOCATIONS) {
        text_cursor_until(cursor, "");
        return true;
    }
    const char *end = memchr(line.data, '\n', line.length);
    line.length = end ? (size_t)(end - line.data) : line.length;
    allocation_close(reading);
    arena_out_room(reading->out, line.length * SHAPE_READ_FACTOR + HLO_TEXT_ROOM);
    reading->allocation = wire_write_begin(&reading->out->buf, BUFFER_ASSIGNMENT_PROTO_BUFFER_ALLOCATIONS);
    reading->has_tuple = false;
    number_take(reading, BUFFER_ALLOCATION_PROTO_INDEX, id_made(reading));
    if (!text_cursor_want(cursor, ": size "))
        return false;
    number_take(reading, BUFFER_ALLOCATION_PROTO_SIZE, UNKNOWN_BYTES);
    while (text_cursor_take(cursor, ", "))
        if (!fact_read(reading))
            return false;
    return text_cursor_want(cursor, ":");
}

/* Up to the end, or to what older releases print behind: "Total bytes used: …" and the values again. */
static bool lines_walk(struct assignment_text_reading *reading)
{
    struct text_cursor *cursor = &reading->cursor;
    while (cursor->at < cursor->end && !str_starts(text_cursor_rest(cursor), STR("Total bytes used"))) {
        arena_work(reading->arena, 1);
        if (text_cursor_take(cursor, "allocation ")) {
            if (!allocation_read(reading))
                return false;
        } else if (text_cursor_take(cursor, " value: ")) {
            if (!value_take(reading))
                return false;
        } else if (text_cursor_take(cursor, "  value: ") || text_cursor_take(cursor, " reused by buffers")) {
            text_cursor_until(cursor, "");
        } else if (text_cursor_peek(cursor) != '\n' && text_cursor_peek(cursor) != '\r') {
            return text_cursor_fail(cursor, "neither an allocation nor a value");
        }
        text_cursor_line(cursor);
    }
    allocation_close(reading);
    return true;
}

static bool module_make(struct assignment_text_reading *reading)
{
    struct buf *made = &reading->made->buf;
    arena_out_room(reading->made, HLO_TEXT_ROOM);
    wire_write_bytes(made, HLO_MODULE_PROTO_ENTRY_COMPUTATION_NAME, STR("values"));
    wire_write_number(made, HLO_MODULE_PROTO_ENTRY_COMPUTATION_ID, 1);
    size_t begin = wire_write_begin(made, HLO_MODULE_PROTO_COMPUTATIONS);
    wire_write_bytes(made, HLO_COMPUTATION_PROTO_NAME, STR("values"));
    wire_write_number(made, HLO_COMPUTATION_PROTO_ID, 1);
    if (!lines_walk(reading))
        return false;
    arena_out_room(reading->made, HLO_TEXT_ROOM);
    wire_write_end(made, begin);
    return true;
}

bool assignment_text_read(struct str text, struct str file, const struct hlo *module, struct arena *arena,
                          struct arena_out *out, struct arena_out *made, bool *is_odd, struct err *err)
{
    struct assignment_text_reading reading = {
        .cursor = text_cursor_open(text, file, err), .arena = arena, .module = module, .out = out, .made = made};
    if (!text_cursor_want(&reading.cursor, HEAD))
        return false;
    text_cursor_line(&reading.cursor);
    const struct text_cursor first = reading.cursor;
    arena_work(arena, text.length);
    if (module != NULL)
        names_learn(&reading);
    else if (!module_make(&reading))
        return false;
    for (reading.walk = WALK_VALUES; reading.walk <= WALK_ALLOCATIONS; reading.walk++) {
        reading.cursor = first;
        if (!lines_walk(&reading))
            return false;
    }
    *is_odd |= reading.is_odd;
    return !(out->buf.failed || (made != NULL && made->buf.failed)) ||
           err_set(err, ERR_internal, ERR_NO_OFFSET, "a text needs more room than was made for it");
}
