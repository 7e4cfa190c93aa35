/* SPDX-License-Identifier: Apache-2.0 */
#include "read/trace/trace_encoded.h"

#include <errno.h>
#include <stdlib.h>

/* Real names have 200 to 500 bytes; brackets in them are nested twice. */
enum { NAME_MAX = 4096, DEPTH_MAX = 64, NUMBER_MAX = 40 };

static bool is_encoded(struct str name)
{
    return name.length > 1 && name.length <= NAME_MAX && name.data[name.length - 1] == '#';
}

static bool is_memory(enum trace_class class) { return class == TRACE_ALLOCATION || class == TRACE_DEALLOCATION; }

void trace_encoded_find(struct trace_encoded *encoded, struct stream *stream, const struct trace_plane *plane,
                        struct arena *arena)
{
    size_t count = trace_plane_event_count(plane);
    uint32_t found = 0;
    encoded->arena = arena;
    encoded->names = arena_array(arena, struct str, count + 1);
    map_init(&encoded->by_id, arena, count);
    for (size_t i = 0; i < count; i++) {
        int64_t id;
        struct str name = trace_plane_event_at(stream, plane, i, NAME_MAX + 1, &id);
        arena_work(arena, 16 + name.length);
        bool is_wanted = is_encoded(name) &&
                         (!plane->has_memory_events || is_memory(trace_plane_class_of(trace_encoded_base(name))));
        if (!is_wanted)
            continue;
        encoded->names[found] = (struct str){arena_text(arena, name), name.length};
        map_put(&encoded->by_id, (uint64_t)id, found++, true);
    }
}

static struct str trace_encoded_trimmed(struct str text)
{
    while (text.length > 0 && (text.data[0] == ' ' || (text.data[0] >= '\t' && text.data[0] <= '\r')))
        text = (struct str){text.data + 1, text.length - 1};
    while (text.length > 0 && (text.data[text.length - 1] == ' ' ||
                               (text.data[text.length - 1] >= '\t' && text.data[text.length - 1] <= '\r')))
        text.length--;
    return text;
}

/* Up to the first `mark`; *rest is what follows it. */
static struct str cut_at(struct str text, char mark, struct str *rest)
{
    const char *found = memchr(text.data, mark, text.length);
    size_t length = found == NULL ? text.length : (size_t)(found - text.data);
    *rest =
        found == NULL ? (struct str){text.data + text.length, 0} : (struct str){found + 1, text.length - length - 1};
    return (struct str){text.data, length};
}

struct str trace_encoded_base(struct str name)
{
    struct str rest;
    return is_encoded(name) ? trace_encoded_trimmed(cut_at(name, '#', &rest)) : name;
}

/* The partner of a closing bracket, 0 for other characters. */
static char opener_of(char c) { return c == ')' ? '(' : c == ']' ? '[' : c == '}' ? '{' : '\0'; }

/* Up to a comma outside of quotes and brackets. One that is never closed takes the rest. */
static struct str piece_take(struct str *rest)
{
    char open[DEPTH_MAX];
    size_t depth = 0, i = 0;
    for (; i < rest->length && (depth > 0 || rest->data[i] != ','); i++) {
        char c = rest->data[i], top = depth > 0 ? open[depth - 1] : '\0';
        bool is_quote = c == '"' || c == '\'', is_opener = c == '(' || c == '[' || c == '{';
        if ((is_quote && c == top) || (opener_of(c) != '\0' && opener_of(c) == top))
            depth--;
        else if ((is_quote || is_opener) && depth < DEPTH_MAX)
            open[depth++] = c;
    }
    struct str piece = {rest->data, i};
    size_t taken = i < rest->length ? i + 1 : i;
    *rest = (struct str){rest->data + taken, rest->length - taken};
    return piece;
}

/* A whole number, else a real one, else a text: the first that all of the text is. */
static void value_read(struct trace_event *out, enum trace_stat stat, struct str text)
{
    char copy[NUMBER_MAX + 1], *end;
    out->stats |= UINT32_C(1) << stat;
    out->type[stat] = TRACE_TEXT;
    out->text[stat] = text;
    if (text.length > NUMBER_MAX)
        return;
    memcpy(copy, text.data, text.length);
    copy[text.length] = '\0';
    const char *whole = copy + text.length; /* where a number ends that is all of the text */
    errno = 0;
    long long number = strtoll(copy, &end, 10);
    if (end == whole && errno == 0) {
        out->type[stat] = TRACE_INT;
        out->value[stat] = (uint64_t)number;
        return;
    }
    errno = 0;
    unsigned long long natural = strtoull(copy, &end, 10);
    if (end == whole && errno == 0 && copy[0] != '-') {
        out->type[stat] = TRACE_UINT;
        out->value[stat] = natural;
        return;
    }
    double real = strtod(copy, &end);
    if (end == whole) {
        out->type[stat] = TRACE_DOUBLE;
        memcpy(&out->value[stat], &real, sizeof(real));
    }
}

bool trace_encoded_read(const struct trace_encoded *encoded, const struct trace_event *event, struct trace_event *out)
{
    uint32_t number = map_get(&encoded->by_id, (uint64_t)event->metadata_id);
    if (number == MAP_NONE)
        return false;
    struct str name = encoded->names[number], rest;
    arena_work(encoded->arena, name.length);
    out->metadata_id = event->metadata_id;
    out->offset_ps = event->offset_ps;
    out->duration_ps = event->duration_ps;
    out->is_aggregated = event->is_aggregated;
    out->stats = 0;
    name.length--;
    out->class = trace_plane_class_of(trace_encoded_trimmed(cut_at(name, '#', &rest)));
    rest = cut_at(rest, '#', &name);
    while (rest.length > 0) {
        struct str value, key = trace_encoded_trimmed(cut_at(piece_take(&rest), '=', &value));
        enum trace_stat stat = trace_plane_stat_of(key);
        value = trace_encoded_trimmed(value);
        if (stat != TRACE_STAT_NONE && value.length > 0)
            value_read(out, stat, value);
    }
    return true;
}
