/* SPDX-License-Identifier: Apache-2.0
 * each_snapshot.c: see each_snapshot.h. */
#include "server/cmd/each_snapshot.h"

#include "base/json.h"
#include "base/printable.h"
#include "server/base/log.h"
#include "server/base/memory.h"
#include "server/base/output.h"
#include "server/cmd/commands.h"
#include "server/store/body.h"
#include "server/store/modules.h"
#include "server/store/subjects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The answer with the name of its file: each rank's snapshot may call its memory "GPU 0". */
static void print_answer(const struct each_snapshot *each, const struct body *body, const struct snapshot_host *host)
{
    struct buf out = BUF_INIT;
    if (each->is_json && body->size > 0 && body->data[0] == '{') {
        struct json json = {.out = &out};
        json_object_begin(&json);
        json_key_text(&json, "file", host->file->path);
        buf_char(&out, ',');
        output_answer(out.data, out.length, true);
        output_answer(body->data + 1, body->size - 1, true);
    } else {
        buf_printable(&out, str_of(host->file->path));
        buf_text(&out, ", ");
        output_answer(out.data, out.length, false);
        output_answer(body->data, body->size, false);
    }
    buf_free(&out);
}

/* False: nothing was printed, and err says why. */
static bool print_pool(struct each_snapshot *each, const struct subjects_place *place, const struct snapshot_host *host,
                       const char *memory, struct err *err)
{
    const bool is_json = each->is_json;
    size_t count = each->param_count;
    struct analysis_param *params = memory_new((count + 2) * sizeof(*params));
    if (count > 0)
        memcpy(params, each->params, count * sizeof(*params));
    params[count++] = (struct analysis_param){"memory", memory};
    params[count++] = (struct analysis_param){"format", is_json ? "json" : "text"};
    const struct analysis_question question = {
        .tool = "memory_profile", .view = each->view, .params = params, .param_count = count, .is_bare = true};
    struct body *body = subjects_answer(each->store, place, NULL, &question, err, NULL);
    free(params);
    if (!body)
        return false;
    if (each->answer_count++ > 0)
        fputs(is_json ? ",\n" : "\n", stdout);
    print_answer(each, body, host);
    body_release(body);
    return true;
}

/* Each GPU of a snapshot. What one of them refuses, such as a parameter that is written wrongly, all do. */
static void print_host(struct each_snapshot *each, const struct snapshot_session *session,
                       const struct snapshot_host *host)
{
    struct subject trace = {0};
    struct err err = ERR_INIT;
    const struct subjects_place place = subjects_trace(session, host);
    const char *code, *reason;
    each->snapshot_count++;
    bool is_good = subjects_open(each->store, &place, &trace, &err);
    struct analysis_trace_pool pool;
    for (size_t at = 0; is_good && analysis_trace_pool_at(trace.core, at, &pool); at++)
        is_good = print_pool(each, &place, host, pool.name, &err);
    if (is_good)
        analysis_trace_cut(trace.core, &err);
    if (trace.core && analysis_trace_reason(trace.core, &code, &reason))
        log_line("%s: %s", host->file->path, reason);
    subjects_close(&trace);
    if (err_is_set(&err))
        unread_files_add(each->unread, host->file->path, &err);
}

static void each_snapshot_print(struct each_snapshot *each, const struct snapshot *snapshot)
{
    struct snapshot_walk walk = {0};
    for (const struct snapshot_host *host; (host = snapshot_next_allocator(snapshot, &walk));)
        print_host(each, walk.session, host);
    for (size_t at = 0; each->snapshot_count > 0 && at < snapshot->session_count; at++) {
        struct modules modules;
        modules_open(each->store, snapshot->sessions[at], NULL, &modules);
        each->module_count += modules.entry_count;
        modules_close(&modules);
    }
    if (each->module_count == 0 && each->snapshot_count > 0)
        unread_files_add_problems(each->unread, snapshot);
}

int each_snapshot_and_module(struct each_snapshot *each, const char *path, const char *module, each_module_visit *visit,
                             void *context, bool *needs_comma)
{
    struct each_module_place place;
    each_module_place_open(&place, path);
    if (!module)
        each_snapshot_print(each, place.snapshot);
    *needs_comma = each->answer_count > 0;
    int result = COMMANDS_UNUSABLE;
    if (each->snapshot_count == 0 || each->module_count > 0)
        result = each_module_at(each->store, &place, module, visit, context, each->unread);
    each_module_place_close(&place);
    return each->answer_count > 0 ? COMMANDS_DONE : result;
}
