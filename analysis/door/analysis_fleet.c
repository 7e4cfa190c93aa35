/* SPDX-License-Identifier: Apache-2.0
 * door/analysis_fleet.c: see door/analysis_fleet.h. */
#include "door/analysis_fleet.h"
#include "model/fleet/fleet.h"
#include "model/fleet/odd_hosts.h"

#include "base/intern.h"
#include "base/json.h"
#include "door/job.h"
#include "plan/configuration.h"
#include "views/fleet/views.h"

#include <stdlib.h>

/* Two hundred thousand records take some hundred bytes each. */
#define LIMIT_BYTES ((uint64_t)1 << 30)
#define WORK ((uint64_t)1 << 30)

struct analysis_fleet {
    struct job job;
    struct err err;
    struct intern texts;
    const char **category_names;
    size_t category_count;
    struct fleet_record *records;
    size_t record_count, record_capacity;
    uint64_t unlabelled_count; /* that were not added */
    bool is_by_host, is_of_hosts;
    struct notes notes;
    struct fleet model;
};

static bool try_it(struct analysis_fleet *fleet, job_work *work, const void *in, struct err *err)
{
    fleet->err = (struct err)ERR_INIT;
    job_try(&fleet->job, work, in, fleet, &fleet->err);
    if (err_is_set(&fleet->err))
        *err = fleet->err;
    return !err_is_set(&fleet->err);
}

/* Texts are few, and come again and again. */
static const char *analysis_fleet_kept(struct analysis_fleet *fleet, const char *text)
{
    if (text == NULL)
        return NULL;
    uint32_t number = intern_number(&fleet->texts, str_of(text)); /* items may move */
    return fleet->texts.items[number].data;
}

/* ---- making ---- */

struct categories {
    const char *const *names;
    size_t count;
};

static void analysis_fleet_begin(struct job *job, const void *in, void *out, struct err *err)
{
    struct analysis_fleet *fleet = out;
    const struct categories *categories = in;
    (void)err;
    intern_init(&fleet->texts, &job->arena);
    fleet->category_count = categories->count;
    fleet->category_names = arena_array(&job->arena, const char *, categories->count + 1);
    for (size_t i = 0; i < categories->count; i++)
        fleet->category_names[i] = analysis_fleet_kept(fleet, categories->names[i]);
}

struct analysis_fleet *analysis_fleet_new(const char *const *category_names, size_t category_count, struct err *err)
{
    const struct categories categories = {category_names, category_count};
    struct analysis_fleet *fleet = calloc(1, sizeof(*fleet));
    if (fleet == NULL) {
        err_exhausted(err);
        return NULL;
    }
    arena_init(&fleet->job.arena, LIMIT_BYTES, &fleet->err);
    arena_allot_work(&fleet->job.arena, WORK);
    if (try_it(fleet, analysis_fleet_begin, &categories, err))
        return fleet;
    analysis_fleet_free(fleet);
    return NULL;
}

void analysis_fleet_free(struct analysis_fleet *fleet)
{
    if (fleet == NULL)
        return;
    arena_free(&fleet->job.arena);
    free(fleet);
}

static void texts_keep(struct analysis_fleet *fleet, struct fleet_record *record)
{
    const char **const texts[] = {&record->job,     &record->module,    &record->kind,         &record->memory_space,
                                  &record->commit,  &record->host,      &record->device,       &record->id,
                                  &record->file,    &record->logdir,    &record->session_id,   &record->reference,
                                  &record->verdict, &record->user_name, &record->configuration};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        *texts[i] = analysis_fleet_kept(fleet, *texts[i]);
}

static void analysis_fleet_add_job(struct job *job, const void *in, void *out, struct err *err)
{
    struct analysis_fleet *fleet = out;
    struct fleet_record record = *(const struct fleet_record *)in;
    (void)err;
    texts_keep(fleet, &record);
    if (fleet->is_of_hosts && record.configuration != NULL)
        record.configuration = arena_text(&job->arena, configuration_without_batch(record.configuration));
    if (record.category_bytes != NULL) {
        int64_t *bytes = arena_array(&job->arena, int64_t, fleet->category_count + 1);
        memcpy(bytes, record.category_bytes, fleet->category_count * sizeof(*bytes));
        record.category_bytes = bytes;
    }
    fleet->records = arena_grown(&job->arena, fleet->records, fleet->record_count + 1, &fleet->record_capacity,
                                 sizeof(*fleet->records));
    fleet->records[fleet->record_count++] = record;
}

bool analysis_fleet_add(struct analysis_fleet *fleet, const struct fleet_record *record, struct err *err)
{
    return try_it(fleet, analysis_fleet_add_job, record, err);
}

static void note_add(struct job *job, const void *in, void *out, struct err *err)
{
    struct analysis_fleet *fleet = out;
    struct note note = *(const struct note *)in;
    struct notes *notes = &fleet->notes;
    (void)err;
    note.text = analysis_fleet_kept(fleet, note.text);
    notes->items = arena_grown(&job->arena, notes->items, notes->count + 1, &notes->capacity, sizeof(*notes->items));
    notes->items[notes->count++] = note;
}

bool analysis_fleet_note(struct analysis_fleet *fleet, const char *code, uint64_t count, const char *text,
                         struct err *err)
{
    const struct note note = {code, count, text};
    return count == 0 || try_it(fleet, note_add, &note, err);
}

void analysis_fleet_unlabelled(struct analysis_fleet *fleet, uint64_t count) { fleet->unlabelled_count = count; }

void analysis_fleet_by_host(struct analysis_fleet *fleet) { fleet->is_by_host = true; }

void analysis_fleet_of_hosts(struct analysis_fleet *fleet) { fleet->is_of_hosts = true; }

static void analysis_fleet_build_job(struct job *job, const void *in, void *out, struct err *err)
{
    struct analysis_fleet *fleet = out;
    const char *source = in;
    (void)err;
    const struct fleet_source records = {fleet->records, fleet->record_count, fleet->category_names,
                                         fleet->category_count, fleet->is_by_host};
    fleet_build(&records, &job->arena, &fleet->model);
    fleet->model.source = analysis_fleet_kept(fleet, source);
    fleet->model.notes = fleet->notes.items;
    fleet->model.note_count = fleet->notes.count;
}

bool analysis_fleet_build(struct analysis_fleet *fleet, const char *source, bool is_catalog, uint64_t file_count,
                          uint64_t read_count, struct err *err)
{
    if (!try_it(fleet, analysis_fleet_build_job, source, err))
        return false;
    fleet->model.unlabelled_count += fleet->unlabelled_count;
    fleet->model.is_catalog = is_catalog;
    fleet->model.file_count = file_count;
    fleet->model.read_count = read_count;
    return true;
}

/* ---- steps ---- */

size_t analysis_fleet_step_count(const struct analysis_fleet *fleet) { return fleet->model.step_count; }

void analysis_fleet_step(const struct analysis_fleet *fleet, size_t at, const struct fleet_record **before,
                         const struct fleet_record **after)
{
    uint32_t point = fleet->model.steps[at].point;
    *before = fleet_record_of(&fleet->model, point - 1);
    *after = fleet_record_of(&fleet->model, point);
}

const struct level_step *analysis_fleet_step_level(const struct analysis_fleet *fleet, size_t at, bool *is_regression)
{
    *is_regression = fleet_step_is_regression(&fleet->model.steps[at]);
    return &fleet->model.steps[at].level;
}

struct writing {
    uint32_t at;
    struct buf *out, *scratch;
};

static void step_write(struct job *job, const void *in, void *out, struct err *err)
{
    struct analysis_fleet *fleet = out;
    const struct writing *writing = in;
    struct json json = JSON_INIT(writing->out);
    (void)err;
    fleet_regression_write(&fleet->model, writing->at, &job->arena, writing->scratch, &json);
}

bool analysis_fleet_step_write(struct analysis_fleet *fleet, size_t at, struct buf *out, struct err *err)
{
    struct buf scratch = BUF_INIT;
    const struct writing writing = {(uint32_t)at, out, &scratch};
    bool is_good = try_it(fleet, step_write, &writing, err) && buf_is_whole(&scratch, "a sentence", err) &&
                   buf_is_whole(out, "the regression", err);
    buf_free(&scratch);
    return is_good;
}

struct analysis_fleet_explaining {
    size_t at;
    const char *sentence, *unknown;
};

static void explain(struct job *job, const void *in, void *out, struct err *err)
{
    struct analysis_fleet *fleet = out;
    const struct analysis_fleet_explaining *explaining = in;
    struct fleet_step *step = &fleet->model.steps[explaining->at];
    (void)job, (void)err;
    step->diff_sentence = analysis_fleet_kept(fleet, explaining->sentence);
    step->diff_unknown = analysis_fleet_kept(fleet, explaining->unknown);
}

bool analysis_fleet_step_explain(struct analysis_fleet *fleet, size_t at, const char *sentence, const char *unknown,
                                 struct err *err)
{
    const struct analysis_fleet_explaining explaining = {at, sentence, unknown};
    return try_it(fleet, explain, &explaining, err);
}

uint64_t analysis_fleet_memory_bytes(const struct analysis_fleet *fleet)
{
    return sizeof(*fleet) + fleet->job.arena.used_bytes;
}

const struct fleet *analysis_fleet_model(const struct analysis_fleet *fleet) { return &fleet->model; }

/* ---- hosts that did the same ---- */

void analysis_odd_hosts_judge(struct odd_host *hosts, size_t count, int64_t *scratch)
{
    odd_hosts_judge(hosts, count, scratch);
}

const char *analysis_odd_hosts_reason(enum odd_host_reason reason) { return odd_hosts_reason(reason); }

void analysis_odd_hosts_say(const struct odd_host *hosts, size_t count, const char *noun, struct buf *out)
{
    odd_hosts_say(hosts, count, noun, out);
}
