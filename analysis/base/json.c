/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void before_value(struct json *json)
{
    if (json->needs_comma)
        buf_char(json->out, ',');
    json->needs_comma = true;
    json->is_after_key = false;
}

/* Where a member begins that json_null() may take back. */
static void before_key(struct json *json)
{
    json->key_at = json->out->length;
    json->key_has_comma = json->needs_comma;
}

static void after_key(struct json *json)
{
    json->needs_comma = false;
    json->is_after_key = true;
}

static void open_with(struct json *json, char bracket)
{
    before_value(json);
    buf_char(json->out, bracket);
    json->needs_comma = false;
}

static void close_with(struct json *json, char bracket)
{
    buf_char(json->out, bracket);
    json->needs_comma = true;
}

void json_object_begin(struct json *json) { open_with(json, '{'); }
void json_object_end(struct json *json) { close_with(json, '}'); }
void json_array_begin(struct json *json) { open_with(json, '['); }
void json_array_end(struct json *json) { close_with(json, ']'); }

void json_key(struct json *json, const char *key)
{
    before_key(json);
    before_value(json);
    buf_char(json->out, '"');
    buf_text(json->out, key);
    buf_add(json->out, "\":", 2);
    after_key(json);
}

static void escaped(struct buf *out, unsigned char c)
{
    switch (c) {
    case '"': buf_add(out, "\\\"", 2); break;
    case '\\': buf_add(out, "\\\\", 2); break;
    case '\n': buf_add(out, "\\n", 2); break;
    case '\r': buf_add(out, "\\r", 2); break;
    case '\t': buf_add(out, "\\t", 2); break;
    default: buf_format(out, "\\u%04x", c); break;
    }
}

void json_string(struct json *json, struct str text)
{
    before_value(json);
    struct buf *out = json->out;
    const unsigned char *at = (const unsigned char *)text.data;
    size_t plain = 0; /* bytes before i that are written as they are */
    buf_char(out, '"');
    for (size_t i = 0; i < text.length;) {
        unsigned char c = at[i];
        if (c >= 0x20 && c < 0x7F && c != '"' && c != '\\') {
            i++;
            continue;
        }
        size_t length = c < 0x80 ? 0 : str_utf8_length(text.data + i, text.length - i);
        if (length > 0) {
            i += length;
            continue;
        }
        buf_add(out, at + plain, i - plain);
        if (c < 0x80)
            escaped(out, c);
        else
            buf_add(out, "\xEF\xBF\xBD", 3);
        plain = ++i;
    }
    if (text.length > plain)
        buf_add(out, at + plain, text.length - plain);
    buf_char(out, '"');
}

void json_key_name(struct json *json, struct str key)
{
    before_key(json);
    json_string(json, key);
    buf_char(json->out, ':');
    after_key(json);
}

void json_text(struct json *json, const char *text)
{
    if (text == NULL)
        json_null(json);
    else
        json_string(json, str_of(text));
}

void json_uint(struct json *json, uint64_t value)
{
    before_value(json);
    buf_uint(json->out, value);
}

void json_int(struct json *json, int64_t value)
{
    before_value(json);
    buf_int(json->out, value);
}

void json_id(struct json *json, int64_t value)
{
    before_value(json);
    buf_char(json->out, '"');
    buf_int(json->out, value);
    buf_char(json->out, '"');
}

/* Most numbers have few digits: a whole number divided by a power of ten is rounded just as its decimal text is. Those
 * below 1e-4 and above 1e9 are written with an exponent, or have more digits. */
static bool plain_number(struct json *json, double value)
{
    static const int64_t scale = 1000000;
    double size = fabs(value);
    int64_t scaled = size < 1e9 ? (int64_t)(size * (double)scale + 0.5) : 0;
    if (size < 1e-4 || size >= 1e9 || fabs((double)scaled / (double)scale - size) > 0)
        return false;
    char decimals[7] = ".";
    size_t length = sizeof(decimals);
    int64_t part = scaled % scale;
    for (size_t i = length - 1; i > 0; i--, part /= 10)
        decimals[i] = (char)('0' + part % 10);
    while (decimals[length - 1] == '0')
        length--;
    before_value(json);
    if (value < 0)
        buf_char(json->out, '-');
    buf_uint(json->out, (uint64_t)(scaled / scale));
    buf_add(json->out, decimals, length > 1 ? length : 0);
    return true;
}

void json_double(struct json *json, double value)
{
    if (!isfinite(value)) {
        json_null(json);
        return;
    }
    if (plain_number(json, value))
        return;
    char text[40];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof(text), "%.*g", digits, value);
        if (digits == 17 || strtod(text, NULL) == value)
            break;
    }
    before_value(json);
    buf_text(json->out, text);
}

void json_mib(struct json *json, int64_t size_bytes)
{
    /* size / 2^20 has at most 20 decimals, and they are size % 2^20 × 5^20. */
    const uint64_t five_to_20 = 95367431640625ULL, ten_to_10 = 10000000000ULL;
    uint64_t size = size_bytes < 0 ? 0 - (uint64_t)size_bytes : (uint64_t)size_bytes;
    before_value(json);
    if (size_bytes < 0)
        buf_char(json->out, '-');
    buf_uint(json->out, size >> 20);
    uint64_t part = size & 0xFFFFF;
    if (part == 0)
        return;
    unsigned __int128 decimals = (unsigned __int128)part * five_to_20;
    uint64_t halves[2] = {(uint64_t)(decimals / ten_to_10), (uint64_t)(decimals % ten_to_10)};
    char text[21] = ".";
    for (int half = 0; half < 2; half++)
        for (int i = 10; i > 0; i--, halves[half] /= 10)
            text[half * 10 + i] = (char)('0' + halves[half] % 10);
    size_t length = sizeof(text);
    while (text[length - 1] == '0')
        length--;
    buf_add(json->out, text, length);
}

void json_bool(struct json *json, bool value)
{
    before_value(json);
    buf_text(json->out, value ? "true" : "false");
}

void json_null(struct json *json)
{
    if (json->is_after_key && !json->keeps_null) {
        if (!json->out->failed)
            json->out->length = json->key_at;
        json->needs_comma = json->key_has_comma;
        json->is_after_key = false;
        return;
    }
    before_value(json);
    buf_add(json->out, "null", 4);
}

void json_written(struct json *json, struct str value)
{
    before_value(json);
    buf_add(json->out, value.data, value.length);
}

/* json_key_NAME: the key and what json_NAME writes. */
#define KEY_AND_VALUE(name, type)                                                                                      \
    void json_key_##name(struct json *json, const char *key, type value)                                               \
    {                                                                                                                  \
        json_key(json, key);                                                                                           \
        json_##name(json, value);                                                                                      \
    }
KEY_AND_VALUE(string, struct str)
KEY_AND_VALUE(text, const char *)
KEY_AND_VALUE(int, int64_t)
KEY_AND_VALUE(uint, uint64_t)
KEY_AND_VALUE(id, int64_t)
KEY_AND_VALUE(double, double)
KEY_AND_VALUE(bool, bool)

void json_key_null(struct json *json, const char *key)
{
    json_key(json, key);
    json_null(json);
}

void json_key_array(struct json *json, const char *key)
{
    json_key(json, key);
    json_array_begin(json);
}

void json_key_object(struct json *json, const char *key)
{
    json_key(json, key);
    json_object_begin(json);
}

void json_key_known(struct json *json, const char *key, int64_t value)
{
    if (value < 0)
        json_key_null(json, key);
    else
        json_key_int(json, key, value);
}

void json_key_string_if_any(struct json *json, const char *key, struct str text)
{
    if (text.length == 0)
        json_key_null(json, key);
    else
        json_key_string(json, key, text);
}

void json_keys_of_err(struct json *json, const char *file, const struct err *err)
{
    if (file)
        json_key_text(json, "file", file);
    json_key_text(json, "code", err_name(err->code));
    json_key_text(json, "reason", err->text);
    json_key_known(json, "offset_bytes", (int64_t)err->offset_bytes);
}
