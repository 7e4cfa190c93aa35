/* SPDX-License-Identifier: Apache-2.0
 * door/analysis_trace.c: what the memory events of a trace are to the door. */
#include "door/analysis_subject.h"
#include "model/finding.h"
#include "model/memory_profile/categories.h"
#include "model/memory_profile/finding.h"
#include "model/memory_profile/naming.h"
#include "model/memory_profile/notes.h"
#include "read/foreign.h"
#include "read/kind.h"
#include "read/torch/torch_form.h"
#include "read/torch/torch_trace.h"
#include "views/memory_profile/views.h"
#include "wire/gzip.h"

#include <stdio.h>

/* Steps of decoding: about two a byte in real traces; a step costs 1 to 10 ns. */
#define MIN_WORK ((uint64_t)1 << 28)
#define WORK_PER_BYTE 64

/* To tell why a pickle is no snapshot. */
#define PICKLE_LIMIT_BYTES ((uint64_t)1 << 28)

/* The most programs of one session that are read. */
enum { BESIDE_MAX = 256 };

struct programs {
    const struct source *source; /* the file at hand, plain */
    struct arena arena;
    struct err err;
    struct program_figures_reader *reader;
    struct program_figures figures;
    struct memory_profile *trace;
    struct arena *trace_arena;
};

static void programs_begin(void *context)
{
    struct programs *programs = context;
    programs->reader = program_figures_begin(&programs->arena);
}

static void programs_add(void *context)
{
    struct programs *programs = context;
    program_figures_add(programs->reader, programs->source, &programs->err);
}

static void programs_take(void *context)
{
    struct programs *programs = context;
    program_figures_take(programs->reader, &programs->figures);
}

static void programs_name(void *context)
{
    struct programs *programs = context;
    memory_profile_naming_make(programs->trace, &programs->figures, programs->trace_arena);
}

/* Those of other files of the session. A file that cannot be read costs its own programs; false: there is no room for
 * more. */
static bool beside_add(struct programs *programs, const struct source *source)
{
    struct err err = ERR_INIT;
    struct gzip *gzip = gzip_matches(source) ? gzip_open(source, &err) : NULL;
    programs->source = gzip != NULL ? &gzip->source : source;
    if (gzip != NULL)
        gzip->may_end_early = true; /* names by the programs that are there */
    if (err.code == ERR_exhausted)
        programs->err = err;
    bool has_room = err_is_set(&err) || arena_try(&programs->arena, programs_add, programs);
    gzip_close(gzip);
    if (programs->err.code != ERR_exhausted && programs->err.code != ERR_stopped)
        programs->err = (struct err)ERR_INIT;
    return has_room;
}

static uint32_t beside_read(struct programs *programs, const struct analysis_beside *beside)
{
    uint32_t file_count = 0;
    for (size_t i = 0; i < beside->count && i < BESIDE_MAX; i++) {
        const struct source *source = beside->open(beside->context, i);
        if (source != NULL && !beside_add(programs, source))
            break;
        file_count += source != NULL;
    }
    return file_count;
}

/* Names what nobody named by the programs in the same file, or, where none of those says what it allocates, in others
 * of the session. What fails on the way leaves it without names. */
static void programs_hold(struct job *job, const struct analysis_beside *beside, struct memory_profile *trace)
{
    if (!memory_profile_naming_is_wanted(trace))
        return;
    struct programs programs = {.source = job->source, .err = ERR_INIT, .trace = trace, .trace_arena = &job->arena};
    bool is_named = true;
    arena_init(&programs.arena, arena_left_bytes(&job->arena), &programs.err);
    arena_work_as(&programs.arena, &job->arena);
    bool is_read =
        arena_try(&programs.arena, programs_begin, &programs) && arena_try(&programs.arena, programs_add, &programs);
    if (is_read && beside != NULL && !program_figures_has_assignment(programs.reader)) {
        programs.err = (struct err)ERR_INIT;
        uint32_t file_count = beside_read(&programs, beside);
        bool is_found = program_figures_has_assignment(programs.reader);
        memory_profile_note(
            &trace->notes, "programs_beside", is_found ? file_count : 0,
            "Other files of the session, whose programs name the allocations: this file does not say what "
            "its own programs allocate.");
    }
    if (is_read && arena_try(&programs.arena, programs_take, &programs) && programs.figures.count > 0)
        is_named = arena_try(&job->arena, programs_name, &programs);
    memory_profile_note_room(
        trace, "programs_no_room", &programs.arena,
        "There was no room within the memory limit to name allocations by the programs of the trace.");
    struct err err = programs.err;
    arena_free(&programs.arena);
    if (!is_named)
        arena_give_up(&job->arena);
    arena_give_up_with(&job->arena, &err);
}

/* Reads the events of a trace, or of an allocator snapshot of PyTorch. */
static bool events_read(struct job *job, const struct workers *workers, struct memory_events *events, struct err *err)
{
    struct arena *scratch = arena_child(&job->arena);
    enum kind kind = job_kind(job, scratch, err);
    arena_free(scratch);
    if (err_is_set(err))
        return false;
    if (kind != KIND_TORCH_SNAPSHOT && kind != KIND_PICKLE)
        return memory_events_read(job->source, workers, &job->arena, events, err);
    return torch_form_read(job->source) == TORCH_FORM_TRACE
               ? torch_trace_read(job->source, &job->arena, events, err)
               : torch_snapshot_read(job->source, &job->arena, events, err);
}

/* A snapshot although it does not begin as one, or the report why not. */
static void pickle_fill(struct job *job, const void *in, void *out, struct err *err)
{
    (void)in;
    struct memory_events *events = arena_array(&job->arena, struct memory_events, 1);
    arena_allot_work(&job->arena, MIN_WORK);
    if (torch_snapshot_read(job->source, &job->arena, events, err))
        *(enum analysis_kind *)out = ANALYSIS_KIND_TORCH_SNAPSHOT;
}

bool analysis_identify_whole(const struct source *source, enum analysis_kind *kind, struct err *err)
{
    struct job job;
    if (!analysis_identify(source, kind, NULL, err))
        return false;
    const char *foreign = *kind == ANALYSIS_KIND_UNKNOWN ? foreign_of_bytes(source) : NULL;
    if (foreign != NULL)
        err_set(err, ERR_unsupported, ERR_NO_OFFSET, "%s", foreign);
    if (foreign != NULL || *kind != ANALYSIS_KIND_PICKLE)
        return foreign == NULL;
    if (!job_run(&job, source, PICKLE_LIMIT_BYTES, pickle_fill, NULL, kind, err))
        return false;
    arena_free(&job.arena);
    return true;
}

const char *analysis_foreign_name(const char *name, size_t *stem_length) { return foreign_of_name(name, stem_length); }

void analysis_trace_fill(struct job *job, const void *in, void *to, struct err *err)
{
    const struct analysis_reading *reading = in;
    const struct workers *workers = reading->workers;
    struct analysis_subject *out = to;
    struct memory_events *events = arena_array(&job->arena, struct memory_events, 1);
    uint64_t size_bytes = job->source->size_bytes;
    arena_allot_work(&job->arena,
                     size_bytes > UINT64_MAX / 128 ? UINT64_MAX / 2 : MIN_WORK + WORK_PER_BYTE * size_bytes);
    if (!events_read(job, workers, events, err))
        return;
    memory_profile_model_build(&out->trace, events, workers, &job->arena);
    programs_hold(job, reading->beside, &out->trace);
    memory_profile_categories_make(&out->trace, &job->arena);
    memory_profile_finding_make(&out->trace, &job->arena);
    out->pool_names = arena_array(&job->arena, const char *, (size_t)out->trace.pool_count + 1);
    for (uint32_t i = 0; i < out->trace.pool_count; i++)
        out->pool_names[i] = arena_text(&job->arena, out->trace.pools[i].name);
}

static void categories_take(const struct memory_profile_pool *row, struct analysis_trace_pool *pool)
{
    _Static_assert((int)CATEGORY_COUNT <= (int)ANALYSIS_TRACE_CATEGORIES_MAX, "all categories have room");
    enum category order[CATEGORY_COUNT];
    pool->category_count = row->at_peak == NULL ? 0 : memory_profile_categories_order(row->at_peak, order);
    for (size_t i = 0; i < pool->category_count; i++) {
        const struct memory_profile_category_sum *sum = &row->at_peak[order[i]];
        pool->categories[i] = (struct analysis_trace_category){category_name(order[i]),
                                                               category_words(order[i]),
                                                               memory_profile_categories_guess_words(order[i], sum),
                                                               sum->bytes,
                                                               sum->guessed_bytes,
                                                               row->at_failure ? row->at_failure[order[i]].bytes : -1};
    }
}

/* With the last request that failed: what the process would have taken. */
static int64_t taken_bytes(const struct memory_profile_pool *pool)
{
    const struct memory_profile_failure *failure =
        pool->failure_count > 0 ? &pool->failures[pool->failure_count - 1] : NULL;
    uint32_t event;
    int64_t taken = pool->profile->events.snapshot != NULL ? memory_profile_taken_bytes(pool, &event) : -1;
    if (failure == NULL || failure->reserved_bytes == MEMORY_UNKNOWN || failure->requested_bytes == MEMORY_UNKNOWN)
        return taken;
    int64_t asked = sum_add(failure->reserved_bytes, failure->requested_bytes);
    return asked > taken ? asked : taken;
}

bool analysis_trace_pool_at(const struct analysis_subject *trace, size_t at, struct analysis_trace_pool *pool)
{
    const struct memory_profile *model = &trace->trace;
    if (at >= model->pool_count)
        return false;
    const struct memory_profile_pool *row = &model->pools[at];
    bool is_end_alone = model->events.snapshot != NULL && model->events.snapshot->is_end_alone;
    *pool = (struct analysis_trace_pool){
        .name = trace->pool_names[at],
        .is_device = row->kind == PROFILE_DEVICE,
        .peak_bytes = memory_profile_in_use_bytes(model, row->peak_at),
        .peak_time_ps = model->time_ps[row->peak_at],
        .taken_bytes = taken_bytes(row),
        .capacity_bytes = row->capacity_bytes == MEMORY_UNKNOWN ? -1 : row->capacity_bytes,
        .lifetime_peak_bytes = row->lifetime_peak_bytes == MEMORY_UNKNOWN ? -1 : row->lifetime_peak_bytes,
        .allocation_count = row->allocation_count,
        .deallocation_count = row->deallocation_count,
        .is_end_alone = is_end_alone,
        .is_one_event = row->count == 1 && !is_end_alone,
        .failure_count = row->failure_count,
        .failure = (row->failure_count > 0 || is_end_alone) && row->finding != NULL ? row->finding->sentence : NULL,
    };
    categories_take(row, pool);
    return true;
}

bool analysis_trace_has_stacks(const struct analysis_subject *trace)
{
    return trace->trace.events.snapshot != NULL && trace->trace.pool_count > 0;
}

static bool moment_fill(const struct memory_profile_pool *pool, struct analysis_moment *moment)
{
    struct err ignored = ERR_INIT; /* they are moments of the pool */
    struct memory_profile_moment found;
    if (!memory_profile_moment_read(pool, "at", moment->text, &found, &ignored))
        return false;
    moment->time_ps = found.time_ps;
    moment->in_use_bytes = memory_profile_in_use_after(pool, found.count);
    memory_profile_moment_words(moment->text, &found, moment->words);
    return true;
}

bool analysis_trace_series_at(const struct analysis_subject *trace, size_t pool, size_t at,
                              struct analysis_moment *moment)
{
    return analysis_trace_has_stacks(trace) && pool < trace->trace.pool_count &&
           memory_profile_moment_of_series(&trace->trace.pools[pool], at, moment->text) &&
           moment_fill(&trace->trace.pools[pool], moment);
}

bool analysis_trace_moment_at(const struct analysis_subject *trace, size_t pool, size_t at,
                              struct analysis_moment *moment)
{
    static const char *const names[] = {"peak", "end", "start"};
    enum { NAME_COUNT = sizeof(names) / sizeof(names[0]) };
    if (!analysis_trace_has_stacks(trace) || pool >= trace->trace.pool_count)
        return false;
    if (at >= NAME_COUNT)
        return memory_profile_moment_has_steps(&trace->trace) &&
               analysis_trace_series_at(trace, pool, at - NAME_COUNT, moment) && strcmp(moment->text, "end") != 0;
    snprintf(moment->text, sizeof(moment->text), "%s", names[at]);
    return moment_fill(&trace->trace.pools[pool], moment);
}

bool analysis_trace_reason(const struct analysis_subject *trace, const char **code, const char **text)
{
    struct memory_profile_reason reason = memory_profile_notes_reason(&trace->trace);
    *code = reason.code;
    *text = reason.text;
    return reason.code != NULL;
}

bool analysis_trace_cut(const struct analysis_subject *trace, struct err *err)
{
    const struct memory_profile_notes *notes = &trace->trace.notes;
    const char *text = trace->trace.cut_reason;
    for (size_t i = 0; i < notes->count && !text; i++)
        if (strcmp(notes->items[i].code, "cut") == 0)
            text = notes->items[i].text;
    if (text)
        err_set(err, ERR_truncated, trace->trace.events.cut.at_bytes, "%s", text);
    return text != NULL;
}

void analysis_trace_host_write(const struct analysis_subject *trace, const struct analysis_trace_host *host,
                               struct buf *out)
{
    struct json json = JSON_INIT(out);
    const struct memory_profile_summary_names names = {host->id, host->name, host->file};
    memory_profile_summary_host(&json, &trace->trace, &names);
}

void analysis_trace_pool_write(const struct analysis_subject *trace, const struct analysis_trace_host *host, size_t at,
                               struct buf *out)
{
    struct json json = JSON_INIT(out);
    const struct memory_profile_summary_names names = {host->id, host->name, host->file};
    memory_profile_summary_pool(&json, &trace->trace.pools[at], &names);
}
