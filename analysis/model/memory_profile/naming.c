/* SPDX-License-Identifier: Apache-2.0
 * naming.c: see naming.h. */
#include "model/memory_profile/naming.h"

#include "model/memory_profile/naming_fit.h"

#include <stdlib.h>

#define WORK_MAX ((uint64_t)1 << 26)

bool memory_profile_naming_is_wanted(const struct memory_profile *profile) { return profile->events.has_unnamed; }

/* ---- launches ---- */

/* Do the items from `at` on have the sizes of what a launch of the program allocates? */
static bool is_launch(struct naming *naming, const struct program *program, size_t at, size_t end)
{
    for (uint32_t i = 0; i < program->count; i++) {
        const struct program_figure *figure = &naming->figures->figures[program->first + i];
        if (figure->role == PROGRAM_ARGUMENT)
            continue;
        if (at == end || !naming_charge(naming, 1))
            return false;
        struct naming_sizes sizes = naming_fit_sizes(naming->profile, naming->items[at++].event);
        if (figure->bytes < sizes.min || figure->bytes > sizes.max)
            return false;
    }
    return true;
}

/* Names the `nth` item of a launch that begins at item `at`. Equal launches of one module get what the first of its
 * programs that fit got. */
static void launch_name(struct naming *naming, const uint32_t *fitting, uint32_t fitting_count, size_t at, uint32_t nth)
{
    bool is_host = naming->items[at + nth].is_host, is_new;
    const uint64_t key[4] = {(uint64_t)NAMING_LAUNCH << 1 | is_host, fitting[0], nth, fitting_count};
    uint32_t *answer = naming_fit_answer(naming, key, &is_new), last = 0;
    struct naming_fit fit = {.program_count = 0};
    for (uint32_t p = 0; p < fitting_count && is_new && naming_charge(naming, 1); p++) {
        const struct program *program = &naming->figures->programs[fitting[p]];
        for (uint32_t i = 0, seen = 0; i < program->count; i++) {
            const struct program_figure *figure = &naming->figures->figures[program->first + i];
            if (figure->role != PROGRAM_ARGUMENT && seen++ == nth) {
                naming_fit_add(naming, &fit, figure, &last);
                break;
            }
        }
        naming_charge(naming, program->count);
    }
    if (is_new)
        *answer = naming_fit_guess(naming, &fit, NAMING_LAUNCH, is_host);
    naming->items[at + nth].guess = *answer;
}

/* The items [first, end) were allocated on the thread since its last launch, and then it launched the module: the last
 * of them that are all that a launch of one of its programs needs. The program that needs most goes first. */
static void launch_match(struct naming *naming, uint32_t module, size_t first, size_t end)
{
    uint32_t begin = naming->first_of[module], programs = naming->first_of[module + 1] - begin;
    uint32_t *fitting = naming->fitting, fitting_count = 0, needed = 0;
    size_t found = 0;
    for (uint32_t p = 0; p < programs && naming_charge(naming, 1); p++) {
        const struct program *program = &naming->figures->programs[naming->programs[begin + p]];
        uint32_t count = naming->needed[naming->programs[begin + p]];
        if (count == 0 || count < needed || count > end - first)
            continue;
        size_t at = end - count;
        while (!is_launch(naming, program, at, end) && at > first && naming->work_left > 0)
            at--;
        if (!is_launch(naming, program, at, end))
            continue;
        if (count > needed || at > found)
            fitting_count = 0;
        if (fitting_count > 0 && at != found)
            continue;
        needed = count;
        found = at;
        fitting[fitting_count++] = naming->programs[begin + p];
    }
    for (uint32_t i = 0; i < needed && fitting_count > 0; i++)
        launch_name(naming, fitting, fitting_count, found, i);
}

/* ---- threads ---- */

static size_t items_until(const struct naming *naming, size_t first, size_t end, int64_t time_ps)
{
    while (first < end && naming->items[first].time_ps <= time_ps)
        first++;
    return first;
}

/* The items [first, end) and the runs [from, to) are of one line. */
static void line_launches(struct naming *naming, size_t first, size_t end, size_t from, size_t to)
{
    for (size_t r = from; r < to && first < end; r++) {
        const struct host_run *run = &naming->runs->items[r];
        if (run->is_call)
            continue;
        size_t before = items_until(naming, first, end, run->begin_ps);
        size_t during = items_until(naming, before, end, run->end_ps);
        launch_match(naming, run->module, first, before);
        for (size_t i = first; i < during; i++)
            naming->items[i].next = run->module;
        first = during;
    }
}

/* Calls nest: an item is of the innermost one around it. `open` has room for all of them. */
static void line_calls(struct naming *naming, size_t first, size_t end, size_t from, size_t to, uint32_t *open)
{
    const struct host_run *runs = naming->runs->items;
    size_t depth = 0, r = from;
    for (size_t i = first; i < end; i++) {
        struct naming_item *item = &naming->items[i];
        for (; r < to && runs[r].begin_ps <= item->time_ps; r++) {
            while (depth > 0 && runs[open[depth - 1]].end_ps < runs[r].begin_ps)
                depth--;
            if (runs[r].is_call)
                open[depth++] = (uint32_t)r;
        }
        while (depth > 0 && runs[open[depth - 1]].end_ps < item->time_ps)
            depth--;
        if (depth > 0)
            item->call = runs[open[depth - 1]].module;
    }
}

static void threads_follow(struct naming *naming)
{
    const struct host_runs *runs = naming->runs;
    uint32_t *open = arena_array(naming->scratch, uint32_t, runs->count + 1);
    for (size_t first = 0, end, from = 0, to; first < naming->item_count; first = end, from = to) {
        uint32_t line = naming->items[first].line;
        for (end = first; end < naming->item_count && naming->items[end].line == line;)
            end++;
        while (from < runs->count && runs->items[from].line < line)
            from++;
        for (to = from; to < runs->count && runs->items[to].line == line;)
            to++;
        line_launches(naming, first, end, from, to);
        line_calls(naming, first, end, from, to, open);
    }
}

/* What no launch has named: by the call around it, by what the thread launched next, by its size alone. */
static void rest_name(struct naming *naming)
{
    for (size_t i = 0; i < naming->item_count && naming->work_left > 0; i++) {
        struct naming_item *item = &naming->items[i];
        if (item->guess == NAMING_NONE && item->call != NAMING_NONE)
            item->guess = naming_fit_by_size(naming, item, item->call, NAMING_CALL);
        if (item->guess == NAMING_NONE && item->next != NAMING_NONE)
            item->guess = naming_fit_by_size(naming, item, item->next, NAMING_THREAD);
        if (item->guess == NAMING_NONE)
            item->guess = naming_fit_by_size(naming, item, NAMING_NONE, NAMING_SIZE);
    }
}

/* ---- the model ---- */

static int by_line_and_time(const void *left, const void *right)
{
    const struct naming_item *a = left, *b = right;
    return ORDER(a->line, b->line) ?: ORDER(a->time_ps, b->time_ps) ?: ORDER(a->event, b->event);
}

/* Allocations, and frees of what was allocated before: of those only the size is known. */
static void items_take(struct naming *naming)
{
    struct memory_profile *profile = naming->profile;
    bool *is_unnamed = arena_array(naming->scratch, bool, profile->events.what_count + 1);
    size_t count = 0;
    for (size_t i = 0; i < profile->events.what_count; i++)
        is_unnamed[i] = memory_events_is_unnamed(&profile->events, (uint32_t)i);
    for (uint32_t event = 0; event < profile->count; event++)
        count += is_unnamed[profile->what[event]];
    naming->items = arena_array(naming->scratch, struct naming_item, count + 1);
    for (uint32_t p = 0; p < profile->pool_count; p++)
        for (uint32_t i = 0; i < profile->pools[p].count; i++) {
            uint32_t event = profile->pools[p].first + i;
            bool is_free = memory_profile_is_free(profile, event);
            if (is_unnamed[profile->what[event]] && (!is_free || profile->partner[event] == PROFILE_NONE))
                naming->items[naming->item_count++] = (struct naming_item){profile->time_ps[event],
                                                                           is_free ? NAMING_NONE : profile->line[event],
                                                                           event,
                                                                           NAMING_NONE,
                                                                           NAMING_NONE,
                                                                           NAMING_NONE,
                                                                           profile->pools[p].kind == PROFILE_HOST};
        }
    qsort(naming->items, naming->item_count, sizeof(*naming->items), by_line_and_time);
}

/* Each kind of allocation with its guess is a kind of its own. */
static void guesses_give(struct naming *naming)
{
    struct memory_profile *profile = naming->profile;
    struct memory_events *events = &profile->events;
    struct table kinds;
    table_init(&kinds, naming->scratch, 2);
    for (size_t i = 0; i < naming->item_count; i++) {
        const struct naming_item *item = &naming->items[i];
        const uint64_t key[2] = {profile->what[item->event], item->guess};
        if (item->guess != NAMING_NONE)
            profile->what[item->event] = (uint32_t)events->what_count + table_number(&kinds, key);
    }
    struct memory_what *whats =
        arena_array(naming->arena, struct memory_what, events->what_count + table_count(&kinds) + 1);
    memcpy(whats, events->whats, events->what_count * sizeof(*whats));
    for (size_t i = 0; i < table_count(&kinds); i++) {
        struct memory_what *what = &whats[events->what_count + i];
        *what = events->whats[table_key(&kinds, i)[0]];
        what->guess = (uint32_t)table_key(&kinds, i)[1];
    }
    events->whats = whats;
    events->what_count += table_count(&kinds);
    profile->guesses = chunks_copy(&naming->guesses, naming->arena);
    profile->guess_count = (uint32_t)naming->guesses.count;
}

void memory_profile_naming_make(struct memory_profile *profile, const struct program_figures *figures,
                                struct arena *arena)
{
    struct arena *scratch = arena_child(arena);
    struct naming naming = {.profile = profile,
                            .figures = figures,
                            .runs = &profile->events.runs,
                            .arena = arena,
                            .scratch = scratch,
                            .work_left = WORK_MAX};
    table_init(&naming.keys, scratch, 4);
    chunks_init(&naming.answers, scratch, sizeof(uint32_t));
    chunks_init(&naming.guesses, scratch, sizeof(struct memory_profile_guess));
    intern_init(&naming.texts, scratch);
    naming_fit_programs(&naming);
    items_take(&naming);
    threads_follow(&naming);
    rest_name(&naming);
    guesses_give(&naming);
    memory_profile_note(&profile->notes, "naming_stopped", naming.work_left == 0 ? 1 : 0,
                        "Comparing unnamed allocations with the programs of the trace took too long: the rest stay "
                        "unnamed.");
    for (uint32_t p = 0; p < profile->pool_count; p++) {
        struct memory_profile_pool *pool = &profile->pools[p];
        pool->peak_named = memory_profile_naming_tally(pool, pool->peak_at - pool->first + 1, arena);
    }
    arena_free(scratch);
}
