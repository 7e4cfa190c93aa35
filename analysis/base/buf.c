/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"

#include "base/printable.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *buf_reserve(struct buf *buf, size_t size)
{
    if (buf->failed)
        return NULL;
    if (buf->data != NULL && size <= buf->capacity - buf->length)
        return buf->data + buf->length;
    size_t min = buf->length + size;
    if (min < size || min > SIZE_MAX / 2 || (buf->limit_bytes != 0 && min > buf->limit_bytes)) {
        buf->failed = true;
        return NULL;
    }
    size_t capacity = buf->capacity + buf->capacity / 2;
    if (capacity < 256)
        capacity = 256;
    if (buf->limit_bytes != 0 && capacity > buf->limit_bytes)
        capacity = buf->limit_bytes;
    if (capacity < min)
        capacity = min;
    char *data = realloc(buf->data, capacity);
    if (data == NULL) {
        buf->failed = buf->is_refused = true;
        return NULL;
    }
    buf->data = data;
    buf->capacity = capacity;
    return data + buf->length;
}

void buf_add(struct buf *buf, const void *data, size_t size)
{
    char *to = buf_reserve(buf, size);
    if (to == NULL || size == 0)
        return;
    memcpy(to, data, size);
    buf->length += size;
}

void buf_char(struct buf *buf, char c)
{
    char *to = buf_reserve(buf, 1);
    if (to == NULL)
        return;
    *to = c;
    buf->length++;
}

void buf_text(struct buf *buf, const char *text) { buf_add(buf, text, strlen(text)); }

static void printable_add(struct buf *buf, struct str text, enum printable_form form)
{
    for (size_t at = 0; at < text.length;) {
        struct str rest = {text.data + at, text.length - at};
        size_t shown = printable_run(rest, form);
        char escape[PRINTABLE_ESCAPE_SIZE];
        buf_add(buf, rest.data, shown);
        at += shown;
        if (at == text.length)
            return;
        at += printable_escape((struct str){text.data + at, text.length - at}, escape);
        buf_text(buf, escape);
    }
}

void buf_printable(struct buf *buf, struct str text) { printable_add(buf, text, PRINTABLE_WORDS); }

void buf_printable_lines(struct buf *buf, struct str text) { printable_add(buf, text, PRINTABLE_LINES); }

void buf_printable_cut(struct buf *buf, struct str text, size_t max)
{
    size_t length = str_cut(text, max);
    buf_printable(buf, (struct str){text.data, length});
    if (length < text.length)
        buf_text(buf, "…");
}

/* Writes digits backwards and returns where they start; twenty are enough. */
static char *digits_before(char *end, uint64_t value)
{
    do {
        *--end = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    return end;
}

void buf_uint(struct buf *buf, uint64_t value)
{
    char text[20];
    char *begin = digits_before(text + sizeof(text), value);
    buf_add(buf, begin, (size_t)(text + sizeof(text) - begin));
}

void buf_int(struct buf *buf, int64_t value)
{
    if (value < 0)
        buf_char(buf, '-');
    buf_uint(buf, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void buf_format(struct buf *buf, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char *to = length < 0 ? NULL : buf_reserve(buf, (size_t)length + 1);
    if (to != NULL) {
        vsnprintf(to, (size_t)length + 1, format, again);
        buf->length += (size_t)length;
    }
    va_end(again);
}

void buf_fail_with(struct buf *buf, const struct buf *part)
{
    buf->failed |= part->failed;
    buf->is_refused |= part->is_refused;
}

bool buf_is_whole(const struct buf *buf, const char *what, struct err *err)
{
    if (!buf->failed)
        return true;
    return buf->is_refused ? err_exhausted(err)
                           : err_set(err, ERR_limit, ERR_NO_OFFSET, "%s is larger than allowed", what);
}

char *buf_take(struct buf *buf, size_t *length)
{
    char *data = buf->data;
    *length = buf->length;
    *buf = (struct buf)BUF_INIT;
    return data;
}

void buf_free(struct buf *buf)
{
    free(buf->data);
    *buf = (struct buf)BUF_INIT;
}
