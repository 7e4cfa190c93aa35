/* SPDX-License-Identifier: Apache-2.0 */
#include "server/api/api.h"

#include "server/api/routes.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_ASKED = 16 };

static const char ROOT[] = "/api/v1/";

/* Appends {"status": …, "body": …} of one question. False: it has no memory. */
static bool answer_add(struct buf *out, const struct server *server, const struct request *request, const char *asked)
{
    char *target = memory_format("%s%s", ROOT, asked);
    struct response *response = routes_answer_beside(server, request, target);
    free(target);
    bool is_json = response->content_type && strstr(response->content_type, "json") && response->body &&
                   !response->body->is_in_pieces;
    if (!is_json) {
        response_release(response);
        response = response_problem(400, "argument", "%.100s: its answer is no JSON: ask for it alone", asked);
    }
    struct body *body = response->body ? body_plain(response->body) : NULL;
    if (body) {
        buf_format(out, "{\"status\":%d,\"body\":", response->status);
        buf_add(out, body->data, body->size);
        buf_text(out, "}");
    }
    bool is_good = body != NULL;
    body_release(body);
    response_release(response);
    return is_good;
}

struct response *api_batch(const struct server *server, const struct request *request)
{
    struct buf out = BUF_INIT;
    size_t count = 0;
    bool is_good = true;
    buf_text(&out, "{\"answers\":[");
    for (size_t at = 0; at < request->param_count && is_good; at++) {
        const struct request_param *param = &request->params[at];
        if (strcmp(param->name, "ask") != 0 || ++count > MAX_ASKED) {
            buf_free(&out);
            return strcmp(param->name, "ask") != 0
                       ? response_problem(400, "argument", "%.100s: not a parameter of this path", param->name)
                       : response_problem(400, "limit", "more than %d questions at once", MAX_ASKED);
        }
        buf_text(&out, count > 1 ? "," : "");
        is_good = answer_add(&out, server, request, param->value);
    }
    buf_text(&out, "]}");
    if (count > 0 && is_good)
        return response_json(&out);
    buf_free(&out);
    return count == 0 ? response_problem(400, "argument", "ask is missing: a path below %s with its query", ROOT)
                      : response_problem(503, "busy", "there is no memory for these answers now; ask again");
}
