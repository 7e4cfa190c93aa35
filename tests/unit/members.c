/* SPDX-License-Identifier: Apache-2.0
 * members.c: the files of a zip archive, each read as a file of its own. */
#include "analysis.h"

#include "bytes.h"

#include <zlib.h>

enum { ZIP_ROOM = 1 << 20 };

/* An archive that is written member by member, and its list. */
struct made_zip {
    unsigned char bytes[ZIP_ROOM], list[ZIP_ROOM / 4];
    size_t length, list_length;
    uint16_t count;
};
static struct made_zip made;

static size_t number_put(unsigned char *to, uint64_t value, size_t size)
{
    for (size_t at = 0; at < size; at++)
        to[at] = (unsigned char)(value >> 8 * at);
    return size;
}

static size_t numbers_put(unsigned char *to, const uint64_t *values, const char *sizes)
{
    size_t length = 0;
    for (size_t at = 0; sizes[at] != '\0'; at++)
        length += number_put(to + length, values[at], (size_t)(sizes[at] - '0'));
    return length;
}

/* One member; `packed` holds its bytes in the archive. */
static void member_put(const char *name, uint16_t method, const void *packed, size_t packed_bytes, uint64_t plain_bytes,
                       uint32_t checksum)
{
    size_t name_length = strlen(name), header_at = made.length;
    const uint64_t local[] = {0x04034B50, 20, 0, method, 0, checksum, packed_bytes, plain_bytes, name_length, 0};
    made.length += numbers_put(made.bytes + made.length, local, "4222444422");
    memcpy(made.bytes + made.length, name, name_length);
    memcpy(made.bytes + made.length + name_length, packed, packed_bytes);
    made.length += name_length + packed_bytes;
    const uint64_t entry[] = {0x02014B50,  20,          20, 0, method, 0, checksum, packed_bytes,
                              plain_bytes, name_length, 0,  0, 0,      0, 0,        header_at};
    made.list_length += numbers_put(made.list + made.list_length, entry, "4222244442222244");
    memcpy(made.list + made.list_length, name, name_length);
    made.list_length += name_length;
    made.count++;
}

static void stored_put(const char *name, const char *text)
{
    member_put(name, 0, text, strlen(text), strlen(text), (uint32_t)crc32(0, (const Bytef *)text, (uInt)strlen(text)));
}

static void deflated_put(const char *name, const void *plain, size_t length)
{
    static unsigned char packed[ZIP_ROOM / 2];
    z_stream stream = {0};
    ck_assert_int_eq(deflateInit2(&stream, 9, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = (Bytef *)(uintptr_t)plain;
    stream.avail_in = (uInt)length;
    stream.next_out = packed;
    stream.avail_out = sizeof(packed);
    ck_assert_int_eq(deflate(&stream, Z_FINISH), Z_STREAM_END);
    member_put(name, 8, packed, stream.total_out, length, (uint32_t)crc32(0, plain, (uInt)length));
    deflateEnd(&stream);
}

static struct analysis_members *members_of(struct bytes *bytes, struct err *err)
{
    const uint64_t end[] = {0x06054B50, 0, 0, made.count, made.count, made.list_length, made.length, 0};
    memcpy(made.bytes + made.length, made.list, made.list_length);
    size_t length = made.length + made.list_length;
    length += numbers_put(made.bytes + length, end, "42222442");
    bytes_open(bytes, made.bytes, length);
    made = (struct made_zip){.length = 0};
    *err = (struct err)ERR_INIT;
    return analysis_members_read(&bytes->source, 2, err);
}

static void ck_refused(const char *reason)
{
    struct bytes bytes;
    struct err err;
    ck_assert_ptr_null(members_of(&bytes, &err));
    ck_assert_msg(strstr(err.text, reason) != NULL, "%s: %s", reason, err.text);
    bytes_close(&bytes);
}

/* The member's bytes as a file has them, inflated as that file's reader would. */
static void ck_member(const struct bytes *archive, const struct analysis_members *members, size_t at, const char *path,
                      const char *plain, bool is_gzip)
{
    struct member member;
    struct err err = ERR_INIT;
    struct buf out = BUF_INIT;
    char text[64];
    ck_assert_str_eq(members->items[at].path, path);
    ck_assert(analysis_members_locate(members, at, &member, &err));
    struct analysis_member_view *view = analysis_member_view_new(&archive->source, &member);
    const struct source *source = analysis_member_view_source(view);
    if (is_gzip) {
        ck_assert_uint_eq(analysis_packed_says_bytes(source), strlen(plain));
        ck_assert(analysis_inflate(source, strlen(plain), &out, &err));
        ck_assert_mem_eq(out.data, plain, strlen(plain));
    } else {
        ck_assert_uint_eq(source->size_bytes, strlen(plain));
        ck_assert_int_eq(source->read_apart(source->context, 0, text, sizeof(text)), (int64_t)strlen(plain));
        ck_assert_mem_eq(text, plain, strlen(plain));
        ck_assert_int_eq(source->read(source->context, strlen(plain), text, 1), 0);
    }
    buf_free(&out);
    analysis_member_view_free(view);
}

START_TEST(each_file_is_one_of_its_own)
{
    struct bytes bytes;
    struct err err;
    stored_put("job/", "");
    stored_put("__MACOSX/._rank0.pickle", "x");
    stored_put("job/rank0.pickle", "first");
    deflated_put("job/deep/rank1.pickle", "second, and second, and second", 30);
    struct analysis_members *members = members_of(&bytes, &err);
    ck_assert_ptr_nonnull(members);
    ck_assert_uint_eq(members->count, 2);
    ck_member(&bytes, members, 0, "job/rank0.pickle", "first", false);
    ck_member(&bytes, members, 1, "job/deep/rank1.pickle", "second, and second, and second", true);
    enum analysis_kind kind;
    ck_assert(analysis_identify(&bytes.source, &kind, NULL, &err));
    ck_assert_str_eq(analysis_kind_name(kind), "archive");
    analysis_members_free(members);
    bytes_close(&bytes);
}
END_TEST

START_TEST(a_packed_file_in_an_archive_is_read_through_both)
{
    struct bytes bytes;
    struct err err;
    struct member member;
    enum analysis_kind kind = ANALYSIS_KIND_UNKNOWN;
    unsigned char packed[256];
    static const char json[] = "{\"segments\": [], \"device_traces\": []}";
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)json,
                       .avail_in = sizeof(json) - 1,
                       .next_out = packed,
                       .avail_out = sizeof(packed)};
    ck_assert_int_eq(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    ck_assert_int_eq(deflate(&stream, Z_FINISH), Z_STREAM_END);
    deflated_put("rank0.json.gz", packed, stream.total_out);
    deflateEnd(&stream);
    stored_put("readme.md", "x");
    struct analysis_members *members = members_of(&bytes, &err);
    ck_assert(analysis_members_locate(members, 0, &member, &err));
    struct analysis_member_view *view = analysis_member_view_new(&bytes.source, &member);
    ck_assert(analysis_identify(analysis_member_view_source(view), &kind, NULL, &err));
    ck_assert_str_eq(analysis_kind_name(kind), "torch_snapshot");
    analysis_member_view_free(view);
    analysis_members_free(members);
    bytes_close(&bytes);
}
END_TEST

START_TEST(a_name_that_means_another_place_is_refused_alone)
{
    static const char *const NAMES[] = {
        "../a.pickle", "a/../b.pickle", "/etc/x.pickle", "a//b.pickle",
        "./a.pickle",  "a\\b.pickle",   "a\nb.pickle",   "1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17"};
    enum { COUNT = sizeof(NAMES) / sizeof(NAMES[0]) };
    struct bytes bytes;
    struct err err;
    struct member member;
    for (size_t at = 0; at < COUNT; at++)
        stored_put(NAMES[at], "x");
    stored_put("good.pickle", "x");
    stored_put("good.pickle", "y");
    struct analysis_members *members = members_of(&bytes, &err);
    ck_assert_ptr_nonnull(members);
    size_t refused = 0;
    for (size_t at = 0; at < COUNT; at++) {
        ck_assert_str_eq(members->items[at].path, NAMES[at]);
        refused += err_is_set(&members->items[at].why);
    }
    ck_assert_uint_eq(refused, COUNT);
    ck_assert_int_ne(err_is_set(&members->items[COUNT].why), err_is_set(&members->items[COUNT + 1].why));
    ck_assert(analysis_members_locate(members, COUNT, &member, &err));
    analysis_members_free(members);
    bytes_close(&bytes);
}
END_TEST

START_TEST(sizes_that_no_file_has_are_refused_alone)
{
    struct bytes bytes;
    struct err err;
    member_put("bomb.pickle", 8, "x", 1, UINT64_C(1) << 31, 0);
    member_put("stored.pickle", 0, "xx", 2, 3, 0);
    member_put("small.pickle", 8, "x", 1, 1 << 20, 0);
    struct analysis_members *members = members_of(&bytes, &err);
    ck_assert_ptr_nonnull(members);
    ck_assert_int_eq(members->items[0].why.code, ERR_limit);
    ck_assert_int_eq(members->items[1].why.code, ERR_malformed);
    ck_assert(!err_is_set(&members->items[2].why));
    analysis_members_free(members);
    bytes_close(&bytes);
}
END_TEST

/* As bombs of a few kB that inflate to petabytes do it. */
START_TEST(members_that_share_bytes_are_refused)
{
    stored_put("a.pickle", "x");
    size_t second_entry = made.list_length;
    stored_put("b.pickle", "x");
    number_put(made.list + second_entry + 42, 10, 4);
    ck_refused("share bytes");
}
END_TEST

START_TEST(an_archive_of_too_much_or_too_little_is_none)
{
    stored_put("one.pickle", "x");
    ck_refused("no zip archive of several files");
    stored_put("archive/data.pkl", "x");
    stored_put("archive/version", "3");
    ck_refused("a checkpoint or model of PyTorch");
    for (size_t at = 0; at <= ANALYSIS_MEMBERS_MAX; at++) {
        char name[32];
        snprintf(name, sizeof(name), "rank%zu", at);
        stored_put(name, "");
    }
    ck_refused("a zip archive of 4097 files, and at most 4096");
}
END_TEST

/* Whatever the list says, only what lies in the archive is read. */
START_TEST(a_list_with_any_byte_changed_reads_nothing_beyond_the_archive)
{
    static const char *const NAMES[] = {"a.pickle", "b.pickle", "c.pickle"};
    for (size_t at = 0; at < 3; at++)
        stored_put(NAMES[at], "some text");
    size_t list_at = made.length;
    struct bytes whole;
    struct err err;
    analysis_members_free(members_of(&whole, &err));
    for (size_t at = list_at; at < whole.length; at++) {
        for (int bit = 0; bit < 8; bit++) {
            struct bytes bytes;
            bytes_open(&bytes, whole.data, whole.length);
            bytes.data[at] = (char)(bytes.data[at] ^ 1 << bit);
            struct analysis_members *members = analysis_members_read(&bytes.source, 2, &err);
            for (size_t i = 0; members != NULL && i < members->count; i++) {
                struct member member;
                if (err_is_set(&members->items[i].why) || !analysis_members_locate(members, i, &member, &err))
                    continue;
                ck_assert_uint_le(member.data_at, bytes.length);
                ck_assert_uint_le(member.packed_bytes, bytes.length - member.data_at);
            }
            analysis_members_free(members);
            err = (struct err)ERR_INIT;
            bytes_close(&bytes);
        }
    }
    bytes_close(&whole);
}
END_TEST

/* What a changed member says: its bytes as they were, or why not. */
static void member_is_as_it_was(const struct source *archive, const struct member *member, const char *plain)
{
    struct err err = ERR_INIT;
    struct buf out = BUF_INIT;
    enum analysis_kind kind = ANALYSIS_KIND_UNKNOWN;
    struct analysis_member_view *view = analysis_member_view_new(archive, member);
    const struct source *source = analysis_member_view_source(view);
    if (!analysis_identify(source, &kind, NULL, &err))
        ck_assert(err.text[0] != '\0');
    err = (struct err)ERR_INIT;
    if (member->is_deflated && analysis_inflate(source, 1 << 16, &out, &err)) {
        ck_assert_uint_eq(out.length, strlen(plain));
        ck_assert_mem_eq(out.data, plain, out.length);
    } else if (member->is_deflated) {
        ck_assert(err.text[0] != '\0');
    }
    buf_free(&out);
    analysis_member_view_free(view);
}

/* Every bit of every byte: a member that is packed is as it was, or refused. */
START_TEST(an_archive_with_any_byte_changed_is_read_as_it_was_or_refused)
{
    static const char plain[] = "{\"segments\": [], \"device_traces\": [[]], \"allocator_settings\": {}}";
    struct bytes whole;
    struct err err;
    deflated_put("job/rank0.json", plain, strlen(plain));
    deflated_put("job/rank1.json", plain, strlen(plain));
    analysis_members_free(members_of(&whole, &err));
    size_t read_count = 0, refused_count = 0;
    for (size_t at = 0; at < 8 * whole.length; at++) {
        struct bytes bytes;
        bytes_open(&bytes, whole.data, whole.length);
        bytes.data[at / 8] = (char)(bytes.data[at / 8] ^ 1 << at % 8);
        err = (struct err)ERR_INIT;
        struct analysis_members *members = analysis_members_read(&bytes.source, 2, &err);
        ck_assert(members != NULL || err.text[0] != '\0');
        refused_count += members == NULL;
        for (size_t i = 0; members != NULL && i < members->count; i++) {
            struct member member;
            err = members->items[i].why;
            bool is_there = !err_is_set(&err) && analysis_members_locate(members, i, &member, &err);
            ck_assert(is_there || err.text[0] != '\0');
            read_count += is_there;
            refused_count += !is_there;
            if (is_there)
                member_is_as_it_was(&bytes.source, &member, plain);
        }
        analysis_members_free(members);
        bytes_close(&bytes);
    }
    ck_assert_uint_gt(read_count, 0);
    ck_assert_uint_gt(refused_count, 0);
    bytes_close(&whole);
}
END_TEST

/* It is not inflated, so its checksum is not checked elsewhere. */
START_TEST(a_stored_member_is_held_to_its_checksum)
{
    static const char plain[] = "some text, and more of it";
    for (size_t changed = 0; changed < strlen(plain); changed++) {
        struct bytes bytes;
        struct err err;
        struct member member;
        char text[64];
        stored_put("a.pickle", plain);
        stored_put("b.pickle", plain);
        struct analysis_members *members = members_of(&bytes, &err);
        ck_assert(analysis_members_locate(members, 0, &member, &err));
        bytes.data[member.data_at + changed] = (char)(bytes.data[member.data_at + changed] ^ 4);
        struct analysis_member_view *view = analysis_member_view_new(&bytes.source, &member);
        const struct source *source = analysis_member_view_source(view);
        ck_assert_int_eq(source->read(source->context, 0, text, 10), 10); /* its begin, and again */
        ck_assert_int_eq(source->read(source->context, 0, text, 5), 5);
        ck_assert(analysis_member_view_check(view, &err));
        ck_assert_int_eq(source->read(source->context, 8, text, sizeof(text)), -1);
        ck_assert(!analysis_member_view_check(view, &err));
        ck_assert_ptr_nonnull(strstr(err.text, "is damaged"));
        analysis_member_view_free(view);
        analysis_members_free(members);
        bytes_close(&bytes);
    }
}
END_TEST

START_TEST(one_file_is_enough_where_it_is_named)
{
    struct bytes bytes;
    struct err err;
    stored_put("one.pickle", "x");
    ck_refused("no zip archive of several files");
    stored_put("one.pickle", "x");
    analysis_members_free(members_of(&bytes, &err));
    err = (struct err)ERR_INIT;
    struct analysis_members *members = analysis_members_read(&bytes.source, 1, &err);
    ck_assert_ptr_nonnull(members);
    ck_assert_str_eq(members->items[0].path, "one.pickle");
    analysis_members_free(members);
    bytes_close(&bytes);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("members");
    TCase *tests = tcase_create("members");
    tcase_add_test(tests, each_file_is_one_of_its_own);
    tcase_add_test(tests, a_packed_file_in_an_archive_is_read_through_both);
    tcase_add_test(tests, a_name_that_means_another_place_is_refused_alone);
    tcase_add_test(tests, sizes_that_no_file_has_are_refused_alone);
    tcase_add_test(tests, members_that_share_bytes_are_refused);
    tcase_add_test(tests, an_archive_of_too_much_or_too_little_is_none);
    tcase_add_test(tests, a_list_with_any_byte_changed_reads_nothing_beyond_the_archive);
    tcase_add_test(tests, an_archive_with_any_byte_changed_is_read_as_it_was_or_refused);
    tcase_add_test(tests, a_stored_member_is_held_to_its_checksum);
    tcase_add_test(tests, one_file_is_enough_where_it_is_named);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
