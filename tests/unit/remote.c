/* SPDX-License-Identifier: Apache-2.0
 * What servers answer, whole, cut anywhere and with any byte flipped; addresses; what is read ahead. */
#include "bytes.h"
#include "server/files/remote/aws_profile.h"
#include "server/files/remote/gcs_answer.h"
#include "server/files/remote/https_page.h"
#include "server/files/remote/remote_address.h"
#include "server/files/remote/remote_ahead.h"
#include "server/files/remote/remote_answer.h"
#include "server/files/remote/remote_walk.h"
#include "server/files/remote/s3_answer.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char S3_XML[] =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
    "<Name>b</Name><Prefix>p%2F</Prefix><EncodingType>url</EncodingType><IsTruncated>true</IsTruncated>"
    "<Contents><Key>p/a+b%2Bc%C3%A9.hlo.pb</Key><LastModified>2026-01-09T12:00:00.250Z</LastModified>"
    "<ETag>&quot;d41d8&quot;</ETag><Size>123</Size><StorageClass>STANDARD</StorageClass></Contents>"
    "<Contents><Key>p/folder/</Key><LastModified>2026-01-09T12:00:00Z</LastModified><ETag>\"x\"</ETag><Size>0</Size></Contents>"
    "<Contents><Key>p/cold.hlo.pb</Key><LastModified>2026-01-09T12:00:00Z</LastModified><ETag>\"x\"</ETag><Size>7</Size>"
    "<StorageClass>GLACIER</StorageClass></Contents>"
    "<Contents><Key>p/copy.hlo.pb</Key><LastModified>2026-01-09T12:00:00Z</LastModified><ETag>\"x\"</ETag><Size>7</Size>"
    "<StorageClass>DEEP_ARCHIVE</StorageClass><RestoreStatus><IsRestoreInProgress>false</IsRestoreInProgress>"
    "<RestoreExpiryDate>2026-02-09T12:00:00Z</RestoreExpiryDate></RestoreStatus></Contents>"
    "<Contents><Key>p//odd</Key><LastModified>2026-01-09T12:00:00Z</LastModified><ETag>\"x\"</ETag><Size>0</Size></Contents>"
    "<Contents><Key>p/../odd</Key><LastModified>2026-01-09T12:00:00Z</LastModified><ETag>\"x\"</ETag><Size>0</Size></Contents>"
    "<CommonPrefixes><Prefix>p/x+y/</Prefix></CommonPrefixes>"
    "<NextContinuationToken>to&amp;ken==</NextContinuationToken></ListBucketResult>";

static const char GCS_JSON[] =
    "{\"kind\":\"storage#objects\",\"nextPageToken\":\"abc=\",\"prefixes\":[\"p/u/\"],\"items\":["
    "{\"name\":\"p/a b.hlo.pb\",\"size\":\"123\",\"generation\":\"1700000000000001\",\"timeCreated\":\"2026-01-09T12:00:00.250Z\"},"
    "{\"name\":\"p/b.hlo.pb\",\"size\":\"9\",\"generation\":\"2\",\"timeCreated\":\"2026-01-09T12:00:01Z\"}]}";

static const char HTML[] =
    "<html><head><title>/files/</title></head><body><h1>Index of /files/</h1><hr><pre><a href=\"../\">../</a>\n"
    "<a href=\"a%20b%26c.hlo.pb\">a b&amp;c.hlo.pb</a>  09-Jan-2026 12:00  123\n<A class=x HREF='sub%2Bdir/'>sub</A>"
    "<a href=\"?C=M;O=A\">Last modified</a><a href=\"/files/absolute.pb\">x</a><a href=\"/elsewhere/no.pb\">x</a>"
    "<a href=\"https://other.example/no.pb\">x</a><a href=\"%2e%2e%2fno\">x</a><a href=./dotted.pb>x</a>"
    "<a href=\"no%00null\">x</a><a name=here>no link</a></pre></body></html>";

static const char PAGE_JSON[] =
    "[{\"name\":\"a b.pb\",\"type\":\"file\",\"mtime\":\"Fri, 09 Jan 2026 12:00:00 GMT\",\"size\":123},"
    "{\"name\":\"sub\",\"type\":\"directory\"},{\"name\":\"x/y\",\"type\":\"file\"}]";

/* A page of a list below "p". */
struct read {
    struct remote_address address;
    struct remote_service_page page;
    struct err err;
    bool is_good;
};

typedef bool reader(const char *text, size_t size, struct remote_service_page *page, struct err *err);

static void begin(struct read *read, reader *by, const char *text, size_t size)
{
    static char bucket[] = "b", key[] = "p";
    *read = (struct read){.address = {.kind = REMOTE_ADDRESS_S3, .bucket = bucket, .key = key}, .err = ERR_INIT};
    read->page = (struct remote_service_page){.address = &read->address, .listing = remote_listing_new(NULL)};
    read->is_good = by(text, size, &read->page, &read->err);
    remote_listing_end(read->page.listing);
    ck_assert(read->is_good != err_is_set(&read->err));
}

static void end(struct read *read)
{
    remote_listing_release(read->page.listing);
    remote_service_page_free(&read->page);
}

START_TEST(a_list_of_s3_is_read)
{
    struct read read;
    begin(&read, s3_answer_read, S3_XML, sizeof(S3_XML) - 1);
    ck_assert_msg(read.is_good, "%s", read.err.text);
    ck_assert_uint_eq(remote_listing_count(read.page.listing), 3);
    const struct remote_object *object = remote_listing_find(read.page.listing, "a b+c\xc3\xa9.hlo.pb");
    ck_assert_ptr_nonnull(object);
    ck_assert_str_eq(object->etag, "\"d41d8\"");
    ck_assert_uint_eq(object->size_bytes, 123);
    ck_assert(!object->is_archived && remote_listing_find(read.page.listing, "cold.hlo.pb")->is_archived);
    ck_assert(!remote_listing_find(read.page.listing, "copy.hlo.pb")->is_archived); /* it was restored */
    ck_assert_int_eq(object->modified_at_ns, INT64_C(1767960000250000000));
    ck_assert_uint_eq(remote_listing_left_out(read.page.listing).unnamed, 2);
    ck_assert_uint_eq(read.page.prefix_count, 1);
    ck_assert_str_eq(read.page.prefixes[0], "p/x y/");
    ck_assert_str_eq(read.page.next, "to&ken==");
    end(&read);
}
END_TEST

START_TEST(entities_of_its_own_are_refused)
{
    static const char BOMB[] = "<!DOCTYPE x [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;\">]>"
                               "<ListBucketResult><Contents><Key>&b;</Key></Contents></ListBucketResult>";
    static const char *const OTHERS[] = {
        "",
        "<a/>",
        "<ListBucketResult>",
        "{}",
        "<ListBucketResult><Contents/></ListBucketResult>",
        "<ListBucketResult><Contents><Key>p/a</Key><Size>-1</Size></Contents></ListBucketResult>"};
    struct read read;
    begin(&read, s3_answer_read, BOMB, sizeof(BOMB) - 1);
    ck_assert_ptr_nonnull(strstr(read.err.text, "document type"));
    end(&read);
    for (size_t at = 0; at < sizeof(OTHERS) / sizeof(OTHERS[0]); at++) {
        begin(&read, s3_answer_read, OTHERS[at], strlen(OTHERS[at]));
        ck_assert_msg(!read.is_good, "%s", OTHERS[at]);
        end(&read);
    }
}
END_TEST

START_TEST(a_list_of_gcs_is_read)
{
    struct read read;
    begin(&read, gcs_answer_page, GCS_JSON, sizeof(GCS_JSON) - 1);
    ck_assert_msg(read.is_good, "%s", read.err.text);
    ck_assert_uint_eq(remote_listing_count(read.page.listing), 2);
    const struct remote_object *object = remote_listing_find(read.page.listing, "a b.hlo.pb");
    ck_assert_ptr_nonnull(object);
    ck_assert_str_eq(object->etag, "1700000000000001");
    ck_assert_int_eq(object->modified_at_ns, INT64_C(1767960000250000000));
    ck_assert_str_eq(read.page.prefixes[0], "p/u/");
    ck_assert_str_eq(read.page.next, "abc=");
    end(&read);
}
END_TEST

struct entries {
    char text[512];
};

static void entry_take(void *context, const char *name, bool is_folder)
{
    struct entries *entries = context;
    size_t length = strlen(entries->text);
    ck_assert(name[0] && !strchr(name, '/') && strcmp(name, "..") != 0);
    snprintf(entries->text + length, sizeof(entries->text) - length, "%s%s|", name, is_folder ? "/" : "");
}

START_TEST(a_page_of_a_folder_is_read)
{
    struct entries entries = {""};
    struct err err = ERR_INIT;
    ck_assert(https_page_read(HTML, sizeof(HTML) - 1, "/files/", entry_take, &entries, &err));
    ck_assert_str_eq(entries.text, "a b&c.hlo.pb|sub+dir/|absolute.pb|dotted.pb|");
    entries.text[0] = '\0';
    ck_assert(https_page_read(PAGE_JSON, sizeof(PAGE_JSON) - 1, "/files/", entry_take, &entries, &err));
    ck_assert_str_eq(entries.text, "a b.pb|sub/|");
}
END_TEST

START_TEST(an_empty_page_lists_nothing)
{
    struct entries entries = {""};
    struct err err = ERR_INIT;
    struct read read;
    ck_assert(https_page_read(NULL, 0, "/files/", entry_take, &entries, &err));
    ck_assert_str_eq(entries.text, "");
    begin(&read, s3_answer_read, NULL, 0);
    ck_assert(!read.is_good);
    end(&read);
}
END_TEST

/* 16 MiB, as much as is taken: in quadratic time it would take hours, and the test's limit ends it. */
START_TEST(tags_without_end_take_no_long_time)
{
    struct entries entries = {""};
    struct err err = ERR_INIT;
    const size_t size = 16 << 20;
    char *page = malloc(size);
    for (size_t at = 0; at < size; at++)
        page[at] = "<a "[at % 3];
    ck_assert(https_page_read(page, size, "/files/", entry_take, &entries, &err));
    page[size - 1] = '>';
    ck_assert(https_page_read(page, size, "/files/", entry_take, &entries, &err));
    ck_assert_str_eq(entries.text, "");
    free(page);
}
END_TEST

static bool page_read(const char *text, size_t size, struct remote_service_page *page, struct err *err)
{
    struct entries entries = {""};
    (void)page;
    return https_page_read(text, size, "/files/", entry_take, &entries, err);
}

static bool object_read(const char *text, size_t size, struct remote_service_page *page, struct err *err)
{
    struct remote_answer_object object;
    (void)page;
    return gcs_answer_object(text, size, &object, err);
}

static const struct {
    reader *by;
    const char *text;
    size_t size;
} READERS[] = {{s3_answer_read, S3_XML, sizeof(S3_XML) - 1},
               {gcs_answer_page, GCS_JSON, sizeof(GCS_JSON) - 1},
               {page_read, HTML, sizeof(HTML) - 1},
               {page_read, PAGE_JSON, sizeof(PAGE_JSON) - 1},
               {object_read, GCS_JSON, sizeof(GCS_JSON) - 1}};
enum { READER_COUNT = sizeof(READERS) / sizeof(READERS[0]) };

/* In memory of just that size, so that a sanitizer sees a read beyond it. */
static void try_bytes(size_t which, const char *text, size_t size)
{
    struct read read;
    char *bytes = malloc(size ? size : 1);
    memcpy(bytes, text, size);
    begin(&read, READERS[which].by, bytes, size);
    end(&read);
    free(bytes);
}

START_TEST(answers_that_are_cut_or_flipped_break_nothing)
{
    const size_t which = (size_t)_i;
    char *text = malloc(READERS[which].size);
    for (size_t size = 0; size < READERS[which].size; size++)
        try_bytes(which, READERS[which].text, size);
    for (size_t at = 0; at < READERS[which].size; at++) {
        for (int bit = 0; bit < 8; bit++) {
            memcpy(text, READERS[which].text, READERS[which].size);
            text[at] = (char)(text[at] ^ (1 << bit));
            try_bytes(which, text, READERS[which].size);
        }
    }
    free(text);
}
END_TEST

START_TEST(addresses_are_taken_apart)
{
    static const struct {
        const char *text, *bucket, *key;
        bool is_folder;
    } GOOD[] = {{"s3://my-bucket", "my-bucket", "", true},
                {"s3://my-bucket/", "my-bucket", "", true},
                {"gs://my_bucket/a b//c//", "my_bucket", "a b//c", true},
                {"gs://bucket/a/b.pb", "bucket", "a/b.pb", false},
                {"https://h.example:8443/a%20b/", "https://h.example:8443", "a%20b", true},
                {"http://[::1]:80/x", "http://[::1]:80", "x", false},
                {"http://localhost/x", "http://localhost", "x", false}};
    static const char *const BAD[] = {"s3://",
                                      "s3://a",
                                      "s3://-ab/x",
                                      "gs://a b/x",
                                      "https://",
                                      "https:///x",
                                      "https://u:p@h/x",
                                      "https://h/x?y",
                                      "https://h/x#y",
                                      "http://example.com/x",
                                      "http://localhost.example/x",
                                      "http://127.0.0.1.example/",
                                      "https://h/a\nb",
                                      "ftp://h/x",
                                      "/tmp/x"};
    struct remote_address address;
    for (size_t at = 0; at < sizeof(GOOD) / sizeof(GOOD[0]); at++) {
        struct err err = ERR_INIT;
        ck_assert_msg(remote_address_read(GOOD[at].text, &address, &err), "%s: %s", GOOD[at].text, err.text);
        ck_assert_str_eq(address.bucket, GOOD[at].bucket);
        ck_assert_str_eq(address.key, GOOD[at].key);
        ck_assert_int_eq(address.is_folder, GOOD[at].is_folder);
        remote_address_free(&address);
    }
    for (size_t at = 0; at < sizeof(BAD) / sizeof(BAD[0]); at++) {
        struct err err = ERR_INIT;
        ck_assert_msg(!remote_address_read(BAD[at], &address, &err), "%s", BAD[at]);
        ck_assert_int_eq(err.code, ERR_argument);
        remote_address_free(&address);
    }
}
END_TEST

/* One spelling of one place: what is known about it is reported once. */
START_TEST(other_spellings_of_an_address_are_respelled)
{
    static const struct {
        const char *text, *usual; /* NULL: it stays */
    } SPELLINGS[] = {{"gcs://bucket/a", "gs://bucket/a"},
                     {"s3a://bucket/a%20b", "s3://bucket/a%20b"},
                     {"S3N://Bucket/", "s3://Bucket/"},
                     {"HTTPS://host/X", "https://host/X"},
                     {"file:///tmp/a%20b", "/tmp/a b"},
                     {"file:/tmp/a", "/tmp/a"},
                     {"File://localhost/tmp", "/tmp"},
                     {"file://other/tmp", NULL},
                     {"file:////tmp", NULL},
                     {"file:///tmp/%zz", NULL},
                     {"file:///tmp/%00", NULL},
                     {"file:tmp", NULL},
                     {"s3://bucket/a", NULL},
                     {"s3a:bucket", NULL},
                     {"/tmp/s3a://x", NULL},
                     {"s3ab://x", NULL},
                     {"", NULL},
                     {":", NULL}};
    for (size_t at = 0; at < sizeof(SPELLINGS) / sizeof(SPELLINGS[0]); at++) {
        char *usual = remote_address_respell(SPELLINGS[at].text);
        ck_assert_msg((usual == NULL) == (SPELLINGS[at].usual == NULL), "%s", SPELLINGS[at].text);
        if (usual)
            ck_assert_str_eq(usual, SPELLINGS[at].usual);
        free(usual);
    }
}
END_TEST

START_TEST(storage_that_is_not_read_is_named)
{
    static const struct {
        const char *texts[6], *says; /* NULL: they are no addresses */
    } OTHERS[] = {{{"abfss://c@account.dfs.core.windows.net/x", "AZ://c/x"}, "Azure"},
                  {{"hf://org/repo"}, "Hub"},
                  {{"hdfs:///x"}, "HDFS"},
                  {{"dbfs:/x"}, "/dbfs/"},
                  {{"oss://b/x"}, "--endpoint-url"},
                  {{"sftp://host/x"}, "other machines"},
                  {{"mlflow-artifacts:/1/2/artifacts", "runs:/0f3/x"}, "mlflow artifacts download"},
                  {{"file://other/x"}, "file:///"},
                  {{"s3:/bucket/x", "S3a:/bucket/x", "https:/host/x"}, "two slashes"},
                  {{"tar+x.y-z://a", "tar+x.y-z:/a", "host:/path"}, "gs://"},
                  {{"C:\\x", "c://x", "az:", "run:3/x", "/tmp/az://x", ""}, NULL}};
    for (size_t at = 0; at < 6 * sizeof(OTHERS) / sizeof(OTHERS[0]); at++) {
        const char *text = OTHERS[at / 6].texts[at % 6], *says = OTHERS[at / 6].says;
        const char *why = text ? remote_address_why_not(text) : says;
        ck_assert_msg((why == NULL) == (says == NULL), "%s", text);
        ck_assert_msg(!why || strstr(why, says), "%s: %s", text, why);
    }
}
END_TEST

START_TEST(this_machine_is_told_from_others)
{
    static const char *const OURS[] = {"http://localhost", "https://127.0.0.1:8080/a@b", "http://[::1]:80/x"};
    static const char *const OTHERS[] = {"http://localhost:x@evil.example/", "evil.example/x://127.0.0.1/",
                                         "evil.example?://localhost/",       "http://127.0.0.1:1@evil.example",
                                         "http://localhost.example/",        "ftp://localhost/"};
    for (size_t at = 0; at < sizeof(OURS) / sizeof(OURS[0]); at++)
        ck_assert_msg(remote_address_is_loopback(OURS[at]), "%s", OURS[at]);
    for (size_t at = 0; at < sizeof(OTHERS) / sizeof(OTHERS[0]); at++)
        ck_assert_msg(!remote_address_is_loopback(OTHERS[at]), "%s", OTHERS[at]);
    ck_assert(remote_address_has_user("user:word@host:9000") && remote_address_has_user("https://user@host/"));
    ck_assert(!remote_address_has_user("https://host/a@b") && !remote_address_has_user("host?a@b"));
}
END_TEST

START_TEST(names_are_encoded_and_back)
{
    struct buf out = BUF_INIT;
    char text[] = "a b/\xc3\xa9+%&";
    remote_address_encode(&out, text, true);
    ck_assert_uint_eq(out.length, strlen("a%20b/%C3%A9%2B%25%26"));
    ck_assert_mem_eq(out.data, "a%20b/%C3%A9%2B%25%26", out.length);
    buf_char(&out, '\0');
    ck_assert(remote_address_decode(out.data));
    ck_assert_str_eq(out.data, text);
    ck_assert(!remote_address_decode((char[]){"a%0"}) && !remote_address_decode((char[]){"%00"}) &&
              !remote_address_decode((char[]){"%zz"}));
    buf_free(&out);
}
END_TEST

START_TEST(times_are_those_of_the_calendar)
{
    ck_assert_int_eq(remote_answer_iso_ns("2026-01-09T12:00:00Z"), INT64_C(1767960000000000000));
    ck_assert_int_eq(remote_answer_iso_ns("2026-01-09T12:00:00.123456789123Z"), INT64_C(1767960000123456789));
    ck_assert_int_eq(remote_answer_iso_ns("2026-01-09T13:30:00+01:30"), INT64_C(1767960000000000000));
    ck_assert_int_eq(remote_answer_iso_ns("2026-01-09T11:00:00.5-01:00"), INT64_C(1767960000500000000));
    ck_assert_int_eq(remote_answer_iso_ns("2026-01-09T11:00:00+1:00"), 0);
    ck_assert_int_eq(remote_answer_iso_ns("2026-01-09T11:00:00+01:00Z"), 0);
    ck_assert_int_eq(remote_answer_http_ns("Fri, 09 Jan 2026 12:00:00 GMT"), INT64_C(1767960000000000000));
    ck_assert_int_eq(remote_answer_iso_ns("2026-01-09"), 0);
    ck_assert_int_eq(remote_answer_iso_ns("9999999-01-09T12:00:00Z"), 0);
    ck_assert_int_eq(remote_answer_http_ns("Friday"), 0);
}
END_TEST

START_TEST(profiles_are_found)
{
    static const char TEXT[] =
        "# one\n[default]\naws_access_key_id=A\n aws_secret_access_key = no\n[profile x]\r\nregion = eu-west-1 \r\n"
        "s3 =\n  region = no\n[other]\nregion=z";
    char *value = aws_profile_find(TEXT, "[profile x]", "region");
    ck_assert_str_eq(value, "eu-west-1");
    free(value);
    value = aws_profile_find(TEXT, "[other]", "REGION");
    ck_assert_str_eq(value, "z");
    free(value);
    ck_assert_ptr_null(aws_profile_find(TEXT, "[default]", "region"));
    ck_assert_ptr_null(aws_profile_find(TEXT, "[profile x]", "s3"));
}
END_TEST

/* How many blocks are asked for while these are read, one after the other. */
static uint64_t asked_for(const uint64_t *blocks, size_t count, uint64_t *requests)
{
    struct remote_ahead ahead = {.clock = 0};
    uint64_t all = 0;
    *requests = 0;
    for (size_t at = 0; at < count; at++) {
        const struct remote_ahead_range range = remote_ahead_note(&ahead, blocks[at]);
        all += range.count;
        *requests += range.count > 0;
        ck_assert_uint_le(range.count, REMOTE_AHEAD_MAX);
    }
    return all;
}

START_TEST(who_reads_forwards_is_read_ahead_of)
{
    uint64_t blocks[4000], requests;
    for (size_t at = 0; at < 4000; at++)
        blocks[at] = at;
    uint64_t all = asked_for(blocks, 4000, &requests);
    ck_assert_uint_ge(all, 4000);
    ck_assert_uint_le(all, 4000 + 2 * REMOTE_AHEAD_MAX);
    ck_assert_uint_le(requests, 4000 / REMOTE_AHEAD_MAX + 8);
    for (size_t at = 0; at < 4000; at++)
        blocks[at] = (at * 7919 + 13) % 4000 * 1000; /* jumps about */
    ck_assert_uint_le(asked_for(blocks, 4000, &requests), 4000);
}
END_TEST

/* As links that lead round: each folder has two more. */
static bool visit_endless(struct remote_walk *walk, void *context, const char *name, unsigned depth, struct err *err)
{
    (void)context, (void)name, (void)err;
    remote_walk_add(walk, "a/", depth + 1);
    remote_walk_add(walk, "b/", depth + 1);
    return true;
}

static bool visit_many(struct remote_walk *walk, void *context, const char *name, unsigned depth, struct err *err)
{
    (void)name, (void)err;
    for (size_t at = 0; depth == 0 && at < *(const size_t *)context; at++)
        remote_walk_add(walk, "a/", 1);
    return true;
}

START_TEST(walks_without_end_are_ended)
{
    size_t most = REMOTE_WALK_FOLDERS_MAX;
    struct err err = ERR_INIT;
    ck_assert(!remote_walk_run(visit_endless, NULL, "", &err));
    ck_assert_int_eq(err.code, ERR_limit);
    err = (struct err)ERR_INIT;
    ck_assert_msg(remote_walk_run(visit_many, &most, "", &err), "%s", err.text);
    most++;
    ck_assert(!remote_walk_run(visit_many, &most, "", &err));
    ck_assert_int_eq(err.code, ERR_limit);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("remote");
    TCase *tests = tcase_create("remote");
    struct remote_service_page page = {.next = NULL};
    struct err err = ERR_INIT;
    s3_answer_read("", 0, &page, &err);
    if (err.code != ERR_unsupported) {
        tcase_add_test(tests, a_list_of_s3_is_read);
        tcase_add_test(tests, entities_of_its_own_are_refused);
    } else {
        printf("skipped: lists of S3: %s\n", err.text);
    }
    tcase_add_test(tests, a_list_of_gcs_is_read);
    tcase_add_test(tests, a_page_of_a_folder_is_read);
    tcase_add_test(tests, an_empty_page_lists_nothing);
    tcase_add_test(tests, tags_without_end_take_no_long_time);
    tcase_add_loop_test(tests, answers_that_are_cut_or_flipped_break_nothing, 0, READER_COUNT);
    tcase_add_test(tests, addresses_are_taken_apart);
    tcase_add_test(tests, other_spellings_of_an_address_are_respelled);
    tcase_add_test(tests, storage_that_is_not_read_is_named);
    tcase_add_test(tests, this_machine_is_told_from_others);
    tcase_add_test(tests, names_are_encoded_and_back);
    tcase_add_test(tests, times_are_those_of_the_calendar);
    tcase_add_test(tests, profiles_are_found);
    tcase_add_test(tests, who_reads_forwards_is_read_ahead_of);
    tcase_add_test(tests, walks_without_end_are_ended);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
