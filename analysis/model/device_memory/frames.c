/* SPDX-License-Identifier: Apache-2.0 */
#include "model/device_memory/frames.h"

#include <stdio.h>

static const char *const by_names[] = {"function", "filefunction", "file", "line"};

bool frames_by_read(const char *text, enum frames_by *by, struct err *err)
{
    *by = FRAMES_BY_LINE;
    if (text == NULL || text[0] == '\0')
        return true;
    for (int i = FRAMES_BY_FUNCTION; i <= FRAMES_BY_LINE; i++)
        if (strcmp(by_names[i], text) == 0) {
            *by = (enum frames_by)i;
            return true;
        }
    return err_set(err, ERR_argument, ERR_NO_OFFSET, "by: \"%.40s\" is none of function, filefunction, file, line",
                   text);
}

/* ---- paths ---- */

/* Go's filepath.Clean: no "//", no "." and no ".." that something comes before. */
static struct str clean(struct arena *arena, struct str path)
{
    bool is_rooted = path.length > 0 && path.data[0] == '/';
    char *out = arena_raw(arena, path.length + 2);
    size_t length = 0, min = is_rooted; /* what .. may not take away */
    if (is_rooted)
        out[length++] = '/';
    for (size_t at = 0; at < path.length;) {
        const char *slash = memchr(path.data + at, '/', path.length - at);
        size_t end = slash != NULL ? (size_t)(slash - path.data) : path.length, size = end - at;
        const char *part = path.data + at;
        at = end + 1;
        if (size == 0 || (size == 1 && part[0] == '.'))
            continue;
        bool is_up = size == 2 && part[0] == '.' && part[1] == '.';
        if (is_up && length > min) {
            while (length > min && out[--length] != '/') {
            }
            continue;
        }
        if (is_up && is_rooted)
            continue;
        if (length > (size_t)is_rooted)
            out[length++] = '/';
        memcpy(out + length, part, size);
        length += size;
        if (is_up)
            min = length;
    }
    if (length == 0)
        out[length++] = '.';
    return (struct str){out, length};
}

static bool needs_cleaning(struct str path)
{
    char before = '/';
    for (size_t i = 0; i < path.length; i++) {
        char c = path.data[i];
        if (before == '/' && ((c == '/' && i > 0) || c == '.'))
            return true;
        before = c;
    }
    return path.length > 1 && before == '/';
}

struct str frames_path(struct frames *frames, struct str path)
{
    return path.length == 0 || !needs_cleaning(path) ? path : clean(frames->arena, path);
}

/* ---- the table ---- */

struct same_frame {
    const struct frames *frames;
    const struct frame *frame;
};

static bool is_frame(const void *context, uint64_t at)
{
    const struct same_frame *same = context;
    const struct frame *known = &same->frames->items[at], *frame = same->frame;
    return known->line == frame->line && str_equal(known->function, frame->function) &&
           str_equal(known->file, frame->file);
}

static uint32_t number_of(struct frames *frames, const struct frame *frame)
{
    struct same_frame same = {frames, frame};
    bool is_new;
    uint32_t at = map_number(&frames->table, frame->hash, is_frame, &same, &is_new);
    if (!is_new)
        return at;
    frames->items =
        arena_grown(frames->arena, frames->items, (size_t)at + 1, &frames->capacity, sizeof(*frames->items));
    frames->items[at] = *frame;
    return at;
}

void frames_init(struct frames *frames, enum frames_by by, struct arena *arena)
{
    static const struct frame no_stack = {STR_INIT("(no stack)"), STR_INIT(""), 0, 1, false};
    static const struct frame no_user = {STR_INIT("(no user frame)"), STR_INIT(""), 0, 2, false};
    *frames = (struct frames){.arena = arena, .by = by};
    map_init(&frames->table, arena, 0);
    number_of(frames, &no_stack);
    number_of(frames, &no_user);
}

uint32_t frames_of(struct frames *frames, const struct pprof_function *function, int64_t line, bool is_machinery)
{
    struct frame frame = {{"", 0}, {"", 0}, 0, 0, is_machinery};
    if (function != NULL && frames->by != FRAMES_BY_FILE)
        frame.function = function->name;
    if (function != NULL && frames->by != FRAMES_BY_FUNCTION)
        frame.file = frames_path(frames, function->file);
    if (frames->by == FRAMES_BY_LINE)
        frame.line = line;
    frame.hash = map_hash_text(frames->arena, frame.file, hash_number((uint64_t)frame.line, 0));
    frame.hash = map_hash_text(frames->arena, frame.function, frame.hash);
    uint32_t at = number_of(frames, &frame);
    frames->items[at].is_machinery &= is_machinery; /* one line of the user's makes it the user's */
    return at;
}

void frames_id(const struct frames *frames, uint32_t at, char id[FRAMES_ID_SIZE])
{
    if (at < FRAMES_SPECIAL_COUNT)
        snprintf(id, FRAMES_ID_SIZE, "%s", at == FRAMES_NO_STACK ? "none" : "machinery");
    else
        snprintf(id, FRAMES_ID_SIZE, "%012llx", (unsigned long long)(frames->items[at].hash >> 16));
}

uint32_t frames_find(const struct frames *frames, const char *id)
{
    char known[FRAMES_ID_SIZE];
    for (uint32_t i = 0; i < frames->table.count; i++) {
        frames_id(frames, i, known);
        if (strcmp(known, id) == 0)
            return i;
    }
    return MAP_NONE;
}

static void name_write(const struct frame *frame, struct str file, struct buf *out)
{
    bool has_function = frame->function.length > 0;
    buf_add(out, frame->function.data, frame->function.length);
    if (has_function && (frame->line != 0 || file.length > 0))
        buf_char(out, ' ');
    buf_add(out, file.data, file.length);
    if (frame->line != 0)
        buf_format(out, ":%lld", (long long)frame->line);
    if (!has_function && file.length == 0 && frame->line == 0)
        buf_text(out, "<unknown>");
}

void frames_add_short_name(const struct frames *frames, uint32_t at, struct buf *out)
{
    name_write(&frames->items[at], str_last_part(frames->items[at].file), out);
}

struct str frames_short_name(const struct frames *frames, uint32_t at, struct buf *out)
{
    out->length = 0;
    frames_add_short_name(frames, at, out);
    return (struct str){out->data, out->length};
}

struct str frames_full_name(const struct frames *frames, uint32_t at, struct buf *out)
{
    out->length = 0;
    name_write(&frames->items[at], frames->items[at].file, out);
    return (struct str){out->data, out->length};
}
