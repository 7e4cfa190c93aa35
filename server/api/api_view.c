/* SPDX-License-Identifier: Apache-2.0
 * api_view.c: what a tool says: any view of the core's table of tools. */
#include "server/api/choice.h"

#include <string.h>

/* A device profile as a file, for pprof. */
static struct response *profile_file(struct body *body)
{
    struct body *file = body_of_gzip(body);
    body_release(body);
    if (!file)
        return response_problem(503, "limit", "no memory to write the profile");
    struct response *response = response_of_body(200, "application/vnd.google.protobuf+gzip", file);
    response_add_header(response, "Content-Disposition", "attachment; filename=\"memory.pb.gz\"");
    return response;
}

const struct api_file_format *api_file_format(const char *name)
{
    static const struct api_file_format formats[] = {
        {"csv", "text/csv; charset=utf-8", "csv"},
        {"ndjson", "application/x-ndjson", "ndjson"},
        {"markdown", "text/markdown; charset=utf-8", "md"},
        {"", "text/plain; charset=utf-8", "txt"},
    };
    size_t at = 0;
    while (formats[at].name[0] && strcmp(formats[at].name, name) != 0)
        at++;
    return &formats[at];
}

/* A table is a file for the reader's own tools; all else is for the page. */
static struct response *response_in(const struct request *request, const struct choice *choice, bool is_of_two,
                                    struct body *body)
{
    const char *format = request_param(request, "format", ""), *view = request->captures[1];
    const struct api_file_format *file = api_file_format(format);
    if (strcmp(request->captures[0], "device_memory") == 0 && strcmp(view, "profile") == 0)
        return profile_file(body);
    if (format[0] == '\0' || strcmp(format, "json") == 0)
        return response_of_body(200, "application/json", body);
    struct response *response = response_of_body(200, file->type, body);
    bool has_id = choice->part_id != NULL;
    response_add_header(response, "Content-Disposition", "attachment; filename=\"%s%.40s%s%s.%s\"",
                        is_of_two ? "compare-"
                        : has_id  ? ""
                                  : "device-",
                        view, has_id ? "-" : "", has_id ? choice->part_id : "", file->ending);
    return response;
}

struct response *api_view(const struct server *server, const struct request *request)
{
    struct analysis_view view;
    struct choice choice = {0};
    if (!analysis_view_find(request->captures[0], request->captures[1], &view))
        return response_problem(404, "notfound", "there is no such tool or view");
    if (view.kind == ANALYSIS_TRACE && strcmp(view.view, "summary") == 0)
        return api_memory_profile(server, request);
    if (view.kind == ANALYSIS_FIGURES)
        return api_all_modules(server, request, &view);
    if (view.kind == ANALYSIS_FLEET)
        return api_fleet(server, request, &view);
    if (view.kind == ANALYSIS_TEXT)
        return api_oom(server, request);
    struct response *response = choice_open(&choice, server, request, &view);
    struct body *body = response ? NULL : choice_answer(&choice, request, &view, &response);
    if (body)
        response = response_in(request, &choice, view.is_of_two, body);
    choice_close(&choice);
    return response;
}
