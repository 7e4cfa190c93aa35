/* SPDX-License-Identifier: Apache-2.0
 * json.h: a streaming JSON writer; the order of calls is the order of bytes.
 *
 * Commas are its business. Strings may hold any bytes: control characters are
 * escaped, what is not UTF-8 becomes U+FFFD. Not-a-number and infinity become
 * null. Failure is that of the buf: sticky, to be looked at once. */
#pragma once

#include "base/buf.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct json {
    struct buf *out;
    bool needs_comma;
};

#define JSON_INIT(buf) {(buf), false}

void json_object_begin(struct json *json);
void json_object_end(struct json *json);
void json_array_begin(struct json *json);
void json_array_end(struct json *json);
/* A key of ours: written as it is. */
void json_key(struct json *json, const char *key);
/* A key out of a file: escaped. */
void json_key_name(struct json *json, struct str key);

void json_string(struct json *json, struct str text);
void json_text(struct json *json, const char *text); /* NULL writes null */
void json_int(struct json *json, int64_t value);
void json_uint(struct json *json, uint64_t value);
void json_id(struct json *json, int64_t value);       /* as a string: 64-bit ids do not survive as numbers */
void json_double(struct json *json, double value);    /* the shortest text that reads back as the same double */
void json_mib(struct json *json, int64_t size_bytes); /* size_bytes / 2^20 with every digit of it */
void json_bool(struct json *json, bool value);
void json_null(struct json *json);
void json_written(struct json *json, struct str value); /* that is JSON already */

/* key and value in one call */
void json_key_string(struct json *json, const char *key, struct str text);
void json_key_text(struct json *json, const char *key, const char *text);
void json_key_int(struct json *json, const char *key, int64_t value);
void json_key_uint(struct json *json, const char *key, uint64_t value);
void json_key_bool(struct json *json, const char *key, bool value);
void json_key_null(struct json *json, const char *key);
void json_key_double(struct json *json, const char *key, double value);
void json_key_array(struct json *json, const char *key);  /* begins it */
void json_key_object(struct json *json, const char *key); /* begins it */
/* The same, or null and false when it is not there. */
static inline bool json_key_object_if(struct json *json, const char *key, bool is_there)
{
    (is_there ? json_key_object : json_key_null)(json, key);
    return is_there;
}
void json_key_id(struct json *json, const char *key, int64_t value);
/* null when the text is empty */
void json_key_string_if_any(struct json *json, const char *key, struct str text);
/* null when `value` is below 0: for counts, steps and offsets that may not be known */
void json_key_known(struct json *json, const char *key, int64_t value);
