/* SPDX-License-Identifier: Apache-2.0 */
#include "verdict/evidence.h"
#include "verdict/torch_moment.h"

#include "base/sum.h"
#include "plan/pattern.h"
#include "read/device.h"

#include <stdlib.h>

static const struct verdict_evidence nothing = {.kind = VERDICT_EVIDENCE_NONE, .space = -1, .sum_bytes = -1};

struct verdict_evidence evidence_difference(const char *sentence)
{
    struct verdict_evidence evidence = nothing;
    evidence.kind = VERDICT_EVIDENCE_DIFFERENCE;
    evidence.sentence = sentence;
    return evidence;
}

/* ---- rows of the plan ---- */

/* Which rows: those that `takes` takes. */
struct rows {
    bool (*takes)(const struct verdict_facts *facts, const struct plan_row *row, const void *of);
    const void *of;
    bool is_padding;  /* their padding counts, not their size */
    const char *less; /* why the figure may be less than their sum; NULL: memory of several is counted once */
};

/* A heap that cannot be replayed has no moments: the table lists all its rows. */
static bool is_listed(const struct plan_space *space, const struct plan_row *row)
{
    return space->heap.failure != HEAP_FINE || plan_row_is_alive(row, space->peak_step);
}

static int64_t counted_bytes(const struct plan_row *row, bool is_padding)
{
    return is_padding ? facts_padding(row) : row->bytes;
}

static const char counted_twice[] = "less: memory that several of these buffers use is counted once";

/* `more`, `less`: why the figure holds more, or less, than what is listed for it. */
static void rest_set(struct verdict_evidence *evidence, int64_t bytes, const char *more, const char *less)
{
    evidence->rest_bytes = bytes - evidence->sum_bytes;
    evidence->rest = evidence->rest_bytes == 0 ? NULL : evidence->rest_bytes < 0 ? less : more;
}

static struct verdict_evidence of_rows(const struct verdict_facts *facts, const struct rows *rows, const char *filter,
                                       int64_t bytes, const char *rest)
{
    const struct plan_space *space = facts->space;
    bool is_whole = space->heap.failure != HEAP_FINE;
    struct verdict_evidence evidence = {.kind = VERDICT_EVIDENCE_BUFFERS,
                                        .tool = "memory_viewer",
                                        .space = space->space,
                                        .step = is_whole ? "all" : "peak",
                                        .filter = filter,
                                        .column = rows->is_padding ? "padding" : "size"};
    for (uint32_t i = 0; i < space->row_count; i++) {
        const struct plan_row *row = &space->rows[i];
        if (!is_listed(space, row) || (rows->takes != NULL && !rows->takes(facts, row, rows->of)))
            continue;
        evidence.count++;
        evidence.sum_bytes = sum_add(evidence.sum_bytes, counted_bytes(row, rows->is_padding));
    }
    rest_set(&evidence, bytes, rest, rows->less != NULL ? rows->less : counted_twice);
    evidence.sentence =
        arena_format(facts->arena, "%u buffer%s of %s%s hold%s %s%s.", evidence.count, evidence.count == 1 ? "" : "s",
                     space->name, is_whole ? "" : ", live at the peak,", evidence.count == 1 ? "s" : "",
                     facts_size(facts, evidence.sum_bytes), rows->is_padding ? " of padding" : "");
    return evidence;
}

struct verdict_evidence evidence_live(const struct verdict_facts *facts, int64_t bytes, const char *rest)
{
    return of_rows(facts, &(struct rows){.takes = NULL}, "", bytes, rest);
}

static bool is_of_category(const struct verdict_facts *facts, const struct plan_row *row, const void *of)
{
    (void)facts;
    return row->choice.category == *(const enum category *)of;
}

struct verdict_evidence evidence_category(const struct verdict_facts *facts, enum category category, int64_t bytes)
{
    const char *filter = arena_format(facts->arena, "cat:%s", category_name(category));
    return of_rows(facts, &(struct rows){is_of_category, &category, false, NULL}, filter, bytes, "live at other times");
}

static bool is_of_kind(const struct verdict_facts *facts, const struct plan_row *row, const void *of)
{
    return plan_kind_of(&facts->parts->plan->hlo.allocations[row->allocation_at]) == *(const enum plan_kind *)of;
}

struct verdict_evidence evidence_kind(const struct verdict_facts *facts, enum plan_kind kind, int64_t bytes)
{
    const char *filter = arena_format(facts->arena, "kind:%s", plan_kind_name(kind));
    return of_rows(facts, &(struct rows){is_of_kind, &kind, false, NULL}, filter, bytes,
                   "allocations that hold nothing at the peak");
}

static bool is_of_pattern(const struct verdict_facts *facts, const struct plan_row *row, const void *of)
{
    (void)facts;
    return (row->patterns & 1u << ((const struct plan_pattern *)of)->kind) != 0;
}

struct verdict_evidence evidence_pattern(const struct verdict_facts *facts, const struct plan_pattern *pattern,
                                         int64_t bytes)
{
    const char *filter = arena_format(facts->arena, "pattern:%s", pattern_name((enum pattern_kind)pattern->kind));
    return of_rows(facts, &(struct rows){is_of_pattern, pattern, pattern->kind == PATTERN_PADDING, NULL}, filter, bytes,
                   bytes < pattern->bytes ? "without them another moment is the peak" : "live at other times");
}

static bool is_row(const struct verdict_facts *facts, const struct plan_row *row, const void *of)
{
    (void)facts;
    return row == of;
}

static const char *row_filter(const struct verdict_facts *facts, const struct plan_row *row)
{
    const struct hlo *hlo = &facts->parts->plan->hlo;
    bool is_named = row->buffer_at != PLAN_NONE;
    int64_t id = is_named ? hlo->buffers[row->buffer_at].id : hlo->allocations[row->allocation_at].index;
    return arena_format(facts->arena, "%s:%lld", is_named ? "id" : "alloc", (long long)id);
}

struct verdict_evidence evidence_row(const struct verdict_facts *facts, const struct plan_row *row, int64_t bytes)
{
    const char *rest = bytes < row->bytes ? "its padding" : "of this buffer";
    return of_rows(facts, &(struct rows){is_row, row, false, rest}, row_filter(facts, row), bytes, rest);
}

struct verdict_evidence evidence_padding(const struct verdict_facts *facts, const struct plan_row *row)
{
    return of_rows(facts, &(struct rows){is_row, row, true, NULL}, row_filter(facts, row), counted_bytes(row, true),
                   NULL);
}

/* Groups hold only what is live at the peak. */
struct verdict_evidence evidence_group(const struct verdict_facts *facts, const struct verdict_group *group)
{
    struct verdict_evidence evidence = nothing;
    evidence.kind = VERDICT_EVIDENCE_BUFFERS;
    evidence.tool = "memory_viewer";
    evidence.space = facts->space->space;
    evidence.step = "peak";
    evidence.filter = arena_format(facts->arena, "group:%s", group->key);
    evidence.column = "size";
    evidence.count = group->count;
    evidence.sum_bytes = group->bytes;
    evidence.sentence =
        arena_format(facts->arena, "%u equal buffer%s of repeated layers, live at the peak, hold%s %s.", group->count,
                     group->count == 1 ? "" : "s", group->count == 1 ? "s" : "", facts_size(facts, group->bytes));
    return evidence;
}

struct verdict_evidence evidence_other_groups(const struct verdict_facts *facts)
{
    const struct verdict *out = facts->out;
    struct verdict_evidence evidence = evidence_live(facts, out->peak_bytes, NULL);
    for (uint32_t i = 0; i < out->group_count; i++) {
        evidence.filter = arena_format(facts->arena, "%s%s%s", i == 0 ? "-group:" : evidence.filter, i == 0 ? "" : ",",
                                       out->groups[i].key);
        evidence.count -= out->groups[i].count;
        evidence.sum_bytes -= out->groups[i].bytes;
    }
    rest_set(&evidence, out->rest_bytes, "live at other times", counted_twice);
    evidence.sentence = arena_format(facts->arena, "%u buffers of the smaller groups, live at the peak, hold %s.",
                                     evidence.count, facts_size(facts, evidence.sum_bytes));
    return evidence;
}

struct verdict_evidence evidence_change(const struct verdict_facts *facts, const char *change)
{
    struct verdict_evidence evidence = nothing;
    evidence.kind = VERDICT_EVIDENCE_CHANGE;
    evidence.change = change;
    if (facts->space == NULL && facts->moment != NULL) {
        evidence.tool = "memory_profile";
        evidence.memory = arena_text(facts->arena, facts->moment->pool->name);
        evidence.sentence = arena_format(
            facts->arena, "The recording replayed with %s%s: memviewd whatif PATH --change='%s'.", change,
            facts->moment->failure == NULL ? "" : ", with the request that failed where it is still made", change);
        return evidence;
    }
    evidence.tool = "memory_viewer";
    evidence.space = facts->space == NULL ? -1 : facts->space->space;
    evidence.sentence =
        arena_format(facts->arena, "The heap, replayed with %s: memviewd whatif PATH --change='%s'.", change, change);
    return evidence;
}

/* ---- a text ---- */

/* Of "needed_bytes", or of a listed buffer, "buffers.1.size_bytes"; NULL: the text has none. */
static const struct oom_figure *figure_of(const struct verdict_facts *facts, const char *key)
{
    static const char listed[] = "buffers.";
    for (int i = 0; i < OOM_FIGURE_COUNT; i++)
        if (strcmp(oom_figure_key((enum oom_figure_at)i), key) == 0)
            return oom_figure(facts->failure, (enum oom_figure_at)i);
    const struct oom_buffers *buffers = &facts->failure->lists[OOM_ALLOCATIONS];
    size_t at = strncmp(key, listed, sizeof(listed) - 1) == 0 ? strtoul(key + sizeof(listed) - 1, NULL, 10) : SIZE_MAX;
    return at < buffers->count && buffers->items[at].size.is_known ? &buffers->items[at].size : NULL;
}

struct verdict_evidence evidence_text(const struct verdict_facts *facts, const char *key, int64_t bytes)
{
    struct verdict_evidence evidence = nothing;
    const struct oom_figure *figure = facts->failure == NULL || key == NULL ? NULL : figure_of(facts, key);
    if (figure == NULL || figure->value > INT64_MAX || figure->length == 0)
        return evidence;
    evidence.kind = VERDICT_EVIDENCE_TEXT;
    evidence.tool = "oom";
    evidence.key = key;
    evidence.begin = figure->at;
    evidence.end = figure->at + figure->length;
    evidence.sum_bytes = (int64_t)figure->value;
    evidence.sentence = arena_format(facts->arena, "The error text states it in its bytes %llu to %llu.",
                                     (unsigned long long)evidence.begin, (unsigned long long)evidence.end);
    rest_set(&evidence, bytes, "rounding of the text's figures", "rounding of the text's figures");
    return evidence;
}

/* ---- what the device has ---- */

static const char *device_sentence(const struct verdict_facts *facts, const char *source, const struct device *device)
{
    const char *has =
        device->available_bytes > 0 ? "of which a program gets" : "what of it a program gets is not known";
    return arena_format(facts->arena, "%s: %s has %s, %s%s%s (known from: %s).", source, device->title,
                        facts_size(facts, device->physical_bytes), has, device->available_bytes > 0 ? " " : "",
                        device->available_bytes > 0 ? facts_size(facts, device->available_bytes) : "", device->source);
}

struct verdict_evidence evidence_capacity(const struct verdict_facts *facts)
{
    const struct verdict_parts *parts = facts->parts;
    const struct verdict_fit *fit = &facts->out->fit;
    struct verdict_evidence evidence = nothing;
    if (fit->capacity_bytes < 0)
        return evidence;
    if (fit->capacity_from == CAPACITY_FAILURE)
        return evidence_text(facts, oom_figure_key(OOM_capacity_bytes), fit->capacity_bytes);
    if (fit->capacity_from == CAPACITY_ALLOCATOR)
        return evidence_trace();
    evidence.kind = VERDICT_EVIDENCE_CAPACITY;
    evidence.device = parts->around.capacity.device;
    evidence.file = parts->around.capacity.file;
    if (parts->around.capacity.file != NULL) {
        evidence.tool = "oom";
        evidence.begin = parts->around.capacity.begin;
        evidence.end = parts->around.capacity.end;
    }
    const struct device *device =
        parts->around.capacity.device == NULL ? NULL : device_named(parts->around.capacity.device);
    evidence.sentence =
        device != NULL ? device_sentence(facts, parts->around.capacity.source, device)
        : parts->around.capacity.file != NULL
            ? arena_format(facts->arena, "%s states it in its bytes %llu to %llu.", parts->around.capacity.file,
                           (unsigned long long)evidence.begin, (unsigned long long)evidence.end)
            : arena_format(facts->arena, "%s, %s.", facts_size(facts, fit->capacity_bytes),
                           parts->around.capacity.source);
    return evidence;
}

/* ---- allocators, live arrays ---- */

struct verdict_evidence evidence_trace(void)
{
    struct verdict_evidence evidence = nothing;
    evidence.kind = VERDICT_EVIDENCE_TRACE;
    evidence.tool = "memory_profile";
    evidence.sentence = "The curve of the allocator in the trace, at its peak.";
    return evidence;
}

struct verdict_evidence evidence_profile(const struct verdict_facts *facts, const char *filter, int64_t bytes)
{
    struct verdict_evidence evidence = nothing;
    evidence.kind = VERDICT_EVIDENCE_PROFILE;
    evidence.tool = "device_memory";
    evidence.view = filter == NULL ? "series" : "buffers";
    evidence.filter = filter;
    evidence.sentence = filter == NULL ? "The device profiles in the order in which they were taken."
                                       : "Rows of the last device profile.";
    if (filter == NULL || !facts->live.is_known)
        return evidence;
    evidence.file = facts->live.id;
    evidence.column = "total";
    evidence.sum_bytes = bytes;
    return evidence;
}
