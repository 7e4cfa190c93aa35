/* SPDX-License-Identifier: Apache-2.0
 * change.h: small programs that are changed, and what that saves; programs are written as program.h says. */
#pragma once

#include "whatif/fit.h"

#include "program.h"

static struct plan plan;
static struct buf file;
static struct variant start, changed;
static struct variant_sums before, after;
static struct change_result result;

static inline void open_program(const char *text)
{
    ARENA_MUST_NOT_JUMP();
    buf_free(&file);
    err = (struct err)ERR_INIT;
    program_read(text, &file, &plan);
    ck_assert_ptr_nonnull(plan_space_find(&plan, 0));
    variant_begin(&start, &plan, plan_space_find(&plan, 0), &arena);
    variant_copy(&changed, &start, &arena);
    variant_measure(&changed, &before, NULL);
}

static inline void close_program(void)
{
    buf_free(&file);
    file = (struct buf)BUF_INIT;
    arena_end();
}

/* On top of what was changed before; err is set where it does not apply. */
static inline bool also(const char *text)
{
    struct change change;
    ARENA_MUST_NOT_JUMP();
    err = (struct err)ERR_INIT;
    if (!change_read(str_of(text), &change, &err) || !change_apply(&changed, &change, &result, &err))
        return false;
    variant_measure(&changed, &after, NULL);
    return true;
}

/* Alone: the bytes that it saves of all. */
static inline int64_t saves(const char *text)
{
    variant_copy(&changed, &start, &arena);
    ck_assert_msg(also(text), "%s: %s", text, err.text);
    return before.total_bytes - after.total_bytes;
}

/* It is refused, in these words. */
static inline void refused(const char *text, const char *words)
{
    variant_copy(&changed, &start, &arena);
    ck_assert_msg(!also(text), "%s applies", text);
    ck_assert_int_eq(err.code, ERR_argument);
    ck_assert_msg(strstr(err.text, words) != NULL, "%s: %s", text, err.text);
}
