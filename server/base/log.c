/* SPDX-License-Identifier: Apache-2.0 */
#include "server/base/log.h"

#include "base/json.h"
#include "base/printable.h"
#include "server/base/clock.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { LINE_BYTES = 1024, TIME_BYTES = 32, BURST = 5, WINDOW_MS = 10000 };

static bool verbose, as_json; /* set once, before any thread */

static const struct {
    const char *name, *level;
} KINDS[LOG_KIND_COUNT] = {
    {"server errors", "error"}, {"wrong tokens", "warning"}, {"connections of other users", "warning"}};

/* For one kind of line, since `began_ms`. */
static struct window {
    int64_t began_ms;
    uint64_t said_count, unsaid_count;
} windows[LOG_KIND_COUNT];
static pthread_mutex_t windows_lock = PTHREAD_MUTEX_INITIALIZER;

void log_set_up(bool is_verbose, bool is_json)
{
    verbose = is_verbose;
    as_json = is_json;
}

static void write_time(char at[TIME_BYTES])
{
    time_t now = time(NULL);
    struct tm parts;
    at[0] = '\0';
    if (gmtime_r(&now, &parts))
        strftime(at, TIME_BYTES, "%Y-%m-%dT%H:%M:%SZ", &parts);
}

static void begin_object(struct json *json, const char *level)
{
    char at[TIME_BYTES];
    write_time(at);
    json_object_begin(json);
    json_key_text(json, "time", at);
    json_key_text(json, "level", level);
}

/* stdio locks: one call, one line. */
static void end_object(struct json *json)
{
    json_object_end(json);
    buf_text(json->out, "\n");
    struct buf shown = BUF_INIT; /* JSON leaves C1 and marks of direction as they are; escaped they mean the same */
    buf_printable_lines(&shown, (struct str){json->out->data, json->out->length});
    if (!json->out->failed && !shown.failed)
        fwrite(shown.data, 1, shown.length, stderr);
    buf_free(&shown);
    buf_free(json->out);
}

void log_escape(char *out, size_t out_size, const char *text)
{
    struct str left = str_of(text);
    size_t used = 0;
    while (left.length > 0) {
        char escape[PRINTABLE_ESCAPE_SIZE];
        struct str piece = {left.data, printable_run(left, PRINTABLE_WORDS)};
        size_t length = piece.length;
        if (length == 0) {
            length = printable_escape(left, escape);
            piece = str_of(escape);
        } else if (piece.length >= out_size - used) {
            piece.length = length = str_cut(piece, out_size - used - 1);
        }
        if (length == 0 || piece.length >= out_size - used)
            break;
        memcpy(out + used, piece.data, piece.length);
        used += piece.length;
        left = (struct str){left.data + length, left.length - length};
    }
    out[used] = '\0';
}

static void write_line(const char *level, const char *text)
{
    char line[LINE_BYTES];
    struct buf buf = BUF_INIT;
    struct json json = JSON_INIT(&buf);
    if (!as_json) {
        log_escape(line, sizeof(line), text);
        fprintf(stderr, "memviewd: %s\n", line);
        return;
    }
    begin_object(&json, level);
    json_key_text(&json, "message", text);
    end_object(&json);
}

static void write_format(const char *level, const char *format, va_list arguments)
{
    char text[LINE_BYTES];
    vsnprintf(text, sizeof(text), format, arguments);
    write_line(level, text);
}

void log_line(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    write_format("warning", format, arguments);
    va_end(arguments);
}

void log_info(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    write_format("info", format, arguments);
    va_end(arguments);
}

void log_error(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    write_format("error", format, arguments);
    va_end(arguments);
}

/* ---- limits -------------------------------------------------------------------------- */

/* Ends the window of a kind when it is time to; returns what was not said in it. */
static uint64_t end_window(struct window *window, int64_t now_ms, bool is_last)
{
    uint64_t unsaid_count = window->unsaid_count;
    if (!is_last && now_ms - window->began_ms < WINDOW_MS)
        return 0;
    *window = (struct window){.began_ms = now_ms};
    return unsaid_count;
}

static void say_sum(enum log_kind kind, uint64_t count)
{
    char text[LINE_BYTES];
    if (count == 0)
        return;
    snprintf(text, sizeof(text), "%s: %llu more like it in the last 10 s", KINDS[kind].name, (unsigned long long)count);
    write_line(KINDS[kind].level, text);
}

static bool may_say(enum log_kind kind)
{
    struct window *window = &windows[kind];
    pthread_mutex_lock(&windows_lock);
    uint64_t before_count = end_window(window, clock_ms(), false);
    bool may = window->said_count < BURST;
    if (may)
        window->said_count++;
    else
        window->unsaid_count++;
    pthread_mutex_unlock(&windows_lock);
    say_sum(kind, before_count);
    return may;
}

void log_limited(enum log_kind kind, const char *format, ...)
{
    va_list arguments;
    if (!may_say(kind))
        return;
    va_start(arguments, format);
    write_format(KINDS[kind].level, format, arguments);
    va_end(arguments);
}

void log_sum_up(bool is_last)
{
    for (int kind = 0; kind < LOG_KIND_COUNT; kind++) {
        pthread_mutex_lock(&windows_lock);
        uint64_t count = end_window(&windows[kind], clock_ms(), is_last);
        pthread_mutex_unlock(&windows_lock);
        say_sum((enum log_kind)kind, count);
    }
}

/* ---- requests ------------------------------------------------------------------------ */

/* Does the name of a parameter, which may be percent-encoded, end with "token"? */
static bool is_secret(struct str name)
{
    char letters[64];
    size_t count = 0;
    for (size_t at = 0; at < name.length && count < sizeof(letters); at++) {
        unsigned byte = (unsigned char)name.data[at];
        if (byte == '%' && at + 2 < name.length && sscanf(name.data + at + 1, "%2x", &byte) == 1)
            at += 2;
        letters[count++] = (char)byte;
    }
    static const struct str word = STR_INIT("token");
    return count >= word.length && str_equal_any_case((struct str){letters + count - word.length, word.length}, word);
}

/* People paste addresses with "?token=" in them; who reads the log shall not get in by it. */
static void write_target(struct buf *out, const char *target)
{
    while (*target) {
        size_t length = strcspn(target, "?&;#"), name_length = strcspn(target, "=?&;#");
        bool is_cut = name_length < length && is_secret((struct str){target, name_length});
        buf_add(out, target, is_cut ? name_length + 1 : length);
        buf_text(out, is_cut ? "***" : "");
        target += length;
        if (*target)
            buf_char(out, *target++);
    }
    buf_char(out, '\0');
}

static void write_request(const struct log_request *request)
{
    char target[LINE_BYTES / 2], method[32], at[TIME_BYTES];
    struct buf without_tokens = BUF_INIT;
    write_time(at);
    write_target(&without_tokens, request->target);
    log_escape(target, sizeof(target), without_tokens.failed ? "-" : without_tokens.data);
    buf_free(&without_tokens);
    log_escape(method, sizeof(method), request->method);
    fprintf(stderr, "%s %s %s %s %d %llu bytes %.3f ms %s\n", at, request->peer, method, target, request->status,
            (unsigned long long)request->size_bytes, (double)request->took_us / 1000, request->id);
}

static void write_request_object(const struct log_request *request, bool is_fault)
{
    struct buf buf = BUF_INIT, target = BUF_INIT;
    struct json json = JSON_INIT(&buf);
    write_target(&target, request->target);
    begin_object(&json, is_fault ? "error" : "info");
    json_key_text(&json, "request_id", request->id);
    json_key_text(&json, "peer", request->peer);
    json_key_text(&json, "method", request->method);
    json_key_text(&json, "target", target.failed ? NULL : target.data);
    buf_free(&target);
    json_key_int(&json, "status", request->status);
    json_key_uint(&json, "size_bytes", request->size_bytes);
    json_key_double(&json, "took_ms", (double)request->took_us / 1000);
    end_object(&json);
}

void log_request(const struct log_request *request)
{
    bool is_fault = request->status >= 500 && !request->is_expected;
    if (!verbose && (!is_fault || !may_say(LOG_SERVER_ERRORS)))
        return;
    if (as_json)
        write_request_object(request, is_fault);
    else
        write_request(request);
}
