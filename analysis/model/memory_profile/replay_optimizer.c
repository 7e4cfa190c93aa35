/* SPDX-License-Identifier: Apache-2.0
 * replay_optimizer.c: the change "optimizer" of replay_program.h: another optimizer's state and temporaries.
 *
 * Sources: torch.optim.SGD without momentum keeps nothing and adds in place. bitsandbytes keeps a byte for each element
 * and state, and a float for each 256 of them; arrays below 4,096 elements stay as they are (bitsandbytes/optim).
 * Adafactor keeps a row and a column of each matrix and no first moment (torch/optim/_adafactor.py). */
#include "model/memory_profile/replay_program.h"

#include "base/sum.h"
#include "model/memory_profile/replay_walk.h"

#include <math.h>

enum { FLOAT_BYTES = 4, HALF_BYTES = 2, QUANTIZED_LEAST = 4096 * FLOAT_BYTES, QUANTIZED_BLOCK = 256 };

/* The host's is of no change of its own: "offload=optimizer". */
enum optimizer { OPTIMIZER_SGD, OPTIMIZER_8BIT, OPTIMIZER_ADAFACTOR, OPTIMIZERS, OPTIMIZER_HOST = OPTIMIZERS };

static const struct {
    const char *name, *words, *call, *reason;
    uint8_t bounds;
} optimizers[OPTIMIZERS + 1] = {
    [OPTIMIZER_SGD] = {"sgd", "an optimizer without state", "torch.optim.SGD(model.parameters(), lr=…)",
                       "The state of the optimizer and the temporaries of its step are not requested; gradients stay.",
                       0},
    [OPTIMIZER_8BIT] =
        {"8bit", "optimizer state of a byte for each element", "bitsandbytes.optim.AdamW8bit(model.parameters(), lr=…)",
         "32-bit state becomes 8-bit state and a float for each 256 elements, except in arrays of less than 4,096; "
         "the step has no temporaries. If the state is 16-bit, this saves half as much.",
         0},
    [OPTIMIZER_ADAFACTOR] =
        {"adafactor", "a row and a column of state for each matrix", "torch.optim.Adafactor(model.parameters(), lr=…)",
         "State becomes a row and a column, as for square matrices of floats; temporaries of the step stay for the "
         "largest weights. Other matrices and vectors keep more; the step may allocate less.",
         REPLAY_AT_MOST | REPLAY_AT_LEAST},
    [OPTIMIZER_HOST] = {"", "the optimizer's state and step are in the host's memory",
                        "deepspeed: \"offload_optimizer\": {\"device\": \"cpu\"}",
                        "The state of the optimizer and the temporaries of its step are not requested from the "
                        "device; gradients stay until they are copied.",
                        0},
};

/* Frames of the step that have nothing to do with which optimizer it is. */
static bool is_beside(const struct torch_frame *frame)
{
    static const char *const files[] = {"/torch/nn/utils/clip_grad", "/amp/grad_scaler", "/torch/optim/swa_utils"};
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        if (torch_snapshot_frame_is(frame, files[i], ""))
            return true;
    return false;
}

static int64_t state_bytes(enum optimizer optimizer, int64_t bytes)
{
    if (optimizer == OPTIMIZER_SGD || optimizer == OPTIMIZER_HOST)
        return 0;
    if (bytes < QUANTIZED_LEAST)
        return bytes;
    if (optimizer == OPTIMIZER_8BIT)
        return bytes / FLOAT_BYTES + bytes / QUANTIZED_BLOCK;
    return 2 * FLOAT_BYTES * (int64_t)ceil(sqrt((double)(bytes / FLOAT_BYTES)));
}

/* ---- what the state is of ---- */

static bool is_quantizing(const struct torch_frame *frame)
{
    return torch_snapshot_frame_is(frame, "/bitsandbytes/optim/", "") ||
           torch_snapshot_frame_is(frame, "/torchao/optim/", "") ||
           torch_snapshot_frame_is(frame, "/torchao/prototype/low_bit_optim/", "");
}

static bool is_quantized(const struct replay_program *program)
{
    const uint32_t stack_count = (uint32_t)program->pool->profile->events.snapshot->stack_count;
    const bool *is_of = replay_program_stacks_with(program, is_quantizing);
    for (uint32_t at = 0; at < program->request_count; at++) {
        const struct replay_request *request = &program->requests[at];
        bool is_of_optimizer =
            request->category == CATEGORY_OPTIMIZER_STATE || request->category == CATEGORY_OPTIMIZER_TEMPORARY;
        if (request->is_request && is_of_optimizer && request->stack < stack_count && is_of[request->stack])
            return true;
    }
    return false;
}

static bool is_narrow_size(const struct map *weights, uint64_t bytes)
{
    return bytes >= QUANTIZED_LEAST / FLOAT_BYTES && map_get(weights, bytes) == MAP_NONE &&
           (map_get(weights, HALF_BYTES * bytes) != MAP_NONE || map_get(weights, FLOAT_BYTES * bytes) != MAP_NONE);
}

/* Has some state half or a quarter of the size of a weight, and of no weight the whole? Then it is not of 32 bits. */
static bool is_narrow(const struct replay_program *program)
{
    const struct memory_profile_held *held = &program->ground->held;
    struct map weights;
    bool is_found = false;
    replay_program_weights(program, &weights);
    for (uint32_t at = 0; at < program->request_count; at++)
        is_found |= program->requests[at].category == CATEGORY_OPTIMIZER_STATE &&
                    is_narrow_size(&weights, (uint64_t)program->requests[at].bytes);
    for (uint32_t i = 0; i < held->block_count; i++)
        is_found |= replay_program_category_of_held(program, i) == CATEGORY_OPTIMIZER_STATE &&
                    is_narrow_size(&weights, held->blocks[i].requested_bytes);
    return is_found;
}

/* ---- the change ---- */

/* What was there before the recording. Returns the bytes of state that change. */
static int64_t held_change(struct replay_program *program, enum optimizer optimizer)
{
    const struct memory_profile_held *held = &program->ground->held;
    int64_t changed_bytes = 0;
    for (uint32_t i = 0; i < held->block_count; i++) {
        if (replay_program_category_of_held(program, i) != CATEGORY_OPTIMIZER_STATE)
            continue;
        int64_t *bytes = &replay_program_held(program)[i], after = state_bytes(optimizer, *bytes);
        changed_bytes = sum_add(changed_bytes, *bytes - after);
        program->changed_count += *bytes != after;
        *bytes = after;
    }
    return changed_bytes;
}

static bool is_of_step(const struct replay_program *program, const bool *is_beside_of,
                       const struct replay_request *request)
{
    const struct torch_snapshot *snapshot = program->pool->profile->events.snapshot;
    bool is_of = request->category == CATEGORY_OPTIMIZER_STATE || request->category == CATEGORY_OPTIMIZER_TEMPORARY;
    return request->is_request && is_of && (request->stack >= snapshot->stack_count || !is_beside_of[request->stack]);
}

static bool optimizer_change(struct replay_program *program, enum optimizer optimizer)
{
    const bool *is_beside_of = replay_program_stacks_with(program, is_beside);
    int64_t largest_bytes = 0, changed_bytes = held_change(program, optimizer);
    for (uint32_t at = 0; at < program->request_count; at++) {
        const struct replay_request *request = &program->requests[at];
        bool is_temporary = request->category == CATEGORY_OPTIMIZER_TEMPORARY;
        if (is_temporary && is_of_step(program, is_beside_of, request) && request->bytes > largest_bytes)
            largest_bytes = request->bytes;
    }
    for (uint32_t at = 0; at < program->request_count; at++) {
        struct replay_request *request = &program->requests[at];
        if (!is_of_step(program, is_beside_of, request))
            continue;
        bool is_state = request->category == CATEGORY_OPTIMIZER_STATE;
        bool is_kept = optimizer == OPTIMIZER_ADAFACTOR && request->bytes == largest_bytes;
        int64_t after = is_state ? state_bytes(optimizer, request->bytes) : is_kept ? request->bytes : 0;
        changed_bytes = sum_add(changed_bytes, is_state ? request->bytes - after : 0);
        program->changed_count += request->bytes != after;
        request->bytes = after;
    }
    return changed_bytes > 0;
}

static bool optimizer_take(struct replay_program *program, enum optimizer optimizer, const char *text, struct err *err)
{
    if (program->is_optimizer_changed)
        return replay_program_refuse(text, "an earlier change replaces the optimizer already", err);
    program->is_optimizer_changed = true;
    program->words = optimizers[optimizer].words;
    program->call = optimizers[optimizer].call;
    program->reason = optimizers[optimizer].reason;
    program->bounds = optimizers[optimizer].bounds;
    if (optimizer == OPTIMIZER_8BIT && is_narrow(program)) {
        program->bounds |= REPLAY_AT_LEAST;
        program->reason =
            arena_format(program->arena, "%s Some state has half the size of a weight, or less: it is not of 32 bits.",
                         program->reason);
    }
    return optimizer_change(program, optimizer) ||
           replay_program_refuse(
               text, "no optimizer state is seen that would get smaller: no step was recorded, or it keeps none", err);
}

bool replay_program_optimizer(struct replay_program *program, struct str value, const char *text, struct err *err)
{
    enum optimizer optimizer = OPTIMIZER_SGD;
    while (optimizer < OPTIMIZERS && !str_equal(value, str_of(optimizers[optimizer].name)))
        optimizer++;
    if (optimizer == OPTIMIZERS)
        return replay_program_refuse(text, "write optimizer=sgd, optimizer=8bit or optimizer=adafactor", err);
    if (!program->is_optimizer_changed && optimizer == OPTIMIZER_8BIT && is_quantized(program))
        return replay_program_refuse_already(
            program, text, "its state is in 8 bits already, by frames of bitsandbytes or torchao", err);
    return optimizer_take(program, optimizer, text, err);
}

bool replay_program_optimizer_move(struct replay_program *program, const char *text, struct err *err)
{
    return optimizer_take(program, OPTIMIZER_HOST, text, err);
}
