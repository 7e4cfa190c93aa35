/* SPDX-License-Identifier: Apache-2.0 */
#include "server/base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

enum { LINE_BYTES = 1024 };

static bool verbose; /* set once, before any thread */

void log_set_verbose(bool is_verbose) { verbose = is_verbose; }

void log_line(const char *format, ...)
{
    char text[LINE_BYTES], line[LINE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    log_escape(line, sizeof(line), text);
    fprintf(stderr, "memviewd: %s\n", line); /* stdio locks: one call, one line */
}

void log_escape(char *out, size_t out_size, const char *text)
{
    size_t used = 0;
    for (; *text && used + 5 < out_size; text++) {
        unsigned char byte = (unsigned char)*text;
        if (byte >= 0x20 && byte < 0x7f && byte != '\\')
            out[used++] = (char)byte;
        else
            used += (size_t)snprintf(out + used, out_size - used, "\\x%02x", byte);
    }
    out[used] = '\0';
}

void log_request(const struct log_request *request)
{
    char target[LINE_BYTES / 2], method[32], at[32] = "";
    if (!verbose && (request->status < 500 || request->is_expected))
        return;
    time_t now = time(NULL);
    struct tm parts;
    if (gmtime_r(&now, &parts))
        strftime(at, sizeof(at), "%Y-%m-%dT%H:%M:%SZ", &parts);
    log_escape(target, sizeof(target), request->target);
    log_escape(method, sizeof(method), request->method);
    fprintf(stderr, "%s %s %s %s %d %llu bytes %.3f ms\n", at, request->peer, method, target, request->status,
            (unsigned long long)request->size_bytes, (double)request->took_us / 1000);
}
