/* SPDX-License-Identifier: Apache-2.0
 * door/analysis_verdict.c: what happened, where it went and what will make it fit, of whatever was read: see
 * analysis.h. */
#include "door/analysis_subject.h"
#include "verdict/torch_choice.h"

#include "model/oom/meaning.h"
#include "plan/person_rules.h"
#include "verdict/verdict.h"
#include "views/verdict/write.h"

#include <stdlib.h>

/* As for an answer of the Memory Viewer; advice tries up to about forty changes. */
#define LIMIT_BYTES ((uint64_t)2 << 30)
#define WORK ((uint64_t)1 << 33)
enum { PROFILES_MAX = 1000 };

struct analysis_verdict_asked {
    struct verdict_parts parts;
    const char *own_rules, *rules; /* each may be NULL */
    struct buf *scratch, *out;
    enum analysis_verdict_format format;
    const struct analysis_row_form *row; /* not NULL: as a row, whatever the format */
};

/* The plan with the user's rules applied; NULL with a report, or if there is none. */
static const struct plan *plan_ruled(const struct analysis_verdict_asked *asked, struct arena *arena, struct err *err)
{
    const char *first = asked->own_rules, *then = asked->rules;
    if (asked->parts.plan == NULL || (first == NULL && then == NULL))
        return asked->parts.plan;
    const char *lines = first != NULL && then != NULL ? arena_format(arena, "%s\n%s", first, then) : first ?: then;
    struct person_rules *rules = person_rules_read(str_of(lines), arena, err);
    return rules != NULL ? person_rules_apply(rules, asked->parts.plan, asked->scratch) : NULL;
}

static void analysis_verdict_make(struct job *job, const void *in, void *to, struct err *err)
{
    const struct analysis_verdict_asked *asked = in;
    struct verdict *verdict = arena_array(&job->arena, struct verdict, 1);
    struct verdict_parts parts = asked->parts;
    (void)to;
    parts.plan = plan_ruled(asked, &job->arena, err);
    if (err_is_set(err))
        return;
    verdict_make(&parts, asked->scratch, &job->arena, verdict);
    if (asked->row != NULL) {
        const struct verdict_row_form form = {asked->row->form, false, asked->row->lead, asked->row->lead_count,
                                              asked->row->configuration};
        write_verdict_row(verdict, &form, asked->scratch, asked->out);
    } else if (asked->format == ANALYSIS_VERDICT_TEXT) {
        write_verdict_text(verdict, asked->out);
    } else {
        struct json json = JSON_INIT(asked->out);
        write_verdict_json(verdict, &json);
    }
    if (buf_is_whole(asked->out, "the answer", err))
        buf_is_whole(asked->scratch, "a text of the answer", err);
}

bool analysis_verdict_is_of_plan(const struct oom_meaning *failure) { return verdict_is_of_plan(failure); }

bool analysis_verdict_may_be_of_xla(const struct oom_meaning *failure)
{
    const enum oom_framework framework = failure->failure->framework;
    return oom_may_be_of_xla(failure->failure) ||
           ((oom_is_host(failure->failure) || oom_is_kill(failure->failure)) &&
            (framework == OOM_FRAMEWORK_not_known || framework == OOM_FRAMEWORK_tensorflow));
}

bool analysis_verdict_may_be_of_request(const struct oom_meaning *failure)
{
    return oom_may_be_of_xla(failure->failure) && oom_is_host(failure->failure);
}

bool analysis_verdict_is_of_live_arrays(const struct oom_meaning *failure, bool has_program)
{
    return verdict_is_of_live_arrays(failure, has_program && analysis_verdict_may_be_of_request(failure));
}

bool analysis_snapshots_may(const struct oom_meaning *failure) { return torch_choice_may(failure); }

size_t analysis_snapshots_order(struct torch_choice *choice, const char *const *names, size_t count, size_t *order)
{
    return torch_choice_order(choice, names, count, order);
}

struct weighed {
    struct torch_choice *choice;
    const char *name;
    const struct oom_meaning *failure;
    const struct memory_profile *trace;
    bool is_taken;
};

static void weigh(struct job *job, const void *in, void *to, struct err *err)
{
    struct weighed *weighed = to;
    const char *reason = "";
    (void)in;
    (void)err;
    uint32_t shares = torch_choice_shares(weighed->failure, weighed->trace, &job->arena, &reason);
    weighed->is_taken = torch_choice_take(weighed->choice, weighed->name, shares, reason);
}

bool analysis_snapshots_take(struct torch_choice *choice, const char *name, const struct oom_meaning *failure,
                             const struct analysis_subject *trace)
{
    struct weighed weighed = {choice, name, failure, &trace->trace, false};
    struct job job = {.gzip = NULL};
    struct err err = ERR_INIT;
    arena_init(&job.arena, LIMIT_BYTES, &err);
    arena_allot_work(&job.arena, WORK);
    job_try(&job, weigh, &weighed, &weighed, &err);
    if (err_is_set(&err))
        weighed.is_taken = torch_choice_take(choice, name, 0, err.text);
    arena_free(&job.arena);
    return weighed.is_taken;
}

static bool analysis_verdict_answer(const struct analysis_verdict_parts *parts, enum analysis_verdict_format format,
                                    const struct analysis_row_form *row, struct buf *out, struct err *err)
{
    struct buf scratch = BUF_INIT;
    struct job job = {.gzip = NULL};
    struct profile_set set = {.items = NULL};
    size_t profile_count = parts->profile_count < PROFILES_MAX ? parts->profile_count : PROFILES_MAX;
    struct profile_set_item *items = calloc(profile_count + 1, sizeof(*items));
    if (items == NULL)
        return err_exhausted(err);
    for (size_t i = 0; i < profile_count; i++)
        items[i] = analysis_profile_item(&parts->profiles[i]);
    set = (struct profile_set){items, (uint32_t)profile_count, false};
    struct oom_comparison *comparison = NULL;
    struct err compared = ERR_INIT;
    if (parts->failure != NULL && parts->module != NULL && parts->module->plan.hlo.has_assignment)
        comparison = analysis_oom_compare(parts->failure, parts->module, &compared);
    if (compared.code == ERR_exhausted || compared.code == ERR_stopped)
        *err = compared; /* what else refuses it leaves the verdict without it, which a note says */
    const struct analysis_verdict_asked asked = {
        .parts = {.failure = parts->failure,
                  .comparison = comparison,
                  .not_compared = err_is_set(&compared) ? compared.text : NULL,
                  .plan = parts->module != NULL ? &parts->module->plan : NULL,
                  .trace = parts->trace != NULL ? &parts->trace->trace : NULL,
                  .profiles = profile_count > 0 ? &set : NULL,
                  .around = parts->around,
                  .is_for_row = row != NULL},
        .own_rules = parts->own_category_rules,
        .rules = parts->category_rules,
        .scratch = &scratch,
        .out = out,
        .format = format,
        .row = row,
    };
    if (out->limit_bytes == 0)
        out->limit_bytes = LIMIT_BYTES;
    arena_init(&job.arena, LIMIT_BYTES, err);
    arena_allot_work(&job.arena, WORK);
    arena_watch(&job.arena, parts->wanted);
    if (!err_is_set(err))
        job_try(&job, analysis_verdict_make, &asked, NULL, err);
    arena_free(&job.arena);
    analysis_oom_comparison_free(comparison);
    buf_free(&scratch);
    free(items);
    return !err_is_set(err);
}

bool analysis_verdict(const struct analysis_verdict_parts *parts, enum analysis_verdict_format format, struct buf *out,
                      struct err *err)
{
    return analysis_verdict_answer(parts, format, NULL, out, err);
}

static void row_alone(const struct analysis_row_form *form, bool is_head, struct buf *out)
{
    struct buf scratch = BUF_INIT;
    const struct verdict_row_form alone = {form->form, is_head, form->lead, form->lead_count, form->configuration};
    write_verdict_row(NULL, &alone, &scratch, out);
    buf_free(&scratch);
}

bool analysis_verdict_row(const struct analysis_verdict_parts *parts, const struct analysis_row_form *form,
                          struct buf *out, struct err *err)
{
    if (parts != NULL)
        return analysis_verdict_answer(parts, ANALYSIS_VERDICT_JSON, form, out, err);
    row_alone(form, false, out);
    return buf_is_whole(out, "the row", err);
}

void analysis_verdict_row_heads(const struct analysis_row_form *form, struct buf *out) { row_alone(form, true, out); }
