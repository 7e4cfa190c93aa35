/* SPDX-License-Identifier: Apache-2.0
 * cmd_fit.c: which devices a program, or a job of PyTorch, fits on: what it needs beside what each has. */
#include "server/base/log.h"
#include "server/base/memory.h"
#include "server/base/output.h"
#include "server/cmd/commands.h"
#include "server/cmd/each_module.h"
#include "server/cmd/fit_compile.h"
#include "server/cmd/fit_print.h"
#include "server/cmd/interrupts.h"
#include "server/files/path_kind.h"
#include "server/gather/dump_beside.h"
#include "server/store/account.h"
#include "server/store/body.h"
#include "server/store/subjects.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PART_COUNT_MAX = 65536 };

struct fitting {
    struct store *store;
    const struct options *options;
    struct analysis_device *devices;
    size_t device_count;
    struct unread_files unread;
    size_t program_count;
    bool lacks_room; /* somewhere it does not fit */
};

/* One program or snapshot. */
struct candidate {
    const struct snapshot_session *session;
    const struct modules_entry *entry;  /* NULL: a snapshot of PyTorch */
    const struct subjects_place *place; /* of either */
    const char *memory;                 /* of a snapshot, "GPU 0" */
    const char *name;                   /* as printed */
    char split[32];                     /* "shard=*:8"; "": as it is */
    struct device_fit_job job;
};

/* ---- questions to the view whatif ---- */

/* Its answer; with `capacity_bytes` above 0 what would make it fit. NULL: it could not be asked. cJSON_Delete */
static cJSON *whatif_ask(struct fitting *fitting, const struct candidate *candidate, uint64_t capacity_bytes)
{
    char bytes[24];
    struct err err = ERR_INIT;
    struct analysis_param params[5];
    size_t count = 0;
    params[count++] = (struct analysis_param){"format", "json"};
    if (!candidate->entry)
        params[count++] = (struct analysis_param){"memory", candidate->memory};
    if (candidate->split[0])
        params[count++] = (struct analysis_param){"change", candidate->split};
    if (capacity_bytes > 0) {
        snprintf(bytes, sizeof(bytes), "%llu", (unsigned long long)capacity_bytes);
        params[count++] = (struct analysis_param){"capacity_bytes", bytes};
        params[count++] = (struct analysis_param){"fit", "1"};
    }
    const struct analysis_question question = {.tool = candidate->entry ? "memory_viewer" : "memory_profile",
                                               .view = "whatif",
                                               .params = params,
                                               .param_count = count,
                                               .is_bare = true};
    struct body *body = subjects_answer(fitting->store, candidate->place, NULL, &question, &err, NULL);
    if (!body && capacity_bytes == 0)
        candidate->entry ? unread_files_add_module(&fitting->unread, candidate->entry, &err)
                         : unread_files_add(&fitting->unread, candidate->name, &err);
    cJSON *tree = body ? cJSON_ParseWithLength(body->data, body->size) : NULL;
    body_release(body);
    return tree;
}

/* The member "remedy": the first set of changes that makes it fit, by the plan; null where none is found, or none is
 * asked for. */
static void remedy_write(struct fitting *fitting, const struct candidate *candidate, int64_t room_bytes,
                         struct json *json)
{
    cJSON *tree = room_bytes > 0 ? whatif_ask(fitting, candidate, (uint64_t)room_bytes) : NULL;
    const cJSON *sets = cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(tree, "fit"), "sets"), *part;
    const cJSON *set = cJSON_GetArrayItem(sets, 0);
    if (json_key_object_if(json, "remedy", set != NULL)) {
        json_key_array(json, "changes");
        cJSON_ArrayForEach(part, cJSON_GetObjectItemCaseSensitive(set, "changes"))
            json_text(json, cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(part, "change")));
        json_array_end(json);
        json_key_known(json, "total_bytes", fit_print_number(set, "total_bytes"));
        json_key_text(json, "confidence", cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(set, "confidence")));
        json_object_end(json);
    }
    cJSON_Delete(tree);
}

/* ---- rows ---- */

static void compile_write(const struct fit_compile *compile, bool was_asked, struct json *json)
{
    if (!json_key_object_if(json, "compile", was_asked))
        return;
    json_key_text(json, "sentence", compile->sentence);
    json_key_text(json, "compiler", compile->compiler);
    json_key_text(json, "compiler_version", compile->version);
    json_key_int(json, "took_ms", compile->took_ms);
    json_object_end(json);
}

static void row_write(struct fitting *fitting, const struct candidate *candidate, const struct analysis_device *device,
                      struct json *json)
{
    struct fit_compile compile = {.total_bytes = -1};
    bool is_asked = candidate->job.is_confirmed && analysis_device_fit_may_compile(&candidate->job, device->name);
    if (is_asked && !atomic_load(interrupts_flag()))
        fit_compile_run(fitting->options, candidate->session, candidate->entry, device, &compile);
    json_object_begin(json);
    const struct analysis_device_fit fit = analysis_device_fit_write_row(
        json, &candidate->job, device->name, compile.is_answered ? compile.total_bytes : -1);
    compile_write(&compile, is_asked, json);
    remedy_write(fitting, candidate, fit.room_bytes, json);
    json_object_end(json);
    fitting->lacks_room |= !fit.is_fitting;
    fit_compile_free(&compile);
}

/* False: its figures could not be had. */
static bool candidate_measure(struct fitting *fitting, struct candidate *candidate)
{
    cJSON *plan = whatif_ask(fitting, candidate, 0);
    const cJSON *failed = cJSON_GetObjectItemCaseSensitive(plan, "failed_request");
    candidate->job.is_program = candidate->entry != NULL;
    candidate->job.part_count = fitting->options->part_count;
    candidate->job.is_confirmed = fitting->options->is_confirmed;
    candidate->job.total_bytes = fit_print_number(plan, "total_bytes_after");
    candidate->job.failed_bytes = fit_print_number(failed, "requested_bytes");
    cJSON_Delete(plan);
    return candidate->job.total_bytes >= 0;
}

/* False: its figures could not be had. */
static bool candidate_print(struct fitting *fitting, struct candidate *candidate)
{
    struct buf out = BUF_INIT, text = BUF_INIT;
    struct json json = JSON_INIT(&out);
    if (!candidate_measure(fitting, candidate))
        return false;
    json_object_begin(&json);
    json_key_text(&json, "name", candidate->name);
    analysis_device_fit_write_needs(&json, &candidate->job);
    json_key_array(&json, "rows");
    for (size_t at = 0; at < fitting->device_count; at++)
        row_write(fitting, candidate, &fitting->devices[at], &json);
    json_array_end(&json);
    json_object_end(&json);
    if (fitting->program_count++ > 0)
        fputs(fitting->options->is_json ? ",\n" : "\n", stdout);
    if (fitting->options->is_json) {
        output_answer(out.data, out.length, true);
    } else {
        cJSON *tree = cJSON_ParseWithLength(out.data, out.length);
        fit_print(tree, &text);
        output_answer(text.data, text.length, false);
        cJSON_Delete(tree);
    }
    buf_free(&out);
    buf_free(&text);
    return true;
}

/* ---- what lies at the path ---- */

static bool fit_module(void *context, const struct snapshot_session *session, const struct modules_entry *entry)
{
    struct fitting *fitting = context;
    const struct subjects_place place = {
        .kind = ANALYSIS_MODULE, .opened = &entry->file->opened, .program = entry->program};
    struct candidate candidate = {.session = session, .entry = entry, .place = &place, .name = entry->program->name};
    struct analysis_chip chip;
    const char *ending;
    if (fitting->options->part_count > 1)
        snprintf(candidate.split, sizeof(candidate.split), "shard=*:%lld", (long long)fitting->options->part_count);
    else if (entry->file->group && dump_beside_chip(session, entry->file->group, &chip, &ending, NULL))
        candidate.job.own_device = chip.device.name, candidate.job.own_bytes = chip.memory_bytes;
    return candidate_print(fitting, &candidate);
}

static bool fit_snapshot(struct fitting *fitting, const struct snapshot_session *session,
                         const struct snapshot_host *host)
{
    struct subject trace = {0};
    struct err err = ERR_INIT;
    const struct subjects_place place = subjects_trace(session, host);
    struct analysis_trace_pool pool;
    bool is_printed = false, is_open = subjects_open(fitting->store, &place, &trace, &err);
    for (size_t at = 0; is_open && analysis_trace_pool_at(trace.core, at, &pool); at++) {
        char *name = memory_format("%s, %s", host->file->path, pool.name);
        struct candidate candidate = {.session = session, .place = &place, .memory = pool.name, .name = name};
        is_printed |= candidate_print(fitting, &candidate);
        free(name);
    }
    if (err_is_set(&err))
        unread_files_add(&fitting->unread, host->file->path, &err);
    subjects_close(&trace);
    return is_printed;
}

static int fit_place(struct fitting *fitting, const char *path)
{
    struct each_module_place place;
    size_t snapshot_count = 0;
    int result = COMMANDS_DONE;
    each_module_place_open(&place, path);
    for (size_t at = 0; !fitting->options->module && at < place.snapshot->session_count; at++) {
        const struct snapshot_session *session = place.snapshot->sessions[at];
        for (size_t i = 0; i < session->host_count; i++)
            if (session->hosts[i].is_allocator)
                snapshot_count += fit_snapshot(fitting, session, &session->hosts[i]);
    }
    if (snapshot_count == 0)
        result =
            each_module_at(fitting->store, &place, fitting->options->module, fit_module, fitting, &fitting->unread);
    each_module_place_close(&place);
    return result == COMMANDS_DONE && fitting->lacks_room ? COMMANDS_FINDING : result;
}

/* ---- devices ---- */

static bool device_add(struct fitting *fitting, const char *name)
{
    struct analysis_device device;
    if (!analysis_device_find(name, &device)) {
        log_line("--device: there is no device \"%s\"; names are v5e, v6e, H100-80G, H200, A100-80G, MI300X, … "
                 "(docs/use/fit.md)",
                 name);
        return false;
    }
    for (size_t at = 0; at < fitting->device_count; at++)
        if (strcmp(fitting->devices[at].name, device.name) == 0)
            return true;
    fitting->devices[fitting->device_count++] = device;
    return true;
}

static bool devices_read(struct fitting *fitting)
{
    struct analysis_device device;
    size_t count = 0;
    bool is_good = true;
    while (analysis_device_at(count, &device))
        count++;
    fitting->devices = memory_new((count + 1) * sizeof(*fitting->devices));
    for (size_t at = 0; at < fitting->options->device_names.count; at++) {
        char *names = memory_text(fitting->options->device_names.items[at]), *rest = names, *name;
        while (is_good && (name = strsep(&rest, ",")) != NULL)
            is_good = name[0] == '\0' || device_add(fitting, name);
        free(names);
    }
    if (is_good && fitting->device_count == 0)
        log_line("fit wants --device=NAME,…: v5e,v6e,h100,h200,a100-80g (--help tells more)");
    return is_good && fitting->device_count > 0;
}

int cmd_fit(const struct options *options)
{
    struct fitting fitting = {.options = options};
    int result = COMMANDS_UNUSABLE;
    if (options->paths.count != 1) {
        log_line(
            "fit wants one PATH: an HLO file, a dump, a trace, a snapshot of PyTorch or a folder of them (--help tells "
            "more)");
        return COMMANDS_UNUSABLE;
    }
    if (options->part_count < 1 || options->part_count > PART_COUNT_MAX) {
        log_line("--devices=%lld: 1 to %d", (long long)options->part_count, PART_COUNT_MAX);
        return COMMANDS_UNUSABLE;
    }
    if (devices_read(&fitting) && path_kind_of(options->paths.items[0], true) != PATH_KIND_NONE) {
        if (options->is_confirmed)
            interrupts_take();
        fitting.store = store_new(account_default_limit());
        fputs(options->is_json ? "{\"programs\":[" : "", stdout);
        result = fit_place(&fitting, options->paths.items[0]);
        unread_files_print_end(&fitting.unread, options->is_json);
        store_free(fitting.store);
    }
    unread_files_free(&fitting.unread);
    free(fitting.devices);
    interrupts_end();
    return result;
}
