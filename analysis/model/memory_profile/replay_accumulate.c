/* SPDX-License-Identifier: Apache-2.0
 * replay_accumulate.c: the change "accumulate" of replay_program.h: each pass forward and backward is made in parts,
 * one after the other, whose gradients are added.
 *
 * What is replayed is the last part, with the most memory: it begins with the gradients that those before it left, and
 * those that it makes itself are added to them and pass. */
#include "model/memory_profile/replay_program.h"

#include "base/chunks.h"

enum { PARTS_MOST = 1000 };

static uint64_t gradients_move(struct replay_program *program)
{
    struct chunks extras;
    struct passes passes = {.course = PASSES_BESIDE};
    chunks_init(&extras, program->arena, sizeof(struct replay_extra));
    for (uint32_t at = 0; at < program->pool->count; at++) {
        struct replay_request *request = &program->requests[at];
        enum passes_course course = replay_program_course(request);
        passes_see(&passes, course, at);
        if (course != PASSES_BACKWARD || request->category != CATEGORY_GRADIENT || request->is_earlier)
            continue;
        request->is_earlier = true;
        CHUNKS_ADD(&extras, struct replay_extra,
                   ((struct replay_extra){.at = passes.forward_begin, .of = at, .is_transient = true}));
        CHUNKS_ADD(&extras, struct replay_extra, ((struct replay_extra){.at = at + 1, .of = at, .is_free = true}));
    }
    replay_program_extras_take(program, &extras);
    return extras.count / 2;
}

bool replay_program_accumulate(struct replay_program *program, struct str value, const char *text, struct err *err)
{
    uint64_t number;
    if (!str_number_read(value, PARTS_MOST, &number) || number < 2)
        return replay_program_refuse(text, "write accumulate=2: 2 to 1000 parts, one after the other", err);
    const uint32_t parts = (uint32_t)number;
    if (program->is_in_parts)
        return replay_program_refuse(text, "an earlier change splits it already: write one change with all parts", err);
    if (!replay_program_scale(program, 1.0 / parts, NULL, text, err))
        return false;
    if (gradients_move(program) == 0)
        return replay_program_refuse(text, "no gradients are seen that a backward pass leaves", err);
    program->is_in_parts = true;
    program->words = "passes in parts, one after the other, whose gradients are added";
    program->call =
        arena_format(program->arena, "for part in batch.chunk(%u): (loss(part) / %u).backward()", parts, parts);
    program->reason =
        arena_format(program->arena, "%s The last part begins with the gradients of those before it.", program->reason);
    return true;
}
