/* SPDX-License-Identifier: Apache-2.0
 * replay_kept.c: the changes "zero_grad" and "no_cache" of replay_program.h: what a program keeps from pass to pass and
 * need not.
 *
 * Gradients that are there when a pass forward begins, behind a step of the optimizer, were set to zero and kept: freed
 * instead, they come again in the next pass backward, where what is added to them is made. Of equal sizes the first
 * that is made is taken for the first that was kept. */
#include "model/memory_profile/replay_program.h"

#include "base/chunks.h"
#include "base/sum.h"
#include "base/table.h"
#include "model/memory_profile/replay_walk.h"

/* Where less of the gradients is kept than this part, they are freed, and what is kept has another reason. */
enum { PART_KEPT = 2 };

/* A gradient that outlives its pass. */
struct kept_gradient {
    uint32_t at, next; /* request; the next one of its size, PROFILE_NONE */
    bool is_gone;      /* freed by the changed program, and not made again yet */
};

struct gradient_size {
    uint32_t first, last; /* of struct kept_gradient */
    uint32_t at_work;     /* the next one to be made again; PROFILE_NONE */
    uint32_t pass;        /* that at_work is of; of others it is the first */
};

struct kept {
    struct replay_program *program;
    struct table sizes;
    struct chunks by_size;   /* struct gradient_size, by number in `sizes` */
    struct chunks gradients; /* struct kept_gradient: those that a pass forward began with */
    struct chunks made;      /* uint32_t, requests of gradients since then */
    struct chunks there;     /* uint32_t, of `gradients`, made again since then */
    struct chunks extras;
    uint32_t pass;                  /* the last one that a step was before, from 1 */
    int64_t made_bytes, gone_bytes; /* of gradients; of them that were kept beyond a step */
    bool has_step, has_added;       /* a step since the last pass forward began; gradients that are there without one */
};

static uint32_t gradient_add(struct kept *kept, uint32_t at)
{
    const uint64_t bytes = (uint64_t)kept->program->requests[at].bytes;
    uint32_t number = table_number(&kept->sizes, &bytes), own = (uint32_t)kept->gradients.count;
    if (number == kept->by_size.count)
        CHUNKS_ADD(&kept->by_size, struct gradient_size, ((struct gradient_size){own, own, PROFILE_NONE, 0}));
    else
        CHUNKS_AT(&kept->gradients, struct kept_gradient, CHUNKS_AT(&kept->by_size, struct gradient_size, number).last)
            .next = own;
    CHUNKS_AT(&kept->by_size, struct gradient_size, number).last = own;
    CHUNKS_ADD(&kept->gradients, struct kept_gradient, ((struct kept_gradient){.at = at, .next = PROFILE_NONE}));
    kept->gone_bytes = sum_add(kept->gone_bytes, (int64_t)bytes);
    return own;
}

/* Nothing where it was freed before. */
static void gradient_free(struct kept *kept, struct kept_gradient *gradient, uint32_t at)
{
    gradient->is_gone = replay_program_is_there(kept->program, gradient->at, at);
    if (!gradient->is_gone)
        return;
    kept->program->changed_count++;
    CHUNKS_ADD(&kept->extras, struct replay_extra,
               ((struct replay_extra){.at = at, .of = gradient->at, .is_free = true}));
}

/* Does any gradient wait for a pass forward without a step before it? */
static void added_see(struct kept *kept, uint32_t at)
{
    arena_work(kept->program->arena, kept->has_added ? 0 : kept->made.count);
    for (size_t i = 0; i < kept->made.count && !kept->has_added; i++)
        kept->has_added = replay_program_is_there(kept->program, CHUNKS_AT(&kept->made, uint32_t, i), at);
    if (!kept->has_added)
        kept->made.count = 0;
}

/* Behind a step what is still there goes, at the beginning of a pass forward. Without one it may be added to. */
static void gradients_free(struct kept *kept, uint32_t at)
{
    if (!kept->has_step) {
        added_see(kept, at);
        return;
    }
    arena_work(kept->program->arena, kept->made.count + kept->there.count + 1);
    for (size_t i = 0; i < kept->there.count; i++)
        gradient_free(kept, chunks_at(&kept->gradients, CHUNKS_AT(&kept->there, uint32_t, i)), at);
    for (size_t i = 0; i < kept->made.count; i++) {
        uint32_t of = CHUNKS_AT(&kept->made, uint32_t, i);
        if (replay_program_is_there(kept->program, of, at))
            gradient_free(kept, chunks_at(&kept->gradients, gradient_add(kept, of)), at);
    }
    kept->pass++;
    kept->made.count = kept->there.count = 0;
    kept->has_step = false;
}

/* Where a gradient was added to a kept one, the kept one is now made, because the change had freed it. */
static void gradient_make(struct kept *kept, uint32_t at)
{
    const uint64_t bytes = (uint64_t)kept->program->requests[at].bytes;
    uint32_t number = table_find(&kept->sizes, &bytes, 1), end = replay_program_partner(kept->program, at);
    if (number == MAP_NONE || end == PROFILE_NONE)
        return;
    struct gradient_size *size = chunks_at(&kept->by_size, number);
    if (size->pass != kept->pass)
        size->at_work = size->first;
    size->pass = kept->pass;
    while (size->at_work != PROFILE_NONE) {
        const uint32_t own = size->at_work;
        arena_work(kept->program->arena, 1);
        struct kept_gradient *gradient = chunks_at(&kept->gradients, size->at_work);
        size->at_work = gradient->next;
        if (!gradient->is_gone)
            continue;
        gradient->is_gone = false;
        CHUNKS_ADD(&kept->there, uint32_t, own);
        CHUNKS_ADD(&kept->extras, struct replay_extra, ((struct replay_extra){.at = end + 1, .of = gradient->at}));
        return;
    }
}

static void gradients_follow(struct kept *kept)
{
    const struct replay_program *program = kept->program;
    struct passes passes = {.course = PASSES_BESIDE};
    for (uint32_t at = 0; at < program->pool->count; at++) {
        const struct replay_request *request = &program->requests[at];
        enum passes_course course = replay_program_course(request);
        kept->has_step |= request->is_request &&
                          (request->phase == TORCH_PHASE_OPTIMIZER || request->phase == TORCH_PHASE_OPTIMIZER_STATE);
        if (passes_see(&passes, course, at) && course == PASSES_FORWARD)
            gradients_free(kept, at);
        if (course != PASSES_BACKWARD)
            continue;
        if (request->category == CATEGORY_GRADIENT && request->bytes > 0) {
            kept->made_bytes = sum_add(kept->made_bytes, request->bytes);
            CHUNKS_ADD(&kept->made, uint32_t, at);
        } else if (request->phase == TORCH_PHASE_BACKWARD) {
            gradient_make(kept, at);
        }
    }
}

/* Frees the gradients from before the recording, which does not show when they would be made again. Returns their
 * number. */
static uint32_t held_free(struct replay_program *program)
{
    const struct memory_profile_held *held = &program->ground->held;
    uint32_t count = 0;
    for (uint32_t i = 0; i < held->block_count; i++) {
        if (replay_program_category_of_held(program, i) != CATEGORY_GRADIENT || held->blocks[i].event != PROFILE_NONE)
            continue;
        replay_program_held(program)[i] = 0;
        count++;
    }
    program->changed_count += count;
    return count;
}

bool replay_program_zero_grad(struct replay_program *program, struct str value, const char *text, struct err *err)
{
    struct kept kept = {.program = program};
    if (value.length > 0)
        return replay_program_refuse(text, "write zero_grad: gradients are freed before each forward pass", err);
    table_init(&kept.sizes, program->arena, 1);
    chunks_init(&kept.by_size, program->arena, sizeof(struct gradient_size));
    chunks_init(&kept.gradients, program->arena, sizeof(struct kept_gradient));
    chunks_init(&kept.made, program->arena, sizeof(uint32_t));
    chunks_init(&kept.there, program->arena, sizeof(uint32_t));
    chunks_init(&kept.extras, program->arena, sizeof(struct replay_extra));
    gradients_follow(&kept);
    uint32_t held_count = held_free(program);
    if (program->changed_count == 0 && kept.made_bytes == 0)
        return replay_program_refuse(text, "no gradients are seen that a backward pass leaves", err);
    if (program->changed_count == 0 && kept.has_added)
        return replay_program_refuse(
            text, "gradients stay, but no step of an optimizer is seen between passes: they may be added up on purpose",
            err);
    if (held_count == 0 && kept.gone_bytes < kept.made_bytes / PART_KEPT)
        return replay_program_refuse_already(program, text,
                                             "no kept gradient is live in a second forward pass: they are freed "
                                             "already, or only one pass was recorded",
                                             err);
    replay_program_extras_take(program, &kept.extras);
    program->words = "gradients are freed before each forward pass";
    program->call = "optimizer.zero_grad(set_to_none=True)";
    program->reason = "Gradients are freed before each forward pass, and allocated again where the backward pass "
                      "added to them.";
    program->bounds = held_count > 0 ? REPLAY_AT_LEAST : 0;
    return true;
}

/* ---- keys and values ---- */

static bool is_server(const struct torch_frame *frame) { return torch_snapshot_frame_is(frame, "/vllm/", ""); }

bool replay_program_no_cache(struct replay_program *program, struct str value, const char *text, struct err *err)
{
    const uint32_t stack_count = (uint32_t)program->pool->profile->events.snapshot->stack_count;
    const bool *is_of_server = replay_program_stacks_with(program, is_server);
    bool has_backward = false;
    if (value.length > 0)
        return replay_program_refuse(text, "write no_cache: keys and values are not kept for further tokens", err);
    for (uint32_t at = 0; at < program->pool->count; at++)
        has_backward |= replay_program_course(&program->requests[at]) == PASSES_BACKWARD;
    for (uint32_t at = 0; at < program->request_count; at++) {
        struct replay_request *request = &program->requests[at];
        bool is_kept = request->stack < stack_count && is_of_server[request->stack];
        if (request->category != CATEGORY_CACHE || is_kept || request->bytes == 0)
            continue;
        request->bytes = 0;
        program->changed_count++;
    }
    program->words = "keys and values are not kept for further tokens";
    program->call = "model(…, use_cache=False)";
    program->bounds = REPLAY_AT_LEAST;
    program->reason =
        has_backward
            ? "No cache is requested. Attention saves what it reads for the backward pass: without a cache, that may "
              "be the keys and values themselves."
            : "No cache is requested. No backward pass is seen: if text is generated, each token computes all earlier "
              "tokens again, which takes more time, and more memory for a while.";
    return program->changed_count > 0 ||
           replay_program_refuse(text, "no cache of keys and values is seen, by frames of transformers", err);
}
