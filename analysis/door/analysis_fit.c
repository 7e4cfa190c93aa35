/* SPDX-License-Identifier: Apache-2.0
 * door/analysis_fit.c: does a program fit, for lists that have no subject. */
#include "door/analysis_fit.h"
#include "verdict/capacity.h"

enum { LIMIT_BYTES = 1 << 20 };

struct memory_capacity analysis_fit_capacity(const struct capacity_stated *capacity)
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

static int64_t signed_bytes(uint64_t bytes) { return bytes <= INT64_MAX ? (int64_t)bytes : INT64_MAX; }

static struct capacity_said said_of(const struct capacity_stated *capacity)
{
    return (struct capacity_said){capacity->from, signed_bytes(capacity->bytes)};
}

bool analysis_capacity_counts_before(const struct capacity_stated *one, const struct capacity_stated *other)
{
    const struct capacity_said first = said_of(one), second = said_of(other);
    return capacity_counts_before(&first, &second);
}

bool analysis_capacity_may_count(enum capacity_from from, const struct capacity_stated *found)
{
    const struct capacity_said said = found != NULL ? said_of(found) : (struct capacity_said){0};
    return capacity_may_count(from, found != NULL ? &said : NULL);
}

bool analysis_capacity_usable(uint64_t available_bytes, uint64_t physical_bytes, uint64_t *bytes)
{
    const struct capacity_usable usable =
        capacity_usable_of(signed_bytes(available_bytes), signed_bytes(physical_bytes));
    *bytes = (uint64_t)usable.bytes;
    return usable.is_physical;
}

bool analysis_fit_is_worse(const struct capacity_stated *capacity, uint64_t needed_bytes,
                           const struct capacity_stated *other, uint64_t other_needed_bytes)
{
    const struct memory_capacity one = analysis_fit_capacity(capacity), two = analysis_fit_capacity(other);
    return memory_fit_is_worse(&one, signed_bytes(needed_bytes), &two, signed_bytes(other_needed_bytes));
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

void analysis_fit_write(struct json *json, const char *key, const struct capacity_stated *capacity,
                        uint64_t needed_bytes, const char *space_name)
{
    struct job job = {.source = NULL};
    struct err err = ERR_INIT;
    const struct fit_question question = {.json = json,
                                          .key = key,
                                          .space_name = space_name,
                                          .capacity = analysis_fit_capacity(capacity),
                                          .needed_bytes = signed_bytes(needed_bytes)};
    arena_init(&job.arena, LIMIT_BYTES, &err);
    job_try(&job, fit_answer, &question, NULL, &err);
    arena_free(&job.arena);
}
