/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/column.h"
#include "base/err.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/markdown.h"
#include "base/size_text.h"
#include "base/sum.h"

#include "arena.h"

START_TEST(the_first_report_wins)
{
    err = (struct err)ERR_INIT;
    ck_assert(!err_set(&err, ERR_truncated, 17, "length %d", 5));
    err_set(&err, ERR_malformed, 99, "later");
    ck_assert_int_eq(err.code, ERR_truncated);
    ck_assert_uint_eq(err.offset_bytes, 17);
    ck_assert_str_eq(err.text, "length 5");
    ck_assert_str_eq(err_name(err.code), "truncated");
}
END_TEST

START_TEST(a_long_report_is_cut)
{
    err = (struct err)ERR_INIT;
    err_set(&err, ERR_argument, 0, "%0300d", 1);
    ck_assert_uint_eq(strlen(err.text), sizeof(err.text) - 1);
}
END_TEST

START_TEST(a_text_in_markdown_is_nothing_but_a_text)
{
    static const struct {
        const char *text, *as;
    } cases[] = {
        {"jit_f|<b>&`x`", "jit\\_f\\|\\<b\\>&amp;\\`x\\`"},
        {"@team and a@b", "@&#8203;team and a@&#8203;b"},
        {"#12 #x GH-3 gh-x 8-3", "\\#&#8203;12 \\#x GH-&#8203;3 gh-x 8-3"},
        {"https://a.b www.a.b wwx.", "https:&#8203;//a.b www&#8203;.a.b wwx."},
        {"a\nb\xFF\xC3\xA4", "a\\\\u000ab\xEF\xBF\xBD\xC3\xA4"},
        {"@", "@&#8203;"},
        {"#", "\\#"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct buf out = BUF_INIT;
        markdown_text(&out, str_of(cases[i].text));
        buf_char(&out, '\0');
        ck_assert_str_eq(out.data, cases[i].as);
        buf_free(&out);
    }
}
END_TEST

static bool fills_up(uint64_t limit_bytes, size_t count, size_t size)
{
    arena_begin_limited(limit_bytes);
    if (setjmp(arena.trap) != 0) {
        arena_end();
        return true;
    }
    for (int i = 0; i < 100; i++)
        memset(arena_alloc(&arena, count, size), 0xAA, count * size);
    arena_end();
    return false;
}

START_TEST(an_arena_jumps_at_its_limit)
{
    ck_assert(!fills_up(0, 100, 100));
    ck_assert(!fills_up(1 << 21, 100, 100));
    ck_assert(fills_up(1 << 19, 100, 100));
    ck_assert_int_eq(err.code, ERR_limit);
    ck_assert(fills_up(0, SIZE_MAX / 2, 4));
    ck_assert_int_eq(err.code, ERR_limit);
}
END_TEST

START_TEST(arena_memory_is_zeroed_and_aligned)
{
    arena_begin();
    ARENA_MUST_NOT_JUMP();
    for (size_t size = 1; size < 5000; size += 37) {
        unsigned char *at = arena_alloc(&arena, size, 1);
        ck_assert_uint_eq((uintptr_t)at % 16, 0);
        for (size_t i = 0; i < size; i++)
            ck_assert_uint_eq(at[i], 0);
        memset(at, 0xFF, size);
    }
    ck_assert_str_eq(arena_format(&arena, "%d-%s", 7, "x"), "7-x");
    ck_assert_str_eq(arena_text(&arena, (struct str){"abc", 2}), "ab");
    arena_end();
}
END_TEST

/* Why an array of `count` items of `size` bytes cannot have room for `needed`; ERR_none if it can. */
static enum err_code grown_refuses(uint64_t limit_bytes, size_t count, size_t needed, size_t size)
{
    arena_begin_limited(limit_bytes);
    if (setjmp(arena.trap) == 0) {
        size_t capacity = 0;
        void *items = arena_grown(&arena, NULL, count, &capacity, size);
        arena_grown(&arena, items, needed, &capacity, size);
    }
    arena_end();
    return err.code;
}

/* Adds `count` items one by one; how often they moved. */
static size_t grow_one_by_one(size_t count, size_t size)
{
    size_t capacity = 0, moved = 0;
    unsigned char *items = NULL;
    for (size_t at = 0; at < count; at++) {
        unsigned char *former = items;
        size_t held = capacity;
        items = arena_grown(&arena, items, at + 1, &capacity, size);
        ck_assert_uint_gt(capacity, at);
        ck_assert_uint_eq((uintptr_t)items % 16, 0);
        moved += items != former;
        for (size_t i = held * size; i < capacity * size; i++)
            ck_assert_uint_eq(items[i], 0); /* what is new */
        memset(items + at * size, (int)(at % 251), size);
    }
    for (size_t i = 0; i < count * size; i++)
        ck_assert_uint_eq(items[i], i / size % 251);
    return moved;
}

START_TEST(a_growing_array_keeps_its_items)
{
    arena_begin();
    ARENA_MUST_NOT_JUMP();
    ck_assert_uint_le(grow_one_by_one(5000, 24), 13); /* it doubles */
    ck_assert_uint_le(grow_one_by_one(100, 1), 7);
    arena_end();
}
END_TEST

START_TEST(a_growing_array_makes_room_for_many_at_once)
{
    arena_begin();
    ARENA_MUST_NOT_JUMP();
    size_t capacity = 0;
    ck_assert_ptr_null(arena_grown(&arena, NULL, 0, &capacity, 8)); /* nothing is asked for */
    uint64_t *items = arena_grown(&arena, NULL, 3, &capacity, sizeof(*items));
    items[2] = 7;
    items = arena_grown(&arena, items, 100000, &capacity, sizeof(*items));
    ck_assert_uint_ge(capacity, 100000);
    ck_assert_uint_eq(items[2], 7);
    ck_assert_uint_eq(items[99999], 0);
    ck_assert_ptr_eq(arena_grown(&arena, items, 100000, &capacity, sizeof(*items)), items); /* room already */
    arena_end();
}
END_TEST

START_TEST(a_growing_array_jumps_at_what_cannot_be)
{
    ck_assert_int_eq(grown_refuses(0, 100, 200, 8), ERR_none);
    ck_assert_int_eq(grown_refuses(1 << 20, 1000, 1 << 20, 8), ERR_limit); /* past the arena's limit */
    ck_assert_int_eq(grown_refuses(0, 100, SIZE_MAX / 2, 8), ERR_limit);   /* the product wraps */
    ck_assert_int_eq(grown_refuses(0, 100, SIZE_MAX, 1), ERR_limit);       /* more than there is */
    ck_assert_int_eq(grown_refuses(0, 100, SIZE_MAX / 8 / 3 + 2, 24), ERR_limit);
    ck_assert_int_eq(grown_refuses(0, SIZE_MAX / 16 + 1, 0, 16), ERR_limit); /* at the first */
}
END_TEST

START_TEST(a_map_finds_what_was_put)
{
    struct map map;
    arena_begin();
    ARENA_MUST_NOT_JUMP();
    map_init(&map, &arena, 5000);
    for (uint32_t i = 0; i < 5000; i++)
        ck_assert(map_put(&map, (uint64_t)i * 0x100000001ULL, i, true));
    for (uint32_t i = 0; i < 5000; i++)
        ck_assert_uint_eq(map_get(&map, (uint64_t)i * 0x100000001ULL), i);
    ck_assert_uint_eq(map_get(&map, 3), MAP_NONE);
    ck_assert(!map_put(&map, 0, 7, false));
    ck_assert_uint_eq(map_get(&map, 0), 0);
    ck_assert(!map_put(&map, 0, 7, true));
    ck_assert_uint_eq(map_get(&map, 0), 7);
    ck_assert(map_put(&map, UINT64_MAX, 8, true));
    ck_assert_uint_eq(map_get(&map, UINT64_MAX), 8);
    arena_end();
}
END_TEST

/* Against an array, with keys that crowd together: 64 of them, put in and taken out 100,000 times. */
START_TEST(a_map_forgets_what_is_taken_out)
{
    struct map map;
    uint32_t held[64], count = 0;
    uint64_t random = 1;
    map_init_of(&map, malloc, 0);
    memset(held, 0xff, sizeof(held));
    for (uint32_t i = 0; i < 100000; i++) {
        random = hash_number(random, i);
        uint32_t key = random & 63;
        struct map_slot *slot = map_at(&map, key);
        ck_assert_uint_eq((uint32_t)slot->value, held[key]);
        if (held[key] == MAP_NONE)
            map_fill(&map, slot, key, i);
        else if (random >> 63)
            map_clear(&map, slot);
        else
            map_remove(&map, key, held[key]);
        count += held[key] == MAP_NONE ? 1 : UINT32_MAX;
        held[key] = held[key] == MAP_NONE ? i : MAP_NONE;
        ck_assert_uint_eq(map.count, count);
    }
    for (uint32_t key = 0; key < 64; key++)
        ck_assert_uint_eq(map_get(&map, key), held[key]);
    map_free(&map);
}
END_TEST

static bool is_even_or_odd(const void *context, uint64_t value) { return value % 2 == *(const uint64_t *)context; }

START_TEST(equal_hashes_are_told_apart)
{
    struct map map;
    bool is_new;
    arena_begin();
    ARENA_MUST_NOT_JUMP();
    map_init(&map, &arena, 0);
    for (uint64_t wanted = 0; wanted < 2; wanted++) {
        ck_assert_uint_eq(map_number(&map, 7, is_even_or_odd, &wanted, &is_new), wanted);
        ck_assert(is_new);
        ck_assert_uint_eq(map_number(&map, 7, is_even_or_odd, &wanted, &is_new), wanted);
        ck_assert(!is_new);
    }
    arena_end();
}
END_TEST

/* Texts whose second eight bytes are the constant of the hash, turn it to zero: they have one hash. */
static bool many_equal_hashes_run_out_of_work(size_t size)
{
    static const unsigned char zeroing[8] = {0xdb, 0x28, 0xb4, 0xa0, 0xd1, 0x7e, 0x03, 0xe7};
    char text[4096];
    struct intern intern;
    arena_begin();
    if (setjmp(arena.trap) != 0) {
        arena_end();
        return true;
    }
    arena_allot_work(&arena, 1 << 20);
    intern_init(&intern, &arena);
    memset(text, 'x', sizeof(text));
    memcpy(text + size - 8, zeroing, sizeof(zeroing));
    for (uint32_t i = 0; i < 200; i++) {
        memcpy(text + size - 16, &i, sizeof(i));
        ck_assert_uint_eq(intern_number(&intern, (struct str){text, size}), i);
    }
    arena_end();
    return false;
}

START_TEST(long_texts_of_equal_hashes_cost_work_by_their_length)
{
    ck_assert(!many_equal_hashes_run_out_of_work(16));
    ck_assert(many_equal_hashes_run_out_of_work(4096));
    ck_assert_int_eq(err.code, ERR_limit);
}
END_TEST

START_TEST(a_child_arena_shares_the_limit_and_gives_back)
{
    struct err limit_err = ERR_INIT;
    struct arena parent;
    arena_init(&parent, 1 << 20, &limit_err);
    if (setjmp(parent.trap) == 0) {
        for (int i = 0; i < 20; i++) {
            struct arena *child = arena_child(&parent);
            memset(arena_raw(child, 600 << 10), 1, 600 << 10);
            arena_free(child);
        }
        arena_raw(arena_child(&parent), 600 << 10);
        arena_raw(arena_child(&parent), 600 << 10);
        ck_abort_msg("more than the limit was given");
    }
    ck_assert_int_eq((int)limit_err.code, ERR_limit);
    arena_free(&parent);
}
END_TEST

static void is_filled(const struct column *column, size_t from, size_t end, uint32_t first)
{
    size_t at = from;
    while (at < end && COLUMN_AT(column, uint32_t, at) == first + (uint32_t)(at - from))
        at++;
    ck_assert_uint_eq(at, end);
}

static void fill(struct column *column, size_t from, size_t end, uint32_t first)
{
    for (size_t i = from; i < end; i++)
        COLUMN_AT(column, uint32_t, i) = first + (uint32_t)(i - from);
}

START_TEST(a_column_keeps_its_items_and_takes_those_of_others)
{
    struct column columns[3];
    size_t ats[3], end = 0;
    arena_begin();
    for (size_t i = 0; i < 3; i++) {
        column_init(&columns[i], &arena, sizeof(uint32_t));
        column_resize(&columns[i], 10);
        fill(&columns[i], 0, 10, (uint32_t)i * 1000000);
        column_resize(&columns[i], 300000);
        is_filled(&columns[i], 0, 10, (uint32_t)i * 1000000);
        COLUMN_AT(&columns[i], uint32_t, 299999) = 1; /* there is room for it */
        fill(&columns[i], 10, 100001, (uint32_t)i * 1000000 + 10);
        column_resize(&columns[i], 100001);
        is_filled(&columns[i], 0, 100001, (uint32_t)i * 1000000);
        ats[i] = end;
        end += column_whole_bytes(&columns[i]);
    }
    uint64_t used_bytes = arena.used_bytes;
    column_resize(&columns[0], end / sizeof(uint32_t));
    for (size_t i = 1; i < 3; i++)
        column_take(&columns[0], ats[i], &columns[i]);
    ck_assert_uint_eq(arena.used_bytes, used_bytes);
    for (size_t i = 0; i < 3; i++)
        is_filled(&columns[0], ats[i] / sizeof(uint32_t), ats[i] / sizeof(uint32_t) + 100001, (uint32_t)i * 1000000);
    column_resize(&columns[0], end); /* four times as much: what was taken moves too */
    for (size_t i = 0; i < 3; i++)
        is_filled(&columns[0], ats[i] / sizeof(uint32_t), ats[i] / sizeof(uint32_t) + 100001, (uint32_t)i * 1000000);
    for (size_t i = 0; i < 3; i++)
        column_free(&columns[i]);
    ck_assert_uint_lt(arena.used_bytes, 8192);
    arena_end();
}
END_TEST

START_TEST(shares_together_keep_to_the_limit_of_the_whole)
{
    static const uint64_t limits[] = {0, 1, 5, 1000003};
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        struct arena share;
        struct err share_err = ERR_INIT;
        arena_begin_limited(limits[i]);
        arena_allot_work(&arena, 100);
        arena_share(&share, &arena, 7, &share_err);
        ck_assert_uint_eq(arena_work_left(&share), 14);
        ck_assert_int_eq(share.limit_bytes == 0, limits[i] == 0); /* none stays none */
        ck_assert(share.limit_bytes <= 1 || share.limit_bytes * 7 <= limits[i]);
        arena_end();
    }
}
END_TEST

START_TEST(a_column_jumps_at_the_limit_and_at_what_cannot_be)
{
    static const size_t counts[4] = {1 << 20, SIZE_MAX / 8, SIZE_MAX / 4, SIZE_MAX};
    struct column column;
    arena_begin_limited(1 << 20);
    if (setjmp(arena.trap) == 0) {
        column_init(&column, &arena, 8);
        column_resize(&column, 1000);
        column_resize(&column, counts[_i]);
        ck_abort_msg("%zu items of eight bytes were given", counts[_i]);
    }
    ck_assert_int_eq((int)err.code, ERR_limit);
    arena_end();
}
END_TEST

START_TEST(a_child_arena_spends_the_work_of_its_parent)
{
    arena_begin();
    struct arena *child = arena_child(&arena);
    arena_allot_work(&arena, 10);
    if (setjmp(arena.trap) == 0) {
        arena_work(child, 6);
        arena_work(child, 6);
        ck_abort_msg("more work than allotted");
    }
    ck_assert_int_eq((int)err.code, ERR_limit);
    arena_end();
}
END_TEST

START_TEST(sums_stop_at_the_largest_value)
{
    ck_assert_int_eq(sum_add(2, 3), 5);
    ck_assert_int_eq(sum_add(INT64_MAX - 1, 5), INT64_MAX);
}
END_TEST

/* The unit is chosen after rounding, a tie goes to the even digit; tests/web/unit/format.mjs reads the same cases. */
START_TEST(names_are_ordered_as_people_do)
{
    static const char *const names[] = {"",         "/device:GPU:2", "/device:GPU:10", "/device:TPU:1",
                                        "memory",   "memory2a",      "memory2b",       "memory009",
                                        "memory10", "memory10.prof", "memory:"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        for (size_t j = 0; j < sizeof(names) / sizeof(names[0]); j++) {
            int order = str_compare_natural(str_of(names[i]), str_of(names[j]));
            ck_assert_msg((order > 0) - (order < 0) == (i > j) - (i < j), "%s, %s: %d", names[i], names[j], order);
        }
    ck_assert_int_eq(str_compare_natural(STR("a07"), STR("a7")), 0);
}
END_TEST

START_TEST(texts_are_looked_through)
{
    ck_assert(str_ends(STR("a/reduce_max"), STR("reduce_max")) && str_ends(STR("max"), STR("max")));
    ck_assert(!str_ends(STR("max"), STR("a/max")) && !str_ends(STR("max_"), STR("max")));
    ck_assert(str_contains(STR("['acc_grads']"), STR("acc_grads")) && str_contains(STR("ab"), STR("ab")));
    ck_assert(!str_contains(STR("acc_grad"), STR("acc_grads")) && !str_contains((struct str){NULL, 0}, STR("a")));
    ck_assert(str_equal(str_last_part(STR("training/models.py:11")), STR("models.py:11")));
    ck_assert(str_equal(str_last_part(STR("models.py")), STR("models.py")));
    ck_assert(str_last_part(STR("training/")).length == 0 && str_last_part((struct str){NULL, 0}).length == 0);
}
END_TEST

START_TEST(a_size_is_said_as_xla_prints_it)
{
    char line[200], text[SIZE_TEXT_BYTES];
    int case_count = 0;
    FILE *cases = fopen("tests/fixtures/sizes.txt", "r");
    ck_assert_ptr_nonnull(cases);
    while (fgets(line, sizeof(line), cases)) {
        char *wanted;
        uint64_t bytes = strtoull(line, &wanted, 10);
        if (line[0] == '#')
            continue;
        wanted[strcspn(wanted, "\n")] = '\0';
        ck_assert_str_eq(size_text(text, bytes), wanted + 1);
        case_count++;
    }
    fclose(cases);
    ck_assert_int_gt(case_count, 40);
}
END_TEST

START_TEST(a_size_in_a_column_has_two_decimals_and_a_sign)
{
    static const struct {
        int64_t bytes;
        const char *text;
    } sizes[] = {{1536, "1.50 KiB"},    {-512, "-512 B"},           {-80000000, "-76.29 MiB"}, {1048570, "1023.99 KiB"},
                 {1048571, "1.00 MiB"}, {-1073741823, "-1.00 GiB"}, {INT64_MIN, "-8.00 EiB"}};
    char text[SIZE_TEXT_BYTES];
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        ck_assert_str_eq(size_text_column(text, sizes[i].bytes), sizes[i].text);
}
END_TEST

START_TEST(a_difference_is_said_no_finer_than_what_it_is_made_of)
{
    char text[SIZE_TEXT_BYTES];
    ck_assert_str_eq(size_text_coarse(text, 1043613942, 0), "995.27 MiB");
    ck_assert_str_eq(size_text_coarse(text, 1043613942, 10486), "995.27 MiB");  /* MiB with two decimals */
    ck_assert_str_eq(size_text_coarse(text, 1043613942, 10737418), "0.97 GiB"); /* GiB with two decimals */
    ck_assert_str_eq(size_text_coarse(text, 524288, 102), "512.0 KiB");
    ck_assert_str_eq(size_text_coarse(text, 300, 1), "300 B");
    ck_assert_str_eq(size_text_coarse(text, 5, UINT64_MAX), "0.00 EiB");
    ck_assert_str_eq(size_text_beside(text, 1048577, 1048576), "1,048,577 B"); /* else both were 1.00 MiB */
    ck_assert_str_eq(size_text_beside(text, 1048576, 1048576), "1.00 MiB");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("base");
    TCase *tests = tcase_create("base");
    tcase_add_test(tests, the_first_report_wins);
    tcase_add_test(tests, a_long_report_is_cut);
    tcase_add_test(tests, an_arena_jumps_at_its_limit);
    tcase_add_test(tests, arena_memory_is_zeroed_and_aligned);
    tcase_add_test(tests, a_growing_array_keeps_its_items);
    tcase_add_test(tests, a_growing_array_makes_room_for_many_at_once);
    tcase_add_test(tests, a_growing_array_jumps_at_what_cannot_be);
    tcase_add_test(tests, a_child_arena_shares_the_limit_and_gives_back);
    tcase_add_test(tests, a_column_keeps_its_items_and_takes_those_of_others);
    tcase_add_test(tests, shares_together_keep_to_the_limit_of_the_whole);
    tcase_add_loop_test(tests, a_column_jumps_at_the_limit_and_at_what_cannot_be, 0, 4);
    tcase_add_test(tests, a_child_arena_spends_the_work_of_its_parent);
    tcase_add_test(tests, a_map_finds_what_was_put);
    tcase_add_test(tests, a_map_forgets_what_is_taken_out);
    tcase_add_test(tests, equal_hashes_are_told_apart);
    tcase_add_test(tests, long_texts_of_equal_hashes_cost_work_by_their_length);
    tcase_add_test(tests, sums_stop_at_the_largest_value);
    tcase_add_test(tests, names_are_ordered_as_people_do);
    tcase_add_test(tests, texts_are_looked_through);
    tcase_add_test(tests, a_text_in_markdown_is_nothing_but_a_text);
    tcase_add_test(tests, a_size_is_said_as_xla_prints_it);
    tcase_add_test(tests, a_size_in_a_column_has_two_decimals_and_a_sign);
    tcase_add_test(tests, a_difference_is_said_no_finer_than_what_it_is_made_of);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
