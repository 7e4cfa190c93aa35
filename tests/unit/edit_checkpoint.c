/* SPDX-License-Identifier: Apache-2.0
 * Edits that compute layers again: what is cloned, behind what, and what is refused. */
#include "edit/inline.h"
#include "edit/loops.h"
#include "whatif/regions_read.h"

#include "edited.h"

static struct edit checkpoint(const char *scopes)
{
    return (struct edit){.kind = EDIT_CHECKPOINT, .scopes = str_of(scopes)};
}

START_TEST(layers_are_computed_again_behind_a_barrier)
{
    ARENA_MUST_NOT_JUMP();
    const struct edit edit = checkpoint("*");
    struct program program = edited(load(CNN), &edit, 1);
    ck_assert_uint_eq(count_opcode(&program, "opt-barrier"), 8);
    ck_assert_uint_eq(count_opcode(&program, "convolution"), 8 + 15 + 8); /* forward, backward, again */
    ck_assert_uint_eq(count_opcode(&program, "compare"), 8);              /* of the backward pass alone */
    /* The gradient of a layer's kernel reads the layer's input from behind the barrier. */
    const program_instruction *gradient = named(&program, "conv_general_dilated.43");
    const program_instruction *input_again = program_operand(program.entry, gradient, 0);
    ck_assert_str_eq(input_again->opcode, "get-tuple-element");
    ck_assert_str_eq(program_operand(program.entry, input_again, 0)->opcode, "opt-barrier");
    bytes_close(&input);
}
END_TEST

START_TEST(recomputed_instructions_say_so)
{
    ARENA_MUST_NOT_JUMP();
    const struct edit edit = checkpoint("conv_3");
    struct program program = edited(load(CNN), &edit, 1);
    ck_assert_uint_eq(count_opcode(&program, "opt-barrier"), 1);
    size_t count = 0;
    for (size_t i = 0; i < program.entry->computation->n_instructions; i++) {
        const program_instruction *instruction = program.entry->computation->instructions[i];
        if (strstr(instruction->metadata->op_name, "rematted_computation") == NULL)
            continue;
        ck_assert_str_eq(instruction->metadata->op_name,
                         program_is(instruction, "compare")
                             ? "jit(cnn_step)/transpose(jvp(conv_3))/rematted_computation/gt"
                             : "jit(cnn_step)/transpose(jvp(conv_3))/rematted_computation/conv_general_dilated");
        count++;
    }
    ck_assert_uint_eq(count, 2);
    bytes_close(&input);
}
END_TEST

START_TEST(what_has_no_layers_or_is_computed_again_already_is_refused)
{
    ARENA_MUST_NOT_JUMP();
    const struct edit twice[] = {checkpoint("*"), checkpoint("*")};
    must_refuse(load(CNN), twice, 2, ERR_conflict, "computed again already");
    bytes_close(&input);
    const struct edit other = checkpoint("layer_*");
    must_refuse(load(CNN), &other, 1, ERR_conflict, "layer_* names no layer");
    bytes_close(&input);
    must_refuse(load(KV), twice, 1, ERR_conflict, "names no layer");
    bytes_close(&input);
}
END_TEST

/* ---- layers of a scan ---- */

#define SCAN "tests/fixtures/edits/scan.before_optimizations.hlo.pb"

/* The body of the loop that goes backward: the last one. */
static const struct program_body *backward_body(const struct program *program)
{
    const program_computation *entry = program->entry->computation;
    for (size_t i = entry->n_instructions; i-- > 0;)
        if (program_is(entry->instructions[i], "while"))
            return program_body_of(program, entry->instructions[i]->called_computation_ids[0]);
    return NULL;
}

static size_t count_calls(const struct program_body *body, const char *name)
{
    size_t count = 0;
    for (size_t i = 0; i < body->computation->n_instructions; i++)
        count += strncmp(body->computation->instructions[i]->name, name, strlen(name)) == 0 &&
                 program_is(body->computation->instructions[i], "call");
    return count;
}

static const program_instruction *only(const struct program_body *body, const char *opcode)
{
    const program_instruction *found = NULL;
    for (size_t i = 0; i < body->computation->n_instructions; i++)
        if (program_is(body->computation->instructions[i], opcode)) {
            ck_assert_msg(found == NULL, "two of %s", opcode);
            found = body->computation->instructions[i];
        }
    ck_assert_msg(found != NULL, "no %s", opcode);
    return found;
}

START_TEST(the_backward_loop_computes_a_layer_again_from_what_was_carried)
{
    ARENA_MUST_NOT_JUMP();
    const struct edit edit = checkpoint("*");
    struct program program = edited(load(SCAN), &edit, 1);
    const struct program_body *body = backward_body(&program);
    /* Before: seven layers of stacks and arguments. Now what was carried, and of each of three arguments. */
    ck_assert_uint_eq(count_calls(body, "jit_dynamic_index_in_dim_"), 4);
    const program_instruction *barrier = only(body, "opt-barrier");
    ck_assert_uint_eq(barrier->shape->n_tuple_shapes, 5);   /* those, and the cotangent */
    ck_assert_uint_eq(count_calls(body, "closed_call"), 0); /* written out, the layer and its backward pass */
    /* The argument whose layers only the forward loop read goes into the backward loop too. */
    ck_assert_uint_eq(body->computation->instructions[0]->shape->n_tuple_shapes, 12 + 1);
    ck_assert_str_eq(only(body, "tanh")->metadata->op_name,
                     "jit(step)/transpose(jvp())/rematted_computation/while/body/closed_call/tanh");
    size_t sums = 0;
    for (size_t i = 0; i < body->computation->n_instructions; i++)
        sums += program_is(body->computation->instructions[i], "dot");
    ck_assert_uint_eq(sums, 1 + 4); /* of the layer what is needed, and of the backward pass */
    bytes_close(&input);
}
END_TEST

#define TWO_CARRIED "tests/fixtures/edits/scan-two-carried.before_optimizations.hlo.pb"

/* lax.scan over (a, b), both of which the layers stack up for the backward pass: of seven stacks and arguments that it
 * reads a layer of, those two and the two arguments are left, each behind the barrier once. */
START_TEST(what_is_carried_as_two_arrays_is_read_from_two_stacks)
{
    ARENA_MUST_NOT_JUMP();
    const struct edit edit = checkpoint("*");
    struct program before;
    ck_assert(program_read(&before, load(TWO_CARRIED), KIND_HLO_PROTO, &arena, &err));
    struct program program = edited((struct str){input.data, input.length}, &edit, 1);
    const struct program_body *body = backward_body(&program);
    int64_t stack, index, stacks[8];
    size_t count = 0, carried = 0;
    for (size_t i = 0; i < body->computation->n_instructions; i++)
        if (loops_is_layer(&program, body, body->computation->instructions[i], &stack, &index) && count < 8)
            stacks[count++] = stack;
    ck_assert_uint_eq(count, 4);
    for (size_t i = 0; i < count; i++) {
        carried += program_find(body, stacks[i])->shape->dimensions[1] == 16;
        for (size_t j = 0; j < i; j++)
            ck_assert_int_ne(stacks[i], stacks[j]);
    }
    ck_assert_uint_eq(carried, 2);
    ck_assert_uint_eq(only(body, "opt-barrier")->shape->n_tuple_shapes, 4 + 2); /* and the two cotangents */
    size_t products[] = {0, 0};
    const struct program_body *bodies[] = {backward_body(&before), body};
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < bodies[k]->computation->n_instructions; i++)
            products[k] += program_is(bodies[k]->computation->instructions[i], "dot");
    ck_assert_uint_eq(products[0], 0);     /* in a call */
    ck_assert_uint_eq(products[1], 2 + 4); /* of the layer, and of its backward pass, written out */
    bytes_close(&input);
}
END_TEST

START_TEST(a_scan_is_checkpointed_once)
{
    ARENA_MUST_NOT_JUMP();
    const struct edit twice[] = {checkpoint("*"), checkpoint("*")};
    must_refuse(load(SCAN), twice, 2, ERR_conflict, "computed again already, or keep nothing");
    bytes_close(&input);
    const struct edit other = checkpoint("attention");
    must_refuse(load(SCAN), &other, 1, ERR_conflict, "attention names no layers");
    bytes_close(&input);
}
END_TEST

START_TEST(a_checkpointed_scan_can_be_resized)
{
    ARENA_MUST_NOT_JUMP();
    const struct edit_dimension x = {3, 0};
    const struct edit edits[] = {
        checkpoint("*"),
        {.kind = EDIT_RESIZE, .dimensions = &x, .dimension_count = 1, .numerator = 3, .denominator = 2}};
    struct program program = edited(load(SCAN), edits, 2);
    ck_assert_int_eq(only(backward_body(&program), "opt-barrier")->shape->tuple_shapes[0]->dimensions[0], 24);
    bytes_close(&input);
}
END_TEST

/* ---- layers without scopes ---- */

#define PLAIN "tests/fixtures/edits/plain.before_optimizations.hlo.pb"

/* "params['layers'][1]['up']" is of layer 1: three arrays for each of three layers, from parameter 1 on. */
static struct regions_parameters *plain_layers(void)
{
    static struct plan_argument arguments[13];
    static uint32_t of[13];
    static struct region items[] = {{STR("0"), 7}, {STR("1"), 7}, {STR("2"), 7}};
    static struct plan plan;
    static struct regions_parameters layers;
    for (uint32_t i = 0; i < 13; i++) {
        arguments[i] = (struct plan_argument){.number = i};
        of[i] = i >= 1 && i <= 9 ? (i - 1) / 3 : i < 11 ? REGION_OUTSIDE : HLO_NONE;
    }
    plan = (struct plan){.arguments = arguments, .argument_count = 13};
    layers = (struct regions_parameters){&plan, of, items, 3};
    return &layers;
}

static struct edit plain_checkpoint(const char *names)
{
    return (struct edit){.kind = EDIT_CHECKPOINT, .scopes = str_of(names), .layers = plain_layers()};
}

/* Does an instruction of the backward pass, other than a barrier's tuple, read the value? */
static bool is_read_backward(const struct program *program, const program_instruction *value)
{
    const program_computation *entry = program->entry->computation;
    for (size_t i = 0; i < entry->n_instructions; i++)
        for (size_t j = 0; j < entry->instructions[i]->n_operand_ids; j++)
            if (entry->instructions[i]->operand_ids[j] == value->id &&
                strstr(entry->instructions[i]->metadata->op_name, "transpose(jvp") != NULL &&
                !program_is(entry->instructions[i], "tuple"))
                return true;
    return false;
}

START_TEST(layers_without_scopes_are_told_by_their_parameters)
{
    ARENA_MUST_NOT_JUMP();
    const struct edit edit = plain_checkpoint("*");
    struct program program = edited(load(PLAIN), &edit, 1);
    ck_assert_uint_eq(count_opcode(&program, "opt-barrier"), 3);
    ck_assert_uint_eq(count_opcode(&program, "call"), 0);
    ck_assert_uint_eq(count_opcode(&program, "maximum"), 3 + 3);
    ck_assert_uint_eq(count_opcode(&program, "dot"), 8 + 15 + 3); /* forward, backward, "up" again */
    const program_computation *entry = program.entry->computation;
    for (size_t i = 0; i < entry->n_instructions; i++) {
        const program_instruction *barrier = entry->instructions[i];
        if (program_is(barrier, "opt-barrier")) /* the layer's input, "up", "bias", "down", the cotangent */
            ck_assert_uint_eq(barrier->shape->n_tuple_shapes, 5);
    }
    /* What goes in and out of the layers stays; what is made inside is not kept. */
    ck_assert(is_read_backward(&program, named(&program, "add.29")));
    for (size_t i = 0; i < entry->n_instructions; i++)
        if (program_is(entry->instructions[i], "maximum") &&
            strstr(entry->instructions[i]->metadata->op_name, "rematted") == NULL)
            ck_assert(!is_read_backward(&program, entry->instructions[i]));
    bytes_close(&input);
}
END_TEST

/* Calls that are left of PLAIN's, where the first has these attributes. */
static size_t calls_left(Xla__KeptMessage *attributes)
{
    struct program program;
    ck_assert_msg(program_read(&program, load(PLAIN), KIND_HLO_PROTO, &arena, &err), "%s", err.text);
    size_t first = 0;
    while (!program_is(program.entry->computation->instructions[first], "call"))
        first++;
    program.entry->computation->instructions[first]->frontend_attributes = attributes;
    ck_assert(inline_every(&program, program.entry));
    bytes_close(&input);
    return count_opcode(&program, "call");
}

/* ---- what is made of a layer's parameters alone ---- */

#define VIEWS "tests/fixtures/edits/views.before_optimizations.hlo.pb"

/* Three arrays for each of two layers, from parameter 2 on. */
static struct edit views_checkpoint(void)
{
    static struct plan_argument arguments[9];
    static uint32_t of[9];
    static struct region items[] = {{STR("0"), 7}, {STR("1"), 7}};
    static struct plan plan;
    static struct regions_parameters layers;
    for (uint32_t i = 0; i < 9; i++) {
        arguments[i] = (struct plan_argument){.number = i};
        of[i] = i >= 2 && i <= 7 ? (i - 2) / 3 : i < 2 ? REGION_OUTSIDE : HLO_NONE;
    }
    plan = (struct plan){.arguments = arguments, .argument_count = 9};
    layers = (struct regions_parameters){&plan, of, items, 2};
    return (struct edit){.kind = EDIT_CHECKPOINT, .scopes = STR("*"), .layers = &layers};
}

/* How many operands of barriers are made by such an instruction. */
static size_t barriers_take(const struct program *program, const char *name)
{
    const program_computation *entry = program->entry->computation;
    size_t count = 0;
    for (size_t i = 0; i < entry->n_instructions; i++) {
        if (!program_is(entry->instructions[i], "opt-barrier"))
            continue;
        const program_instruction *tuple = program_operand(program->entry, entry->instructions[i], 0);
        for (size_t j = 0; j < tuple->n_operand_ids; j++)
            count += strncmp(program_operand(program->entry, tuple, j)->name, name, strlen(name)) == 0;
    }
    return count;
}

/* A layer casts its weight, negates an exponential of a weight, and scans: all of that is computed again. */
START_TEST(casts_and_loops_of_a_layer_are_computed_again)
{
    ARENA_MUST_NOT_JUMP();
    const struct edit edit = views_checkpoint();
    struct str bytes = load(VIEWS);
    struct edit_outcome outcome;
    ck_assert_msg(edit_apply(bytes, KIND_HLO_PROTO, &edit, 1, &arena, &outcome, &err), "%s", err.text);
    ck_assert_uint_eq(outcome.changed_count, 2);
    ck_assert_ptr_null(outcome.partial); /* one value goes in, one gradient comes back */
    struct program program = edited(bytes, &edit, 1);
    ck_assert_uint_eq(count_opcode(&program, "opt-barrier"), 2);
    ck_assert_uint_eq(count_opcode(&program, "while"), 2 + 2 + 2); /* forward, again, backward */
    ck_assert_uint_eq(barriers_take(&program, "params__layers__"), 2 * 3);
    static const char *const within[] = {"convert_element_type", "exp", "neg", "while", "reduce_sum", "rsqrt"};
    for (size_t i = 0; i < sizeof within / sizeof *within; i++)
        ck_assert_msg(barriers_take(&program, within[i]) == 0, "%s", within[i]);
    bytes_close(&input);
}
END_TEST

/* Casts before all layers belong to the source, not to the layer: their results are passed to it. */
START_TEST(casts_before_all_layers_are_given_to_them)
{
    ARENA_MUST_NOT_JUMP();
    const struct edit edit = views_checkpoint();
    struct program program;
    ck_assert_msg(program_read(&program, load(VIEWS), KIND_HLO_PROTO, &arena, &err), "%s", err.text);
    program_computation *entry = program.entry->computation;
    int64_t first = INT64_MAX, made = 0;
    for (size_t i = 0; i < entry->n_instructions; i++)
        first = entry->instructions[i]->id < first ? entry->instructions[i]->id : first;
    for (size_t i = 0; i < entry->n_instructions; i++) {
        program_instruction *cast = entry->instructions[i];
        if (!program_is(cast, "convert") || !program_is(program_operand(program.entry, cast, 0), "parameter"))
            continue;
        int64_t former = cast->id;
        cast->id = first - ++made;
        for (size_t k = 0; k < entry->n_instructions; k++)
            for (size_t j = 0; j < entry->instructions[k]->n_operand_ids; j++)
                if (entry->instructions[k]->operand_ids[j] == former)
                    entry->instructions[k]->operand_ids[j] = cast->id;
    }
    ck_assert_int_eq(made, 2);
    struct edit_outcome outcome;
    struct program after;
    ck_assert_msg(edit_apply(program_write(&program), KIND_HLO_MODULE, &edit, 1, &arena, &outcome, &err), "%s",
                  err.text);
    ck_assert(program_read(&after, outcome.module, KIND_HLO_MODULE, &arena, &err));
    ck_assert_uint_eq(barriers_take(&after, "convert_element_type"), 2);
    bytes_close(&input);
}
END_TEST

START_TEST(a_call_with_attributes_of_a_frontend_stays_one)
{
    ARENA_MUST_NOT_JUMP();
    uint8_t empty_entry = 0;
    ProtobufCMessageUnknownField entry = {1, PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED, 1, &empty_entry};
    Xla__KeptMessage attributes = XLA__KEPT_MESSAGE__INIT;
    ck_assert_uint_eq(calls_left(NULL), 0);
    ck_assert_uint_eq(calls_left(&attributes), 0);
    attributes.base.n_unknown_fields = 1;
    attributes.base.unknown_fields = &entry;
    ck_assert_uint_eq(calls_left(&attributes), 1);
}
END_TEST

START_TEST(one_layer_without_scopes_is_named_by_its_number)
{
    ARENA_MUST_NOT_JUMP();
    const struct edit edit = plain_checkpoint("1");
    struct program program = edited(load(PLAIN), &edit, 1);
    ck_assert_uint_eq(count_opcode(&program, "opt-barrier"), 1);
    ck_assert_uint_eq(count_opcode(&program, "maximum"), 3 + 1);
    const program_instruction *tuple = program_operand(program.entry, only(program.entry, "opt-barrier"), 0);
    bool is_there = false; /* what goes into layer 1 */
    for (size_t i = 0; i < tuple->n_operand_ids; i++)
        is_there = is_there || tuple->operand_ids[i] == named(&program, "add.19")->id;
    ck_assert(is_there);
    bytes_close(&input);
}
END_TEST

START_TEST(layers_that_are_not_there_or_of_a_nested_gradient_are_refused)
{
    ARENA_MUST_NOT_JUMP();
    const struct edit other = plain_checkpoint("3"), scopes = checkpoint("*");
    must_refuse(load(PLAIN), &other, 1, ERR_conflict, "3 names no layers");
    bytes_close(&input);
    must_refuse(load(PLAIN), &scopes, 1, ERR_conflict, "names no layers");
    bytes_close(&input);
    struct program program;
    struct edit_outcome outcome;
    const struct edit edit = plain_checkpoint("*");
    err = (struct err)ERR_INIT;
    ck_assert(program_read(&program, load(PLAIN), KIND_HLO_PROTO, &arena, &err));
    named(&program, "add.19")->metadata->op_name = "jit(step)/jvp(vmap(transpose(jvp())))/add";
    err = (struct err)ERR_INIT;
    ck_assert(!edit_apply(program_write(&program), KIND_HLO_MODULE, &edit, 1, &arena, &outcome, &err));
    ck_assert_msg(err.code == ERR_unsupported && strstr(err.text, "differentiates a gradient") != NULL, "%s", err.text);
    bytes_close(&input);
}
END_TEST

/* ---- hostile bytes ---- */

START_TEST(loops_without_number_are_not_compared)
{
    ARENA_MUST_NOT_JUMP();
    struct program program;
    const struct edit edit = checkpoint("*");
    struct edit_outcome outcome;
    struct str bytes = load(SCAN);
    arena_allot_work(&arena, 1 << 16); /* the honest one needs no more */
    ck_assert(edit_apply(bytes, KIND_HLO_PROTO, &edit, 1, &arena, &outcome, &err));
    arena_allot_work(&arena, UINT64_MAX);
    ck_assert(program_read(&program, bytes, KIND_HLO_PROTO, &arena, &err));
    program_instruction *loop = NULL;
    for (size_t i = 0; loop == NULL; i++)
        if (program_is(program.entry->computation->instructions[i], "while"))
            loop = program.entry->computation->instructions[i];
    entry_fill(&program, loop, 200);
    must_run_out(program_write(&program), &edit, 1 << 17);
    bytes_close(&input);
}
END_TEST

/* With a program that verifies or with a reason. */
static void must_end(struct str bytes, struct edit edit, size_t bit_at)
{
    struct arena small;
    struct err fault = ERR_INIT;
    struct edit_outcome outcome;
    arena_init(&small, 16 << 20, &fault);
    if (setjmp(small.trap) != 0 || !edit_apply(bytes, KIND_HLO_PROTO, &edit, 1, &small, &outcome, &fault))
        ck_assert_msg(err_is_set(&fault) && fault.code != ERR_internal, "byte %zu: %s", bit_at / 8, fault.text);
    arena_free(&small);
}

/* Every 61st bit flipped. */
static void flipped_must_end(const char *path, struct edit edit)
{
    struct str bytes = load(path);
    for (size_t at = 0; at < bytes.length * 8; at += 61) {
        input.data[at / 8] = (char)(input.data[at / 8] ^ 1 << at % 8);
        must_end(bytes, edit, at);
        input.data[at / 8] = (char)(input.data[at / 8] ^ 1 << at % 8);
    }
    bytes_close(&input);
}

START_TEST(flipped_scans_end) { flipped_must_end(SCAN, checkpoint("*")); }
END_TEST

START_TEST(flipped_programs_without_scopes_end) { flipped_must_end(PLAIN, plain_checkpoint("*")); }
END_TEST

int main(void)
{
    Suite *suite = suite_create("edit_checkpoint");
    TCase *tests = tcase_create("edit_checkpoint");
    tcase_add_checked_fixture(tests, arena_begin, arena_end);
    tcase_add_test(tests, layers_are_computed_again_behind_a_barrier);
    tcase_add_test(tests, recomputed_instructions_say_so);
    tcase_add_test(tests, the_backward_loop_computes_a_layer_again_from_what_was_carried);
    tcase_add_test(tests, what_is_carried_as_two_arrays_is_read_from_two_stacks);
    tcase_add_test(tests, a_scan_is_checkpointed_once);
    tcase_add_test(tests, a_checkpointed_scan_can_be_resized);
    tcase_add_test(tests, loops_without_number_are_not_compared);
    tcase_add_test(tests, flipped_scans_end);
    tcase_add_test(tests, layers_without_scopes_are_told_by_their_parameters);
    tcase_add_test(tests, casts_and_loops_of_a_layer_are_computed_again);
    tcase_add_test(tests, casts_before_all_layers_are_given_to_them);
    tcase_add_test(tests, a_call_with_attributes_of_a_frontend_stays_one);
    tcase_add_test(tests, one_layer_without_scopes_is_named_by_its_number);
    tcase_add_test(tests, layers_that_are_not_there_or_of_a_nested_gradient_are_refused);
    tcase_add_test(tests, flipped_programs_without_scopes_end);
    tcase_add_test(tests, what_has_no_layers_or_is_computed_again_already_is_refused);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
