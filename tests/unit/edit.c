/* SPDX-License-Identifier: Apache-2.0
 * Edits of programs: what is not edited comes back as it was, what is edited is what it should be. Small programs are
 * in tests/fixtures/edits; those of ../shared are looked at where it is there. */
#include "edit/verify.h"

#include "edited.h"

#include <glob.h>
#include <unistd.h>

/* ---- as it was ---- */

static void write_file(const char *path, struct str bytes)
{
    FILE *file = fopen(path, "wb");
    ck_assert(file != NULL && fwrite(bytes.data, 1, bytes.length, file) == bytes.length);
    fclose(file);
}

/* protoc, which knows nothing of our messages, sees the same fields with the same values; and with our messages it
 * decodes what was written. */
static void protoc_must_agree(struct str before, struct str after)
{
    char command[1200];
    const char *folder = "build/edit-test";
    snprintf(command, sizeof command, "mkdir -p %s", folder);
    ck_assert_int_eq(system(command), 0);
    char paths[2][80];
    snprintf(paths[0], sizeof paths[0], "%s/%d.before", folder, getpid());
    snprintf(paths[1], sizeof paths[1], "%s/%d.after", folder, getpid());
    write_file(paths[0], before);
    write_file(paths[1], after);
    for (int i = 0; i < 2; i++) {
        snprintf(command, sizeof command,
                 "protoc --decode_raw <%s >%s.raw && LC_ALL=C sort %s.raw >%s.lines &&"
                 " protoc -Iproto --decode=xla.HloModuleProto hlo.proto <%s >%s.text",
                 paths[i], paths[i], paths[i], paths[i], paths[i], paths[i]);
        ck_assert_int_eq(system(command), 0);
    }
    snprintf(command, sizeof command, "cmp %s.lines %s.lines && cmp %s.text %s.text; s=$?; rm -f %s* %s*; exit $s",
             paths[0], paths[1], paths[0], paths[1], paths[0], paths[1]);
    ck_assert_msg(system(command) == 0, "fields differ");
}

static struct str module_of(struct str bytes)
{
    size_t at = 1, length = 0;
    ck_assert_int_eq(bytes.data[0], 10);
    for (int shift = 0;; shift += 7) {
        length |= (size_t)(bytes.data[at] & 127) << shift;
        if ((bytes.data[at++] & 128) == 0)
            break;
    }
    return (struct str){bytes.data + at, length};
}

/* Reads and writes; every field is there again, and the verifier has nothing against what compilers take. */
static void must_come_back(const char *path)
{
    struct str bytes = load(path), module = module_of(bytes);
    struct program program;
    ck_assert_msg(program_read(&program, bytes, KIND_HLO_PROTO, &arena, &err), "%s: %s", path, err.text);
    ck_assert_msg(verify_program(&program), "%s: %s", path, err.text);
    struct str written = program_write(&program);
    ck_assert_uint_eq(written.length, module.length);
    if (!str_equal(written, module))
        protoc_must_agree(module, written);
    bytes_close(&input);
}

START_TEST(what_is_not_edited_is_as_it_was)
{
    ARENA_MUST_NOT_JUMP();
    must_come_back(KV);
    must_come_back(CNN);
}
END_TEST

START_TEST(real_programs_come_back_and_verify)
{
    glob_t found;
    if (glob("../shared/data/*/*/*.before_optimizations.hlo.pb", 0, NULL, &found) != 0) {
        fprintf(stderr, "skipped: ../shared is absent\n");
        return;
    }
    for (size_t i = 0; i < found.gl_pathc; i++) {
        arena_end();
        arena_begin();
        ARENA_MUST_NOT_JUMP();
        must_come_back(found.gl_pathv[i]);
    }
    ck_assert_uint_ge(found.gl_pathc, 38);
    globfree(&found);
}
END_TEST

START_TEST(what_would_be_lost_is_refused)
{
    ARENA_MUST_NOT_JUMP();
    struct str bytes = load(KV), module = module_of(bytes);
    char *longer = arena_alloc(&arena, module.length + 2, 1);
    memcpy(longer, module.data, module.length);
    longer[module.length] = 5 << 3; /* the module's id, explicitly 0 */
    struct edit_outcome outcome;
    ck_assert(!edit_apply((struct str){longer, module.length + 2}, KIND_HLO_MODULE, NULL, 0, &arena, &outcome, &err));
    ck_assert_msg(strstr(err.text, "without loss") != NULL, "%s", err.text);
    bytes_close(&input);
}
END_TEST

START_TEST(deep_messages_are_refused)
{
    ARENA_MUST_NOT_JUMP();
    /* A shape in a tuple's shape in … : each level is the one inside it with a tag and its length. */
    enum { DEPTH = 2000 };
    char *bytes = arena_alloc(&arena, (size_t)DEPTH * 12, 1);
    size_t at = (size_t)DEPTH * 12, length = 0;
    for (int i = 0; i < DEPTH + 3; i++) {
        char head[8];
        size_t size = 0;
        head[size++] = (char)(i < DEPTH        ? 4 << 3 | 2
                              : i == DEPTH     ? 3 << 3 | 2
                              : i == DEPTH + 1 ? 2 << 3 | 2
                                               : 3 << 3 | 2);
        for (size_t left = length;; left >>= 7) {
            head[size++] = (char)(left > 127 ? (left & 127) | 128 : left);
            if (left <= 127)
                break;
        }
        at -= size;
        memcpy(bytes + at, head, size);
        length += size;
    }
    struct edit_outcome outcome;
    ck_assert(!edit_apply((struct str){bytes + at, length}, KIND_HLO_MODULE, NULL, 0, &arena, &outcome, &err));
    ck_assert_msg(strstr(err.text, "deeper than") != NULL, "%s", err.text);
}
END_TEST

/* ---- donation ---- */

START_TEST(donated_arguments_get_the_first_result_of_their_shape)
{
    ARENA_MUST_NOT_JUMP();
    const int64_t both[] = {0, 1};
    const struct edit edit = donation(both, 2, false);
    struct program program = edited(load(KV), &edit, 1);
    const Xla__HloInputOutputAliasProto *aliases = program.module->input_output_alias;
    ck_assert_uint_eq(aliases->n_entries, 2);
    for (int64_t i = 0; i < 2; i++) {
        ck_assert_int_eq(aliases->entries[i]->parameter_number, i);
        ck_assert_uint_eq(aliases->entries[i]->n_output_shape_index, 1);
        ck_assert_int_eq(aliases->entries[i]->output_shape_index[0], i);
        ck_assert_int_eq(aliases->entries[i]->kind, XLA__ALIAS_KIND__MAY_ALIAS);
    }
    bytes_close(&input);
}
END_TEST

START_TEST(donations_that_do_not_apply_say_why)
{
    ARENA_MUST_NOT_JUMP();
    const int64_t k = 0, position = 3, none = 4;
    struct str bytes = load(KV);
    const struct edit twice[] = {donation(&k, 1, false), donation(&k, 1, false)};
    must_refuse(bytes, twice, 2, ERR_conflict, "argument 0 (k) is donated already");
    const struct edit no_result = donation(&position, 1, false);
    must_refuse(bytes, &no_result, 1, ERR_conflict, "argument 3 (pos): no result has its shape s32[]");
    const struct edit unknown = donation(&none, 1, false);
    must_refuse(bytes, &unknown, 1, ERR_argument, "no parameter 4, it has 4");
    bytes_close(&input);
    const int64_t all[] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    const struct edit every = donation(all, 9, true);
    must_refuse(load(CNN), &every, 1, ERR_conflict, "nothing to donate");
    bytes_close(&input);
}
END_TEST

START_TEST(all_that_can_be_donated_is)
{
    ARENA_MUST_NOT_JUMP();
    const int64_t all[] = {0, 1, 2, 3};
    const struct edit every = donation(all, 4, true);
    struct edit_outcome outcome;
    ck_assert(edit_apply(load(KV), KIND_HLO_PROTO, &every, 1, &arena, &outcome, &err));
    ck_assert_uint_eq(outcome.changed_count, 3);
    ck_assert_uint_eq(outcome.left_count, 1);
    bytes_close(&input);
}
END_TEST

/* ---- resizing ---- */

static void must_have_dimensions(const struct program *program, const char *name, size_t count, const int64_t *wanted)
{
    const program_shape *shape = named(program, name)->shape;
    ck_assert_uint_eq(shape->n_dimensions, count);
    for (size_t i = 0; i < count; i++)
        ck_assert_msg(shape->dimensions[i] == wanted[i], "%s: dimension %zu is %lld", name, i,
                      (long long)shape->dimensions[i]);
}

#define MUST_HAVE(program, name, ...)                                                                                  \
    must_have_dimensions(program, name, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (int64_t[]){__VA_ARGS__})

START_TEST(a_batch_of_half_the_size_is_half_everywhere)
{
    ARENA_MUST_NOT_JUMP();
    const struct edit_dimension x = {8, 0};
    const struct edit half = resizing(&x, 1, 1, 2);
    struct program program = edited(load(CNN), &half, 1);
    MUST_HAVE(&program, "x.1", 32, 128, 128, 16);
    MUST_HAVE(&program, "jit_relu_.8", 32, 128, 128, 128);
    MUST_HAVE(&program, "max.3", 32, 128, 128, 128);                /* in the computation that is called */
    MUST_HAVE(&program, "conv_general_dilated.43", 3, 3, 128, 128); /* a gradient: the batch is summed over */
    ck_assert_int_eq(program.module->host_program_shape->parameters[8]->dimensions[0], 32);
    ck_assert_int_eq(program.module->host_program_shape->parameters[0]->dimensions[0], 3);
    ck_assert_uint_eq(program.module->host_program_shape->parameters[8]->layout->n_minor_to_major, 4);
    bytes_close(&input);
}
END_TEST

START_TEST(slices_and_their_starts_follow)
{
    ARENA_MUST_NOT_JUMP();
    const struct edit_dimension length[] = {{0, 1}, {1, 1}};
    const struct edit third = resizing(length, 2, 3, 8);
    struct program program = edited(load(KV), &third, 1);
    MUST_HAVE(&program, "dynamic_update_slice.2", 64, 1536, 16, 128);
    MUST_HAVE(&program, "broadcast_in_dim.4", 64, 1, 16, 128); /* one token */
    MUST_HAVE(&program, "exp.1", 64, 16, 1536);
    ck_assert_int_eq(named(&program, "constant.10")->literal->s32s[0], 4096); /* a scalar stays */
    bytes_close(&input);
}
END_TEST

START_TEST(sizes_that_do_not_divide_are_refused)
{
    ARENA_MUST_NOT_JUMP();
    struct str bytes = load(KV);
    const struct edit_dimension batch = {0, 0}, none = {0, 4};
    const struct edit third = resizing(&batch, 1, 1, 3);
    must_refuse(bytes, &third, 1, ERR_argument, "argument 0 (k): 64 × 1/3 is no whole number");
    const struct edit no_dimension = resizing(&none, 1, 1, 2);
    must_refuse(bytes, &no_dimension, 1, ERR_argument, "bf16[64,4096,16,128] has no dimension 4");
    bytes_close(&input);
}
END_TEST

/* ---- sharding ---- */

START_TEST(arguments_are_cut_along_the_first_dimension_that_divides)
{
    ARENA_MUST_NOT_JUMP();
    const int64_t all[] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    const struct edit edit = sharding(all, 9, 4, true);
    struct edit_outcome outcome;
    struct program program;
    ck_assert(edit_apply(load(CNN), KIND_HLO_PROTO, &edit, 1, &arena, &outcome, &err));
    ck_assert_int_eq(outcome.partitions, 4);
    ck_assert_uint_eq(outcome.changed_count, 9);
    ck_assert(program_read(&program, outcome.module, KIND_HLO_MODULE, &arena, &err));
    const Xla__OpSharding *kernel = named(&program, "ps_0___k__.1")->sharding;
    ck_assert_int_eq(kernel->type, XLA__OP_SHARDING__TYPE__OTHER);
    ck_assert_uint_eq(kernel->n_tile_assignment_dimensions, 4);
    ck_assert_int_eq(kernel->tile_assignment_dimensions[2], 4); /* of f32[3,3,16,128] */
    ck_assert_int_eq(kernel->tile_assignment_dimensions[3], 1);
    ck_assert_uint_eq(kernel->n_tile_assignment_devices, 4);
    ck_assert_uint_eq(program.module->input_output_alias->n_entries, 0);
    ck_assert_uint_eq(program.module->buffer_donor->n_entries, 8);
    bytes_close(&input);
}
END_TEST

START_TEST(arguments_that_cannot_be_cut_are_refused)
{
    ARENA_MUST_NOT_JUMP();
    struct str bytes = load(KV);
    const int64_t position = 3, k = 0;
    const struct edit scalar = sharding(&position, 1, 4, false);
    must_refuse(bytes, &scalar, 1, ERR_conflict, "argument 3 (pos): no dimension of s32[] divides by 4");
    const struct edit odd = sharding(&k, 1, 7, false);
    must_refuse(bytes, &odd, 1, ERR_conflict, "no dimension of bf16[64,4096,16,128] divides by 7");
    const struct edit twice[] = {sharding(&k, 1, 4, false), sharding(&k, 1, 4, false)};
    must_refuse(bytes, twice, 2, ERR_conflict, "argument 0 (k) is sharded already");
    const struct edit other[] = {sharding(&k, 1, 4, false), sharding(&k, 1, 8, false)};
    must_refuse(bytes, other, 2, ERR_conflict, "split over devices already");
    bytes_close(&input);
}
END_TEST

/* Marks that change no value: a custom call on a result, and what was said of the root. */
static struct str marked(struct str bytes)
{
    struct program program;
    ck_assert(program_read(&program, bytes, KIND_HLO_PROTO, &arena, &err));
    program_instruction *last = named(&program, "exp.1"), *reader = named(&program, "div.7");
    program_instruction *mark =
        program_new(&program, "mark", "custom-call", program_copy_shape(&program, last->shape), NULL);
    mark->custom_call_target = arena_text(&arena, STR("xla.sdy.FuncResultSharding"));
    mark->id = program_new_id(&program, program.entry);
    program_set_operands(&program, mark, &last->id, 1);
    reader->operand_ids[0] = mark->id;
    program_computation *entry = program.entry->computation;
    uint32_t place = program_place(program.entry, reader->id);
    program_instruction **all = arena_array(&arena, program_instruction *, entry->n_instructions + 1);
    memcpy(all, entry->instructions, place * sizeof *all);
    all[place] = mark;
    memcpy(all + place + 1, entry->instructions + place, (entry->n_instructions - place) * sizeof *all);
    entry->instructions = all;
    entry->n_instructions++;
    Xla__OpSharding *sharding = arena_alloc(&arena, 1, sizeof *sharding), *element = named(&program, "k.1")->sharding;
    xla__op_sharding__init(sharding);
    sharding->type = XLA__OP_SHARDING__TYPE__TUPLE;
    sharding->n_tuple_shardings = 1;
    sharding->tuple_shardings = &element;
    program.root->sharding = sharding;
    return program_write(&program);
}

START_TEST(marks_of_whole_results_go)
{
    ARENA_MUST_NOT_JUMP();
    struct str bytes = marked(load(KV));
    const int64_t k = 0;
    const struct edit edit = sharding(&k, 1, 4, false);
    struct edit_outcome outcome;
    struct program program;
    ck_assert_msg(edit_apply(bytes, KIND_HLO_MODULE, &edit, 1, &arena, &outcome, &err), "%s", err.text);
    ck_assert(program_read(&program, outcome.module, KIND_HLO_MODULE, &arena, &err));
    ck_assert(program.root->sharding == NULL);
    ck_assert_uint_eq(count_opcode(&program, "custom-call"), 0);
    ck_assert_int_eq(named(&program, "div.7")->operand_ids[0], named(&program, "exp.1")->id);
    bytes_close(&input);
}
END_TEST

/* ---- several ---- */

START_TEST(edits_compose)
{
    ARENA_MUST_NOT_JUMP();
    const struct edit_dimension x = {8, 0};
    const int64_t all[] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    const struct edit edits[] = {resizing(&x, 1, 1, 2), sharding(all, 9, 2, true)};
    struct program program = edited(load(CNN), edits, 2);
    MUST_HAVE(&program, "jit_relu_.8", 32, 128, 128, 128);
    ck_assert_int_eq(named(&program, "x.1")->sharding->tile_assignment_dimensions[0], 2);
    bytes_close(&input);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("edit");
    TCase *tests = tcase_create("edit");
    tcase_add_checked_fixture(tests, arena_begin, arena_end);
    tcase_add_test(tests, what_is_not_edited_is_as_it_was);
    tcase_add_test(tests, real_programs_come_back_and_verify);
    tcase_add_test(tests, what_would_be_lost_is_refused);
    tcase_add_test(tests, deep_messages_are_refused);
    tcase_add_test(tests, donated_arguments_get_the_first_result_of_their_shape);
    tcase_add_test(tests, donations_that_do_not_apply_say_why);
    tcase_add_test(tests, all_that_can_be_donated_is);
    tcase_add_test(tests, a_batch_of_half_the_size_is_half_everywhere);
    tcase_add_test(tests, slices_and_their_starts_follow);
    tcase_add_test(tests, sizes_that_do_not_divide_are_refused);
    tcase_add_test(tests, arguments_are_cut_along_the_first_dimension_that_divides);
    tcase_add_test(tests, arguments_that_cannot_be_cut_are_refused);
    tcase_add_test(tests, marks_of_whole_results_go);
    tcase_add_test(tests, edits_compose);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
