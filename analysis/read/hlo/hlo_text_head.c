/* SPDX-License-Identifier: Apache-2.0 */
#include "read/hlo/hlo_text_head.h"

#include "hlo.fields.h"
#include "read/hlo/hlo_text_attributes.h"
#include "wire/wire_write.h"

/* ---- the first line ---- */

static void indices_write(struct text_cursor *cursor, struct buf *out, uint32_t field)
{
    int64_t number;
    size_t begin = wire_write_begin(out, field);
    text_cursor_take(cursor, "{");
    while (text_cursor_number(cursor, &number)) {
        wire_write_varint(out, (uint64_t)number);
        text_cursor_take(cursor, ",");
        text_cursor_blanks(cursor);
    }
    text_cursor_take(cursor, "}");
    wire_write_end(out, begin);
}

/* "(3, {0}": the parameter and where in it. */
static bool parameter_write(struct text_cursor *cursor, struct buf *out, uint32_t number_field, uint32_t index_field)
{
    int64_t number = 0;
    if (!text_cursor_take(cursor, "(") || !text_cursor_number(cursor, &number))
        return false;
    wire_write_number(out, number_field, (uint64_t)number);
    text_cursor_take(cursor, ",");
    text_cursor_blanks(cursor);
    indices_write(cursor, out, index_field);
    return true;
}

/* "{ {0}: (0, {}, may-alias), {1,2}: (3, {0}, must-alias) }" */
static void aliases_write(struct text_cursor cursor, struct buf *out)
{
    struct str kind;
    size_t begin = wire_write_begin(out, HLO_MODULE_PROTO_INPUT_OUTPUT_ALIAS);
    text_cursor_take(&cursor, "{");
    for (text_cursor_blanks(&cursor); text_cursor_peek(&cursor) == '{'; text_cursor_blanks(&cursor)) {
        size_t entry = wire_write_begin(out, HLO_INPUT_OUTPUT_ALIAS_PROTO_ENTRIES);
        indices_write(&cursor, out, HLO_INPUT_OUTPUT_ALIAS_PROTO_ALIAS_ENTRY_PROTO_OUTPUT_SHAPE_INDEX);
        text_cursor_take(&cursor, ":");
        text_cursor_blanks(&cursor);
        bool is_read = parameter_write(&cursor, out, HLO_INPUT_OUTPUT_ALIAS_PROTO_ALIAS_ENTRY_PROTO_PARAMETER_NUMBER,
                                       HLO_INPUT_OUTPUT_ALIAS_PROTO_ALIAS_ENTRY_PROTO_PARAMETER_SHAPE_INDEX);
        kind = text_cursor_until(&cursor, ")");
        wire_write_number(out, HLO_INPUT_OUTPUT_ALIAS_PROTO_ALIAS_ENTRY_PROTO_KIND,
                          str_contains(kind, STR("must-alias")) ? ALIAS_KIND_MUST_ALIAS : ALIAS_KIND_MAY_ALIAS);
        wire_write_end(out, entry);
        if (!is_read || !text_cursor_take(&cursor, ")"))
            break;
        text_cursor_take(&cursor, ",");
    }
    wire_write_end(out, begin);
}

/* "{ (0, {}), (1, {0}) }" */
static void donors_write(struct text_cursor cursor, struct buf *out)
{
    size_t begin = wire_write_begin(out, HLO_MODULE_PROTO_BUFFER_DONOR);
    text_cursor_take(&cursor, "{");
    for (text_cursor_blanks(&cursor); text_cursor_peek(&cursor) == '('; text_cursor_blanks(&cursor)) {
        size_t entry = wire_write_begin(out, HLO_BUFFER_DONOR_PROTO_ENTRIES);
        bool is_read = parameter_write(&cursor, out, HLO_BUFFER_DONOR_PROTO_BUFFER_DONOR_ENTRY_PROTO_PARAMETER_NUMBER,
                                       HLO_BUFFER_DONOR_PROTO_BUFFER_DONOR_ENTRY_PROTO_PARAMETER_SHAPE_INDEX);
        wire_write_end(out, entry);
        if (!is_read || !text_cursor_take(&cursor, ")"))
            break;
        text_cursor_take(&cursor, ",");
    }
    wire_write_end(out, begin);
}

static int64_t count_of(struct text_cursor cursor)
{
    int64_t count;
    return text_cursor_number(&cursor, &count) && count > 0 && count <= UINT16_MAX ? count : 1;
}

bool hlo_text_head_read(struct text_cursor *cursor, struct arena_out *out, struct hlo_text_head *head)
{
    int64_t replicas = 1, partitions = 1;
    *head = (struct hlo_text_head){false};
    while (text_cursor_take(cursor, ",")) {
        struct str key, value;
        if (!text_cursor_attribute(cursor, &key, &value))
            return false;
        struct text_cursor inner = text_cursor_open(value, cursor->file, cursor->err);
        arena_out_room(out, value.length * 16 + HLO_TEXT_ROOM);
        if (str_equal(key, STR("is_scheduled")))
            head->is_scheduled = str_equal(value, STR("true"));
        else if (str_equal(key, STR("input_output_alias")))
            aliases_write(inner, &out->buf);
        else if (str_equal(key, STR("buffer_donor")))
            donors_write(inner, &out->buf);
        else if (str_equal(key, STR("num_partitions")))
            partitions = count_of(inner);
        else if (str_equal(key, STR("replica_count")))
            replicas = count_of(inner);
    }
    if (replicas > 1 || partitions > 1) {
        size_t begin = wire_write_begin(&out->buf, HLO_MODULE_PROTO_DEVICE_ASSIGNMENT);
        wire_write_number(&out->buf, DEVICE_ASSIGNMENT_PROTO_REPLICA_COUNT, (uint64_t)replicas);
        wire_write_number(&out->buf, DEVICE_ASSIGNMENT_PROTO_COMPUTATION_COUNT, (uint64_t)partitions);
        wire_write_end(&out->buf, begin);
    }
    text_cursor_line(cursor);
    return true;
}

/* ---- stack frames ---- */

/* The number behind "key=" in "{file_name_id=1 line=17}"; 0: it is not there. */
static int64_t number_at(struct str line, const char *key)
{
    struct err err = ERR_INIT;
    int64_t number = 0;
    const char *at = memmem(line.data, line.length, key, strlen(key));
    /* "line=" is also the end of "end_line=", which comes later */
    if (at == NULL)
        return 0;
    size_t from = (size_t)(at - line.data) + strlen(key);
    struct text_cursor cursor =
        text_cursor_open((struct str){line.data + from, line.length - from}, (struct str){"", 0}, &err);
    return text_cursor_number(&cursor, &number) && number <= INT32_MAX ? number : 0;
}

static void line_take(struct hlo_text_frames *frames, int table, struct str line, struct arena *arena)
{
    struct {
        struct str **items;
        size_t *count, *capacity;
    } lists[] = {{&frames->files, &frames->file_count, &frames->file_capacity},
                 {&frames->functions, &frames->function_count, &frames->function_capacity},
                 {&frames->locations, &frames->location_count, &frames->location_capacity}};
    if (table == 3) {
        frames->frames = arena_grown(arena, frames->frames, frames->frame_count + 1, &frames->frame_capacity,
                                     sizeof(*frames->frames));
        frames->frames[frames->frame_count++] =
            (struct hlo_text_frame){number_at(line, "file_location_id="), number_at(line, "parent_frame_id=")};
        return;
    }
    size_t *count = lists[table].count;
    *lists[table].items =
        arena_grown(arena, *lists[table].items, *count + 1, lists[table].capacity, sizeof(struct str));
    (*lists[table].items)[(*count)++] = line;
}

bool hlo_text_frames_take(struct hlo_text_frames *frames, struct text_cursor *cursor, struct arena *arena)
{
    static const char *const heads[] = {"FileNames\n", "FunctionNames\n", "FileLocations\n", "StackFrames\n"};
    int table = 0;
    while (table < 4 && !text_cursor_take(cursor, heads[table]))
        table++;
    if (table == 4)
        return false;
    /* a line's number is its position, whatever number it has; a table ends with an empty line, or where a line begins
     * with a word */
    while (strchr("\r\n%", text_cursor_peek(cursor)) == NULL &&
           !(text_cursor_peek(cursor) >= 'A' && text_cursor_peek(cursor) <= 'Z')) {
        text_cursor_until(cursor, " \"{");
        text_cursor_blanks(cursor);
        line_take(frames, table, text_cursor_line(cursor), arena);
    }
    return true;
}

static void location_write(struct str line, struct buf *out)
{
    size_t begin = wire_write_begin(out, STACK_FRAME_INDEX_PROTO_FILE_LOCATIONS);
    wire_write_number(out, STACK_FRAME_INDEX_PROTO_FILE_LOCATION_FILE_NAME_ID,
                      (uint64_t)number_at(line, "file_name_id="));
    wire_write_number(out, STACK_FRAME_INDEX_PROTO_FILE_LOCATION_FUNCTION_NAME_ID,
                      (uint64_t)number_at(line, "function_name_id="));
    wire_write_number(out, STACK_FRAME_INDEX_PROTO_FILE_LOCATION_LINE, (uint64_t)number_at(line, " line="));
    wire_write_number(out, STACK_FRAME_INDEX_PROTO_FILE_LOCATION_COLUMN, (uint64_t)number_at(line, " column="));
    wire_write_number(out, STACK_FRAME_INDEX_PROTO_FILE_LOCATION_END_LINE, (uint64_t)number_at(line, " end_line="));
    wire_write_number(out, STACK_FRAME_INDEX_PROTO_FILE_LOCATION_END_COLUMN, (uint64_t)number_at(line, " end_column="));
    wire_write_end(out, begin);
}

static void texts_write(const struct str *lines, size_t count, uint32_t field, struct arena_out *out)
{
    for (size_t at = 0; at < count; at++) {
        arena_out_room(out, lines[at].length + HLO_TEXT_ROOM);
        size_t begin = wire_write_begin(&out->buf, field);
        hlo_text_unquote(lines[at], &out->buf);
        wire_write_end(&out->buf, begin);
    }
}

/* Texts print the place of the outer frame plus one, so the outermost, which has none, seems its own. */
static bool is_one_more(const struct hlo_text_frames *frames)
{
    for (size_t at = 0; at < frames->frame_count; at++)
        if (frames->frames[at].parent == (int64_t)at + 1)
            return true;
    return false;
}

void hlo_text_frames_write(const struct hlo_text_frames *frames, struct arena_out *out)
{
    int64_t more = is_one_more(frames);
    arena_out_room(out, HLO_TEXT_ROOM);
    if (frames->frame_count == 0)
        return;
    size_t begin = wire_write_begin(&out->buf, HLO_MODULE_PROTO_STACK_FRAME_INDEX);
    texts_write(frames->files, frames->file_count, STACK_FRAME_INDEX_PROTO_FILE_NAMES, out);
    texts_write(frames->functions, frames->function_count, STACK_FRAME_INDEX_PROTO_FUNCTION_NAMES, out);
    for (size_t at = 0; at < frames->location_count; at++) {
        arena_out_room(out, HLO_TEXT_ROOM);
        location_write(frames->locations[at], &out->buf);
    }
    for (size_t at = 0; at < frames->frame_count; at++) {
        arena_out_room(out, HLO_TEXT_ROOM);
        int64_t parent = frames->frames[at].parent - more;
        size_t frame = wire_write_begin(&out->buf, STACK_FRAME_INDEX_PROTO_STACK_FRAMES);
        wire_write_number(&out->buf, STACK_FRAME_INDEX_PROTO_STACK_FRAME_FILE_LOCATION_ID,
                          (uint64_t)frames->frames[at].location);
        wire_write_number(&out->buf, STACK_FRAME_INDEX_PROTO_STACK_FRAME_PARENT_FRAME_ID,
                          parent > 0 ? (uint64_t)parent : 0);
        wire_write_end(&out->buf, frame);
    }
    arena_out_room(out, HLO_TEXT_ROOM);
    wire_write_end(&out->buf, begin);
}
