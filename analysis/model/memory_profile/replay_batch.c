/* SPDX-License-Identifier: Apache-2.0
 * replay_batch.c: the change "batch" of replay_program.h: what is made of examples grows with their number; weights,
 * and what is made of weights alone, do not. */
#include "model/memory_profile/replay_program.h"

#include "base/sum.h"
#include "base/table.h"
#include "model/memory_profile/categories.h"
#include "model/memory_profile/replay_walk.h"

#include <math.h>
#include <stdlib.h>

/* Below this nothing is worth a word: norms, counters, scalars. What is not told is a bound from this part on. */
enum { SMALL_BYTES = 4096, PART_NOT_TOLD = 20, KEPT_MOST = 2 };
/* A batch of a thousandth, or a thousand times as large. */
#define FACTOR_MOST 1000.0

enum growing { GROWS, STAYS, NOT_TOLD };

/* Requests of one pass whose size is that of a weight, or half as much. */
struct group {
    uint32_t size; /* number of the weights' size */
    uint32_t pass;
    uint32_t first, last, count; /* requests, by batch->next */
    uint32_t gradient_count;     /* of them, that stay */
};

struct weight_size {
    uint32_t count;        /* of weights */
    uint32_t group, model; /* groups: of the pass at work; the one with most gradients. PROFILE_NONE: none */
};

struct batch {
    struct replay_program *program;
    uint8_t *growing;         /* enum growing, of each request */
    uint32_t *next;           /* of each request, in its group */
    const bool *is_of_server; /* of each stack */
    struct table weights;
    struct chunks sizes;  /* struct weight_size, by number in `weights` */
    struct chunks groups; /* struct group */
    bool has_gradients;
};

static void weight_add(struct batch *batch, enum category category, int64_t bytes)
{
    if (category != CATEGORY_PARAMETER && category != CATEGORY_GRADIENT)
        return;
    uint64_t key = (uint64_t)bytes;
    uint32_t number = table_number(&batch->weights, &key);
    if (number == batch->sizes.count)
        CHUNKS_ADD(&batch->sizes, struct weight_size, ((struct weight_size){0, PROFILE_NONE, PROFILE_NONE}));
    CHUNKS_AT(&batch->sizes, struct weight_size, number).count += category == CATEGORY_PARAMETER;
    batch->has_gradients |= category == CATEGORY_GRADIENT;
}

static void weights_find(struct batch *batch)
{
    const struct replay_program *program = batch->program;
    const struct memory_profile_held *held = &program->ground->held;
    for (uint32_t at = 0; at < program->pool->count; at++)
        if (program->requests[at].is_request)
            weight_add(batch, (enum category)program->requests[at].category, program->requests[at].bytes);
    for (uint32_t i = 0; i < held->block_count; i++)
        weight_add(batch, replay_program_category_of_held(program, i), (int64_t)held->blocks[i].requested_bytes);
}

/* ---- passes ---- */

static uint32_t number_of(const struct batch *batch, int64_t bytes, uint64_t times)
{
    const uint64_t key = (uint64_t)bytes * times;
    return table_find(&batch->weights, &key, 1);
}

static void group_add(struct batch *batch, uint32_t number, uint32_t pass, uint32_t at)
{
    struct weight_size *size = chunks_at(&batch->sizes, number);
    if (size->group == PROFILE_NONE || CHUNKS_AT(&batch->groups, struct group, size->group).pass != pass) {
        size->group = (uint32_t)batch->groups.count;
        CHUNKS_ADD(&batch->groups, struct group,
                   ((struct group){.size = number, .pass = pass, .first = at, .last = at}));
    }
    struct group *group = chunks_at(&batch->groups, size->group);
    batch->next[group->last] = at;
    batch->next[at] = PROFILE_NONE;
    group->last = at;
    group->count++;
    group->gradient_count += batch->program->requests[at].category == CATEGORY_GRADIENT;
}

/* Groups the requests of all forward passes, or of all backward passes. Returns the number of passes. */
static uint32_t groups_make(struct batch *batch, bool is_forward)
{
    const struct replay_program *program = batch->program;
    struct passes passes = {.course = PASSES_BESIDE};
    const enum passes_course wanted = is_forward ? PASSES_FORWARD : PASSES_BACKWARD;
    batch->groups.count = 0;
    for (size_t i = 0; i < batch->sizes.count; i++)
        CHUNKS_AT(&batch->sizes, struct weight_size, i).group = PROFILE_NONE;
    for (uint32_t at = 0; at < program->pool->count; at++) {
        const struct replay_request *request = &program->requests[at];
        enum passes_course course = replay_program_course(request);
        passes_see(&passes, course, at);
        uint32_t pass = is_forward ? passes.forward_count : passes.backward_count;
        if (course != wanted)
            continue;
        uint32_t number = number_of(batch, request->bytes, is_forward ? 2 : 1);
        if (number != MAP_NONE && (is_forward || request->phase == TORCH_PHASE_BACKWARD))
            group_add(batch, number, pass, at);
    }
    return is_forward ? passes.forward_count : passes.backward_count;
}

/* A backward pass makes gradients of weights in the same order each time. Where they are added to those that are there
 * they pass: which ones they are shows the pass that made them to stay. */
static void gradients_find(struct batch *batch)
{
    groups_make(batch, false);
    for (size_t i = 0; i < batch->groups.count; i++) {
        const struct group *group = chunks_at(&batch->groups, i);
        struct weight_size *size = chunks_at(&batch->sizes, group->size);
        if (size->model == PROFILE_NONE ||
            group->gradient_count > CHUNKS_AT(&batch->groups, struct group, size->model).gradient_count)
            size->model = (uint32_t)i;
    }
    for (size_t i = 0; i < batch->groups.count; i++) {
        const struct group *group = chunks_at(&batch->groups, i);
        const struct weight_size *size = chunks_at(&batch->sizes, group->size);
        const struct group *model = chunks_at(&batch->groups, size->model);
        uint32_t of_model = model->first, missing = model->gradient_count - group->gradient_count;
        for (uint32_t at = group->first; at != PROFILE_NONE; at = batch->next[at]) {
            bool is_gradient = missing > 0 && batch->program->requests[at].category != CATEGORY_GRADIENT;
            if (is_gradient && group->count == model->count)
                is_gradient = batch->program->requests[of_model].category == CATEGORY_GRADIENT;
            missing -= is_gradient;
            if (is_gradient)
                batch->growing[at] = STAYS;
            else if (!batch->has_gradients && size->count > 0)
                batch->growing[at] = NOT_TOLD;
            of_model = group->count == model->count ? batch->next[of_model] : of_model;
        }
    }
}

/* torch.autocast: weights in half of their bits, made anew in each pass forward. It is on where that would be most of
 * them. */
static void casts_find(struct batch *batch)
{
    uint32_t pass_count = groups_make(batch, true);
    double *cast_bytes = arena_array(batch->program->arena, double, (size_t)pass_count + 1), all_bytes = 0;
    for (size_t i = 0; i < batch->sizes.count; i++)
        all_bytes += (double)*table_key(&batch->weights, i) * CHUNKS_AT(&batch->sizes, struct weight_size, i).count;
    for (size_t i = 0; i < batch->groups.count; i++) {
        const struct group *group = chunks_at(&batch->groups, i);
        uint32_t count = CHUNKS_AT(&batch->sizes, struct weight_size, group->size).count;
        if (group->count >= count)
            cast_bytes[group->pass] += (double)*table_key(&batch->weights, group->size) * count;
    }
    for (size_t i = 0; i < batch->groups.count; i++) {
        const struct group *group = chunks_at(&batch->groups, i);
        uint32_t count = CHUNKS_AT(&batch->sizes, struct weight_size, group->size).count;
        if (count == 0 || cast_bytes[group->pass] < all_bytes / 2)
            continue;
        for (uint32_t at = group->first; at != PROFILE_NONE; at = batch->next[at])
            batch->growing[at] = group->count <= count ? STAYS : NOT_TOLD;
    }
}

/* ---- each request by itself ---- */

/* A server takes a share of the device for its cache, whatever its requests are. */
static bool is_server(const struct torch_frame *frame) { return torch_snapshot_frame_is(frame, "/vllm/", ""); }

static bool is_of_server(const struct batch *batch, uint32_t stack)
{
    return stack < batch->program->pool->profile->events.snapshot->stack_count && batch->is_of_server[stack];
}

static enum growing growing_of(const struct batch *batch, const struct replay_request *request)
{
    switch ((enum category)request->category) {
    case CATEGORY_PARAMETER:
    case CATEGORY_GRADIENT:
    case CATEGORY_OPTIMIZER_STATE:
    case CATEGORY_OPTIMIZER_TEMPORARY:
    case CATEGORY_COLLECTIVE: return STAYS;
    case CATEGORY_SAVED_ACTIVATION:
    case CATEGORY_INPUT: return GROWS;
    case CATEGORY_CACHE: return is_of_server(batch, request->stack) ? NOT_TOLD : GROWS;
    case CATEGORY_WORKSPACE: break;
    default: return NOT_TOLD;
    }
    switch ((enum category_rule)request->rule) {
    case CATEGORY_RULE_TORCH_FORWARD:
    case CATEGORY_RULE_TORCH_RECOMPUTED:
    case CATEGORY_RULE_TORCH_BACKWARD: return GROWS;
    case CATEGORY_RULE_TORCH_PASSING: return NOT_TOLD;
    default: return STAYS;
    }
}

/* What the program's own line asks for is told by its size, where what grows has it, too. */
static void sizes_compare(struct batch *batch)
{
    const struct replay_program *program = batch->program;
    struct map growing;
    map_init(&growing, program->arena, 64);
    for (uint32_t at = 0; at < program->request_count; at++)
        if (batch->growing[at] == GROWS && program->requests[at].bytes >= SMALL_BYTES)
            map_put(&growing, (uint64_t)program->requests[at].bytes, 1, false);
    for (uint32_t at = 0; at < program->request_count; at++)
        if (batch->growing[at] == NOT_TOLD && program->requests[at].is_request &&
            map_get(&growing, (uint64_t)program->requests[at].bytes) != MAP_NONE &&
            number_of(batch, program->requests[at].bytes, 1) == MAP_NONE)
            batch->growing[at] = GROWS;
}

/* cuBLAS takes memory to work in within the first call of a thread, and keeps it: alone of its size, while what passes
 * or is saved beside it is freed in each pass. */
static void kept_find(struct batch *batch)
{
    const struct replay_program *program = batch->program;
    const struct memory_profile *profile = program->pool->profile;
    struct map kept, freed; /* by size: how many */
    uint32_t last_backward = 0;
    map_init(&kept, program->arena, 64);
    map_init(&freed, program->arena, 64);
    for (uint32_t at = 0; at < program->pool->count; at++) {
        const struct replay_request *request = &program->requests[at];
        if (!request->is_request)
            continue;
        last_backward = replay_program_is_backward(request) ? at : last_backward;
        struct map *of = profile->partner[program->pool->first + at] == PROFILE_NONE ? &kept : &freed;
        uint32_t count = map_get(of, (uint64_t)request->bytes);
        if (replay_program_is_forward(request))
            map_put(of, (uint64_t)request->bytes, count == MAP_NONE ? 1 : count + 1, true);
    }
    for (uint32_t at = 0; at < last_backward; at++) {
        const struct replay_request *request = &program->requests[at];
        if (request->is_request && request->rule == CATEGORY_RULE_TORCH_SAVED &&
            profile->partner[program->pool->first + at] == PROFILE_NONE &&
            map_get(&kept, (uint64_t)request->bytes) <= KEPT_MOST &&
            map_get(&freed, (uint64_t)request->bytes) != MAP_NONE)
            batch->growing[at] = STAYS;
    }
}

/* ---- the change ---- */

bool replay_program_factor(struct str text, double *factor)
{
    char copy[24];
    char *end;
    if (text.length == 0 || text.length >= sizeof(copy))
        return false;
    memcpy(copy, text.data, text.length);
    copy[text.length] = '\0';
    if (copy[strspn(copy, "0123456789.")] != '\0' || copy[0] == '.')
        return false;
    *factor = strtod(copy, &end);
    return *end == '\0' && *factor >= 1 / FACTOR_MOST && *factor <= FACTOR_MOST;
}

/* What was there at the peak, before the recording, and is of a pass: nothing tells when it grew. */
static int64_t held_bytes(const struct replay_program *program)
{
    const struct memory_profile_held *held = &program->ground->held;
    int64_t bytes = 0;
    for (uint32_t i = 0; i < held->block_count; i++) {
        enum category category = replay_program_category_of_held(program, i);
        uint32_t end = held->blocks[i].event; /* that frees it, if any does */
        if (end != PROFILE_NONE && end <= program->pool->peak_at)
            continue;
        if (category == CATEGORY_UNKNOWN || category == CATEGORY_SAVED_ACTIVATION || category == CATEGORY_INPUT ||
            category == CATEGORY_CACHE)
            bytes = sum_add(bytes, (int64_t)held->blocks[i].requested_bytes);
    }
    return bytes;
}

static bool sizes_change(struct batch *batch, double factor)
{
    struct replay_program *program = batch->program;
    int64_t not_told_bytes = held_bytes(program), peak_bytes = 0;
    for (uint32_t at = 0; at < program->request_count; at++) {
        struct replay_request *request = &program->requests[at];
        bool is_at_peak = request->is_request && replay_program_is_at_peak(program, at);
        peak_bytes = sum_add(peak_bytes, is_at_peak ? request->bytes : 0);
        not_told_bytes = sum_add(not_told_bytes, is_at_peak && batch->growing[at] == NOT_TOLD ? request->bytes : 0);
        if (!request->is_request || batch->growing[at] != GROWS || request->bytes == 0)
            continue;
        request->bytes = sum_of_real(ceil((double)request->bytes * factor));
        program->changed_count++;
    }
    const char *what = "Inputs, activations and their gradients are resized; weights and what is made of them stay.";
    program->bounds = not_told_bytes > peak_bytes / PART_NOT_TOLD ? replay_program_bound(factor) : 0;
    program->reason = not_told_bytes < SMALL_BYTES
                          ? what
                          : arena_format(program->arena,
                                         "%s %s at the peak are left as they are: how they depend on the batch is not "
                                         "known.",
                                         what, replay_program_size(program, not_told_bytes));
    return program->changed_count > 0;
}

bool replay_program_scale(struct replay_program *program, double factor, const bool *is_growing, const char *text,
                          struct err *err)
{
    struct batch batch = {.program = program};
    batch.growing = arena_array(program->arena, uint8_t, (size_t)program->request_count + 1);
    batch.is_of_server = replay_program_stacks_with(program, is_server);
    batch.next = arena_array(program->arena, uint32_t, (size_t)program->request_count + 1);
    table_init(&batch.weights, program->arena, 1);
    chunks_init(&batch.sizes, program->arena, sizeof(struct weight_size));
    chunks_init(&batch.groups, program->arena, sizeof(struct group));
    weights_find(&batch);
    for (uint32_t at = 0; at < program->request_count; at++)
        batch.growing[at] = (uint8_t)growing_of(&batch, &program->requests[at]);
    gradients_find(&batch);
    casts_find(&batch);
    kept_find(&batch);
    sizes_compare(&batch);
    for (uint32_t at = 0; at < program->request_count && is_growing != NULL; at++)
        batch.growing[at] = is_growing[at] ? GROWS : batch.growing[at];
    return sizes_change(&batch, factor) ||
           replay_program_refuse(text, "no forward pass, backward pass or input was recorded", err);
}

bool replay_program_batch(struct replay_program *program, struct str value, const char *text, struct err *err)
{
    double factor;
    if (!replay_program_factor(value, &factor))
        return replay_program_refuse(text, "write batch=0.5: 0.001 to 1000 times as many examples", err);
    program->words = "another size of the batch";
    program->call = "DataLoader(…, batch_size=…)";
    return replay_program_scale(program, factor, NULL, text, err);
}
