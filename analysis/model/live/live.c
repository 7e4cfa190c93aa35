/* SPDX-License-Identifier: Apache-2.0
 * live.c: see live.h. Reads the lines; what grows is found in live_growth.c. */
#include "model/live/live.h"

#include "base/size_text.h"
#include "base/sum.h"

#include <stdlib.h>

enum { DEVICES_MAX = 64, SAMPLES_MAX = 4096, UNKNOWN = -1 };
/* A Unix time far beyond any: the year 5138. */
static const int64_t MAX_MS = 100000000000000;

const char *live_kind_name(enum live_kind kind) { return kind == LIVE_ARRAYS ? "arrays" : "allocator"; }

/* ---- one file ---- */

/* What is read of one. */
struct reading {
    struct arena *arena;
    const struct live_text *text;
    struct live_line *devices; /* DEVICES_MAX; no name: not told of yet */
    size_t capacities[DEVICES_MAX];
    const char *reason;
    bool is_ended;
};

static struct str word_next(struct str *left)
{
    size_t length = 0;
    while (length < left->length && left->data[length] != ' ')
        length++;
    struct str word = {left->data, length};
    size_t passed = length < left->length ? length + 1 : length;
    *left = (struct str){left->data + passed, left->length - passed};
    return word;
}

/* "-" is UNKNOWN; false: it is no number up to `max`. */
static bool number_next(struct str *left, int64_t max, int64_t *number)
{
    uint64_t read;
    struct str word = word_next(left);
    *number = UNKNOWN;
    if (str_equal(word, STR("-")))
        return true;
    if (!str_number_read(word, (uint64_t)max, &read))
        return false;
    *number = (int64_t)read;
    return true;
}

static void device_take(struct reading *reading, struct str left)
{
    int64_t number, total;
    if (!number_next(&left, DEVICES_MAX - 1, &number) || number < 0)
        return;
    struct str kind = word_next(&left);
    struct live_line *line = &reading->devices[number];
    if (!number_next(&left, SUM_MAX_BYTES, &total) || left.length == 0 || line->device != NULL)
        return;
    *line = (struct live_line){.process = arena_text(reading->arena, reading->text->process),
                               .device = arena_text(reading->arena, left),
                               .kind = str_equal(kind, STR("arrays")) ? LIVE_ARRAYS : LIVE_ALLOCATOR,
                               .total_bytes = total > 0 ? total : UNKNOWN,
                               .peak_bytes = UNKNOWN,
                               .peak_ms = UNKNOWN};
}

/* The device that a line begins with the time and number of; NULL: it is of none. */
static struct live_line *device_of(struct reading *reading, struct str *left, int64_t *ms)
{
    int64_t number;
    if (!number_next(left, MAX_MS, ms) || *ms < 0 || !number_next(left, DEVICES_MAX - 1, &number) || number < 0)
        return NULL;
    return reading->devices[number].device != NULL ? &reading->devices[number] : NULL;
}

static void peak_take(struct live_line *line, int64_t ms, int64_t bytes)
{
    if (bytes <= line->peak_bytes)
        return;
    line->peak_bytes = bytes;
    line->peak_ms = ms;
}

static void sample_take(struct reading *reading, struct str left)
{
    struct live_sample sample;
    struct live_line *line = device_of(reading, &left, &sample.at_ms);
    if (line == NULL || line->count == SAMPLES_MAX || !number_next(&left, SUM_MAX_BYTES, &sample.low_bytes) ||
        !number_next(&left, SUM_MAX_BYTES, &sample.high_bytes) ||
        !number_next(&left, SUM_MAX_BYTES, &sample.reserved_bytes) ||
        !number_next(&left, SUM_MAX_BYTES, &sample.free_bytes) || left.length > 0)
        return;
    bool is_good = sample.low_bytes >= 0 && sample.high_bytes >= sample.low_bytes;
    if (!is_good || (line->count > 0 && sample.at_ms < line->samples[line->count - 1].at_ms))
        return;
    size_t *capacity = &reading->capacities[line - reading->devices];
    line->samples = arena_grown(reading->arena, line->samples, line->count + 1, capacity, sizeof(*line->samples));
    line->samples[line->count++] = sample;
    peak_take(line, sample.at_ms, sample.high_bytes);
}

/* The peak follows the samples of its device and has its exact time, because samples may be joined. */
static void told_peak_take(struct reading *reading, struct str left)
{
    int64_t ms, bytes;
    struct live_line *line = device_of(reading, &left, &ms);
    if (line == NULL || !number_next(&left, SUM_MAX_BYTES, &bytes) || bytes < line->peak_bytes)
        return;
    line->peak_bytes = bytes;
    line->peak_ms = ms;
}

static void line_take(struct reading *reading, struct str left)
{
    struct str word = word_next(&left);
    if (str_equal(word, STR("at")))
        sample_take(reading, left);
    else if (str_equal(word, STR("device")))
        device_take(reading, left);
    else if (str_equal(word, STR("peak")))
        told_peak_take(reading, left);
    else if (str_equal(word, STR("failed")) && left.length > 0)
        reading->reason = arena_text(reading->arena, left);
    else if (str_equal(word, STR("end")))
        reading->is_ended = true;
}

/* A line that is not whole yet has no end. */
static void text_take(struct reading *reading)
{
    struct str left = reading->text->text;
    for (const char *end; left.length > 0 && (end = memchr(left.data, '\n', left.length)) != NULL;) {
        size_t length = (size_t)(end - left.data);
        arena_work(reading->arena, length + 1);
        line_take(reading, (struct str){left.data, length});
        left = (struct str){end + 1, left.length - length - 1};
    }
}

/* ---- what a line says ---- */

/* Free of the device, and what the allocator has and has not given out; without those, what is left of all. */
static int64_t room_of(const struct live_line *line)
{
    const struct live_sample *last = &line->samples[line->count - 1];
    if (last->free_bytes >= 0) {
        int64_t unused = last->reserved_bytes - last->high_bytes;
        return last->free_bytes + (unused > 0 ? unused : 0);
    }
    int64_t left = line->total_bytes - last->high_bytes;
    return line->total_bytes < 0 ? UNKNOWN : left > 0 ? left : 0;
}

/* Greater: fuller. Where nothing is known of the end, by what is in use, below all others. */
static double fullness(const struct live_line *line, int64_t used_bytes)
{
    return line->total_bytes > 0 ? 1 + (double)used_bytes / (double)line->total_bytes
                                 : (double)used_bytes / (2.0 * (double)SUM_MAX_BYTES);
}

static double fullness_now(const struct live_line *line)
{
    return line->room_bytes >= 0 && line->total_bytes >= line->room_bytes
               ? fullness(line, line->total_bytes - line->room_bytes)
               : fullness(line, line->samples[line->count - 1].high_bytes);
}

static int fullest_first(const void *left, const void *right)
{
    const struct live_line *a = left, *b = right;
    double x = fullness_now(a), y = fullness_now(b);
    int by_name = str_compare_natural(str_of(a->process), str_of(b->process));
    return ORDER(a->is_ended, b->is_ended) ?: ORDER(y, x) ?: by_name
           ?: str_compare(str_of(a->device), str_of(b->device));
}

static const struct live_line *highest_of(const struct live *live)
{
    const struct live_line *highest = NULL;
    for (size_t at = 0; at < live->count; at++) {
        const struct live_line *line = &live->lines[at];
        if (highest == NULL || fullness(line, line->peak_bytes) > fullness(highest, highest->peak_bytes))
            highest = line;
    }
    return highest;
}

/* What a narrow terminal cuts off is at the end. */
static const char *sentence_of(const struct live_line *line, struct arena *arena)
{
    const struct live_sample *last = &line->samples[line->count - 1];
    char used[SIZE_TEXT_BYTES], peak[SIZE_TEXT_BYTES], total[SIZE_TEXT_BYTES];
    const char *what = line->kind == LIVE_ARRAYS ? " of live arrays" : " in use", *limit = "", *room = "",
               *reserved = "";
    if (line->total_bytes > 0)
        size_text(total, (uint64_t)line->total_bytes);
    if (line->total_bytes > 0 && last->free_bytes >= 0)
        room = arena_format(arena, ", %s of %s free", size_text_in(arena, (uint64_t)last->free_bytes), total);
    else if (line->total_bytes > 0)
        limit = arena_format(arena, " of %s", total);
    if (last->reserved_bytes >= 0)
        reserved = arena_format(arena, ", %s reserved", size_text_in(arena, (uint64_t)last->reserved_bytes));
    return arena_format(arena, "%s: %s%s%s, peak %s%s%s", line->device, size_text(used, (uint64_t)last->high_bytes),
                        what, limit, size_text(peak, (uint64_t)line->peak_bytes), room, reserved);
}

/* ---- the door ---- */

static void lines_add(struct live *live, struct reading *reading)
{
    for (size_t at = 0; at < DEVICES_MAX; at++) {
        struct live_line *line = &reading->devices[at];
        if (line->device == NULL || line->count == 0)
            continue;
        if (live->count == LIVE_LINES_MAX) {
            live->left_out_count++;
            continue;
        }
        line->room_bytes = room_of(line);
        line->reason = reading->reason;
        line->is_ended = reading->is_ended;
        line->sentence = sentence_of(line, reading->arena);
        line->finding = live_growth_find(line, reading->arena, &line->grown_per_minute_bytes);
        line->name = arena_format(reading->arena, "%s of %s", line->device, line->process);
        if (line->finding)
            line->growth_sentence = arena_format(reading->arena, "%s %s", line->name, line->finding->sentence);
        live->lines[live->count++] = *line;
    }
}

void live_read(const struct live_text *texts, size_t count, struct arena *arena, struct live *live)
{
    *live = (struct live){.lines = arena_array(arena, struct live_line, LIVE_LINES_MAX)};
    struct live_line *devices = arena_array(arena, struct live_line, DEVICES_MAX);
    for (size_t at = 0; at < count; at++) {
        struct reading reading = {.arena = arena, .text = &texts[at], .devices = devices};
        memset(devices, 0, DEVICES_MAX * sizeof(*devices));
        text_take(&reading);
        lines_add(live, &reading);
    }
    qsort(live->lines, live->count, sizeof(*live->lines), fullest_first);
    live->highest = highest_of(live);
}
