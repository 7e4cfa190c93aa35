/* SPDX-License-Identifier: Apache-2.0
 * api_live.c: what the processes of runs in the watched folders have in use (memviewd watch). */
#include "server/api/api.h"
#include "server/files/remote/remote_address.h"
#include "server/run/live_files.h"
#include "server/run/live_runs.h"

#include <string.h>

enum { RUNS_MAX = 16 }; /* of a folder, in the list */

static void run_id(char id[SNAPSHOT_PART_ID_SIZE], const char *root, const char *name)
{
    snapshot_write_id(id, hash_text(name, hash_text(root, hash_text("live", 0))));
}

/* An object of the list; what cannot be read has a reason, and no lines. */
static void run_write(const char *root, const struct live_run *run, bool with_samples, struct json *json)
{
    char id[SNAPSHOT_PART_ID_SIZE];
    struct live_files files;
    struct err err = ERR_INIT;
    run_id(id, root, run->name);
    live_files_read(root, run->name, &files);
    struct analysis_live *live = analysis_live_read(files.items, files.count, &err);
    json_object_begin(json);
    json_key_text(json, "id", id);
    json_key_text(json, "name", run->name);
    json_key_text(json, "root", root);
    json_key_bool(json, "is_running", run->is_running);
    json_key_uint(json, "left_out_file_count", files.left_out_count);
    if (live) {
        analysis_live_write(live, with_samples, json);
    } else {
        json_key_text(json, "reason", err.text);
        json_key_array(json, "lines");
        json_array_end(json);
        json_key_uint(json, "left_out_count", 0);
    }
    json_object_end(json);
    analysis_live_free(live);
    live_files_free(&files);
}

/* Writes all runs of a folder, or the one of that id: is it there? */
static bool root_write(const char *root, const char *wanted, struct json *json)
{
    struct live_runs runs;
    bool is_there = false;
    live_runs_find(root, wanted ? SIZE_MAX : RUNS_MAX, &runs);
    for (size_t at = 0; at < runs.count && !is_there; at++) {
        char id[SNAPSHOT_PART_ID_SIZE];
        run_id(id, root, runs.items[at].name);
        is_there = wanted && strcmp(id, wanted) == 0;
        if (!wanted || is_there)
            run_write(root, &runs.items[at], wanted != NULL, json);
    }
    live_runs_free(&runs);
    return is_there;
}

/* Writes all watched folders of this machine. */
static bool roots_write(const struct server *server, const char *wanted, struct json *json)
{
    bool is_there = false;
    struct snapshot *snapshot = index_hold(server->index);
    for (size_t at = 0; at < snapshot->root_count && !is_there; at++) {
        const struct snapshot_root *root = &snapshot->roots[at];
        if (root->is_readable && !remote_address_is(root->path))
            is_there = root_write(root->path, wanted, json);
    }
    index_release(server->index, snapshot);
    return is_there;
}

struct response *api_live(const struct server *server, const struct request *request)
{
    struct buf buf = BUF_INIT;
    struct json json = JSON_INIT(&buf);
    (void)request;
    json_object_begin(&json);
    json_key_array(&json, "runs");
    roots_write(server, NULL, &json);
    json_array_end(&json);
    json_object_end(&json);
    return response_json(&buf);
}

struct response *api_live_run(const struct server *server, const struct request *request)
{
    struct buf buf = BUF_INIT;
    struct json json = JSON_INIT(&buf);
    if (roots_write(server, request->captures[0], &json))
        return response_json(&buf);
    buf_free(&buf);
    return response_problem(404, "notfound", "there is no run of that id in the watched folders, or not any more");
}
