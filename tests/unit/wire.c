/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/wire.h"
#include "wire/number.h"
#include "wire/stream.h"

#include "arena.h"

#include <stdlib.h>

#define SPAN(text) ((struct str){text, sizeof(text) - 1})

START_TEST(all_wire_types_are_read)
{
    struct wire wire = wire_open(SPAN("\x08\x96\x01\x12\x03"
                                      "abc"
                                      "\x19\1\2\3\4\5\6\7\x08\x25\1\0\0\0"),
                                 100, &err);
    ck_assert(wire_next(&wire));
    ck_assert_uint_eq(wire.number, 1);
    ck_assert_uint_eq(wire_uint(&wire), 150);
    ck_assert(wire_next(&wire));
    ck_assert(str_equal(wire_text(&wire), STR("abc")));
    ck_assert_uint_eq(wire_bytes_offset(&wire), 105);
    ck_assert_uint_eq(wire_uint(&wire), 0); /* the wrong type counts as absent */
    ck_assert(wire_next(&wire));
    ck_assert_uint_eq(wire.value, 0x0807060504030201ULL);
    ck_assert(wire_next(&wire));
    ck_assert_uint_eq(wire.value, 1);
    ck_assert(!wire_next(&wire));
    ck_assert(!err_is_set(&err));
}
END_TEST

START_TEST(negative_numbers_take_ten_bytes)
{
    struct wire wire = wire_open(SPAN("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), 0, &err);
    ck_assert(wire_next(&wire));
    ck_assert_int_eq(wire_int(&wire), -1);
}
END_TEST

/* Bytes in memory of exactly their size, so that a load behind them is found (SAN=address). */
START_TEST(numbers_of_every_size_end_with_their_bytes)
{
    for (size_t size = 1; size <= 10; size++) {
        uint64_t wanted = size == 10 ? UINT64_MAX : (UINT64_C(0x5A5A5A5A5A5A5A5A) | UINT64_C(1) << (7 * size - 1));
        wanted = size < 10 ? wanted & ((UINT64_C(1) << (7 * size)) - 1) : wanted;
        for (size_t behind = 0; behind < 9; behind++)
            for (size_t left = 0; left <= size; left++) {
                size_t total = left < size ? left : size + behind;
                uint8_t *bytes = malloc(total + 1), *begin = bytes + 1;
                for (size_t i = 0; i < total; i++)
                    begin[i] = (uint8_t)(i >= size ? 0xFF : (wanted >> (7 * i) & 0x7F) | (i + 1 < size ? 0x80 : 0));
                const uint8_t *at = begin;
                uint64_t value = 0;
                bool is_whole = wire_varint(&at, begin + total, &value);
                ck_assert_msg(is_whole == (left == size), "%zu of %zu bytes", left, size);
                ck_assert_uint_eq(value, is_whole ? wanted : 0);
                ck_assert_uint_eq((size_t)(at - begin), is_whole ? size : 0);
                free(bytes);
            }
    }
}
END_TEST

START_TEST(a_number_takes_all_the_bytes_that_are_said)
{
    static const struct {
        struct str bytes;
        bool is_good;
        uint64_t value;
    } cases[] = {
        {SPAN(""), false, 0},
        {SPAN("\x05"), true, 5},
        {SPAN("\x85"), false, 0},
        {SPAN("\x96\x01"), true, 150},
        {SPAN("\x16\x01"), false, 0}, /* ends before */
        {SPAN("\x96\x81"), false, 0}, /* ends behind */
        {SPAN("\x80\x80\x80\x80\x80\x80\x80\x80\x01"), true, UINT64_C(1) << 56},
        {SPAN("\x80\x80\x80\x80\x10\x38\x80\x80\x01"), false, 0}, /* two numbers and a tag between them */
        {SPAN("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), true, UINT64_MAX},
        {SPAN("\xff\xff\xff\xff\xff\x7f\xff\xff\xff\x01"), false, 0},
        {SPAN("\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x01"), false, 0},
        {SPAN("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), false, 0},
    };
    for (size_t at = 0; at < sizeof(cases) / sizeof(cases[0]); at++) {
        uint8_t bytes[32] = {0};
        uint64_t value = 0;
        memcpy(bytes, cases[at].bytes.data, cases[at].bytes.length);
        ck_assert_msg(number_of_size(bytes, cases[at].bytes.length, &value) == cases[at].is_good, "case %zu", at);
        ck_assert_uint_eq(cases[at].is_good ? value : 0, cases[at].value);
    }
}
END_TEST

static const struct {
    struct str bytes;
    enum err_code code;
    uint64_t offset;
} broken[] = {
    {SPAN("\x0a\x05"
          "abc"),
     ERR_truncated, 2},
    {SPAN("\x08"), ERR_malformed, 1},
    {SPAN("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), ERR_malformed, 1},
    {SPAN("\x00\x01"), ERR_malformed, 1}, /* field 0 */
    {SPAN("\x0b"), ERR_malformed, 1},     /* a group that does not end */
    {SPAN("\x0b\x14"), ERR_malformed, 1}, /* it ends as another began */
    {SPAN("\x0c"), ERR_malformed, 1},     /* the end of one that did not begin */
    {SPAN("\x0b\x12\x7f\x0c"), ERR_malformed, 1},
    {SPAN("\x0e"), ERR_malformed, 1}, /* a type that there is not */
    {SPAN("\x0d\x01\x02"), ERR_truncated, 1},
    {SPAN("\x09\x01\x02"), ERR_truncated, 1},
    {SPAN("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), ERR_truncated, 11}, /* a length past 64 bits of memory */
};

/* Field 2: a group with a number, a text, a group in it; behind it field 3. */
#define GROUP "\x13\x08\x05\x1a\x02hi\x23\x2d\x01\x02\x03\x04\x24\x14"

START_TEST(a_group_is_an_unknown_field)
{
    struct wire wire = wire_open(SPAN("\x08\x07" GROUP "\x18\x09" GROUP), 0, &err);
    ck_assert(wire_next(&wire));
    ck_assert_uint_eq(wire.number, 1);
    ck_assert(wire_next(&wire));
    ck_assert_uint_eq(wire.number, 3);
    ck_assert_uint_eq(wire_uint(&wire), 9);
    ck_assert(!wire_next(&wire));
    ck_assert(!err_is_set(&err));
}
END_TEST

START_TEST(damage_is_told_with_its_place)
{
    struct wire wire = wire_open(broken[_i].bytes, 0, &err);
    ck_assert(!wire_next(&wire));
    ck_assert(!wire_next(&wire)); /* and stays at the end */
    ck_assert_int_eq(err.code, broken[_i].code);
    ck_assert_uint_eq(err.offset_bytes, broken[_i].offset);
}
END_TEST

START_TEST(packed_and_single_numbers_mix)
{
    struct wire wire = wire_open(SPAN("\x0a\x03\x01\x80\x02\x08\x07\x0a\x00"), 0, &err);
    uint64_t seen[8], value;
    size_t count = 0;
    while (wire_next(&wire))
        for (size_t at = 0; wire_packed(&wire, &at, &value);)
            seen[count++] = value;
    ck_assert_uint_eq(count, 3);
    ck_assert_uint_eq(seen[1], 256);
    ck_assert_uint_eq(seen[2], 7);
    wire = wire_open(SPAN("\x0a\x02\x01\x80"), 0, &err);
    ck_assert(wire_next(&wire));
    for (size_t at = 0; wire_packed(&wire, &at, &value);)
        count++;
    ck_assert_int_eq(err.code, ERR_malformed);
}
END_TEST

/* How far a stream comes in `text`, and what it says of the end. */
static size_t stream_count(struct str text, bool is_strict, bool *is_cut)
{
    struct bytes bytes;
    struct stream stream;
    struct stream_field field;
    volatile size_t count = 0; /* lives across setjmp */
    bytes_open(&bytes, text.data, text.length);
    ARENA_MUST_NOT_JUMP();
    stream_init(&stream, &bytes.source, &arena, &err);
    stream.is_strict = is_strict;
    struct stream_scope scope = stream_whole(&stream);
    while (stream_next(&stream, &scope, &field))
        count++;
    *is_cut = stream.is_cut;
    bytes_close(&bytes);
    return count;
}

START_TEST(groups_nest_to_a_limit)
{
    for (size_t depth = WIRE_GROUP_DEPTH_MAX - 1; depth <= WIRE_GROUP_DEPTH_MAX + 1; depth++) {
        char bytes[2 * WIRE_GROUP_DEPTH_MAX + 4];
        bool is_cut;
        memset(bytes, 0x13, depth);
        memset(bytes + depth, 0x14, depth);
        memcpy(bytes + 2 * depth, "\x08\x07", 2);
        struct str text = {bytes, 2 * depth + 2};
        err = (struct err)ERR_INIT;
        struct wire wire = wire_open(text, 0, &err);
        ck_assert_int_eq(wire_next(&wire), depth <= WIRE_GROUP_DEPTH_MAX);
        err = (struct err)ERR_INIT;
        ck_assert_uint_eq(stream_count(text, false, &is_cut), depth <= WIRE_GROUP_DEPTH_MAX);
    }
}
END_TEST

START_TEST(a_stream_skips_groups)
{
    bool is_cut;
    ck_assert_uint_eq(stream_count(SPAN("\x08\x07" GROUP "\x18\x09" GROUP), true, &is_cut), 2);
    ck_assert(!err_is_set(&err) && !is_cut);
    ck_assert_uint_eq(stream_count(SPAN("\x08\x07\x13\x08"), false, &is_cut), 1); /* cut inside of it */
    ck_assert(!err_is_set(&err) && is_cut);
    ck_assert_uint_eq(stream_count(SPAN("\x08\x07\x13\x08\x01"), false, &is_cut), 1);
    ck_assert(!err_is_set(&err) && is_cut);
    ck_assert_uint_eq(stream_count(SPAN("\x08\x07\x13\x0c\x08\x07"), false, &is_cut), 1);
    ck_assert_int_eq(err.code, ERR_malformed);
}
END_TEST

START_TEST(a_group_that_does_not_end_is_damage_in_a_file_that_is_cut)
{
    struct str text = SPAN("\x12\x03\x13\x08\x01\x12\x09"); /* in a message; behind it one that is cut */
    struct bytes bytes;
    struct stream stream;
    struct stream_field field;
    bytes_open(&bytes, text.data, text.length);
    ARENA_MUST_NOT_JUMP();
    stream_init(&stream, &bytes.source, &arena, &err);
    struct stream_scope whole = stream_whole(&stream);
    ck_assert(stream_next(&stream, &whole, &field));
    struct stream_scope inside = field.payload;
    ck_assert(stream_next(&stream, &whole, &field) && field.is_clipped && stream.is_cut);
    ck_assert(!stream_next(&stream, &inside, &field));
    ck_assert_int_eq(err.code, ERR_truncated);
    bytes_close(&bytes);
}
END_TEST

START_TEST(a_stream_reads_up_to_a_cut)
{
    bool is_cut;
    ck_assert_uint_eq(stream_count(SPAN("\x08\x01\x12\x02"
                                        "ab"),
                                   false, &is_cut),
                      2);
    ck_assert(!is_cut && !err_is_set(&err));
    ck_assert_uint_eq(stream_count(SPAN("\x08\x01\x12\x09"
                                        "ab"),
                                   false, &is_cut),
                      2); /* clipped */
    ck_assert(is_cut && !err_is_set(&err));
    ck_assert_uint_eq(stream_count(SPAN("\x08\x01\x12"), false, &is_cut), 1);
    ck_assert(is_cut && !err_is_set(&err));
    ck_assert_uint_eq(stream_count(SPAN("\x08\x01\x12\x09"
                                        "ab"),
                                   true, &is_cut),
                      1);
    ck_assert_int_eq(err.code, ERR_truncated);
    err = (struct err)ERR_INIT;
    ck_assert_uint_eq(stream_count(SPAN("\x08\x01\x0e"
                                        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
                                   false, &is_cut),
                      1);
    ck_assert_int_eq(err.code, ERR_malformed);
}
END_TEST

START_TEST(nested_messages_keep_inside_their_parents)
{
    struct bytes bytes;
    struct stream stream;
    struct stream_field outer, inner;
    struct str text = SPAN("\x0a\x03\x0a\x05"
                           "a"
                           "\x08\x01"); /* the inner length passes the outer end */
    bytes_open(&bytes, text.data, text.length);
    ARENA_MUST_NOT_JUMP();
    stream_init(&stream, &bytes.source, &arena, &err);
    struct stream_scope scope = stream_whole(&stream);
    ck_assert(stream_next(&stream, &scope, &outer));
    struct stream_scope nested = outer.payload;
    ck_assert(!stream_next(&stream, &nested, &inner));
    ck_assert_int_eq(err.code, ERR_truncated);
    ck_assert_uint_eq(err.offset_bytes, 2);
    bytes_close(&bytes);
}
END_TEST

START_TEST(a_text_outlives_the_window)
{
    struct bytes bytes;
    struct stream stream;
    struct stream_field field;
    struct str input = SPAN("\x0a\x05"
                            "hello"
                            "\x0a\x00"
                            "\x0a\x03"
                            "cut short"); /* the last is cut by its length */
    bytes_open(&bytes, input.data, input.length - 7);
    ARENA_MUST_NOT_JUMP();
    stream_init(&stream, &bytes.source, &arena, &err);
    struct stream_scope scope = stream_whole(&stream);
    ck_assert(stream_next(&stream, &scope, &field));
    struct str whole = stream_text(&stream, field.payload, 100, &arena);
    struct str part = stream_text(&stream, field.payload, 4, &arena);
    ck_assert(stream_next(&stream, &scope, &field));
    struct str none = stream_text(&stream, field.payload, 100, &arena);
    ck_assert(stream_next(&stream, &scope, &field));
    struct str cut = stream_text(&stream, field.payload, 100, &arena);
    memset(stream.window, '?', stream.window_filled);
    ck_assert_str_eq(whole.data, "hello");
    ck_assert_uint_eq(whole.length, 5);
    ck_assert_str_eq(part.data, "hell");
    ck_assert_str_eq(none.data, "");
    ck_assert_str_eq(cut.data, "cu");
    ck_assert_uint_eq(cut.length, 2);
    ck_assert(stream.is_cut);
    bytes_close(&bytes);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("wire");
    TCase *tests = tcase_create("wire");
    tcase_add_checked_fixture(tests, arena_begin, arena_end);
    tcase_add_test(tests, all_wire_types_are_read);
    tcase_add_test(tests, negative_numbers_take_ten_bytes);
    tcase_add_test(tests, numbers_of_every_size_end_with_their_bytes);
    tcase_add_test(tests, a_number_takes_all_the_bytes_that_are_said);
    tcase_add_loop_test(tests, damage_is_told_with_its_place, 0, (int)(sizeof(broken) / sizeof(broken[0])));
    tcase_add_test(tests, a_group_is_an_unknown_field);
    tcase_add_test(tests, groups_nest_to_a_limit);
    tcase_add_test(tests, a_stream_skips_groups);
    tcase_add_test(tests, a_group_that_does_not_end_is_damage_in_a_file_that_is_cut);
    tcase_add_test(tests, packed_and_single_numbers_mix);
    tcase_add_test(tests, a_stream_reads_up_to_a_cut);
    tcase_add_test(tests, nested_messages_keep_inside_their_parents);
    tcase_add_test(tests, a_text_outlives_the_window);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
