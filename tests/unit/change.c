/* SPDX-License-Identifier: Apache-2.0
 * Changes: how they are written and refused, and what each saves of small programs. */
#include "change.h"
#include "whatif/split.h"

#include "base/sum.h"
#include "whatif/glob.h"

/* ---- how they are written ---- */

START_TEST(every_form_is_read)
{
    ck_assert_int_eq(reads("donate=0,1").kind, CHANGE_DONATE);
    ck_assert(str_equal(reads("donate=all").glob, STR("all")));
    struct change cast = reads("cast=opt_state*.mu*:bf16");
    ck_assert(cast.kind == CHANGE_CAST && str_equal(cast.glob, STR("opt_state*.mu*")) &&
              cast.type == PRIMITIVE_TYPE_BF16);
    ck_assert_uint_eq(reads("cast=a:b:bfloat16").type, PRIMITIVE_TYPE_BF16);
    ck_assert_uint_eq(reads("cast=*:float16").type, PRIMITIVE_TYPE_F16);
    ck_assert_uint_eq(reads("cast=*:int8").type, PRIMITIVE_TYPE_S8);
    ck_assert_uint_eq(reads("cast=*:fp8").type, PRIMITIVE_TYPE_F8E4M3FN);
    ck_assert(reads("batch=0.5").factor == 0.5 && reads("batch=0.5").dimension == -1);
    struct change batch = reads("batch=2@inputs['x']:1");
    ck_assert(batch.factor == 2 && batch.dimension == 1 && str_equal(batch.argument, STR("inputs['x']")));
    ck_assert(reads("sequence=0.25").kind == CHANGE_SEQUENCE && reads("sequence=0.25").factor == 0.25);
    ck_assert(str_equal(reads("checkpoint=layer_*").glob, STR("layer_*")));
    ck_assert_int_eq(reads("offload=*mu*").kind, CHANGE_OFFLOAD);
    ck_assert_int_eq(reads("shard=*:4").device_count, 4);
    ck_assert_int_eq(reads("unpad=*").kind, CHANGE_UNPAD);
    for (enum change_kind kind = 0; kind < CHANGE_COUNT; kind++)
        ck_assert(change_name(kind)[0] != '\0' && change_form(kind)[0] != '\0' && change_words(kind)[0] != '\0');
}
END_TEST

START_TEST(what_is_written_wrong_is_refused)
{
    static const char *const wrong[][2] = {
        {"batches=0.5", "did you mean \"batch\""},
        {"", "Known: donate, cast"},
        {"checkpont=*", "did you mean \"checkpoint\""},
        {"batch", "it is written batch=0.5"},
        {"batch=", "it is written batch=0.5"},
        {"batch=0", "it is written"},
        {"batch=-1", "it is written"},
        {"batch=nan", "it is written"},
        {"batch=inf", "it is written"},
        {"batch=0.5x", "it is written"},
        {"batch=2000", "it is written"},
        {"batch=0.5@x", "it is written"},
        {"batch=0.5@x:-1", "it is written"},
        {"batch=0.5@x:1.5", "it is written"},
        {"batch=0.0000000000000000000000000000000001", "it is written"},
        {"cast=*", "it is written cast=GLOB:bf16"},
        {"cast=*:b16", "it is written"},
        {"cast=*:token", "it is written"},
        {"cast=*:", "it is written"},
        {"shard=*", "it is written shard=GLOB:4"},
        {"shard=*:1", "it is written"},
        {"shard=*:1000", "it is written"},
        {"checkpoint=", "it is written checkpoint=GLOB"},
        {"donate=", "it is written donate=0,1"},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct change change;
        err = (struct err)ERR_INIT;
        ck_assert_msg(!change_read(str_of(wrong[i][0]), &change, &err), "\"%s\" is read", wrong[i][0]);
        ck_assert_int_eq(err.code, ERR_argument);
        ck_assert_msg(strstr(err.text, wrong[i][1]) != NULL, "\"%s\": %s", wrong[i][0], err.text);
    }
}
END_TEST

/* ---- globs ---- */

static bool is_whole(const char *glob, const char *text, size_t length)
{
    if (*glob == '\0')
        return length == 0;
    if (*glob == '*')
        return is_whole(glob + 1, text, length) || (length > 0 && is_whole(glob, text + 1, length - 1));
    return length > 0 && *glob == *text && is_whole(glob + 1, text + 1, length - 1);
}

/* By its definition: every beginning of a part with every end of one. */
static bool naive_matches(const char *glob, const char *text)
{
    size_t length = strlen(text);
    for (size_t from = 0; from <= length; from++)
        for (size_t to = from; to <= length; to++)
            if ((from == 0 || strchr("/.", text[from - 1]) || strchr("/.", text[from])) &&
                (to == length || strchr("/.", text[to])) && (from < to || length == 0) &&
                is_whole(glob, text + from, to - from))
                return true;
    return false;
}

START_TEST(globs_match_parts)
{
    static const char *const yes[][2] = {{"layer_*", "jit(f)/jvp(layer_3)/mlp/dot"},
                                         {"layer_3/mlp", "jit(f)/layer_3/mlp/dot"},
                                         {"opt_state*.mu*", "opt_state[0].mu['w']"},
                                         {"*mu*", "opt_state[0].mu['w']"},
                                         {"mu", "opt_state[0].mu['w']"},
                                         {"params['w']", "params['w']"},
                                         {"*", ""},
                                         {"w", "params['w']"}};
    static const char *const no[][2] = {
        {"layer_3", "jit(f)/layer_31/mlp"}, {"yer_3", "jit(f)/layer_3"}, {"mu", "a/mul"}, {"", "a"}, {"a", ""},
        {"*.mu", "params['mul']"}};
    char glob[8] = "", text[10] = "";
    uint32_t state = 7, matched = 0;
    for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
        ck_assert_msg(glob_matches(str_of(yes[i][0]), str_of(yes[i][1])), "%s, %s", yes[i][0], yes[i][1]);
    for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
        ck_assert_msg(!glob_matches(str_of(no[i][0]), str_of(no[i][1])), "%s, %s", no[i][0], no[i][1]);
    for (int trial = 0; trial < 200000; trial++) {
        size_t glob_length = (state = state * 1664525 + 1013904223) >> 8 & 7, text_length = state >> 16 & 7;
        for (size_t i = 0; i < glob_length; i++)
            glob[i] = "ab*/"[(state = state * 1664525 + 1013904223) >> 20 & 3];
        for (size_t i = 0; i < text_length; i++)
            text[i] = "aab/"[(state = state * 1664525 + 1013904223) >> 20 & 3];
        glob[glob_length] = text[text_length] = '\0';
        bool is_match = naive_matches(glob, text);
        matched += is_match;
        ck_assert_msg(glob_matches(str_of(glob), str_of(text)) == is_match, "%s, %s: not %d", glob, text, is_match);
    }
    ck_assert_uint_gt(matched, 20000);
}
END_TEST

START_TEST(what_matches_nothing_has_names_near_it)
{
    open_program(step);
    refused("offload=*mv*", "nothing has this name; near it: \"mu\"");
    refused("shard=parms:4", "nothing has this name; near it: ");
    refused("unpad=layer_1", "\"layer_0\"");
    refused("checkpoint=layer_7", "\"layer_0\"");
}
END_TEST

/* ---- donate ---- */

START_TEST(donated_arguments_take_their_results)
{
    open_program(step);
    ck_assert_int_eq(before.total_bytes, 3 * 16384 + 8192 + 3 * 16384 + before.temporary_bytes);
    ck_assert_int_eq(saves("donate=all"), 3 * 16384);
    ck_assert_int_eq(result.confidence, CHANGE_EXACT);
    ck_assert_str_eq(result.call, "jax.jit(step, donate_argnames=(\"params\", \"opt_state\"))");
    ck_assert_int_eq(saves("donate=0"), 16384); /* as donate_argnums counts: params */
    ck_assert_str_eq(result.call, "jax.jit(step, donate_argnums=(0,))");
    ck_assert_int_eq(saves("donate=1"), 2 * 16384); /* opt_state: two arrays */
    ck_assert_int_eq(saves("donate=0,1"), 3 * 16384);
    refused("donate=2", "no result that could live in its memory has its shape and type");
    refused("donate=7", "no such argument");
    ck_assert_int_eq(saves("donate=0"), 16384);
    ck_assert(!also("donate=0"));
    ck_assert_ptr_nonnull(strstr(err.text, "donated already"));
}
END_TEST

/* Two arguments of one shape, and one result with that shape. */
static const char *const rivals =
    "scheduled module=jit_step main { a = f32[64,64] parameter(0) \"params\" !arg b = f32[64,64] parameter(1) "
    "\"cache\" !arg c = f32[64,64] add(a, b) !out ROOT t = (f32[64,64]) tuple(c) }";

START_TEST(a_result_is_given_once)
{
    open_program(rivals);
    ck_assert_int_eq(saves("donate=all"), 16384);
    ck_assert_str_eq(result.call, "jax.jit(step, donate_argnames=(\"params\",))");
    ck_assert(!also("donate=all"));
    ck_assert_ptr_nonnull(strstr(err.text, "all that has a result for its memory is donated already"));
    open_program(step);
    ck_assert_int_eq(saves("donate=all"), 3 * 16384);
    ck_assert(!also("donate=all"));
    ck_assert_ptr_nonnull(strstr(err.text, "it is donated already"));
}
END_TEST

#define LOOP_STATE "(s32[], f32[64,64], f32[64,64])"
/* A loop that reads the parameter and builds the new one: in its place, or beside it. */
#define LOOP(begin)                                                                                                    \
    "scheduled body { p = " LOOP_STATE " parameter(0) i = s32[] get-tuple-element(p) index=0 "                         \
    "a = f32[64,64] get-tuple-element(p) index=1 b = f32[64,64] get-tuple-element(p) index=2 "                         \
    "c = f32[64,64] add(a, b) ROOT t = " LOOP_STATE " tuple(i, a, c) } "                                               \
    "condition { q = " LOOP_STATE " parameter(0) ROOT r = pred[] constant() } "                                        \
    "main { w = f32[64,64] parameter(0) \"params['w']\" !arg k = s32[] constant() z = f32[64,64] constant() !temp "    \
    "s = " LOOP_STATE " tuple(k, " begin ") l = " LOOP_STATE " while(s) calls=body,condition "                         \
    "o = f32[64,64] get-tuple-element(l) index=2 y = f32[64,64] copy(o) !out ROOT u = (f32[64,64]) tuple(y) }"

START_TEST(a_loop_that_builds_the_result_beside_the_argument_saves_nothing)
{
    open_program(LOOP("w, z"));
    refused("donate=0", "no result that could live in its memory");
    open_program(LOOP("z, w")); /* in its place */
    ck_assert_int_eq(saves("donate=0"), 16384);
}
END_TEST

/* The compiler may copy the argument into another layout long before that is read. */
START_TEST(an_argument_in_another_layout_saves_at_most_its_bytes)
{
    static const char *const program =
        "scheduled main { a = f32[64,64]{1,0} parameter(0) \"cache\" !arg b = f32[64,64]{%s} copy(a) !temp "
        "c = f32[64,64]{1,0} tanh(b) !out ROOT t = (f32[64,64]{1,0}) tuple(c) }";
    open_program(arena_format(&arena, program, "0,1"));
    ck_assert_int_eq(saves("donate=all"), 16384);
    ck_assert_int_eq(result.confidence, CHANGE_BOUND);
    ck_assert_ptr_nonnull(strstr(result.reason, "At most this: 16.0 KiB of the arguments are copied"));
    open_program(arena_format(&arena, program, "1,0"));
    saves("donate=all");
    ck_assert_int_eq(result.confidence, CHANGE_EXACT);
}
END_TEST

/* How the compiler packs them once more is not known. */
START_TEST(many_temporaries_are_not_exact)
{
    struct variant_sums sums = {.fixed_bytes = 95, .temporary_bytes = 5, .total_bytes = 100};
    open_program(rivals);
    saves("donate=all");
    change_result_settle(&result, &sums);
    ck_assert_int_eq(result.confidence, CHANGE_EXACT);
    sums.temporary_bytes = 6;
    change_result_settle(&result, &sums);
    ck_assert_int_eq(result.confidence, CHANGE_MODEL);
}
END_TEST

/* ---- batch, sequence ---- */

START_TEST(half_the_batch)
{
    open_program(step);
    saves("batch=0.5");
    ck_assert_int_eq(result.confidence, CHANGE_MODEL);
    ck_assert_str_eq(result.call, "batch = batch[:16]");
    ck_assert_int_eq(changed.rows[3].bytes, 4096);  /* the batch itself */
    ck_assert_int_eq(changed.rows[0].bytes, 16384); /* no parameter */
    ck_assert_int_eq(saves("batch=0.5@batch:0"), saves("batch=0.5"));
    ck_assert_int_eq(saves("batch=0.5@3:0"), saves("batch=0.5")); /* by its number */
    refused("batch=0.3", "no whole number");
    refused("batch=0.5@batch:2", "has no dimension 2");
    refused("batch=0.5@bath:0", "no argument \"bath\"");
}
END_TEST

/* Tokens and the one behind them: [8, 129], where all but one are the sequence. */
START_TEST(a_sequence_and_the_token_behind_it)
{
    open_program(
        "scheduled main { t = s32[8,129] parameter(0) \"tokens\" !arg e = f32[1000,16] parameter(1) \"params['e']\" "
        "!arg i = s32[8,128] slice(t) slice={0:8:1,0:128:1} \"jit(f)/slice\" !temp "
        "r = s32[8,128,1] reshape(i) \"jit(f)/reshape\" !temp "
        "g = f32[8,128,16] gather(e, r) offset={2} collapsed={0} vector=2 \"jit(f)/gather\" !temp "
        "ROOT y = f32[8,128,16] exponential(g) \"jit(f)/exp\" !out }");
    saves("sequence=0.5");
    ck_assert_int_eq(changed.rows[0].bytes, 8 * 65 * 4);
    ck_assert_int_eq(changed.rows[1].bytes, 1000 * 16 * 4);
    ck_assert_int_eq(changed.rows[2].bytes, 8 * 64 * 16 * 4); /* the result */
    saves("sequence=2");                                      /* 258 would be whole, but one more than a sequence */
    ck_assert_int_eq(changed.rows[0].bytes, 8 * 257 * 4);
    ck_assert_int_eq(changed.rows[2].bytes, 8 * 256 * 16 * 4);
    saves("batch=0.25");
    ck_assert_int_eq(changed.rows[0].bytes, 2 * 129 * 4);
}
END_TEST

/* The dimension behind the batch: a picture's side, the features of a row, or a sequence that one window goes along. */
START_TEST(what_is_no_sequence)
{
    open_program("scheduled main { x = f32[16,32,32,3] parameter(0) \"batch['image']\" !arg "
                 "k = f32[3,3,3,8] parameter(1) \"params['k']\" !arg "
                 "ROOT y = f32[16,32,32,8] convolution(x, k) windows={3:1:1,3:1:1} conv={0,3,1,2/2,3,0,1/0,3,1,2} "
                 "\"jit(f)/conv\" !out }");
    refused("sequence=0.5", "no argument looks like data");
    saves("batch=0.5");
    saves("sequence=0.5@batch['image']:1"); /* who says it means it */
    open_program("scheduled main { x = f32[16,32,3] parameter(0) \"batch['sound']\" !arg "
                 "k = f32[3,3,8] parameter(1) \"params['k']\" !arg "
                 "ROOT y = f32[16,32,8] convolution(x, k) windows={3:1:1} conv={0,2,1/1,2,0/0,2,1} "
                 "\"jit(f)/conv\" !out }");
    saves("sequence=0.5");
    ck_assert_int_eq(changed.rows[0].bytes, 16 * 16 * 3 * 4);
    open_program("scheduled main { x = f32[64,32] parameter(0) \"batch['x']\" !arg "
                 "w = f32[32,16] parameter(1) \"params['w']\" !arg "
                 "ROOT y = f32[64,16] dot(x, w) lhs={1} rhs={0} \"jit(f)/dot_general\" !out }");
    refused("sequence=0.5", "no argument looks like data");
    saves("batch=0.5");
}
END_TEST

/* Samples of a source, sides of a grid, rows of a table, updates of clients: who means one of them says so. Two
 * arguments that begin with other sizes have no batch together. */
START_TEST(what_is_no_batch)
{
    open_program("scheduled main { m = f32[64,96,8] parameter(0) \"m\" !arg z = f32[96,96,4] parameter(1) \"z\" !arg "
                 "w = f32[8,4] parameter(2) \"params['w']\" !arg a = f32[64,96,4] dot(m, w) lhs={2} rhs={0} "
                 "\"jit(f)/dot_general\" !temp ROOT y = f32[96,96,4] exponential(z) \"jit(f)/exp\" !out }");
    refused("batch=0.5", "such as batch=0.5@m:0 (64)");
    refused("sequence=0.5", "such as sequence=0.5@m:1 (96)");
    saves("batch=0.5@m:0");
    open_program("scheduled main { u = f32[32,32] parameter(0) \"u\" !arg c = f32[32,32] parameter(1) \"c\" !arg "
                 "s = f32[300] parameter(2) \"src\" !arg ROOT y = f32[32,32] add(u, c) \"jit(f)/add\" !out }");
    refused("batch=0.5", "such as batch=0.5@u:0 (32)");
    /* whole numbers are a sign, and so is what all operands of products begin with */
    open_program(
        "scheduled main { x = s32[32,8] parameter(0) \"t\" !arg ROOT y = s32[32,8] negate(x) \"jit(f)/neg\" !out }");
    saves("batch=0.5");
    open_program(
        "scheduled main { q = f32[8,64,4] parameter(0) \"q\" !arg k = f32[8,64,4] parameter(1) \"k\" !arg "
        "ROOT y = f32[8,64,64] dot(q, k) lhs={2} rhs={2} lhs_batch={0} rhs_batch={0} \"jit(f)/dot_general\" !out }");
    saves("batch=0.5");
    ck_assert_int_eq(after.total_bytes, before.total_bytes / 2);
}
END_TEST

#define STEPS_STATE "(s32[], f32[4], f32[12,4], f32[12])"
/* jax.lax.scan over arange(12) stacks what its body makes of src[t]: with half of src it goes on twelve times. */
START_TEST(a_loop_as_long_as_the_source_says)
{
    static const char *const program =
        "scheduled body { p = " STEPS_STATE " parameter(0) i = s32[] get-tuple-element(p) index=0 "
        "u = f32[4] get-tuple-element(p) index=1 y = f32[12,4] get-tuple-element(p) index=2 "
        "s = f32[12] get-tuple-element(p) index=3 "
        "a = f32[1] dynamic-slice(s, i) \"jit(f)/while/body/%sdynamic_slice\" "
        "r = f32[1,4] reshape(u) o = s32[] constant() "
        "z = f32[12,4] dynamic-update-slice(y, r, i, o) \"jit(f)/while/body/dynamic_update_slice\" "
        "ROOT t = " STEPS_STATE " tuple(i, u, z, s) } condition { q = " STEPS_STATE
        " parameter(0) ROOT c = pred[] constant() } "
        "main { src = f32[12] parameter(0) \"src\" !arg u0 = f32[4] parameter(1) \"u0\" !arg k = s32[] constant() "
        "e = f32[12,4] constant() !temp b = " STEPS_STATE " tuple(k, u0, e, src) "
        "l = " STEPS_STATE " while(b) calls=body,condition g = f32[12,4] get-tuple-element(l) index=2 "
        "ROOT h = f32[12,4] exponential(g) \"jit(f)/exp\" !out }";
    open_program(arena_format(&arena, program, "closed_call/"));
    saves("batch=0.5@src:0");
    ck_assert_int_eq(before.total_bytes - after.total_bytes, 6 * 4);
    open_program(arena_format(&arena, program, "")); /* the scan goes through it */
    saves("batch=0.5@src:0");
    ck_assert_int_ge(before.total_bytes - after.total_bytes, 6 * 4 + 6 * 4 * 4);
}
END_TEST

START_TEST(no_size_overflows)
{
    open_program(step);
    saves("batch=1024");
    for (int i = 0; i < 6 && also("batch=1024"); i++)
        ck_assert_int_ge(after.total_bytes, before.total_bytes);
    for (int i = 0; i < 8; i++)
        also("sequence=1024");
    ck_assert_int_ge(after.total_bytes, before.total_bytes);
    ck_assert_int_ge(after.peak_bytes, before.peak_bytes);
    for (int i = 0; i < 3; i++)
        *variant_add(&changed) = (struct variant_row){.added_bytes = INT64_MAX,
                                                      .dies = 1,
                                                      .plan_row = PLAN_NONE,
                                                      .leaf = HLO_NONE,
                                                      .instruction_at = HLO_NONE,
                                                      .divided_by = 1};
    variant_measure(&changed, &after, NULL);
    ck_assert_int_gt(after.live_bytes, SUM_MAX_BYTES_TOGETHER / 8);
    ck_assert_int_le(after.live_bytes, SUM_MAX_BYTES_TOGETHER);
}
END_TEST

/* ---- offload, shard, unpad ---- */

START_TEST(what_a_partitioner_may_gather)
{
    uint32_t at;
    open_program(
        "scheduled main { w = f32[64,64] parameter(0) \"params['w']\" !arg i = s32[64] parameter(1) \"ids\" !arg "
        "ROOT y = f32[64,64] gather(w, i) \"jit(f)/gather\" !out }");
    ck_assert_str_eq(split_obstacle(&start, 16384, &at), "a lookup by index");
    ck_assert_uint_ne(at, HLO_NONE);
    ck_assert_ptr_null(split_obstacle(&start, 16385, &at));
    ck_assert_uint_eq(at, HLO_NONE);
    open_program("scheduled main { w = f32[64,64] parameter(0) \"params['w']\" !arg ROOT y = f32[64,64] exponential(w) "
                 "\"jit(f)/jit(fft)\" !out }");
    ck_assert_str_eq(split_obstacle(&start, 10 * 16384, &at), "a Fourier transform");
}
END_TEST

START_TEST(rows_that_are_named)
{
    open_program(step);
    ck_assert_int_eq(saves("offload=opt_state*"), 2 * 16384);
    ck_assert_int_eq(result.confidence, CHANGE_BOUND);
    ck_assert_uint_eq(result.row_count, 2);
    ck_assert_int_eq(saves("shard=params*:4"), 16384 - 4096);
    saves("shard=*:2");
    ck_assert_int_eq(after.fixed_bytes + after.live_bytes, (before.fixed_bytes + before.live_bytes) / 2);
    refused("unpad=params*", "pads nothing of it");
    open_program(
        "scheduled main { w = f32[64,64] parameter(0) \"params['w']\" !arg padded ROOT y = f32[64,64] exponential(w) "
        "\"jit(f)/exp\" !out }");
    ck_assert_int_eq(saves("unpad=*"), 16384);
}
END_TEST

/* What is whole on every device is that at other times than the peak as well. */
START_TEST(a_pattern_of_every_moment)
{
    open_program(
        "scheduled main { x = f32[8] parameter(0) \"x\" !arg a = f32[64,64] custom-call(x) !temp "
        "r = f32[8] slice(a) !temp frees={a} b = f32[64,64] custom-call(x) !temp c = f32[16] custom-call(x) !temp "
        "ROOT y = f32[8] slice(b) !out frees={b,c,r} }");
    for (uint32_t i = 0; i < start.row_count; i++)
        if (str_equal(hlo_instruction_name(&plan.hlo, start.rows[i].instruction_at), STR("b")))
            plan.spaces[0].rows[i].patterns |= 1U << PATTERN_BATCH_NOT_SPLIT;
    static struct plan_pattern pattern = {.kind = PATTERN_BATCH_NOT_SPLIT};
    plan.spaces[0].patterns = &pattern;
    plan.spaces[0].pattern_count = 1;
    saves("shard=batch_not_split:2");
    ck_assert_uint_eq(result.row_count, 2);
}
END_TEST

START_TEST(what_does_not_divide_stays_whole)
{
    open_program("scheduled main { w = f32[1025] parameter(0) \"w\" !arg v = f32[1024] parameter(1) \"v\" !arg "
                 "ROOT y = f32[1024] exponential(v) \"jit(f)/exp\" !out }");
    saves("shard=*:2");
    ck_assert_int_eq(changed.rows[0].bytes, 1025 * 4);
    ck_assert_uint_eq(changed.rows[0].divided_by, 1);
    ck_assert_uint_eq(changed.rows[1].divided_by, 2);
}
END_TEST

START_TEST(one_after_the_other)
{
    open_program(step);
    int64_t saved = saves("donate=0");
    ck_assert(also("cast=params*:bf16"));
    ck_assert_int_eq(before.total_bytes - after.total_bytes, saved + 8192); /* the result lives in it now */
    ck_assert(also("shard=params*:2"));
    ck_assert_int_eq(before.total_bytes - after.total_bytes, saved + 8192 + 4096);
    ck_assert(also("offload=params*"));
    ck_assert_int_eq(before.total_bytes - after.total_bytes, saved + 16384);
    ck_assert(!also("offload=params*"));        /* it is gone */
    ck_assert_int_eq(saves("donate=0"), saved); /* the program itself was not changed */
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("change");
    TCase *tests = tcase_create("change");
    tcase_add_checked_fixture(tests, arena_begin, close_program);
    tcase_add_test(tests, every_form_is_read);
    tcase_add_test(tests, what_is_written_wrong_is_refused);
    tcase_add_test(tests, globs_match_parts);
    tcase_add_test(tests, what_matches_nothing_has_names_near_it);
    tcase_add_test(tests, donated_arguments_take_their_results);
    tcase_add_test(tests, a_result_is_given_once);
    tcase_add_test(tests, a_loop_that_builds_the_result_beside_the_argument_saves_nothing);
    tcase_add_test(tests, an_argument_in_another_layout_saves_at_most_its_bytes);
    tcase_add_test(tests, many_temporaries_are_not_exact);
    tcase_add_test(tests, half_the_batch);
    tcase_add_test(tests, what_is_no_batch);
    tcase_add_test(tests, a_loop_as_long_as_the_source_says);
    tcase_add_test(tests, a_sequence_and_the_token_behind_it);
    tcase_add_test(tests, what_is_no_sequence);
    tcase_add_test(tests, no_size_overflows);
    tcase_add_test(tests, rows_that_are_named);
    tcase_add_test(tests, what_a_partitioner_may_gather);
    tcase_add_test(tests, a_pattern_of_every_moment);
    tcase_add_test(tests, what_does_not_divide_stays_whole);
    tcase_add_test(tests, one_after_the_other);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
