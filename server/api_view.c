/* SPDX-License-Identifier: Apache-2.0 */
#include "server/api.h"

#include "server/listing.h"

#include <stdlib.h>
#include <string.h>

bool api_is_view(const char *tool, const char *view)
{
    struct analysis_view row;
    for (size_t at = 0; analysis_view_at(at, &row); at++) {
        if (strcmp(row.tool, tool) == 0 && strcmp(row.view, view) == 0)
            return true;
    }
    return false;
}

/* The parameters that are the core's; free() the list. */
static struct analysis_param *view_params(const struct request *request, size_t *count)
{
    struct analysis_param *params = memory_new((request->param_count + 1) * sizeof(*params));
    *count = 0;
    for (size_t at = 0; at < request->param_count; at++) {
        const struct request_param *param = &request->params[at];
        if (strcmp(param->name, "session") != 0 && strcmp(param->name, "host") != 0 &&
            strcmp(param->name, "module") != 0)
            params[(*count)++] = (struct analysis_param){param->name, param->value};
    }
    return params;
}

static struct response *answer(const struct server *server, const struct request *request,
                               const struct modules_entry *entry)
{
    struct err err = ERR_INIT;
    struct store_question question = {
        .program = entry->program, .tool = request->captures[0], .view = request->captures[1]};
    struct analysis_param *params = view_params(request, &question.param_count);
    question.params = params;
    bool is_passing;
    struct body *body = store_answer(server->store, &entry->file->opened, &question, &err, &is_passing);
    free(params);
    if (!body)
        return (is_passing ? response_passing_err : response_err)(&err, entry->file->file->path);
    if (strcmp(request_param(request, "format", ""), "csv") != 0)
        return response_of_body(200, "application/json", body);
    struct response *response = response_of_body(200, "text/csv; charset=utf-8", body);
    response_add_header(response, "Content-Disposition", "attachment; filename=\"%.40s-%s.csv\"", question.view,
                        entry->id);
    return response;
}

struct response *api_view(const struct server *server, const struct request *request)
{
    if (!api_is_view(request->captures[0], request->captures[1]))
        return response_problem(404, "notfound", "there is no such tool or view");
    struct response *refusal = listing_check_once(request);
    if (refusal)
        return refusal;
    const struct snapshot_session *session;
    const struct snapshot_host *host;
    struct snapshot *snapshot = index_hold(server->index);
    struct response *response = api_find_session(snapshot, request_param(request, "session", NULL),
                                                 request_param(request, "host", NULL), &session, &host);
    if (!response) {
        struct modules modules;
        struct err err = ERR_INIT;
        const char *id = request_param(request, "module", ""), *file;
        if (modules_find(server->store, session, host, id[0] ? id : NULL, &modules, &err, &file)) {
            response = answer(server, request, &modules.entries[0]);
            modules_close(&modules);
        } else {
            response = response_err(&err, file);
        }
    }
    index_release(server->index, snapshot);
    return response;
}
