/* SPDX-License-Identifier: Apache-2.0 */
#include "input/program_figures.h"

#include "base/chunks.h"
#include "base/sum.h"
#include "hlo.fields.h"
#include "input/shape.h"
#include "input/xspace.h"

enum { FIGURES_MAX = 1 << 24, ARGUMENTS_MAX = 1 << 16, OPCODE_MAX = 32, NAME_MAX = 1024, SHAPE_MAX = 8 * 1024 };

struct reading {
    struct stream stream;
    struct arena *arena, *scratch;
    struct chunks figures; /* struct program_figure */
    uint32_t program;
};

/* An allocation that counts: of the device's memory, in each launch. */
static void allocation_read(struct reading *reading, struct stream_scope scope)
{
    struct stream_field field;
    struct program_figure figure = {.program = reading->program, .role = PROGRAM_TEMPORARY};
    bool is_left_out = false, is_parameter = false, is_output = false;
    uint64_t number = 0;
    while (stream_next(&reading->stream, &scope, &field)) {
        if (field.type != WIRE_VARINT)
            continue;
        switch (field.number) {
        case BUFFER_ALLOCATION_PROTO_SIZE: figure.bytes = (int64_t)field.value; break;
        case BUFFER_ALLOCATION_PROTO_IS_THREAD_LOCAL:
        case BUFFER_ALLOCATION_PROTO_IS_CONSTANT: is_left_out |= field.value != 0; break;
        case BUFFER_ALLOCATION_PROTO_IS_ENTRY_COMPUTATION_PARAMETER: is_parameter = field.value != 0; break;
        case BUFFER_ALLOCATION_PROTO_PARAMETER_NUMBER: number = field.value; break;
        case BUFFER_ALLOCATION_PROTO_MAYBE_LIVE_OUT: is_output = field.value != 0; break;
        default: break;
        }
    }
    if (is_left_out || figure.bytes <= 0 || figure.bytes > SUM_MAX_BYTES || reading->figures.count >= FIGURES_MAX)
        return;
    if (is_parameter)
        figure.role = PROGRAM_ARGUMENT;
    else if (is_output)
        figure.role = PROGRAM_OUTPUT;
    figure.number = is_parameter && number < UINT32_MAX ? (uint32_t)number : 0;
    CHUNKS_ADD(&reading->figures, struct program_figure, figure);
}

static void assignment_read(struct reading *reading, struct stream_scope scope, struct program *program)
{
    struct stream_field field;
    program->has_assignment = true;
    while (stream_next(&reading->stream, &scope, &field))
        if (field.number == BUFFER_ASSIGNMENT_PROTO_BUFFER_ALLOCATIONS && field.type == WIRE_BYTES)
            allocation_read(reading, field.payload);
}

/* ---- names of arguments ---- */

struct arguments {
    struct str *names;
    struct stream_scope *shapes;
    size_t capacity, shape_capacity;
    uint32_t count;
    struct stream_scope last_shape; /* of the instruction that was read last */
    int64_t last_id, root_id;
};

static struct str op_name(struct reading *reading, struct stream_scope metadata)
{
    struct stream_field field;
    while (stream_next(&reading->stream, &metadata, &field))
        if (field.number == OP_METADATA_OP_NAME && field.type == WIRE_BYTES)
            return stream_text(&reading->stream, field.payload, NAME_MAX, reading->arena);
    return (struct str){"", 0};
}

static void instruction_read(struct reading *reading, struct stream_scope scope, struct arguments *arguments)
{
    struct stream_field field;
    struct stream_scope metadata = {0, 0}, shape = {0, 0};
    uint64_t number = 0;
    bool is_parameter = false;
    while (stream_next(&reading->stream, &scope, &field)) {
        if (field.number == HLO_INSTRUCTION_PROTO_OPCODE && field.type == WIRE_BYTES)
            is_parameter = str_equal(stream_peek(&reading->stream, field.payload, OPCODE_MAX), STR("parameter"));
        else if (field.number == HLO_INSTRUCTION_PROTO_METADATA && field.type == WIRE_BYTES)
            metadata = field.payload;
        else if (field.number == HLO_INSTRUCTION_PROTO_SHAPE && field.type == WIRE_BYTES)
            shape = field.payload;
        else if (field.number == HLO_INSTRUCTION_PROTO_PARAMETER_NUMBER && field.type == WIRE_VARINT)
            number = field.value;
        else if (field.number == HLO_INSTRUCTION_PROTO_ID && field.type == WIRE_VARINT)
            arguments->last_id = (int64_t)field.value;
    }
    arguments->last_shape = shape;
    if (!is_parameter || number >= ARGUMENTS_MAX)
        return;
    arguments->names =
        arena_grown(reading->arena, arguments->names, number + 1, &arguments->capacity, sizeof(*arguments->names));
    arguments->shapes = arena_grown(reading->scratch, arguments->shapes, number + 1, &arguments->shape_capacity,
                                    sizeof(*arguments->shapes));
    arguments->names[number] = op_name(reading, metadata);
    arguments->shapes[number] = shape;
    arguments->count = number >= arguments->count ? (uint32_t)number + 1 : arguments->count;
}

/* Of the entry computation, which is named before all computations; its own name stands before its instructions. */
static void arguments_read(struct reading *reading, struct stream_scope module, struct arguments *arguments)
{
    struct stream *stream = &reading->stream;
    struct stream_field field;
    struct str entry = {"", 0};
    while (stream_next(stream, &module, &field)) {
        if (field.type != WIRE_BYTES)
            continue;
        if (field.number == HLO_MODULE_PROTO_ENTRY_COMPUTATION_NAME)
            entry = stream_text(stream, field.payload, NAME_MAX, reading->scratch);
        if (field.number != HLO_MODULE_PROTO_COMPUTATIONS)
            continue;
        struct stream_scope computation = field.payload;
        bool is_entry = false;
        while (stream_next(stream, &computation, &field)) {
            if (field.number == HLO_COMPUTATION_PROTO_ROOT_ID && field.type == WIRE_VARINT && is_entry)
                arguments->root_id = (int64_t)field.value;
            if (field.type != WIRE_BYTES)
                continue;
            if (field.number == HLO_COMPUTATION_PROTO_NAME)
                is_entry = entry.length > 0 && str_equal(stream_peek(stream, field.payload, NAME_MAX), entry);
            if (field.number == HLO_COMPUTATION_PROTO_INSTRUCTIONS && !is_entry)
                break;
            if (field.number == HLO_COMPUTATION_PROTO_INSTRUCTIONS)
                instruction_read(reading, field.payload, arguments);
        }
    }
}

/* ---- programs without an assignment ---- */

static void shape_take(struct reading *reading, struct stream_scope shape, enum program_role role, uint32_t number)
{
    int64_t bytes = shape_bytes(stream_peek(&reading->stream, shape, SHAPE_MAX));
    bool is_whole = shape.end - shape.at <= SHAPE_MAX;
    if (is_whole && bytes > 0 && bytes <= SUM_MAX_BYTES && reading->figures.count < FIGURES_MAX)
        CHUNKS_ADD(&reading->figures, struct program_figure,
                   ((struct program_figure){bytes, reading->program, number, (uint8_t)role}));
}

/* Some captures have the programs alone: arguments and results are known by their shapes, temporaries are not. */
static void shapes_take(struct reading *reading, const struct arguments *arguments)
{
    struct stream_field field;
    struct stream_scope root = arguments->last_shape;
    bool is_tuple = false;
    if (arguments->last_id == arguments->root_id && root.end > root.at) { /* the root stands last, as XLA writes it */
        for (struct stream_scope scope = root; stream_next(&reading->stream, &scope, &field);)
            if (field.number == SHAPE_PROTO_TUPLE_SHAPES && field.type == WIRE_BYTES) {
                shape_take(reading, field.payload, PROGRAM_OUTPUT, 0);
                is_tuple = true;
            }
        if (!is_tuple)
            shape_take(reading, root, PROGRAM_OUTPUT, 0);
    }
    for (uint32_t i = 0; i < arguments->count; i++)
        shape_take(reading, arguments->shapes[i], PROGRAM_ARGUMENT, i);
}

/* ---- programs ---- */

static void program_read(struct reading *reading, const struct xspace_program *from, struct program *out)
{
    struct stream_field field;
    struct stream_scope hlo = from->hlo;
    struct arguments arguments = {.names = NULL, .root_id = -1};
    size_t before = reading->figures.count;
    *out = (struct program){.name = {arena_text(reading->arena, from->name), from->name.length},
                            .id = from->program_id,
                            .first = (uint32_t)before};
    while (stream_next(&reading->stream, &hlo, &field)) {
        if (field.type != WIRE_BYTES)
            continue;
        if (field.number == HLO_PROTO_HLO_MODULE)
            arguments_read(reading, field.payload, &arguments);
        else if (field.number == HLO_PROTO_BUFFER_ASSIGNMENT)
            assignment_read(reading, field.payload, out);
    }
    if (!out->has_assignment)
        shapes_take(reading, &arguments);
    out->arguments = arguments.names;
    out->argument_count = arguments.count;
    out->count = (uint32_t)(reading->figures.count - before);
}

void program_figures_read(const struct source *source, struct arena *arena, struct program_figures *out,
                          struct err *err)
{
    struct arena *scratch = arena_child(arena);
    struct reading reading = {.arena = arena, .scratch = scratch};
    struct xspace xspace;
    *out = (struct program_figures){.count = 0};
    if (xspace_read(source, scratch, &xspace, err)) {
        stream_init(&reading.stream, source, scratch, err);
        chunks_init(&reading.figures, scratch, sizeof(struct program_figure));
        out->programs = arena_array(arena, struct program, xspace.program_count + 1);
        while (out->program_count < xspace.program_count && err->code != ERR_io) {
            reading.program = out->program_count;
            program_read(&reading, &xspace.programs[out->program_count], &out->programs[out->program_count]);
            out->program_count++;
            if (err_is_set(err) && err->code != ERR_io)
                *err = (struct err)ERR_INIT; /* what is damaged costs the rest of its program alone */
        }
        out->count = (uint32_t)reading.figures.count;
        out->figures = arena_array(arena, struct program_figure, (size_t)out->count + 1);
        for (uint32_t i = 0; i < out->count; i++)
            out->figures[i] = CHUNKS_AT(&reading.figures, struct program_figure, i);
    }
    arena_free(scratch);
}
