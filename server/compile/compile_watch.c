/* SPDX-License-Identifier: Apache-2.0 */
#include "server/compile/compile_watch.h"

#include "server/base/clock.h"
#include "server/base/memory.h"
#include "server/base/process.h"
#include "server/compile/compile_child.h"
#include "server/compile/compile_program.h"
#include "server/compile/dump.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

enum { LOOK_MS = 20, PROGRESS_MS = 100, PART_BYTES = 1 << 16 };
/* How much of the compiler's output is kept, half of that from the beginning; no compiler prints more than the
 * maximum. */
enum { KEPT_OUTPUT_BYTES = 1 << 16, MAX_OUTPUT_BYTES = 64 << 20 };

struct watching {
    struct compile_watch *watch;
    const struct compile_request *request;
    struct process process;
    struct buf records; /* of the report, as far as they came */
    const char *dump;
    bool is_broken; /* the report is not one of ours */
};

/* ---- The environment ----------------------------------------------------------- */

/* libtpu asks no metadata server, takes no lock for a chip that is not there, and dumps. */
static const char *const VARIABLES[][2] = {
    {"TPU_SKIP_MDS_QUERY", "1"}, {"TPU_ACCELERATOR_TYPE", "v5litepod-4"}, {"TPU_WORKER_HOSTNAMES", "localhost"},
    {"TPU_WORKER_ID", "0"},      {"ALLOW_MULTIPLE_LIBTPU_LOAD", "1"},
};
enum { VARIABLE_COUNT = sizeof(VARIABLES) / sizeof(VARIABLES[0]) };

/* What a compiler for GPUs does not see: a GPU, which a job may be using; it compiles the same without one. */
#define NO_GPU "CUDA_VISIBLE_DEVICES"
#define LIBRARIES "LD_LIBRARY_PATH"

static bool is_ours(const char *variable, const struct plugin *plugin)
{
    const char *equals = strchr(variable, '=');
    size_t length = equals ? (size_t)(equals - variable) : strlen(variable);
    const struct str name = {variable, length};
    for (size_t at = 0; at < VARIABLE_COUNT; at++)
        if (str_equal(name, str_of(VARIABLES[at][0])))
            return true;
    if (plugin->kind == PLUGIN_CUDA &&
        (str_equal(name, STR(NO_GPU)) || (plugin->libraries && str_equal(name, STR(LIBRARIES)))))
        return true;
    return str_equal(name, STR("XLA_FLAGS")) || str_equal(name, STR("MEMVIEWD_COMPILE"));
}

/* This process's own, with ours instead of those of the same name; by `mark` what came of the child is found again.
 * Ends with NULL; environment_free. */
static char **environment_new(const struct plugin *plugin, const char *mark)
{
    const char *libraries = getenv(LIBRARIES);
    size_t count = 0, at = 0;
    while (environ[count])
        count++;
    char **out = memory_new((count + VARIABLE_COUNT + 5) * sizeof(*out));
    for (size_t i = 0; i < count; i++)
        if (!is_ours(environ[i], plugin))
            out[at++] = memory_text(environ[i]);
    for (size_t i = 0; i < VARIABLE_COUNT; i++)
        out[at++] = memory_format("%s=%s", VARIABLES[i][0], VARIABLES[i][1]);
    if (plugin->kind == PLUGIN_CUDA)
        out[at++] = memory_text(NO_GPU "=-1");
    if (plugin->kind == PLUGIN_CUDA && plugin->libraries)
        out[at++] =
            memory_format(LIBRARIES "=%s%s%s", plugin->libraries, libraries ? ":" : "", libraries ? libraries : "");
    out[at++] = memory_text("XLA_FLAGS=--xla_dump_to=" COMPILE_CHILD_DUMP " --xla_dump_hlo_as_proto");
    out[at] = memory_text(mark);
    return out;
}

static void environment_free(char **environment)
{
    for (size_t at = 0; environment[at]; at++)
        free(environment[at]);
    free(environment);
}

/* ---- What it writes ------------------------------------------------------------ */

/* The beginning and the end are kept, what lies between is forgotten. */
static void output_add(struct compile_watch *watch, const char *data, size_t size)
{
    struct buf *kept = &watch->output;
    watch->output_bytes += size;
    while (size > 0 && !kept->failed) {
        if (kept->length == KEPT_OUTPUT_BYTES) {
            memmove(kept->data + KEPT_OUTPUT_BYTES / 2, kept->data + KEPT_OUTPUT_BYTES * 3 / 4, KEPT_OUTPUT_BYTES / 4);
            kept->length = KEPT_OUTPUT_BYTES * 3 / 4;
        }
        size_t room = KEPT_OUTPUT_BYTES - kept->length, part = size < room ? size : room;
        buf_add(kept, data, part);
        data += part;
        size -= part;
    }
}

/* A library may count what no program takes. */
static bool stats_are_sound(const struct compile_report_stats *stats)
{
    return stats->argument_bytes >= 0 && stats->output_bytes >= 0 && stats->alias_bytes >= 0 &&
           stats->temporary_bytes >= 0;
}

static void record_take(struct watching *watching, uint32_t kind, const char *bytes, size_t length)
{
    struct compile_watch *watch = watching->watch;
    uint32_t stage;
    if (kind == COMPILE_REPORT_STAGE && length == sizeof(stage)) {
        memcpy(&stage, bytes, sizeof(stage));
        watch->stage = stage <= COMPILE_STAGE_CODE ? (enum compile_stage)stage : watch->stage;
    } else if (kind == COMPILE_REPORT_VERSION) {
        watch->version.length = 0;
        buf_add(&watch->version, bytes, length);
    } else if (kind == COMPILE_REPORT_FAULT && length >= sizeof(watch->fault) && !watch->has_fault) {
        memcpy(&watch->fault, bytes, sizeof(watch->fault));
        buf_add(&watch->fault_text, bytes + sizeof(watch->fault), length - sizeof(watch->fault));
        watch->has_fault = true;
    } else if (kind == COMPILE_REPORT_STATS && length == sizeof(watch->stats)) {
        memcpy(&watch->stats, bytes, sizeof(watch->stats));
        watch->has_stats = stats_are_sound(&watch->stats);
        watching->is_broken = !watch->has_stats;
    } else {
        watching->is_broken = true;
    }
}

static void records_take(struct watching *watching)
{
    struct buf *records = &watching->records;
    struct compile_report_head head;
    size_t at = 0;
    while (!watching->is_broken && records->length - at >= sizeof(head)) {
        memcpy(&head, records->data + at, sizeof(head));
        watching->is_broken = head.length > COMPILE_REPORT_MAX_BYTES;
        if (watching->is_broken || records->length - at - sizeof(head) < head.length)
            break;
        record_take(watching, head.kind, records->data + at + sizeof(head), head.length);
        at += sizeof(head) + head.length;
    }
    if (at > 0)
        memmove(records->data, records->data + at, records->length - at);
    records->length -= at;
}

/* What is there now, up to some parts: it may write faster than we look at the clock. */
static void read_all(struct watching *watching)
{
    char part[PART_BYTES];
    ssize_t length = 1;
    for (int i = 0; i < 64 && (length = read(watching->process.output, part, sizeof(part))) > 0; i++)
        output_add(watching->watch, part, (size_t)length);
    for (int i = 0; i < 64 && (length = read(watching->process.report, part, sizeof(part))) > 0; i++) {
        if (!watching->is_broken)
            buf_add(&watching->records, part, (size_t)length);
        records_take(watching);
    }
}

/* ---- Watching ------------------------------------------------------------------- */

/* True once the assignment is final. It is looked for in the stage of compiling only. */
static bool is_final(struct watching *watching)
{
    bool is_final = false;
    if (watching->watch->stage == COMPILE_STAGE_COMPILING) {
        free(dump_find(watching->dump, &is_final));
        if (is_final)
            watching->watch->stage = COMPILE_STAGE_CODE;
    }
    return watching->watch->stage == COMPILE_STAGE_CODE;
}

/* Has it come to an end, or must it? `end` then says why. */
static bool is_over(struct watching *watching, bool has_ended)
{
    struct compile_watch *watch = watching->watch;
    const struct compile_request *request = watching->request;
    if (watching->is_broken)
        watch->end = COMPILE_WATCH_GARBLED;
    else if (watch->has_fault || watch->has_stats)
        watch->end = COMPILE_WATCH_REPORTED;
    else if (is_final(watching) && !request->with_code)
        watch->end = COMPILE_WATCH_STOPPED;
    else if (has_ended)
        watch->end = COMPILE_WATCH_DIED;
    else if (request->is_cancelled && atomic_load(request->is_cancelled))
        watch->end = COMPILE_WATCH_CANCELLED;
    else if (watch->took_ms >= request->limit_ms)
        watch->end = COMPILE_WATCH_TIME;
    else if (watch->resident_bytes > request->limit_bytes)
        watch->end = COMPILE_WATCH_MEMORY;
    else if (watch->output_bytes > MAX_OUTPUT_BYTES)
        watch->end = COMPILE_WATCH_OUTPUT;
    else
        return false;
    return true;
}

static void watch_it(struct watching *watching)
{
    struct compile_watch *watch = watching->watch;
    const struct compile_request *request = watching->request;
    int64_t begin_ms = clock_ms(), told_ms = -PROGRESS_MS;
    for (;;) {
        bool has_ended = process_has_ended(&watching->process);
        uint64_t resident_bytes = process_resident_bytes(&watching->process);
        watch->resident_bytes = resident_bytes > watch->resident_bytes ? resident_bytes : watch->resident_bytes;
        read_all(watching);
        watch->took_ms = clock_ms() - begin_ms;
        if (is_over(watching, has_ended))
            break;
        if (request->progress && watch->took_ms - told_ms >= PROGRESS_MS) {
            const struct compile_progress progress = {watch->stage, watch->took_ms, resident_bytes};
            request->progress(request->context, &progress);
            told_ms = watch->took_ms;
        }
        process_wait(&watching->process, LOOK_MS);
    }
}

bool compile_watch_run(struct compile_watch *watch, const struct compile_request *request, const struct plugin *plugin,
                       const char *chips, const char *folder, const char *dump, struct err *err)
{
    struct watching watching = {.watch = watch, .request = request, .records = BUF_INIT, .dump = dump};
    char *const arguments[] = {"memviewd", COMPILE_CHILD_COMMAND, plugin->path, (char *)chips, NULL};
    char *mark = memory_format("MEMVIEWD_COMPILE=%s", folder), **environment = environment_new(plugin, mark);
    *watch = (struct compile_watch){.fault_text = BUF_INIT, .version = BUF_INIT, .output = BUF_INIT};
    char *program = compile_program_path();
    bool is_started =
        program ? process_start(&watching.process, program, arguments, environment, folder, PROCESS_REPORTS_APART, err)
                : err_set(err, ERR_notfound, ERR_NO_OFFSET, "memviewd-compile is gone");
    if (is_started) {
        watch_it(&watching);
        watch->wait_status = process_end(&watching.process);
        process_end_marked(mark);
    }
    buf_free(&watching.records);
    environment_free(environment);
    free(program);
    free(mark);
    return is_started;
}

void compile_watch_free(struct compile_watch *watch)
{
    buf_free(&watch->fault_text);
    buf_free(&watch->version);
    buf_free(&watch->output);
}
