/* SPDX-License-Identifier: Apache-2.0
 * program_text.h: the words of program.h's texts. */
#pragma once

#include "encoded.h"
#include "hlo.fields.h"

#include "bytes.h"

enum { PROGRAM_NAMES_MAX = 256, PROGRAM_ELEMENTS_MAX = 16 };

struct program_writing {
    const char *at; /* in the text */
    struct str names[PROGRAM_NAMES_MAX];
    uint64_t name_count, buffer_count, temporary_bytes, number_count;
    uint64_t buffer_of[PROGRAM_NAMES_MAX + 1]; /* by id: the last one of an instruction */
    bool is_scheduled, is_unplanned;
    struct buf module, assignment, temporary, trace, schedule;
};

static inline bool program_is(struct program_writing *writing, const char *token)
{
    while (*writing->at == ' ' || *writing->at == '\n' || *writing->at == ',')
        writing->at++;
    bool is_here = strncmp(writing->at, token, strlen(token)) == 0;
    writing->at += is_here ? strlen(token) : 0;
    return is_here;
}

static inline void program_want(struct program_writing *writing, const char *token)
{
    ck_assert_msg(program_is(writing, token), "%s is missing before: %.40s", token, writing->at);
}

static inline struct str program_word(struct program_writing *writing)
{
    program_is(writing, "");
    size_t length = strspn(writing->at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.$");
    struct str word = {writing->at, length};
    ck_assert_msg(length > 0, "no word: %.40s", writing->at);
    writing->at += length;
    return word;
}

static inline uint64_t program_number(struct program_writing *writing)
{
    return strtoull(program_word(writing).data, NULL, 10);
}

/* The id of a name, from 1. */
static inline uint64_t program_id(struct program_writing *writing, struct str name)
{
    for (uint64_t i = 0; i < writing->name_count; i++)
        if (str_equal(writing->names[i], name))
            return i + 1;
    ck_assert_uint_lt(writing->name_count, PROGRAM_NAMES_MAX);
    writing->names[writing->name_count++] = name;
    return writing->name_count;
}
