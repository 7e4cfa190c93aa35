/* SPDX-License-Identifier: Apache-2.0
 * door/analysis_subject.h: what a subject is inside, and how each kind is filled. */
#pragma once

#include "analysis.h"
#include "door/job.h"
#include "model/device_memory/profile_set.h"
#include "model/memory_profile/model.h"
#include "model/modules/set.h"
#include "model/oom/model.h"
#include "plan/plan.h"
#include "read/pprof/pprof.h"
#include "whatif/groundwork.h"

struct analysis_subject {
    enum analysis_subject_kind kind;
    union {
        struct plan plan; /* ANALYSIS_MODULE */
        struct {
            struct memory_profile trace; /* ANALYSIS_TRACE */
            const char **pool_names;
        };
        struct {
            struct pprof pprof;   /* ANALYSIS_PROFILE */
            int64_t packed_at_ms; /* from the gzip header; 0: none */
        };
        struct oom_report report;      /* ANALYSIS_TEXT */
        struct module_figures figures; /* ANALYSIS_FIGURES */
        struct module_runs runs;       /* ANALYSIS_RUNS */
    };
};

struct analysis_groundwork {
    struct groundwork groundwork;
};

/* Each a job_work: `in` is the struct analysis_reading, `to` the subject. */
void analysis_module_fill(struct job *job, const void *in, void *to, struct err *err);
void analysis_trace_fill(struct job *job, const void *in, void *to, struct err *err);
void analysis_profile_fill(struct job *job, const void *in, void *to, struct err *err);
void analysis_text_fill(struct job *job, const void *in, void *to, struct err *err);
void analysis_figures_fill(struct job *job, const void *in, void *to, struct err *err);
void analysis_runs_fill(struct job *job, const void *in, void *to, struct err *err);

/* When a gzip says it was packed, Unix time in ms; 0: not said, or no gzip. */
int64_t analysis_profile_packed_at_ms(const struct source *source);
/* A module as the views of all modules see it. */
struct module_item analysis_module_item(const struct analysis_module_use *use);
/* A profile as the views of device_memory see it; of a snapshot without what is live at its moment. */
struct profile_set_item analysis_profile_item(const struct analysis_use *use);
/* Makes that, in the arena. False with a report: no such moment or pool, or no snapshot. */
bool analysis_profile_of_moment(const struct analysis_use *use, struct arena *arena, struct profile_set_item *item,
                                struct err *err);
