/* SPDX-License-Identifier: Apache-2.0
 * Layers that are computed again: unrolled with scopes, told by their parameters alone, and those of a scan; and which
 * sets of changes make a program fit. */
#include "change.h"

#include "whatif/regions.h"

#include <stdio.h>

/* Layer `n` of an unrolled network: 16,384 bytes of what it gives (x_n+1) and of each that it saves. */
#define FORWARD(n, next, scope)                                                                                        \
    "h" #n " = f32[64,64] dot(x" #n ", w" #n ") lhs={1} rhs={0} \"jit(f)/jvp(" scope ")/dot_general\" !temp "          \
    "e" #n " = f32[64,64] tanh(h" #n ") \"jit(f)/jvp(" scope ")/tanh\" !temp "                                         \
    "x" #next " = f32[64,64] multiply(e" #n ", h" #n ") \"jit(f)/jvp(" scope ")/times\" !temp "
#define BACKWARD(n, next, scope)                                                                                       \
    "a" #n " = f32[64,64] multiply(e" #n ", h" #n ") \"jit(f)/transpose(jvp(" scope "))/times\" !temp "                \
    "b" #n " = f32[64,64] dot(a" #n ", d" #next ") lhs={0} rhs={0} \"jit(f)/transpose(jvp(" scope                      \
    "))/dot_general\" !temp "                                                                                          \
    "g" #n " = f32[64,64] dot(x" #n ", b" #n ") lhs={0} rhs={0} \"jit(f)/transpose(jvp(" scope                         \
    "))/dot_general\" !out "                                                                                           \
    "d" #n " = f32[64,64] dot(b" #n ", w" #n ") lhs={1} rhs={1} \"jit(f)/transpose(jvp(" scope                         \
    "))/dot_general\" !temp "                                                                                          \
    "frees={h" #n ",e" #n ",a" #n ",b" #n ",x" #next "} "
#define PROGRAM(zero, one, two) PROGRAM_OF("params['layers'][", "]['w']", zero, one, two)
#define PROGRAM_OF(before, behind, zero, one, two)                                                                     \
    "scheduled module=jit_f main { w0 = f32[64,64] parameter(0) \"" before "0" behind "\" !arg "                       \
    "w1 = f32[64,64] parameter(1) \"" before "1" behind "\" !arg w2 = f32[64,64] parameter(2) "                        \
    "\"" before "2" behind                                                                                             \
    "\" !arg x0 = f32[64,64] parameter(3) \"batch\" !arg " FORWARD(0, 1, zero) FORWARD(1, 2, one)                      \
        FORWARD(2, 3, two) "d3 = f32[64,64] negate(x3) \"jit(f)/transpose(jvp(loss))/neg\" !temp " BACKWARD(2, 3, two) \
            BACKWARD(1, 2, one)                                                                                        \
                BACKWARD(0, 1, zero) "ROOT t = (f32[64,64], f32[64,64], f32[64,64]) tuple(g0, g1, g2) }"

static const char *const scoped = PROGRAM("layer_0", "layer_1", "layer_2");
static const char *const nameless = PROGRAM("dense", "dense", "dense");
/* The 0 of the state is no layer; nor does the number have to be that of a list. */
static const char *const in_state = PROGRAM_OF("state[0]['layers'][", "]['w']", "dense", "dense", "dense");
static const char *const numbered = PROGRAM_OF("state[0]['w", "']", "dense", "dense", "dense");

/* The same where the source has jax.checkpoint around the layer: r and s are h and e once more. */
#define AGAIN(n, next, scope) AGAIN_OF("r" #n, "s" #n, n, next, scope)
#define AGAIN_OF(product, value, n, next, scope)                                                                       \
    "r" #n " = f32[64,64] dot(x" #n ", w" #n ") lhs={1} rhs={0} \"jit(f)/transpose(jvp(" scope                         \
    "))/checkpoint/rematted_computation/dot_general\" !temp "                                                          \
    "s" #n " = f32[64,64] tanh(" product ") \"jit(f)/transpose(jvp(" scope                                             \
    "))/checkpoint/rematted_computation/tanh\" !temp "                                                                 \
    "a" #n " = f32[64,64] multiply(" value ", " product ") \"jit(f)/transpose(jvp(" scope                              \
    "))/checkpoint/times\" !temp "                                                                                     \
    "b" #n " = f32[64,64] dot(a" #n ", d" #next ") lhs={0} rhs={0} \"jit(f)/transpose(jvp(" scope                      \
    "))/checkpoint/dot_general\" !temp "                                                                               \
    "g" #n " = f32[64,64] dot(x" #n ", b" #n ") lhs={0} rhs={0} \"jit(f)/transpose(jvp(" scope                         \
    "))/checkpoint/dot_general\" !out "                                                                                \
    "d" #n " = f32[64,64] dot(b" #n ", w" #n ") lhs={1} rhs={1} \"jit(f)/transpose(jvp(" scope                         \
    "))/checkpoint/dot_general\" !temp frees={a" #n ",b" #n ",r" #n ",s" #n ",x" #next "} "
/* A policy keeps the product of layer n. */
#define PRODUCT_KEPT(n, next, scope) AGAIN_OF("h" #n, "s" #n, n, next, scope)
#define CHECKPOINTED(last)                                                                                                                                                                 \
    "scheduled module=jit_f main { w0 = f32[64,64] parameter(0) \"params['layers'][0]['w']\" !arg "                                                                                        \
    "w1 = f32[64,64] parameter(1) \"params['layers'][1]['w']\" !arg "                                                                                                                      \
    "w2 = f32[64,64] parameter(2) \"params['layers'][2]['w']\" !arg x0 = f32[64,64] parameter(3) \"batch\" !arg " FORWARD(0, 1, "layer_0") "k0 = f32[] constant() frees={h0,e0} " FORWARD( \
        1, 2,                                                                                                                                                                              \
        "layer_1") "k1 = f32[] constant() frees={h1,e1} " FORWARD(2, 3,                                                                                                                    \
                                                                  "layer_2") "d3 = f32[64,64] negate(x3) \"jit(f)/transpose(jvp(loss))/neg\" !temp " last(2,                               \
                                                                                                                                                          3,                               \
                                                                                                                                                          "layer_2")                       \
        AGAIN(1, 2, "layer_1")                                                                                                                                                             \
            AGAIN(0, 1, "layer_0") "ROOT t = (f32[64,64], f32[64,64], f32[64,64]) tuple(g0, g1, g2) }"

/* How many bytes of an instruction's result are live at a step. */
static int64_t live_at(const char *name, uint32_t at_step)
{
    int64_t bytes = 0;
    for (uint32_t i = 0; i < changed.row_count; i++) {
        const struct variant_row *row = &changed.rows[i];
        if (!row->is_gone && row->instruction_at != HLO_NONE && row->born <= at_step && at_step < row->dies &&
            str_equal(hlo_instruction_name(&plan.hlo, row->instruction_at), str_of(name)))
            bytes += row->bytes;
    }
    return bytes;
}

static uint32_t step_of(const char *name)
{
    for (uint32_t at = 0; at < plan.hlo.instruction_count; at++)
        if (str_equal(hlo_instruction_name(&plan.hlo, at), str_of(name)))
            return variant_step(&start, at);
    ck_abort_msg("no %s", name);
}

/* What layers give is kept, and nothing that they compute inside. */
static uint32_t all_layers(const char *program)
{
    open_program(program);
    ck_assert_int_gt(saves("checkpoint=*"), 0);
    ck_assert_int_eq(result.confidence, CHANGE_MODEL);
    uint32_t middle = step_of("d3");
    ck_assert_int_eq(live_at("h0", middle) + live_at("e0", middle) + live_at("h1", middle) + live_at("e1", middle), 0);
    ck_assert(result.has_extra_flops);
    ck_assert_double_gt(result.extra_flops_percent, 0);
    ck_assert_double_lt(result.extra_flops_percent, 34);
    return middle;
}

START_TEST(unrolled_layers)
{
    uint32_t middle = all_layers(scoped);
    ck_assert_int_gt(live_at("x1", middle), 0);
    ck_assert_int_gt(live_at("x2", middle), 0);
    /* until the layer that it goes into has its gradients */
    ck_assert_int_gt(live_at("x1", step_of("b1")), 0);
    ck_assert_int_eq(live_at("x1", step_of("b0")), 0);
}
END_TEST

START_TEST(layers_told_by_their_parameters)
{
    uint32_t middle = all_layers(nameless);
    /* names are equal in all layers: what goes into each is kept all the same */
    ck_assert_int_gt(live_at("x1", middle), 0);
    ck_assert_int_gt(live_at("x2", middle), 0);
    refused("checkpoint=layer_0", "nothing has this name");
    all_layers(in_state);
    all_layers(numbered);
}
END_TEST

/* Two trees of parameters. With JOINED both belong to each layer; else the second tree's layers only follow. */
#define TREES(second, joined)                                                                                          \
    "scheduled module=jit_f main { w0 = s8[64,64] parameter(0) \"params['base'][0]['w']\" !arg "                       \
    "w1 = s8[64,64] parameter(1) \"params['base'][1]['w']\" !arg a0 = f32[64,64] parameter(2) \"" second               \
    "[0]['a']\" !arg a1 = f32[64,64] parameter(3) \"" second "[1]['a']\" !arg x = f32[64,64] parameter(4) \"batch\" "  \
    "!arg k = f32[64,64] constant() v0 = f32[64,64] convert(w0) \"jit(f)/jvp()/convert\" !temp "                       \
    "v1 = f32[64,64] convert(w1) \"jit(f)/jvp()/convert\" !temp "                                                      \
    "d0 = f32[64,64] multiply(v0, k) \"jit(f)/jvp()/mul\" !temp d1 = f32[64,64] multiply(v1, k) "                      \
    "\"jit(f)/jvp()/mul\" !temp " joined                                                                               \
    "b0 = f32[64,64] dot(r, a1) lhs={1} rhs={0} \"jit(f)/transpose(jvp())/dot_general\" !temp "                        \
    "ROOT y = f32[64,64] tanh(b0) \"jit(f)/transpose(jvp())/tanh\" !out }"
#define PRODUCT(name, of, with)                                                                                        \
    name " = f32[64,64] dot(" of ", " with ") lhs={1} rhs={0} \"jit(f)/jvp()/dot_general\" !temp "
#define SUM(name, left, right) name " = f32[64,64] add(" left ", " right ") \"jit(f)/jvp()/add\" !temp "

static uint32_t region_at(const char *name)
{
    for (uint32_t at = 0; at < plan.hlo.instruction_count; at++)
        if (str_equal(hlo_instruction_name(&plan.hlo, at), str_of(name)))
            return regions_by_any(&start)->of[at];
    ck_abort_msg("no %s", name);
}

START_TEST(trees_of_parameters_that_need_each_other_are_one_layer)
{
    open_program(TREES("params['adapters']",
                       PRODUCT("h0", "x", "d0") PRODUCT("u0", "x", "a0") SUM("s0", "h0", "u0") PRODUCT("i0", "s0", "d0")
                           PRODUCT("j0", "s0", "a0") SUM("t0", "i0", "j0") PRODUCT("h1", "t0", "d1")
                               PRODUCT("u1", "t0", "a1") SUM("s1", "h1", "u1") PRODUCT("i1", "s1", "d1")
                                   PRODUCT("j1", "s1", "a1") SUM("r", "i1", "j1")));
    ck_assert_uint_eq(region_at("h0"), region_at("u0"));
    ck_assert_uint_eq(region_at("h1"), region_at("u1"));
    ck_assert_uint_ne(region_at("h0"), region_at("h1"));
    ck_assert_uint_eq(region_at("i0"), region_at("h0"));
    /* an actor and a critic, side by side */
    open_program(TREES("params['critic']",
                       PRODUCT("h0", "x", "d0") PRODUCT("u0", "x", "a0") PRODUCT("i0", "h0", "d0")
                           PRODUCT("j0", "u0", "a0") PRODUCT("h1", "i0", "d1") PRODUCT("u1", "j0", "a1")
                               PRODUCT("i1", "h1", "d1") PRODUCT("j1", "u1", "a1") SUM("r", "i1", "j1")));
    ck_assert_uint_ne(region_at("h0"), region_at("u0"));
    ck_assert_uint_ne(region_at("h1"), region_at("u1"));
}
END_TEST

/* Parameters of one flat list, as `width` wide as the layers are inside. */
static const char *flat_list(const char *width)
{
    const char *text = "scheduled module=jit_f main { x = f32[64,64] parameter(6) \"batch\" !arg ", *last = "x";
    for (int i = 0; i < 6; i++)
        text = arena_format(&arena, "%s w%d = f32[%s,%s] parameter(%d) \"params[%d]\" !arg ", text, i,
                            i % 2 == 0 ? "64" : width, i % 2 == 0 ? width : "64", i, i);
    for (int i = 0; i < 6; i++) {
        text =
            arena_format(&arena, "%s h%d = f32[64,%s] dot(%s, w%d) lhs={1} rhs={0} \"jit(f)/jvp()/dot_general\" !temp ",
                         text, i, i % 2 == 0 ? width : "64", last, i);
        last = arena_format(&arena, "h%d", i);
    }
    return arena_format(&arena,
                        "%s b = f32[64,%s] dot(h5, w5) lhs={1} rhs={1} \"jit(f)/transpose(jvp())/dot_general\" !temp "
                        "ROOT y = f32[64,%s] tanh(b) \"jit(f)/transpose(jvp())/tanh\" !out }",
                        text, width, width);
}

START_TEST(matrices_of_a_flat_list_are_layers_by_their_shapes)
{
    open_program(flat_list("128"));
    ck_assert_uint_eq(region_at("h0"), region_at("h1"));
    ck_assert_uint_ne(region_at("h1"), region_at("h2"));
    ck_assert_uint_eq(region_at("h2"), region_at("h3"));
    ck_assert_uint_eq(region_at("h4"), region_at("h5"));
    ck_assert_uint_ne(region_at("h3"), region_at("h4"));
    open_program(flat_list("64")); /* all alike: each is one */
    for (int i = 0; i < 5; i++)
        ck_assert_uint_ne(region_at(arena_format(&arena, "h%d", i)), region_at(arena_format(&arena, "h%d", i + 1)));
}
END_TEST

START_TEST(one_layer_alone)
{
    open_program(scoped);
    int64_t all = saves("checkpoint=*");
    double flops = result.extra_flops_percent;
    int64_t one = saves("checkpoint=layer_0");
    ck_assert_int_ge(all, one);
    ck_assert_double_lt(result.extra_flops_percent, flops);
    ck_assert_str_eq(result.call, "layer = jax.checkpoint(layer)  # where jax.named_scope is layer_0");
    ck_assert_int_eq(live_at("h0", step_of("d3")), 0);
    ck_assert_int_eq(live_at("h1", step_of("d3")), 16384);
    refused("checkpoint=layer_8", "nothing has this name; near it: \"layer_");
}
END_TEST

/* What checkpointed layers keep, they need; the others are checkpointed alone. */
START_TEST(layers_that_are_checkpointed_already)
{
    open_program(CHECKPOINTED(AGAIN));
    refused("checkpoint=*", "checkpoint=*: these layers are checkpointed already: layer_0, layer_1, layer_2");
    refused("checkpoint=layer_1", "these layers are checkpointed already: layer_1");
    open_program(CHECKPOINTED(BACKWARD));
    saves("checkpoint=*");
    uint32_t middle = step_of("d3");
    ck_assert_int_eq(live_at("h2", middle) + live_at("e2", middle), 0);
    ck_assert_int_eq(live_at("x1", middle), 16384);
    ck_assert_int_eq(live_at("x2", middle), 16384);
    ck_assert_double_lt(result.extra_flops_percent, 12);
    refused("checkpoint=layer_0", "these layers are checkpointed already: layer_0");
    open_program(CHECKPOINTED(PRODUCT_KEPT)); /* which it need not be */
    saves("checkpoint=*");
    ck_assert_int_eq(live_at("h2", step_of("d3")), 0);
}
END_TEST

START_TEST(what_has_no_backward_pass_is_refused)
{
    open_program(
        "scheduled main { x = f32[8,8] parameter(0) \"x\" !arg h = f32[8,8] tanh(x) \"jit(f)/layer_0/tanh\" !temp "
        "ROOT y = f32[8,8] tanh(h) \"jit(f)/layer_1/tanh\" !out }");
    refused("checkpoint=*", "no backward pass");
}
END_TEST

/* ---- a scan ---- */

/* What it carries (and stacks up), and a second stack of each layer's inside; `more`: carried beside it. */
#define STATE "(s32[], f32[64,64], f32[12,64,64], f32[12,64,64], f32[12,64,64])"
#define SCAN(first, second)                                                                                                  \
    "scheduled module=jit_f body { p = " STATE " parameter(0) i = s32[] get-tuple-element(p) index=0 "                       \
    "c = f32[64,64] get-tuple-element(p) index=1 s1 = f32[12,64,64] get-tuple-element(p) index=2 "                           \
    "s2 = f32[12,64,64] get-tuple-element(p) index=3 w = f32[12,64,64] get-tuple-element(p) index=4 z = s32[] constant() "   \
    "ws = f32[1,64,64] dynamic-slice(w, i, z, z) wr = f32[64,64] reshape(ws) "                                               \
    "n = f32[64,64] dot(c, wr) lhs={1} rhs={0} \"jit(f)/jvp(while)/body/dot_general\" "                                      \
    "m = f32[64,64] tanh(n) \"jit(f)/jvp(while)/body/tanh\" r1 = f32[1,64,64] reshape(" first                                \
    ") r2 = f32[1,64,64] reshape(n) "                                                                                        \
    "u1 = f32[12,64,64] dynamic-update-slice(s1, r1, i, z, z) \"jit(f)/jvp(while)/body/dynamic_update_slice\" "              \
    "u2 = f32[12,64,64] dynamic-update-slice(s2, r2, i, z, z) \"jit(f)/jvp(while)/body/dynamic_update_slice\" "              \
    "ROOT t = " STATE " tuple(i, m, u1, u2, w) } "                                                                           \
    "condition { q = " STATE " parameter(0) ROOT e = pred[] constant() } "                                                   \
    "back { p3 = " STATE                                                                                                     \
    " parameter(0) i3 = s32[] get-tuple-element(p3) index=0 d3 = f32[64,64] get-tuple-element(p3) index=1 "                  \
    "t1 = f32[12,64,64] get-tuple-element(p3) index=2 t2 = f32[12,64,64] get-tuple-element(p3) index=3 "                     \
    "w3 = f32[12,64,64] get-tuple-element(p3) index=4 z3 = s32[] constant() "                                                \
    "y1 = f32[1,64,64] dynamic-slice(t1, i3, z3, z3) \"jit(f)/transpose(jvp(while))/body/dynamic_slice\" "                   \
    "y2 = f32[1,64,64] dynamic-slice(t2, i3, z3, z3) \"jit(f)/transpose(jvp(while))/body/dynamic_slice\" "                   \
    "v1 = f32[64,64] reshape(y1) v2 = f32[64,64] reshape(y2) "                                                               \
    "f3 = f32[64,64] multiply(v2, d3) \"jit(f)/transpose(jvp(while))/body/times\" "                                          \
    "g3 = f32[64,64] dot(v1, f3) lhs={0} rhs={0} \"jit(f)/transpose(jvp(while))/body/dot_general\" "                         \
    "ROOT k3 = " STATE " tuple(i3, g3, t1, t2, w3) } "                                                                       \
    "main { a = f32[12,64,64] parameter(0) \"params['w']\" !arg x = f32[64,64] parameter(1) \"batch\" !arg "                 \
    "k = s32[] constant() o = f32[] constant() b1 = f32[12,64,64] broadcast(o) !temp b2 = f32[12,64,64] broadcast(o) !temp " \
    "t0 = " STATE " tuple(k, x, b1, b2, a) l = " STATE " while(t0) calls=body,condition \"jit(f)/jvp(while)\" "              \
    "lx = f32[64,64] get-tuple-element(l) index=1 l1 = f32[12,64,64] get-tuple-element(l) index=2 "                          \
    "l2 = f32[12,64,64] get-tuple-element(l) index=3 neg = f32[64,64] negate(lx) \"jit(f)/transpose(jvp(loss))/neg\" !temp " \
    "t9 = " STATE " tuple(k, neg, l1, l2, a) m9 = " STATE                                                                    \
    " while(t9) calls=back,condition \"jit(f)/transpose(jvp(while))\" "                                                      \
    "gx = f32[64,64] get-tuple-element(m9) index=1 ROOT y = f32[64,64] copy(gx) !out frees={b1,b2} }"

START_TEST(a_scan_keeps_what_it_carries)
{
    int stacks = 0, gone = 0;
    open_program(SCAN("c", "n"));
    int64_t saved = saves("checkpoint=*");
    for (uint32_t i = 0; i < start.row_count; i++)
        if (!start.rows[i].is_indefinite && start.rows[i].bytes == 12 * 16384) {
            stacks++;
            gone += changed.rows[i].is_gone;
        }
    ck_assert_int_eq(stacks, 2);
    ck_assert_int_eq(gone, 1); /* one of the shape of what it carries stays */
    ck_assert_int_gt(saved, 10 * 16384);
    ck_assert_double_gt(result.extra_flops_percent, 0);
}
END_TEST

/* ---- what the compiler computes again by itself ---- */

/* k, which is small, is kept for a.remat alone; without it a would live until c reads it again. */
static const char *const repeated =
    "scheduled module=jit_f main { x = f32[1,64] parameter(0) \"x\" !arg "
    "m = f32[512,64] custom-call(x) !temp k = f32[1,64] tanh(x) !temp a = f32[64,64] dot(k, k) lhs={0} rhs={0} !temp "
    "b = f32[64,64] negate(a) !temp frees={a} e = f32[64,64] negate(b) !temp frees={b} "
    "g = f32[1,64] slice(e) !temp frees={e} a.remat = f32[64,64] dot(k, k) lhs={0} rhs={0} !temp frees={k} "
    "c = f32[1,64] slice(a.remat) !temp frees={a.remat} ROOT y = f32[1,64] add(c, g) !out frees={c,g} }";

START_TEST(without_what_the_compiler_computes_again)
{
    open_program(repeated);
    ck_assert_ptr_nonnull(start.without_remat);
    for (uint32_t i = 0; i < start.without_remat->row_count; i++) {
        const struct variant_row *row = &start.without_remat->rows[i], *was = &start.rows[i];
        struct str name = hlo_instruction_name(&plan.hlo, row->instruction_at);
        if (str_equal(name, STR("a.remat")))
            ck_assert(row->is_gone);
        else if (str_equal(name, STR("a")))
            ck_assert(row->born == was->born && row->dies > step_of("c") && was->dies <= step_of("e"));
        else if (str_equal(name, STR("k")))
            ck_assert(row->dies < was->dies && row->dies == step_of("b"));
        else
            ck_assert(row->dies == was->dies && !row->is_gone);
    }
    /* As it is, it takes what it takes; and a change that saves less than that is no longer exact. */
    ck_assert_int_eq(before.total_bytes, start.limit_bytes);
    open_program(scoped);
    ck_assert_ptr_null(start.without_remat);
}
END_TEST

/* What is saved, the compiler first uses to compute less again: up to what the program takes, or the device has. */
START_TEST(a_change_is_held_against_the_whole)
{
    struct variant_sums whole;
    open_program(repeated);
    variant_measure(start.without_remat, &whole, NULL);
    ck_assert_int_gt(whole.live_bytes, before.live_bytes);
    int64_t halved = saves("shard=*:2");
    variant_measure(changed.without_remat, &whole, NULL); /* the half fits without */
    ck_assert_int_eq(after.total_bytes, whole.total_bytes);
    ck_assert_int_eq(halved, before.total_bytes - whole.total_bytes);
    ck_assert(!after.is_at_most);
    ck_assert_int_eq(saves("donate=0"), 0); /* it has to compute again all the same */
    ck_assert_int_eq(result.confidence, CHANGE_MODEL);
    ck_assert(after.is_at_most); /* it may stop before the limit, at an unknown place */
    change_result_settle(&result, &after);
    ck_assert_int_eq(result.confidence, CHANGE_BOUND);
    variant_limit(&start, whole.total_bytes / 2); /* the half does not fit either */
    ck_assert_int_gt(saves("shard=*:2"), halved);
    ck_assert_int_le(after.total_bytes, whole.total_bytes); /* rematerializing never takes more than not to */
}
END_TEST

/* What lands at the limit fits with the constants, which the device has to hold as well. */
START_TEST(constants_take_of_the_limit)
{
    open_program(repeated);
    plan.spaces[0].total_bytes += 512;
    plan.spaces[0].indefinite_bytes += 512;
    variant_begin(&start, &plan, &plan.spaces[0], &arena);
    variant_limit(&start, before.total_bytes - 1024);
    ck_assert_int_eq(start.limit_bytes, before.total_bytes - 1024 - 512);
}
END_TEST

/* XLA on GPUs leaves a fifth of the device, and 5 % of what arguments and results leave of the rest. */
START_TEST(gpus_rematerialize_earlier)
{
    open_program(repeated);
    int64_t fixed_bytes = before.fixed_bytes,
            capacity_bytes = (before.total_bytes - fixed_bytes) / 10 * 10 + fixed_bytes;
    plan.platform = SPACE_PLATFORM_GPU;
    variant_limit(&start, capacity_bytes);
    ck_assert_int_eq(start.limit_bytes, fixed_bytes + (capacity_bytes / 100 * 80 - fixed_bytes) / 100 * 95);
}
END_TEST

/* ---- with other changes ---- */

static int64_t added_bytes(void)
{
    int64_t bytes = 0;
    for (uint32_t i = 0; i < changed.row_count; i++)
        if (changed.rows[i].plan_row == PLAN_NONE)
            bytes += changed.rows[i].bytes;
    return bytes;
}

/* What is added for the backward pass is changed like all else, before it is added or afterwards. */
static void must_follow(const char *program, const char *other, int64_t times)
{
    open_program(program);
    saves("checkpoint=*");
    int64_t alone = added_bytes();
    ck_assert_msg(also(other), "%s: %s", other, err.text);
    int64_t behind = added_bytes(), live = after.live_bytes;
    variant_measure(&changed, &after, NULL); /* measuring changes nothing */
    ck_assert_int_eq(added_bytes(), behind);
    saves(other);
    ck_assert_msg(also("checkpoint=*"), "%s", err.text);
    ck_assert_int_eq(after.live_bytes, live);
    ck_assert_msg(added_bytes() == behind && times * behind == alone && alone > 0, "%s: %lld and %lld of %lld", other,
                  (long long)added_bytes(), (long long)behind, (long long)alone);
}

START_TEST(what_is_added_is_changed_too)
{
    must_follow(scoped, "shard=*:2", 2);
    must_follow(nameless, "shard=*:2", 2);
    must_follow(scoped, "batch=0.5@batch:0", 4); /* squares, of one size */
    must_follow(scoped, "cast=*:bf16", 1);       /* products alone read it: it is kept in bf16 anyway */
}
END_TEST

/* ---- fit ---- */

static struct fit fit;

static void fits(int64_t capacity_bytes)
{
    ARENA_MUST_NOT_JUMP();
    fit_find(&start, capacity_bytes, &fit);
}

/* What a set comes to, done anew. */
static int64_t total_of(const struct fit_set *set, uint32_t without)
{
    variant_copy(&changed, &start, &arena);
    after = before;
    for (uint32_t i = 0; i < set->count; i++)
        if (i != without)
            ck_assert_msg(also(set->changes[i]), "%s: %s", set->changes[i], err.text);
    return after.total_bytes;
}

START_TEST(sets_that_fit)
{
    bool has_two = false;
    open_program(scoped);
    fits(before.total_bytes);
    ck_assert(fit.has_fit_already);
    ck_assert_uint_eq(fit.set_count, 0);
    for (int64_t capacity = before.total_bytes - 1; capacity > before.total_bytes / 20; capacity = capacity * 9 / 10) {
        fits(capacity);
        ck_assert(!fit.has_fit_already);
        ck_assert_uint_le(fit.set_count, FIT_SETS_MAX);
        ck_assert_uint_le(fit.trial_count, FIT_TRIALS_MAX + 16);
        for (uint32_t i = 0; i < fit.set_count; i++) {
            const struct fit_set *set = &fit.sets[i];
            ck_assert_int_eq(total_of(set, UINT32_MAX), set->total_bytes);
            ck_assert_int_le(set->total_bytes, capacity);
            for (uint32_t k = 0; set->count > 1 && k < set->count; k++) /* each of its changes is needed */
                ck_assert_int_gt(total_of(set, k), capacity);
            for (uint32_t k = 0; k < set->count; k++)
                ck_assert_uint_gt(strlen(set->calls[k]), 0);
            if (i > 0)
                ck_assert_double_ge(set->extra_flops_percent, fit.sets[i - 1].extra_flops_percent);
            has_two = has_two || set->count > 1;
        }
    }
    ck_assert(has_two);
}
END_TEST

START_TEST(none_suffices)
{
    open_program(scoped);
    fits(1);
    ck_assert_uint_eq(fit.set_count, 0);
    ck_assert_uint_gt(fit.nearest.count, 0);
    ck_assert_int_eq(total_of(&fit.nearest, UINT32_MAX), fit.nearest.total_bytes);
    ck_assert_int_lt(fit.nearest.total_bytes, before.total_bytes);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("checkpoint");
    TCase *tests = tcase_create("checkpoint");
    tcase_add_checked_fixture(tests, arena_begin, close_program);
    tcase_add_test(tests, unrolled_layers);
    tcase_add_test(tests, layers_told_by_their_parameters);
    tcase_add_test(tests, trees_of_parameters_that_need_each_other_are_one_layer);
    tcase_add_test(tests, matrices_of_a_flat_list_are_layers_by_their_shapes);
    tcase_add_test(tests, one_layer_alone);
    tcase_add_test(tests, layers_that_are_checkpointed_already);
    tcase_add_test(tests, what_has_no_backward_pass_is_refused);
    tcase_add_test(tests, a_scan_keeps_what_it_carries);
    tcase_add_test(tests, without_what_the_compiler_computes_again);
    tcase_add_test(tests, a_change_is_held_against_the_whole);
    tcase_add_test(tests, constants_take_of_the_limit);
    tcase_add_test(tests, gpus_rematerialize_earlier);
    tcase_add_test(tests, what_is_added_is_changed_too);
    tcase_add_test(tests, sets_that_fit);
    tcase_add_test(tests, none_suffices);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
