/* SPDX-License-Identifier: Apache-2.0
 * analysis_comparison.c: a failure beside the plan of its program: what tool/oom wants to know of a plan. */
#include "analysis_subject.h"

#include "tool/memory_viewer/culprit.h"
#include "tool/memory_viewer/row_groups.h"
#include "tool/oom/verdict.h"
#include "tool/oom/write_json.h"

#include <stdlib.h>

/* As for an answer of the Memory Viewer. */
#define COMPARISON_LIMIT_BYTES ((uint64_t)1 << 30)
#define COMPARISON_WORK ((uint64_t)1 << 29)

/* Of the buffers at the peak, the largest that are held against those of a text. */
enum { MAX_PLAN_BUFFERS = 1000 };

struct comparing {
    const struct oom_verdict *verdict;
    const struct plan *plan;
    struct buf *scratch;
};

static int64_t read_nothing(void *context, uint64_t offset, void *into, size_t size)
{
    (void)context, (void)offset, (void)into, (void)size;
    return 0;
}

static uint64_t size_of(int64_t bytes) { return bytes > 0 ? (uint64_t)bytes : 0; }

static int by_size(const void *a, const void *b)
{
    const struct plan_row *x = *(const struct plan_row *const *)a, *y = *(const struct plan_row *const *)b;
    return ORDER(y->bytes, x->bytes) ?: ORDER(x, y);
}

static struct str kept(const struct tool_request *request, struct str text)
{
    return (struct str){arena_text(request->arena, text), text.length};
}

static struct oom_plan_buffer plan_buffer(const struct tool_request *request, const struct plan_space *space,
                                          const struct plan_row *row)
{
    struct oom_plan_buffer buffer = {.bytes = size_of(row->bytes)};
    const struct hlo *hlo = &((const struct plan *)request->model)->hlo;
    struct buf *scratch = request->scratch;
    const struct memory_viewer_columns_rows rows = {request, space};
    buffer.name = kept(request, memory_viewer_columns_name(&rows, (uint32_t)(row - space->rows)));
    buffer.shape = row_groups_key(&rows, (uint32_t)(row - space->rows), ROW_GROUPS_SHAPE);
    scratch->length = 0;
    if (row->buffer_at != PLAN_NONE) {
        buffer.op_name = hlo_detail(hlo, hlo->buffers[row->buffer_at].instruction_at).op_name;
        buf_format(scratch, "%lld", (long long)hlo->buffers[row->buffer_at].id);
    } else {
        buf_format(scratch, "allocation:%lld", (long long)hlo->allocations[row->allocation_at].index);
    }
    buffer.id = kept(request, (struct str){scratch->data, scratch->length});
    return buffer;
}

static void plan_buffers_set(const struct tool_request *request, const struct plan_space *space, struct oom_plan *out)
{
    const struct plan_row **alive = arena_array(request->arena, const struct plan_row *, (size_t)space->row_count + 1);
    struct oom_plan_buffer *buffers = arena_array(request->arena, struct oom_plan_buffer, MAX_PLAN_BUFFERS);
    size_t count = 0;
    for (uint32_t i = 0; i < space->row_count; i++)
        if (plan_row_is_alive(&space->rows[i], space->peak_step))
            alive[count++] = &space->rows[i];
    qsort(alive, count, sizeof(*alive), by_size);
    for (; out->buffer_count < count && out->buffer_count < MAX_PLAN_BUFFERS; out->buffer_count++)
        buffers[out->buffer_count] = plan_buffer(request, space, alive[out->buffer_count]);
    out->buffers = buffers;
}

static void plan_set(const struct tool_request *request, const struct oom_failure *failure, struct oom_plan *out)
{
    const struct plan *plan = request->model;
    const struct plan_space *space = NULL;
    int64_t largest_bytes;
    for (uint32_t i = 0; i < plan->space_count && space == NULL; i++)
        if (oom_is_space(failure, plan->spaces[i].name))
            space = &plan->spaces[i];
    if (space == NULL)
        return;
    *out = (struct oom_plan){.space = space->space,
                             .space_name = space->name,
                             .total_bytes = size_of(space->total_bytes),
                             .argument_bytes = size_of(space->parameter_bytes),
                             .output_bytes = size_of(space->output_bytes - space->output_reused_bytes),
                             .constant_bytes = size_of(space->constant_bytes),
                             .temporary_bytes = size_of(space->total_bytes - space->indefinite_bytes),
                             .fragmentation_bytes = size_of(space->total_bytes - space->peak_bytes)};
    if (culprit_largest(request, space, &out->largest_count, &largest_bytes, &out->largest_shape))
        out->largest_bytes = size_of(largest_bytes);
    plan_buffers_set(request, space, out);
}

static void compare(struct job *job, const void *in, void *out, struct err *err)
{
    const struct comparing *comparing = in;
    const struct tool_request request = {.model = comparing->plan, .arena = &job->arena, .scratch = comparing->scratch};
    struct oom_plan plan = {.space_name = NULL};
    (void)err;
    arena_allot_work(&job->arena, COMPARISON_WORK);
    plan_set(&request, comparing->verdict->failure, &plan);
    oom_comparison_make(comparing->verdict, &plan, &job->arena, out);
}

struct oom_comparison *analysis_oom_compare(const struct oom_verdict *verdict, const struct analysis_subject *module,
                                            struct err *err)
{
    const struct source nothing = {.read = read_nothing};
    struct buf scratch = BUF_INIT;
    if (!module->plan.hlo.has_assignment) {
        err_set(err, ERR_notfound, ERR_NO_OFFSET, "the program has no buffer assignment");
        return NULL;
    }
    const struct comparing comparing = {verdict, &module->plan, &scratch};
    struct oom_comparison *made =
        job_make(&nothing, COMPARISON_LIMIT_BYTES, sizeof(struct oom_comparison), compare, &comparing, err);
    buf_free(&scratch);
    return made;
}

void analysis_oom_comparison_free(struct oom_comparison *comparison) { job_made_free(comparison); }

void analysis_oom_write_comparison(const struct oom_comparison *comparison, const struct oom_verdict *verdict,
                                   struct json *json)
{
    oom_write_json_comparison(json, verdict, comparison);
}
