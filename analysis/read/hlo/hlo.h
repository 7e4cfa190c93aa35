/* SPDX-License-Identifier: Apache-2.0
 * hlo.h: an HloProto (or bare module, or snapshot) as flat arrays.
 *
 * In:     all bytes of the message, which stay borrowed.
 * Out:    instructions, computations, schedule, stack frames and the buffer
 *         assignment, in file order, with ids resolved to indices (HLO_NONE =
 *         an id that names nothing here). Details of an instruction are decoded
 *         when asked for: a program has 100,000 of them and few matter.
 * Units:  bytes. Ids are 64-bit patterns.
 * Memory: the arena; about 110 bytes an instruction and 80 a logical buffer.
 * Errors: `malformed` or `truncated` with the offset of the damage.
 * Source: hlo.proto, xla_data.proto. */
#pragma once

#include "base/arena.h"
#include "base/map.h"
#include "read/kind.h"
#include "read/library.h"
#include "read/space.h"

#define HLO_NONE UINT32_MAX

/* A part of an instruction's bytes. */
struct hlo_part {
    uint32_t at, length;
};

struct hlo_instruction {
    int64_t id;
    const char *bytes; /* its HloInstructionProto */
    uint32_t length;
    uint32_t computation_at;
    struct hlo_part name, opcode, shape; /* shape: a ShapeProto */
    struct hlo_part metadata, operands;  /* an OpMetadata; packed ids */
    int32_t number;                      /* of the field `number_field`; what an int32_t cannot hold is INT32_MAX */
    uint8_t number_field;                /* of parameter_number and tuple_index the one that is there, or 0 */
    bool is_whole; /* graph.h needs only the members above: no computation is run, no text is in two pieces */
};

struct hlo_computation {
    int64_t id, root_id;
    struct str name;
    uint32_t instruction_first, instruction_count; /* in hlo.instructions */
    uint32_t sequence_first, sequence_count;       /* in hlo.sequence; count 0 = not scheduled */
};

struct hlo_frame {
    struct str file, function; /* empty when not recorded */
    int32_t line, column;      /* −1 when not recorded */
    uint32_t parent_at;        /* the frame outside it, or HLO_NONE */
    enum library library;      /* whose code it is; without a file LIBRARY_MACHINERY */
    uint32_t user_at;          /* from here outwards the first frame of the user's code, else of a package that may be
                                  the user's; HLO_NONE: only libraries. Writers put outer frames first: one that names
                                  a later frame is taken as the outermost */
};

/* LogicalBufferProto: one value at one place of an instruction's result. */
struct hlo_buffer {
    int64_t id, size_bytes, color;
    int64_t instruction_id;
    uint32_t instruction_at;           /* HLO_NONE: the module has no such instruction */
    uint32_t index_first, index_count; /* shape index, in hlo.shape_indices */
    uint32_t allocation_at;            /* HLO_NONE: no allocation names it; else the last one that does */
    int64_t offset_bytes;              /* in that allocation */
    int64_t assigned_bytes;            /* its size as that allocation says it; 0: no allocation names it */
};

struct hlo_assigned {
    int64_t buffer_id, offset_bytes, size_bytes;
    uint32_t buffer_at; /* HLO_NONE: no such logical buffer */
};

struct hlo_allocation {
    int64_t index, size_bytes, color, parameter_number;
    bool is_thread_local, is_parameter, is_live_out, is_tuple, is_constant;
    uint32_t assigned_first, assigned_count; /* in hlo.assigned */
};

/* More than any program runs on. */
enum { HLO_DEVICES_MAX = 65536 };

enum { HLO_EVENT_ALLOC = 0, HLO_EVENT_FREE = 1, HLO_EVENT_SHARE_WITH = 2 };

struct hlo_event {
    int64_t kind; /* HLO_EVENT_…, or what the file says */
    int64_t buffer_id, canonical_id;
    uint32_t buffer_at, canonical_at; /* in hlo.buffers, or HLO_NONE */
    struct str instruction, computation;
};

struct hlo_trace {
    uint32_t event_first, event_count; /* in hlo.events */
};

struct hlo {
    struct str name, entry_name;
    struct str libraries; /* of library_of */
    int64_t entry_id;
    uint32_t entry_at; /* the entry computation, or HLO_NONE */
    bool has_module, has_assignment, has_schedule;

    struct hlo_computation *computations;
    struct hlo_instruction *instructions;
    struct hlo_frame *frames;
    struct hlo_buffer *buffers;
    struct hlo_allocation *allocations;
    struct hlo_assigned *assigned;
    struct hlo_trace *traces;
    struct hlo_event *events;
    int64_t *shape_indices;
    uint32_t *sequence; /* instructions, computation by computation; HLO_NONE = unknown id */
    struct str *payloads;
    int64_t *payload_scoped_bytes; /* scoped use of space 1 that a payload names; −1: not looked at yet */
    struct str *alias_bytes;       /* input_output_alias messages */
    struct str *assignment_bytes;
    struct str *shardings; /* of the entry's parameters, by number: OpSharding messages, where the module lists them */
    uint32_t sharding_count;
    struct str meshes;        /* Shardy's, as text, by the module's attribute "xla.sdy.meshes"; empty: not said */
    struct str donor_bytes;   /* the last buffer_donor message */
    struct str shape_bytes;   /* of the entry, a ProgramShapeProto with layouts; empty: not said */
    uint64_t device_count;    /* that run the program together, up to HLO_DEVICES_MAX; 1 where it is not said */
    uint64_t partition_count; /* over which arrays are split; replicas, the rest of device_count, have them whole */
    uint32_t computation_count, instruction_count, frame_count, buffer_count, allocation_count, assigned_count,
        trace_count, event_count, shape_index_count, sequence_count, payload_count, payload_max, computation_max,
        alias_count, assignment_count;

    struct map instruction_of_id, buffer_of_id, computation_of_id;

    unsigned lacks; /* of enum hlo_lack (hlo_parts.h): what the files lacked; set by the code that joined them */

    /* what could not be used */
    uint64_t duplicate_instruction_count, duplicate_buffer_count;
    uint64_t assigned_without_buffer_count; /* an allocation names a buffer that is not there */
    uint64_t buffer_without_instruction_count;
    uint64_t long_config_count; /* backend_configs too long to be looked at */

    /* noted while reading, so that no later pass over all instructions is needed */
    enum space_platform platform;
    int64_t scoped_vmem_bytes; /* largest scoped use of memory space 1; 0 = none recorded */
    uint32_t scoped_vmem_at;   /* its instruction, or HLO_NONE */
};

/* `bytes` is one message of `kind` (KIND_HLO_PROTO, _MODULE or _SNAPSHOT) that
 * starts at `offset` of its file; `libraries`: as of library_of, borrowed. */
bool hlo_read(struct str bytes, uint64_t offset, enum kind kind, struct str libraries, struct arena *arena,
              struct hlo *out, struct err *err);

/* What an instruction says of itself. Borrowed. */
struct hlo_detail {
    struct str name, opcode, shape; /* shape: the ShapeProto's bytes */
    struct str op_name, source_file;
    int32_t source_line;
    uint32_t frame_at; /* innermost stack frame, or HLO_NONE */
    int64_t parameter_number, tuple_index;
    int64_t code_bytes; /* of the machine code made for it, if the compiler wrote that down; else 0 */
};
struct hlo_detail hlo_detail(const struct hlo *hlo, uint32_t instruction_at);

/* A parameter's number or a tuple's index, which are small and not negative: of all others INT32_MAX. */
static inline int32_t hlo_number(int64_t number)
{
    return number >= 0 && number < INT32_MAX ? (int32_t)number : INT32_MAX;
}

static inline struct str hlo_instruction_part(const struct hlo *hlo, uint32_t at, struct hlo_part part)
{
    return (struct str){hlo->instructions[at].bytes + part.at, part.length};
}
static inline struct str hlo_instruction_name(const struct hlo *hlo, uint32_t at)
{
    return (struct str){hlo->instructions[at].bytes + hlo->instructions[at].name.at, hlo->instructions[at].name.length};
}
static inline struct str hlo_instruction_opcode(const struct hlo *hlo, uint32_t at)
{
    return (struct str){hlo->instructions[at].bytes + hlo->instructions[at].opcode.at,
                        hlo->instructions[at].opcode.length};
}
static inline struct str hlo_instruction_shape(const struct hlo *hlo, uint32_t at)
{
    return (struct str){hlo->instructions[at].bytes + hlo->instructions[at].shape.at,
                        hlo->instructions[at].shape.length};
}
static inline struct str hlo_instruction_bytes(const struct hlo *hlo, uint32_t at)
{
    return (struct str){hlo->instructions[at].bytes, hlo->instructions[at].length};
}

/* Ids of an instruction in one of its repeated number fields (operands, called
 * computations): calls back for each. */
typedef void hlo_id_visitor(void *context, int64_t id);
/* Place of the `nth` computation that an instruction calls (HLO_NONE: there is
 * none, or no such computation), and how many it calls. */
uint32_t hlo_called_computation(const struct hlo *hlo, uint32_t instruction_at, uint32_t nth, uint32_t *count);
/* "Sharding" of a custom call; "" of others. Borrowed. */
struct str hlo_custom_call_target(const struct hlo *hlo, uint32_t instruction_at);
void hlo_each_id(const struct hlo *hlo, uint32_t instruction_at, uint32_t field_number, hlo_id_visitor *visit,
                 void *context);
