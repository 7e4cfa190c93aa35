/* SPDX-License-Identifier: Apache-2.0
 * What the peak falls by without a buffer or a set of rows: against adding everything up again, on random programs with
 * shared memory, buffers that hold memory more than once, and failures of the replay; and what is said of it. */
#include "whatif/marginal.h"

#include "arena.h"
#include "base/sum.h"

enum { BUFFERS_MAX = 48, EVENTS_MAX = 400, ROWS_MAX = EVENTS_MAX + 8, PROGRAMS = 400 };

static uint32_t state;
static uint32_t dice(uint32_t sides)
{
    state = state * 1664525 + 1013904223;
    return (state >> 8) % sides;
}

static int64_t bytes_of[BUFFERS_MAX];
static struct plan_row rows[ROWS_MAX];
static struct plan_space space;

/* The rows of a space as plan_build.c makes them: what lives always, then a row a hold. */
static void space_make(const struct heap_event *events, uint32_t event_count, uint32_t buffer_count,
                       uint32_t indefinite_count)
{
    space = (struct plan_space){.name = "HBM", .unit = PLAN_UNIT_HEAP_TRACE, .step_count = event_count, .rows = rows};
    heap_replay(events, event_count, bytes_of, bytes_of, buffer_count, &arena, &space.heap);
    for (uint32_t i = 0; i < indefinite_count; i++) {
        rows[space.row_count++] = (struct plan_row){.buffer_at = i == 0 ? PLAN_NONE : BUFFERS_MAX + i,
                                                    .bytes = 10 + (int64_t)i,
                                                    .dies = event_count,
                                                    .is_indefinite = true};
        space.indefinite_bytes += 10 + (int64_t)i;
    }
    space.indefinite_row_count = indefinite_count;
    for (uint32_t i = 0; i < space.heap.hold_count; i++) {
        const struct heap_hold *hold = &space.heap.holds[i];
        rows[space.row_count++] = (struct plan_row){
            .buffer_at = hold->buffer_at, .bytes = bytes_of[hold->root_at], .born = hold->born, .dies = hold->dies};
    }
    space.has_peak_step = space.heap.has_peak;
    space.peak_step = space.heap.peak_at;
    space.peak_bytes = space.heap.peak_bytes + space.indefinite_bytes;
    space.total_bytes = space.peak_bytes;
}

static uint32_t valid_steps(void) { return space.heap.failure == HEAP_FINE ? space.step_count : space.heap.failure_at; }

/* Every step is added up again from what is left. */
static struct marginal_saving naive(const uint32_t *gone, const int64_t *bytes, uint32_t count)
{
    struct marginal_saving saving = {.next_peak_bytes = -1, .next_peak_step = PLAN_NONE};
    uint32_t steps = valid_steps() > 0 ? valid_steps() : 1;
    for (uint32_t step = 0; step < steps; step++) {
        int64_t live = 0;
        for (uint32_t i = 0; i < space.row_count; i++)
            live += plan_row_is_alive(&rows[i], step) ? rows[i].bytes : 0;
        for (uint32_t i = 0; i < count; i++)
            live -= !plan_row_is_alive(&rows[gone[i]], step) ? 0 : bytes != NULL ? bytes[i] : rows[gone[i]].bytes;
        if (live > saving.next_peak_bytes) {
            saving.next_peak_bytes = live;
            saving.next_peak_step = space.has_peak_step ? step : PLAN_NONE;
        }
    }
    saving.bytes = space.peak_bytes - saving.next_peak_bytes;
    return saving;
}

static void equal(struct marginal_saving ours, struct marginal_saving theirs)
{
    ck_assert_int_eq(ours.bytes, theirs.bytes);
    ck_assert_int_eq(ours.next_peak_bytes, theirs.next_peak_bytes);
    ck_assert_uint_eq(ours.next_peak_step, theirs.next_peak_step);
}

/* Buffers as a compiler writes them: the first half own memory, and others share some of it, also after it was given
 * back; sometimes a free too many ends the replay. */
static void random_space(void)
{
    static struct heap_event events[EVENTS_MAX];
    uint32_t owner_count = 1 + dice(BUFFERS_MAX / 2), event_count = dice(EVENTS_MAX), users[BUFFERS_MAX / 2] = {0};
    bool is_held[BUFFERS_MAX] = {false}, is_damaged = dice(20) == 0, is_flat = dice(4) == 0;
    for (uint32_t i = 0; i < BUFFERS_MAX; i++)
        bytes_of[i] = is_flat ? 8 : dice(dice(6) == 0 ? 4096 : 64);
    for (uint32_t i = 0; i < event_count; i++) {
        uint32_t buffer = dice(2 * owner_count), owner = buffer % owner_count;
        events[i] = (struct heap_event){HEAP_FREE, buffer, HEAP_NONE};
        if (is_held[buffer])
            users[owner]--;
        else if (buffer == owner && users[owner]++ == 0)
            events[i].kind = HEAP_ALLOC;
        else if (buffer != owner && ++users[owner] > 0)
            events[i] = (struct heap_event){HEAP_SHARE, buffer, owner};
        else
            events[i].buffer_at = is_damaged ? buffer : (--users[owner], HEAP_NONE);
        is_held[buffer] ^= events[i].buffer_at != HEAP_NONE;
    }
    space_make(events, event_count, BUFFERS_MAX, dice(4));
}

/* What goes with a row: all rows of its buffer. */
static uint32_t together_with(uint32_t at, uint32_t out[ROWS_MAX])
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < space.row_count; i++)
        if (i == at || (rows[i].buffer_at != PLAN_NONE && rows[i].buffer_at == rows[at].buffer_at))
            out[count++] = i;
    return count;
}

START_TEST(every_buffer_saves_what_adding_up_again_says)
{
    static uint32_t several, partial, failures;
    ARENA_MUST_NOT_JUMP();
    state = (uint32_t)_i;
    for (int program = 0; program < PROGRAMS / 8; program++) {
        struct marginal marginal;
        uint32_t gone[ROWS_MAX];
        random_space();
        marginal_build(&marginal, &space, &arena);
        failures += space.heap.failure != HEAP_FINE;
        for (uint32_t i = 0; i < space.row_count; i++) {
            uint32_t count = together_with(i, gone);
            const struct marginal_saving saving = marginal_of_row(&marginal, i);
            several += count > 1;
            partial += saving.bytes > 0 && saving.bytes < rows[i].bytes;
            equal(saving, naive(gone, NULL, count));
        }
    }
    ck_assert_uint_gt(several, 100);
    ck_assert_uint_gt(partial, 10);
    ck_assert_uint_gt(failures, 0);
}
END_TEST

START_TEST(sets_leave_the_curve_together)
{
    ARENA_MUST_NOT_JUMP();
    state = (uint32_t)_i + 100;
    for (int program = 0; program < PROGRAMS; program++) {
        struct marginal marginal;
        uint32_t gone[ROWS_MAX], count = 0, share = 1 + dice(5);
        int64_t bytes[ROWS_MAX];
        random_space();
        marginal_build(&marginal, &space, &arena);
        for (uint32_t i = space.row_count; i-- > 0;) /* in no order of birth */
            if (dice(share) == 0) {
                bytes[count] = rows[i].bytes / (1 + (int64_t)dice(3));
                gone[count++] = i;
            }
        equal(marginal_of_rows(&marginal, gone, NULL, count), naive(gone, NULL, count));
        equal(marginal_of_rows(&marginal, gone, bytes, count), naive(gone, bytes, count));
    }
}
END_TEST

START_TEST(the_highest_of_every_range_is_its_first)
{
    ARENA_MUST_NOT_JUMP();
    state = 7;
    for (int program = 0; program < 6; program++) {
        struct marginal marginal;
        random_space();
        marginal_build(&marginal, &space, &arena);
        for (uint32_t from = 0; from < valid_steps(); from++) {
            uint32_t best = from;
            for (uint32_t to = from + 1; to <= valid_steps(); to++) {
                best = space.heap.series[to] > space.heap.series[best + 1] ? to - 1 : best;
                ck_assert_uint_eq(marginal_highest(&marginal, from, to), best);
            }
        }
    }
}
END_TEST

/* sentences */

#define GIB (INT64_C(1) << 30)
#define ALLOC(buffer) {HEAP_ALLOC, buffer, HEAP_NONE}
#define FREE(buffer) {HEAP_FREE, buffer, HEAP_NONE}

/* 4 at step 1, 3.60 at step 4, and what lives always. */
static const struct heap_event two_peaks[] = {ALLOC(0), ALLOC(1), FREE(0), FREE(1), ALLOC(2), FREE(2)};
static struct marginal two_peaks_of(uint32_t indefinite_count)
{
    struct marginal marginal;
    bytes_of[0] = bytes_of[1] = 2 * GIB;
    bytes_of[2] = 18 * GIB / 5;
    space_make(two_peaks, sizeof(two_peaks) / sizeof(two_peaks[0]), 3, indefinite_count);
    marginal_build(&marginal, &space, &arena);
    return marginal;
}

static void says(struct marginal *marginal, struct str name, uint32_t row, const char *text)
{
    struct buf out = BUF_INIT;
    const struct marginal_saving saving = marginal_of_row(marginal, row);
    const struct marginal_subject subject = {name, false, rows[row].bytes,
                                             plan_row_is_alive(&rows[row], space.peak_step)};
    marginal_sentence(marginal, &subject, &saving, &out);
    ck_assert_uint_eq(out.length, strlen(text));
    ck_assert_msg(memcmp(out.data, text, out.length) == 0, "%.*s", (int)out.length, out.data);
    buf_free(&out);
}

START_TEST(a_sentence_says_where_the_next_peak_stands)
{
    ARENA_MUST_NOT_JUMP();
    struct marginal marginal = two_peaks_of(1);
    rows[0].bytes = space.indefinite_bytes = GIB;
    space.peak_bytes = 5 * GIB;
    says(&marginal, STR("params"), 0,
         "Cutting params alone saves all of its 1.00 GiB: the peak is then 4.00 GiB, still at step 1.");
    marginal = two_peaks_of(0);
    says(&marginal, STR("fusion.31"), 0,
         "Cutting fusion.31 alone saves 0.40 of its 2.00 GiB: another peak is at step 4.");
    says(&marginal, STR("a\x1b[2Jb"), 2, "Cutting a\\u001b[2Jb saves nothing: it is not live at the peak, step 1.");
    space.unit = PLAN_UNIT_SCHEDULE;
    bytes_of[2] = 4 * GIB;
    space_make(two_peaks, 6, 3, 0);
    marginal_build(&marginal, &space, &arena);
    says(&marginal, STR("x"), 0,
         "Cutting x alone saves nothing of its 2.00 GiB: another peak of the same height is at step 4.");
}
END_TEST

START_TEST(a_set_is_said_together)
{
    ARENA_MUST_NOT_JUMP();
    struct marginal marginal = two_peaks_of(0);
    const uint32_t both[] = {0, 1};
    const struct marginal_saving saving = marginal_of_rows(&marginal, both, NULL, 2);
    const struct marginal_subject subject = {STR("the group"), true, 4 * GIB, true};
    struct buf out = BUF_INIT;
    marginal_sentence(&marginal, &subject, &saving, &out);
    buf_char(&out, '\0');
    ck_assert_str_eq(out.data, "Cutting the group saves 0.40 of its 4.00 GiB at the peak: another peak is at step 4.");
    marginal_formula(&marginal, &saving, &out);
    buf_char(&out, '\0');
    ck_assert_str_eq(out.data, "peak 4.00 GiB − 3.60 GiB, the most that is live without it, at step 4, = 409.60 MiB");
    marginal_reason(&marginal, &saving, &out);
    buf_char(&out, '\0');
    ck_assert_str_eq(out.data,
                     "Exact for the live bytes of this program, if everything else stays as it is. The total, "
                     "with fragmentation, is then at least 3.60 GiB; how the compiler would pack the rest is "
                     "not known.");
    buf_free(&out);
}
END_TEST

START_TEST(a_space_without_steps_loses_what_lives_always)
{
    ARENA_MUST_NOT_JUMP();
    struct marginal marginal;
    space_make(NULL, 0, 0, 3);
    marginal_build(&marginal, &space, &arena);
    const struct marginal_saving saving = marginal_of_row(&marginal, 2);
    ck_assert_int_eq(saving.bytes, 12);
    ck_assert_int_eq(saving.next_peak_bytes, 21);
    ck_assert_uint_eq(saving.next_peak_step, PLAN_NONE);
    says(&marginal, STR("w"), 1, "Cutting w alone saves all of its 11 B: the peak is then 22 B.");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("marginal");
    TCase *tests = tcase_create("marginal");
    tcase_add_checked_fixture(tests, arena_begin, arena_end);
    tcase_add_loop_test(tests, every_buffer_saves_what_adding_up_again_says, 0, 8);
    tcase_add_loop_test(tests, sets_leave_the_curve_together, 0, 2);
    tcase_add_test(tests, the_highest_of_every_range_is_its_first);
    tcase_add_test(tests, a_sentence_says_where_the_next_peak_stands);
    tcase_add_test(tests, a_set_is_said_together);
    tcase_add_test(tests, a_space_without_steps_loses_what_lives_always);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
