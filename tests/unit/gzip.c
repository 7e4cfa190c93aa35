/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/gzip.h"

#include "bytes.h"

#include <zlib.h>

/* `text` as one gzip member, appended to `packed`. */
static size_t pack(const void *text, size_t length, unsigned char *packed, size_t room)
{
    z_stream stream = {0};
    ck_assert_int_eq(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = (Bytef *)(uintptr_t)text;
    stream.avail_in = (uInt)length;
    stream.next_out = packed;
    stream.avail_out = (uInt)room;
    ck_assert_int_eq(deflate(&stream, Z_FINISH), Z_STREAM_END);
    size_t size = stream.total_out;
    deflateEnd(&stream);
    return size;
}

static unsigned char plain[400000], packed[500000], back[400000];

static void plain_fill(void)
{
    uint32_t state = 1;
    for (size_t i = 0; i < sizeof(plain); i++) {
        state = state * 1664525 + 1013904223;
        plain[i] = (unsigned char)(state >> 28); /* compresses to a half */
    }
}

START_TEST(members_are_read_through_in_any_order)
{
    struct bytes bytes;
    struct err err = ERR_INIT;
    plain_fill();
    size_t length = pack(plain, 150000, packed, sizeof(packed));
    length += pack(plain + 150000, sizeof(plain) - 150000, packed + length, sizeof(packed) - length);
    bytes_open(&bytes, packed, length);
    ck_assert(gzip_matches(&bytes.source));
    struct gzip *gzip = gzip_open(&bytes.source, &err);
    ck_assert_int_eq(gzip->source.read(gzip, 149990, back, 20), 20);
    ck_assert_mem_eq(back, plain + 149990, 20);
    ck_assert_int_eq(gzip->source.read(gzip, 5, back, 10), 10); /* backwards */
    ck_assert_mem_eq(back, plain + 5, 10);
    ck_assert_int_eq(gzip->source.read(gzip, 0, back, sizeof(back)), sizeof(back));
    ck_assert_mem_eq(back, plain, sizeof(plain));
    ck_assert_int_eq(gzip->source.read(gzip, sizeof(plain), back, 1), 0);
    ck_assert_uint_eq(gzip->source.size_bytes, sizeof(plain));
    ck_assert(!err_is_set(&err));
    gzip_close(gzip);
    bytes_close(&bytes);
}
END_TEST

/* Any order of reads over many checkpoints gives the bytes that are there. */
START_TEST(reads_in_any_order_agree)
{
    enum { SIZE = 70 << 20, STEP = 1 << 20 };
    struct bytes bytes;
    struct err err = ERR_INIT;
    uint32_t state = 5, value, *words = malloc(SIZE);
    unsigned char *room = malloc(SIZE);
    for (uint32_t i = 0; i < SIZE / 4; i++)
        words[i] = i / 16;
    size_t length = pack(words, SIZE, room, SIZE);
    bytes_open(&bytes, room, length);
    struct gzip *gzip = gzip_open(&bytes.source, &err);
    for (int i = 0; i < 24; i++) {
        state = state * 1664525 + 1013904223;
        uint64_t at = (uint64_t)(state >> 8) % (SIZE / 4 - 1) * 4;
        ck_assert_int_eq(gzip->source.read(gzip, at, &value, 4), 4);
        ck_assert_uint_eq(value, words[at / 4]);
    }
    ck_assert(!err_is_set(&err));
    gzip_close(gzip);
    bytes_close(&bytes);
    free(words);
    free(room);
}
END_TEST

START_TEST(a_cut_stream_gives_what_came_before)
{
    struct bytes bytes;
    struct err err = ERR_INIT;
    plain_fill();
    size_t length = pack(plain, sizeof(plain), packed, sizeof(packed));
    bytes_open(&bytes, packed, length / 2);
    struct gzip *gzip = gzip_open(&bytes.source, &err);
    int64_t got = gzip->source.read(gzip, 0, back, sizeof(back));
    ck_assert_int_gt(got, 100000);
    ck_assert_mem_eq(back, plain, (size_t)got);
    ck_assert(!err_is_set(&err));
    ck_assert_int_eq(gzip->source.read(gzip, (uint64_t)got, back, 1), -1);
    ck_assert_int_eq(err.code, ERR_truncated);
    gzip_close(gzip);
    bytes_close(&bytes);
}
END_TEST

START_TEST(damage_is_malformed)
{
    struct bytes bytes;
    struct err err = ERR_INIT;
    plain_fill();
    size_t length = pack(plain, 1000, packed, sizeof(packed));
    packed[length - 6] ^= 0xFF; /* the checksum */
    bytes_open(&bytes, packed, length);
    struct gzip *gzip = gzip_open(&bytes.source, &err);
    int64_t got = gzip->source.read(gzip, 0, back, 2000);
    ck_assert_int_eq(gzip->source.read(gzip, (uint64_t)(got < 0 ? 0 : got), back, 1), -1);
    ck_assert_int_eq(err.code, ERR_malformed);
    gzip_close(gzip);
    bytes_close(&bytes);
}
END_TEST

/* 1 GiB of zeros packs to 1 MiB: far more than any real file does. */
START_TEST(a_bomb_is_refused)
{
    enum { PIECE = 1 << 20 };
    struct bytes bytes;
    struct err err = ERR_INIT;
    z_stream stream = {0};
    unsigned char *zeros = calloc(1, PIECE), *bomb = malloc(4 << 20);
    ck_assert_int_eq(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_out = bomb;
    stream.avail_out = 4 << 20;
    for (int i = 0; i < 1024; i++) {
        stream.next_in = zeros;
        stream.avail_in = PIECE;
        deflate(&stream, i == 1023 ? Z_FINISH : Z_NO_FLUSH);
    }
    bytes_open(&bytes, bomb, stream.total_out);
    deflateEnd(&stream);
    struct gzip *gzip = gzip_open(&bytes.source, &err);
    ck_assert_int_eq(gzip->source.read(gzip, UINT64_MAX - 1, back, 1), -1);
    ck_assert_int_eq(err.code, ERR_limit);
    gzip_close(gzip);
    bytes_close(&bytes);
    free(zeros);
    free(bomb);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("gzip");
    TCase *tests = tcase_create("gzip");
    tcase_set_timeout(tests, 120); /* packing the bomb takes a while under a sanitizer */
    tcase_add_test(tests, members_are_read_through_in_any_order);
    tcase_add_test(tests, reads_in_any_order_agree);
    tcase_add_test(tests, a_cut_stream_gives_what_came_before);
    tcase_add_test(tests, damage_is_malformed);
    tcase_add_test(tests, a_bomb_is_refused);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
