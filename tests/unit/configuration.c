/* SPDX-License-Identifier: Apache-2.0
 * What a program was compiled for: devices, mesh and batch; the same text for the same configuration. */
#include "plan/configuration.h"

#include "compile.fields.h"
#include "program.h"

#define STEP(head, batch)                                                                                              \
    head " main { w = f32[64,128] parameter(0) \"params['w']\" !arg x = f32[" batch                                    \
         "] parameter(1) \"batch['x']\" !arg"                                                                          \
         " m = f32[8] parameter(2) \"batch['mask']\" !arg h = f32[32,128] dot(x, w) \"jit(step)/jvp(M)/op\" !temp"     \
         " g = f32[64,128] dot(h, x) \"jit(step)/transpose(jvp(M))/op\" ROOT r = (f32[64,128]) tuple(g) }"

static const struct {
    const char *program, *meshes, *configuration;
} cases[] = {
    {STEP("", "32,64"), "", "1 device, batch 32x64"},
    {STEP("devices=8", "32,64"), "", "8 devices, batch 32x64"},
    {STEP("devices=4 replicas=2", "16,64"), "", "8 devices, batch 16x64"},
    {STEP("devices=8", "32,64"), "{empty_mesh = #sdy.mesh<[]>}", "8 devices, batch 32x64"},
    {STEP("devices=8", "32,64"), "{mesh = #sdy.mesh<[\"data\"=4, \"model\"=2]>}",
     "8 devices, mesh data=4 model=2, batch 32x64"},
    {STEP("devices=8", "32,64"), "{mesh = #sdy.mesh<[\"da\nta\"=4, \"model\"",
     "8 devices, mesh da\\u000ata=4 model=0, batch 32x64"},
    {STEP("devices=8", "32,64"), "{mesh = #sdy.mesh<[\"data\"=99999999999999999999]>}",
     "8 devices, mesh data=99999, batch 32x64"},
    {STEP("devices=8", "32,64"), "\"\"\"", "8 devices, mesh =0, batch 32x64"},
    {"main { ROOT c = f32[] constant() }", "", "1 device"},
};

START_TEST(the_configuration_is_devices_mesh_and_batch)
{
    struct buf file;
    struct plan plan;
    arena_begin();
    program_read(cases[_i].program, &file, &plan);
    plan.hlo.meshes = str_of(cases[_i].meshes);
    const char *found = configuration_text(&plan, &arena);
    ck_assert_msg(found != NULL && strcmp(found, cases[_i].configuration) == 0, "%s\n%s", found,
                  cases[_i].configuration);
    buf_free(&file);
    arena_end();
}
END_TEST

START_TEST(what_stands_before_the_batch_is_had)
{
    ck_assert(str_equal(configuration_without_batch("8 devices, batch 32x64"), STR("8 devices")));
    ck_assert(str_equal(configuration_without_batch("8 devices"), STR("8 devices")));
    ck_assert(str_equal(configuration_without_batch(""), STR("")));
}
END_TEST

START_TEST(meshes_are_those_of_the_module)
{
    struct buf file = BUF_INIT, module = BUF_INIT, attributes = BUF_INIT;
    struct hlo hlo = {.computation_count = 0};
    static const char *const entries[][2] = {{"xla.sdy.other", "none"}, {"xla.sdy.meshes", "{mesh}"}};
    arena_begin();
    for (size_t at = 0; at < 2; at++) {
        struct buf entry = BUF_INIT;
        put_bytes(&entry, FRONTEND_ATTRIBUTES_ENTRY_KEY, entries[at][0], strlen(entries[at][0]));
        put_bytes(&entry, FRONTEND_ATTRIBUTES_ENTRY_VALUE, entries[at][1], strlen(entries[at][1]));
        put_message(&attributes, FRONTEND_ATTRIBUTES_MAP, &entry);
    }
    put_message(&module, HLO_MODULE_PROTO_FRONTEND_ATTRIBUTES, &attributes);
    put_message(&file, HLO_PROTO_HLO_MODULE, &module);
    ck_assert(
        hlo_read((struct str){file.data, file.length}, 0, KIND_HLO_PROTO, (struct str){"", 0}, &arena, &hlo, &err));
    ck_assert(str_equal(hlo.meshes, STR("{mesh}")));
    buf_free(&file);
    arena_end();
}
END_TEST

START_TEST(without_a_module_nothing_is_known)
{
    struct plan plan = {.spaces = NULL};
    arena_begin();
    ck_assert_ptr_null(configuration_text(&plan, &arena));
    arena_end();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("configuration");
    TCase *tcase = tcase_create("configuration");
    tcase_add_loop_test(tcase, the_configuration_is_devices_mesh_and_batch, 0, sizeof(cases) / sizeof(cases[0]));
    tcase_add_test(tcase, what_stands_before_the_batch_is_had);
    tcase_add_test(tcase, meshes_are_those_of_the_module);
    tcase_add_test(tcase, without_a_module_nothing_is_known);
    suite_add_tcase(suite, tcase);
    return bytes_run(suite);
}
