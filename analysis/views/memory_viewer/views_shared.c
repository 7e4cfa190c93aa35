/* SPDX-License-Identifier: Apache-2.0
 * views_shared.c: see views_shared.h. */
#include "views/memory_viewer/views_shared.h"

#include "base/nearest.h"
#include "plan/describe.h"
#include "read/hlo/shape.h"

#include <stdio.h>

const struct plan_space *views_space(const struct tool_request *request, struct err *err)
{
    const struct plan *plan = request->model;
    int64_t wanted, default_value = plan->space_count > 0 ? plan->spaces[0].space : 0;
    if (!tool_param_number(request, "space", INT64_MIN, INT64_MAX, default_value, &wanted, err))
        return NULL;
    const struct plan_space *space = plan_space_find(plan, wanted);
    if (space == NULL && !plan->hlo.has_assignment)
        err_set(err, ERR_notfound, ERR_NO_OFFSET, "the file holds no buffer assignment, so no memory space");
    else if (space == NULL)
        err_set(err, ERR_notfound, ERR_NO_OFFSET, "this program uses no memory space %lld", (long long)wanted);
    return space;
}

bool views_step(const struct tool_request *request, const struct plan_space *space, bool all_is_allowed, uint32_t *step,
                bool *is_all, struct err *err)
{
    const char *text = tool_param_text(request, "step");
    int64_t last = space->step_count > 0 ? (int64_t)space->step_count - 1 : 0, value;
    *is_all = false;
    *step = space->peak_step;
    if (text == NULL || strcmp(text, "peak") == 0)
        return true;
    if (all_is_allowed && strcmp(text, "all") == 0) {
        *is_all = true;
        return true;
    }
    if (!tool_param_number(request, "step", 0, last, space->peak_step, &value, err))
        return false;
    *step = (uint32_t)value;
    return true;
}

bool views_paths(const struct tool_request *request, bool *has_paths, struct err *err)
{
    static const char *const choices[] = {"with", "without"};
    const char *paths = tool_param_text(request, "paths");
    size_t choice = 0;
    bool is_read = paths == NULL || nearest_choose("paths", "choice", str_of(paths), choices, 2, &choice, err);
    *has_paths = choice == 0;
    return is_read;
}

uint32_t views_alive_count(const struct plan_space *space, uint32_t step)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < space->row_count; i++)
        count += plan_row_is_alive(&space->rows[i], step);
    return count;
}

int64_t views_schedule_position(const struct plan *plan, uint32_t buffer_at)
{
    if (buffer_at == PLAN_NONE || plan->hlo.buffers[buffer_at].instruction_at == HLO_NONE)
        return -1;
    uint32_t position = plan->schedule.position_of_instruction[plan->hlo.buffers[buffer_at].instruction_at];
    return position == HLO_NONE ? -1 : (int64_t)position;
}

struct str views_row_name(const struct plan *plan, const struct plan_row *row, struct buf *scratch)
{
    scratch->length = 0;
    if (row->buffer_at == PLAN_NONE)
        buf_format(scratch, "allocation %lld", (long long)plan->hlo.allocations[row->allocation_at].index);
    else
        describe_name(&plan->hlo, row->buffer_at,
                      hlo_instruction_name(&plan->hlo, plan->hlo.buffers[row->buffer_at].instruction_at), scratch);
    return describe_str(scratch);
}

int64_t views_padding(const struct plan_row *row)
{
    return row->unpadded_bytes == SHAPE_UNKNOWN_SIZE || row->unpadded_bytes >= row->bytes
               ? 0
               : row->bytes - row->unpadded_bytes;
}

void views_row_id(struct json *json, const struct plan *plan, const struct plan_row *row)
{
    char text[48];
    if (row->buffer_at != PLAN_NONE) {
        json_id(json, plan->hlo.buffers[row->buffer_at].id);
        return;
    }
    snprintf(text, sizeof(text), "allocation:%lld", (long long)plan->hlo.allocations[row->allocation_at].index);
    json_text(json, text);
}

void views_ranks_write(struct json *json, const struct row_ranks *ranks)
{
    json_key(json, "ranks");
    if (ranks == NULL || ranks->program == PLAN_NONE) {
        json_null(json);
        return;
    }
    json_object_begin(json);
    json_key_uint(json, "program", ranks->program);
    json_key_uint(json, "size", ranks->size);
    json_key_known(json, "padding", ranks->padding == PLAN_NONE ? -1 : (int64_t)ranks->padding);
    json_object_end(json);
}
