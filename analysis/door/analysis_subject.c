/* SPDX-License-Identifier: Apache-2.0
 * door/analysis_subject.c: see analysis.h, "One subject". */
#include "door/analysis_subject.h"

static job_work *const fills[] = {
    [ANALYSIS_MODULE] = analysis_module_fill,   [ANALYSIS_TRACE] = analysis_trace_fill,
    [ANALYSIS_PROFILE] = analysis_profile_fill, [ANALYSIS_TEXT] = analysis_text_fill,
    [ANALYSIS_FIGURES] = analysis_figures_fill, [ANALYSIS_RUNS] = analysis_runs_fill,
};

static void analysis_subject_fill(struct job *job, const void *in, void *to, struct err *err)
{
    const struct analysis_reading *reading = in;
    arena_watch(&job->arena, reading->wanted);
    fills[reading->kind](job, in, to, err);
    arena_watch(&job->arena, NULL); /* the subject outlives who asked for it */
}

struct analysis_subject *analysis_subject_read(const struct source *source, const struct analysis_reading *reading,
                                               struct err *err)
{
    struct analysis_subject *made =
        job_make(source, reading->limit_bytes, sizeof(*made), analysis_subject_fill, reading, err);
    if (made == NULL)
        return NULL;
    made->kind = reading->kind;
    if (made->kind == ANALYSIS_PROFILE)
        made->packed_at_ms = analysis_profile_packed_at_ms(source);
    return made;
}

uint64_t analysis_subject_memory_bytes(const struct analysis_subject *subject) { return job_made_bytes(subject); }

bool analysis_subject_lacks_room(const struct analysis_subject *subject)
{
    return subject->kind == ANALYSIS_TRACE && subject->trace.lacks_room;
}

void analysis_subject_free(struct analysis_subject *subject) { job_made_free(subject); }

static void analysis_subject_complete(struct job *job, const void *in, void *to, struct err *err)
{
    (void)in, (void)err;
    plan_complete(&((struct analysis_subject *)to)->plan, &job->arena);
}

bool analysis_module_complete(struct analysis_subject *module, uint64_t limit_bytes, const atomic_int *wanted,
                              struct err *err)
{
    bool is_good = job_made_more(module, limit_bytes, wanted, analysis_subject_complete, NULL, err);
    if (!is_good)
        plan_forget_owners(&module->plan);
    return is_good;
}

bool analysis_module_space_at(const struct analysis_subject *module, size_t at, struct analysis_module_space *space)
{
    if (at >= module->plan.space_count)
        return false;
    const struct plan_space *of = &module->plan.spaces[at];
    *space = (struct analysis_module_space){of->space, of->name, of->has_peak_step, of->peak_step};
    return true;
}
