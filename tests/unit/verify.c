/* SPDX-License-Identifier: Apache-2.0
 * The verifier of edited programs: each fault is found where it is. */
#include "edit/verify.h"

#include "edited.h"

static void must_find(struct program *program, const char *reason)
{
    err = (struct err)ERR_INIT;
    ck_assert(!program_index(program) || !verify_program(program));
    ck_assert_msg(strstr(err.text, reason) != NULL, "%s", err.text);
}

static struct program kv(void)
{
    struct program program;
    err = (struct err)ERR_INIT;
    ck_assert(program_read(&program, (struct str){input.data, input.length}, KIND_HLO_PROTO, &arena, &err));
    return program;
}

START_TEST(faults_of_programs_are_named)
{
    ARENA_MUST_NOT_JUMP();
    load(KV);
    struct program program = kv();
    named(&program, "dot_general.2")->shape->dimensions[2] = 4095;
    must_find(&program, "dot_general.2 = bf16[64,16,4095] dot: its dimensions are not those of a product");
    program = kv();
    named(&program, "sub.7")->operand_ids[0] = named(&program, "exp.1")->id;
    must_find(&program, "sub.7: an operand does not stand before it");
    program = kv();
    named(&program, "convert_element_type.2")->shape->element_type = XLA__PRIMITIVE_TYPE__BF16;
    must_find(&program, "reduce_max.7 = f32[64,16] reduce: its element type is not that of its operand");
    program = kv();
    named(&program, "k.1")->shape->dimensions[0] = 32;
    must_find(&program, "dynamic_update_slice.2 = bf16[64,4096,16,128] dynamic-update-slice: its shape is not");
    program = kv();
    named(&program, "mul.2")->n_dimensions = 1;
    named(&program, "mul.2")->dimensions = &(int64_t){0};
    must_find(&program, "mul.2 = bf16[64,1,16,128] broadcast: it does not place each dimension of its operand");
    program = kv();
    named(&program, "v.1")->name = "k.1";
    must_find(&program, "k.1: two instructions have this name");
    program = kv();
    program.module->host_program_shape->parameters[2]->dimensions[0] = 1;
    must_find(&program, "q.1: its shape is not that of the program shape");
    program = kv();
    named(&program, "broadcast_in_dim.6")->shape->dimensions[1] = 17;
    must_find(&program, "broadcast_in_dim.6 = f32[64,17,1] reshape: it has another number of elements");
    program = kv();
    named(&program, "reduce_max.7")->called_computation_ids[0] = program.entry->computation->id;
    must_find(&program, "reduce_max.7: calls a computation that does not stand before its own");
    program = kv();
    named(&program, "v.1")->id = named(&program, "k.1")->id;
    must_find(&program, "another instruction's too");
    bytes_close(&input);
}
END_TEST

START_TEST(faults_of_donations_and_calls_are_named)
{
    ARENA_MUST_NOT_JUMP();
    load(CNN);
    struct program program = kv();
    program.module->input_output_alias->entries[0]->output_shape_index[0] = 1;
    must_find(&program, "it is donated to a result of another shape");
    program = kv();
    program.module->input_output_alias->entries[2]->output_shape_index[0] = 1;
    must_find(&program, "it is donated to a result that has another argument's memory");
    program = kv();
    named(&program, "jit_relu_.8")->operand_ids[0] = named(&program, "x.1")->id;
    must_find(&program, "jit_relu_.8: an operand is not what its computation takes");
    program = kv();
    named(&program, "conv_general_dilated.23")->window->dimensions[0]->padding_low = 0;
    must_find(&program, "convolution: a dimension is not what its window leaves");
    bytes_close(&input);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("verify");
    TCase *tests = tcase_create("verify");
    tcase_add_checked_fixture(tests, arena_begin, arena_end);
    tcase_add_test(tests, faults_of_programs_are_named);
    tcase_add_test(tests, faults_of_donations_and_calls_are_named);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
