/* SPDX-License-Identifier: Apache-2.0
 * replay_placed.c: the changes "offload" and "shard" of replay_program.h: what lies in the host's memory, or on other
 * devices. */
#include "model/memory_profile/replay_program.h"

#include "base/chunks.h"
#include "model/memory_profile/replay_walk.h"

/* Requests of a pass forward behind a saved tensor until its copy to the host is done and nothing holds it; devices. */
enum { USED_WITHIN = 8, DEVICES_MOST = 4096 };

/* ---- saved activations in the host's memory ---- */

struct offload {
    struct replay_program *program;
    struct chunks extras;
    uint32_t waiting[USED_WITHIN], waiting_at; /* saved requests that go after further ones; PROFILE_NONE */
};

static bool is_saved(const struct replay_request *request)
{
    return request->is_request && request->bytes > 0 && request->rule == CATEGORY_RULE_TORCH_SAVED &&
           request->category == CATEGORY_SAVED_ACTIVATION;
}

/* It goes before event `at`, unless it is freed by then. */
static void saved_free(struct offload *offload, uint32_t of, uint32_t at)
{
    if (of == PROFILE_NONE || !replay_program_is_there(offload->program, of, at + 1))
        return;
    offload->program->changed_count++;
    CHUNKS_ADD(&offload->extras, struct replay_extra, ((struct replay_extra){.at = at, .of = of, .is_free = true}));
}

/* A further request of the pass: what was saved USED_WITHIN requests before it goes, and `saved` waits; PROFILE_NONE:
 * it is no saved one. */
static void saved_wait(struct offload *offload, uint32_t saved, uint32_t at)
{
    uint32_t *waiting = &offload->waiting[offload->waiting_at++ % USED_WITHIN];
    saved_free(offload, *waiting, at);
    *waiting = saved;
}

static bool activations_move(struct replay_program *program)
{
    struct offload offload = {.program = program};
    uint32_t last_backward = 0; /* request before the event at work */
    chunks_init(&offload.extras, program->arena, sizeof(struct replay_extra));
    for (int i = 0; i < USED_WITHIN; i++)
        offload.waiting[i] = PROFILE_NONE;
    for (uint32_t at = 0; at < program->pool->count; at++) {
        const struct replay_request *request = &program->requests[at];
        enum passes_course course = replay_program_course(request);
        if (course == PASSES_FORWARD)
            saved_wait(&offload, is_saved(request) ? at : PROFILE_NONE, at);
        if (course == PASSES_BACKWARD) {
            for (int i = 0; i < USED_WITHIN; i++) /* the pass forward has ended */
                saved_wait(&offload, PROFILE_NONE, at);
            last_backward = at;
        }
        uint32_t of = replay_program_partner(program, at);
        if (!memory_profile_is_free(program->pool->profile, program->pool->first + at) || of == PROFILE_NONE ||
            !is_saved(&program->requests[of]))
            continue;
        CHUNKS_ADD(&offload.extras, struct replay_extra,
                   ((struct replay_extra){.at = last_backward > of ? last_backward : at, .of = of}));
    }
    replay_program_extras_take(program, &offload.extras);
    return program->changed_count > 0;
}

bool replay_program_offload(struct replay_program *program, struct str value, const char *text, struct err *err)
{
    if (str_equal(value, STR("optimizer")))
        return replay_program_optimizer_move(program, text, err);
    if (!str_equal(value, STR("activations")))
        return replay_program_refuse(text, "write offload=activations or offload=optimizer", err);
    if (program->is_checkpointed || program->is_moved)
        return replay_program_refuse(text, "an earlier change recomputes or moves its activations already", err);
    if (!activations_move(program))
        return replay_program_refuse(text, "nothing is seen that is held until a backward pass", err);
    program->words = "saved activations wait in the host's memory";
    program->call = "with torch.autograd.graph.save_on_cpu(pin_memory=True): loss = model(x)";
    program->bounds = REPLAY_AT_LEAST;
    program->reason =
        "Saved values leave the device once the next requests have used them, and come back where the backward "
        "pass frees them. Copies in flight, and saved weights that come back as copies, are not counted.";
    program->is_moved = true;
    return true;
}

/* ---- other devices ---- */

static bool is_split(enum category category)
{
    return category == CATEGORY_PARAMETER || category == CATEGORY_GRADIENT || category == CATEGORY_OPTIMIZER_STATE ||
           category == CATEGORY_OPTIMIZER_TEMPORARY;
}

static int64_t part_of(int64_t bytes, uint32_t devices) { return (bytes + devices - 1) / devices; }

/* The largest weight is whole while it is at work, and so is its gradient: one of each. */
struct gathered {
    int64_t bytes;
    bool has_weight, has_gradient;
};

static bool is_gathered(struct gathered *gathered, enum category category, int64_t bytes)
{
    bool *has = category == CATEGORY_PARAMETER  ? &gathered->has_weight
                : category == CATEGORY_GRADIENT ? &gathered->has_gradient
                                                : NULL;
    if (has == NULL || *has || bytes != gathered->bytes)
        return false;
    *has = true;
    return true;
}

static int64_t largest_weight(const struct replay_program *program)
{
    const struct memory_profile_held *held = &program->ground->held;
    int64_t largest_bytes = 0;
    for (uint32_t at = 0; at < program->request_count; at++)
        if (program->requests[at].category == CATEGORY_PARAMETER && program->requests[at].bytes > largest_bytes)
            largest_bytes = program->requests[at].bytes;
    for (uint32_t i = 0; i < held->block_count; i++)
        if (replay_program_category_of_held(program, i) == CATEGORY_PARAMETER &&
            (int64_t)held->blocks[i].requested_bytes > largest_bytes)
            largest_bytes = (int64_t)held->blocks[i].requested_bytes;
    return largest_bytes;
}

static bool is_collective(const struct replay_program *program)
{
    for (uint32_t at = 0; at < program->request_count; at++)
        if (program->requests[at].category == CATEGORY_COLLECTIVE)
            return true;
    return false;
}

bool replay_program_shard(struct replay_program *program, struct str value, const char *text, struct err *err)
{
    const struct memory_profile_held *held = &program->ground->held;
    struct gathered gathered = {.bytes = largest_weight(program)};
    uint64_t number;
    if (!str_number_read(value, DEVICES_MOST, &number) || number < 2)
        return replay_program_refuse(text, "write shard=4: over 2 to 4096 devices", err);
    const uint32_t devices = (uint32_t)number;
    if (gathered.bytes == 0)
        return replay_program_refuse(text, "no weights are seen that could be split", err);
    if (is_collective(program))
        return replay_program_refuse(
            text, "collectives are seen: it runs on several devices, and nothing shows what is split", err);
    for (uint32_t at = 0; at < program->request_count; at++) {
        struct replay_request *request = &program->requests[at];
        enum category category = (enum category)request->category;
        if (!is_split(category) || request->bytes == 0 || is_gathered(&gathered, category, request->bytes))
            continue;
        request->bytes = part_of(request->bytes, devices);
        program->changed_count++;
    }
    for (uint32_t i = 0; i < held->block_count; i++) {
        enum category category = replay_program_category_of_held(program, i);
        if (!is_split(category))
            continue;
        int64_t *bytes = &replay_program_held(program)[i];
        if (*bytes > 0 && !is_gathered(&gathered, category, *bytes))
            *bytes = part_of(*bytes, devices);
    }
    program->words = "parameters, gradients and optimizer state are split over so many devices";
    program->call = arena_format(program->arena, "torch.distributed.fsdp.fully_shard(model)  # on %u devices", devices);
    program->bounds = REPLAY_AT_LEAST;
    program->reason = arena_format(program->arena,
                                   "Weights, gradients and state are split over %u devices; of the gathered "
                                   "weights only the largest and its gradient, %s each, are counted whole. A layer of "
                                   "several weights, and the next layer gathered meanwhile, take more.",
                                   devices, replay_program_size(program, gathered.bytes));
    return true;
}
