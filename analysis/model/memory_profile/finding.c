/* SPDX-License-Identifier: Apache-2.0
 * finding.c: see finding.h. */
#include "model/memory_profile/finding.h"
#include "model/memory_profile/end.h"

#include "base/size_text.h"
#include "model/finding.h"
#include "model/memory_profile/failures.h"
#include "model/memory_profile/growth.h"
#include "model/memory_profile/notes.h"
#include "model/memory_profile/waste.h"
#include "model/memory_profile/what.h"

/* What grows by less than this part of the peak over the whole trace is in the table of growth alone. */
enum { LEAST_PART = 10000 };

void memory_profile_finding_time(struct finding *finding, int64_t time_ps)
{
    double ms = (double)time_ps / 1e9;
    if (ms < 10000)
        finding_text(finding, " at %.1f ms", ms);
    else
        finding_text(finding, " at %.2f s", ms / 1000);
}

static struct finding *fragmentation_find(const struct memory_profile_pool *pool, struct arena *arena)
{
    const struct memory_profile *profile = pool->profile;
    uint32_t worst = memory_profile_waste_worst(pool);
    if (worst == PROFILE_NONE)
        return NULL;
    uint32_t event = pool->first + worst;
    struct finding *finding = finding_begin(arena, "fragmentation", "holes");
    finding_text(finding, "a request of ");
    finding_size(finding, pool->largest_request_bytes);
    finding_text(finding, ", the largest, would have met a largest hole of ");
    finding_size(finding, memory_profile_waste_chunk(profile, event));
    memory_profile_finding_time(finding, profile->time_ps[event]);
    finding_text(finding, " with ");
    finding_size(finding, memory_profile_free_bytes(profile, event));
    finding_text(finding, " free: fragmentation, not shortage");
    finding_param(finding, "memory", pool->name);
    finding_param(finding, "event", str_of(arena_format(arena, "%u", worst)));
    finding_param(finding, "time", str_of(arena_format(arena, "%lld", (long long)profile->time_ps[event])));
    return finding_end(finding);
}

/* What allocated it, or what it may be. */
static void say_what(struct finding *finding, const struct memory_profile *profile, uint32_t event)
{
    const struct memory_what *what = &profile->events.whats[profile->what[event]];
    struct str op = memory_profile_text(profile, what->op), role = memory_profile_what_role(profile, what),
               program = memory_profile_what_program(profile, what);
    if (op.length > 0) {
        finding_name(finding, op);
    } else if (role.length > 0) {
        finding_name(finding, role);
        if (program.length > 0) {
            finding_text(finding, " of ");
            finding_name(finding, program);
        }
        finding_text(finding, " (guess)");
    } else {
        finding_text(finding, "allocations that no op names");
    }
}

/* What grows most in each pool. */
struct finding_growing {
    const struct memory_profile *profile;
    struct arena
        arena; /* for the search: if there is no room for it, it finds nothing, and the trace is read all the same */
    struct memory_profile_growth_most *most;
    bool *is_found;
};

static void growth_find_all(void *context)
{
    struct finding_growing *growing = context;
    for (uint32_t i = 0; i < growing->profile->pool_count; i++) {
        const struct memory_profile_pool *pool = &growing->profile->pools[i];
        struct arena *child = arena_child(&growing->arena);
        int64_t least = memory_profile_in_use_bytes(growing->profile, pool->peak_at) / LEAST_PART;
        growing->is_found[i] = memory_profile_growth_find_most(pool, least > 0 ? least : 1, child, &growing->most[i]);
        arena_free(child);
    }
}

static struct finding *growth_say(const struct memory_profile_pool *pool, const struct memory_profile_growth_most *most,
                                  struct arena *arena)
{
    char grown[COUNT_TEXT_BYTES], all[COUNT_TEXT_BYTES];
    struct finding *finding = finding_begin(arena, "grows", "growth");
    finding_text(finding, "grows ");
    finding_size(finding, most->slope_bytes);
    finding_text(finding, " a %s in %s of %s %s: ", most->boundary, size_text_count(grown, most->grown_count),
                 size_text_count(all, most->interval_count),
                 most->boundary[0] == 'l'    ? "launches"
                 : most->interval_count == 1 ? "step"
                                             : "steps");
    say_what(finding, pool->profile, most->event);
    finding_param(finding, "memory", pool->name);
    finding_param(finding, "boundary", str_of(most->boundary));
    return finding_end(finding);
}

static struct finding *flat_find(const struct memory_profile_pool *pool, struct arena *arena)
{
    struct memory_profile_reason reason = memory_profile_notes_finding(pool);
    if (reason.code == NULL)
        return NULL;
    struct finding *finding = finding_begin(arena, reason.code, NULL);
    finding_text(finding, "%s", reason.text);
    return finding_end(finding);
}

/* How often a pool was asked, what was never freed, and the highest since the program began. */
static struct finding *course_make(const struct memory_profile_pool *pool, struct arena *arena)
{
    struct memory_profile_end end;
    if (memory_profile_end_of(pool, &end))
        return NULL;
    struct finding *course = finding_begin(arena, "course", NULL);
    finding_count(course, "", pool->allocation_count, "allocation");
    finding_count(course, " and ", pool->deallocation_count, "free");
    if (pool->pairs.never_freed > 0) {
        finding_count(course, "; ", pool->pairs.never_freed, "allocation");
        finding_text(course, " never freed");
    }
    if (pool->pairs.before_window > 0) {
        finding_count(course, "; ", pool->pairs.before_window, "free");
        finding_text(course, " of memory allocated before the trace");
    }
    finding_text(course, ".");
    if (pool->lifetime_peak_bytes > memory_profile_in_use_bytes(pool->profile, pool->peak_at)) {
        finding_text(course, " The highest since the program began: ");
        finding_figure(course, pool->lifetime_peak_bytes, "lifetime_peak");
        finding_text(course, ".");
    }
    return finding_end(course);
}

void memory_profile_finding_make(struct memory_profile *profile, struct arena *arena)
{
    struct err ignored = ERR_INIT;
    struct finding_growing growing = {.profile = profile};
    growing.most = arena_array(arena, struct memory_profile_growth_most, (size_t)profile->pool_count + 1);
    growing.is_found = arena_array(arena, bool, (size_t)profile->pool_count + 1);
    arena_init(&growing.arena, arena_left_bytes(arena), &ignored);
    arena_work_as(&growing.arena, arena);
    arena_try(&growing.arena, growth_find_all, &growing);
    arena_free(&growing.arena);
    arena_give_up_with(arena, &ignored);
    memory_profile_note_room(profile, "growth_no_room", &growing.arena,
                             "There was no room within the memory limit to look for what grows most.");
    for (uint32_t i = 0; i < profile->pool_count; i++) {
        struct memory_profile_pool *pool = &profile->pools[i];
        pool->finding = pool->failure_count > 0 ? memory_profile_failures_finding(pool, pool->failure_count - 1, arena)
                                                : fragmentation_find(pool, arena);
        if (pool->finding == NULL && growing.is_found[i])
            pool->finding = growth_say(pool, &growing.most[i], arena);
        if (pool->finding == NULL)
            pool->finding = memory_profile_end_finding(pool, arena);
        if (pool->finding == NULL)
            pool->finding = flat_find(pool, arena);
        pool->course = course_make(pool, arena);
    }
}
