/* SPDX-License-Identifier: Apache-2.0
 * program.h: an HLO module that can be changed: read and written by protobuf-c, and found by id.
 *
 * Fields that our .proto files do not know are kept byte for byte. Where writing would lose something (a field that
 * holds its default explicitly, a text with a NUL in it), reading refuses: what comes out is always what went in, but
 * for the change. The order of fields within a message may differ. */
#pragma once

#include "base/map.h"
#include "read/kind.h"

#include "edit/shapes.h"

#include "hlo.pb-c.h"

typedef Xla__HloModuleProto program_module;
typedef Xla__HloComputationProto program_computation;
typedef Xla__HloInstructionProto program_instruction;
typedef Xla__ShapeProto program_shape;

enum { PROGRAM_DEPTH_MAX = SHAPES_DEPTH_MAX }; /* of messages in each other: shapes nest, protobuf-c recurses */

/* One computation. */
struct program_body {
    program_computation *computation;
    struct map places; /* id of an instruction → its place in computation->instructions */
    int64_t next_id;   /* where ids are counted through it; 0: not looked for yet, -1: they are not */
};

/* Ids are from 0 to here: those of newer files are (computation's id << 32) | number. */
#define PROGRAM_ID_MAX ((int64_t)1 << 62)
#define PROGRAM_COMPUTATION_ID_MAX ((int64_t)1 << 30)

struct program {
    struct arena *arena;
    struct err *err;
    program_module *module;
    struct program_body *bodies; /* in the order of module->computations */
    struct map places;           /* id of a computation → its place */
    struct program_body *entry;
    program_instruction *root;        /* of the entry */
    program_instruction **parameters; /* of the entry, by number */
    size_t parameter_count;
    uint64_t next_name; /* no name ends in this number or a greater one */
    int64_t next_id;    /* where ids are counted through the module; 0: not looked for yet */
    int64_t partitions; /* 1 until something is sharded */
    uint64_t changed_count, left_count;
    const char *partial;   /* as in edit.h: of the first edit that says so */
    uint64_t cloned_count; /* computations that were copied and are not in the module yet */
};

/* Bytes to program. False with a report. */
bool program_read(struct program *program, struct str bytes, enum kind kind, struct arena *arena, struct err *err);
/* Finds everything anew: to be called after instructions came, went or moved. False with a report: an id that is there
 * twice or out of range, an entry or root that is not there, parameters that are not numbered from 0. */
bool program_index(struct program *program);
/* The HloModuleProto's bytes, in the arena. */
struct str program_write(const struct program *program);

/* NULL where there is none. */
program_instruction *program_find(const struct program_body *body, int64_t id);
/* Its place in the computation, or MAP_NONE. */
uint32_t program_place(const struct program_body *body, int64_t id);
struct program_body *program_body_of(const struct program *program, int64_t computation_id);
program_instruction *program_operand(const struct program_body *body, const program_instruction *user, size_t at);
bool program_is(const program_instruction *instruction, const char *opcode);

/* A deep copy with unknown fields; of shapes and other small messages. */
program_shape *program_copy_shape(const struct program *program, const program_shape *shape);
/* A new instruction with the metadata of `like` (may be NULL) and a name of its own: "BASE.NUMBER". It is in no
 * computation yet, and its id is 0. */
program_instruction *program_new(struct program *program, const char *base, const char *opcode, program_shape *shape,
                                 const program_instruction *like);
/* A copy of an instruction under a new name; operands may be replaced in it. */
program_instruction *program_clone(struct program *program, const program_instruction *instruction);
/* Its op_name becomes that of an instruction which jax.checkpoint computes again:
 * "jit(step)/jvp(layer_1)/mlp/dot" → "jit(step)/transpose(jvp(layer_1))/rematted_computation/mlp/dot". */
void program_name_recomputed(struct program *program, program_instruction *clone);
/* Takes custom calls of this target with one operand out of the entry: their readers read the operand. For marks that
 * change no value. Program_index is to follow. */
void program_drop_marks(struct program *program, const char *target);
/* A copy of a computation that calls no other, under a new name, with ids of its own; it is in no module yet. */
program_computation *program_clone_computation(struct program *program, const program_computation *computation);
/* Sets the program shapes of all computations and of the module to what parameters and roots have; a layout whose sizes
 * or element type changed loses its tiles: the compiler chooses them anew. */
void program_follow_shapes(struct program *program);
void program_set_operands(struct program *program, program_instruction *instruction, const int64_t *ids, size_t count);
/* An id that no instruction of the body has; each call gives another one. */
int64_t program_new_id(struct program *program, struct program_body *body);
/* Over devices; is there anything in the program that is, which a mesh was meant by? */
bool program_is_split_by(const Xla__OpSharding *sharding);
bool program_is_split(const struct program *program);
/* The parameter's name for a person: that of its op_name, else of the instruction. */
const char *program_parameter_name(const struct program *program, int64_t number);
/* Reports that `number` is none of the program's parameters. True where it is one. */
bool program_has_parameter(const struct program *program, int64_t number);
