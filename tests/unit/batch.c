/* SPDX-License-Identifier: Apache-2.0
 * What of a program's data is its batch, or its sequence: of microbatches, of graphs, beside weights that mix
 * tokens. */
#include "change.h"

#include "whatif/call.h"
#include "whatif/fit.h"
#include "whatif/sequence_sign.h"

#define STATE "(s32[], f32[4,8,16], f32[16,16])"
/* Gradients are summed over microbatches: fewer rows of the batch would be fewer trips, of the same memory. */
START_TEST(of_microbatches_the_size_counts)
{
    open_program(
        "scheduled body { p = " STATE " parameter(0) i = s32[] get-tuple-element(p) index=0 "
        "xs = f32[4,8,16] get-tuple-element(p) index=1 w = f32[16,16] get-tuple-element(p) index=2 z = s32[] "
        "constant() d = f32[1,8,16] dynamic-slice(xs, i, z, z) \"jit(f)/while/body/dynamic_slice\" x = f32[8,16] "
        "reshape(d) h = f32[8,16] dot(x, w) lhs={1} rhs={0} \"jit(f)/while/body/closed_call/jvp(f)/dot_general\" "
        "g = f32[16,16] dot(x, h) lhs={0} rhs={0} \"jit(f)/while/body/closed_call/transpose(jvp(f))/dot_general\" "
        "ROOT t = " STATE " tuple(i, xs, g) } condition { q = " STATE " parameter(0) ROOT c = pred[] constant() } "
        "main { images = f32[32,16] parameter(0) \"images\" !arg w = f32[16,16] parameter(1) \"params['w']\" !arg "
        "k = s32[] constant() m = f32[4,8,16] reshape(images) !temp s = " STATE " tuple(k, m, w) "
        "l = " STATE " while(s) calls=body,condition \"jit(f)/while\" r = f32[16,16] get-tuple-element(l) index=2 "
        "ROOT y = f32[16,16] exponential(r) \"jit(f)/exp\" !out }");
    saves("batch=0.5");
    ck_assert_str_eq(result.call, "images.reshape(8, 4, …)  # 8 microbatches of 4 in place of 4 of 8");
    ck_assert_int_eq(changed.rows[0].bytes, 32 * 16 * 4); /* the batch itself stays as it is */
    refused("batch=0.5@images:7", "has no dimension 7");
    saves("batch=0.5@images:0"); /* a user who names the dimension means it */
    ck_assert_int_eq(changed.rows[0].bytes, 16 * 16 * 4);
}
END_TEST

#define LEARNS                                                                                                         \
    "h = f32[64,8] dot(n, w) lhs={1} rhs={0} \"jit(f)/jvp(f)/dot_general\" !temp "                                     \
    "b = f32[8,8] dot(n, h) lhs={0} rhs={0} \"jit(f)/transpose(jvp(f))/dot_general\" !temp "
/* Senders say which nodes: without some of them the graph is another one. */
START_TEST(nodes_and_edges_are_no_batch)
{
    open_program("scheduled main { n = f32[64,8] parameter(0) \"graph['nodes']\" !arg "
                 "e = s32[256] parameter(1) \"graph['senders']\" !arg w = f32[8,8] parameter(2) \"params['w']\" !arg "
                 "k = s32[256,1] reshape(e) " LEARNS
                 "m = f32[256,8] gather(n, k) offset={1} collapsed={0} vector=1 \"jit(f)/jvp(f)/gather\" !temp "
                 "r = f32[256,8] exponential(m) \"jit(f)/jvp(f)/exp\" !temp "
                 "ROOT t = (f32[256,8], f32[8,8]) tuple(r, b) }");
    refused("batch=0.5", "no argument looks like data with such a dimension");
}
END_TEST

/* Tokens are mixed by weights that have as many rows: no other number of them is data's alone. Positions are added. */
START_TEST(weights_that_mix_tokens_are_no_sequence)
{
    static const char program[] =
        "scheduled main { x = f32[4,64,8] parameter(0) \"images\" !arg w = %s parameter(1) \"params['w']\" !arg "
        "%s ROOT y = f32[4,64,8] exponential(a) \"jit(f)/exp\" !out }";
    open_program(arena_format(&arena, program, "f32[64,64]",
                              "d = f32[64,4,8] dot(w, x) lhs={0} rhs={1} \"jit(f)/dot_general\" !temp "
                              "a = f32[4,64,8] transpose(d) dimensions={1,0,2} !temp"));
    refused("sequence=0.5", "no argument looks like data with such a dimension");
    open_program(arena_format(&arena, program, "f32[64,8]",
                              "p = f32[4,64,8] broadcast(w) dimensions={1,2} !temp "
                              "a = f32[4,64,8] add(x, p) \"jit(f)/add\" !temp"));
    saves("sequence=0.5");
}
END_TEST

/* One picture, as high as wide, is no batch of rows, whatever it is called. */
START_TEST(one_picture_is_no_batch)
{
    static const char program[] =
        "scheduled main { image = f32[%s] parameter(0) \"image\" !arg w = f32[8,8] parameter(1) \"params['w']\" !arg "
        "k = f32[4] parameter(2) \"view\" !arg v = f32[8,8] negate(w) \"jit(f)/neg\" !temp "
        "y = f32[%s] exponential(image) \"jit(f)/exp\" !out ROOT t = (f32[%s]) tuple(y) }";
    open_program(arena_format(&arena, program, "96,96,3", "96,96,3", "96,96,3"));
    refused("batch=0.5", "such as batch=0.5@image:0 (96)");
    open_program(arena_format(&arena, program, "96,64,3", "96,64,3", "96,64,3"));
    saves("batch=0.5");
}
END_TEST

/* A search names no sequence that has no sign: the numbers of a row may be a point's coordinates. */
START_TEST(a_sequence_has_a_sign)
{
    static const char program[] =
        "scheduled main { x = %s[4,64] parameter(0) \"batch['x']\" !arg w = f32[8,8] parameter(1) \"params['w']\" "
        "!arg y = f32[4,64,512] broadcast(x) dimensions={0,1} \"jit(f)/op\" !temp "
        "z = f32[4,64] reduce(y) dimensions={2} \"jit(f)/reduce\" !out "
        "ROOT t = (f32[4,64]) tuple(z) }";
    static const char *const types[] = {"f32", "s32"};
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        open_program(arena_format(&arena, program, types[i]));
        ck_assert_int_eq(sequence_sign_is_there(&start), i == 1);
        saves("sequence=0.5"); /* who asks for it means it */
        struct fit fit;
        bool is_named = false;
        fit_find(&start, before.total_bytes / 10 * 6, &fit);
        for (uint32_t k = 0; k < fit.set_count; k++)
            for (uint32_t m = 0; m < fit.sets[k].count; m++)
                is_named = is_named || strncmp(fit.sets[k].changes[m], "sequence", strlen("sequence")) == 0;
        ck_assert_int_eq(is_named, i == 1);
    }
}
END_TEST

/* Attention multiplies what has the length once. What has it twice already is of pairs: bodies, points. */
START_TEST(pairs_are_no_sequence)
{
    static const char attention[] =
        "scheduled main { x = f32[4,64,8] parameter(0) \"batch['x']\" !arg w = f32[8,8] parameter(1) \"params['w']\" "
        "!arg y = f32[4,64,64] dot(x, x) lhs_batch={0} rhs_batch={0} lhs={2} rhs={2} \"jit(f)/dot_general\" !temp "
        "ROOT z = f32[4,64] reduce(y) dimensions={2} \"jit(f)/reduce\" !out }";
    static const char pairs[] =
        "scheduled main { x = f32[4,64,8] parameter(0) \"batch['x']\" !arg w = f32[8,8] parameter(1) \"params['w']\" "
        "!arg a = f32[4,64,64,8] broadcast(x) dimensions={0,1,3} \"jit(f)/op\" b = f32[4,64,64,8] broadcast(x) "
        "dimensions={0,2,3} \"jit(f)/op\" d = f32[4,64,64,8] subtract(a, b) \"jit(f)/sub\" !temp "
        "y = f32[4,64,64,8] dot(d, w) lhs={3} rhs={0} \"jit(f)/dot_general\" !temp "
        "ROOT z = f32[4,64,8] reduce(y) dimensions={2} \"jit(f)/reduce\" !out }";
    open_program(attention);
    ck_assert(sequence_sign_is_there(&start));
    open_program(pairs);
    ck_assert(!sequence_sign_is_there(&start));
}
END_TEST

/* A source, and a target with the token behind it, are shortened together. */
START_TEST(a_target_is_as_long_as_its_source)
{
    open_program(
        "scheduled main { source = s32[4,64] parameter(0) \"batch['source']\" !arg target = s32[4,65] parameter(1) "
        "\"batch['target']\" !arg w = f32[8,8] parameter(2) \"params['w']\" !arg "
        "a = f32[4,64,512] broadcast(source) dimensions={0,1} \"jit(f)/op\" !temp "
        "t = s32[4,64] slice(target) \"jit(f)/slice\" "
        "b = f32[4,64,512] broadcast(t) dimensions={0,1} \"jit(f)/op\" !temp "
        "c = f32[4,64] reduce(a) dimensions={2} \"jit(f)/reduce\" !out "
        "d = f32[4,64] reduce(b) dimensions={2} \"jit(f)/reduce\" !out "
        "ROOT r = (f32[4,64], f32[4,64]) tuple(c, d) }");
    ck_assert_int_ge(saves("sequence=0.5"), 2 * 4 * 32 * 512 * 4);
    ck_assert_ptr_nonnull(strstr(result.call, "batch['target'][:, :33]"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("batch");
    TCase *tests = tcase_create("batch");
    tcase_add_checked_fixture(tests, arena_begin, close_program);
    tcase_add_test(tests, of_microbatches_the_size_counts);
    tcase_add_test(tests, nodes_and_edges_are_no_batch);
    tcase_add_test(tests, weights_that_mix_tokens_are_no_sequence);
    tcase_add_test(tests, one_picture_is_no_batch);
    tcase_add_test(tests, a_sequence_has_a_sign);
    tcase_add_test(tests, pairs_are_no_sequence);
    tcase_add_test(tests, a_target_is_as_long_as_its_source);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
