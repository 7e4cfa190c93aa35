/* SPDX-License-Identifier: Apache-2.0
 * door/analysis_fit.c: does a program fit, for lists that have no subject. */
#include "door/analysis_fit.h"

enum { LIMIT_BYTES = 1 << 20 };

struct memory_capacity analysis_fit_capacity(const struct analysis_space_capacity *capacity)
{
    bool is_known = capacity != NULL && capacity->bytes > 0 && capacity->bytes <= INT64_MAX;
    if (!is_known)
        return (struct memory_capacity){.bytes = -1, .asked_bytes = -1};
    bool has_asked = capacity->asked_bytes > 0 && capacity->asked_bytes <= INT64_MAX;
    return (struct memory_capacity){.bytes = (int64_t)capacity->bytes,
                                    .half_bytes =
                                        capacity->half_bytes < capacity->bytes ? (int64_t)capacity->half_bytes : 0,
                                    .asked_bytes = has_asked ? (int64_t)capacity->asked_bytes : -1,
                                    .source = capacity->source,
                                    .device = capacity->device,
                                    .is_physical = capacity->is_physical,
                                    .is_of_gpu = capacity->is_of_gpu};
}

struct fit_question {
    struct json *json;
    const char *key, *space_name;
    struct memory_capacity capacity;
    int64_t needed_bytes;
};

static void fit_answer(struct job *job, const void *in, void *out, struct err *err)
{
    const struct fit_question *question = in;
    struct memory_fit *fit = arena_array(&job->arena, struct memory_fit, 1);
    (void)out, (void)err;
    memory_fit_judge(&question->capacity, question->needed_bytes, question->space_name, &job->arena, fit);
    memory_fit_write(question->json, question->key, fit);
}

void analysis_fit_write(struct json *json, const char *key, const struct analysis_space_capacity *capacity,
                        uint64_t needed_bytes, const char *space_name)
{
    struct job job = {.source = NULL};
    struct err err = ERR_INIT;
    const struct fit_question question = {.json = json,
                                          .key = key,
                                          .space_name = space_name,
                                          .capacity = analysis_fit_capacity(capacity),
                                          .needed_bytes =
                                              needed_bytes <= INT64_MAX ? (int64_t)needed_bytes : INT64_MAX};
    arena_init(&job.arena, LIMIT_BYTES, &err);
    job_try(&job, fit_answer, &question, NULL, &err);
    arena_free(&job.arena);
}
