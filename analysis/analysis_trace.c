/* SPDX-License-Identifier: Apache-2.0
 * analysis_trace.c: traces' memory events in of analysis.h. */
#include "analysis.h"
#include "analysis_answer.h"
#include "job.h"
#include "tool/memory_profile/model.h"
#include "tool/memory_profile/notes.h"
#include "tool/memory_profile/summary.h"

/* Steps of decoding: about two a byte in real traces; a step costs 1 to 10 ns. */
#define LEAST_WORK ((uint64_t)1 << 28)
#define WORK_PER_BYTE 64

struct analysis_trace {
    struct memory_profile profile;
    const char **names; /* of the pools */
};

static void memory_profile_fill(struct job *job, const void *hands, void *to, struct err *err)
{
    struct analysis_trace *out = to;
    struct memory_events *events = arena_array(&job->arena, struct memory_events, 1);
    uint64_t size_bytes = job->source->size_bytes;
    arena_allot_work(&job->arena,
                     size_bytes > UINT64_MAX / 128 ? UINT64_MAX / 2 : LEAST_WORK + WORK_PER_BYTE * size_bytes);
    if (!memory_events_read(job->source, hands, &job->arena, events, err))
        return;
    memory_profile_model_build(&out->profile, events, hands, &job->arena);
    out->names = arena_array(&job->arena, const char *, (size_t)out->profile.pool_count + 1);
    for (uint32_t i = 0; i < out->profile.pool_count; i++)
        out->names[i] = arena_text(&job->arena, out->profile.pools[i].name);
}

struct analysis_trace *analysis_trace_read(const struct source *source, const struct hands *hands, uint64_t limit_bytes,
                                           struct err *err)
{
    return job_make(source, limit_bytes, sizeof(struct analysis_trace), memory_profile_fill, hands, err);
}

uint64_t analysis_trace_memory_bytes(const struct analysis_trace *trace)
{
    return job_made_bytes(trace);
}

void analysis_trace_free(struct analysis_trace *trace)
{
    job_made_free(trace);
}

bool analysis_trace_answer(const struct analysis_trace *trace, const char *view, const struct analysis_param *params,
                           size_t param_count, struct buf *out, struct err *err)
{
    const struct analysis_question question = {
        .tool = "memory_profile", .view = view, .params = params, .param_count = param_count, .trace = &trace->profile};
    return analysis_answer_write(&question, out, err);
}

bool analysis_trace_pool_at(const struct analysis_trace *trace, size_t at, struct analysis_trace_pool *pool)
{
    const struct memory_profile *model = &trace->profile;
    if (at >= model->pool_count)
        return false;
    const struct memory_profile_pool *row = &model->pools[at];
    *pool = (struct analysis_trace_pool){
        .name = trace->names[at],
        .is_device = row->kind == PROFILE_DEVICE,
        .peak_bytes = memory_profile_in_use_bytes(model, row->peak_at),
        .peak_time_ps = model->time_ps[row->peak_at],
        .capacity_bytes = row->capacity_bytes == MEMORY_UNKNOWN ? -1 : row->capacity_bytes,
        .lifetime_peak_bytes = row->lifetime_peak_bytes == MEMORY_UNKNOWN ? -1 : row->lifetime_peak_bytes,
        .allocation_count = row->allocation_count,
        .deallocation_count = row->deallocation_count,
    };
    return true;
}

bool analysis_trace_reason(const struct analysis_trace *trace, const char **code, const char **text)
{
    struct memory_profile_reason reason = memory_profile_notes_reason(&trace->profile);
    *code = reason.code;
    *text = reason.text;
    return reason.code != NULL;
}

void analysis_trace_host_write(const struct analysis_trace *trace, const struct analysis_trace_host *host,
                               struct buf *out)
{
    struct json json = JSON_INIT(out);
    const struct memory_profile_summary_names names = {host->id, host->name, host->file};
    memory_profile_summary_host(&json, &trace->profile, &names);
}

void analysis_trace_pool_write(const struct analysis_trace *trace, const struct analysis_trace_host *host, size_t at,
                               struct buf *out)
{
    struct json json = JSON_INIT(out);
    const struct memory_profile_summary_names names = {host->id, host->name, host->file};
    memory_profile_summary_pool(&json, &trace->profile.pools[at], &names);
}
