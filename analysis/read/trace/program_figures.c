/* SPDX-License-Identifier: Apache-2.0 */
#include "read/trace/program_figures.h"

#include "base/chunks.h"
#include "base/intern.h"
#include "base/sum.h"
#include "hlo.fields.h"
#include "read/hlo/shape.h"
#include "read/kind.h"
#include "read/trace/xspace.h"

enum { FIGURES_MAX = 1 << 24, ARGUMENTS_MAX = 1 << 16, OPCODE_MAX = 32, NAME_MAX = 1024, SHAPE_MAX = 8 * 1024 };

struct program_figures_reading {
    struct stream stream;
    struct arena *arena, *scratch;
    struct chunks figures;  /* struct program_figure */
    struct chunks programs; /* struct program */
    uint32_t program;
};

struct program_figures_reader {
    struct program_figures_reading reading;
    struct intern known; /* "jit_conv(15)", of programs with an assignment */
};

/* An allocation that counts: of the device's memory, in each launch. */
static void allocation_read(struct program_figures_reading *reading, struct stream_scope scope)
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

static void assignment_read(struct program_figures_reading *reading, struct stream_scope scope, struct program *program)
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

static struct str op_name(struct program_figures_reading *reading, struct stream_scope metadata)
{
    struct stream_field field;
    while (stream_next(&reading->stream, &metadata, &field))
        if (field.number == OP_METADATA_OP_NAME && field.type == WIRE_BYTES)
            return stream_text(&reading->stream, field.payload, NAME_MAX, reading->arena);
    return (struct str){"", 0};
}

static void instruction_read(struct program_figures_reading *reading, struct stream_scope scope,
                             struct arguments *arguments)
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

/* Reads the entry computation, whose id comes before all computations; its own name comes before its instructions. */
static void arguments_read(struct program_figures_reading *reading, struct stream_scope module,
                           struct arguments *arguments)
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

static void shape_take(struct program_figures_reading *reading, struct stream_scope shape, enum program_role role,
                       uint32_t number)
{
    int64_t bytes = shape_bytes(stream_peek(&reading->stream, shape, SHAPE_MAX));
    bool is_whole = shape.end - shape.at <= SHAPE_MAX;
    if (is_whole && bytes > 0 && bytes <= SUM_MAX_BYTES && reading->figures.count < FIGURES_MAX)
        CHUNKS_ADD(&reading->figures, struct program_figure,
                   ((struct program_figure){bytes, reading->program, number, (uint8_t)role}));
}

/* Some captures have the programs alone: arguments and results are known by their shapes, temporaries are not. */
static void shapes_take(struct program_figures_reading *reading, const struct arguments *arguments)
{
    struct stream_field field;
    struct stream_scope root = arguments->last_shape;
    bool is_tuple = false;
    if (arguments->last_id == arguments->root_id && root.end > root.at) { /* the root is last, as XLA writes it */
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

static void program_read(struct program_figures_reader *reader, const struct xspace_program *from)
{
    struct program_figures_reading *reading = &reader->reading;
    struct stream_field field;
    struct stream_scope hlo = from->hlo;
    struct arguments arguments = {.names = NULL, .root_id = -1};
    size_t before = reading->figures.count;
    struct program program = {.name = {arena_text(reading->arena, from->name), from->name.length},
                              .id = from->program_id,
                              .first = (uint32_t)before};
    reading->program = (uint32_t)reading->programs.count;
    while (stream_next(&reading->stream, &hlo, &field)) {
        if (field.type != WIRE_BYTES)
            continue;
        if (field.number == HLO_PROTO_HLO_MODULE)
            arguments_read(reading, field.payload, &arguments);
        else if (field.number == HLO_PROTO_BUFFER_ASSIGNMENT)
            assignment_read(reading, field.payload, &program);
    }
    if (!program.has_assignment)
        shapes_take(reading, &arguments);
    program.arguments = arguments.names;
    program.argument_count = arguments.count;
    program.count = (uint32_t)(reading->figures.count - before);
    CHUNKS_ADD(&reading->programs, struct program, program);
}

static struct str key_of(struct program_figures_reader *reader, const struct xspace_program *program)
{
    return str_of(arena_format(reader->reading.scratch, "%.*s(%llu)", (int)program->name.length, program->name.data,
                               (unsigned long long)program->program_id));
}

static void programs_add(struct program_figures_reader *reader, const struct xspace_program *programs, size_t count,
                         struct err *err)
{
    const struct chunks *all = &reader->reading.programs;
    for (size_t i = 0; i < count && err->code != ERR_io; i++) {
        struct str key = key_of(reader, &programs[i]);
        if (intern_find(&reader->known, key) != MAP_NONE)
            continue;
        program_read(reader, &programs[i]);
        if (CHUNKS_AT(all, struct program, all->count - 1).has_assignment)
            intern_number(&reader->known, key);
        if (err_is_set(err) && err->code != ERR_io)
            *err = (struct err)ERR_INIT; /* what is damaged costs the rest of its program alone */
    }
}

/* Adds the program of an HLO file: its name and id are in the module. */
static void lone_program_add(struct program_figures_reader *reader, struct err *err)
{
    struct stream *stream = &reader->reading.stream;
    struct stream_field field;
    struct xspace_program program = {.hlo = {0, stream_size(stream)}};
    for (struct stream_scope hlo = program.hlo; stream_next(stream, &hlo, &field);) {
        if (field.number != HLO_PROTO_HLO_MODULE || field.type != WIRE_BYTES)
            continue;
        for (struct stream_scope module = field.payload; stream_next(stream, &module, &field);) {
            if (field.number == HLO_MODULE_PROTO_NAME && field.type == WIRE_BYTES)
                program.name = stream_text(stream, field.payload, NAME_MAX, reader->reading.scratch);
            else if (field.number == HLO_MODULE_PROTO_ID && field.type == WIRE_VARINT)
                program.program_id = field.value;
        }
    }
    programs_add(reader, &program, 1, err);
}

struct program_figures_reader *program_figures_begin(struct arena *arena)
{
    struct program_figures_reader *reader = arena_array(arena, struct program_figures_reader, 1);
    reader->reading.arena = arena;
    chunks_init(&reader->reading.figures, arena, sizeof(struct program_figure));
    chunks_init(&reader->reading.programs, arena, sizeof(struct program));
    intern_init(&reader->known, arena);
    return reader;
}

void program_figures_add(struct program_figures_reader *reader, const struct source *source, struct err *err)
{
    struct program_figures_reading *reading = &reader->reading;
    struct arena *scratch = arena_child(reading->arena);
    struct xspace xspace;
    reading->scratch = scratch;
    enum kind kind = kind_of(source, scratch, err);
    stream_init(&reading->stream, source, scratch, err);
    if (kind == KIND_XSPACE && xspace_read(source, scratch, &xspace, err))
        programs_add(reader, xspace.programs, xspace.program_count, err);
    else if (kind == KIND_HLO_PROTO)
        lone_program_add(reader, err);
    arena_free(scratch);
}

bool program_figures_has_assignment(const struct program_figures_reader *reader) { return reader->known.map.count > 0; }

void program_figures_take(const struct program_figures_reader *reader, struct program_figures *out)
{
    const struct program_figures_reading *reading = &reader->reading;
    *out = (struct program_figures){.program_count = (uint32_t)reading->programs.count};
    out->programs = chunks_copy(&reading->programs, reading->arena);
    if (out->program_count > 0) /* behind the last one are those of a program that was not read to its end */
        out->count = out->programs[out->program_count - 1].first + out->programs[out->program_count - 1].count;
    out->figures = arena_array(reading->arena, struct program_figure, (size_t)out->count + 1);
    for (uint32_t i = 0; i < out->count; i++)
        out->figures[i] = CHUNKS_AT(&reading->figures, struct program_figure, i);
}
