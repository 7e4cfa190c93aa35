/* SPDX-License-Identifier: Apache-2.0 */
#include "server/store/verdict_parts.h"

#include "server/base/memory.h"
#include "server/store/profile_series.h"

#include <stdlib.h>
#include <string.h>

/* A total that is further than this, in percent, from what a log asks for is of another compile. */
enum { NEAR_PERCENT = 2 };

const char *verdict_parts_name(const struct modules_entry *entry)
{
    return entry->program       ? entry->program->name
           : entry->file->group ? entry->file->group->stem
                                : entry->file->file->name;
}

const struct modules_entry *verdict_parts_module(struct store *store, struct modules *modules,
                                                 const struct oom_verdict *failure)
{
    struct analysis_oom_module *all = memory_new((modules->entry_count + 1) * sizeof(*all));
    if (modules->entry_count > 1)
        modules_read_totals(store, modules);
    for (size_t at = 0; at < modules->entry_count; at++)
        all[at] = (struct analysis_oom_module){verdict_parts_name(&modules->entries[at]),
                                               modules->entries[at].largest_total_bytes};
    size_t chosen = analysis_oom_choose_module(failure, all, modules->entry_count);
    free(all);
    return chosen < modules->entry_count ? &modules->entries[chosen] : NULL;
}

/* ---- where sessions lie ---- */

/* "root/path" without the last component; free(). */
static char *folder_of(const struct files_place *place)
{
    char *whole = memory_format("%s%s%s", place->root ? place->root : "", place->path && place->path[0] ? "/" : "",
                                place->path ? place->path : "");
    char *slash = strrchr(whole, '/');
    if (slash)
        *slash = '\0';
    return whole;
}

static const struct snapshot_file *first_file(const struct snapshot_session *session)
{
    return session->group_count > 0     ? session->groups[0].file
           : session->host_count > 0    ? session->hosts[0].file
           : session->profile_count > 0 ? session->profiles[0].file
           : session->text_count > 0    ? session->texts[0].file
           : session->file_count > 0    ? session->files[0]
                                        : NULL;
}

static bool is_below(const char *folder, const char *of)
{
    size_t length = strlen(of);
    return strncmp(folder, of, length) == 0 && (folder[length] == '\0' || folder[length] == '/');
}

/* Does one of the two lie beside, above or below the other? */
static bool is_near(const char *folder, const struct snapshot_session *session)
{
    const struct snapshot_file *file = first_file(session);
    if (!file || file->place.bytes)
        return false;
    char *other = folder_of(&file->place);
    bool near = is_below(folder, other) || is_below(other, folder);
    free(other);
    return near;
}

static char *folder_wanted(const struct verdict_parts_wanted *wanted)
{
    const struct snapshot_file *file = wanted->session ? first_file(wanted->session) : NULL;
    return wanted->folder ? memory_text(wanted->folder) : file && !file->place.bytes ? folder_of(&file->place) : NULL;
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

static bool is_of_modules(const struct snapshot_session *session)
{
    return session->kind == SNAPSHOT_TRACE || session->kind == SNAPSHOT_DUMP || session->kind == SNAPSHOT_HLO;
}

/* A failure names its program, and what a compiler asks for is that program's total. */
static bool is_meant(const struct modules_entry *entry, const struct oom_verdict *failure)
{
    const struct oom_failure *of = failure->failure;
    const struct oom_figure *needed = &of->figures[OOM_needed_bytes];
    bool has_total = needed->is_known && of->phase && strcmp(of->phase, "compile") == 0;
    uint64_t total = entry->largest_total_bytes;
    uint64_t apart = total > needed->value ? total - needed->value : needed->value - total;
    if (!of->module.text.data || !str_equal(str_of(verdict_parts_name(entry)), of->module.text))
        return false;
    return !has_total || apart <= needed->value / 100 * NEAR_PERCENT;
}

/* Of other sessions near by. */
static void module_find_near(struct store *store, const struct verdict_parts_wanted *wanted,
                             struct verdict_parts *parts)
{
    char *folder = folder_wanted(wanted);
    for (size_t at = 0; folder && wanted->snapshot && at < wanted->snapshot->session_count && !parts->entry; at++) {
        const struct snapshot_session *session = wanted->snapshot->sessions[at];
        struct err err = ERR_INIT;
        if (session == wanted->session || !is_of_modules(session) || !is_near(folder, session))
            continue;
        modules_close(&parts->modules);
        modules_open(store, session, NULL, &parts->modules);
        modules_read_totals(store, &parts->modules);
        for (size_t i = 0; i < parts->modules.entry_count && !parts->entry; i++)
            if (is_meant(&parts->modules.entries[i], wanted->failure))
                module_open(store, session, &parts->modules.entries[i], parts, &err);
    }
    free(folder);
}

/* Will asking again help? */
static bool is_passing(const struct verdict_parts *parts, const struct err *err)
{
    return parts->module.hold.is_passing || err->code == ERR_io || err->code == ERR_changed;
}

/* The one that is named, else the largest. One that is not named and can never be read is left out. */
static bool module_choose(struct store *store, const struct verdict_parts_wanted *wanted, struct verdict_parts *parts,
                          struct err *err)
{
    const struct snapshot_session *session = wanted->session;
    const char *file;
    if (modules_find(store, session, wanted->host, wanted->module_id, &parts->modules, err, &file) &&
        module_open(store, session, &parts->modules.entries[0], parts, err))
        return true;
    if (wanted->module_id || is_passing(parts, err))
        return false;
    *err = (struct err)ERR_INIT;
    return true;
}

static bool module_find(struct store *store, const struct verdict_parts_wanted *wanted, struct verdict_parts *parts,
                        struct err *err)
{
    const struct snapshot_session *session = wanted->session;
    struct err ignored = ERR_INIT;
    bool has_modules = session && is_of_modules(session);
    if (wanted->module_id && !has_modules)
        return err_set(err, ERR_notfound, ERR_NO_OFFSET, "the session has no module of that id");
    if (has_modules && (wanted->module_id || !wanted->failure))
        return module_choose(store, wanted, parts, err);
    if (has_modules) {
        modules_open(store, session, NULL, &parts->modules);
        const struct modules_entry *entry = verdict_parts_module(store, &parts->modules, wanted->failure);
        if (entry)
            module_open(store, session, entry, parts, &ignored);
    }
    if (!parts->entry && wanted->failure)
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
        if (!is_chosen[at] || !subjects_open(store, &place, subject, &err))
            continue;
        parts->uses[parts->profile_count++] = (struct analysis_use){.subject = subject->core,
                                                                    .id = profile->id,
                                                                    .name = profile->file->name,
                                                                    .size_bytes = subject->size_bytes,
                                                                    .modified_at_ms = subject->modified_at_ms};
    }
    free(is_chosen);
    parts->core.profiles = parts->uses;
    parts->core.profile_count = parts->profile_count;
}

/* A failure's own session has none: those that lie in the same folder, as a run leaves them. */
static void profiles_beside(struct store *store, const struct verdict_parts_wanted *wanted, struct verdict_parts *parts)
{
    char *folder = wanted->failure && wanted->snapshot ? folder_wanted(wanted) : NULL;
    for (size_t at = 0; folder && at < wanted->snapshot->session_count && parts->profile_count == 0; at++) {
        const struct snapshot_session *session = wanted->snapshot->sessions[at];
        const struct snapshot_file *file = session->kind == SNAPSHOT_PROFILES ? first_file(session) : NULL;
        char *other = file && !file->place.bytes ? folder_of(&file->place) : NULL;
        if (other && strcmp(other, folder) == 0)
            profiles_add(store, session, parts);
        free(other);
    }
    free(folder);
}

static void trace_add(struct store *store, const struct snapshot_session *session, const struct snapshot_host *host,
                      struct verdict_parts *parts)
{
    struct err err = ERR_INIT;
    if (session->kind != SNAPSHOT_TRACE || session->host_count == 0)
        return;
    const struct subjects_place place = subjects_trace(session, host ? host : subjects_worst_host(store, session));
    if (subjects_open(store, &place, &parts->trace, &err))
        parts->core.trace = parts->trace.core;
}

bool verdict_parts_open(struct store *store, const struct verdict_parts_wanted *wanted, struct verdict_parts *parts,
                        struct err *err)
{
    if (!module_find(store, wanted, parts, err))
        return false;
    parts->core.failure = wanted->failure;
    parts->core.category_rules = store_category_rules(store);
    for (int i = 0; i < 2; i++) { /* its own session, and that of the program where it is another one */
        const struct snapshot_session *session = i == 0 ? wanted->session : parts->module_session;
        if (!session || (i == 1 && session == wanted->session))
            continue;
        if (!parts->core.trace)
            trace_add(store, session, i == 0 ? wanted->host : NULL, parts);
        if (parts->profile_count == 0)
            profiles_add(store, session, parts);
    }
    if (parts->profile_count == 0)
        profiles_beside(store, wanted, parts);
    bool has_text = wanted->failure && wanted->failure->failure->figures[OOM_capacity_bytes].is_known;
    if (parts->entry && !has_text && capacity_find(parts->module_session, parts->entry->file, &parts->capacity)) {
        parts->core.capacity_bytes = parts->capacity.bytes;
        parts->core.capacity_source = parts->capacity.source;
    }
    return true;
}

void verdict_parts_close(struct verdict_parts *parts)
{
    subjects_close(&parts->module);
    subjects_close(&parts->trace);
    for (size_t at = 0; at < parts->profile_count; at++)
        subjects_close(&parts->profiles[at]);
    free(parts->profiles);
    free(parts->uses);
    modules_close(&parts->modules);
    *parts = (struct verdict_parts){0};
}
