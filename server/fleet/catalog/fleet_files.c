/* SPDX-License-Identifier: Apache-2.0
 * fleet_files.c: see fleet_files.h. */
#include "server/fleet/catalog/fleet_files.h"

#include "base/map.h"
#include "server/base/clock.h"
#include "server/base/memory.h"
#include "server/base/wanted.h"
#include "server/fleet/catalog/rows.h"

#include <cjson/cJSON.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ID_DIGITS = 16,
    STATE_SIZE = sizeof(((struct rows_file *)0)->state),
    NUMBER_SIZE = 32,
    NS_PER_MS = 1000000,
    AGAIN_MS = CACHE_TRY_AGAIN_MS /* an unreadable file is tried again after this time */
};

/* One row; its texts are its file's. */
struct kept_row {
    struct fleet_record record;
    const char *labels, *program_id;
};

struct kept_file {
    char state[STATE_SIZE]; /* of struct rows_file: while it is the same, so are the rows */
    struct memory_pool pool;
    struct kept_row *rows;
    size_t row_count;
    uint64_t round;      /* of looking, when it was there last */
    bool is_unread;      /* of struct rows_file: its rows are of that */
    int64_t again_at_ms; /* of clock_ms: it could not be read; 0: it could */
};

struct fleet_files {
    struct fleet_columns *columns;
    struct labels *labels;   /* under `reading` */
    pthread_mutex_t reading; /* one reads at a time; taken before `known` */
    pthread_mutex_t known;
    struct map files; /* under `known`: struct kept_file by the first digits of their ids */
    uint64_t round;   /* under `known` */
};

struct fleet_files *fleet_files_new(const char *const *patterns, size_t pattern_count, const char *environment)
{
    struct labels *labels = labels_new(NULL, 0, patterns, pattern_count, environment);
    if (!labels)
        return NULL;
    struct fleet_files *files = memory_new(sizeof(*files));
    files->columns = fleet_record_columns_new();
    files->labels = labels;
    pthread_mutex_init(&files->reading, NULL);
    pthread_mutex_init(&files->known, NULL);
    map_init_of(&files->files, memory_new, 0);
    return files;
}

static void kept_free(struct kept_file *kept)
{
    if (!kept)
        return;
    memory_pool_free(&kept->pool);
    free(kept);
}

void fleet_files_free(struct fleet_files *files)
{
    if (!files)
        return;
    for (uint64_t at = 0; at <= files->files.mask; at++)
        kept_free(map_pointer(files->files.slots[at].value));
    map_free(&files->files);
    pthread_mutex_destroy(&files->known);
    pthread_mutex_destroy(&files->reading);
    labels_free(files->labels);
    fleet_record_columns_free(files->columns);
    free(files);
}

const struct fleet_columns *fleet_files_columns(const struct fleet_files *files) { return files->columns; }

/* ---- rows of a file ---- */

/* A line of NDJSON. */
struct line {
    const cJSON *members;
    char number[NUMBER_SIZE]; /* the last one that was asked for */
};

/* cJSON has numbers as doubles, which are exact for all sizes that there are. */
static const char *line_cell(void *context, const char *column)
{
    struct line *line = context;
    const cJSON *member = cJSON_GetObjectItemCaseSensitive(line->members, column);
    if (!cJSON_IsNumber(member))
        return cJSON_GetStringValue(member);
    snprintf(line->number, sizeof(line->number), "%.0f", member->valuedouble);
    return line->number;
}

static void row_keep(const struct fleet_files *files, struct kept_file *kept, const cJSON *members)
{
    struct kept_row *row = &kept->rows[kept->row_count];
    struct memory_pool *pool = &kept->pool;
    int64_t *categories = memory_pool_new(pool, (files->columns->count + 1) * sizeof(*categories));
    struct line line = {.members = members};
    row->record = fleet_record_read(files->columns, line_cell, &line, categories);
    row->labels = line_cell(&line, "labels");
    row->program_id = line_cell(&line, "program_id");
    const char **texts[] = {&row->record.job,          &row->record.module,  &row->record.kind,
                            &row->record.commit,       &row->record.host,    &row->record.memory_space,
                            &row->record.device,       &row->record.verdict, &row->record.user_name,
                            &row->record.session_id,   &row->record.file,    &row->record.logdir,
                            &row->record.id,           &row->labels,         &row->program_id,
                            &row->record.configuration};
    for (size_t at = 0; at < sizeof(texts) / sizeof(texts[0]); at++)
        if (*texts[at])
            *texts[at] = memory_pool_text(pool, *texts[at], strlen(*texts[at]));
    kept->row_count++;
}

static struct kept_file *kept_make(const struct fleet_files *files, const struct rows_file *file)
{
    struct kept_file *kept = memory_new(sizeof(*kept));
    const char *at = file->rows->data, *end = at + file->rows->length;
    int64_t at_ns = file->file ? file->file->identity.modified_at_ns : 0; /* 0: not known */
    int64_t at_ms = at_ns > 0 ? at_ns / NS_PER_MS : -1;
    kept->rows = memory_pool_new(&kept->pool, (file->count + 1) * sizeof(*kept->rows));
    kept->is_unread = file->is_unread;
    for (size_t row = 0; row < file->count && at < end; row++) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        cJSON *line = cJSON_ParseWithLength(at, (size_t)((line_end ? line_end : end) - at));
        if (cJSON_IsObject(line)) {
            row_keep(files, kept, line);
            struct fleet_record *record = &kept->rows[kept->row_count - 1].record;
            record->first_at_ms = record->last_at_ms = at_ms;
        }
        cJSON_Delete(line);
        at = line_end ? line_end + 1 : end;
    }
    return kept;
}

/* ---- looking, and reading on ---- */

struct round {
    struct fleet_files *files;
    struct fleet_files_reading *reading;
    int64_t until_ms; /* of clock_ms; below 0: to the end */
    bool is_reading;  /* else only counting */
    size_t due_count; /* files that could not be read, which it is time to try again: they count as read */
    bool takes_due;   /* when all others are read, which a server that takes long to fail would keep waiting */
};

static uint64_t key_of(const char *id)
{
    char digits[ID_DIGITS + 1];
    memcpy(digits, id, ID_DIGITS);
    digits[ID_DIGITS] = '\0';
    return strtoull(digits, NULL, 16);
}

static bool is_wanted(void *context, const struct rows_file *file)
{
    struct round *round = context;
    struct fleet_files *files = round->files;
    pthread_mutex_lock(&files->known);
    struct kept_file *kept = map_pointer(map_at(&files->files, key_of(file->id))->value);
    bool is_known = kept && strcmp(kept->state, file->state) == 0;
    bool is_due = is_known && kept->again_at_ms > 0 && clock_ms() >= kept->again_at_ms;
    if (kept)
        kept->round = files->round;
    pthread_mutex_unlock(&files->known);
    if (!round->is_reading) {
        round->reading->file_count++;
        round->reading->read_count += is_known;
        round->due_count += is_due;
    }
    return round->is_reading && (!is_known || (is_due && round->takes_due));
}

static bool fleet_files_take(void *context, const struct rows_file *file)
{
    struct round *round = context;
    struct fleet_files *files = round->files;
    struct kept_file *kept = kept_make(files, file), *other = NULL;
    pthread_mutex_lock(&files->known);
    struct map_slot *slot = map_at(&files->files, key_of(file->id));
    struct kept_file *before = map_pointer(slot->value);
    bool is_counted = before && strcmp(before->state, file->state) == 0; /* it was due */
    if (!before) {
        map_fill(&files->files, slot, key_of(file->id), map_value(kept));
    } else if (kept->is_unread && !before->is_unread) { /* the former rows are kept */
        other = kept;
        kept = before;
    } else {
        other = before;
        slot->value = map_value(kept);
    }
    memcpy(kept->state, file->state, sizeof(kept->state));
    kept->round = files->round;
    kept->again_at_ms = rows_file_is_again(file) ? clock_ms() + AGAIN_MS : 0;
    pthread_mutex_unlock(&files->known);
    kept_free(other);
    round->reading->read_count += !is_counted;
    return !wanted_is_over() && (round->until_ms < 0 || clock_ms() < round->until_ms);
}

/* Files that are gone. */
static void fleet_files_forget(struct fleet_files *files)
{
    pthread_mutex_lock(&files->known);
    for (uint64_t at = 0; at <= files->files.mask;) {
        struct kept_file *kept = map_pointer(files->files.slots[at].value);
        if (kept && kept->round != files->round) {
            kept_free(kept);
            map_clear(&files->files, &files->files.slots[at]); /* another one may be there now */
        } else {
            at++;
        }
    }
    pthread_mutex_unlock(&files->known);
}

static void begin_round(struct fleet_files *files)
{
    pthread_mutex_lock(&files->known);
    files->round++;
    pthread_mutex_unlock(&files->known);
}

static bool read_locked(struct round *round, struct store *store, const struct snapshot *snapshot, struct err *err)
{
    struct rows_counts counts;
    const struct rows_wanted wanted = {.store = store,
                                       .snapshot = snapshot,
                                       .labels = round->files->labels,
                                       .shard_count = 1,
                                       .form = CSV_NDJSON,
                                       .is_wanted = is_wanted,
                                       .take = fleet_files_take,
                                       .context = round};
    begin_round(round->files);
    rows_write(&wanted, &counts);
    fleet_files_forget(round->files);
    if (round->reading->file_count > FLEET_FILES_MAX)
        return err_set(err, ERR_limit, ERR_NO_OFFSET,
                       "there are %llu files, and without a catalog at most %d are looked at: fill one with memviewd "
                       "index --catalog, and start with --catalog",
                       (unsigned long long)round->reading->file_count, FLEET_FILES_MAX);
    round->is_reading = true;
    round->takes_due = round->reading->read_count >= round->reading->file_count;
    if (round->reading->read_count < round->reading->file_count || round->due_count > 0)
        rows_write(&wanted, &counts);
    if (round->reading->read_count > round->reading->file_count) /* labels changed between the two passes */
        round->reading->read_count = round->reading->file_count;
    return !wanted_is_over() || wanted_stopped(err);
}

bool fleet_files_read(struct fleet_files *files, struct store *store, const struct snapshot *snapshot,
                      int64_t budget_ms, struct fleet_files_reading *reading, struct err *err)
{
    struct round round = {.files = files, .reading = reading, .until_ms = budget_ms < 0 ? -1 : clock_ms() + budget_ms};
    *reading = (struct fleet_files_reading){0};
    if (budget_ms < 0) {
        pthread_mutex_lock(&files->reading);
    } else if (pthread_mutex_trylock(&files->reading) != 0) {
        reading->file_count = 1; /* how many is not known; more than were read */
        return true;
    }
    bool is_good = read_locked(&round, store, snapshot, err);
    pthread_mutex_unlock(&files->reading);
    return is_good;
}

/* ---- records ---- */

static bool row_add(const struct kept_row *row, const struct fleet_sessions *sessions,
                    const struct fleet_filter *filter, struct analysis_fleet *fleet, struct err *err)
{
    struct fleet_record record = row->record;
    if (!fleet_record_matches(&record, row->labels, filter))
        return true;
    char *reference = fleet_record_reference(sessions, &record, row->program_id);
    record.reference = reference;
    bool is_added = analysis_fleet_add(fleet, &record, err);
    free(reference);
    return is_added;
}

bool fleet_files_add(struct fleet_files *files, const struct snapshot *snapshot, const struct fleet_filter *filter,
                     struct analysis_fleet *fleet, struct err *err)
{
    bool is_good = true;
    struct fleet_sessions *sessions = fleet_record_sessions_new(snapshot);
    pthread_mutex_lock(&files->known);
    for (uint64_t at = 0; is_good && at <= files->files.mask; at++) {
        const struct kept_file *kept = map_pointer(files->files.slots[at].value);
        for (size_t row = 0; kept && is_good && row < kept->row_count; row++)
            is_good = row_add(&kept->rows[row], sessions, filter, fleet, err);
    }
    pthread_mutex_unlock(&files->known);
    fleet_record_sessions_free(sessions);
    return is_good;
}
