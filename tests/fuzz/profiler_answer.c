/* SPDX-License-Identifier: Apache-2.0
 * profiler_answer.c: any bytes as what a profiler server answers, whole and in pieces of several sizes: the same of
 * both, and never more of a trace than there are bytes; and as what is asked. */
#include "read/profiler/profiler_answer.h"
#include "analysis/analysis.h"
#include "read/profiler/profiler_request.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen {
    uint64_t hash, bytes;
};

static bool take(void *context, const void *bytes, size_t size)
{
    struct seen *seen = context;
    for (size_t at = 0; at < size; at++)
        seen->hash = (seen->hash ^ ((const uint8_t *)bytes)[at]) * UINT64_C(0x100000001b3);
    seen->bytes += size;
    return true;
}

static struct seen read_in_pieces(const uint8_t *data, size_t size, size_t piece, struct err *err)
{
    struct profiler_answer answer;
    struct seen seen = {0};
    bool is_good = true;
    profiler_answer_begin(&answer, take, &seen);
    for (size_t at = 0; at < size && is_good; at += piece)
        is_good = profiler_answer_add(&answer, data + at, size - at < piece ? size - at : piece, err);
    is_good = is_good && profiler_answer_end(&answer, err);
    if (is_good == err_is_set(err) || seen.bytes != answer.trace_bytes || seen.bytes > size || answer.at_bytes > size)
        abort();
    return seen;
}

/* A request with these bytes for its numbers and its texts says how long it is. */
static void write_request(const uint8_t *data, size_t size)
{
    struct buf out = BUF_INIT;
    char text[64] = "";
    uint64_t number = 0;
    memcpy(text, data, size < sizeof(text) - 1 ? size : sizeof(text) - 1);
    memcpy(&number, data, size < sizeof(number) ? size : sizeof(number));
    const struct profiler_request request = {number, number >> 1, text, text, text};
    profiler_request_write(&request, &out);
    uint32_t length = 0;
    for (size_t at = 1; at < 5 && !out.failed; at++)
        length = length << 8 | (uint8_t)out.data[at];
    if (!out.failed && length != out.length - 5)
        abort();
    buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err whole_err = ERR_INIT;
    struct seen whole = read_in_pieces(data, size, size + 1, &whole_err);
    for (size_t piece = 1; piece < 8; piece += 3) {
        struct err err = ERR_INIT;
        struct seen seen = read_in_pieces(data, size, piece, &err);
        if (seen.hash != whole.hash || seen.bytes != whole.bytes || err.code != whole_err.code ||
            strcmp(err.text, whole_err.text) != 0)
            abort();
    }
    write_request(data, size);
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    struct err err = ERR_INIT;
    if (profiler_answer_judge("13", text, &err) || !err_is_set(&err))
        abort();
    err = (struct err)ERR_INIT;
    if (profiler_answer_judge(text, text, &err) == err_is_set(&err))
        abort();
    free(text);
    return 0;
}
