/* SPDX-License-Identifier: Apache-2.0
 * contents.c: tests of what a file holds, and sums of its programs, as bytes that are kept, and from these again. */
#include "analysis.h"

#include "bytes.h"

static const char *const files[] = {"build/fixtures/hlo-two-buffers.pb", "build/fixtures/xspace-two-programs.pb"};

/* The bytes must give the same bytes again. */
static void hold_contents(const struct buf *kept)
{
    struct err err = ERR_INIT;
    struct buf again = BUF_INIT;
    struct analysis_contents *contents = analysis_contents_of_bytes((struct str){kept->data, kept->length}, &err);
    ck_assert_msg(contents != NULL, "%s", err.text);
    analysis_contents_write(contents, &again);
    ck_assert_uint_eq(again.length, kept->length);
    ck_assert(memcmp(again.data, kept->data, kept->length) == 0);
    buf_free(&again);
    analysis_contents_free(contents);
}

static void hold_totals(const struct buf *kept)
{
    struct err err = ERR_INIT;
    struct buf again = BUF_INIT;
    struct analysis_totals *totals = analysis_totals_of_bytes((struct str){kept->data, kept->length}, &err);
    ck_assert_msg(totals != NULL, "%s", err.text);
    analysis_totals_write(totals, &again);
    ck_assert_uint_eq(again.length, kept->length);
    ck_assert(memcmp(again.data, kept->data, kept->length) == 0);
    buf_free(&again);
    analysis_totals_free(totals);
}

/* Cut anywhere they are none; with any bit flipped they are others or none, which the sanitizers hold. */
static void damage(const struct buf *kept, bool is_totals)
{
    char *bytes = malloc(kept->length);
    for (size_t at = 0; at < kept->length * 2; at++) {
        struct err err = ERR_INIT;
        bool is_cut = at >= kept->length;
        memcpy(bytes, kept->data, kept->length);
        if (!is_cut)
            bytes[at] = (char)(bytes[at] ^ (1 << at % 8));
        struct str damaged = {bytes, is_cut ? at - kept->length : kept->length};
        void *made = is_totals ? (void *)analysis_totals_of_bytes(damaged, &err)
                               : (void *)analysis_contents_of_bytes(damaged, &err);
        ck_assert_msg(!is_cut || !made, "cut at %zu", damaged.length);
        ck_assert(made || err_is_set(&err));
        if (made && is_totals)
            analysis_totals_free(made);
        else if (made)
            analysis_contents_free(made);
    }
    free(bytes);
}

START_TEST(bytes_give_the_same_again)
{
    struct bytes file;
    struct err err = ERR_INIT;
    struct buf kept = BUF_INIT;
    bytes_load(&file, files[_i]);
    struct analysis_contents *contents = analysis_contents_read(&file.source, &err);
    ck_assert_msg(contents != NULL && contents->program_count > 0, "%s", err.text);
    analysis_contents_write(contents, &kept);
    hold_contents(&kept);
    damage(&kept, false);
    struct analysis_totals *totals = analysis_totals_read(&file.source, &contents->programs[0], &err);
    ck_assert_msg(totals != NULL, "%s", err.text);
    kept.length = 0;
    analysis_totals_write(totals, &kept);
    hold_totals(&kept);
    damage(&kept, true);
    buf_free(&kept);
    analysis_totals_free(totals);
    analysis_contents_free(contents);
    bytes_close(&file);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("contents");
    TCase *tests = tcase_create("contents");
    tcase_add_loop_test(tests, bytes_give_the_same_again, 0, sizeof(files) / sizeof(files[0]));
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
