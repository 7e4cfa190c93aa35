/* SPDX-License-Identifier: Apache-2.0
 * api_all_modules.c: what the modules of a session take, on all of its hosts: views of the tool "modules".
 *
 * With within_ms= the answer comes after about that time with what is read by then, and asking again reads on; without
 * it the session is read to the end. */
#include "server/api/api.h"
#include "server/api/listing.h"
#include "server/base/wanted.h"
#include "server/store/all_modules.h"

#include <stdlib.h>
#include <string.h>

enum { WITHIN_MAX_MS = 10000, ROWS_MAX = 1000 };
static const size_t ANSWER_LIMIT_BYTES = (size_t)1 << 30;

static const char *const OWN_NAMES[] = {"session", "host", "within_ms", "capacity", "category_rules", NULL};

static struct response *read_budget(const struct request *request, int64_t *budget_ms)
{
    const char *text = request_param(request, "within_ms", "");
    char *end;
    *budget_ms = text[0] ? strtol(text, &end, 10) : -1;
    if (text[0] && (strspn(text, "0123456789") != strlen(text) || *end || *budget_ms > WITHIN_MAX_MS))
        return response_problem(400, "argument", "within_ms must be a whole number up to %d", WITHIN_MAX_MS);
    return NULL;
}

/* An answer about files that are still being read is not kept: the next one holds more. */
static struct body *answer_now(const struct analysis_question *question, struct err *err)
{
    struct buf out = {.limit_bytes = ANSWER_LIMIT_BYTES};
    struct body *body = analysis_answer(question, &out, err) ? body_new(&out) : NULL;
    if (!body && !err_is_set(err))
        err_set(err, ERR_limit, ERR_NO_OFFSET, "memory ran out");
    buf_free(&out);
    return body;
}

static struct response *api_all_modules_answer(const struct request *request, const struct analysis_view *view,
                                               struct store *store, const struct all_modules *all)
{
    struct err err = ERR_INIT;
    struct analysis_question question = {.tool = view->tool, .view = view->view, .module_count = all->entry_count};
    struct analysis_module_use *uses = all_modules_uses(all);
    struct analysis_param *params = api_core_params(request, OWN_NAMES, &question.param_count);
    const char *format = request_param(request, "format", "");
    bool is_transient = false, is_file = format[0] && strcmp(format, "json") != 0;
    question.modules = uses;
    question.wanted = wanted_holders();
    question.modules_read = all_modules_progress(all);
    question.params = params;
    char *key = all_modules_is_complete(all) ? all_modules_key(all) : NULL;
    struct body *body =
        key ? subjects_answer(store, NULL, key, &question, &err, &is_transient) : answer_now(&question, &err);
    free(key);
    free(params);
    free(uses);
    if (!body)
        return response_failure(&err, is_transient, NULL);
    const struct api_file_format *file = api_file_format(format);
    struct response *response = response_of_body(200, is_file ? file->type : "application/json", body);
    if (is_file)
        response_add_header(response, "Content-Disposition", "attachment; filename=\"modules-%s.%s\"", all->session->id,
                            file->ending);
    return response;
}

struct response *api_all_modules(const struct server *server, const struct request *request,
                                 const struct analysis_view *view)
{
    struct api_subject subject = {0};
    struct all_modules all;
    int64_t budget_ms = 0;
    struct response *response = listing_check_once(request);
    if (!response)
        response = read_budget(request, &budget_ms);
    const char *own_rules = request_param(request, "category_rules", "");
    struct err err = ERR_INIT;
    if (!response && own_rules[0] && !analysis_own_rules_check(own_rules, &err))
        response = response_err(&err, NULL);
    if (!response)
        response =
            api_open(server, request_param(request, "session", NULL), request_param(request, "host", NULL), &subject);
    if (!response) {
        struct capacity chosen;
        response = api_capacity_read(request, &chosen);
        all_modules_open(server->store, subject.session, subject.host, own_rules[0] ? own_rules : NULL, &all);
        if (!response && chosen.bytes > 0)
            all_modules_choose(&all, &chosen);
        if (!response) {
            all_modules_read(&all, budget_ms);
            response = api_all_modules_answer(request, view, server->store, &all);
        }
        all_modules_close(&all);
    }
    api_close(&subject);
    return response;
}
