/* SPDX-License-Identifier: Apache-2.0
 * Whose memory it is: arguments by name, by a twin and by what the program does with them; all else by what makes and
 * what reads it. */
#include "program.h"

#define FORWARD "\"jit(step)/jvp(M)/op\""
#define BACKWARD "\"jit(step)/transpose(jvp(M))/op\""
#define PLAIN "\"jit(step)/op\""
#define AGAIN "\"jit(step)/transpose(jvp(M))/rematted_computation/op\""

/* One of a program's values, and the expected answer. */
struct told {
    const char *instruction;
    enum category category;
    enum category_rule rule;
};
struct telling {
    const char *program;
    struct told told[8];
};
#define TOLD(instruction, category, rule) {instruction, CATEGORY_##category, CATEGORY_RULE_##rule}

static void tell(const struct telling *telling)
{
    struct buf file;
    struct plan plan;
    program_read(telling->program, &file, &plan);
    for (const struct told *told = telling->told; told->instruction != NULL; told++) {
        const struct plan_row *row = program_row(&plan, told->instruction);
        ck_assert_msg(row->choice.category == told->category && row->choice.rule == told->rule, "%s: %s by %s",
                      told->instruction, category_name((enum category)row->choice.category),
                      category_rule_name((enum category_rule)row->choice.rule));
    }
    buf_free(&file);
}

/* ---- arguments ---- */

/* A step of training: a product, its gradient, and an update of weights and momentum. */
#define TRAINING(w, m, x)                                                                                              \
    "main { w = f32[64,128] parameter(0) \"" w "\" !arg"                                                               \
    "       m = f32[64,128] parameter(1) \"" m "\" !arg"                                                               \
    "       x = f32[32,64] parameter(2) \"" x "\" !arg"                                                                \
    "       k = u32[2] parameter(3) \"a[3]\" !arg"                                                                     \
    "       n = f32[] parameter(4) \"a[4]\" !arg"                                                                      \
    "       bits = u32[32,128] custom-call(k) target=T \"jit(step)/jvp(M)/threefry2x32\""                              \
    "       y = f32[32,128] dot(x, w) " FORWARD " dw = f32[64,128] dot(x, y) " BACKWARD                                \
    "       m2 = f32[64,128] add(m, dw) " PLAIN " w2 = f32[64,128] subtract(w, m2) " PLAIN                             \
    "       ROOT r = (f32[64,128], f32[64,128]) tuple(w2, m2) }"

static const struct telling argument_tellings[] = {
    /* words that libraries use */
    {TRAINING("state.params['kernel']", "state.opt_state[0].mu['kernel']", "batch['image']"),
     {TOLD("w", PARAMETER, ARGUMENT_NAME), TOLD("m", OPTIMIZER_STATE, ARGUMENT_NAME), TOLD("x", BATCH, ARGUMENT_NAME)}},
    /* words that give way to what the program does: momentum that the forward pass reads is trained */
    {TRAINING("momentum", "momentum", "mask"),
     {TOLD("w", PARAMETER, ARGUMENT_TRAINED), TOLD("m", OPTIMIZER_STATE, ARGUMENT_STATE),
      TOLD("x", BATCH, ARGUMENT_WORD)}},
    /* neither the optimizer's nor data of this step */
    {TRAINING("params['w']", "replay['frame']", "a[2]"), {TOLD("m", OTHER, ARGUMENT_NAME)}},
    /* no words at all */
    {TRAINING("a[0]", "a[1]", "a[2]"),
     {TOLD("w", PARAMETER, ARGUMENT_TRAINED), TOLD("m", OPTIMIZER_STATE, ARGUMENT_STATE),
      TOLD("x", BATCH, ARGUMENT_READ), TOLD("k", RNG, ARGUMENT_RANDOM), TOLD("n", OTHER, ARGUMENT_OTHER)}},
    /* an average of the weights: neither pass reads it, but the optimizer has a leaf of its path and shape */
    {TRAINING("p['enc']['w']", "opt_state[0].mu['enc']['w']", "q['enc']['w']"), {TOLD("w", PARAMETER, ARGUMENT_TWIN)}},
    {TRAINING("opt_state[0].mu['enc']['w']", "ema['enc']['w']", "a[2]"), {TOLD("m", PARAMETER, ARGUMENT_TWIN)}},
    {TRAINING("opt_state[0].mu['enc']['w']", "ema['dec']['v']", "a[2]"), {TOLD("m", OPTIMIZER_STATE, ARGUMENT_STATE)}},
    /* the weights of a frozen part: what was computed is multiplied with them, and nothing new is given back */
    {"main { w = f32[64,128] parameter(0) \"a[0]\" !arg x = f32[32,64] parameter(1) \"a[1]\" !arg"
     "       h = f32[32,64] tanh(x) " FORWARD " y = f32[32,128] dot(h, w) " FORWARD
     "       ROOT d = f32[64,64] dot(y, w) " BACKWARD " }",
     {TOLD("w", PARAMETER, ARGUMENT_WEIGHT), TOLD("x", BATCH, ARGUMENT_READ)}},
    /* the same, kept as whole numbers with a scale for each column; an image beside them is data, of short numbers too
     */
    {"sum { sa = f32[] parameter(0) sb = f32[] parameter(1) ROOT sc = f32[] add(sa, sb) }"
     "main { q = s8[64,128] parameter(0) \"a[0]\" !arg scale = f32[1,128] parameter(1) \"a[1]\" !arg"
     "       x = s8[32,64] parameter(2) \"a[2]\" !arg m = f32[128,128] parameter(3) \"a[3]\" !arg"
     "       zero = f32[] constant() row = f32[128] reduce(scale, zero) dimensions={0} calls=sum " FORWARD
     "       wide = f32[64,128] broadcast(row) dimensions={1} " FORWARD " f = f32[64,128] convert(q) " FORWARD
     "       w = f32[64,128] multiply(f, wide) " FORWARD " half = f32[] constant() halves = f32[32,64] broadcast(half) "
     "       xf = f32[32,64] convert(x) " FORWARD " xs = f32[32,64] multiply(xf, halves) " FORWARD
     "       h = f32[32,64] tanh(xs) " FORWARD " y = f32[32,128] dot(h, w) " FORWARD
     " z = f32[32,128] dot(y, m) " FORWARD "       ROOT d = f32[64,128] dot(h, z) " BACKWARD " }",
     {TOLD("q", PARAMETER, ARGUMENT_WEIGHT), TOLD("scale", PARAMETER, ARGUMENT_WEIGHT), TOLD("x", BATCH, ARGUMENT_READ),
      TOLD("m", PARAMETER, ARGUMENT_WEIGHT)}},
    /* an image that is scaled before it goes in */
    {"main { x = f32[32,96] parameter(0) \"a[0]\" !arg w = f32[96] parameter(1) \"params['w']\" !arg"
     "       s = f32[32,96] multiply(x, x) \"jit(step)/mul\" y = f32[32] dot(s, w) " FORWARD
     "       ROOT dw = f32[96] dot(y, s) " BACKWARD " }",
     {TOLD("x", BATCH, ARGUMENT_READ)}},
    /* what is only guessed follows its tree */
    {"main { a = f32[64,64] parameter(0) \"t['a']\" !arg b = f32[64,64] parameter(1) \"t['b']\" !arg"
     "       c = f32[64,64] parameter(2) \"t['c']\" !arg d = f32[16] parameter(3) \"t['d']\" !arg"
     "       s = f32[64,64] add(a, b) " FORWARD " u = f32[64,64] add(s, c) " FORWARD
     " v = f32[64,16] add(u, d) " FORWARD "       g = f32[64,64] negate(v) " BACKWARD
     " a2 = f32[64,64] add(a, g) " PLAIN "       ROOT r = (f32[64,64], f32[64,64], f32[64,64]) tuple(a2, a2, a2) }",
     {TOLD("a", PARAMETER, ARGUMENT_TRAINED), TOLD("d", PARAMETER, ARGUMENT_TREE)}},
    /* without a backward pass: parameter or data cannot be told apart; what is written and given back is a cache */
    {"alias=0:1 main { w = f32[64,128] parameter(0) \"a[0]\" !arg c = f32[8,128] parameter(1) \"a[1]\" !arg"
     "       x = f32[1,64] parameter(2) \"a[2]\" !arg k = f32[8,64] parameter(3) \"cache['k']\" !arg"
     "       i = s32[] parameter(4) \"a[4]\" !arg y = f32[1,128] dot(x, w) \"jit(f)/dot_general\""
     "       c2 = f32[8,128] dynamic-update-slice(c, y, i) \"jit(f)/dynamic_update_slice\""
     "       ROOT r = (f32[8,128], f32[1,128]) tuple(c2, y) }",
     {TOLD("w", INPUT, ARGUMENT_INPUT), TOLD("x", INPUT, ARGUMENT_INPUT), TOLD("c", CACHE, ARGUMENT_REPLACED),
      TOLD("k", CACHE, ARGUMENT_NAME), TOLD("i", INPUT, ARGUMENT_INPUT)}},
    /* a square product has the shape of its factors by chance */
    {"main { w = f32[64,64] parameter(0) \"a[0]\" !arg x = f32[64,64] parameter(1) \"a[1]\" !arg"
     "       ROOT y = f32[64,64] dot(x, w) \"jit(f)/dot_general\" }",
     {TOLD("w", INPUT, ARGUMENT_INPUT), TOLD("x", INPUT, ARGUMENT_INPUT)}},
};

START_TEST(arguments_are_told) { tell(&argument_tellings[_i]); }
END_TEST

/* ---- all else that is live ---- */

#define ARGUMENTS " w = f32[64,128] parameter(0) \"params['w']\" !arg x = f32[32,64] parameter(1) \"batch['x']\" !arg"
/* Gradients and their end, so that the program trains. */
#define END_OF(y)                                                                                                      \
    " dw = f32[64,128] dot(x, " y ") " BACKWARD " w2 = f32[64,128] subtract(w, dw) " PLAIN                             \
    " ROOT r = (f32[64,128]) tuple(w2) }"

/* A loop over `count` and an array that the body makes anew as `made`; it begins with `begin`. */
#define LOOP(shape, before, made, begin)                                                                               \
    "body { s = (s32[], " shape ", f32[32,64]) parameter(0) i = s32[] get-tuple-element(s) index=0"                    \
    "       old = " shape " get-tuple-element(s) index=1 bx = f32[32,64] get-tuple-element(s) index=2 " before         \
    "       new = " shape " " made " ROOT bt = (s32[], " shape ", f32[32,64]) tuple(i, new, bx) }"                     \
    "condition { cs = (s32[], " shape ", f32[32,64]) parameter(0) ci = s32[] get-tuple-element(cs) index=0"            \
    "       ROOT c = pred[] compare(ci, ci) }"                                                                         \
    "main {" ARGUMENTS " zero = s32[] constant() none = f32[] constant() room = " shape " " begin " !temp"             \
    "       state = (s32[], " shape ", f32[32,64]) tuple(zero, room, x)"                                               \
    "       loop = (s32[], " shape ", f32[32,64]) while(state) calls=body,condition"                                   \
    "       made = " shape " get-tuple-element(loop) index=1 "

#define FILLED "dynamic-update-slice(old, h, i) \"jit(step)/jvp(M)/while/body/dynamic_update_slice\""
#define ALLOCATED "custom-call() target=AllocateBuffer"

static const struct telling value_tellings[] = {
    /* read by the backward pass, or not */
    {"main {" ARGUMENTS " y = f32[32,128] dot(x, w) " FORWARD " !temp f = f32[32,128] tanh(y) " FORWARD " !temp"
     " g = f32[32,128] exponential(f) " FORWARD END_OF("y"),
     {TOLD("y", SAVED_ACTIVATION, SAVED), TOLD("f", WORKSPACE, FORWARD)}},
    /* read by a recomputation, which makes workspace */
    {"main {" ARGUMENTS " y = f32[32,128] dot(x, w) " FORWARD " !temp z = f32[32,128] tanh(y) " AGAIN
     " !temp" END_OF("z"),
     {TOLD("y", SAVED_ACTIVATION, SAVED), TOLD("z", WORKSPACE, RECOMPUTED)}},
    /* read by a forward instruction that a fusion repeats for a gradient */
    {"fused { p = f32[32,128] parameter(0) e = f32[32,128] exponential(p) " FORWARD
     "        ROOT g = f32[32,128] negate(e) " BACKWARD " }"
     "main {" ARGUMENTS " y = f32[32,128] dot(x, w) " FORWARD
     " !temp z = f32[32,128] fusion(y) calls=fused !temp" END_OF("z"),
     {TOLD("y", SAVED_ACTIVATION, SAVED), TOLD("z", WORKSPACE, BACKWARD)}},
    /* an output of a fusion is what its root's tuple says, not what the fusion is called after */
    {"fused { p = f32[32,128] parameter(0) a = f32[32,128] exponential(p) " FORWARD
     "        b = f32[32,128] negate(p) " BACKWARD " ROOT t = (f32[32,128], f32[32,128]) tuple(a, b) }"
     "main {" ARGUMENTS " y = f32[32,128] dot(x, w) " FORWARD
     " f = (f32[32,128], f32[32,128]) fusion(y) calls=fused " BACKWARD " !temp{0}"
     " e = f32[32,128] get-tuple-element(f) index=0 h = f32[32,128] add(e, e) " BACKWARD END_OF("h"),
     {TOLD("f", SAVED_ACTIVATION, SAVED)}},
    /* through a copy in the background */
    {"main {" ARGUMENTS " y = f32[32,128] dot(x, w) " FORWARD
     " b = (f32[32,128], f32[32,128], u32[]) copy-start(y) !temp{0} d = f32[32,128] copy-done(b)" END_OF("d"),
     {TOLD("b", SAVED_ACTIVATION, SAVED)}},
    /* a gradient has a parameter's shape and is read by the update */
    {"main {" ARGUMENTS " y = f32[32,128] dot(x, w) " FORWARD " g = f32[64,128] dot(x, y) " BACKWARD " !temp"
     " b = f32[32,128] negate(y) " BACKWARD " !temp u = f32[64,128] subtract(w, g) " PLAIN " !temp"
     " v = f32[64,128] add(u, u) " PLAIN END_OF("b"),
     {TOLD("g", GRADIENT, GRADIENT), TOLD("b", WORKSPACE, BACKWARD), TOLD("u", OPTIMIZER_TEMPORARY, UPDATE)}},
    /* the shape of a parameter alone is no gradient; what is gathered from an argument is no copy of it */
    {"main {" ARGUMENTS " y = f32[64,128] gather(w, x) " FORWARD " !temp b = f32[64,128] negate(y) " BACKWARD " !temp"
     " c = f32[32,128] negate(b) " BACKWARD END_OF("c"),
     {TOLD("y", SAVED_ACTIVATION, SAVED), TOLD("b", WORKSPACE, BACKWARD)}},
    /* a loop over microbatches adds gradients to what was zeros */
    {LOOP("f32[64,128]", "g = f32[64,128] dot(bx, bx) " BACKWARD, "add(old, g) \"jit(step)/while/body/add\"",
          "broadcast(none)") " w2 = f32[64,128] subtract(w, made) " PLAIN " ROOT r = (f32[64,128]) tuple(w2) }",
     {TOLD("room", GRADIENT_ACCUMULATOR, ACCUMULATOR)}},
    /* another loop adds a different value */
    {LOOP("f32[64,128]", "g = f32[64,128] dot(bx, bx) " PLAIN, "add(old, g) \"jit(step)/while/body/add\"",
          "broadcast(none)") " w2 = f32[64,128] subtract(w, made) " PLAIN END_OF("x"),
     {TOLD("room", OPTIMIZER_TEMPORARY, UPDATE)}},
    /* room that a scan fills for the backward pass */
    {LOOP("f32[4,32,64]", "h = f32[1,32,64] tanh(bx) " FORWARD, FILLED, ALLOCATED) END_OF("made"),
     {TOLD("room", SAVED_ACTIVATION, SAVED)}},
    /* copies and casts of arguments, through a loop too */
    {"main {" ARGUMENTS " c = bf16[64,128] convert(w) " FORWARD " !temp d = f32[64,128] copy(w) !temp"
     " y = f32[32,128] dot(c, d) " FORWARD END_OF("y"),
     {TOLD("c", COPY_OF_ARGUMENT, COPY), TOLD("d", COPY_OF_ARGUMENT, COPY)}},
    /* collectives, what a collective fills, and what the compiler calls so */
    {"main {" ARGUMENTS " y = f32[32,128] dot(x, w) " FORWARD " a = f32[32,128] all-reduce(y) " FORWARD " !temp"
     " n = f32[32,128] custom-call() target=AllocateBuffer !temp b = f32[32,128] all-gather(y, n) " FORWARD
     " AsyncCollectiveStart = f32[32,128] custom-call(y) target=T !temp s = f32[32,128] add(a, b) " FORWARD END_OF("s"),
     {TOLD("a", COLLECTIVE, COLLECTIVE), TOLD("n", COLLECTIVE, COLLECTIVE),
      TOLD("AsyncCollectiveStart", COLLECTIVE, COLLECTIVE)}},
    /* what the plan says itself; what nothing tells */
    {"main {" ARGUMENTS " k = f32[8] constant() !const q = f32[8] copy(k) !temp o = f32[32,128] dot(x, w) " FORWARD
     " !out u = f32[32,128] custom-call() target=T !temp" END_OF("o"),
     {TOLD("k", CONSTANT, CONSTANT), TOLD("q", CONSTANT, COPY_OF_CONSTANT), TOLD("o", OUTPUT, OUTPUT),
      TOLD("u", UNKNOWN, NONE)}},
    /* without a backward pass */
    {"main {" ARGUMENTS " y = f32[32,128] dot(x, w) \"jit(f)/dot_general\" !temp ROOT r = f32[32,128] tanh(y) }",
     {TOLD("y", WORKSPACE, INFERENCE)}},
};

START_TEST(values_are_told) { tell(&value_tellings[_i]); }
END_TEST

/* ---- phases ---- */

START_TEST(an_op_name_tells_the_phase)
{
    static const struct {
        const char *op_name;
        enum graph_phase phase;
    } cases[] = {{"", GRAPH_NAMELESS},
                 {"state.params['jvp']", GRAPH_NAMELESS},
                 {"jit(step)/mul", GRAPH_PLAIN},
                 {"jit(step)/jvp_of/mul", GRAPH_PLAIN},
                 {"jit(step)/transpose(a)/mul", GRAPH_PLAIN},
                 {"jit(step)/jvp(M)/mul", GRAPH_FORWARD},
                 {"jit(step)/transpose(jvp(M))/mul", GRAPH_BACKWARD},
                 {"jit(step)/transpose(jvp(M))/rematted_computation/mul", GRAPH_RECOMPUTE},
                 {"gradient_tape/m/MatMul", GRAPH_BACKWARD},
                 {"gradients/m/MatMul", GRAPH_BACKWARD},
                 {"m/gradients/MatMul", GRAPH_PLAIN}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[200];
        struct buf file;
        struct plan plan;
        snprintf(text, sizeof(text), "main { ROOT x = f32[8] constant() \"%s\" }", cases[i].op_name);
        program_read(text, &file, &plan);
        ck_assert_msg(graph_phase(plan.graph, 0) == cases[i].phase, "%s", cases[i].op_name);
        buf_free(&file);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("whose");
    TCase *tests = tcase_create("whose");
    tcase_add_checked_fixture(tests, arena_begin, arena_end);
    tcase_add_loop_test(tests, arguments_are_told, 0, (int)(sizeof(argument_tellings) / sizeof(argument_tellings[0])));
    tcase_add_loop_test(tests, values_are_told, 0, (int)(sizeof(value_tellings) / sizeof(value_tellings[0])));
    tcase_add_test(tests, an_op_name_tells_the_phase);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
