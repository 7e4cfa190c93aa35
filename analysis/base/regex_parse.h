/* SPDX-License-Identifier: Apache-2.0
 * regex_parse.h: an expression as a tree; of regex.c alone. */
#pragma once

#include "base/regex.h"

#include <stdint.h>

enum regex_parse_kind {
    REGEX_PARSE_EMPTY,
    REGEX_PARSE_RUNES,     /* one character out of `ranges` */
    REGEX_PARSE_SEQUENCE,  /* left, then right */
    REGEX_PARSE_CHOICE,    /* left or right */
    REGEX_PARSE_REPEAT,    /* left, least to most times */
    REGEX_PARSE_ASSERTION, /* nothing, where `assertion` holds */
};

enum regex_parse_assertion {
    REGEX_PARSE_TEXT_BEGIN,
    REGEX_PARSE_TEXT_END,
    REGEX_PARSE_LINE_BEGIN,
    REGEX_PARSE_LINE_END,
    REGEX_PARSE_WORD_EDGE,
    REGEX_PARSE_NO_WORD_EDGE,
};

struct regex_parse_range {
    uint32_t first, last;
};

enum { REGEX_PARSE_NO_MAX = -1, REGEX_PARSE_LAST_RUNE = 0x10FFFF };

struct regex_parse_node {
    enum regex_parse_kind kind;
    enum regex_parse_assertion assertion;
    struct regex_parse_node *left, *right;
    int min, max; /* most: REGEX_PARSE_NO_MAX without an end */
    struct regex_parse_range *ranges;
    uint32_t range_count;
};

/* The tree of a pattern, or NULL and the fault. */
struct regex_parse_node *regex_parse(struct str pattern, bool is_any_case, struct arena *arena,
                                     struct regex_fault *fault);
