/* SPDX-License-Identifier: Apache-2.0
 * api_verdict.c: the verdict of a session, of one of its failures, or of an uploaded text: what happened, where the
 * memory went, and what will make it fit. */
#include "server/api/choice.h"
#include "server/api/listing.h"
#include "server/base/wanted.h"
#include "server/store/verdict_capacity.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* What is asked about: a text, if there is one, and which of its failures. */
struct api_verdict_asked {
    struct subject text;
    const struct oom_meaning *failure;
    const char *file; /* of the text; NULL */
    uint64_t report;
};

static struct response *refuse_text(struct err *err, const struct api_verdict_asked *asked)
{
    return response_failure(err, asked->text.hold.is_transient, asked->file);
}

static struct response *text_open(const struct server *server, const struct request *request,
                                  const struct snapshot_session *session, struct api_verdict_asked *asked)
{
    const char *local = request_param(request, "local", NULL), *name = request_param(request, "file", "");
    const char *report = request_param(request, "report", NULL);
    struct err err = ERR_INIT;
    if (report && (strlen(report) > 9 || strspn(report, "0123456789") != strlen(report)))
        return response_problem(400, "argument", "report is a number, from 1");
    asked->report = report ? strtoull(report, NULL, 10) : 1;
    if (local) {
        if (!subjects_is_id(ANALYSIS_TEXT, local))
            return response_problem(400, "argument", "local must be 32 hex digits");
        if (!subjects_find(server->store, ANALYSIS_TEXT, local, &asked->text, &err))
            return response_err(&err, NULL);
    } else {
        assert(session); /* opened where no text was handed in */
        bool is_of_module = request_param(request, "module", "")[0] != '\0' && !report && !name[0];
        const struct snapshot_text *text = is_of_module ? NULL : snapshot_text(session, name);
        const struct snapshot_file *file = text ? text->file : NULL;
        if (!file && (name[0] || report))
            return response_problem(404, "notfound",
                                    name[0] ? "the session has no text of that name"
                                            : "the session has no error text or log");
        if (!file)
            return NULL;
        const struct subjects_place place = {.kind = ANALYSIS_TEXT, .file = &file->place};
        asked->file = file->name;
        if (!subjects_open(server->store, &place, &asked->text, &err))
            return refuse_text(&err, asked);
    }
    const struct oom_report *found = analysis_text_report(asked->text.core);
    bool is_named = name[0] || local || report;
    if (asked->report >= 1 && asked->report <= analysis_oom_count(found))
        asked->failure = analysis_oom_at(found, asked->report - 1);
    else if (is_named)
        return response_problem(404, "notfound", "the text has no report of that number");
    return NULL;
}

static struct response *capacity_read(const struct request *request, struct verdict_parts *parts)
{
    struct capacity chosen;
    struct response *refusal = api_capacity_read(request, &chosen);
    if (!refusal && chosen.bytes > 0)
        verdict_capacity_choose(parts, &chosen);
    return refusal;
}

/* category_rules=LINES, before those of --category-rules. */
static struct response *rules_read(const struct request *request, struct analysis_verdict_parts *parts)
{
    const char *own = request_param(request, "category_rules", "");
    struct err err = ERR_INIT;
    if (own[0] == '\0')
        return NULL;
    parts->own_category_rules = own;
    return analysis_own_rules_check(own, &err) ? NULL : response_err(&err, NULL);
}

static struct response *api_verdict_answer(const struct server *server, const struct request *request,
                                           const struct api_subject *about, const struct api_verdict_asked *asked)
{
    struct verdict_parts parts = {0};
    struct buf buf = BUF_INIT;
    struct err err = ERR_INIT;
    const char *module = request_param(request, "module", "");
    const struct verdict_parts_wanted wanted = {.snapshot = about->snapshot,
                                                .session = about->session,
                                                .host = about->host,
                                                .module_id = module[0] ? module : NULL,
                                                .text = asked->file,
                                                .failure = asked->failure};
    struct response *response = NULL;
    if (!verdict_parts_open(server->store, &wanted, &parts, &err))
        response = response_failure(&err, parts.is_transient, parts.refused_file);
    if (!response)
        response = capacity_read(request, &parts);
    if (!response)
        response = rules_read(request, &parts.core);
    parts.core.wanted = wanted_holders();
    const struct oom_report *report = asked->text.core ? analysis_text_report(asked->text.core) : NULL;
    const struct verdict_parts_about said = {.session = about->session ? about->session->id : NULL,
                                             .file = asked->file,
                                             .report = asked->failure ? asked->report : 0,
                                             .report_count = report ? analysis_oom_count(report) : 0};
    if (!response)
        response =
            verdict_parts_write(&parts, &said, &buf, &err) ? response_json(&buf) : response_failure(&err, false, NULL);
    buf_free(&buf);
    verdict_parts_close(&parts);
    return response;
}

struct response *api_verdict(const struct server *server, const struct request *request)
{
    struct api_subject about = {0};
    struct api_verdict_asked asked = {0};
    const char *session = request_param(request, "session", NULL), *local = request_param(request, "local", NULL);
    struct response *response = NULL;
    if (local && request_param(request, "file", NULL))
        return response_problem(400, "argument", "give either file, or local");
    if (session || !local)
        response = api_open(server, session, request_param(request, "host", NULL), &about);
    if (!response)
        response = text_open(server, request, about.session, &asked);
    if (!response)
        response = api_verdict_answer(server, request, &about, &asked);
    subjects_close(&asked.text);
    api_close(&about);
    return response;
}
