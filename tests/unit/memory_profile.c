/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/analysis.h"
#include "model/memory_profile/live.h"
#include "model/memory_profile/model.h"
#include "model/memory_profile/notes.h"

#include "arena.h"
#include "subject.h"

static struct memory_profile profile;
static struct bytes bytes;

static void load(const char *path)
{
    static struct memory_events events;
    bytes_load(&bytes, path);
    ARENA_MUST_NOT_JUMP();
    ck_assert(memory_events_read(&bytes.source, NULL, &arena, &events, &err));
    memory_profile_model_build(&profile, &events, NULL, &arena);
}

static const struct memory_profile_pool *pool_of(const char *name)
{
    for (uint32_t i = 0; i < profile.pool_count; i++)
        if (str_equal(profile.pools[i].name, str_of(name)))
            return &profile.pools[i];
    ck_abort_msg("no pool %s", name);
}

static uint64_t note_count(const struct memory_profile_notes *notes, const char *code)
{
    for (size_t i = 0; i < notes->count; i++)
        if (strcmp(notes->items[i].code, code) == 0)
            return notes->items[i].count;
    return 0;
}

/* At each moment the rows and the remainders are what is in use. */
static void sums_balance(const struct memory_profile_pool *pool, bool is_whole)
{
    for (uint32_t count = 0; count <= pool->count; count++) {
        struct memory_profile_live live = {.pool = pool, .count = count};
        memory_profile_live_make(&live, &arena);
        int64_t heap = count > 0 ? profile.heap_bytes[pool->first + count - 1] : pool->base_bytes;
        ck_assert_int_eq(live.rows_bytes + live.before_freed_bytes + live.before_bytes + live.unaccounted_bytes, heap);
        if (is_whole)
            ck_assert_int_eq(live.unaccounted_bytes, 0);
    }
}

START_TEST(steps_come_from_roots_nesting_and_producers)
{
    load("build/fixtures/trace-steps.pb");
    const struct memory_profile_pool *pool = pool_of("GPU_0_bfc");
    static const int32_t steps[] = {0, 0, 0, 1, 1, 1, 2, 2, 2, -1};
    ck_assert_uint_eq(pool->count, 10);
    for (uint32_t i = 0; i < 10; i++)
        ck_assert_int_eq(profile.step[pool->first + i], steps[i]);
    ck_assert_uint_eq(profile.step_count, 3);
    ck_assert_int_eq(profile.steps[1].step_number, 11);
    ck_assert_int_eq(profile.steps[1].begin_ps, 12000);
    ck_assert_int_eq(profile.steps[1].end_ps, 20000);
    ck_assert(str_equal(profile.step_names[2], STR("train")));
    ck_assert_uint_eq(pool->break_count, 0);
    ck_assert_uint_eq(pool->pairs.before_window, 1);
    ck_assert_uint_eq(pool->pairs.never_freed, 3);
    ck_assert_int_eq(pool->base_bytes, 4096);
    ck_assert_int_eq(memory_profile_in_use_bytes(&profile, pool->peak_at), 4096 + 2 * 256 + 1024 + 256);
    sums_balance(pool, true);
}
END_TEST

START_TEST(launches_of_modules_are_read)
{
    load("build/fixtures/trace-steps.pb");
    ck_assert_uint_eq(profile.events.launches.items.count, 3);
    const struct module_launch *launch = chunks_at(&profile.events.launches.items, 1);
    ck_assert_int_eq(launch->begin_ps, 12000);
    ck_assert_int_eq(launch->end_ps, 15000);
    ck_assert_int_eq(launch->offset_ps, 11000);
    ck_assert(str_equal(profile.events.launches.names.items[launch->name_at], STR("jit_step(77)")));
    ck_assert(profile.events.capture.start_ns == UINT64_C(1700000000000000000));
}
END_TEST

struct launch_told {
    const char *name;
    int64_t begin_ps, end_ps;
};

static void launches_are(const struct launch_told *launches, uint32_t count)
{
    ck_assert_uint_eq(profile.events.launches.items.count, count);
    ck_assert_uint_eq(note_count(&profile.notes, "inferred_launch"), count);
    ck_assert_uint_eq(note_count(&profile.notes, "no_module_launches"), 0);
    for (uint32_t i = 0; i < count; i++) {
        const struct module_launch *launch = chunks_at(&profile.events.launches.items, i);
        ck_assert(str_equal(profile.events.launches.names.items[launch->name_at], str_of(launches[i].name)));
        ck_assert_int_eq(launch->begin_ps, launches[i].begin_ps);
        ck_assert_int_eq(launch->end_ps, launches[i].end_ps);
        ck_assert(launch->is_inferred);
    }
}

START_TEST(launches_on_gpus_are_told_from_kernels)
{
    static const struct launch_told launches[] = {{"jit_step(7)", 1100, 1160},
                                                  {"jit_step(7)", 1200, 1230},
                                                  {"jit_step(7)", 1400, 1410},
                                                  {"jit_eval(18446744073709551615)", 1300, 1310},
                                                  {"jit_other", 1500, 1530}};
    load("build/fixtures/trace-gpu.pb");
    launches_are(launches, 5);
    ck_assert_uint_eq(profile.events.launches.names.map.count, 3);
}
END_TEST

/* Three runs of one op in a row are three launches, two kernels of one run are one, and so is a loop in a run. */
START_TEST(launches_on_gpus_are_told_from_the_calls_of_the_host)
{
    static const struct launch_told launches[] = {{"jit_dot(5)", 2000, 2010},  {"jit_dot(5)", 2100, 2110},
                                                  {"jit_dot(5)", 2200, 2210},  {"jit_sort(6)", 2300, 2410},
                                                  {"jit_loop(7)", 2500, 2710}, {"jit_pair(8)", 2800, 2910},
                                                  {"jit_lost(9)", 3000, 3150}, {"jit_graph(10)", 3200, 3310}};
    load("build/fixtures/trace-gpu-calls.pb");
    launches_are(launches, 8);
    ck_assert_uint_eq(note_count(&profile.notes, "unclear_launch"), 2); /* jit_pair and jit_lost */
}
END_TEST

/* 200 planes with two names each: every name is there once. */
START_TEST(names_of_launches_are_kept_once)
{
    struct module_launches launches;
    ARENA_MUST_NOT_JUMP();
    module_launches_init(&launches, &arena);
    for (uint32_t i = 0; i < 200; i++) {
        module_launches_plane(&launches, &arena, str_of(i % 2 ? "/device:GPU:1" : "/device:GPU:0"));
        ck_assert_uint_eq(intern_number(&launches.names, STR("jit_step(7)")), 0);
        ck_assert_uint_eq(intern_number(&launches.names, STR("jit_eval(8)")), 1);
    }
    ck_assert_uint_eq(launches.plane_count, 200);
    ck_assert_uint_eq(launches.names.map.count, 2);
    ck_assert(str_equal(launches.planes[199], STR("/device:GPU:1")));
    ck_assert(str_equal(launches.names.items[1], STR("jit_eval(8)")));
}
END_TEST

START_TEST(loops_in_any_plane_keep_steps_from_being_numbered)
{
    load("build/fixtures/trace-device-loop.pb");
    ck_assert_uint_eq(profile.count, 3);
    ck_assert_uint_eq(profile.step_count, 0);
    for (uint32_t i = 0; i < profile.count; i++)
        ck_assert_int_eq(profile.step[i], -1);
}
END_TEST

START_TEST(roots_hold_before_numbers_of_the_file)
{
    static const int32_t steps[] = {0, 1, 9};
    load("build/fixtures/trace-mixed-steps.pb");
    ck_assert_uint_eq(profile.count, 3);
    for (uint32_t i = 0; i < profile.count; i++)
        ck_assert_int_eq(profile.step[i], steps[i]);
}
END_TEST

/* The same figures, told once by stats and once by names. */
START_TEST(figures_that_stand_in_names_are_read)
{
    load("build/fixtures/trace-encoded.pb");
    const struct memory_profile_pool *pool = pool_of("GPU_0_bfc");
    ck_assert_uint_eq(profile.pool_count, 2);
    ck_assert_uint_eq(pool->count, 4);
    ck_assert_uint_eq(note_count(&profile.notes, "encoded_event"), 5);
    ck_assert_uint_eq(note_count(&profile.notes, "unparsed_event"), 1);
    ck_assert_uint_eq(pool->break_count, 0);
    ck_assert_int_eq(pool->base_bytes, 1024);
    ck_assert_int_eq(memory_profile_in_use_bytes(&profile, pool->peak_at), 1024 + 256 + 512);
    ck_assert_int_eq(pool->capacity_bytes, 4096);
    uint32_t first = pool->first;
    ck_assert_int_eq(profile.requested_bytes[first], 250);
    ck_assert(profile.address[first] == UINT64_C(18446744073709551360));
    ck_assert(memory_profile_fragmentation_of(&profile, first) > 0.2499 &&
              memory_profile_fragmentation_of(&profile, first) < 0.2501);
    const struct memory_what *what = &profile.events.whats[profile.what[first]];
    ck_assert(str_equal(memory_profile_text(&profile, what->op), STR("a(b,c='x,y')")));
    ck_assert(str_equal(memory_profile_text(&profile, what->shape), STR("[2,16]")));
    ck_assert_int_eq(what->data_type, 1);
    ck_assert_uint_eq(what->region, MEMORY_NO_TEXT);
    ck_assert_uint_eq(profile.partner[first], first + 2);
    static const int32_t steps[] = {0, 0, 1, 1};
    for (uint32_t i = 0; i < 4; i++)
        ck_assert_int_eq(profile.step[first + i], steps[i]);
    ck_assert_int_eq(profile.steps[1].step_number, 8);
    ck_assert(str_equal(profile.step_names[0], STR("train")));
    sums_balance(pool, true);
}
END_TEST

START_TEST(a_full_recorder_is_named)
{
    static struct memory_events events;
    bytes_load(&bytes, "build/fixtures/trace-given-steps.pb");
    ARENA_MUST_NOT_JUMP();
    ck_assert(memory_events_read(&bytes.source, NULL, &arena, &events, &err));
    struct trace_line line = events.lines[0];
    ck_assert_uint_eq(events.line_count, 1);
    line.event_count = 1000000;
    events.lines = &line;
    memory_profile_model_build(&profile, &events, NULL, &arena);
    ck_assert_uint_eq(note_count(&profile.notes, "event_limit"), 1);
}
END_TEST

START_TEST(a_gpu_without_launches_says_so)
{
    load("build/fixtures/trace-given-steps.pb");
    ck_assert_uint_eq(note_count(&profile.notes, "no_module_launches"), 1);
    bytes_close(&bytes);
    load("build/fixtures/trace-steps.pb");
    ck_assert_uint_eq(note_count(&profile.notes, "no_module_launches"), 0);
}
END_TEST

START_TEST(frees_of_tpus_get_their_size_and_their_true_time)
{
    load("build/fixtures/trace-tpu.pb");
    ck_assert_uint_eq(profile.pool_count, 2);
    const struct memory_profile_pool *pool = pool_of("1");
    ck_assert_int_eq((int)pool->kind, PROFILE_DEVICE);
    ck_assert_uint_eq(pool->count, 3);
    ck_assert(!memory_profile_is_free(&profile, pool->first));
    ck_assert(memory_profile_is_free(&profile, pool->first + 2));
    ck_assert_int_eq(profile.time_ps[pool->first + 2], 5002);
    ck_assert_int_eq(profile.size_bytes[pool->first + 2], 2048);
    ck_assert_uint_eq(profile.partner[pool->first], pool->first + 2);
    ck_assert_uint_eq(pool->break_count, 0);
    ck_assert_uint_eq(note_count(&profile.notes, "line_bases_differ"), 1);
    ck_assert_uint_eq(note_count(&pool->notes, "size_inferred"), 1);
    sums_balance(pool, true);
}
END_TEST

START_TEST(faults_are_counted_and_named)
{
    load("build/fixtures/trace-faults.pb");
    const struct memory_profile_pool *pool = pool_of("GPU_0_bfc");
    ck_assert_uint_gt(note_count(&profile.notes, "out_of_order"), 0);
    ck_assert_uint_eq(note_count(&profile.notes, "aggregated_event"), 1);
    ck_assert_uint_gt(note_count(&profile.notes, "missing_stat"), 2);
    ck_assert_uint_gt(note_count(&profile.notes, "absurd_size"), 2);
    ck_assert_uint_eq(note_count(&pool->notes, "allocated_twice"), 1);
    ck_assert_uint_eq(note_count(&pool->notes, "free_without_allocation"), 1);
    ck_assert_uint_gt(note_count(&pool->notes, "chain_break"), 0);
    for (uint32_t i = 0; i < profile.pool_count; i++)
        sums_balance(&profile.pools[i], false);
    pool_of("-3");
}
END_TEST

START_TEST(iterations_of_a_loop_are_steps)
{
    load("build/fixtures/trace-iterations.pb");
    const struct memory_profile_pool *pool = pool_of("GPU_0_bfc");
    static const int32_t steps[] = {0, 0, 1, 1, 2, 2};
    ck_assert_uint_eq(pool->count, 6);
    for (uint32_t i = 0; i < 6; i++)
        ck_assert_int_eq(profile.step[pool->first + i], steps[i]);
}
END_TEST

START_TEST(a_root_inside_a_root_of_its_level_is_none)
{
    load("build/fixtures/trace-roots.pb");
    const struct memory_profile_pool *pool = pool_of("GPU_0_bfc");
    /* the highest level comes first; the old root has the lowest; the last event is in none */
    static const int32_t steps[] = {1, 0, 0, -1};
    for (uint32_t i = 0; i < 4; i++)
        ck_assert_int_eq(profile.step[pool->first + i], steps[i]);
    ck_assert_uint_eq(profile.step_count, 2);
}
END_TEST

START_TEST(numbers_of_the_file_hold)
{
    load("build/fixtures/trace-given-steps.pb");
    const struct memory_profile_pool *pool = pool_of("GPU_0_bfc");
    static const int32_t steps[] = {4, 6, -1, 6};
    for (uint32_t i = 0; i < 4; i++)
        ck_assert_int_eq(profile.step[pool->first + i], steps[i]);
    ck_assert_uint_eq(profile.step_count, 2);
    ck_assert_int_eq(profile.steps[1].begin_ps, 1200);
    ck_assert_int_eq(profile.steps[1].end_ps, 1400);
}
END_TEST

static const char *const traces[] = {"build/fixtures/trace-steps.pb",   "build/fixtures/trace-tpu.pb",
                                     "build/fixtures/trace-faults.pb",  "build/fixtures/trace-roots.pb",
                                     "build/fixtures/trace-encoded.pb", "build/fixtures/trace-gpu.pb"};

START_TEST(any_cut_and_any_limit_give_a_trace_or_a_reason)
{
    struct bytes whole;
    bytes_load(&whole, traces[_i]);
    uint64_t step = 1 << 16;
    for (size_t length = 0; length <= whole.length; length += 7) {
        struct err cut_err = ERR_INIT;
        bytes_open(&bytes, whole.data, length);
        struct analysis_subject *trace = subject_trace(&bytes.source, NULL, 0, &cut_err);
        ck_assert_int_eq(trace == NULL, err_is_set(&cut_err));
        analysis_subject_free(trace);
        free(bytes.data);
    }
    bool was_read = false;
    for (uint64_t limit = step; limit < (UINT64_C(64) << 20); limit += limit / 8) {
        struct err limit_err = ERR_INIT;
        struct analysis_subject *trace = subject_trace(&whole.source, NULL, limit, &limit_err);
        ck_assert(trace != NULL || limit_err.code == ERR_memory);
        ck_assert(!was_read || trace != NULL);
        was_read = trace != NULL;
        analysis_subject_free(trace);
    }
    ck_assert(was_read);
    bytes_close(&whole);
}
END_TEST

static uint32_t random_state;
static uint32_t next_random(void)
{
    random_state = random_state * 1664525u + 1013904223u;
    return random_state >> 8;
}

/* Against ten plain lines, on random addresses. */
START_TEST(pairs_are_those_of_a_plain_search)
{
    enum { COUNT = 3000 };
    static uint64_t address[COUNT];
    static uint8_t flags[COUNT];
    static uint32_t partner[COUNT], expected[COUNT];
    struct pairs_counts counts;
    random_state = (uint32_t)_i + 1;
    for (uint32_t i = 0; i < COUNT; i++) {
        address[i] = (uint64_t)(next_random() % (50 + 40 * (uint32_t)_i)) * 256;
        flags[i] = (uint8_t)(next_random() % 2 | (next_random() % 50 > 0 ? 2 : 0));
        expected[i] = PAIRS_NONE;
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        if ((flags[i] & 2) == 0)
            continue;
        for (uint32_t j = i; j-- > 0;) {
            if ((flags[j] & 2) == 0 || address[j] != address[i])
                continue;
            if ((flags[j] & 1) == 0) {
                expected[j] = i;
                if (flags[i] & 1)
                    expected[i] = j;
            }
            break;
        }
    }
    ARENA_MUST_NOT_JUMP();
    pairs_make(&(struct pairs){partner, address, flags, 1, 2, 0, COUNT}, &arena, &counts);
    for (uint32_t i = 0; i < COUNT; i++)
        ck_assert_uint_eq(partner[i], expected[i]);
}
END_TEST

/* Addresses that never come again must not pile up in the table of those that are open. */
START_TEST(pairing_needs_room_for_what_is_open_alone)
{
    enum { COUNT = 400000 };
    static uint64_t address[COUNT];
    static uint8_t flags[COUNT];
    static uint32_t partner[COUNT];
    struct pairs_counts counts;
    for (uint32_t i = 0; i < COUNT; i++) {
        address[i] = i / 2;
        flags[i] = (uint8_t)(2 | (i & 1));
    }
    ARENA_MUST_NOT_JUMP();
    pairs_make(&(struct pairs){partner, address, flags, 1, 2, 0, COUNT}, &arena, &counts);
    ck_assert_uint_eq(counts.max_open, 1);
    ck_assert_uint_eq(partner[COUNT - 2], COUNT - 1);
    ck_assert_uint_le(arena.used_bytes, 64 << 10);
}
END_TEST

/* Sizes whose sum leaves 63 bits: the rest count as not told, and all sums still balance. */
START_TEST(sizes_that_together_are_absurd_are_not_told)
{
    enum { COUNT = 40000 };
    static const char names[] = "\x12\x09/host:CPU"
                                "\x22\x16\x08\x01\x12\x12\x12\x10MemoryAllocation"
                                "\x2a\x16\x08\x01\x12\x12\x12\x10"
                                "allocation_bytes";
    static const char event[] = "\x22\x0e\x08\x01\x22\x0a\x08\x01\x20\x80\x80\x80\x80\x80\x80\x40"; /* 2^48 */
    static uint8_t file[COUNT * (sizeof(event) - 1) + 256];
    struct memory_events events;
    size_t line = COUNT * (sizeof(event) - 1), plane = line + 5 + sizeof(names) - 1, at = 0;
    const size_t lengths[] = {plane, line};
    for (int i = 0; i < 2; i++) {
        file[at++] = i == 0 ? 0x0a : 0x1a;
        for (int byte = 0; byte < 4; byte++)
            file[at++] = (uint8_t)(lengths[i] >> (7 * byte) | (byte < 3 ? 0x80 : 0));
        if (i == 0) {
            memcpy(file + at, names, sizeof(names) - 1);
            at += sizeof(names) - 1;
        }
    }
    for (int i = 0; i < COUNT; i++, at += sizeof(event) - 1)
        memcpy(file + at, event, sizeof(event) - 1);
    bytes_open(&bytes, file, at);
    ARENA_MUST_NOT_JUMP();
    ck_assert(memory_events_read(&bytes.source, NULL, &arena, &events, &err));
    memory_profile_model_build(&profile, &events, NULL, &arena);
    ck_assert_uint_eq(profile.count, COUNT);
    ck_assert_uint_eq(note_count(&profile.notes, "absurd_size"), COUNT - 2048);
    struct memory_profile_live live = {.pool = &profile.pools[0], .count = COUNT};
    memory_profile_live_make(&live, &arena);
    ck_assert_int_eq(live.rows_bytes, INT64_C(1) << 59);
    ck_assert_int_eq(live.rows_bytes + live.unaccounted_bytes, profile.heap_bytes[COUNT - 1]);
}
END_TEST

static int64_t value_at(const void *curve, uint32_t step) { return ((const int64_t *)curve)[step]; }

START_TEST(extremes_are_those_of_a_plain_walk)
{
    enum { COUNT = 5000 };
    static int64_t curve[COUNT];
    struct extremes extremes;
    random_state = 7;
    for (uint32_t i = 0; i < COUNT; i++)
        curve[i] = next_random() % 100;
    ARENA_MUST_NOT_JUMP();
    extremes_build(&extremes, value_at, curve, COUNT, NULL, &arena);
    for (int round = 0; round < 2000; round++) {
        uint32_t from = next_random() % COUNT, to = from + 1 + next_random() % (COUNT - from), min, max, a = from,
                 b = from;
        extremes_of(&extremes, from, to, &min, &max);
        for (uint32_t i = from; i < to; i++) {
            a = curve[i] < curve[a] ? i : a;
            b = curve[i] > curve[b] ? i : b;
        }
        ck_assert_uint_eq(min, a);
        ck_assert_uint_eq(max, b);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("memory_profile");
    TCase *tests = tcase_create("memory_profile");
    tcase_add_checked_fixture(tests, arena_begin, arena_end);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, steps_come_from_roots_nesting_and_producers);
    tcase_add_test(tests, launches_of_modules_are_read);
    tcase_add_test(tests, launches_on_gpus_are_told_from_kernels);
    tcase_add_test(tests, launches_on_gpus_are_told_from_the_calls_of_the_host);
    tcase_add_test(tests, names_of_launches_are_kept_once);
    tcase_add_test(tests, loops_in_any_plane_keep_steps_from_being_numbered);
    tcase_add_test(tests, roots_hold_before_numbers_of_the_file);
    tcase_add_test(tests, figures_that_stand_in_names_are_read);
    tcase_add_test(tests, a_full_recorder_is_named);
    tcase_add_test(tests, a_gpu_without_launches_says_so);
    tcase_add_test(tests, frees_of_tpus_get_their_size_and_their_true_time);
    tcase_add_test(tests, faults_are_counted_and_named);
    tcase_add_test(tests, iterations_of_a_loop_are_steps);
    tcase_add_test(tests, a_root_inside_a_root_of_its_level_is_none);
    tcase_add_test(tests, numbers_of_the_file_hold);
    tcase_add_loop_test(tests, any_cut_and_any_limit_give_a_trace_or_a_reason, 0, sizeof(traces) / sizeof(traces[0]));
    tcase_add_loop_test(tests, pairs_are_those_of_a_plain_search, 0, 4);
    tcase_add_test(tests, pairing_needs_room_for_what_is_open_alone);
    tcase_add_test(tests, sizes_that_together_are_absurd_are_not_told);
    tcase_add_test(tests, extremes_are_those_of_a_plain_walk);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
