/* SPDX-License-Identifier: Apache-2.0
 * Places in a person's code: what JAX writes around scopes is left out, layers are folded, the person's frames come
 * first; and the view "tree" balances over real programs. */
#include "plan/code_path.h"
#include "analysis/analysis.h"

#include "bytes.h"
#include "subject.h"

#include <cjson/cJSON.h>

static struct err err;

/* ---- paths ---- */

/* A message of one instruction: its opcode and its op name. */
struct written {
    char bytes[8192];
    size_t length;
};

static void number_add(struct written *written, size_t number)
{
    for (; number >= 128; number >>= 7)
        written->bytes[written->length++] = (char)((number & 127) | 128);
    written->bytes[written->length++] = (char)number;
}

static void field_add(struct written *written, int number, const char *data, size_t length)
{
    written->bytes[written->length++] = (char)((number << 3) | 2);
    number_add(written, length);
    memcpy(written->bytes + written->length, data, length);
    written->length += length;
}

/* The text of a row's path whose instruction has this opcode and op name. */
static char *path_of(const char *opcode, const char *op_name, enum code_path_way way, bool of_layers)
{
    struct written metadata = {.length = 0}, message = {.length = 0};
    field_add(&metadata, 2, op_name, strlen(op_name));
    field_add(&message, 2, opcode, strlen(opcode));
    field_add(&message, 7, metadata.bytes, metadata.length);
    struct hlo_instruction instruction = {.bytes = message.bytes, .length = (uint32_t)message.length};
    struct plan plan = {.hlo = {.instructions = &instruction, .instruction_count = 1, .entry_at = 0}};
    struct plan_row row = {.buffer_at = PLAN_NONE, .named_by = 0};
    struct buf out = BUF_INIT;
    size_t length;
    if (of_layers)
        code_path_layers_text(&plan, &row, &out);
    else
        code_path_text(&plan, &row, way, &out);
    buf_char(&out, '\0');
    return buf_take(&out, &length);
}

static const struct {
    const char *opcode, *op_name, *path;
} scopes[] = {
    {"fusion", "jit(train_step)/jvp(layer_0)/attention/bthd,bshd->bhts/dot_general",
     "layer_{i}/attention/bthd,bshd->bhts/dot_general/"},
    {"fusion", "jit(step)/transpose(jvp(layer_12))/mlp/dot_general", "layer_{i}/mlp/dot_general/"},
    {"fusion", "jit(step)/transpose(jvp())/dot_general", "dot_general/"},
    {"fusion", "jit(main)/jit(step)/jit(_take)/gather", "step/gather/"},
    {"fusion", "jit(<lambda>)/layer_0/attention/jit(tril)/ge", "layer_{i}/attention/tril/ge/"},
    {"fusion", "jit(s)/jvp(GPT)/while/body/closed_call/layers/layer/attention/dot_general",
     "GPT/layers/layer/attention/dot_general/"},
    /* a checkpointed region names the scopes of the forward pass once more */
    {"fusion", "jit(s)/outer/transpose(jvp(GPT))/ln/jvp(GPT)/ln/checkpoint/rematted_computation/layer_3/exp",
     "outer/GPT/ln/layer_{i}/exp/"},
    {"fusion", "jit(s)/cond/branch_1_fun/mul", "mul/"},
    {"fusion", "jit(s)/vmap(eqx.nn.MLP)/eqx.nn.Linear/dot_general", "eqx.nn.MLP/eqx.nn.Linear/dot_general/"},
    {"fusion", "jit(s)/jvp(a/b)/mul", "a/b/mul/"},
    {"fusion", "jit(s)/jvp(layer_3)", "layer_{i}/"},
    {"fusion", "jit(s)/Dense_0/conv2d/w1/mul", "Dense_{i}/conv2d/w1/mul/"},
    {"fusion", "jit(s)/layers/3/h0/mul", "layers/{i}/h{i}/mul/"},
    {"fusion", "jit(s)/while", "while/"},
    {"fusion", "jit(s)/body/mul", "body/mul/"}, /* a scope of that name, in no loop */
    {"fusion", "jit(s)/((/mul", "((/mul/"},
    {"fusion", "///", "(no scope)/fusion/"},
    {"copy-start", "", "(no scope)/copy-start/"},
    {"parameter", "state[1][0].nu['layers'][12]['w1']", "(arguments)/state[1][0]/nu/layers[{i}]/w1/"},
    {"parameter", "state.params['layer_0']['wo']['kernel']", "(arguments)/state/params/layer_{i}/wo/kernel/"},
    {"parameter", "params['net/h3/attn']['w']", "(arguments)/params/net/h{i}/attn/w/"},
    {"parameter", "model.layers[0].weight", "(arguments)/model/layers[{i}]/weight/"},
    {"parameter", "", "(arguments)/argument 0/"},
    {"parameter", "x['", "(arguments)/x/"},
    {"parameter", "[", "(arguments)/argument 0/"},
    {"copy", "state[0]['embed']", "(arguments)/state[0]/embed/copy/"},
};

START_TEST(a_scope_is_what_the_person_wrote)
{
    char *path = path_of(scopes[_i].opcode, scopes[_i].op_name, CODE_PATH_BY_SCOPE, false);
    ck_assert_str_eq(path, scopes[_i].path);
    free(path);
}
END_TEST

START_TEST(layers_are_told_apart_by_their_own_names)
{
    char *path = path_of("fusion", "jit(s)/jvp(block_2)/layer_31/mul", CODE_PATH_BY_SCOPE, true);
    ck_assert_str_eq(path, "/block_2/layer_31/");
    free(path);
}
END_TEST

START_TEST(scopes_may_be_nested_without_an_end)
{
    char deep[8000];
    for (size_t i = 0; i < sizeof(deep) / 2; i++)
        memcpy(deep + 2 * i, i == sizeof(deep) / 2 - 1 ? "m" : "a/", 2);
    char *path = path_of("fusion", deep, CODE_PATH_BY_SCOPE, false);
    ck_assert_uint_eq(strlen(path), (size_t)2 * CODE_PATH_DEPTH_MAX);
    free(path);
    memset(deep, '(', sizeof(deep) - 1);
    free(path_of("fusion", deep, CODE_PATH_BY_SCOPE, false));
    memset(deep, 'x', sizeof(deep) - 1);
    path = path_of("fusion", deep, CODE_PATH_BY_SCOPE, false);
    ck_assert_uint_eq(strlen(path), (size_t)CODE_PATH_TEXT_MAX + 1);
    free(path);
}
END_TEST

START_TEST(frames_of_the_person_come_first)
{
    struct hlo_frame frames[] = {
        {.file = STR("/w/train.py"),
         .function = STR("main"),
         .line = 3,
         .parent_at = HLO_NONE,
         .library = LIBRARY_USER},
        {.file = STR("/p/site-packages/flax/a.py"),
         .function = STR("call"),
         .line = 7,
         .parent_at = 0,
         .library = LIBRARY_MACHINERY},
        {.file = STR("/w/model.py"), .function = STR("mlp"), .line = 9, .parent_at = 1, .library = LIBRARY_USER},
    };
    static const char message[] = {'\x12', 2, 'a', 'b', '\x3a', 2, '\x78', 3}; /* metadata: its frame is the third */
    struct hlo_instruction instruction = {.bytes = message, .length = sizeof(message)};
    struct plan plan = {
        .hlo = {.instructions = &instruction, .frames = frames, .frame_count = 3, .entry_at = HLO_NONE}};
    struct plan_row row = {.buffer_at = PLAN_NONE, .named_by = 0};
    struct buf out = BUF_INIT;
    code_path_text(&plan, &row, CODE_PATH_BY_STACK, &out);
    buf_char(&out, '\0');
    ck_assert_str_eq(out.data, "/w/train.py:3 main > /w/model.py:9 mlp > /p/site-packages/flax/a.py:7 call > ");
    buf_free(&out);
    frames[2].parent_at = 2; /* a circle ends */
    code_path_text(&plan, &row, CODE_PATH_BY_STACK, &out);
    buf_free(&out);
}
END_TEST

START_TEST(the_list_of_libraries_can_be_changed)
{
    const struct str none = {"", 0}, listed = STR("# comment\n\n  /t5x/ \r\n!/site-packages/flax/mine/\n!");
    ck_assert_int_eq(library_of(STR("/w/t5x/a.py"), none), LIBRARY_USER);
    ck_assert_int_eq(library_of(STR("/w/t5x/a.py"), listed), LIBRARY_MACHINERY);
    ck_assert_int_eq(library_of(STR("/p/site-packages/flax/mine/a.py"), listed), LIBRARY_USER);
    ck_assert_int_eq(library_of(STR("/p/site-packages/flax/core/a.py"), listed), LIBRARY_MACHINERY);
    ck_assert_int_eq(library_of(STR("/w/a.py"), listed), LIBRARY_USER);
}
END_TEST

/* ---- the tree ---- */

static const char *const real_modules[] = {
    "tests/fixtures/dumps/h-long-context/module_0011.jit__lambda.cl_1014260217.after_optimizations.hlo.pb.gz",
    "tests/fixtures/modules/mlp-adam/module_0000.jit_step.cl_1014260217.after_optimizations.hlo.pb.gz",
    "tests/fixtures/dumps/seed-matmul-327680/module_0000.jit_f.cl_1014260217.after_optimizations.hlo.pb",
    "build/fixtures/hlo-no-trace.pb",
};

struct asked {
    struct bytes bytes;
    struct analysis_contents *contents;
    struct analysis_subject *module;
};

static void asked_open(struct asked *asked, const char *path)
{
    err = (struct err)ERR_INIT;
    bytes_load(&asked->bytes, path);
    asked->contents = analysis_contents_read(&asked->bytes.source, &err);
    asked->module = subject_module(&asked->bytes.source, &asked->contents->programs[0], 0, &err);
    ck_assert_msg(asked->module != NULL, "%s: %s", path, err.text);
}

static void asked_close(struct asked *asked)
{
    analysis_subject_free(asked->module);
    analysis_contents_free(asked->contents);
    bytes_close(&asked->bytes);
}

static cJSON *ask(const struct asked *asked, const char *view, const struct analysis_param *params, size_t count,
                  cJSON **root)
{
    struct buf out = BUF_INIT;
    err = (struct err)ERR_INIT;
    bool is_good = subject_answer(asked->module, "memory_viewer", view, params, count, &out, &err);
    *root = is_good ? cJSON_ParseWithLength(out.data, out.length) : NULL;
    buf_free(&out);
    return cJSON_GetObjectItem(*root, "data");
}

static double cell(const cJSON *nodes, const char *column, int at)
{
    return cJSON_GetArrayItem(cJSON_GetObjectItem(nodes, column), at)->valuedouble;
}

/* total = self + children + rest, of each node; the root's total is the answer's. */
static void check_balance(const cJSON *data)
{
    const cJSON *nodes = cJSON_GetObjectItem(data, "nodes");
    int count = cJSON_GetArraySize(cJSON_GetObjectItem(nodes, "depth"));
    ck_assert_int_ge(count, 1);
    for (int i = 0; i < count; i++) {
        double sum = cell(nodes, "self", i) + cell(nodes, "rest", i), buffers = cell(nodes, "rest_count", i);
        double depth = cell(nodes, "depth", i);
        for (int j = i + 1; j < count && cell(nodes, "depth", j) > depth; j++) {
            bool is_child = cell(nodes, "depth", j) == depth + 1;
            sum += is_child ? cell(nodes, "total", j) : 0;
            buffers += is_child ? cell(nodes, "count", j) : 0;
        }
        ck_assert_double_eq(sum, cell(nodes, "total", i));
        ck_assert_double_ge(cell(nodes, "count", i), buffers);
    }
}

START_TEST(trees_balance)
{
    static const char *const ways[] = {"scope", "stack"}, *const metrics[] = {"bytes", "byte_steps", "padding"},
                             *const limits[] = {"1", "7", "20000"};
    struct asked asked;
    asked_open(&asked, real_modules[_i]);
    for (int i = 0; i < 2 * 3 * 3; i++) {
        const struct analysis_param params[] = {
            {"by", ways[i % 2]}, {"metric", metrics[i / 2 % 3]}, {"nodes", limits[i / 6]}};
        cJSON *root, *data = ask(&asked, "tree", params, 3, &root);
        ck_assert_ptr_nonnull(data);
        check_balance(data);
        ck_assert_double_eq(cell(cJSON_GetObjectItem(data, "nodes"), "total", 0),
                            cJSON_GetObjectItem(data, "total")->valuedouble);
        cJSON_Delete(root);
    }
    cJSON *root, *other;
    double total = cJSON_GetObjectItem(ask(&asked, "tree", NULL, 0, &root), "total")->valuedouble;
    ck_assert_double_eq(total,
                        cJSON_GetObjectItem(ask(&asked, "buffers", NULL, 0, &other), "total_bytes")->valuedouble);
    cJSON_Delete(root);
    cJSON_Delete(other);
    asked_close(&asked);
}
END_TEST

/* Every node can be opened by its id, and pages of its children add up to it. */
START_TEST(a_node_opens_and_pages_through_its_children)
{
    struct asked asked;
    cJSON *root, *below;
    asked_open(&asked, real_modules[_i]);
    const cJSON *nodes = cJSON_GetObjectItem(ask(&asked, "tree", NULL, 0, &root), "nodes");
    int count = cJSON_GetArraySize(cJSON_GetObjectItem(nodes, "id"));
    for (int i = 0; i < count && i < 40; i++) {
        const char *id = cJSON_GetArrayItem(cJSON_GetObjectItem(nodes, "id"), i)->valuestring;
        double sum = cell(nodes, "self", i);
        for (int offset = 0;; offset += 2) {
            char text[16];
            snprintf(text, sizeof(text), "%d", offset);
            const struct analysis_param params[] = {{"at", id}, {"offset", text}};
            const cJSON *data = ask(&asked, "tree", params, 2, &below), *page = cJSON_GetObjectItem(data, "nodes");
            ck_assert_ptr_nonnull(data);
            ck_assert_double_eq(cell(page, "total", 0), cell(nodes, "total", i));
            check_balance(data);
            int children = cJSON_GetObjectItem(data, "child_count")->valueint, seen = 0;
            for (int j = 1; j < cJSON_GetArraySize(cJSON_GetObjectItem(page, "id")); j++)
                if (cell(page, "depth", j) == 1 && seen++ < 2)
                    sum += cell(page, "total", j);
            cJSON_Delete(below);
            if (offset + 2 >= children)
                break;
        }
        ck_assert_double_eq(sum, cell(nodes, "total", i));
    }
    cJSON_Delete(root);
    asked_close(&asked);
}
END_TEST

START_TEST(layers_open_to_each_of_them)
{
    struct asked asked;
    cJSON *root;
    asked_open(&asked, real_modules[0]);
    const struct analysis_param all[] = {{"open", "all"}};
    const cJSON *data = ask(&asked, "tree", all, 1, &root), *nodes = cJSON_GetObjectItem(data, "nodes");
    int opened = 0, count = cJSON_GetArraySize(cJSON_GetObjectItem(nodes, "id"));
    check_balance(data);
    for (int i = 0; i < count; i++) {
        int children = 0;
        for (int j = i + 1; j < count && cell(nodes, "depth", j) > cell(nodes, "depth", i); j++)
            children += cell(nodes, "depth", j) == cell(nodes, "depth", i) + 1;
        if (cell(nodes, "layers", i) > 1 && children > 0) {
            ck_assert_int_le(children, (int)cell(nodes, "layers", i));
            opened++;
        }
    }
    ck_assert_int_gt(opened, 0);
    cJSON_Delete(root);
    asked_close(&asked);
}
END_TEST

static const struct {
    const char *name, *value;
    enum err_code code;
} refused[] = {
    {"by", "line", ERR_argument},     {"metric", "byte", ERR_argument}, {"nodes", "0", ERR_argument},
    {"nodes", "20001", ERR_argument}, {"at", "x", ERR_argument},        {"at", "0123456789abcdef", ERR_notfound},
    {"open", "some", ERR_argument},   {"offset", "-1", ERR_argument},   {"filter", "sze:1", ERR_argument},
    {"space", "77", ERR_notfound},
};

START_TEST(broken_questions_are_refused)
{
    struct asked asked;
    cJSON *root;
    asked_open(&asked, real_modules[0]);
    const struct analysis_param params[] = {{refused[_i].name, refused[_i].value}};
    ask(&asked, "tree", params, 1, &root);
    ck_assert_ptr_null(root);
    ck_assert_msg(err.code == refused[_i].code, "%s=%s: %s", refused[_i].name, refused[_i].value, err.text);
    asked_close(&asked);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("code_path");
    TCase *tests = tcase_create("code_path");
    const int modules = (int)(sizeof(real_modules) / sizeof(real_modules[0]));
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, a_scope_is_what_the_person_wrote, 0, (int)(sizeof(scopes) / sizeof(scopes[0])));
    tcase_add_test(tests, layers_are_told_apart_by_their_own_names);
    tcase_add_test(tests, scopes_may_be_nested_without_an_end);
    tcase_add_test(tests, frames_of_the_person_come_first);
    tcase_add_test(tests, the_list_of_libraries_can_be_changed);
    tcase_add_loop_test(tests, trees_balance, 0, modules);
    tcase_add_loop_test(tests, a_node_opens_and_pages_through_its_children, 0, modules);
    tcase_add_test(tests, layers_open_to_each_of_them);
    tcase_add_loop_test(tests, broken_questions_are_refused, 0, (int)(sizeof(refused) / sizeof(refused[0])));
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
