/* SPDX-License-Identifier: Apache-2.0
 * events.c: the view "events": allocations with what ends them, by address,
 * and frees of what was there before; and the view "event": one of them in full. */
#include "base/sum.h"
#include "model/memory_profile/naming.h"
#include "read/torch/torch_snapshot.h"
#include "views/memory_profile/blocks.h"
#include "views/table.h"

/* A row is an event of the pool: an allocation, or a free without one. */
struct events_listing {
    const struct tool_request *request;
    const struct memory_profile *profile;
    const struct memory_profile_pool *pool;
};

/* The free that ends an allocation; PROFILE_NONE when there is none. */
static uint32_t free_of(const struct memory_profile *profile, uint32_t event)
{
    if (memory_profile_is_free(profile, event))
        return event;
    uint32_t end = profile->partner[event];
    return end != PROFILE_NONE && memory_profile_is_free(profile, end) ? end : PROFILE_NONE;
}

static const char *kind_of(const struct memory_profile *profile, uint32_t event)
{
    if (memory_profile_is_free(profile, event))
        return "before_window";
    return free_of(profile, event) == PROFILE_NONE ? "never_freed" : "pair";
}

/* ---- columns ---- */

/* What a row is about. */
struct event {
    const struct events_listing *listing;
    const struct memory_profile *profile;
    const struct memory_what *what;
    uint32_t at, freed; /* freed: PROFILE_NONE where nothing ends it; `at` for what was there before */
};

static struct event event_of(const void *context, uint32_t row)
{
    const struct events_listing *listing = context;
    const struct memory_profile *profile = listing->profile;
    uint32_t at = listing->pool->first + row;
    return (struct event){listing, profile, &profile->events.whats[profile->what[at]], at, free_of(profile, at)};
}

static bool is_before(const struct event *event) { return event->freed == event->at; }

static bool is_pair(const struct event *event) { return !is_before(event) && event->freed != PROFILE_NONE; }

static bool has_address(const struct event *event)
{
    return (event->profile->flags[event->at] & MEMORY_HAS_ADDRESS) != 0;
}

static struct str address_text(const struct event *event)
{
    struct buf *scratch = event->listing->request->scratch;
    scratch->length = 0;
    buf_format(scratch, "0x%llx", (unsigned long long)event->profile->address[event->at]);
    return (struct str){scratch->data, scratch->length};
}

#define VALUE(name, expression) TABLE_VALUE(name, const struct event event = event_of(context, row), expression)
#define IF_FREED(value) (event.freed == PROFILE_NONE ? table_unknown() : (value))

VALUE(number, table_integer((int64_t)event.at - event.listing->pool->first))
VALUE(kind, table_text(str_of(kind_of(event.profile, event.at))))
VALUE(time_ps, table_integer_if(!is_before(&event), event.profile->time_ps[event.at]))
VALUE(time_ms, table_real((double)event.profile->time_ps[event.at] / 1e9))
VALUE(size, table_integer_if(memory_profile_has_size(event.profile, event.at), event.profile->size_bytes[event.at]))
VALUE(requested, table_integer_if((event.profile->flags[event.at] & MEMORY_HAS_REQUESTED) != 0,
                                  memory_profile_requested_bytes(event.profile, event.at)))
VALUE(op, table_text_if_any(memory_profile_text(event.profile, event.what->op)))
VALUE(step, table_integer_if(event.profile->step[event.at] >= 0, event.profile->step[event.at]))
VALUE(region, table_text_if_any(memory_profile_text(event.profile, event.what->region)))
VALUE(dtype, table_text_if_any(memory_profile_what_data_type(event.profile, event.what)))
VALUE(shape, table_text_if_any(memory_profile_text(event.profile, event.what->shape)))
VALUE(program, table_text_if_any(memory_profile_what_program(event.profile, event.what)))
VALUE(role, table_text_if_any(memory_profile_what_role(event.profile, event.what)))
VALUE(category, table_text_if_any(memory_profile_what_category(event.profile, event.what)))
VALUE(category_word, table_text_if_any(memory_profile_what_category_word(event.profile, event.what)))
VALUE(confidence, table_text_if_any(memory_profile_what_confidence(event.profile, event.what)))
VALUE(address, table_text(address_text(&event)))
VALUE(address_number, has_address(&event) ? table_real((double)event.profile->address[event.at]) : table_unknown())
VALUE(thread, table_text_if_any(event.profile->events.lines[event.profile->line[event.at]].name))
VALUE(freed, table_text(is_before(&event) ? STR("before") : event.freed == PROFILE_NONE ? STR("never") : STR("yes")))
VALUE(freed_event, IF_FREED(table_integer((int64_t)event.freed - event.listing->pool->first)))
VALUE(freed_ps, IF_FREED(table_integer(event.profile->time_ps[event.freed])))
VALUE(freed_by, IF_FREED(table_text_if_any(memory_profile_text(
                    event.profile, event.profile->events.whats[event.profile->what[event.freed]].op))))
VALUE(freed_step, IF_FREED(table_integer_if(event.profile->step[event.freed] >= 0, event.profile->step[event.freed])))
VALUE(freed_thread, IF_FREED(table_text_if_any(event.profile->events.lines[event.profile->line[event.freed]].name)))
VALUE(lifetime_ps, is_pair(&event)
                       ? table_integer(event.profile->time_ps[event.freed] - event.profile->time_ps[event.at])
                       : table_unknown())
VALUE(lifetime_ms, is_pair(&event) ? table_real((double)lifetime_ps(context, row).integer / 1e9) : table_unknown())
VALUE(in_use, table_integer(memory_profile_in_use_bytes(event.profile, event.at)))

/* For a block that was live before, the event is its free. The op, step and thread of that are known, those of the
 * allocation are not. */
VALUE(own_op, is_before(&event) ? table_unknown() : op(context, row))
VALUE(own_step, is_before(&event) ? table_unknown() : step(context, row))
VALUE(own_thread, is_before(&event) ? table_unknown() : thread(context, row))
VALUE(own_address, has_address(&event) ? address(context, row) : table_unknown())

/* clang-format off */
static const struct table_column columns[] = {
    {COLUMN_NUMBER("event", number, NULL), .json = "event", .csv = "event", .help = "number of the event"},
    {COLUMN_TEXT("kind", kind), .json = "kind", .csv = "kind", .help = "kind:pair, never_freed, before_window"},
    {COLUMN_NUMBER("time", time_ps, "ps"), .order = time_ms, .json = "time_ps", .csv = "time_ps", .title = "Time",
     .help = "ms since the begin: time:1..2"},
    {COLUMN_NUMBER("size", size, "bytes"), .is_main = true, .json = "size_bytes", .csv = "size_bytes", .title = "Size",
     .help = "size:>1MiB · 1KiB..2MiB"},
    {COLUMN_NUMBER("requested", requested, "bytes"), .json = "requested_bytes", .csv = "requested_bytes",
     .title = "Requested",
     .help = "requested bytes"},
    {COLUMN_TEXT("op", op), .is_searched = true, .member = own_op, .json = "op", .csv = "op", .title = "Op",
     .help = "what allocated it; * matches any text"},
    {COLUMN_NUMBER("step", step, "step"), .member = own_step, .json = "step", .csv = "step", .title = "Step",
     .help = "step:3 · 2..5"},
    {COLUMN_TEXT("region", region), .json = "region", .csv = "region", .title = "Region", .help = "output, temp, …"},
#include "views/memory_profile/what_columns.def"
    {COLUMN_TEXT("address", address), .order = address_number, .member = own_address, .json = "address",
     .csv = "address",
     .title = "Address", .help = "0x7f…"},
    {COLUMN_NUMBER("addr", address_number, NULL), .help = "address as a number"},
    {COLUMN_TEXT("thread", thread), .member = own_thread, .json = "thread", .csv = "thread", .title = "Thread",
     .help = "thread that allocated it"},
    {COLUMN_NUMBER("freed_event", freed_event, NULL), .json = "freed_event",
     .help = "number of the event that frees it"},
    {COLUMN_NUMBER("freed_ps", freed_ps, "ps"), .json = "freed_ps", .csv = "freed_ps"},
    {COLUMN_NUMBER("lifetime", lifetime_ps, "ps"), .order = lifetime_ms, .json = "lifetime_ps", .csv = "lifetime_ps",
     .title = "Lifetime", .help = "ms until it is freed: lifetime:>10"},
    {COLUMN_TEXT("freed", freed), .help = "freed:yes, never, before"},
    {COLUMN_TEXT("freed_by", freed_by), .json = "freed_by", .csv = "freed_by", .title = "Freed by",
     .help = "op that frees it"},
    {COLUMN_NUMBER("freed_step", freed_step, "step"), .json = "freed_step", .title = "Freed in",
     .help = "step in which it is freed"},
    {COLUMN_TEXT("freed_thread", freed_thread), .json = "freed_thread", .help = "thread that frees it"},
    {COLUMN_NUMBER("in_use", in_use, "bytes"), .json = "in_use_bytes", .csv = "in_use_bytes",
     .help = "in use after the event"},
    {.name = NULL},
};
/* clang-format on */
static const struct table_spec spec = {.columns = columns, .sort = "time"};

/* Rows of the pool that begin or end in the window. */
static int64_t rows_take(struct table_rows *rows, const struct events_listing *listing,
                         const struct memory_profile_window *window)
{
    const struct memory_profile_pool *pool = listing->pool;
    const struct memory_profile *profile = listing->profile;
    int64_t bytes = 0;
    table_begin(rows, window->end);
    for (uint32_t row = 0; row < window->end; row++) {
        uint32_t event = pool->first + row, partner = profile->partner[event];
        if (memory_profile_is_free(profile, event) && partner != PROFILE_NONE)
            continue; /* it is in its allocation's row */
        bool ends_inside =
            partner != PROFILE_NONE && partner - pool->first >= window->first && partner - pool->first < window->end;
        if ((row >= window->first || ends_inside) && table_take(rows, row))
            bytes = sum_add(bytes, profile->size_bytes[event]);
    }
    table_sort(rows);
    return bytes;
}

bool memory_profile_events(const struct tool_request *request, struct json *json, struct err *err)
{
    struct events_listing *listing = arena_array(request->arena, struct events_listing, 1);
    struct memory_profile_window window;
    struct table_rows rows;
    *listing = (struct events_listing){request, request->model, memory_profile_views_pool(request, err)};
    if (listing->pool == NULL || !memory_profile_views_window(request, listing->pool, &window, err) ||
        !table_read(&rows, request, &spec, listing, err))
        return false;
    const struct torch_snapshot *snapshot = listing->profile->events.snapshot;
    if (snapshot != NULL && snapshot->is_end_alone)
        window.first = window.end = 0; /* its row is no event of the file */
    int64_t bytes = rows_take(&rows, listing, &window);
    if (table_is_lines(&rows)) {
        table_lines_write(&rows, NULL);
        return true;
    }
    json_object_begin(json);
    memory_profile_views_memory(json, listing->pool);
    table_head_write(&rows, json);
    json_key_int(json, "matched_bytes", bytes);
    table_rows_write(&rows, "rows", json);
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

/* A guess, and what it rests on. */
static void guess_write(struct json *json, const struct memory_profile *profile, const struct memory_what *what)
{
    memory_profile_views_text(json, "program", memory_profile_what_program(profile, what));
    memory_profile_views_text(json, "role", memory_profile_what_role(profile, what));
    memory_profile_views_text(json, "category", memory_profile_what_category(profile, what));
    memory_profile_views_text(json, "confidence", memory_profile_what_confidence(profile, what));
    memory_profile_views_rule(json, profile, what);
}

static void event_write(struct json *json, const struct events_listing *listing, uint32_t at)
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
    memory_profile_views_bytes(json, "requested_bytes",
                               has_requested ? memory_profile_requested_bytes(profile, event) : MEMORY_UNKNOWN);
    memory_profile_views_address(json, "address", profile->address[event],
                                 (profile->flags[event] & MEMORY_HAS_ADDRESS) != 0);
    memory_profile_views_text(json, "op", op(listing, at).text);
    memory_profile_views_text(json, "step_name", step != NULL ? profile->step_names[step_at] : (struct str){"", 0});
    json_key_known(json, "step_num", step != NULL ? step->step_number : -1);
    memory_profile_views_text(json, "region", region(listing, at).text);
    memory_profile_views_text(json, "dtype", dtype(listing, at).text);
    memory_profile_views_text(json, "shape", shape(listing, at).text);
    guess_write(json, profile, &profile->events.whats[profile->what[event]]);
    memory_profile_blocks_line(json, profile, profile->events.whats[profile->what[event]].stack,
                               listing->request->arena);
    memory_profile_views_text(json, "thread", thread(listing, at).text);
    memory_profile_views_stack(json, "stack", profile, profile->events.whats[profile->what[event]].stack);
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
    struct events_listing listing = {request, request->model, memory_profile_views_pool(request, err)};
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
