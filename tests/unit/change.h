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

/* One layer, Adam; 16,384 bytes each of the parameter and its moments, 8,192 of the batch and of what is computed. */
__attribute__((unused)) static const char *const step =
    "scheduled module=jit_step main { w = f32[64,64] parameter(0) \"params['w']\" !arg "
    "m = f32[64,64] parameter(1) \"opt_state[0].mu['w']\" !arg n = f32[64,64] parameter(2) \"opt_state[0].nu['w']\" "
    "!arg x = f32[32,64] parameter(3) \"batch\" !arg "
    "h = f32[32,64] dot(x, w) lhs={1} rhs={0} \"jit(step)/jvp(layer_0)/dot_general\" !temp "
    "e = f32[32,64] tanh(h) \"jit(step)/jvp(layer_0)/tanh\" !temp "
    "d = f32[32,64] multiply(e, h) \"jit(step)/transpose(jvp(layer_0))/times\" !temp frees={h,e} "
    "g = f32[64,64] dot(x, d) lhs={0} rhs={0} \"jit(step)/transpose(jvp(layer_0))/dot_general\" !temp frees={d} "
    "w2 = f32[64,64] subtract(w, g) \"jit(step)/sub\" !out m2 = f32[64,64] add(m, g) \"jit(step)/add\" !out "
    "n2 = f32[64,64] add(n, g) \"jit(step)/add\" !out frees={g} "
    "ROOT t = (f32[64,64], f32[64,64], f32[64,64]) tuple(w2, m2, n2) }";

static inline struct change reads(const char *text)
{
    struct change change;
    err = (struct err)ERR_INIT;
    ck_assert_msg(change_read(str_of(text), &change, &err), "%s: %s", text, err.text);
    return change;
}

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
