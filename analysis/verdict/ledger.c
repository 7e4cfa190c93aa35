/* SPDX-License-Identifier: Apache-2.0
 * ledger.c: what each of the things at hand says was taken, on one bar against the capacity: the plan of the program,
 * the allocator's peak, live arrays and loaded programs of a device profile. */
#include "verdict/facts.h"

#include "model/memory_profile/moment.h"

#include <math.h>

/* A plan and the measured memory count as balanced up to this difference. */
enum { BALANCE_PERCENT = 5 };

static void ledger_add(const struct verdict_facts *facts, const char *kind, const char *label, int64_t bytes,
                       const char *source)
{
    struct verdict_ledger *ledger = &facts->out->ledger;
    if (bytes >= 0 && ledger->bar_count < VERDICT_BARS_MAX)
        ledger->bars[ledger->bar_count++] =
            (struct verdict_bar){.kind = kind, .label = label, .bytes = bytes, .source = source};
}

/* Why what a device holds is not held against the capacity; NULL: it is. */
static const char *not_of_device(const struct verdict_facts *facts)
{
    return facts->is_host      ? "The host's memory ran out: what a device holds says nothing about it."
           : facts->is_on_chip ? "On-chip memory of one kernel ran out: what the device holds says nothing about it."
                               : NULL;
}

/* The last profile is the nearest to the failure. */
static void profile_add(const struct verdict_facts *facts)
{
    const struct live_arrays *live = &facts->live;
    if (!live->is_known)
        return;
    ledger_add(facts, "live_arrays",
               live->device == NULL ? "live arrays" : arena_format(facts->arena, "live arrays of %s", live->device),
               live->array_bytes, "device profile");
    if (live->program_bytes > 0)
        ledger_add(facts, "programs", "loaded programs", live->program_bytes, "device profile");
}

static int64_t bytes_of(const struct verdict_ledger *ledger, const char *kind)
{
    for (uint32_t i = 0; i < ledger->bar_count; i++)
        if (strcmp(ledger->bars[i].kind, kind) == 0)
            return ledger->bars[i].bytes;
    return -1;
}

/* What live arrays are beside a step of the program, or beside the request alone. */
static const char *live_text(const struct verdict_facts *facts)
{
    const char *held = facts_size(facts, facts->live.array_bytes);
    int64_t arguments = facts_arguments_bytes(facts);
    if (arguments < 0)
        return arena_format(facts->arena, "Live arrays held %s in addition to the request.", held);
    return arena_format(facts->arena,
                        "Of the %s of live arrays, at most %s are arguments of the program; at least %s are others.",
                        held, facts_size(facts, arguments), facts_size(facts, facts_live_besides_bytes(facts)));
}

/* A plan is held against the allocator's peak; without one live arrays are. Of a request that failed beside live arrays
 * these are told: a trace is of another moment. */
static void balance_find(const struct verdict_facts *facts)
{
    struct verdict_ledger *ledger = &facts->out->ledger;
    int64_t plan = bytes_of(ledger, "plan"), seen = bytes_of(ledger, "allocator_peak");
    const char *what = "the plan";
    if (facts->is_live_known) {
        ledger->sentence = live_text(facts);
        return;
    }
    if (plan < 0) {
        plan = bytes_of(ledger, "live_arrays");
        what = "what is live in the device profile";
    }
    if (plan < 0 || seen <= 0) {
        ledger->sentence = ledger->bar_count == 0 ? "Nothing here says what was taken."
                           : ledger->bar_count == 1
                               ? "Only one source here says what was taken: there is nothing to compare it with."
                               : "There is no allocator peak to compare these with.";
        return;
    }
    ledger->has_drift = true;
    ledger->drift_percent = 100 * ((double)seen - (double)plan) / (double)plan;
    ledger->coverage_percent = 100 * (double)(plan < seen ? plan : seen) / (double)seen;
    if (plan == 0)
        ledger->drift_percent = 100;
    ledger->balances = fabs(ledger->drift_percent) <= (double)BALANCE_PERCENT;
    ledger->sentence =
        arena_format(facts->arena, "The allocator's peak is %s, %s %s: it %s (%.1f %% of the peak is explained).",
                     facts_size(facts, seen), what, facts_size(facts, plan),
                     ledger->balances ? "balances"
                     : seen > plan    ? "holds more than that"
                                      : "saw less than that",
                     ledger->coverage_percent);
}

/* A snapshot of one moment knows no peak. */
static const char *pool_label(const struct memory_profile_pool *pool)
{
    struct memory_profile_moment at;
    bool is_end = pool->profile->events.snapshot != NULL &&
                  memory_profile_moment_that_matters(pool, NULL, false, &at) == MOMENT_OF_END;
    return is_end ? "in use at the end" : "allocator's peak";
}

void ledger_make(const struct verdict_facts *facts)
{
    const struct memory_profile_pool *pool = facts->pool;
    struct verdict_ledger *ledger = &facts->out->ledger;
    ledger->capacity_bytes = facts->out->fit.capacity_bytes;
    ledger->sentence = not_of_device(facts);
    if (ledger->sentence != NULL)
        return;
    ledger_add(facts, "plan", "plan of the program", facts->total_bytes, "plan");
    if (pool != NULL) {
        ledger_add(facts, "allocator_peak", pool_label(pool), memory_profile_in_use_bytes(pool->profile, pool->peak_at),
                   "trace");
        if (ledger->capacity_bytes < 0 && pool->capacity_bytes > 0)
            ledger->capacity_bytes = pool->capacity_bytes;
    }
    profile_add(facts);
    balance_find(facts);
}
