/* SPDX-License-Identifier: Apache-2.0
 * cmd_top.c: what holds the memory of device profiles, and of allocator snapshots at a moment, in a terminal, as JSON
 * or CSV. */
#include "analysis/analysis.h"
#include "server/base/log.h"
#include "server/base/memory.h"
#include "server/cmd/commands.h"
#include "server/cmd/options.h"
#include "server/cmd/print_answer.h"
#include "server/files/files.h"
#include "server/files/path_kind.h"
#include "server/gather/index.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const FILTER_NAMES[OPTIONS_FILTER_COUNT] = {
    [OPTIONS_FOCUS] = "focus",       [OPTIONS_IGNORE] = "ignore",
    [OPTIONS_HIDE] = "hide",         [OPTIONS_SHOW] = "show",
    [OPTIONS_TAG] = "tag",           [OPTIONS_SHOW_FROM] = "show_from",
    [OPTIONS_TAGFOCUS] = "tagfocus", [OPTIONS_TAGIGNORE] = "tagignore",
};

struct question {
    const struct options *options;
    struct analysis_use *uses;
    size_t use_count, use_capacity, read_count;
    char **found; /* paths of the uses that were found in folders and archives */
    size_t found_count, found_capacity;
    bool has_lost_base; /* one that cannot be taken away */
    struct analysis_param *params;
    size_t param_count, param_capacity;
    struct unread_files unread;
};

static void add_param(struct question *question, const char *name, const char *value)
{
    question->params =
        memory_grow(question->params, &question->param_capacity, question->param_count + 1, sizeof(*question->params));
    question->params[question->param_count++] = (struct analysis_param){name, value};
}

/* A snapshot of PyTorch, whatever it is named; any other pickle is refused by whoever reads those. */
static bool is_snapshot(const struct file *file)
{
    struct err ignored = ERR_INIT;
    enum analysis_kind kind = ANALYSIS_KIND_UNKNOWN;
    analysis_identify(files_source(file), &kind, NULL, &ignored);
    return kind == ANALYSIS_KIND_TORCH_SNAPSHOT || kind == ANALYSIS_KIND_PICKLE;
}

/* Keeps a path for as long as the question lives. */
static const char *path_keep(struct question *question, char *path)
{
    question->found =
        memory_grow(question->found, &question->found_capacity, question->found_count + 1, sizeof(*question->found));
    question->found[question->found_count++] = path;
    return path;
}

/* One that cannot be read is named and left out, as long as another can. */
static void read_one(struct question *question, const struct files_place *place, const char *path, bool is_base)
{
    struct analysis_reading reading = {.kind = ANALYSIS_PROFILE};
    struct err err = ERR_INIT;
    struct file *file = files_open(place, &err);
    question->uses =
        memory_grow(question->uses, &question->use_capacity, question->use_count + 1, sizeof(*question->uses));
    struct analysis_use *use = &question->uses[question->use_count];
    *use = (struct analysis_use){.id = path, .name = path, .is_base = is_base};
    if (file) {
        const struct files_identity *identity = files_identity(file);
        if (is_snapshot(file)) {
            reading.kind = ANALYSIS_TRACE;
            use->moment =
                is_base && question->options->base_moment ? question->options->base_moment : question->options->moment;
            use->memory = question->options->memory;
        }
        use->subject = analysis_subject_read(files_source(file), &reading, &err);
        use->size_bytes = identity->size_bytes;
        use->modified_at_ms = identity->modified_at_ns / 1000000;
        files_close(file);
    }
    if (use->subject && reading.kind == ANALYSIS_TRACE)
        analysis_trace_cut(use->subject, &err);
    if (err_is_set(&err))
        unread_files_add(&question->unread, path, &err);
    question->has_lost_base |= is_base && !use->subject;
    if (!use->subject)
        return;
    question->use_count++;
    question->read_count += !is_base;
}

/* Reads the last profile of the newest series and prints which it is; false: there is none. */
static bool last_profile_read(struct question *question, const struct snapshot *snapshot, const char *path,
                              bool is_base)
{
    const struct snapshot_session *session = NULL;
    for (size_t at = 0; at < snapshot->session_count && !session; at++)
        if (snapshot->sessions[at]->kind == SNAPSHOT_PROFILES && snapshot->sessions[at]->profile_count > 0)
            session = snapshot->sessions[at];
    if (!session)
        return false;
    const struct snapshot_file *file = snapshot_profile(session, NULL)->file;
    const char *whole =
        path_keep(question, file->place.member ? memory_text(file->path) : memory_format("%s/%s", path, file->path));
    log_line("%s: the last of %zu device profile%s in %s", whole, session->profile_count,
             session->profile_count == 1 ? "" : "s", session->name);
    read_one(question, &file->place, whole, is_base);
    return true;
}

/* Those in an archive, as if each was named; files of a folder are named by the user. False: there is none. */
static bool snapshots_read(struct question *question, const struct snapshot *snapshot, bool is_base)
{
    struct snapshot_walk walk = {0};
    bool is_any = false;
    for (const struct snapshot_host *host; (host = snapshot_next_allocator(snapshot, &walk));) {
        if (!host->file->place.member)
            continue;
        read_one(question, &host->file->place, path_keep(question, memory_text(host->file->path)), is_base);
        is_any = true;
    }
    return is_any;
}

/* Reads the profiles of a folder, of an archive, or of a folder in one. */
static void read_many(struct question *question, const char *path, bool is_base)
{
    struct index *index = index_new();
    index_add(index, path);
    index_scan_once(index);
    struct snapshot *snapshot = index_hold(index);
    size_t unread_count = question->unread.count;
    bool is_archive = !path_kind_is_folder(path), is_any = is_archive && snapshots_read(question, snapshot, is_base);
    is_any = is_any || last_profile_read(question, snapshot, path, is_base);
    unread_files_add_problems(&question->unread, snapshot);
    question->has_lost_base |= is_base && !is_any;
    if (!is_any && question->unread.count == unread_count)
        log_line("%s: holds no device profile%s", path, is_archive ? " and no snapshot" : "");
    index_release(index, snapshot);
    index_free(index);
}

/* A zip archive of several files; one of a single file is read as that. */
static bool is_archive(const char *path)
{
    const struct files_place place = {.root = path, .path = ""};
    struct err unsaid = ERR_INIT;
    enum analysis_kind kind = ANALYSIS_KIND_UNKNOWN;
    struct file *file = remote_address_is(path) ? NULL : files_open(&place, &unsaid);
    if (file)
        analysis_identify(files_source(file), &kind, NULL, &unsaid);
    files_close(file);
    return kind == ANALYSIS_KIND_ARCHIVE;
}

static void read_path(struct question *question, const char *path, bool is_base)
{
    const struct files_place place = {.root = path, .path = ""};
    if (path_kind_is_folder(path) || path_kind_is_inside(path) || is_archive(path))
        read_many(question, path, is_base);
    else
        read_one(question, &place, path, is_base);
}

/* Two moments of one snapshot: it is its own base. */
static bool is_own_base(const struct options *options)
{
    return options->base_moment && options->bases.count == 0 && options->diff_bases.count == 0;
}

static const struct options_list *bases_of(const struct options *options)
{
    return options->bases.count ? &options->bases : is_own_base(options) ? &options->paths : &options->diff_bases;
}

/* Reads all; false when nothing is left, or a base cannot be taken away. */
static bool read_all(struct question *question)
{
    const struct options *options = question->options;
    const struct options_list *bases = bases_of(options);
    for (size_t at = 0; at < options->paths.count; at++)
        read_path(question, options->paths.items[at], false);
    for (size_t at = 0; at < bases->count; at++)
        read_path(question, bases->items[at], true);
    return question->read_count > 0 && !question->has_lost_base;
}

static int cmd_top_answer(struct question *question)
{
    const struct options *options = question->options;
    struct analysis_question asked = {
        .tool = "device_memory", .view = "top", .uses = question->uses, .use_count = question->use_count};
    char limit[24];
    snprintf(limit, sizeof(limit), "%lld", options->limit < 0 ? (long long)UINT32_MAX : (long long)options->limit);
    add_param(question, "format", options->is_json ? "json" : options->is_csv ? "csv" : "text");
    add_param(question, "sort", "-self,name,-total");
    add_param(question, "limit", limit);
    add_param(question, "zeros", "0");
    add_param(question, "strict", "1");
    add_param(question, "by", options->by);
    add_param(question, "metric", options->metric);
    add_param(question, "machinery", options->has_machinery ? "1" : "0");
    add_param(question, "noinlines", options->is_without_inlined ? "1" : "0");
    add_param(question, "subtract", options->bases.count || is_own_base(options) ? "1" : "0");
    add_param(question, "normalize", options->is_normalized ? "1" : "0");
    for (int filter = 0; filter < OPTIONS_FILTER_COUNT; filter++) {
        for (size_t at = 0; at < options->filters[filter].count; at++)
            add_param(question, FILTER_NAMES[filter], options->filters[filter].items[at]);
    }
    asked.params = question->params;
    asked.param_count = question->param_count;
    return print_answer(&asked,
                        options->is_json  ? PRINT_JSON
                        : options->is_csv ? PRINT_CSV
                                          : PRINT_TEXT,
                        &question->unread);
}

static const char *fault_of(const struct options *options)
{
    if (options->paths.count == 0)
        return "top wants one or more profiles or snapshots (--help tells more)";
    if (options->is_json && options->is_csv)
        return "--json and --csv exclude each other";
    if (options->bases.count && options->diff_bases.count)
        return "--base and --diff-base exclude each other";
    return NULL;
}

int cmd_top(const struct options *options)
{
    struct question question = {.options = options};
    const char *fault = fault_of(options);
    if (fault)
        log_line("%s", fault);
    int status = !fault && read_all(&question) ? cmd_top_answer(&question) : COMMANDS_UNUSABLE;
    for (size_t at = 0; at < question.use_count; at++)
        analysis_subject_free((struct analysis_subject *)(uintptr_t)question.uses[at].subject);
    for (size_t at = 0; at < question.found_count; at++)
        free(question.found[at]);
    free(question.found);
    free(question.uses);
    free(question.params);
    unread_files_free(&question.unread);
    return status;
}
