/* SPDX-License-Identifier: Apache-2.0
 * door/job.h: one piece of work over a source, in an arena of its own, behind the trap that
 * the arena jumps to when memory ends. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/source.h"
#include "base/str.h"
#include "read/kind.h"

#include <stdbool.h>

struct gzip;
struct zip;

struct job {
    struct arena arena;
    struct zip *zip;             /* the one file of an archive; NULL: it is in none */
    struct gzip *outer;          /* of a gzip file within another, as in a member of an archive; else NULL */
    struct gzip *gzip;           /* NULL: not packed */
    const struct source *source; /* the plain bytes; those that the owner holds (source.unpacked) are in neither */
};

/* What is done with a job: reads `in`, fills `out`. */
typedef void job_work(struct job *job, const void *in, void *out, struct err *err);

/* Does `work` in job->arena, which is initialised; no source is needed. */
void job_try(struct job *job, job_work *work, const void *in, void *out, struct err *err);

/* Does `work` over `source`; what it made lives in job->arena, which is
 * released already when the answer is false. */
bool job_run(struct job *job, const struct source *source, uint64_t limit_bytes, job_work *work, const void *in,
             void *out, struct err *err);

/* The archive, with its one file entered; NULL with a report: there is none, or there are several. zip_close. */
struct zip *job_only_file(const struct source *source, struct err *err);
/* Is a member a file? Folders are none, nor is what macOS adds. */
bool job_member_is_file(struct str name);
/* Counts the files of an archive; false with a report: it is a checkpoint or model of PyTorch. */
bool job_archive_is_of_files(const struct zip *zip, size_t *count, struct err *err);

/* What the source is. A gzip stream of a trace is then read up to where it ends; of other kinds it has to be whole, and
 * of one that ends before its kind is known that is the report. */
enum kind job_kind(struct job *job, struct arena *arena, struct err *err);

/* `size` zeroed bytes that `work` over `source` filled, as its `out`; what they point to lives as long as they do.
 * NULL after an error, `memory` when `limit_bytes` were too few. Free with job_made_free. */
void *job_make(const struct source *source, uint64_t limit_bytes, size_t size, job_work *work, const void *in,
               struct err *err);
/* Does further `work` on what was made, with the steps that are left to it, in at most `limit_bytes` more. After an
 * error all that the work allocated is freed. */
bool job_made_more(void *made, uint64_t limit_bytes, const atomic_int *wanted, job_work *work, const void *in,
                   struct err *err);
/* Memory that it holds, with all that it points to. */
uint64_t job_made_bytes(const void *made);
void job_made_free(void *made);
