/* SPDX-License-Identifier: Apache-2.0 */
#include "server/gather/sessions_folder.h"

#include "base/str.h"
#include "server/gather/sessions_place.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A folder, sorted by what its files are for. */
struct contents {
    const struct tree_folder *folder;
    const char *run_name;        /* NULL unless right below plugins/profile */
    struct snapshot_file *files; /* one for each of folder->files */
    size_t trace_count, module_count, hlo_count, cache_count, sibling_count, text_count, profile_count;
};

static const char *last_component(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static char *text_of(struct sessions_builder *builder, const char *text, size_t length)
{
    return memory_pool_text(&builder->snapshot->pool, text, length);
}

/* "train/2026_01_09" of "train/plugins/profile/2026_01_09"; NULL for other folders. */
static const char *run_name(struct sessions_builder *builder, const struct tree_folder *folder)
{
    static const char PLACE[] = "plugins/profile/";
    const char *name = last_component(folder->path);
    size_t before = (size_t)(name - folder->path), place = sizeof(PLACE) - 1;
    if (before < place || memcmp(name - place, PLACE, place) != 0)
        return NULL;
    before -= place;
    if (before > 0 && folder->path[before - 1] != '/')
        return NULL;
    return memory_pool_format(&builder->snapshot->pool, "%.*s%s", (int)before, folder->path, name);
}

void sessions_folder_problem(struct sessions_builder *builder, const char *path, const struct snapshot_file *of,
                             const struct err *why, const struct snapshot_session *session)
{
    struct snapshot *snapshot = builder->snapshot;
    snapshot->problems = memory_grow(snapshot->problems, &builder->problem_capacity, snapshot->problem_count + 1,
                                     sizeof(*snapshot->problems));
    snapshot->problems[snapshot->problem_count++] = (struct snapshot_problem){path, of, *why, session};
}

/* Could be opened at all; a link that leads out or nowhere could not. */
static bool is_listed(const struct tree_file *file) { return file->reason == 0 || file->reason == EACCES; }

static bool is_text(enum names_kind kind) { return kind == NAMES_ERROR_TEXT || kind == NAMES_LOG; }

static enum names_kind kind_of(const struct sessions_builder *builder, const struct tree_file *file)
{
    if (!sessions_place_is_lone(builder))
        return names_kind_confirmed(file->kind, file->is_as_named);
    if (file->archive)
        return NAMES_OTHER; /* what is in it is shown */
    switch (builder->lone_kind) {
    case ANALYSIS_KIND_XSPACE:
    case ANALYSIS_KIND_TORCH_SNAPSHOT: return NAMES_TRACE;
    case ANALYSIS_KIND_HLO_PROTO:
    case ANALYSIS_KIND_HLO_MODULE:
    case ANALYSIS_KIND_HLO_SNAPSHOT:
    case ANALYSIS_KIND_BUFFER_ASSIGNMENT:
    case ANALYSIS_KIND_HLO_PARTS: return NAMES_HLO;
    case ANALYSIS_KIND_TEXT: return NAMES_LOG;
    case ANALYSIS_KIND_UNKNOWN: /* a log of two bytes a letter, or with a few that are none */
        return is_text(file->kind) ? NAMES_LOG : NAMES_OTHER;
    case ANALYSIS_KIND_PPROF: return NAMES_PROFILE;
    case ANALYSIS_KIND_ARCHIVE:
    case ANALYSIS_KIND_PICKLE:
    case ANALYSIS_KIND_EMPTY:
    case ANALYSIS_KIND_MEMORY_USAGE_REPORT: break;
    }
    return NAMES_OTHER;
}

static struct contents contents_of(struct sessions_builder *builder, const struct tree_folder *folder)
{
    struct contents contents = {.folder = folder, .run_name = run_name(builder, folder)};
    contents.files = memory_pool_new(&builder->snapshot->pool, (folder->file_count + 1) * sizeof(*contents.files));
    for (size_t at = 0; at < folder->file_count; at++) {
        sessions_place_file(builder, folder, &folder->files[at], &contents.files[at]);
        if (!is_listed(&folder->files[at]))
            continue;
        enum names_kind kind = kind_of(builder, &folder->files[at]);
        contents.trace_count += kind == NAMES_TRACE;
        contents.module_count += kind == NAMES_DUMP_MODULE;
        contents.hlo_count += kind == NAMES_HLO || kind == NAMES_ASSIGNMENT;
        contents.cache_count += kind == NAMES_XPROF_CACHE && folder->files[at].identity.size_bytes > 0;
        contents.sibling_count += kind == NAMES_DUMP_SIBLING;
        contents.text_count += is_text(kind);
        contents.profile_count += kind == NAMES_PROFILE;
    }
    return contents;
}

/* One of those that contents_of counts as inputs. */
static bool is_input(enum names_kind kind)
{
    return kind == NAMES_TRACE || kind == NAMES_HLO || kind == NAMES_ASSIGNMENT || kind == NAMES_XPROF_CACHE ||
           kind == NAMES_PROFILE;
}

/* The name of a session that is not a run. */
static const char *folder_name(struct sessions_builder *builder, const struct contents *contents)
{
    const struct tree_folder *folder = contents->folder;
    size_t inputs = contents->trace_count + contents->hlo_count + contents->cache_count + contents->profile_count;
    if (folder->path[0])
        return text_of(builder, folder->path, strlen(folder->path));
    for (size_t at = 0; at < folder->file_count && inputs == 1 && contents->module_count == 0; at++) {
        const char *name = folder->files[at].name;
        if (sessions_place_is_lone(builder) || is_input(kind_of(builder, &folder->files[at])))
            return text_of(builder, name, names_title_length(name));
    }
    const char *name = last_component(builder->root_path);
    return name[0] ? name : builder->root_path;
}

static struct snapshot_session *add_session(struct sessions_builder *builder, const struct contents *contents,
                                            enum snapshot_kind kind)
{
    struct snapshot *snapshot = builder->snapshot;
    struct snapshot_session *session = memory_pool_new(&snapshot->pool, sizeof(*session));
    session->kind = kind;
    session->known = memory_pool_new(&snapshot->pool, sizeof(*session->known));
    atomic_init(&session->known->module_count, -1);
    atomic_init(&session->known->largest_total_bytes, -1);
    atomic_init(&session->known->worst, NULL), atomic_init(&session->known->devices, NULL);
    session->name = contents->run_name ? contents->run_name : folder_name(builder, contents);
    uint64_t hash = hash_text(contents->folder->path, hash_text(snapshot_kind_name(kind), 0));
    if (sessions_place_is_lone(builder))
        hash = hash_text(contents->folder->files[0].name, hash);
    if (builder->root_at > 0)
        hash = hash_text(builder->root_path, hash);
    if (!builder->upload_id)
        snapshot_write_id(session->id, hash);
    else if (snapshot->session_count == 0)
        snprintf(session->id, sizeof(session->id), "%s", builder->upload_id);
    else
        snprintf(session->id, sizeof(session->id), "%s-%zu", builder->upload_id, snapshot->session_count);
    snapshot->sessions = memory_grow(snapshot->sessions, &builder->session_capacity, snapshot->session_count + 1,
                                     sizeof(*snapshot->sessions));
    snapshot->sessions[snapshot->session_count++] = session;
    return session;
}

static void count_in(struct snapshot_session *session, const struct snapshot_file *file, bool is_input)
{
    int64_t modified_at_ms = file->identity.modified_at_ns / 1000000;
    if (modified_at_ms > session->modified_at_ms)
        session->modified_at_ms = modified_at_ms;
    session->size_bytes += is_input ? file->identity.size_bytes : 0;
}

/* HLO files beside a trace; of a dump those that tell what is allocated. */
static void add_program_files(struct sessions_builder *builder, const struct contents *contents,
                              struct snapshot_session *session)
{
    size_t count = contents->cache_count + contents->hlo_count + contents->module_count;
    const struct snapshot_file **files = memory_pool_new(&builder->snapshot->pool, (count + 1) * sizeof(*files));
    session->program_files = files;
    for (size_t at = 0; at < contents->folder->file_count; at++) {
        const struct tree_file *from = &contents->folder->files[at];
        enum names_kind kind = kind_of(builder, from);
        bool is_final = kind == NAMES_DUMP_MODULE && names_module_of(from->name).stage == NAMES_STAGE_AFTER;
        bool is_program = kind == NAMES_XPROF_CACHE || kind == NAMES_HLO || is_final;
        if (is_program && is_listed(from) && from->identity.size_bytes > 0)
            files[session->program_file_count++] = &contents->files[at];
    }
}

static struct snapshot_session *add_trace(struct sessions_builder *builder, const struct contents *contents)
{
    struct snapshot_session *session = add_session(builder, contents, SNAPSHOT_TRACE);
    struct memory_pool *pool = &builder->snapshot->pool;
    struct snapshot_host *hosts = memory_pool_new(pool, contents->trace_count * sizeof(*hosts));
    const struct snapshot_file **files = memory_pool_new(pool, contents->folder->file_count * sizeof(*files));
    for (size_t at = 0; at < contents->folder->file_count; at++) {
        const struct tree_file *from = &contents->folder->files[at];
        const struct snapshot_file *file = &contents->files[at];
        if (kind_of(builder, from) != NAMES_TRACE || !is_listed(from))
            continue;
        size_t length = names_host_length(from->name);
        struct snapshot_host *host = &hosts[session->host_count++];
        host->name = text_of(builder, from->name, length ? length : names_title_length(from->name));
        host->file = file;
        host->is_allocator = sessions_place_is_lone(builder) ? builder->lone_kind == ANALYSIS_KIND_TORCH_SNAPSHOT
                                                             : from->kind == NAMES_SNAPSHOT;
        session->allocator_count += host->is_allocator;
        snapshot_write_id(host->id, hash_text(from->name, hash_text(session->id, hash_text("host", 0))));
        files[session->file_count++] = file;
        count_in(session, file, true);
    }
    session->hosts = hosts;
    session->files = files;
    add_program_files(builder, contents, session);
    return session;
}

/* Better to open than what the group has? Of equal stages the plain file rather than the packed one. */
static bool is_better(const struct snapshot_group *group, enum names_stage stage, const char *name)
{
    return stage > group->stage || (stage == group->stage && !names_is_gzip(name) && names_is_gzip(group->file->name));
}

static void add_group(struct sessions_builder *builder, struct snapshot_session *session, struct snapshot_group *groups,
                      const struct snapshot_file *file, enum names_kind kind)
{
    bool is_of_module = kind == NAMES_DUMP_MODULE || kind == NAMES_DUMP_SIBLING;
    const struct names_module module = names_module_of(file->name);
    size_t stem_length = is_of_module ? module.stem_length : names_title_length(file->name);
    enum names_stage stage = is_of_module ? module.stage : NAMES_STAGE_NONE;
    for (size_t at = session->group_count; at-- > 0;) { /* names are sorted: it is mostly the last one */
        struct snapshot_group *group = &groups[at];
        size_t length = strlen(group->stem);
        bool is_same = length == stem_length && memcmp(group->stem, file->name, length) == 0;
        /* HLO after a single pass: module_0001.NAME.0003.PASS… */
        bool is_pass = stage == NAMES_STAGE_NONE && group->stage != NAMES_STAGE_NONE &&
                       strncmp(file->name, group->stem, length) == 0 && file->name[length] == '.';
        bool is_text = kind == NAMES_DUMP_SIBLING; /* better than the proto of a program that was not compiled yet */
        if (is_same && (is_text ? stage > group->stage && group->stage <= NAMES_STAGE_BEFORE
                                : is_better(group, stage, file->name))) {
            group->stage = stage;
            group->file = file;
        }
        if (is_same || is_pass)
            return;
    }
    groups[session->group_count++] = (struct snapshot_group){text_of(builder, file->name, stem_length), stage, file};
}

static bool is_input_of(enum snapshot_kind kind, const struct contents *contents, enum names_kind file_kind)
{
    if (file_kind == NAMES_XPROF_CACHE)
        return contents->trace_count == 0;
    return file_kind == NAMES_HLO || file_kind == NAMES_ASSIGNMENT ||
           (kind == SNAPSHOT_DUMP && file_kind == NAMES_DUMP_MODULE);
}

/* ---- texts ---- */

static bool is_among(const struct snapshot_session *session, const struct snapshot_file *file)
{
    for (size_t at = 0; at < session->text_count; at++) {
        if (session->texts[at].file == file)
            return true;
    }
    return false;
}

/* What is known of a text; false for a log that is not worth showing, as far as is known. `session`: that of the dump
 * beside which it lies; NULL: of none. */
static bool sessions_folder_look(struct sessions_builder *builder, const struct snapshot_file *file, bool is_log,
                                 const struct snapshot_session *session, struct snapshot_text *text)
{
    struct err err = ERR_INIT;
    bool is_readable = file->reason == 0 && file->identity.size_bytes > 0;
    *text = (struct snapshot_text){.file = file};
    if (is_readable && builder->is_stopping && (session || !builder->are_texts_beside))
        text->is_read = log_texts_read_once(builder->facts, &file->place, &file->identity, builder->is_stopping,
                                            builder->kept, &text->failure, &err);
    else if (is_readable && builder->log_texts)
        text->is_read = log_texts_look(builder->log_texts, &file->place, &file->identity, &text->failure, &err);
    if (err_is_set(&err))
        sessions_folder_problem(builder, file->path, file, &err, session);
    bool is_left = file->place.member && !builder->is_stopping && !builder->log_texts; /* read when it is requested */
    return !is_log || is_left || (text->is_read && text->failure.failure_count > 0);
}

/* The texts that lie beside the files of a dump: error.txt first. */
static void add_texts(struct sessions_builder *builder, const struct contents *contents,
                      struct snapshot_session *session)
{
    struct memory_pool *pool = &builder->snapshot->pool;
    struct snapshot_text *texts = memory_pool_new(pool, (contents->text_count + 1) * sizeof(*texts));
    session->texts = texts;
    for (int round = 0; round < 2; round++) {
        for (size_t at = 0; at < contents->folder->file_count; at++) {
            const struct tree_file *from = &contents->folder->files[at];
            enum names_kind kind = kind_of(builder, from);
            if (is_listed(from) && kind == (round == 0 ? NAMES_ERROR_TEXT : NAMES_LOG))
                session->text_count += sessions_folder_look(builder, &contents->files[at], round == 1, session,
                                                            &texts[session->text_count]);
        }
    }
}

/* A log is a session of its own. */
static void add_text(struct sessions_builder *builder, const struct contents *contents, size_t at)
{
    struct snapshot_text text;
    struct memory_pool *pool = &builder->snapshot->pool;
    const struct snapshot_file *file = &contents->files[at];
    bool is_named = sessions_place_is_lone(builder);
    if (!sessions_folder_look(builder, file, true, NULL, &text) && !is_named)
        return;
    struct snapshot_session *session = add_session(builder, contents, SNAPSHOT_TEXT);
    struct snapshot_text *texts = memory_pool_new(pool, sizeof(*texts));
    const struct snapshot_file **files = memory_pool_new(pool, sizeof(struct snapshot_file *));
    *texts = text;
    *files = file;
    session->texts = texts;
    session->files = files;
    session->text_count = session->file_count = 1;
    if (!is_named) {
        session->name = file->path;
        if (!builder->upload_id)
            snapshot_write_id(session->id, hash_text(file->name, hash_text(session->id, 0)));
    }
    atomic_store(&session->known->module_count, 0);
    count_in(session, file, true);
}

/* ---- profiles ---- */

static int by_natural_name(const struct snapshot_profile *x, const struct snapshot_profile *y)
{
    int order = str_compare_natural(str_of(x->file->name), str_of(y->file->name));
    return order ? order : strcmp(x->file->place.root, y->file->place.root);
}

static void add_profile(struct sessions_builder *builder, struct snapshot_session *session,
                        const struct snapshot_file *file, const struct snapshot_file **files)
{
    struct snapshot_profile profile = {.file = file};
    uint64_t hash = hash_text(session->id, hash_text("profile", 0));
    snapshot_write_id(profile.id, hash_text(sessions_place_is_lone(builder) ? builder->root_path : file->name, hash));
    size_t at = session->profile_count++;
    for (; at > 0 && by_natural_name(&session->profiles[at - 1], &profile) > 0; at--)
        session->profiles[at] = session->profiles[at - 1];
    session->profiles[at] = profile;
    files[session->file_count++] = file;
    count_in(session, file, true);
}

/* The profiles of a folder are one session, a series. */
static void add_profiles(struct sessions_builder *builder, const struct contents *contents)
{
    struct memory_pool *pool = &builder->snapshot->pool;
    struct snapshot_session *session = add_session(builder, contents, SNAPSHOT_PROFILES);
    const struct snapshot_file **files = memory_pool_new(pool, contents->profile_count * sizeof(*files));
    session->profiles = memory_pool_new(pool, contents->profile_count * sizeof(*session->profiles));
    session->files = files;
    atomic_store(&session->known->module_count, 0);
    for (size_t at = 0; at < contents->folder->file_count; at++) {
        const struct tree_file *from = &contents->folder->files[at];
        if (kind_of(builder, from) == NAMES_PROFILE && is_listed(from))
            add_profile(builder, session, &contents->files[at], files);
    }
}

/* Profiles that are named one by one are one session together. */
static void add_lone_profile(struct sessions_builder *builder, const struct contents *contents)
{
    struct memory_pool *pool = &builder->snapshot->pool;
    struct snapshot_session *session = builder->lone_profiles;
    if (!session)
        session = builder->lone_profiles = add_session(builder, contents, SNAPSHOT_PROFILES);
    size_t count = session->profile_count;
    if ((count & (count - 1)) == 0) { /* full: none, or a power of two; a pool frees nothing before its end */
        size_t capacity = count ? 2 * count : 1;
        struct snapshot_profile *profiles = memory_pool_new(pool, capacity * sizeof(*profiles));
        const struct snapshot_file **files = memory_pool_new(pool, capacity * sizeof(*files));
        if (count > 0) {
            memcpy(profiles, session->profiles, count * sizeof(*profiles));
            memcpy(files, builder->lone_files, count * sizeof(*files));
            session->name = "profiles";
        }
        session->profiles = profiles;
        session->files = builder->lone_files = files;
    }
    atomic_store(&session->known->module_count, 0);
    add_profile(builder, session, &contents->files[0], builder->lone_files);
}

/* Modules that were dumped as texts alone, after all protos. */
static void add_texts_of_modules(struct sessions_builder *builder, const struct contents *contents,
                                 struct snapshot_session *session, struct snapshot_group *groups)
{
    for (size_t at = 0; contents->sibling_count > 0 && at < contents->folder->file_count; at++) {
        const struct tree_file *from = &contents->folder->files[at];
        const struct snapshot_file *file =
            is_listed(from) && from->kind == NAMES_DUMP_SIBLING && from->identity.size_bytes > 0
                ? sessions_parts_of_text(builder, contents->folder, contents->files, at)
                : NULL;
        if (file)
            add_group(builder, session, groups, file, NAMES_DUMP_SIBLING);
    }
}

static struct snapshot_session *add_hlo(struct sessions_builder *builder, const struct contents *contents,
                                        enum snapshot_kind kind)
{
    struct snapshot_session *session = add_session(builder, contents, kind);
    struct memory_pool *pool = &builder->snapshot->pool;
    size_t count = contents->folder->file_count;
    struct snapshot_group *groups = memory_pool_new(pool, (count + 1) * sizeof(*groups));
    const struct snapshot_file **files = memory_pool_new(pool, (count + 1) * sizeof(*files));
    /* Files of a stage first: those of single passes then find the group they belong to. */
    for (int round = 0; round < 2; round++) {
        for (size_t at = 0; at < count; at++) {
            const struct tree_file *from = &contents->folder->files[at];
            enum names_kind file_kind = kind_of(builder, from);
            bool has_stage = names_module_of(from->name).stage != NAMES_STAGE_NONE;
            bool is_marker = file_kind == NAMES_XPROF_CACHE && from->identity.size_bytes == 0;
            const struct snapshot_file *file = &contents->files[at];
            if (!is_listed(from) || has_stage != (round == 0) || !is_input_of(kind, contents, file_kind) || is_marker)
                continue;
            if (file_kind == NAMES_HLO || file_kind == NAMES_ASSIGNMENT)
                file = sessions_parts_of_hlo(builder, contents->folder, contents->files, at);
            if (file)
                add_group(builder, session, groups, file, file_kind);
        }
    }
    add_texts_of_modules(builder, contents, session, groups);
    add_texts(builder, contents, session);
    for (size_t at = 0; at < count; at++) {
        const struct tree_file *from = &contents->folder->files[at];
        enum names_kind file_kind = kind_of(builder, from);
        bool is_shown = file_kind != NAMES_TRACE &&
                        (file_kind != NAMES_LOG || is_among(session, &contents->files[at])) &&
                        (kind != SNAPSHOT_HLO || file_kind != NAMES_DUMP_SIBLING);
        if (!is_listed(from) || !is_shown)
            continue;
        files[session->file_count++] = &contents->files[at];
        count_in(session, &contents->files[at], is_input_of(kind, contents, file_kind));
    }
    session->groups = groups;
    session->files = files;
    session->is_text_only = session->group_count == 0;
    return session;
}

static void add_run(struct sessions_builder *builder, const char *name, const struct snapshot_session *session)
{
    struct snapshot *snapshot = builder->snapshot;
    snapshot->runs =
        memory_grow(snapshot->runs, &builder->run_capacity, snapshot->run_count + 1, sizeof(*snapshot->runs));
    snapshot->runs[snapshot->run_count++] = (struct snapshot_run){name, session};
}

void sessions_folder_add(struct sessions_builder *builder, const struct tree_folder *folder)
{
    struct contents contents = contents_of(builder, folder);
    const struct snapshot_session *trace = NULL, *hlo = NULL;
    if (contents.trace_count > 0)
        trace = add_trace(builder, &contents);
    if (contents.module_count > 0 || contents.sibling_count > 0)
        hlo = add_hlo(builder, &contents, SNAPSHOT_DUMP);
    else if (contents.hlo_count > 0 || (contents.cache_count > 0 && contents.trace_count == 0))
        hlo = add_hlo(builder, &contents, SNAPSHOT_HLO);
    for (size_t at = 0; !hlo && contents.text_count > 0 && at < folder->file_count; at++) {
        if (is_listed(&folder->files[at]) && is_text(kind_of(builder, &folder->files[at])))
            add_text(builder, &contents, at);
    }
    if (contents.profile_count > 0)
        (sessions_place_is_lone(builder) ? add_lone_profile : add_profiles)(builder, &contents);
    if (contents.run_name)
        add_run(builder, contents.run_name, trace);
    if (folder->reason && folder->path[0]) {
        struct err why = ERR_INIT;
        err_set(&why, ERR_io, ERR_NO_OFFSET, "%s", strerror(folder->reason));
        sessions_folder_problem(builder, memory_pool_format(&builder->snapshot->pool, "%s/", folder->path), NULL, &why,
                                NULL);
    }
    for (size_t at = 0; at < folder->file_count; at++) {
        struct err why = sessions_reason(builder, &folder->files[at]);
        enum names_kind kind = kind_of(builder, &folder->files[at]);
        bool is_refused = sessions_place_is_lone(builder) && kind == NAMES_OTHER && !folder->files[at].archive;
        if (!err_is_set(&why) && is_refused)
            why = *builder->lone_refusal;
        if (!err_is_set(&why) && is_refused)
            err_set(&why, ERR_unsupported, ERR_NO_OFFSET,
                    "is not a trace, not an HLO file, not a profile and no text (%s)",
                    analysis_kind_name(builder->lone_kind));
        if (err_is_set(&why))
            sessions_folder_problem(builder, contents.files[at].path, &contents.files[at], &why,
                                    kind == NAMES_TRACE ? trace : hlo);
    }
}
