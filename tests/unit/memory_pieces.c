/* SPDX-License-Identifier: Apache-2.0 */
#include "read/trace/memory_pieces.h"
#include "analysis/analysis.h"
#include "read/trace/memory_events.h"

#include "arena.h"
#include "subject.h"

static struct bytes bytes;

/* One after the other, the last first: any order must do. */
static void run_backwards(void *context, size_t count, workers_work *work, void *task)
{
    (void)context;
    for (size_t at = count; at > 0; at--)
        work(task, at - 1);
}

static struct workers workers_of(size_t count, uint64_t min_bytes)
{
    return (struct workers){.run = run_backwards, .count = count, .min_bytes = min_bytes};
}

static char *answer_of(const struct workers *workers, const char *view)
{
    struct buf buf = BUF_INIT;
    struct analysis_subject *trace = subject_trace(&bytes.source, workers, 0, &err);
    ck_assert_ptr_nonnull(trace);
    ck_assert_msg(subject_answer(trace, "memory_profile", view, NULL, 0, &buf, &err), "%s", err.text);
    buf_char(&buf, '\0');
    analysis_subject_free(trace);
    return buf.data;
}

static void is_the_same(const struct workers *workers, const char *path)
{
    static const char *const views[] = {"xprof", "summary", "timeline", "lanes", "live", "events", "growth"};
    for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
        char *whole = answer_of(NULL, views[i]), *pieces = answer_of(workers, views[i]);
        ck_assert_msg(strcmp(whole, pieces) == 0, "%s of %s in %zu pieces:\n%.1500s\n%.1500s", views[i], path,
                      workers->count, whole, pieces);
        free(whole);
        free(pieces);
    }
}

static size_t piece_count(const struct workers *workers)
{
    static struct memory_events events;
    ARENA_MUST_NOT_JUMP();
    ck_assert(memory_events_read(&bytes.source, workers, &arena, &events, &err));
    return events.piece_count;
}

/* Steps, launches, figures in names, faults: whatever is carried from one event to another crosses a cut somewhere. */
START_TEST(a_trace_in_pieces_is_the_same)
{
    static const char *const names[] = {"steps",      "faults", "mixed-steps", "device-loop", "tpu",
                                        "iterations", "roots",  "given-steps", "encoded",     "open-step"};
    size_t max = 0;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char path[64];
        snprintf(path, sizeof(path), "build/fixtures/trace-%s.pb", names[i]);
        bytes_load(&bytes, path);
        for (size_t count = 2; count < 9; count++) {
            const struct workers workers = workers_of(count, 1);
            is_the_same(&workers, path);
            size_t pieces = piece_count(&workers);
            max = pieces > max ? pieces : max;
        }
        bytes_close(&bytes);
    }
    ck_assert_uint_ge(max, 4); /* they were cut */
}
END_TEST

/* ---- a line made by hand ---- */

struct text {
    char bytes[8192];
    size_t length;
};

static void add_number(struct text *text, unsigned tag, uint64_t value)
{
    text->bytes[text->length++] = (char)tag;
    for (; value >= 0x80; value >>= 7)
        text->bytes[text->length++] = (char)(value | 0x80);
    text->bytes[text->length++] = (char)value;
}

static void add_bytes(struct text *text, unsigned tag, const char *data, size_t size)
{
    add_number(text, tag, size);
    memcpy(text->bytes + text->length, data, size);
    text->length += size;
}

static void add(struct text *text, unsigned tag, const struct text *part)
{
    add_bytes(text, tag, part->bytes, part->length);
}

/* XEvent 1 "MemoryAllocation" at `offset_ps`, with stats 1 (bytes_allocated) and, if there are any, 2 (tf_op) and 9
 * (allocator_name). */
static void add_event_of(struct text *line, uint64_t offset_ps, uint64_t bytes_allocated, const struct text *op,
                         const struct text *allocator)
{
    struct text event = {.length = 0}, in_use = {.length = 0}, name = {.length = 0};
    add_number(&event, 0x08, 1);
    add_number(&event, 0x10, offset_ps);
    add_number(&in_use, 0x08, 1);
    add_number(&in_use, 0x20, bytes_allocated);
    add(&event, 0x22, &in_use);
    if (op != NULL) {
        add_number(&name, 0x08, 2);
        add(&name, 0x2a, op);
        add(&event, 0x22, &name);
    }
    if (allocator != NULL) {
        name.length = 0;
        add_number(&name, 0x08, 9);
        add(&name, 0x2a, allocator);
        add(&event, 0x22, &name);
    }
    add(line, 0x22, &event);
}

static void add_event(struct text *line, uint64_t offset_ps, uint64_t bytes_allocated, const struct text *op)
{
    add_event_of(line, offset_ps, bytes_allocated, op, NULL);
}

/* XPlane.event_metadata (0x22) or stat_metadata (0x2a): id and name. */
static void add_name(struct text *plane, unsigned tag, uint64_t id, const char *name)
{
    struct text entry = {.length = 0}, metadata = {.length = 0};
    add_number(&metadata, 0x08, id);
    add_bytes(&metadata, 0x12, name, strlen(name));
    add_number(&entry, 0x08, id);
    add(&entry, 0x12, &metadata);
    add(plane, tag, &entry);
}

static void open_trace(const struct text *line)
{
    static struct text plane, space;
    plane.length = space.length = 0;
    add_bytes(&plane, 0x12, "/host:CPU", 9);
    add(&plane, 0x1a, line);
    add_name(&plane, 0x22, 1, "MemoryAllocation");
    add_name(&plane, 0x2a, 1, "bytes_allocated");
    add_name(&plane, 0x2a, 2, "tf_op");
    add_name(&plane, 0x22, 2, "op");
    add_name(&plane, 0x2a, 3, "_r");
    add_name(&plane, 0x2a, 4, "_pt");
    add_name(&plane, 0x2a, 5, "_p");
    add_name(&plane, 0x2a, 6, "_ct");
    add_name(&plane, 0x2a, 7, "_c");
    add_name(&plane, 0x2a, 8, "_a");
    add_name(&plane, 0x2a, 9, "allocator_name");
    add(&space, 0x0a, &plane);
    bytes_open(&bytes, space.bytes, space.length);
}

START_TEST(one_line_is_cut_between_events)
{
    static struct text line;
    line.length = 0;
    for (uint64_t i = 0; i < 60; i++)
        add_event(&line, i * 1000, i + 1, NULL);
    open_trace(&line);
    for (size_t count = 2; count < 9; count++) {
        const struct workers workers = workers_of(count, 1);
        ck_assert_uint_eq(piece_count(&workers), count);
        is_the_same(&workers, "a line");
    }
    const struct workers few = workers_of(8, bytes.length), none = workers_of(1, 1);
    ck_assert_uint_eq(piece_count(&few), 1); /* too little for two */
    ck_assert_uint_eq(piece_count(&none), 1);
    bytes.source.read_apart = NULL; /* as a gzip stream is */
    const struct workers two = workers_of(2, 1);
    ck_assert_uint_eq(piece_count(&two), 1);
    bytes_close(&bytes);
}
END_TEST

/* XEvent 2 "op" from `offset_ps` on, with stats of whole numbers: ids and values, ended by 0. */
static void add_op(struct text *line, uint64_t offset_ps, uint64_t duration_ps, const unsigned stats[][2])
{
    struct text event = {.length = 0};
    add_number(&event, 0x08, 2);
    add_number(&event, 0x10, offset_ps);
    add_number(&event, 0x18, duration_ps);
    for (; (*stats)[0] != 0; stats++) {
        struct text stat = {.length = 0};
        add_number(&stat, 0x08, (*stats)[0]);
        add_number(&stat, 0x20, (*stats)[1]);
        add(&event, 0x22, &stat);
    }
    add(line, 0x22, &event);
}

/* A step hands its number on to consumers, unless there are 64 of them or more: a consumer that nothing hung on is
 * not counted if it was the last when it closed. Here one closes behind another, which is open nowhere. */
START_TEST(consumers_are_forgotten_as_in_one_go)
{
    static const unsigned root[][2] = {{3, 1}, {0, 0}}, producer[][2] = {{4, 9}, {5, 9}, {0, 0}},
                          consumer[][2] = {{6, 9}, {7, 9}, {0, 0}},
                          asynchronous[][2] = {{6, 9}, {7, 9}, {8, 1}, {0, 0}};
    static struct text line;
    for (uint64_t used_count = 61; used_count < 64; used_count++) {
        uint64_t at = 1000;
        line.length = 0;
        add_op(&line, 0, 900, root);
        for (uint64_t i = 1; i <= 64; i++)
            add_op(&line, i * 10, 5, producer);
        for (uint64_t i = 0; i < used_count; i++, at += 10) {
            add_op(&line, at, 5, consumer);
            add_event(&line, at + 1, i + 1, NULL);
        }
        add_op(&line, at, 5, consumer);
        add_op(&line, at + 10, 5, asynchronous);
        for (uint64_t i = 2; i < 20; i++)
            add_event(&line, at + i * 10, i, NULL);
        open_trace(&line);
        for (size_t count = 29; count < 120; count += 45) {
            const struct workers workers = workers_of(count, 1);
            is_the_same(&workers, "a line of consumers");
        }
        char *answer = answer_of(NULL, "events");
        ck_assert_int_eq(strstr(answer, "\"step\":0") != NULL, used_count < 62);
        free(answer);
        bytes_close(&bytes);
    }
}
END_TEST

/* The middle of the line lies in a text, which holds what looks like events. */
START_TEST(a_cut_that_was_none_is_found_out)
{
    static struct text line, fake;
    const struct workers workers = workers_of(2, 1);
    line.length = fake.length = 0;
    for (uint64_t i = 0; i < 60; i++)
        add_event(&fake, i, 1 << 20, NULL);
    for (uint64_t i = 0; i < 20; i++)
        add_event(&line, i * 1000, i + 1, i == 10 ? &fake : NULL);
    open_trace(&line);
    ck_assert_uint_eq(piece_count(&workers), 1);
    is_the_same(&workers, "a line with a text");
    char *answer = answer_of(&workers, "summary");
    ck_assert_ptr_nonnull(strstr(answer, "\"allocation_count\":20"));
    free(answer);
    bytes_close(&bytes);
}
END_TEST

/* What one reader would refuse is refused, and what it would not is not: also where there is room for the pieces, and
 * none to join them. */
static void limits_are_the_same(const struct workers *workers)
{
    for (uint64_t limit = 1 << 14; limit <= 1 << 26; limit += limit < 1 << 21 ? 4096 + limit / 8 : 1 << 21) {
        struct err one = ERR_INIT, other = ERR_INIT;
        struct analysis_subject *whole = subject_trace(&bytes.source, NULL, limit, &one);
        struct analysis_subject *pieces = subject_trace(&bytes.source, workers, limit, &other);
        if (whole == NULL)
            ck_assert_int_eq(one.code, ERR_memory);
        if (pieces == NULL)
            ck_assert_int_eq(other.code, ERR_memory);
        ck_assert_msg(whole == NULL || pieces != NULL, "%llu: %s", (unsigned long long)limit, other.text);
        ck_assert(limit < 1 << 25 || whole != NULL);
        analysis_subject_free(whole);
        analysis_subject_free(pieces);
    }
}

START_TEST(limits_are_those_of_the_whole)
{
    const struct workers workers = workers_of(4, 1);
    bytes_load(&bytes, "build/fixtures/trace-steps.pb");
    limits_are_the_same(&workers);
    bytes_close(&bytes);
}
END_TEST

/* Three that take turns; one of them runs backwards. Then one with nearly all events. */
START_TEST(memory_ids_side_by_side_are_the_same)
{
    static struct text line;
    for (uint64_t turns = 3; turns <= 30; turns += 27) {
        line.length = 0;
        for (uint64_t i = 0; i < 150; i++) {
            uint64_t pool = i % turns < 3 ? i % turns : 1;
            const struct text name = {{(char)('a' + pool)}, 1};
            add_event_of(&line, pool == 2 ? 100000 - i * 10 : i * 10, (i * 37 % 101 + 1) << 20, NULL, &name);
        }
        open_trace(&line);
        for (size_t count = 2; count < 9; count++) {
            const struct workers workers = workers_of(count, 64);
            is_the_same(&workers, "three memory ids");
            limits_are_the_same(&workers);
        }
        char *answer = answer_of(NULL, "summary");
        ck_assert_ptr_nonnull(strstr(answer, "\"code\":\"out_of_order\""));
        free(answer);
        bytes_close(&bytes);
    }
}
END_TEST

/* The number of pieces that are read with this much work; 0: that is not enough. */
static size_t pieces_for(const struct workers *workers, uint64_t work)
{
    static struct memory_events events;
    volatile size_t count = 0; /* lives across setjmp */
    arena_begin();
    arena_allot_work(&arena, work);
    if (setjmp(arena.trap) == 0 && memory_events_read(&bytes.source, workers, &arena, &events, &err))
        count = events.piece_count;
    else
        ck_assert_int_eq(err.code, ERR_limit);
    arena_end();
    return count;
}

/* Pieces get by with what is enough for the whole, or it is read in one go. */
START_TEST(work_is_that_of_the_whole)
{
    static struct text line, filler;
    const struct workers workers = workers_of(4, 1);
    size_t in_pieces = 0, in_one_go = 0;
    line.length = 0;
    filler.length = 500; /* bytes without work: nearly all work is in the last piece */
    for (uint64_t i = 0; i < 108; i++)
        add_event(&line, i * 1000, i + 1, i < 8 ? &filler : NULL);
    open_trace(&line);
    for (uint64_t work = 1 << 10; work < 1 << 18; work += work / 16) {
        size_t count = pieces_for(&workers, work);
        ck_assert_msg((count > 0) == (pieces_for(NULL, work) > 0), "%llu steps", (unsigned long long)work);
        in_pieces += count > 1;
        in_one_go += count == 1; /* enough for all, but not for one of the pieces */
    }
    ck_assert_uint_gt(in_pieces, 0);
    ck_assert_uint_gt(in_one_go, 0);
    bytes_close(&bytes);
}
END_TEST

/* One event in the first line, one behind the last line that is read. */
START_TEST(lines_past_the_limit_are_counted)
{
    enum { LINES = MEMORY_LINES_MAX + 3 };
    static const char names[] = "\x12\x09/host:CPU"
                                "\x22\x16\x08\x01\x12\x12\x12\x10MemoryAllocation";
    static const char line[] = "\x1a\x06\x22\x04\x08\x01\x10\x07";
    struct memory_events events;
    size_t plane_length = sizeof(names) - 1 + 2 * (sizeof(line) - 1) + (LINES - 2) * 2;
    char *file = malloc(plane_length + 16), *at = file;
    *at++ = 0x0a; /* XSpace.planes */
    for (size_t left = plane_length; left > 0; left >>= 7)
        *at++ = (char)((left & 0x7f) | (left > 0x7f ? 0x80 : 0));
    at = mempcpy(at, names, sizeof(names) - 1);
    at = mempcpy(at, line, sizeof(line) - 1);
    for (int i = 0; i < LINES - 2; i++)
        at = mempcpy(at, "\x1a\x00", 2);
    at = mempcpy(at, line, sizeof(line) - 1);
    bytes_open(&bytes, file, (size_t)(at - file));
    free(file);
    ARENA_MUST_NOT_JUMP();
    ck_assert(memory_events_read(&bytes.source, NULL, &arena, &events, &err));
    ck_assert_uint_eq(events.count, 1);
    ck_assert_uint_eq(events.line_count, MEMORY_LINES_MAX);
    ck_assert_uint_eq(events.line_overflow_count, 3);
    char *answer = answer_of(NULL, "summary");
    ck_assert_ptr_nonnull(strstr(answer, "{\"code\":\"too_many_lines\",\"count\":3,"));
    free(answer);
    bytes_close(&bytes);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("memory_pieces");
    TCase *tests = tcase_create("memory_pieces");
    tcase_add_checked_fixture(tests, arena_begin, arena_end);
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, a_trace_in_pieces_is_the_same);
    tcase_add_test(tests, one_line_is_cut_between_events);
    tcase_add_test(tests, consumers_are_forgotten_as_in_one_go);
    tcase_add_test(tests, a_cut_that_was_none_is_found_out);
    tcase_add_test(tests, limits_are_those_of_the_whole);
    tcase_add_test(tests, memory_ids_side_by_side_are_the_same);
    tcase_add_test(tests, work_is_that_of_the_whole);
    tcase_add_test(tests, lines_past_the_limit_are_counted);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
