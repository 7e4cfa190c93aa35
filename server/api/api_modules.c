/* SPDX-License-Identifier: Apache-2.0 */
#include "server/api/api.h"

#include "server/api/listing.h"
#include "server/base/memory.h"
#include "server/gather/dump_beside.h"
#include "server/store/capacity.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- notes --------------------------------------------------------------------- */

static void write_note(struct json *json, const char *code, uint64_t count, const char *text)
{
    json_object_begin(json);
    json_key_text(json, "code", code);
    json_key_uint(json, "count", count);
    json_key_text(json, "text", text);
    json_object_end(json);
}

static void write_file_notes(struct json *json, const struct modules_file *file)
{
    const struct analysis_contents *contents = file->opened.contents;
    char text[512];
    if (err_is_set(&file->err) && file->host) {
        snprintf(text, sizeof(text), "%s: %s", file->file->name, file->err.text);
        write_note(json, err_name(file->err.code), 1, text);
    }
    for (size_t at = 0; contents && at < contents->note_count; at++) {
        const struct analysis_note *note = &contents->notes[at];
        bool names_file = strcmp(note->code, "cut") == 0;
        if (names_file)
            snprintf(text, sizeof(text), "%s: %s", file->file->name, note->text);
        write_note(json, note->code, note->count, names_file ? text : note->text);
    }
}

void api_write_notes(struct json *json, const struct snapshot_session *session, const struct modules *modules)
{
    bool is_read = modules->file_count > 0;
    for (size_t at = 0; at < modules->file_count; at++) {
        const struct analysis_contents *contents = modules->files[at].opened.contents;
        is_read &= contents != NULL && !contents->is_cut;
    }
    json_key_array(json, "notes");
    for (size_t at = 0; at < modules->file_count; at++)
        write_file_notes(json, &modules->files[at]);
    if (session->kind == SNAPSHOT_TRACE && is_read && modules->entry_count == 0)
        write_note(json, "no_module", 1,
                   "the trace holds no HLO program: nothing was compiled or run by XLA while it was taken, or the "
                   "profiler was asked to leave the programs out");
    if (session->kind != SNAPSHOT_TRACE && session->is_text_only)
        write_note(json, "text_only", 1,
                   "the dump holds no module and no buffer assignment, only other texts: run again with "
                   "--xla_dump_hlo_as_proto to get files that can be opened");
    json_array_end(json);
}

/* ---- the list --------------------------------------------------------------------- */

static const char *name_of(const struct modules_entry *entry)
{
    return entry->program ? entry->program->name : entry->file->group->stem;
}

static int by_name(const void *a, const void *b)
{
    const struct modules_entry *x = a, *y = b;
    return strcmp(name_of(x), name_of(y)) ?: strcmp(x->id, y->id);
}

static int by_total(const void *a, const void *b)
{
    const struct modules_entry *x = a, *y = b;
    return ORDER(y->largest_total_bytes, x->largest_total_bytes) ?: by_name(a, b);
}

/* Leaves only the entries that match; returns how many there were. */
static size_t api_modules_choose(struct modules *modules, const struct listing *listing)
{
    size_t total = modules->entry_count, kept = 0;
    for (size_t at = 0; at < total; at++) {
        const struct modules_entry *entry = &modules->entries[at];
        if (listing_matches(listing, entry->program ? entry->program->key : entry->file->group->stem) ||
            listing_matches(listing, entry->file->file->name))
            modules->entries[kept++] = *entry;
    }
    modules->entry_count = kept;
    if (kept)
        qsort(modules->entries, kept, sizeof(*modules->entries),
              strcmp(listing->sort, "name") == 0 ? by_name : by_total);
    return total;
}

static void write_spaces(struct json *json, const struct analysis_totals *totals,
                         const struct capacity_spaces *capacities)
{
    struct capacity_stated core[CAPACITY_SPACES];
    capacity_spaces_core(capacities, core);
    json_key_array(json, "spaces");
    for (size_t at = 0; totals && at < totals->space_count; at++) {
        json_object_begin(json);
        json_key_int(json, "space", totals->spaces[at].space);
        json_key_text(json, "name", totals->spaces[at].name);
        json_key_uint(json, "total_bytes", totals->spaces[at].total_bytes);
        analysis_fit_write(json, "fit", capacity_spaces_at(core, capacities->count, totals->spaces[at].space),
                           totals->spaces[at].total_bytes, totals->spaces[at].name);
        json_object_end(json);
    }
    json_array_end(json);
}

static void write_module(struct json *json, const struct snapshot_session *session, const struct capacity_spaces *texts,
                         const struct modules_entry *entry)
{
    const struct modules_file *file = entry->file;
    const struct err *err;
    const struct analysis_totals *totals = modules_totals(entry, &err);
    char program_id[24] = "0";
    if (entry->program)
        snprintf(program_id, sizeof(program_id), "%llu", (unsigned long long)entry->program->program_id);
    json_object_begin(json);
    json_key_text(json, "id", entry->id);
    json_key_text(json, "name", name_of(entry));
    json_key_text(json, "key", entry->program ? entry->program->key : file->group->stem);
    json_key_text(json, "program_id", program_id);
    json_key_text(json, "host", file->host ? file->host->id : NULL);
    json_key_text(json, "file", file->file->path);
    json_key_text(json, "stage", file->group ? names_stage_text(file->group->stage) : NULL);
    json_key_uint(json, "size_bytes", entry->program ? entry->program->size_bytes : file->file->identity.size_bytes);
    json_key_bool(json, "has_buffer_assignment", totals && totals->has_buffer_assignment);
    struct capacity_spaces capacities;
    capacity_spaces_find(texts, NULL, session, file->group, file->opened.contents, &capacities);
    write_spaces(json, totals, &capacities);
    json_key_uint(json, "largest_total_bytes", entry->largest_total_bytes);
    api_write_error(json, totals ? NULL : err);
    json_object_end(json);
}

/* Keeps the text for later requests, if no part can be different by then. */
static void known_keep(_Atomic(char *) *known, const struct buf *written)
{
    char *none = NULL, *text = memory_format("%.*s", (int)written->length, written->data);
    if (!atomic_compare_exchange_strong(known, &none, text))
        free(text);
}

/* The chips that modules of a dump were compiled for, each once. */
struct chips {
    const char *devices[8];
    size_t count;
    bool may_pass; /* what a file says could not be read now */
};

static bool is_said(struct chips *said, const char *device)
{
    for (size_t at = 0; at < said->count; at++)
        if (strcmp(said->devices[at], device) == 0)
            return true;
    if (said->count < sizeof(said->devices) / sizeof(said->devices[0]))
        said->devices[said->count++] = device;
    return false;
}

static void write_chip(struct json *json, const struct snapshot_session *session, const struct snapshot_group *group,
                       struct chips *said)
{
    struct analysis_chip chip;
    struct dump_beside_lost lost = {.file = ""};
    const char *ending;
    bool is_told = dump_beside_chip(session, group, &chip, &ending, &lost);
    said->may_pass |= lost.file[0] && err_is_transient(lost.err.code);
    if (!is_told || is_said(said, chip.device.name))
        return;
    size_t folder_length = strlen(group->file->path) - strlen(group->file->name);
    char *file = memory_format("%.*s%s%s", (int)folder_length, group->file->path, group->stem, ending);
    json_object_begin(json);
    json_key_text(json, "kind", chip.device.title);
    json_key_text(json, "plane", "");
    json_key_text(json, "file", file);
    json_key_uint(json, "count", 1);
    json_key_int(json, "memory_bytes",
                 (int64_t)(chip.memory_bytes > 0 ? chip.memory_bytes : chip.device.physical_bytes));
    json_key_text(json, "device", chip.device.name);
    json_key_known(json, "available_bytes",
                   chip.device.available_bytes > 0 ? (int64_t)chip.device.available_bytes : -1);
    json_key_bool(json, "is_of_allocator", false);
    json_object_end(json);
    free(file);
}

/* What modules of a dump were compiled for; each has files of its own that say so. */
static void write_chips(struct json *json, const struct snapshot_session *session)
{
    const char *known = atomic_load(&session->known->devices);
    struct buf written = BUF_INIT;
    struct json array = JSON_INIT(&written);
    struct chips said = {.count = 0};
    json_key(json, "devices");
    if (known) {
        json_written(json, str_of(known));
        return;
    }
    json_array_begin(&array);
    for (size_t at = 0; at < session->group_count; at++)
        write_chip(&array, session, &session->groups[at], &said);
    json_array_end(&array);
    json_written(json, (struct str){written.data, written.length});
    if (!said.may_pass && !written.failed)
        known_keep(&session->known->devices, &written);
    buf_free(&written);
}

/* What the traces say of the devices that they were taken on, once a kind and file. */
static void write_devices(struct json *json, const struct snapshot_session *session, const struct modules *modules)
{
    if (session->kind != SNAPSHOT_TRACE) {
        write_chips(json, session);
        return;
    }
    json_key_array(json, "devices");
    for (size_t at = 0; at < modules->file_count; at++) {
        const struct analysis_contents *contents = modules->files[at].opened.contents;
        for (size_t i = 0; contents && i < contents->device_count; i++) {
            const struct analysis_trace_device *device = &contents->devices[i];
            json_object_begin(json);
            json_key_text(json, "kind", device->kind);
            json_key_text(json, "plane", device->plane);
            json_key_text(json, "file", modules->files[at].file->path);
            json_key_uint(json, "count", device->count);
            json_key_known(json, "memory_bytes", device->memory_bytes ? (int64_t)device->memory_bytes : -1);
            json_key_text(json, "device", device->name);
            json_key_known(json, "available_bytes", device->available_bytes ? (int64_t)device->available_bytes : -1);
            json_key_bool(json, "is_of_allocator", device->is_of_allocator);
            json_object_end(json);
        }
    }
    json_array_end(json);
}

/* ---- the worst of them ---- */

/* The memory space of a module that is to be looked at first (analysis_fit_is_worse). */
struct worst {
    const struct modules_entry *entry; /* NULL: no module says what it needs */
    const struct analysis_space_total *total;
    struct capacity_spaces capacities; /* of the module */
    bool may_pass;                     /* what a file says could not be read now: another may be worse later */
};

static void worst_take(struct worst *worst, const struct modules_entry *entry, const struct analysis_totals *totals,
                       const struct capacity_spaces *capacities)
{
    struct capacity_stated own[CAPACITY_SPACES], others[CAPACITY_SPACES];
    capacity_spaces_core(capacities, own);
    for (size_t at = 0; totals && at < totals->space_count; at++) {
        const struct analysis_space_total *total = &totals->spaces[at];
        capacity_spaces_core(&worst->capacities, others);
        if (worst->entry &&
            !analysis_fit_is_worse(capacity_spaces_at(own, capacities->count, total->space), total->total_bytes,
                                   capacity_spaces_at(others, worst->capacities.count, worst->total->space),
                                   worst->total->total_bytes))
            continue;
        worst->entry = entry;
        worst->total = total;
        worst->capacities = *capacities;
    }
}

static void worst_find(const struct snapshot_session *session, const struct capacity_spaces *texts,
                       const struct modules *modules, struct worst *worst)
{
    const struct modules_file *file = NULL;
    struct capacity_spaces capacities = {0};
    *worst = (struct worst){0};
    for (size_t at = 0; at < modules->entry_count; at++) {
        const struct modules_entry *entry = &modules->entries[at];
        const struct err *err;
        if (entry->file != file)
            capacity_spaces_find(texts, NULL, session, entry->file->group, entry->file->opened.contents, &capacities);
        file = entry->file;
        const struct analysis_totals *totals = modules_totals(entry, &err);
        worst->may_pass |= (!totals && err_is_transient(err->code)) ||
                           (capacities.lost.file[0] && err_is_transient(capacities.lost.err.code));
        worst_take(worst, entry, totals, &capacities);
    }
}

static void worst_write(const void *context, struct buf *out)
{
    const struct worst *worst = context;
    struct json json = JSON_INIT(out);
    struct capacity_stated core[CAPACITY_SPACES];
    capacity_spaces_core(&worst->capacities, core);
    json_object_begin(&json);
    json_key_text(&json, "module", worst->entry->id);
    json_key_text(&json, "name", name_of(worst->entry));
    json_key_text(&json, "file", worst->entry->file->file->path);
    json_key_int(&json, "space", worst->total->space);
    json_key_text(&json, "space_name", worst->total->name);
    analysis_fit_write(&json, "fit", capacity_spaces_at(core, worst->capacities.count, worst->total->space),
                       worst->total->total_bytes, worst->total->name);
    json_object_end(&json);
}

static void worst_answer(struct json *json, const struct snapshot_session *session, const struct snapshot_host *host,
                         const struct capacity_spaces *texts, const struct modules *modules)
{
    struct worst worst;
    struct buf written = BUF_INIT;
    if (!host && atomic_load(&session->known->worst)) {
        api_write_worst(json, session);
        return;
    }
    worst_find(session, texts, modules, &worst);
    if (!worst.entry)
        return;
    memory_write(&written, worst_write, &worst);
    if (!host && !worst.may_pass) /* the lists of sessions say it from then on */
        known_keep(&session->known->worst, &written);
    json_key(json, "worst");
    json_written(json, (struct str){written.data, written.length});
    buf_free(&written);
}

void api_write_worst(struct json *json, const struct snapshot_session *session)
{
    const char *text = atomic_load(&session->known->worst);
    if (!text)
        return;
    json_key(json, "worst");
    json_written(json, str_of(text));
}

/* The list of sessions says it from now on. */
static void keep_largest(const struct snapshot_session *session, const struct modules *modules)
{
    uint64_t largest = 0;
    for (size_t at = 0; at < modules->entry_count; at++)
        if (modules->entries[at].largest_total_bytes > largest)
            largest = modules->entries[at].largest_total_bytes;
    atomic_store(&session->known->largest_total_bytes, largest <= INT64_MAX ? (int64_t)largest : INT64_MAX);
}

static struct response *write_modules(struct store *store, const struct snapshot_session *session,
                                      const struct snapshot_host *host, const struct listing *listing)
{
    struct buf buf = BUF_INIT;
    struct json json = JSON_INIT(&buf);
    struct modules modules;
    modules_open(store, session, host, &modules);
    if (session->kind == SNAPSHOT_TRACE && modules.file_count == 1 && err_is_set(&modules.files[0].err)) {
        struct response *response = response_err(&modules.files[0].err, modules.files[0].file->path);
        modules_close(&modules);
        return response;
    }
    modules_read_totals(store, &modules);
    if (!host)
        keep_largest(session, &modules);
    struct capacity_spaces texts;
    capacity_spaces_of_texts(session, &texts);
    json_object_begin(&json);
    api_write_notes(&json, session, &modules);
    write_devices(&json, session, &modules);
    worst_answer(&json, session, host, &texts, &modules);
    size_t total_count = api_modules_choose(&modules, listing);
    listing_write_head(&json, listing, total_count, modules.entry_count);
    json_key_array(&json, "modules");
    for (size_t at = listing->offset; at < modules.entry_count && at - listing->offset < listing->limit; at++)
        write_module(&json, session, &texts, &modules.entries[at]);
    json_array_end(&json);
    json_object_end(&json);
    modules_close(&modules);
    return response_json(&buf);
}

struct response *api_modules(const struct server *server, const struct request *request)
{
    static const char *const SORTS[] = {"-total", "name", NULL};
    struct listing listing;
    struct api_subject subject = {0};
    struct response *response = listing_read(request, SORTS, &listing);
    if (response)
        return response;
    response = api_open(server, request->captures[0], request_param(request, "host", NULL), &subject);
    if (!response)
        response = write_modules(server->store, subject.session, subject.host, &listing);
    api_close(&subject);
    return response;
}
