/* SPDX-License-Identifier: Apache-2.0
 * refused_things.c: what of the core is tried: see analysis.h. */
#include "model/oom/model.h"
#include "tests/soak/refused.h"

#include <stdlib.h>

/* What it says of itself when it is there, which is no part of what is tried. */
static void tell(const struct thing *thing, const struct analysis_subject *subject, struct buf *out)
{
    static const char *const tellers[][2] = {
        {"memory_viewer", "buffers"}, {"memory_profile", "events"}, {"device_memory", "top"}, {"oom", "report"}};
    struct err err = ERR_INIT;
    fault.is_on = false;
    if (thing->kind <= ANALYSIS_TEXT)
        subject_answer(subject, tellers[thing->kind][0], tellers[thing->kind][1], NULL, 0, out, &err);
    if (thing->kind == ANALYSIS_TRACE)
        subject_answer(subject, "memory_profile", "summary", NULL, 0, out, &err);
}

static void run_all(void *context, size_t count, workers_work *work, void *task)
{
    (void)context;
    for (size_t at = 0; at < count; at++)
        work(task, at);
}

bool do_read(const struct thing *thing, struct buf *out, struct err *err)
{
    const struct workers workers = {.run = run_all, .count = 3, .min_bytes = 64};
    const struct analysis_reading reading = {.kind = thing->kind,
                                             .program = thing->program,
                                             .workers = thing->is_in_pieces ? &workers : NULL,
                                             .limit_bytes = LIMIT_BYTES};
    struct analysis_subject *subject = analysis_subject_read(thing->source, &reading, err);
    if (subject == NULL)
        return false;
    tell(thing, subject, out);
    analysis_subject_free(subject);
    return true;
}

bool do_identify(const struct thing *thing, struct buf *out, struct err *err)
{
    enum analysis_kind kind = ANALYSIS_KIND_UNKNOWN;
    bool gzip = false, is_done = analysis_identify(thing->source, &kind, &gzip, err) &&
                                 analysis_identify_whole(thing->source, &kind, err);
    fault.is_on = false;
    buf_format(out, "%s %d", is_done ? analysis_kind_name(kind) : "", gzip);
    return is_done;
}

bool do_contents(const struct thing *thing, struct buf *out, struct err *err)
{
    struct analysis_contents *contents = analysis_contents_read(thing->source, err);
    fault.is_on = false;
    if (contents == NULL)
        return false;
    analysis_contents_write(contents, out);
    analysis_contents_free(contents);
    return true;
}

bool do_contents_of_bytes(const struct thing *thing, struct buf *out, struct err *err)
{
    struct buf bytes = BUF_INIT;
    fault.is_on = false;
    struct analysis_contents *contents = analysis_contents_read(thing->source, err), *again = NULL;
    if (contents != NULL)
        analysis_contents_write(contents, &bytes);
    fault.is_on = true;
    if (contents != NULL)
        again = analysis_contents_of_bytes((struct str){bytes.data, bytes.length}, err);
    fault.is_on = false;
    if (again != NULL)
        analysis_contents_write(again, out);
    analysis_contents_free(again);
    analysis_contents_free(contents);
    buf_free(&bytes);
    return again != NULL;
}

bool do_totals(const struct thing *thing, struct buf *out, struct err *err)
{
    struct analysis_totals *totals = analysis_totals_read(thing->source, thing->program, err);
    fault.is_on = false;
    if (totals == NULL)
        return false;
    analysis_totals_write(totals, out);
    analysis_totals_free(totals);
    return true;
}

bool do_unpack(const struct thing *thing, struct buf *out, struct err *err)
{
    struct analysis_unpacked *unpacked = analysis_unpack(thing->source, err);
    char bytes[16];
    if (unpacked == NULL) {
        if (fault.at > 0 && !err_is_set(err)) /* as the header says: NULL may be all that it tells */
            err_set(err, ERR_exhausted, ERR_NO_OFFSET, "not unpacked");
        return !err_is_set(err);
    }
    const struct source *source = analysis_unpacked_source(unpacked);
    int64_t count = source->read(source->context, 0, bytes, sizeof(bytes));
    fault.is_on = false;
    if (count < 0)
        err_set(err, ERR_exhausted, ERR_NO_OFFSET, "a read says that it cannot be done");
    else
        buf_add(out, bytes, (size_t)count);
    analysis_unpacked_free(unpacked);
    return count >= 0;
}

bool do_answer(const struct thing *thing, struct buf *out, struct err *err)
{
    return analysis_answer(&thing->question, out, err);
}

/* Each file of an archive: what it is, or why it cannot be said. */
bool do_members(const struct thing *thing, struct buf *out, struct err *err)
{
    struct analysis_members *members = analysis_members_read(thing->source, 2, err);
    bool is_done = members != NULL;
    for (size_t at = 0; is_done && at < members->count; at++) {
        struct member member;
        struct err why = members->items[at].why;
        enum analysis_kind kind = ANALYSIS_KIND_UNKNOWN;
        struct analysis_member_view *view = NULL;
        bool is_there = !err_is_set(&why) && analysis_members_locate(members, at, &member, &why);
        if (is_there && (view = analysis_member_view_new(thing->source, &member)) == NULL)
            is_done = err_set(err, ERR_exhausted, ERR_NO_OFFSET, "NULL, as the header says");
        else if (is_there && !analysis_identify(analysis_member_view_source(view), &kind, NULL, &why) &&
                 (why.code == ERR_exhausted || why.code == ERR_memory || why.code == ERR_limit))
            is_done = err_set(err, why.code, ERR_NO_OFFSET, "%s", why.text);
        bool was_on = fault.is_on;
        fault.is_on = false;
        buf_format(out, "%s %s %s\n", members->items[at].path, analysis_kind_name(kind), why.text);
        fault.is_on = was_on;
        analysis_member_view_free(view);
    }
    analysis_members_free(members);
    fault.is_on = false;
    if (!is_done)
        buf_free(out);
    return is_done;
}

bool do_groundwork(const struct thing *thing, struct buf *out, struct err *err)
{
    struct analysis_groundwork *groundwork = analysis_groundwork_make(thing->subject, LIMIT_BYTES, err);
    fault.is_on = false;
    if (groundwork != NULL)
        buf_text(out, "made"); /* how large depends on what the system takes back of it */
    analysis_groundwork_free(groundwork);
    return groundwork != NULL;
}

bool do_verdict(const struct thing *thing, struct buf *out, struct err *err)
{
    const struct oom_report *report = thing->text != NULL ? analysis_text_report(thing->text) : NULL;
    const struct analysis_use use = {.subject = thing->subject, .name = "p", .id = "p"};
    const struct analysis_verdict_parts parts = {
        .failure = report != NULL && report->found.failure_count > 0 ? &report->meanings[0] : NULL,
        .module = thing->kind == ANALYSIS_MODULE ? thing->subject : NULL,
        .trace = thing->kind == ANALYSIS_TRACE ? thing->subject : NULL,
        .profiles = thing->kind == ANALYSIS_PROFILE ? &use : NULL,
        .profile_count = thing->kind == ANALYSIS_PROFILE,
        .around.capacity.bytes = 100000,
        .around.capacity.source = "as chosen",
        .category_rules = "# none\n"};
    return analysis_verdict(&parts, thing->format, out, err);
}

bool do_check(const struct thing *thing, struct buf *out, struct err *err)
{
    const struct analysis_check_limits limits = {.max_total_bytes = 1, .has_baseline = true};
    struct analysis_check *check = analysis_check_new(&limits);
    if (check == NULL)
        return err_set(err, ERR_exhausted, ERR_NO_OFFSET, "NULL, as the header says");
    bool is_done = analysis_check_module(check, "f", "m", thing->subject,
                                         &(struct analysis_check_baseline){thing->subject, NULL, -1}, err) &&
                   analysis_check_fault(check, "g", "n", "gone", err) &&
                   analysis_check_write(check, "text", out, err) && analysis_check_write(check, "sarif", out, err);
    struct analysis_check_counts counts = analysis_check_counts(check);
    analysis_check_free(check);
    if (is_done && fault.at > 0 && counts.faults > 1) /* the report says of the module that it could not be checked */
        return err_set(err, ERR_exhausted, ERR_NO_OFFSET, "told in the report");
    return is_done;
}

bool do_change(const struct thing *thing, struct buf *out, struct err *err)
{
    static const char *const changes[] = {"cast=*:bf16"};
    struct analysis_changed changed;
    char *bytes = malloc((size_t)thing->source->size_bytes);
    bool is_done = false;
    if (bytes == NULL)
        return err_set(err, ERR_exhausted, ERR_NO_OFFSET, "of this test");
    thing->source->read(thing->source->context, 0, bytes, (size_t)thing->source->size_bytes);
    is_done = analysis_change(thing->subject, (struct str){bytes, (size_t)thing->source->size_bytes}, changes, 1,
                              &changed, err);
    fault.is_on = false;
    if (is_done) {
        buf_add(out, changed.program.data, changed.program.length);
        analysis_changed_free(&changed);
    }
    free(bytes);
    return is_done;
}

bool do_compare(const struct thing *thing, struct buf *out, struct err *err)
{
    const struct oom_meaning *failure = &analysis_text_report(thing->text)->meanings[0];
    struct oom_comparison *comparison = analysis_oom_compare(failure, thing->subject, err);
    fault.is_on = false;
    if (comparison != NULL) {
        struct json json = JSON_INIT(out);
        analysis_oom_write_comparison(comparison, failure, &json);
    }
    analysis_oom_comparison_free(comparison);
    return comparison != NULL;
}

bool do_window(const struct thing *thing, struct buf *out, struct err *err)
{
    return analysis_oom_window(thing->source, 10, 2000, out, err);
}
