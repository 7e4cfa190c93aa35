/* SPDX-License-Identifier: Apache-2.0
 * label_key.h: what a label's key and value may be, for who writes memviewd.json and for who reads it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { LABEL_KEY_MAX_BYTES = 63, LABEL_VALUE_MAX_BYTES = 1024 };

/* A word of letters, digits, _, - and ., a letter first; of ASCII, whatever the locale. */
static inline bool label_key_is(const char *text, size_t length)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    static const char others[] = "0123456789_-.";
    if (length == 0 || length > LABEL_KEY_MAX_BYTES || !text[0] || !strchr(letters, text[0]))
        return false;
    for (size_t at = 0; at < length; at++)
        if (!text[at] || (!strchr(letters, text[at]) && !strchr(others, text[at])))
            return false;
    return true;
}
