/* SPDX-License-Identifier: Apache-2.0 */
#include "server/capture/capture.h"

#include "analysis/analysis.h"
#include "server/base/clock.h"
#include "server/base/memory.h"
#include "server/capture/capture_folder.h"
#include "server/files/remote/grpc_call.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* AHEAD: of several hosts each has its request by then. COLLECTING: a server puts its trace together after the window,
 * which takes it minutes where much was recorded, and sends nothing meanwhile. */
enum { AHEAD_MS = 1000, COLLECTING_MAX_MS = 300000, NS_PER_MS = 1000000, PATH_SHOWN = 90 };

/* One host while it is asked. */
struct recording {
    struct grpc_call call;
    struct profiler_answer answer;
    struct capture_file file;
    struct capture_host *host;
    char *url;
    struct buf message;
};

struct run {
    const struct capture_request *request;
    struct capture_result *result;
    struct capture_folder folder;
    struct recording *recordings;
    int64_t ahead_ms, began_ms;
    bool (*tick)(void *context, const struct capture_progress *progress);
    void *context;
};

bool capture_set_up(struct err *err) { return grpc_call_set_up(err); }

/* ---- one host ---- */

static bool take_trace(void *context, const void *bytes, size_t size)
{
    struct recording *recording = context;
    return capture_file_add(&recording->file, bytes, size, &recording->host->err);
}

static bool take_answer(void *context, const void *bytes, size_t size)
{
    struct recording *recording = context;
    return analysis_profiler_answer_add(&recording->answer, bytes, size, &recording->host->err);
}

static void recording_begin(struct recording *recording, const struct run *run, const char *address,
                            int64_t start_unix_ns)
{
    const struct profiler_request request = {.duration_ms = (uint64_t)run->request->duration_ms,
                                             .start_unix_ns = (uint64_t)start_unix_ns,
                                             .repository_root = run->folder.profiles,
                                             .session_id = run->folder.id,
                                             .host_name = address};
    analysis_profiler_request_write(&request, &recording->message);
    analysis_profiler_answer_begin(&recording->answer, take_trace, recording);
    recording->url = memory_format("http://%s" PROFILER_REQUEST_PATH, address);
    recording->call =
        (struct grpc_call){.url = recording->url,
                           .request = recording->message.data,
                           .request_bytes = recording->message.length,
                           .silence_limit_ms = run->ahead_ms + run->request->duration_ms + COLLECTING_MAX_MS,
                           .take = take_answer,
                           .context = recording};
    if (recording->message.failed)
        err_exhausted(&recording->host->err);
    else
        capture_file_open(&recording->file, &run->folder, address, &recording->host->err);
}

/* A server that does not send its trace has written it, on its own machine. */
static bool find_written(struct recording *recording)
{
    const char *path = recording->file.path; /* of a long one the end, which names the file */
    size_t length = strlen(path), cut = length > PATH_SHOWN ? length - PATH_SHOWN : 0;
    while (((unsigned char)path[cut] & 0xC0) == 0x80) /* within a character */
        cut++;
    recording->host->trace_bytes = capture_file_found_bytes(&recording->file);
    return recording->host->trace_bytes > 0 ||
           err_set(&recording->host->err, ERR_notfound, ERR_NO_OFFSET,
                   "its server, of an older release, wrote the trace on its own machine, to %s%s: copy it from there",
                   cut > 0 ? "…" : "", path + cut);
}

static bool recording_keep(struct recording *recording)
{
    struct err *err = &recording->host->err;
    if (err_is_set(err))
        return false;
    if (err_is_set(&recording->call.err)) {
        *err = recording->call.err;
        return false;
    }
    const char *status = recording->call.status[0] ? recording->call.status : NULL;
    if (!analysis_profiler_answer_judge(status, recording->call.message, err) ||
        !analysis_profiler_answer_end(&recording->answer, err))
        return false;
    if (recording->answer.is_empty_trace)
        return err_set(err, ERR_notfound, ERR_NO_OFFSET, "recorded nothing: its trace is empty");
    recording->host->trace_bytes = recording->answer.trace_bytes;
    return recording->answer.trace_bytes > 0 ? capture_file_keep(&recording->file, err) : find_written(recording);
}

static void recording_end(struct recording *recording)
{
    if (recording_keep(recording))
        recording->host->path = memory_text(recording->file.path);
    capture_file_close(&recording->file);
    buf_free(&recording->message);
    free(recording->url);
}

/* ---- all of them ---- */

static bool run_tick(void *context)
{
    struct run *run = context;
    struct capture_progress progress = {.recorded_ms = clock_ms() - run->began_ms - run->ahead_ms};
    for (size_t at = 0; at < run->request->count; at++) {
        const struct recording *recording = &run->recordings[at];
        progress.ended_count += recording->call.is_ended || err_is_set(&recording->host->err);
        progress.trace_bytes += recording->answer.trace_bytes;
    }
    if (progress.recorded_ms < 0)
        progress.recorded_ms = 0;
    if (progress.recorded_ms > run->request->duration_ms)
        progress.recorded_ms = run->request->duration_ms;
    bool goes_on = run->tick(run->context, &progress);
    run->result->is_stopped |= !goes_on;
    return goes_on;
}

static void run_all(struct run *run)
{
    size_t count = run->request->count, call_count = 0;
    struct grpc_call **calls = memory_new(count * sizeof(*calls));
    int64_t start_unix_ns = count > 1 ? clock_unix_ns() + (int64_t)AHEAD_MS * NS_PER_MS : 0;
    run->recordings = memory_new(count * sizeof(*run->recordings));
    run->ahead_ms = count > 1 ? AHEAD_MS : 0;
    run->began_ms = clock_ms();
    for (size_t at = 0; at < count; at++) {
        struct recording *recording = &run->recordings[at];
        recording->host = &run->result->hosts[at];
        *recording->host = (struct capture_host){.address = run->request->addresses[at]->text, .err = ERR_INIT};
        recording_begin(recording, run, recording->host->address, start_unix_ns);
        if (!err_is_set(&recording->host->err))
            calls[call_count++] = &recording->call;
    }
    grpc_call_run(calls, call_count, run_tick, run);
    for (size_t at = 0; at < count; at++) {
        recording_end(&run->recordings[at]);
        run->result->kept_count += run->result->hosts[at].path != NULL;
    }
    free(run->recordings);
    free(calls);
}

void capture_run(const struct capture_request *request, struct capture_result *result,
                 bool (*tick)(void *context, const struct capture_progress *progress), void *context)
{
    struct run run = {.request = request, .result = result, .tick = tick, .context = context};
    *result = (struct capture_result){.err = ERR_INIT};
    if (capture_folder_open(&run.folder, request->logdir, &result->err)) {
        result->hosts = memory_new(request->count * sizeof(*result->hosts));
        result->count = request->count;
        run_all(&run);
        result->folder = result->kept_count > 0 ? memory_text(run.folder.path) : NULL;
    }
    capture_folder_close(&run.folder);
}

void capture_free(struct capture_result *result)
{
    for (size_t at = 0; at < result->count; at++)
        free(result->hosts[at].path);
    free(result->hosts);
    free(result->folder);
    *result = (struct capture_result){.err = ERR_INIT};
}
