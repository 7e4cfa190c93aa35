/* SPDX-License-Identifier: Apache-2.0 */
#include "read/profiler/profiler_answer.h"
#include "read/profiler/profiler_request.h"

#include "analysis.h"

void analysis_profiler_request_write(const struct profiler_request *request, struct buf *out)
{
    profiler_request_write(request, out);
}

void analysis_profiler_answer_begin(struct profiler_answer *answer, profiler_answer_take *take, void *context)
{
    profiler_answer_begin(answer, take, context);
}

bool analysis_profiler_answer_add(struct profiler_answer *answer, const void *bytes, size_t size, struct err *err)
{
    return profiler_answer_add(answer, bytes, size, err);
}

bool analysis_profiler_answer_end(const struct profiler_answer *answer, struct err *err)
{
    return profiler_answer_end(answer, err);
}

bool analysis_profiler_answer_judge(const char *status, const char *message, struct err *err)
{
    return profiler_answer_judge(status, message, err);
}
