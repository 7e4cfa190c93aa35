/* SPDX-License-Identifier: Apache-2.0
 * cmd_summary.c: what fills the memory, in a terminal. */
#include "server/base/log.h"
#include "server/cmd/capacity_option.h"
#include "server/cmd/category_rules.h"
#include "server/cmd/commands.h"
#include "server/cmd/each_module.h"
#include "server/cmd/options.h"
#include "server/cmd/summary.h"
#include "server/files/path_kind.h"
#include "server/gather/index.h"
#include "server/store/account.h"
#include "server/store/subjects.h"

#include "base/sum.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct look {
    const struct options *options;
    const struct summary_form *form;
    struct store *store;
    size_t found_count, good_count; /* modules */
    bool is_of_file;                /* the path is that of a file */
    bool is_said;                   /* why there is nothing to print */
    struct unread_files unread;     /* files that could not be read, or end before what is looked for */
    size_t profiles_count;          /* sessions of device profiles */
    struct capacity chosen;         /* of --capacity; 0 bytes: not given */
};

/* The space to list buffers of: the one asked for, else the one with the largest total. */
static int64_t space_to_list(const struct look *look, const cJSON *summary)
{
    const cJSON *first = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(summary, "spaces"), 0);
    const cJSON *space = cJSON_GetObjectItemCaseSensitive(first, "space");
    if (look->options->space != SUMMARY_ALL_SPACES)
        return look->options->space;
    return cJSON_IsNumber(space) ? sum_of_real(space->valuedouble) : SUMMARY_ALL_SPACES;
}

static struct body *ask_buffers(const struct look *look, const struct modules_entry *entry, const cJSON *summary)
{
    char space[24], limit[24];
    struct err err = ERR_INIT;
    int64_t number = space_to_list(look, summary);
    if (number == SUMMARY_ALL_SPACES)
        return NULL;
    snprintf(space, sizeof(space), "%lld", (long long)number);
    snprintf(limit, sizeof(limit), "%d", SUMMARY_BUFFERS);
    const struct analysis_param params[] = {{"space", space}, {"limit", limit}};
    const struct analysis_question question = {
        .tool = "memory_viewer", .view = "buffers", .params = params, .param_count = 2};
    return each_module_ask(look->store, entry, &question, &err);
}

static cJSON *cmd_summary_parse(const struct body *body)
{
    return body ? cJSON_ParseWithLength(body->data, body->size) : NULL;
}

static void look_at(struct look *look, const struct snapshot_session *session, const struct modules_entry *entry)
{
    struct capacity_stated core[CAPACITY_SPACES];
    struct capacity_spaces texts, spaces;
    struct summary_module module = {.session = session, .entry = entry, .err = ERR_INIT};
    struct body *summary = NULL, *buffers = NULL;
    struct capacity capacity;
    look->found_count++;
    capacity_spaces_of_texts(session, &texts);
    capacity_spaces_find(&texts, &look->chosen, session, entry->file->group, entry->file->opened.contents, &spaces);
    if (capacity_of_spaces(&spaces, &capacity))
        module.capacity = &capacity;
    capacity_spaces_core(&spaces, core);
    const struct analysis_question question = {
        .tool = "memory_viewer", .view = "summary", .capacities = core, .capacity_count = spaces.count};
    if (capacity.lost.file[0])
        unread_files_add(&look->unread, capacity.lost.file, &capacity.lost.err);
    if (entry->program)
        summary = each_module_ask(look->store, entry, &question, &module.err);
    else
        module.err = entry->file->err;
    cJSON *summary_json_tree = cmd_summary_parse(summary);
    module.summary = cJSON_GetObjectItemCaseSensitive(summary_json_tree, "data");
    if (module.summary)
        buffers = ask_buffers(look, entry, module.summary);
    cJSON *buffers_tree = cmd_summary_parse(buffers);
    module.buffers = cJSON_GetObjectItemCaseSensitive(buffers_tree, "data");
    module.summary_body = summary;
    module.buffers_body = buffers;
    look->good_count += module.summary != NULL;
    if (!module.summary)
        unread_files_add(&look->unread, entry->file->file->path, &module.err);
    if (module.summary || look->form != &summary_csv)
        look->form->module(&module, look->options->space);
    cJSON_Delete(summary_json_tree);
    cJSON_Delete(buffers_tree);
    body_release(summary);
    body_release(buffers);
}

/* The allocators of a host of a trace, worst first. True: it was reported that the file ends in the middle. */
static bool look_at_host(struct look *look, const struct snapshot_session *session, const struct snapshot_host *host)
{
    struct subject trace = {0};
    struct err err = ERR_INIT;
    const struct subjects_place place = subjects_trace(session, host);
    if (store_has_events(look->store, &host->file->place))
        subjects_open(look->store, &place, &trace, &err);
    struct summary_pool pool = {.session = session, .host = host, .trace = trace.core};
    for (; trace.core && analysis_trace_pool_at(trace.core, pool.at, &pool.figures); pool.at++) {
        look->form->memory(&pool);
        look->good_count++;
    }
    const char *code, *reason;
    bool has_reason = trace.core && pool.at == 0 && analysis_trace_reason(trace.core, &code, &reason);
    bool is_cut = trace.core && analysis_trace_cut(trace.core, &err);
    bool is_without_history = has_reason && strcmp(code, "no_history") == 0;
    if (is_without_history)
        log_line("%s: %s", host->file->path, reason);
    look->is_said |= is_without_history || (is_cut && has_reason);
    subjects_close(&trace);
    if (err_is_set(&err))
        unread_files_add(&look->unread, host->file->path, &err);
    return is_cut;
}

static void look_at_memory(struct look *look, const struct snapshot_session *session, const struct modules *modules)
{
    for (size_t at = 0; at < session->host_count; at++) {
        const struct snapshot_host *host = &session->hosts[at];
        if (look->options->module || !look_at_host(look, session, host))
            unread_files_add_of(&look->unread, modules, host);
    }
}

/* Profiles are only listed. A file given as a path is opened, because it may be unreadable. */
static void look_at_profile(struct look *look, const struct snapshot_session *session)
{
    struct subject profile = {0};
    struct err err = ERR_INIT;
    const struct snapshot_file *file = session->profiles[0].file;
    const struct subjects_place place = {.kind = ANALYSIS_PROFILE, .file = &file->place};
    if (!subjects_open(look->store, &place, &profile, &err))
        unread_files_add(&look->unread, file->path, &err);
    subjects_close(&profile);
}

static void look_into(struct look *look, const struct snapshot_session *session)
{
    struct modules modules;
    look->profiles_count += session->kind == SNAPSHOT_PROFILES;
    if (look->is_of_file && session->kind == SNAPSHOT_PROFILES && session->profile_count == 1)
        look_at_profile(look, session);
    modules_open(look->store, session, NULL, &modules);
    modules_read_totals(look->store, &modules);
    modules_sort(&modules);
    if (look->form->session)
        look->form->session(look->store, session, modules.entry_count);
    look_at_memory(look, session, &modules);
    if (look->form->memory_end)
        look->form->memory_end();
    for (size_t at = 0; at < modules.entry_count; at++) {
        if (modules_is_named(&modules.entries[at], look->options->module))
            look_at(look, session, &modules.entries[at]);
    }
    if (look->form->session_end)
        look->form->session_end();
    modules_close(&modules);
}

/* Nothing but device profiles: they are listed, but in a table of modules. */
static bool is_of_profiles(const struct look *look, size_t session_count)
{
    return session_count > 0 && look->profiles_count == session_count && look->form != &summary_csv &&
           !look->options->module;
}

static int look_around(struct look *look, const char *path)
{
    look->is_of_file = path_kind_is_file(path_kind_of(path, false));
    struct index *index = index_new();
    index_add(index, path);
    index_scan_once_with_texts(index, true);
    struct snapshot *snapshot = index_hold(index);
    size_t session_count = snapshot->session_count;
    if (look->form->begin)
        look->form->begin();
    for (size_t at = 0; at < session_count; at++)
        look_into(look, snapshot->sessions[at]);
    bool has_unread_session = look->unread.count > 0;
    unread_files_add_problems(&look->unread, snapshot);
    if (look->form->end)
        look->form->end(&look->unread);
    bool is_listed = true;
    for (size_t at = 0; at < snapshot->root_count; at++)
        is_listed &= snapshot->roots[at].is_readable;
    index_release(index, snapshot);
    index_free(index);
    bool is_unread_file = look->unread.count > 0 && look->is_of_file;
    if (look->good_count > 0)
        return COMMANDS_DONE;
    if (look->found_count > 0 || !is_listed || is_unread_file)
        return COMMANDS_UNUSABLE;
    if (session_count == 0 && look->unread.count == 0)
        log_line("%s: contains no profile: no .xplane.pb, .hlo.pb or XLA dump", path);
    else if (is_of_profiles(look, session_count))
        return COMMANDS_DONE;
    else if (session_count > 0 && look->profiles_count == session_count)
        log_line("%s: device profiles (pprof), not compiled programs: memviewd top prints what holds the memory", path);
    else if (session_count > 0 && !look->is_said && (look->options->module || look->unread.count == 0))
        log_line(look->options->module ? "%s: has no module with that name" : "%s: has no HLO module", path);
    bool is_unusable = has_unread_session || (session_count == 0 && look->unread.count > 0) ||
                       (look->options->module && session_count > 0);
    return is_unusable ? COMMANDS_UNUSABLE : COMMANDS_FINDING;
}

/* Why the options cannot be followed, or NULL. */
static const char *fault_of(const struct options *options)
{
    if (options->paths.count != 1)
        return "summary wants one PATH: a trace, an HLO file or a folder of them (--help tells more)";
    if (options->is_json && options->is_csv)
        return "--json and --csv exclude each other";
    return NULL;
}

int cmd_summary(const struct options *options)
{
    const char *fault = fault_of(options);
    if (fault) {
        log_line("%s", fault);
        return COMMANDS_UNUSABLE;
    }
    if (path_kind_of(options->paths.items[0], true) == PATH_KIND_NONE)
        return COMMANDS_UNUSABLE;
    char *rules = NULL;
    if (!category_rules_load(options->category_rules, &rules))
        return COMMANDS_UNUSABLE;
    struct look look = {.options = options};
    if (options->capacity && !capacity_option_read("capacity", options->capacity, &look.chosen)) {
        free(rules);
        return COMMANDS_UNUSABLE;
    }
    look.store = store_new(account_default_limit());
    look.form = options->is_json ? &summary_json : options->is_csv ? &summary_csv : &summary_text;
    store_set_category_rules(look.store, rules);
    int result = look_around(&look, options->paths.items[0]);
    unread_files_free(&look.unread);
    store_free(look.store);
    free(rules);
    return result;
}
