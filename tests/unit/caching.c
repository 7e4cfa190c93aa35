/* SPDX-License-Identifier: Apache-2.0 */
#include "memory/allocator/caching.h"

#include "arena.h"

#define MIB (INT64_C(1) << 20)

static struct caching caching;
static uint32_t small, large;
static uint64_t next_address; /* of segments; they follow each other */

static uint64_t place(void *context, int64_t size_bytes, bool is_expandable)
{
    uint64_t address = next_address;
    (void)context;
    next_address += is_expandable ? UINT64_C(1) << 53 : (uint64_t)size_bytes;
    return address;
}

static void begin(const struct caching_settings *settings)
{
    static const int64_t none[2] = {0, 0};
    caching_init(&caching, &arena, settings);
    caching.place = place;
    next_address = UINT64_C(1) << 40;
    small = caching_pool(&caching, 0, none, true);
    large = caching_pool(&caching, 0, none, false);
}

static void begin_usual(void) { begin(&(struct caching_settings){.is_expandable = false}); }

static uint32_t take(int64_t bytes)
{
    return caching_allocate(&caching, bytes <= CACHING_SMALL_BYTES ? small : large, bytes);
}
static const struct caching_block *at(uint32_t block) { return caching_blocks_at(&caching.blocks, block); }

START_TEST(sizes_are_whole_blocks)
{
    const struct caching_settings usual = {.is_expandable = false};
    ck_assert_int_eq(caching_settings_round(&usual, 0), 512);
    ck_assert_int_eq(caching_settings_round(&usual, 512), 512);
    ck_assert_int_eq(caching_settings_round(&usual, 513), 1024);
    ck_assert_int_eq(caching_settings_segment_bytes(MIB), 2 * MIB);
    ck_assert_int_eq(caching_settings_segment_bytes(MIB + 512), 20 * MIB);
    ck_assert_int_eq(caching_settings_segment_bytes(10 * MIB - 512), 20 * MIB);
    ck_assert_int_eq(caching_settings_segment_bytes(10 * MIB), 10 * MIB);
    ck_assert_int_eq(caching_settings_segment_bytes(11 * MIB), 12 * MIB);
}
END_TEST

/* The example of PyTorch's own text: 1200 of four steps from 1024 on is 1280; here above 512 · 4. */
START_TEST(powers_of_two_are_divided)
{
    struct caching_settings settings = {.is_expandable = false};
    for (int i = 0; i < CACHING_ROUNDUP_INTERVALS; i++)
        settings.roundup[i] = 4;
    ck_assert_int_eq(caching_settings_round(&settings, 2048), 2048);
    ck_assert_int_eq(caching_settings_round(&settings, 1200), 1536);
    ck_assert_int_eq(caching_settings_round(&settings, 1200 * 1024), 1280 * 1024);
    ck_assert_int_eq(caching_settings_round(&settings, 4 * MIB), 4 * MIB);
    ck_assert_int_eq(caching_settings_round(&settings, 4 * MIB + 1), 5 * MIB);
    settings.roundup[2] = 0; /* from 4 to 8 MiB */
    ck_assert_int_eq(caching_settings_round(&settings, 4 * MIB + 1), 4 * MIB + 512);
    ck_assert_int_eq(caching_settings_round(&settings, 8 * MIB + 1), 10 * MIB);
    settings.roundup[15] = 1 << 20;
    ck_assert_int_eq(caching_settings_round(&settings, INT64_C(1) << 48), INT64_C(1) << 48);
}
END_TEST

START_TEST(small_requests_share_a_segment)
{
    ARENA_MUST_NOT_JUMP();
    begin_usual();
    uint32_t first = take(100), second = take(1000);
    ck_assert_int_eq(caching.reserved.bytes, 2 * MIB);
    ck_assert_uint_eq(at(second)->address, at(first)->address + 512);
    ck_assert_int_eq(caching.allocated.bytes, 512 + 1024);
    ck_assert_int_eq(caching.requested.bytes, 1100);
    take(MIB);
    ck_assert_int_eq(caching.reserved.bytes, 2 * MIB);
    take(MIB);
    ck_assert_int_eq(caching.reserved.bytes, 4 * MIB);
}
END_TEST

/* A rest of up to 1 MiB stays with the block. */
START_TEST(large_blocks_are_split_above_a_mib)
{
    ARENA_MUST_NOT_JUMP();
    begin_usual();
    ck_assert_int_eq(at(take(19 * MIB))->size_bytes, 20 * MIB);
    ck_assert_int_eq(at(take(9 * MIB))->size_bytes, 9 * MIB);
    ck_assert_int_eq(at(take(10 * MIB))->size_bytes, 11 * MIB);
    ck_assert_int_eq(caching.reserved.bytes, 40 * MIB);
}
END_TEST

START_TEST(the_smallest_hole_is_taken_and_of_equals_the_lowest)
{
    ARENA_MUST_NOT_JUMP();
    begin_usual();
    uint32_t blocks[4] = {take(30 * MIB), take(14 * MIB), take(12 * MIB), take(14 * MIB)};
    uint64_t addresses[4];
    for (int i = 0; i < 4; i++)
        addresses[i] = at(blocks[i])->address;
    for (int i = 3; i >= 0; i--)
        caching_free(&caching, blocks[i]);
    ck_assert_uint_eq(at(take(13 * MIB))->address, addresses[1]);
    ck_assert_uint_eq(at(take(13 * MIB))->address, addresses[3]);
    ck_assert_uint_eq(at(take(13 * MIB))->address, addresses[0]);
    ck_assert_int_eq(caching.reserved.bytes, 70 * MIB);
}
END_TEST

START_TEST(free_neighbours_become_one)
{
    ARENA_MUST_NOT_JUMP();
    begin_usual();
    uint32_t first = take(4 * MIB), second = take(4 * MIB), third = take(4 * MIB);
    uint64_t address = at(first)->address;
    caching_free(&caching, first);
    caching_free(&caching, third);
    caching_free(&caching, second);
    ck_assert_uint_eq(at(take(19 * MIB))->address, address);
    ck_assert_int_eq(caching.reserved.bytes, 20 * MIB);
}
END_TEST

START_TEST(streams_and_private_pools_do_not_share)
{
    const int64_t graph[2] = {0, 1}, none[2] = {0, 0};
    ARENA_MUST_NOT_JUMP();
    begin_usual();
    caching_free(&caching, take(14 * MIB));
    uint32_t other = caching_allocate(&caching, caching_pool(&caching, 7, none, false), 14 * MIB);
    uint32_t private = caching_allocate(&caching, caching_pool(&caching, 0, graph, false), 14 * MIB);
    ck_assert_int_eq(caching.reserved.bytes, 42 * MIB);
    caching_free(&caching, other);
    caching_free(&caching, private);
    caching_release(&caching);
    ck_assert_int_eq(caching.reserved.bytes, 14 * MIB); /* that of the graph stays */
}
END_TEST

START_TEST(what_waits_for_a_stream_is_not_allocated_but_there)
{
    ARENA_MUST_NOT_JUMP();
    begin_usual();
    uint32_t block = take(14 * MIB);
    caching_ask_free(&caching, block);
    caching_ask_free(&caching, block);
    ck_assert_int_eq(caching.allocated.bytes, 0);
    ck_assert_int_eq(caching.requested.bytes, 14 * MIB);
    take(14 * MIB);
    ck_assert_int_eq(caching.reserved.bytes, 28 * MIB);
    caching_free(&caching, block);
    ck_assert_int_eq(caching.requested.bytes, 14 * MIB);
    take(14 * MIB);
    ck_assert_int_eq(caching.reserved.bytes, 28 * MIB);
}
END_TEST

START_TEST(whole_segments_go_back_before_a_request_fails)
{
    ARENA_MUST_NOT_JUMP();
    begin_usual();
    caching.device_bytes = 40 * MIB;
    uint32_t first = take(10 * MIB), second = take(20 * MIB);
    caching_free(&caching, first);
    ck_assert_uint_ne(take(20 * MIB), CACHING_NONE);
    ck_assert_int_eq(caching.reserved.bytes, 40 * MIB);
    ck_assert_int_eq(caching.changes[caching.change_count - 2].step, CACHING_SEGMENT_FREE);
    caching_free(&caching, second);
    ck_assert_uint_ne(take(2 * MIB), CACHING_NONE); /* now it is in part in use */
    ck_assert_uint_eq(take(20 * MIB), CACHING_NONE);
    ck_assert_int_eq(caching.reserved.bytes, 40 * MIB);
}
END_TEST

START_TEST(large_blocks_stay_whole_with_a_largest_split)
{
    ARENA_MUST_NOT_JUMP();
    begin(&(struct caching_settings){.max_split_bytes = 64 * MIB});
    caching_free(&caching, take(100 * MIB));
    ck_assert_int_eq(at(take(30 * MIB))->size_bytes, 30 * MIB); /* not of the 100 */
    ck_assert_int_eq(caching.reserved.bytes, 130 * MIB);
    ck_assert_int_eq(at(take(70 * MIB))->size_bytes, 70 * MIB); /* 30 larger are too many */
    uint32_t near = take(81 * MIB);
    ck_assert_int_eq(at(near)->size_bytes, 100 * MIB); /* it is not split */
    ck_assert_int_eq(caching.reserved.bytes, 200 * MIB);
    caching.device_bytes = 230 * MIB;
    caching_free(&caching, near);
    ck_assert_uint_ne(take(128 * MIB), CACHING_NONE); /* the 100 go back for it */
    ck_assert_int_eq(caching.reserved.bytes, 228 * MIB);
}
END_TEST

START_TEST(expandable_segments_grow_by_pages)
{
    ARENA_MUST_NOT_JUMP();
    begin(&(struct caching_settings){.is_expandable = true});
    uint32_t first = take(30 * MIB), tiny = take(512);
    ck_assert_int_eq(caching.reserved.bytes, 42 * MIB);
    ck_assert_int_eq(at(first)->size_bytes, 30 * MIB);
    uint32_t second = take(15 * MIB);
    ck_assert_uint_eq(at(second)->address, at(first)->address + 30 * MIB);
    ck_assert_int_eq(caching.reserved.bytes, 62 * MIB);
    caching_free(&caching, first);
    take(25 * MIB); /* of the hole, not of the end that could grow */
    ck_assert_int_eq(caching.reserved.bytes, 62 * MIB);
    ck_assert_int_eq(at(tiny)->size_bytes, 512);
}
END_TEST

START_TEST(free_pages_go_back_and_are_mapped_again)
{
    ARENA_MUST_NOT_JUMP();
    begin(&(struct caching_settings){.is_expandable = true});
    uint32_t first = take(70 * MIB), second = take(10 * MIB);
    uint64_t address = at(first)->address;
    caching_free(&caching, first);
    caching_release(&caching);
    ck_assert_int_eq(caching.reserved.bytes, 20 * MIB); /* the page that the second is in */
    uint32_t again = take(70 * MIB);
    ck_assert_uint_eq(at(again)->address, address);
    ck_assert_int_eq(caching.reserved.bytes, 80 * MIB);
    caching_free(&caching, again);
    caching_free(&caching, second);
    caching_release(&caching);
    ck_assert_int_eq(caching.reserved.bytes, 0);
}
END_TEST

START_TEST(old_segments_go_back_above_the_threshold)
{
    ARENA_MUST_NOT_JUMP();
    begin(&(struct caching_settings){.collect_threshold = 0.5, .fraction_bytes = 100 * MIB});
    caching_free(&caching, take(20 * MIB));
    for (int i = 0; i < 8; i++)
        caching_free(&caching, take(40 * MIB));
    ck_assert_int_eq(caching.reserved.bytes, 60 * MIB);
    take(42 * MIB); /* 60 are more than half of 100: the older one goes */
    ck_assert_int_eq(caching.reserved.bytes, 82 * MIB);
    ck_assert_uint_eq(take(60 * MIB), CACHING_NONE);
}
END_TEST

START_TEST(a_state_to_begin_with_is_taken_over)
{
    ARENA_MUST_NOT_JUMP();
    begin_usual();
    struct caching_loading loading = {.pool = large};
    const struct caching_block blocks[] = {{.address = 4096, .size_bytes = 4 * MIB, .is_mapped = true},
                                           {.address = 4096 + 4 * MIB,
                                            .size_bytes = 8 * MIB,
                                            .requested_bytes = 7 * MIB,
                                            .is_used = true,
                                            .is_mapped = true},
                                           {.address = 4096 + 12 * MIB, .size_bytes = 8 * MIB, .is_mapped = true}};
    uint32_t used = CACHING_NONE;
    for (int i = 0; i < 3; i++) {
        uint32_t block = caching_load(&caching, &loading, &blocks[i]);
        used = i == 1 ? block : used;
    }
    caching_load_end(&caching, &loading);
    ck_assert_int_eq(caching.reserved.bytes, 20 * MIB);
    ck_assert_int_eq(caching.requested.bytes, 7 * MIB);
    ck_assert_uint_eq(at(take(3 * MIB))->address, 4096);
    caching_free(&caching, used);
    ck_assert_int_eq(at(take(15 * MIB))->size_bytes, 16 * MIB);
    ck_assert(!caching_release_one(&caching, 4096, 20 * MIB));
}
END_TEST

/* ---- any requests ---- */

enum { BLOCKS = 64 };

static uint32_t random_next(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}

/* Walks all segments from a block on: their blocks lie side by side. */
static int64_t segment_check(uint32_t block)
{
    int64_t bytes = 0;
    bool is_whole = true; /* asked once: each assertion of check is a call of the system */
    while (at(block)->previous != CACHING_NONE)
        block = at(block)->previous;
    for (; block != CACHING_NONE; block = at(block)->next) {
        uint32_t next = at(block)->next;
        bytes += at(block)->is_mapped ? at(block)->size_bytes : 0;
        if (next == CACHING_NONE)
            break;
        is_whole &= at(next)->address == at(block)->address + (uint64_t)at(block)->size_bytes;
        is_whole &= at(next)->previous == block;
        is_whole &= at(block)->is_used || at(next)->is_used || at(block)->is_mapped != at(next)->is_mapped;
    }
    ck_assert(is_whole);
    return bytes;
}

START_TEST(any_requests_leave_whole_segments)
{
    static const int64_t sizes[] = {300, 4000, 700000, 3 * MIB, 9 * MIB, 14 * MIB, 70 * MIB};
    const struct caching_settings settings[] = {
        {.is_expandable = false},
        {.is_expandable = true},
        {.max_split_bytes = 32 * MIB},
        {.collect_threshold = 0.4, .fraction_bytes = 900 * MIB},
    };
    static uint32_t blocks[BLOCKS], seed;
    ARENA_MUST_NOT_JUMP();
    memset(blocks, 0, sizeof(blocks));
    seed = (uint32_t)_i;
    begin(&settings[_i % 4]);
    caching.device_bytes = 800 * MIB;
    for (int i = 0; i < 4000; i++) {
        uint32_t *block = &blocks[random_next(&seed) % BLOCKS];
        if (*block != CACHING_NONE)
            caching_free(&caching, *block);
        int64_t size = sizes[random_next(&seed) % 7];
        *block = *block != CACHING_NONE ? CACHING_NONE : take(size + random_next(&seed) % size);
        if (*block != CACHING_NONE)
            segment_check(*block);
        caching.change_count = 0;
        ck_assert_int_le(caching.reserved.bytes, 800 * MIB);
        ck_assert_int_ge(caching.reserved.bytes, caching.allocated.bytes);
    }
    for (int i = 0; i < BLOCKS; i++)
        if (blocks[i] != CACHING_NONE)
            caching_free(&caching, blocks[i]);
    ck_assert_int_eq(caching.requested.bytes, 0);
    ck_assert_int_eq(caching.allocated.bytes, 0);
    caching_release(&caching);
    ck_assert_int_eq(caching.reserved.bytes, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("caching");
    TCase *tests = tcase_create("caching");
    tcase_add_checked_fixture(tests, arena_begin, arena_end);
    tcase_add_test(tests, sizes_are_whole_blocks);
    tcase_add_test(tests, powers_of_two_are_divided);
    tcase_add_test(tests, small_requests_share_a_segment);
    tcase_add_test(tests, large_blocks_are_split_above_a_mib);
    tcase_add_test(tests, the_smallest_hole_is_taken_and_of_equals_the_lowest);
    tcase_add_test(tests, free_neighbours_become_one);
    tcase_add_test(tests, streams_and_private_pools_do_not_share);
    tcase_add_test(tests, what_waits_for_a_stream_is_not_allocated_but_there);
    tcase_add_test(tests, whole_segments_go_back_before_a_request_fails);
    tcase_add_test(tests, large_blocks_stay_whole_with_a_largest_split);
    tcase_add_test(tests, expandable_segments_grow_by_pages);
    tcase_add_test(tests, free_pages_go_back_and_are_mapped_again);
    tcase_add_test(tests, old_segments_go_back_above_the_threshold);
    tcase_add_test(tests, a_state_to_begin_with_is_taken_over);
    tcase_add_loop_test(tests, any_requests_leave_whole_segments, 0, 40);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
