/* SPDX-License-Identifier: Apache-2.0
 * Where categories say little, a verdict names the arrays that fill the memory and what takes them away; a program that
 * differs in what makes the cause is not told so. */
#include "program.h"

#include "verdict/cause_arrays.h"

#define BACKWARD "\"jit(step)/transpose(jvp(M))/op\""
#define ADDED "\"jit(step)/transpose(jvp(M))/add_any\""
#define SCATTERED "\"jit(step)/transpose(jvp(M))/scatter-add\""
#define PLAIN "\"jit(step)/op\""

/* Arrays of one size, one of them laid flat. */
#define PAIRWISE(flat, op)                                                                                             \
    "main { y = f32[1024,2] parameter(0) \"y\" !arg d = f32[1024,1024] " op " line=7 !temp w = f32[" flat              \
    "] negate(d) " PLAIN " line=7 !temp r = f32[4] reduce(w) " PLAIN " }"

/* A loop stacks what it makes in each iteration; `read`: what else reads the stack there; `held`: how it is held. */
#define STACKED(read, whole) STACKED_AS(read, whole, "!temp")
#define STACKED_AS(read, whole, held)                                                                                  \
    "body { s = (s32[], f32[" whole "]) parameter(0) i = s32[] get-tuple-element(s) index=0"                           \
    " old = f32[" whole "] get-tuple-element(s) index=1 h = f32[1,32,64] tanh(" read ") \"jit(f)/while/body/tanh\""    \
    " new = f32[" whole "] dynamic-update-slice(old, h, i) \"jit(f)/while/body/dynamic_update_slice\" line=25"         \
    " ROOT t = (s32[], f32[" whole "]) tuple(i, new) }"                                                                \
    "condition { cs = (s32[], f32[" whole "]) parameter(0) ROOT c = pred[] constant() }"                               \
    "main { x = f32[32,64] parameter(0) \"x\" !arg zero = s32[] constant() room = f32[" whole                          \
    "] custom-call() target=AllocateBuffer " held " state = (s32[], f32[" whole "]) tuple(zero, room)"                 \
    " loop = (s32[], f32[" whole "]) while(state) calls=body,condition"                                                \
    " made = f32[" whole "] get-tuple-element(loop) index=1 g = f32[9] reduce(made) \"jit(f)/reduce\" }"

/* A loop over parts stacks a gradient of `w` in each round. */
#define SUMMED(shape, of)                                                                                              \
    "body { s = (s32[], f32[" shape "]) parameter(0) i = s32[] get-tuple-element(s) index=0"                           \
    " old = f32[" shape "] get-tuple-element(s) index=1 h = f32[1," of                                                 \
    "] dot(i, i) \"jit(f)/while/body/transpose(jvp())/dot_general\""                                                   \
    " new = f32[" shape "] dynamic-update-slice(old, h, i) \"jit(f)/while/body/dynamic_update_slice\" line=25"         \
    " ROOT t = (s32[], f32[" shape "]) tuple(i, new) }"                                                                \
    "condition { cs = (s32[], f32[" shape "]) parameter(0) ROOT c = pred[] constant() }"                               \
    "main { w = f32[32,64] parameter(0) \"params['w']\" !arg x = f32[9,64] parameter(1) \"batch\" !arg"                \
    " zero = s32[] constant() room = f32[" shape "] custom-call() target=AllocateBuffer !temp"                         \
    " state = (s32[], f32[" shape "]) tuple(zero, room) loop = (s32[], f32[" shape "]) while(state)"                   \
    " calls=body,condition made = f32[" shape "] get-tuple-element(loop) index=1"                                      \
    " g = f32[32,64] reduce(made) \"jit(f)/reduce_sum\" }"

/* Gradients of `w` and `v`, of each of so many examples. */
#define EXAMPLES(of_w, of_v)                                                                                           \
    "main { w = f32[64,128] parameter(0) \"params['w']\" !arg v = f32[64,64] parameter(1) \"params['v']\" !arg"        \
    " x = f32[16,64] parameter(2) \"batch['x']\" gw = f32[" of_w "] dot(x, v) " BACKWARD                               \
    " line=13 !temp gv = f32[" of_v "] dot(x, w) " BACKWARD " line=13 !temp u = f32[64,128] reduce(gw) " PLAIN " }"

/* Two parts of the gradient of a table are added, and their sum is read behind the backward pass, or nowhere. */
#define TABLE(reader, made)                                                                                            \
    "main { e = f32[4096,64] parameter(0) \"params['e']\" !arg x = f32[16,64] parameter(1) \"batch['x']\""             \
    " z = f32[] constant() room = f32[4096,64] broadcast(z) " PLAIN " a = f32[4096,64] " made                          \
    " line=16 !temp b = f32[4096,64] " made " line=16 !temp sum = f32[4096,64] add(a, b) " ADDED                       \
    " !temp u = f32[" reader " }"

/* A sort of values and their positions; `read`: what reads the positions. */
#define SORTED(read)                                                                                                   \
    "main { x = f32[31,2048] parameter(0) \"x\" !arg p = s32[31,2048] iota() s = (f32[31,2048], s32[31,2048]) "        \
    "sort(x, p) \"jit(f)/sort\" line=9 !temp{0} !temp{1} a = f32[31,2048] get-tuple-element(s) index=0"                \
    " b = s32[31,2048] get-tuple-element(s) index=1 r = f32[2048] reduce(a) \"jit(f)/reduce\"" read " }"

/* A loop takes one of 64 parts of `x` in each round; `made`: how x is made; `also`: what else reads it. */
#define TAKEN(made, also)                                                                                              \
    "body { s = (s32[], f32[64,16,8]) parameter(0) i = s32[] get-tuple-element(s) index=0"                             \
    " xs = f32[64,16,8] get-tuple-element(s) index=1 one = f32[1,16,8] dynamic-slice(xs, i)"                           \
    " \"jit(f)/while/body/dynamic_slice\" h = f32[8] reduce(one) \"jit(f)/while/body/reduce_sum\""                     \
    " ROOT t = (s32[], f32[64,16,8]) tuple(i, xs) }"                                                                   \
    "condition { cs = (s32[], f32[64,16,8]) parameter(0) ROOT c = pred[] constant() }"                                 \
    "main { data = bf16[1024,8] parameter(0) \"images\" !arg index = s32[1024] parameter(1) \"index\" !arg"            \
    " zero = s32[] constant() " made " x = f32[64,16,8] bitcast(made) state = (s32[], f32[64,16,8]) tuple(zero, x)"    \
    " loop = (s32[], f32[64,16,8]) while(state) calls=body,condition" also " }"
#define GATHERED(name)                                                                                                 \
    "picked = bf16[1024,8] gather(data, index) \"" name                                                                \
    "gather\" line=7 !temp made = f32[1024,8] convert(picked) \"" name "convert_element_type\" line=7 !temp"
#define CONVERTED "made = f32[1024,8] convert(data) \"jit(f)/convert_element_type\" line=7 !temp"
#define NAMELESS "made = f32[1024,8] convert(data) !temp"
#define HOISTED "made = f32[1024,8] convert(data) \"jit(f)/while/body/convert_element_type\" line=7 !temp"
#define MULTIPLIED "made = f32[1024,8] dot(data, data) \"jit(f)/dot_general\" line=7 !temp"

static const struct {
    const char *program, *twin; /* the same but for what makes the cause */
    enum verdict_cause_kind cause;
    const char *text;
    int advice; /* enum verdict_advice_kind; -1: nothing new is advised for it */
} cases[] = {
    {PAIRWISE("1048576", "broadcast(y) " PLAIN), PAIRWISE("1048500", "broadcast(y) " PLAIN), VERDICT_CAUSE_EQUAL_ARRAYS,
     "2 arrays as large as f32[1024,1024] hold 8.00 MiB at the peak, 99.9 % of it, models.py:7.", VERDICT_ADVICE_PARTS},
    {PAIRWISE("1024,1024", "broadcast(y) " PLAIN), PAIRWISE("8,8", "dot(y, y) " PLAIN), VERDICT_CAUSE_EQUAL_ARRAYS,
     "2 × f32[1024,1024] hold 8.00 MiB at the peak, 99.9 % of it, models.py:7.", VERDICT_ADVICE_PARTS},
    {STACKED("i", "300,32,64"), STACKED("old", "300,32,64"), VERDICT_CAUSE_SCAN_OUTPUTS,
     "What a scan stacks in its 300 iterations holds 2.34 MiB at the peak, 99.7 % of it: f32[300,32,64], "
     "models.py:25.",
     VERDICT_ADVICE_SCAN_OUTPUTS},
    {STACKED_AS("i", "300,32,64", "!temp padded"), STACKED_AS("old", "300,32,64", "!temp padded"),
     VERDICT_CAUSE_SCAN_OUTPUTS,
     "What a scan stacks in its 300 iterations holds 4.69 MiB at the peak, 99.8 % of it: f32[300,32,64], "
     "models.py:25.",
     VERDICT_ADVICE_SCAN_OUTPUTS},
    {TAKEN(GATHERED("jit(f)/"), ""), TAKEN(GATHERED("jit(f)/jvp()/"), ""), VERDICT_CAUSE_SCAN_INPUTS,
     "Arrays gathered whole before a scan, which reads one of 64 parts at a time, hold 48.0 KiB at the peak, 71 % of "
     "it: f32[1024,8] and others, models.py:7.",
     VERDICT_ADVICE_SCAN_INPUTS},
    {TAKEN(CONVERTED, ""), TAKEN(CONVERTED, " r = f32[9] reduce(made) \"jit(f)/reduce\""), VERDICT_CAUSE_SCAN_INPUTS,
     "An array computed whole before a scan, which reads one of 64 parts at a time, holds 32.0 KiB at the peak, 62 % "
     "of it: f32[1024,8], models.py:7.",
     VERDICT_ADVICE_SCAN_INPUTS},
    {TAKEN(CONVERTED, ""), TAKEN(NAMELESS, ""), VERDICT_CAUSE_SCAN_INPUTS, NULL, VERDICT_ADVICE_SCAN_INPUTS},
    {TAKEN(CONVERTED, ""), TAKEN(HOISTED, ""), VERDICT_CAUSE_SCAN_INPUTS, NULL, VERDICT_ADVICE_SCAN_INPUTS},
    {TAKEN(CONVERTED, ""), TAKEN(MULTIPLIED, ""), VERDICT_CAUSE_SCAN_INPUTS, NULL, VERDICT_ADVICE_SCAN_INPUTS},
    {SUMMED("20,32,64", "32,64"), STACKED("old", "20,32,64"), VERDICT_CAUSE_SCAN_OUTPUTS,
     "A stack of the gradients of 20 microbatches holds 160.0 KiB at the peak, 94 % of it: f32[20,32,64], "
     "models.py:25.",
     VERDICT_ADVICE_SCAN_OUTPUTS},
    {EXAMPLES("16,64,128", "16,64,64"), EXAMPLES("16,64,120", "16,64,60"), VERDICT_CAUSE_EXAMPLE_GRADIENTS,
     "Per-example gradients hold 768.0 KiB at the peak, 94 % of it: f32[16,64,128] and others, models.py:13.",
     VERDICT_ADVICE_EXAMPLE_GRADIENTS},
    {TABLE("4096,64] subtract(e, sum) " PLAIN, "scatter(room, x, x) " SCATTERED),
     TABLE("4096,64] subtract(e, sum) " PLAIN, "dot(x, x) " BACKWARD), VERDICT_CAUSE_TABLE_GRADIENTS,
     "Dense gradients of params['e'] hold 3.00 MiB at the peak, 75 % of it: 3 × f32[4096,64], models.py:16.",
     VERDICT_ADVICE_TABLE_GRADIENTS},
    {TABLE("4096,64] subtract(e, sum) " PLAIN, "scatter(room, x, x) " SCATTERED),
     TABLE("9] reduce(sum) " BACKWARD, "scatter(room, x, x) " SCATTERED), VERDICT_CAUSE_TABLE_GRADIENTS, NULL,
     VERDICT_ADVICE_TABLE_GRADIENTS},
    {SORTED(""), SORTED(" q = f32[9] negate(b) \"jit(f)/neg\""), VERDICT_CAUSE_EQUAL_ARRAYS, NULL,
     VERDICT_ADVICE_UNSTABLE_SORT},
};

/* `capacity_bytes`: of the device; 0: not known. */
static void verdict_of(const char *program, uint64_t capacity_bytes, struct verdict *out, struct buf *file)
{
    static struct plan plan;
    struct buf scratch = BUF_INIT;
    ARENA_MUST_NOT_JUMP();
    program_read(program, file, &plan);
    const struct verdict_parts parts = {.plan = &plan,
                                        .around.capacity = {.bytes = capacity_bytes, .source = "as chosen"}};
    *out = (struct verdict){.program = NULL};
    verdict_make(&parts, &scratch, &arena, out);
    buf_free(&scratch);
}

static void verdict_read(const char *program, struct verdict *out, struct buf *file)
{
    verdict_of(program, 0, out, file);
}

static const struct verdict_advice *advice_of(const struct verdict *verdict, int kind)
{
    for (uint32_t i = 0; i < verdict->advice_count; i++)
        if ((int)verdict->advice[i].kind == kind)
            return &verdict->advice[i];
    return NULL;
}

START_TEST(the_arrays_are_named_and_its_twin_is_not)
{
    struct buf file;
    struct verdict verdict;
    verdict_read(cases[_i].program, &verdict, &file);
    ck_assert_msg(verdict.cause.kind == cases[_i].cause, "%s", verdict.cause.text);
    if (cases[_i].text != NULL)
        ck_assert_str_eq(verdict.cause.text, cases[_i].text);
    const struct verdict_advice *advice = advice_of(&verdict, cases[_i].advice);
    ck_assert_ptr_nonnull(advice);
    ck_assert_int_eq(advice->confidence, VERDICT_BOUND);
    ck_assert_int_gt(advice->saves_bytes, 0);
    ck_assert_int_ge(advice->lands_at_bytes, 0);
    ck_assert(advice == &verdict.advice[0]);
    ck_assert_uint_gt(strlen(advice->evidence) * strlen(advice->reason) * strlen(advice->call), 0);
    buf_free(&file);

    verdict_read(cases[_i].twin, &verdict, &file);
    ck_assert_msg(advice_of(&verdict, cases[_i].advice) == NULL, "%s", verdict.cause.text);
    buf_free(&file);
}
END_TEST

/* Rows of a prediction that nothing mixes are worked on a few at a time. */
START_TEST(rows_that_are_apart)
{
    static const char *const program =
        "scheduled module=jit_f main { x = f32[640,8] parameter(0) \"x\" !arg w = f32[8,512] parameter(1) "
        "\"params['w']\" !arg v = f32[512,300] parameter(2) \"params['v']\" !arg "
        "h = f32[640,512] dot(x, w) lhs={1} rhs={0} \"jit(f)/dot_general\" line=7 !temp %s "
        "u = f32[640,300] dot(k, v) lhs={1} rhs={0} \"jit(f)/dot_general\" !temp frees={h} "
        "s = f32[640] reduce(u) dimensions={1} \"jit(f)/reduce_max\" !out ROOT t = (f32[640]) tuple(s) }";
    static const char *const mixes[] = {
        "k = f32[640,512] tanh(h) \"jit(f)/tanh\"",
        /* its mean is taken off */
        "m = f32[512] reduce(h) dimensions={0} \"jit(f)/reduce_sum\" "
        "b = f32[640,512] broadcast(m) dimensions={1} \"jit(f)/op\" "
        "k = f32[640,512] subtract(h, b) \"jit(f)/sub\"",
        /* each row meets all others */
        ("q = f32[640,640] dot(h, h) lhs={1} rhs={1} \"jit(f)/dot_general\" "
         "k = f32[640,512] dot(q, h) lhs={1} rhs={0} \"jit(f)/dot_general\""),
        "k = f32[640,512] sort(h) \"jit(f)/sort\"",
        "k = f32[640,512] custom-call(h) \"jit(f)/pallas_call\"",
    };
    for (size_t i = 0; i < sizeof(mixes) / sizeof(mixes[0]); i++) {
        struct buf file;
        struct verdict verdict;
        verdict_read(arena_format(&arena, program, mixes[i]), &verdict, &file);
        const struct verdict_advice *parts = advice_of(&verdict, VERDICT_ADVICE_PARTS);
        ck_assert_msg((parts != NULL) == (i == 0), "%zu: %s", i, verdict.cause.text);
        if (parts != NULL)
            ck_assert_str_eq(parts->title, "Work on 20 of the 640 rows of f32[640,512] at a time");
        buf_free(&file);
    }
}
END_TEST

/* Rows of an array of all pairs, which is read by sums and products with vectors, are worked on a few at a time. */
START_TEST(rows_of_pairs_that_are_apart)
{
    static const char *const program =
        "scheduled module=jit_f main { x = f32[640] parameter(0) \"x\" !arg %s "
        "l = f32[640,640] broadcast(x) dimensions={0} \"jit(f)/op\" r = f32[640,640] broadcast(x) dimensions={1} "
        "\"jit(f)/op\" k = f32[640,640] subtract(l, r) \"jit(f)/exp\" line=7 !temp %s "
        "a = f32[640] dot(q, x) lhs={1} rhs={0} \"jit(f)/dot_general\" line=8 !temp frees={k} n = f32[] reduce(a) "
        "dimensions={0} \"jit(f)/reduce_sum\" b = f32[640] broadcast(n) \"jit(f)/op\" "
        "y = f32[640] multiply(a, b) \"jit(f)/mul\" !out ROOT t = (f32[640]) tuple(y) }";
    static const char *const made[][2] = {
        {"", "q = f32[640,640] exponential(k) \"jit(f)/exp\""},
        {"", "q = f32[640,640] dot(k, k) lhs={1} rhs={0} \"jit(f)/dot_general\""}, /* each row meets all others */
        {"", "q = f32[640,640] cholesky(k) \"jit(f)/cholesky\""},
        {"g = f32[640,640] parameter(1) \"graph\" !arg", "q = f32[640,640] multiply(k, g) \"jit(f)/mul\""},
    };
    for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++) {
        struct buf file;
        struct verdict verdict;
        verdict_read(arena_format(&arena, program, made[i][0], made[i][1]), &verdict, &file);
        const struct verdict_advice *parts = advice_of(&verdict, VERDICT_ADVICE_PARTS);
        ck_assert_msg((parts != NULL) == (i == 0), "%zu: %s", i, verdict.cause.text);
        if (parts != NULL)
            ck_assert_str_eq(parts->title, "Work on 20 of the 640 rows of f32[640,640] at a time");
        buf_free(&file);
    }
}
END_TEST

/* The compiler rematerializes up to the device's size, in which constants lie too: what is saved lands there. */
START_TEST(what_lands_at_the_limit_may_fit)
{
    static const char *const program =
        "scheduled module=jit_f main { x = f32[1,64] parameter(0) \"x\" !arg p = f32[64,64] parameter(1) "
        "\"params['p']\" !arg z = f32[64] constant() !const m = f32[512,64] custom-call(x) !temp "
        "k = f32[1,64] tanh(x) !temp a = f32[64,64] dot(k, k) lhs={0} rhs={0} !temp "
        "b = f32[64,64] negate(a) !temp frees={a} e = f32[64,64] negate(b) !temp frees={b} "
        "g = f32[1,64] slice(e) !temp frees={e} a.remat = f32[64,64] dot(k, k) lhs={0} rhs={0} !temp frees={k} "
        "c = f32[1,64] slice(a.remat) !temp frees={a.remat} y = f32[1,64] add(c, g) !out frees={c,g} "
        "q = f32[64,64] add(p, p) !out ROOT t = (f32[1,64], f32[64,64]) tuple(y, q) }";
    struct buf file;
    struct verdict verdict;
    verdict_read(program, &verdict, &file);
    int64_t capacity = verdict.fit.needed_bytes - 8192;
    buf_free(&file);
    verdict_of(program, (uint64_t)capacity, &verdict, &file);
    const struct verdict_advice *donate = advice_of(&verdict, VERDICT_ADVICE_DONATE);
    ck_assert_ptr_nonnull(donate);
    ck_assert_int_eq(donate->lands_at_bytes, capacity);
    ck_assert_int_eq(donate->fits, VERDICT_FITS_PERHAPS);
    buf_free(&file);
}
END_TEST

/* Half of the bits come after the others: results change, and accuracy is a question where nothing shows a network. */
START_TEST(fewer_bits_are_a_guess)
{
    static const char *const programs[] = {PAIRWISE("1024,1024", "broadcast(y) " PLAIN),
                                           PAIRWISE("1024,1024", "dot(y, y) " PLAIN)};
    static const char *const reasons[] = {"accurate", "The results change"};
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
        struct buf file;
        struct verdict verdict;
        verdict_read(programs[i], &verdict, &file);
        const struct verdict_advice *cast = advice_of(&verdict, VERDICT_ADVICE_CAST);
        ck_assert_ptr_nonnull(cast);
        ck_assert_int_eq(cast->confidence, VERDICT_GUESS);
        ck_assert_ptr_nonnull(strstr(cast->reason, reasons[i]));
        buf_free(&file);
    }
}
END_TEST

/* If only a cast reads some weights, they may be stored as its result. */
START_TEST(weights_that_are_read_narrow)
{
    static const char *const program = "scheduled module=jit_f main { p = f32[64,64] parameter(0) \"base['w']\" !arg "
                                       "x = bf16[64,64] parameter(1) \"batch\" !arg "
                                       "j = s32[64] parameter(2) \"ids\" !arg c = bf16[64,64] %s !temp "
                                       "a = bf16[64,64] dot(x, c) lhs={1} rhs={0} \"jit(f)/dot_general\" !temp "
                                       "b = f32[64,64] %s \"jit(f)/op\" !out ROOT t = (f32[64,64]) tuple(b) }";
    /* what reads them; what else does; the last two look rows up, one of them casts */
    static const struct {
        const char *first, *also;
        bool is_said;
    } reads[] = {
        {"convert(p) \"jit(f)/convert_element_type\"", "convert(a)", true},
        {"convert(p) \"jit(f)/convert_element_type\"", "add(p, p)", false},
        {"gather(p, j) \"jit(f)/gather\"", "convert(a)", true},
        {"convert(w) \"jit(f)/op\" !temp w = f32[64,64] gather(p, j) \"jit(f)/gather\"", "negate(w)", false},
    };
    for (size_t i = 0; i < sizeof(reads) / sizeof(reads[0]); i++) {
        struct buf file;
        struct verdict verdict;
        bool is_said = false;
        verdict_read(arena_format(&arena, program, reads[i].first, reads[i].also), &verdict, &file);
        for (uint32_t k = 0; k < verdict.advice_count; k++)
            is_said |= verdict.advice[k].change != NULL && strcmp(verdict.advice[k].change, "cast=base*:bf16") == 0;
        ck_assert_int_eq(is_said, reads[i].is_said);
        buf_free(&file);
    }
}
END_TEST

/* Weights in bfloat16, and an optimizer's state alone in float32: all is computed in bfloat16 already. */
START_TEST(what_is_bfloat16_is_not_to_be_cast)
{
    static const char *const program =
        "scheduled module=jit_f main { p = %s[64,64] parameter(0) \"params['p']\" !arg "
        "m = f32[64,64] parameter(1) \"opt_state[0].mu['p']\" !arg n = f32[64,64] negate(m) !temp "
        "a = %s[64,64] dot(p, p) lhs={0} rhs={0} !temp b = f32[64,64] tanh(n) !out "
        "ROOT t = (f32[64,64]) tuple(b) }";
    static const char *const types[] = {"bf16", "f32"};
    struct buf file;
    struct verdict verdict;
    for (int i = 0; i < 2; i++) {
        verdict_read(arena_format(&arena, program, types[i], types[i]), &verdict, &file);
        ck_assert_int_eq(advice_of(&verdict, VERDICT_ADVICE_CAST) != NULL, i);
        buf_free(&file);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cause_arrays");
    TCase *tests = tcase_create("cause_arrays");
    tcase_add_checked_fixture(tests, arena_begin, arena_end);
    tcase_add_loop_test(tests, the_arrays_are_named_and_its_twin_is_not, 0, (int)(sizeof(cases) / sizeof(cases[0])));
    tcase_add_test(tests, rows_that_are_apart);
    tcase_add_test(tests, rows_of_pairs_that_are_apart);
    tcase_add_test(tests, what_lands_at_the_limit_may_fit);
    tcase_add_test(tests, fewer_bits_are_a_guess);
    tcase_add_test(tests, weights_that_are_read_narrow);
    tcase_add_test(tests, what_is_bfloat16_is_not_to_be_cast);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
