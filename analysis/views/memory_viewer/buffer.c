/* SPDX-License-Identifier: Apache-2.0
 * buffer.c: the view "buffer": everything that is known of one buffer. */
#include "plan/describe.h"
#include "plan/person_rules.h"
#include "read/hlo/shape.h"
#include "views/memory_viewer/buffer_links.h"
#include "views/memory_viewer/row_glob.h"
#include "views/memory_viewer/saving.h"

#include <stdlib.h>

static const struct plan_row *row_find(const struct plan *plan, const struct plan_space *space, const char *id)
{
    static const char prefix[] = "allocation:";
    bool is_allocation = strncmp(id, prefix, sizeof(prefix) - 1) == 0;
    const char *digits = is_allocation ? id + sizeof(prefix) - 1 : id;
    char *end;
    long long number = strtoll(digits, &end, 10);
    if (end == digits || *end != '\0')
        return NULL;
    for (uint32_t i = 0; i < space->row_count; i++) {
        const struct plan_row *row = &space->rows[i];
        if (is_allocation ? row->buffer_at == PLAN_NONE && plan->hlo.allocations[row->allocation_at].index == number
                          : row->buffer_at != PLAN_NONE && plan->hlo.buffers[row->buffer_at].id == number)
            return row;
    }
    return NULL;
}

static void frame_write(void *context, const struct hlo_frame *frame)
{
    struct json *json = context;
    json_object_begin(json);
    json_key_string(json, "file", frame->file);
    json_key_string(json, "function", frame->function);
    json_key_known(json, "line", frame->line);
    json_key_known(json, "column", frame->column);
    json_key_bool(json, "is_library", frame->library == LIBRARY_MACHINERY);
    json_object_end(json);
}

/* Other values in the same allocation at the same offset that share the memory while the row holds it. */
static void sharers_write(struct json *json, const struct plan *plan, const struct plan_space *space,
                          const struct plan_row *row)
{
    json_key_array(json, "shared_with");
    if (space->trace_at != PLAN_NONE && !row->is_indefinite) {
        const struct hlo_trace *trace = &plan->hlo.traces[space->trace_at];
        uint32_t end = row->dies < trace->event_count ? row->dies : trace->event_count;
        for (uint32_t i = row->born; i < end; i++) {
            const struct hlo_event *event = &plan->hlo.events[trace->event_first + i];
            if (event->kind == HLO_EVENT_SHARE_WITH && event->canonical_at == row->buffer_at &&
                event->buffer_at != HLO_NONE)
                json_id(json, event->buffer_id);
        }
    }
    json_array_end(json);
}

static void place_write(const struct tool_request *request, struct json *json, const struct plan_row *row)
{
    const struct plan *plan = request->model;
    struct hlo_detail detail = describe_origin(plan, row);
    struct str computation = {"", 0};
    request->scratch->length = 0;
    if (row->buffer_at != PLAN_NONE) {
        uint32_t instruction_at = plan->hlo.buffers[row->buffer_at].instruction_at;
        computation = plan->hlo.computations[plan->hlo.instructions[instruction_at].computation_at].name;
        shape_layout_text(plan->shapes[row->buffer_at], request->scratch);
    }
    json_key_string(json, "layout", describe_str(request->scratch));
    json_key_string(json, "computation", computation);
    json_key_array(json, "stack");
    describe_stack(&plan->hlo, detail.frame_at, frame_write, json);
    json_array_end(json);
}

/* Writes the rule as a sentence; for the user's own rules, the line. */
static void rule_write(const struct tool_request *request, struct json *json, const struct plan_row *row)
{
    struct str expression;
    uint32_t line;
    if (row->choice.rule == CATEGORY_RULE_PERSON && request->person_rules != NULL &&
        person_rules_line_of(request->person_rules, request->model, row, request->scratch, &expression, &line))
        json_key_text(json, "rule_text",
                      arena_format(request->arena, "Line %u of the category rules matches it: %.*s.", line,
                                   expression.length > 200 ? 200 : (int)expression.length, expression.data));
    else
        json_key_text(json, "rule_text", category_rule_text((enum category_rule)row->choice.rule));
}

bool memory_viewer_buffer(const struct tool_request *request, struct json *json, struct err *err)
{
    const struct plan_space *space = views_space(request, err);
    const char *id = tool_param_text(request, "id");
    struct row_ranks ranks;
    struct buffer_links_page page;
    uint32_t step;
    bool is_all;
    if (space == NULL || !views_step(request, space, false, &step, &is_all, err) ||
        !buffer_links_page_read(request, &page, err))
        return false;
    if (id == NULL)
        return err_set(err, ERR_argument, ERR_NO_OFFSET, "id: which buffer?");
    const struct plan_row *row = row_find(request->model, space, id);
    if (row == NULL)
        return err_set(err, ERR_notfound, ERR_NO_OFFSET, "no buffer \"%.40s\" takes memory in space %lld", id,
                       (long long)space->space);
    uint32_t row_at = (uint32_t)(row - space->rows);
    const struct memory_viewer_columns_rows rows = memory_viewer_columns_of(request, space);
    row_ranks_find(space, step, &row_at, 1, request->arena, &ranks);
    json_object_begin(json);
    table_row_write(memory_viewer_columns, &rows, row_at, json);
    rule_write(request, json, row);
    views_ranks_write(json, &ranks);
    place_write(request, json, row);
    sharers_write(json, request->model, space, row);
    buffer_links_write(request, json, row, &page);
    saving_write_row(json, &rows, row_at);
    row_glob_write(json, request->model, space, &row_at, 1, request->arena);
    json_key_bool(json, "is_live_at_peak", plan_row_is_alive(row, space->peak_step));
    json_key_double(json, "share_of_peak", space->peak_bytes > 0 ? (double)row->bytes / (double)space->peak_bytes : 0);
    json_object_end(json);
    return true;
}
