/* SPDX-License-Identifier: Apache-2.0
 * Files that end in the middle, at every byte: what came before is read, and each answer or refusal says where. */
#include "base/cut.h"

#include "arena.h"
#include "subject.h"

#include <zlib.h>

static struct bytes whole;

/* What is read of a file that ends at `length`. A trace must have no events, or those of the host before that place. */
struct told {
    bool is_read, is_cut;
    size_t program_count;
    uint64_t event_count, peak_bytes;
};

static bool has_note(const struct analysis_contents *contents, const char *text)
{
    for (size_t i = 0; i < contents->note_count; i++)
        if (strcmp(contents->notes[i].code, "cut") == 0)
            return strstr(contents->notes[i].text, text) != NULL;
    return false;
}

static void contents_tell(const struct bytes *bytes, uint64_t end, const char *place, struct told *told)
{
    err = (struct err)ERR_INIT;
    struct analysis_contents *contents = analysis_contents_read(&bytes->source, &err);
    if (contents == NULL) {
        ck_assert_msg(err.text[0] != '\0' && (err.offset_bytes == ERR_NO_OFFSET || err.offset_bytes <= end),
                      "%s: %s at %llu", place, err.text, (unsigned long long)err.offset_bytes);
        return;
    }
    told->is_read = true;
    told->is_cut = contents->is_cut;
    told->program_count = contents->program_count;
    ck_assert_msg(!contents->is_cut || has_note(contents, place), "%s is not said", place);
    ck_assert(!contents->is_cut || contents->cut_offset_bytes <= end);
    analysis_contents_free(contents);
}

static void trace_tell(const struct bytes *bytes, const char *place, struct told *told)
{
    struct analysis_trace_pool pool;
    const char *code, *text;
    err = (struct err)ERR_INIT;
    struct analysis_subject *trace = subject_trace(&bytes->source, NULL, 0, &err);
    if (trace == NULL) {
        ck_assert_msg(err.text[0] != '\0', "%s", place);
        return;
    }
    for (size_t at = 0; analysis_trace_pool_at(trace, at, &pool); at++) {
        told->event_count += pool.allocation_count + pool.deallocation_count;
        told->peak_bytes += (uint64_t)pool.peak_bytes;
    }
    bool has_reason = analysis_trace_reason(trace, &code, &text);
    ck_assert(has_reason == (told->event_count == 0));
    ck_assert_msg(!has_reason || strcmp(code, "cut") != 0 || strstr(text, place) != NULL, "%s: %s", place, text);
    analysis_subject_free(trace);
}

static struct told told_of(const struct bytes *bytes, uint64_t end, const char *place)
{
    struct told told = {false};
    contents_tell(bytes, end, place, &told);
    trace_tell(bytes, place, &told);
    return told;
}

static void cut_at_every_byte(const char *path)
{
    struct told last = {false};
    bytes_load(&whole, path);
    const struct told all = told_of(&whole, whole.length, "");
    ck_assert(all.is_read && !all.is_cut);
    for (size_t length = 0; length < whole.length; length++) {
        struct bytes bytes;
        char place[96];
        snprintf(place, sizeof(place), "The file ends in the middle, at byte %zu", length);
        bytes_open(&bytes, whole.data, length);
        const struct told told = told_of(&bytes, length, place);
        bytes_close(&bytes);
        ck_assert_msg(told.program_count >= last.program_count && told.event_count >= last.event_count,
                      "%s at %zu: %zu programs, %llu events", path, length, told.program_count,
                      (unsigned long long)told.event_count);
        /* Names come after the events of a plane: with them come all events, and all figures. */
        ck_assert(told.event_count == 0 || (told.event_count == all.event_count && told.peak_bytes == all.peak_bytes));
        last = told;
    }
    bytes_close(&whole);
}

START_TEST(a_trace_is_read_up_to_the_cut)
{
    cut_at_every_byte("build/fixtures/trace-steps.pb");
    cut_at_every_byte("build/fixtures/trace-tpu.pb");
    cut_at_every_byte("build/fixtures/xspace-two-programs.pb");
}
END_TEST

/* ---- gzip ---- */

static struct bytes packed_of(const struct bytes *plain)
{
    struct bytes packed;
    z_stream stream = {0};
    ck_assert_int_eq(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    size_t room = deflateBound(&stream, plain->length);
    unsigned char *bytes = malloc(room);
    stream.next_in = (Bytef *)plain->data;
    stream.avail_in = (uInt)plain->length;
    stream.next_out = bytes;
    stream.avail_out = (uInt)room;
    ck_assert_int_eq(deflate(&stream, Z_FINISH), Z_STREAM_END);
    bytes_open(&packed, bytes, stream.total_out);
    deflateEnd(&stream);
    free(bytes);
    return packed;
}

START_TEST(a_packed_trace_is_read_up_to_the_cut)
{
    static const char *const paths[] = {"build/fixtures/trace-steps.pb", "build/fixtures/xspace-two-programs.pb"};
    for (size_t i = 0; i < 2; i++) {
        struct told last = {false};
        bytes_load(&whole, paths[i]);
        const struct told all = told_of(&whole, whole.length, "");
        struct bytes packed = packed_of(&whole);
        for (size_t length = 2; length < packed.length; length++) {
            struct bytes bytes;
            char place[96];
            snprintf(place, sizeof(place), "The gzip stream ends in the middle, at byte %zu (byte ", length);
            bytes_open(&bytes, packed.data, length);
            const struct told told = told_of(&bytes, whole.length, place);
            ck_assert_msg(told.is_cut || (!told.is_read && err.code == ERR_truncated), "%s: %s", place, err.text);
            ck_assert(told.program_count >= last.program_count && told.event_count >= last.event_count);
            ck_assert(told.event_count == 0 || told.event_count == all.event_count);
            bytes_close(&bytes);
            last = told;
        }
        ck_assert_uint_eq(last.event_count, all.event_count);
        ck_assert_uint_eq(last.program_count, all.program_count);
        bytes_close(&packed);
        bytes_close(&whole);
    }
}
END_TEST

/* A part of a program has no valid sums. */
START_TEST(a_packed_program_has_to_be_whole)
{
    bytes_load(&whole, "build/fixtures/hlo-two-buffers.pb");
    struct bytes packed = packed_of(&whole);
    for (size_t length = 2; length < packed.length; length++) {
        struct bytes bytes;
        char place[96];
        bytes_open(&bytes, packed.data, length);
        err = (struct err)ERR_INIT;
        ck_assert_ptr_null(subject_module(&bytes.source, &(struct analysis_program){.name = "", .key = ""}, 0, &err));
        snprintf(place, sizeof(place), "the gzip stream is cut at byte %zu of the file", length);
        ck_assert_int_eq(err.code, ERR_truncated);
        ck_assert_str_eq(err.text, place);
        bytes_close(&bytes);
    }
    bytes_close(&packed);
    bytes_close(&whole);
}
END_TEST

/* ---- JSON ---- */

/* A trace of torch.profiler: each event on a line, the level rises by 512 bytes. */
static size_t torch_trace_write(char *text, size_t room, size_t event_count)
{
    size_t length = (size_t)snprintf(text, room,
                                     "{\"schemaVersion\": 1, \"baseTimeNanoseconds\": 1000,\n"
                                     "\"deviceProperties\": [{\"id\": 0}], \"traceEvents\": [");
    for (size_t i = 0; i < event_count; i++)
        length += (size_t)snprintf(
            text + length, room - length,
            "%s\n{\"ph\": \"i\", \"name\": \"[memory]\", \"pid\": 1, \"tid\": 1, \"ts\": %zu.5,"
            " \"args\": {\"dims\": [1, {\"a\": 2}], \"is\": true, \"Device Type\": 1, \"Device Id\": 0,"
            " \"Addr\": %zu, \"Bytes\": 512, \"Total Allocated\": %zu}}",
            i == 0 ? "" : ",", i + 1, (i + 1) * 4096, (i + 1) * 512);
    return length + (size_t)snprintf(text + length, room - length, "\n], \"traceName\": \"t\"}\n");
}

/* Events that are complete before `length`. */
static size_t events_before(const char *text, size_t length)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, "}}")) != NULL && (size_t)(at + 2 - text) <= length; at += 2)
        count++;
    return count;
}

START_TEST(events_of_torch_are_read_up_to_the_cut)
{
    char text[8192];
    size_t size = torch_trace_write(text, sizeof(text), 7);
    size_t head = (size_t)(strstr(text, "traceEvents") - text) + sizeof("traceEvents");
    for (size_t length = head; length < size - 1; length++) { /* the last byte is a blank */
        struct bytes bytes;
        char place[96];
        snprintf(place, sizeof(place), "The file ends in the middle, at byte %zu", length);
        bytes_open(&bytes, text, length);
        struct told told = {false};
        size_t expected = events_before(text, length);
        trace_tell(&bytes, place, &told);
        ck_assert_uint_eq(told.event_count, expected);
        ck_assert_uint_eq(told.peak_bytes, expected * 512);
        ck_assert(expected > 0 || (err.code == ERR_truncated && strstr(err.text, place) != NULL));
        bytes_close(&bytes);
    }
}
END_TEST

/* Thousands of them, more than wait together: up to the last that unpacks whole. */
START_TEST(events_of_a_packed_torch_trace_are_read_up_to_the_cut)
{
    enum { ROOM = 1 << 20, EVENTS = 4500 };
    char *text = malloc(ROOM);
    bytes_open(&whole, text, torch_trace_write(text, ROOM, EVENTS));
    struct bytes packed = packed_of(&whole);
    uint64_t last = 0;
    for (size_t length = packed.length / 8; length < packed.length; length += packed.length / 16) {
        struct bytes bytes;
        char place[96];
        snprintf(place, sizeof(place), "The gzip stream ends in the middle, at byte %zu (byte ", length);
        bytes_open(&bytes, packed.data, length);
        struct told told = {false};
        trace_tell(&bytes, place, &told);
        ck_assert_msg(told.event_count > last && told.event_count <= EVENTS, "%llu after %llu",
                      (unsigned long long)told.event_count, (unsigned long long)last);
        ck_assert_uint_eq(told.peak_bytes, told.event_count * 512);
        last = told.event_count;
        bytes_close(&bytes);
    }
    bytes_close(&packed);
    bytes_close(&whole);
    free(text);
}
END_TEST

START_TEST(the_sentence_tells_what_is_known)
{
    const struct cut plain = {true, 300, 0, 0}, half = {true, 300, 635, 0}, packed = {true, 300, 635, 40};
    ARENA_MUST_NOT_JUMP();
    ck_assert_str_eq(cut_sentence(&plain, &arena),
                     "The file ends in the middle, at byte 300: what came after is missing.");
    ck_assert_str_eq(cut_sentence(&half, &arena),
                     "The file ends in the middle, at byte 300 of at least 635: what came after is missing.");
    ck_assert_str_eq(cut_place(&packed, &arena),
                     "The gzip stream ends in the middle, at byte 40 (byte 300 of at least 635 once unpacked)");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cut");
    TCase *tests = tcase_create("cut");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, arena_begin, arena_end);
    tcase_add_test(tests, a_trace_is_read_up_to_the_cut);
    tcase_add_test(tests, a_packed_trace_is_read_up_to_the_cut);
    tcase_add_test(tests, a_packed_program_has_to_be_whole);
    tcase_add_test(tests, events_of_torch_are_read_up_to_the_cut);
    tcase_add_test(tests, events_of_a_packed_torch_trace_are_read_up_to_the_cut);
    tcase_add_test(tests, the_sentence_tells_what_is_known);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
