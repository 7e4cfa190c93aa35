/* SPDX-License-Identifier: Apache-2.0
 * buffer_links.c: see buffer_links.h. */
#include "views/memory_viewer/buffer_links.h"

#include "plan/describe.h"
#include "plan/links.h"
#include "read/hlo/shape.h"

enum { READERS_DEFAULT = 20, READERS_MAX = 1000, OPERANDS_MAX = 20, MADE_MAX = 8 };

bool buffer_links_page_read(const struct tool_request *request, struct buffer_links_page *page, struct err *err)
{
    return tool_param_number(request, "offset", 0, UINT32_MAX, 0, &page->offset, err) &&
           tool_param_number(request, "limit", 0, READERS_MAX, READERS_DEFAULT, &page->limit, err) &&
           tool_param_number(request, "operand_offset", 0, UINT32_MAX, 0, &page->operand_offset, err);
}

static void shape_write(const struct tool_request *request, struct json *json, struct str shape)
{
    request->scratch->length = 0;
    shape_text(shape, false, request->scratch);
    json_key_string(json, "shape", describe_str(request->scratch));
}

/* A row of any space. */
static void place_write(const struct tool_request *request, struct json *json, struct links_place place)
{
    const struct plan *plan = request->model;
    const struct plan_space *space = &plan->spaces[place.space_at];
    const struct plan_row *row = &space->rows[place.row_at];
    json_object_begin(json);
    json_key(json, "id");
    views_row_id(json, plan, row);
    json_key_int(json, "space", space->space);
    describe_short(json, "name", views_row_name(plan, row, request->scratch));
    json_key_int(json, "bytes", row->bytes);
    json_key_text(json, "category", category_name((enum category)row->choice.category));
    shape_write(request, json, row->buffer_at == PLAN_NONE ? (struct str){"", 0} : plan->shapes[row->buffer_at]);
    json_object_end(json);
}

/* A value without a row: inside of a fusion, of no bytes, or in no allocation that is shown. */
static void unplaced_write(const struct tool_request *request, struct json *json, uint32_t at)
{
    const struct hlo *hlo = &((const struct plan *)request->model)->hlo;
    json_object_begin(json);
    describe_short(json, "name", at == HLO_NONE ? (struct str){"", 0} : hlo_instruction_name(hlo, at));
    shape_write(request, json, at == HLO_NONE ? (struct str){"", 0} : hlo_instruction_shape(hlo, at));
    json_object_end(json);
}

/* The members of an instruction that both lists have. */
static void instruction_write(const struct plan *plan, struct json *json, uint32_t at)
{
    const struct hlo_detail detail = hlo_detail(&plan->hlo, at);
    const struct describe_source source = describe_source(&plan->hlo, &detail);
    uint32_t position = plan->schedule.position_of_instruction[at];
    describe_short(json, "instruction", detail.name);
    describe_short(json, "opcode", detail.opcode);
    describe_short(json, "op_name", detail.op_name);
    describe_short(json, "computation", plan->hlo.computations[plan->hlo.instructions[at].computation_at].name);
    json_key_string_if_any(json, "source_file", source.file);
    json_key_known(json, "source_line", source.file.length > 0 && source.line > 0 ? source.line : -1);
    json_key_known(json, "schedule_position", position == HLO_NONE ? -1 : (int64_t)position);
}

static void producer_write(const struct tool_request *request, struct json *json, const struct links *links,
                           uint32_t at, const struct buffer_links_page *page)
{
    const struct graph *graph = links->plan->graph;
    uint32_t count = graph->operand_first[at + 1] - graph->operand_first[at];
    uint32_t first = page->operand_offset < count ? (uint32_t)page->operand_offset : count;
    uint32_t end = count - first < OPERANDS_MAX ? count : first + OPERANDS_MAX;
    json_key_object(json, "producer");
    instruction_write(links->plan, json, at);
    json_key_uint(json, "operand_count", count);
    json_key_int(json, "operand_offset", page->operand_offset);
    json_key_array(json, "operands");
    for (uint32_t i = first; i < end; i++) {
        uint32_t made_at;
        struct links_place place = links_operand(links, at, i, &made_at);
        if (place.row_at == PLAN_NONE)
            unplaced_write(request, json, made_at);
        else
            place_write(request, json, place);
    }
    json_array_end(json);
    json_object_end(json);
}

static void reader_write(const struct tool_request *request, struct json *json, const struct links *links, uint32_t at)
{
    struct links_place place;
    uint32_t buffer_at = HLO_NONE, count = 0;
    json_object_begin(json);
    instruction_write(links->plan, json, at);
    json_key_array(json, "buffers");
    while (links_made(links, at, &buffer_at, &place))
        if (count++ < MADE_MAX)
            place_write(request, json, place);
    json_array_end(json);
    json_key_uint(json, "buffer_count", count);
    json_object_end(json);
}

static void consumers_write(const struct tool_request *request, struct json *json, const struct links *links,
                            uint32_t buffer_at, const struct buffer_links_page *page)
{
    struct links_readers readers;
    links_readers(links, value_of_buffer(&links->plan->hlo, buffer_at), &readers);
    uint32_t first = page->offset < readers.count ? (uint32_t)page->offset : readers.count;
    uint32_t end = readers.count - first < page->limit ? readers.count : first + (uint32_t)page->limit;
    json_key_object(json, "consumers");
    json_key_uint(json, "count", readers.count);
    json_key_bool(json, "is_cut", readers.is_cut);
    json_key_bool(json, "is_result", readers.is_result);
    json_key_int(json, "offset", page->offset);
    json_key_array(json, "rows");
    for (uint32_t i = first; i < end; i++)
        reader_write(request, json, links, readers.items[i]);
    json_array_end(json);
    json_object_end(json);
}

void buffer_links_write(const struct tool_request *request, struct json *json, const struct plan_row *row,
                        const struct buffer_links_page *page)
{
    const struct plan *plan = request->model;
    struct links links;
    uint32_t at = row->buffer_at == PLAN_NONE ? HLO_NONE : plan->hlo.buffers[row->buffer_at].instruction_at;
    if (plan->graph == NULL || at == HLO_NONE)
        return;
    links_build(plan, request->arena, &links);
    producer_write(request, json, &links, at, page);
    consumers_write(request, json, &links, row->buffer_at, page);
}
