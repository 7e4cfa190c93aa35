/* SPDX-License-Identifier: Apache-2.0
 * live.c: the view "live": what fills a pool at a moment, and what was born
 * and died between two others. */
#include "tool/memory_profile/live.h"

#include "tool/memory_profile/rows.h"

#include <stdio.h>

enum field { SIZE, REQUESTED, COUNT, OP, STEP, REGION, DTYPE, SHAPE, THREAD, BORN, DIED, FIELD_COUNT };

static const struct filter_field fields[FIELD_COUNT + 1] = {
    [SIZE] = {"size", FILTER_NUMBER, false},   [REQUESTED] = {"requested", FILTER_NUMBER, false},
    [COUNT] = {"count", FILTER_NUMBER, false}, [OP] = {"op", FILTER_TEXT, true},
    [STEP] = {"step", FILTER_NUMBER, false},   [REGION] = {"region", FILTER_TEXT, false},
    [DTYPE] = {"dtype", FILTER_TEXT, false},   [SHAPE] = {"shape", FILTER_SHAPE, true},
    [THREAD] = {"thread", FILTER_TEXT, false}, [BORN] = {"born", FILTER_NUMBER, false},
    [DIED] = {"died", FILTER_NUMBER, false},   [FIELD_COUNT] = {NULL, FILTER_TEXT, false},
};

struct listing {
    const struct tool_request *request;
    const struct memory_profile *profile;
    struct memory_profile_live live;
};

const char *memory_profile_live_field_name(enum memory_profile_live_field field)
{
    static const char *const names[PROFILE_LIVE_FIELDS] = {"op", "step", "region", "dtype", "shape", "thread", "none"};
    return names[field];
}

/* "same", "none", or a list of fields. */
static bool fields_read(const struct tool_request *request, unsigned *out, struct err *err)
{
    const char *text = tool_param_text(request, "group");
    *out = 0;
    if (text == NULL || text[0] == '\0' || strcmp(text, "same") == 0) {
        *out = (1u << PROFILE_LIVE_THREAD) - 1;
        return true;
    }
    while (*text != '\0') {
        size_t length = strcspn(text, ",");
        int field = 0;
        while (field < PROFILE_LIVE_FIELDS &&
               !str_equal((struct str){text, length}, str_of(memory_profile_live_field_name((enum memory_profile_live_field)field))))
            field++;
        if (field == PROFILE_LIVE_FIELDS)
            return err_set(err, ERR_argument, ERR_NO_OFFSET, "group: unknown field \"%.*s\"",
                           length > 40 ? 40 : (int)length, text);
        *out |= 1u << field;
        text += length + (text[length] == ',');
    }
    if (*out >> PROFILE_LIVE_EVENT & 1)
        *out = (1u << PROFILE_LIVE_FIELDS) - 1;
    return true;
}

static bool between_read(const struct tool_request *request, const struct memory_profile_pool *pool,
                         struct memory_profile_live_between *out, struct err *err)
{
    int64_t a, b;
    bool has_a = tool_param_text(request, "a") != NULL, has_b = tool_param_text(request, "b") != NULL;
    *out = (struct memory_profile_live_between){.is_asked = has_a && has_b};
    if (has_a != has_b)
        return err_set(err, ERR_argument, ERR_NO_OFFSET, "%s: the other of the two moments is missing",
                       has_a ? "b" : "a");
    if (!tool_param_number(request, "a", INT64_MIN, INT64_MAX, 0, &a, err) ||
        !tool_param_number(request, "b", INT64_MIN, INT64_MAX, 0, &b, err))
        return false;
    out->a = memory_profile_after(pool, a < b ? a : b);
    out->b = memory_profile_after(pool, a < b ? b : a);
    return true;
}

static const struct memory_profile_live_group *group_at(const struct listing *listing, uint32_t row)
{
    return chunks_at(&listing->live.groups, row);
}

static bool number_of(const void *context, uint32_t row, size_t field, double *value)
{
    const struct listing *listing = context;
    const struct memory_profile_live_group *group = group_at(listing, row);
    switch ((enum field)field) {
    case SIZE:
        *value = (double)group->bytes;
        return true;
    case REQUESTED:
        *value = (double)group->requested_bytes;
        return group->has_requested;
    case COUNT:
        *value = group->count;
        return true;
    case STEP:
        *value = listing->profile->step[group->event];
        return *value >= 0 && (listing->live.fields >> PROFILE_LIVE_STEP & 1) != 0;
    case BORN:
        *value = (double)group->born_bytes;
        return listing->live.between.is_asked;
    case DIED:
        *value = (double)group->died_bytes;
        return listing->live.between.is_asked;
    default:
        return false;
    }
}

static struct str text_of(const void *context, uint32_t row, size_t field)
{
    const struct listing *listing = context;
    const struct memory_profile *profile = listing->profile;
    uint32_t event = group_at(listing, row)->event;
    unsigned by = listing->live.fields;
    const struct memory_what *what = &profile->events.whats[profile->what[event]];
    const struct str nothing = {"", 0};
    switch ((enum field)field) {
    case OP:
        return by >> PROFILE_LIVE_OP & 1 ? memory_profile_text(profile, what->op) : nothing;
    case REGION:
        return by >> PROFILE_LIVE_REGION & 1 ? memory_profile_text(profile, what->region) : nothing;
    case DTYPE:
        return by >> PROFILE_LIVE_DTYPE & 1 ? memory_profile_views_data_type(profile, what) : nothing;
    case SHAPE:
        return by >> PROFILE_LIVE_SHAPE & 1 ? memory_profile_text(profile, what->shape) : nothing;
    case THREAD:
        return by >> PROFILE_LIVE_THREAD & 1 ? profile->events.lines[profile->line[event]].name : nothing;
    default:
        return nothing;
    }
}

/* The group's identity, from what it is grouped by. */
static void key_write(struct json *json, const struct listing *listing, uint32_t row)
{
    const struct memory_profile_live_group *group = group_at(listing, row);
    char text[16];
    if (listing->live.fields >> PROFILE_LIVE_EVENT & 1) {
        snprintf(text, sizeof text, "e:%u", group->event - listing->live.pool->first);
        json_key_text(json, "key", text);
        return;
    }
    double step = -1;
    number_of(listing, row, STEP, &step);
    const struct str parts[] = {text_of(listing, row, OP), text_of(listing, row, REGION), text_of(listing, row, DTYPE),
                                text_of(listing, row, SHAPE), text_of(listing, row, THREAD)};
    memory_profile_rows_key(json, parts, sizeof parts / sizeof parts[0], (int64_t)step);
}

static void known(struct json *json, const char *key, int64_t value, bool is_known)
{
    memory_profile_views_bytes(json, key, is_known ? value : MEMORY_UNKNOWN);
}

static void row_write(struct json *json, const struct listing *listing, uint32_t row)
{
    const struct memory_profile *profile = listing->profile;
    const struct memory_profile_live_group *group = group_at(listing, row);
    uint32_t event = group->event, end = profile->partner[event];
    bool is_single =
        (listing->live.fields >> PROFILE_LIVE_EVENT & 1) != 0 || (group->count == 1 && !listing->live.between.is_asked);
    bool has_step = (listing->live.fields >> PROFILE_LIVE_STEP & 1) != 0;
    json_object_begin(json);
    key_write(json, listing, row);
    json_key_int(json, "size_bytes", group->bytes);
    known(json, "requested_bytes", group->requested_bytes, group->has_requested);
    json_key_uint(json, "count", group->count);
    memory_profile_views_text(json, "op", text_of(listing, row, OP));
    json_key_known(json, "step", has_step ? profile->step[event] : -1);
    memory_profile_views_text(json, "region", text_of(listing, row, REGION));
    memory_profile_views_text(json, "dtype", text_of(listing, row, DTYPE));
    memory_profile_views_text(json, "shape", text_of(listing, row, SHAPE));
    memory_profile_views_text(json, "thread", text_of(listing, row, THREAD));
    memory_profile_views_address(json, "address", profile->address[event],
                          is_single && (profile->flags[event] & MEMORY_HAS_ADDRESS) != 0);
    known(json, "event", event - listing->live.pool->first, is_single);
    known(json, "born_ps", profile->time_ps[event], is_single);
    known(json, "freed_ps", end == PROFILE_NONE ? 0 : profile->time_ps[end], is_single && end != PROFILE_NONE);
    known(json, "born_bytes", group->born_bytes, listing->live.between.is_asked);
    known(json, "born_count", group->born_count, listing->live.between.is_asked);
    known(json, "died_bytes", group->died_bytes, listing->live.between.is_asked);
    known(json, "died_count", group->died_count, listing->live.between.is_asked);
    json_object_end(json);
}

static void csv_write(struct buf *out, const struct listing *listing, const struct memory_profile_rows *rows)
{
    struct csv writer = CSV_INIT(out), *csv = &writer;
    buf_text(out, "size_bytes,requested_bytes,count,op,step,region,dtype,shape,thread,born_bytes,died_bytes\r\n");
    for (uint32_t i = 0; i < rows->count && !out->failed; i++) {
        uint32_t row = rows->items[i].row;
        const struct memory_profile_live_group *group = group_at(listing, row);
        double step = -1;
        bool has_step = number_of(listing, row, STEP, &step);
        memory_profile_rows_cell(csv, group->bytes, true);
        memory_profile_rows_cell(csv, group->requested_bytes, group->has_requested);
        memory_profile_rows_cell(csv, group->count, true);
        csv_text(csv, text_of(listing, row, OP));
        memory_profile_rows_cell(csv, (int64_t)step, has_step);
        for (enum field field = REGION; field <= THREAD; field++)
            csv_text(csv, text_of(listing, row, field));
        memory_profile_rows_cell(csv, group->born_bytes, listing->live.between.is_asked);
        memory_profile_rows_cell(csv, group->died_bytes, listing->live.between.is_asked);
        csv_row_end(csv);
    }
}

static void remainder_write(struct json *json, const char *code, int64_t bytes, int64_t count, const char *text)
{
    if (bytes == 0)
        return;
    json_object_begin(json);
    json_key_text(json, "code", code);
    json_key_int(json, "size_bytes", bytes);
    json_key_known(json, "count", count);
    json_key_text(json, "text", text);
    json_object_end(json);
}

static void remainders_write(struct json *json, const struct memory_profile_live *live)
{
    json_key(json, "remainders");
    json_array_begin(json);
    remainder_write(json, "stack", live->stack_bytes, -1, "reserved by the runtime (bytes_reserved)");
    remainder_write(json, "before_window_freed", live->before_freed_bytes, live->before_freed_count,
                    "allocated before the trace, freed later in it (inferred from the frees)");
    remainder_write(json, "before_window", live->before_bytes, -1,
                    "allocated before the trace, never freed in it (inferred from the bytes in use at its start)");
    remainder_write(json, "unaccounted", live->unaccounted_bytes, -1,
                    "bytes in use that the events before do not explain: events are missing or out of order");
    json_array_end(json);
    int64_t total =
        live->rows_bytes + live->stack_bytes + live->before_freed_bytes + live->before_bytes + live->unaccounted_bytes;
    json_key_int(json, "rows_bytes", live->rows_bytes);
    json_key_int(json, "total_bytes", total);
    json_key_bool(json, "matches_curve", live->unaccounted_bytes == 0);
}

static void between_write(struct json *json, const struct tool_request *request, const struct memory_profile_live *live)
{
    const struct memory_profile_live_between *between = &live->between;
    int64_t a = 0, b = 0;
    struct err ignored = ERR_INIT; /* they were read before */
    json_key(json, "between");
    if (!between->is_asked) {
        json_null(json);
        return;
    }
    tool_param_number(request, "a", INT64_MIN, INT64_MAX, 0, &a, &ignored);
    tool_param_number(request, "b", INT64_MIN, INT64_MAX, 0, &b, &ignored);
    json_object_begin(json);
    json_key_int(json, "a_ps", a < b ? a : b);
    json_key_int(json, "b_ps", a < b ? b : a);
    json_key_int(json, "born_bytes", between->born_bytes);
    json_key_uint(json, "born_count", between->born_count);
    json_key_int(json, "died_bytes", between->died_bytes);
    json_key_uint(json, "died_count", between->died_count);
    json_key_int(json, "in_use_difference_bytes",
                 memory_profile_views_in_use_after(live->pool, between->b) -
                     memory_profile_views_in_use_after(live->pool, between->a));
    json_object_end(json);
}

static void answer_write(struct json *json, const struct listing *listing, const struct memory_profile_moment *moment,
                         struct memory_profile_rows *rows, int64_t matched_bytes, uint64_t matched_count)
{
    const struct memory_profile_live *live = &listing->live;
    uint32_t first, end;
    memory_profile_rows_order(rows, &first, &end);
    json_object_begin(json);
    memory_profile_views_memory(json, live->pool);
    json_key_int(json, "time_ps", moment->time_ps);
    json_key_known(json, "event", (int64_t)moment->count - 1);
    memory_profile_views_state(json, live->pool, moment->count);
    json_key(json, "group");
    json_array_begin(json);
    for (int f = 0; f < PROFILE_LIVE_EVENT && (live->fields >> PROFILE_LIVE_EVENT & 1) == 0; f++)
        if (live->fields >> f & 1)
            json_text(json, memory_profile_live_field_name((enum memory_profile_live_field)f));
    json_array_end(json);
    memory_profile_rows_counts(json, rows, (uint32_t)live->groups.count, matched_bytes);
    json_key_uint(json, "matched_count", matched_count);
    json_key(json, "rows");
    json_array_begin(json);
    for (uint32_t i = first; i < end; i++)
        row_write(json, listing, rows->items[i].row);
    json_array_end(json);
    remainders_write(json, live);
    between_write(json, listing->request, live);
    json_object_end(json);
}

bool memory_profile_live(const struct tool_request *request, struct json *json, struct err *err)
{
    struct listing listing = {.request = request, .profile = request->trace};
    const struct filter_table table = {fields, text_of, number_of, &listing};
    struct memory_profile_moment moment;
    struct memory_profile_rows rows;
    int64_t bytes = 0;
    uint64_t count = 0;
    listing.live.pool = memory_profile_views_pool(request, err);
    if (listing.live.pool == NULL || !memory_profile_views_moment(request, listing.live.pool, &moment, err) ||
        !fields_read(request, &listing.live.fields, err) ||
        !between_read(request, listing.live.pool, &listing.live.between, err))
        return false;
    listing.live.count = moment.count;
    memory_profile_live_make(&listing.live, request->arena);
    if (!memory_profile_rows_begin(&rows, request, &table, NULL, "-size", (uint32_t)listing.live.groups.count, err))
        return false;
    for (uint32_t row = 0; row < listing.live.groups.count; row++)
        if (memory_profile_rows_add(&rows, row)) {
            bytes += group_at(&listing, row)->bytes;
            count += group_at(&listing, row)->count;
        }
    if (rows.is_csv) {
        uint32_t first, end;
        memory_profile_rows_order(&rows, &first, &end);
        csv_write(request->out, &listing, &rows);
    } else {
        answer_write(json, &listing, &moment, &rows, bytes, count);
    }
    return true;
}
