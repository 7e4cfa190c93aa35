/* SPDX-License-Identifier: Apache-2.0
 * replay_checkpoint.c: the change "checkpoint" of replay_program.h: modules that are called in a loop keep only their
 * output, and what they save is made again before their backward pass.
 *
 * A module is told by the frames of its call (torch/nn/modules/module.py) and all frames around it; a call of it begins
 * where what its first request came from asks again. Of modules within each other that are called more than once in
 * each pass the outermost is taken. Its result is what its backward pass frees first: what follows has done with it
 * then. */
#include "model/memory_profile/replay_program.h"

#include "base/chunks.h"
#include "base/table.h"
#include "model/memory_profile/replay_walk.h"

/* Events of a call, beside its own requests, that are worth a pass over them. */
enum { WINDOW_FACTOR = 16, WINDOW_MORE = 4096, CALLS_LEAST = 2 };

/* Requests of a call behind one that the call keeps for its backward pass. */
enum { USED_WITHIN = 8 };

/* A module, and from where it is called. */
struct module {
    uint32_t pass, first_stack, last_stack, calls; /* of the pass at work */
    uint32_t least_calls;                          /* of all passes */
    uint32_t call;                                 /* the one at work, of `calls` */
};

struct call {
    uint32_t first, last; /* requests */
    uint32_t count;
};

struct modules_of_stack {
    uint32_t first, count; /* of `of_stacks`, the outermost first */
};

struct checkpoint {
    struct replay_program *program;
    const struct torch_snapshot *snapshot;
    struct table paths;                /* path around it, frame */
    struct modules_of_stack *by_stack; /* of each stack */
    struct chunks of_stacks;           /* uint32_t, paths */
    struct module *modules;            /* by path */
    struct chunks calls;               /* struct call */
    uint32_t *call_of;                 /* of each request; PROFILE_NONE */
    uint32_t *next_backward;           /* of each event, the first request of a backward pass from there on */
    struct chunks extras;
    uint64_t call_count;
};

/* ---- modules ---- */

static bool is_module_call(const struct torch_frame *frame)
{
    return torch_snapshot_frame_is(frame, "/torch/nn/modules/module", "call_impl");
}

static void paths_find(struct checkpoint *checkpoint)
{
    const struct torch_snapshot *snapshot = checkpoint->snapshot;
    struct arena *arena = checkpoint->program->arena;
    bool *is_call = arena_array(arena, bool, snapshot->frame_count + 1);
    for (size_t i = 0; i < snapshot->frame_count; i++) {
        arena_work(arena, 1 + snapshot->frames[i].file.length + snapshot->frames[i].function.length);
        is_call[i] = is_module_call(&snapshot->frames[i]);
    }
    table_init(&checkpoint->paths, arena, 2);
    chunks_init(&checkpoint->of_stacks, arena, sizeof(uint32_t));
    checkpoint->by_stack = arena_array(arena, struct modules_of_stack, snapshot->stack_count + 1);
    for (size_t i = 0; i < snapshot->stack_count; i++) {
        const struct torch_stack stack = snapshot->stacks[i];
        uint64_t key[2] = {PROFILE_NONE, 0};
        arena_work(arena, 1 + (uint64_t)stack.count);
        checkpoint->by_stack[i].first = (uint32_t)checkpoint->of_stacks.count;
        for (uint32_t at = stack.count; at-- > 0;) {
            key[1] = snapshot->stack_frames[stack.first + at];
            key[0] = table_number(&checkpoint->paths, key);
            if (is_call[key[1]])
                CHUNKS_ADD(&checkpoint->of_stacks, uint32_t, (uint32_t)key[0]);
        }
        checkpoint->by_stack[i].count = (uint32_t)checkpoint->of_stacks.count - checkpoint->by_stack[i].first;
    }
    size_t count = table_count(&checkpoint->paths);
    checkpoint->modules = arena_array(arena, struct module, count + 1);
    for (size_t i = 0; i < count; i++)
        checkpoint->modules[i].least_calls = PROFILE_NONE;
}

static bool is_in_forward(const struct checkpoint *checkpoint, uint32_t at)
{
    const struct replay_request *request = &checkpoint->program->requests[at];
    return request->is_request && request->phase != TORCH_PHASE_BACKWARD && request->phase != TORCH_PHASE_RECOMPUTE &&
           request->stack < checkpoint->snapshot->stack_count;
}

/* Does a request from this stack begin another call? */
static bool is_next_call(struct module *module, uint32_t pass, uint32_t stack)
{
    bool is_first = module->pass != pass;
    if (is_first)
        *module = (struct module){.pass = pass, .first_stack = stack, .least_calls = module->least_calls};
    bool is_next = is_first || (stack == module->first_stack && module->last_stack != stack);
    module->last_stack = stack;
    return is_next;
}

static struct module *module_at(struct checkpoint *checkpoint, uint32_t stack, uint32_t at)
{
    const struct modules_of_stack of = checkpoint->by_stack[stack];
    return &checkpoint->modules[CHUNKS_AT(&checkpoint->of_stacks, uint32_t, of.first + at)];
}

/* Passes are counted from 1: by the backward passes before them. */
static void requests_see(struct checkpoint *checkpoint,
                         void (*see)(struct checkpoint *checkpoint, uint32_t at, uint32_t pass))
{
    struct replay_program *program = checkpoint->program;
    struct passes passes = {.course = PASSES_BESIDE};
    for (uint32_t at = 0; at < program->pool->count; at++) {
        const struct replay_request *request = &program->requests[at];
        passes_see(&passes, replay_program_course(request), at);
        if (!is_in_forward(checkpoint, at) || checkpoint->by_stack[request->stack].count == 0)
            continue;
        arena_work(program->arena, checkpoint->by_stack[request->stack].count);
        see(checkpoint, at, passes.backward_count + 1);
    }
}

static void calls_count(struct checkpoint *checkpoint, uint32_t at, uint32_t pass)
{
    uint32_t stack = checkpoint->program->requests[at].stack;
    for (uint32_t i = 0; i < checkpoint->by_stack[stack].count; i++) {
        struct module *module = module_at(checkpoint, stack, i);
        if (module->pass != pass && module->pass != 0 && module->calls < module->least_calls)
            module->least_calls = module->calls;
        if (is_next_call(module, pass, stack))
            module->calls++;
    }
}

static void call_see(struct checkpoint *checkpoint, uint32_t at, uint32_t pass)
{
    uint32_t stack = checkpoint->program->requests[at].stack;
    for (uint32_t i = 0; i < checkpoint->by_stack[stack].count; i++) {
        struct module *module = module_at(checkpoint, stack, i);
        if (module->least_calls < CALLS_LEAST)
            continue;
        if (is_next_call(module, pass, stack)) {
            module->call = (uint32_t)checkpoint->calls.count;
            CHUNKS_ADD(&checkpoint->calls, struct call, ((struct call){.first = at}));
        }
        struct call *call = chunks_at(&checkpoint->calls, module->call);
        call->last = at;
        call->count++;
        checkpoint->call_of[at] = module->call;
        return;
    }
}

static void calls_find(struct checkpoint *checkpoint)
{
    size_t count = table_count(&checkpoint->paths);
    requests_see(checkpoint, calls_count);
    for (size_t i = 0; i < count; i++) {
        struct module *module = &checkpoint->modules[i];
        /* a pass in which the recording ends may have come to the first of them only */
        bool is_least =
            module->calls < module->least_calls && (module->least_calls == PROFILE_NONE || module->calls > 1);
        module->least_calls = is_least ? module->calls : module->least_calls;
        module->pass = 0;
    }
    requests_see(checkpoint, call_see);
}

/* ---- calls ---- */

/* What a call holds for its backward pass. */
static bool is_held(const struct checkpoint *checkpoint, const struct call *call, uint32_t at)
{
    const struct replay_request *request = &checkpoint->program->requests[at];
    uint32_t end = replay_program_partner(checkpoint->program, at), backward = checkpoint->next_backward[call->last];
    if (end == PROFILE_NONE)
        return request->category == CATEGORY_SAVED_ACTIVATION;
    return (request->category == CATEGORY_SAVED_ACTIVATION || request->category == CATEGORY_CACHE) &&
           backward != PROFILE_NONE && end > backward;
}

static void extra_add(struct checkpoint *checkpoint, uint32_t at, uint32_t of, bool is_free, bool is_transient)
{
    CHUNKS_ADD(&checkpoint->extras, struct replay_extra, ((struct replay_extra){at, 0, of, is_free, is_transient}));
}

struct held {
    uint32_t result, result_end; /* what is freed first, and when; PROFILE_NONE: none is */
    uint32_t last;               /* request that is held and never freed */
    uint64_t count, freed_count;
};

static struct held held_of(const struct checkpoint *checkpoint, const struct call *call, uint32_t number)
{
    struct held held = {.result = PROFILE_NONE, .result_end = PROFILE_NONE, .last = PROFILE_NONE};
    for (uint32_t at = call->first; at <= call->last; at++) {
        if (checkpoint->call_of[at] != number || !is_held(checkpoint, call, at))
            continue;
        uint32_t end = replay_program_partner(checkpoint->program, at);
        held.count++;
        held.freed_count += end != PROFILE_NONE;
        if (end == PROFILE_NONE) {
            held.last = at;
        } else if (end < held.result_end) {
            held.result = at;
            held.result_end = end;
        }
    }
    return held;
}

/* The same requests again, where the backward pass begins; what they passed is freed in its turn. */
static void call_repeat(struct checkpoint *checkpoint, const struct call *call, uint32_t number,
                        const struct held *held, uint32_t place)
{
    const struct memory_profile_pool *pool = checkpoint->program->pool;
    for (uint32_t at = call->first; at <= call->last; at++) {
        if (memory_profile_is_free(pool->profile, pool->first + at)) {
            uint32_t from = replay_program_partner(checkpoint->program, at);
            if (from != PROFILE_NONE && from >= call->first && checkpoint->call_of[from] == number)
                extra_add(checkpoint, place, from, true, true);
            continue;
        }
        if (checkpoint->call_of[at] != number || at == held->result ||
            replay_program_partner(checkpoint->program, at) == PROFILE_NONE)
            continue;
        extra_add(checkpoint, place, at, false, !is_held(checkpoint, call, at));
    }
    for (uint32_t at = call->first; at <= call->last; at++) /* what it frees behind its last request */
        if (checkpoint->call_of[at] == number && replay_program_partner(checkpoint->program, at) != PROFILE_NONE &&
            replay_program_partner(checkpoint->program, at) > call->last && !is_held(checkpoint, call, at))
            extra_add(checkpoint, place, at, true, true);
}

/* Without a graph that holds it, the result of a call is freed once its readers are done: within the next requests of
 * the call. Their number matters little: from 1 to 12, a run on an H200 reserves within 1 % of what was measured. */
static uint32_t release_at(const struct checkpoint *checkpoint, const struct call *call, uint32_t number, uint32_t at)
{
    uint32_t left = USED_WITHIN;
    for (uint32_t next = at + 1; next <= call->last; next++)
        if (checkpoint->call_of[next] == number && --left == 0)
            return next + 1;
    return call->last + 1;
}

static void call_change(struct checkpoint *checkpoint, const struct call *call, uint32_t number)
{
    struct held held = held_of(checkpoint, call, number);
    bool is_kept = held.freed_count == 0; /* no backward pass came to it */
    uint32_t result = is_kept ? held.last : held.result;
    if (held.count < 2)
        return;
    for (uint32_t at = call->first; at <= call->last; at++)
        if (checkpoint->call_of[at] == number && at != result && is_held(checkpoint, call, at) &&
            (replay_program_partner(checkpoint->program, at) == PROFILE_NONE) == is_kept)
            extra_add(checkpoint, release_at(checkpoint, call, number, at), at, true, false);
    if (!is_kept)
        call_repeat(checkpoint, call, number, &held, held.result_end + 1);
    checkpoint->call_count++;
    checkpoint->program->changed_count += held.count - 1;
}

static void calls_change(struct checkpoint *checkpoint)
{
    const struct replay_program *program = checkpoint->program;
    uint32_t last = 0;
    for (uint32_t at = 0; at < program->pool->count; at++)
        last = program->requests[at].is_request ? at : last;
    for (size_t i = 0; i < checkpoint->calls.count; i++) {
        const struct call *call = chunks_at(&checkpoint->calls, i);
        uint32_t window = call->last - call->first;
        if (window / WINDOW_FACTOR > call->count + WINDOW_MORE || call->last == last)
            continue; /* the recording ends in it, or is no recording of such a call */
        arena_work(program->arena, 12 * (uint64_t)window + 12);
        call_change(checkpoint, call, (uint32_t)i);
    }
}

/* ---- the change ---- */

static const char *why_not(const struct replay_program *program)
{
    for (uint32_t at = 0; at < program->pool->count; at++)
        if (program->requests[at].is_request && program->requests[at].phase == TORCH_PHASE_RECOMPUTE)
            return "it is checkpointed already: something is computed again in its backward pass";
    return NULL;
}

static void checkpoint_begin(struct checkpoint *checkpoint)
{
    const struct replay_program *program = checkpoint->program;
    uint32_t count = program->pool->count, next = PROFILE_NONE;
    checkpoint->call_of = arena_array(program->arena, uint32_t, (size_t)count + 1);
    checkpoint->next_backward = arena_array(program->arena, uint32_t, (size_t)count + 1);
    for (uint32_t at = count; at-- > 0;) {
        const struct replay_request *request = &program->requests[at];
        next = request->is_request && replay_program_is_backward(request) ? at : next;
        checkpoint->next_backward[at] = next;
        checkpoint->call_of[at] = PROFILE_NONE;
    }
    chunks_init(&checkpoint->calls, program->arena, sizeof(struct call));
    chunks_init(&checkpoint->extras, program->arena, sizeof(struct replay_extra));
}

bool replay_program_checkpoint(struct replay_program *program, struct str value, const char *text, struct err *err)
{
    struct checkpoint checkpoint = {.program = program, .snapshot = program->pool->profile->events.snapshot};
    if (value.length > 0)
        return replay_program_refuse(text, "write checkpoint: modules that are called in a loop", err);
    if (program->is_checkpointed)
        return replay_program_refuse(text, "an earlier change checkpoints it already", err);
    if (program->is_moved)
        return replay_program_refuse(text, "an earlier change moves its activations to the host's memory", err);
    const char *reason = why_not(program);
    if (reason != NULL)
        return replay_program_refuse_already(program, text, reason, err);
    checkpoint_begin(&checkpoint);
    paths_find(&checkpoint);
    calls_find(&checkpoint);
    calls_change(&checkpoint);
    if (checkpoint.calls.count == 0)
        return replay_program_refuse(text, "no frames of a module that is called more than once in each forward pass",
                                     err);
    if (checkpoint.call_count == 0)
        return replay_program_refuse(text, "no module is seen to hold anything until a backward pass", err);
    replay_program_extras_take(program, &checkpoint.extras);
    program->is_checkpointed = true;
    program->words = "modules that are called in a loop keep only their output";
    program->call =
        "model.gradient_checkpointing_enable(), or torch.utils.checkpoint.checkpoint(layer, x, use_reentrant=False)";
    program->reason = arena_format(
        program->arena,
        "Calls of modules that keep only their output, and compute what they save again before their backward "
        "pass: %llu. That is about one more forward pass of work.",
        (unsigned long long)checkpoint.call_count);
    return true;
}
