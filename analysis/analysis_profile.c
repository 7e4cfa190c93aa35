/* SPDX-License-Identifier: Apache-2.0
 * analysis_profile.c: what a device profile is to the door. */
#include "analysis_subject.h"
#include "input/kind.h"
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
    enum kind kind = kind_of(job->source, &job->arena, err);
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
    if (use->subject == NULL)
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
