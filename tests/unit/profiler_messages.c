/* SPDX-License-Identifier: Apache-2.0
 * What a profiler server is asked, byte for byte, and its answers: whole, in pieces, broken, and what their trailers
 * say. */
#include "read/profiler/profiler_answer.h"
#include "read/profiler/profiler_request.h"

#include "bytes.h"

static struct err err;

struct taken {
    char bytes[64];
    size_t length;
    bool is_full;
};

static bool take(void *context, const void *bytes, size_t size)
{
    struct taken *taken = context;
    if (taken->is_full)
        return false;
    ck_assert_uint_le(taken->length + size, sizeof(taken->bytes));
    memcpy(taken->bytes + taken->length, bytes, size);
    taken->length += size;
    return true;
}

/* Gives `text` in pieces of `piece` bytes. */
static bool read_answer(struct str text, size_t piece, struct profiler_answer *answer, struct taken *taken)
{
    err = (struct err)ERR_INIT;
    *taken = (struct taken){.length = 0};
    profiler_answer_begin(answer, take, taken);
    for (size_t at = 0; at < text.length; at += piece) {
        size_t size = text.length - at < piece ? text.length - at : piece;
        if (!profiler_answer_add(answer, text.data + at, size, &err))
            return false;
    }
    return profiler_answer_end(answer, &err);
}

static void refused(struct str text, enum err_code code, const char *words)
{
    struct profiler_answer answer;
    struct taken taken;
    for (size_t piece = 1; piece <= text.length + 1; piece++) {
        ck_assert(!read_answer(text, piece, &answer, &taken));
        ck_assert_msg(err.code == code && strstr(err.text, words), "%s: %s", words, err.text);
    }
}

#define SPAN(text) ((struct str){text, sizeof(text) - 1})

START_TEST(a_request_is_these_bytes)
{
    static const char EXPECTED[] = "\0\0\0\0\x2f"     /* the size, not compressed */
                                   "\x08\xb8\x17"     /* 3,000 ms */
                                   "\x22\x15"         /* options: */
                                   "\x10\x02\x18\x01" /* levels of host and device */
                                   "\x28\x01\x38\x01" /* version, programs */
                                   "\x40\x80\x80\xd0\x9d\xe9\xce\xb8\xfd\x18"
                                   "\x48\xb8\x17"
                                   "\x2a\x08/a/b/c/d"
                                   "\x32\x02s1"
                                   "\x3a\x03h:1"
                                   "\x48\x01"; /* the trace shall come in the answer */
    struct buf out = BUF_INIT;
    const struct profiler_request request = {.duration_ms = 3000,
                                             .start_unix_ns = UINT64_C(1800000000000000000),
                                             .repository_root = "/a/b/c/d",
                                             .session_id = "s1",
                                             .host_name = "h:1"};
    profiler_request_write(&request, &out);
    ck_assert(!out.failed);
    ck_assert_uint_eq(out.length, sizeof(EXPECTED) - 1);
    ck_assert_mem_eq(out.data, EXPECTED, out.length);
    buf_free(&out);
}
END_TEST

START_TEST(a_window_that_begins_at_once_says_no_time)
{
    struct buf out = BUF_INIT;
    const struct profiler_request request = {
        .duration_ms = 1, .repository_root = "r", .session_id = "s", .host_name = "h"};
    profiler_request_write(&request, &out);
    static const char EXPECTED[] = "\0\0\0\0\x19"
                                   "\x08\x01"
                                   "\x22\x0a\x10\x02\x18\x01\x28\x01\x38\x01\x48\x01"
                                   "\x2a\x01r\x32\x01s\x3a\x01h\x48\x01";
    ck_assert_uint_eq(out.length, sizeof(EXPECTED) - 1);
    ck_assert_mem_eq(out.data, EXPECTED, out.length);
    buf_free(&out);
}
END_TEST

START_TEST(the_trace_is_given_on_whatever_the_pieces)
{
    /* fields of all types before it and behind, the trace in two parts */
    struct str text = SPAN("\0\0\0\0\x25"
                           "\x32\x03xyz"
                           "\x38\x01"
                           "\x42\x03"
                           "abc"
                           "\x49\1\2\3\4\5\6\7\x08"
                           "\x55\1\2\3\4"
                           "\x42\x00"
                           "\x42\x03"
                           "def"
                           "\x98\x01\x96\x01");
    for (size_t piece = 1; piece <= text.length; piece++) {
        struct profiler_answer answer;
        struct taken taken;
        ck_assert_msg(read_answer(text, piece, &answer, &taken), "%zu: %s", piece, err.text);
        ck_assert_uint_eq(taken.length, 6);
        ck_assert_mem_eq(taken.bytes, "abcdef", 6);
        ck_assert_uint_eq(answer.trace_bytes, 6);
        ck_assert(answer.is_empty_trace);
    }
}
END_TEST

START_TEST(a_server_that_writes_the_trace_itself_sends_nothing)
{
    struct profiler_answer answer;
    struct taken taken;
    ck_assert(read_answer(SPAN("\0\0\0\0\0"), 5, &answer, &taken));
    ck_assert_uint_eq(answer.trace_bytes, 0);
    ck_assert(!answer.is_empty_trace);
}
END_TEST

START_TEST(broken_answers_are_refused)
{
    refused(SPAN("\1\0\0\0\1\x08"), ERR_unsupported, "compressed");
    refused(SPAN("<html>"), ERR_malformed, "does not begin");
    refused(SPAN("\0\0\0\0\2\x42\x03"
                 "abc"),
            ERR_malformed, "runs past the end");
    refused(SPAN("\0\0\0\0\1\x42"), ERR_malformed, "runs past the end");
    refused(SPAN("\0\0\0\0\3\x49\1\2"), ERR_malformed, "runs past the end");
    refused(SPAN("\0\0\0\0\2\x38\x80"), ERR_malformed, "runs past the end");
    refused(SPAN("\0\0\0\0\2\x02\x01"), ERR_malformed, "number 0");
    refused(SPAN("\0\0\0\0\2\x43\x44"), ERR_malformed, "no known type");
    refused(SPAN("\0\0\0\0\x0c\x38\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02\x38"), ERR_malformed, "64 bits");
    refused(SPAN("\0\0\0\0\x0c\x38\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), ERR_malformed, "64 bits");
    refused(SPAN("\0\0\0\0\0\0\0\0\0\0"), ERR_malformed, "second message");
}
END_TEST

START_TEST(an_answer_that_ends_early_is_not_whole)
{
    static const char WHOLE[] = "\0\0\0\0\x07\x42\x03"
                                "abc\x38\x00";
    struct profiler_answer answer;
    struct taken taken;
    ck_assert(read_answer(SPAN(WHOLE), 3, &answer, &taken));
    for (size_t length = 0; length < sizeof(WHOLE) - 1; length++) {
        ck_assert(!read_answer((struct str){WHOLE, length}, 2, &answer, &taken));
        ck_assert_int_eq(err.code, ERR_truncated);
        ck_assert_ptr_nonnull(strstr(err.text, length == 0 ? "no message" : "ends early"));
    }
}
END_TEST

START_TEST(who_takes_the_trace_may_end_it)
{
    struct profiler_answer answer;
    struct taken taken = {.is_full = true};
    err = (struct err)ERR_INIT;
    profiler_answer_begin(&answer, take, &taken);
    ck_assert(!profiler_answer_add(&answer,
                                   "\0\0\0\0\x05\x42\x03"
                                   "abc",
                                   10, &err));
    ck_assert(!err_is_set(&err));
}
END_TEST

static void judged(const char *status, const char *message, enum err_code code, const char *words)
{
    err = (struct err)ERR_INIT;
    ck_assert(!profiler_answer_judge(status, message, &err));
    ck_assert_msg(err.code == code && strstr(err.text, words), "%s: %s", words, err.text);
}

START_TEST(trailers_say_how_it_went)
{
    err = (struct err)ERR_INIT;
    ck_assert(profiler_answer_judge("0", NULL, &err) && !err_is_set(&err));
    judged(NULL, NULL, ERR_unsupported, "without a status");
    judged("", "", ERR_unsupported, "does not have");
    judged("-1", "", ERR_unsupported, "does not have");
    judged("17", "", ERR_unsupported, "does not have");
    judged("999999999999", "", ERR_unsupported, "does not have");
    judged("12", "Method not found!", ERR_unsupported, "no profiler server");
    judged("13", "Another profiling session active.", ERR_conflict, "another profile of it");
    judged("13", "/proc/nope; No such file or directory", ERR_io, "/proc/nope; No such file or directory (INTERNAL)");
    judged("14", NULL, ERR_io, "nothing more (UNAVAILABLE)");
}
END_TEST

START_TEST(messages_of_trailers_are_decoded_and_cut)
{
    char text[800];
    judged("2", "100%25 of %C3%A9, %zz, %4", ERR_io, "100% of \xC3\xA9, %zz, %4 (UNKNOWN)");
    judged("2", "%00", ERR_io, "%00");
    for (size_t at = 0; at + 6 < sizeof(text); at += 6)
        memcpy(text + at, "%C3%A9", 7);
    judged("2", text, ERR_io, "\xC3\xA9 (UNKNOWN)");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("profiler_messages");
    TCase *all = tcase_create("all");
    suite_add_tcase(suite, all);
    tcase_add_test(all, a_request_is_these_bytes);
    tcase_add_test(all, a_window_that_begins_at_once_says_no_time);
    tcase_add_test(all, the_trace_is_given_on_whatever_the_pieces);
    tcase_add_test(all, a_server_that_writes_the_trace_itself_sends_nothing);
    tcase_add_test(all, broken_answers_are_refused);
    tcase_add_test(all, an_answer_that_ends_early_is_not_whole);
    tcase_add_test(all, who_takes_the_trace_may_end_it);
    tcase_add_test(all, trailers_say_how_it_went);
    tcase_add_test(all, messages_of_trailers_are_decoded_and_cut);
    return bytes_run(suite);
}
