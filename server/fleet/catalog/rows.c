/* SPDX-License-Identifier: Apache-2.0 */
#include "server/fleet/catalog/rows.h"

#include "base/csv.h"
#include "base/map.h"
#include "server/base/memory.h"
#include "server/fleet/catalog/content_hash.h"
#include "server/fleet/catalog/rows_ahead.h"
#include "server/fleet/catalog/rows_state.h"
#include "server/store/sha256.h"
#include "server/store/subjects.h"
#include "server/store/text_report.h"
#include "server/store/verdict_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LEAD_MAX = 40, US_PER_S = 1000000, NS_PER_US = 1000, NS_PER_S = 1000000000 };

/* The file that rows are being made of. */
struct rows_making {
    const struct rows_wanted *wanted;
    struct rows_counts *counts;
    struct rows_file file;
    struct buf rows;
    char content_sha256[SHA256_TEXT_SIZE];
    char session_state[ROWS_STATE_SIZE];
    char *address;  /* of the file */
    struct map ids; /* of its rows: a table takes each once */
    bool is_stopped;
};

/* The cells before the verdict of a row. Texts NULL or empty: not known. */
struct row {
    const char *kind; /* "module", "memory", "failure", "profiles", "nothing" */
    const struct snapshot_session *session;
    const struct snapshot_host *host;
    const struct modules_entry *entry;
    const char *module;
    int64_t failure; /* of a text: which one, from 1; -1: it is of none */
    const struct err *err;
};

/* ---- the cells before the verdict ---- */

static struct csv_cell text_cell(const char *head, const char *text)
{
    return (struct csv_cell){.head = head, .kind = text && text[0] ? CSV_TEXT : CSV_NONE, .text = text};
}

/* A cell of a column in which every row has a text, even an empty one. */
static struct csv_cell always_cell(const char *head, const char *text)
{
    return (struct csv_cell){.head = head, .kind = CSV_TEXT, .text = text ? text : "", .is_always = true};
}

static struct csv_cell number_cell(const char *head, int64_t number)
{
    return (struct csv_cell){
        .head = head, .kind = number >= 0 ? CSV_INTEGER : CSV_NONE, .integer = number, .type = CSV_TYPE_INTEGER};
}

static struct csv_cell typed_cell(struct csv_cell cell, enum csv_type type, bool is_always)
{
    cell.type = type;
    cell.is_always = is_always;
    return cell;
}

/* Texts of cells that are made for one row. */
struct lead_texts {
    char id[33], program_id[24], error[ERR_DESCRIPTION_SIZE];
};

static size_t lead_make(struct rows_making *making, const struct row *row, struct lead_texts *texts,
                        struct csv_cell cells[LEAD_MAX])
{
    struct labels *labels = making->wanted->labels;
    const struct snapshot_file *file = making->file.file;
    const struct analysis_program *program = row->entry ? row->entry->program : NULL;
    bool is_of_many = row->entry && !row->entry->file->group; /* a file of a dump has one program */
    const char *part = is_of_many ? row->entry->key : "";
    bool has_error = row->err && err_is_set(row->err);
    rows_row_id(texts->id, making->address, row->kind, part, row->failure);
    snprintf(texts->program_id, sizeof(texts->program_id), "%llu",
             program ? (unsigned long long)program->program_id : 0ULL);
    const struct csv_cell all[] = {
        typed_cell(number_cell("schema_version", ROWS_SCHEMA), CSV_TYPE_INTEGER, true),
        always_cell("id", texts->id),
        always_cell("file_id", making->file.id),
        always_cell("logdir", making->file.root),
        always_cell("file", making->file.path),
        number_cell("file_bytes", file ? (int64_t)file->identity.size_bytes : -1),
        typed_cell(text_cell("modified_at", making->file.modified_at), CSV_TYPE_TIME, false),
        text_cell("content_sha256", making->content_sha256),
        text_cell("job", labels_value(labels, "job")),
        text_cell("commit", labels_value(labels, "commit")),
        text_cell("user_name", labels_value(labels, "user")),
        typed_cell(text_cell("labels", labels_json(labels)), CSV_TYPE_OBJECT, true),
        always_cell("kind", row->kind),
        text_cell("session", row->session ? row->session->name : NULL),
        text_cell("session_id", row->session ? row->session->id : NULL),
        text_cell("host", row->host ? row->host->name : labels_value(labels, "host")),
        text_cell("module", program ? program->name : row->module),
        text_cell("program_id", program && program->program_id != 0 ? texts->program_id : NULL),
        number_cell("failure", row->failure),
        text_cell("error_code", has_error ? err_name(row->err->code) : NULL),
        text_cell("error", has_error ? err_describe(row->err, texts->error) : NULL),
    };
    _Static_assert(sizeof(all) / sizeof(all[0]) <= LEAD_MAX, "the core takes at most that many");
    memcpy(cells, all, sizeof(all));
    return sizeof(all) / sizeof(all[0]);
}

/* ---- one row ---- */

/* A file that could not be read, or not to its end, may be readable another time. Wrong labels do not count: they are a
 * part of the file's state. */
static void unread_mark(struct rows_making *making, const struct err *err, bool is_transient)
{
    making->file.is_unread |= is_transient || err_is_transient(err->code);
}

/* `parts` NULL: row->err says why there is no verdict. If two rows have one id, the first is kept. */
static void row_add(struct rows_making *making, const struct row *row, const struct analysis_verdict_parts *parts)
{
    struct lead_texts texts;
    struct csv_cell cells[LEAD_MAX];
    struct err err = ERR_INIT;
    struct row own = *row;
    struct analysis_row_form form = {.form = making->wanted->form,
                                     .lead = cells,
                                     .configuration = labels_value(making->wanted->labels, "configuration")};
    size_t before = making->rows.length;
    form.lead_count = lead_make(making, row, &texts, cells);
    if (!map_put(&making->ids, hash_text(texts.id, 0), 0, false))
        return;
    if (!parts || !analysis_verdict_row(parts, &form, &making->rows, &err)) {
        own.err = err_is_set(&err) ? &err : row->err;
        unread_mark(making, &err, false);
        making->rows.length = before;
        form.lead_count = lead_make(making, &own, &texts, cells);
        err = (struct err)ERR_INIT;
        struct err ignored = ERR_INIT;
        analysis_verdict_row(NULL, &form, &making->rows, &ignored);
        making->file.error_count += own.err != NULL;
        making->file.unread_count += own.err && own.err->code != ERR_notfound;
    }
    making->file.count++;
}

static void row_of_parts(struct rows_making *making, struct row row, const struct verdict_parts_wanted *wanted)
{
    struct verdict_parts parts = {0};
    struct err err = ERR_INIT;
    bool is_open = verdict_parts_open(making->wanted->store, wanted, &parts, &err);
    if (wanted->failure && parts.entry && parts.entry->program)
        row.module = parts.entry->program->name;
    row.err = is_open ? NULL : &err;
    unread_mark(making, &err, !is_open && parts.is_transient);
    making->file.lacks_file |= parts.lacks_file;
    row_add(making, &row, is_open ? &parts.core : NULL);
    verdict_parts_close(&parts);
}

/* ---- one file ---- */

void rows_time(int64_t unix_ns, char text[ROWS_TIME_SIZE])
{
    time_t seconds = (time_t)(unix_ns / NS_PER_S);
    struct tm parts;
    char date[ROWS_TIME_SIZE / 2];
    text[0] = '\0';
    if (unix_ns > 0 && gmtime_r(&seconds, &parts) && strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &parts) > 0)
        snprintf(text, ROWS_TIME_SIZE, "%s.%06lldZ", date, (long long)(unix_ns / NS_PER_US % US_PER_S));
}

/* What several hosts of one session say of a module is one point of the catalog, which processes wait for if they all
 * make it. */
uint64_t rows_shard(const char *path, uint64_t count)
{
    static const char sessions[] = "plugins/profile/";
    const char *session = strstr(path, sessions), *name = strrchr(path, '/');
    size_t length = session && name > session + strlen(sessions) ? (size_t)(name - path) : strlen(path);
    return hash_bytes(path, length, 0) % count;
}

static void session_state(struct rows_making *making, const struct snapshot_session *session, const char *problem)
{
    rows_state_of_session(store_category_rules(making->wanted->store), session, problem, making->session_state);
}

/* `of`: where it lies; NULL: below that root. False: its rows are not needed. */
static bool file_begin(struct rows_making *making, const struct snapshot_file *file, const struct files_place *of,
                       const char *path)
{
    const struct rows_wanted *wanted = making->wanted;
    struct err err = ERR_INIT, unhashed = ERR_INIT;
    const char *broken = NULL, *root = of->root;
    if (making->is_stopped || rows_shard(path, wanted->shard_count) != wanted->shard)
        return false;
    free(making->address);
    making->address = rows_address(of, path);
    if (wanted->base && !of->path[0]) {
        root = wanted->base;
        path = making->address + strlen(root) + (strcmp(root, "/") != 0);
    }
    const struct files_place place = {.root = root, .path = path};
    making->file = (struct rows_file){
        .file = file, .root = root, .path = path, .rows = &making->rows, .content_sha256 = making->content_sha256};
    making->rows.length = 0;
    making->content_sha256[0] = '\0';
    map_free(&making->ids);
    map_init_of(&making->ids, memory_new, 0);
    rows_id(making->file.id, (const char *const[]){making->address}, 1);
    rows_time(file ? file->identity.modified_at_ns : 0, making->file.modified_at);
    labels_find(wanted->labels, file && !wanted->base ? &file->place : &place, &broken, &err);
    rows_state_of_file(making->session_state, file, labels_json(wanted->labels), err.text, making->file.state);
    if (wanted->is_wanted && !wanted->is_wanted(wanted->context, &making->file)) {
        making->counts->known++;
        return false;
    }
    if (file && file->reason == 0 && !content_hash(&file->place, making->content_sha256, &unhashed))
        making->file.is_unread = unhashed.code != ERR_changed; /* as a log that grows: another state */
    if (err_is_set(&err)) {
        const struct row row = {.kind = "nothing", .module = NULL, .failure = -1, .err = &err};
        char text[sizeof(err.text)];
        snprintf(text, sizeof(text), "%.100s: %.90s", broken, err.text);
        memcpy(err.text, text, sizeof(text));
        row_add(making, &row, NULL);
    }
    return true;
}

static void file_end(struct rows_making *making)
{
    making->counts->files++;
    making->counts->rows += making->file.count;
    making->counts->errors += making->file.error_count;
    making->counts->unread += making->file.unread_count;
    if (!making->is_stopped && !making->wanted->take(making->wanted->context, &making->file))
        making->is_stopped = true;
}

/* ---- what a session holds ---- */

static void modules_add(struct rows_making *making, const struct snapshot_session *session,
                        const struct snapshot_host *host, const struct modules *modules,
                        const struct snapshot_file *file)
{
    for (size_t at = 0; at < modules->entry_count; at++) {
        const struct modules_entry *entry = &modules->entries[at];
        struct row row = {.kind = "module", .session = session, .host = host, .entry = entry, .failure = -1};
        const struct verdict_parts_wanted wanted = {.session = session, .host = host, .module = entry};
        if (entry->file->file != file)
            continue;
        row.module = entry->file->group ? entry->file->group->stem : NULL;
        row.err = &entry->file->err;
        if (entry->program) {
            row_of_parts(making, row, &wanted);
        } else {
            unread_mark(making, row.err, false);
            row_add(making, &row, NULL);
        }
    }
}

/* What the allocators of a host did. */
static void memory_add(struct rows_making *making, const struct snapshot_session *session,
                       const struct snapshot_host *host)
{
    struct err err = ERR_INIT;
    struct subject trace = {0};
    struct analysis_verdict_parts parts = {0};
    const struct subjects_place place = subjects_trace(session, host);
    struct row row = {.kind = "memory", .session = session, .host = host, .failure = -1};
    bool is_open = subjects_open(making->wanted->store, &place, &trace, &err);
    parts.trace = trace.core;
    row.err = is_open ? NULL : &err;
    unread_mark(making, &err, !is_open && trace.hold.is_transient);
    making->file.lacks_file |= trace.lacks_file;
    row_add(making, &row, is_open ? &parts : NULL);
    subjects_close(&trace);
}

static void nothing_add(struct rows_making *making, const struct snapshot_session *session,
                        const struct snapshot_host *host, const struct err *err)
{
    static const struct err nothing = {ERR_notfound, ERR_NO_OFFSET, "holds no program, memory event or failure"};
    const struct row row = {
        .kind = "nothing", .session = session, .host = host, .failure = -1, .err = err_is_set(err) ? err : &nothing};
    unread_mark(making, row.err, false);
    row_add(making, &row, NULL);
}

static void host_add(struct rows_making *making, const struct snapshot_session *session,
                     const struct snapshot_host *host)
{
    struct modules modules;
    if (!file_begin(making, host->file, &host->file->place, host->file->path))
        return;
    modules_open(making->wanted->store, session, host, &modules);
    const struct err *err = &modules.files[0].err;
    const struct analysis_contents *contents = modules.files[0].opened.contents;
    unread_mark(making, err, false);
    modules_add(making, session, host, &modules, host->file);
    if (host->is_allocator || (contents && contents->has_memory_events))
        memory_add(making, session, host);
    if (making->file.count == 0)
        nothing_add(making, session, host, err);
    modules_close(&modules);
    file_end(making);
}

static void groups_add(struct rows_making *making, const struct snapshot_session *session)
{
    struct modules modules;
    bool is_open = false;
    for (size_t at = 0; at < session->group_count; at++) {
        const struct snapshot_file *file = session->groups[at].file;
        if (!file_begin(making, file, &file->place, file->path))
            continue;
        if (!is_open)
            modules_open(making->wanted->store, session, NULL, &modules);
        is_open = true;
        modules_add(making, session, NULL, &modules, file);
        file_end(making);
    }
    if (is_open)
        modules_close(&modules);
}

static void text_add(struct rows_making *making, const struct snapshot_session *session,
                     const struct snapshot_text *text)
{
    struct err err = ERR_INIT;
    struct subject subject;
    if (!file_begin(making, text->file, &text->file->place, text->file->path))
        return;
    const struct oom_report *report = text_report_open(making->wanted->store, text, &subject, &err);
    for (size_t at = 0; report && at < analysis_oom_count(report); at++) {
        const struct row row = {.kind = "failure", .session = session, .failure = (int64_t)at + 1};
        const struct verdict_parts_wanted wanted = {
            .session = session, .text = text->file->name, .failure = analysis_oom_at(report, at)};
        row_of_parts(making, row, &wanted);
    }
    unread_mark(making, &err, !report && subject.hold.is_transient);
    if (making->file.count == 0)
        nothing_add(making, session, NULL, &err);
    bool is_told = report && analysis_oom_count(report) > 0 && making->wanted->fails;
    subjects_close(&subject);
    if (is_told && !making->wanted->fails(making->wanted->fails_context, session, text))
        making->is_stopped = true;
    file_end(making);
}

/* A series is one row, of its last file: that tells what became of the memory. */
static void profiles_add(struct rows_making *making, const struct snapshot_session *session)
{
    const struct snapshot_file *file = session->profiles[session->profile_count - 1].file;
    const struct row row = {.kind = "profiles", .session = session, .failure = -1};
    const struct verdict_parts_wanted wanted = {.session = session};
    if (!file_begin(making, file, &file->place, file->path))
        return;
    row_of_parts(making, row, &wanted);
    file_end(making);
}

static void session_add(struct rows_making *making, const struct snapshot_session *session)
{
    session_state(making, session, "");
    for (size_t at = 0; at < session->host_count; at++)
        host_add(making, session, &session->hosts[at]);
    groups_add(making, session);
    for (size_t at = 0; at < session->text_count; at++)
        text_add(making, session, &session->texts[at]);
    if (session->profile_count > 0)
        profiles_add(making, session);
}

/* Has a row of the session said why? */
static bool has_row(const struct snapshot_session *session, const char *path)
{
    bool has = false;
    for (size_t at = 0; at < session->host_count && !has; at++)
        has = strcmp(session->hosts[at].file->path, path) == 0;
    for (size_t at = 0; at < session->group_count && !has; at++)
        has = strcmp(session->groups[at].file->path, path) == 0;
    for (size_t at = 0; at < session->text_count && !has; at++)
        has = strcmp(session->texts[at].file->path, path) == 0;
    return has;
}

/* A problem that is of no file is of the first root. */
static void problem_add(struct rows_making *making, const struct snapshot_problem *problem)
{
    const struct snapshot *snapshot = making->wanted->snapshot;
    const struct files_place first = {.root = snapshot->root_count > 0 ? snapshot->roots[0].path : "", .path = "."};
    if (problem->session && has_row(problem->session, problem->file))
        return;
    session_state(making, problem->session, problem->why.text);
    if (!file_begin(making, NULL, problem->of ? &problem->of->place : &first, problem->file))
        return;
    unread_mark(making, &problem->why, false);
    if (making->file.count == 0) /* else of its labels: a file has one row that says why there is nothing */
        nothing_add(making, problem->session, NULL, &problem->why);
    file_end(making);
}

static void without_rows_add(struct rows_making *making, const struct snapshot_session *session,
                             const struct snapshot_file *file)
{
    char id[sizeof(making->file.id)];
    char *address = rows_address(&file->place, file->path);
    rows_id(id, (const char *const[]){address}, 1);
    free(address);
    if (!making->wanted->had_rows(making->wanted->context, id))
        return;
    session_state(making, session, "");
    if (!file_begin(making, file, &file->place, file->path))
        return;
    making->rows.length = 0; /* what is wrong with its labels the others say */
    making->file.count = making->file.error_count = making->file.unread_count = 0;
    making->file.is_unread = false; /* none of its rows is needed */
    file_end(making);
}

static void session_add_without_rows(struct rows_making *making, const struct snapshot_session *session)
{
    for (size_t at = 0; at < session->file_count; at++)
        without_rows_add(making, session, session->files[at]);
}

static void making_free(struct rows_making *making)
{
    buf_free(&making->rows);
    map_free(&making->ids);
    free(making->address);
}

bool rows_session_write(const struct rows_wanted *wanted, const struct snapshot_session *session,
                        struct rows_counts *counts)
{
    struct rows_making making = {.wanted = wanted, .counts = counts, .rows = BUF_INIT};
    session_add(&making, session);
    if (wanted->is_once) /* a session is looked at once, and the next one is read into the same memory */
        store_drop_own(wanted->store);
    making_free(&making);
    return !making.is_stopped;
}

static bool sessions_write(const struct rows_wanted *wanted, struct rows_counts *counts)
{
    const struct snapshot *snapshot = wanted->snapshot;
    bool is_whole = true;
    for (size_t at = 0; at < snapshot->session_count && is_whole; at++)
        is_whole = rows_session_write(wanted, snapshot->sessions[at], counts);
    return is_whole;
}

bool rows_write(const struct rows_wanted *wanted, struct rows_counts *counts)
{
    struct rows_making making = {.wanted = wanted, .counts = counts, .rows = BUF_INIT};
    const struct snapshot *snapshot = wanted->snapshot;
    *counts = (struct rows_counts){0};
    making.is_stopped = !(wanted->is_once ? rows_ahead_write : sessions_write)(wanted, counts);
    for (size_t at = 0; at < snapshot->problem_count; at++)
        problem_add(&making, &snapshot->problems[at]);
    for (size_t at = 0; at < snapshot->session_count && wanted->had_rows; at++)
        session_add_without_rows(&making, snapshot->sessions[at]);
    making_free(&making);
    return !making.is_stopped;
}

void rows_heads(enum csv_form wanted_form, struct buf *out)
{
    struct labels *labels = labels_new(NULL, 0, NULL, 0, NULL);
    struct rows_wanted wanted = {.labels = labels};
    char nowhere[] = "";
    struct rows_making making = {.wanted = &wanted, .file = {.root = "", .path = ""}, .address = nowhere};
    const struct row row = {.kind = "", .failure = -1};
    struct lead_texts texts;
    struct csv_cell cells[LEAD_MAX];
    const struct analysis_row_form form = {
        .form = wanted_form, .lead = cells, .lead_count = lead_make(&making, &row, &texts, cells)};
    analysis_verdict_row_heads(&form, out);
    labels_free(labels);
}
