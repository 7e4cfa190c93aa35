/* SPDX-License-Identifier: Apache-2.0 */
#include "server/cmd/each_module.h"

#include "server/base/log.h"
#include "server/cmd/commands.h"
#include "server/store/subjects.h"

#include <stdlib.h>
#include <string.h>

struct body *each_module_ask(struct store *store, const struct modules_entry *entry,
                             const struct analysis_question *question, struct err *err)
{
    const struct subjects_place place = {
        .kind = ANALYSIS_MODULE, .opened = &entry->file->opened, .program = entry->program};
    return subjects_answer(store, &place, NULL, question, err, NULL);
}

void each_module_place_open(struct each_module_place *place, const char *path)
{
    place->path = path;
    place->index = index_new();
    index_add(place->index, path);
    index_scan_once_with_texts(place->index, true);
    place->snapshot = index_hold(place->index);
}

void each_module_place_close(struct each_module_place *place)
{
    index_release(place->index, place->snapshot);
    index_free(place->index);
}

int each_module_at(struct store *store, const struct each_module_place *place, const char *wanted,
                   each_module_visit *visit, void *context, struct unread_files *unread)
{
    size_t found_count = 0, good_count = 0;
    const struct snapshot *snapshot = place->snapshot;
    for (size_t at = 0; at < snapshot->session_count; at++) {
        struct modules modules;
        modules_open(store, snapshot->sessions[at], NULL, &modules);
        modules_read_totals(store, &modules);
        modules_sort(&modules);
        unread_files_add_of(unread, &modules, NULL);
        for (size_t i = 0; i < modules.entry_count; i++) {
            const struct modules_entry *entry = &modules.entries[i];
            if (!modules_is_named(entry, wanted))
                continue;
            found_count++;
            if (entry->program)
                good_count += visit(context, snapshot->sessions[at], entry);
            else
                unread_files_add(unread, entry->file->file->path, &entry->file->err);
        }
        modules_close(&modules);
    }
    unread_files_add_problems(unread, snapshot);
    bool is_listed = true;
    for (size_t at = 0; at < snapshot->root_count; at++)
        is_listed &= snapshot->roots[at].is_readable;
    if (found_count == 0 && is_listed && (wanted || unread->count == 0))
        log_line(wanted ? "%s: has no module with that name" : "%s: has no HLO module", place->path);
    return good_count > 0 ? COMMANDS_DONE : COMMANDS_UNUSABLE;
}

int each_module(struct store *store, const char *path, const char *wanted, each_module_visit *visit, void *context,
                struct unread_files *unread)
{
    struct each_module_place place;
    each_module_place_open(&place, path);
    int status = each_module_at(store, &place, wanted, visit, context, unread);
    each_module_place_close(&place);
    return status;
}
