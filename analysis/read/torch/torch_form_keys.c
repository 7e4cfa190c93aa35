/* SPDX-License-Identifier: Apache-2.0 */
#include "read/torch/torch_form_keys.h"

#include "base/str.h"

#include <string.h>

enum { WINDOW_BYTES = 1 << 14, KEY_BYTES = 32, EVENTS_SEEN_BYTES = 1 << 20 };
static const uint64_t SEEN_BYTES = UINT64_C(64) << 20;

struct keys_reading {
    const struct source *source;
    uint64_t offset; /* behind the window */
    uint64_t limit;  /* where to give up */
    size_t at, filled;
    unsigned depth;
    bool has_schema, has_properties, has_events;
    char key[KEY_BYTES]; /* the text that was read last, or its begin */
    size_t key_length;
    char window[WINDOW_BYTES];
};

/* -1 at the end, or where it is not worth while to read on. */
static int next_byte(struct keys_reading *reading)
{
    if (reading->at == reading->filled) {
        int64_t got =
            reading->offset >= reading->limit
                ? 0
                : reading->source->read(reading->source->context, reading->offset, reading->window, WINDOW_BYTES);
        if (got <= 0)
            return -1;
        reading->offset += (uint64_t)got;
        reading->filled = (size_t)got;
        reading->at = 0;
    }
    return (unsigned char)reading->window[reading->at++];
}

/* Behind its opening mark. False: it does not end. */
static bool text_read(struct keys_reading *reading)
{
    reading->key_length = 0;
    for (int byte; (byte = next_byte(reading)) != '"';) {
        if (byte < 0 || (byte == '\\' && next_byte(reading) < 0))
            return false;
        if (reading->key_length < KEY_BYTES)
            reading->key[reading->key_length++] = (char)byte;
    }
    return true;
}

static bool key_is(const struct keys_reading *reading, const char *word)
{
    return str_equal((struct str){reading->key, reading->key_length}, str_of(word));
}

/* Values of an event's `cat`, and a key of its `args`. */
static bool is_of_kineto(const struct keys_reading *reading)
{
    static const char *const WORDS[] = {"cpu_op",       "cpu_instant_event", "python_function",
                                        "cuda_runtime", "user_annotation",   "Record function id"};
    for (size_t i = 0; i < sizeof(WORDS) / sizeof(WORDS[0]); i++)
        if (key_is(reading, WORDS[i]))
            return true;
    return false;
}

/* Keys of the object itself decide. */
static void key_take(struct keys_reading *reading)
{
    reading->has_schema |= key_is(reading, "schemaVersion");
    reading->has_properties |= key_is(reading, "deviceProperties");
    if (key_is(reading, "traceEvents") && !reading->has_events) {
        reading->has_events = true;
        reading->limit = reading->offset + EVENTS_SEEN_BYTES;
    }
}

static bool is_decided(const struct keys_reading *reading)
{
    return reading->has_schema && (reading->has_events || reading->has_properties);
}

bool torch_form_keys_are_of_trace(const struct source *source)
{
    struct keys_reading reading = {.source = source, .limit = SEEN_BYTES};
    for (int byte; (byte = next_byte(&reading)) >= 0 && !is_decided(&reading);) {
        if (byte == '{' || byte == '[') {
            reading.depth++;
        } else if (byte == '}' || byte == ']') {
            if (reading.depth <= 1)
                return false;
            reading.depth--;
        } else if (byte == '"') {
            if (!text_read(&reading))
                return false;
            if (reading.has_events && is_of_kineto(&reading))
                return true;
            if (reading.depth == 1)
                key_take(&reading);
        }
    }
    return is_decided(&reading);
}
