/* SPDX-License-Identifier: Apache-2.0
 * changes_listing.c: the views "sites" and "stacks": what is new, gone, grown, shrunk and the same, by the person's
 * line and kind of thing, or by whole stack. */
#include "base/nearest.h"
#include "views/device_memory/changes_views.h"
#include "views/device_memory/frames_write.h"
#include "views/table.h"

struct changes_listing_listing {
    struct changes changes;
    struct changes_rows *rows; /* of the changes: sites or stacks */
};

/* What a row is about. */
struct line {
    const struct changes *changes;
    const struct changes_row *row;
    const struct sites_key *site;
    const struct frame *frame;
};

static struct line line_of(const void *context, uint32_t row)
{
    const struct changes_listing_listing *listing = context;
    struct line line = {.changes = &listing->changes, .row = &listing->rows->items[row]};
    line.site = &line.changes->sites.keys[line.row->site];
    line.frame = &line.changes->model.frames->items[line.site->frame];
    return line;
}

static bool is_before(const struct line *line) { return line->row->state != CHANGES_NEW; }
static bool is_after(const struct line *line) { return line->row->state != CHANGES_GONE; }

#define VALUE(name, expression) TABLE_VALUE(name, const struct line line = line_of(context, row), expression)

VALUE(change, table_integer(changes_of(line.row)))
VALUE(change_size, table_integer(pprof_size(changes_of(line.row))))
VALUE(bytes_a, table_integer_if(is_before(&line), line.row->before))
VALUE(bytes_b, table_integer_if(is_after(&line), line.row->after))
VALUE(count_a, table_integer_if(is_before(&line), line.row->before_count))
VALUE(count_b, table_integer_if(is_after(&line), line.row->after_count))
VALUE(state, table_text(str_of(changes_state_name((enum changes_state)line.row->state))))
VALUE(kind, table_text_if_any(line.changes->kind_names.items[line.row->kind]))
VALUE(function, table_text(line.frame->function))
VALUE(file, table_text(line.frame->file))
VALUE(number, table_integer(line.frame->line))
VALUE(callee, table_text_if_any(line.site->callee))
VALUE(name, table_text(changes_site_name(line.changes, line.row)))
VALUE(stack, table_text_if_any(changes_stack_name(line.changes, line.row, UINT32_MAX)))
VALUE(stack_count, table_integer(line.row->stack_count))
VALUE(group, table_integer(line.row->group))

static void frame_write(struct json *json, const void *context, uint32_t row)
{
    const struct line line = line_of(context, row);
    frames_write(line.changes->model.frames, line.site->frame, line.changes->model.request->scratch, json);
}

static const struct table_column columns[] = {
    {COLUMN_NUMBER("change", change, "metric"), .order = change_size, .is_main = true, .aliases = "delta",
     .json = "delta_bytes", .csv = "delta", .title = "Change", .help = "of B less those of A, either way"},
    {COLUMN_NUMBER("a", bytes_a, "metric"), .json = "a_bytes", .csv = "a", .title = "A", .help = "what A holds"},
    {COLUMN_NUMBER("b", bytes_b, "metric"), .json = "b_bytes", .csv = "b", .title = "B", .help = "what B holds"},
    {COLUMN_NUMBER("count_a", count_a, "count"), .json = "a_count", .csv = "a_count", .title = "Count A",
     .help = "buffers or executables in A"},
    {COLUMN_NUMBER("count_b", count_b, "count"), .json = "b_count", .csv = "b_count", .title = "Count B",
     .help = "buffers or executables in B"},
    {COLUMN_TEXT("state", state), .json = "state", .csv = "state", .title = "State",
     .help = "new, gone, grown, shrunk, same"},
    {COLUMN_TEXT("kind", kind), .aliases = "cat category", .json = "kind", .csv = "kind", .title = "Kind",
     .help = "label kind: buffer, executable"},
    {COLUMN_TEXT("", NULL), .write = frame_write, .json = "frame"},
    {COLUMN_TEXT("fn", function), .aliases = "function", .csv = "function", .title = "Call site",
     .help = "name of the function"},
    {COLUMN_TEXT("file", file), .csv = "file", .title = "File:line", .help = "path of the source file"},
    {COLUMN_NUMBER("line", number, NULL), .csv = "line", .help = "line in the source file"},
    {COLUMN_TEXT("callee", callee), .is_searched = true, .json = "callee", .csv = "callee",
     .help = "what was called there"},
    {COLUMN_TEXT("name", name), .is_searched = true, .json = "name",
     .help = "function, file and line; * matches any text"},
    {COLUMN_TEXT("stack", stack), .is_searched = true, .json = "stack", .csv = "stack",
     .help = "frames of the stack, the outermost first"},
    {COLUMN_NUMBER("stacks", stack_count, "count"), .json = "stack_count", .csv = "stacks", .title = "Stacks",
     .help = "ways that lead to the call site"},
    {COLUMN_NUMBER("group", group, NULL), .json = "group"},
    {.name = NULL},
};
static const struct table_spec spec = {.columns = columns, .sort = "-change,-b,-a"};

static bool state_read(const struct tool_request *request, size_t *state, struct err *err)
{
    const char *names[CHANGES_STATE_COUNT + 1], *text = tool_param_text(request, "state");
    for (int i = 0; i < CHANGES_STATE_COUNT; i++)
        names[i] = changes_state_name((enum changes_state)i);
    names[CHANGES_STATE_COUNT] = "all";
    *state = CHANGES_STATE_COUNT;
    return text == NULL || text[0] == '\0' ||
           nearest_choose("state", "state", str_of(text), names, CHANGES_STATE_COUNT + 1, state, err);
}

struct changes_listing_asked {
    size_t state;  /* CHANGES_STATE_COUNT: all */
    int64_t group; /* −1: all */
};

static void answer_write(struct changes_listing_listing *listing, struct table_rows *rows,
                         const struct changes_listing_asked *asked, struct json *json)
{
    uint32_t total = 0;
    int64_t matched = 0, largest = 0;
    table_begin(rows, listing->rows->count);
    for (uint32_t i = 0; i < listing->rows->count; i++) {
        const struct changes_row *row = &listing->rows->items[i];
        bool is_asked = (asked->state == CHANGES_STATE_COUNT || asked->state == row->state) &&
                        (asked->group < 0 || asked->group == (int64_t)row->group);
        total += is_asked;
        if (!is_asked || !table_take(rows, i))
            continue;
        matched = pprof_add(matched, changes_of(row));
        largest = pprof_size(changes_of(row)) > largest ? pprof_size(changes_of(row)) : largest;
    }
    table_sort(rows);
    model_notes(&listing->changes.model);
    if (table_is_lines(rows)) {
        table_lines_write(rows, NULL);
        return;
    }
    json_object_begin(json);
    json_key_uint(json, "total_count", total);
    json_key_uint(json, "matched_count", rows->matched);
    json_key_int(json, "matched_delta_bytes", matched);
    json_key_int(json, "largest_bytes", largest);
    json_key_int(json, "offset", rows->offset);
    table_columns_write(columns, "columns", json);
    table_rows_write(rows, listing->rows == &listing->changes.of_sites ? "groups" : "rows", json);
    json_object_end(json);
}

static bool listing_answer(const struct tool_request *request, bool is_of_stacks, struct json *json, struct err *err)
{
    struct changes_listing_listing *listing = arena_array(request->arena, struct changes_listing_listing, 1);
    struct table_rows rows;
    struct changes_listing_asked asked = {.group = -1};
    listing->rows = is_of_stacks ? &listing->changes.of_stacks : &listing->changes.of_sites;
    if (!state_read(request, &asked.state, err) ||
        (is_of_stacks && !tool_param_number(request, "group", 0, UINT32_MAX, -1, &asked.group, err)) ||
        !table_read(&rows, request, &spec, listing, err) || !changes_make(request, &listing->changes, err))
        return false;
    answer_write(listing, &rows, &asked, json);
    return true;
}

bool changes_sites(const struct tool_request *request, struct json *json, struct err *err)
{
    return listing_answer(request, false, json, err);
}

bool changes_stacks(const struct tool_request *request, struct json *json, struct err *err)
{
    return listing_answer(request, true, json, err);
}
