/* SPDX-License-Identifier: Apache-2.0
 * xprof.c: the view "xprof": XProf 2.24.2's own memory profile, its odd figures included.
 *
 * Times are offsets without the start of their line, frees tell what their
 * allocation was, at most 1000 points are kept of the curve, and the rows are the
 * allocations of the peak's step alone.
 * Source: rules of xplane_to_memory_profile.cc, held against recorded answers. */
#include "model/memory_profile/snapshots.h"
#include "views/memory_profile/views.h"

#include <stdlib.h>

enum { POINTS_MAX = 1000, SPECIAL = UINT32_MAX };

static void data_type_write(struct json *json, struct arena *arena, int32_t number)
{
    bool is_reference = number > 100;
    const char *name = number == 0 ? "INVALID" : memory_profile_data_type(is_reference ? number - 100 : number);
    if (name == NULL)
        name = arena_format(arena, "unknown dtype enum (%d)", number);
    else if (is_reference)
        name = arena_format(arena, "%s_ref", name);
    json_key_text(json, "dataType", name);
}

static int64_t told_size(const struct memory_profile *profile, uint32_t event)
{
    return (profile->flags[event] & PROFILE_SIZE_INFERRED) != 0 ? 0 : profile->size_bytes[event];
}

static void address_write(struct json *json, uint64_t address)
{
    char text[24];
    size_t at = sizeof(text) - 1;
    text[at] = '\0';
    do
        text[--at] = (char)('0' + address % 10);
    while ((address /= 10) > 0);
    json_key_text(json, "address", text + at);
}

static void figures_write(struct json *json, const char *key, const struct memory_profile *profile, uint32_t event,
                          int64_t peak_bytes)
{
    int64_t free_bytes = memory_profile_free_bytes(profile, event);
    json_key_object(json, key);
    json_key_id(json, "stackReservedBytes", memory_profile_stack_bytes(profile, event));
    json_key_id(json, "heapAllocatedBytes", profile->heap_bytes[event]);
    json_key_id(json, "freeMemoryBytes", free_bytes == MEMORY_UNKNOWN ? 0 : free_bytes);
    json_key_double(json, "fragmentation", memory_profile_fragmentation_of(profile, event));
    json_key_id(json, "peakBytesInUse", peak_bytes);
    json_object_end(json);
}

static void activity_write(struct json *json, const struct memory_profile_snapshots *snapshots, uint32_t place)
{
    const struct memory_profile *profile = snapshots->profile;
    uint32_t event = memory_profile_snapshots_event(snapshots, place);
    const struct memory_what *what =
        &profile->events.whats[profile->what[memory_profile_snapshots_told_by(snapshots, place)]];
    json_key_object(json, "activityMetadata");
    json_key_text(json, "memoryActivity", memory_profile_is_free(profile, event) ? "DEALLOCATION" : "ALLOCATION");
    json_key_id(json, "requestedBytes", memory_profile_requested_bytes(profile, event));
    json_key_id(json, "allocationBytes", told_size(profile, event));
    address_write(json, profile->address[event]);
    json_key_string(json, "tfOpName", memory_profile_text(profile, what->op));
    json_key_id(json, "stepId", memory_profile_snapshots_step(snapshots, place));
    json_key_string(json, "regionType", memory_profile_text(profile, what->region));
    data_type_write(json, snapshots->arena, what->data_type);
    json_key_string(json, "tensorShape", memory_profile_text(profile, what->shape));
    json_object_end(json);
}

static void snapshot_write(struct json *json, const struct memory_profile_snapshots *snapshots, uint32_t place)
{
    const struct memory_profile *profile = snapshots->profile;
    uint32_t event = memory_profile_snapshots_event(snapshots, place);
    int64_t peak = profile->events.figure_sets[profile->figures[event]].peak_bytes;
    json_object_begin(json);
    json_key_id(json, "timeOffsetPs", memory_profile_snapshots_offset(snapshots, place));
    figures_write(json, "aggregationStats", profile, event, peak == MEMORY_UNKNOWN ? 0 : peak);
    activity_write(json, snapshots, place);
    json_object_end(json);
}

/* ---- rows ---- */

struct row {
    uint32_t place; /* SPECIAL: of none */
    int special_at; /* 0, 1 in the order in which they are made; −1 */
    int64_t size_bytes, requested_bytes;
    struct str op, region, type, shape;
};

struct rows {
    struct row *items;
    uint32_t count;
    struct row specials[2];
    int special_count;
};

static int by_size(const void *left, const void *right)
{
    const struct row *a = left, *b = right;
    if (a->size_bytes != b->size_bytes)
        return a->size_bytes > b->size_bytes ? -1 : 1;
    if (a->requested_bytes != b->requested_bytes)
        return a->requested_bytes > b->requested_bytes ? -1 : 1;
    int order = str_compare(a->op, b->op);
    order = order != 0 ? order : str_compare(a->region, b->region);
    order = order != 0 ? order : str_compare(a->type, b->type);
    return order != 0 ? order : str_compare(a->shape, b->shape);
}

static int by_size_and_place(const void *left, const void *right)
{
    const struct row *a = left, *b = right;
    int order = by_size(left, right);
    return order != 0 ? order : (a->place > b->place) - (a->place < b->place);
}

static void special_add(struct rows *rows, int64_t bytes, const char *op, const char *region)
{
    if (bytes <= 0)
        return;
    struct row row = {SPECIAL,    rows->special_count, bytes,          bytes,
                      str_of(op), str_of(region),      STR("INVALID"), STR("unknown")};
    rows->specials[rows->special_count++] = row;
    rows->items[rows->count++] = row;
}

static struct row row_of(const struct memory_profile_snapshots *snapshots, uint32_t place)
{
    const struct memory_profile *profile = snapshots->profile;
    uint32_t event = memory_profile_snapshots_event(snapshots, place);
    const struct memory_what *what = &profile->events.whats[profile->what[event]];
    const char *type = memory_profile_data_type(what->data_type);
    return (struct row){place,
                        -1,
                        told_size(profile, event),
                        memory_profile_requested_bytes(profile, event),
                        memory_profile_text(profile, what->op),
                        memory_profile_text(profile, what->region),
                        str_of(type != NULL ? type : "INVALID"),
                        memory_profile_text(profile, what->shape)};
}

/* What the peak's step allocated and still holds at the peak, and what is left over. */
static void rows_make(const struct memory_profile_snapshots *snapshots, int64_t peak_step, struct rows *rows)
{
    const struct memory_profile *profile = snapshots->profile;
    uint32_t peak_event = snapshots->pool->xprof_peak_at;
    int64_t peak_ps = memory_profile_snapshots_event_offset(profile, peak_event),
            unmapped = profile->heap_bytes[peak_event], freed_unmapped = 0;
    struct arena *scratch = arena_child(snapshots->arena);
    struct table addresses;
    struct chunks open; /* uint32_t: place of each address */
    table_init(&addresses, scratch, 1);
    chunks_init(&open, scratch, sizeof(uint32_t));
    for (uint32_t i = 0; i < snapshots->count; i++) {
        uint32_t event = memory_profile_snapshots_event(snapshots, i);
        if (memory_profile_snapshots_step(snapshots, i) != peak_step)
            continue;
        if (memory_profile_snapshots_offset(snapshots, i) > peak_ps) /* as are all that follow */
            break;
        uint32_t number = table_number(&addresses, &profile->address[event]);
        while (open.count <= number)
            CHUNKS_ADD(&open, uint32_t, PROFILE_NONE);
        uint32_t *opened = &CHUNKS_AT(&open, uint32_t, number);
        if (!memory_profile_is_free(profile, event)) {
            *opened = i;
            unmapped -= told_size(profile, event);
            continue;
        }
        if (*opened == PROFILE_NONE)
            freed_unmapped += told_size(profile, event);
        *opened = PROFILE_NONE;
        unmapped += told_size(profile, event);
    }
    rows->items = arena_array(snapshots->arena, struct row, open.count + 3);
    for (uint32_t i = 0; i < open.count; i++)
        if (CHUNKS_AT(&open, uint32_t, i) != PROFILE_NONE)
            rows->items[rows->count++] = row_of(snapshots, CHUNKS_AT(&open, uint32_t, i));
    special_add(rows, unmapped - freed_unmapped, "unused preallocated device memory", "persist/dynamic");
    special_add(rows, memory_profile_stack_bytes(profile, peak_event), "stack", "stack");
    qsort(rows->items, rows->count, sizeof(*rows->items), by_size_and_place);
    arena_free(scratch);
}

static void rows_write(struct json *json, const struct memory_profile_snapshots *snapshots, int64_t peak_step,
                       const struct rows *rows)
{
    json_key_array(json, "memoryProfileSnapshots");
    for (uint32_t i = 0; i < rows->count; i++)
        if ((i == 0 || by_size(&rows->items[i], &rows->items[i - 1]) != 0) && rows->items[i].place != SPECIAL)
            snapshot_write(json, snapshots, rows->items[i].place);
    json_array_end(json);
    json_key_array(json, "activeAllocations");
    int64_t kept = 0;
    for (uint32_t i = 0, end; i < rows->count; i = end) {
        const struct row *row = &rows->items[i];
        for (end = i + 1; end < rows->count && by_size(row, &rows->items[end]) == 0;)
            end++;
        json_object_begin(json);
        json_key_id(json, "snapshotIndex", row->place == SPECIAL ? -1 - row->special_at : kept++);
        json_key_id(json, "specialIndex", row->special_at);
        json_key_id(json, "numOccurrences", end - i);
        json_object_end(json);
    }
    json_array_end(json);
    json_key_array(json, "specialAllocations");
    for (int i = 0; i < rows->special_count; i++) {
        json_object_begin(json);
        json_key_text(json, "memoryActivity", "ALLOCATION");
        json_key_id(json, "requestedBytes", rows->specials[i].requested_bytes);
        json_key_id(json, "allocationBytes", rows->specials[i].size_bytes);
        json_key_text(json, "address", "0");
        json_key_string(json, "tfOpName", rows->specials[i].op);
        json_key_id(json, "stepId", peak_step);
        json_key_string(json, "regionType", rows->specials[i].region);
        json_key_text(json, "dataType", "INVALID");
        json_key_text(json, "tensorShape", "unknown");
        json_object_end(json);
    }
    json_array_end(json);
}

static void summary_write(struct json *json, const struct memory_profile_pool *pool)
{
    const struct memory_profile *profile = pool->profile;
    uint32_t event = pool->xprof_peak_at;
    int64_t free_bytes = memory_profile_free_bytes(profile, event),
            in_use = memory_profile_in_use_bytes(profile, event);
    json_key_object(json, "profileSummary");
    json_key_id(json, "peakBytesUsageLifetime", pool->xprof_lifetime_peak_bytes);
    figures_write(json, "peakStats", profile, event, in_use);
    json_key_id(json, "peakStatsTimePs", memory_profile_snapshots_event_offset(profile, event));
    json_key_id(json, "memoryCapacity", in_use + (free_bytes == MEMORY_UNKNOWN ? 0 : free_bytes));
    json_object_end(json);
}

/* All points, or the largest of each of 1000 boxes of equal count. */
static void points_write(struct json *json, const struct memory_profile_snapshots *snapshots)
{
    uint32_t count = snapshots->count, boxes = count < POINTS_MAX ? count : POINTS_MAX;
    uint32_t width = boxes > 0 ? count / boxes : 0, narrow = boxes * (width + 1) - count;
    json_key_array(json, "sampledTimelineSnapshots");
    for (uint32_t box = 0, at = 0, end; box < boxes; box++, at = end) {
        end = at + width + (box >= narrow);
        snapshot_write(json, snapshots, memory_profile_snapshots_largest(snapshots, at, end));
    }
    json_array_end(json);
}

static void pool_write(struct json *json, const struct tool_request *request, const struct memory_profile_pool *pool)
{
    struct memory_profile_snapshots snapshots = {.arena = request->arena, .profile = request->model, .pool = pool};
    struct rows rows = {.count = 0};
    memory_profile_snapshots_make(&snapshots);
    uint32_t peak =
        memory_profile_snapshots_last(&snapshots, memory_profile_in_use_bytes(request->model, pool->xprof_peak_at));
    int64_t peak_step = peak == PROFILE_NONE ? 0 : memory_profile_snapshots_step(&snapshots, peak);
    rows_make(&snapshots, peak_step, &rows);
    json_object_begin(json);
    summary_write(json, pool);
    rows_write(json, &snapshots, peak_step, &rows);
    points_write(json, &snapshots);
    json_object_end(json);
}

static bool has_seen(const struct memory_profile_pool *pool)
{
    bool has = pool->profile->events.encoded_count == 0;
    for (uint32_t event = pool->first; event < pool->first + pool->count && !has; event++)
        has = memory_profile_snapshots_is_seen(pool->profile, event);
    return has;
}

static int by_name(const void *left, const void *right)
{
    const struct memory_profile_pool *const *a = left, *const *b = right;
    return str_compare((*a)->name, (*b)->name);
}

static void modules_write(struct json *json, const struct module_launches *launches)
{
    static const char prefix[] = "/device:";
    json_key_array(json, "hloModules");
    for (size_t i = 0; i < launches->items.count; i++) {
        const struct module_launch *launch = chunks_at(&launches->items, i);
        struct str plane = launches->planes[launch->plane_at];
        if (!str_starts(plane, STR("/device:TPU:")))
            continue; /* XProf reads those of TPUs alone */
        if (str_starts(plane, STR(prefix)))
            plane = (struct str){plane.data + sizeof(prefix) - 1, plane.length - (sizeof(prefix) - 1)};
        json_object_begin(json);
        json_key_string(json, "name", launches->names.items[launch->name_at]);
        json_key_id(json, "startTimePs", launch->offset_ps);
        json_key_id(json, "endTimePs", launch->offset_ps + (launch->end_ps - launch->begin_ps));
        json_key_id(json, "id", (int64_t)i);
        json_key_string(json, "planeName", plane);
        json_object_end(json);
    }
    json_array_end(json);
}

bool memory_profile_xprof(const struct tool_request *request, struct json *json, struct err *err)
{
    const struct memory_profile *profile = request->model;
    const struct memory_profile_pool **pools =
        arena_array(request->arena, const struct memory_profile_pool *, (size_t)profile->pool_count + 1);
    uint32_t count = 0;
    (void)err;
    for (uint32_t i = 0; i < profile->pool_count; i++)
        if (has_seen(&profile->pools[i]))
            pools[count++] = &profile->pools[i];
    qsort(pools, count, sizeof(*pools), by_name);
    json->keeps_null = true;
    json_object_begin(json);
    json_key_object(json, "memoryProfilePerAllocator");
    for (uint32_t i = 0; i < count; i++) {
        json_key_name(json, pools[i]->name);
        pool_write(json, request, pools[i]);
    }
    json_object_end(json);
    json_key_int(json, "numHosts", 1);
    json_key_array(json, "memoryIds");
    for (uint32_t i = 0; i < count; i++)
        json_string(json, pools[i]->name);
    json_array_end(json);
    json_key_int(json, "version", 1);
    modules_write(json, &profile->events.launches);
    json_object_end(json);
    return true;
}
