/* SPDX-License-Identifier: Apache-2.0
 * program.h: small programs, written as text like HLO's, and their plans.
 *
 *     unplanned                                             no buffer assignment
 *     scheduled module=jit_f devices=8 alias=0:1 donor=2    what the module says of itself: instructions run in the
 * order of the text; its name; result:argument, argument devices=1 replicas=8 partitions, of each so many body {
 * computations; the one called main is the entry p = (f32[4], f32[8]) parameter(0) "an op name" ROOT t = (f32[4],
 * f32[8]) tuple(a, b)
 *     }
 *     main { x = f32[4] while(y) calls=body,condition !temp{1} }
 *
 * Behind an instruction: index=1 of a get-tuple-element, calls=, target=, line=11 of models.py, replicated; and what
 * holds its value: !arg, !out, !const or !temp, one element of it with {1}, twice its bytes with padded. All
 * temporaries are live at the end but those that frees={a,b} gives back. A shape may have a layout:
 * f32[8,128]{1,0:T(8,128)}. What operations say of dimensions: program_attributes.h. Names that are defined nowhere
 * stay ids that name nothing. */
#pragma once

#include "plan/pattern.h"
#include "plan/plan.h"

#include "arena.h"
#include "program_attributes.h"

/* "{0,1:T(8,128)(2,1)}" or "{0,1:S(5)}", at once behind the dimensions; "*" is a dimension that is combined with the
 * next. */
static inline void program_layout(struct program_writing *writing, struct buf *shape)
{
    struct buf layout = BUF_INIT;
    if (*writing->at != '{')
        return;
    for (writing->at++; !program_is(writing, "}") && !program_is(writing, ":");)
        put_number(&layout, LAYOUT_PROTO_MINOR_TO_MAJOR, program_number(writing));
    if (writing->at[-1] == ':' && program_is(writing, "S(")) {
        put_number(&layout, LAYOUT_PROTO_MEMORY_SPACE, program_number(writing));
        program_want(writing, ")");
        program_want(writing, "}");
    } else if (writing->at[-1] == ':') {
        for (program_want(writing, "T"); !program_is(writing, "}");) {
            struct buf tile = BUF_INIT;
            for (program_want(writing, "("); !program_is(writing, ")");)
                put_number(&tile, TILE_PROTO_DIMENSIONS,
                           program_is(writing, "*") ? (uint64_t)INT64_MIN : program_number(writing));
            put_message(&layout, LAYOUT_PROTO_TILES, &tile);
        }
    }
    put_message(shape, SHAPE_PROTO_LAYOUT, &layout);
}

/* Reads a shape; `bytes` of its elements, or of the array itself. */
static inline void program_shape(struct program_writing *writing, struct buf *shape, uint64_t *bytes)
{
    static const struct {
        const char *name;
        uint64_t type, bytes;
    } types[] = {{"f32", PRIMITIVE_TYPE_F32, 4},  {"bf16", PRIMITIVE_TYPE_BF16, 2}, {"f16", PRIMITIVE_TYPE_F16, 2},
                 {"s8", PRIMITIVE_TYPE_S8, 1},    {"s32", PRIMITIVE_TYPE_S32, 4},   {"u32", PRIMITIVE_TYPE_U32, 4},
                 {"pred", PRIMITIVE_TYPE_PRED, 1}};
    if (program_is(writing, "(")) {
        put_number(shape, SHAPE_PROTO_ELEMENT_TYPE, PRIMITIVE_TYPE_TUPLE);
        for (int i = 0; !program_is(writing, ")"); i++) {
            struct buf element = BUF_INIT;
            ck_assert_int_lt(i, PROGRAM_ELEMENTS_MAX);
            program_shape(writing, &element, &bytes[i]);
            put_message(shape, SHAPE_PROTO_TUPLE_SHAPES, &element);
        }
        return;
    }
    struct str name = program_word(writing);
    size_t type = 0;
    while (!str_equal(name, str_of(types[type].name)))
        ck_assert_uint_lt(++type, sizeof(types) / sizeof(types[0]));
    put_number(shape, SHAPE_PROTO_ELEMENT_TYPE, types[type].type);
    *bytes = types[type].bytes;
    for (program_want(writing, "["); !program_is(writing, "]");) {
        uint64_t length = program_number(writing);
        put_number(shape, SHAPE_PROTO_DIMENSIONS, length);
        *bytes *= length;
    }
    program_layout(writing, shape);
}

/* The allocation of a value, behind its "!". */
static inline void program_buffer(struct program_writing *writing, uint64_t instruction, uint64_t parameter,
                                  const uint64_t *bytes)
{
    struct buf buffer = BUF_INIT, place = BUF_INIT, allocation = BUF_INIT, assigned = BUF_INIT, event = BUF_INIT;
    struct str kind = program_word(writing);
    bool is_temporary = str_equal(kind, STR("temp"));
    uint64_t element = 0, id = ++writing->buffer_count;
    put_number(&place, LOGICAL_BUFFER_PROTO_LOCATION_INSTRUCTION_ID, instruction);
    if (program_is(writing, "{")) {
        element = program_number(writing);
        put_number(&place, LOGICAL_BUFFER_PROTO_LOCATION_SHAPE_INDEX, element);
        program_want(writing, "}");
    }
    uint64_t size = bytes[element] * (program_is(writing, "padded") ? 2 : 1);
    writing->buffer_of[instruction] = id;
    put_number(&buffer, LOGICAL_BUFFER_PROTO_ID, id);
    put_number(&buffer, LOGICAL_BUFFER_PROTO_SIZE, size);
    put_message(&buffer, LOGICAL_BUFFER_PROTO_DEFINED_AT, &place);
    put_message(&writing->assignment, BUFFER_ASSIGNMENT_PROTO_LOGICAL_BUFFERS, &buffer);
    put_number(&assigned, BUFFER_ALLOCATION_PROTO_ASSIGNED_LOGICAL_BUFFER_ID, id);
    put_number(&assigned, BUFFER_ALLOCATION_PROTO_ASSIGNED_SIZE, size);
    put_number(&assigned, BUFFER_ALLOCATION_PROTO_ASSIGNED_OFFSET, is_temporary ? writing->temporary_bytes : 0);
    if (is_temporary) {
        put_message(&writing->temporary, BUFFER_ALLOCATION_PROTO_ASSIGNED, &assigned);
        put_number(&event, HEAP_SIMULATOR_TRACE_EVENT_KIND, HEAP_SIMULATOR_TRACE_EVENT_KIND_ALLOC);
        put_number(&event, HEAP_SIMULATOR_TRACE_EVENT_BUFFER_ID, id);
        put_message(&writing->trace, HEAP_SIMULATOR_TRACE_EVENTS, &event);
        writing->temporary_bytes += size;
        return;
    }
    put_number(&allocation, BUFFER_ALLOCATION_PROTO_INDEX, id);
    put_number(&allocation, BUFFER_ALLOCATION_PROTO_SIZE, size);
    put_number(&allocation, BUFFER_ALLOCATION_PROTO_IS_ENTRY_COMPUTATION_PARAMETER, str_equal(kind, STR("arg")));
    put_number(&allocation, BUFFER_ALLOCATION_PROTO_PARAMETER_NUMBER, parameter);
    put_number(&allocation, BUFFER_ALLOCATION_PROTO_MAYBE_LIVE_OUT, str_equal(kind, STR("out")));
    put_number(&allocation, BUFFER_ALLOCATION_PROTO_IS_CONSTANT, str_equal(kind, STR("const")));
    put_message(&allocation, BUFFER_ALLOCATION_PROTO_ASSIGNED, &assigned);
    put_message(&writing->assignment, BUFFER_ASSIGNMENT_PROTO_BUFFER_ALLOCATIONS, &allocation);
}

/* "{a,b}" behind "frees=": the buffers of these instructions are given back. */
static inline void program_frees(struct program_writing *writing)
{
    for (program_want(writing, "{"); !program_is(writing, "}");) {
        struct buf event = BUF_INIT;
        uint64_t buffer = writing->buffer_of[program_id(writing, program_word(writing))];
        ck_assert_uint_gt(buffer, 0);
        put_number(&event, HEAP_SIMULATOR_TRACE_EVENT_KIND, HEAP_SIMULATOR_TRACE_EVENT_KIND_FREE);
        put_number(&event, HEAP_SIMULATOR_TRACE_EVENT_BUFFER_ID, buffer);
        put_message(&writing->trace, HEAP_SIMULATOR_TRACE_EVENTS, &event);
    }
}

static inline void program_metadata(struct program_writing *writing, struct buf *metadata)
{
    if (program_is(writing, "\"")) {
        size_t length = strcspn(writing->at, "\"");
        put_bytes(metadata, OP_METADATA_OP_NAME, writing->at, length);
        writing->at += length + 1;
    }
    if (program_is(writing, "line=")) {
        put_bytes(metadata, OP_METADATA_SOURCE_FILE, "/home/me/models.py", 18);
        put_number(metadata, OP_METADATA_SOURCE_LINE, program_number(writing));
    }
}

static inline void program_instruction(struct program_writing *writing, struct buf *computation, struct buf *sequence)
{
    struct buf one = BUF_INIT, shape = BUF_INIT, metadata = BUF_INIT;
    uint64_t bytes[PROGRAM_ELEMENTS_MAX] = {0}, parameter = 0;
    bool is_root = program_is(writing, "ROOT ");
    struct str name = program_word(writing);
    uint64_t id = program_id(writing, name);
    if (is_root)
        put_number(computation, HLO_COMPUTATION_PROTO_ROOT_ID, id);
    program_want(writing, "=");
    program_shape(writing, &shape, bytes);
    struct str opcode = program_word(writing);
    put_number(&one, HLO_INSTRUCTION_PROTO_ID, id);
    put_bytes(&one, HLO_INSTRUCTION_PROTO_NAME, name.data, name.length);
    put_bytes(&one, HLO_INSTRUCTION_PROTO_OPCODE, opcode.data, opcode.length);
    put_message(&one, HLO_INSTRUCTION_PROTO_SHAPE, &shape);
    for (program_want(writing, "("); !program_is(writing, ")");)
        if (str_equal(opcode, STR("parameter")))
            put_number(&one, HLO_INSTRUCTION_PROTO_PARAMETER_NUMBER, parameter = program_number(writing));
        else
            put_number(&one, HLO_INSTRUCTION_PROTO_OPERAND_IDS, program_id(writing, program_word(writing)));
    program_attributes(writing, &one);
    if (program_is(writing, "index="))
        put_number(&one, HLO_INSTRUCTION_PROTO_TUPLE_INDEX, program_number(writing));
    for (bool is_called = program_is(writing, "calls="); is_called; is_called = *writing->at == ',')
        put_number(&one, HLO_INSTRUCTION_PROTO_CALLED_COMPUTATION_IDS, program_id(writing, program_word(writing)));
    if (program_is(writing, "target=")) {
        struct str target = program_word(writing);
        put_bytes(&one, HLO_INSTRUCTION_PROTO_CUSTOM_CALL_TARGET, target.data, target.length);
    }
    if (program_is(writing, "replicated"))
        put_bytes(&one, HLO_INSTRUCTION_PROTO_SHARDING, NULL, 0);
    program_metadata(writing, &metadata);
    if (metadata.length > 0)
        put_message(&one, HLO_INSTRUCTION_PROTO_METADATA, &metadata);
    put_message(computation, HLO_COMPUTATION_PROTO_INSTRUCTIONS, &one);
    put_number(sequence, HLO_SCHEDULE_PROTO_INSTRUCTION_SEQUENCE_INSTRUCTION_IDS, id);
    while (program_is(writing, "!"))
        program_buffer(writing, id, parameter, bytes);
    if (program_is(writing, "frees="))
        program_frees(writing);
}

static inline void program_head(struct program_writing *writing)
{
    struct buf devices = BUF_INIT, aliases = BUF_INIT, donors = BUF_INIT;
    writing->is_unplanned = program_is(writing, "unplanned");
    writing->is_scheduled = program_is(writing, "scheduled");
    if (program_is(writing, "module=")) {
        struct str name = program_word(writing);
        put_bytes(&writing->module, HLO_MODULE_PROTO_NAME, name.data, name.length);
    }
    if (program_is(writing, "devices=")) {
        put_number(&devices, DEVICE_ASSIGNMENT_PROTO_COMPUTATION_COUNT, program_number(writing));
        put_number(&devices, DEVICE_ASSIGNMENT_PROTO_REPLICA_COUNT,
                   program_is(writing, "replicas=") ? program_number(writing) : 1);
        put_message(&writing->module, HLO_MODULE_PROTO_DEVICE_ASSIGNMENT, &devices);
    }
    while (program_is(writing, "alias=")) {
        struct buf entry = BUF_INIT;
        put_number(&entry, HLO_INPUT_OUTPUT_ALIAS_PROTO_ALIAS_ENTRY_PROTO_OUTPUT_SHAPE_INDEX, program_number(writing));
        program_want(writing, ":");
        put_number(&entry, HLO_INPUT_OUTPUT_ALIAS_PROTO_ALIAS_ENTRY_PROTO_PARAMETER_NUMBER, program_number(writing));
        put_message(&aliases, HLO_INPUT_OUTPUT_ALIAS_PROTO_ENTRIES, &entry);
    }
    while (program_is(writing, "donor=")) {
        struct buf entry = BUF_INIT;
        put_number(&entry, HLO_BUFFER_DONOR_PROTO_BUFFER_DONOR_ENTRY_PROTO_PARAMETER_NUMBER, program_number(writing));
        put_message(&donors, HLO_BUFFER_DONOR_PROTO_ENTRIES, &entry);
    }
    put_message(&writing->module, HLO_MODULE_PROTO_INPUT_OUTPUT_ALIAS, &aliases);
    put_message(&writing->module, HLO_MODULE_PROTO_BUFFER_DONOR, &donors);
}

/* The plan of an encoded program, in the arena of the test; `file` must stay. */
static inline void program_plan(const struct buf *file, struct plan *plan)
{
    ARENA_MUST_NOT_JUMP();
    *plan = (struct plan){.spaces = NULL};
    ck_assert_msg(hlo_read((struct str){file->data, file->length}, 0, KIND_HLO_PROTO, (struct str){"", 0}, &arena,
                           &plan->hlo, &err),
                  "%s", err.text);
    plan_build(plan, &arena);
}

static inline void program_read(const char *text, struct buf *file, struct plan *plan)
{
    struct program_writing writing = {.at = text};
    program_head(&writing);
    while (program_is(&writing, ""), *writing.at != '\0') {
        struct buf computation = BUF_INIT, sequence = BUF_INIT, entry = BUF_INIT;
        struct str name = program_word(&writing);
        put_bytes(&computation, HLO_COMPUTATION_PROTO_NAME, name.data, name.length);
        put_number(&computation, HLO_COMPUTATION_PROTO_ID, program_id(&writing, name));
        if (str_equal(name, STR("main")))
            put_number(&writing.module, HLO_MODULE_PROTO_ENTRY_COMPUTATION_ID, program_id(&writing, name));
        for (program_want(&writing, "{"); !program_is(&writing, "}");)
            program_instruction(&writing, &computation, &sequence);
        put_message(&writing.module, HLO_MODULE_PROTO_COMPUTATIONS, &computation);
        put_number(&entry, HLO_SCHEDULE_PROTO_SEQUENCES_ENTRY_KEY, program_id(&writing, name));
        put_message(&entry, HLO_SCHEDULE_PROTO_SEQUENCES_ENTRY_VALUE, &sequence);
        put_message(&writing.schedule, HLO_SCHEDULE_PROTO_SEQUENCES, &entry);
    }
    if (writing.is_scheduled)
        put_message(&writing.module, HLO_MODULE_PROTO_SCHEDULE, &writing.schedule);
    buf_free(&writing.schedule);
    put_number(&writing.temporary, BUFFER_ALLOCATION_PROTO_SIZE, writing.temporary_bytes);
    put_message(&writing.assignment, BUFFER_ASSIGNMENT_PROTO_BUFFER_ALLOCATIONS, &writing.temporary);
    put_message(&writing.assignment, BUFFER_ASSIGNMENT_PROTO_HEAP_SIMULATOR_TRACES, &writing.trace);
    *file = (struct buf)BUF_INIT;
    put_message(file, HLO_PROTO_HLO_MODULE, &writing.module);
    if (writing.is_unplanned)
        buf_free(&writing.assignment);
    else
        put_message(file, HLO_PROTO_BUFFER_ASSIGNMENT, &writing.assignment);
    program_plan(file, plan);
}

/* The row of the buffer that an instruction gives. */
static inline const struct plan_row *program_row(const struct plan *plan, const char *instruction)
{
    const struct plan_space *space = plan_space_find(plan, 0);
    for (uint32_t i = 0; space != NULL && i < space->row_count; i++)
        if (space->rows[i].buffer_at != PLAN_NONE &&
            str_equal(hlo_instruction_name(&plan->hlo, plan->hlo.buffers[space->rows[i].buffer_at].instruction_at),
                      str_of(instruction)))
            return &space->rows[i];
    ck_abort_msg("%s holds nothing", instruction);
}

static inline const struct plan_pattern *program_pattern(const struct plan *plan, enum pattern_kind kind)
{
    const struct plan_space *space = plan_space_find(plan, 0);
    for (uint32_t i = 0; space != NULL && i < space->pattern_count; i++)
        if (space->patterns[i].kind == kind)
            return &space->patterns[i];
    return NULL;
}
