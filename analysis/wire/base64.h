/* SPDX-License-Identifier: Apache-2.0
 * base64.h: the bytes that a base64 text inside a source represents, as a source. */
#pragma once

#include "base/source.h"
#include "base/str.h"

struct base64 {
    struct source source; /* hand on &base64->source; its size is not known before its end is met */
    const struct source *text;
    uint64_t at; /* offset of the first letter */
};

/* The text ends before the first byte that is no letter of base64 (RFC 4648, without blanks), such as a quotation mark.
 * `text` and `base64` stay where they are. */
void base64_open(struct base64 *base64, const struct source *text, uint64_t at);
/* Decodes the beginning of `text`, at most `size` bytes; returns their number. */
size_t base64_decode(struct str text, void *into, size_t size);
