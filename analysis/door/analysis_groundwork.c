/* SPDX-License-Identifier: Apache-2.0
 * door/analysis_groundwork.c: see analysis.h, "Groundwork". */
#include "door/analysis_subject.h"

enum { MIN_WORK = 1 << 26, WORK_PER_INSTRUCTION = 1 << 12 };

static int64_t read_nothing(void *context, uint64_t offset, void *into, size_t size)
{
    (void)context, (void)offset, (void)into, (void)size;
    return 0;
}

static void groundwork_fill(struct job *job, const void *in, void *to, struct err *err)
{
    const struct plan *plan = in;
    struct analysis_groundwork *out = to;
    arena_allot_work(&job->arena, MIN_WORK + WORK_PER_INSTRUCTION * (uint64_t)plan->hlo.instruction_count);
    if (!groundwork_build(plan, &job->arena, &out->groundwork))
        err_set(err, ERR_notfound, ERR_NO_OFFSET, "there is no program with its own memory to change");
}

struct analysis_groundwork *analysis_groundwork_make(const struct analysis_subject *module, uint64_t limit_bytes,
                                                     struct err *err)
{
    const struct source none = {.read = read_nothing};
    return job_make(&none, limit_bytes, sizeof(struct analysis_groundwork), groundwork_fill, &module->plan, err);
}

bool analysis_question_predicts(const struct analysis_question *question)
{
    return strcmp(question->tool, "memory_viewer") == 0 && strcmp(question->view, "whatif") == 0;
}

bool analysis_question_needs_owners(const struct analysis_question *question)
{
    return strcmp(question->tool, "memory_viewer") != 0 || strcmp(question->view, "xprof") != 0;
}

uint64_t analysis_groundwork_memory_bytes(const struct analysis_groundwork *groundwork)
{
    return job_made_bytes(groundwork);
}

void analysis_groundwork_free(struct analysis_groundwork *groundwork) { job_made_free(groundwork); }
