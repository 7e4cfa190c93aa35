/* SPDX-License-Identifier: Apache-2.0
 * Requests against a server of this test, which says what a script tells it: cuts, errors that pass, other ranges,
 * answers without end. */
#include "server/files/remote/http_client.h"

#include "answers.h"
#include "bytes.h"
#include "server/base/clock.h"
#include "server/files/remote/http_turns.h"
#include "server/files/remote/remote_address.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a range brings. */
struct taken {
    char text[256];
    size_t length;
    const char *wanted_etag;
};

static bool take(void *context, const void *bytes, size_t size)
{
    struct taken *taken = context;
    ck_assert_uint_lt(taken->length + size, sizeof(taken->text));
    memcpy(taken->text + taken->length, bytes, size);
    taken->length += size;
    return true;
}

static bool look(void *context, const struct http_client_answer *answer)
{
    const struct taken *taken = context;
    char etag[32];
    http_client_header(answer, "ETAG", etag, sizeof(etag));
    return !taken->wanted_etag || strcmp(etag, taken->wanted_etag) == 0;
}

static bool ask(struct answers *script, const struct http_client_request *like, struct http_client_answer *answer,
                struct err *err)
{
    struct http_client_request request = *like;
    *err = (struct err)ERR_INIT;
    answers_begin(script);
    request.url = script->url;
    bool is_answered = http_client_perform(&request, answer, err);
    answers_end(script);
    return is_answered;
}

START_TEST(what_passes_is_asked_for_again)
{
    struct answers script = ANSWERS("HTTP/1.1 503 Slow Down\r\nContent-Length: 0\r\n\r\n", "",
                                    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-Said:  yes\r\n\r\nhello");
    struct http_client_answer answer;
    struct err err;
    char said[8];
    const uint64_t retries_before = http_client_figures().retry_count;
    ck_assert(ask(&script, &(struct http_client_request){0}, &answer, &err));
    ck_assert_int_eq(answer.status, 200);
    ck_assert_uint_eq(answer.body.length, 5);
    ck_assert(http_client_header(&answer, "x-said", said, sizeof(said)));
    ck_assert_str_eq(said, "yes");
    ck_assert_uint_eq(http_client_figures().retry_count - retries_before, 2);
    http_client_free(&answer);
}
END_TEST

START_TEST(what_stays_is_answered_at_once)
{
    struct answers script = ANSWERS("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno");
    struct http_client_answer answer;
    struct err err;
    ck_assert(ask(&script, &(struct http_client_request){0}, &answer, &err));
    ck_assert_int_eq(answer.status, 403);
    http_client_free(&answer);
}
END_TEST

START_TEST(a_server_that_asks_for_time_is_left_alone)
{
    struct answers script = ANSWERS("HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n",
                                    "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    struct http_client_answer answer;
    struct err err;
    int64_t began_ms = clock_ms();
    ck_assert(ask(&script, &(struct http_client_request){0}, &answer, &err));
    ck_assert_int_ge(clock_ms() - began_ms, 1000);
    http_client_free(&answer);
}
END_TEST

START_TEST(redirects_are_not_followed)
{
    struct answers script = ANSWERS("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n");
    struct http_client_answer answer;
    struct err err;
    ck_assert(ask(&script, &(struct http_client_request){0}, &answer, &err));
    ck_assert_int_eq(answer.status, 302);
    http_client_free(&answer);
}
END_TEST

START_TEST(dots_that_lead_elsewhere_are_seen)
{
    static const char *const with[] = {"s3://b/a/../c", "gs://b/..",          "gs://b/./c",       "https://h/a/..",
                                       "s3://../a",     "https://h/%2e%2E/c", "https://h/.%2e/c", "https://h/..%2fb"};
    static const char *const without[] = {"s3://b/a..b/c",  "gs://b/.../c",        "gs://b/.hidden", "gs://b/%2e%2e/c",
                                          "https://h/a./c", "https://h/%2e%2e%2e", "https://h.i/.%"};
    for (size_t at = 0; at < sizeof(with) / sizeof(with[0]); at++)
        ck_assert_msg(remote_address_has_dots(with[at]), "%s", with[at]);
    for (size_t at = 0; at < sizeof(without) / sizeof(without[0]); at++)
        ck_assert_msg(!remote_address_has_dots(without[at]), "%s", without[at]);
}
END_TEST

static const struct http_client_request RANGE = {.range_at = 2, .range_bytes = 6, .take = take, .begin = look};

START_TEST(of_a_range_that_was_cut_the_rest_is_asked_for)
{
    struct answers script =
        ANSWERS("HTTP/1.1 206 Partial\r\nContent-Range: bytes 2-7/10\r\nContent-Length: 6\r\n\r\ncde",
                "HTTP/1.1 206 Partial\r\nContent-Range: bytes 5-7/10\r\nContent-Length: 3\r\n\r\nfgh");
    struct taken taken = {.length = 0};
    struct http_client_request request = RANGE;
    struct http_client_answer answer;
    struct err err;
    request.context = &taken;
    ck_assert(ask(&script, &request, &answer, &err));
    ck_assert_uint_eq(taken.length, 6);
    ck_assert_mem_eq(taken.text, "cdefgh", 6);
    ck_assert_ptr_nonnull(strstr(script.asked, "Range: bytes=2-7"));
    ck_assert_ptr_nonnull(strstr(script.asked, "Range: bytes=5-7"));
    http_client_free(&answer);
}
END_TEST

START_TEST(what_was_taken_before_a_refusal_is_told)
{
    struct answers script =
        ANSWERS("HTTP/1.1 206 Partial\r\nContent-Range: bytes 2-7/10\r\nContent-Length: 6\r\n\r\ncde",
                "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
    struct taken taken = {.length = 0};
    struct http_client_request request = RANGE;
    struct http_client_answer answer;
    struct err err;
    request.context = &taken;
    ck_assert(ask(&script, &request, &answer, &err));
    ck_assert_int_eq(answer.status, 400);
    ck_assert_uint_eq(answer.taken, 3);
    http_client_free(&answer);
}
END_TEST

START_TEST(no_user_or_password_is_told)
{
    struct http_client_answer answer;
    struct err err = ERR_INIT;
    const struct http_client_request request = {.url = "http://ann:pass@word@127.0.0.1:1/a@b", .tries_max = 1};
    ck_assert(!http_client_perform(&request, &answer, &err));
    ck_assert_msg(strncmp(err.text, "http://127.0.0.1:1: ", 20) == 0, "%s", err.text);
    http_client_free(&answer);
}
END_TEST

START_TEST(a_server_without_ranges_gives_them_all_the_same)
{
    struct answers script = ANSWERS("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabcdefghij");
    struct taken taken = {.length = 0};
    struct http_client_request request = RANGE;
    struct http_client_answer answer;
    struct err err;
    request.context = &taken;
    ck_assert(ask(&script, &request, &answer, &err));
    ck_assert_uint_eq(taken.length, 6);
    ck_assert_mem_eq(taken.text, "cdefgh", 6);
    http_client_free(&answer);
}
END_TEST

START_TEST(other_bytes_and_another_object_are_refused)
{
    struct answers other =
        ANSWERS("HTTP/1.1 206 Partial\r\nContent-Range: bytes 0-5/10\r\nContent-Length: 6\r\n\r\nabcdef");
    struct answers changed = ANSWERS(
        "HTTP/1.1 206 Partial\r\nContent-Range: bytes 2-7/10\r\nETag: \"b\"\r\nContent-Length: 6\r\n\r\ncdefgh");
    struct taken taken = {.wanted_etag = "\"a\""};
    struct http_client_request request = RANGE;
    struct http_client_answer answer;
    struct err err;
    request.context = &taken;
    ck_assert(!ask(&other, &request, &answer, &err));
    ck_assert_int_eq(err.code, ERR_io);
    http_client_free(&answer);
    ck_assert(!ask(&changed, &request, &answer, &err));
    ck_assert_uint_eq(taken.length, 0);
    http_client_free(&answer);
}
END_TEST

START_TEST(answers_without_end_are_cut_and_no_path_is_told)
{
    struct answers script = ANSWERS("endless");
    struct http_client_answer answer;
    struct err err;
    ck_assert(!ask(&script, &(struct http_client_request){.body_max_bytes = 5000}, &answer, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "too large"));
    ck_assert_ptr_null(strstr(err.text, "secret"));
    ck_assert_uint_le(answer.body.length, 5000);
    http_client_free(&answer);
}
END_TEST

START_TEST(a_line_break_in_a_header_is_refused)
{
    const char *header = "X: a\r\nHost: other";
    struct http_client_answer answer;
    struct err err = ERR_INIT;
    const struct http_client_request request = {.url = "http://127.0.0.1:1/", .headers = &header, .header_count = 1};
    ck_assert(!http_client_perform(&request, &answer, &err));
    ck_assert_ptr_nonnull(strstr(err.text, "line break"));
    http_client_free(&answer);
}
END_TEST

START_TEST(pauses_double_and_have_an_end)
{
    ck_assert_int_eq(http_turns_delay_ms(1, 0), 100);
    ck_assert_int_eq(http_turns_delay_ms(1, 100), 200);
    ck_assert_int_eq(http_turns_delay_ms(3, 0), 400);
    ck_assert_int_eq(http_turns_delay_ms(60, 0), 5000);
    for (uint64_t chance = 0; chance < 10000; chance++)
        ck_assert_int_le(http_turns_delay_ms(2, chance * 7919), 400);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("http_client");
    TCase *tests = tcase_create("http_client");
    struct err err = ERR_INIT;
    tcase_add_test(tests, pauses_double_and_have_an_end);
    if (http_client_set_up(&err)) {
        tcase_add_test(tests, what_passes_is_asked_for_again);
        tcase_add_test(tests, what_stays_is_answered_at_once);
        tcase_add_test(tests, a_server_that_asks_for_time_is_left_alone);
        tcase_add_test(tests, redirects_are_not_followed);
        tcase_add_test(tests, dots_that_lead_elsewhere_are_seen);
        tcase_add_test(tests, of_a_range_that_was_cut_the_rest_is_asked_for);
        tcase_add_test(tests, what_was_taken_before_a_refusal_is_told);
        tcase_add_test(tests, no_user_or_password_is_told);
        tcase_add_test(tests, a_server_without_ranges_gives_them_all_the_same);
        tcase_add_test(tests, other_bytes_and_another_object_are_refused);
        tcase_add_test(tests, answers_without_end_are_cut_and_no_path_is_told);
        tcase_add_test(tests, a_line_break_in_a_header_is_refused);
    } else {
        printf("skipped: requests: %s\n", err.text);
    }
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
