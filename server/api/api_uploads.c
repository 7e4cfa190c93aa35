/* SPDX-License-Identifier: Apache-2.0
 * api_uploads.c: traces, dumps and other files that a reader uploaded, to be looked at like those of a folder. */
#include "server/api/api.h"

#include <string.h>

static void write_files(struct json *json, const struct upload_set *set)
{
    json_key_array(json, "files");
    for (size_t at = 0; at < set->file_count; at++) {
        const struct upload_set_file *file = set->files[at];
        json_object_begin(json);
        json_key_text(json, "name", file->path);
        json_key_uint(json, "size_bytes", file->upload->size);
        json_key_text(json, "kind", analysis_kind_name(file->kind));
        json_key_text(json, "sha256", file->sha256);
        json_object_end(json);
    }
    json_array_end(json);
}

static struct response *api_uploads_answer(const struct server *server, const struct upload_set *set, bool is_new)
{
    struct buf buf = BUF_INIT;
    struct json json = JSON_INIT(&buf);
    json_object_begin(&json);
    json_key_text(&json, "id", set->id);
    write_files(&json, set);
    if (!is_new) {
        const struct snapshot *snapshot = upload_set_snapshot(set);
        json_key(&json, "sessions");
        api_write_sessions(&json, server->store, snapshot);
        api_write_not_read(&json, snapshot);
    }
    json_object_end(&json);
    return response_of_buf(is_new ? 201 : 200, "application/json", &buf);
}

struct response *api_uploads(const struct server *server, const struct request *request)
{
    struct upload_set set = {0};
    struct err err = ERR_INIT;
    struct response *response = NULL;
    if (strchr(request->captures[0], '-')) /* of a session of a set, or of nothing */
        response = response_problem(404, "notfound", "there are no files of that id");
    if (!response)
        response = upload_set_find(server->store, request->captures[0], &set, &err)
                       ? api_uploads_answer(server, &set, false)
                       : response_err(&err, NULL);
    upload_set_close(&set);
    return response;
}

struct response *api_uploads_add(const struct server *server, const struct request *request)
{
    const char *name = request_param(request, "name", ""), *with = request_param(request, "with", "");
    struct upload_set set = {0};
    struct err err = ERR_INIT;
    struct response *response = request->body->size == 0 ? response_problem(422, "truncated", "the file is empty")
                                                         : api_keep_body(request, UPLOAD_SET_COST_BYTES);
    if (!response)
        response = upload_set_add(server->store, with[0] ? with : NULL, name, request->body, &set, &err)
                       ? api_uploads_answer(server, &set, true)
                       : response_err(&err, name);
    upload_set_close(&set);
    return response;
}
