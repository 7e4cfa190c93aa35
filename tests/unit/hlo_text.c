/* SPDX-License-Identifier: Apache-2.0
 * Programs as texts, and parts of one program that are apart. */
#include "read/hlo/hlo_text.h"
#include "analysis/analysis.h"
#include "hlo.fields.h"
#include "read/hlo/assignment_text.h"
#include "read/hlo/hlo_aliases.h"
#include "read/hlo/hlo_attributes.h"
#include "read/hlo/hlo_parts.h"
#include "read/hlo/hlo_sharding.h"
#include "read/hlo/shape.h"
#include "read/hlo/shape_read.h"
#include "wire/wire.h"

#include "bytes.h"
#include "subject.h"

#define TEXTS "tests/fixtures/texts/"
#define FFT TEXTS "module_0002.jit_fft_complex.cpu_after_optimizations"

static struct arena arena;
static struct err err;

static void open_arena(void)
{
    err = (struct err)ERR_INIT;
    arena_init(&arena, 0, &err);
    arena_allot_work(&arena, UINT64_C(1) << 30);
}

static void close_arena(void) { arena_free(&arena); }

/* ---- shapes ---- */

static const char *const shapes[] = {"f32[]",
                                     "pred[]{:T(128)}",
                                     "bf16[16,2048]{1,0:T(8,128)(2,1)}",
                                     "f32[4,128]{1,0:T(8,128)L(2)E(32)S(5)M(8)}",
                                     "s4[8,<=128]{0,1:T(256)E(4)}",
                                     "f32[?,4]{1,0}",
                                     "(f32[8]{0}, (s32[], token[]), b(f32[8]{0}))",
                                     "f8e4m3fn[7]{0:T(*,2)}",
                                     "()",
                                     "opaque[]",
                                     "(f32[1], f32[2], f32[3], f32[4], f32[5], /*index=5*/f32[6])"};

START_TEST(a_shape_is_read_as_it_is_printed)
{
    struct buf out = BUF_INIT, text = BUF_INIT;
    struct str printed = str_of(shapes[_i]);
    struct text_cursor cursor = text_cursor_open(printed, STR("shape"), &err);
    bool is_tuple;
    open_arena();
    ck_assert_msg(shape_read(&cursor, &out, 1, &is_tuple), "%s", err.text);
    ck_assert_ptr_eq(cursor.at, cursor.end);
    ck_assert_int_eq(is_tuple, shapes[_i][0] == '(');
    struct wire wire = wire_open((struct str){out.data, out.length}, 0, &err);
    ck_assert(wire_next(&wire));
    shape_text(wire_text(&wire), true, &text);
    ck_assert_msg(str_equal((struct str){text.data, text.length}, printed), "%.*s, not %s", (int)text.length, text.data,
                  shapes[_i]);
    buf_free(&out);
    buf_free(&text);
    close_arena();
}
END_TEST

static const char *const bad_shapes[] = {"",
                                         "f33[2]",
                                         "f32",
                                         "f32[2",
                                         "f32[x]",
                                         "(f32[2]",
                                         "f32[2]{0:T(8",
                                         "f32[2]{0:S()}",
                                         "f32[2]{0",
                                         "b(f32[2]",
                                         "f32[99999999999999999999]"};

START_TEST(what_is_no_shape_is_refused)
{
    struct buf out = BUF_INIT;
    open_arena();
    struct text_cursor cursor = text_cursor_open(str_of(bad_shapes[_i]), STR("a.txt"), &err);
    ck_assert_msg(!shape_read(&cursor, &out, 1, NULL), "%s", bad_shapes[_i]);
    ck_assert_int_eq(err.code, ERR_malformed);
    ck_assert_msg(strncmp(err.text, "a.txt, line 1: ", 15) == 0, "%s", err.text);
    buf_free(&out);
    close_arena();
}
END_TEST

/* ---- a module ---- */

static void module_of(struct str text, struct hlo *hlo)
{
    struct arena_out out;
    arena_out_open(&out, &arena);
    bool is_odd = false;
    ck_assert_msg(hlo_text_read(text, STR("m.txt"), &arena, &out, &is_odd, &err), "%s", err.text);
    ck_assert(!is_odd);
    ck_assert_msg(hlo_read(arena_out_bytes(&out), 0, KIND_HLO_MODULE, (struct str){"", 0}, &arena, hlo, &err), "%s",
                  err.text);
}

static uint32_t named(const struct hlo *hlo, const char *name)
{
    uint32_t at = 0;
    while (at < hlo->instruction_count && !str_equal(hlo_instruction_name(hlo, at), str_of(name)))
        at++;
    ck_assert_msg(at < hlo->instruction_count, "%s", name);
    return at;
}

static struct hlo_attributes attributes_of(const struct hlo *hlo, const char *name)
{
    struct hlo_attributes attributes;
    hlo_attributes_read(hlo_instruction_bytes(hlo, named(hlo, name)), &attributes);
    return attributes;
}

static void list_holds(const struct hlo_list *list, int64_t first, int64_t last, uint32_t count)
{
    ck_assert_uint_eq(list->count, count);
    ck_assert_int_eq(list->items[0], first);
    ck_assert_int_eq(list->items[count - 1], last);
}

static void dimensions_hold(const struct hlo *hlo)
{
    struct hlo_attributes slice = attributes_of(hlo, "slice.1"), pad = attributes_of(hlo, "pad.1"),
                          dot = attributes_of(hlo, "dot.1"), gather = attributes_of(hlo, "gather.1"),
                          scatter = attributes_of(hlo, "scatter.1"), sizes = attributes_of(hlo, "dynamic.1");
    ck_assert_uint_eq(slice.slice_count, 2);
    ck_assert_int_eq(slice.slices[0].stride, 2);
    ck_assert_int_eq(slice.slices[1].start, 64);
    ck_assert_int_eq(slice.slices[1].limit, 128);
    ck_assert_uint_eq(pad.pad_count, 2);
    ck_assert_int_eq(pad.pads[0].high, 1);
    ck_assert_int_eq(pad.pads[1].low, -1);
    ck_assert_int_eq(pad.pads[1].interior, 1);
    list_holds(&dot.dot.lhs_contracting, 1, 1, 1);
    ck_assert_uint_eq(dot.dot.lhs_batch.count, 0);
    list_holds(&gather.gather_slice_sizes, 1, 128, 2);
    list_holds(&gather.gather.offset, 1, 1, 1);
    ck_assert_int_eq(gather.gather.index_vector, 1);
    list_holds(&scatter.scatter.update_window, 1, 1, 1);
    ck_assert_int_eq(scatter.scatter.index_vector, 1);
    list_holds(&sizes.dynamic_slice_sizes, 8, 128, 2);
    struct hlo_attributes reduce = attributes_of(hlo, "reduce.1"), iota = attributes_of(hlo, "iota.1");
    list_holds(&reduce.dimensions, 1, 1, 1);
    list_holds(&iota.dimensions, 0, 0, 1);
}

static void convolution_holds(const struct hlo *hlo)
{
    struct hlo_attributes said = attributes_of(hlo, "convolution.1");
    ck_assert_uint_eq(said.window_count, 2);
    ck_assert_int_eq(said.window[1].size, 3);
    ck_assert_int_eq(said.window[0].stride, 2);
    ck_assert_int_eq(said.window[0].padding_low, 1);
    ck_assert_int_eq(said.window[1].padding_high, 2);
    ck_assert_int_eq(said.window[1].base_dilation, 2);
    ck_assert_int_eq(said.window[0].window_dilation, 2);
    ck_assert(said.window[0].is_reversed && !said.window[1].is_reversed);
    ck_assert_int_eq(said.convolution.input_batch, 0);
    ck_assert_int_eq(said.convolution.input_feature, 3);
    ck_assert_int_eq(said.convolution.kernel_input_feature, 2);
    ck_assert_int_eq(said.convolution.kernel_output_feature, 3);
    list_holds(&said.convolution.input_spatial, 1, 2, 2);
    list_holds(&said.convolution.kernel_spatial, 0, 1, 2);
    list_holds(&said.convolution.output_spatial, 1, 2, 2);
    ck_assert_int_eq(said.feature_group_count, 2);
    ck_assert_int_eq(said.batch_group_count, 3);
}

static void metadata_holds(const struct hlo *hlo)
{
    struct hlo_detail x = hlo_detail(hlo, named(hlo, "x")), constant = hlo_detail(hlo, named(hlo, "constant.2"));
    ck_assert(str_equal(x.op_name, STR("state['w']")));
    ck_assert(str_equal(x.source_file, STR("a.py")));
    ck_assert_int_eq(x.source_line, 3);
    ck_assert_int_eq(constant.code_bytes, 77);
    ck_assert_uint_eq(constant.frame_at, 1);
    ck_assert_uint_eq(hlo->frame_count, 2);
    ck_assert_uint_eq(hlo->frames[0].parent_at, HLO_NONE);
    ck_assert_uint_eq(hlo->frames[1].parent_at, 0);
    ck_assert_int_eq(hlo->frames[1].line, 12);
    ck_assert_int_eq(hlo->frames[1].column, 6);
    ck_assert(str_equal(hlo->frames[1].function, STR("step")));
    ck_assert(str_equal(hlo->frames[1].file, STR("/home/u/a \"b\".py")));
}

static void structure_holds(const struct hlo *hlo)
{
    uint32_t count;
    ck_assert(str_equal(hlo->name, STR("jit_all")));
    ck_assert(str_equal(hlo->entry_name, STR("main")));
    ck_assert(hlo->has_schedule);
    ck_assert_uint_eq(hlo->device_count, 8);
    ck_assert_uint_eq(hlo->computation_count, 5);
    ck_assert_int_eq(hlo->computations[1].sequence_count, 0); /* of a fusion */
    ck_assert_uint_eq(hlo->computations[hlo->entry_at].sequence_count, 21);
    ck_assert_int_eq(hlo->computations[hlo->entry_at].root_id, hlo->instructions[named(hlo, "reduce.1")].id);
    uint32_t body = hlo_called_computation(hlo, named(hlo, "while.1"), 0, &count);
    ck_assert(str_equal(hlo->computations[body].name, STR("body")));
    ck_assert_uint_eq(count, 2);
    hlo_called_computation(hlo, named(hlo, "conditional.1"), 0, &count);
    ck_assert_uint_eq(count, 2);
    ck_assert(str_equal(hlo_instruction_opcode(hlo, named(hlo, "all-to-all-start")), STR("async-start")));
    ck_assert(str_equal(hlo_instruction_opcode(hlo, named(hlo, "all-to-all-done")), STR("async-done")));
    ck_assert(str_equal(hlo_instruction_opcode(hlo, named(hlo, "all-reduce-start")), STR("all-reduce-start")));
    ck_assert(!hlo_sharding_is_replicated(hlo, named(hlo, "x"), 0));
    ck_assert(hlo_sharding_is_replicated(hlo, named(hlo, "all-reduce-start"), 0));
    ck_assert(!hlo_sharding_is_replicated(hlo, named(hlo, "maximal"), 0));
    ck_assert_int_eq(hlo_sharding_parts(hlo, named(hlo, "x"), 0, 0), 2);
    ck_assert_int_eq(hlo_sharding_parts(hlo, named(hlo, "x"), 0, 1), 1);
    ck_assert_int_eq(hlo_sharding_parts(hlo, named(hlo, "x"), 0, 2), 1);
    ck_assert_int_eq(hlo_sharding_parts(hlo, named(hlo, "all-reduce-start"), 0, 0), 1);
    ck_assert_int_eq(hlo->scoped_vmem_bytes, 4096);
    ck_assert_int_eq(hlo->platform, SPACE_PLATFORM_TPU);
}

static uint64_t seen;

static void alias_met(void *context, uint64_t result, int64_t parameter_number)
{
    (void)context;
    seen = seen * 100 + result * 10 + (uint64_t)parameter_number;
}

static void donor_met(void *context, int64_t parameter_number)
{
    (void)context;
    seen = seen * 100 + (uint64_t)parameter_number;
}

START_TEST(a_module_says_what_its_text_says)
{
    struct bytes bytes;
    struct hlo hlo;
    open_arena();
    bytes_load(&bytes, TEXTS "attributes.hlo.txt");
    module_of((struct str){bytes.data, bytes.length}, &hlo);
    structure_holds(&hlo);
    dimensions_hold(&hlo);
    convolution_holds(&hlo);
    metadata_holds(&hlo);
    seen = 0;
    hlo_aliases_each(&hlo, alias_met, NULL);
    ck_assert_uint_eq(seen, 23); /* result 0 in parameter 0, the last of {1, 2} in 3 */
    seen = 0;
    hlo_aliases_each_donor(&hlo, donor_met, NULL);
    ck_assert_uint_eq(seen, 102);
    bytes_close(&bytes);
    close_arena();
}
END_TEST

static const struct {
    const char *text, *reason;
} bad_modules[] = {
    {"HloModule", "no module"},
    {"HloModule m", "no computation"},
    {"HloModule m, a={ b", "never closed"},
    {"HloModule m\n\n%f () -> f32[] {\n  %x = f32[] parameter(0)\n", "m.txt, line 5: the text ends inside"},
    {"HloModule m\n\n%f () -> f32[]\n", "line 3: the begin of a computation"},
    {"HloModule m\n\n%f () -> f32[] {\n  nothing\n}\n", "line 4: neither an instruction"},
    {"HloModule m\n\n%f () -> f32[] {\n  %x = add()\n}\n", "an operation with its operands"},
    {"HloModule m\n\n%f () -> f32[] {\n  %x = f32[] add\n}\n", "\"(\" is missing"},
    {"HloModule m\n\n%f () -> f32[] {\n  %x = f32[] add(((\n}\n", "line 4: a bracket"},
};

START_TEST(a_bad_text_is_refused_with_its_line)
{
    struct arena_out out;
    open_arena();
    arena_out_open(&out, &arena);
    bool is_odd = false;
    ck_assert(!hlo_text_read(str_of(bad_modules[_i].text), STR("m.txt"), &arena, &out, &is_odd, &err));
    ck_assert_int_eq(err.code, ERR_malformed);
    ck_assert_msg(strstr(err.text, bad_modules[_i].reason) != NULL, "%s", err.text);
    close_arena();
}
END_TEST

/* What cannot be is not known; the rest is read. */
static const char *const odd_modules[] = {
    "HloModule m\n\n%f () -> f32[] {\n  %x = f32[] add(%y)\n}\n",
    "HloModule m\n\n%f () -> f32[] {\n  %x = f32[] call(), to_apply=%g\n}\n",
    "HloModule m\n\n%f () -> f32[] {\n  %x = f99[] add()\n}\n",
    "HloModule m\n\n%f () -> f32[] {\n  %x = f32[99999999999999999999] add()\n}\n",
    "HloModule m\n\n%f () -> f32[] {\n  %x = (f32[], f32[8]{x}) add()\n}\n",
    "HloModule m\n\n%f () -> f32[] {\n  %x = f32[] parameter(x)\n}\n",
};

START_TEST(an_odd_number_costs_itself)
{
    struct arena_out out;
    struct hlo hlo;
    bool is_odd = false;
    open_arena();
    arena_out_open(&out, &arena);
    ck_assert_msg(hlo_text_read(str_of(odd_modules[_i]), STR("m.txt"), &arena, &out, &is_odd, &err), "%s", err.text);
    ck_assert(is_odd);
    ck_assert(hlo_read(arena_out_bytes(&out), 0, KIND_HLO_MODULE, STR(""), &arena, &hlo, &err));
    ck_assert_uint_eq(hlo.instruction_count, 1);
    close_arena();
}
END_TEST

/* ---- a buffer assignment ---- */

static const struct {
    const char *text, *reason;
} bad_assignments[] = {
    {"BufferAssignment:\n value: <1 a @0> (size=4,offset=0): f32[]\n", "before the first allocation"},
    {"BufferAssignment:\nallocation 0: size 4, parameter 0, shape |f32[]:\n", "\"|\" is missing"},
    {"BufferAssignment:\nallocation 0: size 4\n", "\":\" is missing"},
    {"BufferAssignment:\nallocation 0: size 4:\n value: 1 a @0>\n", "a value, "},
    {"BufferAssignment:\nallocation 0: size 4:\n value: <1>\n", "a value, "},
    {"BufferAssignment:\nallocation 0: size 4:\n value: <1 a @0 (size=4,offset=0): f32[]\n", "is missing"},
    {"BufferAssignment:\nsomething else\n", "neither an allocation nor a value"},
    {"HloModule m", "is missing"},
};

START_TEST(a_bad_assignment_is_refused_with_its_line)
{
    struct arena_out out, made;
    open_arena();
    arena_out_open(&out, &arena);
    arena_out_open(&made, &arena);
    bool is_odd = false;
    ck_assert(!assignment_text_read(str_of(bad_assignments[_i].text), STR("b.txt"), NULL, &arena, &out, &made, &is_odd,
                                    &err));
    ck_assert_int_eq(err.code, ERR_malformed);
    ck_assert_msg(strstr(err.text, bad_assignments[_i].reason) != NULL, "%s", err.text);
    close_arena();
}
END_TEST

/* ---- parts ---- */

static void framed_add(struct buf *all, const char *path)
{
    struct bytes bytes;
    const char *name = strrchr(path, '/') + 1;
    bytes_load(&bytes, path);
    buf_format(all, "*** Begin %s ***\n", name);
    buf_add(all, bytes.data, bytes.length);
    buf_format(all, "\n*** End %s ***\n", name);
    bytes_close(&bytes);
}

/* What the summary of the joined parts says. */
static char *summary_of(const struct buf *all)
{
    struct bytes bytes;
    bytes_open(&bytes, all->data, all->length);
    const struct source source = bytes.source;
    struct err report = ERR_INIT;
    struct analysis_contents *contents = analysis_contents_read(&source, &report);
    struct buf answer = BUF_INIT;
    ck_assert_msg(contents != NULL, "%s", report.text);
    ck_assert_uint_eq(contents->program_count, 1);
    struct analysis_subject *module = subject_module(&source, &contents->programs[0], 0, &report);
    ck_assert_msg(module != NULL, "%s", report.text);
    ck_assert(subject_answer(module, "memory_viewer", "summary", NULL, 0, &answer, &report));
    buf_char(&answer, '\0');
    analysis_subject_free(module);
    analysis_contents_free(contents);
    bytes_close(&bytes);
    return answer.data;
}

static const struct {
    const char *paths[3];
    const char *says[4], *not_says;
} joins[] = {
    {{FFT ".txt", FFT "-buffer-assignment.txt"},
     {"\"jit_fft_complex\"", "\"total_bytes\":25165824", "no_heap_trace", "\"peak_bytes\":25165824"},
     "no_module"},
    {{FFT "-buffer-assignment.txt"}, {"\"total_bytes\":25165824", "no_heap_trace", "no_module"}, "other_assignment"},
    {{FFT ".txt"}, {"\"has_buffer_assignment\":false"}, "no_heap_trace"},
    {{TEXTS "mod.hlo.pb", TEXTS "buffer_assignment.pb"},
     {"\"jit_f\"", "\"total_bytes\":16777216", "\"peak_bytes\":16777216"},
     "\"code\":\"no_"},
    {{TEXTS "buffer_assignment.pb"}, {"\"total_bytes\":16777216", "no_module"}, "no_heap_trace"},
    {{FFT ".txt", TEXTS "buffer_assignment.pb"}, {"other_assignment", "\"has_buffer_assignment\":false"}, "no_module"},
    {{TEXTS "attributes.hlo.txt", FFT ".txt", FFT "-buffer-assignment.txt"}, {"\"jit_fft_complex\""}, "jit_all"},
};

START_TEST(parts_of_a_program_are_joined)
{
    struct buf all = BUF_INIT;
    for (int at = 0; at < 3 && joins[_i].paths[at] != NULL; at++)
        framed_add(&all, joins[_i].paths[at]);
    char *answer = summary_of(&all);
    for (int at = 0; at < 4 && joins[_i].says[at] != NULL; at++)
        ck_assert_msg(strstr(answer, joins[_i].says[at]) != NULL, "%s: %s", joins[_i].says[at], answer);
    ck_assert_msg(strstr(answer, joins[_i].not_says) == NULL, "%s: %s", joins[_i].not_says, answer);
    free(answer);
    buf_free(&all);
}
END_TEST

static const char *const bad_parts[] = {"*** Begin a\nHloModule m\n", "*** Begin a ***\nHloModule m\n",
                                        "*** Begin a ***\nonly words\n*** End a ***\n", "HloModule m\n"};

START_TEST(parts_without_a_program_are_refused)
{
    struct bytes bytes;
    struct err report = ERR_INIT;
    bytes_open(&bytes, bad_parts[_i], strlen(bad_parts[_i]));
    ck_assert_ptr_null(analysis_contents_read(&bytes.source, &report));
    ck_assert(report.code == ERR_malformed || report.code == ERR_unsupported);
    ck_assert_uint_gt(strlen(report.text), 10);
    bytes_close(&bytes);
}
END_TEST

#define COUNT(list) (int)(sizeof(list) / sizeof((list)[0]))

int main(void)
{
    Suite *suite = suite_create("hlo_text");
    TCase *cases = tcase_create("hlo_text");
    tcase_add_loop_test(cases, a_shape_is_read_as_it_is_printed, 0, COUNT(shapes));
    tcase_add_loop_test(cases, what_is_no_shape_is_refused, 0, COUNT(bad_shapes));
    tcase_add_test(cases, a_module_says_what_its_text_says);
    tcase_add_loop_test(cases, an_odd_number_costs_itself, 0, COUNT(odd_modules));
    tcase_add_loop_test(cases, a_bad_text_is_refused_with_its_line, 0, COUNT(bad_modules));
    tcase_add_loop_test(cases, a_bad_assignment_is_refused_with_its_line, 0, COUNT(bad_assignments));
    tcase_add_loop_test(cases, parts_of_a_program_are_joined, 0, COUNT(joins));
    tcase_add_loop_test(cases, parts_without_a_program_are_refused, 0, COUNT(bad_parts));
    suite_add_tcase(suite, cases);
    return bytes_run(suite);
}
