/* SPDX-License-Identifier: Apache-2.0 */
#include "server/api/api.h"
#include "server/api/captures.h"
#include "server/base/version.h"

struct response *api_healthy(const struct server *server, const struct request *request)
{
    (void)server, (void)request;
    return response_text(200, "ok\n");
}

struct response *api_ready(const struct server *server, const struct request *request)
{
    (void)request;
    if (index_is_ready(server->index))
        return response_text(200, "ready\n");
    struct response *response = response_text(503, "not ready: the first scan is not complete\n");
    response_add_header(response, "Retry-After", "1");
    response->is_expected = true; /* asked every second until it is */
    return response;
}

struct response *api_login(const struct server *server, const struct request *request)
{
    return guard_login(&server->guard, request);
}

struct response *api_about(const struct server *server, const struct request *request)
{
    (void)request;
    struct buf buf = BUF_INIT;
    struct json json = JSON_INIT(&buf);
    struct snapshot *snapshot = index_hold(server->index);
    json_object_begin(&json);
    json_key_text(&json, "name", "memviewd");
    json_key_text(&json, "version", version_number);
    json_key_text(&json, "commit", version_commit[0] ? version_commit : NULL);
    json_key_int(&json, "started_at_ms", server->started_at_ms);
    json_key_array(&json, "roots");
    for (size_t at = 0; at < snapshot->root_count; at++) {
        const struct snapshot_root *root = &snapshot->roots[at];
        json_object_begin(&json);
        json_key_text(&json, "path", root->path);
        json_key_bool(&json, "readable", root->is_readable);
        json_key_bool(&json, "missing", root->is_missing);
        json_key_text(&json, "reason", root->reason);
        json_key_int(&json, "last_scan_ms", root->last_scan_ms);
        json_key_uint(&json, "file_count", root->file_count);
        json_key_uint(&json, "depth", root->depth);
        json_object_end(&json);
    }
    json_array_end(&json);
    captures_write_addresses(server->captures, &json);
    json_key_uint(&json, "scan_generation", snapshot->generation);
    json_key_uint(&json, "memory_limit_bytes", account_limit(store_account(server->store)));
    json_object_end(&json);
    index_release(server->index, snapshot);
    return response_json(&buf);
}

/* The body's type is one that a form of another site cannot send without the browser asking first. A form cannot send a
 * request without body and type either. A script of another site can, and is recognised by Origin and Sec-Fetch-Site
 * (guard.c). */
struct response *api_rescan(const struct server *server, const struct request *request)
{
    static const char *const types[] = {"application/json", NULL};
    bool is_bare = request->body->size == 0 && !request->content_type;
    struct response *refusal = is_bare ? NULL : api_check_type(request, types);
    if (refusal)
        return refusal;
    struct buf buf = BUF_INIT;
    struct json json = JSON_INIT(&buf);
    struct snapshot *snapshot = index_hold(server->index);
    json_object_begin(&json);
    json_key_uint(&json, "scan_generation", snapshot->generation);
    json_object_end(&json);
    index_release(server->index, snapshot);
    index_nudge(server->index);
    return response_of_buf(202, "application/json", &buf);
}

static void write_view(struct json *json, const struct analysis_view *view)
{
    json_object_begin(json);
    json_key_text(json, "name", view->view);
    json_key_array(json, "params");
    for (const char *const *name = view->param_names; *name; name++)
        json_text(json, *name);
    json_array_end(json);
    json_object_end(json);
}

struct response *api_tools(const struct server *server, const struct request *request)
{
    (void)server, (void)request;
    struct buf buf = BUF_INIT;
    struct json json = JSON_INIT(&buf);
    struct analysis_view view;
    const char *tool = NULL;
    json_object_begin(&json);
    json_key_array(&json, "tools");
    for (size_t at = 0; analysis_view_at(at, &view); at++) {
        if (!tool || strcmp(tool, view.tool) != 0) {
            if (tool) {
                json_array_end(&json);
                json_object_end(&json);
            }
            tool = view.tool;
            json_object_begin(&json);
            json_key_text(&json, "name", tool);
            json_key_text(&json, "title", view.tool_title);
            json_key_array(&json, "views");
        }
        write_view(&json, &view);
    }
    if (tool) {
        json_array_end(&json);
        json_object_end(&json);
    }
    json_array_end(&json);
    json_object_end(&json);
    return response_json(&buf);
}
