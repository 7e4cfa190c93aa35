/* SPDX-License-Identifier: Apache-2.0
 * whatif_snapshot.c: see whatif_snapshot.h. */
#include "server/cmd/whatif_snapshot.h"

#include "server/base/log.h"
#include "server/base/memory.h"
#include "server/base/output.h"
#include "server/gather/index.h"
#include "server/store/body.h"
#include "server/store/modules.h"
#include "server/store/subjects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* False: nothing was printed, and err says why. */
static bool print_pool(struct whatif_snapshot *whatif, const struct subjects_place *place, const char *memory,
                       struct err *err)
{
    const bool is_json = whatif->options->is_json;
    size_t count = whatif->param_count;
    struct analysis_param *params = memory_new((count + 2) * sizeof(*params));
    if (count > 0)
        memcpy(params, whatif->params, count * sizeof(*params));
    params[count++] = (struct analysis_param){"memory", memory};
    params[count++] = (struct analysis_param){"format", is_json ? "json" : "text"};
    const struct analysis_question question = {
        .tool = "memory_profile", .view = "whatif", .params = params, .param_count = count, .is_bare = true};
    struct body *body = subjects_answer(whatif->store, place, NULL, &question, err, NULL);
    free(params);
    if (!body)
        return false;
    if (whatif->answer_count++ > 0)
        fputs(is_json ? ",\n" : "\n", stdout);
    output_answer(body->data, body->size, is_json);
    body_release(body);
    return true;
}

/* Each GPU of a snapshot. What one of them refuses, such as a change that is written wrongly, all do. */
static void print_host(struct whatif_snapshot *whatif, const struct snapshot_session *session,
                       const struct snapshot_host *host)
{
    struct subject trace = {0};
    struct err err = ERR_INIT;
    const struct subjects_place place = subjects_trace(session, host);
    const char *code, *reason;
    whatif->snapshot_count++;
    bool is_good = subjects_open(whatif->store, &place, &trace, &err);
    struct analysis_trace_pool pool;
    for (size_t at = 0; is_good && analysis_trace_pool_at(trace.core, at, &pool); at++)
        is_good = print_pool(whatif, &place, pool.name, &err);
    if (is_good)
        analysis_trace_cut(trace.core, &err);
    if (trace.core && analysis_trace_reason(trace.core, &code, &reason))
        log_line("%s: %s", host->file->path, reason);
    subjects_close(&trace);
    if (err_is_set(&err))
        unread_files_add(whatif->unread, host->file->path, &err);
}

void whatif_snapshot_print(struct whatif_snapshot *whatif, const char *path)
{
    struct index *index = index_new();
    index_add(index, path);
    index_scan_once_with_texts(index, true);
    struct snapshot *snapshot = index_hold(index);
    for (size_t at = 0; at < snapshot->session_count; at++) {
        const struct snapshot_session *session = snapshot->sessions[at];
        struct modules modules;
        modules_open(whatif->store, session, NULL, &modules);
        whatif->module_count += modules.entry_count;
        modules_close(&modules);
        for (size_t i = 0; i < session->host_count; i++)
            if (session->hosts[i].is_allocator)
                print_host(whatif, session, &session->hosts[i]);
    }
    if (whatif->module_count == 0 && whatif->snapshot_count > 0)
        unread_files_add_problems(whatif->unread, snapshot);
    index_release(index, snapshot);
    index_free(index);
}
