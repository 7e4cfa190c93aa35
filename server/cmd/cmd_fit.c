/* SPDX-License-Identifier: Apache-2.0
 * cmd_fit.c: which devices a program, or a job of PyTorch, fits on: what it needs beside what each has. */
#include "server/base/log.h"
#include "server/base/memory.h"
#include "server/base/output.h"
#include "server/cmd/commands.h"
#include "server/cmd/each_module.h"
#include "server/cmd/fit_compile.h"
#include "server/cmd/fit_print.h"
#include "server/cmd/input_path.h"
#include "server/cmd/interrupts.h"
#include "server/gather/dump_beside.h"
#include "server/store/account.h"
#include "server/store/body.h"
#include "server/store/subjects.h"

#include "base/size_text.h"
#include "base/sum.h"

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
    uint64_t own_bytes;                 /* of that device as the dump states it; 0: it does not */
    bool is_least;                      /* a request failed: it needs at least so much */
    const char *own_device;             /* of the table, that it was compiled for; NULL: not known, or split anew */
    char split[32];                     /* "shard=*:8"; "": as it is */
    int64_t needed_bytes;               /* by the plan */
};

static const char *needed_words(const struct candidate *candidate)
{
    if (candidate->is_least)
        return "PyTorch's segments and the request that failed";
    return !candidate->entry ? "PyTorch's segments at their peak" : "by this dump's plan";
}

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

static int64_t cmd_fit_number(const cJSON *object, const char *name)
{
    const cJSON *member = cJSON_GetObjectItemCaseSensitive(object, name);
    return cJSON_IsNumber(member) ? sum_of_real(member->valuedouble) : -1;
}

/* The member "remedy": the first set of changes that makes it fit, by the plan; null where none is found. */
static void remedy_write(struct fitting *fitting, const struct candidate *candidate, uint64_t capacity_bytes,
                         struct json *json)
{
    cJSON *tree = candidate->entry ? whatif_ask(fitting, candidate, capacity_bytes) : NULL;
    const cJSON *sets = cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(tree, "fit"), "sets"), *part;
    const cJSON *set = cJSON_GetArrayItem(sets, 0);
    if (json_key_object_if(json, "remedy", set != NULL)) {
        json_key_array(json, "changes");
        cJSON_ArrayForEach(part, cJSON_GetObjectItemCaseSensitive(set, "changes"))
            json_text(json, cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(part, "change")));
        json_array_end(json);
        json_key_known(json, "total_bytes", cmd_fit_number(set, "total_bytes"));
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

static bool is_of_own(const struct candidate *candidate, const struct analysis_device *device)
{
    return candidate->own_device && strcmp(candidate->own_device, device->name) == 0;
}

/* What the core says of it: the object, as text; cJSON_Delete. */
static cJSON *fit_judge(const struct candidate *candidate, const struct analysis_device *device, int64_t needed_bytes)
{
    struct buf out = BUF_INIT;
    struct json json = JSON_INIT(&out);
    bool is_gpu = strcmp(device->platform, "gpu") == 0, is_own = is_of_own(candidate, device);
    const struct analysis_space_capacity capacity = {
        .bytes = is_own && candidate->own_bytes > 0 ? candidate->own_bytes
                 : device->available_bytes > 0      ? device->available_bytes
                                                    : device->physical_bytes,
        .source = device->title,
        .device = device->name,
        .is_physical = device->available_bytes == 0,
        .is_of_gpu = is_gpu && candidate->entry, /* the share is JAX's */
    };
    json_object_begin(&json);
    analysis_fit_write(&json, "fit", &capacity, (uint64_t)needed_bytes, "Device memory");
    json_object_end(&json);
    cJSON *tree = out.failed ? NULL : cJSON_ParseWithLength(out.data, out.length);
    buf_free(&out);
    return tree;
}

static void row_write(struct fitting *fitting, const struct candidate *candidate, const struct analysis_device *device,
                      struct json *json)
{
    struct fit_compile compile = {.total_bytes = -1};
    bool is_own = is_of_own(candidate, device);
    bool is_asked = fitting->options->is_confirmed && candidate->entry && !candidate->split[0] && !is_own;
    if (is_asked && !atomic_load(interrupts_flag()))
        fit_compile_run(fitting->options, candidate->session, candidate->entry, device, &compile);
    int64_t needed_bytes = compile.is_answered ? compile.total_bytes : candidate->needed_bytes;
    cJSON *judged = fit_judge(candidate, device, needed_bytes);
    const cJSON *fit = cJSON_GetObjectItemCaseSensitive(judged, "fit");
    const char *word = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(fit, "word"));
    int64_t capacity_bytes = cmd_fit_number(fit, "capacity_bytes"), share_bytes = cmd_fit_number(fit, "share_bytes");
    bool is_fitting = word && strcmp(word, "fits") == 0 && !candidate->is_least;
    if (word && strcmp(word, "fits") == 0 && candidate->is_least)
        word = "perhaps";
    json_object_begin(json);
    json_key_text(json, "device", device->name);
    json_key_text(json, "title", device->title);
    json_key_int(json, "needed_bytes", needed_bytes);
    json_key_known(json, "capacity_bytes", capacity_bytes);
    json_key_known(json, "share_bytes", share_bytes);
    json_key_int(json, "headroom_bytes", capacity_bytes - needed_bytes);
    json_key_text(json, "word", word);
    json_key_bool(json, "fits", is_fitting);
    json_key_text(json, "sentence", cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(fit, "sentence")));
    json_key_text(json, "source",
                  compile.is_answered ? "compiled"
                  : is_own            ? "own plan"
                  : candidate->entry  ? "plan"
                                      : "replay");
    compile_write(&compile, is_asked, json);
    if (is_fitting || capacity_bytes < 0)
        json_key_null(json, "remedy");
    else
        remedy_write(fitting, candidate, (uint64_t)(share_bytes > 0 ? share_bytes : capacity_bytes), json);
    json_object_end(json);
    fitting->lacks_room |= !is_fitting;
    fit_compile_free(&compile);
    cJSON_Delete(judged);
}

static const char *note_of(const struct fitting *fitting, const struct candidate *candidate)
{
    if (!candidate->entry)
        return "What PyTorch's segments took of the device that was recorded; another GPU's kernels may need other workspaces.";
    if (candidate->split[0])
        return "By this dump's plan, predicted for the split and not compiled: a bound.";
    if (!fitting->options->is_confirmed)
        return "By this dump's plan, not compiled for these devices: layouts, padding and fusions differ. --confirm compiles it.";
    return "own plan: compiled for this device in the dump. plan: that of the dump's device. Changes are predicted from the dump's plan.";
}

/* False: its figures could not be had. */
static bool candidate_print(struct fitting *fitting, struct candidate *candidate)
{
    struct buf out = BUF_INIT, text = BUF_INIT;
    struct json json = JSON_INIT(&out);
    char size[SIZE_TEXT_BYTES];
    cJSON *plan = whatif_ask(fitting, candidate, 0);
    int64_t failed_bytes = cmd_fit_number(cJSON_GetObjectItemCaseSensitive(plan, "failed_request"), "requested_bytes");
    candidate->needed_bytes = cmd_fit_number(plan, "total_bytes_after");
    candidate->is_least = failed_bytes > 0;
    if (candidate->is_least) /* it was not made: what came after it is not known */
        candidate->needed_bytes = sum_add(candidate->needed_bytes, failed_bytes);
    cJSON_Delete(plan);
    if (candidate->needed_bytes < 0)
        return false;
    json_object_begin(&json);
    json_key_text(&json, "name", candidate->name);
    json_key_text(&json, "kind", candidate->entry ? "module" : "snapshot");
    json_key_int(&json, "needed_bytes", candidate->needed_bytes);
    json_key_bool(&json, "is_least", candidate->is_least);
    json_key_int(&json, "devices", fitting->options->part_count);
    buf_format(&text, "needs %s%s%s (%s).", candidate->is_least ? "at least " : "",
               size_text(size, (uint64_t)candidate->needed_bytes), candidate->split[0] ? " of each device" : "",
               needed_words(candidate));
    json_key_string(&json, "sentence", (struct str){text.data, text.length});
    json_key_text(&json, "note", note_of(fitting, candidate));
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
        text.length = 0;
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
    struct chip chip;
    const char *ending;
    if (fitting->options->part_count > 1)
        snprintf(candidate.split, sizeof(candidate.split), "shard=*:%lld", (long long)fitting->options->part_count);
    else if (entry->file->group && dump_beside_chip(session, entry->file->group, &chip, &ending, NULL))
        candidate.own_device = chip.device->name, candidate.own_bytes = chip.memory_bytes;
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
        log_line(
            "--device: there is no device \"%s\"; names are v5e, v6e, H100-80G, H200, A100-80G, MI300X, … (docs/use/fit.md)",
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
            "fit wants one PATH: an HLO file, a dump, a trace, a snapshot of PyTorch or a folder of them (--help tells more)");
        return COMMANDS_UNUSABLE;
    }
    if (options->part_count < 1 || options->part_count > PART_COUNT_MAX) {
        log_line("--devices=%lld: 1 to %d", (long long)options->part_count, PART_COUNT_MAX);
        return COMMANDS_UNUSABLE;
    }
    if (devices_read(&fitting) && input_path_kind(options->paths.items[0], true) != INPUT_PATH_NONE) {
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
