/* SPDX-License-Identifier: Apache-2.0 */
#include "read/hlo/hlo_frames.h"

#include "hlo.fields.h"

struct location {
    uint64_t file_id, function_id;
    int32_t line, column;
};

struct tables {
    struct str *files, *functions;
    enum library *libraries; /* of each file */
    struct location *locations;
    uint32_t file_count, function_count, location_count;
};

void hlo_frames_count(struct wire index, uint32_t *frame_count)
{
    while (wire_next(&index))
        *frame_count += index.number == STACK_FRAME_INDEX_PROTO_STACK_FRAMES;
}

static struct location location_read(struct wire wire)
{
    struct location location = {0};
    while (wire_next(&wire)) {
        switch (wire.number) {
        case STACK_FRAME_INDEX_PROTO_FILE_LOCATION_FILE_NAME_ID: location.file_id = wire_uint(&wire); break;
        case STACK_FRAME_INDEX_PROTO_FILE_LOCATION_FUNCTION_NAME_ID: location.function_id = wire_uint(&wire); break;
        case STACK_FRAME_INDEX_PROTO_FILE_LOCATION_LINE: location.line = (int32_t)wire_int(&wire); break;
        case STACK_FRAME_INDEX_PROTO_FILE_LOCATION_COLUMN: location.column = (int32_t)wire_int(&wire); break;
        }
    }
    return location;
}

static struct hlo_frame frame_read(struct wire wire, const struct tables *tables)
{
    struct hlo_frame frame = {.file = {"", 0},
                              .function = {"", 0},
                              .line = -1,
                              .column = -1,
                              .parent_at = HLO_NONE,
                              .library = LIBRARY_MACHINERY};
    uint64_t location_id = 0, parent_id = 0;
    while (wire_next(&wire)) {
        if (wire.number == STACK_FRAME_INDEX_PROTO_STACK_FRAME_FILE_LOCATION_ID)
            location_id = wire_uint(&wire);
        else if (wire.number == STACK_FRAME_INDEX_PROTO_STACK_FRAME_PARENT_FRAME_ID)
            parent_id = wire_uint(&wire);
    }
    if (parent_id >= 1 && parent_id < HLO_NONE)
        frame.parent_at = (uint32_t)(parent_id - 1); /* the code that walks frames checks it against the count */
    if (location_id < 1 || location_id > tables->location_count)
        return frame;
    const struct location *location = &tables->locations[location_id - 1];
    frame.line = location->line;
    frame.column = location->column;
    if (location->file_id >= 1 && location->file_id <= tables->file_count) {
        frame.file = tables->files[location->file_id - 1];
        frame.library = tables->libraries[location->file_id - 1];
    }
    if (location->function_id >= 1 && location->function_id <= tables->function_count)
        frame.function = tables->functions[location->function_id - 1];
    return frame;
}

static uint32_t user_of(const struct hlo_frame *frames, uint32_t at)
{
    uint32_t outer = frames[at].parent_at < at ? frames[frames[at].parent_at].user_at : HLO_NONE;
    enum library best = outer == HLO_NONE ? LIBRARY_MACHINERY : frames[outer].library;
    return frames[at].library < LIBRARY_MACHINERY && frames[at].library <= best ? at : outer;
}

void hlo_frames_place(struct wire index, struct str libraries, struct arena *arena, struct hlo_frame *frames,
                      uint32_t *frame_count)
{
    struct tables tables = {0};
    struct wire wire = index;
    while (wire_next(&wire)) {
        tables.file_count += wire.number == STACK_FRAME_INDEX_PROTO_FILE_NAMES;
        tables.function_count += wire.number == STACK_FRAME_INDEX_PROTO_FUNCTION_NAMES;
        tables.location_count += wire.number == STACK_FRAME_INDEX_PROTO_FILE_LOCATIONS;
    }
    tables.files = arena_array(arena, struct str, (size_t)tables.file_count + 1);
    tables.libraries = arena_array(arena, enum library, (size_t)tables.file_count + 1);
    tables.functions = arena_array(arena, struct str, (size_t)tables.function_count + 1);
    tables.locations = arena_array(arena, struct location, (size_t)tables.location_count + 1);
    tables.file_count = tables.function_count = tables.location_count = 0;
    wire = index;
    while (wire_next(&wire)) {
        if (wire.number == STACK_FRAME_INDEX_PROTO_FILE_NAMES) {
            struct str file = wire_text(&wire);
            arena_work(arena, file.length * (1 + libraries.length / 16));
            tables.files[tables.file_count] = file;
            tables.libraries[tables.file_count++] = library_of(file, libraries);
        } else if (wire.number == STACK_FRAME_INDEX_PROTO_FUNCTION_NAMES)
            tables.functions[tables.function_count++] = wire_text(&wire);
        else if (wire.number == STACK_FRAME_INDEX_PROTO_FILE_LOCATIONS)
            tables.locations[tables.location_count++] = location_read(wire_message(&wire));
    }
    wire = index;
    while (wire_next(&wire))
        if (wire.number == STACK_FRAME_INDEX_PROTO_STACK_FRAMES) {
            frames[*frame_count] = frame_read(wire_message(&wire), &tables);
            frames[*frame_count].user_at = user_of(frames, *frame_count);
            ++*frame_count;
        }
}
