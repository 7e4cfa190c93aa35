/* SPDX-License-Identifier: Apache-2.0
 * analysis_profile.c: see analysis.h, "Device profiles". */
#include "analysis.h"

#include "analysis_answer.h"
#include "input/kind.h"
#include "job.h"
#include "tool/device_memory/profile_set.h"
#include "wire/gzip.h"
#include "wire/stream.h"

#include <stdlib.h>

/* Steps of the decoding: tables of hashes that a file was made to overload cost more. */
#define LEAST_WORK ((uint64_t)1 << 26)
#define WORK_PER_BYTE 64
#define USES_MOST 20000

struct analysis_profile {
    struct pprof pprof;
    int64_t packed_at_ms; /* from the gzip header; 0: none */
};

static void profile_fill(struct job *job, const void *in, void *to, struct err *err)
{
    struct pprof *pprof = &((struct analysis_profile *)to)->pprof;
    struct stream stream;
    (void)in;
    enum kind kind = kind_of(job->source, &job->arena, err);
    if (err_is_set(err))
        return;
    if (kind != KIND_PPROF) {
        err_set(err, kind == KIND_EMPTY ? ERR_truncated : ERR_unsupported, 0,
                kind == KIND_EMPTY ? "the file is empty" : "not a profile (profile.proto); it looks like: %s", kind_name(kind));
        return;
    }
    stream_init(&stream, job->source, &job->arena, err);
    struct str bytes = stream_copy(&stream, (struct stream_scope){0, stream_size(&stream)}, &job->arena);
    arena_allot_work(&job->arena, LEAST_WORK + WORK_PER_BYTE * (uint64_t)bytes.length);
    if (!err_is_set(err))
        pprof_read(bytes, &job->arena, pprof, err);
}

/* Python's gzip writes the time of packing into the header, which is the time of capture. */
static int64_t packed_at_ms(const struct source *source)
{
    unsigned char header[8];
    if (!gzip_matches(source) || source->read(source->context, 0, header, sizeof header) != (int64_t)sizeof header)
        return 0;
    uint64_t seconds = 0;
    for (int i = 7; i >= 4; i--)
        seconds = seconds << 8 | header[i];
    return (int64_t)seconds * 1000;
}

struct analysis_profile *analysis_profile_read(const struct source *source, uint64_t limit_bytes, struct err *err)
{
    struct analysis_profile *made = job_make(source, limit_bytes, sizeof *made, profile_fill, NULL, err);
    if (made != NULL)
        made->packed_at_ms = packed_at_ms(source);
    return made;
}

uint64_t analysis_profile_memory_bytes(const struct analysis_profile *profile)
{
    return job_made_bytes(profile);
}

void analysis_profile_free(struct analysis_profile *profile)
{
    job_made_free(profile);
}

uint64_t analysis_profile_sample_count(const struct analysis_profile *profile)
{
    return profile->pprof.sample_count;
}

bool analysis_profile_type_at(const struct analysis_profile *profile, size_t at, struct str *name, struct str *unit)
{
    if (at >= profile->pprof.type_count)
        return false;
    *name = profile->pprof.types[at].name;
    *unit = profile->pprof.types[at].unit;
    return true;
}

static struct profile_set_item item_of(const struct analysis_profile_use *use)
{
    struct profile_set_item item = {
        .id = use->id, .name = use->name, .size_bytes = use->size_bytes, .is_base = use->is_base, .code = err_name(use->code)};
    item.reason = use->reason;
    if (use->profile == NULL && use->code == ERR_none) {
        item.is_other = true;
        item.code = "not_chosen";
        item.reason = "not numbered like the others";
    }
    if (use->profile == NULL)
        return item;
    item.pprof = &use->profile->pprof;
    item.captured_at_ms = use->modified_at_ms;
    item.captured_from = use->modified_at_ms > 0 ? "file" : NULL;
    if (use->profile->pprof.time_ns > 0) {
        item.captured_at_ms = use->profile->pprof.time_ns / 1000000;
        item.captured_from = "profile";
    } else if (use->profile->packed_at_ms > 0) {
        item.captured_at_ms = use->profile->packed_at_ms;
        item.captured_from = "gzip";
    }
    return item;
}

bool analysis_profile_answer(const struct analysis_profile_question *asked, const char *view, const struct analysis_param *params,
                             size_t param_count, struct buf *out, struct err *err)
{
    if (asked->use_count == 0 || asked->use_count > USES_MOST)
        return err_set(err, ERR_argument, ERR_NO_OFFSET, "from 1 to %d profiles can be looked at together", USES_MOST);
    struct profile_set_item *items = calloc(asked->use_count, sizeof *items);
    if (items == NULL)
        return err_set(err, ERR_limit, ERR_NO_OFFSET, "no memory");
    for (size_t i = 0; i < asked->use_count; i++)
        items[i] = item_of(&asked->uses[i]);
    struct profile_set set = {items, (uint32_t)asked->use_count, asked->has_source};
    struct analysis_question question = {
        .tool = "device_memory", .view = view, .params = params, .param_count = param_count, .profiles = &set};
    bool is_answered = analysis_answer_write(&question, out, err);
    free(items);
    return is_answered;
}
