/* SPDX-License-Identifier: Apache-2.0 */
#include "door/analysis_device_fit.h"

#include "door/job.h"
#include "views/device_fit_write.h"

enum { LIMIT_BYTES = 1 << 20 };

struct device_question {
    struct json *json;
    const struct device_fit_job *job;
    const struct device *device; /* NULL: what is needed, of any */
    int64_t compiled_bytes;
};

static void device_answer(struct job *job, const void *in, void *out, struct err *err)
{
    const struct device_question *question = in;
    struct analysis_device_fit *answer = out;
    (void)err;
    if (question->device == NULL) {
        device_fit_write_needs(question->job, &job->arena, question->json);
        return;
    }
    struct device_fit *row = arena_array(&job->arena, struct device_fit, 1);
    device_fit_judge(question->job, question->device, question->compiled_bytes, &job->arena, row);
    device_fit_write_row(row, question->json);
    *answer = (struct analysis_device_fit){row->is_fitting, row->room_bytes};
}

static struct analysis_device_fit device_ask(const struct device_question *question)
{
    struct analysis_device_fit answer = {false, -1};
    struct job job = {.source = NULL};
    struct err err = ERR_INIT;
    arena_init(&job.arena, LIMIT_BYTES, &err);
    job_try(&job, device_answer, question, &answer, &err);
    arena_free(&job.arena);
    return answer;
}

void analysis_device_fit_write_needs(struct json *json, const struct device_fit_job *job)
{
    (void)device_ask(&(struct device_question){.json = json, .job = job});
}

struct analysis_device_fit analysis_device_fit_write_row(struct json *json, const struct device_fit_job *job,
                                                         const char *device_name, int64_t compiled_bytes)
{
    const struct device_question question = {
        .json = json, .job = job, .device = device_named(device_name), .compiled_bytes = compiled_bytes};
    return question.device == NULL ? (struct analysis_device_fit){false, -1} : device_ask(&question);
}

bool analysis_device_fit_may_compile(const struct device_fit_job *job, const char *device_name)
{
    return device_fit_may_compile(job, device_name);
}
