/* SPDX-License-Identifier: Apache-2.0
 * xprof_page.c: links to XProf's pages, /memory_viewer?run=…&host=…&module_name=…, lead on to ours. */
#include "server/api/xprof.h"
#include "server/api/xprof_run.h"

#include <stdio.h>
#include <string.h>

/* Home for what is not there any more, or is a page of another tool: it says what there is. */
static struct response *lead_to(const char *query)
{
    struct response *response = response_empty(302);
    response_add_header(response, "Location", "/%s", query);
    response_add_header(response, "Cache-Control", "no-store");
    return response;
}

static const char *host_of(const struct snapshot_session *session, const char *name)
{
    for (size_t at = 0; at < session->host_count; at++)
        if (strcmp(session->hosts[at].name, name) == 0)
            return session->hosts[at].id;
    return "";
}

/* Everything in it is an id or a word of ours: nothing needs an escape. */
static struct response *lead_to_session(const struct snapshot_session *session, const struct request *request,
                                        const char *tool)
{
    const char *host = host_of(session, request_param(request, "host", ""));
    const char *module = request_param(request, "module_name", "");
    char module_id[SNAPSHOT_PART_ID_SIZE] = "", query[RESPONSE_HEADER_SIZE];
    if (module[0])
        snapshot_module_id(module_id, session, module);
    snprintf(query, sizeof(query), "?tool=%s&session=%s%s%s%s%s", tool, session->id, host[0] ? "&host=" : "", host,
             module_id[0] ? "&module=" : "", module_id);
    return lead_to(query);
}

struct response *xprof_page(const struct server *server, const struct request *request)
{
    const char *tool = strstr(request->path, "memory_profile") ? "memory_profile" : "memory_viewer";
    struct snapshot *snapshot = index_hold(server->index);
    struct response *refusal = NULL;
    const struct snapshot_run *run = xprof_run_find(snapshot, request, &refusal);
    struct response *response =
        run && run->session ? lead_to_session(run->session, request, tool) : lead_to("?tool=home");
    response_release(refusal);
    index_release(server->index, snapshot);
    return response;
}
