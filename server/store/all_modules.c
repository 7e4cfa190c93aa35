/* SPDX-License-Identifier: Apache-2.0
 * all_modules.c: see all_modules.h. How they are read: all_modules_read.c. */
#include "server/store/all_modules_read.h"

#include "server/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* ---- listing ------------------------------------------------------------------- */

static void entry_add(struct all_modules *all, const struct all_modules_entry *entry)
{
    all->entries = memory_grow(all->entries, &all->entry_capacity, all->entry_count + 1, sizeof(*all->entries));
    all->entries[all->entry_count++] = *entry;
}

static void file_list(struct all_modules *all, size_t at)
{
    struct all_modules_file *file = &all->files[at];
    const struct analysis_contents *contents = file->opened.contents;
    struct all_modules_entry entry = {.file_at = at, .figures_at = SIZE_MAX};
    if (file->group)
        snapshot_module_id(entry.id, all->session, file->group->stem);
    if (!contents || (file->group && contents->program_count == 0)) {
        entry_add(all, &entry);
        return;
    }
    for (size_t program = 0; program < (file->group ? 1 : contents->program_count); program++) {
        entry.program = &contents->programs[program];
        entry.program_at = program;
        if (!file->group)
            snapshot_module_id(entry.id, all->session, entry.program->key);
        entry_add(all, &entry);
    }
}

static void file_name(struct all_modules *all, const struct snapshot_host *host, size_t at)
{
    struct all_modules_file *file = &all->files[at];
    *file = (struct all_modules_file){.err = ERR_INIT};
    if (all->session->kind == SNAPSHOT_TRACE) {
        file->host = host ? host : &all->session->hosts[at];
        file->file = file->host->file;
    } else {
        file->group = &all->session->groups[at];
        file->file = file->group->file;
    }
}

/* `texts`: what those of the session say. */
static void file_open(struct all_modules *all, size_t at, const struct capacity_spaces *texts)
{
    struct capacity_spaces spaces;
    struct all_modules_file *file = &all->files[at];
    store_open(all->store, &file->file->place, &file->opened, &file->err);
    const struct analysis_contents *contents = file->opened.contents;
    if (file->group && contents && contents->program_count == 0)
        err_set(&file->err, ERR_unsupported, ERR_NO_OFFSET, "holds no HLO program");
    if (file->host && contents)
        file->has_runs = contents->has_tpu_plane || contents->has_gpu_plane;
    capacity_spaces_find(texts, NULL, all->session, file->group, contents, &spaces);
    capacity_of_spaces(&spaces, &file->capacity);
    file->entry_first = all->entry_count;
    file_list(all, at);
    file->entry_count = all->entry_count - file->entry_first;
}

void all_modules_open(struct store *store, const struct snapshot_session *session, const struct snapshot_host *host,
                      const char *own_rules, struct all_modules *all)
{
    const char *everywhere = store_category_rules(store);
    *all = (struct all_modules){.store = store, .session = session};
    if (own_rules)
        all->category_rules = memory_format("%s\n%s", own_rules, everywhere ? everywhere : "");
    all->file_count = session->kind != SNAPSHOT_TRACE ? session->group_count : host ? 1 : session->host_count;
    all->files = memory_new((all->file_count + 1) * sizeof(*all->files));
    const struct files_place **places = memory_new((all->file_count + 1) * sizeof(*places));
    for (size_t at = 0; at < all->file_count; at++) {
        file_name(all, host, at);
        places[at] = &all->files[at].file->place;
    }
    store_read_contents(store, places, all->file_count);
    free(places);
    struct capacity_spaces texts;
    capacity_spaces_of_texts(session, &texts);
    for (size_t at = 0; at < all->file_count; at++)
        file_open(all, at, &texts);
    map_init_of(&all->figures_of, memory_new, 0);
    map_init_of(&all->figures_of_name, memory_new, 0);
}

void all_modules_choose(struct all_modules *all, const struct capacity *chosen)
{
    for (size_t at = 0; at < all->file_count; at++)
        capacity_take(&all->files[at].capacity, chosen);
}

void all_modules_close(struct all_modules *all)
{
    for (size_t at = 0; at < all->figures_count; at++)
        subjects_close(&all->figures[at].subject), free(all->figures[at].key);
    for (size_t at = 0; at < all->file_count; at++) {
        subjects_close(&all->files[at].runs);
        cache_release(&all->files[at].digests_hold);
        store_close(&all->files[at].opened);
    }
    free(all->files);
    free(all->entries);
    free(all->figures);
    free(all->category_rules);
    map_free(&all->figures_of);
    map_free(&all->figures_of_name);
    *all = (struct all_modules){0};
}

/* ---- what is known ------------------------------------------------------------------ */

struct all_modules_wanted {
    const struct all_modules *all;
    const char *key;
};

static bool is_key(const void *context, uint64_t at)
{
    const struct all_modules_wanted *wanted = context;
    return strcmp(wanted->all->figures[at].key, wanted->key) == 0;
}

/* "DIGEST", of a trace of GPUs "DIGEST gpu", and of a question's own rules "DIGEST SHA-256"; "" where there is no
 * digest. */
static char *figures_key(const struct all_modules *all, const struct analysis_program *program, const char *digest)
{
    char rules[SHA256_TEXT_SIZE];
    const char *platform = program->is_of_gpu ? " gpu" : "";
    if (digest[0] == '\0')
        return memory_text(digest);
    if (!all->category_rules)
        return memory_format("%s%s", digest, platform);
    sha256_text(all->category_rules, strlen(all->category_rules), rules);
    return memory_format("%s%s %s", digest, platform, rules);
}

void all_modules_join(struct all_modules *all, size_t file_at)
{
    const struct all_modules_digests *digests = all->files[file_at].digests;
    for (size_t at = 0; at < all->files[file_at].entry_count; at++) {
        struct all_modules_entry *entry = &all->entries[all->files[file_at].entry_first + at];
        if (!entry->program)
            continue;
        char *key = figures_key(all, entry->program, digests->programs[entry->program_at].key);
        const struct all_modules_wanted wanted = {all, key};
        uint64_t hash = hash_text(key, 0), found = map_find(&all->figures_of, hash, is_key, &wanted);
        if (found == MAP_FREE) {
            all->figures =
                memory_grow(all->figures, &all->figures_capacity, all->figures_count + 1, sizeof(*all->figures));
            all->figures[all->figures_count] = (struct all_modules_figures){
                .key = key, .file_at = file_at, .program = entry->program, .err = ERR_INIT};
            if (key[0] == '\0')
                all->figures[all->figures_count].err = digests->programs[entry->program_at].err;
            else {
                map_add(&all->figures_of, hash, all->figures_count);
                map_add(&all->figures_of_name, all_modules_name_hash(entry->program), all->figures_count);
            }
            found = all->figures_count++;
        } else {
            free(key);
        }
        entry->figures_at = (size_t)found;
    }
}

char *all_modules_digests_key(const struct all_modules_file *file)
{
    char *identity = files_identity_text(&file->opened.identity), *key = memory_format("digests %s", identity);
    free(identity);
    return key;
}

char *all_modules_runs_key(const struct all_modules_file *file)
{
    const struct subjects_place place = {.kind = ANALYSIS_RUNS};
    return subjects_key(&place, &file->opened.identity);
}

void all_modules_look(struct all_modules *all)
{
    struct cache *cache = store_cache(all->store);
    for (size_t at = 0; at < all->file_count; at++) {
        struct all_modules_file *file = &all->files[at];
        if (all_modules_needs_digests(file)) {
            char *key = all_modules_digests_key(file);
            file->digests = cache_get(cache, STORE_DIGESTS, key, NULL, &file->digests_hold, &file->err);
            free(key);
            if (file->digests)
                all_modules_join(all, at);
        }
        if (all_modules_needs_runs(file)) {
            struct err err = ERR_INIT;
            char *key = all_modules_runs_key(file);
            file->is_runs_known =
                subjects_find_kept(all->store, ANALYSIS_RUNS, key, &file->runs, &err) || err_is_set(&err);
            free(key);
        }
    }
    for (size_t at = 0; at < all->figures_count; at++) {
        struct all_modules_figures *figures = &all->figures[at];
        if (all_modules_needs_figures(figures))
            subjects_find_kept(all->store, ANALYSIS_FIGURES, figures->key, &figures->subject, &figures->err);
    }
}

bool all_modules_is_complete(const struct all_modules *all)
{
    for (size_t at = 0; at < all->file_count; at++)
        if (all_modules_needs_digests(&all->files[at]) || all_modules_needs_runs(&all->files[at]))
            return false;
    for (size_t at = 0; at < all->figures_count; at++)
        if (all_modules_needs_figures(&all->figures[at]))
            return false;
    return true;
}

/* ---- what is asked ------------------------------------------------------------------------ */

struct analysis_module_use *all_modules_uses(const struct all_modules *all)
{
    struct analysis_module_use *uses = memory_new((all->entry_count + 1) * sizeof(*uses));
    for (size_t at = 0; at < all->entry_count; at++) {
        const struct all_modules_entry *entry = &all->entries[at];
        const struct all_modules_file *file = &all->files[entry->file_at];
        const struct all_modules_figures *figures =
            entry->figures_at != SIZE_MAX ? &all->figures[entry->figures_at] : NULL;
        const struct err *err = figures && err_is_set(&figures->err) ? &figures->err : &file->err;
        const char *name = entry->program ? entry->program->name : file->group ? file->group->stem : file->file->name;
        uses[at] = (struct analysis_module_use){
            .id = entry->id[0] ? entry->id : NULL,
            .name = name,
            .key = file->group      ? file->group->stem
                   : entry->program ? entry->program->key
                                    : name,
            .host_id = file->host ? file->host->id : NULL,
            .host = file->host ? file->host->name : NULL,
            .file = file->file->path,
            .figures = figures ? figures->subject.core : NULL,
            .runs = file->runs.core,
            .capacity = capacity_core(&file->capacity),
            .code = err->code,
            .reason = err->text,
        };
    }
    return uses;
}

struct analysis_modules_read all_modules_progress(const struct all_modules *all)
{
    struct analysis_modules_read read = {.distinct_count = all->figures_count};
    for (size_t at = 0; at < all->file_count; at++) {
        read.host_count += all->files[at].host != NULL;
        read.runs_count += all->files[at].has_runs;
        read.runs_known_count += all->files[at].has_runs && all->files[at].is_runs_known;
    }
    return read;
}

static void key_add(struct buf *buf, const char *text) { buf_format(buf, "%zu:%s ", strlen(text), text); }

static void key_write(const void *context, struct buf *buf)
{
    const struct all_modules *all = context;
    for (size_t at = 0; at < all->file_count; at++) {
        const struct all_modules_file *file = &all->files[at];
        char *identity = files_identity_text(&file->opened.identity);
        key_add(buf, identity);
        key_add(buf, file->host ? file->host->id : file->group->stem);
        key_add(buf, file->file->path);
        key_add(buf, file->err.text);
        buf_format(buf, "%llu %llu %d%d ", (unsigned long long)file->capacity.bytes,
                   (unsigned long long)file->capacity.half_bytes, file->capacity.is_physical, file->capacity.is_of_gpu);
        key_add(buf, file->capacity.source);
        key_add(buf, file->capacity.device ? file->capacity.device : "");
        free(identity);
    }
    for (size_t at = 0; at < all->figures_count; at++)
        if (err_is_set(&all->figures[at].err))
            buf_format(buf, "%zu ", at), key_add(buf, all->figures[at].err.text);
    key_add(buf, all->session->id);
    key_add(buf, all->category_rules ? all->category_rules : "");
}

char *all_modules_key(const struct all_modules *all)
{
    struct buf buf = BUF_INIT;
    char digest[SHA256_TEXT_SIZE];
    memory_write(&buf, key_write, all);
    sha256_text(buf.data, buf.length, digest);
    buf_free(&buf);
    return memory_text(digest);
}
