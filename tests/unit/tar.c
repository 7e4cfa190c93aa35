/* SPDX-License-Identifier: Apache-2.0
 * tar.c: the files of a tar archive, packed as a whole or not, each read as a file of its own. */
#include "analysis.h"

#include "bytes.h"
#include "wire/tar.h"

#include <zlib.h>

enum { BLOCK = 512, TAR_ROOM = 4 << 20 };

struct made_tar {
    unsigned char bytes[TAR_ROOM];
    size_t length;
};
static struct made_tar made;

static void octal_put(unsigned char *to, size_t digits, size_t value)
{
    for (size_t at = digits; at-- > 0; value >>= 3)
        to[at] = (unsigned char)('0' + (value & 7));
}

/* Their sum, with the field itself as blanks. */
static void checksum_put(unsigned char *header)
{
    size_t sum = 0;
    memset(header + 148, ' ', 8);
    for (size_t at = 0; at < BLOCK; at++)
        sum += header[at];
    octal_put(header + 148, 6, sum);
    header[154] = '\0';
}

static unsigned char *header_put(const char *name, char type, size_t size)
{
    unsigned char *header = made.bytes + made.length;
    ck_assert_uint_le(made.length + BLOCK, TAR_ROOM);
    memset(header, 0, BLOCK);
    memcpy(header, name, strlen(name) < 100 ? strlen(name) : 100);
    octal_put(header + 124, 11, size);
    header[156] = (unsigned char)type;
    memcpy(header + 257,
           "ustar\0"
           "00",
           8);
    checksum_put(header);
    made.length += BLOCK;
    return header;
}

static void data_put(const char *data, size_t size)
{
    size_t room = (size + BLOCK - 1) / BLOCK * BLOCK;
    ck_assert_uint_le(made.length + room, TAR_ROOM);
    memset(made.bytes + made.length, 0, room);
    memcpy(made.bytes + made.length, data, size);
    made.length += room;
}

static void entry_put(const char *name, char type, const char *text)
{
    header_put(name, type, strlen(text));
    data_put(text, strlen(text));
}

static void file_put(const char *name, const char *text) { entry_put(name, '0', text); }

static void end_put(void)
{
    memset(made.bytes + made.length, 0, 2 * BLOCK);
    made.length += 2 * BLOCK;
}

/* What was made, and nothing is made any more. */
static void made_take(struct bytes *bytes)
{
    bytes_open(bytes, made.bytes, made.length);
    made.length = 0;
}

static void packed_take(struct bytes *bytes)
{
    static unsigned char packed[TAR_ROOM];
    z_stream stream = {0};
    ck_assert_int_eq(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = made.bytes;
    stream.avail_in = (uInt)made.length;
    stream.next_out = packed;
    stream.avail_out = sizeof(packed);
    ck_assert_int_eq(deflate(&stream, Z_FINISH), Z_STREAM_END);
    bytes_open(bytes, packed, stream.total_out);
    deflateEnd(&stream);
    made.length = 0;
}

static void ck_view(struct analysis_member_view *view, const char *plain)
{
    char text[64];
    const struct source *source = analysis_member_view_source(view);
    ck_assert_uint_eq(source->size_bytes, strlen(plain));
    ck_assert_int_eq(source->read(source->context, 0, text, sizeof(text)), (int64_t)strlen(plain));
    ck_assert_mem_eq(text, plain, strlen(plain));
    ck_assert_int_eq(source->read(source->context, strlen(plain), text, 1), 0);
    analysis_member_view_free(view);
}

static void ck_member(const struct bytes *archive, const struct analysis_members *members, size_t at, const char *path,
                      const char *plain)
{
    struct member member;
    struct err err = ERR_INIT;
    ck_assert_str_eq(members->items[at].path, path);
    ck_assert_msg(!err_is_set(&members->items[at].why), "%s", members->items[at].why.text);
    ck_assert(analysis_members_locate(members, at, &member, &err));
    ck_view(analysis_member_view_new(&archive->source, &member), plain);
    ck_view(analysis_members_view(members, &archive->source, &member), plain);
}

static void ck_refused(struct bytes *bytes, enum err_code code, const char *reason)
{
    struct err err = ERR_INIT;
    ck_assert_ptr_null(analysis_members_read(&bytes->source, 1, &err));
    ck_assert_msg(strstr(err.text, reason) != NULL, "%s: %s", reason, err.text);
    ck_assert_int_eq(err.code, code);
    bytes_close(bytes);
}

static char long_name[201], pax_name[201];

static void job_make(void)
{
    char line[256];
    memset(long_name, 'l', 200);
    memset(pax_name, 'p', 200);
    entry_put("./job/", '5', "");
    file_put("./job/rank0.pickle", "first");
    unsigned char *header = header_put("rank1.pickle", '0', 6);
    memcpy(header + 345, "job/prefix", 10);
    checksum_put(header);
    data_put("second", 6);
    header_put("././@LongLink", 'L', 201);
    data_put(long_name, 201);
    file_put("cut", "third");
    entry_put("global", 'g', "17 comment=\n\n\n\n\n\n");
    snprintf(line, sizeof(line), "210 path=%s\n10 size=6\n", pax_name);
    entry_put("PaxHeaders/x", 'x', line);
    header_put("cut", '0', 0);
    data_put("fourth", 6);
    header = header_put("numbers.pickle", '0', 0);
    memcpy(header + 124, "\x80\0\0\0\0\0\0\0\0\0\0\5", 12);
    memcpy(header + 257, "ustar  ", 8); /* GNU's own */
    memcpy(header + 345, "12345", 5);   /* one of its times */
    checksum_put(header);
    data_put("fifth", 5);
    end_put();
}

START_TEST(each_file_is_one_of_its_own)
{
    for (int is_packed = 0; is_packed < 2; is_packed++) {
        struct bytes bytes;
        struct err err = ERR_INIT;
        enum analysis_kind kind;
        job_make();
        (is_packed ? packed_take : made_take)(&bytes);
        struct analysis_members *members = analysis_members_read(&bytes.source, 2, &err);
        ck_assert_msg(members != NULL, "%s", err.text);
        ck_assert_uint_eq(members->count, 5);
        ck_member(&bytes, members, 0, "job/rank0.pickle", "first");
        ck_member(&bytes, members, 1, "job/prefix/rank1.pickle", "second");
        ck_member(&bytes, members, 2, long_name, "third");
        ck_member(&bytes, members, 3, pax_name, "fourth");
        ck_member(&bytes, members, 4, "numbers.pickle", "fifth");
        ck_member(&bytes, members, 0, "job/rank0.pickle", "first");
        ck_assert_str_eq(members->word, "tar archive");
        ck_assert_int_eq(members->plain_bytes > 0, is_packed);
        ck_assert(analysis_identify(&bytes.source, &kind, NULL, &err));
        ck_assert_str_eq(analysis_kind_name(kind), "archive");
        analysis_members_free(members);
        bytes_close(&bytes);
    }
}
END_TEST

START_TEST(what_is_no_file_or_leads_elsewhere_is_refused_alone)
{
    static const char *const NAMES[] = {"/etc/x.pickle", "../x.pickle", "a/./x.pickle", "a//x.pickle", "a\\x.pickle"};
    enum { NAME_COUNT = sizeof(NAMES) / sizeof(NAMES[0]) };
    struct bytes bytes;
    struct err err = ERR_INIT;
    for (size_t at = 0; at < NAME_COUNT; at++)
        file_put(NAMES[at], "x");
    header_put("hard.pickle", '1', 100); /* whatever its size says, it has no bytes */
    header_put("soft.pickle", '2', 0);
    header_put("pipe.pickle", '6', 0);
    entry_put("holes.pickle", 'S', "x");
    entry_put("PaxHeaders/x", 'x', "22 GNU.sparse.major=1\n");
    file_put("pax-holes.pickle", "x");
    file_put("good.pickle", "x");
    file_put("good.pickle", "y");
    made_take(&bytes);
    struct analysis_members *members = analysis_members_read(&bytes.source, 2, &err);
    ck_assert_msg(members != NULL, "%s", err.text);
    ck_assert_uint_eq(members->count, NAME_COUNT + 7);
    for (size_t at = 0; at < NAME_COUNT + 5; at++)
        ck_assert_msg(err_is_set(&members->items[at].why), "%s", members->items[at].path);
    ck_assert_ptr_nonnull(strstr(members->items[NAME_COUNT].why.text, "is a link; this member of the tar archive"));
    ck_assert_ptr_nonnull(strstr(members->items[NAME_COUNT + 4].why.text, "with holes"));
    ck_assert_int_ne(err_is_set(&members->items[NAME_COUNT + 5].why), err_is_set(&members->items[NAME_COUNT + 6].why));
    analysis_members_free(members);
    bytes_close(&bytes);
}
END_TEST

START_TEST(numbers_and_headers_that_none_writes_are_refused)
{
    struct bytes bytes;
    file_put("a.pickle", "x");
    memcpy(header_put("b.pickle", '0', 0) + 124, "99999999999", 11);
    checksum_put(made.bytes + made.length - BLOCK);
    made_take(&bytes);
    ck_refused(&bytes, ERR_malformed, "a size in the tar archive is damaged");
    memset(header_put("b.pickle", '0', 0) + 124, 0xFF, 12);
    checksum_put(made.bytes + made.length - BLOCK);
    made_take(&bytes);
    ck_refused(&bytes, ERR_malformed, "a size in the tar archive is damaged");
    header_put("b.pickle", '0', 7 << 20);
    made_take(&bytes);
    ck_refused(&bytes, ERR_truncated, "the tar archive is cut");
    header_put("b.pickle", '0', 7 << 20);
    packed_take(&bytes);
    ck_refused(&bytes, ERR_truncated, "the tar archive is cut");
    header_put("long", 'x', (1 << 20) + 1);
    memset(made.bytes + made.length, 0, 3 << 20);
    made.length += 3 << 20;
    made_take(&bytes);
    ck_refused(&bytes, ERR_malformed, "longer than 1 MiB");
    static const char *const LINES[] = {"0 path=x\n",  "5 a=b",        "99 path=x\n", "9 path=xx\n",
                                        "7 nothing\n", "10 nothing\n", "x path=x\n",  "18446744073709551617 a=b\n",
                                        "\n"};
    for (size_t at = 0; at < sizeof(LINES) / sizeof(LINES[0]); at++) {
        entry_put("pax", 'x', LINES[at]);
        file_put("a.pickle", "x");
        file_put("b.pickle", "y"); /* the member alone is lost */
        made_take(&bytes);
        struct err err = ERR_INIT;
        struct analysis_members *members = analysis_members_read(&bytes.source, 1, &err);
        ck_assert_msg(members != NULL && members->count == 2, "%s", err.text);
        ck_assert_ptr_nonnull(strstr(members->items[0].why.text, "has a damaged header"));
        ck_member(&bytes, members, 1, "b.pickle", "y");
        analysis_members_free(members);
        bytes_close(&bytes);
    }
    file_put("a.pickle", "x");
    memcpy(made.bytes + made.length, "no header", 9);
    made.length += BLOCK;
    made_take(&bytes);
    ck_refused(&bytes, ERR_malformed, "the tar archive is damaged");
}
END_TEST

/* Counts how far it was asked for. */
static uint64_t asked_end;
static int64_t zeros_read(void *context, uint64_t offset, void *into, size_t size)
{
    const struct bytes *bytes = context;
    asked_end = offset + size > asked_end ? offset + size : asked_end;
    memset(into, 0, size);
    if (offset < bytes->length)
        memcpy(into, bytes->data + offset, bytes->length - offset < size ? bytes->length - offset : size);
    return (int64_t)size;
}

/* What an archive says of its own size is no reason to inflate that much. */
START_TEST(a_large_size_is_refused_before_it_is_read)
{
    struct bytes bytes;
    unsigned char *header = header_put("a.pickle", '0', 0);
    memset(header + 124, 0, 12);
    header[124] = 0x80;
    header[124 + 4] = 0x10; /* 2^60 */
    checksum_put(header);
    made_take(&bytes);
    const struct source source = {.context = &bytes, .read = zeros_read, .size_bytes = UINT64_MAX};
    const struct tar_limits limits = {.members = 4, .bytes = UINT64_C(4) << 30};
    struct err err = ERR_INIT;
    asked_end = 0;
    ck_assert_ptr_null(tar_open(&source, &limits, &err));
    ck_assert_str_eq(err.text, "the tar archive has more than 4 GiB");
    ck_assert_uint_le(asked_end, 2 * BLOCK);
    bytes_close(&bytes);
}
END_TEST

/* GNU's list of pieces goes on in blocks behind the header, which no size counts. */
START_TEST(a_sparse_file_of_many_pieces_loses_itself_alone)
{
    struct bytes bytes;
    struct err err = ERR_INIT;
    unsigned char *header = header_put("sparse.log", 'S', 3);
    header[482] = 1;
    checksum_put(header);
    unsigned char more[BLOCK] = {[504] = 1}, last[BLOCK] = {0};
    data_put((const char *)more, BLOCK);
    data_put((const char *)last, BLOCK);
    data_put("abc", 3);
    entry_put("pax", 'x', "18 path=other.log\n");
    entry_put("all", 'g', "9 x=yyyy\n"); /* takes nothing back */
    file_put("named.otherwise", "x");
    entry_put("pax", 'x', "8 path=\n");
    file_put("own.log", "y");
    end_put();
    made_take(&bytes);
    struct analysis_members *members = analysis_members_read(&bytes.source, 1, &err);
    ck_assert_msg(members != NULL && members->count == 3, "%s", err.text);
    ck_assert_ptr_nonnull(strstr(members->items[0].why.text, "with holes"));
    ck_assert_str_eq(members->items[1].path, "other.log");
    ck_assert_str_eq(members->items[2].path, "own.log");
    analysis_members_free(members);
    bytes_close(&bytes);
}
END_TEST

START_TEST(too_much_is_refused)
{
    struct bytes bytes;
    for (size_t at = 0; at <= ANALYSIS_MEMBERS_MAX; at++) {
        char name[32];
        snprintf(name, sizeof(name), "rank%zu", at);
        header_put(name, '0', 0);
    }
    made_take(&bytes);
    ck_refused(&bytes, ERR_limit, "a tar archive of more than 4096 files");
}
END_TEST

START_TEST(a_packed_one_that_is_damaged_or_cut_is_refused)
{
    struct bytes bytes;
    job_make();
    packed_take(&bytes);
    bytes.data[bytes.length - 8] = (char)(bytes.data[bytes.length - 8] ^ 1);
    ck_refused(&bytes, ERR_malformed, "the gzip stream is damaged");
    job_make();
    packed_take(&bytes);
    bytes.source.size_bytes = --bytes.length;
    ck_refused(&bytes, ERR_truncated, "cut");
}
END_TEST

/* An end inside of a member or a header is reported; nothing behind the end is read. */
START_TEST(a_cut_one_is_refused_or_shorter)
{
    struct bytes whole;
    size_t shorter = 0;
    job_make();
    made_take(&whole);
    for (size_t length = BLOCK; length < whole.length; length++) {
        struct bytes bytes;
        struct err err = ERR_INIT;
        bytes_open(&bytes, whole.data, length);
        struct analysis_members *members = analysis_members_read(&bytes.source, 1, &err);
        ck_assert_msg(members != NULL || err.text[0] != '\0', "%zu", length);
        shorter += members != NULL;
        for (size_t at = 0; members != NULL && at < members->count; at++) {
            struct member member;
            ck_assert(analysis_members_locate(members, at, &member, &err));
            ck_assert_uint_le(member.data_at + member.packed_bytes, length);
        }
        analysis_members_free(members);
        bytes_close(&bytes);
    }
    ck_assert_uint_gt(shorter, 0);
    bytes_close(&whole);
}
END_TEST

static void ck_changed(const struct bytes *whole, size_t at, int bit, size_t *read_count, size_t *refused_count)
{
    struct bytes bytes;
    struct err err = ERR_INIT;
    bytes_open(&bytes, whole->data, whole->length);
    bytes.data[at] = (char)(bytes.data[at] ^ 1 << bit);
    struct analysis_members *members = analysis_members_read(&bytes.source, 1, &err);
    ck_assert(members != NULL || err.text[0] != '\0');
    *refused_count += members == NULL;
    for (size_t i = 0; members != NULL && i < members->count; i++) {
        struct member member;
        unsigned char byte;
        err = members->items[i].why;
        if (err_is_set(&err) || !analysis_members_locate(members, i, &member, &err)) {
            ck_assert(err.text[0] != '\0');
            continue;
        }
        struct analysis_member_view *view = analysis_member_view_new(&bytes.source, &member);
        const struct source *source = analysis_member_view_source(view);
        if (source->size_bytes > 0)
            ck_assert_int_eq(source->read(source->context, source->size_bytes - 1, &byte, 1), 1);
        ck_assert_int_eq(source->read(source->context, source->size_bytes, &byte, 1), 0);
        (*read_count)++;
        analysis_member_view_free(view);
    }
    analysis_members_free(members);
    bytes_close(&bytes);
}

/* Every bit of every byte: no byte outside of the archive is read, and no packed one is read unless it is whole. */
START_TEST(one_with_any_bit_changed_is_read_within_its_bytes_or_refused)
{
    for (int is_packed = 0; is_packed < 2; is_packed++) {
        struct bytes whole;
        size_t read_count = 0, refused_count = 0;
        job_make();
        (is_packed ? packed_take : made_take)(&whole);
        for (size_t at = 0; at < whole.length; at++)
            for (int bit = 0; bit < 8; bit++)
                ck_changed(&whole, at, bit, &read_count, &refused_count);
        ck_assert_uint_gt(read_count, 0);
        ck_assert_uint_gt(refused_count, 0);
        bytes_close(&whole);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tar");
    TCase *tests = tcase_create("tar");
    tcase_set_timeout(tests, 0);
    tcase_add_test(tests, each_file_is_one_of_its_own);
    tcase_add_test(tests, what_is_no_file_or_leads_elsewhere_is_refused_alone);
    tcase_add_test(tests, numbers_and_headers_that_none_writes_are_refused);
    tcase_add_test(tests, a_large_size_is_refused_before_it_is_read);
    tcase_add_test(tests, a_sparse_file_of_many_pieces_loses_itself_alone);
    tcase_add_test(tests, too_much_is_refused);
    tcase_add_test(tests, a_packed_one_that_is_damaged_or_cut_is_refused);
    tcase_add_test(tests, a_cut_one_is_refused_or_shorter);
    tcase_add_test(tests, one_with_any_bit_changed_is_read_within_its_bytes_or_refused);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
