/* SPDX-License-Identifier: Apache-2.0 */
#include "server/api/api.h"

#include "server/api/listing.h"

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

static struct response *answer(const struct server *server, const struct request *request,
                               const struct modules_entry *entry)
{
    struct err err = ERR_INIT;
    struct store_question question = {
        .program = entry->program, .tool = request->captures[0], .view = request->captures[1]};
    static const char *const OWN_NAMES[] = {"session", "host", "module", NULL};
    struct analysis_param *params = api_core_params(request, OWN_NAMES, &question.param_count);
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
    struct api_subject subject = {0};
    struct response *response =
        api_open(server, request_param(request, "session", NULL), request_param(request, "host", NULL), &subject);
    if (!response) {
        struct modules modules;
        struct err err = ERR_INIT;
        const char *id = request_param(request, "module", ""), *file;
        if (modules_find(server->store, subject.session, subject.host, id[0] ? id : NULL, &modules, &err, &file)) {
            response = answer(server, request, &modules.entries[0]);
            modules_close(&modules);
        } else {
            response = response_err(&err, file);
        }
    }
    api_close(&subject);
    return response;
}
