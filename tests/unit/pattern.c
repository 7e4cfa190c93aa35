/* SPDX-License-Identifier: Apache-2.0
 * Each pattern of memory is found where it is, in a small program, and not in one that differs in what makes it; its
 * sentence says what holds how much. */
#include "program.h"

#define FORWARD "\"jit(step)/jvp(M)/op\""
#define BACKWARD "\"jit(step)/transpose(jvp(M))/op\""
#define PLAIN "\"jit(step)/op\""

#define W " w = f32[64,128] parameter(0) \"params['w']\""
#define X " x = f32[32,64] parameter(1) \"batch['x']\""
#define TRAINED " g = f32[9] dot(w, x) " BACKWARD " ROOT r = (f32[9]) tuple(g) }"

/* A softmax over products, with the maximum taken by `op`. */
#define LOGITS(factors, op)                                                                                            \
    "main {" W " !arg" X " h = f32[32,64] tanh(x) " FORWARD " q = f32[64,128] tanh(w) " FORWARD                        \
    " z = f32[32,128] dot(" factors ") " FORWARD " line=7 !temp m = f32[32] reduce(z) \"jit(step)/jvp(M)/" op "\" }"

/* A layer makes what has the shape of logits before them. */
#define LAYER_AS_LOGITS(of_layer, of_logits)                                                                           \
    "scheduled main {" W " !arg" X " h = f32[32,64] tanh(x) " FORWARD " a = f32[32,128] dot(h, w) " FORWARD            \
    " line=5" of_layer " z = f32[32,128] dot(h, w) " FORWARD " line=7" of_logits                                       \
    " ROOT m = f32[32] reduce(z) \"jit(step)/jvp(M)/reduce_max\" }"

/* Attention: queries times keys, and a mask. */
/* `made`: of the exponential of scores. */
#define SCORES(factors, mask) SCORES_OF(factors, mask, "reduce(e) ")
#define SCORES_OF(factors, mask, made)                                                                                 \
    "main {" W " !arg" X " k = pred[" mask "] parameter(2) \"mask\" !arg"                                              \
    " v = f32[2,128,64] tanh(x) " FORWARD " s = f32[2,128,128] dot(" factors ") " FORWARD " !temp"                     \
    " e = f32[2,128,128] exponential(s) " FORWARD " n = f32[2,128] " made FORWARD " g = f32[9] dot(w, x) " BACKWARD    \
    " }"

/* The same on a GPU: a product of a library, of the joined dimensions, with room to work in; [2,3,...] is [6,...]. */
#define JOINED_SCORES(joined)                                                                                          \
    "main {" W " !arg" X " v = f32[" joined ",128,64] tanh(x) " FORWARD " both = (f32[" joined                         \
    ",128,128], s8[64]) custom-call(v, v) target=__cublas$lt$matmul " FORWARD " s = f32[" joined                       \
    ",128,128] get-tuple-element(both) index=0 !temp e = f32[2,3,128,128] exponential(s) " FORWARD                     \
    " n = f32[2,3,128] reduce(e) " FORWARD " g = f32[9] dot(w, x) " BACKWARD " }"

/* Logits [4,8,128] as the matrix [32,128] or its transpose, whose maximum is taken in parts. */
#define JOINED_LOGITS(product, op)                                                                                     \
    "main {" W " !arg" X " h = f32[32,64] tanh(x) " FORWARD " z = f32[" product "] dot(h, w) " FORWARD                 \
    " p = f32[32,2,64] bitcast(z) m = f32[32,2] reduce(p) \"jit(step)/jvp(M)/" op "\" e = f32[4,8,128] "               \
    "exponential(z) " FORWARD " !temp n = f32[4,8] reduce(e) " FORWARD " }"

/* What a forward pass makes, of a length, and a backward pass reads. */
#define SAVED(length)                                                                                                  \
    "main {" W " !arg" X " y = f32[" length "] tanh(x) " FORWARD " line=11 !temp z = f32[9] negate(y) " BACKWARD " }"

/* A loop writes into room in each iteration. */
#define SCAN(op_name)                                                                                                  \
    "body { s = (s32[], f32[4,32,64]) parameter(0) i = s32[] get-tuple-element(s) index=0"                             \
    " old = f32[4,32,64] get-tuple-element(s) index=1 h = f32[1,32,64] tanh(old) " FORWARD                             \
    " new = f32[4,32,64] dynamic-update-slice(old, h, i) \"" op_name "\""                                              \
    " ROOT t = (s32[], f32[4,32,64]) tuple(i, new) }"                                                                  \
    "condition { cs = (s32[], f32[4,32,64]) parameter(0) ROOT c = pred[] constant() }"                                 \
    "main {" W " !arg" X " zero = s32[] constant() room = f32[4,32,64] custom-call() target=AllocateBuffer !temp"      \
    " state = (s32[], f32[4,32,64]) tuple(zero, room) loop = (s32[], f32[4,32,64]) while(state) calls=body,condition"  \
    " made = f32[4,32,64] get-tuple-element(loop) index=1 g = f32[9] negate(made) " BACKWARD " }"

/* A loop adds what is made in `phase` to zeros. */
#define ACCUMULATED(phase)                                                                                             \
    "body { s = (s32[], f32[64,128]) parameter(0) i = s32[] get-tuple-element(s) index=0"                              \
    " old = f32[64,128] get-tuple-element(s) index=1 d = f32[64,128] tanh(i) " phase                                   \
    " new = f32[64,128] add(old, d) \"jit(step)/while/body/add\" ROOT t = (s32[], f32[64,128]) tuple(i, new) }"        \
    "main {" W " !arg" X " zero = s32[] constant() none = f32[] constant() room = f32[64,128] broadcast(none) !temp"   \
    " state = (s32[], f32[64,128]) tuple(zero, room) loop = (s32[], f32[64,128]) while(state) calls=body"              \
    " made = f32[64,128] get-tuple-element(loop) index=1 u = f32[64,128] add(w, made) " PLAIN                          \
    " g = f32[9] dot(w, x) " BACKWARD " }"

#define UPDATED(head)                                                                                                  \
    head "main {" W " !arg" X " g = f32[64,128] dot(x, x) " BACKWARD " u = f32[64,128] subtract(w, g) " PLAIN " !out"  \
         " ROOT r = (f32[64,128]) tuple(u) }"

#define CACHED(shape, op_name)                                                                                         \
    "main { c = f32[2,128,64] parameter(0) \"cache['k']\" !arg x = f32[2,1,64] parameter(1) \"x\" i = s32[] "          \
    "parameter(2) n = f32[" shape "] dynamic-update-slice(c, x, i) \"" op_name                                         \
    "\" !temp y = f32[2,64] reduce(n) " PLAIN " }"

#define COPIED(layout)                                                                                                 \
    "main { c = f32[2,128,64]{2,1,0} parameter(0) \"cache['k']\" !arg n = f32[2,128,64]" layout                        \
    " copy(c) \"jit(f)/op\" !temp y = f32[2,64] reduce(n) " PLAIN " }"

#define STACKS "(s32[], f32[120,64], f32[120,64])"
#define STACKED(begin)                                                                                                 \
    "body { p = " STACKS " parameter(0) i = s32[] get-tuple-element(p) index=0 xs = f32[120,64] get-tuple-element(p) " \
    "index=1 ys = f32[120,64] get-tuple-element(p) index=2 z = s32[] constant() d = f32[1,64] dynamic-slice(xs, i, "   \
    "z) m = f32[1,64] negate(d) u = f32[120,64] dynamic-update-slice(ys, m, i, z) " PLAIN " !out ROOT t = " STACKS     \
    " tuple(i, xs, u) } "                                                                                              \
    "condition { q = " STACKS " parameter(0) ROOT c = pred[] constant() } "                                            \
    "main { w = f32[120,64] parameter(0) \"state['w']\" !arg k = s32[] constant() o = f32[] constant() "               \
    "b = f32[120,64] broadcast(o) s = " STACKS " tuple(k, w, " begin ") l = " STACKS                                   \
    " while(s) calls=body,condition r = f32[120,64] get-tuple-element(l) index=2 "                                     \
    "ROOT t1 = (f32[120,64]) tuple(r) }"

#define PREFILLED(length, phase)                                                                                       \
    "main { e = f32[64,1000] parameter(0) \"params['e']\" !arg x = f32[2," length ",64] parameter(1) \"tokens\""       \
    " h = f32[2," length ",64] tanh(x) " phase " ROOT z = f32[2," length ",1000] dot(h, e) " PLAIN " !out }"

#define ON_DEVICES(count, line)                                                                                        \
    "devices=" count " main {" W " !arg x = f32[4,64] parameter(1) \"batch['x']\"" line TRAINED

/* Parameters, and the gradients of two of them, which an update reads. */
#define GRADIENTS(second, more)                                                                                        \
    "main {" W " !arg" X " v = f32[64,64] parameter(2) \"params['v']\" !arg b = f32[640,64] parameter(3) "             \
    "\"params['b']\" !arg" more " gv = f32[64,64] dot(x, x) " BACKWARD " !temp gw = f32[" second                       \
    "] dot(x, v) " BACKWARD " !temp u = f32[64,64] subtract(v, gv) " PLAIN " t = f32[64,128] subtract(w, gw) " PLAIN   \
    " }"
#define TWO_MORE " c = f32[64,640] parameter(4) \"params['c']\" !arg d = f32[640,64] parameter(5) \"params['d']\" !arg"

#define BROADCAST(from, to)                                                                                            \
    "main {" W " !arg" X " y = f32[" from "] tanh(x) " PLAIN " b = f32[" to "] broadcast(y) " PLAIN " !temp" TRAINED

static const struct {
    enum pattern_kind kind;
    const char *program, *without;
} cases[] = {
    {PATTERN_LOGITS, LOGITS("h, w", "reduce_max"), LOGITS("h, w", "reduce_sum")},
    {PATTERN_LOGITS, LOGITS("h, w", "argmax"), LOGITS("h, q", "argmax")},
    {PATTERN_LOGITS, LAYER_AS_LOGITS("", " !temp"), LAYER_AS_LOGITS(" !temp", "")},
    {PATTERN_ATTENTION_SCORES, SCORES("v, v", "128,64"), SCORES("v, w", "128,64")},
    {PATTERN_ATTENTION_SCORES, SCORES("v, v", "128,128"), SCORES("w, w", "128,64")},
    /* an exponential that is no softmax's: of silu, between the products of experts */
    {PATTERN_ATTENTION_SCORES, SCORES("v, v", "128,128"), SCORES_OF("v, v", "128,128", "tanh(e) ")},
    {PATTERN_ATTENTION_SCORES, JOINED_SCORES("6"), JOINED_SCORES("7")},
    {PATTERN_LOGITS, JOINED_LOGITS("32,128", "reduce_max"), JOINED_LOGITS("32,128", "reduce_sum")},
    {PATTERN_LOGITS, JOINED_LOGITS("128,32", "reduce_max"), JOINED_LOGITS("128,33", "reduce_max")},
    {PATTERN_SAVED_ACTIVATIONS, SAVED("64,128"), SAVED("8,128")},
    {PATTERN_SCAN_RESIDUALS, SCAN("jit(step)/jvp(M)/while/body/dynamic_update_slice"),
     SCAN("jit(step)/jvp(M)/dynamic_update_slice")},
    {PATTERN_NO_DONATION, UPDATED(""), UPDATED("alias=0:0 ")},
    {PATTERN_DONATION_UNUSED, "donor=0 main {" W " !arg" X TRAINED, "donor=1 main {" W " !arg" X TRAINED},
    {PATTERN_CACHE_COPY, CACHED("2,128,64", "jit(f)/op"), CACHED("2,129,64", "jit(f)/op")},
    {PATTERN_CACHE_COPY, CACHED("256,64", "jit(f)/op"), CACHED("2,128,64", "jit(f)/transpose(jvp(M))/op")},
    {PATTERN_CACHE_COPY, COPIED("{2,1,0}"), COPIED("{2,0,1}")}, /* which is made for its layout */
    {PATTERN_NO_DONATION, STACKED("w"), STACKED("b")},          /* what a scan stacks while it reads w */
    {PATTERN_BATCH_NOT_SPLIT, ON_DEVICES("8", " y = f32[32,256] tanh(x) " FORWARD " !temp"),
     ON_DEVICES("8", " y = f32[4,256] tanh(x) " FORWARD " !temp")},
    {PATTERN_BATCH_NOT_SPLIT, ON_DEVICES("2", " y = f32[8,256] tanh(x) " FORWARD " !temp"),
     ON_DEVICES("1", " y = f32[4,256] tanh(x) " FORWARD " !temp")},
    {PATTERN_BATCH_NOT_SPLIT, ON_DEVICES("32", " y = f32[128,64] tanh(x) " FORWARD " !temp"), /* w is 64 long */
     ON_DEVICES("16", " y = f32[64,128] tanh(x) " FORWARD " !temp")},
    {PATTERN_GATHERED_ACTIVATION,
     ON_DEVICES("8", " y = f32[4,256] tanh(x) " FORWARD " a = f32[32,256] all-gather(y) " FORWARD " !temp"),
     ON_DEVICES("8", " a = f32[512,128] all-gather(w) " FORWARD " !temp")},
    {PATTERN_GATHERED_PARAMETERS, ON_DEVICES("8", " a = f32[512,128] all-gather(w) " FORWARD " !temp"),
     ON_DEVICES("8", " y = f32[4,256] tanh(x) " FORWARD " a = f32[32,256] all-gather(y) " FORWARD " !temp")},
    {PATTERN_REPLICATED, "devices=8 main { w = f32[64,64] parameter(0) replicated \"params['w']\" !arg" X TRAINED,
     "devices=1 main { w = f32[64,64] parameter(0) replicated \"params['w']\" !arg" X TRAINED},
    {PATTERN_REPLICATED, "devices=8 main { w = f32[64,64] parameter(0) replicated \"opt_state.mu\" !arg" X TRAINED,
     "devices=8 main { w = f32[64,64] parameter(0) \"opt_state.mu\" !arg" X TRAINED},
    {PATTERN_GRADIENT_ACCUMULATOR, ACCUMULATED(BACKWARD), ACCUMULATED(PLAIN)},
    {PATTERN_GRADIENT_ACCUMULATOR, "main { w = f32[64,64] parameter(0) \"opt_state.acc_grads['w']\" !arg" X TRAINED,
     "main { w = f32[64,64] parameter(0) \"opt_state.mu['w']\" !arg" X TRAINED},
    {PATTERN_ALL_GRADIENTS, GRADIENTS("64,128", ""), GRADIENTS("64,120", "")},
    {PATTERN_ALL_GRADIENTS, GRADIENTS("64,128", ""), GRADIENTS("64,128", TWO_MORE)},
    {PATTERN_PARAMETER_CAST_COPY, "main {" W " !arg" X " c = bf16[64,128] convert(w) " FORWARD " !temp" TRAINED,
     "main {" W " !arg" X " c = f32[64,128] copy(w) " FORWARD " !temp" TRAINED},
    {PATTERN_PREFILL_LOGITS, PREFILLED("128", PLAIN), PREFILLED("1", PLAIN)},
    {PATTERN_PREFILL_LOGITS, PREFILLED("2", PLAIN), PREFILLED("2", BACKWARD)},
    {PATTERN_MASK, SCORES("v, v", "128,128"), SCORES("v, v", "128,64")},
    {PATTERN_CONSTANT, "main {" W " !arg" X " k = f32[64,64] constant() !const" TRAINED,
     "main {" W " !arg" X " k = f32[64,64] parameter(2) \"params['k']\" !arg" TRAINED},
    {PATTERN_REPEAT, BROADCAST("8,64", "32,64"), BROADCAST("8", "8,1024")},
    {PATTERN_REPEAT, BROADCAST("2,64", "128,64"), BROADCAST("32,64", "32,64")},
    {PATTERN_REPEAT,
     "main {" W " !arg" X " y = f32[8,64] tanh(x) " PLAIN " b = f32[32,64] broadcast(y) " PLAIN " !temp" TRAINED,
     "main {" W " !arg" X " y = f32[] tanh(x) " PLAIN " b = f32[32,64] broadcast(y) " PLAIN " !temp" TRAINED},
    {PATTERN_REPEAT,
     "main {" W " !arg" X " b = f32[64,64] concatenate(x, x) \"jit(f)/jit(_tile)/concatenate\" !temp" TRAINED,
     "main {" W " !arg" X " b = f32[64,64] concatenate(x, x) \"jit(f)/projectile/concatenate\" !temp" TRAINED},
    {PATTERN_PADDING, "main {" W " !arg" X " y = f32[64,64] tanh(x) " FORWARD " !temp padded" TRAINED,
     "main {" W " !arg" X " y = f32[64,64] tanh(x) " FORWARD " !temp" TRAINED},
};
enum { CASE_COUNT = sizeof(cases) / sizeof(cases[0]) };

static bool has(const char *program, enum pattern_kind kind)
{
    struct buf file;
    struct plan plan;
    program_read(program, &file, &plan);
    const struct plan_pattern *pattern = program_pattern(&plan, kind);
    ck_assert(pattern == NULL || (pattern->row_count > 0 && pattern->bytes > 0));
    buf_free(&file);
    return pattern != NULL;
}

START_TEST(a_pattern_is_found_where_it_is)
{
    ck_assert_msg(has(cases[_i].program, cases[_i].kind), "%s is missed", pattern_name(cases[_i].kind));
    ck_assert_msg(!has(cases[_i].without, cases[_i].kind), "%s is no %s", cases[_i].without,
                  pattern_name(cases[_i].kind));
}
END_TEST

START_TEST(each_pattern_is_looked_for)
{
    bool is_there[PATTERN_COUNT] = {false};
    for (int i = 0; i < CASE_COUNT; i++)
        is_there[cases[i].kind] = true;
    for (int i = 0; i < PATTERN_COUNT; i++)
        ck_assert_msg(is_there[i], "%s", pattern_name((enum pattern_kind)i));
}
END_TEST

/* ---- sentences ---- */

#define CONSTANTS "Constants of the program hold "

static const struct {
    enum pattern_kind kind;
    const char *program, *sentence;
} sentences[] = {
    {PATTERN_SAVED_ACTIVATIONS, SAVED("64,128"),
     "Activations saved for the backward pass hold 32.0 KiB at the peak, 50 % of it: f32[64,128], models.py:11."},
    {PATTERN_MASK, SCORES("v, v", "128,128"),
     "A mask of the size of the attention scores holds 16.0 KiB at the peak, 9.1 % of it: pred[128,128]."},
    {PATTERN_CONSTANT, "main { a = f32[2048] constant() !const b = f32[2048] constant() !const }",
     CONSTANTS "16.0 KiB at the peak, 100 % of it: 2 × 8.0 KiB f32[2048]."},
    {PATTERN_CONSTANT,
     "main { a = f32[2048] constant() line=3 !const b = f32[2048] constant() line=3 !const"
     " c = f32[256] constant() !const }",
     CONSTANTS "17.0 KiB at the peak, 100 % of it: 2 × 8.0 KiB f32[2048] and smaller ones, models.py:3."},
    {PATTERN_CONSTANT,
     "main { a = f32[2048] constant() line=3 !const b = f32[32,64] constant() line=4 !const"
     " c = f32[256] constant() !const }",
     CONSTANTS "17.0 KiB at the peak, 100 % of it: 8.0 KiB f32[2048] and others, models.py:3 and elsewhere."},
};

START_TEST(a_sentence_says_what_holds_how_much)
{
    struct buf file;
    struct plan plan;
    program_read(sentences[_i].program, &file, &plan);
    const struct plan_pattern *pattern = program_pattern(&plan, sentences[_i].kind);
    ck_assert_ptr_nonnull(pattern);
    ck_assert_str_eq(pattern->sentence, sentences[_i].sentence);
    buf_free(&file);
}
END_TEST

/* Its figures are those of its buffers, and of padding the padding alone. */
START_TEST(a_pattern_has_the_bytes_of_its_buffers)
{
    struct buf file;
    struct plan plan;
    program_read("main { w = f32[64,64] parameter(0) \"w\" !arg padded k = f32[2048] constant() !const }", &file,
                 &plan);
    ck_assert_int_eq(program_pattern(&plan, PATTERN_PADDING)->bytes, 16384);
    ck_assert_int_eq(program_pattern(&plan, PATTERN_CONSTANT)->bytes, 8192);
    ck_assert_uint_eq(program_pattern(&plan, PATTERN_CONSTANT)->row_count, 1);
    buf_free(&file);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pattern");
    TCase *tests = tcase_create("pattern");
    tcase_add_checked_fixture(tests, arena_begin, arena_end);
    tcase_add_loop_test(tests, a_pattern_is_found_where_it_is, 0, CASE_COUNT);
    tcase_add_test(tests, each_pattern_is_looked_for);
    tcase_add_loop_test(tests, a_sentence_says_what_holds_how_much, 0, (int)(sizeof(sentences) / sizeof(sentences[0])));
    tcase_add_test(tests, a_pattern_has_the_bytes_of_its_buffers);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
