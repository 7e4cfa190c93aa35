/* SPDX-License-Identifier: Apache-2.0
 * api_source.c: lines of source files below the folders that --source-root names (server/files/source_files.h). */
#include "server/api/api.h"
#include "server/files/source_files.h"

#include <stdlib.h>
#include <string.h>

enum { WINDOW_BYTES = 2 << 20, BEFORE_BYTES = 1 << 20, BLOCK_BYTES = 64 << 10, MAX_LINE = 1000000000 };
static const uint64_t MAX_SCANNED_BYTES = (uint64_t)1 << 30;

/* Whole lines of a file, those around the one that was asked for. */
struct window {
    struct buf text;
    uint64_t first_line; /* from 1 */
    uint64_t cut_line;   /* the last one, when only its beginning is there; else 0 */
    bool is_cut;         /* the file has more */
};

/* A place where a line begins. */
struct mark {
    uint64_t offset, line;
};

/* The last marks, no nearer to each other than a block: enough to go back BEFORE_BYTES. */
struct marks {
    struct mark items[BEFORE_BYTES / BLOCK_BYTES + 2];
    size_t count;
};

static void add_mark(struct marks *marks, struct mark mark)
{
    size_t max = sizeof(marks->items) / sizeof(marks->items[0]);
    if (marks->count > 0 && mark.offset < marks->items[marks->count - 1].offset + BLOCK_BYTES)
        return;
    if (marks->count == max) {
        memmove(marks->items, marks->items + 1, (max - 1) * sizeof(marks->items[0]));
        marks->count--;
    }
    marks->items[marks->count++] = mark;
}

/* Where the window begins: at most BEFORE_BYTES before `line`, or before the end of a file that is shorter. */
static struct mark find_start(const struct source *source, uint64_t line)
{
    struct marks marks = {.items = {{0, 1}}, .count = 1};
    struct mark at = {0, 1};
    char *block = memory_new(BLOCK_BYTES);
    uint64_t max = source->size_bytes < MAX_SCANNED_BYTES ? source->size_bytes : MAX_SCANNED_BYTES, offset = 0;
    while (offset < max && at.line < line) {
        int64_t count = source->read(source->context, offset, block, BLOCK_BYTES);
        if (count <= 0)
            break;
        const char *begin = block, *end = block + count, *next;
        while (at.line < line && (next = memchr(begin, '\n', (size_t)(end - begin)))) {
            begin = next + 1;
            at = (struct mark){offset + (uint64_t)(begin - block), at.line + 1};
            add_mark(&marks, at);
        }
        offset += (uint64_t)count;
    }
    free(block);
    struct mark start = marks.items[marks.count - 1];
    for (size_t mark = marks.count; mark-- > 0 && marks.items[mark].offset + BEFORE_BYTES >= at.offset;)
        start = marks.items[mark];
    return start;
}

/* The file goes on behind the window: ends it behind its last whole line, unless `line` is the one that is torn, or
 * the only one. */
static void end_window(struct window *window, uint64_t line)
{
    struct buf *text = &window->text;
    const char *end = text->data + text->length;
    while (end > text->data && end[-1] != '\n')
        end--;
    end = end > text->data ? end - 1 : NULL;
    uint64_t torn_line = window->first_line;
    for (const char *at = text->data; end && at <= end; at++)
        torn_line += *at == '\n';
    window->is_cut = true;
    if (end && torn_line != line)
        text->length = (size_t)(end - text->data);
    else if (!end || end + 1 < text->data + text->length)
        window->cut_line = torn_line;
}

static bool read_window(struct file *file, uint64_t line, struct window *window)
{
    const struct source *source = files_source(file);
    struct mark start = source->size_bytes > WINDOW_BYTES ? find_start(source, line) : (struct mark){0, 1};
    char *room = buf_reserve(&window->text, WINDOW_BYTES);
    int64_t count = room ? source->read(source->context, start.offset, room, WINDOW_BYTES) : -1;
    if (count < 0)
        return false;
    window->text.length = (size_t)count;
    window->first_line = start.line;
    window->is_cut = start.offset > 0;
    if (start.offset + (uint64_t)count < source->size_bytes)
        end_window(window, line);
    return true;
}

static bool read_place(const struct files_place *place, uint64_t line, struct window *window)
{
    struct err err = ERR_INIT;
    struct file *file = files_open(place, &err);
    if (!file)
        return false;
    bool is_packed = files_is_gzip(file), is_good = !is_packed && read_window(file, line, window);
    files_close(file);
    if (!is_packed)
        return is_good;
    is_good = files_read_text(place, WINDOW_BYTES, &window->text, &err);
    window->first_line = 1;
    if (window->text.length == WINDOW_BYTES)
        end_window(window, line);
    return is_good;
}

/* What is asked for of a file. */
struct asked_lines {
    uint64_t line;
    struct window *window;
};

static bool take_lines(void *context, const struct files_place *place)
{
    struct asked_lines *asked = context;
    asked->window->text.length = 0;
    return read_place(place, asked->line, asked->window);
}

static void write_lines(struct json *json, const struct buf *text)
{
    const char *at = text->data, *end = text->length > 0 ? at + text->length : at; /* NULL + 0 is undefined */
    json_key_array(json, "lines");
    while (text->length > 0 && at < end) {
        const char *next = memchr(at, '\n', (size_t)(end - at));
        next = next ? next : end;
        json_string(json, (struct str){at, (size_t)(next - at)});
        at = next + 1;
    }
    json_array_end(json);
}

/* 0 for what is no line. */
static uint64_t line_of(const char *text)
{
    size_t length = strspn(text, "0123456789");
    return length > 0 && length < 11 && text[length] == '\0' && strtoull(text, NULL, 10) <= MAX_LINE
               ? strtoull(text, NULL, 10)
               : 0;
}

struct response *api_source(const struct server *server, const struct request *request)
{
    const char *file = request_param(request, "file", ""), *found = NULL;
    uint64_t line = line_of(request_param(request, "line", "1"));
    struct window window = {.text = BUF_INIT};
    struct buf buf = BUF_INIT;
    struct json json = JSON_INIT(&buf);
    if (!file[0])
        return response_problem(400, "argument", "the parameter file is missing");
    if (line == 0)
        return response_problem(400, "argument", "line must be a whole number from 1 to %d", MAX_LINE);
    bool is_shown = source_files_is_name(file);
    struct asked_lines asked = {line, &window};
    for (size_t at = 0; at < server->source_root_count && !found && is_shown; at++)
        found = source_files_find(server->source_roots[at], file, take_lines, &asked);
    if (!found)
        window.text.length = 0;
    json_object_begin(&json);
    json_key_text(&json, "file", file);
    json_key_text(&json, "found", found);
    json_key_bool(&json, "is_available", found != NULL);
    json_key_text(
        &json, "reason",
        found ? NULL
        : server->source_root_count == 0
            ? "no folder of source files was named: start the daemon with `--source-root=DIR`"
        : !is_shown ? "only source files are shown: .py, .cc, .cu, .jl and others by their name"
                    : "no such file below the folders of --source-root, or only behind a name that begins with a dot");
    json_key_uint(&json, "first_line", found ? window.first_line : 1);
    json_key_bool(&json, "is_cut", window.is_cut);
    json_key_known(&json, "cut_line", window.cut_line > 0 ? (int64_t)window.cut_line : -1);
    write_lines(&json, &window.text);
    json_object_end(&json);
    buf_free(&window.text);
    return response_json(&buf);
}
