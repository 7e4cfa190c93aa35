/* SPDX-License-Identifier: Apache-2.0
 * door/analysis_profile.c: what a device profile is to the door. */
#include "door/analysis_subject.h"
#include "model/memory_profile/live_stacks.h"
#include "read/kind.h"
#include "views/memory_profile/views.h"
#include "wire/gzip.h"
#include "wire/stream.h"

/* Steps of the decoding: tables of hashes that a file was made to overload cost more. */
#define MIN_WORK ((uint64_t)1 << 26)
#define WORK_PER_BYTE 64

void analysis_profile_fill(struct job *job, const void *in, void *to, struct err *err)
{
    struct pprof *pprof = &((struct analysis_subject *)to)->pprof;
    struct stream stream;
    (void)in;
    enum kind kind = job_kind(job, &job->arena, err);
    if (err_is_set(err))
        return;
    if (kind != KIND_PPROF) {
        err_set(err, kind == KIND_EMPTY ? ERR_truncated : ERR_unsupported, 0,
                kind == KIND_EMPTY ? "the file is empty" : "not a profile (profile.proto); it looks like: %s",
                kind_name(kind));
        return;
    }
    stream_init(&stream, job->source, &job->arena, err);
    struct str bytes = stream_copy(&stream, (struct stream_scope){0, stream_size(&stream)}, &job->arena);
    arena_allot_work(&job->arena, MIN_WORK + WORK_PER_BYTE * (uint64_t)bytes.length);
    if (!err_is_set(err))
        pprof_read(bytes, &job->arena, pprof, err);
}

/* Python's gzip writes the time of packing into the header, which is the time of capture. */
int64_t analysis_profile_packed_at_ms(const struct source *source)
{
    unsigned char header[8];
    if (!gzip_matches(source) || source->read(source->context, 0, header, sizeof(header)) != (int64_t)sizeof(header))
        return 0;
    uint64_t seconds = 0;
    for (int i = 7; i >= 4; i--)
        seconds = seconds << 8 | header[i];
    return (int64_t)seconds * 1000;
}

uint64_t analysis_profile_sample_count(const struct analysis_subject *profile) { return profile->pprof.sample_count; }

bool analysis_profile_type_at(const struct analysis_subject *profile, size_t at, struct str *name, struct str *unit)
{
    if (at >= profile->pprof.type_count)
        return false;
    *name = profile->pprof.types[at].name;
    *unit = profile->pprof.types[at].unit;
    return true;
}

struct profile_set_item analysis_profile_item(const struct analysis_use *use)
{
    struct profile_set_item item = {.id = use->id,
                                    .name = use->name,
                                    .size_bytes = use->size_bytes,
                                    .is_base = use->is_base,
                                    .code = err_name(use->code)};
    item.reason = use->reason;
    if (use->subject == NULL && use->code == ERR_none) {
        item.is_other = true;
        item.code = "not_chosen";
        item.reason = "not numbered like the others";
    }
    if (use->subject == NULL || use->subject->kind == ANALYSIS_TRACE)
        return item;
    item.pprof = &use->subject->pprof;
    item.captured_at_ms = use->modified_at_ms;
    item.captured_from = use->modified_at_ms > 0 ? "file" : NULL;
    if (use->subject->pprof.time_ns > 0) {
        item.captured_at_ms = use->subject->pprof.time_ns / 1000000;
        item.captured_from = "profile";
    } else if (use->subject->packed_at_ms > 0) {
        item.captured_at_ms = use->subject->packed_at_ms;
        item.captured_from = "gzip";
    }
    return item;
}

static const struct memory_profile_pool *pool_of(const struct analysis_use *use, struct err *err)
{
    const struct memory_profile *trace = &use->subject->trace;
    const char *name = use->memory != NULL && use->memory[0] != '\0' ? use->memory : NULL;
    if (!analysis_trace_has_stacks(use->subject)) {
        const char *code, *reason;
        bool is_told = trace->events.snapshot != NULL && analysis_trace_reason(use->subject, &code, &reason);
        err_set(err, ERR_notfound, ERR_NO_OFFSET, "%s",
                is_told ? reason
                        : "a trace has no call stacks of what is live: only allocator snapshots of PyTorch have");
        return NULL;
    }
    const struct memory_profile_pool *pool = memory_profile_views_pool_named(trace, name);
    if (pool == NULL)
        err_set(err, ERR_notfound, ERR_NO_OFFSET, "%s has no events of a memory \"%.60s\"", use->name, name);
    return pool;
}

bool analysis_profile_of_moment(const struct analysis_use *use, struct arena *arena, struct profile_set_item *item,
                                struct err *err)
{
    const struct memory_profile_pool *pool = pool_of(use, err);
    const char *text = use->moment != NULL && use->moment[0] != '\0' ? use->moment : "peak";
    struct memory_profile_moment moment;
    if (pool == NULL || !memory_profile_moment_read(pool, "at", text, &moment, err))
        return false;
    struct pprof *pprof = arena_array(arena, struct pprof, 1);
    struct profile_set_moment *told = arena_array(arena, struct profile_set_moment, 1);
    memory_profile_live_stacks(pool, moment.count, arena, pprof);
    *told = (struct profile_set_moment){
        .source = pool,
        .memory = pool->name,
        .text = text,
        .words = memory_profile_moment_words(text, &moment, arena_raw(arena, MOMENT_WORDS_SIZE)),
        .time_ps = moment.time_ps,
        .event = (int64_t)moment.count - 1,
        .in_use_bytes = memory_profile_in_use_after(pool, moment.count)};
    item->pprof = pprof;
    item->moment = told;
    bool is_only = use->subject->trace.pool_count == 1;
    item->name = arena_format(arena, "%s%s%.*s, %s", item->name, is_only ? "" : " ",
                              is_only ? 0 : (int)pool->name.length, pool->name.data, told->words);
    item->captured_at_ms = pprof->time_ns / 1000000;
    item->captured_from = pprof->time_ns > 0 ? "snapshot" : NULL;
    return true;
}
