/* SPDX-License-Identifier: Apache-2.0
 * trace_twin.c: any bytes as a trace, and its twin with a field that nobody knows before each event.
 *
 * Events that are laid out as writers do it are read a short way, all others a long one: the field sends an event
 * there. Both ways must give the same answers, also when bytes inside the events are changed. */
#include "tests/fuzz/ask.h"
#include "tests/unit/subject.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    LIMIT_BYTES = 256 << 20,
    LARGE_BYTES = 20 << 10,
    LONGEST_EVENT = 30 << 10, /* longer ones may not be read at all */
    EVENTS_MAX = 4096,
    CHANGES = 3,
    SPACE = 0,
    PLANE,
    LINE,
    EVENT
};
static const uint8_t unknown_field[] = {15 << 3, 0};

struct twin {
    uint8_t *bytes;
    size_t size, event_count;
    size_t events[EVENTS_MAX][2]; /* place and size in the original */
    bool is_comparable;
};

static void put(struct twin *twin, const uint8_t *bytes, size_t size)
{
    memcpy(twin->bytes + twin->size, bytes, size);
    twin->size += size;
}

static size_t varint(const uint8_t *at, const uint8_t *end, uint64_t *value)
{
    *value = 0;
    for (size_t i = 0; i < 10 && at + i < end; i++) {
        *value |= (uint64_t)(at[i] & 127) << (7 * i);
        if (at[i] < 128)
            return i + 1;
    }
    return 0;
}

static void put_varint(struct twin *twin, uint64_t value)
{
    for (; value > 127; value >>= 7)
        twin->bytes[twin->size++] = (uint8_t)(value | 128);
    twin->bytes[twin->size++] = (uint8_t)value;
}

/* Bytes of a field with its tag; 0: none can be read, what follows is copied as it is. */
static size_t field_size(const uint8_t *at, const uint8_t *end)
{
    uint64_t tag, value;
    size_t tag_size = varint(at, end, &tag), size = 0, left = (size_t)(end - at);
    if (tag_size == 0 || tag >> 3 == 0)
        return 0;
    if ((tag & 7) == 1 || (tag & 7) == 5)
        size = tag_size + ((tag & 7) == 1 ? 8 : 4);
    if ((tag & 7) == 0 || (tag & 7) == 2) {
        size_t value_size = varint(at + tag_size, end, &value);
        if (value_size == 0)
            return 0;
        size = tag_size + value_size;
        size += (tag & 7) == 2 ? (value < left - size ? (size_t)value : left - size) : 0;
    }
    return size > 0 && size <= left ? size : 0;
}

/* Copies the message in [at, end), which is one of the four, with its events marked. */
static void copy(struct twin *twin, const uint8_t *whole, const uint8_t *at, const uint8_t *end, int kind)
{
    static const uint8_t tags[] = {1 << 3 | 2, 3 << 3 | 2, 4 << 3 | 2};
    if (kind == EVENT) {
        if (twin->event_count < EVENTS_MAX) {
            twin->events[twin->event_count][0] = (size_t)(at - whole);
            twin->events[twin->event_count++][1] = (size_t)(end - at);
        }
        twin->is_comparable &= end - at < LONGEST_EVENT;
        put(twin, unknown_field, sizeof(unknown_field));
        put(twin, at, (size_t)(end - at));
        return;
    }
    while (at < end) {
        size_t size = field_size(at, end);
        if (size == 0)
            break;
        if (*at == tags[kind]) {
            uint64_t length;
            size_t head = 1 + varint(at + 1, end, &length), begin = twin->size;
            bool is_cut = length > size - head;
            if (kind == LINE && is_cut)
                break;
            copy(twin, whole, at + head, at + size, kind + 1);
            size_t inner = twin->size - begin;
            uint8_t *moved = malloc(inner + 1);
            if (moved == NULL)
                abort();
            memcpy(moved, twin->bytes + begin, inner);
            twin->size = begin;
            put(twin, at, 1);
            put_varint(twin, inner + (is_cut ? length - (size - head) : 0));
            put(twin, moved, inner);
            free(moved);
        } else {
            put(twin, at, size);
        }
        at += size;
    }
    put(twin, at, (size_t)(end - at));
}

/* ---- both are asked -------------------------------------------------------------------------------- */

struct asked {
    struct analysis_subject *trace;
    enum err_code code;
};

static struct asked read_trace(const uint8_t *bytes, size_t size)
{
    struct err err = ERR_INIT;
    struct source source = ask_source(bytes, size);
    struct analysis_subject *trace = subject_trace(&source, NULL, LIMIT_BYTES, &err);
    return (struct asked){trace, err.code};
}

static cJSON *answer_of(const struct analysis_subject *trace, const char *view, const struct analysis_param *params,
                        size_t count)
{
    struct buf out = BUF_INIT;
    struct err err = ERR_INIT;
    bool is = subject_answer(trace, "memory_profile", view, params, count, &out, &err);
    cJSON *tree = is ? cJSON_ParseWithLength(out.data, out.length) : NULL;
    cJSON *note;
    buf_free(&out);
    cJSON_ArrayForEach(note, cJSON_GetObjectItem(tree, "notes"))
        cJSON_DeleteItemFromObject(note, "text"); /* it may tell a place in the file, and the twin is longer */
    return tree;
}

static void compare(const struct analysis_subject *one, const struct analysis_subject *other, const uint8_t *bytes,
                    size_t size)
{
    static const struct {
        const char *view;
        struct analysis_param params[2];
        size_t count;
    } questions[] = {
        {"timeline", {{"details", "1"}, {"width", "4096"}}, 2},
        {"events", {{"limit", "1000"}}, 1},
        {"live", {{"group", "none"}, {"limit", "1000"}}, 2},
        {"growth", {{NULL, NULL}}, 0},
        {"lanes", {{NULL, NULL}}, 0},
    };
    for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++) {
        cJSON *a = answer_of(one, questions[i].view, questions[i].params, questions[i].count);
        cJSON *b = answer_of(other, questions[i].view, questions[i].params, questions[i].count);
        if ((a == NULL) != (b == NULL) || (a != NULL && !cJSON_Compare(a, b, true))) {
            char *texts[] = {cJSON_PrintUnformatted(a), cJSON_PrintUnformatted(b)};
            fprintf(stderr, "broken promise: two ways to read one event agree (%s, %zu bytes)\n%.4000s\n%.4000s\n",
                    questions[i].view, size, texts[0] ? texts[0] : "none", texts[1] ? texts[1] : "none");
            for (size_t at = 0; at < size && size < LARGE_BYTES; at++)
                fprintf(stderr, "%02x", bytes[at]);
            fputc('\n', stderr);
            abort();
        }
        cJSON_Delete(a);
        cJSON_Delete(b);
    }
}

/* How much a file may take goes by its size, which differs. */
static bool is_of_room(enum err_code code) { return code == ERR_limit || code == ERR_memory; }

static void check(const uint8_t *bytes, size_t size, struct twin *twin)
{
    *twin = (struct twin){.bytes = malloc(4 * size + 64), .is_comparable = true};
    if (twin->bytes == NULL)
        abort();
    copy(twin, bytes, bytes, bytes + size, SPACE);
    struct asked one = read_trace(bytes, size), other = read_trace(twin->bytes, twin->size);
    bool is_comparable = twin->is_comparable && !is_of_room(one.code) && !is_of_room(other.code);
    if (is_comparable && one.code != other.code) {
        fprintf(stderr, "broken promise: two ways to read one event agree (%s, %s)\n", err_name(one.code),
                err_name(other.code));
        abort();
    }
    if (is_comparable && one.trace != NULL && other.trace != NULL)
        compare(one.trace, other.trace, bytes, size);
    analysis_subject_free(one.trace);
    analysis_subject_free(other.trace);
    free(twin->bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct twin twin;
    uint64_t state = 14695981039346656037ULL;
    for (size_t i = 0; i < size; i++)
        state = (state ^ data[i]) * 1099511628211ULL;
    check(data, size, &twin);
    if (twin.event_count == 0 || size > LARGE_BYTES)
        return 0;
    uint8_t *changed = malloc(size);
    if (changed == NULL)
        abort();
    for (int i = 0; i < CHANGES; i++) {
        memcpy(changed, data, size);
        for (int byte = 0; byte < 4 << i; byte++) {
            state = state * 6364136223846793005ULL + 1442695040888963407ULL;
            const size_t *event = twin.events[(state >> 33) % twin.event_count];
            if (event[1] > 0)
                changed[event[0] + (state >> 20) % event[1]] ^=
                    (uint8_t)((state >> 56) % 3 ? UINT64_C(1) << (state >> 60 & 7) : state >> 48);
        }
        check(changed, size, &twin);
    }
    free(changed);
    return 0;
}
