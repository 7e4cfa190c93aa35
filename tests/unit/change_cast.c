/* SPDX-License-Identifier: Apache-2.0
 * What a program takes whose arrays, or some of them, are stored and computed in fewer bits. */
#include "change.h"

START_TEST(casts)
{
    open_program(step);
    /* what is moved alone, for a part: the argument, and no result of a computation in int8 */
    ck_assert_int_eq(saves("cast=params*:int8"), 16384 - 4096);
    ck_assert_int_eq(result.confidence, CHANGE_EXACT);
    ck_assert_int_eq(saves("cast=opt_state*.mu*:bf16"), 2 * 8192); /* it is not donated: the new one is smaller, too */
    ck_assert_str_eq(result.call, "optax.adamw(…, mu_dtype=jnp.bfloat16)");
    /* everything: every array is half as large */
    saves("cast=*:bf16");
    ck_assert_int_eq(after.fixed_bytes, before.fixed_bytes / 2);
    ck_assert_int_eq(after.live_bytes, before.live_bytes / 2);
    ck_assert_int_eq(result.confidence, CHANGE_MODEL);
    refused("cast=params*:f64", "no wider numbers");
    saves("donate=all");
    int64_t donated_bytes = after.total_bytes;
    ck_assert(also("cast=opt_state*.mu*:bf16"));
    ck_assert_int_eq(donated_bytes - after.total_bytes, 8192);
    saves("cast=opt_state*.mu*:bf16");
    ck_assert(also("donate=all"));
    ck_assert_int_eq(donated_bytes - after.total_bytes, 8192);
}
END_TEST

/* XLA for TPUs writes some conversions as copies: a part that is cast is not what narrow numbers become. */
START_TEST(a_copy_that_widens_is_no_part)
{
    open_program("scheduled main { m = f32[64,64] parameter(0) \"opt_state[0].mu['w']\" !arg "
                 "x = bf16[64,64] parameter(1) \"x\" !arg c = f32[64,64] copy(x) !temp d = f32[64,64] copy(m) !temp "
                 "e = f32[64,64] add(c, d) ROOT y = f32[1,64] slice(e) !out }");
    ck_assert_int_eq(saves("cast=mu:bf16"), 2 * 8192); /* m, and what only moves it */
}
END_TEST

/* It is as narrow as its argument was before. */
START_TEST(a_copy_of_what_is_narrow_stays)
{
    open_program("scheduled main { x = bf16[64,64] parameter(0) \"x\" !arg w = f32[64,64] parameter(1) \"w\" !arg "
                 "c = bf16[64,64] copy(x) !temp ROOT y = bf16[64,64] tanh(c) !out }");
    ck_assert_int_eq(saves("cast=*:bf16"), 8192);
    refused("cast=x:bf16", "no wider numbers");
}
END_TEST

/* A cast to float32 that the person wrote stays, with what is computed from it. */
START_TEST(what_is_cast_wide_stays_wide)
{
    open_program(
        "scheduled main { x = bf16[64,64] parameter(0) \"x\" !arg w = f32[64,64] parameter(1) \"w\" !arg "
        "c = f32[64,64] convert(x) \"jit(f)/convert_element_type\" !temp e = f32[64,64] exponential(c) \"jit(f)/exp\" "
        "!temp s = f32[64,64] exponential(w) \"jit(f)/exp\" !temp ROOT y = f32[64,64] add(e, s) \"jit(f)/add\" !out }");
    saves("cast=*:bf16");
    ck_assert_int_eq(changed.rows[1].bytes, 8192); /* w */
    for (uint32_t i = 0; i < changed.row_count; i++) {
        struct str name = hlo_instruction_name(&plan.hlo, changed.rows[i].instruction_at);
        bool is_wide = str_equal(name, STR("c")) || str_equal(name, STR("e")) || str_equal(name, STR("y"));
        ck_assert_msg(changed.rows[i].bytes == (is_wide ? 16384 : 8192), "%.*s: %lld", (int)name.length, name.data,
                      (long long)changed.rows[i].bytes);
    }
}
END_TEST

/* images.astype(float32) / 255: there is no argument whose type it takes. */
START_TEST(numbers_made_of_pixels_stay_wide)
{
    static const char *const program =
        "scheduled main { x = %s[64,64] parameter(0) \"images\" !arg w = f32[64,64] parameter(1) \"w\" !arg "
        "k = f32[] constant() b = f32[64,64] broadcast(k) c = f32[64,64] convert(x) \"jit(f)/convert_element_type\" "
        "!temp d = f32[64,64] divide(c, %s) \"jit(f)/div\" !temp ROOT y = f32[64,64] tanh(d) \"jit(f)/tanh\" !out }";
    static const char *const cases[][2] = {{"u32", "b"}, {"u32", "w"}, {"pred", "b"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        open_program(arena_format(&arena, program, cases[i][0], cases[i][1]));
        saves("cast=*:bf16");
        ck_assert_int_eq(after.live_bytes, (i == 0 ? before.live_bytes : before.live_bytes / 2));
    }
}
END_TEST

/* A GPU computes the tanh of a GELU twice from float32; of bfloat16 it keeps it, beside the product. Where the product
 * is bfloat16 already, it does what it did before. */
START_TEST(a_gpu_keeps_what_is_narrow)
{
    static const char *const mixed =
        "scheduled forth { q = bf16[64,64] parameter(0) t = bf16[64,64] tanh(q) \"jit(f)/jvp(M)/tanh\" ROOT r = "
        "bf16[64,64] multiply(t, q) \"jit(f)/jvp(M)/mul\" } back { q2 = bf16[64,64] parameter(0) t2 = bf16[64,64] "
        "tanh(q2) \"jit(f)/jvp(M)/tanh\" ROOT r2 = bf16[64,64] multiply(t2, q2) \"jit(f)/transpose(jvp(M))/mul\" } "
        "main { x = bf16[64,64] parameter(0) \"x\" !arg w = bf16[64,64] parameter(1) \"w\" !arg "
        "v = f32[64,64] parameter(2) \"v\" !arg p = bf16[64,64] dot(x, w) \"jit(f)/jvp(M)/dot_general\" !temp "
        "a = bf16[64,64] fusion(p) calls=forth \"jit(f)/jvp(M)/mul\" !temp "
        "b = bf16[64,64] dot(a, w) \"jit(f)/jvp(M)/dot_general\" !temp "
        "c = bf16[64,64] fusion(p) calls=back \"jit(f)/transpose(jvp(M))/mul\" !temp "
        "ROOT y = bf16[64,64] add(b, c) \"jit(f)/add\" !out }";
    static const char *const program =
        "scheduled forth { q = f32[64,64] parameter(0) t = f32[64,64] tanh(q) \"jit(f)/jvp(M)/tanh\" ROOT r = "
        "f32[64,64] multiply(t, q) \"jit(f)/jvp(M)/mul\" } back { q2 = f32[64,64] parameter(0) t2 = f32[64,64] "
        "tanh(q2) \"jit(f)/jvp(M)/tanh\" ROOT r2 = f32[64,64] multiply(t2, q2) \"jit(f)/transpose(jvp(M))/mul\" } "
        "main { x = f32[64,64] parameter(0) \"x\" !arg w = f32[64,64] parameter(1) \"w\" !arg "
        "p = f32[64,64] dot(x, w) \"jit(f)/jvp(M)/dot_general\" !temp "
        "a = f32[64,64] fusion(p) calls=forth \"jit(f)/jvp(M)/mul\" !temp "
        "b = f32[64,64] dot(a, w) \"jit(f)/jvp(M)/dot_general\" !temp "
        "c = f32[64,64] fusion(p) calls=back \"jit(f)/transpose(jvp(M))/mul\" !temp "
        "ROOT y = f32[64,64] add(b, c) \"jit(f)/add\" !out }";
    for (int is_gpu = 0; is_gpu < 2; is_gpu++) {
        open_program(program);
        plan.platform = is_gpu ? SPACE_PLATFORM_GPU : SPACE_PLATFORM_TPU;
        saves("cast=*:bf16");
        ck_assert_int_eq(before.live_bytes, 4 * 16384);
        ck_assert_int_eq(after.live_bytes, (4 + is_gpu) * 8192);
    }
    open_program(mixed);
    plan.platform = SPACE_PLATFORM_GPU;
    ck_assert_int_eq(saves("cast=*:bf16"), 8192); /* v */
    ck_assert_int_eq(after.live_bytes, before.live_bytes);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("change_cast");
    TCase *tests = tcase_create("change_cast");
    tcase_add_checked_fixture(tests, arena_begin, close_program);
    tcase_add_test(tests, casts);
    tcase_add_test(tests, a_copy_that_widens_is_no_part);
    tcase_add_test(tests, a_copy_of_what_is_narrow_stays);
    tcase_add_test(tests, what_is_cast_wide_stays_wide);
    tcase_add_test(tests, numbers_made_of_pixels_stay_wide);
    tcase_add_test(tests, a_gpu_keeps_what_is_narrow);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
