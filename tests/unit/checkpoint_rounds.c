/* SPDX-License-Identifier: Apache-2.0
 * Layers that run inside of a scan's rounds, as an LSTM's cells do; what the compiler computes again beside other
 * results. */
#include "change.h"

#include "whatif/regions.h"

/* Two cells in each round, of which what goes into the first is stacked, and what both make, some of it in bf16. */
#define ROUNDS "(s32[], f32[64,64], bf16[12,64,64], f32[12,64,64], f32[12,64,64], f32[64,64], f32[64,64])"
static const char *const cells =
    "scheduled module=jit_f body { p = " ROUNDS " parameter(0) i = s32[] get-tuple-element(p) index=0 "
    "c = f32[64,64] get-tuple-element(p) index=1 s1 = bf16[12,64,64] get-tuple-element(p) index=2 "
    "s2 = f32[12,64,64] get-tuple-element(p) index=3 s3 = f32[12,64,64] get-tuple-element(p) index=4 "
    "w0 = f32[64,64] get-tuple-element(p) index=5 w1 = f32[64,64] get-tuple-element(p) index=6 z = s32[] constant() "
    "n = f32[64,64] dot(c, w0) lhs={1} rhs={0} \"jit(f)/jvp()/while/body/dot_general\" "
    "m = f32[64,64] tanh(n) \"jit(f)/jvp()/while/body/tanh\" "
    "o = f32[64,64] dot(m, w1) lhs={1} rhs={0} \"jit(f)/jvp()/while/body/dot_general\" "
    "nb = bf16[64,64] convert(n) r1 = bf16[1,64,64] reshape(nb) r2 = f32[1,64,64] reshape(c) "
    "r3 = f32[1,64,64] reshape(o) "
    "u1 = bf16[12,64,64] dynamic-update-slice(s1, r1, i, z, z) \"jit(f)/jvp()/while/body/dynamic_update_slice\" "
    "u2 = f32[12,64,64] dynamic-update-slice(s2, r2, i, z, z) \"jit(f)/jvp()/while/body/dynamic_update_slice\" "
    "u3 = f32[12,64,64] dynamic-update-slice(s3, r3, i, z, z) \"jit(f)/jvp()/while/body/dynamic_update_slice\" "
    "ROOT t = " ROUNDS " tuple(i, o, u1, u2, u3, w0, w1) } "
    "condition { q = " ROUNDS " parameter(0) ROOT e = pred[] constant() } "
    "back { p3 = " ROUNDS
    " parameter(0) i3 = s32[] get-tuple-element(p3) index=0 d3 = f32[64,64] get-tuple-element(p3) index=1 "
    "t1 = bf16[12,64,64] get-tuple-element(p3) index=2 t2 = f32[12,64,64] get-tuple-element(p3) index=3 "
    "t3 = f32[12,64,64] get-tuple-element(p3) index=4 v0 = f32[64,64] get-tuple-element(p3) index=5 "
    "v1 = f32[64,64] get-tuple-element(p3) index=6 z3 = s32[] constant() "
    "y1 = bf16[1,64,64] dynamic-slice(t1, i3, z3, z3) \"jit(f)/transpose(jvp())/while/body/dynamic_slice\" "
    "y2 = f32[1,64,64] dynamic-slice(t2, i3, z3, z3) \"jit(f)/transpose(jvp())/while/body/dynamic_slice\" "
    "y3 = f32[1,64,64] dynamic-slice(t3, i3, z3, z3) \"jit(f)/transpose(jvp())/while/body/dynamic_slice\" "
    "x1 = bf16[64,64] reshape(y1) x2 = f32[64,64] reshape(y2) x3 = f32[64,64] reshape(y3) "
    "xf = f32[64,64] convert(x1) f3 = f32[64,64] multiply(xf, d3) \"jit(f)/transpose(jvp())/while/body/times\" "
    "f4 = f32[64,64] multiply(x3, f3) \"jit(f)/transpose(jvp())/while/body/times\" "
    "g3 = f32[64,64] dot(f4, v1) lhs={1} rhs={1} \"jit(f)/transpose(jvp())/while/body/dot_general\" "
    "h3 = f32[64,64] dot(g3, v0) lhs={1} rhs={1} \"jit(f)/transpose(jvp())/while/body/dot_general\" "
    "k3 = f32[64,64] multiply(h3, x2) \"jit(f)/transpose(jvp())/while/body/times\" "
    "ROOT a3 = " ROUNDS " tuple(i3, k3, t1, t2, t3, v0, v1) } "
    "main { a = f32[64,64] parameter(0) \"params['cells'][0]['w']\" !arg "
    "b = f32[64,64] parameter(1) \"params['cells'][1]['w']\" !arg x = f32[64,64] parameter(2) \"batch\" !arg "
    "k = s32[] constant() zb = bf16[] constant() zf = f32[] constant() "
    "b1 = bf16[12,64,64] broadcast(zb) !temp b2 = f32[12,64,64] broadcast(zf) !temp "
    "b3 = f32[12,64,64] broadcast(zf) !temp "
    "t0 = " ROUNDS " tuple(k, x, b1, b2, b3, a, b) l = " ROUNDS
    " while(t0) calls=body,condition \"jit(f)/jvp()/while\" "
    "lx = f32[64,64] get-tuple-element(l) index=1 l1 = bf16[12,64,64] get-tuple-element(l) index=2 "
    "l2 = f32[12,64,64] get-tuple-element(l) index=3 l3 = f32[12,64,64] get-tuple-element(l) index=4 "
    "neg = f32[64,64] negate(lx) \"jit(f)/transpose(jvp())/neg\" !temp "
    "t9 = " ROUNDS " tuple(k, neg, l1, l2, l3, a, b) m9 = " ROUNDS
    " while(t9) calls=back,condition \"jit(f)/transpose(jvp())/while\" "
    "gx = f32[64,64] get-tuple-element(m9) index=1 ROOT y = f32[64,64] copy(gx) !out frees={b1,b2,b3} }";

static uint32_t instruction_named(const char *name)
{
    for (uint32_t at = 0; at < plan.hlo.instruction_count; at++)
        if (str_equal(hlo_instruction_name(&plan.hlo, at), str_of(name)))
            return at;
    ck_abort_msg("no instruction %s", name);
}

static bool is_gone(const char *name)
{
    for (uint32_t i = 0; i < start.row_count; i++)
        if (start.rows[i].instruction_at == instruction_named(name))
            return changed.rows[i].is_gone;
    ck_abort_msg("no row of %s", name);
}

/* What the scan carries stays, in the type in which it carries it; what cells make inside goes, by whatever name. */
START_TEST(cells_of_a_scan_are_no_layers)
{
    open_program(cells);
    const struct regions *regions = regions_by_any(&start);
    ck_assert_uint_eq(regions->of[instruction_named("n")], HLO_NONE);
    ck_assert_uint_eq(regions->of[instruction_named("h3")], HLO_NONE);
    ck_assert_ptr_null(regions_parameters(&start));
    saves("checkpoint=*");
    ck_assert(is_gone("b1")); /* smaller than what stays, but of another type */
    ck_assert_int_eq(is_gone("b2") + is_gone("b3"), 1);
    ck_assert_double_gt(result.extra_flops_percent, 0);
}
END_TEST

/* A round that goes forward and backward, as one over a microbatch does, has its layers inside. */
START_TEST(a_round_over_a_microbatch_has_layers)
{
    open_program(
        "scheduled module=jit_f body { p = (s32[], f32[64,64], f32[64,64], f32[64,64]) parameter(0) "
        "i = s32[] get-tuple-element(p) index=0 c = f32[64,64] get-tuple-element(p) index=1 "
        "w0 = f32[64,64] get-tuple-element(p) index=2 w1 = f32[64,64] get-tuple-element(p) index=3 "
        "n = f32[64,64] dot(c, w0) lhs={1} rhs={0} \"jit(f)/while/body/jvp()/dot_general\" "
        "o = f32[64,64] dot(n, w1) lhs={1} rhs={0} \"jit(f)/while/body/jvp()/dot_general\" "
        "g = f32[64,64] dot(o, w1) lhs={1} rhs={1} \"jit(f)/while/body/transpose(jvp())/dot_general\" "
        "h = f32[64,64] dot(g, w0) lhs={1} rhs={1} \"jit(f)/while/body/transpose(jvp())/dot_general\" "
        "ROOT t = (s32[], f32[64,64], f32[64,64], f32[64,64]) tuple(i, h, w0, w1) } "
        "condition { q = (s32[], f32[64,64], f32[64,64], f32[64,64]) parameter(0) ROOT e = pred[] constant() } "
        "main { a = f32[64,64] parameter(0) \"params['cells'][0]['w']\" !arg "
        "b = f32[64,64] parameter(1) \"params['cells'][1]['w']\" !arg x = f32[64,64] parameter(2) \"batch\" !arg "
        "k = s32[] constant() t0 = (s32[], f32[64,64], f32[64,64], f32[64,64]) tuple(k, x, a, b) "
        "l = (s32[], f32[64,64], f32[64,64], f32[64,64]) while(t0) calls=body,condition \"jit(f)/while\" "
        "gx = f32[64,64] get-tuple-element(l) index=1 ROOT y = f32[64,64] copy(gx) !out }");
    const struct regions *regions = regions_by_any(&start);
    ck_assert_uint_ne(regions->of[instruction_named("n")], HLO_NONE);
    ck_assert_uint_ne(regions->of[instruction_named("n")], regions->of[instruction_named("o")]);
}
END_TEST

/* Layers that only their parameters tell, beside two heads whose scopes have numbers. */
#define LAYER(n, next)                                                                                                 \
    "h" #n " = f32[64,64] dot(x" #n ", w" #n ") lhs={1} rhs={0} \"jit(f)/jvp()/dot_general\" !temp "                   \
    "x" #next " = f32[64,64] tanh(h" #n ") \"jit(f)/jvp()/tanh\" !temp "
#define GRADIENT(n, next)                                                                                              \
    "a" #n " = f32[64,64] multiply(d" #next ", h" #n ") \"jit(f)/transpose(jvp())/times\" !temp "                      \
    "g" #n " = f32[64,64] dot(x" #n ", a" #n ") lhs={0} rhs={0} \"jit(f)/transpose(jvp())/dot_general\" !out "         \
    "d" #n " = f32[64,64] dot(a" #n ", w" #n ") lhs={1} rhs={1} \"jit(f)/transpose(jvp())/dot_general\" !temp "        \
    "frees={a" #n ",h" #n ",x" #next ",d" #next "} "
START_TEST(heads_with_numbers_are_no_layers)
{
    open_program(
        "scheduled module=jit_f main { w0 = f32[64,64] parameter(0) \"params['layer_0']['w']\" !arg "
        "w1 = f32[64,64] parameter(1) \"params['layer_1']['w']\" !arg "
        "w2 = f32[64,64] parameter(2) \"params['layer_2']['w']\" !arg "
        "v = f32[64,64] parameter(3) \"params['out']\" !arg "
        "x0 = f32[64,64] parameter(4) \"batch\" !arg " LAYER(0, 1) LAYER(1, 2)
            LAYER(2, 3) "p = f32[64,64] dot(x3, v) lhs={1} rhs={0} \"jit(f)/jvp(head_1)/dot_general\" !temp "
                        "q = f32[64,64] dot(x3, v) lhs={1} rhs={0} \"jit(f)/jvp(head_2)/dot_general\" !temp "
                        "r = f32[64,64] dot(p, v) lhs={1} rhs={1} \"jit(f)/transpose(jvp(head_1))/dot_general\" !temp "
                        "d3 = f32[64,64] dot(q, r) lhs={1} rhs={1} \"jit(f)/transpose(jvp(head_2))/dot_general\" !temp "
                        "frees={p,q,r} " GRADIENT(2, 3) GRADIENT(1, 2)
                            GRADIENT(0, 1) "ROOT t = (f32[64,64], f32[64,64], f32[64,64]) tuple(g0, g1, g2) }");
    const struct regions *regions = regions_by_any(&start);
    ck_assert_ptr_nonnull(regions_parameters(&start));
    ck_assert_uint_ne(regions->of[instruction_named("h0")], regions->of[instruction_named("h1")]);
    ck_assert_uint_ne(regions->of[instruction_named("h0")], HLO_NONE);
}
END_TEST

/* A fusion that is repeated may give a sum beside the array that it gave alone before. */
START_TEST(a_repetition_may_give_more)
{
    open_program("scheduled module=jit_f main { x = f32[1,64] parameter(0) \"x\" !arg "
                 "m = f32[512,64] custom-call(x) !temp a = f32[64,64] dot(x, x) lhs={0} rhs={0} !temp "
                 "b = f32[64,64] negate(a) !temp frees={a} e = f32[64,64] negate(b) !temp frees={b} "
                 "g = f32[1,64] slice(e) !temp frees={e} a.remat = (f32[1], f32[64,64]) custom-call(x) !temp{1} "
                 "r = f32[64,64] get-tuple-element(a.remat) index=1 "
                 "c = f32[1,64] slice(r) !temp frees={a.remat} ROOT y = f32[1,64] add(c, g) !out frees={c,g} }");
    ck_assert_ptr_nonnull(start.without_remat);
    uint32_t gone = 0;
    for (uint32_t i = 0; i < start.without_remat->row_count; i++)
        gone += start.without_remat->rows[i].is_gone;
    ck_assert_uint_eq(gone, 1);
}
END_TEST

static const struct variant_row *row_named(const struct variant *variant, const char *name)
{
    for (uint32_t i = 0; i < start.row_count; i++)
        if (start.rows[i].instruction_at == instruction_named(name))
            return &variant->rows[i];
    ck_abort_msg("no row of %s", name);
}

/* Gradients of weights at the end of the program: what they are made of is kept until then, but no longer once values
 * are computed again; unless something else reads it, or it is a derivative of a derivative. */
START_TEST(gradients_wait_for_their_layer_alone)
{
    static const char *const program =
        "scheduled module=jit_f main { w0 = f32[64,64] parameter(0) \"params['layer_0']['w']\" !arg "
        "w1 = f32[64,64] parameter(1) \"params['layer_1']['w']\" !arg "
        "w2 = f32[64,64] parameter(2) \"params['layer_2']['w']\" !arg x0 = f32[64,64] parameter(3) \"batch\" !arg "
        "h0 = f32[64,64] dot(x0, w0) lhs={1} rhs={0} \"jit(f)/jvp()/dot_general\" !temp "
        "x1 = f32[64,64] tanh(h0) \"jit(f)/jvp()/tanh\" !temp "
        "h1 = f32[64,64] dot(x1, w1) lhs={1} rhs={0} \"jit(f)/jvp()/dot_general\" !temp "
        "x2 = f32[64,64] tanh(h1) \"jit(f)/jvp()/tanh\" !temp "
        "h2 = f32[64,64] dot(x2, w2) lhs={1} rhs={0} \"jit(f)/jvp()/dot_general\" !temp "
        "d3 = f32[64,64] negate(h2) \"jit(f)/transpose(jvp())/neg\" !temp "
        "a2 = f32[64,64] multiply(d3, h2) \"jit(f)/transpose(jvp())/times\" !temp "
        "d2 = f32[64,64] dot(a2, w2) lhs={1} rhs={1} \"jit(f)/transpose(jvp())/dot_general\" !temp frees={d3} "
        "a1 = f32[64,64] multiply(d2, h1) \"%s/times\" !temp frees={h1} "
        "d1 = f32[64,64] dot(a1, w1) lhs={1} rhs={1} \"jit(f)/transpose(jvp())/dot_general\" !temp frees={d2} "
        "a0 = f32[64,64] multiply(d1, h0) \"jit(f)/transpose(jvp())/times\" !temp frees={h0,d1} "
        "d0 = f32[64,64] dot(a0, w0) lhs={1} rhs={1} \"jit(f)/transpose(jvp())/dot_general\" !temp "
        "g0 = f32[64,64] dot(x0, a0) lhs={0} rhs={0} \"jit(f)/transpose(jvp())/dot_general\" !out "
        "g1 = f32[64,64] %s \"jit(f)/transpose(jvp())/dot_general\" !out "
        "g2 = f32[64,64] dot(x2, a2) lhs={0} rhs={0} \"jit(f)/transpose(jvp())/dot_general\" !out "
        "frees={a0,a1,a2,x1,x2,h2} "
        "ROOT t = (f32[64,64], f32[64,64], f32[64,64]) tuple(g0, g1, g2) }";
    static const char *const product = "dot(x1, a1) lhs={0} rhs={0}", *const once = "jit(f)/transpose(jvp())";
    const struct {
        const char *made_in, *late;
        bool is_cut;
    } cases[] = {
        {once, product, true}, {once, "add(x1, a1)", false}, {"jit(f)/transpose(jvp(vmap(jvp())))", product, false}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        open_program(arena_format(&arena, program, cases[i].made_in, cases[i].late));
        saves("checkpoint=*");
        ck_assert_int_eq(row_named(&changed, "a1")->dies < row_named(&start, "a1")->dies, cases[i].is_cut);
    }
}
END_TEST

/* What one kernel reads is computed in it, unless a product gives it. */
START_TEST(a_product_is_stored_again)
{
    static const char *const makers[] = {"dot(k0, k0) lhs={1} rhs={0} \"jit(f)/jvp(layer_%d)/dot_general\"",
                                         "tanh(k0) \"jit(f)/jvp(layer_%d)/tanh\""};
    static const char *const program =
        "scheduled module=jit_f main { w = f32[64,64] parameter(0) \"params['w']\" !arg "
        "k0 = f32[64,64] parameter(1) \"batch\" !arg h0 = f32[64,64] %s !temp h1 = f32[64,64] %s !temp "
        "b1 = f32[64,64] dot(h1, w) lhs={1} rhs={1} \"jit(f)/transpose(jvp(layer_1))/dot_general\" !temp frees={h1} "
        "b0 = f32[64,64] dot(h0, b1) lhs={1} rhs={1} \"jit(f)/transpose(jvp(layer_0))/dot_general\" !out "
        "frees={h0,b1} ROOT t = (f32[64,64]) tuple(b0) }";
    for (size_t i = 0; i < sizeof(makers) / sizeof(makers[0]); i++) {
        char one[128], other[128];
        snprintf(one, sizeof(one), makers[i], 0);
        snprintf(other, sizeof(other), makers[i], 1);
        open_program(arena_format(&arena, program, one, other));
        saves("checkpoint=*");
        uint32_t again = 0;
        for (uint32_t k = start.row_count; k < changed.row_count; k++)
            again += changed.rows[k].instruction_at == instruction_named("h0");
        ck_assert_uint_eq(again, i == 0);
    }
}
END_TEST

/* The next layer's parameters are read before a loop of the layer before runs. */
#define LOOPED "(s32[], f32[64,64], f32[12,64,64])"
START_TEST(a_loop_is_of_the_layer_that_it_begins_with)
{
    open_program(
        "scheduled module=jit_f body { p = " LOOPED " parameter(0) i = s32[] get-tuple-element(p) index=0 "
        "c = f32[64,64] get-tuple-element(p) index=1 xs = f32[12,64,64] get-tuple-element(p) index=2 z = s32[] "
        "constant() one = f32[1,64,64] dynamic-slice(xs, i, z, z) \"jit(f)/jvp()/while/body/dynamic_slice\" "
        "part = f32[64,64] reshape(one) sum = f32[64,64] add(c, part) \"jit(f)/jvp()/while/body/add\" "
        "ROOT t = " LOOPED " tuple(i, sum, xs) } "
        "condition { q = " LOOPED " parameter(0) ROOT e = pred[] constant() } "
        "main { w0 = f32[64,64] parameter(0) \"params['layer_0']['w']\" !arg "
        "v0 = f32[64,64] parameter(1) \"params['layer_0']['v']\" !arg "
        "w1 = f32[64,64] parameter(2) \"params['layer_1']['w']\" !arg "
        "v1 = f32[64,64] parameter(3) \"params['layer_1']['v']\" !arg x0 = f32[64,64] parameter(4) \"batch\" !arg "
        "k = s32[] constant() h0 = f32[64,64] dot(x0, w0) lhs={1} rhs={0} \"jit(f)/jvp()/dot_general\" !temp "
        "s0 = f32[12,64,64] broadcast(h0) dimensions={1,2} \"jit(f)/jvp()/broadcast_in_dim\" !temp "
        "early = f32[64,64] exponential(w1) \"jit(f)/jvp()/exp\" !temp "
        "t0 = " LOOPED " tuple(k, h0, s0) l = " LOOPED " while(t0) calls=body,condition \"jit(f)/jvp()/while\" "
        "l0 = f32[64,64] get-tuple-element(l) index=1 "
        "x1 = f32[64,64] dot(l0, v0) lhs={1} rhs={0} \"jit(f)/jvp()/dot_general\" !temp "
        "h1 = f32[64,64] dot(x1, w1) lhs={1} rhs={0} \"jit(f)/jvp()/dot_general\" !temp "
        "x2 = f32[64,64] dot(h1, v1) lhs={1} rhs={0} \"jit(f)/jvp()/dot_general\" !temp "
        "d2 = f32[64,64] dot(x2, v1) lhs={1} rhs={1} \"jit(f)/transpose(jvp())/dot_general\" !temp "
        "d1 = f32[64,64] dot(d2, v0) lhs={1} rhs={1} \"jit(f)/transpose(jvp())/dot_general\" !temp "
        "g0 = f32[64,64] dot(x0, d1) lhs={0} rhs={0} \"jit(f)/transpose(jvp())/dot_general\" !out "
        "ROOT y = (f32[64,64]) tuple(g0) }");
    const struct regions *regions = regions_by_any(&start);
    ck_assert_uint_ne(regions->of[instruction_named("h0")], regions->of[instruction_named("h1")]);
    ck_assert_uint_eq(regions->of[instruction_named("one")], regions->of[instruction_named("h0")]);
    ck_assert_uint_eq(regions->of[instruction_named("sum")], regions->of[instruction_named("h0")]);
}
END_TEST

/* A layer of so many numbers inside, going forward and backward. */
#define WIDE_FORWARD(n, next, inside)                                                                                  \
    "h" #n " = f32[64," inside "] dot(x" #n ", w" #n ") lhs={1} rhs={0} \"jit(f)/jvp(layer_" #n ")/dot_general\" "     \
    "!temp e" #n " = f32[64," inside "] tanh(h" #n ") \"jit(f)/jvp(layer_" #n ")/tanh\" !temp "                        \
    "x" #next " = f32[64,64] dot(e" #n ", w" #n ") lhs={1} rhs={1} \"jit(f)/jvp(layer_" #n ")/dot_general\" !temp "
#define WIDE_BACKWARD(n, next, inside)                                                                                 \
    "a" #n " = f32[64," inside "] multiply(e" #n ", h" #n ") \"jit(f)/transpose(jvp(layer_" #n "))/times\" !temp "     \
    "d" #n " = f32[64,64] dot(a" #n ", w" #n ") lhs={1} rhs={1} \"jit(f)/transpose(jvp(layer_" #n                      \
    "))/dot_general\" !temp g" #n " = f32[64," inside "] dot(d" #next ", a" #n                                         \
    ") lhs={0} rhs={0} \"jit(f)/transpose(jvp(layer_" #n "))/dot_general\" !out frees={h" #n ",e" #n ",a" #n "} "
#define TWO_LAYERS(inside)                                                                                             \
    "scheduled module=jit_f main { w0 = f32[64," inside "] parameter(0) \"params['w0']\" !arg "                        \
    "w1 = f32[64,64] parameter(1) \"params['w1']\" !arg x0 = f32[64,64] parameter(2) \"batch\" !arg " WIDE_FORWARD(    \
        0, 1, inside)                                                                                                  \
        WIDE_FORWARD(1, 2,                                                                                             \
                     "64") "d2 = f32[64,64] negate(x2) \"jit(f)/transpose(jvp(loss))/neg\" !temp " WIDE_BACKWARD(1, 2, \
                                                                                                                 "64") \
            WIDE_BACKWARD(0, 1, inside) "ROOT t = (f32[64," inside "], f32[64,64]) tuple(g0, g1) }"

/* Where one layer keeps more than all others, most is there again when it is recomputed. */
START_TEST(one_layer_that_keeps_most_is_a_guess)
{
    static const char *const programs[] = {TWO_LAYERS("64"), TWO_LAYERS("512")};
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
        open_program(programs[i]);
        bool is_uneven = i == 1;
        if (also("checkpoint=*")) {
            ck_assert_int_eq(result.is_uneven, is_uneven);
            ck_assert_int_eq(result.confidence, is_uneven ? CHANGE_GUESS : CHANGE_MODEL);
        } else
            ck_abort_msg("%zu: %s", i, err.text);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("checkpoint_rounds");
    TCase *tests = tcase_create("checkpoint_rounds");
    tcase_add_checked_fixture(tests, arena_begin, close_program);
    tcase_add_test(tests, cells_of_a_scan_are_no_layers);
    tcase_add_test(tests, a_round_over_a_microbatch_has_layers);
    tcase_add_test(tests, heads_with_numbers_are_no_layers);
    tcase_add_test(tests, a_repetition_may_give_more);
    tcase_add_test(tests, gradients_wait_for_their_layer_alone);
    tcase_add_test(tests, a_product_is_stored_again);
    tcase_add_test(tests, a_loop_is_of_the_layer_that_it_begins_with);
    tcase_add_test(tests, one_layer_that_keeps_most_is_a_guess);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
