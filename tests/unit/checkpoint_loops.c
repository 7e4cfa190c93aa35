/* SPDX-License-Identifier: Apache-2.0
 * What a checkpointed scan keeps and computes again: in which type, how often, until when; what waits behind it; and a
 * checkpoint that may cost more than it saves. */
#include "change.h"
#include "verdict/advice.h"

/* A round makes two arrays of one product and stacks them in bf16, beside what it carries. What it carries on is result
 * 1 of a kernel, and element 1 of the state. Before the backward loop there are logits, whose weights learn last. */
#define STATE "(s32[], f32[64,64], f32[12,64,64], bf16[12,64,64], bf16[12,64,64], f32[64,64])"
#define FORWARD "\"jit(f)/jvp(while)/body/"
#define BACKWARD "\"jit(f)/transpose(jvp(while))/body/"
#define SCAN(behind)                                                                                                   \
    "scheduled module=jit_f body { p = " STATE " parameter(0) i = s32[] get-tuple-element(p) index=0 "                 \
    "c = f32[64,64] get-tuple-element(p) index=1 s1 = f32[12,64,64] get-tuple-element(p) index=2 "                     \
    "s2 = bf16[12,64,64] get-tuple-element(p) index=3 s3 = bf16[12,64,64] get-tuple-element(p) index=4 "               \
    "w = f32[64,64] get-tuple-element(p) index=5 z = s32[] constant() "                                                \
    "n = f32[64,64] dot(c, w) lhs={1} rhs={0} " FORWARD "dot_general\" "                                               \
    "m = f32[64,64] tanh(n) " FORWARD "tanh\" o = f32[64,64] exponential(n) " FORWARD "exp\" "                         \
    "two = (f32[64,64], f32[64,64]) tuple(o, m) on = f32[64,64] get-tuple-element(two) index=1 "                       \
    "mb = bf16[64,64] convert(m) ob = bf16[64,64] convert(o) r1 = f32[1,64,64] reshape(c) "                            \
    "r2 = bf16[1,64,64] reshape(mb) r3 = bf16[1,64,64] reshape(ob) "                                                   \
    "u1 = f32[12,64,64] dynamic-update-slice(s1, r1, i, z, z) " FORWARD "dynamic_update_slice\" "                      \
    "u2 = bf16[12,64,64] dynamic-update-slice(s2, r2, i, z, z) " FORWARD "dynamic_update_slice\" "                     \
    "u3 = bf16[12,64,64] dynamic-update-slice(s3, r3, i, z, z) " FORWARD "dynamic_update_slice\" "                     \
    "ROOT t = " STATE " tuple(i, on, u1, u2, u3, w) } "                                                                \
    "condition { q = " STATE " parameter(0) ROOT e = pred[] constant() } "                                             \
    "back { p3 = " STATE " parameter(0) i3 = s32[] get-tuple-element(p3) index=0 "                                     \
    "d3 = f32[64,64] get-tuple-element(p3) index=1 t1 = f32[12,64,64] get-tuple-element(p3) index=2 "                  \
    "t2 = bf16[12,64,64] get-tuple-element(p3) index=3 t3 = bf16[12,64,64] get-tuple-element(p3) index=4 "             \
    "v3 = f32[64,64] get-tuple-element(p3) index=5 z3 = s32[] constant() "                                             \
    "y1 = f32[1,64,64] dynamic-slice(t1, i3, z3, z3) " BACKWARD "dynamic_slice\" "                                     \
    "y2 = bf16[1,64,64] dynamic-slice(t2, i3, z3, z3) " BACKWARD "dynamic_slice\" "                                    \
    "y3 = bf16[1,64,64] dynamic-slice(t3, i3, z3, z3) " BACKWARD "dynamic_slice\" "                                    \
    "x1 = f32[64,64] reshape(y1) x2 = bf16[64,64] reshape(y2) x3 = bf16[64,64] reshape(y3) "                           \
    "f2 = f32[64,64] multiply(x2, d3) " BACKWARD "times\" f3 = f32[64,64] multiply(x3, f2) " BACKWARD "times\" "       \
    "h2 = f32[64,64] multiply(x2, f3) " BACKWARD "times\" h3 = f32[64,64] multiply(x3, h2) " BACKWARD "times\" "       \
    "g3 = f32[64,64] dot(h3, v3) lhs={1} rhs={1} " BACKWARD "dot_general\" "                                           \
    "k3 = f32[64,64] multiply(g3, x1) " BACKWARD "times\" "                                                            \
    "ROOT a3 = " STATE " tuple(i3, k3, t1, t2, t3, v3) } "                                                             \
    "main { a = f32[64,64] parameter(0) \"params['w']\" !arg x = f32[64,64] parameter(1) \"batch\" !arg "              \
    "k = s32[] constant() zf = f32[] constant() zb = bf16[] constant() b1 = f32[12,64,64] broadcast(zf) !temp "        \
    "b2 = bf16[12,64,64] broadcast(zb) !temp b3 = bf16[12,64,64] broadcast(zb) !temp "                                 \
    "t0 = " STATE " tuple(k, x, b1, b2, b3, a) l = " STATE " while(t0) calls=body,condition \"jit(f)/jvp(while)\" "    \
    "lx = f32[64,64] get-tuple-element(l) index=1 l1 = f32[12,64,64] get-tuple-element(l) index=2 "                    \
    "l2 = bf16[12,64,64] get-tuple-element(l) index=3 l3 = bf16[12,64,64] get-tuple-element(l) index=4 "               \
    "lg = f32[512,64] exponential(lx) \"jit(f)/jvp(loss)/exp\" !temp "                                                 \
    "neg = f32[64,64] negate(lx) \"jit(f)/transpose(jvp(loss))/neg\" !temp "                                           \
    "t9 = " STATE " tuple(k, neg, l1, l2, l3, a) m9 = " STATE                                                          \
    " while(t9) calls=back,condition \"jit(f)/transpose(jvp(while))\" "                                                \
    "gx = f32[64,64] get-tuple-element(m9) index=1 " behind "}"

/* The gradient of the last weights, by itself, and in one kernel with what the program gives. */
static const char *const apart =
    SCAN("dh = f32[64,64] dot(lg, lg) lhs={0} rhs={0} \"jit(f)/transpose(jvp(loss))/dot_general\" !temp frees={lg} "
         "w2 = f32[64,64] subtract(a, dh) \"jit(f)/sub\" !temp ROOT y = f32[64,64] multiply(gx, w2) !out "
         "frees={b1,b2,b3}");
static const char *const together =
    SCAN("dh = f32[64,64] dot(lg, lg) lhs={0} rhs={0} \"jit(f)/transpose(jvp(loss))/dot_general\" !out frees={lg} "
         "y = f32[64,64] negate(gx) !out frees={b1,b2,b3} ROOT r = (f32[64,64], f32[64,64]) tuple(dh, y)");

static uint32_t row_of(const char *name)
{
    for (uint32_t i = 0; i < start.row_count; i++)
        if (start.rows[i].instruction_at != HLO_NONE &&
            str_equal(hlo_instruction_name(&plan.hlo, start.rows[i].instruction_at), str_of(name)))
            return i;
    ck_abort_msg("no row of %s", name);
}

/* What it carries stays as it is, although it comes out of a kernel at its own place. Of what one product gives, one
 * array is there again, and no longer than it is read. */
START_TEST(what_is_carried_stays_and_a_product_is_there_once)
{
    open_program(apart);
    saves("checkpoint=*");
    ck_assert(!changed.rows[row_of("b1")].is_gone);
    ck_assert(changed.rows[row_of("b2")].is_gone);
    ck_assert(changed.rows[row_of("b3")].is_gone);
    ck_assert_uint_eq(changed.row_count, start.row_count + 1);
    const struct variant_row *part = &changed.rows[start.row_count];
    ck_assert_uint_eq(part->layers, 12);
    ck_assert_uint_lt(part->dies, start.rows[row_of("b2")].dies);
}
END_TEST

/* Logits wait for nothing once that would be the peak; with the result of the program they are read at its end. */
START_TEST(what_waits_for_a_gradient_ends)
{
    open_program(apart);
    saves("checkpoint=*");
    uint32_t logits = row_of("lg");
    ck_assert_uint_gt(start.rows[logits].dies, start.rows[row_of("neg")].born + 1);
    ck_assert_uint_le(changed.rows[logits].dies, start.rows[row_of("neg")].born + 1);
    ck_assert_uint_lt(changed.rows[row_of("dh")].born, start.rows[row_of("dh")].born);
    open_program(together);
    saves("checkpoint=*");
    logits = row_of("lg");
    ck_assert_uint_eq(changed.rows[logits].dies, start.rows[logits].dies);
}
END_TEST

/* Layer 1 keeps little, and what goes into it is large and would stay for it. */
START_TEST(what_may_cost_more_has_no_figure)
{
    open_program("scheduled main { w0 = f32[64,256] parameter(0) \"params['a']\" !arg w1 = f32[256,8] parameter(1) "
                 "\"params['b']\" !arg x = f32[64,64] parameter(2) \"batch\" !arg "
                 "a = f32[64,256] dot(x, w0) lhs={1} rhs={0} \"jit(f)/jvp(layer_0)/dot_general\" !temp "
                 "h = f32[64,8] dot(a, w1) lhs={1} rhs={0} \"jit(f)/jvp(layer_1)/dot_general\" !temp frees={a} "
                 "e = f32[64,8] tanh(h) \"jit(f)/jvp(layer_1)/tanh\" !temp frees={h} "
                 "d = f32[64,8] multiply(e, e) \"jit(f)/transpose(jvp(layer_1))/times\" !temp frees={e} "
                 "g = f32[64,256] dot(d, w1) lhs={1} rhs={1} \"jit(f)/transpose(jvp(layer_1))/dot_general\" !temp "
                 "frees={d} ROOT y = f32[64,256] dot(x, g) lhs={0} rhs={0} "
                 "\"jit(f)/transpose(jvp(layer_0))/dot_general\" !out frees={g} }");
    ck_assert_int_eq(saves("checkpoint=*"), 0);
    ck_assert(result.has_no_figure);
    ck_assert_int_eq(result.confidence, CHANGE_GUESS);
    ck_assert_int_eq(strncmp(result.reason, "How much is not known, because computing the layers again", 57), 0);
    struct verdict out = {.fits = VERDICT_FITS_NO};
    const struct verdict_facts facts = {
        .arena = &arena, .out = &out, .total_bytes = before.total_bytes, .limit_bytes = before.total_bytes};
    struct advice advice = {
        .facts = &facts, .has_program = true, .start = start, .before = before, .tried = arena_child(&arena)};
    const struct verdict_advice *item = advice_try(&advice, (struct verdict_advice){.change = "checkpoint=*"});
    ck_assert_ptr_nonnull(item);
    ck_assert_int_eq(item->saves_bytes, -1);
    ck_assert_int_eq(item->lands_at_bytes, -1);
    ck_assert_int_eq(item->fits, VERDICT_FITS_PERHAPS);
    ck_assert_str_eq(item->reason, result.reason);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("checkpoint_loops");
    TCase *tests = tcase_create("checkpoint_loops");
    tcase_add_checked_fixture(tests, arena_begin, close_program);
    tcase_add_test(tests, what_is_carried_stays_and_a_product_is_there_once);
    tcase_add_test(tests, what_waits_for_a_gradient_ends);
    tcase_add_test(tests, what_may_cost_more_has_no_figure);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
