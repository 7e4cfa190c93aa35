/* SPDX-License-Identifier: Apache-2.0
 * When flags of the TPU's compiler are offered: of a program that is little over the device, and of which recomputing
 * could save as much; never where the compiler has nothing to recompute. */
#include "program.h"

#include "verdict/verdict.h"

/* A layer's values are saved for the backward pass, 4 MiB each: h and e. */
#define PROGRAM(forward)                                                                                               \
    "scheduled module=jit_f main { w = f32[1024,1024] parameter(0) \"params['w']\" !arg "                              \
    "x = f32[1024,1024] parameter(1) \"batch\" !arg h = f32[1024,1024] dot(x, w) lhs={1} rhs={0} \"jit(f)/" forward    \
    "/dot_general\" !temp e = f32[1024,1024] tanh(h) \"jit(f)/" forward "/tanh\" !temp "                               \
    "n = f32[1024,1024] negate(e) \"jit(f)/transpose(jvp(l))/neg\" !temp "                                             \
    "g = f32[1024,1024] multiply(n, h) \"jit(f)/transpose(jvp(l))/times\" !temp "                                      \
    "ROOT y = f32[1024,1024] dot(x, g) lhs={0} rhs={0} \"jit(f)/transpose(jvp(l))/dot_general\" !out frees={h,e,n,g} }"

static const char *const saved = PROGRAM("jvp(l)");
static const char *const nothing_saved = PROGRAM("l");
static struct verdict verdict;

/* Checks the advice for a device with `percent` of what the program needs. */
static void verdict_of(const char *program, enum space_platform platform, int64_t percent)
{
    static struct plan plan;
    struct buf scratch = BUF_INIT, file;
    ARENA_MUST_NOT_JUMP();
    program_read(program, &file, &plan);
    plan.platform = platform;
    const struct verdict_parts parts = {
        .plan = &plan,
        .around.capacity = {.bytes = (uint64_t)(plan_space_find(&plan, 0)->total_bytes / 100 * percent),
                            .source = "as chosen"}};
    verdict = (struct verdict){.program = NULL};
    verdict_make(&parts, &scratch, &arena, &verdict);
    buf_free(&scratch);
    buf_free(&file);
}

static uint32_t flags_of(const char *program, enum space_platform platform, int64_t percent)
{
    uint32_t count = 0;
    verdict_of(program, platform, percent);
    for (uint32_t i = 0; i < verdict.advice_count; i++)
        count += verdict.advice[i].kind == VERDICT_ADVICE_FLAGS;
    return count;
}

START_TEST(a_program_that_is_little_over)
{
    ck_assert_uint_eq(flags_of(saved, SPACE_PLATFORM_TPU, 90), 4);
    uint32_t last = verdict.advice_count;
    for (uint32_t i = 0; i < verdict.advice_count; i++)
        if (verdict.advice[i].kind == VERDICT_ADVICE_FLAGS) {
            last = i < last ? i : last;
            ck_assert_int_eq(verdict.advice[i].confidence, VERDICT_GUESS);
            ck_assert_int_eq(verdict.advice[i].saves_bytes, -1); /* it is not known before the program is compiled */
            ck_assert_ptr_nonnull(strstr(verdict.advice[i].call, "LIBTPU_INIT_ARGS=\"--xla_tpu_"));
            ck_assert_uint_gt(strlen(verdict.advice[i].reason) * strlen(verdict.advice[i].evidence), 0);
        }
    ck_assert_uint_gt(last, 0); /* what suffices comes before */
}
END_TEST

START_TEST(no_flags_where_they_cannot_help)
{
    ck_assert_uint_eq(flags_of(saved, SPACE_PLATFORM_TPU, 110), 0);        /* it fits */
    ck_assert_uint_eq(flags_of(saved, SPACE_PLATFORM_TPU, 70), 0);         /* far over */
    ck_assert_uint_eq(flags_of(saved, SPACE_PLATFORM_GPU, 90), 0);         /* they are of another compiler */
    ck_assert_uint_eq(flags_of(nothing_saved, SPACE_PLATFORM_TPU, 90), 0); /* there is nothing to recompute */
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("advice_flags");
    TCase *tests = tcase_create("advice_flags");
    tcase_add_checked_fixture(tests, arena_begin, arena_end);
    tcase_add_test(tests, a_program_that_is_little_over);
    tcase_add_test(tests, no_flags_where_they_cannot_help);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
