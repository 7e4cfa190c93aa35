/* SPDX-License-Identifier: Apache-2.0 */
#include "door/job.h"

#include "read/torch/torch_form.h"
#include "wire/gzip.h"
#include "wire/zip.h"

#include <stdalign.h>
#include <stdlib.h>

struct trying {
    struct job *job;
    job_work *work;
    const void *in;
    void *out;
    struct err *err;
};

static void do_work(void *context)
{
    const struct trying *trying = context;
    trying->work(trying->job, trying->in, trying->out, trying->err);
}

void job_try(struct job *job, job_work *work, const void *in, void *out, struct err *err)
{
    struct trying trying = {job, work, in, out, err};
    arena_try(&job->arena, do_work, &trying);
}

bool job_member_is_file(struct str name)
{
    return !str_ends(name, STR("/")) && !str_starts(name, STR("__MACOSX/")) && !str_ends(name, STR(".DS_Store"));
}

bool job_archive_is_of_files(const struct zip *zip, size_t *count, struct err *err)
{
    *count = 0;
    for (size_t i = 0; i < zip->member_count; i++) {
        if (str_ends(zip->members[i].name, STR("/data.pkl")))
            return err_set(
                err, ERR_unsupported, zip->members[i].header_at,
                "a checkpoint or model of PyTorch (torch.save, torch.jit.save): it holds weights, and no allocator "
                "snapshot");
        *count += job_member_is_file(zip->members[i].name);
    }
    return true;
}

static bool only_file_enter(struct zip *zip, struct err *err)
{
    size_t count, only = 0;
    if (!job_archive_is_of_files(zip, &count, err))
        return false;
    if (count != 1)
        return err_set(err, ERR_unsupported, 0,
                       "a zip archive of %zu files, of which each is one of its own: unpack the one that is meant",
                       count);
    while (!job_member_is_file(zip->members[only].name))
        only++;
    return zip_enter(zip, only);
}

struct zip *job_only_file(const struct source *source, struct err *err)
{
    struct zip *zip = zip_open(source, err);
    if (zip == NULL || only_file_enter(zip, err))
        return zip;
    zip_close(zip);
    return NULL;
}

static void source_unpack(struct job *job, const struct source *source, struct err *err)
{
    job->zip = zip_matches(source) ? job_only_file(source, err) : NULL;
    source = job->zip != NULL ? job->zip->source : source;
    job->gzip = !err_is_set(err) && gzip_matches(source) ? gzip_open(source, err) : NULL;
    if (job->gzip != NULL && gzip_matches(&job->gzip->source)) {
        job->outer = job->gzip;
        job->gzip = gzip_open(&job->outer->source, err);
    }
    job->source = job->gzip != NULL ? &job->gzip->source : source;
}

bool job_run(struct job *job, const struct source *source, uint64_t limit_bytes, job_work *work, const void *in,
             void *out, struct err *err)
{
    arena_init(&job->arena, limit_bytes, err);
    job->zip = NULL;
    job->outer = job->gzip = NULL;
    job->source = source->unpacked;
    if (job->source == NULL)
        source_unpack(job, source, err);
    if (!err_is_set(err))
        job_try(job, work, in, out, err);
    gzip_close(job->gzip);
    gzip_close(job->outer);
    zip_close(job->zip);
    if (err_is_set(err))
        arena_free(&job->arena);
    return !err_is_set(err);
}

enum kind job_kind(struct job *job, struct arena *arena, struct err *err)
{
    if (job->gzip != NULL)
        job->gzip->may_end_early = true;
    enum kind kind = kind_of(job->source, arena, err);
    bool is_trace =
        kind == KIND_XSPACE || (kind == KIND_TORCH_SNAPSHOT && torch_form_read(job->source) == TORCH_FORM_TRACE);
    if (job->gzip != NULL && !is_trace)
        gzip_needs_whole(job->gzip);
    return kind;
}

/* What was made, behind the arena that it came from. */
struct made {
    struct arena arena;
    size_t size;
    alignas(max_align_t) unsigned char bytes[];
};

static struct made *made_of(const void *bytes)
{
    return (struct made *)((uintptr_t)bytes - offsetof(struct made, bytes));
}

void *job_make(const struct source *source, uint64_t limit_bytes, size_t size, job_work *work, const void *in,
               struct err *err)
{
    struct made *made = calloc(1, sizeof(*made) + size);
    struct job job;
    if (made == NULL) {
        err_exhausted(err);
        return NULL;
    }
    if (!job_run(&job, source, limit_bytes, work, in, made->bytes, err)) {
        if (err->code == ERR_limit && job.arena.is_full)
            err->code = ERR_memory;
        free(made);
        return NULL;
    }
    made->arena = job.arena;
    made->size = size;
    return made->bytes;
}

bool job_made_more(void *made, uint64_t limit_bytes, const atomic_int *wanted, job_work *work, const void *in,
                   struct err *err)
{
    struct arena *whole = &made_of(made)->arena;
    struct job job = {.source = NULL};
    arena_init(&job.arena, limit_bytes, err);
    arena_allot_work(&job.arena, arena_work_left(whole));
    arena_watch(&job.arena, wanted);
    job_try(&job, work, in, made, err);
    if (err->code == ERR_limit && job.arena.is_full)
        err->code = ERR_memory;
    if (err_is_set(err))
        arena_free(&job.arena);
    else
        arena_adopt(whole, &job.arena);
    return !err_is_set(err);
}

uint64_t job_made_bytes(const void *made)
{
    return sizeof(struct made) + made_of(made)->size + made_of(made)->arena.used_bytes;
}

void job_made_free(void *made)
{
    if (made == NULL)
        return;
    arena_free(&made_of(made)->arena);
    free(made_of(made));
}
