/* SPDX-License-Identifier: Apache-2.0
 * events.c: the view "events": allocations with what ends them, by address,
 * and frees of what was there before; and the view "event": one of them in full. */
#include "base/sum.h"
#include "tool/memory_profile/rows.h"

enum field {
    SIZE,
    REQUESTED,
    OP,
    STEP,
    REGION,
    DTYPE,
    SHAPE,
    ADDRESS,
    THREAD,
    TIME,
    LIFETIME,
    FREED,
    FREED_BY,
    ADDRESS_NUMBER,
    FIELD_COUNT
};

static const struct filter_field fields[FIELD_COUNT + 1] = {
    [SIZE] = {"size", FILTER_NUMBER, false},
    [REQUESTED] = {"requested", FILTER_NUMBER, false},
    [OP] = {"op", FILTER_TEXT, true},
    [STEP] = {"step", FILTER_NUMBER, false},
    [REGION] = {"region", FILTER_TEXT, false},
    [DTYPE] = {"dtype", FILTER_TEXT, false},
    [SHAPE] = {"shape", FILTER_SHAPE, true},
    [ADDRESS] = {"address", FILTER_TEXT, false},
    [THREAD] = {"thread", FILTER_TEXT, false},
    [TIME] = {"time", FILTER_NUMBER, false},
    [LIFETIME] = {"lifetime", FILTER_NUMBER, false},
    [FREED] = {"freed", FILTER_TEXT, false},
    [FREED_BY] = {"freed_by", FILTER_TEXT, false},
    [ADDRESS_NUMBER] = {"addr", FILTER_NUMBER, false},
    [FIELD_COUNT] = {NULL, FILTER_TEXT, false},
};
static const struct memory_profile_rows_sort longer[] = {{"address", ADDRESS_NUMBER}, {NULL, 0}};

struct listing {
    const struct tool_request *request;
    const struct memory_profile *profile;
    const struct memory_profile_pool *pool;
};

/* A row is an event of the pool: an allocation, or a free without one. */
static uint32_t event_of(const struct listing *listing, uint32_t row)
{
    return listing->pool->first + row;
}

/* The free that ends an allocation; PROFILE_NONE when there is none. */
static uint32_t free_of(const struct memory_profile *profile, uint32_t event)
{
    if (memory_profile_is_free(profile, event))
        return event;
    uint32_t end = profile->partner[event];
    return end != PROFILE_NONE && memory_profile_is_free(profile, end) ? end : PROFILE_NONE;
}

static bool number_of(const void *context, uint32_t row, size_t field, double *value)
{
    const struct listing *listing = context;
    const struct memory_profile *profile = listing->profile;
    uint32_t event = event_of(listing, row), freed = free_of(profile, event);
    switch ((enum field)field) {
    case SIZE:
        *value = (double)profile->size_bytes[event];
        return memory_profile_has_size(profile, event);
    case REQUESTED:
        *value = (double)profile->requested_bytes[event];
        return (profile->flags[event] & MEMORY_HAS_REQUESTED) != 0;
    case STEP:
        *value = profile->step[event];
        return profile->step[event] >= 0;
    case TIME:
        *value = (double)profile->time_ps[event] / 1e9;
        return true;
    case LIFETIME:
        if (freed == PROFILE_NONE || freed == event)
            return false;
        *value = (double)(profile->time_ps[freed] - profile->time_ps[event]) / 1e9;
        return true;
    case ADDRESS_NUMBER:
        *value = (double)profile->address[event];
        return (profile->flags[event] & MEMORY_HAS_ADDRESS) != 0;
    default:
        return false;
    }
}

static const char *kind_of(const struct memory_profile *profile, uint32_t event)
{
    if (memory_profile_is_free(profile, event))
        return "before_window";
    return free_of(profile, event) == PROFILE_NONE ? "never_freed" : "pair";
}

static struct str text_of(const void *context, uint32_t row, size_t field)
{
    const struct listing *listing = context;
    const struct memory_profile *profile = listing->profile;
    uint32_t event = event_of(listing, row), freed = free_of(profile, event);
    const struct memory_what *what = &profile->events.whats[profile->what[event]];
    switch ((enum field)field) {
    case OP:
        return memory_profile_text(profile, what->op);
    case REGION:
        return memory_profile_text(profile, what->region);
    case SHAPE:
        return memory_profile_text(profile, what->shape);
    case DTYPE:
        return memory_profile_views_data_type(profile, what);
    case THREAD:
        return profile->events.lines[profile->line[event]].name;
    case FREED:
        return freed == event ? STR("before") : freed == PROFILE_NONE ? STR("never") : STR("yes");
    case FREED_BY:
        return freed == PROFILE_NONE ? (struct str){"", 0}
                                     : memory_profile_text(profile, profile->events.whats[profile->what[freed]].op);
    case ADDRESS:
        listing->request->scratch->length = 0;
        buf_format(listing->request->scratch, "0x%llx", (unsigned long long)profile->address[event]);
        return (struct str){listing->request->scratch->data, listing->request->scratch->length};
    default:
        return (struct str){"", 0};
    }
}

static void row_write(struct json *json, const struct listing *listing, uint32_t row)
{
    const struct memory_profile *profile = listing->profile;
    uint32_t event = event_of(listing, row), freed = free_of(profile, event);
    bool is_before = freed == event, is_pair = !is_before && freed != PROFILE_NONE;
    json_object_begin(json);
    json_key_uint(json, "event", row);
    json_key_text(json, "kind", kind_of(profile, event));
    memory_profile_views_bytes(json, "time_ps", is_before ? MEMORY_UNKNOWN : profile->time_ps[event]);
    memory_profile_views_bytes(json, "size_bytes",
                        memory_profile_has_size(profile, event) ? profile->size_bytes[event] : MEMORY_UNKNOWN);
    bool has_requested = (profile->flags[event] & MEMORY_HAS_REQUESTED) != 0;
    memory_profile_views_bytes(json, "requested_bytes", has_requested ? profile->requested_bytes[event] : MEMORY_UNKNOWN);
    memory_profile_views_text(json, "op", is_before ? (struct str){"", 0} : text_of(listing, row, OP));
    json_key_known(json, "step", is_before ? -1 : profile->step[event]);
    memory_profile_views_text(json, "region", text_of(listing, row, REGION));
    memory_profile_views_text(json, "dtype", text_of(listing, row, DTYPE));
    memory_profile_views_text(json, "shape", text_of(listing, row, SHAPE));
    memory_profile_views_address(json, "address", profile->address[event], (profile->flags[event] & MEMORY_HAS_ADDRESS) != 0);
    memory_profile_views_text(json, "thread", is_before ? (struct str){"", 0} : text_of(listing, row, THREAD));
    json_key_known(json, "freed_event", freed == PROFILE_NONE ? -1 : (int64_t)(freed - listing->pool->first));
    memory_profile_views_bytes(json, "freed_ps", freed == PROFILE_NONE ? MEMORY_UNKNOWN : profile->time_ps[freed]);
    memory_profile_views_bytes(json, "lifetime_ps",
                        is_pair ? profile->time_ps[freed] - profile->time_ps[event] : MEMORY_UNKNOWN);
    memory_profile_views_text(json, "freed_by", text_of(listing, row, FREED_BY));
    json_key_known(json, "freed_step", freed == PROFILE_NONE ? -1 : profile->step[freed]);
    memory_profile_views_text(json, "freed_thread",
                       freed == PROFILE_NONE ? (struct str){"", 0} : profile->events.lines[profile->line[freed]].name);
    json_key_int(json, "in_use_bytes", memory_profile_in_use_bytes(profile, event));
    json_object_end(json);
}

static void csv_row(struct csv *csv, const struct listing *listing, uint32_t row)
{
    const struct memory_profile *profile = listing->profile;
    uint32_t event = event_of(listing, row), freed = free_of(profile, event);
    bool is_before = freed == event, is_pair = !is_before && freed != PROFILE_NONE;
    memory_profile_rows_cell(csv, row, true);
    csv_text(csv, str_of(kind_of(profile, event)));
    memory_profile_rows_cell(csv, profile->time_ps[event], !is_before);
    memory_profile_rows_cell(csv, profile->size_bytes[event], memory_profile_has_size(profile, event));
    memory_profile_rows_cell(csv, profile->requested_bytes[event], (profile->flags[event] & MEMORY_HAS_REQUESTED) != 0);
    csv_text(csv, text_of(listing, row, OP));
    memory_profile_rows_cell(csv, profile->step[event], profile->step[event] >= 0);
    csv_text(csv, text_of(listing, row, REGION));
    csv_text(csv, text_of(listing, row, DTYPE));
    csv_text(csv, text_of(listing, row, SHAPE));
    csv_text(csv, text_of(listing, row, ADDRESS));
    csv_text(csv, text_of(listing, row, THREAD));
    memory_profile_rows_cell(csv, freed == PROFILE_NONE ? 0 : profile->time_ps[freed], freed != PROFILE_NONE);
    memory_profile_rows_cell(csv, is_pair ? profile->time_ps[freed] - profile->time_ps[event] : 0, is_pair);
    csv_text(csv, text_of(listing, row, FREED_BY));
    memory_profile_rows_cell(csv, memory_profile_in_use_bytes(profile, event), true);
    csv_row_end(csv);
}

/* Rows of the pool that begin or end in the window. */
static uint32_t rows_add(struct memory_profile_rows *rows, const struct listing *listing, const struct memory_profile_window *window,
                         int64_t *bytes)
{
    const struct memory_profile_pool *pool = listing->pool;
    const struct memory_profile *profile = listing->profile;
    uint32_t total = 0;
    for (uint32_t row = 0; row < window->end; row++) {
        uint32_t event = pool->first + row, partner = profile->partner[event];
        if (memory_profile_is_free(profile, event) && partner != PROFILE_NONE)
            continue; /* it stands in its allocation's row */
        bool ends_inside =
            partner != PROFILE_NONE && partner - pool->first >= window->first && partner - pool->first < window->end;
        if (row < window->first && !ends_inside)
            continue;
        total++;
        if (memory_profile_rows_add(rows, row))
            *bytes = sum_add(*bytes, profile->size_bytes[event]);
    }
    return total;
}

bool memory_profile_events(const struct tool_request *request, struct json *json, struct err *err)
{
    struct listing listing = {request, request->trace, memory_profile_views_pool(request, err)};
    const struct filter_table table = {fields, text_of, number_of, &listing};
    struct memory_profile_window window;
    struct memory_profile_rows rows;
    int64_t bytes = 0;
    uint32_t first, end;
    if (listing.pool == NULL || !memory_profile_views_window(request, listing.pool, &window, err) ||
        !memory_profile_rows_begin(&rows, request, &table, longer, "time", window.end, err))
        return false;
    uint32_t total = rows_add(&rows, &listing, &window, &bytes);
    memory_profile_rows_order(&rows, &first, &end);
    if (rows.is_csv) {
        struct csv csv = CSV_INIT(request->out);
        buf_text(request->out,
                 "event,kind,time_ps,size_bytes,requested_bytes,op,step,region,dtype,shape,address,thread,freed_ps,"
                 "lifetime_ps,freed_by,in_use_bytes\r\n");
        for (uint32_t i = first; i < end && !request->out->failed; i++)
            csv_row(&csv, &listing, rows.items[i].row);
        return true;
    }
    json_object_begin(json);
    memory_profile_views_memory(json, listing.pool);
    memory_profile_rows_counts(json, &rows, total, bytes);
    json_key(json, "rows");
    json_array_begin(json);
    for (uint32_t i = first; i < end; i++)
        row_write(json, &listing, rows.items[i].row);
    json_array_end(json);
    json_object_end(json);
    return true;
}

/* ---- one event ---- */

static const struct trace_step *step_find(const struct memory_profile *profile, uint32_t event, uint32_t *at)
{
    for (*at = 0; *at < profile->step_count && profile->step[event] >= 0; ++*at)
        if (profile->steps[*at].number == profile->step[event])
            return &profile->steps[*at];
    return NULL;
}

static void event_write(struct json *json, const struct listing *listing, uint32_t at)
{
    const struct memory_profile *profile = listing->profile;
    uint32_t event = listing->pool->first + at, step_at;
    const struct trace_step *step = step_find(profile, event, &step_at);
    int64_t peak = profile->events.figure_sets[profile->figures[event]].peak_bytes;
    json_object_begin(json);
    json_key_uint(json, "event", at);
    json_key_text(json, "activity", memory_profile_is_free(profile, event) ? "deallocation" : "allocation");
    json_key_int(json, "time_ps", profile->time_ps[event]);
    memory_profile_views_bytes(json, "size_bytes",
                        memory_profile_has_size(profile, event) ? profile->size_bytes[event] : MEMORY_UNKNOWN);
    bool has_requested = (profile->flags[event] & MEMORY_HAS_REQUESTED) != 0;
    memory_profile_views_bytes(json, "requested_bytes", has_requested ? profile->requested_bytes[event] : MEMORY_UNKNOWN);
    memory_profile_views_address(json, "address", profile->address[event], (profile->flags[event] & MEMORY_HAS_ADDRESS) != 0);
    memory_profile_views_text(json, "op", text_of(listing, at, OP));
    memory_profile_views_text(json, "step_name", step != NULL ? profile->step_names[step_at] : (struct str){"", 0});
    json_key_known(json, "step_num", step != NULL ? step->step_number : -1);
    memory_profile_views_text(json, "region", text_of(listing, at, REGION));
    memory_profile_views_text(json, "dtype", text_of(listing, at, DTYPE));
    memory_profile_views_text(json, "shape", text_of(listing, at, SHAPE));
    memory_profile_views_text(json, "thread", text_of(listing, at, THREAD));
    memory_profile_views_state(json, listing->pool, at + 1);
    memory_profile_views_bytes(json, "lifetime_peak_bytes", peak);
    memory_profile_views_bytes(json, "change_bytes",
                        at > 0 ? profile->heap_bytes[event] - profile->heap_bytes[event - 1] : MEMORY_UNKNOWN);
    json_key(json, "follows_chain");
    if (at > 0)
        json_bool(json, (profile->flags[event] & PROFILE_OFF_CHAIN) == 0);
    else
        json_null(json);
    json_object_end(json);
}

bool memory_profile_event(const struct tool_request *request, struct json *json, struct err *err)
{
    struct listing listing = {request, request->trace, memory_profile_views_pool(request, err)};
    int64_t id;
    if (listing.pool == NULL || !tool_param_number(request, "id", 0, INT64_MAX, -1, &id, err))
        return false;
    if (id < 0)
        return err_set(err, ERR_argument, ERR_NO_OFFSET, "id: the number of an event is missing");
    if (id >= listing.pool->count)
        return err_set(err, ERR_notfound, ERR_NO_OFFSET, "this memory has no event %lld: there are %u", (long long)id,
                       listing.pool->count);
    uint32_t event = listing.pool->first + (uint32_t)id, partner = listing.profile->partner[event];
    uint32_t allocation = memory_profile_is_free(listing.profile, event) && partner != PROFILE_NONE ? partner : event;
    json_object_begin(json);
    memory_profile_views_memory(json, listing.pool);
    json_key(json, "event");
    event_write(json, &listing, (uint32_t)id);
    json_key(json, "partner");
    if (partner != PROFILE_NONE)
        event_write(json, &listing, partner - listing.pool->first);
    else
        json_null(json);
    json_key_text(json, "relation", kind_of(listing.profile, allocation));
    json_object_end(json);
    return true;
}
