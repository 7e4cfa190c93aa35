/* SPDX-License-Identifier: Apache-2.0
 * cmd_explain.c: what happened, where the memory went and what will make it fit, in a terminal or as JSON: of a log,
 * a dump, a trace, device profiles, or a folder of them. */
#include "server/base/log.h"
#include "server/base/memory.h"
#include "server/base/output.h"
#include "server/cmd/capacity_option.h"
#include "server/cmd/category_rules.h"
#include "server/cmd/commands.h"
#include "server/cmd/each_module.h"
#include "server/cmd/explain.h"
#include "server/cmd/explain_confirm.h"
#include "server/cmd/explain_patch.h"
#include "server/cmd/interrupts.h"
#include "server/cmd/options.h"
#include "server/files/names.h"
#include "server/gather/index.h"
#include "server/store/account.h"
#include "server/store/verdict_capacity.h"
#include "server/store/verdict_near.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEEPEST = 32 };

struct cmd_explain_explaining {
    const struct options *options;
    bool is_json;
    bool has_names;   /* several logs: each failure says where it is from */
    struct json json; /* of --json: the array of all failures, and of what has none */
    struct store *store;
    struct around around;
    struct capacity capacity; /* of --capacity; 0 bytes: not given */
    struct explain_confirm confirm;
    struct explain_patch patch;
    size_t read_count;
    size_t unreadable_count;
    const struct around_input *input;          /* that is explained */
    bool has_unread_file;                      /* a file given as a path could not be read, or not all of it */
    size_t module_count;                       /* of the sessions, whether --module names them or not */
    size_t understood_count;                   /* with failures, reports of memory, or tries that were given up */
    const struct snapshot_session **explained; /* those that failures were joined with */
    size_t explained_count, explained_capacity;
    struct around_input **given; /* allocator snapshots among the paths: first of all of the logs' failures */
    size_t given_count;
};

/* While a compiler was asked: then what is made by now is printed, and nothing more begun. */
static bool is_interrupted(void) { return atomic_load(interrupts_flag()); }

/* Not a folder, nor what comes out of a pipe. */
static bool is_of_file(const struct cmd_explain_explaining *explaining)
{
    return path_kind_is_file(explaining->input->place);
}

static void explained_add(struct cmd_explain_explaining *explaining, const struct snapshot_session *session)
{
    explaining->explained = memory_grow(explaining->explained, &explaining->explained_capacity,
                                        explaining->explained_count + 1, sizeof(*explaining->explained));
    explaining->explained[explaining->explained_count++] = session;
}

static bool is_explained(const struct cmd_explain_explaining *explaining, const struct snapshot_session *session)
{
    for (size_t at = 0; at < explaining->explained_count; at++)
        if (explaining->explained[at] == session)
            return true;
    return false;
}

/* A plan says all of its failure: the device profiles that a run saved beside it are no further answer. */
static void profiles_beside_add(struct cmd_explain_explaining *explaining, const struct snapshot_session *session)
{
    const struct snapshot *snapshot = explaining->around.snapshot;
    for (size_t at = 0; at < snapshot->session_count; at++) {
        const struct snapshot_session *other = snapshot->sessions[at];
        if (other->kind == SNAPSHOT_PROFILES && strcmp(other->name, session->name) == 0)
            explained_add(explaining, other);
    }
}

/* A snapshot that a failure was joined with is not explained again by itself. */
static void snapshot_used(struct cmd_explain_explaining *explaining, const struct snapshot_session *session,
                          const struct snapshot_host *host)
{
    char *real = around_real(&host->file->place);
    explained_add(explaining, session);
    for (size_t at = 0; real && at < explaining->given_count; at++) {
        char *other = path_kind_real(explaining->given[at]->path);
        explaining->given[at]->is_used |= other && strcmp(other, real) == 0;
        free(other);
    }
    free(real);
}

/* `file` NULL: the error is of none. With --json an element of the list says it, too; `session` and `module` may be
 * NULL. */
static void unread_say(struct cmd_explain_explaining *explaining, const char *session, const char *module,
                       const char *file, const struct err *err)
{
    struct json *json = &explaining->json;
    char why[ERR_DESCRIPTION_SIZE];
    log_line("%s%s%s%s%s", file ? file : "", file ? ": " : "", module ? module : "", module ? ": " : "",
             err_describe(err, why));
    explaining->unreadable_count++;
    explaining->has_unread_file |= is_of_file(explaining);
    if (!explaining->is_json)
        return;
    json_object_begin(json);
    json_key_text(json, "session", session);
    json_key_text(json, "module", module);
    json_key_object(json, "error");
    json_keys_of_err(json, file, err);
    json_object_end(json);
    json_object_end(json);
}

/* Could nothing of the file be read that was named, and not only of what lies beside it? A trace that ends in the
 * middle is read to there. */
static bool has_lost(const struct cmd_explain_explaining *explaining, const struct verdict_parts *parts)
{
    bool is_lost = false;
    for (size_t at = 0; at < parts->unread_count; at++)
        is_lost |= strcmp(path_kind_name(parts->unread[at].file), path_kind_name(explaining->input->path)) == 0 &&
                   !(parts->core.trace && parts->unread[at].why.code == ERR_truncated);
    return is_lost;
}

/* Writes the verdict of `wanted` into `out`. False: the reason is in `err`, its file in `*file` (free(); NULL:
 * none). */
static bool verdict_write(struct cmd_explain_explaining *explaining, const struct verdict_parts_wanted *wanted,
                          struct buf *out, char **file, struct err *err)
{
    struct verdict_parts parts = {0};
    bool is_made = verdict_parts_open(explaining->store, wanted, &parts, err);
    if (explaining->capacity.bytes > 0)
        verdict_capacity_choose(&parts, &explaining->capacity);
    parts.core.around.sources = explain_patch_sources(&explaining->patch);
    if (is_made && explaining->options->is_confirmed)
        explain_confirm_ask(explaining->options, &parts, &explaining->confirm);
    is_made =
        is_made &&
        analysis_verdict(&parts.core, explaining->is_json ? ANALYSIS_VERDICT_JSON : ANALYSIS_VERDICT_TEXT, out, err);
    *file = !is_made && parts.refused_file ? memory_text(parts.refused_file) : NULL;
    explaining->has_unread_file |= is_of_file(explaining) && !wanted->failure && has_lost(explaining, &parts);
    bool is_of_plan = wanted->failure && analysis_verdict_is_of_plan(wanted->failure);
    if (wanted->session && (is_of_plan || (wanted->failure && wanted->session->group_count == 0)))
        explained_add(explaining, wanted->session);
    if (wanted->session && is_of_plan)
        profiles_beside_add(explaining, wanted->session);
    if (is_made && wanted->failure && parts.trace_host)
        snapshot_used(explaining, parts.trace_session, parts.trace_host);
    if (wanted->failure && parts.module_session)
        explained_add(explaining, parts.module_session);
    if (wanted->failure && parts.profile_session &&
        analysis_verdict_is_of_live_arrays(wanted->failure, parts.entry != NULL))
        explained_add(explaining, parts.profile_session);
    verdict_parts_close(&parts);
    return is_made;
}

/* The folder of a log, without links; NULL when it is gone. free() */
static char *folder_of(const char *path)
{
    char *real = path_kind_real(path), *slash = real ? strrchr(real, '/') : NULL;
    if (slash)
        *slash = '\0';
    return real;
}

/* A log: on disk, or in an archive. */
struct cmd_explain_log {
    const char *path;                       /* as it is shown */
    const struct files_place *member;       /* of one in an archive; else NULL */
    const struct snapshot_session *session; /* of the same, that it belongs to; NULL: none of programs */
    bool is_named;                          /* the user meant this one */
};

static void failures_write(struct cmd_explain_explaining *explaining, const struct cmd_explain_log *log,
                           const struct oom_report *report)
{
    const char *path = log->path;
    char *folder = log->member ? verdict_near_folder(log->member) : folder_of(path);
    size_t count = analysis_oom_count(report);
    const char *file = explaining->has_names ? path : NULL;
    struct buf *answers = memory_new((count + 1) * sizeof(*answers));
    struct verdict_parts_wanted wanted = {.snapshot = explaining->around.snapshot,
                                          .session =
                                              log->member ? log->session : around_session(&explaining->around, path),
                                          .text = path_kind_name(path),
                                          .takes_given = explaining->around.has_given,
                                          .folder = folder};
    for (size_t at = 0; at < count && !is_interrupted(); at++) {
        struct err err = ERR_INIT;
        char *unread, why[ERR_DESCRIPTION_SIZE];
        wanted.failure = analysis_oom_at(report, at);
        bool is_made = verdict_write(explaining, &wanted, &answers[at], &unread, &err);
        if (!is_made)
            log_line("%s%s%s", unread ? unread : "", unread ? ": " : "", err_describe(&err, why));
        free(unread);
        if (explaining->is_json)
            analysis_oom_write_failure(wanted.failure, file, is_made ? &answers[at] : NULL, &explaining->json);
    }
    if (!explaining->is_json && (log->is_named || count > 0))
        explain_text(path, report, answers);
    for (size_t at = 0; at < count; at++)
        buf_free(&answers[at]);
    free(answers);
    free(folder);
}

static void log_explain(struct cmd_explain_explaining *explaining, const struct cmd_explain_log *log)
{
    struct err err = ERR_INIT;
    struct stat status;
    const char *path = log->path;
    bool is_empty = log->is_named && !log->member && strcmp(path, "-") != 0 && stat(path, &status) == 0 &&
                    S_ISREG(status.st_mode) && status.st_size == 0,
         had_unread = explaining->has_unread_file;
    struct analysis_subject *text = is_empty      ? NULL
                                    : log->member ? explain_read_file(log->member, &err)
                                                  : explain_read(path, &err);
    if (is_empty)
        err_empty(&err);
    if (!text) {
        unread_say(explaining, NULL, NULL, path, &err);
        if (is_empty) /* as that of a process that had nothing to say, beside others */
            explaining->has_unread_file = had_unread;
        return;
    }
    const struct oom_report *report = analysis_text_report(text);
    explaining->read_count++;
    explaining->understood_count += analysis_oom_is_recognised(report);
    failures_write(explaining, log, report);
    analysis_subject_free(text);
}

static void explain_log(struct cmd_explain_explaining *explaining, const char *path, bool is_named)
{
    const struct cmd_explain_log log = {.path = path, .is_named = is_named};
    log_explain(explaining, &log);
}

/* The logs in archives, which no walk of folders meets; where one is named, that one. False: there is none. */
static bool members_explain(struct cmd_explain_explaining *explaining)
{
    const struct snapshot *snapshot = explaining->around.snapshot;
    const char *wanted = explaining->around.inside;
    bool is_any = false;
    for (size_t at = 0; at < snapshot->session_count; at++) {
        const struct snapshot_session *session = snapshot->sessions[at];
        for (size_t i = 0; i < session->text_count && !(wanted && is_any) && !is_interrupted(); i++) {
            const struct snapshot_file *file = session->texts[i].file;
            const struct cmd_explain_log log = {.path = file->path,
                                                .member = &file->place,
                                                .session = session->group_count > 0 ? session : NULL,
                                                .is_named = wanted != NULL};
            if (!file->place.member || (wanted && strcmp(wanted, file->place.path) != 0))
                continue;
            log_explain(explaining, &log);
            is_any = true;
        }
    }
    return is_any;
}

static void explain_listed(void *context, const char *path)
{
    if (around_is_log_name(path) && !strstr(path, "/.") && !is_interrupted())
        explain_log(context, path, false);
}

static void explain_folder(struct cmd_explain_explaining *explaining, const char *path, int depth)
{
    if (remote_address_is(path)) {
        path_kind_each_file(path, explain_listed, explaining);
        return;
    }
    struct dirent **names = NULL;
    int count = depth < DEEPEST ? scandir(path, &names, NULL, alphasort) : 0;
    if (count < 0) {
        log_line("%s: cannot be listed: %s", path, strerror(errno));
        explaining->unreadable_count++;
    }
    for (int at = 0; at < count; at++) {
        struct stat status;
        char *inner = memory_format("%s/%s", path, names[at]->d_name);
        bool is_there = names[at]->d_name[0] != '.' && lstat(inner, &status) == 0;
        if (is_there && S_ISDIR(status.st_mode))
            explain_folder(explaining, inner, depth + 1);
        else if (is_there && S_ISREG(status.st_mode) && around_is_log_name(inner) && !is_interrupted())
            explain_log(explaining, inner, false);
        free(inner);
        free(names[at]);
    }
    free(names);
}

/* ---- what has no failure: programs, traces, profiles ---------------------------- */

/* False: it could not be read, and was said. */
static bool element_write(struct cmd_explain_explaining *explaining, struct hosts_told *hosts, const char *module_id,
                          const char *name)
{
    struct buf out = BUF_INIT;
    const struct snapshot_session *session = hosts->session;
    const struct verdict_parts_wanted wanted = {
        .snapshot = explaining->around.snapshot, .session = session, .module_id = module_id};
    struct json *json = &explaining->json;
    struct err err = ERR_INIT;
    char *unread;
    bool is_made = verdict_write(explaining, &wanted, &out, &unread, &err);
    if (!is_made) {
        unread_say(explaining, session->name, name, unread, &err);
    } else if (explaining->is_json) {
        json_object_begin(json);
        json_key_text(json, "session", session->name);
        json_key_text(json, "module", name);
        hosts_told_write(hosts, json);
        json_key(json, "answer");
        json_written(json, (struct str){out.data, out.length});
        json_object_end(json);
    } else {
        char session_name[512];
        log_escape(session_name, sizeof(session_name), session->name);
        output_format("%s%s\n", explaining->understood_count > 0 ? "\n" : "", session_name);
        hosts_told_print(hosts, "Hosts: ", true);
        output_text(out.data, out.length);
    }
    explaining->understood_count += is_made;
    buf_free(&out);
    free(unread);
    return is_made;
}

/* Reports files and programs that could not be explained; the first `tried_count` programs were reported already. */
static void lost_say(struct cmd_explain_explaining *explaining, const struct snapshot_session *session,
                     const struct modules *modules, size_t tried_count)
{
    for (size_t at = 0; at < modules->entry_count; at++) {
        const struct modules_entry *entry = &modules->entries[at];
        const struct err *err = &entry->file->err;
        if (entry->program && (at < tried_count || modules_totals(entry, &err) || err->code == ERR_notfound))
            continue; /* one without a buffer assignment has no sums */
        unread_say(explaining, session->name, entry->program ? entry->program->key : NULL, entry->file->file->path,
                   err);
    }
}

/* For a dump or trace explains each module that --module names, else only the largest; for others all there is. */
static void session_explain(struct cmd_explain_explaining *explaining, const struct snapshot_session *session)
{
    const char *wanted = explaining->options->module;
    struct modules modules;
    struct hosts_told hosts = {.store = explaining->store, .session = session};
    if (session->kind == SNAPSHOT_PROFILES || session->kind == SNAPSHOT_TEXT) {
        if (!wanted && session->profile_count > 0)
            element_write(explaining, &hosts, NULL, NULL);
        return;
    }
    modules_open(explaining->store, session, NULL, &modules);
    modules_read_totals(explaining->store, &modules);
    modules_sort(&modules);
    explaining->module_count += modules.entry_count;
    bool is_done = false;
    size_t tried_count = 0;
    for (size_t at = 0; at < modules.entry_count && (wanted || !is_done) && !is_interrupted(); at++)
        if (modules.entries[at].program && modules_is_named(&modules.entries[at], wanted)) {
            tried_count = at + 1;
            is_done |= element_write(explaining, &hosts, modules.entries[at].id, modules.entries[at].program->key);
        }
    if (tried_count == 0 && !wanted)
        element_write(explaining, &hosts, NULL, NULL);
    if (is_done && !wanted)
        lost_say(explaining, session, &modules, tried_count);
    hosts_told_free(&hosts);
    modules_close(&modules);
}

/* Files that no session shows. */
static void problems_say(struct cmd_explain_explaining *explaining)
{
    const struct snapshot *snapshot = explaining->around.snapshot;
    for (size_t at = 0; at < snapshot->problem_count; at++) {
        const struct snapshot_problem *problem = &snapshot->problems[at];
        if (!problem->session)
            unread_say(explaining, NULL, NULL, problem->file[0] ? problem->file : snapshot->roots[0].path,
                       &problem->why);
    }
}

static void input_explain(struct cmd_explain_explaining *explaining, const struct around_input *input)
{
    explaining->input = input;
    around_open(&explaining->around, input, explaining->given, explaining->given_count);
    const struct snapshot *snapshot = explaining->around.snapshot;
    if (input->place == PATH_KIND_FOLDER)
        explain_folder(explaining, input->path, 0);
    else if (input->is_log)
        explain_log(explaining, input->path, true);
    bool is_done = input->is_log || (members_explain(explaining) && input->is_member_log);
    for (size_t at = 0; at < snapshot->session_count && !is_done && !input->is_member_log && !is_interrupted(); at++)
        if (!is_explained(explaining, snapshot->sessions[at]))
            session_explain(explaining, snapshot->sessions[at]);
    if (!is_done)
        problems_say(explaining);
    around_close(&explaining->around);
    explaining->explained_count = 0;
}

/* Snapshots come last: a log may be joined with one that is named behind or before it. */
static void explain_all(struct cmd_explain_explaining *explaining, const char *const *paths, size_t count)
{
    struct around_input *inputs = memory_new((count + 1) * sizeof(*inputs));
    explaining->given = memory_new((count + 1) * sizeof(*explaining->given));
    for (size_t at = 0; at < count; at++) {
        around_input_look(paths[at], &inputs[at]);
        if (count > 1 && inputs[at].kind == ANALYSIS_KIND_TORCH_SNAPSHOT)
            explaining->given[explaining->given_count++] = &inputs[at];
    }
    explaining->has_names = count > 1 || inputs[0].place == PATH_KIND_FOLDER || inputs[0].kind == ANALYSIS_KIND_ARCHIVE;
    for (size_t at = 0, next = 0; at < count && !is_interrupted(); at++) {
        if (next < explaining->given_count && &inputs[at] == explaining->given[next])
            next++;
        else
            input_explain(explaining, &inputs[at]);
    }
    for (size_t at = 0; at < explaining->given_count && !is_interrupted(); at++)
        if (!explaining->given[at]->is_used)
            input_explain(explaining, explaining->given[at]);
    free(explaining->given);
    free(inputs);
}

int cmd_explain(const struct options *options)
{
    struct buf all = BUF_INIT;
    struct cmd_explain_explaining explaining = {
        .options = options, .is_json = options->is_json || options->is_patch, .json = JSON_INIT(&all)};
    const char *standard_input = "-";
    char *rules = NULL;
    size_t count = options->paths.count > 0 ? options->paths.count : 1;
    const char *const *paths = options->paths.count > 0 ? options->paths.items : &standard_input;
    if (options->paths.count == 0 && isatty(STDIN_FILENO)) {
        log_line("explain: name a log, a dump, a trace or a folder, or pipe a log into it");
        return COMMANDS_UNUSABLE;
    }
    if ((options->capacity && !capacity_option_read("capacity", options->capacity, &explaining.capacity)) ||
        !explain_patch_open(&explaining.patch, options) || !category_rules_load(options->category_rules, &rules)) {
        explain_patch_free(&explaining.patch);
        return COMMANDS_UNUSABLE;
    }
    explaining.store = store_new(account_default_limit());
    store_set_category_rules(explaining.store, rules);
    json_array_begin(&explaining.json);
    explain_all(&explaining, paths, count);
    json_array_end(&explaining.json);
    store_free(explaining.store);
    free(rules);
    free(explaining.explained);
    bool is_confirmed = !explaining.confirm.has_unconfirmed;
    explain_confirm_free(&explaining.confirm);
    explain_patch_free(&explaining.patch);
    bool is_patched = !options->is_patch || explain_patch_print(options, &all);
    bool is_whole = !explaining.is_json || (options->is_patch && !options->is_json) || explain_print_json(&all);
    buf_free(&all);
    interrupts_end();
    if (!is_whole || explaining.has_unread_file)
        return COMMANDS_UNUSABLE;
    if (explaining.understood_count > 0)
        return is_patched && is_confirmed ? COMMANDS_DONE : COMMANDS_FINDING;
    if (explaining.unreadable_count > 0)
        return COMMANDS_UNUSABLE;
    if (options->module && explaining.module_count > 0) {
        log_line("%s: has no module with that name", paths[0]);
        return COMMANDS_UNUSABLE;
    }
    explain_looked_for();
    return COMMANDS_FINDING;
}
