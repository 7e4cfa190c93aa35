/* SPDX-License-Identifier: Apache-2.0
 * live_make.c: see memory_profile_live.h. */
#include "base/intern.h"
#include "base/sum.h"
#include "model/memory_profile/live.h"
#include "model/memory_profile/naming.h"
#include "model/memory_profile/what.h"
#include "read/torch/torch_snapshot.h"

/* Data types as numbers, equal when their names are. */
static uint64_t *data_types_of(const struct memory_profile *profile, struct arena *arena)
{
    struct table names;
    uint64_t *numbers = arena_array(arena, uint64_t, profile->events.what_count + 1);
    table_init(&names, arena, 3);
    for (size_t i = 0; i < profile->events.what_count; i++) {
        struct str name = memory_profile_what_data_type(profile, &profile->events.whats[i]);
        uint64_t key[3] = {0, 0, 0}; /* names are at most 24 bytes */
        memcpy(key, name.data, name.length < sizeof(key) ? name.length : sizeof(key));
        numbers[i] = table_number(&names, key);
    }
    return numbers;
}

static uint32_t (*texts_of(const struct memory_profile *profile, struct arena *arena))[4]
{
    struct intern texts;
    uint32_t(*numbers)[4] = arena_alloc(arena, (size_t)profile->guess_count + 1, sizeof(*numbers));
    intern_init(&texts, arena);
    for (uint32_t i = 0; i < profile->guess_count; i++) {
        numbers[i][0] = intern_number(&texts, profile->guesses[i].program);
        numbers[i][1] = intern_number(&texts, profile->guesses[i].role);
        numbers[i][2] = profile->guesses[i].has_category ? profile->guesses[i].choice.category + 1U : 0;
        numbers[i][3] = intern_number(&texts, str_of(memory_profile_naming_confidence(&profile->guesses[i])));
    }
    for (int part = 0; part < 4; part++)
        numbers[profile->guess_count][part] = intern_number(&texts, (struct str){"", 0});
    return numbers;
}

struct grouping {
    struct memory_profile_live *live;
    const struct memory_profile *profile;
    const uint64_t *data_types;
    uint32_t (*texts)[4]; /* of each guess, and of none: numbers of its program, role, category and confidence */
    struct table keys;
    struct recent *recent; /* of each `what` of the trace */
};

/* The group of the allocation that was met last: those of a step come one after the other. */
struct recent {
    uint32_t number; /* of the group, from 1; 0: none */
    int32_t step;
    uint32_t line;
};

static struct memory_profile_live_group *group_of(struct grouping *grouping, uint32_t event)
{
    const struct memory_profile *profile = grouping->profile;
    unsigned fields = grouping->live->fields;
    bool is_of_step = (fields >> PROFILE_LIVE_STEP & 1) != 0, is_of_line = (fields >> PROFILE_LIVE_THREAD & 1) != 0;
    struct recent *recent = &grouping->recent[profile->what[event]];
    bool is_recent = recent->number > 0 && (fields >> PROFILE_LIVE_EVENT & 1) == 0 &&
                     (!is_of_step || recent->step == profile->step[event]) &&
                     (!is_of_line || recent->line == profile->line[event]);
    if (is_recent)
        return chunks_at(&grouping->live->groups, recent->number - 1);
    const struct memory_what *what = &profile->events.whats[profile->what[event]];
    uint32_t guess = what->guess == MEMORY_NO_TEXT ? profile->guess_count : what->guess;
    uint64_t key[PROFILE_LIVE_FIELDS] = {
        fields >> PROFILE_LIVE_OP & 1 ? what->op : 0,
        fields >> PROFILE_LIVE_STEP & 1 ? (uint64_t)profile->step[event] : 0,
        fields >> PROFILE_LIVE_REGION & 1 ? what->region : 0,
        fields >> PROFILE_LIVE_DTYPE & 1 ? grouping->data_types[profile->what[event]] : 0,
        fields >> PROFILE_LIVE_SHAPE & 1 ? what->shape : 0,
        fields >> PROFILE_LIVE_PROGRAM & 1 ? grouping->texts[guess][0] : 0,
        fields >> PROFILE_LIVE_ROLE & 1 ? grouping->texts[guess][1] : 0,
        fields >> PROFILE_LIVE_CATEGORY & 1 ? grouping->texts[guess][2] : 0,
        fields >> PROFILE_LIVE_THREAD & 1 ? profile->line[event] : 0,
        fields >> PROFILE_LIVE_EVENT & 1 ? event : 0,
    };
    uint32_t number = table_number(&grouping->keys, key);
    if (number == grouping->live->groups.count) {
        struct memory_profile_live_group *group = chunks_add(&grouping->live->groups);
        *group = (struct memory_profile_live_group){.event = event, .kept = PROFILE_NONE, .has_requested = true};
    }
    *recent = (struct recent){number + 1, profile->step[event], profile->line[event]};
    return chunks_at(&grouping->live->groups, number);
}

/* What it may be: numbers of texts. */
static const uint32_t *texts_at(const struct grouping *grouping, uint32_t what)
{
    uint32_t guess = grouping->profile->events.whats[what].guess;
    return grouping->texts[guess == MEMORY_NO_TEXT ? grouping->profile->guess_count : guess];
}

static uint32_t confidence_of(const struct grouping *grouping, uint32_t what) { return texts_at(grouping, what)[3]; }

/* Blocks that no event speaks of, by what asked for them; each alone where allocations are. They have no step and no
 * thread. */
static void kept_take(struct grouping *grouping, struct arena *arena)
{
    struct memory_profile_live *live = grouping->live;
    const struct memory_profile *profile = grouping->profile;
    const struct torch_snapshot *snapshot = profile->events.snapshot;
    struct table keys;
    const uint32_t *kept = live->pool->torch.kept;
    uint32_t first = (uint32_t)live->groups.count;
    uint32_t count = live->pool->torch.is_known ? live->pool->torch.kept_count : 0;
    table_init(&keys, arena, 4);
    for (uint32_t i = 0; i < count; i++) {
        const struct torch_block *block = &snapshot->blocks[kept[i]];
        const struct memory_what *what = &profile->events.whats[block->what];
        const uint64_t key[4] = {live->fields >> PROFILE_LIVE_OP & 1 ? what->op : 0,
                                 live->fields >> PROFILE_LIVE_REGION & 1 ? what->region : 0,
                                 live->fields >> PROFILE_LIVE_EVENT & 1 ? kept[i] : 0,
                                 live->fields >> PROFILE_LIVE_CATEGORY & 1 ? texts_at(grouping, block->what)[2] : 0};
        uint32_t number = first + table_number(&keys, key);
        if (number == live->groups.count) {
            struct memory_profile_live_group *made = chunks_add(&live->groups);
            *made = (struct memory_profile_live_group){.event = PROFILE_NONE, .kept = kept[i], .has_requested = true};
        }
        struct memory_profile_live_group *group = chunks_at(&live->groups, number);
        group->is_mixed |=
            confidence_of(grouping, block->what) != confidence_of(grouping, snapshot->blocks[group->kept].what);
        group->count++;
        group->bytes = sum_add(group->bytes, block->requested_bytes);
        group->requested_bytes = group->bytes;
        live->kept_bytes = sum_add(live->kept_bytes, block->requested_bytes);
    }
    live->rows_bytes = sum_add(live->rows_bytes, live->kept_bytes);
}

/* An allocation that is open at the moment, or is born or dies between the two others. */
static void allocation_take(struct grouping *grouping, uint32_t at, uint32_t end)
{
    struct memory_profile_live *live = grouping->live;
    struct memory_profile_live_between *between = &live->between;
    uint32_t event = live->pool->first + at;
    int64_t bytes = grouping->profile->size_bytes[event];
    bool is_open = at < live->count && end >= live->count;
    bool is_born = between->is_asked && at >= between->a && at < between->b;
    bool dies = between->is_asked && end >= between->a && end < between->b;
    if (!is_open && !is_born && !dies)
        return;
    struct memory_profile_live_group *group = group_of(grouping, event);
    group->is_mixed |= confidence_of(grouping, grouping->profile->what[event]) !=
                       confidence_of(grouping, grouping->profile->what[group->event]);
    if (is_open) {
        group->count++;
        group->bytes = sum_add(group->bytes, bytes);
        group->requested_bytes =
            sum_add(group->requested_bytes, memory_profile_requested_bytes(grouping->profile, event));
        group->has_requested &= (grouping->profile->flags[event] & MEMORY_HAS_REQUESTED) != 0;
        live->rows_bytes = sum_add(live->rows_bytes, bytes);
    }
    if (is_born) {
        group->born_count++;
        group->born_bytes = sum_add(group->born_bytes, bytes);
        between->born_count++;
        between->born_bytes = sum_add(between->born_bytes, bytes);
    }
    if (dies) {
        group->died_count++;
        group->died_bytes = sum_add(group->died_bytes, bytes);
        between->died_count++;
        between->died_bytes = sum_add(between->died_bytes, bytes);
    }
}

/* A free of what was allocated before the window. */
static void before_take(struct memory_profile_live *live, uint32_t at, int64_t bytes, int64_t *all_bytes)
{
    *all_bytes = sum_add(*all_bytes, bytes);
    if (at >= live->count) {
        live->before_freed_count++;
        live->before_freed_bytes = sum_add(live->before_freed_bytes, bytes);
    }
    if (live->between.is_asked && at >= live->between.a && at < live->between.b) {
        live->between.died_count++;
        live->between.died_bytes = sum_add(live->between.died_bytes, bytes);
    }
}

void memory_profile_live_make(struct memory_profile_live *live, struct arena *arena)
{
    const struct memory_profile_pool *pool = live->pool;
    const struct memory_profile *profile = pool->profile;
    struct grouping grouping = {.live = live, .profile = profile};
    int64_t all_before_bytes = 0;
    grouping.data_types = data_types_of(profile, arena);
    grouping.texts = texts_of(profile, arena);
    grouping.recent = arena_array(arena, struct recent, profile->events.what_count + 1);
    table_init(&grouping.keys, arena, PROFILE_LIVE_FIELDS);
    chunks_init(&live->groups, arena, sizeof(struct memory_profile_live_group));
    for (uint32_t at = 0; at < pool->count; at++) {
        uint32_t event = pool->first + at, partner = profile->partner[event];
        if (!memory_profile_is_free(profile, event))
            allocation_take(&grouping, at, partner == PROFILE_NONE ? UINT32_MAX : partner - pool->first);
        else if (partner == PROFILE_NONE)
            before_take(live, at, profile->size_bytes[event], &all_before_bytes);
    }
    kept_take(&grouping, arena);
    all_before_bytes = sum_add(all_before_bytes, live->kept_bytes);
    uint32_t state = pool->first + (live->count > 0 ? live->count - 1 : 0);
    int64_t heap_bytes = live->count > 0 ? profile->heap_bytes[state] : pool->base_bytes;
    live->stack_bytes = memory_profile_stack_bytes(profile, state);
    live->before_bytes = pool->base_bytes > all_before_bytes ? pool->base_bytes - all_before_bytes : 0;
    live->unaccounted_bytes = heap_bytes - live->rows_bytes - live->before_freed_bytes - live->before_bytes;
}
