/* SPDX-License-Identifier: Apache-2.0 */
#include "read/profiler/profiler_answer.h"

#include "base/str.h"
#include "profiler_service.fields.h"
#include "wire/wire.h"

#include <stdlib.h>
#include <string.h>

enum { PREFIX_BYTES = 5, NUMBER_MAX_BITS = 63, MESSAGE_SIZE = 160 };

void profiler_answer_begin(struct profiler_answer *answer, profiler_answer_take *take, void *context)
{
    *answer = (struct profiler_answer){.take = take, .context = context};
}

/* ---- the bytes ---- */

static bool refuse(const struct profiler_answer *answer, const char *what, struct err *err)
{
    return err_set(err, ERR_malformed, answer->at_bytes, "its answer is broken: %s", what);
}

static void begin_field(struct profiler_answer *answer)
{
    answer->step = answer->message_left > 0 ? PROFILER_ANSWER_TAG : PROFILER_ANSWER_END;
    answer->number = 0;
    answer->shift = 0;
}

static bool take_prefix(struct profiler_answer *answer, uint8_t byte, struct err *err)
{
    if (answer->prefix_count == 0 && byte == 1)
        return err_set(err, ERR_unsupported, 0, "its answer is compressed, which was not asked for");
    if (answer->prefix_count == 0 && byte != 0)
        return refuse(answer, "it does not begin as a message of gRPC does", err);
    answer->message_left = answer->message_left << 8 | byte;
    if (++answer->prefix_count == PREFIX_BYTES)
        begin_field(answer);
    return true;
}

static bool begin_bytes(struct profiler_answer *answer, uint64_t size, struct err *err)
{
    bool is_trace = answer->field == PROFILE_RESPONSE_XSPACE && answer->step == PROFILER_ANSWER_LENGTH;
    if (size > answer->message_left)
        return refuse(answer, "a field runs past the end of its message", err);
    answer->step = is_trace ? PROFILER_ANSWER_TRACE : PROFILER_ANSWER_SKIPPED;
    answer->field_left = size;
    if (size == 0)
        begin_field(answer);
    return true;
}

static bool begin_value(struct profiler_answer *answer, uint64_t tag, struct err *err)
{
    answer->field = tag >> 3;
    answer->number = 0;
    answer->shift = 0;
    if (answer->field == 0)
        return refuse(answer, "a field has the number 0", err);
    switch (tag & 7) {
    case WIRE_VARINT: answer->step = PROFILER_ANSWER_NUMBER; break;
    case WIRE_BYTES: answer->step = PROFILER_ANSWER_LENGTH; break;
    case WIRE_FIXED64: return begin_bytes(answer, 8, err);
    case WIRE_FIXED32: return begin_bytes(answer, 4, err);
    default: return refuse(answer, "a field is of no known type", err);
    }
    return answer->message_left > 0 || refuse(answer, "a field runs past the end of its message", err);
}

/* One more byte of a tag, of a number or of a length. */
static bool take_number(struct profiler_answer *answer, uint8_t byte, struct err *err)
{
    if (answer->shift > NUMBER_MAX_BITS || (answer->shift == NUMBER_MAX_BITS && byte > 1))
        return refuse(answer, "a number is longer than 64 bits", err);
    answer->number |= (uint64_t)(byte & 0x7F) << answer->shift;
    answer->shift += 7;
    answer->message_left--;
    if (byte & 0x80)
        return answer->message_left > 0 || refuse(answer, "a number runs past the end of its message", err);
    if (answer->step == PROFILER_ANSWER_TAG)
        return begin_value(answer, answer->number, err);
    if (answer->step == PROFILER_ANSWER_LENGTH)
        return begin_bytes(answer, answer->number, err);
    if (answer->field == PROFILE_RESPONSE_EMPTY_TRACE)
        answer->is_empty_trace = answer->number != 0;
    begin_field(answer);
    return true;
}

/* Takes the bytes of a field whose size is known, as many as are there. */
static bool take_bytes(struct profiler_answer *answer, const uint8_t *bytes, size_t size)
{
    bool is_trace = answer->step == PROFILER_ANSWER_TRACE;
    answer->field_left -= size;
    answer->message_left -= size;
    answer->trace_bytes += is_trace ? size : 0;
    if (answer->field_left == 0)
        begin_field(answer);
    return !is_trace || answer->take(answer->context, bytes, size);
}

bool profiler_answer_add(struct profiler_answer *answer, const void *bytes, size_t size, struct err *err)
{
    const uint8_t *at = bytes, *end = at + size;
    bool is_good = true;
    while (is_good && at < end) {
        size_t count = 1;
        switch (answer->step) {
        case PROFILER_ANSWER_PREFIX: is_good = take_prefix(answer, *at, err); break;
        case PROFILER_ANSWER_TAG:
        case PROFILER_ANSWER_NUMBER:
        case PROFILER_ANSWER_LENGTH: is_good = take_number(answer, *at, err); break;
        case PROFILER_ANSWER_SKIPPED:
        case PROFILER_ANSWER_TRACE:
            count = answer->field_left < (uint64_t)(end - at) ? (size_t)answer->field_left : (size_t)(end - at);
            is_good = take_bytes(answer, at, count);
            break;
        case PROFILER_ANSWER_END: is_good = refuse(answer, "a second message follows", err); break;
        }
        at += count;
        answer->at_bytes += count;
    }
    return is_good;
}

bool profiler_answer_end(const struct profiler_answer *answer, struct err *err)
{
    return answer->step == PROFILER_ANSWER_END ||
           err_set(err, ERR_truncated, answer->at_bytes,
                   answer->at_bytes == 0 ? "its answer has no message" : "its answer ends early");
}

/* ---- the trailers ---- */

static const char *const STATUS_NAMES[] = {
    "OK",        "CANCELLED",       "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
    "NOT_FOUND", "ALREADY_EXISTS",  "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
    "ABORTED",   "OUT_OF_RANGE",    "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
    "DATA_LOSS", "UNAUTHENTICATED",
};
enum { STATUS_COUNT = sizeof(STATUS_NAMES) / sizeof(STATUS_NAMES[0]), STATUS_UNIMPLEMENTED = 12 };

/* -1: no number of a status. */
static int status_of(const char *text)
{
    size_t length = strlen(text);
    bool is_number = length > 0 && length <= 2 && strspn(text, "0123456789") == length;
    int status = is_number ? atoi(text) : -1;
    return status < (int)STATUS_COUNT ? status : -1;
}

static int digit_of(char letter)
{
    return letter >= '0' && letter <= '9'   ? letter - '0'
           : letter >= 'A' && letter <= 'F' ? letter - 'A' + 10
           : letter >= 'a' && letter <= 'f' ? letter - 'a' + 10
                                            : -1;
}

/* grpc-message: what is not printable ASCII is %XX there. Cut to what fits, where a character ends. */
static void message_decode(const char *text, char out[MESSAGE_SIZE])
{
    size_t length = 0;
    while (*text && length < MESSAGE_SIZE - 1) {
        int high = text[0] == '%' ? digit_of(text[1]) : -1, low = high >= 0 ? digit_of(text[2]) : -1;
        bool is_escape = low >= 0 && high + low > 0;
        out[length++] = is_escape ? (char)(high * 16 + low) : *text;
        text += is_escape ? 3 : 1;
    }
    if (*text)
        length = str_cut((struct str){out, length}, length - 4);
    out[length] = '\0';
}

bool profiler_answer_judge(const char *status, const char *message, struct err *err)
{
    char words[MESSAGE_SIZE];
    int number = status ? status_of(status) : -1;
    message_decode(message ? message : "", words);
    if (number == 0)
        return true;
    if (number < 0)
        return err_set(err, ERR_unsupported, ERR_NO_OFFSET,
                       status ? "its answer ends with a status that gRPC does not have"
                              : "its answer ends without a status, so whether it is whole is not known");
    if (number == STATUS_UNIMPLEMENTED)
        return err_set(err, ERR_unsupported, ERR_NO_OFFSET,
                       "speaks gRPC, but is no profiler server: jax.profiler.start_server(PORT) starts one");
    if (strstr(words, "Another profiling session"))
        return err_set(err, ERR_conflict, ERR_NO_OFFSET,
                       "another profile of it is being recorded: try again when that one has ended");
    return err_set(err, ERR_io, ERR_NO_OFFSET, "the server says: %s (%s)", words[0] ? words : "nothing more",
                   STATUS_NAMES[number]);
}
