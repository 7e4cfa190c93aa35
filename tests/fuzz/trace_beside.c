/* SPDX-License-Identifier: Apache-2.0
 * trace_beside.c: any bytes as a file beside a trace, by whose programs allocations are named. The trace stands before
 * them, behind its size: four bytes, the lowest first. */
#include "tests/fuzz/ask.h"
#include "tests/unit/subject.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct source *open_beside(void *context, size_t at)
{
    (void)at;
    return context;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { HEAD_BYTES = 4, LIMIT_BYTES = 256 << 20 };
    if (size < HEAD_BYTES)
        return 0;
    size_t trace_size = data[0] | (size_t)data[1] << 8 | (size_t)data[2] << 16 | (size_t)data[3] << 24;
    size_t left = size - HEAD_BYTES;
    trace_size = trace_size < left ? trace_size : left;
    struct ask_bytes of_trace = {data + HEAD_BYTES, trace_size};
    struct ask_bytes of_other = {data + HEAD_BYTES + trace_size, left - trace_size};
    struct source trace = ask_source_of(&of_trace), other = ask_source_of(&of_other);
    struct err err = ERR_INIT;
    struct buf out = BUF_INIT;
    const struct analysis_beside beside = {1, &other, open_beside};
    const struct analysis_reading reading = {.kind = ANALYSIS_TRACE, .limit_bytes = LIMIT_BYTES, .beside = &beside};
    struct analysis_subject *subject = analysis_subject_read(&trace, &reading, &err);
    if (subject && !subject_answer(subject, "memory_profile", "events", NULL, 0, &out, &err) && err.text[0] == '\0')
        abort(); /* a refusal has a reason */
    if (subject)
        ask_verdict(&(struct analysis_verdict_parts){.trace = subject});
    analysis_subject_free(subject);
    buf_free(&out);
    return 0;
}
