/* SPDX-License-Identifier: Apache-2.0
 * hlo_schedule.c: see hlo_schedule.h. Calls nest, but the walk keeps its own
 * stack: each computation is entered once, so it is never deeper than their number. */
#include "input/hlo_schedule.h"

#include "hlo.fields.h"

/* Of the branches of one conditional; real programs have a few. Each costs a
 * walk over their ids, so an endless list is not followed to its end. */
enum { BRANCHES_MOST = 1024 };

struct level {
    uint32_t computation_at;
    uint32_t next;      /* place in its sequence */
    uint32_t callee_at; /* how many computations called by that instruction were entered */
};

struct walk {
    const struct hlo *hlo;
    struct hlo_schedule *out;
    struct level *levels;
    uint32_t depth;
};

static bool runs_its_computations(struct str opcode)
{
    static const char *const opcodes[] = {"call", "conditional", "while", "async-start", "async-update", "async-done"};
    for (size_t i = 0; i < sizeof opcodes / sizeof opcodes[0]; i++)
        if (str_equal(opcode, str_of(opcodes[i])))
            return true;
    return false;
}

struct callees {
    const struct hlo *hlo;
    uint32_t wanted, met, computation_at;
};

static void callee(void *context, int64_t id)
{
    struct callees *callees = context;
    if (callees->met++ == callees->wanted)
        callees->computation_at = map_get(&callees->hlo->computation_of_id, (uint64_t)id);
}

static void enter(struct walk *walk, uint32_t computation_at)
{
    if (computation_at == HLO_NONE || walk->hlo->computations[computation_at].sequence_count == 0 ||
        walk->out->span_begin[computation_at] != HLO_NONE)
        return;
    walk->out->span_begin[computation_at] = walk->out->length;
    walk->levels[walk->depth++] = (struct level){computation_at, 0, 0};
}

/* Of a loop the condition comes first; in the file its body does. */
static uint32_t callee_order(struct str opcode, uint32_t at)
{
    return str_equal(opcode, STR("while")) && at < 2 ? 1 - at : at;
}

static void step(struct walk *walk)
{
    struct level *level = &walk->levels[walk->depth - 1];
    const struct hlo_computation *computation = &walk->hlo->computations[level->computation_at];
    if (level->next == computation->sequence_count) {
        walk->out->span_end[level->computation_at] = walk->out->length;
        walk->depth--;
        return;
    }
    uint32_t instruction_at = walk->hlo->sequence[computation->sequence_first + level->next];
    if (instruction_at != HLO_NONE) {
        struct str opcode = hlo_instruction_opcode(walk->hlo, instruction_at);
        if (runs_its_computations(opcode)) {
            struct callees callees = {walk->hlo, callee_order(opcode, level->callee_at), 0, HLO_NONE};
            hlo_each_id(walk->hlo, instruction_at, HLO_INSTRUCTION_PROTO_CALLED_COMPUTATION_IDS, callee, &callees);
            if (level->callee_at < callees.met && level->callee_at < BRANCHES_MOST) {
                level->callee_at++;
                enter(walk, callees.computation_at);
                return;
            }
        }
        if (walk->out->position_of_instruction[instruction_at] == HLO_NONE) {
            walk->out->position_of_instruction[instruction_at] = walk->out->length;
            walk->out->order[walk->out->length++] = instruction_at;
        }
    }
    level->next++;
    level->callee_at = 0;
}

void hlo_schedule_flatten(const struct hlo *hlo, struct arena *arena, struct hlo_schedule *out)
{
    size_t instructions = (size_t)hlo->instruction_count + 1, computations = (size_t)hlo->computation_count + 1;
    *out = (struct hlo_schedule){0};
    out->order = arena_array(arena, uint32_t, (size_t)hlo->sequence_count + 1);
    out->position_of_instruction = arena_raw(arena, instructions * sizeof(uint32_t));
    out->span_begin = arena_raw(arena, computations * sizeof(uint32_t));
    out->span_end = arena_array(arena, uint32_t, computations);
    memset(out->position_of_instruction, 0xff, instructions * sizeof(uint32_t));
    memset(out->span_begin, 0xff, computations * sizeof(uint32_t));
    struct walk walk = {.hlo = hlo, .out = out, .levels = arena_array(arena, struct level, computations)};
    enter(&walk, hlo->entry_at);
    while (walk.depth > 0)
        step(&walk);
}
