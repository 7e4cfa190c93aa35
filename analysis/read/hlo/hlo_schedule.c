/* SPDX-License-Identifier: Apache-2.0
 * hlo_schedule.c: see hlo_schedule.h. Calls nest, but the walk keeps its own
 * stack: each computation is entered once, so it is never deeper than their number. */
#include "read/hlo/hlo_schedule.h"

/* The branches of one conditional; real programs have a few. Each costs a walk over their ids, so an endless list is
 * not followed to its end. */
enum { BRANCHES_MAX = 1024 };

struct level {
    uint32_t computation_at;
    uint32_t next;      /* place in its sequence */
    uint32_t callee_at; /* how many computations called by that instruction were entered */
};

/* Mark of an instruction whose callees are being placed before it. */
#define BEGUN (HLO_NONE - 1)

struct walk {
    const struct hlo *hlo;
    struct arena *arena;
    struct hlo_schedule *out;
    struct level *levels;
    uint32_t depth;
};

static bool runs_its_computations(struct str opcode)
{
    static const char *const opcodes[] = {"call", "conditional", "while", "async-start", "async-update", "async-done"};
    for (size_t i = 0; i < sizeof(opcodes) / sizeof(opcodes[0]); i++)
        if (str_equal(opcode, str_of(opcodes[i])))
            return true;
    return false;
}

static void enter(struct walk *walk, uint32_t computation_at)
{
    if (computation_at == HLO_NONE || walk->hlo->computations[computation_at].sequence_count == 0 ||
        walk->out->span_begin[computation_at] != HLO_NONE)
        return;
    walk->out->span_begin[computation_at] = walk->out->length;
    walk->levels[walk->depth++] = (struct level){computation_at, 0, 0};
}

/* The condition of a loop comes first; in the file its body does. */
static uint32_t callee_order(struct str opcode, uint32_t at)
{
    return str_equal(opcode, STR("while")) && at < 2 ? 1 - at : at;
}

/* Enters the next computation that the instruction runs; false when all were. */
static bool next_callee(struct walk *walk, struct level *level, uint32_t instruction_at)
{
    struct str opcode = hlo_instruction_opcode(walk->hlo, instruction_at);
    uint32_t count;
    if (!runs_its_computations(opcode))
        return false;
    arena_work(walk->arena, walk->hlo->instructions[instruction_at].length);
    uint32_t callee_at =
        hlo_called_computation(walk->hlo, instruction_at, callee_order(opcode, level->callee_at), &count);
    if (level->callee_at >= count || level->callee_at >= BRANCHES_MAX)
        return false;
    level->callee_at++;
    enter(walk, callee_at);
    return true;
}

static void hlo_schedule_step(struct walk *walk)
{
    struct level *level = &walk->levels[walk->depth - 1];
    const struct hlo_computation *computation = &walk->hlo->computations[level->computation_at];
    if (level->next == computation->sequence_count) {
        walk->out->span_end[level->computation_at] = walk->out->length;
        walk->depth--;
        return;
    }
    uint32_t instruction_at = walk->hlo->sequence[computation->sequence_first + level->next];
    uint32_t *position = instruction_at == HLO_NONE ? NULL : &walk->out->position_of_instruction[instruction_at];
    bool is_own = position != NULL && (*position == HLO_NONE || (*position == BEGUN && level->callee_at > 0));
    if (is_own) { /* not met before, in this sequence or another */
        *position = BEGUN;
        if (next_callee(walk, level, instruction_at))
            return;
        *position = walk->out->length;
        walk->out->order[walk->out->length++] = instruction_at;
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
    struct walk walk = {
        .hlo = hlo, .arena = arena, .out = out, .levels = arena_array(arena, struct level, computations)};
    enter(&walk, hlo->entry_at);
    while (walk.depth > 0)
        hlo_schedule_step(&walk);
}
