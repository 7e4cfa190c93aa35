/* SPDX-License-Identifier: Apache-2.0
 * live.c: the view "live": what fills a pool at a moment, and what was born
 * and died between two others. */
#include "model/memory_profile/live.h"

#include "base/nearest.h"
#include "model/memory_profile/categories.h"
#include "model/memory_profile/naming.h"
#include "read/torch/torch_snapshot.h"
#include "views/memory_profile/sentences.h"
#include "views/memory_profile/views.h"
#include "views/table.h"

struct live_listing {
    const struct tool_request *request;
    const struct memory_profile *profile;
    struct memory_profile_live live;
};

static const char *const field_names[PROFILE_LIVE_FIELDS] = {"op",      "step", "region",   "dtype",  "shape",
                                                             "program", "role", "category", "thread", "none"};

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
        size_t length = strcspn(text, ","), field;
        if (!nearest_choose("group", "field", (struct str){text, length}, field_names, PROFILE_LIVE_FIELDS, &field,
                            err))
            return false;
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

static const struct memory_profile_live_group *group_at(const struct live_listing *listing, uint32_t row)
{
    return chunks_at(&listing->live.groups, row);
}

/* ---- columns ---- */

/* The subject of a row. A group leaves out the fields by which it is not grouped, and those that only a single
 * allocation has. */
struct group {
    const struct live_listing *listing;
    const struct memory_profile *profile;
    const struct memory_profile_live_group *sums;
    const struct memory_what *what;
    uint32_t event, end; /* end: PROFILE_NONE, or what frees a single one */
    bool is_single;
    bool is_kept; /* blocks that no event speaks of: `event` is none */
};

static struct group group_of(const void *context, uint32_t row)
{
    const struct live_listing *listing = context;
    const struct memory_profile *profile = listing->profile;
    const struct memory_profile_live_group *sums = group_at(listing, row);
    bool is_single =
        (listing->live.fields >> PROFILE_LIVE_EVENT & 1) != 0 || (sums->count == 1 && !listing->live.between.is_asked);
    bool is_kept = sums->event == PROFILE_NONE;
    return (struct group){listing,     profile,
                          sums,        memory_profile_what_at(profile, sums->event, sums->kept),
                          sums->event, is_single && !is_kept ? profile->partner[sums->event] : PROFILE_NONE,
                          is_single,   is_kept};
}

#define VALUE(name, expression) TABLE_VALUE(name, const struct group group = group_of(context, row), expression)
#define IF_GROUPED(by, value) ((group.listing->live.fields >> (by) & 1) != 0 ? (value) : table_unknown())
/* The confidence is given together with the category or role, if the group has only one. */
static bool is_told(const struct group *group)
{
    unsigned told = group->profile->events.snapshot != NULL ? 1u << PROFILE_LIVE_CATEGORY : 1u << PROFILE_LIVE_ROLE;
    return (group->listing->live.fields & told) != 0 && !group->sums->is_mixed;
}
#define IF_BETWEEN(value) table_integer_if(group.listing->live.between.is_asked, value)

VALUE(size, table_integer(group.sums->bytes))
VALUE(requested, table_integer_if(group.sums->has_requested, group.sums->requested_bytes))
VALUE(count, table_integer(group.sums->count))
VALUE(op, IF_GROUPED(PROFILE_LIVE_OP, table_text_if_any(memory_profile_text(group.profile, group.what->op))))
VALUE(step, group.is_kept ? table_unknown()
                          : IF_GROUPED(PROFILE_LIVE_STEP, table_integer_if(group.profile->step[group.event] >= 0,
                                                                           group.profile->step[group.event])))
VALUE(region,
      IF_GROUPED(PROFILE_LIVE_REGION, table_text_if_any(memory_profile_text(group.profile, group.what->region))))
VALUE(dtype,
      IF_GROUPED(PROFILE_LIVE_DTYPE, table_text_if_any(memory_profile_what_data_type(group.profile, group.what))))
VALUE(shape, IF_GROUPED(PROFILE_LIVE_SHAPE, table_text_if_any(memory_profile_text(group.profile, group.what->shape))))
VALUE(program,
      IF_GROUPED(PROFILE_LIVE_PROGRAM, table_text_if_any(memory_profile_what_program(group.profile, group.what))))
VALUE(role, IF_GROUPED(PROFILE_LIVE_ROLE, table_text_if_any(memory_profile_what_role(group.profile, group.what))))
VALUE(category,
      IF_GROUPED(PROFILE_LIVE_CATEGORY, table_text_if_any(memory_profile_what_category(group.profile, group.what))))
VALUE(category_word, IF_GROUPED(PROFILE_LIVE_CATEGORY,
                                table_text_if_any(memory_profile_what_category_word(group.profile, group.what))))
VALUE(confidence, table_text_if_any(is_told(&group) ? memory_profile_what_confidence(group.profile, group.what)
                                                    : (struct str){"", 0}))
VALUE(thread, group.is_kept
                  ? table_unknown()
                  : IF_GROUPED(PROFILE_LIVE_THREAD,
                               table_text_if_any(group.profile->events.lines[group.profile->line[group.event]].name)))
VALUE(event,
      table_integer_if(group.is_single && !group.is_kept, (int64_t)group.event - group.listing->live.pool->first))
VALUE(first_event, table_integer_if(!group.is_kept, (int64_t)group.event - group.listing->live.pool->first))
VALUE(origin, table_text(!group.is_kept                                 ? STR("recorded")
                         : group.profile->events.snapshot->is_end_alone ? STR("at_end")
                                                                        : STR("before_recording")))
VALUE(born_ps, group.is_single && !group.is_kept ? table_integer(group.profile->time_ps[group.event]) : table_unknown())
VALUE(freed_ps, group.end == PROFILE_NONE ? table_unknown() : table_integer(group.profile->time_ps[group.end]))
VALUE(born, IF_BETWEEN(group.sums->born_bytes))
VALUE(born_count, IF_BETWEEN(group.sums->born_count))
VALUE(died, IF_BETWEEN(group.sums->died_bytes))
VALUE(died_count, IF_BETWEEN(group.sums->died_count))

/* The group's identity, from what it is grouped by. */
static struct table_value live_key(const void *context, uint32_t row)
{
    const struct live_listing *listing = context;
    struct buf *scratch = listing->request->scratch;
    const struct memory_profile_live_group *sums = group_at(listing, row);
    if ((listing->live.fields >> PROFILE_LIVE_EVENT & 1) != 0) {
        if (sums->event == PROFILE_NONE)
            return table_text(memory_profile_views_key(scratch, NULL, 0, -3 - (int64_t)sums->kept));
        scratch->length = 0;
        buf_format(scratch, "e:%u", sums->event - listing->live.pool->first);
        return table_text((struct str){scratch->data, scratch->length});
    }
    const struct table_value number = step(context, row);
    const struct str parts[] = {op(context, row).text,    region(context, row).text,  dtype(context, row).text,
                                shape(context, row).text, thread(context, row).text,  program(context, row).text,
                                role(context, row).text,  category(context, row).text};
    size_t count = parts[7].length > 0                     ? 8
                   : parts[5].length + parts[6].length > 0 ? 7
                                                           : 5; /* the key is as it is without guesses */
    return table_text(memory_profile_views_key(scratch, parts, count,
                                               sums->event == PROFILE_NONE    ? -2
                                               : number.kind == TABLE_UNKNOWN ? -1
                                                                              : number.integer));
}

static void address_write(struct json *json, const void *context, uint32_t row)
{
    const struct group group = group_of(context, row);
    uint64_t address = group.is_kept ? group.profile->events.snapshot->blocks[group.sums->kept].address
                                     : group.profile->address[group.event];
    bool is_told = group.is_kept || (group.profile->flags[group.event] & MEMORY_HAS_ADDRESS) != 0;
    memory_profile_views_address(json, NULL, address, group.is_single && is_told);
}

/* Writes the stacks of blocks without an event; an allocation's stack is its event's. */
static void stack_write(struct json *json, const void *context, uint32_t row)
{
    const struct group group = group_of(context, row);
    memory_profile_views_stack(json, NULL, group.profile, group.is_kept ? group.what->stack : MEMORY_NO_TEXT);
}

/* clang-format off */
static const struct table_column columns[] = {
    {COLUMN_TEXT("key", live_key), .json = "key"},
    {COLUMN_NUMBER("size", size, "bytes"), .is_main = true, .json = "size_bytes", .csv = "size_bytes", .title = "Size",
     .help = "size:>1MiB · 1KiB..2MiB"},
    {COLUMN_NUMBER("requested", requested, "bytes"), .json = "requested_bytes", .csv = "requested_bytes",
     .title = "Requested",
     .help = "requested bytes"},
    {COLUMN_NUMBER("count", count, "count"), .json = "count", .csv = "count", .title = "Count",
     .help = "allocations of the row"},
    {COLUMN_TEXT("op", op), .is_searched = true, .json = "op", .csv = "op", .title = "Op",
     .help = "what allocated it; * matches any text"},
    {COLUMN_NUMBER("step", step, "step"), .json = "step", .csv = "step", .title = "Step", .help = "step:3 · 2..5"},
    {COLUMN_TEXT("region", region), .json = "region", .csv = "region", .title = "Region", .help = "output, temp, …"},
#include "views/memory_profile/what_columns.def"
    {COLUMN_TEXT("thread", thread), .json = "thread", .csv = "thread", .title = "Thread",
     .help = "thread that allocated it"},
    {COLUMN_TEXT("origin", origin), .json = "origin", .csv = "origin", .title = "Allocated",
     .help = "origin:recorded, before_recording: there from the first event to the end, at_end: of a snapshot without "
             "a history"},
    {COLUMN_TEXT("", NULL), .write = address_write, .json = "address"},
    {COLUMN_TEXT("", NULL), .write = stack_write, .json = "stack"},
    {COLUMN_NUMBER("event", event, NULL), .json = "event", .help = "number of the event"},
    {COLUMN_NUMBER("first_event", first_event, NULL), .json = "first_event", .help = "number of one event of the row"},
    {COLUMN_NUMBER("born_ps", born_ps, "ps"), .json = "born_ps"},
    {COLUMN_NUMBER("freed_ps", freed_ps, "ps"), .json = "freed_ps"},
    {COLUMN_NUMBER("born", born, "bytes"), .json = "born_bytes", .csv = "born_bytes", .title = "Born",
     .help = "allocated between A and B"},
    {COLUMN_NUMBER("born_count", born_count, "count"), .json = "born_count"},
    {COLUMN_NUMBER("died", died, "bytes"), .json = "died_bytes", .csv = "died_bytes", .title = "Died",
     .help = "freed between A and B"},
    {COLUMN_NUMBER("died_count", died_count, "count"), .json = "died_count"},
    {.name = NULL},
};
/* clang-format on */
static const struct table_spec spec = {.columns = columns, .sort = "-size"};

/* ---- output ---- */

static void remainder_write(struct json *json, const char *code, int64_t bytes, int64_t count, const char *text,
                            const struct memory_profile_category_sum *categories)
{
    if (bytes == 0)
        return;
    json_object_begin(json);
    json_key_text(json, "code", code);
    json_key_int(json, "size_bytes", bytes);
    json_key_known(json, "count", count);
    json_key_text(json, "text", text);
    memory_profile_views_categories(json, "categories", categories);
    json_object_end(json);
}

static void remainders_write(struct json *json, const struct memory_profile_live *live, struct arena *arena)
{
    struct memory_profile_category_sum freed[CATEGORY_COUNT] = {{0, 0, 0}};
    bool has_categories = live->pool->before != NULL;
    if (has_categories)
        memory_profile_categories_freed(live->pool, live->count, freed);
    json_key_array(json, "remainders");
    remainder_write(json, "stack", live->stack_bytes, -1, "reserved by the runtime (bytes_reserved)", NULL);
    remainder_write(json, "before_window_freed", live->before_freed_bytes, live->before_freed_count,
                    "allocated before the trace, freed later in it (inferred from the frees)",
                    has_categories ? freed : NULL);
    remainder_write(json, "before_window", live->before_bytes, -1,
                    "allocated before the trace, never freed in it (inferred from the bytes in use at its start)",
                    NULL);
    remainder_write(json, "unaccounted", live->unaccounted_bytes, -1,
                    "bytes in use that the events before do not explain: events are missing or out of order", NULL);
    json_array_end(json);
    int64_t total =
        live->rows_bytes + live->stack_bytes + live->before_freed_bytes + live->before_bytes + live->unaccounted_bytes;
    json_key_int(json, "rows_bytes", live->rows_bytes);
    json_key_int(json, "total_bytes", total);
    json_key_bool(json, "matches_curve", live->unaccounted_bytes == 0);
    json_key_text(json, "balance", memory_profile_sentences_balance(live, total, arena));
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
                 memory_profile_in_use_after(live->pool, between->b) -
                     memory_profile_in_use_after(live->pool, between->a));
    json_object_end(json);
}

static void answer_write(struct json *json, const struct live_listing *listing,
                         const struct memory_profile_moment *moment, const struct table_rows *rows,
                         int64_t matched_bytes, uint64_t matched_count)
{
    const struct memory_profile_live *live = &listing->live;
    json_object_begin(json);
    memory_profile_views_memory(json, live->pool);
    json_key_int(json, "time_ps", moment->time_ps);
    json_key_known(json, "event", (int64_t)moment->count - 1);
    memory_profile_views_state(json, live->pool, moment->count);
    json_key_array(json, "group");
    for (int f = 0; f < PROFILE_LIVE_EVENT && (live->fields >> PROFILE_LIVE_EVENT & 1) == 0; f++)
        if (live->fields >> f & 1)
            json_text(json, field_names[f]);
    json_array_end(json);
    table_head_write(rows, json);
    json_key_int(json, "matched_bytes", matched_bytes);
    json_key_uint(json, "matched_allocation_count", matched_count);
    table_rows_write(rows, "rows", json);
    remainders_write(json, live, listing->request->arena);
    struct memory_profile_tally tally = {0, 0, 0, PROFILE_NONE};
    if (listing->profile->guess_count > 0)
        tally = memory_profile_naming_tally(live->pool, moment->count, listing->request->arena);
    memory_profile_views_named(json, listing->profile, &tally, memory_profile_in_use_after(live->pool, moment->count));
    struct memory_profile_category_sum *sums =
        arena_array(listing->request->arena, struct memory_profile_category_sum, CATEGORY_COUNT);
    memory_profile_views_categories(json, "categories",
                                    memory_profile_categories_at(live->pool, moment->count, sums) ? sums : NULL);
    between_write(json, listing->request, live);
    json_object_end(json);
}

bool memory_profile_live(const struct tool_request *request, struct json *json, struct err *err)
{
    struct live_listing *listing = arena_array(request->arena, struct live_listing, 1);
    struct memory_profile_moment moment;
    struct table_rows rows;
    int64_t bytes = 0;
    uint64_t count = 0;
    *listing = (struct live_listing){.request = request, .profile = request->model};
    listing->live.pool = memory_profile_views_pool(request, err);
    if (listing->live.pool == NULL || !memory_profile_views_moment(request, listing->live.pool, &moment, err) ||
        !fields_read(request, &listing->live.fields, err) ||
        !between_read(request, listing->live.pool, &listing->live.between, err))
        return false;
    listing->live.count = moment.count;
    memory_profile_live_make(&listing->live, request->arena);
    if (!table_read(&rows, request, &spec, listing, err))
        return false;
    table_begin(&rows, (uint32_t)listing->live.groups.count);
    for (uint32_t row = 0; row < listing->live.groups.count; row++)
        if (table_take(&rows, row)) {
            bytes += group_at(listing, row)->bytes;
            count += group_at(listing, row)->count;
        }
    table_sort(&rows);
    if (table_is_lines(&rows))
        table_lines_write(&rows, NULL);
    else
        answer_write(json, listing, &moment, &rows, bytes, count);
    return true;
}
