/* SPDX-License-Identifier: Apache-2.0
 * row_fields.c: see row_fields.h. */
#include "tool/memory_viewer/row_fields.h"

#include "input/shape.h"
#include "tool/memory_viewer/describe.h"

const struct filter_field row_fields[ROW_FIELD_COUNT + 1] = {
    [ROW_SIZE] = {"size", FILTER_NUMBER, false},
    [ROW_SIZE_SHARE] = {"size%", FILTER_NUMBER, false},
    [ROW_UNPADDED] = {"unpadded", FILTER_NUMBER, false},
    [ROW_PADDING] = {"pad", FILTER_NUMBER, false},
    [ROW_PADDING_SHARE] = {"pad%", FILTER_NUMBER, false},
    [ROW_BORN] = {"born", FILTER_NUMBER, false},
    [ROW_DIES] = {"dies", FILTER_NUMBER, false},
    [ROW_LIVES] = {"lives", FILTER_NUMBER, false},
    [ROW_OFFSET] = {"offset", FILTER_NUMBER, false},
    [ROW_ALLOCATION] = {"alloc", FILTER_NUMBER, false},
    [ROW_ALIVE] = {"alive", FILTER_SPAN, false},
    [ROW_ALIVE_END] = {"", FILTER_NUMBER, false},
    [ROW_COVERS] = {"covers", FILTER_SPAN, false},
    [ROW_COVERS_END] = {"", FILTER_NUMBER, false},
    [ROW_NAME] = {"name", FILTER_TEXT, true},
    [ROW_SHAPE] = {"shape", FILTER_SHAPE, true},
    [ROW_DTYPE] = {"dtype", FILTER_TEXT, false},
    [ROW_CATEGORY] = {"cat", FILTER_TEXT, false},
    [ROW_OPCODE] = {"op", FILTER_TEXT, false},
    [ROW_SCOPE] = {"scope", FILTER_TEXT, true},
    [ROW_LINE] = {"line", FILTER_TEXT, true},
    [ROW_ID] = {"id", FILTER_TEXT, false},
    [ROW_FIELD_COUNT] = {NULL, FILTER_TEXT, false},
};

/* ---- values of a row ---- */

static double share(int64_t part, int64_t whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

/* Steps in which a row is alive; all of them when it lives for the whole program. */
static bool life_number(const struct plan_space *space, const struct plan_row *row, enum row_field field, double *value)
{
    uint32_t born = row->is_indefinite ? 0 : row->born;
    uint32_t dies = row->is_indefinite || row->dies > space->step_count ? space->step_count : row->dies;
    switch (field) {
    case ROW_BORN: *value = (double)born; return !row->is_indefinite;
    case ROW_DIES: *value = (double)dies; return !row->is_indefinite && row->dies < space->step_count;
    case ROW_LIVES: *value = (double)dies - (double)born; return true;
    case ROW_ALIVE: *value = (double)born; return true;
    case ROW_ALIVE_END: *value = (double)(space->step_count == 0 ? 1 : dies); return true;
    default: return false;
    }
}

bool row_fields_number(const void *context, uint32_t at, size_t field, double *value)
{
    const struct row_fields_context *listing = context;
    const struct plan_row *row = &listing->space->rows[at];
    bool has_size = row->unpadded_bytes != SHAPE_UNKNOWN_SIZE;
    switch ((enum row_field)field) {
    case ROW_SIZE: *value = (double)row->bytes; return true;
    case ROW_SIZE_SHARE: *value = share(row->bytes, listing->space->peak_bytes); return true;
    case ROW_UNPADDED: *value = (double)row->unpadded_bytes; return has_size;
    case ROW_PADDING: *value = (double)views_padding(row); return has_size;
    case ROW_PADDING_SHARE: *value = share(views_padding(row), row->bytes); return has_size;
    case ROW_OFFSET: *value = (double)row->offset_bytes; return true;
    case ROW_ALLOCATION:
        *value = (double)listing->request->plan->hlo.allocations[row->allocation_at].index;
        return true;
    /* What lives for the whole program has no offset beside the others: each has an allocation of its own. */
    case ROW_COVERS: *value = (double)row->offset_bytes; return !row->is_indefinite;
    case ROW_COVERS_END: *value = (double)row->offset_bytes + (double)row->bytes; return !row->is_indefinite;
    default: return life_number(listing->space, row, (enum row_field)field, value);
    }
}

static struct str line_of(const struct row_fields_context *listing, const struct hlo_detail *detail)
{
    struct buf *scratch = listing->request->scratch;
    struct describe_source source = describe_source(&listing->request->plan->hlo, detail);
    scratch->length = 0;
    buf_add(scratch, source.file.data, source.file.length);
    if (source.file.length > 0)
        buf_format(scratch, ":%lld", (long long)source.line);
    return describe_str(scratch);
}

struct str row_fields_text(const void *context, uint32_t at, size_t field)
{
    const struct row_fields_context *listing = context;
    const struct plan_row *row = &listing->space->rows[at];
    const struct plan *plan = listing->request->plan;
    struct buf *scratch = listing->request->scratch;
    if (field == ROW_NAME)
        return views_row_name(plan, row, scratch);
    if (field == ROW_CATEGORY)
        return str_of(plan_category_name(plan_category_of(&plan->hlo.allocations[row->allocation_at])));
    if (row->buffer_at == PLAN_NONE)
        return (struct str){"", 0};
    if (field == ROW_ID) {
        scratch->length = 0;
        buf_format(scratch, "%lld", (long long)plan->hlo.buffers[row->buffer_at].id);
        return describe_str(scratch);
    }
    struct hlo_detail detail = hlo_detail(&plan->hlo, plan->hlo.buffers[row->buffer_at].instruction_at);
    if (field == ROW_OPCODE)
        return detail.opcode;
    if (field == ROW_SCOPE)
        return detail.op_name;
    if (field == ROW_LINE)
        return line_of(listing, &detail);
    struct str shape = plan->shapes[row->buffer_at];
    arena_work(listing->request->arena, shape.length);
    if (field == ROW_DTYPE)
        return str_of(shape_element_type(shape));
    scratch->length = 0;
    shape_text(shape, true, scratch);
    return describe_str(scratch);
}
