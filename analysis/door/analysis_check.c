/* SPDX-License-Identifier: Apache-2.0
 * door/analysis_check.c: programs against limits and a baseline: see analysis.h, "Checks". */
#include "check/write.h"
#include "door/analysis_subject.h"
#include "plan/configuration.h"

#include <stdlib.h>

/* The limits for one module, as for an answer (door/analysis_answer.c); what is kept takes some hundred bytes each. */
#define LIMIT_BYTES ((uint64_t)1 << 30)
#define WORK ((uint64_t)1 << 29)

struct analysis_check {
    struct job job;
    struct check_report report;
    struct err err;
    struct buf scratch;
};

struct analysis_check *analysis_check_new(const struct analysis_check_limits *limits)
{
    struct analysis_check *check = calloc(1, sizeof(*check));
    if (check == NULL)
        return NULL;
    check->report.limits = (struct check_limits){limits->max_total_bytes, limits->has_baseline, limits->tolerance_ppm,
                                                 limits->is_physical, limits->is_of_gpu};
    arena_init(&check->job.arena, LIMIT_BYTES, &check->err);
    return check;
}

/* One module: a program, or why there is none. */
struct analysis_check_adding {
    struct analysis_check *check;
    const char *file, *name, *fault;
    const struct plan *plan;
    const struct check_taken *taken; /* of a snapshot: instead of a plan */
    struct check_baseline baseline;
    struct arena *child;        /* of what only the decision needs */
    struct check_module module; /* as it is once it has been decided */
};

static void analysis_check_decide(struct job *job, const void *in, void *out, struct err *err)
{
    struct analysis_check_adding *adding = out;
    (void)in, (void)err;
    if (adding->taken != NULL) {
        check_decide_taken(&adding->check->report.limits, adding->taken, adding->baseline.before, &job->arena,
                           &adding->check->scratch, &adding->module);
        return;
    }
    adding->child = arena_child(&job->arena);
    check_decide(&adding->check->report.limits, adding->plan, &adding->baseline, &job->arena, adding->child,
                 &adding->check->scratch, &adding->module);
}

static void analysis_check_keep(struct job *job, const void *in, void *out, struct err *err)
{
    struct analysis_check_adding *adding = out;
    struct check_report *report = &adding->check->report;
    struct check_module *module = &adding->module;
    (void)in, (void)err;
    module->file = arena_text(&job->arena, str_of(adding->file));
    module->name = arena_text(&job->arena, str_of(adding->name));
    if (adding->fault != NULL) {
        const char *fault = arena_text(&job->arena, str_of(adding->fault));
        *module =
            (struct check_module){.file = module->file, .name = module->name, .fault = fault, .baseline_bytes = -1};
    }
    report->modules =
        arena_grown(&job->arena, report->modules, report->count + 1, &report->capacity, sizeof(*report->modules));
    report->modules[report->count++] = *module;
    report->finding_count += module->finding_count;
    report->fault_count += module->fault != NULL;
    report->compared_count += module->baseline_bytes >= 0;
}

/* Does one of the two with work of its own. */
static bool try_it(struct analysis_check *check, job_work *work, struct analysis_check_adding *adding, struct err *err)
{
    check->err = (struct err)ERR_INIT;
    arena_allot_work(&check->job.arena, WORK);
    job_try(&check->job, work, NULL, adding, &check->err);
    buf_is_whole(&check->scratch, "a sentence", &check->err);
    if (err_is_set(&check->err))
        *err = check->err;
    return !err_is_set(&check->err);
}

static const char *fault_of(const struct plan *plan, const struct plan *baseline)
{
    if (!plan->hlo.has_assignment)
        return "the file holds no buffer assignment, so what the program needs is not known";
    return baseline == NULL || baseline->hlo.has_assignment ? NULL : "its baseline holds no buffer assignment";
}

bool analysis_check_module(struct analysis_check *check, const char *file, const char *name,
                           const struct analysis_subject *module, const struct analysis_check_baseline *against,
                           struct err *err)
{
    const struct analysis_subject *baseline = against->module;
    const struct check_before before = {against->space_name, against->total_bytes};
    struct analysis_check_adding adding = {.check = check, .file = file, .name = name};
    if (module->kind != ANALYSIS_MODULE || (baseline != NULL && baseline->kind != ANALYSIS_MODULE))
        return err_set(err, ERR_argument, ERR_NO_OFFSET, "only programs can be checked");
    adding.plan = &module->plan;
    adding.baseline.plan = baseline == NULL ? NULL : &baseline->plan;
    adding.baseline.before = against->space_name == NULL ? NULL : &before;
    adding.fault = fault_of(adding.plan, adding.baseline.plan);
    adding.module.name = name;
    struct err fault = ERR_INIT;
    if (adding.fault == NULL && !try_it(check, analysis_check_decide, &adding, &fault))
        adding.fault = fault.text;
    if (adding.child != NULL)
        arena_free(adding.child);
    return try_it(check, analysis_check_keep, &adding, err);
}

static void configuration_make(struct job *job, const void *in, void *out, struct err *err)
{
    const struct analysis_subject *module = in;
    const char *text = configuration_text(&module->plan, &job->arena);
    (void)err;
    if (text != NULL)
        buf_text(out, text);
}

bool analysis_module_configuration(const struct analysis_subject *module, struct buf *out)
{
    struct job job = {0};
    struct err unsaid = ERR_INIT;
    size_t before = out->length;
    if (module->kind != ANALYSIS_MODULE)
        return false;
    arena_init(&job.arena, LIMIT_BYTES, &unsaid);
    arena_allot_work(&job.arena, WORK);
    job_try(&job, configuration_make, module, out, &unsaid);
    arena_free(&job.arena);
    return !err_is_set(&unsaid) && out->length > before;
}

bool analysis_check_snapshot(struct analysis_check *check, const char *file, const char *name,
                             const struct analysis_subject *trace, size_t at,
                             const struct analysis_check_baseline *against, struct err *err)
{
    struct analysis_trace_pool pool;
    if (trace->kind != ANALYSIS_TRACE || !analysis_trace_pool_at(trace, at, &pool))
        return err_set(err, ERR_argument, ERR_NO_OFFSET, "only allocator snapshots can be checked so");
    const struct check_before before = {against->space_name, against->total_bytes};
    const struct check_taken taken = {pool.name, pool.taken_bytes};
    struct analysis_check_adding adding = {.check = check, .file = file, .name = name, .taken = &taken};
    adding.baseline.before = against->space_name == NULL || against->total_bytes < 0 ? NULL : &before;
    adding.module.name = name;
    struct err fault = ERR_INIT;
    if (pool.taken_bytes < 0)
        adding.fault = "the file does not tell what the allocator took of the device";
    else if (!try_it(check, analysis_check_decide, &adding, &fault))
        adding.fault = fault.text;
    return try_it(check, analysis_check_keep, &adding, err);
}

bool analysis_check_fault(struct analysis_check *check, const char *file, const char *name, const char *reason,
                          struct err *err)
{
    struct analysis_check_adding adding = {.check = check, .file = file, .name = name, .fault = reason};
    return try_it(check, analysis_check_keep, &adding, err);
}

struct analysis_check_counts analysis_check_counts(const struct analysis_check *check)
{
    const struct check_report *report = &check->report;
    return (struct analysis_check_counts){report->count, report->finding_count, report->fault_count,
                                          report->compared_count};
}

bool analysis_check_format_is_known(const char *format, struct err *err)
{
    enum write_format found;
    return write_format_find(format, &found, err);
}

bool analysis_check_write(const struct analysis_check *check, const char *format, struct buf *out, struct err *err)
{
    enum write_format found;
    if (!write_format_find(format, &found, err))
        return false;
    write_report(&check->report, found, out);
    return buf_is_whole(out, "the report", err);
}

void analysis_check_free(struct analysis_check *check)
{
    if (check == NULL)
        return;
    buf_free(&check->scratch);
    arena_free(&check->job.arena);
    free(check);
}
