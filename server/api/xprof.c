/* SPDX-License-Identifier: Apache-2.0 */
#include "server/api/xprof.h"

#include "base/json.h"
#include "server/api/xprof_run.h"
#include "server/store/modules.h"
#include "server/store/subjects.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The release whose answers these follow. */
static const char XPROF_VERSION[] = "2.24.2";
static const char NO_MODULE[] = "NO_MODULE";

struct response *xprof_version(const struct server *server, const struct request *request)
{
    (void)server, (void)request;
    return response_text(200, XPROF_VERSION);
}

struct response *xprof_config(const struct server *server, const struct request *request)
{
    struct buf buf = BUF_INIT;
    (void)server, (void)request;
    buf_text(&buf, "{\"enableTabNameLabel\": false, \"hideCaptureProfileButton\": true, \"srcPathPrefix\": \"\"}");
    return response_json(&buf);
}

struct response *xprof_runs(const struct server *server, const struct request *request)
{
    struct snapshot *snapshot = index_hold(server->index);
    struct response *response = xprof_run_check_path(snapshot, request);
    if (!response) {
        struct buf buf = BUF_INIT;
        struct json json = JSON_INIT(&buf);
        json_array_begin(&json);
        for (size_t at = 0; at < snapshot->run_count; at++) {
            if (xprof_run_is_chosen(snapshot, request, &snapshot->runs[at]))
                json_text(&json, xprof_run_name(request, &snapshot->runs[at]));
        }
        json_array_end(&json);
        response = response_json(&buf);
    }
    index_release(server->index, snapshot);
    return response;
}

/* XProf offers it for every trace; here some host must have memory events. */
static bool has_memory_profile(struct store *store, const struct snapshot_run *run)
{
    bool has = false;
    for (size_t at = 0; run->session && at < run->session->host_count && !has; at++)
        has = store_has_events(store, &run->session->hosts[at].file->place);
    return has;
}

/* XProf asks the first trace of a run alone; here any host that has programs will do. */
static bool has_memory_viewer(struct store *store, const struct snapshot_run *run)
{
    bool has = false;
    for (size_t at = 0; run->session && at < run->session->host_count && !has; at++) {
        struct store_file file;
        struct err err = ERR_INIT;
        if (store_open(store, &run->session->hosts[at].file->place, &file, &err))
            has = file.contents->has_hlo_stat;
        store_close(&file);
    }
    return has;
}

/* What one of the lists of a run holds, as items of an array. */
typedef void write_items(const struct server *server, const struct snapshot_run *run, struct json *json);

static struct response *list_of_run(const struct server *server, const struct request *request, write_items *write)
{
    struct response *response;
    struct snapshot *snapshot = index_hold(server->index);
    const struct snapshot_run *run = xprof_run_find(snapshot, request, &response);
    if (run) {
        struct buf buf = BUF_INIT;
        struct json json = JSON_INIT(&buf);
        json_array_begin(&json);
        write(server, run, &json);
        json_array_end(&json);
        response = response_json(&buf);
    }
    index_release(server->index, snapshot);
    return response;
}

static void write_tools(const struct server *server, const struct snapshot_run *run, struct json *json)
{
    if (has_memory_profile(server->store, run))
        json_text(json, "memory_profile");
    if (has_memory_viewer(server->store, run))
        json_text(json, "memory_viewer");
}

struct response *xprof_run_tools(const struct server *server, const struct request *request)
{
    return list_of_run(server, request, write_tools);
}

static void write_hosts(const struct server *server, const struct snapshot_run *run, struct json *json)
{
    (void)server;
    for (size_t at = 0; run->session && at < run->session->host_count; at++) {
        json_object_begin(json);
        json_key_text(json, "hostname", run->session->hosts[at].name);
        json_object_end(json);
    }
}

struct response *xprof_hosts(const struct server *server, const struct request *request)
{
    return list_of_run(server, request, write_hosts);
}

/* Traces were read, and none holds a program: what XProf marks by NO_MODULE. */
static bool is_without_module(const struct modules *modules)
{
    bool is_read = false;
    for (size_t at = 0; at < modules->file_count; at++)
        is_read |= modules->files[at].opened.contents != NULL;
    return is_read && modules->entry_count == 0;
}

static int by_text(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

/* The names of the modules with commas, by the alphabet as XProf lists them: its page opens the first. */
static void write_modules(const struct modules *modules, struct buf *buf)
{
    const char **names = memory_new((modules->entry_count + 1) * sizeof(*names));
    for (size_t at = 0; at < modules->entry_count; at++)
        names[at] = modules->entries[at].program->key;
    if (modules->entry_count > 0)
        qsort(names, modules->entry_count, sizeof(*names), by_text);
    for (size_t at = 0; at < modules->entry_count; at++) {
        buf_text(buf, at > 0 ? "," : "");
        buf_text(buf, names[at]);
    }
    free(names);
}

struct response *xprof_module_list(const struct server *server, const struct request *request)
{
    struct response *response;
    struct snapshot *snapshot = index_hold(server->index);
    const struct snapshot_run *run = xprof_run_find(snapshot, request, &response);
    if (run) {
        struct buf buf = BUF_INIT;
        struct modules modules = {0};
        if (run->session)
            modules_open(server->store, run->session, NULL, &modules);
        write_modules(&modules, &buf);
        if (is_without_module(&modules))
            buf_text(&buf, NO_MODULE);
        modules_close(&modules);
        response = response_of_buf(200, "text/plain; charset=utf-8", &buf);
    }
    index_release(server->index, snapshot);
    return response;
}

/* ---- /data ------------------------------------------------------------------------- */

static struct response *no_data(void) { return response_text(404, "No Data"); }

/* A memory space as XProf reads it: a number with or without space around it, else 0. */
static int64_t read_space(const char *text)
{
    char *end;
    errno = 0;
    long long space = strtoll(text, &end, 10);
    end += strspn(end, " \t\r\n");
    return end != text && *end == '\0' && errno == 0 && space >= INT32_MIN && space <= INT32_MAX ? space : 0;
}

/* By number; else (as XProf does) the first name that holds the text anywhere. */
static const struct modules_entry *find_program(const struct modules *modules, const char *program_id)
{
    uint64_t number = strtoull(program_id, NULL, 10);
    bool is_number = program_id[strspn(program_id, "0123456789")] == '\0';
    for (size_t at = 0; is_number && at < modules->entry_count; at++) {
        if (modules->entries[at].program->program_id == number)
            return &modules->entries[at];
    }
    for (size_t at = 0; at < modules->entry_count; at++) {
        if (strstr(modules->entries[at].program->key, program_id))
            return &modules->entries[at];
    }
    return NULL;
}

/* XProf has no answer for a file that is being written, or for memory that other work holds now. */
static struct response *xprof_answer(struct store *store, const struct subjects_place *place,
                                     const struct analysis_question *question)
{
    struct err err = ERR_INIT;
    bool is_transient;
    struct body *body = subjects_answer(store, place, NULL, question, &err, &is_transient);
    if (body)
        return response_of_body(200, "application/json", body);
    struct response *response = is_transient ? response_text(503, err.text) : no_data();
    response->is_changed = err.code == ERR_changed;
    return response;
}

static struct response *answer_module(struct store *store, const struct modules_entry *entry, int64_t space)
{
    char text[24];
    const struct analysis_param param = {"space", text};
    const struct analysis_question question = {
        .tool = "memory_viewer", .view = "xprof", .params = &param, .param_count = 1};
    const struct subjects_place place = {
        .kind = ANALYSIS_MODULE, .opened = &entry->file->opened, .program = entry->program};
    snprintf(text, sizeof(text), "%lld", (long long)space);
    return xprof_answer(store, &place, &question);
}

/* No program was named that the run has: NO_MODULE, or a number, or nothing. */
static struct response *answer_unnamed(const struct server *server, const struct request *request,
                                       const struct snapshot_session *session, int64_t space)
{
    const char *name = request_param(request, "module_name", ""), *id = request_param(request, "program_id", "");
    struct modules modules;
    struct response *response = NULL;
    modules_open(server->store, session, NULL, &modules);
    if (strcmp(name, NO_MODULE) == 0 && is_without_module(&modules)) {
        struct buf buf = BUF_INIT;
        buf_text(&buf, "{}");
        response = response_json(&buf);
    } else if (!name[0] && id[0]) {
        const struct modules_entry *entry = find_program(&modules, id);
        if (entry)
            response = answer_module(server->store, entry, space);
    }
    modules_close(&modules);
    return response ? response : no_data();
}

static struct response *memory_viewer(const struct server *server, const struct request *request,
                                      const struct snapshot_session *session)
{
    const char *name = request_param(request, "module_name", ""), *file;
    int64_t space = read_space(request_param(request, "memory_space", "0"));
    struct modules modules;
    struct err err = ERR_INIT;
    char id[SNAPSHOT_PART_ID_SIZE];
    if (request_param(request, "view_memory_allocation_timeline", "")[0])
        return response_text(404, "memviewd does not draw the memory allocation timeline\n");
    snapshot_module_id(id, session, name);
    if (!name[0] || !modules_find(server->store, session, NULL, id, &modules, &err, &file))
        return answer_unnamed(server, request, session, space);
    struct response *response = answer_module(server->store, &modules.entries[0], space);
    modules_close(&modules);
    return response;
}

static const struct snapshot_host *find_host(const struct snapshot_session *session, const char *name)
{
    for (size_t at = 0; at < session->host_count; at++) {
        if (strcmp(session->hosts[at].name, name) == 0)
            return &session->hosts[at];
    }
    return NULL;
}

/* For the named host, else for the first. */
static struct response *memory_profile(const struct server *server, const struct snapshot_session *session,
                                       const struct snapshot_host *host)
{
    const struct analysis_question question = {.tool = "memory_profile", .view = "xprof"};
    const struct subjects_place place = subjects_trace(session, host);
    return xprof_answer(server->store, &place, &question);
}

static struct response *answer_tool(const struct server *server, const struct request *request,
                                    const struct snapshot_session *session)
{
    const char *host = request_param(request, "host", ""), *tag = request_param(request, "tag", "");
    const struct snapshot_host *named = find_host(session, host);
    if (host[0] && !named)
        return response_text(500, "No xplane file found for that host in this run\n");
    if (strcmp(tag, "memory_viewer") == 0)
        return memory_viewer(server, request, session);
    if (strcmp(tag, "memory_profile") == 0)
        return memory_profile(server, session, named ? named : &session->hosts[0]);
    return no_data();
}

struct response *xprof_data(const struct server *server, const struct request *request)
{
    struct response *response;
    struct snapshot *snapshot = index_hold(server->index);
    const struct snapshot_run *run = xprof_run_find(snapshot, request, &response);
    if (run && run->session)
        response = answer_tool(server, request, run->session);
    else if (run)
        response = response_text(500, "No xplane file found for this run\n");
    index_release(server->index, snapshot);
    return response;
}
