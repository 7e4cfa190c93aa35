/* SPDX-License-Identifier: Apache-2.0
 * What the buffers that a text lists have in common: logits by their sides, beside weights, copies and gradients that
 * have the same long side. */
#include "made.h"

#define BUFFER(number, size, operator, shape)                                                                          \
    "\tBuffer " number ":\n\t\tSize: " size "\n\t\tOperator: op_name=\"jit(step)/jit(main)/"                           \
    operator"\" source_file=\"model.py\" source_line=9\n\t\tXLA Label: fusion\n\t\tShape: " shape                      \
            "\n\t\t==========================\n\n"
#define ARGUMENT(number, size, shape)                                                                                  \
    "\tBuffer " number ":\n\t\tSize: " size "\n\t\tEntry Parameter Subshape: " shape                                   \
    "\n\t\t==========================\n\n"
#define ASKED                                                                                                          \
    "RESOURCE_EXHAUSTED: Out of memory while trying to allocate 6.00GiB.\nBufferAssignment OOM Debugging.\n"           \
    "BufferAssignment stats:\n parameter allocation: 2.00GiB\n maybe_live_out allocation: 1.00KiB\n"                   \
    " preallocated temp allocation: 6.00GiB\n total allocation: 8.00GiB\nPeak buffers:\n"

static const struct {
    const char *content;
    bool is_logits;
} lists[] = {
    {ASKED BUFFER("1", "4.00GiB", "dot_general", "f32[8192,131072]") ARGUMENT("2", "1.00GiB", "bf16[4096,131072]"),
     true},
    {ASKED BUFFER("1", "4.00GiB", "dot_general", "f32[8,1024,131072]") ARGUMENT("2", "1.00GiB", "bf16[131072,4096]"),
     true},
    {ASKED BUFFER("1", "4.00GiB", "log_softmax/exp", "f32[8,1024,131072]"), true},
    /* of weights: a gradient or a copy has their sides */
    {ASKED BUFFER("1", "4.00GiB", "transpose(jvp(lm_head))/dot_general", "f32[4096,131072]")
         ARGUMENT("2", "1.00GiB", "bf16[4096,131072]"),
     false},
    /* no weights with that side, nor a name */
    {ASKED BUFFER("1", "4.00GiB", "dot_general", "f32[8192,131072]") ARGUMENT("2", "1.00GiB", "bf16[4096,4096]"),
     false},
    /* a short side is no vocabulary */
    {ASKED BUFFER("1", "4.00GiB", "dot_general", "f32[65536,8192]") ARGUMENT("2", "1.00GiB", "bf16[4096,8192]"), false},
    /* less than half of what is listed */
    {ASKED BUFFER("1", "1.00GiB", "dot_general", "f32[2048,131072]") BUFFER("2", "4.00GiB", "tanh", "f32[8,32768,4096]")
         ARGUMENT("3", "1.00GiB", "bf16[4096,131072]"),
     false},
    {ASKED BUFFER("1", "4.00GiB", "dot_general", "f32[") ARGUMENT("2", "1.00GiB", "bf16[4096,131072"), false},
};

START_TEST(logits_are_known_by_their_sides)
{
    struct made made = make_of_text(lists[_i].content, NULL);
    ck_assert_msg((strcmp(cause_of(&made), "logits") == 0) == lists[_i].is_logits, "%s: %s", lists[_i].content,
                  cause_of(&made));
    const cJSON *first = cJSON_GetArrayItem(member(made.root, "advice"), 0);
    ck_assert(first != NULL);
    ck_assert_msg((strcmp(text(first, "kind"), "chunked_loss") == 0) == lists[_i].is_logits, "%s", text(first, "kind"));
    made_free(&made);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("verdict_listed");
    TCase *tests = tcase_create("verdict_listed");
    tcase_add_loop_test(tests, logits_are_known_by_their_sides, 0, sizeof(lists) / sizeof(lists[0]));
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
