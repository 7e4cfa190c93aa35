/* SPDX-License-Identifier: Apache-2.0
 * summary.c: the view "summary": each pool's peak, course and notes, worst first. */
#include "views/finding_write.h"
#include "views/memory_profile/views.h"

#include "base/size_text.h"
#include "base/sum.h"
#include "model/finding.h"
#include "model/memory_profile/categories.h"
#include "model/memory_profile/end.h"
#include "model/memory_profile/failures.h"
#include "model/memory_profile/notes.h"
#include "model/memory_profile/waste.h"

#include <stdio.h>

enum { SPARKS = 64, FAILURES_SHOWN = 20 };

void memory_profile_summary_host(struct json *json, const struct memory_profile *profile,
                                 const struct memory_profile_summary_names *names)
{
    const struct memory_events *events = &profile->events;
    struct memory_profile_reason reason = memory_profile_notes_reason(profile);
    uint64_t allocation_count = 0, deallocation_count = 0;
    char start[24];
    for (uint32_t i = 0; i < profile->pool_count; i++) {
        allocation_count += profile->pools[i].allocation_count;
        deallocation_count += profile->pools[i].deallocation_count;
    }
    snprintf(start, sizeof(start), "%llu", (unsigned long long)events->capture.start_ns);
    json_object_begin(json);
    json_key_text(json, "host", names->host);
    json_key_text(json, "name", names->host_name);
    json_key_text(json, "file", names->file);
    json_key(json, "reason");
    memory_profile_views_reason(json, reason.code, reason.text);
    json_key_uint(json, "event_count", allocation_count + deallocation_count);
    json_key_uint(json, "allocation_count", allocation_count);
    json_key_uint(json, "deallocation_count", deallocation_count);
    json_key_uint(json, "pool_count", profile->pool_count);
    json_key_uint(json, "step_count", profile->step_count);
    json_key_uint(json, "launch_count", events->launches.items.count);
    memory_profile_views_bytes(json, "start_ps", profile->count > 0 ? profile->start_ps : MEMORY_UNKNOWN);
    memory_profile_views_bytes(json, "end_ps", profile->count > 0 ? profile->end_ps : MEMORY_UNKNOWN);
    json_key_text(json, "profile_start_unix_ns", events->capture.start_ns > 0 ? start : NULL);
    json_key_bool(json, "has_tpu", events->has_tpu_plane);
    json_key_bool(json, "has_gpu", events->has_gpu_plane);
    note_write_list(json, profile->notes.items, profile->notes.count);
    json_object_end(json);
}

/* Largest in use in equal parts of the time; a part without events has what held before it. */
static void sparkline_write(struct json *json, const struct memory_profile_pool *pool)
{
    const struct memory_profile *profile = pool->profile;
    int64_t span = profile->end_ps - profile->start_ps,
            held = memory_profile_stack_bytes(profile, pool->first) + pool->base_bytes;
    json_key_array(json, "sparkline_bytes");
    for (uint32_t i = 0, first = 0; i < SPARKS; i++) {
        int64_t to_ps = profile->start_ps + (int64_t)((double)span * (i + 1) / (double)SPARKS);
        uint32_t min_at, max_at, end = i + 1 == SPARKS ? pool->count : memory_profile_after(pool, to_ps);
        int64_t max = held;
        if (end > first) {
            extremes_of(&pool->extremes, first, end, &min_at, &max_at);
            int64_t largest = memory_profile_in_use_bytes(profile, pool->first + max_at);
            max = largest > max ? largest : max;
            held = memory_profile_in_use_bytes(profile, pool->first + end - 1);
            first = end;
        }
        json_int(json, max);
    }
    json_array_end(json);
}

/* Why nothing is held against the peak. A request that failed tells how much the device has at least: what PyTorch
 * reserved, and what the device had free beside it. */
static void capacity_sentence(struct json *json, const struct memory_profile_pool *pool)
{
    const struct memory_profile_failure *failure =
        pool->failure_count > 0 ? &pool->failures[pool->failure_count - 1] : NULL;
    char least[SIZE_TEXT_BYTES], reserved[SIZE_TEXT_BYTES], free[SIZE_TEXT_BYTES], sentence[256];
    if (pool->capacity_bytes != MEMORY_UNKNOWN)
        return;
    if (failure == NULL || failure->device_free_bytes < 0 || failure->reserved_bytes <= 0) {
        json_key_text(json, "capacity_sentence", "Capacity not known.");
        return;
    }
    size_text(least, (uint64_t)sum_add(failure->reserved_bytes, failure->device_free_bytes));
    size_text(reserved, (uint64_t)failure->reserved_bytes);
    size_text(free, (uint64_t)failure->device_free_bytes);
    snprintf(sentence, sizeof(sentence),
             "The snapshot does not record the capacity; it is at least %s: %s reserved by PyTorch and %s free on the "
             "device when the request failed.",
             least, reserved, free);
    json_key_text(json, "capacity_sentence", sentence);
}

void memory_profile_summary_pool(struct json *json, const struct memory_profile_pool *pool,
                                 const struct memory_profile_summary_names *names)
{
    static const char *const kinds[] = {
        [PROFILE_DEVICE] = "device", [PROFILE_HOST] = "host", [PROFILE_OTHER] = "unknown"};
    const struct memory_profile *profile = pool->profile;
    uint32_t last = pool->first + pool->count - 1;
    json_object_begin(json);
    json_key_text(json, "host", names->host);
    json_key_text(json, "host_name", names->host_name);
    memory_profile_views_memory(json, pool);
    json_key_text(json, "kind", kinds[pool->kind]);
    json_key_uint(json, "event_count", pool->allocation_count + pool->deallocation_count);
    json_key_uint(json, "allocation_count", pool->allocation_count);
    json_key_uint(json, "deallocation_count", pool->deallocation_count);
    json_key_uint(json, "never_freed_count", pool->pairs.never_freed);
    json_key_uint(json, "before_window_count", pool->pairs.before_window);
    memory_profile_views_bytes(json, "capacity_bytes", pool->capacity_bytes);
    json_key_text(json, "capacity_source", pool->capacity_source);
    capacity_sentence(json, pool);
    json_key(json, "peak");
    memory_profile_views_point(json, pool, pool->peak_at - pool->first);
    memory_profile_views_named(json, profile, &pool->peak_named, memory_profile_in_use_bytes(profile, pool->peak_at));
    memory_profile_views_categories(json, "categories", pool->at_peak);
    memory_profile_views_categories(json, "failure_categories", pool->at_failure);
    memory_profile_views_bytes(json, "peak_largest_free_bytes", memory_profile_waste_chunk(profile, pool->peak_at));
    const bool is_in_pieces = memory_profile_waste_matters(profile, pool->peak_at);
    json_key_bool(json, "is_peak_free_in_pieces", is_in_pieces);
    json_key_bool(json, "is_fragmentation_shown", is_in_pieces || pool->failure_count > 0);
    memory_profile_views_bytes(json, "lifetime_peak_bytes", pool->lifetime_peak_bytes);
    json_key_int(json, "min_bytes", memory_profile_in_use_bytes(profile, pool->min_at));
    json_key_int(json, "first_bytes", memory_profile_stack_bytes(profile, pool->first) + pool->base_bytes);
    json_key_int(json, "last_bytes", memory_profile_in_use_bytes(profile, last));
    json_key_int(json, "start_ps", profile->time_ps[pool->first]);
    json_key_int(json, "end_ps", profile->time_ps[last]);
    json_key_bool(json, "has_free", pool->has_free);
    json_key_text(json, "free_word", profile->events.snapshot != NULL ? "free in segments" : "free");
    memory_profile_views_bytes(json, "reserved_bytes",
                               profile->events.snapshot == NULL
                                   ? MEMORY_UNKNOWN
                                   : profile->events.figure_sets[profile->figures[pool->peak_at]].limit_bytes);
    memory_profile_views_end(json, pool);
    json_key_bool(json, "has_stacks", profile->events.snapshot != NULL);
    json_key_bool(json, "has_fragmentation", pool->has_fragmentation);
    json_key_bool(json, "has_addresses", pool->has_addresses);
    json_key_bool(json, "has_segments",
                  pool->torch.is_known && profile->events.snapshot != NULL &&
                      profile->events.snapshot->segment_count > 0);
    json_key_object(json, "chain");
    json_key_uint(json, "link_count", pool->link_count);
    json_key_uint(json, "break_count", pool->break_count);
    json_object_end(json);
    finding_write(json, pool->finding);
    finding_write_sentences(json, "course", pool->course);
    memory_profile_views_failures(json, pool,
                                  pool->failure_count > FAILURES_SHOWN ? pool->failure_count - FAILURES_SHOWN : 0,
                                  pool->failure_count);
    sparkline_write(json, pool);
    note_write_list(json, pool->notes.items, pool->notes.count);
    json_object_end(json);
}

/* Largest less smallest peak of the device pools. */
static int64_t spread_of(const struct memory_profile *profile)
{
    int64_t min = INT64_MAX, max = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < profile->pool_count && profile->pools[i].kind == PROFILE_DEVICE; i++, count++) {
        int64_t bytes = memory_profile_in_use_bytes(profile, profile->pools[i].peak_at);
        min = bytes < min ? bytes : min;
        max = bytes > max ? bytes : max;
    }
    return count > 1 ? max - min : MEMORY_UNKNOWN;
}

bool memory_profile_summary(const struct tool_request *request, struct json *json, struct err *err)
{
    const struct memory_profile *profile = request->model;
    const struct memory_profile_summary_names names = {NULL, NULL, NULL};
    struct memory_profile_reason reason = memory_profile_notes_reason(profile);
    (void)err;
    json_object_begin(json);
    json_key(json, "reason");
    memory_profile_views_reason(json, reason.code, reason.text);
    json_key_array(json, "hosts");
    memory_profile_summary_host(json, profile, &names);
    json_array_end(json);
    json_key_array(json, "pools");
    for (uint32_t i = 0; i < profile->pool_count; i++)
        memory_profile_summary_pool(json, &profile->pools[i], &names);
    json_array_end(json);
    memory_profile_views_bytes(json, "spread_bytes", spread_of(profile));
    json_object_end(json);
    return true;
}
