/* SPDX-License-Identifier: Apache-2.0
 * door/analysis_modules.c: what the figures of a module and the runs of a trace are to the door. */
#include "base/sum.h"
#include "door/analysis_fit.h"
#include "door/analysis_subject.h"
#include "plan/person_rules.h"
#include "read/kind.h"
#include "read/trace/trace_launches.h"

#include <stdlib.h>

/* Steps of reading the launches of a trace: about two a byte of what is looked at. */
#define MIN_WORK ((uint64_t)1 << 28)
#define WORK_PER_BYTE 64
/* What is kept of either is much smaller. */
#define KEPT_WORK ((uint64_t)1 << 30)

/* A subject is decoded into an arena of its own; only the part to keep is copied out. */
struct keeping {
    struct job whole, kept;
    const struct analysis_reading *reading;
    struct analysis_subject *to;
    struct buf *texts; /* for those that the user's rules look at, one at a time */
    union {
        struct analysis_subject module;
        struct module_launches launches;
    };
};

/* The decoded whole is freed before the kept part becomes the subject's. */
static void analysis_modules_keep(struct keeping *keeping, struct job *job, job_work *decode, job_work *take,
                                  struct err *err)
{
    keeping->whole.source = job->source;
    arena_init(&keeping->whole.arena, arena_left_bytes(&job->arena), err);
    arena_watch(&keeping->whole.arena, job->arena.wanted);
    job_try(&keeping->whole, decode, keeping->reading, keeping, err);
    arena_init(&keeping->kept.arena, arena_left_bytes(&job->arena), err);
    arena_allot_work(&keeping->kept.arena, KEPT_WORK);
    arena_watch(&keeping->kept.arena, job->arena.wanted);
    if (!err_is_set(err))
        job_try(&keeping->kept, take, keeping, keeping->to, err);
    job->arena.is_full |= keeping->whole.arena.is_full || keeping->kept.arena.is_full;
    arena_free(&keeping->whole.arena);
    if (err_is_set(err))
        arena_free(&keeping->kept.arena);
    else
        arena_adopt(&job->arena, &keeping->kept.arena);
}

static void module_decode(struct job *job, const void *in, void *to, struct err *err)
{
    analysis_module_fill(job, in, &((struct keeping *)to)->module, err);
}

/* The plan with the user's rules applied. */
static const struct plan *plan_ruled(const struct keeping *keeping, struct arena *arena, struct err *err)
{
    const struct plan *plan = &keeping->module.plan;
    const char *lines = keeping->reading->category_rules;
    struct person_rules *rules = lines != NULL ? person_rules_read(str_of(lines), arena, err) : NULL;
    return rules != NULL ? person_rules_apply(rules, plan, keeping->texts) : plan;
}

static void figures_keep(struct job *job, const void *in, void *to, struct err *err)
{
    const struct keeping *keeping = in;
    struct arena *scratch = arena_child(&job->arena);
    figures_take(plan_ruled(keeping, scratch, err), &job->arena, &((struct analysis_subject *)to)->figures);
    arena_free(scratch);
}

void analysis_figures_fill(struct job *job, const void *in, void *to, struct err *err)
{
    struct buf texts = BUF_INIT;
    struct keeping keeping = {.reading = in, .to = to, .texts = &texts};
    analysis_modules_keep(&keeping, job, module_decode, figures_keep, err);
    buf_free(&texts);
}

static void launches_decode(struct job *job, const void *in, void *to, struct err *err)
{
    uint64_t size_bytes = job->source->size_bytes;
    (void)in;
    arena_allot_work(&job->arena,
                     size_bytes > UINT64_MAX / 128 ? UINT64_MAX / 2 : MIN_WORK + WORK_PER_BYTE * size_bytes);
    enum kind kind = job_kind(job, &job->arena, err);
    if (kind == KIND_TORCH_SNAPSHOT) /* of allocations alone: no module was launched */
        return;
    if (!err_is_set(err) && kind != KIND_XSPACE)
        err_set(err, ERR_unsupported, 0, "not a profiler trace (XSpace); it looks like: %s", kind_name(kind));
    if (!err_is_set(err))
        trace_launches_read(job->source, &job->arena, &((struct keeping *)to)->launches, err);
}

static void runs_keep(struct job *job, const void *in, void *to, struct err *err)
{
    const struct keeping *keeping = in;
    (void)err;
    struct arena *scratch = arena_child(&job->arena);
    runs_take(&keeping->launches, scratch, &job->arena, &((struct analysis_subject *)to)->runs);
    arena_free(scratch);
}

void analysis_runs_fill(struct job *job, const void *in, void *to, struct err *err)
{
    struct keeping keeping = {.reading = in, .to = to};
    analysis_modules_keep(&keeping, job, launches_decode, runs_keep, err);
}

struct module_item analysis_module_item(const struct analysis_module_use *use)
{
    const bool is_known = use->capacity.bytes > 0 && use->capacity.bytes <= SUM_MAX_BYTES;
    return (struct module_item){
        .id = use->id,
        .name = use->name,
        .key = use->key,
        .host_id = use->host_id,
        .host = use->host,
        .file = use->file,
        .figures = use->figures != NULL ? &use->figures->figures : NULL,
        .runs = use->runs != NULL ? &use->runs->runs : NULL,
        .capacity = analysis_fit_capacity(is_known ? &use->capacity : NULL),
        .code = use->figures == NULL && use->code != ERR_none ? err_name(use->code) : NULL,
        .reason = use->reason,
    };
}
