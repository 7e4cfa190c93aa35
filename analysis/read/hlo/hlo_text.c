/* SPDX-License-Identifier: Apache-2.0
 * hlo_text.c: see hlo_text.h. Two walks: the first learns names, for a computation may be named before it is written;
 * the second writes. */
#include "read/hlo/hlo_text.h"

#include "base/map.h"
#include "hlo.fields.h"
#include "read/hlo/hlo_text_attributes.h"
#include "read/hlo/hlo_text_head.h"
#include "read/hlo/shape_read.h"
#include "wire/wire_write.h"

/* Names of instructions or of computations; the one at place i has the id i + 1. */
struct names {
    struct map map;
    struct str *items;
    size_t count, capacity;
};

struct hlo_text_reading {
    struct text_cursor cursor;
    struct arena *arena;
    struct arena_out *out;
    struct names instructions, computations;
    uint64_t *roots;  /* by computation: id of its root */
    bool *is_fusion;  /* by computation: an instruction of opcode fusion calls it */
    uint64_t *begins; /* by computation: id of its first instruction; one more at the end */
    uint64_t entry_id;
    size_t computation_at; /* that is open */
    bool is_writing, is_open;
    bool is_odd; /* a number was met that is none */
};

/* ---- names ---- */

struct hlo_text_wanted {
    const struct names *names;
    struct str name;
};

static bool is_name(const void *context, uint64_t value)
{
    const struct hlo_text_wanted *wanted = context;
    return str_equal(wanted->names->items[value], wanted->name);
}

static uint64_t id_of(const struct names *names, struct str name)
{
    const struct hlo_text_wanted wanted = {names, name};
    uint64_t at = map_find(&names->map, hash_bytes(name.data, name.length, 0), is_name, &wanted);
    return at == MAP_FREE ? 0 : at + 1;
}

static void name_add(struct hlo_text_reading *reading, struct names *names, struct str name)
{
    names->items = arena_grown(reading->arena, names->items, names->count + 1, &names->capacity, sizeof(*names->items));
    names->items[names->count] = name;
    if (id_of(names, name) == 0)
        map_add(&names->map, hash_bytes(name.data, name.length, 0), names->count);
    names->count++;
}

/* "%fusion.3", with or without its mark. */
static struct str name_read(struct text_cursor *cursor, const char *stops)
{
    text_cursor_take(cursor, "%");
    return text_cursor_until(cursor, stops);
}

/* ---- an instruction ---- */

/* Writes the id of each name in "{%a, %b}" or "%a" behind those already in the open list. */
static bool ids_write(struct hlo_text_reading *reading, const struct names *names, struct str value)
{
    struct text_cursor cursor = reading->cursor;
    cursor.at = value.data;
    cursor.end = value.data + value.length;
    text_cursor_take(&cursor, "{");
    while (cursor.at < cursor.end && *cursor.at != '}') {
        text_cursor_blanks(&cursor);
        struct str name = name_read(&cursor, ",} ");
        uint64_t id = id_of(names, name);
        if (name.length == 0 && text_cursor_peek(&cursor) != ',') /* a line break, which is passed by nothing here */
            return text_cursor_fail(&cursor, "a name is missing in a list");
        reading->is_odd |= id == 0 && name.length > 0; /* defined nowhere in this text: left out */
        if (id > 0)
            wire_write_varint(&reading->out->buf, id);
        text_cursor_take(&cursor, ",");
        text_cursor_blanks(&cursor);
    }
    return true;
}

static bool list_write(struct hlo_text_reading *reading, const struct names *names, struct str value, uint32_t field)
{
    size_t begin = wire_write_begin(&reading->out->buf, field);
    bool is_written = ids_write(reading, names, value);
    wire_write_end(&reading->out->buf, begin);
    return is_written;
}

/* Operands as XLA prints them, some with their shape in front: "%a, f32[8]{0} %b, / *index=5* /%c". */
static bool operands_write(struct hlo_text_reading *reading, struct str operands)
{
    struct buf *out = &reading->out->buf;
    struct text_cursor cursor = reading->cursor;
    bool is_good = true;
    cursor.at = operands.data;
    cursor.end = operands.data + operands.length;
    size_t begin = wire_write_begin(out, HLO_INSTRUCTION_PROTO_OPERAND_IDS);
    while (is_good && cursor.at < cursor.end) {
        struct str part;
        text_cursor_blanks(&cursor);
        const char *from = cursor.at;
        is_good = text_cursor_balanced(&cursor, ",", &part);
        size_t length = part.length;
        while (length > 0 && (part.data[length - 1] == ' ' || part.data[length - 1] == '\n'))
            length--;
        size_t first = length;
        while (first > 0 && part.data[first - 1] != ' ' && part.data[first - 1] != '/')
            first--;
        if (is_good && length > 0)
            is_good = ids_write(reading, &reading->instructions, (struct str){part.data + first, length - first});
        if (!text_cursor_take(&cursor, ",") && cursor.at == from)
            break;
        if (cursor.at < cursor.end && *cursor.at == '\n')
            cursor.at++;
    }
    wire_write_end(out, begin);
    return is_good;
}

/* In the order in which the proto has them: of a loop the body first. */
static const char *const CALLS[] = {"calls",
                                    "to_apply",
                                    "body",
                                    "condition",
                                    "true_computation",
                                    "false_computation",
                                    "select",
                                    "scatter",
                                    "branch_computations",
                                    "called_computations"};
enum { CALL_COUNT = sizeof(CALLS) / sizeof(CALLS[0]), BODY = 2 };

struct hlo_text_called {
    struct str values[CALL_COUNT]; /* by CALLS; data NULL: not said */
};

static bool called_take(struct hlo_text_called *called, struct str key, struct str value)
{
    for (size_t at = 0; at < CALL_COUNT; at++) {
        if (str_equal(key, str_of(CALLS[at]))) {
            called->values[at] = value;
            return true;
        }
    }
    return false;
}

/* The computations of a fusion are in no schedule. */
static void fusion_mark(struct hlo_text_reading *reading, struct str value)
{
    struct text_cursor cursor = reading->cursor;
    cursor.at = value.data;
    cursor.end = value.data + value.length;
    uint64_t id = id_of(&reading->computations, name_read(&cursor, ",} "));
    if (id > 0)
        reading->is_fusion[id - 1] = true;
}

static bool called_write(struct hlo_text_reading *reading, const struct hlo_text_called *called, bool is_fusion)
{
    struct buf *out = &reading->out->buf;
    bool is_good = true;
    size_t begin = wire_write_begin(out, HLO_INSTRUCTION_PROTO_CALLED_COMPUTATION_IDS);
    for (size_t at = 0; at < CALL_COUNT && is_good; at++) {
        if (called->values[at].data == NULL)
            continue;
        is_good = ids_write(reading, &reading->computations, called->values[at]);
        if (is_fusion)
            fusion_mark(reading, called->values[at]);
    }
    wire_write_end(out, begin);
    return is_good;
}

/* XLA prints async-start of one operation as OPERATION-start; a few operations have such names themselves. */
static struct str opcode_of(struct str printed)
{
    static const char *const own[] = {"async-start",
                                      "async-update",
                                      "async-done",
                                      "all-gather-start",
                                      "all-gather-done",
                                      "all-reduce-start",
                                      "all-reduce-done",
                                      "collective-permute-start",
                                      "collective-permute-done",
                                      "copy-start",
                                      "copy-done",
                                      "send-done",
                                      "recv-done",
                                      NULL};
    if (str_is_one_of(printed, own))
        return printed;
    return str_ends(printed, STR("-start"))    ? STR("async-start")
           : str_ends(printed, STR("-update")) ? STR("async-update")
           : str_ends(printed, STR("-done"))   ? STR("async-done")
                                               : printed;
}

static bool attributes_read(struct hlo_text_reading *reading, struct str opcode)
{
    struct text_cursor *cursor = &reading->cursor;
    struct buf *out = &reading->out->buf;
    struct hlo_text_called called = {{{NULL, 0}}};
    while (text_cursor_take(cursor, ",")) {
        struct str key, value;
        if (!text_cursor_attribute(cursor, &key, &value))
            return false;
        if (str_equal(key, STR("control-predecessors"))) {
            if (!list_write(reading, &reading->instructions, value, HLO_INSTRUCTION_PROTO_CONTROL_PREDECESSOR_IDS))
                return false;
        } else if (!called_take(&called, key, value)) {
            hlo_text_attribute_write(opcode, key, value, out);
        }
    }
    return called_write(reading, &called, str_equal(opcode, STR("fusion")));
}

/* One with a number that is none is not known; the cursor is behind it. */
static bool shape_take(struct hlo_text_reading *reading)
{
    struct err ignored = ERR_INIT;
    struct text_cursor shape = reading->cursor;
    struct buf *out = &reading->out->buf;
    struct str passed;
    size_t before = out->length;
    shape.err = &ignored;
    if (shape_read(&shape, out, HLO_INSTRUCTION_PROTO_SHAPE, NULL)) {
        reading->cursor.at = shape.at;
        return true;
    }
    out->length = before;
    reading->is_odd = true;
    return text_cursor_balanced(&reading->cursor, " ", &passed) &&
           (passed.length > 0 || text_cursor_fail(&reading->cursor, "a shape is missing"));
}

/* Writes an instruction from its shape on, where the cursor is. */
static bool instruction_write(struct hlo_text_reading *reading, uint64_t id, struct str name)
{
    struct text_cursor *cursor = &reading->cursor;
    struct buf *out = &reading->out->buf;
    struct str operands;
    int64_t number;
    size_t begin = wire_write_begin(out, HLO_COMPUTATION_PROTO_INSTRUCTIONS);
    wire_write_bytes(out, HLO_INSTRUCTION_PROTO_NAME, name);
    wire_write_number(out, HLO_INSTRUCTION_PROTO_ID, id);
    if (!shape_take(reading))
        return false;
    text_cursor_blanks(cursor);
    struct str printed = text_cursor_until(cursor, "( ,"), opcode = opcode_of(printed);
    if (printed.length == 0 || !text_cursor_want(cursor, "(") || !text_cursor_balanced(cursor, "", &operands))
        return text_cursor_fail(cursor, "an operation with its operands in brackets is missing");
    if (!text_cursor_want(cursor, ")"))
        return false;
    wire_write_bytes(out, HLO_INSTRUCTION_PROTO_OPCODE, opcode);
    if (str_equal(opcode, STR("parameter"))) {
        struct text_cursor inner = text_cursor_open(operands, cursor->file, cursor->err);
        if (text_cursor_number(&inner, &number))
            wire_write_number(out, HLO_INSTRUCTION_PROTO_PARAMETER_NUMBER, (uint64_t)number);
        else
            reading->is_odd = true;
    } else if (!str_equal(opcode, STR("constant")) && !operands_write(reading, operands)) {
        return false;
    }
    if (!attributes_read(reading, opcode))
        return false;
    wire_write_end(out, begin);
    return true;
}

/* Where the instruction ends, its brackets closed. */
static bool instruction_end(struct text_cursor cursor, struct str *all)
{
    return text_cursor_balanced(&cursor, "", all);
}

static bool instruction_read(struct hlo_text_reading *reading)
{
    struct text_cursor *cursor = &reading->cursor;
    struct str all;
    text_cursor_blanks(cursor);
    bool is_root = text_cursor_take(cursor, "ROOT ");
    struct str name = name_read(cursor, " =");
    text_cursor_blanks(cursor);
    if (name.length == 0 || !text_cursor_take(cursor, "="))
        return text_cursor_fail(cursor, "neither an instruction nor the end of a computation");
    text_cursor_blanks(cursor);
    if (!instruction_end(*cursor, &all))
        return false;
    const char *end = cursor->at + all.length; /* equal in both walks: the second has room for the first */
    arena_work(reading->arena, all.length);
    if (!reading->is_writing) {
        cursor->at = end;
        name_add(reading, &reading->instructions, name);
        return true;
    }
    uint64_t id = ++reading->begins[reading->computation_at + 1];
    if (is_root)
        reading->roots[reading->computation_at] = id;
    arena_out_room(reading->out, (name.length + all.length) * SHAPE_READ_FACTOR + HLO_TEXT_ROOM);
    if (!instruction_write(reading, id, name))
        return false;
    cursor->at = end;
    return true;
}

/* ---- computations ---- */

/* "ENTRY %main.1 (x: f32[8]) -> f32[8] {" or "%fused (…) -> … {"; the shape of the program is not needed. */
static bool computation_open(struct hlo_text_reading *reading)
{
    struct text_cursor *cursor = &reading->cursor;
    bool is_entry = text_cursor_take(cursor, "ENTRY ");
    struct str name = name_read(cursor, " ({"), line = text_cursor_until(cursor, "");
    if (name.length == 0 || line.length == 0 || line.data[line.length - 1] != '{')
        return text_cursor_fail(cursor, "the begin of a computation, a line that ends with \"{\", is missing");
    reading->is_open = true;
    if (!reading->is_writing) {
        name_add(reading, &reading->computations, name);
        if (is_entry || reading->entry_id == 0)
            reading->entry_id = reading->computations.count;
    }
    return true;
}

static void computation_begin(struct hlo_text_reading *reading)
{
    size_t at = reading->computation_at;
    reading->begins[at + 1] = reading->begins[at];
}

/* Lines of the body up to the closing bracket. */
static bool body_read(struct hlo_text_reading *reading)
{
    struct text_cursor *cursor = &reading->cursor;
    for (;;) {
        text_cursor_line(cursor);
        text_cursor_blanks(cursor);
        if (cursor->at == cursor->end)
            return text_cursor_fail(cursor, "the text ends inside of a computation");
        if (*cursor->at == '}') {
            text_cursor_line(cursor);
            return true;
        }
        if (*cursor->at != '\n' && !instruction_read(reading))
            return false;
    }
}

static bool computation_read(struct hlo_text_reading *reading)
{
    struct arena_out *out = reading->out;
    size_t at = reading->computation_at;
    if (!computation_open(reading))
        return false;
    if (!reading->is_writing)
        return body_read(reading);
    if (at >= reading->computations.count)
        return err_set(reading->cursor.err, ERR_internal, ERR_NO_OFFSET,
                       "a second walk met more computations than the first");
    struct str name = reading->computations.items[at];
    arena_out_room(out, name.length + HLO_TEXT_ROOM);
    computation_begin(reading);
    size_t begin = wire_write_begin(&out->buf, HLO_MODULE_PROTO_COMPUTATIONS);
    wire_write_bytes(&out->buf, HLO_COMPUTATION_PROTO_NAME, name);
    wire_write_number(&out->buf, HLO_COMPUTATION_PROTO_ID, at + 1);
    if (!body_read(reading))
        return false;
    arena_out_room(out, HLO_TEXT_ROOM);
    wire_write_number(&out->buf, HLO_COMPUTATION_PROTO_ROOT_ID,
                      reading->roots[at] > 0 ? reading->roots[at] : reading->begins[at + 1]);
    wire_write_end(&out->buf, begin);
    reading->computation_at++;
    return true;
}

/* All but the first line. The tables of stack frames come before the computations. */
static bool module_walk(struct hlo_text_reading *reading, struct hlo_text_frames *frames)
{
    struct text_cursor *cursor = &reading->cursor;
    while (cursor->at < cursor->end) {
        text_cursor_blanks(cursor);
        if (text_cursor_peek(cursor) == '\n' || *cursor->at == '\r' || str_starts(text_cursor_rest(cursor), STR("//")))
            text_cursor_line(cursor);
        else if (!hlo_text_frames_take(frames, cursor, reading->arena) && !computation_read(reading))
            return false;
    }
    return true;
}

/* In the order of the lines, each computation that no fusion holds. */
static void schedule_write(struct hlo_text_reading *reading)
{
    struct buf *out = &reading->out->buf;
    arena_out_room(reading->out, reading->instructions.count * 10 + reading->computations.count * 64 + HLO_TEXT_ROOM);
    size_t begin = wire_write_begin(out, HLO_MODULE_PROTO_SCHEDULE);
    for (size_t at = 0; at < reading->computations.count; at++) {
        if (reading->is_fusion[at])
            continue;
        size_t entry = wire_write_begin(out, HLO_SCHEDULE_PROTO_SEQUENCES);
        wire_write_number(out, HLO_SCHEDULE_PROTO_SEQUENCES_ENTRY_KEY, at + 1);
        size_t sequence = wire_write_begin(out, HLO_SCHEDULE_PROTO_SEQUENCES_ENTRY_VALUE);
        size_t list = wire_write_begin(out, HLO_SCHEDULE_PROTO_INSTRUCTION_SEQUENCE_INSTRUCTION_IDS);
        for (uint64_t id = reading->begins[at] + 1; id <= reading->begins[at + 1]; id++)
            wire_write_varint(out, id);
        wire_write_end(out, list);
        wire_write_end(out, sequence);
        wire_write_end(out, entry);
    }
    wire_write_end(out, begin);
}

static void arrays_make(struct hlo_text_reading *reading)
{
    size_t count = reading->computations.count + 1;
    reading->roots = arena_array(reading->arena, uint64_t, count);
    reading->is_fusion = arena_array(reading->arena, bool, count);
    reading->begins = arena_array(reading->arena, uint64_t, count + 1);
    reading->is_writing = true;
}

bool hlo_text_is(struct str begin) { return str_starts(begin, STR("HloModule ")); }

static struct str module_name(struct text_cursor *cursor)
{
    return text_cursor_take(cursor, "HloModule ") ? text_cursor_until(cursor, ", \r") : (struct str){"", 0};
}

struct str hlo_text_name(struct str text)
{
    struct err err = ERR_INIT;
    struct text_cursor cursor = text_cursor_open(text, (struct str){"", 0}, &err);
    return module_name(&cursor);
}

bool hlo_text_read(struct str text, struct str file, struct arena *arena, struct arena_out *out, bool *is_odd,
                   struct err *err)
{
    struct hlo_text_reading reading = {.cursor = text_cursor_open(text, file, err), .arena = arena, .out = out};
    struct hlo_text_frames frames = {0}, again = {0};
    struct hlo_text_head head;
    map_init(&reading.instructions.map, arena, text.length / 256);
    map_init(&reading.computations.map, arena, 64);
    arena_work(arena, text.length);
    struct str name = module_name(&reading.cursor);
    if (name.length == 0)
        return text_cursor_fail(&reading.cursor, "no module: the text does not begin with \"HloModule NAME\"");
    arena_out_room(out, name.length + HLO_TEXT_ROOM);
    wire_write_bytes(&out->buf, HLO_MODULE_PROTO_NAME, name);
    if (!hlo_text_head_read(&reading.cursor, out, &head))
        return false;
    const struct text_cursor body = reading.cursor;
    if (!module_walk(&reading, &frames))
        return false;
    if (reading.computations.count == 0)
        return text_cursor_fail(&body, "the module has no computation");
    arrays_make(&reading);
    reading.cursor = body;
    if (!module_walk(&reading, &again))
        return false;
    hlo_text_frames_write(&frames, out);
    if (head.is_scheduled)
        schedule_write(&reading);
    struct str entry = reading.computations.items[reading.entry_id - 1];
    arena_out_room(out, entry.length + HLO_TEXT_ROOM);
    wire_write_bytes(&out->buf, HLO_MODULE_PROTO_ENTRY_COMPUTATION_NAME, entry);
    wire_write_number(&out->buf, HLO_MODULE_PROTO_ENTRY_COMPUTATION_ID, reading.entry_id);
    *is_odd |= reading.is_odd;
    return !out->buf.failed || err_set(err, ERR_internal, ERR_NO_OFFSET, "a text needs more room than was made for it");
}
