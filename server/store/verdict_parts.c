/* SPDX-License-Identifier: Apache-2.0 */
#include "server/store/verdict_parts.h"

#include "server/base/memory.h"
#include "server/files/names.h"
#include "server/store/profile_series.h"
#include "server/store/verdict_capacity.h"
#include "server/store/verdict_snapshot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct modules_entry *verdict_parts_module(struct store *store, struct modules *modules,
                                                 const struct oom_meaning *failure)
{
    struct analysis_oom_module *all = memory_new((modules->entry_count + 1) * sizeof(*all));
    if (modules->entry_count > 1 || analysis_oom_piece_bytes(failure) > 0)
        modules_read_totals(store, modules);
    for (size_t at = 0; at < modules->entry_count; at++)
        all[at] = (struct analysis_oom_module){
            verdict_near_name(&modules->entries[at]), modules->entries[at].largest_total_bytes,
            modules->entries[at].temporary_bytes, modules->entries[at].largest_output_bytes};
    size_t chosen = analysis_oom_choose_module(failure, all, modules->entry_count);
    free(all);
    return chosen < modules->entry_count ? &modules->entries[chosen] : NULL;
}

char *verdict_parts_folder(const struct verdict_parts_wanted *wanted)
{
    const struct snapshot_file *file = wanted->session ? verdict_near_file(wanted->session) : NULL;
    return wanted->folder               ? memory_text(wanted->folder)
           : file && !file->place.bytes ? verdict_near_folder(&file->place)
                                        : NULL;
}

/* ---- what cannot be read ---- */

/* Will asking again help? */
static bool is_transient(const struct subject *subject, const struct err *err)
{
    return subject->hold.is_transient || err_is_transient(err->code);
}

/* As the sessions name it; one that was named itself has no path below its root. */
static const char *file_name(const struct snapshot_file *file) { return file->path[0] ? file->path : file->name; }

/* A file is named once, with the first reason. */
static void unread_add(struct verdict_parts *parts, const char *file, bool may_pass, const struct err *err)
{
    for (size_t at = 0; at < parts->unread_count; at++)
        if (strcmp(parts->unread[at].file, file) == 0)
            return;
    parts->is_transient |= may_pass;
    parts->unread =
        memory_grow(parts->unread, &parts->unread_capacity, parts->unread_count + 1, sizeof(*parts->unread));
    parts->unread[parts->unread_count++] = (struct verdict_unread){memory_text(file), *err};
    parts->core.around.unread = parts->unread;
    parts->core.around.unread_count = parts->unread_count;
}

void verdict_parts_unread(struct verdict_parts *parts, const struct snapshot_file *file, const struct subject *subject,
                          const struct err *err)
{
    bool may_pass = is_transient(subject, err);
    parts->lacks_file |= file->reason == 0 && may_pass;
    unread_add(parts, file_name(file), may_pass, err);
}

void verdict_parts_unread_name(struct verdict_parts *parts, const char *file, const struct err *err)
{
    unread_add(parts, file, err_is_transient(err->code), err);
}

/* For verdict_parts_open: what was asked for by name, or all that there is, cannot be had. */
static bool verdict_parts_refuse(struct verdict_parts *parts, const char *file, bool may_pass)
{
    parts->refused_file = file;
    parts->is_transient = may_pass;
    return false;
}

/* ---- the program ---- */

static bool module_open(struct store *store, const struct snapshot_session *session, const struct modules_entry *entry,
                        struct verdict_parts *parts, struct err *err)
{
    if (!entry->program) {
        *err = entry->file->err;
        return false;
    }
    const struct subjects_place place = {
        .kind = ANALYSIS_MODULE, .opened = &entry->file->opened, .program = entry->program};
    if (!subjects_open(store, &place, &parts->module, err))
        return false;
    parts->entry = entry;
    parts->module_session = session;
    parts->core.module = parts->module.core;
    return true;
}

/* ---- what lies in other sessions ---- */

/* Says which file was taken, and why. */
static char *joined_text(const char *what, const struct verdict_near *found, const struct verdict_near_program *program)
{
    char others[128] = "";
    const char *total = !program->has_total ? ", whose total is not known here"
                        : found->is_loose   ? " with that total or nearly so"
                                            : " with the same total";
    if (found->count > 1)
        snprintf(others, sizeof(others), " %zu sessions hold one; this is the nearest in folder, then in time.",
                 found->count);
    return memory_format("%s is of %s, in another session: it holds %s%s.%s", what, found->entry->file->file->path,
                         found->entry->program->name, total, others);
}

/* A failure names its program, and what a compiler asks for is that program's total. */
static bool program_of_failure(const struct oom_meaning *failure, struct verdict_near_program *program)
{
    struct analysis_oom_facts facts;
    analysis_oom_facts(failure, &facts);
    if (!facts.module.data)
        return false;
    *program = (struct verdict_near_program){.name = facts.module, .least_bytes = analysis_oom_piece_bytes(failure)};
    if (facts.needed_bytes >= 0 && facts.phase && strcmp(facts.phase, "compile") == 0) {
        program->has_total = true;
        program->total_bytes = (uint64_t)facts.needed_bytes;
        program->rounding_bytes = facts.needed_rounding_bytes;
    }
    return true;
}

static void place_set(const struct verdict_parts_wanted *wanted, const char *folder, struct verdict_near_place *place)
{
    *place = (struct verdict_near_place){.snapshot = wanted->snapshot,
                                         .but = {wanted->session},
                                         .folder = folder,
                                         .at_ms = wanted->session ? wanted->session->modified_at_ms : 0};
}

/* Finds a module of another session: a log lies beside, above or below the dump of its program, or elsewhere in the
 * logdir. */
static void module_find_near(struct store *store, const struct verdict_parts_wanted *wanted,
                             struct verdict_parts *parts)
{
    char *folder = verdict_parts_folder(wanted);
    struct verdict_near_program program;
    struct verdict_near_place place;
    struct verdict_near found;
    struct err err = ERR_INIT;
    place_set(wanted, folder, &place);
    if (folder && program_of_failure(wanted->failure, &program)) {
        verdict_near_find(store, &place, &program, &found);
        if (found.session) {
            modules_close(&parts->modules);
            parts->modules = found.modules;
            if (!module_open(store, found.session, found.entry, parts, &err))
                verdict_parts_unread(parts, found.entry->file->file, &parts->module, &err);
            else if (!found.is_loose || found.count > 1)
                parts->joined[0] = joined_text("The plan", &found, &program);
        }
    }
    free(folder);
}

/* The one that is named, else the largest. One that is not named and cannot be read is left out. */
static bool module_choose(struct store *store, const struct verdict_parts_wanted *wanted, struct verdict_parts *parts,
                          struct err *err)
{
    const struct snapshot_session *session = wanted->session;
    const char *file = NULL;
    if (modules_find(store, session, wanted->host, wanted->module_id, &parts->modules, err, &file)) {
        if (module_open(store, session, &parts->modules.entries[0], parts, err))
            return true;
        file = file_name(parts->modules.entries[0].file->file);
    }
    if (wanted->module_id)
        return verdict_parts_refuse(parts, file, is_transient(&parts->module, err));
    if (file) /* else the session holds no program */
        unread_add(parts, file[0] ? file : session->name, is_transient(&parts->module, err), err);
    parts->lacks_file |= file && is_transient(&parts->module, err);
    *err = (struct err)ERR_INIT;
    return true;
}

/* Is there a file, of those that may be read, whose programs could not be read? */
static bool lacks_modules(const struct modules *modules)
{
    bool lacks = false;
    for (size_t at = 0; at < modules->file_count && !lacks; at++) {
        const struct modules_file *file = &modules->files[at];
        lacks = file->file->reason == 0 && (err_is_transient(file->err.code) ||
                                            err_is_transient(file->totals_err.code) || file->totals_hold.is_transient);
        for (size_t program = 0; file->totals && program < file->totals->count && !lacks; program++)
            lacks = err_is_transient(file->totals->programs[program].err.code);
    }
    return lacks;
}

/* If no program was found, it may be in one of these files. */
static void modules_unread(struct verdict_parts *parts)
{
    for (size_t at = 0; at < parts->modules.file_count; at++) {
        const struct modules_file *file = &parts->modules.files[at];
        if (err_is_set(&file->err))
            verdict_parts_unread_name(parts, file_name(file->file), &file->err);
    }
}

static bool module_find(struct store *store, const struct verdict_parts_wanted *wanted, struct verdict_parts *parts,
                        struct err *err)
{
    const struct snapshot_session *session = wanted->session;
    struct err err_of_module = ERR_INIT;
    bool has_modules = session && snapshot_has_programs(session),
         is_of_plan = wanted->failure && analysis_verdict_is_of_plan(wanted->failure);
    if (wanted->module)
        return module_open(store, session, wanted->module, parts, err) ||
               verdict_parts_refuse(parts, file_name(wanted->module->file->file), is_transient(&parts->module, err));
    if (wanted->module_id && !has_modules)
        return err_set(err, ERR_notfound, ERR_NO_OFFSET, "the session has no module of that id");
    if (has_modules && (wanted->module_id || !wanted->failure))
        return module_choose(store, wanted, parts, err);
    if (has_modules && (is_of_plan || (wanted->failure && analysis_verdict_may_be_of_request(wanted->failure)))) {
        modules_open(store, session, NULL, &parts->modules);
        const struct modules_entry *entry = verdict_parts_module(store, &parts->modules, wanted->failure);
        if (entry && !module_open(store, session, entry, parts, &err_of_module))
            verdict_parts_unread(parts, entry->file->file, &parts->module, &err_of_module);
        if (!parts->entry)
            modules_unread(parts);
        parts->core.around.unnamed_count = entry ? 0 : parts->modules.entry_count;
        parts->lacks_file |= lacks_modules(&parts->modules);
    }
    if (!parts->entry && is_of_plan)
        module_find_near(store, wanted, parts);
    return true;
}

/* ---- what else ---- */

static void profiles_add(struct store *store, const struct snapshot_session *session, struct verdict_parts *parts)
{
    struct err err = ERR_INIT;
    if (session->profile_count == 0)
        return;
    bool *is_chosen = memory_new(session->profile_count * sizeof(*is_chosen));
    profile_series_choose(session, is_chosen);
    parts->profiles = memory_new(session->profile_count * sizeof(*parts->profiles));
    parts->uses = memory_new(session->profile_count * sizeof(*parts->uses));
    for (size_t at = 0; at < session->profile_count; at++) {
        const struct snapshot_profile *profile = &session->profiles[at];
        const struct subjects_place place = {.kind = ANALYSIS_PROFILE, .file = &profile->file->place};
        struct subject *subject = &parts->profiles[parts->profile_count];
        if (!is_chosen[at])
            continue;
        err = (struct err)ERR_INIT;
        if (!subjects_open(store, &place, subject, &err)) {
            verdict_parts_unread(parts, profile->file, subject, &err);
            continue;
        }
        parts->uses[parts->profile_count++] = (struct analysis_use){.subject = subject->core,
                                                                    .id = profile->id,
                                                                    .name = profile->file->name,
                                                                    .size_bytes = subject->size_bytes,
                                                                    .modified_at_ms = subject->modified_at_ms};
    }
    free(is_chosen);
    parts->profile_session = parts->profile_count > 0 ? session : NULL;
    parts->core.profiles = parts->uses;
    parts->core.profile_count = parts->profile_count;
}

/* A failure's own session has none: those that lie in the same folder, as a run leaves them. */
static void profiles_beside(struct store *store, const struct verdict_parts_wanted *wanted, struct verdict_parts *parts)
{
    char *folder = wanted->failure && wanted->snapshot ? verdict_parts_folder(wanted) : NULL;
    for (size_t at = 0; folder && at < wanted->snapshot->session_count && parts->profile_count == 0; at++) {
        const struct snapshot_session *session = wanted->snapshot->sessions[at];
        const struct snapshot_file *file = session->kind == SNAPSHOT_PROFILES ? verdict_near_file(session) : NULL;
        if (file && verdict_near_is_in(&file->place, folder))
            profiles_add(store, session, parts);
    }
    free(folder);
}

/* Files in the folder of a text that by their names would say more of its failure, and that no session shows. */
static void problems_beside(const struct verdict_parts_wanted *wanted, struct verdict_parts *parts)
{
    char *folder = wanted->failure && wanted->snapshot ? verdict_parts_folder(wanted) : NULL;
    for (size_t at = 0; folder && at < wanted->snapshot->problem_count; at++) {
        const struct snapshot_problem *problem = &wanted->snapshot->problems[at];
        enum names_kind kind = problem->of ? names_kind_of(problem->of->name) : NAMES_OTHER;
        bool is_text = kind == NAMES_LOG || kind == NAMES_ERROR_TEXT || kind == NAMES_OTHER;
        if (!is_text && verdict_near_is_in(&problem->of->place, folder))
            verdict_parts_unread_name(parts, file_name(problem->of), &problem->why);
    }
    free(folder);
}

static void host_lost(void *parts, const struct snapshot_host *host, const struct subject *trace, const struct err *err)
{
    verdict_parts_unread(parts, host->file, trace, err);
}

static void trace_add(struct store *store, const struct snapshot_session *session, const struct snapshot_host *host,
                      struct verdict_parts *parts)
{
    struct err err = ERR_INIT;
    if (session->kind != SNAPSHOT_TRACE || session->host_count == 0)
        return;
    host = host ? host : subjects_worst_host(store, session, host_lost, parts);
    const struct subjects_place place = subjects_trace(session, host);
    if (subjects_open(store, &place, &parts->trace, &err)) {
        parts->core.trace = parts->trace.core;
        parts->trace_session = session;
        parts->lacks_file |= parts->trace.lacks_file;
        analysis_trace_cut(parts->trace.core, &err);
    }
    if (err_is_set(&err))
        verdict_parts_unread(parts, host->file, &parts->trace, &err);
}

/* The program that was found, else the one that the failure names. */
static bool program_known(struct store *store, const struct verdict_parts_wanted *wanted, struct verdict_parts *parts,
                          struct verdict_near_program *program)
{
    if (!parts->entry)
        return wanted->failure && analysis_verdict_is_of_plan(wanted->failure) &&
               program_of_failure(wanted->failure, program);
    uint64_t total_bytes = parts->entry->largest_total_bytes;
    if (total_bytes == 0) {
        modules_read_totals(store, &parts->modules);
        total_bytes = parts->entry->largest_total_bytes;
    }
    *program = (struct verdict_near_program){
        .name = str_of(parts->entry->program->name), .has_total = total_bytes > 0, .total_bytes = total_bytes};
    return true;
}

/* A trace of the program that lies in a session of its own. */
static void trace_find(struct store *store, const struct verdict_parts_wanted *wanted, struct verdict_parts *parts)
{
    char *folder = verdict_parts_folder(wanted);
    struct verdict_near_program program;
    struct verdict_near_place place;
    struct verdict_near found;
    place_set(wanted, folder, &place);
    place.but[1] = parts->module_session;
    place.only_traces = true;
    if (folder && program_known(store, wanted, parts, &program)) {
        verdict_near_find(store, &place, &program, &found);
        if (found.session)
            trace_add(store, found.session, NULL, parts);
        if (found.session && parts->core.trace)
            parts->joined[1] = joined_text("What the allocator did", &found, &program);
        modules_close(&found.modules);
    }
    free(folder);
}

/* A dump of texts alone that nothing was written to. */
static void empty_add(const struct verdict_parts_wanted *wanted, struct verdict_parts *parts)
{
    const struct snapshot_session *session = wanted->failure ? NULL : wanted->session;
    for (size_t at = 0; session && session->is_text_only && at < session->file_count; at++) {
        struct err err = {ERR_truncated, 0, "the file is empty"};
        if (session->files[at]->identity.size_bytes == 0)
            unread_add(parts, file_name(session->files[at]), false, &err);
    }
}

/* Is it a session without a failure in which no source of memory figures could be read? */
static bool has_nothing_but_unread(const struct verdict_parts *parts)
{
    struct analysis_trace_pool pool;
    bool has_trace = parts->core.trace && analysis_trace_pool_at(parts->core.trace, 0, &pool);
    return !parts->core.failure && !parts->core.module && !has_trace && parts->profile_count == 0 &&
           parts->unread_count > 0;
}

bool verdict_parts_open(struct store *store, const struct verdict_parts_wanted *wanted, struct verdict_parts *parts,
                        struct err *err)
{
    if (!module_find(store, wanted, parts, err))
        return false;
    parts->core.failure = wanted->failure;
    parts->core.around.failure_file = wanted->text;
    parts->core.category_rules = store_category_rules(store);
    bool is_of_torch = analysis_snapshots_may(wanted->failure);
    if (is_of_torch)
        verdict_snapshot_find(store, wanted, parts);
    for (int i = 0; i < 2; i++) { /* its own session, and that of the program where it is another one */
        const struct snapshot_session *session = i == 0 ? wanted->session : parts->module_session;
        if (!session || (i == 1 && session == wanted->session))
            continue;
        if (!parts->core.trace && !is_of_torch)
            trace_add(store, session, i == 0 ? wanted->host : NULL, parts);
        if (parts->profile_count == 0)
            profiles_add(store, session, parts);
    }
    if (!parts->core.trace && !is_of_torch && wanted->snapshot)
        trace_find(store, wanted, parts);
    if (parts->profile_count == 0)
        profiles_beside(store, wanted, parts);
    problems_beside(wanted, parts);
    empty_add(wanted, parts);
    if (has_nothing_but_unread(parts)) {
        *err = parts->unread[0].why;
        return verdict_parts_refuse(parts, parts->unread[0].file, parts->is_transient);
    }
    memcpy(parts->core.around.joined, parts->joined, sizeof(parts->core.around.joined));
    parts->core.around.choice = &parts->choice;
    verdict_capacity_find(wanted, parts);
    return true;
}

void verdict_parts_close(struct verdict_parts *parts)
{
    subjects_close(&parts->module);
    subjects_close(&parts->trace);
    for (size_t at = 0; at < parts->profile_count; at++)
        subjects_close(&parts->profiles[at]);
    for (size_t at = 0; at < parts->unread_count; at++)
        free((void *)(uintptr_t)parts->unread[at].file);
    free(parts->unread);
    free(parts->profiles);
    free(parts->uses);
    free(parts->joined[0]);
    free(parts->joined[1]);
    modules_close(&parts->modules);
    *parts = (struct verdict_parts){0};
}

static void write_found(struct json *json, const struct verdict_parts_about *about, const struct verdict_parts *parts)
{
    json_key_text(json, "session", about->session);
    json_key_text(json, "file", about->file);
    if (about->report > 0)
        json_key_uint(json, "report", about->report);
    json_key_uint(json, "report_count", about->report_count);
    if (json_key_object_if(json, "module", parts->entry != NULL)) {
        json_key_text(json, "session", parts->module_session->id);
        json_key_text(json, "id", parts->entry->id);
        json_key_text(json, "name", verdict_near_name(parts->entry));
        json_object_end(json);
    }
    json_key_text(json, "trace_session", parts->trace_session ? parts->trace_session->id : NULL);
    json_key_text(json, "profile_session", parts->profile_session ? parts->profile_session->id : NULL);
    json_key_text(json, "trace_host", parts->trace_host ? parts->trace_host->id : NULL);
}

bool verdict_parts_write(const struct verdict_parts *parts, const struct verdict_parts_about *about, struct buf *out,
                         struct err *err)
{
    struct buf verdict = BUF_INIT;
    struct json json = JSON_INIT(out);
    bool is_good = analysis_verdict(&parts->core, ANALYSIS_VERDICT_JSON, &verdict, err);
    if (is_good) {
        json_object_begin(&json);
        write_found(&json, about, parts);
        buf_char(out, ',');
        buf_add(out, verdict.data + 1, verdict.length - 1); /* without its opening brace */
        is_good = buf_is_whole(out, "the verdict", err);
    }
    buf_free(&verdict);
    return is_good;
}
