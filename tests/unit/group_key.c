/* SPDX-License-Identifier: Apache-2.0
 * Keys of groups: what is folded, what a person reads of it, and how many layers there are. */
#include "plan/group_key.h"

#include "arena.h"
#include "bytes.h"

static const struct {
    const char *op_name, *scope, *label;
} scopes[] = {
    {"", "", ""},
    {"jit(train_step)/jit(main)/jvp(Transformer)/layer_12/attention/softmax",
     "jit(train_step)/jit(main)/jvp(Transformer)/layer_{i}/attention/softmax", "layer_{i}/attention/softmax"},
    {"jit(f)/transpose(jvp(layer_3))/dot_general", "jit(f)/transpose(jvp(layer_{i}))/dot_general",
     "layer_{i}/dot_general"},
    {"jit(f)/jvp(attention)/exp", "jit(f)/jvp(attention)/exp", "attention/exp"},
    {"jit(f)/jvp(Dense_0)/dot", "jit(f)/jvp(Dense_{i})/dot", "Dense_{i}/dot"},
    {"jit(f)/jvp(Model)", "jit(f)/jvp(Model)", "Model"},
    {"jit(f)/transpose(jvp())/mul", "jit(f)/transpose(jvp())/mul", "mul"},
    {"jit(f)/while/body/closed_call/checkpoint/rematted_computation/mlp/add",
     "jit(f)/while/body/closed_call/checkpoint/rematted_computation/mlp/add", "mlp/add"},
    {"jit(f)/while/body", "jit(f)/while/body", "body"},
    {"state.opt_state[0].nu['layer_12']['kernel']", "state.opt_state[{i}].nu['layer_{i}']['kernel']",
     "state.opt_state[{i}].nu['layer_{i}']['kernel']"},
    {"params[('a/b', 1)]", "params[('a/b', {i})]", "params[('a/b', {i})]"},
    {"f(((a)/b", "f(((a)/b", "f(((a)/b"},
    {"a)/b", "a)/b", "a)/b"},
    {"/", "/", "/"},
    {"2024", "{i}", "{i}"},
};

START_TEST(a_scope_has_no_numbers_and_a_label_what_the_person_wrote)
{
    arena_begin();
    struct str scope = group_key_scope(str_of(scopes[_i].op_name), &arena);
    struct str label = group_key_label(scope, &arena);
    ck_assert_msg(str_equal(scope, str_of(scopes[_i].scope)), "%.*s", (int)scope.length, scope.data);
    ck_assert_msg(str_equal(label, str_of(scopes[_i].label)), "%s: %.*s", scopes[_i].op_name, (int)label.length,
                  label.data);
    arena_end();
}
END_TEST

static const struct {
    const char *op_names[5];
    uint32_t layer_count;
} layers[] = {
    {{"jit(f)/layer_3/mlp"}, 0},
    {{"jit(f)/layer_3/mlp", "jit(f)/layer_3/mlp"}, 0},
    {{"jit(f)/layer_3/mlp", "jit(f)/layer_4/mlp", "jit(f)/layer_3/mlp"}, 2},
    {{"l['layers'][0]['w1']", "l['layers'][0]['w2']", "l['layers'][1]['w1']", "l['layers'][1]['w2']"}, 2},
    {{"x/dense_0", "x/dense_1", "x/dense_10"}, 3},
    {{"encoder_0/layer_0", "encoder_0/layer_1", "encoder_1/layer_0", "encoder_1/layer_1"}, 4},
    {{"layer_1/a_1", "layer_11/a_1", "layer_1/a_11"}, 2},
};

START_TEST(layers_are_counted_by_the_numbers_that_differ)
{
    struct str op_names[5];
    uint32_t count = 0;
    arena_begin();
    for (; count < 5 && layers[_i].op_names[count] != NULL; count++)
        op_names[count] = str_of(layers[_i].op_names[count]);
    ck_assert_uint_eq(group_key_layer_count(op_names, count, &arena), layers[_i].layer_count);
    arena_end();
}
END_TEST

START_TEST(keys_differ_in_each_part)
{
    const struct group_key keys[] = {
        {CATEGORY_GRADIENT, STR("a"), STR("f32[8]")}, {CATEGORY_OUTPUT, STR("a"), STR("f32[8]")},
        {CATEGORY_GRADIENT, STR("b"), STR("f32[8]")}, {CATEGORY_GRADIENT, STR("a"), STR("f32[9]")},
        {CATEGORY_GRADIENT, STR("af"), STR("32[8]")},
    };
    char texts[5][GROUP_KEY_TEXT_BYTES];
    for (int i = 0; i < 5; i++) {
        group_key_text(&keys[i], texts[i]);
        for (int j = 0; j < i; j++)
            ck_assert_str_ne(texts[i], texts[j]);
    }
    ck_assert_str_eq(texts[0], "6cf291da7ea0133f"); /* is part of addresses that users keep */
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("group_key");
    TCase *cases = tcase_create("keys");
    tcase_add_loop_test(cases, a_scope_has_no_numbers_and_a_label_what_the_person_wrote, 0,
                        (int)(sizeof(scopes) / sizeof(scopes[0])));
    tcase_add_loop_test(cases, layers_are_counted_by_the_numbers_that_differ, 0,
                        (int)(sizeof(layers) / sizeof(layers[0])));
    tcase_add_test(cases, keys_differ_in_each_part);
    suite_add_tcase(suite, cases);
    return bytes_run(suite);
}
