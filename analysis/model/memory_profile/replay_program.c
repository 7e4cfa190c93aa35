/* SPDX-License-Identifier: Apache-2.0
 * replay_program.c: see replay_program.h. */
#include "model/memory_profile/replay_program.h"

#include "base/size_text.h"
#include "base/sum.h"
#include "model/memory_profile/categories.h"
#include "model/memory_profile/replay_walk.h"

#include <stdlib.h>

static const struct {
    const char *name;
    replay_program_change *function;
} changes[] = {
#define REPLAY_PROGRAM(name, function) {name, function},
#include "model/memory_profile/replay_program.def"
#undef REPLAY_PROGRAM
};
/* The limit of all requests together, so that the rules can add and place them. */
#define MOST_BYTES (INT64_C(1) << 56)

enum { CHANGES = sizeof(changes) / sizeof(changes[0]) };

/* ---- as recorded ---- */

static enum torch_phase phase_of(const struct torch_phases *phases, bool is_python_only, uint32_t stack)
{
    enum torch_phase phase = torch_phase_of(phases, stack);
    return phase == TORCH_PHASE_EMPTY && is_python_only ? TORCH_PHASE_BACKWARD : phase;
}

/* Only the phase of a failed request is known. */
static struct category_choice choice_of_failure(enum torch_phase phase)
{
    switch (phase) {
    case TORCH_PHASE_FORWARD: return category_choice_of(CATEGORY_SAVED_ACTIVATION, CATEGORY_RULE_TORCH_FORWARD_OPEN);
    case TORCH_PHASE_RECOMPUTE: return category_choice_of(CATEGORY_WORKSPACE, CATEGORY_RULE_TORCH_RECOMPUTED);
    case TORCH_PHASE_BACKWARD: return category_choice_of(CATEGORY_WORKSPACE, CATEGORY_RULE_TORCH_BACKWARD);
    case TORCH_PHASE_OPTIMIZER: return category_choice_of(CATEGORY_OPTIMIZER_TEMPORARY, CATEGORY_RULE_TORCH_STEP);
    case TORCH_PHASE_OPTIMIZER_STATE:
        return category_choice_of(CATEGORY_OPTIMIZER_STATE, CATEGORY_RULE_TORCH_STATE_MADE);
    default: return category_choice_of(CATEGORY_UNKNOWN, CATEGORY_RULE_TORCH_NO_FRAME);
    }
}

static void failures_add(struct replay_program *program, const struct torch_phases *phases, bool is_python_only)
{
    const struct memory_profile_torch *torch = &program->pool->torch;
    for (uint32_t i = 0; i < torch->event_count; i++) {
        const struct torch_event *event = &torch->events[i];
        if (event->action != TORCH_OOM)
            continue;
        enum torch_phase phase = phase_of(phases, is_python_only, event->stack);
        struct category_choice choice = choice_of_failure(phase);
        program->requests[program->request_count++] = (struct replay_request){.bytes = event->size_bytes,
                                                                              .stack = event->stack,
                                                                              .event = event->event_at,
                                                                              .category = choice.category,
                                                                              .rule = choice.rule,
                                                                              .phase = (uint8_t)phase,
                                                                              .is_request = true,
                                                                              .is_failure = true};
        program->failure_count++;
    }
}

bool replay_program_weights(const struct replay_program *program, struct map *sizes)
{
    const struct memory_profile_held *held = &program->ground->held;
    bool has = false;
    map_init(sizes, program->arena, 64);
    for (uint32_t at = 0; at < program->request_count; at++)
        if (program->requests[at].is_request && program->requests[at].category == CATEGORY_PARAMETER)
            has |= map_put(sizes, (uint64_t)program->requests[at].bytes, 1, true);
    for (uint32_t i = 0; i < held->block_count; i++)
        if (replay_program_category_of_held(program, i) == CATEGORY_PARAMETER)
            has |= map_put(sizes, held->blocks[i].requested_bytes, 1, true);
    return has;
}

/* In a pass that is not ended gradients of activations are there beside those of weights, which have their sizes. */
static void gradients_tell(struct replay_program *program)
{
    struct map weights;
    if (!replay_program_weights(program, &weights))
        return;
    for (uint32_t at = 0; at < program->request_count; at++) {
        struct replay_request *request = &program->requests[at];
        if (request->rule != CATEGORY_RULE_TORCH_GRADIENT_OPEN ||
            map_get(&weights, (uint64_t)request->bytes) != MAP_NONE)
            continue;
        request->category = CATEGORY_WORKSPACE;
        request->rule = CATEGORY_RULE_TORCH_BACKWARD;
    }
}

struct replay_program *replay_program_begin(const struct memory_profile_replay *replay, struct arena *arena)
{
    const struct memory_profile_pool *pool = replay->ground->pool;
    const struct memory_profile *profile = pool->profile;
    const struct torch_snapshot *snapshot = profile->events.snapshot;
    struct replay_program *program = arena_array(arena, struct replay_program, 1);
    struct torch_phases phases;
    torch_phases_find(&phases, snapshot, arena);
    bool is_python_only = snapshot->frame_count > 0 && !phases.has_cpp;
    *program = (struct replay_program){.pool = pool, .ground = replay->ground, .arena = arena};
    program->requests = arena_array(arena, struct replay_request, (size_t)pool->count + pool->torch.event_count + 1);
    program->request_count = pool->count;
    arena_work(arena, (uint64_t)pool->count + pool->torch.event_count);
    for (uint32_t at = 0; at < pool->count; at++) {
        uint32_t event = pool->first + at;
        if (memory_profile_is_free(profile, event) || (profile->flags[event] & MEMORY_HAS_ADDRESS) == 0)
            continue;
        struct category_choice choice = memory_profile_categories_of(profile, event);
        uint32_t stack = profile->events.whats[profile->what[event]].stack;
        program->requests[at] = (struct replay_request){.bytes = profile->size_bytes[event],
                                                        .stack = stack,
                                                        .event = at,
                                                        .category = choice.category,
                                                        .rule = choice.rule,
                                                        .phase = (uint8_t)phase_of(&phases, is_python_only, stack),
                                                        .is_request = true};
    }
    failures_add(program, &phases, is_python_only);
    gradients_tell(program);
    return program;
}

struct replay_program *replay_program_copy(const struct replay_program *from, struct arena *arena)
{
    const struct memory_profile_held *held = &from->ground->held;
    struct replay_program *program = arena_array(arena, struct replay_program, 1);
    const size_t count = from->request_count;
    *program = *from;
    program->arena = arena;
    arena_work(arena, count);
    program->requests = arena_array(arena, struct replay_request, count + 1);
    memcpy(program->requests, from->requests, count * sizeof(*program->requests));
    if (from->held_bytes != NULL) {
        program->held_bytes = arena_array(arena, int64_t, (size_t)held->block_count + 1);
        memcpy(program->held_bytes, from->held_bytes, held->block_count * sizeof(*program->held_bytes));
    }
    if (from->extra_count > 0) {
        program->extras = arena_array(arena, struct replay_extra, from->extra_count);
        memcpy(program->extras, from->extras, from->extra_count * sizeof(*program->extras));
    }
    return program;
}

/* ---- changes ---- */

static size_t change_of(const char *text)
{
    for (size_t i = 0; i < CHANGES; i++) {
        size_t length = strlen(changes[i].name);
        if (strncmp(text, changes[i].name, length) == 0 && (text[length] == '=' || text[length] == '\0'))
            return i;
    }
    return CHANGES;
}

bool replay_program_is_change(const char *text) { return change_of(text) < CHANGES; }

const char *replay_program_names(struct arena *arena)
{
    const char *names = changes[0].name;
    for (size_t i = 1; i < CHANGES; i++)
        names = arena_format(arena, "%s, %s", names, changes[i].name);
    return names;
}

bool replay_program_apply(struct replay_program *program, const char *text, struct err *err)
{
    size_t at = change_of(text);
    const char *value = text + strlen(changes[at].name);
    program->call = program->words = program->reason = "";
    program->bounds = 0;
    program->changed_count = 0;
    program->is_already = false;
    arena_work(program->arena, program->request_count);
    if (!changes[at].function(program, str_of(*value == '=' ? value + 1 : value), text, err))
        return false;
    int64_t bytes = 0;
    for (uint32_t i = 0; i < program->request_count; i++)
        bytes = sum_add(bytes, program->requests[i].bytes);
    return bytes <= MOST_BYTES || replay_program_refuse(text, "its requests are more than any device could serve", err);
}

/* ---- for the changes ---- */

bool replay_program_refuse(const char *text, const char *why, struct err *err)
{
    return err_set(err, ERR_argument, ERR_NO_OFFSET, "change \"%.60s\": %s", text, why);
}

bool replay_program_refuse_already(struct replay_program *program, const char *text, const char *why, struct err *err)
{
    program->is_already = true;
    return replay_program_refuse(text, why, err);
}

bool replay_program_is_forward(const struct replay_request *request)
{
    return request->phase == TORCH_PHASE_FORWARD || request->rule == CATEGORY_RULE_TORCH_SAVED ||
           request->rule == CATEGORY_RULE_TORCH_FORWARD || request->rule == CATEGORY_RULE_TORCH_FORWARD_OPEN;
}

bool replay_program_is_backward(const struct replay_request *request)
{
    return request->phase == TORCH_PHASE_BACKWARD || request->phase == TORCH_PHASE_RECOMPUTE;
}

bool replay_program_is_at_peak(const struct replay_program *program, uint32_t at)
{
    const struct memory_profile_pool *pool = program->pool;
    return at < pool->count && memory_profile_is_open(pool, pool->first + at, pool->peak_at - pool->first + 1);
}

enum category replay_program_category_of_held(const struct replay_program *program, uint32_t block)
{
    const struct memory_profile_held_block *held = &program->ground->held.blocks[block];
    const struct memory_profile *profile = program->pool->profile;
    if (held->block != PROFILE_NONE)
        return memory_profile_categories_of_what(
            profile, &profile->events.whats[profile->events.snapshot->blocks[held->block].what]);
    return held->event == PROFILE_NONE ? CATEGORY_UNKNOWN
                                       : (enum category)memory_profile_categories_of(profile, held->event).category;
}

static int extra_order(const void *left, const void *right)
{
    const struct replay_extra *a = left, *b = right;
    return ORDER(a->at, b->at) ?: ORDER(a->number, b->number);
}

void replay_program_extras_take(struct replay_program *program, const struct chunks *extras)
{
    size_t count = program->extra_count + extras->count;
    struct replay_extra *all = arena_array(program->arena, struct replay_extra, count + 1);
    for (size_t i = 0; i < count; i++) {
        all[i] = i < program->extra_count ? program->extras[i]
                                          : CHUNKS_AT(extras, struct replay_extra, i - program->extra_count);
        all[i].number = (uint32_t)i;
    }
    if (count > 1)
        qsort(all, count, sizeof(*all), extra_order);
    program->extras = all;
    program->extra_count = (uint32_t)count;
}

int64_t *replay_program_held(struct replay_program *program)
{
    const struct memory_profile_held *held = &program->ground->held;
    if (program->held_bytes != NULL)
        return program->held_bytes;
    program->held_bytes = arena_array(program->arena, int64_t, (size_t)held->block_count + 1);
    for (uint32_t i = 0; i < held->block_count; i++)
        program->held_bytes[i] = (int64_t)held->blocks[i].requested_bytes;
    return program->held_bytes;
}

const char *replay_program_size(const struct replay_program *program, int64_t bytes)
{
    return size_text_in(program->arena, (uint64_t)(bytes < 0 ? 0 : bytes));
}

bool *replay_program_stacks_with(const struct replay_program *program, bool (*is_such)(const struct torch_frame *frame))
{
    const struct torch_snapshot *snapshot = program->pool->profile->events.snapshot;
    bool *of_frame = arena_array(program->arena, bool, snapshot->frame_count + 1);
    bool *of_stack = arena_array(program->arena, bool, snapshot->stack_count + 1);
    for (size_t i = 0; i < snapshot->frame_count; i++) {
        arena_work(program->arena, 1 + snapshot->frames[i].file.length + snapshot->frames[i].function.length);
        of_frame[i] = is_such(&snapshot->frames[i]);
    }
    for (size_t i = 0; i < snapshot->stack_count; i++) {
        const struct torch_stack stack = snapshot->stacks[i];
        arena_work(program->arena, 1 + (uint64_t)stack.count);
        for (uint32_t at = 0; at < stack.count; at++)
            of_stack[i] |= of_frame[snapshot->stack_frames[stack.first + at]];
    }
    return of_stack;
}
