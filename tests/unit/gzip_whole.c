/* SPDX-License-Identifier: Apache-2.0
 * gzip_whole.c: tests of wire/gzip_whole: what is inflated at once is what the stream gives, and what the stream
 * refuses is not inflated; with a build that lacks libdeflate nothing is. */
#include "wire/gzip_whole.h"

#include "analysis.h"
#include "bytes.h"

#include <zlib.h>

enum { PLAIN_BYTES = 300000, PACKED_MAX = 400000 };
static unsigned char plain[PLAIN_BYTES], packed[PACKED_MAX];

/* Appends a gzip member of the `length` bytes. */
static size_t member_add(const unsigned char *text, size_t length, int level, size_t at)
{
    z_stream stream = {0};
    ck_assert_int_eq(deflateInit2(&stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = (Bytef *)(uintptr_t)text;
    stream.avail_in = (uInt)length;
    stream.next_out = packed + at;
    stream.avail_out = (uInt)(PACKED_MAX - at);
    ck_assert_int_eq(deflate(&stream, Z_FINISH), Z_STREAM_END);
    size_t size = stream.total_out;
    deflateEnd(&stream);
    return at + size;
}

static void plain_fill(void)
{
    uint32_t state = 7;
    for (size_t i = 0; i < sizeof(plain); i++) {
        state = state * 1664525 + 1013904223;
        plain[i] = (unsigned char)(i < sizeof(plain) / 2 ? state >> 28 : i / 100);
    }
}

static bool has_library(void)
{
    struct bytes bytes;
    struct buf out = BUF_INIT;
    size_t length = member_add(plain, 100, 6, 0);
    bytes_open(&bytes, packed, length);
    bool has = gzip_whole_inflate(&bytes.source, 100, &out);
    buf_free(&out);
    bytes_close(&bytes);
    return has;
}

/* Is the content of `packed` inflated at once, and to what? Where it is not, the answer of analysis_inflate is that of
 * the stream. */
static bool inflates(size_t length, uint64_t size_bytes, bool *is_good)
{
    struct bytes bytes;
    struct buf out = BUF_INIT, answer = BUF_INIT;
    struct err err = ERR_INIT;
    bytes_open(&bytes, packed, length);
    bool is_whole = gzip_whole_inflate(&bytes.source, size_bytes, &out);
    *is_good = analysis_inflate(&bytes.source, size_bytes, &answer, &err);
    ck_assert_uint_eq(out.length, is_whole ? size_bytes : 0);
    if (is_whole) {
        ck_assert(*is_good);
        ck_assert_mem_eq(out.data, plain, size_bytes);
    }
    if (*is_good) {
        ck_assert_uint_eq(answer.length, size_bytes);
        ck_assert_mem_eq(answer.data, plain, size_bytes);
    } else {
        ck_assert(err_is_set(&err));
    }
    buf_free(&out);
    buf_free(&answer);
    bytes_close(&bytes);
    return is_whole;
}

START_TEST(a_member_is_inflated_at_once)
{
    static const int levels[] = {0, 1, 6, 9};
    bool is_good;
    plain_fill();
    for (size_t at = 0; at < sizeof(levels) / sizeof(levels[0]); at++)
        for (size_t size = 0; size <= PLAIN_BYTES; size = size * 7 + 1) {
            bool has = has_library();
            ck_assert_int_eq(inflates(member_add(plain, size, levels[at], 0), size, &is_good), has);
            ck_assert(is_good);
        }
}
END_TEST

START_TEST(what_says_another_size_is_refused)
{
    bool is_good;
    plain_fill();
    size_t length = member_add(plain, 1000, 6, 0);
    for (uint64_t size = 0; size < 2000; size += 37) {
        ck_assert(!inflates(length, size, &is_good) || size == 1000);
        ck_assert(!is_good || size == 1000);
    }
    struct bytes bytes;
    struct buf out = BUF_INIT;
    bytes_open(&bytes, packed, length);
    ck_assert(!gzip_whole_inflate(&bytes.source, UINT64_MAX, &out));
    ck_assert(!gzip_whole_inflate(&bytes.source, UINT64_C(1) << 40, &out));
    ck_assert_uint_eq(out.capacity, 0);
    bytes_close(&bytes);
}
END_TEST

/* Several members are for the stream, and so are bytes after the last one. */
START_TEST(members_and_rubbish_are_for_the_stream)
{
    bool is_good;
    plain_fill();
    size_t first = member_add(plain, 1000, 6, 0), length = member_add(plain + 1000, 1000, 6, first);
    ck_assert(!inflates(length, 2000, &is_good));
    ck_assert(is_good);
    length = member_add(plain, 1000, 6, 0);
    memset(packed + length, 0, 9);
    ck_assert(!inflates(length + 9, 1000, &is_good));
    ck_assert(is_good);
}
END_TEST

/* Cut at every byte, and with every byte changed: never other bytes, and never where the stream has a complaint. */
START_TEST(what_is_damaged_is_for_the_stream)
{
    bool is_good;
    plain_fill();
    size_t length = member_add(plain, 3000, 6, 0);
    for (size_t cut = 0; cut < length; cut++) {
        ck_assert(!inflates(cut, 3000, &is_good));
        ck_assert(!is_good);
    }
    for (size_t at = 0; at < length; at++) {
        packed[at] ^= (unsigned char)(1 << at % 8);
        inflates(length, 3000, &is_good);
        packed[at] ^= (unsigned char)(1 << at % 8);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("gzip_whole");
    TCase *tests = tcase_create("gzip_whole");
    tcase_add_test(tests, a_member_is_inflated_at_once);
    tcase_add_test(tests, what_says_another_size_is_refused);
    tcase_add_test(tests, members_and_rubbish_are_for_the_stream);
    tcase_add_test(tests, what_is_damaged_is_for_the_stream);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
