/* SPDX-License-Identifier: Apache-2.0
 * hlo.c: see hlo.h. Two passes: the first counts, so that the second places
 * into arrays of exact size. A message that occurs twice is merged, as
 * protobuf rules say: both passes just walk all occurrences. */
#include "read/hlo/hlo.h"

#include "compile.fields.h"
#include "hlo.fields.h"
#include "read/hlo/hlo_assignment.h"
#include "read/hlo/hlo_frames.h"
#include "read/hlo/scoped.h"
#include "read/hlo/shape.h"
#include "wire/wire.h"

static void *array_of(struct arena *arena, uint32_t count, size_t size)
{
    return arena_alloc(arena, (size_t)count + 1, size);
}

/* ---- the module, first pass ---- */

static void count_sequences(struct wire schedule, struct hlo *hlo)
{
    while (wire_next(&schedule)) {
        if (schedule.number != HLO_SCHEDULE_PROTO_SEQUENCES)
            continue;
        struct wire entry = wire_message(&schedule);
        while (wire_next(&entry)) {
            if (entry.number != HLO_SCHEDULE_PROTO_SEQUENCES_ENTRY_VALUE)
                continue;
            struct wire sequence = wire_message(&entry);
            while (wire_next(&sequence)) {
                uint64_t id;
                if (sequence.number == HLO_SCHEDULE_PROTO_INSTRUCTION_SEQUENCE_INSTRUCTION_IDS)
                    for (size_t at = 0; wire_packed(&sequence, &at, &id);)
                        hlo->sequence_count++;
            }
        }
    }
}

/* Numbers of devices that no program has are taken for none. */
static void devices_read(struct wire assignment, struct hlo *hlo)
{
    uint64_t replicas = 1, computations = 1;
    while (wire_next(&assignment)) {
        if (assignment.number == DEVICE_ASSIGNMENT_PROTO_REPLICA_COUNT)
            replicas = wire_uint(&assignment);
        else if (assignment.number == DEVICE_ASSIGNMENT_PROTO_COMPUTATION_COUNT)
            computations = wire_uint(&assignment);
    }
    bool is_sane = replicas > 0 && computations > 0 && replicas <= HLO_DEVICES_MAX && computations <= HLO_DEVICES_MAX &&
                   replicas * computations <= HLO_DEVICES_MAX;
    hlo->device_count = is_sane ? replicas * computations : 1;
    hlo->partition_count = is_sane ? computations : 1;
}

/* The value of its last "xla.sdy.meshes". */
static void meshes_read(struct wire attributes, struct hlo *hlo)
{
    while (wire_next(&attributes)) {
        if (attributes.number != FRONTEND_ATTRIBUTES_MAP)
            continue;
        struct wire entry = wire_message(&attributes);
        struct str key = {"", 0}, value = {"", 0};
        while (wire_next(&entry)) {
            if (entry.number == FRONTEND_ATTRIBUTES_ENTRY_KEY)
                key = wire_text(&entry);
            else if (entry.number == FRONTEND_ATTRIBUTES_ENTRY_VALUE)
                value = wire_text(&entry);
        }
        if (str_equal(key, STR("xla.sdy.meshes")))
            hlo->meshes = value;
    }
}

static void count_module(struct wire module, struct hlo *hlo)
{
    hlo->has_module = true;
    hlo->device_count = hlo->partition_count = 1;
    while (wire_next(&module)) {
        switch (module.number) {
        case HLO_MODULE_PROTO_NAME: hlo->name = wire_text(&module); break;
        case HLO_MODULE_PROTO_HOST_PROGRAM_SHAPE: hlo->shape_bytes = wire_text(&module); break;
        case HLO_MODULE_PROTO_ENTRY_COMPUTATION_NAME: hlo->entry_name = wire_text(&module); break;
        case HLO_MODULE_PROTO_ENTRY_COMPUTATION_ID: hlo->entry_id = wire_int(&module); break;
        case HLO_MODULE_PROTO_PAYLOADS: hlo->payload_max++; break;
        case HLO_MODULE_PROTO_INPUT_OUTPUT_ALIAS: hlo->alias_count++; break;
        case HLO_MODULE_PROTO_SPMD_PARAMETERS_SHARDINGS: hlo->sharding_count++; break;
        case HLO_MODULE_PROTO_BUFFER_DONOR: hlo->donor_bytes = wire_text(&module); break;
        case HLO_MODULE_PROTO_DEVICE_ASSIGNMENT: devices_read(wire_message(&module), hlo); break;
        case HLO_MODULE_PROTO_FRONTEND_ATTRIBUTES: meshes_read(wire_message(&module), hlo); break;
        case HLO_MODULE_PROTO_SCHEDULE:
            hlo->has_schedule = true;
            count_sequences(wire_message(&module), hlo);
            break;
        case HLO_MODULE_PROTO_STACK_FRAME_INDEX: hlo_frames_count(wire_message(&module), &hlo->frame_count); break;
        case HLO_MODULE_PROTO_COMPUTATIONS: {
            hlo->computation_count++;
            hlo->computation_max++;
            struct wire computation = wire_message(&module);
            while (wire_next(&computation))
                hlo->instruction_count += computation.number == HLO_COMPUTATION_PROTO_INSTRUCTIONS;
            break;
        }
        }
    }
}

/* ---- the module, second pass ---- */

static struct hlo_part part_of(const struct hlo_instruction *instruction, const struct wire *wire)
{
    struct str text = wire_text(wire);
    if (text.length == 0)
        return (struct hlo_part){0, 0};
    return (struct hlo_part){(uint32_t)(text.data - instruction->bytes), (uint32_t)text.length};
}

/* An instruction's backend_config: its own text, or one of the module's pool. */
struct config {
    struct str text;
    uint32_t payload_at; /* HLO_NONE: its own */
};

/* Kernels embed their code there, some hundred kB; JSON above this is passed over, and counted. */
enum { CONFIG_LENGTH_MAX = 4 << 20 };

static struct config payload_read(struct wire wire, const struct hlo *hlo)
{
    struct config config = {{"", 0}, HLO_NONE};
    while (wire_next(&wire)) {
        if (wire.number == PAYLOAD_VALUE)
            config = (struct config){wire_text(&wire), HLO_NONE};
        else if (wire.number == PAYLOAD_ID && wire_uint(&wire) < hlo->payload_count)
            config = (struct config){hlo->payloads[wire_uint(&wire)], (uint32_t)wire_uint(&wire)};
    }
    return config;
}

static int64_t config_scoped_bytes(struct hlo *hlo, struct str text, struct arena *arena)
{
    if (text.length > CONFIG_LENGTH_MAX) {
        hlo->long_config_count++;
        return 0;
    }
    arena_work(arena, text.length);
    return scoped_is_used(text) ? scoped_bytes(text, 1) : 0;
}

/* The first instructions of a program, and those of its last computation, which calls the others: of GPUs and CPUs
 * mostly that one has backend_configs. */
static bool is_of_sample(const struct hlo *hlo, uint32_t at)
{
    uint32_t computation_at = hlo->instructions[at].computation_at;
    return at < SPACE_PLATFORM_SAMPLE ||
           (computation_at + 1 == hlo->computation_max &&
            at - hlo->computations[computation_at].instruction_first < SPACE_PLATFORM_SAMPLE);
}

/* A text of the pool serves many instructions, and is looked at once. */
static void config_look(struct hlo *hlo, struct config config, struct str target, uint32_t at, struct arena *arena)
{
    if (hlo->platform == SPACE_PLATFORM_UNKNOWN && is_of_sample(hlo, at))
        hlo->platform = shape_has_tiles(hlo_instruction_shape(hlo, at)) ? SPACE_PLATFORM_TPU
                                                                        : space_platform_of(config.text, target);
    int64_t own = -1, *bytes = config.payload_at == HLO_NONE ? &own : &hlo->payload_scoped_bytes[config.payload_at];
    if (*bytes < 0)
        *bytes = config_scoped_bytes(hlo, config.text, arena);
    if (*bytes > hlo->scoped_vmem_bytes) {
        hlo->scoped_vmem_bytes = *bytes;
        hlo->scoped_vmem_at = at;
    }
}

/* What has its place already was written in two pieces. */
static void part_once(struct hlo_instruction *instruction, struct hlo_part *part, const struct wire *wire)
{
    instruction->is_whole = instruction->is_whole && part->length == 0 && wire->type == WIRE_BYTES;
    *part = part_of(instruction, wire);
}

static void number_once(struct hlo_instruction *instruction, const struct wire *wire)
{
    int64_t number = wire_int(wire);
    instruction->is_whole = instruction->is_whole && instruction->number_field == 0;
    instruction->number_field = (uint8_t)wire->number;
    instruction->number = hlo_number(number);
}

static void place_instruction(const struct wire *field, struct hlo *hlo, uint32_t computation_at, struct arena *arena)
{
    uint32_t at = hlo->instruction_count++;
    struct hlo_instruction *instruction = &hlo->instructions[at];
    struct config config = {{"", 0}, HLO_NONE};
    struct str bytes = wire_text(field), target = {"", 0};
    instruction->bytes = bytes.data;
    instruction->length = (uint32_t)bytes.length;
    instruction->computation_at = computation_at;
    instruction->is_whole = true;
    struct wire wire = wire_message(field);
    while (wire_next(&wire)) {
        switch (wire.number) {
        case HLO_INSTRUCTION_PROTO_ID: instruction->id = wire_int(&wire); break;
        case HLO_INSTRUCTION_PROTO_NAME: instruction->name = part_of(instruction, &wire); break;
        case HLO_INSTRUCTION_PROTO_OPCODE: instruction->opcode = part_of(instruction, &wire); break;
        case HLO_INSTRUCTION_PROTO_SHAPE: instruction->shape = part_of(instruction, &wire); break;
        case HLO_INSTRUCTION_PROTO_METADATA: part_once(instruction, &instruction->metadata, &wire); break;
        case HLO_INSTRUCTION_PROTO_OPERAND_IDS: part_once(instruction, &instruction->operands, &wire); break;
        case HLO_INSTRUCTION_PROTO_CALLED_COMPUTATION_IDS: instruction->is_whole = false; break;
        case HLO_INSTRUCTION_PROTO_PARAMETER_NUMBER:
        case HLO_INSTRUCTION_PROTO_TUPLE_INDEX: number_once(instruction, &wire); break;
        case HLO_INSTRUCTION_PROTO_CUSTOM_CALL_TARGET:
            target = wire_text(&wire);
            instruction->is_whole = false;
            break;
        case HLO_INSTRUCTION_PROTO_BACKEND_CONFIG: config = (struct config){wire_text(&wire), HLO_NONE}; break;
        case HLO_INSTRUCTION_PROTO_BACKEND_CONFIG_PAYLOAD: config = payload_read(wire_message(&wire), hlo); break;
        }
    }
    config_look(hlo, config, target, at, arena);
    /* XProf keeps the later one of two with the same id */
    if (!map_put(&hlo->instruction_of_id, (uint64_t)instruction->id, at, true))
        hlo->duplicate_instruction_count++;
}

static void place_computation(struct wire wire, struct hlo *hlo, struct arena *arena)
{
    uint32_t at = hlo->computation_count++;
    struct hlo_computation *computation = &hlo->computations[at];
    computation->instruction_first = hlo->instruction_count;
    while (wire_next(&wire)) {
        switch (wire.number) {
        case HLO_COMPUTATION_PROTO_NAME: computation->name = wire_text(&wire); break;
        case HLO_COMPUTATION_PROTO_ID: computation->id = wire_int(&wire); break;
        case HLO_COMPUTATION_PROTO_ROOT_ID: computation->root_id = wire_int(&wire); break;
        case HLO_COMPUTATION_PROTO_INSTRUCTIONS: place_instruction(&wire, hlo, at, arena); break;
        }
    }
    computation->instruction_count = hlo->instruction_count - computation->instruction_first;
    map_put(&hlo->computation_of_id, (uint64_t)computation->id, at, true);
}

static void place_sequence(struct wire entry, struct hlo *hlo)
{
    uint32_t first = hlo->sequence_count, computation_at = HLO_NONE;
    int64_t key = 0;
    while (wire_next(&entry)) {
        if (entry.number == HLO_SCHEDULE_PROTO_SEQUENCES_ENTRY_KEY)
            key = wire_int(&entry);
        if (entry.number != HLO_SCHEDULE_PROTO_SEQUENCES_ENTRY_VALUE)
            continue;
        struct wire sequence = wire_message(&entry);
        while (wire_next(&sequence)) {
            uint64_t id;
            if (sequence.number != HLO_SCHEDULE_PROTO_INSTRUCTION_SEQUENCE_INSTRUCTION_IDS)
                continue;
            for (size_t at = 0; wire_packed(&sequence, &at, &id); hlo->sequence_count++) {
                hlo->sequence[hlo->sequence_count] = map_get(&hlo->instruction_of_id, id);
            }
        }
    }
    computation_at = map_get(&hlo->computation_of_id, (uint64_t)key);
    if (computation_at != HLO_NONE) {
        hlo->computations[computation_at].sequence_first = first;
        hlo->computations[computation_at].sequence_count = hlo->sequence_count - first;
    }
}

/* Before the instructions, which may refer to them. */
static void place_payloads(struct wire module, struct hlo *hlo, struct arena *arena)
{
    (void)arena;
    while (hlo->payload_max > hlo->payload_count && wire_next(&module))
        if (module.number == HLO_MODULE_PROTO_PAYLOADS) {
            hlo->payload_scoped_bytes[hlo->payload_count] = -1;
            hlo->payloads[hlo->payload_count++] = wire_text(&module);
        }
}

static void place_module(struct wire module, struct hlo *hlo, struct arena *arena)
{
    while (wire_next(&module)) {
        if (module.number == HLO_MODULE_PROTO_COMPUTATIONS)
            place_computation(wire_message(&module), hlo, arena);
        else if (module.number == HLO_MODULE_PROTO_INPUT_OUTPUT_ALIAS)
            hlo->alias_bytes[hlo->alias_count++] = wire_text(&module);
        else if (module.number == HLO_MODULE_PROTO_SPMD_PARAMETERS_SHARDINGS)
            hlo->shardings[hlo->sharding_count++] = wire_text(&module);
        else if (module.number == HLO_MODULE_PROTO_STACK_FRAME_INDEX)
            hlo_frames_place(wire_message(&module), hlo->libraries, arena, hlo->frames, &hlo->frame_count);
    }
}

static void place_schedule(struct wire module, struct hlo *hlo)
{
    while (wire_next(&module)) {
        if (module.number != HLO_MODULE_PROTO_SCHEDULE)
            continue;
        struct wire schedule = wire_message(&module);
        while (wire_next(&schedule))
            if (schedule.number == HLO_SCHEDULE_PROTO_SEQUENCES)
                place_sequence(wire_message(&schedule), hlo);
    }
}

/* Arrays of the counted sizes; the counts start anew for the second pass. */
static void make_room(struct hlo *hlo, struct arena *arena)
{
    hlo->computations = array_of(arena, hlo->computation_count, sizeof(*hlo->computations));
    hlo->instructions = array_of(arena, hlo->instruction_count, sizeof(*hlo->instructions));
    hlo->frames = array_of(arena, hlo->frame_count, sizeof(*hlo->frames));
    hlo->sequence = array_of(arena, hlo->sequence_count, sizeof(*hlo->sequence));
    hlo->payloads = array_of(arena, hlo->payload_max, sizeof(*hlo->payloads));
    hlo->payload_scoped_bytes = array_of(arena, hlo->payload_max, sizeof(*hlo->payload_scoped_bytes));
    hlo->alias_bytes = array_of(arena, hlo->alias_count, sizeof(*hlo->alias_bytes));
    hlo->shardings = array_of(arena, hlo->sharding_count, sizeof(*hlo->shardings));
    hlo->assignment_bytes = array_of(arena, hlo->assignment_count, sizeof(*hlo->assignment_bytes));
    map_init(&hlo->instruction_of_id, arena, hlo->instruction_count);
    map_init(&hlo->computation_of_id, arena, hlo->computation_count);
    hlo->computation_count = hlo->instruction_count = hlo->frame_count = 0;
    hlo->sequence_count = hlo->alias_count = hlo->assignment_count = hlo->sharding_count = 0;
}

/* Calls for the HloProto's parts, wherever `kind` keeps them. */
static void each_part(struct wire top, enum kind kind, void (*module)(struct wire, struct hlo *, struct arena *),
                      void (*assignment)(const struct wire *, struct hlo *), struct hlo *hlo, struct arena *arena)
{
    if (kind == KIND_HLO_MODULE) {
        module(top, hlo, arena);
        return;
    }
    while (wire_next(&top)) {
        if (kind == KIND_HLO_SNAPSHOT && top.number == HLO_SNAPSHOT_HLO)
            each_part(wire_message(&top), KIND_HLO_PROTO, module, assignment, hlo, arena);
        if (kind != KIND_HLO_PROTO || top.type != WIRE_BYTES)
            continue;
        if (top.number == HLO_PROTO_HLO_MODULE)
            module(wire_message(&top), hlo, arena);
        else if (top.number == HLO_PROTO_BUFFER_ASSIGNMENT && assignment != NULL)
            assignment(&top, hlo);
    }
}

static void first_module(struct wire module, struct hlo *hlo, struct arena *arena)
{
    (void)arena;
    count_module(module, hlo);
}
static void first_assignment(const struct wire *field, struct hlo *hlo)
{
    (void)field;
    hlo->has_assignment = true;
    hlo->assignment_count++;
}
static void second_assignment(const struct wire *field, struct hlo *hlo)
{
    hlo->assignment_bytes[hlo->assignment_count++] = wire_text(field);
}
static void third_module(struct wire module, struct hlo *hlo, struct arena *arena)
{
    (void)arena;
    place_schedule(module, hlo);
}

bool hlo_read(struct str bytes, uint64_t offset, enum kind kind, struct str libraries, struct arena *arena,
              struct hlo *out, struct err *err)
{
    *out = (struct hlo){.scoped_vmem_at = HLO_NONE, .libraries = libraries};
    if (bytes.length > INT32_MAX) /* protobuf's own limit; it also keeps every count below 2^32 */
        return err_set(err, ERR_limit, offset, "an HLO proto of %zu bytes is over the 2 GiB that a message may have",
                       bytes.length);
    struct wire top = wire_open(bytes, offset, err);
    each_part(top, kind, first_module, first_assignment, out, arena);
    if (err_is_set(err))
        return false;
    if (!out->has_module)
        return err_set(err, ERR_malformed, offset, "the file holds no HLO module");
    make_room(out, arena);
    each_part(top, kind, place_payloads, NULL, out, arena);
    each_part(top, kind, place_module, second_assignment, out, arena);
    each_part(top, kind, third_module, NULL, out, arena);
    out->entry_at = map_get(&out->computation_of_id, (uint64_t)out->entry_id);
    for (uint32_t i = 0; out->entry_at == HLO_NONE && i < out->computation_count; i++)
        if (out->entry_name.length > 0 && str_equal(out->computations[i].name, out->entry_name))
            out->entry_at = i;
    hlo_assignment_read(out, bytes.data, offset, arena, err);
    return !err_is_set(err);
}

/* ---- details on demand ---- */

static void metadata_read(struct wire wire, const struct hlo *hlo, struct hlo_detail *detail)
{
    while (wire_next(&wire)) {
        switch (wire.number) {
        case OP_METADATA_OP_NAME: detail->op_name = wire_text(&wire); break;
        case OP_METADATA_SOURCE_FILE: detail->source_file = wire_text(&wire); break;
        case OP_METADATA_SOURCE_LINE: detail->source_line = (int32_t)wire_int(&wire); break;
        case OP_METADATA_SIZE_OF_GENERATED_CODE_IN_BYTES: detail->code_bytes = wire_int(&wire); break;
        case OP_METADATA_STACK_FRAME_ID: { /* 1-based, 0 = none */
            uint64_t id = wire_uint(&wire);
            detail->frame_at = id >= 1 && id <= hlo->frame_count ? (uint32_t)(id - 1) : HLO_NONE;
            break;
        }
        }
    }
}

struct hlo_detail hlo_detail(const struct hlo *hlo, uint32_t instruction_at)
{
    struct hlo_detail detail = {.frame_at = HLO_NONE};
    struct err err = ERR_INIT;
    struct wire wire = wire_open(hlo_instruction_bytes(hlo, instruction_at), 0, &err);
    while (wire_next(&wire)) {
        switch (wire.number) {
        case HLO_INSTRUCTION_PROTO_NAME: detail.name = wire_text(&wire); break;
        case HLO_INSTRUCTION_PROTO_OPCODE: detail.opcode = wire_text(&wire); break;
        case HLO_INSTRUCTION_PROTO_SHAPE: detail.shape = wire_text(&wire); break;
        case HLO_INSTRUCTION_PROTO_METADATA: metadata_read(wire_message(&wire), hlo, &detail); break;
        case HLO_INSTRUCTION_PROTO_PARAMETER_NUMBER: detail.parameter_number = wire_int(&wire); break;
        case HLO_INSTRUCTION_PROTO_TUPLE_INDEX: detail.tuple_index = wire_int(&wire); break;
        }
    }
    return detail;
}

void hlo_each_id(const struct hlo *hlo, uint32_t instruction_at, uint32_t field_number, hlo_id_visitor *visit,
                 void *context)
{
    struct err err = ERR_INIT;
    struct wire wire = wire_open(hlo_instruction_bytes(hlo, instruction_at), 0, &err);
    while (wire_next(&wire)) {
        uint64_t id;
        if (wire.number == field_number)
            for (size_t at = 0; wire_packed(&wire, &at, &id);)
                visit(context, (int64_t)id);
    }
}

struct hlo_called {
    const struct hlo *hlo;
    uint32_t wanted, met, computation_at;
};

static void called_met(void *context, int64_t id)
{
    struct hlo_called *called = context;
    if (called->met++ == called->wanted)
        called->computation_at = map_get(&called->hlo->computation_of_id, (uint64_t)id);
}

uint32_t hlo_called_computation(const struct hlo *hlo, uint32_t instruction_at, uint32_t nth, uint32_t *count)
{
    struct hlo_called called = {hlo, nth, 0, HLO_NONE};
    hlo_each_id(hlo, instruction_at, HLO_INSTRUCTION_PROTO_CALLED_COMPUTATION_IDS, called_met, &called);
    *count = called.met;
    return called.computation_at;
}

struct str hlo_custom_call_target(const struct hlo *hlo, uint32_t instruction_at)
{
    struct str target = {"", 0};
    struct err err = ERR_INIT;
    for (struct wire wire = wire_open(hlo_instruction_bytes(hlo, instruction_at), 0, &err); wire_next(&wire);)
        if (wire.number == HLO_INSTRUCTION_PROTO_CUSTOM_CALL_TARGET)
            target = wire_text(&wire);
    return target;
}
