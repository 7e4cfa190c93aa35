/* SPDX-License-Identifier: Apache-2.0
 * door/analysis_edit.c: changes done to a program for the compiler to judge: see analysis.h, "Changed programs". */
#include "door/analysis_subject.h"
#include "edit/from_change.h"
#include "read/hlo/compile_input.h"

/* An edit takes about ten times the program, whose size its reader limits. */
#define LIMIT_BYTES ((uint64_t)4 << 30)
/* Real programs take up to two steps a byte and change. The limit ends others within seconds, because a user cannot
 * cancel an edit. */
enum { MIN_WORK = 1 << 26, WORK_PER_BYTE = 64 };
enum { CHANGES_MAX = 32 };

struct analysis_edit_asked {
    const struct plan *plan;
    struct str before;
    const char *const *changes;
    size_t count;
    struct analysis_changed *out;
};

/* What is asked, each change on what the ones before it left; and what that would take. */
static bool edits_read(const struct analysis_edit_asked *asked, struct arena *arena, struct edit *edits,
                       struct err *err)
{
    const struct plan_space *space = plan_space_find(asked->plan, 0);
    struct variant_sums sums;
    if (space == NULL || asked->plan->graph == NULL || asked->plan->hlo.instruction_count == 0)
        return err_set(err, ERR_notfound, ERR_NO_OFFSET, "there is no program with its own memory to change");
    if (asked->count > CHANGES_MAX)
        return err_set(err, ERR_argument, ERR_NO_OFFSET, "change: at most %d of them", CHANGES_MAX);
    struct variant *variant = arena_array(arena, struct variant, 1);
    bool is_known = true;
    variant_begin(variant, asked->plan, space, arena);
    for (size_t i = 0; i < asked->count; i++) {
        struct change change;
        struct change_result result;
        if (!change_read(str_of(asked->changes[i]), &change, err) ||
            !edit_from_change(variant, &change, &edits[i], err) || !change_apply(variant, &change, &result, err))
            return false;
        is_known = is_known && !result.has_no_figure;
    }
    variant_measure(variant, &sums, NULL);
    asked->out->predicted_total_bytes = is_known ? sums.total_bytes : -1;
    asked->out->predicted_peak_bytes = is_known ? sums.peak_bytes : -1;
    return true;
}

static void edit(struct job *job, const void *in, void *to, struct err *err)
{
    const struct analysis_edit_asked *asked = in;
    struct analysis_changed *out = to;
    struct edit *edits = arena_array(&job->arena, struct edit, asked->count + 1);
    struct compile_input input;
    struct edit_outcome outcome;
    if (!edits_read(asked, &job->arena, edits, err) || !compile_input_read(asked->before, &input, err) ||
        !edit_apply(input.module, KIND_HLO_MODULE, edits, asked->count, &job->arena, &outcome, err))
        return;
    buf_add(&out->program, outcome.module.data, outcome.module.length);
    out->partition_count = outcome.partitions > 1 ? outcome.partitions : 0;
    out->changed_count = outcome.changed_count;
    out->left_count = outcome.left_count;
    out->partial = outcome.partial;
    buf_is_whole(&out->program, "the changed program", err);
}

bool analysis_change(const struct analysis_subject *module, struct str before, const char *const *changes, size_t count,
                     struct analysis_changed *out, struct err *err)
{
    struct analysis_edit_asked asked = {.before = before, .changes = changes, .count = count, .out = out};
    struct job job = {.source = NULL};
    *out = (struct analysis_changed){.program = BUF_INIT};
    if (module->kind != ANALYSIS_MODULE)
        return err_set(err, ERR_argument, ERR_NO_OFFSET, "only programs can be changed");
    asked.plan = &module->plan;
    arena_init(&job.arena, LIMIT_BYTES, err);
    arena_allot_work(&job.arena, MIN_WORK + WORK_PER_BYTE * (uint64_t)before.length);
    job_try(&job, edit, &asked, out, err);
    arena_free(&job.arena);
    if (err_is_set(err))
        analysis_changed_free(out);
    return !err_is_set(err);
}

void analysis_changed_free(struct analysis_changed *changed) { buf_free(&changed->program); }
