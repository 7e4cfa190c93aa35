/* SPDX-License-Identifier: Apache-2.0
 * compile_input.c: tests of input/compile_input and whatif/confirmed: what a compiler is handed, and when it
 * confirms. */
#include "read/hlo/compile_input.h"
#include "read/hlo/chip.h"

#include "bytes.h"
#include "encoded.h"
#include "whatif/confirmed.h"

static struct str str_of_buf(const struct buf *buf) { return (struct str){buf->data, buf->length}; }

static void put_text(struct buf *out, unsigned field, const char *text) { put_bytes(out, field, text, strlen(text)); }

/* A HloModuleProto; `partition_count` 0: without a device assignment. */
static struct buf module_of(unsigned partition_count, bool has_shardy)
{
    struct buf module = BUF_INIT, assignment = BUF_INIT, entry = BUF_INIT, attributes = BUF_INIT;
    put_text(&module, 1, "jit_f");
    put_text(&module, 2, "main.2");
    put_text(&module, 3, "");
    put_number(&assignment, 1, 1);
    put_number(&assignment, 2, partition_count);
    if (partition_count > 0)
        put_message(&module, 15, &assignment);
    put_text(&entry, 1, "xla.sdy.meshes");
    put_text(&entry, 2, "{mesh = #sdy.mesh<[\"x\"=4]>}");
    put_message(&attributes, 1, &entry);
    if (has_shardy)
        put_message(&module, 19, &attributes);
    buf_free(&assignment);
    buf_free(&attributes);
    return module;
}

START_TEST(a_module_is_found_in_either_message)
{
    struct err err = ERR_INIT;
    struct compile_input bare, inside;
    struct buf module = module_of(4, true), whole = BUF_INIT;
    put_bytes(&whole, 1, module.data, module.length);
    put_text(&whole, 3, "an assignment");
    ck_assert(compile_input_read(str_of_buf(&module), &bare, &err));
    ck_assert(compile_input_read(str_of_buf(&whole), &inside, &err));
    ck_assert(bare.module.data == module.data && bare.module.length == module.length);
    ck_assert(str_equal(inside.module, bare.module));
    ck_assert_int_eq(inside.partition_count, 4);
    ck_assert_int_eq(inside.replica_count, 1);
    ck_assert(inside.has_shardy);
    buf_free(&module);
    module = module_of(0, false);
    ck_assert(compile_input_read(str_of_buf(&module), &bare, &err));
    ck_assert_int_eq(bare.partition_count, 1);
    ck_assert(!bare.has_shardy);
    buf_free(&module);
    buf_free(&whole);
}
END_TEST

START_TEST(what_is_no_module_is_refused)
{
    static const char *const texts[] = {"", "\x0a\x05hello", "\x0a\x7f", "text"};
    for (size_t at = 0; at < sizeof(texts) / sizeof(texts[0]); at++) {
        struct err err = ERR_INIT;
        struct compile_input input;
        ck_assert(!compile_input_read(str_of(texts[at]), &input, &err));
        ck_assert(err_is_set(&err));
    }
}
END_TEST

struct compiled_for {
    unsigned generation;
    const char *variant;
    unsigned host[3], hosts[3];
    const char *name; /* NULL: not known */
};

static const struct compiled_for CHIPS[] = {
    {4, "lite", {2, 2, 1}, {1, 1, 1}, "v5e:2x2"},  {4, "lite", {2, 2, 1}, {2, 2, 1}, "v5e:4x4"},
    {4, "", {2, 2, 1}, {1, 1, 1}, "v5p:2x2x1"},    {3, "", {2, 2, 1}, {1, 1, 4}, "v4:2x2x4"},
    {5, "", {2, 2, 1}, {2, 4, 1}, "v6e:4x8"},      {1, "", {2, 2, 1}, {1, 1, 1}, "v2:2x2"},
    {2, "", {2, 2, 1}, {1, 1, 1}, "v3:2x2"},       {6, "", {2, 2, 1}, {1, 1, 1}, "tpu7x:2x2x1"},
    {9, "", {2, 2, 1}, {1, 1, 1}, NULL},           {4, "other", {2, 2, 1}, {1, 1, 1}, NULL},
    {4, "lite", {2000000, 2, 1}, {1, 1, 1}, NULL},
};

static struct buf bounds_of(const unsigned sizes[3])
{
    struct buf bounds = BUF_INIT;
    for (unsigned axis = 0; axis < 3; axis++)
        put_number(&bounds, axis + 1, sizes[axis]);
    return bounds;
}

START_TEST(a_device_that_is_chosen_is_four_of_its_chips)
{
    static const char *const wanted[][2] = {{"v2", "v2:2x2"},       {"v3", "v3:2x2"},     {"v4", "v4:2x2x1"},
                                            {"V5E", "v5e:2x2"},     {"v5p", "v5p:2x2x1"}, {"v6e", "v6e:2x2"},
                                            {"v7x", "tpu7x:2x2x1"}, {"H100-80G", NULL}};
    for (size_t at = 0; at < sizeof(wanted) / sizeof(wanted[0]); at++) {
        const struct device *device = device_named(wanted[at][0]);
        struct err err = ERR_INIT;
        struct chip chip;
        char name[CHIP_TOPOLOGY_SIZE];
        ck_assert_ptr_nonnull(device);
        ck_assert_int_eq(chip_of_device(device, &chip), wanted[at][1] != NULL);
        if (wanted[at][1] == NULL)
            continue;
        ck_assert(chip_topology(&chip, name, &err));
        ck_assert_str_eq(name, wanted[at][1]);
        ck_assert(compile_input_is_topology(str_of(name)));
    }
    ck_assert_ptr_null(device_named("v9"));
}
END_TEST

START_TEST(a_chip_is_told_by_either_file)
{
    const struct compiled_for *chip = &CHIPS[_i];
    struct buf topology = BUF_INIT, arguments = BUF_INIT, description = BUF_INIT, any = BUF_INIT, file = BUF_INIT;
    struct buf host = bounds_of(chip->host), hosts = bounds_of(chip->hosts);
    put_number(&topology, 1, chip->generation);
    put_text(&topology, 2, chip->variant);
    put_message(&topology, 5, &host);
    put_message(&topology, 6, &hosts);
    put_number(&arguments, 3, 1);
    put_bytes(&arguments, 6, topology.data, topology.length);
    put_message(&description, 1, &topology);
    put_text(&any, 1, "type.googleapis.com/xla.TpuPjRtTopologyDescriptionProto");
    put_message(&any, 2, &description);
    put_number(&file, 1, 7);
    put_text(&file, 2, "tpu");
    put_message(&file, 9, &any);
    const struct buf *files[] = {&arguments, &file};
    for (int at = 0; at < 2; at++) {
        struct err err = ERR_INIT;
        char name[CHIP_TOPOLOGY_SIZE];
        struct chip read;
        bool is_known = chip_read(str_of_buf(files[at]), &read, &err) && chip_topology(&read, name, &err);
        ck_assert_int_eq(is_known, chip->name != NULL);
        if (is_known) {
            ck_assert_str_eq(name, chip->name);
            ck_assert(compile_input_is_topology(str_of(name)));
        } else {
            ck_assert_int_eq(err.code, ERR_unsupported);
        }
    }
    buf_free(&arguments);
    buf_free(&file);
}
END_TEST

static const struct {
    const char *text, *device, *topology; /* NULL: not told */
} TEXTS[] = {
    {"replica_count: 1\ntpu_topology_args {\n  version: TPU_VERSION_VIPERFISH\n  variant: \"lite\"\n  "
     "chips_per_host_bounds {\n    x: 2\n    y: 2\n    z: 1\n  }\n  host_bounds {\n    x: 2\n    y: 1\n    z: 1\n  "
     "}\n}\n",
     "v5e", "v5e:4x2"},
    {"  version: TPU_VERSION_VIPERFISH\n  host_bounds {\n    x: 99999999999999999999\n", "v5p", NULL},
    {"platform_version: \"TFRT TPU v6 lite\\nBuilt on\"\n", "v6e", NULL},
    {"version: TPU_VERSION_UNHEARD\n", NULL, NULL},
    {"nothing of the kind", NULL, NULL},
};

START_TEST(a_chip_is_told_by_texts)
{
    struct err err = ERR_INIT;
    struct chip chip;
    char name[CHIP_TOPOLOGY_SIZE];
    bool is_known = chip_read(str_of(TEXTS[_i].text), &chip, &err);
    ck_assert_int_eq(is_known, TEXTS[_i].device != NULL);
    if (!is_known)
        return;
    ck_assert_str_eq(chip.device->name, TEXTS[_i].device);
    ck_assert_int_eq(chip_topology(&chip, name, &err), TEXTS[_i].topology != NULL);
    if (TEXTS[_i].topology != NULL)
        ck_assert_str_eq(name, TEXTS[_i].topology);
}
END_TEST

START_TEST(names_of_topologies)
{
    static const char *const bad[] = {"",       "v5e",         "v5e:",     "v5e:2",          ":2x2",        "v5e:2x",
                                      "v5e:x2", "v5e:2x2x2x2", "v5e:2x2 ", "--topology:2x2", "v5e:22222x2", "V5e:2x2"};
    ck_assert(compile_input_is_topology(STR("v5e:2x2")));
    ck_assert(compile_input_is_topology(STR("v4:2x2x1")));
    ck_assert(compile_input_is_topology(STR("tpu7x:16x16x16")));
    for (size_t at = 0; at < sizeof(bad) / sizeof(bad[0]); at++)
        ck_assert_msg(!compile_input_is_topology(str_of(bad[at])), "%s", bad[at]);
}
END_TEST

static void assert_options(const struct compile_input *input, struct str options, int64_t partition_count,
                           struct str wanted)
{
    struct err err = ERR_INIT;
    struct buf out = BUF_INIT;
    ck_assert(compile_input_options(input, options, partition_count, STR("/dump"), &out, &err));
    ck_assert_uint_eq(out.length, wanted.length);
    ck_assert_mem_eq(out.data, wanted.data, wanted.length);
    buf_free(&out);
}

START_TEST(options_as_jit_has_them)
{
    const struct compile_input one = {.replica_count = 1, .partition_count = 1},
                               four = {.replica_count = 1, .partition_count = 4, .has_shardy = true};
    static const char unset[] = "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
    char wanted[64];
    size_t length = sizeof(unset) - 1;
    memcpy(wanted, "\x1a\x0f", 2);
    memcpy(wanted + 2, unset, length);
    memcpy(wanted + 2 + length, "\x20\x01\x28\x01", 4);
    assert_options(&one, (struct str){NULL, 0}, 0, (struct str){wanted, length + 6});
    wanted[1] = 0x14;
    memcpy(wanted + 2 + length, "\x20\x01\x28\x04\x30\x01\x98\x01\x01", 9);
    assert_options(&four, (struct str){NULL, 0}, 0, (struct str){wanted, length + 11});
    wanted[1] = 0x13;
    memcpy(wanted + 2 + length, "\x20\x01\x28\x04\x30\x01\x60\x01", 8);
    assert_options(&one, (struct str){NULL, 0}, 4, (struct str){wanted, length + 10});
}
END_TEST

#define UNSET "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
/* 109: "/dump", 113: 1, 132: -1, 253: 1 */
#define DUMPS "\xea\x06\x05/dump\x88\x07\x01\xa0\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\xe8\x0f\x01"

/* { 3: { 1: -1, 3: { 31: 3, 109: "/", 112: 1, 337: 0 }, 4: 1, 5: 1, 6: 1, 9: "x", 19: 1 }, 5: 7, 7: { 1: "xla_dump_to"
 * }, 7: { 1: "xla_x" } }: kept but for the dumps, and for the devices where their number is another. */
START_TEST(options_of_a_dump_are_kept)
{
    const struct compile_input one = {.replica_count = 1, .partition_count = 1};
    static const char options[] = "\x1a\x26" UNSET "\x1a\x0d\xf8\x01\x03\xea\x06\x01/\x80\x07\x01\x88\x15"
                                  "\x00"
                                  "\x20\x01\x28\x01\x30\x01\x4a\x01x\x98\x01\x01"
                                  "\x28\x07"
                                  "\x3a\x0d\x0a\x0bxla_dump_to"
                                  "\x3a\x07\x0a\x05xla_x";
    static const char kept[] =
        "\x28\x07"
        "\x3a\x07\x0a\x05xla_x"
        "\x1a\x39" UNSET "\x1a\x20\xf8\x01\x03\x88\x15\x00" DUMPS "\x20\x01\x28\x01\x30\x01\x4a\x01x\x98\x01\x01";
    static const char split[] =
        "\x28\x07"
        "\x3a\x07\x0a\x05xla_x"
        "\x1a\x35" UNSET "\x1a\x20\xf8\x01\x03\x88\x15\x00" DUMPS "\x20\x01\x28\x02\x30\x01\x60\x01";
    assert_options(&one, STR(options), 0, STR(kept));
    assert_options(&one, STR(options), 1, STR(kept));
    assert_options(&one, STR(options), 2, STR(split));
    struct err err = ERR_INIT;
    struct buf out = BUF_INIT;
    ck_assert(!compile_input_options(&one, STR("\x1a\x7f"), 0, STR("/dump"), &out, &err));
    ck_assert_int_eq(err.code, ERR_truncated);
    buf_free(&out);
}
END_TEST

START_TEST(temporaries_are_counted_in_pages)
{
    struct confirmed_figures figures = confirmed_of_assignment(738492928, 604276224, 604275200, 843792896);
    ck_assert_int_eq(figures.temporary_bytes, 843808768);
    ck_assert_int_eq(confirmed_total_bytes(&figures), 738492928 + 604276224 - 604275200 + 843808768);
    figures = confirmed_of_assignment(268435456, 65536, 0, 0);
    ck_assert_int_eq(figures.temporary_bytes, 0);
    ck_assert_int_eq(confirmed_total_bytes(&figures), 268500992);
    figures = confirmed_of_assignment(INT64_MAX, INT64_MAX, 0, INT64_MAX);
    ck_assert_int_eq(confirmed_total_bytes(&figures), INT64_MAX);
    figures = confirmed_of_assignment(1, 1, 5, 0);
    ck_assert_int_eq(confirmed_total_bytes(&figures), 0);
}
END_TEST

static void assert_sentence(const struct confirmed_figures *compiled, uint64_t build, const char *wanted)
{
    const struct confirmed_figures dump = {1024, 512, 256, 16384};
    struct buf sentence = BUF_INIT;
    bool is_same = confirmed_is_same(&dump, compiled, 5, build, false, &sentence);
    buf_char(&sentence, '\0');
    ck_assert_str_eq(sentence.data, wanted);
    ck_assert_int_eq(is_same, wanted[0] == 'T');
    buf_free(&sentence);
}

START_TEST(only_equal_figures_confirm)
{
    assert_sentence(&(struct confirmed_figures){1024, 512, 256, 16384}, 6,
                    "The unchanged program compiles to the figures of the dump, byte for byte.");
    assert_sentence(
        &(struct confirmed_figures){1024, 512, 0, 32768}, 5,
        "Not confirmed: the unchanged program compiles to other figures than those of the dump; aliased 256 "
        "B less; temporaries 16,384 B more; in all 16,640 B more.");
    /* Equal sums of other parts are other figures. */
    assert_sentence(
        &(struct confirmed_figures){1023, 513, 256, 16384}, 6,
        "Not confirmed: the unchanged program compiles to other figures than those of the dump; arguments 1 "
        "B less; outputs 1 B more (dump of libtpu cl/5, compiled by cl/6).");
    ck_assert_uint_eq(confirmed_build("module_0000.jit_f.cl_1014260217.after_optimizations.hlo.pb"), 1014260217);
    ck_assert_uint_eq(confirmed_build("TFRT TPU v5 lite\nBuilt on Nov 5 2026 (1793869648) cl/1014260217"), 1014260217);
    ck_assert_uint_eq(confirmed_build("module_0000.jit_clip.after_optimizations.hlo.pb"), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("compile_input");
    TCase *cases = tcase_create("compile_input");
    tcase_add_test(cases, a_module_is_found_in_either_message);
    tcase_add_test(cases, what_is_no_module_is_refused);
    tcase_add_test(cases, a_device_that_is_chosen_is_four_of_its_chips);
    tcase_add_loop_test(cases, a_chip_is_told_by_either_file, 0, (int)(sizeof(CHIPS) / sizeof(CHIPS[0])));
    tcase_add_loop_test(cases, a_chip_is_told_by_texts, 0, (int)(sizeof(TEXTS) / sizeof(TEXTS[0])));
    tcase_add_test(cases, names_of_topologies);
    tcase_add_test(cases, options_as_jit_has_them);
    tcase_add_test(cases, options_of_a_dump_are_kept);
    tcase_add_test(cases, temporaries_are_counted_in_pages);
    tcase_add_test(cases, only_equal_figures_confirm);
    suite_add_tcase(suite, cases);
    return bytes_run(suite);
}
