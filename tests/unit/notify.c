/* SPDX-License-Identifier: Apache-2.0
 * What a receiver is sent, signed as RFC 4231 has it; which addresses and secrets will do; what waits in memory; what a
 * regression's notice says. */
#include "server/fleet/notify/notice.h"
#include "server/fleet/notify/notice_hosts.h"
#include "server/fleet/notify/outbox.h"
#include "server/fleet/notify/webhook.h"

#include "answers.h"
#include "bytes.h"
#include "server/files/remote/http_client.h"

#include <check.h>
#include <cjson/cJSON.h>
#include <sys/stat.h>

#define TAKEN "HTTP/1.1 204 No Content\r\n\r\n"
#define OF_NO_LENGTH "Content-Length: 0\r\n\r\n"

static const int64_t GIB = INT64_C(1) << 30;

/* ---- secrets ---- */

static char secret_path[] = "/tmp/memviewd-secret-XXXXXX";

static const char *secret_of(const void *bytes, size_t size, mode_t mode)
{
    strcpy(secret_path + sizeof(secret_path) - 7, "XXXXXX");
    int file = mkstemp(secret_path);
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(write(file, bytes, size), (ssize_t)size);
    ck_assert_int_eq(fchmod(file, mode), 0);
    close(file);
    return secret_path;
}

/* What webhook_open says of an address and of a file; NULL: it takes them. */
static const char *refusal(const char *url, const char *path, struct err *err)
{
    *err = (struct err)ERR_INIT;
    struct webhook *webhook = webhook_open(url, path, NOTICE_FORM_MEMVIEWD, err);
    bool is_open = webhook != NULL;
    webhook_free(webhook);
    if (path)
        remove(path);
    return is_open ? NULL : err->text;
}

START_TEST(a_secret_is_a_line_that_nobody_else_may_open)
{
    static const char url[] = "https://hooks.example/x";
    char text[1026];
    struct err err;
    memset(text, 's', sizeof(text));
    ck_assert_ptr_null(refusal(url, secret_of(text, 16, 0600), &err));
    ck_assert_ptr_null(refusal(url, secret_of(text, 1024, 0400), &err));
    ck_assert_ptr_null(refusal(url, secret_of("sixteen letters.\r\nx", 19, 0600), &err));
    ck_assert_ptr_nonnull(strstr(refusal(url, secret_of(text, 15, 0600), &err), "16 to 1024 bytes"));
    ck_assert_ptr_nonnull(strstr(refusal(url, secret_of(text, 1025, 0600), &err), "16 to 1024 bytes"));
    ck_assert_ptr_nonnull(strstr(refusal(url, secret_of("\nsixteen letters.", 17, 0600), &err), "16 to 1024 bytes"));
    for (mode_t other = 0604; other; other = other == 0604 ? 0620 : 0)
        ck_assert_ptr_nonnull(strstr(refusal(url, secret_of(text, 16, other), &err), "chmod 600"));
    ck_assert_ptr_nonnull(strstr(refusal(url, "/nowhere/secret", &err), "/nowhere/secret: No such file"));
}
END_TEST

/* ---- addresses ---- */

START_TEST(an_address_is_https_or_this_machine_without_a_user)
{
    static const struct {
        const char *url, *name, *reason; /* one of these */
    } all[] = {
        {"https://hooks.example/services/T0/SECRET?k=v", "https://hooks.example", NULL},
        {"https://hooks.example:8443#SECRET", "https://hooks.example:8443", NULL},
        {"http://127.0.0.1:80/SECRET", "http://127.0.0.1:80", NULL},
        {"http://[::1]:8080/SECRET", "http://[::1]:8080", NULL},
        {"http://localhost/SECRET", "http://localhost", NULL},
        {"http://hooks.example/SECRET", NULL, "goes to this machine alone"},
        {"http://localhost.hooks.example/SECRET", NULL, "goes to this machine alone"},
        {"http://127.0.0.1.hooks.example/SECRET", NULL, "goes to this machine alone"},
        {"https://ann:SECRET@hooks.example/", NULL, "must have no user in it"},
        {"http://127.0.0.1@hooks.example/SECRET", NULL, "must have no user in it"},
        {"https:///SECRET", NULL, "must be an https:// address"},
        {"ftp://hooks.example/SECRET", NULL, "must be an https:// address"},
        {"https://hooks.example/SECRET\r\nX: y", NULL, "must be an https:// address"},
    };
    for (size_t at = 0; at < sizeof(all) / sizeof(all[0]); at++) {
        struct err err = ERR_INIT;
        struct webhook *webhook = webhook_open(all[at].url, NULL, NOTICE_FORM_MEMVIEWD, &err);
        if (all[at].name)
            ck_assert_str_eq(webhook_name(webhook), all[at].name);
        else
            ck_assert_msg(!webhook && strstr(err.text, all[at].reason), "%s: %s", all[at].url, err.text);
        ck_assert_ptr_null(strstr(err.text, "SECRET"));
        webhook_free(webhook);
    }
}
END_TEST

struct ports {
    uint16_t numbers[8];
    size_t count;
};

static void port_take(void *context, uint16_t number)
{
    struct ports *ports = context;
    ports->numbers[ports->count++] = number;
}

START_TEST(ports_are_those_of_the_address_and_of_a_proxy)
{
    struct ports local = {.count = 0}, direct = {.count = 0}, behind = {.count = 0};
    static const char *const variables[] = {"http_proxy", "https_proxy", "HTTPS_PROXY",
                                            "all_proxy",  "ALL_PROXY",   "no_proxy"};
    for (size_t at = 0; at < sizeof(variables) / sizeof(variables[0]); at++)
        unsetenv(variables[at]);
    webhook_ports("https://hooks.example/x", port_take, &direct);
    ck_assert_uint_eq(direct.count, 1);
    ck_assert_uint_eq(direct.numbers[0], 443);
    setenv("https_proxy", "http://proxy.example:3128", 1);
    webhook_ports("http://127.0.0.1:8081/x", port_take, &local);
    ck_assert_uint_eq(local.count, 1);
    ck_assert_uint_eq(local.numbers[0], 8081);
    webhook_ports("https://hooks.example:8443/x", port_take, &behind);
    ck_assert_uint_eq(behind.count, 2);
    ck_assert_uint_eq(behind.numbers[0], 8443);
    ck_assert_uint_eq(behind.numbers[1], 3128);
}
END_TEST

/* ---- sending ---- */

static bool post(struct answers *script, const char *secret, const char *text, struct err *err)
{
    struct buf body = BUF_INIT;
    *err = (struct err)ERR_INIT;
    answers_begin(script);
    struct webhook *webhook = webhook_open(script->url, secret, NOTICE_FORM_MEMVIEWD, err);
    ck_assert_msg(webhook != NULL, "%s", err->text);
    buf_text(&body, text);
    bool is_taken = webhook_post(webhook, "0123456789abcdef0123456789abcdef", &body, err);
    buf_free(&body);
    webhook_free(webhook);
    answers_end(script);
    return is_taken;
}

/* RFC 4231, cases 1 and 6: a key of 20 bytes, and one that is longer than a block. */
START_TEST(a_message_is_signed_as_the_standard_has_it)
{
    static const struct {
        int key_byte;
        size_t key_size;
        const char *data, *signature;
    } cases[] = {
        {0x0b, 20, "Hi There", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
        {0xaa, 131, "Test Using Larger Than Block-Size Key - Hash Key First",
         "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"},
    };
    for (size_t at = 0; at < 2; at++) {
        struct answers script = ANSWERS(TAKEN);
        char key[200], line[200];
        struct err err;
        memset(key, cases[at].key_byte, cases[at].key_size);
        ck_assert(post(&script, secret_of(key, cases[at].key_size, 0600), cases[at].data, &err));
        snprintf(line, sizeof(line), "\r\nX-Memviewd-Signature: sha256=%s\r\n", cases[at].signature);
        ck_assert_msg(strstr(script.asked, line) != NULL, "%s", script.asked);
        ck_assert_str_eq(strstr(script.asked, "\r\n\r\n") + 4, cases[at].data);
        remove(secret_path);
    }
}
END_TEST

START_TEST(a_message_is_a_post_of_json_with_its_id)
{
    struct answers script = ANSWERS("HTTP/1.1 299 Anything\r\n" OF_NO_LENGTH);
    struct err err;
    ck_assert(post(&script, NULL, "{\"id\": 1}", &err));
    ck_assert_msg(strncmp(script.asked, "POST /a/b?secret=1 HTTP/1.1\r\n", 29) == 0, "%s", script.asked);
    ck_assert_ptr_nonnull(strstr(script.asked, "\r\nContent-Type: application/json\r\n"));
    ck_assert_ptr_nonnull(strstr(script.asked, "\r\nX-Memviewd-Delivery: 0123456789abcdef0123456789abcdef\r\n"));
    ck_assert_ptr_null(strstr(script.asked, "X-Memviewd-Signature"));
}
END_TEST

START_TEST(what_passes_is_tried_three_times)
{
    struct answers passes = ANSWERS("HTTP/1.1 503 Later\r\n" OF_NO_LENGTH, "", TAKEN);
    struct answers stays = ANSWERS("HTTP/1.1 503 Later\r\n" OF_NO_LENGTH, "HTTP/1.1 503 Later\r\n" OF_NO_LENGTH,
                                   "HTTP/1.1 502 Gateway\r\n" OF_NO_LENGTH);
    struct err err;
    ck_assert(post(&passes, NULL, "{}", &err));
    ck_assert(!post(&stays, NULL, "{}", &err));
    ck_assert_int_eq(err.code, ERR_io);
    ck_assert_msg(strstr(err.text, "answered with status 502") && !strstr(err.text, "secret"), "%s", err.text);
}
END_TEST

START_TEST(a_redirect_is_not_followed_and_not_taken)
{
    struct answers script = ANSWERS("HTTP/1.1 307 Elsewhere\r\nLocation: http://127.0.0.1:1/\r\n" OF_NO_LENGTH);
    struct err err;
    ck_assert(!post(&script, NULL, "{}", &err));
    ck_assert_msg(strstr(err.text, "answered with status 307") != NULL, "%s", err.text);
}
END_TEST

/* ---- what waits ---- */

static void message_add(struct outbox *outbox, unsigned number)
{
    char id[ROWS_ID_SIZE];
    struct buf body = BUF_INIT;
    snprintf(id, sizeof(id), "%032u", number);
    buf_format(&body, "body %u", number);
    outbox_add(outbox, id, "failure", &body);
    ck_assert_ptr_null(body.data);
}

START_TEST(the_oldest_is_due_first_until_it_fails)
{
    struct outbox outbox = {0};
    for (unsigned number = 1; number <= 3; number++)
        message_add(&outbox, number);
    struct outbox_message *message = outbox_due(&outbox, 1000);
    ck_assert_str_eq(message->id, "00000000000000000000000000000001");
    ck_assert_uint_eq(message->body.length, 6);
    ck_assert_mem_eq(message->body.data, "body 1", 6);
    outbox_failed(message, 1000);
    message = outbox_due(&outbox, 1000 + OUTBOX_PAUSE_MIN_MS - 1);
    ck_assert_str_eq(message->id, "00000000000000000000000000000002");
    outbox_sent(&outbox, message);
    ck_assert_str_eq(outbox_due(&outbox, 1000)->id, "00000000000000000000000000000003");
    ck_assert_str_eq(outbox_due(&outbox, 1000 + OUTBOX_PAUSE_MIN_MS)->id, "00000000000000000000000000000001");
    ck_assert_uint_eq(outbox.count, 2);
    outbox_free(&outbox);
    ck_assert_ptr_null(outbox_due(&outbox, 1 << 20));
}
END_TEST

START_TEST(pauses_double_up_to_five_minutes)
{
    struct outbox outbox = {0};
    int64_t now_ms = 0;
    message_add(&outbox, 1);
    for (int64_t expected_ms = 2000; expected_ms < 10000000; expected_ms *= 2) {
        int64_t pause_ms = expected_ms < 300000 ? expected_ms : 300000;
        outbox_failed(&outbox.items[0], now_ms);
        ck_assert_ptr_null(outbox_due(&outbox, now_ms + pause_ms - 1));
        now_ms += pause_ms;
        ck_assert_ptr_nonnull(outbox_due(&outbox, now_ms));
    }
    outbox_free(&outbox);
}
END_TEST

START_TEST(of_too_many_the_oldest_are_given_up)
{
    struct outbox outbox = {0};
    for (unsigned number = 1; number <= 256 + 2; number++)
        message_add(&outbox, number);
    ck_assert_uint_eq(outbox.count, 256);
    ck_assert_uint_eq(outbox.given_up_count, 2);
    ck_assert_str_eq(outbox_due(&outbox, 0)->id, "00000000000000000000000000000003");
    ck_assert_str_eq(outbox.items[255].id, "00000000000000000000000000000258");
    outbox_free(&outbox);
}
END_TEST

START_TEST(a_failure_of_many_hosts_waits_for_them)
{
    struct outbox outbox = {0};
    struct buf host = BUF_INIT;
    buf_text(&host, "{}");
    message_add(&outbox, 1);
    struct outbox_message *message = outbox_find(&outbox, "00000000000000000000000000000001");
    ck_assert_ptr_null(outbox_find(&outbox, "00000000000000000000000000000002"));
    int64_t now_ms = 1000;
    for (size_t count = 0; count < 20; count++, now_ms += OUTBOX_SETTLE_MS - 1) {
        outbox_host(message, "row", &host);
        outbox_settle(message, now_ms);
        if (now_ms < 1000 + OUTBOX_SETTLE_MAX_MS)
            ck_assert_ptr_null(outbox_due(&outbox, now_ms));
    }
    ck_assert_ptr_null(outbox_due(&outbox, 1000 + OUTBOX_SETTLE_MAX_MS - 1));
    ck_assert_ptr_eq(outbox_due(&outbox, 1000 + OUTBOX_SETTLE_MAX_MS), message);
    ck_assert_uint_eq(message->hosts.length, 20 * strlen("{}") + 19);
    buf_free(&host);
    outbox_free(&outbox);
}
END_TEST

START_TEST(hosts_are_a_member_of_what_is_sent)
{
    static const struct {
        const char *notice, *hosts, *expected;
    } all[] = {
        {"{\"id\":1}", "", "{\"id\":1}"},
        {"{\"id\":1}", "[]", "{\"id\":1}"},
        {"{\"id\":1}", "[{\"host\":\"a\"}]", "{\"id\":1}"},
        {"{\"id\":1}", "[7,null,{\"host\":\"a\"},{}]", "{\"id\":1}"},
        {"{\"id\":1}", "[{\"host\":\"a\"},{\"file\":\"b\"}]",
         "{\"id\":1,\"hosts\":{\"count\":2,\"sentence\":\"2 files.\",\"odd\":[]}}"},
        {"{\"id\":1}", "[{\"host\":\"a\",\"needed_bytes\":1e300},{\"host\":\"b\",\"needed_bytes\":-4}]",
         "{\"id\":1,\"hosts\":{\"count\":2,\"sentence\":\"2 hosts.\",\"odd\":[]}}"},
    };
    for (size_t at = 0; at < sizeof(all) / sizeof(all[0]); at++) {
        struct buf notice = BUF_INIT, hosts = BUF_INIT, out = BUF_INIT;
        struct err err = ERR_INIT;
        buf_text(&notice, all[at].notice);
        buf_text(&hosts, all[at].hosts);
        ck_assert(notice_hosts_write(&notice, &hosts, &out, &err));
        buf_char(&out, '\0');
        ck_assert_str_eq(out.data, all[at].expected);
        buf_free(&notice);
        buf_free(&hosts);
        buf_free(&out);
    }
}
END_TEST

/* ---- what a regression's notice says ---- */

static struct analysis_fleet *fleet_of(const char *job)
{
    struct err err = ERR_INIT;
    struct analysis_fleet *fleet = analysis_fleet_new(NULL, 0, &err);
    for (int day = 0; day < 8; day++) {
        char commit[8], file[24];
        snprintf(commit, sizeof(commit), "c%d", day);
        snprintf(file, sizeof(file), "%s/trace", commit);
        const struct fleet_record record = {.job = job,
                                            .module = "jit_step",
                                            .kind = "module",
                                            .memory_space = "HBM",
                                            .commit = commit,
                                            .user_name = "ada",
                                            .logdir = "s3://profiles",
                                            .file = file,
                                            .first_at_ms = day * 1000,
                                            .last_at_ms = day * 1000,
                                            .row_count = 1,
                                            .needed_min_bytes = (day < 5 ? 9 : 12) * GIB,
                                            .needed_bytes = (day < 5 ? 9 : 12) * GIB,
                                            .peak_bytes = -1,
                                            .capacity_bytes = -1};
        ck_assert(analysis_fleet_add(fleet, &record, &err));
    }
    ck_assert(analysis_fleet_build(fleet, "a test", true, 0, 0, &err));
    ck_assert_uint_eq(analysis_fleet_step_count(fleet), 1);
    return fleet;
}

static cJSON *notice_of(const char *job, const char *sentence)
{
    struct err err = ERR_INIT;
    struct buf out = BUF_INIT;
    struct analysis_fleet *fleet = fleet_of(job);
    ck_assert(analysis_fleet_step_explain(fleet, 0, sentence, sentence ? NULL : "no files", &err));
    ck_assert_msg(notice_of_regression(fleet, 0, &out, &err), "%s", err.text);
    cJSON *notice = cJSON_ParseWithLength(out.data, out.length);
    ck_assert_ptr_nonnull(notice);
    buf_free(&out);
    analysis_fleet_free(fleet);
    return notice;
}

static const char *text_of(const cJSON *object, const char *name)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
}

START_TEST(a_regression_is_told_with_its_row)
{
    cJSON *notice = notice_of("bert", "Needs 3.00 GiB more.");
    static const char *const members[][2] = {{"kind", "regression"},
                                             {"job", "bert"},
                                             {"commit", "c5"},
                                             {"user_name", "ada"},
                                             {"logdir", "s3://profiles"},
                                             {"file", "c5/trace"},
                                             {"page", "?tool=fleet&view=regressions&filter=job%3A%22bert%22"}};
    for (size_t at = 0; at < sizeof(members) / sizeof(members[0]); at++)
        ck_assert_str_eq(text_of(notice, members[at][0]), members[at][1]);
    ck_assert_int_eq((int)strlen(text_of(notice, "id")), 32);
    const cJSON *row = cJSON_GetObjectItemCaseSensitive(notice, "regression");
    static const char *const texts[][2] = {
        {"commit_before", "c4"},
        {"module", "jit_step"},
        {"memory_space", "HBM"},
        {"direction", "regression"},
        {"lasting", "yes"},
        {"diff_sentence", "Needs 3.00 GiB more."},
        {"plans_sentence", "What the plans differ by, A before and B since: Needs 3.00 GiB more."}};
    for (size_t at = 0; at < sizeof(texts) / sizeof(texts[0]); at++)
        ck_assert_str_eq(text_of(row, texts[at][0]), texts[at][1]);
    static const struct {
        const char *name;
        int64_t value;
    } numbers[] = {{"before_bytes", 9 * INT64_C(1073741824)},
                   {"after_bytes", 12 * INT64_C(1073741824)},
                   {"before_count", 5},
                   {"after_count", 3},
                   {"noise_bytes", 0},
                   {"threshold_bytes", 96636764}}; /* 1 % of 9 GiB */
    for (size_t at = 0; at < sizeof(numbers) / sizeof(numbers[0]); at++)
        ck_assert_int_eq((int64_t)cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(row, numbers[at].name)),
                         numbers[at].value);
    cJSON_Delete(notice);
}
END_TEST

START_TEST(names_of_others_stay_texts)
{
    cJSON *notice = notice_of("a\"b&c=d\n\xC3\xA9", NULL);
    ck_assert_str_eq(text_of(notice, "page"), "?tool=fleet&view=regressions&filter=job%3A%22ab%26c%3Dd%0A%C3%A9%22");
    ck_assert_str_eq(text_of(cJSON_GetObjectItemCaseSensitive(notice, "regression"), "diff_unknown"), "no files");
    cJSON_Delete(notice);
}
END_TEST

START_TEST(an_id_tells_series_and_commits_apart)
{
    const struct fleet_record records[] = {
        {.job = "a", .module = "b", .kind = "module", .commit = "c"},
        {.job = "a", .module = "b", .kind = "module", .commit = "d"},
        {.job = "a", .module = "b", .kind = "module"},
        {.job = "a", .module = "b", .kind = "module", .commit = ""},
        {.job = "a", .module = "b", .kind = "module", .memory_space = "c"},
        {.job = "ab", .module = "", .kind = "module", .commit = "c"},
    };
    enum { COUNT = sizeof(records) / sizeof(records[0]) };
    char ids[COUNT][ROWS_ID_SIZE], again[ROWS_ID_SIZE];
    for (size_t at = 0; at < COUNT; at++) {
        notice_regression_id(ids[at], &records[at]);
        for (size_t other = 0; other < at; other++)
            ck_assert_str_ne(ids[at], ids[other]);
    }
    const struct fleet_record same = {
        .job = "a", .module = "b", .kind = "module", .commit = "c", .host = "h", .file = "f", .needed_bytes = 5};
    notice_regression_id(again, &same);
    ck_assert_str_eq(again, ids[0]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("notify");
    TCase *tests = tcase_create("notify");
    struct err err = ERR_INIT;
    tcase_add_test(tests, the_oldest_is_due_first_until_it_fails);
    tcase_add_test(tests, pauses_double_up_to_five_minutes);
    tcase_add_test(tests, of_too_many_the_oldest_are_given_up);
    tcase_add_test(tests, a_failure_of_many_hosts_waits_for_them);
    tcase_add_test(tests, hosts_are_a_member_of_what_is_sent);
    tcase_add_test(tests, a_regression_is_told_with_its_row);
    tcase_add_test(tests, names_of_others_stay_texts);
    tcase_add_test(tests, an_id_tells_series_and_commits_apart);
    if (http_client_set_up(&err)) {
        tcase_add_test(tests, a_secret_is_a_line_that_nobody_else_may_open);
        tcase_add_test(tests, an_address_is_https_or_this_machine_without_a_user);
        tcase_add_test(tests, ports_are_those_of_the_address_and_of_a_proxy);
        tcase_add_test(tests, a_message_is_signed_as_the_standard_has_it);
        tcase_add_test(tests, a_message_is_a_post_of_json_with_its_id);
        tcase_add_test(tests, what_passes_is_tried_three_times);
        tcase_add_test(tests, a_redirect_is_not_followed_and_not_taken);
    } else {
        printf("skipped: webhooks: %s\n", err.text);
    }
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
