/* SPDX-License-Identifier: Apache-2.0
 * From buffer to buffer: what a buffer was made of and what reads it tell of the same pairs, in real programs, and a
 * value with very many readers is paged through. */
#include "analysis/analysis.h"

#include "bytes.h"
#include "encoded.h"
#include "hlo.fields.h"
#include "subject.h"

#include <cjson/cJSON.h>

static struct err err;

struct asked {
    struct bytes bytes;
    struct analysis_contents *contents;
    struct analysis_subject *module;
};

static void asked_begin(struct asked *asked)
{
    err = (struct err)ERR_INIT;
    asked->contents = analysis_contents_read(&asked->bytes.source, &err);
    ck_assert_msg(asked->contents != NULL, "%s", err.text);
    asked->module = subject_module(&asked->bytes.source, &asked->contents->programs[0], 0, &err);
    ck_assert_msg(asked->module != NULL, "%s", err.text);
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
    ck_assert_msg(subject_answer(asked->module, "memory_viewer", view, params, count, &out, &err), "%s", err.text);
    *root = cJSON_ParseWithLength(out.data, out.length);
    buf_free(&out);
    return cJSON_GetObjectItem(*root, "data");
}

static cJSON *ask_buffer(const struct asked *asked, const char *space, const char *id, cJSON **root)
{
    const struct analysis_param params[] = {{"space", space}, {"id", id}, {"limit", "1000"}};
    return ask(asked, "buffer", params, 3, root);
}

static const char *text(const cJSON *object, const char *name)
{
    const cJSON *item = cJSON_GetObjectItem(object, name);
    return cJSON_IsString(item) ? item->valuestring : "";
}

static double number(const cJSON *object, const char *name) { return cJSON_GetObjectItem(object, name)->valuedouble; }

/* ---- real programs ---- */

static const char *const real_modules[] = {
    "tests/fixtures/dumps/h-long-context/module_0011.jit__lambda.cl_1014260217.after_optimizations.hlo.pb.gz",
    "tests/fixtures/modules/mlp-adam/module_0000.jit_step.cl_1014260217.after_optimizations.hlo.pb.gz",
    "tests/fixtures/dumps/seed-matmul-327680/module_0000.jit_f.cl_1014260217.after_optimizations.hlo.pb",
};

/* Is `instruction` among what reads the buffer? */
static bool is_read_by(const struct asked *asked, const cJSON *buffer, const char *instruction)
{
    char space[24];
    cJSON *root;
    const cJSON *reader, *readers;
    bool is_found = false;
    snprintf(space, sizeof(space), "%.0f", number(buffer, "space"));
    readers = cJSON_GetObjectItem(ask_buffer(asked, space, text(buffer, "id"), &root), "consumers");
    const cJSON *rows = cJSON_GetObjectItem(readers, "rows");
    cJSON_ArrayForEach(reader, rows) { is_found |= strcmp(text(reader, "instruction"), instruction) == 0; }
    cJSON_Delete(root);
    return is_found;
}

START_TEST(what_a_buffer_is_made_of_is_read_by_what_makes_it)
{
    struct asked asked;
    cJSON *root, *one_root, *row, *operand;
    bytes_load(&asked.bytes, real_modules[_i]);
    asked_begin(&asked);
    const struct analysis_param all[] = {{"step", "all"}, {"limit", "40"}};
    cJSON *rows = cJSON_GetObjectItem(ask(&asked, "buffers", all, 2, &root), "rows");
    int pairs = 0;
    cJSON_ArrayForEach(row, rows)
    {
        cJSON *one = ask_buffer(&asked, "0", text(row, "id"), &one_root);
        const cJSON *producer = cJSON_GetObjectItem(one, "producer");
        cJSON *operands = cJSON_GetObjectItem(producer, "operands");
        ck_assert(cJSON_IsObject(producer));
        cJSON_ArrayForEach(operand, operands)
        {
            bool is_handed_on = strcmp(text(producer, "opcode"), "tuple") == 0; /* a table of what stays where it is */
            if (text(operand, "id")[0] == '\0' || is_handed_on)
                continue;
            ck_assert_msg(is_read_by(&asked, operand, text(producer, "instruction")), "%s is not read by %s",
                          text(operand, "name"), text(producer, "instruction"));
            pairs++;
        }
        cJSON_Delete(one_root);
    }
    ck_assert_int_gt(pairs, 0);
    cJSON_Delete(root);
    asked_close(&asked);
}
END_TEST

/* ---- a made program: a parameter that very many instructions read ---- */

static void put_instruction(struct buf *computation, uint64_t id, const char *opcode, uint64_t operand)
{
    struct buf one = BUF_INIT, shape = BUF_INIT;
    put_number(&shape, SHAPE_PROTO_ELEMENT_TYPE, 11);
    put_number(&shape, SHAPE_PROTO_DIMENSIONS, 64);
    put_bytes(&one, HLO_INSTRUCTION_PROTO_NAME, opcode, strlen(opcode));
    put_bytes(&one, HLO_INSTRUCTION_PROTO_OPCODE, opcode, strlen(opcode));
    put_message(&one, HLO_INSTRUCTION_PROTO_SHAPE, &shape);
    put_number(&one, HLO_INSTRUCTION_PROTO_ID, id);
    if (operand > 0)
        put_number(&one, HLO_INSTRUCTION_PROTO_OPERAND_IDS, operand);
    put_message(computation, HLO_COMPUTATION_PROTO_INSTRUCTIONS, &one);
}

static void put_buffer(struct buf *assignment, uint64_t instruction)
{
    struct buf buffer = BUF_INIT, place = BUF_INIT, allocation = BUF_INIT, assigned = BUF_INIT;
    put_number(&place, LOGICAL_BUFFER_PROTO_LOCATION_INSTRUCTION_ID, instruction);
    put_number(&buffer, LOGICAL_BUFFER_PROTO_ID, instruction);
    put_number(&buffer, LOGICAL_BUFFER_PROTO_SIZE, 256);
    put_message(&buffer, LOGICAL_BUFFER_PROTO_DEFINED_AT, &place);
    put_message(assignment, BUFFER_ASSIGNMENT_PROTO_LOGICAL_BUFFERS, &buffer);
    put_number(&assigned, BUFFER_ALLOCATION_PROTO_ASSIGNED_LOGICAL_BUFFER_ID, instruction);
    put_number(&assigned, BUFFER_ALLOCATION_PROTO_ASSIGNED_SIZE, 256);
    put_number(&allocation, BUFFER_ALLOCATION_PROTO_INDEX, instruction);
    put_number(&allocation, BUFFER_ALLOCATION_PROTO_SIZE, 256);
    put_number(&allocation, BUFFER_ALLOCATION_PROTO_IS_ENTRY_COMPUTATION_PARAMETER, instruction == 1);
    put_number(&allocation, BUFFER_ALLOCATION_PROTO_MAYBE_LIVE_OUT, instruction > 1);
    put_message(&allocation, BUFFER_ALLOCATION_PROTO_ASSIGNED, &assigned);
    put_message(assignment, BUFFER_ASSIGNMENT_PROTO_BUFFER_ALLOCATIONS, &allocation);
}

enum { READERS = 200000 };

/* Parameter 1; 2 … READERS + 1 read it through a bitcast, which is the last. */
static void make_fan(struct asked *asked)
{
    struct buf computation = BUF_INIT, module = BUF_INIT, assignment = BUF_INIT, file = BUF_INIT;
    const uint64_t view = READERS + 2;
    put_bytes(&computation, HLO_COMPUTATION_PROTO_NAME, "main", 4);
    put_number(&computation, HLO_COMPUTATION_PROTO_ID, 1);
    put_number(&computation, HLO_COMPUTATION_PROTO_ROOT_ID, 2);
    put_instruction(&computation, 1, "parameter", 0);
    put_instruction(&computation, view, "bitcast", 1);
    for (uint64_t i = 2; i < view; i++)
        put_instruction(&computation, i, "negate", view);
    put_bytes(&module, HLO_MODULE_PROTO_NAME, "fan", 3);
    put_bytes(&module, HLO_MODULE_PROTO_ENTRY_COMPUTATION_NAME, "main", 4);
    put_number(&module, HLO_MODULE_PROTO_ENTRY_COMPUTATION_ID, 1);
    put_message(&module, HLO_MODULE_PROTO_COMPUTATIONS, &computation);
    put_buffer(&assignment, 1);
    put_buffer(&assignment, 2);
    put_message(&file, HLO_PROTO_HLO_MODULE, &module);
    put_message(&file, HLO_PROTO_BUFFER_ASSIGNMENT, &assignment);
    bytes_open(&asked->bytes, file.data, file.length);
    buf_free(&file);
    asked_begin(asked);
}

START_TEST(a_value_with_very_many_readers_is_paged_through)
{
    struct asked asked;
    cJSON *root;
    make_fan(&asked);
    const cJSON *one = ask_buffer(&asked, "0", "1", &root), *consumers = cJSON_GetObjectItem(one, "consumers");
    ck_assert_double_eq(number(consumers, "count"), READERS);
    ck_assert_int_eq(cJSON_GetArraySize(cJSON_GetObjectItem(consumers, "rows")), 1000);
    ck_assert(cJSON_IsFalse(cJSON_GetObjectItem(consumers, "is_cut")));
    ck_assert_double_eq(number(cJSON_GetObjectItem(one, "producer"), "operand_count"), 0);
    cJSON_Delete(root);
    const struct analysis_param last[] = {{"id", "1"}, {"offset", "199998"}, {"limit", "5"}};
    const cJSON *rows =
        cJSON_GetObjectItem(cJSON_GetObjectItem(ask(&asked, "buffer", last, 3, &root), "consumers"), "rows");
    ck_assert_int_eq(cJSON_GetArraySize(rows), 2);
    cJSON_Delete(root);
    /* The result was made from it, through the bitcast. */
    const cJSON *operands =
        cJSON_GetObjectItem(cJSON_GetObjectItem(ask_buffer(&asked, "0", "2", &root), "producer"), "operands");
    ck_assert_str_eq(text(cJSON_GetArrayItem(operands, 0), "id"), "1");
    ck_assert(cJSON_IsTrue(
        cJSON_GetObjectItem(cJSON_GetObjectItem(cJSON_GetObjectItem(root, "data"), "consumers"), "is_result")));
    cJSON_Delete(root);
    asked_close(&asked);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("links");
    TCase *tests = tcase_create("links");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, what_a_buffer_is_made_of_is_read_by_what_makes_it, 0,
                        (int)(sizeof(real_modules) / sizeof(real_modules[0])));
    tcase_add_test(tests, a_value_with_very_many_readers_is_paged_through);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
