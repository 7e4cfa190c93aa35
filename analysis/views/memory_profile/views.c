/* SPDX-License-Identifier: Apache-2.0
 * views.c: see views.h. */
#include "views/memory_profile/views.h"

#include "model/memory_profile/categories.h"
#include "model/memory_profile/end.h"
#include "model/memory_profile/failures.h"
#include "model/memory_profile/naming.h"
#include "model/memory_profile/notes.h"
#include "read/torch/torch_snapshot.h"

#include <stdio.h>

/* Beyond it no event has a time. */
#define TIME_MAX (INT64_C(1) << 61)

/* How a pool is called that no event names. A pool that is really named so comes first. */
static const char unnamed[] = "(none)";

const struct memory_profile_pool *memory_profile_views_pool_named(const struct memory_profile *profile,
                                                                  const char *name)
{
    const struct memory_profile_pool *nameless = NULL;
    for (uint32_t i = 0; i < profile->pool_count; i++) {
        const struct memory_profile_pool *pool = &profile->pools[i];
        if (name == NULL || str_equal(pool->name, str_of(name)))
            return pool;
        nameless = pool->name.length == 0 ? pool : nameless;
    }
    return name != NULL && strcmp(name, unnamed) == 0 ? nameless : NULL;
}

const struct memory_profile_pool *memory_profile_views_pool(const struct tool_request *request, struct err *err)
{
    const char *name = tool_param_text(request, "memory");
    const struct memory_profile *profile = request->model;
    const struct memory_profile_pool *pool = memory_profile_views_pool_named(profile, name);
    if (pool == NULL && name != NULL)
        err_set(err, ERR_notfound, ERR_NO_OFFSET, "this trace has no events of a memory \"%.60s\"", name);
    else if (pool == NULL && profile->cut_reason != NULL)
        err_set(err, ERR_truncated, profile->events.cut.at_bytes, "%s", profile->cut_reason);
    else if (pool == NULL && profile->events.is_empty)
        err_empty(err);
    else if (pool == NULL)
        err_set(err, ERR_notfound, ERR_NO_OFFSET, "this trace holds no memory events");
    memory_profile_views_notes(request, pool);
    return pool;
}

bool memory_profile_views_window(const struct tool_request *request, const struct memory_profile_pool *pool,
                                 struct memory_profile_window *out, struct err *err)
{
    const struct memory_profile *profile = request->model;
    if (!tool_param_number(request, "from", -TIME_MAX, TIME_MAX, profile->start_ps, &out->from_ps, err) ||
        !tool_param_number(request, "to", -TIME_MAX, TIME_MAX, profile->end_ps, &out->to_ps, err))
        return false;
    if (out->from_ps > out->to_ps)
        return err_set(err, ERR_argument, ERR_NO_OFFSET, "from: %lld is behind the end, %lld", (long long)out->from_ps,
                       (long long)out->to_ps);
    out->first = memory_profile_after(pool, out->from_ps - 1);
    out->end = memory_profile_after(pool, out->to_ps);
    return true;
}

bool memory_profile_views_moment(const struct tool_request *request, const struct memory_profile_pool *pool,
                                 struct memory_profile_moment *out, struct err *err)
{
    const char *time = tool_param_text(request, "time");
    int64_t event;
    if (!tool_param_number(request, "event", 0, (int64_t)pool->count - 1, -1, &event, err))
        return false;
    if (event >= 0) {
        *out = memory_profile_moment_after_event(pool, (uint32_t)event);
        return true;
    }
    if (time == NULL || time[strspn(time, "-0123456789")] != '\0') /* not in ps alone */
        return memory_profile_moment_read(pool, "time", time == NULL ? "peak" : time, out, err);
    if (!tool_param_number(request, "time", -TIME_MAX, TIME_MAX, 0, &out->time_ps, err))
        return false;
    *out = memory_profile_moment_at_time(pool, out->time_ps);
    return true;
}

static void fragmentation_write(struct json *json, const struct memory_profile *profile, uint32_t event)
{
    json_key(json, "fragmentation");
    if ((profile->flags[event] & MEMORY_HAS_FRAGMENTATION) != 0)
        json_double(json, memory_profile_fragmentation_of(profile, event));
    else
        json_null(json);
}

void memory_profile_views_state(struct json *json, const struct memory_profile_pool *pool, uint32_t count)
{
    const struct memory_profile *profile = pool->profile;
    uint32_t event = pool->first + (count > 0 ? count - 1 : 0);
    int64_t stack = memory_profile_stack_bytes(profile, event);
    int64_t heap = count > 0 ? profile->heap_bytes[event] : pool->base_bytes;
    int64_t limit = profile->events.figure_sets[profile->figures[event]].limit_bytes;
    json_key_int(json, "in_use_bytes", stack + heap);
    json_key_int(json, "stack_bytes", stack);
    json_key_int(json, "heap_bytes", heap);
    memory_profile_views_bytes(json, "free_bytes", limit == MEMORY_UNKNOWN ? limit : limit - stack - heap);
    if (count > 0)
        fragmentation_write(json, profile, event);
    json_key_known(json, "step", count > 0 ? profile->step[event] : -1);
}

void memory_profile_views_level(struct json *json, const struct memory_profile_pool *pool, uint32_t count,
                                int64_t time_ps)
{
    json_object_begin(json);
    json_key_int(json, "time_ps", time_ps);
    json_key_known(json, "event", (int64_t)count - 1);
    memory_profile_views_state(json, pool, count);
    json_object_end(json);
}

void memory_profile_views_point(struct json *json, const struct memory_profile_pool *pool, uint32_t at)
{
    memory_profile_views_level(json, pool, at + 1, pool->profile->time_ps[pool->first + at]);
}

void memory_profile_views_memory(struct json *json, const struct memory_profile_pool *pool)
{
    json_key_string(json, "memory", pool->name.length > 0 ? pool->name : STR(unnamed));
}

void memory_profile_views_reason(struct json *json, const char *code, const char *text)
{
    if (code == NULL) {
        json_null(json);
        return;
    }
    json_object_begin(json);
    json_key_text(json, "code", code);
    json_key_text(json, "text", text);
    json_object_end(json);
}

void memory_profile_views_text(struct json *json, const char *key, struct str text)
{
    if (text.length > 0)
        json_key_string(json, key, text);
}

void memory_profile_views_bytes(struct json *json, const char *key, int64_t bytes)
{
    if (bytes != MEMORY_UNKNOWN)
        json_key_int(json, key, bytes);
}

void memory_profile_views_address(struct json *json, const char *key, uint64_t address, bool is_known)
{
    char text[24];
    snprintf(text, sizeof(text), "0x%llx", (unsigned long long)address);
    if (key != NULL)
        json_key(json, key);
    json_text(json, is_known ? text : NULL);
}

void memory_profile_views_rule(struct json *json, const struct memory_profile *profile, const struct memory_what *what)
{
    const struct memory_profile_guess *guess = memory_profile_guess_of(profile, what);
    json_key_text(json, "rule", guess == NULL ? NULL : memory_profile_naming_rule(guess));
    json_key_text(json, "rule_text", guess == NULL ? NULL : memory_profile_naming_rule_text(guess));
}

void memory_profile_views_stack(struct json *json, const char *key, const struct memory_profile *profile,
                                uint32_t stack)
{
    const struct torch_snapshot *snapshot = profile->events.snapshot;
    if (key != NULL)
        json_key(json, key);
    if (snapshot == NULL || stack >= snapshot->stack_count) {
        json_null(json);
        return;
    }
    json_array_begin(json);
    for (uint32_t i = 0; i < snapshot->stacks[stack].count; i++) {
        const struct torch_frame *frame = &snapshot->frames[snapshot->stack_frames[snapshot->stacks[stack].first + i]];
        json_object_begin(json);
        json_key_string(json, "file", frame->file);
        json_key_string(json, "function", frame->function);
        json_key_known(json, "line", frame->line > 0 ? (int64_t)frame->line : -1);
        json_key_bool(json, "is_library", frame->whose == LIBRARY_MACHINERY);
        json_object_end(json);
    }
    json_array_end(json);
}

bool memory_profile_views_is_category(struct str typed)
{
    enum category category;
    return category_find(typed, &category);
}

void memory_profile_views_named(struct json *json, const struct memory_profile *profile,
                                const struct memory_profile_tally *tally, int64_t in_use_bytes)
{
    char sentence[NAMING_SENTENCE_BYTES];
    if (profile->guess_count == 0 || profile->events.snapshot != NULL)
        return;
    bool has_main = tally->main_guess != PROFILE_NONE;
    json_key_object(json, "named");
    json_key_int(json, "bytes", tally->named_bytes);
    json_key_int(json, "unnamed_bytes", tally->unnamed_bytes);
    json_key_uint(json, "module_count", tally->module_count);
    memory_profile_views_text(json, "module",
                              has_main ? profile->guesses[tally->main_guess].module : (struct str){"", 0});
    json_key_text(json, "confidence", "guess");
    memory_profile_naming_sentence(profile, tally, in_use_bytes, sentence);
    memory_profile_views_text(json, "sentence", str_of(sentence));
    json_object_end(json);
}

struct str memory_profile_views_key(struct buf *scratch, const struct str *parts, size_t count, int64_t number)
{
    uint64_t hash = 14695981039346656037ULL ^ (uint64_t)number; /* FNV-1a */
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j <= parts[i].length; j++)
            hash = (hash ^ (j < parts[i].length ? (unsigned char)parts[i].data[j] : 0xFFu)) * 1099511628211ULL;
    scratch->length = 0;
    buf_format(scratch, "g:%016llx", (unsigned long long)hash);
    return (struct str){scratch->data, scratch->length};
}

void memory_profile_views_notes(const struct tool_request *request, const struct memory_profile_pool *pool)
{
    const struct memory_profile *profile = request->model;
    const struct memory_profile_notes *sets[] = {&profile->notes, pool != NULL ? &pool->notes : NULL};
    for (int s = 0; s < 2; s++)
        for (size_t i = 0; sets[s] != NULL && i < sets[s]->count; i++)
            tool_note(request, sets[s]->items[i].code, sets[s]->items[i].count, sets[s]->items[i].text);
}

void memory_profile_views_categories(struct json *json, const char *name,
                                     const struct memory_profile_category_sum *sums)
{
    if (sums == NULL)
        return;
    json_key_array(json, name);
    for (int i = 0; i < CATEGORY_COUNT; i++) {
        if (sums[i].bytes == 0)
            continue;
        json_object_begin(json);
        json_key_text(json, "category", category_name((enum category)i));
        json_key_int(json, "size_bytes", sums[i].bytes);
        json_key_int(json, "guessed_bytes", sums[i].guessed_bytes);
        json_key_uint(json, "count", sums[i].count);
        json_object_end(json);
    }
    json_array_end(json);
}

void memory_profile_views_end(struct json *json, const struct memory_profile_pool *pool)
{
    struct memory_profile_end end;
    if (!json_key_object_if(json, "end", memory_profile_end_of(pool, &end)))
        return;
    json_key_int(json, "in_use_bytes", end.in_use_bytes);
    json_key_int(json, "active_bytes", end.active_bytes);
    json_key_int(json, "pending_bytes", end.pending_bytes);
    json_key_int(json, "inactive_bytes", end.inactive_bytes);
    json_key_int(json, "reserved_bytes", end.reserved_bytes);
    json_key_uint(json, "block_count", end.block_count);
    json_key_uint(json, "segment_count", end.segment_count);
    json_object_end(json);
}

void memory_profile_views_failure(struct json *json, const struct memory_profile_pool *pool,
                                  const struct memory_profile_failure *failure)
{
    json_object_begin(json);
    json_key_uint(json, "failure", (uint64_t)(failure - pool->failures));
    json_key_int(json, "time_ps", failure->time_ps);
    json_key_known(json, "event", (int64_t)failure->count - 1);
    json_key_text(json, "kind", memory_profile_failures_kind(failure));
    json_key_int(json, "requested_bytes", failure->requested_bytes);
    memory_profile_views_bytes(json, "device_free_bytes", failure->device_free_bytes);
    json_key_int(json, "active_bytes", failure->active_bytes);
    memory_profile_views_bytes(json, "reserved_bytes", failure->reserved_bytes);
    memory_profile_views_bytes(json, "free_bytes", failure->free_bytes);
    memory_profile_views_bytes(json, "usable_free_bytes", failure->usable_free_bytes);
    memory_profile_views_bytes(json, "largest_hole_bytes", failure->largest_hole_bytes);
    memory_profile_views_bytes(json, "largest_any_hole_bytes", failure->largest_any_bytes);
    memory_profile_views_bytes(json, "missing_bytes", failure->missing_bytes);
    json_key_int(json, "stream", failure->stream);
    json_key_bool(json, "is_expandable", failure->is_expandable);
    json_object_end(json);
}

void memory_profile_views_failures(struct json *json, const struct memory_profile_pool *pool, uint32_t from,
                                   uint32_t to)
{
    json_key_array(json, "failures");
    for (uint32_t i = from; i < to; i++)
        memory_profile_views_failure(json, pool, &pool->failures[i]);
    json_array_end(json);
    json_key_uint(json, "failure_count", pool->failure_count);
}
