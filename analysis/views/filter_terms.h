/* SPDX-License-Identifier: Apache-2.0
 * filter_terms.h: a filter that was read; of filter.c and filter_read.c alone. */
#pragma once

#include "base/regex.h"
#include "views/table.h"

enum { FILTER_TERMS_MAX = 64, FILTER_LENGTH_MAX = 4096 };

/* How a character of the filter was typed. */
enum filter_mark { FILTER_PLAIN, FILTER_QUOTED, FILTER_EXPRESSION };

/* Characters without their quotes, with how and where each was typed. */
struct filter_text {
    const char *data;
    const uint8_t *marks;   /* enum filter_mark */
    const uint32_t *places; /* in the filter text */
    size_t length;
};

enum filter_choice_kind {
    FILTER_PART,
    FILTER_WHOLE,
    FILTER_LISTED,
    FILTER_GLOB,
    FILTER_REGEX,
    FILTER_RANGE,
    FILTER_DIMENSIONS
};

struct filter_choice {
    enum filter_choice_kind kind;
    struct filter_text text; /* PART, WHOLE, LISTED, GLOB; DIMENSIONS: the element type */
    struct regex *regex;
    struct filter_text *dimensions;
    size_t dimension_count;
    const struct table_column *column; /* RANGE: of the number */
    double low, high;
    bool low_is_open, high_is_open;
};

struct filter_term {
    bool is_negated;
    const struct table_column *column; /* NULL: all that are searched */
    struct filter_choice *choices;
    size_t choice_count;
};
