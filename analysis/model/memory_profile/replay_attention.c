/* SPDX-License-Identifier: Apache-2.0
 * replay_attention.c: the changes "attention" and "sequence" of replay_program.h: scores, which a fused kernel never
 * stores, and which grow with the square of the tokens.
 *
 * A softmax is of attention where the function that calls it asks for scores itself right before: of the same size, or
 * of half or twice of it in another dtype. So do a sampler and a router, too: a name in its frames has to say that it
 * is of attention, or a product of matrices made the scores and another one takes them. What that function asks for in
 * these sizes are scores, and so is in a backward pass what has a size that nothing else forward has. The kernel keeps
 * a float for each row (its logarithm of the sum). */
#include "model/memory_profile/replay_program.h"

#include "base/sum.h"
#include "base/table.h"
#include "model/memory_profile/replay_walk.h"
#include "plan/torch_operation.h"

#include <math.h>

/* Elements of a head, at the least: rows of the scores are those of the result. */
enum { HEAD_ELEMENTS = 64 };

/* What is asked of a frame, once. */
enum sign {
    SIGN_SOFTMAX = 1,
    SIGN_DROPOUT = 2,
    SIGN_PROGRAM = 4, /* of Python, and neither PyTorch's nor a softmax of the program's own */
    SIGN_NAME = 8,    /* its function says that it is of attention */
    SIGN_FILE = 16,   /* its file does */
    SIGN_PRODUCT = 32,
    SIGN_LINEAR = 64 /* a product with a weight */
};

struct caller {
    int64_t last_bytes;    /* that it asked for last */
    uint32_t last_softmax; /* request of which the result was not asked for yet; PROFILE_NONE */
    uint32_t last_product; /* stack of a softmax of what a product made, that none took yet; PROFILE_NONE */
    bool is_of_product;    /* what it asked for last */
};

struct attention {
    struct replay_program *program;
    const struct torch_snapshot *snapshot;
    const uint8_t *operation_of; /* enum torch_operation, of each stack */
    uint32_t *function_of;       /* of each frame: equal of equal functions */
    uint8_t *signs_of;           /* of each frame: enum sign */
    uint32_t *caller_of; /* of each stack: function that calls a softmax and asks for its memory; PROFILE_NONE */
    bool *is_dropout;    /* of each stack: its innermost frame of Python is */
    bool *is_product;    /* of each stack: of matrices that are both made of examples */
    bool *is_attention;  /* of each stack of a softmax */
    bool has_softmax;    /* of what its function made */
    struct table functions;
    struct caller *callers; /* by function */
    bool *is_caller;        /* by function */
    struct table scores;    /* function, bytes */
    struct map score_sizes, other_sizes;
    bool *is_score;      /* of each request; masks of dropout, too */
    int64_t *rows_bytes; /* of each softmax, a float for each row */
    uint64_t score_count;
    int64_t not_told_bytes; /* at the peak, that may be scores or of something else that is as large */
};

static bool is_attention(struct str text)
{
    static const char *const words[] = {"attn", "Attn", "attention", "Attention"};
    bool is_of = false;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        is_of |= str_contains(text, str_of(words[i]));
    return is_of;
}

static bool is_product(const struct torch_frame *frame)
{
    return torch_snapshot_frame_is(frame, NULL, "bmm") || torch_snapshot_frame_is(frame, NULL, "matmul") ||
           torch_snapshot_frame_is(frame, NULL, "einsum") ||
           torch_snapshot_frame_is(frame, "/torch/functional", "=einsum");
}

static bool is_linear(const struct torch_frame *frame)
{
    return torch_snapshot_frame_is(frame, NULL, "linear") ||
           torch_snapshot_frame_is(frame, "/torch/nn/modules/linear", "=forward");
}

static uint8_t signs_of(const struct torch_frame *frame)
{
    bool is_torch = str_contains(frame->file, STR("/torch/")) || str_contains(frame->file, STR("\\torch\\"));
    bool is_softmax = torch_operation_of_frame(frame) == TORCH_OPERATION_ATTENTION_SCORES;
    return (uint8_t)((is_softmax ? SIGN_SOFTMAX : 0) | (str_equal(frame->function, STR("dropout")) ? SIGN_DROPOUT : 0) |
                     (frame->is_python && !is_torch && !is_softmax ? SIGN_PROGRAM : 0) |
                     (is_attention(frame->function) ? SIGN_NAME : 0) |
                     (is_attention(torch_snapshot_frame_file(frame)) ? SIGN_FILE : 0) |
                     (is_product(frame) ? SIGN_PRODUCT : 0) | (is_linear(frame) ? SIGN_LINEAR : 0));
}

static void functions_find(struct attention *attention)
{
    const struct torch_snapshot *snapshot = attention->snapshot;
    struct arena *arena = attention->program->arena;
    attention->function_of = arena_array(arena, uint32_t, snapshot->frame_count + 1);
    attention->signs_of = arena_array(arena, uint8_t, snapshot->frame_count + 1);
    table_init(&attention->functions, arena, 1);
    for (size_t i = 0; i < snapshot->frame_count; i++) {
        const struct torch_frame *frame = &snapshot->frames[i];
        const uint64_t key = hash_bytes(frame->function.data, frame->function.length,
                                        hash_bytes(frame->file.data, frame->file.length, 0));
        arena_work(arena, 2 * (1 + frame->function.length + frame->file.length)); /* as a key, and for signs */
        attention->signs_of[i] = signs_of(frame);
        attention->function_of[i] = table_number(&attention->functions, &key);
    }
    size_t count = table_count(&attention->functions);
    attention->callers = arena_array(arena, struct caller, count + 1);
    attention->is_caller = arena_array(arena, bool, count + 1);
}

static void callers_begin(struct attention *attention)
{
    const size_t count = table_count(&attention->functions);
    for (size_t i = 0; i < count; i++)
        attention->callers[i] = (struct caller){.last_softmax = PROFILE_NONE, .last_product = PROFILE_NONE};
}

static uint32_t frame_at(const struct attention *attention, uint32_t stack, uint32_t at)
{
    return attention->snapshot->stack_frames[attention->snapshot->stacks[stack].first + at];
}

/* The frame of Python there or around it; PROFILE_NONE. */
static uint32_t python_at(const struct attention *attention, uint32_t stack, uint32_t at)
{
    for (; at < attention->snapshot->stacks[stack].count; at++)
        if (attention->snapshot->frames[frame_at(attention, stack, at)].is_python)
            return frame_at(attention, stack, at);
    return PROFILE_NONE;
}

/* The signs of all frames of a stack together. */
static uint8_t stack_signs(const struct attention *attention, uint32_t stack)
{
    uint8_t signs = 0;
    for (uint32_t at = 0; at < attention->snapshot->stacks[stack].count; at++)
        signs |= attention->signs_of[frame_at(attention, stack, at)];
    return signs;
}

/* Which functions call a softmax: those of the frame around it. */
static void callers_find(struct attention *attention)
{
    const struct torch_snapshot *snapshot = attention->snapshot;
    for (uint32_t stack = 0; stack < snapshot->stack_count; stack++) {
        uint32_t count = snapshot->stacks[stack].count, at = 0;
        if (attention->operation_of[stack] != TORCH_OPERATION_ATTENTION_SCORES)
            continue;
        arena_work(attention->program->arena, 1 + (uint64_t)count);
        while (at < count && (attention->signs_of[frame_at(attention, stack, at)] & SIGN_SOFTMAX) == 0)
            at++;
        uint32_t around = python_at(attention, stack, at + 1);
        if (around == PROFILE_NONE)
            continue;
        attention->is_caller[attention->function_of[around]] = true;
        attention->is_attention[stack] =
            (attention->signs_of[around] & SIGN_FILE) != 0 || (stack_signs(attention, stack) & SIGN_NAME) != 0;
    }
}

/* The function that asks, itself or by what PyTorch does for it. */
static uint32_t caller_of_stack(const struct attention *attention, uint32_t stack)
{
    uint32_t count = attention->snapshot->stacks[stack].count;
    for (uint32_t at = 0; at < count; at++) {
        uint32_t frame = frame_at(attention, stack, at), function = attention->function_of[frame];
        if (attention->is_caller[function])
            return function;
        if ((attention->signs_of[frame] & SIGN_PROGRAM) != 0)
            return PROFILE_NONE;
    }
    return PROFILE_NONE;
}

static void stacks_find(struct attention *attention)
{
    const struct torch_snapshot *snapshot = attention->snapshot;
    attention->caller_of = arena_array(attention->program->arena, uint32_t, snapshot->stack_count + 1);
    attention->is_dropout = arena_array(attention->program->arena, bool, snapshot->stack_count + 1);
    attention->is_product = arena_array(attention->program->arena, bool, snapshot->stack_count + 1);
    for (uint32_t stack = 0; stack < snapshot->stack_count; stack++) {
        arena_work(attention->program->arena, 1 + (uint64_t)snapshot->stacks[stack].count);
        uint32_t inner = python_at(attention, stack, 0);
        attention->caller_of[stack] = caller_of_stack(attention, stack);
        attention->is_product[stack] = (stack_signs(attention, stack) & (SIGN_PRODUCT | SIGN_LINEAR)) == SIGN_PRODUCT;
        attention->is_dropout[stack] = inner != PROFILE_NONE && (attention->signs_of[inner] & SIGN_DROPOUT) != 0;
    }
}

static uint32_t caller_of(const struct attention *attention, const struct replay_request *request)
{
    bool is_forward = request->phase == TORCH_PHASE_FORWARD || request->phase == TORCH_PHASE_RECOMPUTE ||
                      request->phase == TORCH_PHASE_NONE;
    return is_forward && request->is_request && request->stack < attention->snapshot->stack_count
               ? attention->caller_of[request->stack]
               : PROFILE_NONE;
}

static bool is_scores(const struct attention *attention, uint32_t function, int64_t bytes, uint64_t times)
{
    const uint64_t key[2] = {function, (uint64_t)bytes * times};
    return table_find(&attention->scores, key, 2) != MAP_NONE;
}

static void scores_add(struct attention *attention, uint32_t function, int64_t bytes)
{
    const uint64_t key[2] = {function, (uint64_t)bytes};
    table_number(&attention->scores, key);
    map_put(&attention->score_sizes, (uint64_t)bytes, 1, false);
}

/* In the order of the events, requests that failed among them. */
static void scores_see(struct attention *attention, uint32_t at, bool is_added)
{
    const struct replay_request *request = &attention->program->requests[at];
    uint32_t function = caller_of(attention, request);
    if (function == PROFILE_NONE || request->bytes == 0)
        return;
    struct caller *caller = &attention->callers[function];
    int64_t bytes = request->bytes, last_bytes = caller->last_bytes;
    bool is_softmax = attention->operation_of[request->stack] == TORCH_OPERATION_ATTENTION_SCORES;
    bool is_of_scores =
        is_softmax && last_bytes > 0 && (last_bytes == bytes || last_bytes == bytes / 2 || last_bytes / 2 == bytes);
    attention->has_softmax |= is_of_scores;
    if (is_of_scores && is_added && attention->is_attention[request->stack]) {
        scores_add(attention, function, bytes);
        scores_add(attention, function, last_bytes);
    }
    if (attention->is_product[request->stack] && caller->last_product != PROFILE_NONE)
        attention->is_attention[caller->last_product] = true;
    if (is_softmax || attention->is_product[request->stack])
        caller->last_product = is_of_scores && caller->is_of_product ? request->stack : PROFILE_NONE;
    caller->is_of_product = attention->is_product[request->stack];
    caller->last_bytes = bytes;
}

/* First which softmax is of attention, then the sizes of its scores (`is_added`). */
static void scores_find(struct attention *attention, bool is_added)
{
    const struct replay_program *program = attention->program;
    uint32_t failure = program->pool->count;
    callers_begin(attention);
    for (uint32_t at = 0; at < program->pool->count; at++) {
        for (; failure < program->request_count && program->requests[failure].event <= at; failure++)
            scores_see(attention, failure, is_added);
        scores_see(attention, at, is_added);
    }
    for (; failure < program->request_count; failure++)
        scores_see(attention, failure, is_added);
}

/* A mask of dropout has a byte for each score. */
static bool is_mask(const struct attention *attention, const struct replay_request *request, uint32_t function)
{
    return attention->is_dropout[request->stack] &&
           (is_scores(attention, function, request->bytes, 4) || is_scores(attention, function, request->bytes, 2));
}

static void score_mark(struct attention *attention, uint32_t at)
{
    attention->is_score[at] = true;
    attention->score_count++;
}

static void forward_mark(struct attention *attention)
{
    const struct replay_program *program = attention->program;
    for (uint32_t at = 0; at < program->request_count; at++) {
        const struct replay_request *request = &program->requests[at];
        uint32_t function = caller_of(attention, request);
        if (!request->is_request || request->bytes == 0 ||
            replay_program_is_backward(request) != (request->phase == TORCH_PHASE_RECOMPUTE))
            continue;
        if (function == PROFILE_NONE) {
            if (replay_program_is_forward(request) || request->phase == TORCH_PHASE_RECOMPUTE)
                map_put(&attention->other_sizes, (uint64_t)request->bytes, 1, false);
            continue;
        }
        struct caller *caller = &attention->callers[function];
        if (is_scores(attention, function, request->bytes, 1)) {
            if (attention->operation_of[request->stack] == TORCH_OPERATION_ATTENTION_SCORES && !request->is_failure)
                caller->last_softmax = at;
            score_mark(attention, at);
        } else if (is_mask(attention, request, function)) {
            score_mark(attention, at);
        } else {
            if (caller->last_softmax != PROFILE_NONE)
                attention->rows_bytes[caller->last_softmax] = request->bytes / HEAD_ELEMENTS;
            caller->last_softmax = PROFILE_NONE;
            map_put(&attention->other_sizes, (uint64_t)request->bytes, 1, false);
        }
    }
}

static void backward_mark(struct attention *attention)
{
    const struct replay_program *program = attention->program;
    for (uint32_t at = 0; at < program->request_count; at++) {
        const struct replay_request *request = &program->requests[at];
        if (!request->is_request || request->phase != TORCH_PHASE_BACKWARD || request->category != CATEGORY_WORKSPACE ||
            map_get(&attention->score_sizes, (uint64_t)request->bytes) == MAP_NONE)
            continue;
        if (map_get(&attention->other_sizes, (uint64_t)request->bytes) == MAP_NONE)
            score_mark(attention, at);
        else if (replay_program_is_at_peak(program, at))
            attention->not_told_bytes = sum_add(attention->not_told_bytes, request->bytes);
    }
}

static void attention_find(struct attention *attention)
{
    struct replay_program *program = attention->program;
    const struct torch_snapshot *snapshot = attention->snapshot = program->pool->profile->events.snapshot;
    attention->operation_of = torch_operations_find(snapshot, program->arena);
    attention->is_score = arena_array(program->arena, bool, (size_t)program->request_count + 1);
    attention->rows_bytes = arena_array(program->arena, int64_t, (size_t)program->request_count + 1);
    attention->is_attention = arena_array(program->arena, bool, snapshot->stack_count + 1);
    table_init(&attention->scores, program->arena, 2);
    map_init(&attention->score_sizes, program->arena, 16);
    map_init(&attention->other_sizes, program->arena, 64);
    functions_find(attention);
    callers_find(attention);
    stacks_find(attention);
    scores_find(attention, false);
    scores_find(attention, true);
    forward_mark(attention);
    if (attention->score_count > 0)
        backward_mark(attention);
}

static bool has_tokens(const struct replay_program *program)
{
    static const struct {
        const char *file, *function;
    } rows[] = {{"/torch/nn/modules/sparse", "=forward"},
                {"/torch/nn/modules/transformer", "=forward"},
                {"/torch/nn/modules/rnn", "=forward"},
                {"", "attention"}};
    const struct torch_snapshot *snapshot = program->pool->profile->events.snapshot;
    bool has = false;
    for (size_t frame = 0; frame < snapshot->frame_count && !has; frame++) {
        arena_work(program->arena, 1 + snapshot->frames[frame].file.length + snapshot->frames[frame].function.length);
        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
            has |= torch_snapshot_frame_is(&snapshot->frames[frame], rows[i].file, rows[i].function);
    }
    return has;
}

/* ---- the changes ---- */

bool replay_program_attention(struct replay_program *program, struct str value, const char *text, struct err *err)
{
    struct attention attention = {.program = program};
    if (!str_equal(value, STR("sdpa")))
        return replay_program_refuse(text, "write attention=sdpa", err);
    attention_find(&attention);
    if (attention.score_count == 0)
        return replay_program_refuse(
            text,
            attention.has_softmax
                ? "no softmax is known to belong to attention: no name in its frames shows it, and no matrix products "
                  "make its scores and use them"
                : "no function is seen that computes the scores of its own softmax: attention is fused already, "
                  "there is none, or Python frames are missing",
            err);
    for (uint32_t at = 0; at < program->request_count; at++)
        if (attention.is_score[at])
            program->requests[at].bytes = attention.rows_bytes[at];
    program->changed_count = attention.score_count;
    static const char WHAT[] =
        "The function that calls the softmax requests no scores; one float for each row is kept. This needs a fused "
        "kernel for the mask, the dtype and the head size.";
    program->words = "scores of attention are never stored";
    program->call = "torch.nn.functional.scaled_dot_product_attention(q, k, v), or attn_implementation=\"sdpa\"";
    program->bounds = attention.not_told_bytes > 0 ? REPLAY_AT_MOST : 0;
    program->reason = attention.not_told_bytes == 0
                          ? WHAT
                          : arena_format(program->arena,
                                         "%s %s of the size of scores stay in the backward pass, because "
                                         "other requests have that size too.",
                                         WHAT, replay_program_size(program, attention.not_told_bytes));
    return true;
}

bool replay_program_sequence(struct replay_program *program, struct str value, const char *text, struct err *err)
{
    double factor;
    struct attention attention = {.program = program};
    if (!replay_program_factor(value, &factor))
        return replay_program_refuse(text, "write sequence=0.5: 0.001 to 1000 times as many tokens", err);
    attention_find(&attention);
    if (attention.score_count == 0 && !has_tokens(program))
        return replay_program_refuse(
            text, "no frames of attention, an embedding or a recurrent layer: nothing shows tokens", err);
    if (!replay_program_scale(program, factor, attention.is_score, text, err))
        return false;
    for (uint32_t at = 0; at < program->request_count; at++)
        if (attention.is_score[at])
            program->requests[at].bytes = sum_of_real(ceil((double)program->requests[at].bytes * factor));
    program->words = "another length of the sequence";
    program->call = "tokenizer(…, truncation=True, max_length=…)";
    program->bounds |= attention.not_told_bytes > 0 ? replay_program_bound(factor) : 0;
    program->reason =
        attention.score_count == 0
            ? program->reason
            : arena_format(program->arena, "%s Scores of attention grow with the square.", program->reason);
    return true;
}
