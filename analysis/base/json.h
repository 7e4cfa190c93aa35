/* SPDX-License-Identifier: Apache-2.0
 * json.h: a streaming JSON writer; the order of calls is the order of bytes.
 *
 * Commas are its business. Strings may hold any bytes: control characters are
 * escaped, what is not UTF-8 becomes U+FFFD. Not-a-number and infinity are
 * null. Failure is that of the buf: sticky, to be looked at once.
 *
 * A member whose value is null is left out, with its key: what is absent is not
 * known or does not apply. Nulls in arrays stay, for places there have a
 * meaning. Formats of others (XProf's, JSON Lines with fixed columns) keep the
 * member: `keeps_null`. */
#pragma once

#include "base/buf.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct json {
    struct buf *out;
    bool needs_comma;
    bool keeps_null;    /* members that are null are written, too; of an answer whose format is not ours */
    bool is_after_key;  /* the next value is that of a member, */
    bool key_has_comma; /* before which there was another one, */
    size_t key_at;      /* and which begins here in `out`, with its comma */
};

#define JSON_INIT(buf) {(buf), false, false, false, false, 0}

void json_object_begin(struct json *json);
void json_object_end(struct json *json);
void json_array_begin(struct json *json);
void json_array_end(struct json *json);
/* A key of ours: written as it is. */
void json_key(struct json *json, const char *key);
/* A key out of a file: escaped. */
void json_key_name(struct json *json, struct str key);

void json_string(struct json *json, struct str text);
void json_text(struct json *json, const char *text); /* NULL is json_null() */
void json_int(struct json *json, int64_t value);
void json_uint(struct json *json, uint64_t value);
void json_id(struct json *json, int64_t value);       /* as a string: 64-bit ids do not survive as numbers */
void json_double(struct json *json, double value);    /* the shortest text that reads back as the same double */
void json_mib(struct json *json, int64_t size_bytes); /* size_bytes / 2^20 with all its digits */
void json_bool(struct json *json, bool value);
/* In an array null; after a key nothing, and the key is taken back. */
void json_null(struct json *json);
void json_written(struct json *json, struct str value); /* that is JSON already, even null; stays as it is */

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
/* The same, or no member and false when it is not there. */
static inline bool json_key_object_if(struct json *json, const char *key, bool is_there)
{
    (is_there ? json_key_object : json_key_null)(json, key);
    return is_there;
}
void json_key_id(struct json *json, const char *key, int64_t value);
/* no member when the text is empty */
void json_key_string_if_any(struct json *json, const char *key, struct str text);
/* no member when `value` is below 0: for counts, steps and offsets that may not be known */
void json_key_known(struct json *json, const char *key, int64_t value);
/* The members of what could not be read or answered: "file" (left out when NULL), "code" (a name of err.def), "reason"
 * (a sentence), "offset_bytes" (the place in the input; null: none). Every "not_read" and "error" has them. */
void json_keys_of_err(struct json *json, const char *file, const struct err *err);
