/* SPDX-License-Identifier: Apache-2.0
 * Which dimensions of a program are one: what becomes of all arrays when some get another size, operation by operation.
 */
#include "whatif/dimensions.h"

#include "program.h"

static struct plan plan;
static struct buf file;
static struct dimensions dimensions;
static struct dimensions_sizes result;

static void read(const char *program)
{
    ARENA_MUST_NOT_JUMP();
    program_read(program, &file, &plan);
    dimensions_build(plan.graph, &arena, &dimensions);
}

static void end(void)
{
    buf_free(&file);
    arena_end();
}

static uint32_t find(struct str name)
{
    for (uint32_t at = 0; at < plan.hlo.instruction_count; at++)
        if (str_equal(hlo_instruction_name(&plan.hlo, at), name))
            return at;
    ck_abort_msg("no %.*s", (int)name.length, name.data);
}

/* "name" or "name#2", the third array of a tuple: its leaf. */
static const struct leaf *leaf_at(struct program_writing *writing)
{
    uint32_t at = find(program_word(writing)), nth = program_is(writing, "#") ? (uint32_t)program_number(writing) : 0;
    ck_assert_uint_lt(nth, leaves_count(&dimensions.leaves, at));
    return &dimensions.leaves.items[dimensions.leaves.first[at] + nth];
}

/* "x:0=4" gives dimension 0 of x the size 4; several after each other. */
static void resize(const char *changes)
{
    static struct program_writing writing;
    static struct dimensions_change asked[8];
    static uint32_t count;
    ARENA_MUST_NOT_JUMP();
    writing = (struct program_writing){.at = changes};
    count = 0;
    while (program_is(&writing, ""), *writing.at != '\0') {
        const struct leaf *leaf = leaf_at(&writing);
        program_want(&writing, ":");
        uint32_t nth = (uint32_t)program_number(&writing);
        ck_assert_uint_lt(nth, leaf->rank);
        program_want(&writing, "=");
        asked[count++] = (struct dimensions_change){leaf->first + nth, (int64_t)program_number(&writing)};
    }
    dimensions_resize(&dimensions, dimensions.leaves.sizes, asked, count, &arena, &result);
}

/* "y[4,8]": that is what the array is then; several after each other. */
static void expect(const char *arrays)
{
    struct program_writing writing = {.at = arrays};
    while (program_is(&writing, ""), *writing.at != '\0') {
        const char *from = writing.at;
        const struct leaf *leaf = leaf_at(&writing);
        program_want(&writing, "[");
        for (uint32_t i = 0; i < leaf->rank; i++) {
            int64_t size = (int64_t)program_number(&writing);
            ck_assert_msg(result.sizes[leaf->first + i] == size, "dimension %u is %lld, wanted %.*s", i,
                          (long long)result.sizes[leaf->first + i], (int)strcspn(from, "]") + 1, from);
        }
        program_want(&writing, "]");
    }
}

static void check(const char *program, const char *changes, const char *arrays)
{
    read(program);
    resize(changes);
    expect(arrays);
    ck_assert_uint_eq(result.conflict_count, 0);
    buf_free(&file);
    file = (struct buf)BUF_INIT;
}

START_TEST(what_is_computed_element_by_element_has_one_shape)
{
    check("main { x = f32[8,16] parameter(0) s = f32[] parameter(1) y = f32[8,16] exponential(x) "
          "z = f32[8,16] add(y, x) c = bf16[8,16] convert(z) ROOT t = (f32[8,16], bf16[8,16]) tuple(z, c) }",
          "x:0=4", "y[4,16] z[4,16] c[4,16] t#0[4,16] t#1[4,16]");
    /* several results at once, each like its operand */
    check("main { k = f32[8,16] parameter(0) v = s32[8,16] parameter(1) ROOT s = (f32[8,16], s32[8,16]) sort(k, v) }",
          "k:0=4", "v[4,16] s#0[4,16] s#1[4,16]");
}
END_TEST

START_TEST(products)
{
    /* batch, contracted and the others, in the order in which the result has them */
    check("main { q = f32[2,64,8,32] parameter(0) k = f32[2,128,8,32] parameter(1) "
          "ROOT s = f32[2,8,64,128] dot(q, k) lhs={3} rhs={3} lhs_batch={0,2} rhs_batch={0,2} }",
          "q:0=1 q:1=32 k:1=256 q:3=16", "s[1,8,32,256] k[1,256,8,16] q[1,32,8,16]");
    check(
        "main { x = f32[64,16] parameter(0) w = f32[16,48] parameter(1) ROOT y = f32[64,48] dot(x, w) lhs={1} rhs={0} "
        "}",
        "x:0=32 w:1=24", "y[32,24] w[16,24] x[32,16]");
}
END_TEST

START_TEST(convolutions_of_pictures)
{
    /* [b, h, w, f] under a 3 × 3 window, stride 1, borders padded: the batch is one, the picture keeps its size */
    check("main { x = f32[8,32,32,16] parameter(0) k = f32[3,3,16,64] parameter(1) ROOT y = f32[8,32,32,64] "
          "convolution(x, k) windows={3:1:1,3:1:1} conv={0,3,1,2/2,3,0,1/0,3,1,2} }",
          "x:0=4 x:1=16", "y[4,16,32,64] k[3,3,16,64]");
    /* stride 2: half of the picture stays half */
    check("main { x = f32[8,32,32,16] parameter(0) k = f32[3,3,16,64] parameter(1) ROOT y = f32[8,16,16,64] "
          "convolution(x, k) windows={3:2:1,3:2:1} conv={0,3,1,2/2,3,0,1/0,3,1,2} }",
          "x:1=64 x:3=8", "y[8,32,16,64] k[3,3,8,64]");
    check("main { x = f32[8,32,32,16] parameter(0) k = f32[3,3,16,64] parameter(1) ROOT y = f32[8,32,32,64] "
          "convolution(x, k) windows={3:1:1,3:1:1} conv={0,3,1,2/2,3,0,1/0,3,1,2} }",
          "y:3=32", "k[3,3,16,32] x[8,32,32,16]");
}
END_TEST

/* The TPU compiler writes products as convolutions; what would be a batch of a dot is a window. */
START_TEST(convolutions_that_are_products)
{
    check(
        "main { q = f32[8,64,32] parameter(0) k = f32[8,128,32] parameter(1) ROOT s = f32[8,64,128] convolution(q, k) "
        "windows={8:7:8} conv={1,2,0/2,1,0/1,2,0} }",
        "q:0=4", "k[4,128,32] s[4,64,128]");
    /* a window as wide as the input sums over it */
    check(
        "main { x = f32[16,64,32] parameter(0) y = f32[16,64,48] parameter(1) ROOT g = f32[1,32,48] convolution(x, y) "
        "windows={16:1:1} conv={2,1,0/1,2,0/1,2,0} }",
        "x:0=8 x:2=24", "y[8,64,48] g[1,24,48]");
}
END_TEST

START_TEST(merged_dimensions)
{
    check("main { x = f32[8,128,64] parameter(0) m = f32[1024,64] reshape(x) e = f32[1024,64] exponential(m) "
          "ROOT s = f32[8,128,64] reshape(e) }",
          "x:0=4", "m[512,64] e[512,64] s[4,128,64]");
    check("main { x = f32[8,128,64] parameter(0) m = f32[1024,64] reshape(x) ROOT s = f32[8,128,64] reshape(m) }",
          "x:1=64", "m[512,64] s[8,64,64]");
    /* split where it was not merged: one more piece, of the size asked for */
    check("main { x = f32[8,64] parameter(0) ROOT s = f32[8,4,16] reshape(x) }", "x:0=2", "s[2,4,16]");
    /* ones say nothing */
    check("main { x = f32[8,1,64] parameter(0) ROOT s = f32[1,8,64,1] reshape(x) }", "x:0=4", "s[1,4,64,1]");
    /* split into what it was merged of, whichever of two equal sizes changes */
    check("main { x = f32[8,8,64] parameter(0) m = f32[64,64] reshape(x) e = f32[64,64] exponential(m) "
          "ROOT s = f32[8,8,64] reshape(e) }",
          "x:1=4", "m[32,64] s[8,4,64]");
    /* in the order of the shape, not in that of memory */
    check("main { x = f32[8,8]{0,1} parameter(0) ROOT s = f32[8,2,4]{2,1,0} reshape(x) }", "x:0=4", "s[4,2,4]");
    /* merged of three, split into two and one */
    check("main { x = f32[2,3,5] parameter(0) m = f32[30] reshape(x) ROOT s = f32[2,3,5] reshape(m) }", "x:1=6",
          "m[60] s[2,6,5]");
}
END_TEST

/* Which of two dimensions a product changes with is not known: the one that has the size that is asked for. */
START_TEST(the_size_that_is_asked_for_is_chosen)
{
    check("main { x = f32[8] parameter(0) y = f32[128] parameter(1) m = f32[1024] parameter(2) ROOT s = f32[128,8] "
          "reshape(m) }",
          "x:0=4 m:0=512", "s[128,4]");
    check("main { x = f32[8] parameter(0) y = f32[128] parameter(1) m = f32[1024] parameter(2) ROOT s = f32[128,8] "
          "reshape(m) }",
          "y:0=64 m:0=512", "s[64,8]");
    /* none has it: the outermost */
    check("main { m = f32[1024] parameter(0) ROOT s = f32[128,8] reshape(m) }", "m:0=512", "s[64,8]");
}
END_TEST

START_TEST(one_that_a_loop_goes_through_is_not_chosen)
{
    static const char program[] =
        "body { p = (f32[8,128], s32[]) parameter(0) a = f32[8,128] get-tuple-element(p) index=0 "
        "i = s32[] get-tuple-element(p) index=1 z = s32[] parameter(1) "
        "d = f32[1,128] dynamic-slice(a, i, z) u = f32[8,128] dynamic-update-slice(a, d, i, z) "
        "ROOT t = (f32[8,128], s32[]) tuple(u, i) } "
        "condition { q = (f32[8,128], s32[]) parameter(0) ROOT c = pred[] constant() } "
        "main { m = f32[1024] parameter(0) s = f32[8,128] reshape(m) n = s32[] parameter(1) t0 = (f32[8,128], s32[]) "
        "tuple(s, n) ROOT w = (f32[8,128], s32[]) while(t0) calls=body,condition }";
    check(program, "m:0=512", "s[8,64] w#0[8,64] u[8,64] d[1,64]");
}
END_TEST

START_TEST(dimensions_that_come_and_go)
{
    check("main { x = f32[8,16] parameter(0) ROOT y = f32[8,4,16] broadcast(x) dimensions={0,2} }", "x:0=4 x:1=32",
          "y[4,4,32]");
    check("main { x = f32[8,16,32] parameter(0) ROOT y = f32[32,8,16] transpose(x) dimensions={2,0,1} }", "x:0=4",
          "y[32,4,16]");
    check("main { x = f32[8,16,32] parameter(0) z = f32[] constant() ROOT y = f32[8,32] reduce(x, z) dimensions={1} }",
          "x:0=4 x:2=64", "y[4,64]");
    /* two arrays reduced together */
    check("main { x = f32[8,16] parameter(0) i = s32[8,16] parameter(1) z = f32[] constant() y = s32[] constant() "
          "ROOT r = (f32[8], s32[8]) reduce(x, i, z, y) dimensions={1} }",
          "x:0=4 x:1=32", "i[4,32] r#0[4] r#1[4]");
}
END_TEST

START_TEST(parts)
{
    /* all tokens but the last: the rest is fixed */
    check("main { x = s32[8,129] parameter(0) ROOT y = s32[8,128] slice(x) slice={0:8:1,0:128:1} }", "x:1=65 x:0=2",
          "y[2,64]");
    check("main { x = s32[8,129] parameter(0) ROOT y = s32[8,128] slice(x) slice={0:8:1,1:129:1} }", "y:1=64",
          "x[8,65]");
    /* half of the heads: a share */
    check("main { x = f32[8,128] parameter(0) ROOT y = f32[8,64] slice(x) slice={0:8:1,0:64:1} }", "x:1=64", "y[8,32]");
    /* one of them says nothing */
    check("main { x = f32[8,128] parameter(0) ROOT y = f32[1,128] slice(x) slice={0:1:1,0:128:1} }", "x:0=4",
          "y[1,128]");
    check("main { x = f32[8,128] parameter(0) z = f32[] constant() ROOT y = f32[8,130] pad(x, z) pad={0:0:0,1:1:0} }",
          "x:1=64 x:0=4", "y[4,66]");
    check("main { a = f32[8,128] parameter(0) b = f32[8,32] parameter(1) ROOT y = f32[8,160] concatenate(a, b) "
          "dimensions={1} }",
          "a:1=64 a:0=4", "b[4,32] y[4,96]");
    check("main { a = f32[8,64] parameter(0) b = f32[8,64] parameter(1) ROOT y = f32[8,128] concatenate(a, b) "
          "dimensions={1} }",
          "y:1=64", "a[8,32] b[8,32]");
    check("main { x = f32[8,128] parameter(0) i = s32[] parameter(1) ROOT y = f32[8,16] dynamic-slice(x, i, i) }",
          "x:1=64 x:0=4", "y[4,16]");
    check("main { x = f32[8,128] parameter(0) u = f32[8,16] parameter(1) i = s32[] parameter(2) "
          "ROOT y = f32[8,128] dynamic-update-slice(x, u, i, i) }",
          "x:0=4", "u[4,16] y[4,128]");
}
END_TEST

START_TEST(gathers_and_scatters)
{
    /* rows of an embedding, for tokens [b, t] */
    check("main { table = f32[1000,64] parameter(0) tokens = s32[8,128,1] parameter(1) ROOT y = f32[8,128,64] "
          "gather(table, tokens) offset={2} collapsed={0} vector=2 }",
          "tokens:0=4 tokens:1=64 table:1=32", "y[4,64,32] table[1000,32]");
    /* the vector comes first */
    check("main { table = f32[1000,64] parameter(0) tokens = s32[1,8,128] parameter(1) ROOT y = f32[8,128,64] "
          "gather(table, tokens) offset={2} collapsed={0} vector=0 }",
          "tokens:1=4 tokens:2=64", "y[4,64,64]");
    /* the vector's dimension is left out: it is the last, and not there */
    check("main { table = f32[1000,64] parameter(0) tokens = s32[8,128] parameter(1) ROOT y = f32[8,128,64] "
          "gather(table, tokens) offset={2} collapsed={0} vector=2 }",
          "tokens:0=4", "y[4,128,64] table[1000,64]");
    check("add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) } "
          "main { table = f32[1000,64] parameter(0) tokens = s32[8,128,1] parameter(1) u = f32[8,128,64] parameter(2) "
          "ROOT y = f32[1000,64] scatter(table, tokens, u) window={2} inserted={0} vector=2 calls=add }",
          "tokens:0=4 table:1=32", "u[4,128,32] y[1000,32]");
    /* batched: rows of each its own */
    check("main { x = f32[8,1000] parameter(0) i = s32[8,128,1] parameter(1) ROOT y = f32[8,128] gather(x, i) "
          "collapsed={1} operand_batching={0} indices_batching={0} vector=2 }",
          "x:0=4", "i[4,128,1] y[4,128]");
}
END_TEST

START_TEST(what_is_run_hands_on)
{
    check(
        "fused { p = f32[8,16] parameter(0) ROOT e = f32[8,16] exponential(p) } "
        "main { x = f32[8,16] parameter(0) y = f32[8,16] fusion(x) calls=fused ROOT z = f32[8,16] call(y) calls=fused "
        "}",
        "x:0=4", "p[4,16] e[4,16] y[4,16] z[4,16]");
    check("one { p = f32[8,16] parameter(0) ROOT e = f32[8,16] exponential(p) } "
          "two { q = f32[8,16] parameter(0) ROOT n = f32[8,16] negate(q) } "
          "main { c = s32[] parameter(0) x = f32[8,16] parameter(1) y = f32[8,16] parameter(2) "
          "ROOT r = f32[8,16] conditional(c, x, y) calls=one,two }",
          "x:0=4", "p[4,16] r[4,16] q[4,16] y[4,16]");
    check("wrapped { p = f32[8,16] parameter(0) ROOT e = f32[8,16] exponential(p) } "
          "main { x = f32[8,16] parameter(0) s = ((f32[8,16]), f32[8,16], u32[]) async-start(x) calls=wrapped "
          "ROOT d = f32[8,16] async-done(s) }",
          "x:0=4", "p[4,16] e[4,16] s#0[4,16] s#1[4,16] d[4,16]");
    check("main { x = f32[8,16] parameter(0) s = (f32[8,16], f32[8,16], u32[]) copy-start(x) ROOT d = f32[8,16] "
          "copy-done(s) }",
          "x:0=4", "s#0[4,16] s#1[4,16] d[4,16]");
    check("main { x = f32[8,16] parameter(0) y = s32[4] parameter(1) t = (f32[8,16], s32[4]) tuple(x, y) "
          "u = ((f32[8,16], s32[4]), s32[4]) tuple(t, y) e = (f32[8,16], s32[4]) get-tuple-element(u) index=0 "
          "ROOT g = f32[8,16] get-tuple-element(e) index=0 }",
          "x:0=4 y:0=2", "t#0[4,16] u#1[2] u#2[2] e#1[2] g[4,16]");
}
END_TEST

/* What a loop carries is one array; all that it goes through one by one are as long as each other. */
START_TEST(loops)
{
    static const char program[] =
        "body { p = (s32[], f32[8,16], f32[12,8,16], f32[12,64]) parameter(0) i = s32[] get-tuple-element(p) index=0 "
        "h = f32[8,16] get-tuple-element(p) index=1 stack = f32[12,8,16] get-tuple-element(p) index=2 "
        "w = f32[12,64] get-tuple-element(p) index=3 z = s32[] constant() d = f32[1,64] dynamic-slice(w, i, z) "
        "n = f32[8,16] exponential(h) r = f32[1,8,16] reshape(n) u = f32[12,8,16] dynamic-update-slice(stack, r, i, z, "
        "z) ROOT t = (s32[], f32[8,16], f32[12,8,16], f32[12,64]) tuple(i, n, u, w) } "
        "condition { q = (s32[], f32[8,16], f32[12,8,16], f32[12,64]) parameter(0) ROOT c = pred[] constant() } "
        "main { k = s32[] parameter(0) x = f32[8,16] parameter(1) s = f32[12,8,16] parameter(2) ws = f32[12,64] "
        "parameter(3) t0 = (s32[], f32[8,16], f32[12,8,16], f32[12,64]) tuple(k, x, s, ws) "
        "ROOT l = (s32[], f32[8,16], f32[12,8,16], f32[12,64]) while(t0) calls=body,condition }";
    check(program, "x:0=4", "h[4,16] n[4,16] stack[12,4,16] u[12,4,16] l#1[4,16] l#2[12,4,16] q#2[12,4,16] ws[12,64]");
    check(program, "ws:0=6", "d[1,64] stack[6,8,16] l#2[6,8,16] s[6,8,16] x[8,16]");
    read(program);
    uint32_t stack = dimensions.leaves.items[dimensions.leaves.first[find(STR("s"))]].first;
    ck_assert(dimensions.is_scanned[dimensions_class(&dimensions, stack)]);
    ck_assert(!dimensions.is_scanned[dimensions_class(&dimensions, stack + 1)]);
}
END_TEST

static bool is_cut(struct str name, uint32_t nth)
{
    return dimensions.is_cut[dimensions_class(&dimensions, dimensions_of(&dimensions, find(name), nth))];
}

/* Parts at computed places: of a loop's, of an update, of windows of several rows; single rows are none. */
START_TEST(what_is_cut)
{
    read(
        "main { x = f32[12,64] parameter(0) b = f32[100,64] parameter(1) i = s32[] parameter(2) z = s32[] constant() "
        "d = f32[1,64] dynamic-slice(x, i, z) w = f32[3,64] parameter(3) u = f32[100,64] dynamic-update-slice(b, w, i, "
        "z) t = f32[50,16] parameter(4) k = s32[8,1] parameter(5) "
        "g = f32[8,16] gather(t, k) offset={1} collapsed={0} vector=1 "
        "ROOT o = (f32[1,64], f32[100,64], f32[8,16]) tuple(d, u, g) }");
    ck_assert(is_cut(STR("x"), 0) && !is_cut(STR("x"), 1));
    ck_assert(is_cut(STR("b"), 0) && !is_cut(STR("b"), 1));
    ck_assert(!is_cut(STR("t"), 0) && !is_cut(STR("t"), 1));
}
END_TEST

START_TEST(memory_as_it_is)
{
    /* the same bytes: [8,16,32] with the second dimension farthest apart has the shape [16,8,32] */
    check("main { x = f32[8,16,32]{2,0,1} parameter(0) ROOT b = f32[16,8,32]{2,1,0} bitcast(x) }", "x:0=4",
          "b[16,4,32]");
    check("main { x = f32[8,8,32]{2,0,1} parameter(0) ROOT b = f32[8,8,32]{2,1,0} bitcast(x) }", "x:0=4", "b[8,4,32]");
    check("main { x = f32[8,16,32]{2,1,0} parameter(0) ROOT b = f32[128,32]{1,0} bitcast(x) }", "x:0=4", "b[64,32]");
    /* tiles cut 16 into 2 and the third dimension of 8, whatever is between them; padded ones tell nothing */
    check("main { x = f32[16,1024]{1,0:T(8,128)} parameter(0)"
          "       ROOT b = f32[2,8,8,128]{3,2,1,0:T(8,128)} bitcast(x) }",
          "x:1=512", "b[2,4,8,128]");
    check("main { x = f32[32,1024]{1,0:T(8,128)} parameter(0)"
          "       ROOT b = f32[4,8,8,128]{3,2,1,0:T(8,128)} bitcast(x) }",
          "x:0=16 b:2=8", "b[2,8,8,128]");
    check("main { x = f32[12,1024]{1,0:T(8,128)} parameter(0) ROOT b = f32[12,1024]{1,0:T(8,128)} bitcast(x) }",
          "x:0=6", "b[6,1024]");
    /* pieces that the compiler joins without moving them */
    check("main { a = f32[8,16] parameter(0) b = f32[8,16] parameter(1) ROOT j = f32[16,16] custom-call(a, b) "
          "target=ConcatBitcast }",
          "a:0=4 b:0=4", "j[8,16]");
    /* one array that is fetched in slices */
    check("one { p = f32[20,8] parameter(0) ROOT r = f32[7,8] slice(p) } two { p2 = f32[20,8] parameter(0) ROOT r2 = "
          "f32[7,8] slice(p2) } three { p3 = f32[20,8] parameter(0) ROOT r3 = f32[6,8] slice(p3) } "
          "main { x = f32[20,8] parameter(0) "
          "s = ((f32[20,8]), f32[7,8], s32[]) async-start(x) calls=one d = f32[7,8] async-done(s) "
          "s2 = ((f32[20,8]), f32[7,8], s32[]) async-start(x) calls=two d2 = f32[7,8] async-done(s2) "
          "s3 = ((f32[20,8]), f32[6,8], s32[]) async-start(x) calls=three d3 = f32[6,8] async-done(s3) "
          "ROOT j = f32[20,8] custom-call(d, d2, d3) target=ConcatBitcast }",
          "x:0=10", "j[10,8]");
}
END_TEST

/* A kernel whose meaning is not known: equal sizes at equal places are one, and it is counted. */
START_TEST(kernels)
{
    read(
        "main { q = bf16[8,128,64] parameter(0) k = bf16[8,256,64] parameter(1) ROOT o = bf16[8,128,64] custom-call(q, "
        "k) target=tpu_custom_call }");
    resize("q:0=4 q:1=64");
    expect("k[4,256,64] o[4,64,64]");
    ck_assert_uint_eq(dimensions.unfollowed_count, 1);
}
END_TEST

START_TEST(collectives)
{
    check("main { x = f32[2,64] parameter(0) ROOT y = f32[8,64] all-gather(x) dimensions={0} }", "x:1=32 x:0=1",
          "y[4,32]");
    check("main { x = f32[8,64] parameter(0) ROOT y = f32[2,64] reduce-scatter(x) dimensions={0} }", "x:0=4",
          "y[1,64]");
}
END_TEST

START_TEST(what_contradicts_itself_is_counted)
{
    read("main { x = f32[8,16] parameter(0) y = f32[8,16] parameter(1) ROOT z = f32[8,16] add(x, y) }");
    resize("x:0=4 y:0=2");
    ck_assert_uint_eq(result.conflict_count, 1);
    expect("x[4,16] y[4,16] z[4,16]");
    resize("x:0=0"); /* no size at all: nothing changes */
    ck_assert_uint_eq(result.changed_count, 0);
    buf_free(&file);
    /* sizes that the file says are the same and are not: each stays its own */
    check("main { x = f32[8,16] parameter(0) ROOT z = f32[9,16] exponential(x) }", "x:0=4", "z[9,16]");
    /* operands, computations and elements that are not there; ranks that do not fit */
    check(
        "main { x = f32[8,16] parameter(0) a = f32[8,16] fusion(x, gone) calls=nowhere b = f32[8] dot(x, gone) lhs={7} "
        "rhs={1} c = f32[8,16] while(gone) calls=nowhere d = f32[8] get-tuple-element(gone) index=9 e = f32[8] "
        "transpose(x) dimensions={5,9} f = f32[8] reduce(x) dimensions={4} g = f32[8,3] concatenate(x, gone) "
        "dimensions={3} h = f32[4] gather(x, gone) offset={0,1,2} vector=9 i = f32[4] scatter(x) window={3} "
        "j = f32[8,2] convolution(x, x) windows={1:1:1} conv={9,9,9/9,9,9/9,9,9} k = f32[8] async-done(gone) "
        "ROOT l = f32[8] conditional(x, gone) calls=nowhere }",
        "x:0=4", "x[4,16]");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("dimensions");
    TCase *tests = tcase_create("dimensions");
    tcase_add_checked_fixture(tests, arena_begin, end);
    tcase_add_test(tests, what_is_computed_element_by_element_has_one_shape);
    tcase_add_test(tests, products);
    tcase_add_test(tests, convolutions_of_pictures);
    tcase_add_test(tests, convolutions_that_are_products);
    tcase_add_test(tests, merged_dimensions);
    tcase_add_test(tests, the_size_that_is_asked_for_is_chosen);
    tcase_add_test(tests, one_that_a_loop_goes_through_is_not_chosen);
    tcase_add_test(tests, dimensions_that_come_and_go);
    tcase_add_test(tests, parts);
    tcase_add_test(tests, gathers_and_scatters);
    tcase_add_test(tests, what_is_run_hands_on);
    tcase_add_test(tests, loops);
    tcase_add_test(tests, what_is_cut);
    tcase_add_test(tests, memory_as_it_is);
    tcase_add_test(tests, kernels);
    tcase_add_test(tests, collectives);
    tcase_add_test(tests, what_contradicts_itself_is_counted);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
