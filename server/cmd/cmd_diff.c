/* SPDX-License-Identifier: Apache-2.0
 * cmd_diff.c: what differs between two programs at their peaks, between two device profiles or moments of allocator
 * snapshots, in a terminal, as JSON or Markdown. */
#include "server/base/log.h"
#include "server/cmd/category_rules.h"
#include "server/cmd/commands.h"
#include "server/cmd/each_module.h"
#include "server/cmd/options.h"
#include "server/cmd/print_answer.h"
#include "server/files/path_kind.h"
#include "server/gather/index.h"
#include "server/store/account.h"
#include "server/store/modules.h"
#include "server/store/subjects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE_COUNT = 2 };

/* What one path holds: the program that is meant, or the device profile. */
struct side {
    const char *path, *module; /* module: name, name(id) or id; NULL: the largest */
    struct index *index;
    struct snapshot *snapshot;
    struct modules modules; /* of the session with the program */
    const struct modules_entry *entry;
    struct subject subject;
    const struct snapshot_profile *profile; /* the last one; counts where there is no program */
    const struct snapshot_session
        *session;                          /* with an allocator snapshot, the last one; counts where there is neither */
    const struct snapshot_host *allocator; /* of the session, the worst */
    const char *moment;                    /* of the allocator; NULL: the peak */
    struct unread_files unread;
};

/* The program of all sessions below the path; the modules of the others are closed again. */
static void look_into(struct side *side, struct store *store, const struct snapshot_session *session)
{
    struct modules modules;
    if (session->profile_count > 0)
        side->profile = snapshot_profile(session, NULL);
    if (session->allocator_count > 0) {
        side->session = session;
        side->allocator = subjects_allocator(store, session);
    }
    modules_open(store, session, NULL, &modules);
    modules_read_totals(store, &modules);
    unread_files_add_of(&side->unread, &modules, NULL);
    const struct modules_entry *found = modules_largest(&modules, side->module);
    bool is_better = found && (!side->entry || found->largest_total_bytes > side->entry->largest_total_bytes);
    if (is_better) {
        modules_close(&side->modules);
        side->modules = modules;
        side->entry = found;
    } else {
        modules_close(&modules);
    }
}

static bool is_of_profile(const struct side *side) { return !side->entry && (side->profile || side->allocator); }

static bool is_of_moment(const struct side *side) { return !side->entry && !side->profile && side->allocator; }

static bool side_find(struct side *side, struct store *store)
{
    if (path_kind_of(side->path, true) == PATH_KIND_NONE)
        return false;
    side->index = index_new();
    index_add(side->index, side->path);
    index_scan_once(side->index);
    side->snapshot = index_hold(side->index);
    for (size_t at = 0; at < side->snapshot->session_count; at++)
        look_into(side, store, side->snapshot->sessions[at]);
    unread_files_add_problems(&side->unread, side->snapshot);
    if (side->entry || side->profile || side->allocator)
        return true;
    bool is_listed = side->snapshot->root_count == 0 || side->snapshot->roots[0].is_readable;
    if (!is_listed || (!side->module && side->unread.count > 0))
        return false;
    log_line(side->module ? "%s: has no module with that name"
                          : "%s: has no HLO module, no device profile and no allocator snapshot",
             side->path);
    return false;
}

static bool side_read(struct side *side, struct store *store)
{
    struct err err = ERR_INIT;
    struct subjects_place place = {.kind = ANALYSIS_PROFILE};
    if (is_of_moment(side))
        place = subjects_trace(side->session, side->allocator);
    else if (is_of_profile(side))
        place.file = &side->profile->file->place;
    else if (!side->entry->program)
        err = side->entry->file->err;
    else
        place = (struct subjects_place){
            .kind = ANALYSIS_MODULE, .opened = &side->entry->file->opened, .program = side->entry->program};
    bool is_read = !err_is_set(&err) && subjects_open(store, &place, &side->subject, &err);
    if (is_read && is_of_moment(side))
        analysis_trace_cut(side->subject.core, &err);
    const struct snapshot_file *file = is_of_moment(side)    ? side->allocator->file
                                       : is_of_profile(side) ? side->profile->file
                                                             : side->entry->file->file;
    if (err_is_set(&err))
        unread_files_add(&side->unread, file->path, &err);
    return is_read;
}

static void side_close(struct side *side)
{
    subjects_close(&side->subject);
    modules_close(&side->modules);
    if (side->snapshot)
        index_release(side->index, side->snapshot);
    if (side->index)
        index_free(side->index);
}

/* The value of a repeated option for a side: one value is for both. */
static const char *value_for(const struct options_list *list, int side)
{
    return list->count == 0 ? NULL : list->items[list->count > 1 ? side : 0];
}

static struct analysis_use use_of(const struct side *side)
{
    return (struct analysis_use){.subject = side->subject.core,
                                 .name = is_of_moment(side) ? side->allocator->name
                                         : side->profile    ? side->profile->file->name
                                                            : side->path,
                                 .moment = side->moment,
                                 .size_bytes = side->subject.size_bytes,
                                 .modified_at_ms = side->subject.modified_at_ms};
}

/* For profiles, spaces and steps were refused before. */
static int cmd_diff_answer(const struct side *sides, const struct options *options, const char *rules,
                           const struct unread_files *unread)
{
    static const char *const NAMES[][SIDE_COUNT] = {{"space_a", "space_b"}, {"step_a", "step_b"}};
    const struct options_list *lists[] = {&options->spaces, &options->steps};
    const struct analysis_use uses[SIDE_COUNT] = {use_of(&sides[0]), use_of(&sides[1])};
    struct analysis_param params[5] = {{"format", options->is_json       ? "json"
                                                  : options->is_markdown ? "markdown"
                                                                         : "text"}};
    struct analysis_question question = {.tool = "compare", .view = "diff", .uses = uses, .use_count = SIDE_COUNT};
    if (is_of_profile(&sides[0]))
        question.tool = "compare_profiles";
    question.params = params;
    question.param_count = 1;
    question.category_rules = rules;
    for (int list = 0; list < 2; list++) {
        for (int side = 0; side < SIDE_COUNT; side++) {
            const char *value = value_for(lists[list], side);
            if (value)
                params[question.param_count++] = (struct analysis_param){NAMES[list][side], value};
        }
    }
    return print_answer(&question, options->is_json ? PRINT_JSON : PRINT_TEXT, unread);
}

/* Do the two go together, and with the options? */
static bool is_fit(const struct side *sides, const struct options *options)
{
    bool is_profile[] = {is_of_profile(&sides[0]), is_of_profile(&sides[1])};
    if (is_profile[0] != is_profile[1]) {
        log_line(
            "these two cannot be compared: %s is a device profile, in bytes by call stack, %s a compiler's plan, in "
            "bytes by step",
            sides[is_profile[1]].path, sides[is_profile[0]].path);
        return false;
    }
    for (int at = 0; at < SIDE_COUNT && options->moments.count; at++) {
        if (!is_of_moment(&sides[at])) {
            log_line("%s: only allocator snapshots have moments (--at)", sides[at].path);
            return false;
        }
    }
    if (is_profile[0] && (options->spaces.count || options->steps.count || options->modules.count)) {
        log_line("device profiles have no --module, --space or --step");
        return false;
    }
    return true;
}

static const char *fault_of(const struct options *options)
{
    if (options->paths.count != SIDE_COUNT)
        return "diff wants two paths, A and B: dump folders, HLO files, traces, device profiles or snapshots (--help "
               "tells more)";
    if (options->is_json && options->is_markdown)
        return "--json and --markdown exclude each other";
    if (options->modules.count > SIDE_COUNT || options->spaces.count > SIDE_COUNT ||
        options->steps.count > SIDE_COUNT || options->moments.count > SIDE_COUNT)
        return "give --module, --space, --step and --at once, or once for A and once for B";
    return NULL;
}

int cmd_diff(const struct options *options)
{
    const char *fault = fault_of(options);
    struct side sides[SIDE_COUNT] = {{0}};
    int status = COMMANDS_UNUSABLE;
    if (fault) {
        log_line("%s", fault);
        return status;
    }
    char *rules = NULL;
    if (!category_rules_load(options->category_rules, &rules))
        return status;
    struct store *store = store_new(account_default_limit());
    struct unread_files unread = {0};
    bool is_open = true;
    for (int at = 0; at < SIDE_COUNT; at++)
        sides[at].path = options->paths.items[at];
    for (int at = 0; at < SIDE_COUNT && is_open; at++) {
        sides[at].module = value_for(&options->modules, at);
        sides[at].moment = value_for(&options->moments, at);
        is_open = side_find(&sides[at], store);
    }
    is_open = is_open && is_fit(sides, options);
    for (int at = 0; at < SIDE_COUNT && is_open; at++)
        is_open = side_read(&sides[at], store);
    for (int at = 0; at < SIDE_COUNT; at++)
        unread_files_move(&unread, &sides[at].unread,
                          path_kind_of(sides[at].path, false) == PATH_KIND_FOLDER ? sides[at].path : NULL);
    if (is_open)
        status = cmd_diff_answer(sides, options, rules, &unread);
    for (int at = 0; at < SIDE_COUNT; at++)
        side_close(&sides[at]);
    unread_files_free(&unread);
    store_free(store);
    free(rules);
    return status;
}
