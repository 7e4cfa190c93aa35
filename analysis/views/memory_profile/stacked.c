/* SPDX-License-Identifier: Apache-2.0
 * stacked.c: see stacked.h. */
#include "views/memory_profile/stacked.h"
#include "views/memory_profile/views.h"

#include "base/intern.h"
#include "base/nearest.h"
#include "base/sum.h"
#include "model/memory_profile/growth.h"
#include "model/memory_profile/naming.h"

#include <stdlib.h>

/* The largest groups, or all categories, all others, and what nothing names. */
enum { GROUPS = 7, BANDS = 16, OTHER = BANDS, UNNAMED, BANDS_MAX };
_Static_assert((int)CATEGORY_UNKNOWN <= (int)BANDS, "each category but unknown is a band");

enum by { BY_PROGRAM, BY_OP, BY_TREND, BY_CATEGORY };
static const char *const by_names[] = {"program", "op", "trend", "category"};
enum { BY_NAMES = sizeof(by_names) / sizeof(by_names[0]) };

/* An allocation that ends without a free of its own: where another one begins at its address. */
struct ended {
    uint32_t at, allocation;
};

struct stacking {
    const struct tool_request *request;
    const struct memory_profile_drawn *drawn;
    const struct memory_profile *profile;
    const uint8_t *choices;
    bool is_by_category;
    uint32_t *group_of;   /* of each `what`: a number of labels */
    struct intern labels; /* number 0: nothing names it */
    bool *is_guess;       /* by label: some bytes are a guess; by category: all are */
    bool *is_sure;        /* by label: some bytes are no guess */
    uint8_t *band_of;     /* of each label */
    uint32_t chosen[BANDS];
    uint32_t chosen_count, other_count;
    int64_t before_bytes[BANDS_MAX];
    int64_t *cells;      /* of each drawn event, BANDS_MAX of them */
    struct ended *ended; /* by the event that ends them */
    size_t ended_count;
};

bool memory_profile_stacked_read(const struct tool_request *request, const char **by, struct err *err)
{
    const char *text = tool_param_text(request, "stack");
    size_t chosen;
    *by = NULL;
    if (text == NULL || text[0] == '\0')
        return true;
    if (!nearest_choose("stack", "way to stack", str_of(text), by_names, BY_NAMES, &chosen, err))
        return false;
    *by = by_names[chosen];
    return true;
}

/* "jit(train_step)/dot" is of the program "jit(train_step)". */
static struct str program_of_op(struct str op)
{
    static const char *const makers[] = {"jit(", "pjit(", "pmap("};
    const char *slash = memchr(op.data, '/', op.length);
    for (size_t i = 0; i < sizeof(makers) / sizeof(makers[0]); i++)
        if (str_starts(op, str_of(makers[i])))
            return (struct str){op.data, slash == NULL ? op.length : (size_t)(slash - op.data)};
    return (struct str){"", 0};
}

/* What the band of an allocation is called; empty when nothing names it. */
static struct str label_of(const struct stacking *stacking, enum by by, uint32_t what_at, bool *is_guess)
{
    const struct memory_profile *profile = stacking->profile;
    const struct memory_what *what = &profile->events.whats[what_at];
    const struct memory_profile_guess *guess = memory_profile_guess_of(profile, what);
    struct str op = memory_profile_text(profile, what->op);
    if (memory_events_is_unnamed(&profile->events, what_at))
        op.length = 0;
    *is_guess = by != BY_TREND && by != BY_CATEGORY && guess != NULL && guess->program.length > 0;
    if (by == BY_TREND)
        return stacking->choices[what_at] == UINT8_MAX ? (struct str){"", 0}
                                                       : str_of(memory_profile_growth_word(stacking->choices[what_at]));
    if (by == BY_CATEGORY) {
        const struct category_choice choice =
            guess == NULL ? category_choice_of(CATEGORY_UNKNOWN, CATEGORY_RULE_NONE) : guess->choice;
        *is_guess = category_rule_confidence((enum category_rule)choice.rule) == CONFIDENCE_GUESS;
        return choice.category == CATEGORY_UNKNOWN ? (struct str){"", 0}
                                                   : str_of(category_name((enum category)choice.category));
    }
    if (!*is_guess)
        return by == BY_PROGRAM ? program_of_op(op) : op;
    if (by == BY_PROGRAM)
        return guess->program;
    return str_of(arena_format(stacking->request->arena, "%.*s of %.*s", (int)guess->role.length, guess->role.data,
                               (int)guess->program.length, guess->program.data));
}

/* What was there before the recording has categories, too. */
static void before_labels(struct stacking *stacking)
{
    const struct memory_profile_category_sum *before = stacking->drawn->pool->before;
    for (int i = 0; i < CATEGORY_UNKNOWN; i++)
        if (before[i].bytes != 0) {
            uint32_t label = intern_number(&stacking->labels, str_of(category_name((enum category)i)));
            stacking->is_guess[label] |= before[i].guessed_bytes != 0;
            stacking->is_sure[label] |= before[i].guessed_bytes != before[i].bytes;
        }
}

static void groups_make(struct stacking *stacking, enum by by)
{
    struct arena *arena = stacking->request->arena;
    size_t count = stacking->profile->events.what_count;
    stacking->group_of = arena_array(arena, uint32_t, count + 1);
    stacking->is_guess = arena_array(arena, bool, count + CATEGORY_COUNT + 2);
    stacking->is_sure = arena_array(arena, bool, count + CATEGORY_COUNT + 2);
    intern_init(&stacking->labels, arena);
    intern_number(&stacking->labels, (struct str){"", 0});
    for (size_t i = 0; i < count; i++) {
        bool is_guess;
        struct str label = label_of(stacking, by, (uint32_t)i, &is_guess);
        stacking->group_of[i] = intern_number(&stacking->labels, label);
        stacking->is_guess[stacking->group_of[i]] |= is_guess;
        stacking->is_sure[stacking->group_of[i]] |= !is_guess;
    }
    if (by != BY_CATEGORY)
        return;
    before_labels(stacking);
    for (size_t i = 0; i < stacking->labels.map.count; i++)
        stacking->is_guess[i] &= !stacking->is_sure[i];
}

/* The allocation that an event begins or ends; PROFILE_NONE for a free of what was there before, unless that has a
 * category of its own. */
static uint32_t allocation_of(const struct stacking *stacking, uint32_t event)
{
    const struct memory_profile *profile = stacking->profile;
    uint32_t partner = profile->partner[event];
    if (partner == event)
        return PROFILE_NONE; /* nothing tells what it belongs to */
    if (!memory_profile_is_free(profile, event))
        return event;
    return partner == PROFILE_NONE && stacking->is_by_category ? event : partner;
}

static int compare_ended(const void *left, const void *right)
{
    const struct ended *a = left, *b = right;
    return ORDER(a->at, b->at) ?: ORDER(a->allocation, b->allocation);
}

/* Only for snapshots, whose curve keeps such blocks. */
static void ended_find(struct stacking *stacking)
{
    const struct memory_profile *profile = stacking->profile;
    const struct memory_profile_pool *pool = stacking->drawn->pool;
    struct chunks found;
    chunks_init(&found, stacking->request->arena, sizeof(struct ended));
    for (uint32_t i = pool->first; i < pool->first + pool->count && profile->events.snapshot != NULL; i++) {
        uint32_t partner = profile->partner[i];
        if (!memory_profile_is_free(profile, i) && partner != PROFILE_NONE && partner != i &&
            profile->partner[partner] != i)
            CHUNKS_ADD(&found, struct ended, ((struct ended){partner, i}));
    }
    stacking->ended_count = found.count;
    stacking->ended = chunks_copy(&found, stacking->request->arena);
    if (found.count > 0)
        qsort(stacking->ended, found.count, sizeof(*stacking->ended), compare_ended);
}

/* What an event changes in sums by group, or by band. `next`: of those that end; 0 before the first event. */
static void event_apply(const struct stacking *stacking, uint32_t event, const uint8_t *band_of, size_t *next,
                        int64_t *sums)
{
    const struct memory_profile *profile = stacking->profile;
    uint32_t allocation = allocation_of(stacking, event);
    for (bool is_ended = true; is_ended || allocation != PROFILE_NONE;) {
        is_ended = *next < stacking->ended_count && stacking->ended[*next].at == event;
        uint32_t of = is_ended ? stacking->ended[(*next)++].allocation : allocation;
        if (!is_ended)
            allocation = PROFILE_NONE;
        if (of == PROFILE_NONE)
            return;
        bool is_less = is_ended || memory_profile_is_free(profile, event);
        uint32_t group = stacking->group_of[profile->what[of]];
        int64_t *sum = &sums[band_of == NULL ? group : band_of[group]];
        *sum = sum_add(*sum, is_less ? -profile->size_bytes[of] : profile->size_bytes[of]);
    }
}

/* Adds what is live before the first event to the sums of the groups. */
static void before_add(const struct stacking *stacking, int64_t *sums)
{
    const struct memory_profile_pool *pool = stacking->drawn->pool;
    const struct memory_profile *profile = stacking->profile;
    if (!stacking->is_by_category)
        return;
    for (uint32_t group = 1; group < stacking->labels.map.count; group++) {
        enum category category = CATEGORY_UNKNOWN;
        if (category_find(stacking->labels.items[group], &category))
            sums[group] = sum_add(sums[group], pool->before[category].bytes);
    }
    sums[0] = sum_add(sums[0], pool->before[CATEGORY_UNKNOWN].bytes);
    for (uint32_t event = pool->first; event < pool->first + pool->count; event++)
        if (memory_profile_is_free(profile, event) && profile->partner[event] == PROFILE_NONE) {
            int64_t *sum = &sums[stacking->group_of[profile->what[event]]];
            *sum = sum_add(*sum, profile->size_bytes[event]);
        }
}

/* The same in bands. */
static void before_bands(const struct stacking *stacking, int64_t now[BANDS_MAX])
{
    uint32_t count = stacking->labels.map.count;
    int64_t *sums = arena_array(stacking->request->arena, int64_t, count);
    before_add(stacking, sums);
    for (uint32_t group = 0; group < count; group++)
        now[stacking->band_of[group]] = sum_add(now[stacking->band_of[group]], sums[group]);
}

/* The groups with the largest bytes at any time up to the window's end are bands; by trend each choice is. */
static void bands_choose(struct stacking *stacking)
{
    const struct memory_profile *profile = stacking->profile;
    const struct memory_profile_pool *pool = stacking->drawn->pool;
    struct arena *arena = stacking->request->arena;
    uint32_t count = stacking->labels.map.count;
    int64_t *now = arena_array(arena, int64_t, count), *max = arena_array(arena, int64_t, count);
    size_t ended = 0;
    before_add(stacking, now);
    memcpy(max, now, count * sizeof(*max));
    for (uint32_t i = pool->first; i < pool->first + stacking->drawn->window->end; i++) {
        uint32_t allocation = allocation_of(stacking, i);
        event_apply(stacking, i, NULL, &ended, now);
        if (allocation == PROFILE_NONE)
            continue;
        uint32_t group = stacking->group_of[profile->what[allocation]];
        max[group] = now[group] > max[group] ? now[group] : max[group];
    }
    stacking->band_of = arena_array(arena, uint8_t, count);
    memset(stacking->band_of, OTHER, count);
    stacking->band_of[0] = UNNAMED;
    for (uint32_t band = 0; band < GROUPS && !stacking->is_by_category; band++) {
        uint32_t best = 0;
        for (uint32_t group = 1; group < count; group++)
            if (stacking->band_of[group] == OTHER && max[group] > 0 && (best == 0 || max[group] > max[best]))
                best = group;
        if (best == 0)
            break;
        stacking->band_of[best] = (uint8_t)band;
        stacking->chosen[stacking->chosen_count++] = best;
    }
    for (uint32_t i = 0; i < CATEGORY_UNKNOWN && stacking->is_by_category; i++) { /* all, in their order */
        uint32_t group = 1;
        while (group < count && !str_equal(stacking->labels.items[group], str_of(category_name((enum category)i))))
            group++;
        if (group < count && max[group] > 0) {
            stacking->band_of[group] = (uint8_t)stacking->chosen_count;
            stacking->chosen[stacking->chosen_count++] = group;
        }
    }
    for (uint32_t group = 1; group < count; group++)
        stacking->other_count += stacking->band_of[group] == OTHER && max[group] > 0;
}

static void cells_make(struct stacking *stacking)
{
    const struct memory_profile_drawn *drawn = stacking->drawn;
    int64_t now[BANDS_MAX] = {0};
    size_t ended = 0;
    uint32_t next = 0;
    before_bands(stacking, now);
    stacking->cells = arena_array(stacking->request->arena, int64_t, (size_t)drawn->count *BANDS_MAX + 1);
    for (uint32_t at = 0; at < drawn->window->end && next < drawn->count; at++) {
        if (at == drawn->window->first)
            memcpy(stacking->before_bytes, now, sizeof(now));
        event_apply(stacking, drawn->pool->first + at, stacking->band_of, &ended, now);
        if (at == drawn->at[next])
            memcpy(&stacking->cells[(size_t)next++ * BANDS_MAX], now, sizeof(now));
    }
    if (drawn->count == 0) { /* no event is in the window: what holds there */
        before_bands(stacking, stacking->before_bytes);
        ended = 0;
        for (uint32_t at = 0; at < drawn->window->first; at++)
            event_apply(stacking, drawn->pool->first + at, stacking->band_of, &ended, stacking->before_bytes);
    }
}

static void band_begin(struct json *json, const char *kind, struct str label, bool is_guess, int64_t before_bytes)
{
    json_object_begin(json);
    json_key_text(json, "kind", kind);
    memory_profile_views_text(json, "label", label);
    json_key_text(json, "confidence", is_guess ? "guess" : NULL);
    json_key_int(json, "before_bytes", before_bytes);
    json_key_array(json, "bytes");
}

/* Out: whether it is there: a band that is empty all the time is left out. */
static bool band_write(struct json *json, const struct stacking *stacking, uint32_t band, const char *kind,
                       struct str label, bool is_guess)
{
    int64_t most = stacking->before_bytes[band];
    for (uint32_t i = 0; i < stacking->drawn->count; i++)
        most = stacking->cells[(size_t)i * BANDS_MAX + band] > most ? 1 : most;
    if (most <= 0)
        return false;
    band_begin(json, kind, label, is_guess, stacking->before_bytes[band]);
    for (uint32_t i = 0; i < stacking->drawn->count; i++)
        json_int(json, stacking->cells[(size_t)i * BANDS_MAX + band]);
    json_array_end(json);
    json_object_end(json);
    return true;
}

static int64_t sum_of(const int64_t bytes[BANDS_MAX])
{
    int64_t sum = 0;
    for (uint32_t band = 0; band < BANDS_MAX; band++)
        sum = sum_add(sum, bytes[band]);
    return sum;
}

/* Where events are missing, the bands may be more than what is in use: then nothing is left. */
static int64_t rest_of(int64_t in_use_bytes, const int64_t bands[BANDS_MAX])
{
    int64_t sum = sum_of(bands);
    return in_use_bytes > sum ? in_use_bytes - sum : 0;
}

/* What was there before the trace, and the stack: the rest of what is in use. */
static void rest_write(struct json *json, const struct stacking *stacking)
{
    const struct memory_profile_drawn *drawn = stacking->drawn;
    int64_t in_use_bytes = memory_profile_in_use_after(drawn->pool, drawn->window->first);
    band_begin(json, "before", STR("before the trace, or reserved"), false,
               rest_of(in_use_bytes, stacking->before_bytes));
    for (uint32_t i = 0; i < drawn->count; i++)
        json_int(json, rest_of(memory_profile_in_use_bytes(stacking->profile, drawn->pool->first + drawn->at[i]),
                               &stacking->cells[(size_t)i * BANDS_MAX]));
    json_array_end(json);
    json_object_end(json);
}

/* Out: of each group the place of its band among those that are written. */
static const uint8_t *bands_write(struct json *json, const struct stacking *stacking)
{
    struct arena *arena = stacking->request->arena;
    uint8_t place_of_band[BANDS_MAX], written_count = 1;
    memset(place_of_band, MEMORY_PROFILE_NO_BAND, sizeof(place_of_band));
    json_key_array(json, "bands");
    rest_write(json, stacking);
    for (uint32_t i = 0; i < stacking->chosen_count; i++) {
        uint32_t label = stacking->chosen[i];
        if (band_write(json, stacking, i, "group", stacking->labels.items[label], stacking->is_guess[label]))
            place_of_band[i] = written_count++;
    }
    struct str others = str_of(arena_format(arena, "%u others", stacking->other_count));
    if (band_write(json, stacking, OTHER, "other", others, false))
        place_of_band[OTHER] = written_count++;
    struct str unnamed = stacking->is_by_category    ? STR("unknown")
                         : stacking->choices != NULL ? STR("behind the last step")
                                                     : STR("not recorded");
    if (band_write(json, stacking, UNNAMED, "unnamed", unnamed, false))
        place_of_band[UNNAMED] = written_count++;
    json_array_end(json);
    uint8_t *place_of = arena_array(arena, uint8_t, stacking->labels.map.count);
    for (uint32_t group = 0; group < stacking->labels.map.count; group++)
        place_of[group] = place_of_band[stacking->band_of[group]];
    return place_of;
}

int64_t memory_profile_stacked_place(const struct memory_profile_bands *bands, uint32_t event, uint32_t kept)
{
    if (bands->group_of == NULL)
        return -1;
    const struct memory_profile *profile = bands->profile;
    bool is_before =
        event == PROFILE_NONE || (memory_profile_is_free(profile, event) && profile->partner[event] == PROFILE_NONE);
    if (is_before && !bands->is_by_category)
        return 0;
    const struct memory_what *what = memory_profile_what_at(profile, event, kept);
    uint8_t place = bands->place_of[bands->group_of[what - profile->events.whats]];
    return place == MEMORY_PROFILE_NO_BAND ? -1 : place;
}

struct memory_profile_bands memory_profile_stacked_write(const struct tool_request *request,
                                                         const struct memory_profile_drawn *drawn, const char *by,
                                                         struct json *json)
{
    struct stacking stacking = {.request = request, .drawn = drawn, .profile = drawn->pool->profile};
    struct memory_profile_bands bands = {0};
    if (by == NULL)
        return bands;
    enum by chosen = BY_PROGRAM;
    while (by != by_names[chosen])
        chosen++;
    stacking.is_by_category = chosen == BY_CATEGORY;
    if (chosen == BY_TREND)
        stacking.choices = memory_profile_growth_kinds(drawn->pool, request->arena);
    bool is_possible =
        (chosen != BY_TREND || stacking.choices != NULL) && (chosen != BY_CATEGORY || drawn->pool->before != NULL);
    json_key_object(json, "stacked");
    json_key_text(json, "by", by);
    json_key(json, "reason");
    memory_profile_views_reason(
        json,
        is_possible          ? NULL
        : chosen == BY_TREND ? "no_steps"
                             : "no_stacks",
        chosen == BY_TREND ? "The trace has fewer than two steps or launches of a module, so growth cannot be told "
                             "from what is steady."
                           : "Categories come from stacks; only PyTorch allocator snapshots have them.");
    if (is_possible) {
        groups_make(&stacking, chosen);
        ended_find(&stacking);
        bands_choose(&stacking);
        cells_make(&stacking);
        bands = (struct memory_profile_bands){stacking.profile, stacking.group_of, bands_write(json, &stacking),
                                              stacking.is_by_category};
    } else {
        json_key_array(json, "bands");
        json_array_end(json);
    }
    json_object_end(json);
    return bands;
}
