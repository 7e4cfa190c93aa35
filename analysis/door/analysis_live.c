/* SPDX-License-Identifier: Apache-2.0
 * door/analysis_live.c: see door/analysis_live.h. */
#include "door/analysis_live.h"
#include "model/live/live.h"

#include "door/job.h"
#include "views/live/live_write.h"

#include <stdlib.h>

/* A few hundred files of some ten thousand lines each. */
#define LIMIT_BYTES ((uint64_t)256 << 20)
#define WORK ((uint64_t)1 << 30)

struct analysis_live {
    struct job job;
    struct err err;
    struct live model;
};

struct live_texts {
    const struct live_text *items;
    size_t count;
};

static void read_job(struct job *job, const void *in, void *out, struct err *err)
{
    const struct live_texts *texts = in;
    struct analysis_live *live = out;
    (void)err;
    live_read(texts->items, texts->count, &job->arena, &live->model);
}

struct analysis_live *analysis_live_read(const struct live_text *texts, size_t count, struct err *err)
{
    const struct live_texts in = {texts, count};
    struct analysis_live *live = calloc(1, sizeof(*live));
    if (live == NULL) {
        err_exhausted(err);
        return NULL;
    }
    arena_init(&live->job.arena, LIMIT_BYTES, &live->err);
    arena_allot_work(&live->job.arena, WORK);
    job_try(&live->job, read_job, &in, live, &live->err);
    if (!err_is_set(&live->err))
        return live;
    *err = live->err;
    analysis_live_free(live);
    return NULL;
}

void analysis_live_free(struct analysis_live *live)
{
    if (live == NULL)
        return;
    arena_free(&live->job.arena);
    free(live);
}

const struct live *analysis_live_model(const struct analysis_live *live) { return &live->model; }

void analysis_live_write(const struct analysis_live *live, bool with_samples, struct json *json)
{
    live_write(&live->model, with_samples, json);
}
