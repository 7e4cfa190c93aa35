/* SPDX-License-Identifier: Apache-2.0
 * Capacities in out-of-memory texts, and the table of devices. */
#include "analysis/analysis.h"
#include "read/device.h"
#include "read/hlo/chip.h"

#include "bytes.h"

#define GIB(hundredths) ((uint64_t)((double)(hundredths) * 10737418.24 + 0.5))

static const struct {
    const char *text;
    int64_t space;
    uint64_t available_bytes, needed_bytes; /* needed 0: not said */
} texts[] = {
    {"RESOURCE_EXHAUSTED: E1000: CompileTimeHbmOom: Ran out of memory on HBM, the total memory required for HLO "
     "temporaries (33.49G) exceeds available HBM (15.75G). HLO module: jit_train_step.",
     0, GIB(1575), GIB(3349)},
    {"Ran out of memory in memory space hbm. Used 55.24G of 31.25G hbm. Exceeded hbm capacity by 23.99G.", 0, GIB(3125),
     GIB(5524)},
    {"I0101 tpu.cc:1] Used 17.60G of\n   16.00G\n hbm. Exceeded", 0, GIB(1600), GIB(1760)},
    {"Ran out of memory in memory space vmem. Used 16.08M of 16.00M vmem.", 1, 16 << 20, 16861102},
    {"RESOURCE_EXHAUSTED: Allocation (size=268435456) would exceed memory (size=134217728) :: #allocation3 [shape = "
     "'f32[16384,4096]{1,0:T(8,128)}', space=vmem, size = 0x10000000, scoped, tag = 'scratch operand'] :: f.1",
     1, 134217728, 268435456},
    {"Allocation (size=17825792) would exceed memory (size=16777216)", 0, 16777216, 17825792},
    {"TPU TensorCore Hbm usage: 34.82G, SparseCore Hbm usage 174.10G, exceeding available bytes: 95.74G", 0, GIB(9574),
     0},
    {"Aborting compilation early because it's unlikely to have enough memory. Requires 3.47E, has 14.49G available.", 0,
     GIB(1449), 4000703962087399751},
};

START_TEST(capacities_are_read)
{
    struct analysis_capacity capacity;
    ck_assert(analysis_capacity_from_text(texts[_i].text, strlen(texts[_i].text), &capacity));
    ck_assert_int_eq(capacity.space, texts[_i].space);
    ck_assert_uint_eq(capacity.available_bytes, texts[_i].available_bytes);
    ck_assert_int_eq(capacity.has_needed, texts[_i].needed_bytes != 0);
    if (capacity.has_needed && texts[_i].needed_bytes < UINT64_C(1) << 60)
        ck_assert_uint_eq(capacity.needed_bytes, texts[_i].needed_bytes);
    ck_assert_int_ne(texts[_i].text[capacity.offset], ' ');
}
END_TEST

START_TEST(other_texts_state_none)
{
    static const char *const others[] = {"",
                                         "Used 5 of 7 apples",
                                         "XLA::TPU program HBM usage: 52.5K / 31.25G",
                                         "Used 17.60G of",
                                         "(3G) exceeds available HBM (",
                                         "Allocation (size=99999999999999999999999999) would",
                                         "Used 99999999999999E of 1G hbm"};
    struct analysis_capacity capacity;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        ck_assert_msg(!analysis_capacity_from_text(others[i], strlen(others[i]), &capacity), "%s", others[i]);
}
END_TEST

START_TEST(devices_are_listed)
{
    struct analysis_device device;
    bool has_v5e = false;
    for (size_t i = 0; analysis_device_at(i, &device); i++) {
        ck_assert_uint_le(device.available_bytes, device.physical_bytes);
        has_v5e |= strcmp(device.name, "v5e") == 0 && device.available_bytes == 16911433728;
    }
    ck_assert(has_v5e);
}
END_TEST

static const struct {
    const char *kind, *name; /* name NULL: none is meant */
} kinds[] = {
    {"NVIDIA A100-SXM4-80GB", "A100-80G"},
    {"NVIDIA A100-SXM4-40GB", "A100-40G"},
    {"AMD Instinct MI300X", "MI300X"},
    {"amd instinct mi325x", "MI325X"},
    {"NVIDIA H200", "H200"},
    {"NVIDIA H100 80GB HBM3", "H100-80G"},
    {"NVIDIA A10", "A10"},
    {"NVIDIA A10G", "A10G"},
    {"TPU v5 lite", "v5e"},
    {"TPU7x", "v7x"},
    {"NVIDIA A1", NULL},
    {"", NULL},
};

START_TEST(names_that_runtimes_print_are_recognised)
{
    const struct device *device = device_of_kind(str_of(kinds[_i].kind));
    ck_assert_int_eq(device != NULL, kinds[_i].name != NULL);
    if (device != NULL)
        ck_assert_str_eq(device->name, kinds[_i].name);
}
END_TEST

START_TEST(a_family_is_its_smallest_device)
{
    static const char *const names[][2] = {{"h100", "H100-80G"}, {"A100", "A100-40G"}, {"a100-80g", "A100-80G"},
                                           {"v5e", "v5e"},       {"v100", "V100-16G"}, {"gh200", "GH200-96G"}};
    static const char *const others[] = {"", "h", "h100-", "v5", "15.75GiB"};
    struct analysis_device device;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        ck_assert_msg(analysis_device_find(names[i][0], &device), "%s", names[i][0]);
        ck_assert_str_eq(device.name, names[i][1]);
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        ck_assert_msg(!analysis_device_find(others[i], &device), "%s", others[i]);
}
END_TEST

/* Every row belongs to a device of the table, and agrees with it. */
START_TEST(targets_describe_their_devices)
{
    static const char *const named[] = {
#define TARGET(device, major, minor, cores, lanes, threads, shared, shared_optin, l2, bandwidth, clock) device,
#include "read/gpu_target.def"
#undef TARGET
    };
    struct analysis_device device;
    struct err report = ERR_INIT;
    for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
        struct buf text = BUF_INIT;
        struct chip chip;
        ck_assert(analysis_device_find(named[i], &device));
        ck_assert_msg(analysis_device_target(named[i], &text), "%s", named[i]);
        ck_assert_msg(chip_read((struct str){text.data, text.length}, &chip, &report), "%s: %s", named[i], report.text);
        ck_assert_str_eq(chip.device->name, named[i]);
        ck_assert_uint_eq(chip.memory_bytes, device.physical_bytes);
        buf_free(&text);
    }
    struct buf none = BUF_INIT;
    ck_assert(!analysis_device_target("v5e", &none) && !analysis_device_target("MI300X", &none) &&
              !analysis_device_target("nothing", &none));
    ck_assert_uint_eq(none.length, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("capacity");
    TCase *tests = tcase_create("capacity");
    tcase_add_loop_test(tests, capacities_are_read, 0, (int)(sizeof(texts) / sizeof(texts[0])));
    tcase_add_test(tests, other_texts_state_none);
    tcase_add_test(tests, devices_are_listed);
    tcase_add_loop_test(tests, names_that_runtimes_print_are_recognised, 0, (int)(sizeof(kinds) / sizeof(kinds[0])));
    tcase_add_test(tests, a_family_is_its_smallest_device);
    tcase_add_test(tests, targets_describe_their_devices);
    suite_add_tcase(suite, tests);
    return bytes_run(suite);
}
