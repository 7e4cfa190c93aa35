/* SPDX-License-Identifier: Apache-2.0 */
#include "server/store/modules.h"

#include "server/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* How many files a session has to be read for its modules. */
static size_t count_files(const struct snapshot_session *session, const struct snapshot_host *host)
{
    if (session->kind != SNAPSHOT_TRACE)
        return session->group_count;
    return host ? 1 : session->host_count;
}

static void file_open(struct store *store, const struct snapshot_session *session, const struct snapshot_host *host,
                      size_t at, struct modules_file *file)
{
    *file = (struct modules_file){.err = ERR_INIT, .totals_err = ERR_INIT};
    if (session->kind == SNAPSHOT_TRACE) {
        file->host = host ? host : &session->hosts[at];
        file->file = file->host->file;
    } else {
        file->group = &session->groups[at];
        file->file = file->group->file;
    }
    store_open(store, &file->file->place, &file->opened, &file->err);
    if (file->group && file->opened.contents && file->opened.contents->program_count == 0) {
        store_close(&file->opened);
        err_set(&file->err, ERR_unsupported, ERR_NO_OFFSET, "holds no HLO program");
    }
}

static void file_close(struct modules_file *file)
{
    cache_release(&file->totals_hold);
    store_close(&file->opened);
}

struct modules_wanted {
    const struct modules *modules;
    const char *id;
};

static bool is_id(const void *context, uint64_t at)
{
    const struct modules_wanted *wanted = context;
    return strcmp(wanted->modules->entries[at].id, wanted->id) == 0;
}

/* For a later host: does an earlier entry have this id? */
static bool is_listed(struct modules *modules, const char *id)
{
    const struct modules_wanted wanted = {modules, id};
    if (!modules->listed.slots)
        map_init_of(&modules->listed, memory_new, modules->entry_count);
    while (modules->listed.count < modules->entry_count)
        map_add(&modules->listed, hash_text(modules->entries[modules->listed.count].id, 0), modules->listed.count);
    return map_find(&modules->listed, hash_text(id, 0), is_id, &wanted) != MAP_FREE;
}

static void add_entry(struct modules *modules, const struct snapshot_session *session, struct modules_entry entry,
                      const char *key)
{
    const struct modules_file *file = entry.file;
    snapshot_module_id(entry.id, session, key);
    entry.key = key;
    if (file->host && file->host != &session->hosts[0] && is_listed(modules, entry.id))
        return;
    modules->entries =
        memory_grow(modules->entries, &modules->entry_capacity, modules->entry_count + 1, sizeof(*modules->entries));
    modules->entries[modules->entry_count++] = entry;
}

static void add_file(struct modules *modules, const struct snapshot_session *session, struct modules_file *file)
{
    const struct analysis_contents *contents = file->opened.contents;
    if (file->group) {
        struct modules_entry entry = {.file = file, .program = contents ? contents->programs : NULL};
        add_entry(modules, session, entry, file->group->stem);
        return;
    }
    for (size_t at = 0; contents && at < contents->program_count; at++) {
        struct modules_entry entry = {.file = file, .program = &contents->programs[at], .program_at = at};
        add_entry(modules, session, entry, contents->programs[at].key);
    }
}

void modules_open(struct store *store, const struct snapshot_session *session, const struct snapshot_host *host,
                  struct modules *modules)
{
    *modules = (struct modules){.file_count = count_files(session, host)};
    modules->files = memory_new(modules->file_count * sizeof(*modules->files));
    for (size_t at = 0; at < modules->file_count; at++) {
        file_open(store, session, host, at, &modules->files[at]);
        add_file(modules, session, &modules->files[at]);
    }
}

const struct analysis_totals *modules_totals(const struct modules_entry *entry, const struct err **err)
{
    const struct modules_file *file = entry->file;
    if (!entry->program || !file->totals) {
        *err = entry->program ? &file->totals_err : &file->err;
        return NULL;
    }
    *err = &file->totals->programs[entry->program_at].err;
    return file->totals->programs[entry->program_at].totals;
}

void modules_read_totals(struct store *store, struct modules *modules)
{
    for (size_t at = 0; at < modules->file_count; at++) {
        struct modules_file *file = &modules->files[at];
        if (file->opened.contents && !file->totals)
            file->totals = store_totals(store, &file->opened, &file->totals_hold, &file->totals_err);
    }
    for (size_t at = 0; at < modules->entry_count; at++) {
        const struct err *err;
        const struct analysis_totals *totals = modules_totals(&modules->entries[at], &err);
        for (size_t space = 0; totals && space < totals->space_count; space++) {
            if (totals->spaces[space].total_bytes <= modules->entries[at].largest_total_bytes)
                continue;
            modules->entries[at].largest_total_bytes = totals->spaces[space].total_bytes;
            modules->entries[at].temporary_bytes = totals->spaces[space].temporary_bytes;
            modules->entries[at].largest_output_bytes = totals->spaces[space].largest_output_bytes;
        }
    }
}

void modules_close(struct modules *modules)
{
    for (size_t at = 0; at < modules->file_count; at++)
        file_close(&modules->files[at]);
    free(modules->files);
    free(modules->entries);
    map_free(&modules->listed);
    *modules = (struct modules){0};
}

int64_t modules_known_count(struct store *store, const struct snapshot_session *session)
{
    struct modules modules = {.file_count = session->host_count};
    bool is_known = true;
    if (session->kind != SNAPSHOT_TRACE)
        return (int64_t)session->group_count;
    int64_t counted = atomic_load(&session->known->module_count);
    if (counted >= 0)
        return counted;
    modules.files = memory_new(modules.file_count * sizeof(*modules.files));
    for (size_t at = 0; at < modules.file_count && is_known; at++) {
        struct modules_file *file = &modules.files[at];
        file->host = &session->hosts[at];
        file->file = file->host->file;
        is_known = store_open_known(store, &file->file->place, &file->file->identity, &file->opened);
        add_file(&modules, session, file);
    }
    int64_t count = is_known ? (int64_t)modules.entry_count : -1;
    modules_close(&modules);
    atomic_store(&session->known->module_count, count); /* of the files as the snapshot has them: stays right */
    return count;
}

/* ---- which one is meant ---- */

bool modules_is_named(const struct modules_entry *entry, const char *wanted)
{
    if (!wanted || strcmp(wanted, entry->id) == 0)
        return true;
    if (entry->file->group && strcmp(wanted, entry->file->group->stem) == 0)
        return true;
    return entry->program && (strcmp(wanted, entry->program->name) == 0 || strcmp(wanted, entry->program->key) == 0);
}

struct modules_entry *modules_largest(const struct modules *modules, const char *wanted)
{
    struct modules_entry *largest = NULL;
    for (size_t at = 0; at < modules->entry_count; at++) {
        struct modules_entry *entry = &modules->entries[at];
        bool is_larger = !largest || (entry->program &&
                                      (!largest->program || entry->largest_total_bytes > largest->largest_total_bytes));
        if (is_larger && modules_is_named(entry, wanted))
            largest = entry;
    }
    return largest;
}

static int by_total(const void *a, const void *b)
{
    const struct modules_entry *x = a, *y = b;
    if (x->largest_total_bytes != y->largest_total_bytes)
        return x->largest_total_bytes < y->largest_total_bytes ? 1 : -1;
    return strcmp(x->id, y->id);
}

void modules_sort(struct modules *modules)
{
    if (modules->entry_count)
        qsort(modules->entries, modules->entry_count, sizeof(*modules->entries), by_total);
}

/* A trace that ends early may have lost the programs: then it is not known that there are none. */
static bool report_cut(const struct modules *modules, struct err *err, const char **file)
{
    for (size_t at = 0; at < modules->file_count; at++) {
        const struct analysis_contents *contents = modules->files[at].opened.contents;
        if (contents == NULL || !contents->is_cut)
            continue;
        *file = modules->files[at].file->path;
        err_set(err, ERR_truncated, contents->cut_offset_bytes,
                "the file was cut while it was written, before its first HLO program");
        return true;
    }
    return false;
}

/* The first file's error, when a session's files all failed. */
static bool modules_report(const struct modules *modules, const char *id, struct err *err, const char **file)
{
    for (size_t at = 0; at < modules->file_count; at++) {
        if (err_is_set(&modules->files[at].err)) {
            *err = modules->files[at].err;
            *file = modules->files[at].file->path;
            return false;
        }
    }
    if (id == NULL && report_cut(modules, err, file))
        return false;
    return err_set(err, ERR_notfound, ERR_NO_OFFSET,
                   id ? "the session has no module of that id" : "the session has no HLO module");
}

static bool find_by_id(struct store *store, const struct snapshot_session *session, const struct snapshot_host *host,
                       const char *id, struct modules *modules)
{
    size_t count = count_files(session, host);
    modules->files = memory_new(count * sizeof(*modules->files));
    for (size_t at = 0; at < count; at++) {
        char group_id[SNAPSHOT_PART_ID_SIZE];
        if (session->kind != SNAPSHOT_TRACE) {
            snapshot_module_id(group_id, session, session->groups[at].stem);
            if (strcmp(group_id, id) != 0)
                continue;
        }
        struct modules_file *file = &modules->files[modules->file_count++];
        file_open(store, session, host, at, file);
        size_t before = modules->entry_count;
        add_file(modules, session, file);
        for (size_t entry = before; entry < modules->entry_count; entry++) {
            if (strcmp(modules->entries[entry].id, id) == 0 && modules->entries[entry].program) {
                modules->entries[0] = modules->entries[entry];
                return true;
            }
        }
    }
    return false;
}

static bool find_largest(struct store *store, const struct snapshot_session *session, const struct snapshot_host *host,
                         struct modules *modules)
{
    modules_open(store, session, host, modules);
    modules_read_totals(store, modules);
    const struct modules_entry *largest = modules_largest(modules, NULL);
    if (!largest || !largest->program)
        return false;
    modules->entries[0] = *largest;
    return true;
}

bool modules_find(struct store *store, const struct snapshot_session *session, const struct snapshot_host *host,
                  const char *id, struct modules *modules, struct err *err, const char **file)
{
    *modules = (struct modules){0};
    *file = NULL;
    if (id ? find_by_id(store, session, host, id, modules) : find_largest(store, session, host, modules))
        return true;
    modules_report(modules, id, err, file);
    modules_close(modules);
    return false;
}
