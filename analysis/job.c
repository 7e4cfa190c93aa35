/* SPDX-License-Identifier: Apache-2.0
 * job.c: see job.h. The one place that sets traps for the arena's jump. */
#include "job.h"

#include "wire/gzip.h"

/* The trap. It owns no local that work changes, and must not be inlined: a jump
 * would leave such locals undefined. */
__attribute__((noinline)) void job_try(struct job *job, job_work *work, const void *in, void *out, struct err *err)
{
    if (setjmp(job->arena.trap) == 0)
        work(job, in, out, err);
}

bool job_run(struct job *job, const struct source *source, uint64_t limit_bytes, job_work *work, const void *in, void *out,
             struct err *err)
{
    arena_init(&job->arena, limit_bytes, err);
    job->gzip = gzip_matches(source) ? gzip_open(source, err) : NULL;
    job->source = job->gzip != NULL ? &job->gzip->source : source;
    if (!err_is_set(err))
        job_try(job, work, in, out, err);
    gzip_close(job->gzip);
    if (err_is_set(err))
        arena_free(&job->arena);
    return !err_is_set(err);
}
